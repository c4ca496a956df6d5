/* The traces of the receivers: values of each step become samples at the times
 * that the input asks for, and leave in blocks. Rank 0 has all of them.
 *
 * Between steps a sample is the value of the polynomial through STENCIL steps
 * around it, as evenly as the ends of the run allow: of a wave of frequency
 * omega it errs by (omega dt)^12 times 5.6e-5 inside, 9.4e-3 at the ends. A
 * sample on a step is the value there.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "htwave/observers.h"
#include "htwave/sampler.h"

/* MOST: samples of a block; VALUES: of all blocks, unless one sample of each
 * trace is more. */
enum { STENCIL = HT_RECEIVERS_STENCIL, MOST = 256, VALUES = 1 << 21 };

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
    bool leads;    /* rank 0, which has the members below */
    double *value; /* [step][trace] of the steps first .. first + count */
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

/* Of the values around a time, in steps, of traces [from, from + traces). */
static void interpolate(const struct ht_recorder *r, double at, int64_t from,
                        int64_t traces, double *out) {
    const int64_t all = r->receivers->traces, held = r->count;
    const int points = held < STENCIL ? (int)held : STENCIL;
    int64_t low = (int64_t)floor(at) - (points / 2 - 1) - r->first;
    double weight[STENCIL];
    if (low > held - points) low = held - points;
    if (low < 0) low = 0;
    ht_lagrange_weights(points, at - (double)(r->first + low), weight);
    for (int64_t t = 0; t < traces; t++) {
        double sum = 0;
        for (int j = 0; j < points; j++)
            if (weight[j] != 0)
                sum += weight[j] * r->value[(low + j) * all + from + t];
        out[t] = sum;
    }
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

/* The samples that the steps so far give; unless the run ends only those with
 * enough steps after them. */
static enum ht_err make_samples(struct ht_recorder *r, int n, int64_t from,
                                bool last) {
    const struct ht_receiver_group *group = &r->receivers->group[n];
    const int64_t traces = group->count * group->readings;
    const int64_t beside = STENCIL / 2;
    const double reached = (double)(r->first + r->count - 1);
    struct block *block = &r->block[n];
    for (;;) {
        const int64_t sample = block->first + block->count;
        if (sample >= group->samples) break;
        const double at = step_of(r, group, sample);
        if (at > reached) break;
        if (at != floor(at) && !last && floor(at) + (double)beside > reached)
            break;
        interpolate(r, at, from, traces, block->data + block->count * traces);
        if (++block->count == r->most) TRY(write_block(r, n));
    }
    return last ? write_block(r, n) : HT_OK;
}

/* Keeps the steps that later samples may need. */
static void forget(struct ht_recorder *r) {
    const int64_t all = r->receivers->traces;
    if (r->count <= STENCIL) return;
    const int64_t gone = r->count - STENCIL;
    memmove(r->value, r->value + gone * all,
            (size_t)(STENCIL * all) * sizeof *r->value);
    r->first += gone;
    r->count = STENCIL;
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

static int64_t samples_of_block(const struct ht_receivers *receivers) {
    const int64_t most = ht_least(VALUES / receivers->traces, MOST);
    return ht_most(most, 1);
}

int64_t ht_recorder_bytes(const struct ht_receivers *receivers,
                          int64_t period) {
    const int64_t samples = samples_of_block(receivers);
    int64_t values = (STENCIL + period + samples) * receivers->traces, most = 0;
    for (int n = 0; n < receivers->count; n++)
        most = ht_most(most, receivers->group[n].count *
                                 receivers->group[n].readings * samples);
    return (values + most) * (int64_t)sizeof(double);
}

static enum ht_err allocate(struct ht_recorder *r) {
    const int64_t steps = STENCIL + ht_sampler_period(r->sampler);
    int64_t most = 0;
    r->most = samples_of_block(r->receivers);
    TRY(HT_ALLOC(r->value, steps * r->receivers->traces));
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
    TRY(ht_sampler_create(run->plan, &run->stepper, r->cache, &r->sampler));
    return ht_comm_agree(comm, r->leads ? allocate(r) : HT_OK);
}

static int64_t receivers_next(void *context, const struct ht_run *run,
                              int64_t from) {
    const struct ht_recorder *r = context;
    (void)run;
    if (r->receivers == NULL) return INT64_MAX;
    return from == 0 ? 0 : from + ht_sampler_period(r->sampler) - 1;
}

static enum ht_err receivers_look(void *context, const struct ht_view *view) {
    struct ht_recorder *r = context;
    struct ht_comm *comm = view->run->plan->grid.slab.comm;
    int64_t steps;
    if (r->receivers == NULL) return HT_OK;
    TRY(ht_sampler_collect(r->sampler, &steps,
                           r->leads ? r->value + r->count * r->receivers->traces
                                    : NULL));
    if (!r->leads) return ht_comm_agree(comm, HT_OK);
    enum ht_err err = HT_OK;
    const int64_t samples = r->first + r->count + steps;
    if (samples != view->run->steps + 1)
        err = ht_err_set(HT_ERR_INTERNAL,
                         "receivers: %lld samples after %lld steps",
                         (long long)samples, (long long)view->run->steps);
    if (err == HT_OK) err = add_steps(r, steps, view->last);
    return ht_comm_agree(comm, err);
}

static void receivers_end(void *context) {
    struct ht_recorder *r = context;
    if (r->receivers == NULL) return;
    if (r->sampler != NULL && ht_log_level_get() >= HT_LOG_VERBOSE)
        ht_log("receivers: kernels took %.3g s",
               ht_sampler_seconds(r->sampler));
    ht_sampler_destroy(r->sampler);
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
