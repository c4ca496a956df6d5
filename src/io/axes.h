/* What charts share: scales with their ticks, the legend, marks, the palette.
 * Lengths are in pixels.
 */
#ifndef HTWAVE_IO_AXES_H
#define HTWAVE_IO_AXES_H

#include "htwave/chart.h"

#include "canvas.h"
#include "plot.h"

/* Pitch of the font's raster and sizes that follow from it. */
enum {
    HT_CHART_DOT = 2,
    HT_CHART_SMALL_DOT = 1,
    HT_CHART_CAP = 14,  /* height of a capital */
    HT_CHART_LINE = 24, /* from a line of text to the next */
    HT_CHART_PAD = 16,
    HT_CHART_KEY = 44 /* width of a legend's sample */
};

extern const struct ht_colour ht_chart_ink, ht_chart_grid;
struct ht_colour ht_chart_colour(int index); /* -1: grey */

/* From values low..high to pixels from..to. */
struct ht_scale {
    bool log;
    double low, high, from, to;
};
/* Ends that hold all the values, with a margin; of none 1..10. */
struct ht_scale ht_scale_make(const struct ht_axis *axis, int64_t count,
                              const double *values);
bool ht_scale_shows(const struct ht_scale *scale, double value);
double ht_scale_at(const struct ht_scale *scale, double value);
/* A grid line and a number at each tick, inside the box. */
void ht_scale_draw_x(struct ht_canvas *canvas, const struct ht_box *box,
                     const struct ht_scale *scale);
void ht_scale_draw_y(struct ht_canvas *canvas, const struct ht_box *box,
                     const struct ht_scale *scale);

/* Bold title at the left, the subtitle in grey under it. */
void ht_chart_titles(struct ht_canvas *canvas, const char *title,
                     const char *subtitle);
/* Text of the usual size and colour; align as struct ht_letters. */
void ht_chart_text(struct ht_canvas *canvas, double x, double y, double align,
                   const char *text);

/* A mark of that radius about (x, y). */
void ht_marker_draw(struct ht_canvas *canvas, const double at[2], double radius,
                    const struct ht_series *series);

#endif
