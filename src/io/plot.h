/* The insides of a picture: the map of a slice, the curve of a row. */
#ifndef HTWAVE_IO_PLOT_H
#define HTWAVE_IO_PLOT_H

#include "htwave/output.h"

#include "canvas.h"

/* A rectangle of pixels, [x[0], x[1]) x [y[0], y[1]). */
struct ht_box {
    int64_t x[2], y[2];
};

/* The largest finite |value|, 1 when there is none above 0. */
double ht_plot_range(const struct ht_picture *picture);
void ht_plot_map(struct ht_canvas *canvas, const struct ht_box *box,
                 const struct ht_picture *picture, double range);
/* Fraction of the half height of the box that the range takes. */
#define HT_PLOT_HEADROOM 0.9
HT_CHECKED enum ht_err ht_plot_curve(struct ht_canvas *canvas,
                                     const struct ht_box *box,
                                     const struct ht_picture *picture,
                                     double range);

#endif
