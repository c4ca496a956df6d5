/* Which grid and step carry waves over a distance with a given error, by each scheme: in a uniform
 * medium from the scheme's own plane waves, without runs. */
#pragma once

#include "htwave/stepper.h"

/* A method on cubic cells. */
struct ht_carrier {
    const struct ht_equations *eq; /* must outlive it */
    const struct ht_scheme *scheme;
    int order;        /* N, or the order in space */
    int stages;       /* of finite differences: terms in time, 1 or 2 */
    bool density;     /* of finite differences: 1/rho varies */
    bool undispersed; /* of one term: time.dispersion = "remove" */
    double contrast;  /* of finite differences: largest speed over least */
};

/* Where the speed is least; error: relative, L2, of the scheme alone. */
struct ht_resolution {
    double cells; /* per wavelength; 0: more than HT_RESOLUTION_MOST */
    double cfl;   /* of the fastest waves */
    double error;
};
#define HT_RESOLUTION_MOST 100.0

/* The grid with the fewest updates whose error after so many wavelengths is at most `error`
 * (docs/performance.md, How a wavelength is counted); of finite differences the step, too. */
HT_CHECKED enum ht_err ht_resolution_find(const struct ht_carrier *carrier, double wavelengths,
                                          double error, struct ht_resolution *out);
/* What rounding adds: the model of src/plan/expect.c and, of finite differences, fd_plan.c; the
 * likely value times the root of the bracket above it. */
double ht_resolution_rounding(const struct ht_carrier *carrier, bool fp64,
                              const struct ht_resolution *grid, double wavelengths);
/* Cell half-steps per wavelength along each dimension and period. */
double ht_resolution_updates(const struct ht_carrier *carrier, const struct ht_resolution *grid);
