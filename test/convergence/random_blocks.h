/* A medium that jumps everywhere: overlapping blocks at random places, as samples for a file.
 * bench/media.py makes the same. */
#pragma once

#include <math.h>

#include "htwave/base.h"

/* Sides are evenly spread from 0.5 to 4 times `unit` samples; so are c of a block from 1 to its
 * contrast, and rho. Later blocks hide earlier ones, three deep on average. Periodic; the same
 * numbers for the same seed. */
struct random_blocks {
    int64_t samples[3]; /* 1: nothing depends on the axis */
    double unit;
    double c, rho; /* contrasts */
    uint64_t seed;
};

static double between(double low, double high, uint64_t seed, uint64_t index) {
    return low + (high - low) * (0.5 + 0.5 * ht_rng_uniform(seed, index));
}

struct block {
    int64_t first[3], size[3];
};

static void fill_block(const struct random_blocks *of, const struct block *block, float value,
                       float *out) {
    const int64_t *n = of->samples, *first = block->first;
    for (int64_t z = 0; z < block->size[2]; z++)
        for (int64_t y = 0; y < block->size[1]; y++) {
            const int64_t row = (first[2] + z) % n[2] * n[1];
            float *line = out + (row + (first[1] + y) % n[1]) * n[0];
            for (int64_t x = 0; x < block->size[0]; x++) line[(first[0] + x) % n[0]] = value;
        }
}

/* Block i has the random numbers from 8 i on. */
static struct block choose_block(const struct random_blocks *of, uint64_t i) {
    const double least = 0.5, most = 4;
    struct block block;
    for (unsigned k = 0; k < 3; k++) {
        const double n = (double)of->samples[k];
        const double side = of->unit * between(least, most, of->seed, 8 * i + k);
        block.size[k] = llround(fmin(fmax(side, 1), n));
        block.first[k] = (int64_t)between(0, n, of->seed, 8 * i + 3 + k);
    }
    return block;
}

/* Sets c and, unless NULL, rho: of all samples, x1 fastest. */
static inline void random_blocks_fill(const struct random_blocks *blocks, float *c, float *rho) {
    const double depth = 3, mean = 2.25;
    const int64_t *n = blocks->samples, all = n[0] * n[1] * n[2];
    double volume = 1;
    for (int k = 0; k < 3; k++) volume *= n[k] > 1 ? mean * blocks->unit : 1;
    const uint64_t count = (uint64_t)(depth * (double)all / volume);
    for (int64_t m = 0; m < all; m++) {
        c[m] = 1;
        if (rho) rho[m] = 1;
    }
    for (uint64_t i = 0; i < count; i++) {
        const struct block block = choose_block(blocks, i);
        const uint64_t at = 8 * i;
        fill_block(blocks, &block, (float)between(1, blocks->c, blocks->seed, at + 6), c);
        if (rho)
            fill_block(blocks, &block, (float)between(1, blocks->rho, blocks->seed, at + 7), rho);
    }
}
