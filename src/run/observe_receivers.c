/* The traces of the receivers (htwave/gather.h), of which rank 0 has all. */
#include "htwave/gather.h"
#include "htwave/run.h"

struct ht_recorder {
    struct ht_recording *recording;
    const struct ht_receivers *receivers;
    struct ht_sampler *sampler;
    struct ht_gather *gather; /* on rank 0 */
    bool writes;              /* the traces are begun and not ended */
    int64_t next;             /* step to look at */
    bool loaded;              /* it is that of a checkpoint */
};

/* NULL: no receivers. */
static struct ht_recorder *recorder_of(void *context) {
    return ((struct ht_recording *)context)->recorder;
}

/* For traces that stay in memory. */
static enum ht_err hold(struct ht_recording *recording, const struct ht_receivers *receivers) {
    ht_recording_free(recording);
    TRY(HT_ALLOC(recording->data, receivers->count));
    for (; recording->groups < receivers->count; recording->groups++) {
        const struct ht_receiver_group *group = &receivers->group[recording->groups];
        TRY(HT_ALLOC(recording->data[recording->groups],
                     group->count * group->readings * group->samples));
    }
    return HT_OK;
}

void ht_recording_free(struct ht_recording *recording) {
    for (int n = 0; n < recording->groups; n++) free(recording->data[n]);
    free(recording->data);
    recording->data = NULL;
    recording->groups = 0;
}

static enum ht_err keep(void *context, int n, int64_t first, int64_t last, const double *data) {
    const struct ht_recorder *r = context;
    const struct ht_receiver_group *group = &r->receivers->group[n];
    const int64_t count = last - first;
    for (int64_t t = 0; t < group->count * group->readings; t++)
        memcpy(r->recording->data[n] + t * group->samples + first, data + t * count,
               (size_t)count * sizeof *data);
    return HT_OK;
}

static enum ht_err write_traces(void *context, int n, int64_t first, int64_t last,
                                const double *data) {
    const struct ht_recorder *r = context;
    return ht_output_traces_add(r->recording->output, n, first, last, data);
}

static enum ht_err begin_traces(struct ht_recorder *r, const struct ht_plan *plan) {
    const bool keeps = r->recording->output == NULL;
    const struct ht_sink sink = {
        .take = keeps ? keep : write_traces, .context = r, .at_end = keeps};
    TRY(ht_gather_create(plan, ht_sampler_period(r->sampler), sink, &r->gather));
    if (keeps) return hold(r->recording, r->receivers);
    TRY(ht_output_traces_begin(r->recording->output, plan));
    r->writes = true;
    return HT_OK;
}

static enum ht_err receivers_begin(void *context, struct ht_run *run) {
    struct ht_recording *recording = context;
    struct ht_comm *comm = run->plan->grid.slab.comm;
    if (run->plan->receivers == NULL) return HT_OK;
    TRY(HT_ALLOC(recording->recorder, 1));
    struct ht_recorder *r = recording->recorder;
    r->recording = recording;
    r->receivers = run->plan->receivers;
    TRY(ht_sampler_create(run->plan, &run->stepper, &r->sampler));
    return HT_BY_FIRST(comm, begin_traces(r, run->plan));
}

static int64_t receivers_next(void *context, HT_UNUSED const struct ht_run *run, int64_t from) {
    struct ht_recorder *r = recorder_of(context);
    if (r == NULL) return INT64_MAX;
    if (!r->loaded) r->next = from == 0 ? 0 : from + ht_sampler_period(r->sampler) - 1;
    r->loaded = false;
    return r->next;
}

static enum ht_err take_samples(struct ht_recorder *r, int64_t steps, int64_t reached, bool end) {
    const int64_t samples = ht_gather_taken(r->gather) + steps;
    REQUIRE(samples == reached + 1, HT_ERR_INTERNAL, "receivers: %lld samples after %lld steps",
            (long long)samples, (long long)reached);
    return ht_gather_add(r->gather, steps, end);
}

/* Where rank 0 takes what the sampler has collected. */
static double *next_of(const struct ht_recorder *r) {
    return r->gather != NULL ? ht_gather_next(r->gather) : NULL;
}

/* Samples of the steps since the last call. end: they are the last ones. */
static enum ht_err collect(struct ht_recorder *r, struct ht_comm *comm, int64_t reached, bool end) {
    int64_t steps;
    TRY(ht_sampler_collect(r->sampler, &steps, next_of(r)));
    return HT_BY_FIRST(comm, take_samples(r, steps, reached, end));
}

static enum ht_err end_traces(struct ht_recorder *r, const char *how, double time) {
    if (!r->writes) return HT_OK;
    r->writes = false;
    return ht_output_traces_end(r->recording->output, how, time);
}

/* With the samples since the last look, where they can still be read. */
static enum ht_err receivers_save(void *context, const struct ht_run *run) {
    struct ht_recorder *r = recorder_of(context);
    /* where the failure was that of their end they are gone */
    if (r == NULL || r->sampler == NULL || (r->gather != NULL && !r->writes)) return HT_OK;
    /* Of several ranks the others may wait elsewhere for this one. */
    struct ht_comm *comm = run->plan->grid.slab.comm;
    const bool alone = ht_comm_size(comm) == 1;
    const enum ht_err err = alone ? collect(r, comm, run->steps, true) : HT_ERR_ELSEWHERE;
    if (!r->writes) return HT_OK;
    if (err != HT_OK) TRY(ht_gather_add(r->gather, 0, true));
    return end_traces(r, "failed", ht_run_time(run));
}

/* All that is written of the run's last step has been: steps beyond it are for receivers alone. */
static enum ht_err receivers_look(void *context, const struct ht_view *view) {
    struct ht_recorder *r = recorder_of(context);
    const struct ht_run *run = view->run;
    struct ht_comm *comm = run->plan->grid.slab.comm;
    int64_t reached = run->steps;
    if (r == NULL) return HT_OK;
    const int64_t end =
        reached +
        (view->last && !run->interrupted && !run->refused ? ht_resampling_beyond(run->plan) : 0);
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
static enum ht_err receivers_archive(void *context, struct ht_run *run,
                                     struct ht_archive *archive) {
    struct ht_recorder *r = recorder_of(context);
    const bool loads = ht_archive_loads(archive);
    int64_t steps;
    if (r == NULL) return HT_OK;
    TRY(ht_sampler_collect(r->sampler, &steps, loads ? NULL : next_of(r)));
    ht_archive_integer(archive, "receivers/next", &r->next);
    r->loaded = loads;
    if (r->gather == NULL) return HT_OK;
    TRY(ht_gather_archive(r->gather, steps, run->from, archive));
    return r->writes ? ht_output_traces_archive(r->recording->output, archive) : HT_OK;
}

static void receivers_end(void *context) {
    struct ht_recording *recording = context;
    struct ht_recorder *r = recording->recorder;
    if (r == NULL) return;
    if (r->sampler != NULL && ht_log_level_get() >= HT_LOG_VERBOSE)
        ht_log("receivers: kernels took %.3g s", ht_sampler_seconds(r->sampler));
    ht_sampler_destroy(r->sampler);
    ht_gather_destroy(r->gather);
    free(r);
    recording->recorder = NULL;
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
