/* The traces of the receivers (htwave/gather.h), of which rank 0 has all. */
#include "htwave/gather.h"
#include "htwave/run.h"

void ht_recording_free(struct ht_recording *recording) {
    ht_pool_free(&recording->pool);
    recording->data = NULL;
}

static HT_ERR keep(void *context, int n, int64_t first, int64_t last, const double *data) {
    const struct ht_recording *r = context;
    const struct ht_receiver_group *group = &r->receivers->group[n];
    const int64_t count = last - first;
    for (int64_t t = 0; t < group->count * group->readings; t++)
        memcpy(r->data[n] + t * group->samples + first, data + t * count,
               (size_t)count * sizeof *data);
    return HT_OK;
}

static HT_ERR write_traces(void *context, int n, int64_t first, int64_t last, const double *data) {
    const struct ht_recording *r = context;
    return ht_output_traces_add(r->output, n, first, last, data);
}

static HT_ERR begin_traces(struct ht_recording *r, const struct ht_plan *plan) {
    const bool keeps = r->output == NULL;
    const struct ht_sink sink = {
        .take = keeps ? keep : write_traces, .context = r, .at_end = keeps};
    TRY(ht_gather_create(plan, ht_sampler_period(r->sampler), sink, &r->gather));
    if (!keeps) {
        TRY(ht_output_traces_begin(r->output, plan));
        r->writes = true;
        return HT_OK;
    }
    ht_recording_free(r);
    return ht_receivers_room(&r->pool, r->receivers, &r->data);
}

static HT_ERR receivers_begin(void *context, struct ht_run *run) {
    struct ht_recording *r = context;
    r->receivers = run->plan->receivers;
    if (r->receivers == NULL) return HT_OK;
    TRY(ht_sampler_create(run->plan, &run->stepper, &r->sampler));
    return HT_BY_FIRST(run->plan->grid.slab.comm, begin_traces(r, run->plan));
}

static int64_t receivers_next(void *context, HT_UNUSED const struct ht_run *run, int64_t from) {
    struct ht_recording *r = context;
    if (r->receivers == NULL) return INT64_MAX;
    if (!r->loaded) r->next = from == 0 ? 0 : from + ht_sampler_period(r->sampler) - 1;
    r->loaded = false;
    return r->next;
}

/* Samples of the steps since the last call. end: they are the last ones. */
static HT_ERR collect(struct ht_recording *r, struct ht_comm *comm, int64_t reached, bool end) {
    int64_t steps;
    double *values = r->gather != NULL ? ht_gather_next(r->gather) : NULL;
    TRY(ht_sampler_collect(r->sampler, &steps, values));
    return HT_BY_FIRST(comm, ht_gather_add(r->gather, steps, reached, end));
}

static HT_ERR end_traces(struct ht_recording *r, const char *how, double time) {
    if (!r->writes) return HT_OK;
    r->writes = false;
    return ht_output_traces_end(r->output, how, time);
}

/* With the samples since the last look, where they can still be read. */
static HT_ERR receivers_save(void *context, const struct ht_run *run) {
    struct ht_recording *r = context;
    /* where the failure was that of their end they are gone */
    if (r->sampler == NULL || !r->writes) return HT_OK;
    /* Of several ranks the others may wait elsewhere for this one. */
    struct ht_comm *comm = run->plan->grid.slab.comm;
    const bool alone = ht_comm_size(comm) == 1;
    const enum ht_err err = alone ? collect(r, comm, run->steps, true) : HT_ERR_ELSEWHERE;
    if (err != HT_OK) TRY(ht_gather_add(r->gather, 0, run->steps, true));
    return end_traces(r, "failed", ht_run_time(run));
}

/* All that is written of the run's last step has been: steps beyond it are for receivers alone. */
static HT_ERR receivers_look(void *context, const struct ht_view *view) {
    struct ht_recording *r = context;
    const struct ht_run *run = view->run;
    struct ht_comm *comm = run->plan->grid.slab.comm;
    int64_t reached = run->steps;
    if (r->receivers == NULL) return HT_OK;
    const bool whole = view->last && !run->interrupted && !run->refused;
    const int64_t end = whole ? ht_resampling_last(run->plan) : reached;
    TRY(collect(r, comm, reached, view->last && reached == end));
    while (reached < end) {
        const int64_t steps = ht_least(ht_sampler_period(r->sampler), end - reached);
        TRY(ht_stepper_advance(&run->stepper, steps));
        reached += steps;
        TRY(collect(r, comm, reached, reached == end));
    }
    const char *how = run->refused ? "not finite" : run->interrupted ? "interrupted" : "end";
    return view->last ? HT_BY_FIRST(comm, end_traces(r, how, view->time)) : HT_OK;
}

/* The values of the steps since the last look, of which the next one makes samples as ever; a run
 * that goes on has taken one of its start. */
static HT_ERR receivers_archive(void *context, struct ht_run *run, struct ht_archive *archive) {
    struct ht_recording *r = context;
    const bool loads = ht_archive_loads(archive);
    int64_t steps;
    if (r->receivers == NULL) return HT_OK;
    double *values = r->gather != NULL && !loads ? ht_gather_next(r->gather) : NULL;
    TRY(ht_sampler_collect(r->sampler, &steps, values));
    ht_archive_integer(archive, "receivers/next", &r->next);
    r->loaded = loads;
    if (r->gather == NULL) return HT_OK;
    TRY(ht_gather_archive(r->gather, steps, run->from, archive));
    return r->writes ? ht_output_traces_archive(r->output, archive) : HT_OK;
}

static void receivers_end(void *context) {
    struct ht_recording *r = context;
    if (r->sampler != NULL && ht_log_level_get() >= HT_LOG_VERBOSE)
        ht_log("receivers: kernels took %.3g s", ht_sampler_seconds(r->sampler));
    ht_sampler_destroy(r->sampler);
    ht_gather_destroy(r->gather);
    *r = (struct ht_recording){r->output, r->data, r->pool, .receivers = NULL};
}

struct ht_observer ht_observe_receivers(struct ht_recording *recording) {
    return (struct ht_observer){.name = "receivers",
                                .context = recording,
                                .keeps = true,
                                .begin = receivers_begin,
                                .next = receivers_next,
                                .look = receivers_look,
                                .archive = receivers_archive,
                                .save = receivers_save,
                                .end = receivers_end};
}
