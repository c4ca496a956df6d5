/* Snapshots and pictures of a run, at the steps nearest to their times. */
#include "htwave/run.h"

/* ---- snapshots ---- */

static int64_t snapshots_next(void *context, const struct ht_run *run, int64_t from) {
    const struct ht_params *params = run->plan->params;
    (void)context;
    return ht_run_multiple(run, params->output.snapshots ? params->output.every : 0, from);
}

static enum ht_err snapshots_look(void *context, const struct ht_view *view) {
    return ht_output_snapshot(context, view->time, view->run->steps, view->nodal, view->coefs);
}

struct ht_observer ht_observe_snapshots(const struct ht_params *params, struct ht_output *output) {
    unsigned coefs = params->output.coefficients ? HT_NEED_COEFS : 0;
    unsigned needs = HT_NEED_JUDGED | HT_NEED_NODAL | coefs;
    return (struct ht_observer){.name = "snapshots",
                                .context = output,
                                .needs = params->output.snapshots ? needs : 0,
                                .next = snapshots_next,
                                .look = snapshots_look};
}

/* ---- pictures ---- */

static int64_t pictures_next(void *context, const struct ht_run *run, int64_t from) {
    const struct ht_params *params = run->plan->params;
    (void)context;
    return ht_run_multiple(run, ht_output_draws(params) ? params->output.picture.every : 0, from);
}

static enum ht_err pictures_look(void *context, const struct ht_view *view) {
    return ht_output_picture(context, view->time, view->nodal);
}

struct ht_observer ht_observe_pictures(const struct ht_params *params, struct ht_output *output) {
    bool draws = ht_output_draws(params);
    return (struct ht_observer){.name = "pictures",
                                .context = output,
                                .needs = draws ? HT_NEED_JUDGED | HT_NEED_NODAL : 0,
                                .next = pictures_next,
                                .look = pictures_look};
}
