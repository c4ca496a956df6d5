/* An RGB image to draw on; x to the right, y downwards, in pixels. Drawing
 * outside is cut off.
 */
#ifndef HTWAVE_IO_CANVAS_H
#define HTWAVE_IO_CANVAS_H

#include "htwave/base.h"

#include "colour.h"

struct ht_canvas {
    int64_t width, height;
    struct ht_colour *pixel; /* [height][width], owned */
};

/* All white. */
HT_CHECKED enum ht_err ht_canvas_create(int64_t width, int64_t height,
                                        struct ht_canvas *out);
void ht_canvas_destroy(struct ht_canvas *canvas);

/* Pixels [x0, x1) x [y0, y1). */
void ht_canvas_fill(struct ht_canvas *canvas, const int64_t x[2],
                    const int64_t y[2], struct ht_colour colour);
/* A one pixel frame just outside [x0, x1) x [y0, y1). */
void ht_canvas_frame(struct ht_canvas *canvas, const int64_t x[2],
                     const int64_t y[2], struct ht_colour colour);
/* A smooth line of the given width with round ends through count points. */
HT_CHECKED enum ht_err ht_canvas_line(struct ht_canvas *canvas, int64_t count,
                                      const double (*point)[2], double width,
                                      struct ht_colour colour);

/* One line of text. `dot` is the pitch of the font's raster in pixels;
 * align: 0 starts at x, 0.5 is centred on it, 1 ends at it. y is the base
 * line. */
struct ht_letters {
    double dot, align;
    struct ht_colour colour;
};
void ht_canvas_text(struct ht_canvas *canvas, double x, double y,
                    const struct ht_letters *letters, const char *text);
double ht_canvas_text_width(double dot, const char *text);

/* The canvas as a PNG file, complete or not at all (png.c). */
HT_CHECKED enum ht_err ht_png_write(const struct ht_canvas *canvas,
                                    const char *path);

#endif
