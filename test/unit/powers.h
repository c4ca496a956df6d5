/* Powers of a step's matrix by repeated squaring, which show what grows by 1e-8 of a step. */
#pragma once

#include "htwave/base.h"

static inline double norm(const double *x, int64_t count) {
    double sum = 0;
    for (int64_t n = 0; n < count; n++) sum += x[n] * x[n];
    return sqrt(sum);
}

/* The matrix a [n][n] becomes its square; b: room as large, with which it changes places. */
static inline void square(int n, double **a, double **b) {
    double *x = *a, *out = *b;
    memset(out, 0, (size_t)n * (size_t)n * sizeof *out);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++) {
            const double f = x[i * n + k];
            for (int j = 0; f != 0 && j < n; j++) out[i * n + j] += f * x[k * n + j];
        }
    *a = out;
    *b = x;
}
