/* A medium that jumps everywhere: overlapping blocks at random places, as
 * samples for a file. */
#ifndef HTWAVE_RANDOM_BLOCKS_H
#define HTWAVE_RANDOM_BLOCKS_H

#include "htwave/base.h"

/* Sides are evenly spread from 0.5 to 4 times `unit` samples; so are c of a
 * block from 1 to its contrast, and rho. Later blocks hide earlier ones, three
 * deep on average. Periodic; the same numbers for the same seed. */
struct ht_random_blocks {
    int64_t samples[3]; /* 1: nothing depends on the axis */
    double unit;
    double c, rho; /* contrasts */
    uint64_t seed;
};
/* Sets c and, unless NULL, rho: of all samples, x1 fastest. */
void ht_random_blocks_fill(const struct ht_random_blocks *blocks, float *c,
                           float *rho);

#endif
