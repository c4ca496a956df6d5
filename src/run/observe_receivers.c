/* The traces of the receivers: values of each step become samples at the times
 * that the input asks for (htwave/resampler.h), and leave in blocks. Rank 0 has
 * all of them.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "htwave/observers.h"
#include "htwave/resampler.h"
#include "htwave/sampler.h"

/* MOST: samples of a block; VALUES: of all blocks, unless one sample of each
 * trace is more. */
enum { MOST = 256, VALUES = 1 << 21 };

/* The samples of a group that are not written yet. */
struct block {
    int64_t first, count; /* samples */
    double *data;         /* [sample][reading][receiver] */
};
struct ht_recorder {
    struct ht_output *output;
    const char *cache;
    const struct ht_receivers *receivers;
    struct ht_sampler *sampler;
    int derivatives; /* by time, of a trace at a level */
    int per_step;    /* levels of a step */
    bool leads;      /* rank 0, which has the members below */
    struct ht_resampler *resampler;
    int64_t width; /* values of a level: traces times derivatives */
    double *value; /* [level][width] of steps first .. first + count - 1 */
    int64_t first, count;
    int64_t most;        /* samples of a block */
    struct block *block; /* [group] */
    double *turned;      /* [reading][receiver][sample] of a block */
};

/* ---- samples ---- */

static enum ht_err write_block(struct ht_recorder *r, int n) {
    const struct ht_receiver_group *group = &r->receivers->group[n];
    const int64_t traces = group->count * group->readings;
    struct block *block = &r->block[n];
    for (int64_t t = 0; t < traces; t++)
        for (int64_t i = 0; i < block->count; i++)
            r->turned[t * block->count + i] = block->data[i * traces + t];
    TRY(ht_output_traces_add(r->output, n, block->first,
                             block->first + block->count, r->turned));
    block->first += block->count;
    block->count = 0;
    return HT_OK;
}

/* Of traces [from, from + traces), at a time in steps. */
static enum ht_err interpolate(struct ht_recorder *r, double at, int64_t from,
                               int64_t traces, double *out) {
    struct ht_resampled by;
    TRY(ht_resampler_weights(r->resampler, at, r->first,
                             r->first + r->count - 1, &by));
    for (int64_t t = 0; t < traces; t++) out[t] = 0;
    for (int64_t j = 0; j < by.count; j++)
        for (int d = 0; d < r->derivatives; d++) {
            const double weight = by.weight[j * r->derivatives + d];
            const double *value =
                r->value + (by.low + j) * r->width + from * r->derivatives + d;
            if (weight == 0) continue;
            for (int64_t t = 0; t < traces; t++)
                out[t] += weight * value[t * r->derivatives];
        }
    return HT_OK;
}

/* The time of a sample in steps: a whole number where it is one but for the
 * rounding of decimal input. */
static double step_of(const struct ht_recorder *r,
                      const struct ht_receiver_group *group, int64_t sample) {
    const double close_by = 1e-9;
    if (!(group->every > 0)) return (double)(group->first + sample);
    if (!(r->receivers->dt > 0)) return 0;
    const double at =
        ht_receivers_time(r->receivers, group, sample) / r->receivers->dt;
    return fabs(at - round(at)) < close_by ? round(at) : at;
}

/* The samples that the steps so far give. */
static enum ht_err make_samples(struct ht_recorder *r, int n, int64_t from,
                                bool last) {
    const struct ht_receiver_group *group = &r->receivers->group[n];
    const int64_t traces = group->count * group->readings;
    const int64_t reached = r->first + r->count - 1;
    struct block *block = &r->block[n];
    for (;;) {
        const int64_t sample = block->first + block->count;
        if (sample >= group->samples) break;
        const double at = step_of(r, group, sample);
        if (!ht_resampler_ready(r->resampler, at, reached, last)) break;
        TRY(interpolate(r, at, from, traces,
                        block->data + block->count * traces));
        if (++block->count == r->most) TRY(write_block(r, n));
    }
    return last ? write_block(r, n) : HT_OK;
}

/* Keeps the steps that later samples may need. */
static void forget(struct ht_recorder *r) {
    const int64_t gone = r->count - ht_resampler_keeps(r->resampler);
    if (gone <= 0) return;
    r->first += gone;
    r->count -= gone;
    memmove(r->value, r->value + gone * r->per_step * r->width,
            (size_t)(r->count * r->per_step * r->width) * sizeof *r->value);
}

static enum ht_err add_steps(struct ht_recorder *r, int64_t steps, bool last) {
    int64_t from = 0;
    r->count += steps;
    for (int n = 0; n < r->receivers->count; n++) {
        const struct ht_receiver_group *group = &r->receivers->group[n];
        TRY(make_samples(r, n, from, last));
        from += group->count * group->readings;
    }
    forget(r);
    return last ? ht_output_traces_end(r->output) : HT_OK;
}

/* ---- the observer ---- */

