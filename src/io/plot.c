/* From nodes to pixels.
 *
 * Nodes lie on the edges of the map: pixel centre i of n stands at
 * (i + 1/2)/n of the way from the first node to the last. The wave is
 * interpolated by cubics through the nodes (Catmull and Rom 1974), because a
 * high-order solution has few nodes per wavelength and straight lines between
 * them would show corners; the background, which may jump, linearly.
 *
 * Over a background the wave's colour is laid with an opacity that grows with
 * |value|/range, so that quiet places show the medium.
 */
#include "plot.h"

#include <math.h>
#include <stdlib.h>

static const struct ht_colour black = {0, 0, 0};
static const struct ht_colour light_grey = {250, 250, 250};
static const struct ht_colour dark_grey = {184, 184, 184};
static const struct ht_colour curve_colour = {2, 94, 195};

double ht_plot_range(const struct ht_picture *picture) {
    double range = 0.0;
    int64_t count = picture->width * picture->height;
    for (int64_t i = 0; i < count; i++)
        if (isfinite(picture->values[i]))
            range = fmax(range, fabs(picture->values[i]));
    return range > 0.0 ? range : 1.0;
}

/* Four nodes and their weights at a place between nodes 0 and n - 1. */
struct taps {
    int64_t node[4];
    double weight[4];
};

static struct taps make_taps(double at, int64_t n, bool cubic) {
    struct taps taps;
    int64_t left = (int64_t)fmin(fmax(floor(at), 0.0), (double)(n - 1));
    double t = at - (double)left;
    for (int k = 0; k < 4; k++) {
        int64_t node = left + k - 1;
        taps.node[k] = node < 0 ? 0 : node > n - 1 ? n - 1 : node;
    }
    double *w = taps.weight;
    w[0] = cubic ? -0.5 * t * (1.0 - t) * (1.0 - t) : 0.0;
    w[3] = cubic ? -0.5 * t * t * (1.0 - t) : 0.0;
    w[1] = cubic ? 1.0 + t * t * (1.5 * t - 2.5) : 1.0 - t;
    w[2] = 1.0 - w[0] - w[1] - w[3];
    return taps;
}

static struct taps pixel_taps(int64_t pixel, int64_t pixels, int64_t n,
                              bool cubic) {
    double part = ((double)pixel + 0.5) / (double)pixels;
    return make_taps(part * (double)(n - 1), n, cubic);
}

/* A zero weight takes no part: a value that is not finite must not spread
 * beyond its cubics. */
static double sample(const double *values, int64_t width, const struct taps *x,
                     const struct taps *y) {
    double sum = 0.0;
    for (int j = 0; j < 4; j++) {
        if (y->weight[j] == 0.0) continue;
        const double *row = values + y->node[j] * width;
        for (int i = 0; i < 4; i++)
            if (x->weight[i] != 0.0)
                sum += y->weight[j] * x->weight[i] * row[x->node[i]];
    }
    return sum;
}

/* Extremes of the background. */
struct relief {
    const double *values; /* NULL: nothing to show */
    double low, high;
};

static struct relief make_relief(const struct ht_picture *picture) {
    struct relief relief = {picture->background, INFINITY, -INFINITY};
    if (!relief.values) return relief;
    for (int64_t i = 0; i < picture->width * picture->height; i++) {
        if (!isfinite(relief.values[i])) continue;
        relief.low = fmin(relief.low, relief.values[i]);
        relief.high = fmax(relief.high, relief.values[i]);
    }
    /* a uniform background carries no information and only dulls the map */
    if (relief.high - relief.low <= 1e-6 * fabs(relief.high) ||
        relief.low > relief.high)
        relief.values = NULL;
    return relief;
}

static struct ht_colour relief_colour(const struct relief *relief,
                                      double value) {
    double t = (value - relief->low) / (relief->high - relief->low);
    return ht_colour_mix(light_grey, dark_grey, fmin(fmax(t, 0.0), 1.0));
}

/* Smooth at 0, where a kink would draw lines along the zeros of the wave;
 * half opaque at 15 % of the range, so that weak waves show. */
static struct ht_colour over(struct ht_colour ground, double value) {
    const double half = 0.15;
    double v2 = fmin(value * value, 1.0);
    double opacity = v2 * (1.0 + half * half) / (v2 + half * half);
    return ht_colour_mix(ground, ht_colour_signed(value), opacity);
}

