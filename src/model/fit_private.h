/* Shared by the files src/model/fit*.c: the boxes on which the medium is
 * constant, and the weights that average over them along each axis. */
#ifndef HTWAVE_MODEL_FIT_PRIVATE_H
#define HTWAVE_MODEL_FIT_PRIVATE_H

#include "htwave/fit.h"
#include "medium_private.h"

/* ---- fit_axis.c ---- */
/* The weights of one output: `count` pieces from `first` on. */
struct ht_fit_taps {
    int64_t first;
    int count;
    double *weight;
};

/* Along one axis the box is cut into boxes from edge[i] to edge[i + 1], whose
 * values are those of source base + i. Pieces are these boxes continued beyond
 * the box of the grid: piece p has the values of box[p] and lies between
 * place[p] and place[p + 1]. taps[s][m] average about x_m + s h/2. */
struct ht_fit_axis {
    double lower, upper, h;
    bool periodic;
    int64_t nodes; /* primary */
    int64_t boxes, base;
    double *edge;
    int64_t pieces, *box;
    double *place;
    struct ht_fit_taps *taps[2];
    double *weights; /* what the taps point into */
    int most;        /* taps */
};
/* edge and boxes are set; kind sinc or box. */
HT_CHECKED enum ht_err ht_fit_axis_weigh(struct ht_fit_axis *axis,
                                         enum ht_fit_kind kind);
void ht_fit_axis_clear(struct ht_fit_axis *axis);

/* ---- fit_source.c ---- */
/* Values that are averaged. */
enum ht_fit_quantity { HT_FIT_COMPLIANCE, HT_FIT_DENSITY }; /* 1/K, rho */

/* Sets base, boxes and edge of the axis from the medium's rows. */
HT_CHECKED enum ht_err ht_fit_boxes(const struct ht_medium *medium, int k,
                                    struct ht_fit_axis *axis);
/* The quantity on plane i3 of the boxes, x1 fastest, rows `row` apart. */
HT_CHECKED enum ht_err ht_fit_source(const struct ht_medium *medium,
                                     const struct ht_fit_axis axis[3],
                                     enum ht_fit_quantity quantity, int64_t i3,
                                     int64_t row, double *out);
/* The quantity from the values of the parameters at x. */
HT_CHECKED enum ht_err ht_fit_value(const struct ht_medium *medium,
                                    enum ht_fit_quantity quantity,
                                    const double *values, const double x[3],
                                    double *out);
/* Number of the material 1/rho; -1: the system has none. */
int ht_fit_density(const struct ht_medium *medium);
/* The key to blame for a quantity. */
const char *ht_fit_key(const struct ht_medium *medium,
                       enum ht_fit_quantity quantity);

#endif
