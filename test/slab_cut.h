/* Slabs of any thickness. */
#pragma once

#include <stdint.h>

/* Rank r gets planes [start[r], start[r + 1]) in proportion to positive weights, at least one
 * (cells >= ranks). */
static inline void test_slab_cut(int64_t cells, int ranks, const double *weights, int64_t *start) {
    double sum = 0, before = 0;
    for (int r = 0; r < ranks; r++) sum += weights[r];
    start[0] = 0;
    for (int r = 0; r < ranks; r++) {
        before += weights[r];
        const int64_t end = (int64_t)((double)cells * (before / sum) + 0.5);
        const int64_t least = start[r] + 1, most = cells - (ranks - 1 - r);
        start[r + 1] = end < least ? least : end > most ? most : end;
    }
}
