/* What samplers of all methods share. */
#ifndef HTWAVE_SOLVE_SAMPLER_PRIVATE_H
#define HTWAVE_SOLVE_SAMPLER_PRIVATE_H

#include "htwave/sampler.h"

/* A trace is the sum of weight times the sum over one plane: its parts, in the order of the planes.
 */
struct ht_sampler_ops {
    /* sums[step][part] of the own planes' parts, of the samples since the last call; others are
     * left alone. */
    enum ht_err (*take)(void *self, int64_t *steps, double *sums);
    double (*seconds)(const void *self); /* NULL: no kernels */
    void (*destroy)(void *self);
};
struct ht_sampler {
    const struct ht_grid *grid;
    double scale; /* of the plan */
    int64_t period;
    int64_t traces; /* each level and derivative by time counts */
    int64_t parts;
    int64_t *first; /* part [trace + 1] */
    double *weight; /* [part] */
    double *sums;   /* [step][part] */
    const struct ht_sampler_ops *ops;
    void *self;
};

/* Samples of so many parts that a ring on a device holds. */
int64_t ht_sampler_slots(int64_t parts);

/* A trace of all groups. */
struct ht_trace {
    const double *x;
    struct ht_reading reading;
};
/* For trace 0, 1, .. */
struct ht_trace ht_trace_at(const struct ht_receivers *receivers, int64_t trace);

#endif
