/* The observers of outputs and of the error at the end. */
#include "htwave/run.h"

static HT_ERR snapshots_look(void *context, const struct ht_view *view) {
    return ht_output_snapshot(context, view->time, view->run->steps, view->nodal, view->coefs);
}

/* All files of the output but traces. */
static HT_ERR snapshots_archive(void *context, HT_UNUSED struct ht_run *run,
                                struct ht_archive *archive) {
    return ht_output_archive(context, archive);
}

struct ht_observer ht_observe_snapshots(const struct ht_params *params, struct ht_output *output) {
    unsigned needs = HT_NEED_JUDGED | HT_NEED_NODAL;
    if (params->output.coefficients) needs |= HT_NEED_COEFS;
    return (struct ht_observer){.name = "snapshots",
                                .context = output,
                                .needs = params->output.snapshots ? needs : 0,
                                .every = params->output.snapshots ? params->output.every : 0,
                                .look = snapshots_look,
                                .archive = snapshots_archive};
}

static HT_ERR pictures_look(void *context, const struct ht_view *view) {
    return ht_output_picture(context, view->time, view->nodal);
}

struct ht_observer ht_observe_pictures(const struct ht_params *params, struct ht_output *output) {
    bool draws = ht_output_draws(params);
    return (struct ht_observer){.name = "pictures",
                                .context = output,
                                .needs = draws ? HT_NEED_JUDGED | HT_NEED_NODAL : 0,
                                .every = draws ? ht_output_drawn_every(params) : 0,
                                .look = pictures_look};
}

/* A solution that returns to the initial data is known at time.end only. */
static HT_ERR error_look(void *context, const struct ht_view *view) {
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

/* ---- checkpoints: the state after a step, before those that write have looked at it, so that a
 * run that goes on from there writes what they would have written ---- */

bool ht_checkpoints_wanted(const struct ht_params *params) {
    return params->output.checkpoint.seconds > 0 || params->output.checkpoint.every > 0;
}

/* Files are read before anything else may change them. */
static HT_ERR checkpoints_begin(void *context, struct ht_run *run) {
    struct ht_checkpoints *c = context;
    const struct ht_params *params = run->plan->params;
    c->of.run = run;
    if (!ht_checkpoints_wanted(params) || ht_comm_rank(run->plan->grid.slab.comm) > 0) return HT_OK;
    TRY(ht_params_physics(params, &c->physics));
    run->physics = c->physics.data;
    return HT_OK;
}

static void checkpoints_end(void *context) {
    struct ht_checkpoints *c = context;
    ht_text_free(&c->physics);
}

/* None of the start, or of the step that the run goes on from. */
static int64_t checkpoints_next(void *context, const struct ht_run *run, int64_t from) {
    struct ht_checkpoints *c = context;
    const double every = run->plan->params->output.checkpoint.every;
    if (from == run->steps) c->saved = from++;
    return every > 0 ? ht_run_multiple(run, every, from) : INT64_MAX;
}

/* By the clock they take no more than a fiftieth of the run. */
static const double SHARE = 50;

static HT_ERR checkpoints_look(void *context, const struct ht_view *view) {
    struct ht_checkpoints *c = context;
    const struct ht_run *run = view->run;
    const bool ends = view->last && !run->interrupted;
    if (!ht_checkpoints_wanted(run->plan->params) || ends || run->steps == c->saved) return HT_OK;
    const double every = run->plan->params->output.checkpoint.every;
    const bool asked = every > 0 && ht_run_multiple(run, every, run->steps) == run->steps;
    bool early = !view->last && !asked && ht_clock() - c->ended < (SHARE - 1) * c->took;
    TRY(ht_comm_broadcast(run->plan->grid.slab.comm, &early, sizeof early));
    if (early) return HT_OK;
    const bool first = c->took == 0;
    const double seconds = run->plan->params->output.checkpoint.seconds;
    const double began = ht_clock();
    c->saved = run->steps;
    const enum ht_err err = ht_output_checkpoint(c->output, ht_run_archive, &c->of);
    c->ended = ht_clock();
    c->took = c->ended - began;
    if (err == HT_OK && first && seconds > 0 && SHARE * c->took > seconds)
        ht_note("a checkpoint takes %s: the next comes after %s, so that they take no more than "
                "2 %% of the run",
                HT_SECONDS(c->took), HT_SECONDS(SHARE * c->took));
    if (err != HT_ERR_IO) return err;
    ht_warn("no checkpoint at step %lld: %s", (long long)run->steps, ht_err_message());
    return HT_OK;
}

struct ht_observer ht_observe_checkpoints(const struct ht_params *params,
                                          struct ht_checkpoints *checkpoints) {
    return (struct ht_observer){.name = "checkpoints",
                                .context = checkpoints,
                                .needs = ht_checkpoints_wanted(params) ? HT_NEED_JUDGED : 0,
                                .seconds = params->output.checkpoint.seconds,
                                .begin = checkpoints_begin,
                                .next = checkpoints_next,
                                .look = checkpoints_look,
                                .end = checkpoints_end};
}
