/* A plane wave advanced by the scheme itself: see bloch.c. */
#pragma once

#include <complex.h>

#include "htwave/problem.h"

/* A uniform medium and a scheme in it. */
struct ht_bloch_run {
    const struct ht_problem *problem; /* equations, cells, stages, scheme */
    const double *material;
    double dt, steps;
    int wave; /* of ht_equations_plane; 0: the fastest */
};

/* Nodal amplitudes at the end of the fields stored on the primary grid, as factors of exp(i k.x):
 * of the wave and of the error. */
struct ht_bloch_wave {
    double complex exact[HT_MAX_FIELDS], error[HT_MAX_FIELDS];
};
HT_CHECKED enum ht_err ht_bloch_step(const struct ht_bloch_run *run, const double k[3],
                                     struct ht_bloch_wave *out);
/* Of all these fields, relative to the wave. */
HT_CHECKED enum ht_err ht_bloch_error(const struct ht_bloch_run *run, const double k[3],
                                      double *error);
