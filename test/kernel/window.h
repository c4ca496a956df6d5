/* A box of a window of nodes, and values of its precision, for kernels of finite differences. */
#pragma once

#include "htwave/fd_kernel.h"

#include "must.h"

/* Whether node i of the window lies in the box. */
static inline bool in_box(const struct ht_fd_box *box, int64_t i) {
    const int64_t m[3] = {i % box->row, i / box->row % (box->plane / box->row), i / box->plane};
    bool in = true;
    for (int k = 0; k < 3; k++) in = in && m[k] >= box->begin[k] && m[k] < box->end[k];
    return in;
}

static inline double unit_of(bool fp64) {
    return fp64 ? DBL_EPSILON / 2 : FLT_EPSILON / 2;
}

/* The larger ratio; infinite where one is not finite. */
static inline double worse_ratio(double worst, double ratio) {
    return ratio <= worst ? worst : isfinite(ratio) ? ratio : (double)INFINITY;
}
