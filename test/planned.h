/* What a test has of a run: parameters, their plan and, where it steps, the serial reference. */
#pragma once

#include "must.h"
#include "options.h"

#include "htwave/plan.h"
#include "htwave/stepper.h"

struct planned {
    struct ht_params *params;
    struct ht_plan *plan;
    struct ht_stepper stepper; /* of the caller, or by plan_oracle */
};

static inline void planned_end(struct planned *p) {
    ht_stepper_destroy(&p->stepper);
    ht_plan_destroy(p->plan);
    ht_params_destroy(p->params);
}

/* Options as test_params has them, as printf's text of less than 2 KiB. */
HT_CHECKED HT_PRINTF(3, 4) static inline enum ht_err
    plan_make(struct planned *p, char between, const char *format, ...) {
    TEST_TEXT(text, 2048, format);
    *p = (struct planned){.plan = NULL};
    REQUIRE(strlen(text) < sizeof text - 1, HT_ERR_INTERNAL, "text too long");
    TRY(test_params(NULL, between, &p->params, "%s", text));
    return ht_plan_create(p->params, NULL, &p->plan);
}

/* The serial reference, at the plan's initial data where it `starts`. */
HT_CHECKED static inline enum ht_err plan_oracle(struct planned *p, bool starts) {
    TRY(ht_oracle_create(&p->plan->problem, &p->stepper));
    return starts ? ht_start(p->plan, NULL, NULL, &p->stepper) : HT_OK;
}
