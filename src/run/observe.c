/* The smaller observers: snapshots and pictures at the steps nearest to their times, the error at
 * the end, the progress line. */
#include "htwave/run.h"

static enum ht_err snapshots_look(void *context, const struct ht_view *view) {
    return ht_output_snapshot(context, view->time, view->run->steps, view->nodal, view->coefs);
}

/* All files of the output but traces. */
static enum ht_err snapshots_archive(void *context, HT_UNUSED struct ht_run *run,
                                     struct ht_archive *archive) {
    return ht_output_archive(context, archive);
}

struct ht_observer ht_observe_snapshots(const struct ht_params *params, struct ht_output *output) {
    unsigned coefs = params->output.coefficients ? HT_NEED_COEFS : 0;
    unsigned needs = HT_NEED_JUDGED | HT_NEED_NODAL | coefs;
    return (struct ht_observer){.name = "snapshots",
                                .context = output,
                                .needs = params->output.snapshots ? needs : 0,
                                .every = params->output.snapshots ? params->output.every : 0,
                                .look = snapshots_look,
                                .archive = snapshots_archive};
}

static enum ht_err pictures_look(void *context, const struct ht_view *view) {
    return ht_output_picture(context, view->time, view->nodal);
}

struct ht_observer ht_observe_pictures(const struct ht_params *params, struct ht_output *output) {
    bool draws = ht_output_draws(params);
    return (struct ht_observer){.name = "pictures",
                                .context = output,
                                .needs = draws ? HT_NEED_JUDGED | HT_NEED_NODAL : 0,
                                .every = draws ? params->output.picture.every : 0,
                                .look = pictures_look};
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
    *error = NAN;
    return (struct ht_observer){
        .name = "error", .context = error, .needs = known ? HT_NEED_NODAL : 0, .look = error_look};
}

static enum ht_err progress_begin(void *context, struct ht_run *run) {
    double cells = (double)ht_grid_total(&run->plan->grid, HT_DUAL);
    ht_progress_start(context, "run", (double)run->plan->steps, "cell half-steps", 2 * cells);
    return HT_OK;
}

static enum ht_err progress_look(void *context, const struct ht_view *view) {
    ht_progress_update(context, (double)view->run->steps);
    return HT_OK;
}

static enum ht_err progress_archive(void *context, struct ht_run *run, struct ht_archive *archive) {
    struct ht_progress *progress = context;
    if (ht_archive_loads(archive)) progress->begun = (double)run->steps;
    return HT_OK;
}

static void progress_end(void *context) {
    ht_progress_end(context);
}

struct ht_observer ht_observe_progress(struct ht_progress *progress) {
    return (struct ht_observer){.name = "progress",
                                .context = progress,
                                .seconds = 0.1,
                                .begin = progress_begin,
                                .look = progress_look,
                                .archive = progress_archive,
                                .end = progress_end};
}
