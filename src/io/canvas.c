/* Smooth drawing by distance: a pixel at distance d from the centre line of
 * a stroke of half width r is covered by clamp(r + 1/2 - d, 0, 1), which is
 * the exact area for straight edges along the raster and near it elsewhere.
 * Letters are strokes as well: neighbouring dots of the font are joined.
 */
#include "canvas.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "font.h"

enum ht_err ht_canvas_create(int64_t width, int64_t height,
                             struct ht_canvas *out) {
    out->width = width;
    out->height = height;
    TRY(HT_ALLOC(out->pixel, width * height));
    memset(out->pixel, 255, (size_t)(width * height) * sizeof *out->pixel);
    return HT_OK;
}

void ht_canvas_destroy(struct ht_canvas *canvas) {
    free(canvas->pixel);
    canvas->pixel = NULL;
}

static int64_t clamp(int64_t value, int64_t low, int64_t high) {
    return value < low ? low : value > high ? high : value;
}

void ht_canvas_fill(struct ht_canvas *canvas, const int64_t x[2],
                    const int64_t y[2], struct ht_colour colour) {
    int64_t left = clamp(x[0], 0, canvas->width);
    int64_t right = clamp(x[1], 0, canvas->width);
    int64_t top = clamp(y[0], 0, canvas->height);
    int64_t bottom = clamp(y[1], 0, canvas->height);
    for (int64_t j = top; j < bottom; j++)
        for (int64_t i = left; i < right; i++)
            canvas->pixel[j * canvas->width + i] = colour;
}

void ht_canvas_frame(struct ht_canvas *canvas, const int64_t x[2],
                     const int64_t y[2], struct ht_colour colour) {
    const int64_t wide[2] = {x[0] - 1, x[1] + 1}, high[2] = {y[0], y[1]};
    const int64_t top[2] = {y[0] - 1, y[0]}, bottom[2] = {y[1], y[1] + 1};
    const int64_t left[2] = {x[0] - 1, x[0]}, right[2] = {x[1], x[1] + 1};
    ht_canvas_fill(canvas, wide, top, colour);
    ht_canvas_fill(canvas, wide, bottom, colour);
    ht_canvas_fill(canvas, left, high, colour);
    ht_canvas_fill(canvas, right, high, colour);
}

/* ---- strokes ---- */

struct segment {
    double ax, ay, bx, by;
};

static double distance(const struct segment *s, double x, double y) {
    double dx = s->bx - s->ax, dy = s->by - s->ay;
    double length2 = dx * dx + dy * dy;
    double t =
        length2 > 0.0 ? ((x - s->ax) * dx + (y - s->ay) * dy) / length2 : 0.0;
    t = fmin(fmax(t, 0.0), 1.0);
    return hypot(x - s->ax - t * dx, y - s->ay - t * dy);
}

/* The pixels that segments of a half width can touch. */
struct bounds {
    int64_t left, right, top, bottom;
};

static struct bounds bounds_of(const struct ht_canvas *canvas,
                               const struct segment *segment, int count,
                               double half) {
    double x0 = INFINITY, x1 = -INFINITY, y0 = INFINITY, y1 = -INFINITY;
    for (int k = 0; k < count; k++) {
        x0 = fmin(x0, fmin(segment[k].ax, segment[k].bx));
        x1 = fmax(x1, fmax(segment[k].ax, segment[k].bx));
        y0 = fmin(y0, fmin(segment[k].ay, segment[k].by));
        y1 = fmax(y1, fmax(segment[k].ay, segment[k].by));
    }
    double margin = half + 1.0;
    return (struct bounds){
        clamp((int64_t)floor(x0 - margin), 0, canvas->width),
        clamp((int64_t)ceil(x1 + margin), 0, canvas->width),
        clamp((int64_t)floor(y0 - margin), 0, canvas->height),
        clamp((int64_t)ceil(y1 + margin), 0, canvas->height)};
}

/* Where segments meet, a pixel takes the largest cover, not the sum. */
static double cover(const struct segment *segment, int count, double half,
                    const int64_t pixel[2]) {
    double nearest = INFINITY;
    for (int k = 0; k < count; k++)
        nearest = fmin(nearest, distance(&segment[k], (double)pixel[0] + 0.5,
                                         (double)pixel[1] + 0.5));
    return fmin(fmax(half + 0.5 - nearest, 0.0), 1.0);
}

