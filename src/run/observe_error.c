/* The error of a run at its end. */
#include <math.h>

#include "htwave/run.h"

static enum ht_err error_begin(void *context, struct ht_run *run) {
    (void)run;
    *(double *)context = NAN;
    return HT_OK;
}

/* A solution that returns to the initial data is known at time.end only. */
static enum ht_err error_look(void *context, const struct ht_view *view) {
    const struct ht_plan *plan = view->run->plan;
    bool returned = plan->solution->returns && !view->run->interrupted;
    if (!view->last || !(plan->solution->exact || returned)) return HT_OK;
    return ht_nodal_error(plan, view->nodal, view->time, context);
}

struct ht_observer ht_observe_error(const struct ht_plan *plan, double *error) {
    bool known = plan->solution->exact || plan->solution->returns;
    return (struct ht_observer){.name = "error",
                                .context = error,
                                .needs = known ? HT_NEED_NODAL : 0,
                                .begin = error_begin,
                                .look = error_look};
}
