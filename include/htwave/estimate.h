/* Estimates before a run: the grid that a given error needs, the time of absorbing layers. */
#pragma once

#include "htwave/stepper.h"

/* Which grid and step carry waves over a distance with a given error, by each scheme: in a uniform
 * medium from the scheme's own plane waves, without runs.
 */

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
 * (docs/performance.md, How a wavelength is counted). Finite differences: the step is chosen, too,
 * for the least and the largest speed. */
HT_CHECKED enum ht_err ht_resolution_find(const struct ht_carrier *carrier, double wavelengths,
                                          double error, struct ht_resolution *out);
/* What rounding adds: the model of src/plan/expect.c and, of finite differences, fd_plan.c; the
 * likely value times the root of the bracket above it. */
double ht_resolution_rounding(const struct ht_carrier *carrier, bool fp64,
                              const struct ht_resolution *grid, double wavelengths);
/* Cell half-steps per wavelength along each dimension and period. */
double ht_resolution_updates(const struct ht_carrier *carrier, const struct ht_resolution *grid);

/* The expected time of steps with absorbing layers, from times on a small grid (htwave check): each
 * kind of region is timed by itself and its rate is applied to the targets of that kind. Perfectly
 * matched layers of Hermite methods have a kind for each set of axes (bit k: axis k); 0 is the
 * interior.
 */

enum { HT_REGION_KINDS = 8 };

/* What a time step of a grid has. */
struct ht_region_work {
    double targets[HT_REGION_KINDS]; /* of both half steps */
    double surface;                  /* cells along the sides, which ghosts lie behind */
    double boxes;                    /* a launch each in a half step */
};
void ht_region_work(const struct ht_grid *grid, const struct ht_layers *layers,
                    struct ht_region_work *out);

/* Seconds of so much work. */
struct ht_region_seconds {
    double kernels[HT_REGION_KINDS], ghosts;
    double rest; /* between kernels */
};
/* Adds the device seconds of a problem's kernels since the last call. */
void ht_region_add_seconds(struct ht_kernels *kernels, struct ht_region_seconds *out);
/* All of the seconds take `whole` together: less than their sum where kernels run side by side,
 * which makes each shorter in proportion, more where time passes between them. */
void ht_region_fit(double whole, struct ht_region_seconds *seconds);

/* Work per second; 0: there is none, or it takes no time. */
struct ht_region_rates {
    double targets[HT_REGION_KINDS], surface;
    double box_s; /* what passes between kernels, for each box */
};
/* From the seconds of a number of steps. */
void ht_region_rates(const struct ht_region_work *work, const struct ht_region_seconds *seconds,
                     double steps, struct ht_region_rates *out);
/* Seconds of a step at these rates; *layers: those of the layers. */
double ht_region_expect(const struct ht_region_rates *rates, const struct ht_region_work *work,
                        double *layers);

/* The grid to time: the layers as they are, along each axis the thicker one alone unless `both`,
 * around as many cells along all axes as make at most `most` with the layers: a multiple of 16,
 * which groups of targets in a row divide, or 12, 8 or 4, and no more than the grid has. Corners,
 * whose size is that of layers, then are those of the run, edges and faces are cut in length.
 * Returns the number of cells around, at most; 0: even 4 are too many. */
int64_t ht_region_grid(const struct ht_grid *grid, const struct ht_layers *layers, bool both,
                       double most, int64_t cells[3], struct ht_layers *out);

/* Cells in layers, once for each axis along which they are damped: what corrections and products
 * with profiles in layers take grows with. */
double ht_region_damped(const struct ht_grid *grid, const struct ht_layers *layers);
