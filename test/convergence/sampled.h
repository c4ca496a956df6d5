/* Runs in double precision whose receivers a test samples step by step: options of a run, and what
 * it needs. */
#pragma once

#include <stdarg.h>
#include <stdio.h>

#include "htwave/sampler.h"
#include "htwave/simulation.h"
#include "must.h"
#include "open_device.h"

enum { MOST_OVERRIDES = 40, LENGTH = 320 };

struct options {
    char text[MOST_OVERRIDES][LENGTH], *list[MOST_OVERRIDES];
    int count;
};

static void add(struct options *o, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void add(struct options *o, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    vsnprintf(o->text[o->count], LENGTH, fmt, args);
    va_end(args);
    o->list[o->count] = o->text[o->count];
    o->count++;
}

/* ---- runs ---- */

struct scene {
    struct ht_params *params;
    struct ht_simulation *sim;
    struct ht_sampler *sampler;
};

static void open_scene(struct scene *s, struct options *o) {
    *s = (struct scene){.params = NULL};
    add(o, "output.snapshots=false");
    add(o, "output.pictures=false");
    add(o, "device.precision=double");
    add(o, "device.selfcheck=false");
    add(o, "device.tune=never");
    add(o, "device.select=%s", test_select());
    add(o, "device.backend=%s", test_backend());
    must(ht_params_read(NULL, o->count, o->list, &s->params));
    must(ht_simulation_plan(s->params, NULL, &s->sim));
    must(ht_simulation_compile(s->sim));
    must(ht_simulation_start(s->sim));
    if (s->sim->plan->receivers == NULL) return;
    double first;
    int64_t steps;
    must(ht_sampler_create(s->sim->plan, &s->sim->run.stepper, &s->sampler));
    must(ht_sampler_collect(s->sampler, &steps, &first));
}

static void close_scene(struct scene *s) {
    ht_sampler_destroy(s->sampler);
    ht_simulation_destroy(s->sim);
    ht_params_destroy(s->params);
}
