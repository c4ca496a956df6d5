/* The sheet around a map or a curve: title, frame, numbers at the ends of
 * the axes, scale bar. All measures are in dots of the font, which grows with
 * the picture; the margins are as wide as the texts in them.
 */
#include <math.h>
#include <stdlib.h>

#include "plot.h"

static const struct ht_colour ink = {40, 40, 45};
static const struct ht_colour frame = {110, 110, 115};

enum { SMALLEST = 64, LARGEST = 8192, NUMBER = 32 };

/* Gaps in dots of the font. */
enum { PAD = 6, GAP = 3, BAR = 9, TICK = 2, CAP = 7, CAPTION = 12 };

struct sheet {
    const struct ht_picture *picture;
    bool curve;
    double range, dot;
    struct ht_box map, bar;
    int64_t width, height;
    char number[7][NUMBER]; /* x0 x1, y0 y1, -range 0 +range */
};

static const char *text(const char *string) {
    return string ? string : "";
}

/* Significant digits, but thousands without an exponent. */
static void print_number(char *out, double value, int digits) {
    if (fabs(value) >= 1000.0 && fabs(value) < 1e5)
        snprintf(out, NUMBER, "%.0f", value);
    else
        snprintf(out, NUMBER, "%.*g", digits, value + 0.0); /* no -0 */
}

/* Width and height of the map: the physical extents' ratio between 1:4 and
 * 4:1, the longest side at least `pixels` and one pixel per node. */
static void map_size(const struct ht_picture *p, bool curve, int64_t *width,
                     int64_t *height) {
    double ratio = (p->x1 - p->x0) / (p->y1 - p->y0);
    if (curve) ratio = 2.0;
    if (!isfinite(ratio) || ratio <= 0.0) ratio = 1.0;
    ratio = fmin(fmax(ratio, 0.25), 4.0);
    int64_t nodes = ratio >= 1.0 ? p->width : p->height;
    int64_t longest = nodes > p->pixels ? nodes : p->pixels;
    if (longest < SMALLEST) longest = SMALLEST;
    if (longest > LARGEST) longest = LARGEST;
    double side = (double)longest;
    *width = ratio >= 1.0 ? longest : (int64_t)lround(side * ratio);
    *height = ratio >= 1.0 ? (int64_t)lround(side / ratio) : longest;
}

static void print_numbers(struct sheet *s) {
    const struct ht_picture *p = s->picture;
    print_number(s->number[0], p->x0, 4);
    print_number(s->number[1], p->x1, 4);
    print_number(s->number[2], p->y0, 4);
    print_number(s->number[3], p->y1, 4);
    print_number(s->number[4], -s->range, 3);
    print_number(s->number[5], 0.0, 3);
    print_number(s->number[6], s->range, 3);
}

static double widest(double dot, int count, const char *const *strings) {
    double width = 0.0;
    for (int i = 0; i < count; i++)
        width = fmax(width, ht_canvas_text_width(dot, strings[i]));
    return width;
}

static void make_layout(struct sheet *s) {
    const struct ht_picture *p = s->picture;
    int64_t width, height;
    map_size(p, s->curve, &width, &height);
    s->dot =
        fmin(fmax((double)(width > height ? width : height) / 330.0, 1.5), 6.0);
    double d = s->dot;
    const char *left[] = {s->number[2], s->number[3], text(p->y_label)};
    const char *value[] = {s->number[4], s->number[5], s->number[6]};
    const char *unit = text(p->unit);
    double margin = s->curve ? fmax(widest(d, 3, value), widest(d, 1, &unit))
                             : widest(d, 3, left);
    s->map.x[0] = (int64_t)ceil((PAD + GAP) * d + margin);
    s->map.y[0] = (int64_t)ceil((2 * PAD + CAP) * d);
    s->map.x[1] = s->map.x[0] + width;
    s->map.y[1] = s->map.y[0] + height;
    s->bar.x[0] = s->map.x[1] + (int64_t)(PAD * d);
    s->bar.x[1] = s->bar.x[0] + (int64_t)(BAR * d);
    s->bar.y[0] = s->map.y[0] + (int64_t)(*unit ? CAPTION * d : 0.0);
    s->bar.y[1] = s->map.y[1];

    double right = (double)s->map.x[1];
    if (!s->curve)
        right =
            fmax((double)s->bar.x[1] + (TICK + GAP) * d + widest(d, 3, value),
                 (double)s->bar.x[0] + widest(d, 1, &unit));
    right = fmax(right,
                 (double)s->map.x[0] + ht_canvas_text_width(d, text(p->title)));
    s->width = (int64_t)ceil(right + PAD * d);
    s->height = (int64_t)ceil((double)s->map.y[1] + (GAP + CAP + PAD) * d);
}