static enum ht_err allocate(struct ht_recorder *r, const struct ht_plan *plan) {
    const int64_t period = ht_sampler_period(r->sampler);
    int64_t most = 0;
    r->width = r->receivers->traces * r->derivatives;
    TRY(ht_resampler_create(plan, &r->resampler));
    r->most = VALUES / r->receivers->traces;
    if (r->most > MOST) r->most = MOST;
    if (r->most < 1) r->most = 1;
    TRY(HT_ALLOC(r->value, (ht_resampler_keeps(r->resampler) + period) *
                               r->per_step * r->width));
    TRY(HT_ALLOC(r->block, r->receivers->count));
    for (int n = 0; n < r->receivers->count; n++) {
        const struct ht_receiver_group *group = &r->receivers->group[n];
        const int64_t values = group->count * group->readings * r->most;
        TRY(HT_ALLOC(r->block[n].data, values));
        most = values > most ? values : most;
    }
    TRY(HT_ALLOC(r->turned, most));
    return ht_output_traces_begin(r->output, r->receivers);
}

static enum ht_err receivers_begin(void *context, const struct ht_run *run) {
    struct ht_recorder *r = context;
    struct ht_comm *comm = run->plan->grid.slab.comm;
    r->receivers = run->plan->receivers;
    if (r->receivers == NULL) return HT_OK;
    r->leads = ht_comm_rank(comm) == 0;
    r->derivatives = ht_resampling_of(run->plan).derivatives;
    r->per_step = ht_resampling_of(run->plan).per_step;
    TRY(ht_sampler_create(run->plan, &run->stepper, r->cache, &r->sampler));
    return ht_comm_agree(comm, r->leads ? allocate(r, run->plan) : HT_OK);
}

static int64_t receivers_next(void *context, const struct ht_run *run,
                              int64_t from) {
    const struct ht_recorder *r = context;
    (void)run;
    if (r->receivers == NULL) return INT64_MAX;
    return from == 0 ? 0 : from + ht_sampler_period(r->sampler) - 1;
}

/* Samples of the steps since the last call. end: they are the last ones. */
static enum ht_err collect(struct ht_recorder *r, struct ht_comm *comm,
                           int64_t reached, bool end) {
    int64_t steps;
    TRY(ht_sampler_collect(
        r->sampler, &steps,
        r->leads ? r->value + r->count * r->per_step * r->width : NULL));
    if (!r->leads) return ht_comm_agree(comm, HT_OK);
    enum ht_err err = HT_OK;
    const int64_t samples = r->first + r->count + steps;
    if (samples != reached + 1)
        err = ht_err_set(HT_ERR_INTERNAL,
                         "receivers: %lld samples after %lld steps",
                         (long long)samples, (long long)reached);
    if (err == HT_OK) err = add_steps(r, steps, end);
    return ht_comm_agree(comm, err);
}

/* All that is written of the run's last step has been: steps beyond it are for
 * receivers alone. */
static enum ht_err receivers_look(void *context, const struct ht_view *view) {
    struct ht_recorder *r = context;
    const struct ht_run *run = view->run;
    struct ht_comm *comm = run->plan->grid.slab.comm;
    int64_t reached = run->steps;
    if (r->receivers == NULL) return HT_OK;
    const int64_t end =
        reached +
        (view->last && !run->interrupted ? ht_resampling_beyond(run->plan) : 0);
    TRY(collect(r, comm, reached, view->last && reached == end));
    while (reached < end) {
        const int64_t steps =
            ht_least(ht_sampler_period(r->sampler), end - reached);
        TRY(ht_stepper_advance(&run->stepper, steps));
        reached += steps;
        TRY(collect(r, comm, reached, reached == end));
    }
    return HT_OK;
}

static void receivers_end(void *context) {
    struct ht_recorder *r = context;
    if (r->receivers == NULL) return;
    if (r->sampler != NULL && ht_log_level_get() >= HT_LOG_VERBOSE)
        ht_log("receivers: kernels took %.3g s",
               ht_sampler_seconds(r->sampler));
    ht_sampler_destroy(r->sampler);
    ht_resampler_destroy(r->resampler);
    for (int n = 0; r->block != NULL && n < r->receivers->count; n++)
        free(r->block[n].data);
    free(r->block);
    free(r->value);
    free(r->turned);
    *r = (struct ht_recorder){.output = r->output, .cache = r->cache};
}

enum ht_err ht_recorder_create(struct ht_output *output, const char *cache,
                               struct ht_recorder **out) {
    TRY(HT_ALLOC(*out, 1));
    (*out)->output = output;
    (*out)->cache = cache;
    return HT_OK;
}

void ht_recorder_destroy(struct ht_recorder *recorder) {
    free(recorder);
}

struct ht_observer ht_observe_receivers(struct ht_recorder *recorder) {
    return (struct ht_observer){.name = "receivers",
                                .context = recorder,
                                .begin = receivers_begin,
                                .next = receivers_next,
                                .look = receivers_look,
                                .end = receivers_end};
}
