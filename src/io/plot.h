/* From nodes to pixels: the map of a slice, the curve of a row, colours of fields and of models. */
#pragma once

#include "htwave/output.h"

/* Colours 0xRRGGBB of a diverging map, -1 deep blue, 0 neutral, +1 deep red, and of a rising one, 0
 * dark violet to 1 light yellow, lightness even to the eye; values beyond are clamped. */
uint32_t ht_colour_signed(double value);
uint32_t ht_colour_rising(double value);

/* The largest finite |value|. */
double ht_plot_largest(const struct ht_picture *picture);
/* The extremes of a background, in order; false: it is uniform, or not there, and not drawn. */
bool ht_plot_relief(const struct ht_picture *picture, double extreme[2]);
/* The same, where it is drawn alone: never equal. */
void ht_plot_span(const struct ht_picture *picture, double extreme[2]);
/* The map of columns x rows pixels 0xRRGGBB, pixel[row * stride + column], the upper row first. Of
 * a picture of height 1 the background only. */
void ht_plot_map(const struct ht_picture *picture, double range, const int64_t size[2],
                 int64_t stride, uint32_t *pixel);
/* Fraction of the half height of a curve's box that the range takes. */
#define HT_PLOT_HEADROOM 0.9
/* The curve at the centre of a pixel column, over the range, cut off at the box; NAN where a value
 * is not finite. */
double ht_plot_curve(const struct ht_picture *picture, double range, int64_t column,
                     int64_t columns);