static void draw_axes(const struct sheet *s, struct ht_canvas *canvas) {
    const struct ht_picture *p = s->picture;
    double d = s->dot;
    double x0 = (double)s->map.x[0], x1 = (double)s->map.x[1];
    double y0 = (double)s->map.y[0], y1 = (double)s->map.y[1];
    struct ht_letters start = {d, 0.0, ink}, centre = {d, 0.5, ink};
    struct ht_letters end = {d, 1.0, ink};
    ht_canvas_frame(canvas, s->map.x, s->map.y, frame);
    ht_canvas_text(canvas, x0, y0 - PAD * d, &start, text(p->title));
    double below = y1 + (GAP + CAP) * d;
    ht_canvas_text(canvas, x0, below, &start, s->number[0]);
    ht_canvas_text(canvas, 0.5 * (x0 + x1), below, &centre, text(p->x_label));
    ht_canvas_text(canvas, x1, below, &end, s->number[1]);

    double beside = x0 - GAP * d, middle = 0.5 * (y0 + y1);
    double half = 0.5 * CAP * d; /* centres a line of capitals */
    if (s->curve) {
        double reach = 0.5 * (y1 - y0) * HT_PLOT_HEADROOM;
        for (int k = -1; k <= 1; k++)
            ht_canvas_text(canvas, beside, middle - k * reach + half, &end,
                           s->number[5 + k]);
        ht_canvas_text(canvas, beside, middle - 0.5 * reach + half, &end,
                       text(p->unit));
        return;
    }
    ht_canvas_text(canvas, beside, y1, &end, s->number[p->y_down ? 3 : 2]);
    ht_canvas_text(canvas, beside, middle + half, &end, text(p->y_label));
    ht_canvas_text(canvas, beside, y0 + CAP * d, &end,
                   s->number[p->y_down ? 2 : 3]);
}

static void draw_bar(const struct sheet *s, struct ht_canvas *canvas) {
    double d = s->dot;
    int64_t y0 = s->bar.y[0], y1 = s->bar.y[1], rows = y1 - y0;
    for (int64_t j = 0; j < rows; j++) {
        const int64_t line[2] = {y0 + j, y0 + j + 1};
        double value = 1.0 - 2.0 * ((double)j + 0.5) / (double)rows;
        ht_canvas_fill(canvas, s->bar.x, line, ht_colour_signed(value));
    }
    ht_canvas_frame(canvas, s->bar.x, s->bar.y, frame);
    struct ht_letters start = {d, 0.0, ink};
    ht_canvas_text(canvas, (double)s->bar.x[0], (double)s->map.y[0] + CAP * d,
                   &start, text(s->picture->unit));
    const int64_t tick[2] = {s->bar.x[1], s->bar.x[1] + (int64_t)(TICK * d)};
    double beside = (double)tick[1] + GAP * d;
    for (int k = 0; k < 3; k++) {
        int64_t at = k == 0 ? y1 : k == 1 ? y0 + rows / 2 : y0 - 1;
        const int64_t line[2] = {at, at + 1};
        ht_canvas_fill(canvas, tick, line, frame);
        /* below the top end, centred, above the bottom end */
        double shift = k == 0 ? 0.0 : k == 1 ? 0.5 * CAP : CAP;
        ht_canvas_text(canvas, beside, (double)at + 1.0 + shift * d, &start,
                       s->number[4 + k]);
    }
}

static enum ht_err draw(const struct sheet *s, struct ht_canvas *canvas) {
    if (s->curve) {
        TRY(ht_plot_curve(canvas, &s->map, s->picture, s->range));
    } else {
        ht_plot_map(canvas, &s->map, s->picture, s->range);
        draw_bar(s, canvas);
    }
    draw_axes(s, canvas);
    return HT_OK;
}

enum ht_err ht_picture_write(const struct ht_picture *picture,
                             const char *path) {
    REQUIRE(picture->width >= 1 && picture->height >= 1, HT_ERR_INTERNAL,
            "picture %s has no values", path);
    struct sheet sheet = {.picture = picture, .curve = picture->height == 1};
    sheet.range =
        picture->range > 0.0 ? picture->range : ht_plot_range(picture);
    print_numbers(&sheet);
    make_layout(&sheet);
    struct ht_canvas canvas;
    TRY(ht_canvas_create(sheet.width, sheet.height, &canvas));
    enum ht_err err = draw(&sheet, &canvas);
    if (!err) err = ht_png_write(&canvas, path);
    ht_canvas_destroy(&canvas);
    return err;
}