void ht_plot_map(struct ht_canvas *canvas, const struct ht_box *box,
                 const struct ht_picture *picture, double range) {
    struct relief relief = make_relief(picture);
    int64_t columns = box->x[1] - box->x[0], rows = box->y[1] - box->y[0];
    int64_t nx = picture->width, ny = picture->height;
    for (int64_t j = 0; j < rows; j++) {
        int64_t up = picture->y_down ? j : rows - 1 - j;
        struct taps y = pixel_taps(up, rows, ny, true);
        struct taps flat_y = pixel_taps(up, rows, ny, false);
        struct ht_colour *pixel =
            &canvas->pixel[(box->y[0] + j) * canvas->width + box->x[0]];
        for (int64_t i = 0; i < columns; i++) {
            struct taps x = pixel_taps(i, columns, nx, true);
            double value = sample(picture->values, nx, &x, &y) / range;
            pixel[i] = isfinite(value) ? ht_colour_signed(value) : black;
            if (!relief.values || !isfinite(value)) continue;
            struct taps flat_x = pixel_taps(i, columns, nx, false);
            double ground = sample(relief.values, nx, &flat_x, &flat_y);
            if (isfinite(ground))
                pixel[i] = over(relief_colour(&relief, ground), value);
        }
    }
}

/* ---- curves ---- */

static void curve_ground(struct ht_canvas *canvas, const struct ht_box *box,
                         const struct ht_picture *picture) {
    struct relief relief = make_relief(picture);
    int64_t columns = box->x[1] - box->x[0];
    const struct taps one = {{0, 0, 0, 0}, {0.0, 1.0, 0.0, 0.0}};
    for (int64_t i = 0; relief.values && i < columns; i++) {
        struct taps x = pixel_taps(i, columns, picture->width, false);
        double ground = sample(relief.values, picture->width, &x, &one);
        if (!isfinite(ground)) continue;
        const int64_t column[2] = {box->x[0] + i, box->x[0] + i + 1};
        ht_canvas_fill(canvas, column, box->y, relief_colour(&relief, ground));
    }
}

static void curve_rules(struct ht_canvas *canvas, const struct ht_box *box,
                        double middle, double half) {
    static const struct ht_colour rule = {205, 205, 205};
    for (int k = -1; k <= 1; k++) {
        int64_t at = (int64_t)(middle + k * half);
        const int64_t line[2] = {at, at + 1};
        ht_canvas_fill(canvas, box->x, line, rule);
    }
}

/* The value at a column, in halves of the box's height; NAN past the end. */
static double curve_at(const struct ht_picture *picture, int64_t column,
                       int64_t columns, double range) {
    const double edge = 1.0 / HT_PLOT_HEADROOM;
    const struct taps one = {{0, 0, 0, 0}, {0.0, 1.0, 0.0, 0.0}};
    if (column >= columns) return NAN;
    struct taps x = pixel_taps(column, columns, picture->width, true);
    double value = sample(picture->values, picture->width, &x, &one) / range;
    /* fmin and fmax would turn NaN into a number */
    return isfinite(value) ? fmin(fmax(value, -edge), edge) : NAN;
}

/* A piece of line per run of finite values. */
enum ht_err ht_plot_curve(struct ht_canvas *canvas, const struct ht_box *box,
                          const struct ht_picture *picture, double range) {
    int64_t columns = box->x[1] - box->x[0];
    double middle = 0.5 * (double)(box->y[0] + box->y[1]);
    double half = 0.5 * (double)(box->y[1] - box->y[0]) * HT_PLOT_HEADROOM;
    double(*point)[2];
    TRY(HT_ALLOC(point, columns));
    curve_ground(canvas, box, picture);
    curve_rules(canvas, box, middle, half);
    enum ht_err err = HT_OK;
    int64_t n = 0;
    for (int64_t i = 0; !err && i <= columns; i++) {
        double value = curve_at(picture, i, columns, range);
        if (!isnan(value)) {
            point[n][0] = (double)(box->x[0] + i) + 0.5;
            point[n++][1] = middle - half * value;
        } else if (n > 0) {
            err = ht_canvas_line(canvas, n, (const double(*)[2])point, 2.0,
                                 curve_colour);
            n = 0;
        }
    }
    free(point);
    return err;
}