static void stroke(struct ht_canvas *canvas, const struct segment *segment,
                   int count, double half, struct ht_colour colour) {
    if (count == 0) return;
    struct bounds box = bounds_of(canvas, segment, count, half);
    for (int64_t j = box.top; j < box.bottom; j++)
        for (int64_t i = box.left; i < box.right; i++) {
            const int64_t at[2] = {i, j};
            struct ht_colour *pixel = &canvas->pixel[j * canvas->width + i];
            *pixel =
                ht_colour_mix(*pixel, colour, cover(segment, count, half, at));
        }
}

/* Segment by segment into a mask that keeps the largest cover (in 255ths),
 * painted at once: overlaps do not darken, and the work stays that of the
 * small boxes. */
enum ht_err ht_canvas_line(struct ht_canvas *canvas, int64_t count,
                           const double (*point)[2], double width,
                           struct ht_colour colour) {
    int64_t pixels = canvas->width * canvas->height;
    unsigned char *mask;
    TRY(HT_ALLOC(mask, pixels));
    for (int64_t k = 0; k + 1 < count; k++) {
        struct segment piece = {point[k][0], point[k][1], point[k + 1][0],
                                point[k + 1][1]};
        struct bounds box = bounds_of(canvas, &piece, 1, 0.5 * width);
        for (int64_t j = box.top; j < box.bottom; j++)
            for (int64_t i = box.left; i < box.right; i++) {
                const int64_t at[2] = {i, j};
                unsigned char *old = &mask[j * canvas->width + i];
                double c = 255.0 * cover(&piece, 1, 0.5 * width, at);
                if (c > *old) *old = (unsigned char)lround(c);
            }
    }
    for (int64_t i = 0; i < pixels; i++)
        if (mask[i])
            canvas->pixel[i] =
                ht_colour_mix(canvas->pixel[i], colour, mask[i] / 255.0);
    free(mask);
    return HT_OK;
}

/* ---- text ---- */

static bool lit(const unsigned char *rows, int column, int row) {
    return column >= 0 && column < HT_FONT_COLUMNS && row < HT_FONT_ROWS &&
           (rows[row] >> (HT_FONT_COLUMNS - 1 - column) & 1);
}

/* Joins the dot at (column, row) to lit neighbours to the right and below;
 * diagonally only where no straight way exists. A dot without any is a
 * segment of length 0. Returns the number of segments, at most 4. */
static int join(const unsigned char *rows, int column, int row,
                struct segment *out) {
    static const int step[4][2] = {{1, 0}, {0, 1}, {1, 1}, {-1, 1}};
    double x = column, y = row;
    int n = 0;
    for (int k = 0; k < 4; k++) {
        int dx = step[k][0], dy = step[k][1];
        if (!lit(rows, column + dx, row + dy)) continue;
        if (k >= 2 &&
            (lit(rows, column + dx, row) || lit(rows, column, row + 1)))
            continue;
        out[n++] = (struct segment){x, y, x + dx, y + dy};
    }
    if (n == 0) out[n++] = (struct segment){x, y, x, y};
    return n;
}

static void draw_glyph(struct ht_canvas *canvas, double x, double y, double dot,
                       struct ht_colour colour, char c) {
    const unsigned char *rows = ht_font_glyph(c);
    struct segment segment[4 * HT_FONT_COLUMNS * HT_FONT_ROWS];
    int count = 0;
    for (int row = 0; row < HT_FONT_ROWS; row++)
        for (int column = 0; column < HT_FONT_COLUMNS; column++)
            if (lit(rows, column, row))
                count += join(rows, column, row, segment + count);
    for (int k = 0; k < count; k++) {
        struct segment *s = &segment[k];
        s->ax = x + (s->ax + 0.5) * dot;
        s->bx = x + (s->bx + 0.5) * dot;
        s->ay = y + (s->ay + 0.5 - HT_FONT_ASCENT) * dot;
        s->by = y + (s->by + 0.5 - HT_FONT_ASCENT) * dot;
    }
    stroke(canvas, segment, count, 0.42 * dot, colour);
}

double ht_canvas_text_width(double dot, const char *text) {
    size_t length = strlen(text);
    if (length == 0) return 0.0;
    return dot * (double)(length * HT_FONT_ADVANCE -
                          (HT_FONT_ADVANCE - HT_FONT_COLUMNS));
}

void ht_canvas_text(struct ht_canvas *canvas, double x, double y,
                    const struct ht_letters *letters, const char *text) {
    double dot = letters->dot;
    /* whole pixels, so that every letter of a line looks the same */
    double at = floor(x - letters->align * ht_canvas_text_width(dot, text));
    for (size_t i = 0; text[i]; i++)
        draw_glyph(canvas, at + (double)i * HT_FONT_ADVANCE * dot, floor(y),
                   dot, letters->colour, text[i]);
}
