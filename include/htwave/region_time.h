/* The expected time of steps with absorbing layers, from times on a small grid (htwave check): each
 * kind of region is timed by itself and its rate is applied to the targets of that kind. Perfectly
 * matched layers of Hermite methods have a kind for each set of axes (bit k: axis k); 0 is the
 * interior.
 */
#ifndef HTWAVE_REGION_TIME_H
#define HTWAVE_REGION_TIME_H

#include "htwave/kernels.h"

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

#endif
