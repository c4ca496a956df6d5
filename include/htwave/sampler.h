/* What receivers record: its way from samples of steps to traces at their times
 * (docs/developers/method.md, section 8; docs/developers/differences.md). On a step: the value. */
#pragma once

#include "htwave/stepper.h"

enum { HT_RESAMPLING_DERIVATIVES = HT_MAX_ORDER + 1 };
/* What a plan's receivers need of each step. */
struct ht_resampling {
    bool whole;      /* all steps are taken */
    bool sinc;       /* leapfrog */
    int levels;      /* that a sample between steps takes */
    int per_step;    /* levels of a step: 1, or 2: half a step earlier, too */
    int derivatives; /* of each trace at a level: by time, times the levels'
                        distance to the power l, l in derivative[] */
    int derivative[HT_RESAMPLING_DERIVATIVES];
};
struct ht_resampling ht_resampling_of(const struct ht_plan *plan);
/* The last step that samples need: plan->steps, or some beyond. */
int64_t ht_resampling_last(const struct ht_plan *plan);

/* The newest steps that later samples may need. */
int64_t ht_resampling_keeps(const struct ht_plan *plan);

enum { HT_RESAMPLING_WEIGHTS = 64 };
struct ht_resampler {
    struct ht_resampling of;
    double weight[HT_RESAMPLING_WEIGHTS]; /* of the last sample, [level][derivative] */
};
/* Whether a sample can be made; at: its time in steps. reached: the newest step there is; last:
 * there will be no more. */
bool ht_resampler_ready(const struct ht_resampler *resampler, double at, int64_t reached,
                        bool last);
/* There are the levels of steps first .. reached. The sample at `at` is the sum of
 * weight[level][derivative] times `count` of them, from the level number `low` on, the first one
 * being 0. weight is valid until the next call. */
struct ht_resampled {
    int64_t low, count;
    double from, apart; /* steps: the time of level `low`, between levels */
    const double *weight;
};
HT_ERR ht_resampler_weights(struct ht_resampler *resampler, double at, int64_t first,
                            int64_t reached, struct ht_resampled *out);

/* The same for the integral of a trace without derivatives between two times, in steps, of one step
 * at most. Ready where a time a moment after the later one is. */
HT_ERR ht_resampler_integral(struct ht_resampler *resampler, double from, double to, int64_t first,
                             int64_t reached, struct ht_resampled *out);

/* Samples where all steps are taken, `whole`, in place of those by weights: at
 * `at` + j `every`, in steps, of traces whose values at step n begin at value[n width], or of their
 * integrals from step 0. steps: as far as ht_fd_steps_beside beyond the last sample. Work is that
 * of Fourier transforms over all steps. */
struct ht_whole {
    const double *value;
    int64_t width, steps;
    double at, every;
    int64_t samples;
    bool integral;
    bool between; /* values are those of half a step earlier, of what begins with 0 */
};
/* out[trace][sample] */
HT_ERR ht_resample_whole(const struct ht_whole *of, int64_t traces, double *out);
/* Its transpose: value[n width + trace] += what data[trace][sample] gives. */
HT_ERR ht_resample_whole_transposed(const struct ht_whole *of, int64_t traces, const double *data,
                                    double *value);
/* Of samples [first, first + count) of a reading; without values, width and steps. */
struct ht_whole ht_whole_of(const struct ht_receivers *receivers,
                            const struct ht_receiver_group *group, const struct ht_reading *reading,
                            int64_t first, int64_t count);
/* The way back, of a signal: from its values f at times `apart` steps apart, from 0 on, those at
 * steps 0 .. count - 1, or half a step later, that make one term in time emit it. */
HT_ERR ht_transform_signal(int64_t values, double apart, const double *f, bool later, int64_t count,
                           double *out);
/* The signal's derivative of an order, or itself, for steps of one term whose traces have their
 * dispersion removed, at them or half a step later: out[step] to be freed, 0 afterwards. */
HT_ERR ht_fd_undispersed(const struct ht_shot *shot, int order, double dt, bool later,
                         int64_t *count, double **out);

/* What the receivers of a run read from its state: of each trace and step the value, and what else
 * ht_resampling_of says. Traces are numbered group by group, reading by reading, receiver by
 * receiver (htwave/shots.h). Values do not depend on the number of ranks: each x3 plane around a
 * receiver gives one sum, of its owner, and planes are added in their order. ht_stepper_advance
 * takes a sample after each time step, into a ring on the device. */

struct ht_sampler;
/* For a plan with receivers whose stepper holds the state of step 0, from which the first sample
 * is. Destroy it before the stepper. Collective. */
HT_ERR ht_sampler_create(const struct ht_plan *plan, struct ht_stepper *stepper,
                         struct ht_sampler **out);
void ht_sampler_destroy(struct ht_sampler *sampler); /* NULL allowed */
/* Most samples that it holds: collect them at least so often. */
int64_t ht_sampler_period(const struct ht_sampler *sampler);
/* values[step][level][trace][derivative] of all samples since the last call; NULL: this rank does
 * not need them. *steps: their number. Collective. */
HT_ERR ht_sampler_collect(struct ht_sampler *sampler, int64_t *steps, double *values);
/* Device seconds of its kernels, without reads. */
double ht_sampler_seconds(const struct ht_sampler *sampler);
/* Bytes that it takes on the device, at most. */
int64_t ht_sampler_bytes(const struct ht_plan *plan, bool fp64);

/* Velocities at receivers of finite differences, which hold pressure alone:
 *     v_k(t) = v_k(0) - 1/rho integral of dp/dx_k from 0 to t.
 * Such a trace reads the slope and is start + factor times its integral. */

/* Of all receivers of a reading that is an integral: initial values by the windowed sinc of
 * htwave/grid.h, and -1/rho there. */
HT_ERR ht_integrals_find(const struct ht_plan *plan, const struct ht_receiver_group *group,
                         const struct ht_reading *reading, double *start, double *factor);
