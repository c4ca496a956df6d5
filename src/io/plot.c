/* From nodes to pixels.
 *
 * Nodes lie on the edges of the map: pixel centre i of n stands at (i + 1/2)/n of the way from the
 * first node to the last. The wave is interpolated by cubics through the nodes (Catmull and Rom
 * 1974), because a high-order solution has few nodes per wavelength and straight lines between them
 * would show corners; the background, which may jump, linearly.
 *
 * Over a background the wave's colour is multiplied with that of the medium: where the wave is 0
 * the medium shows as it is, and the lightness has no edges there. */
#include "plot.h"

static const uint32_t white = 0xffffff, light_grey = 0xfafafa, dark_grey = 0xb8b8b8;

/* ---- two colour maps that are even to the eye ----
 *
 * The diverging one: two paths in CIELAB leave the neutral colour (L = 97): one through blue (hue
 * 265 to 290 degrees), one through red (52 to 32), both down to L = 30 linearly, with a chroma that
 * rises and falls off as the screen's gamut wants. Each is cut into eight pieces of equal length in
 * CIELAB, so that equal steps of the field look equal (neighbours in the table are 12.9 +- 0.7
 * apart) and the two signs have the same lightness.
 *
 * The rising one: every eighth part of viridis (S. van der Walt, N. Smith 2015, CC0), whose
 * lightness is linear. */

enum { LAST = 16, NEUTRAL = 0xf6 /* each part of the middle one */ };

static const uint32_t anchors[LAST + 1] = {
    0x01429b, 0x025ec3, 0x297de4, 0x559bf8, 0x7bb1ff, 0x9dc4ff, 0xbdd7ff, 0xdae9fe, 0xf6f6f6,
    0xfee2d7, 0xffccb8, 0xfdb599, 0xf69a7b, 0xe97c5d, 0xd35941, 0xb3342a, 0x8d131a,
};

static uint32_t blend(uint32_t a, uint32_t b, double t) {
    uint32_t colour = 0;
    for (int shift = 0; shift < 24; shift += 8) {
        const int from = (int)(a >> shift & 255), to = (int)(b >> shift & 255);
        colour |= (uint32_t)lround(from + t * (to - from)) << shift;
    }
    return colour;
}

/* part: 0 to 1 of the way through a table whose last entry is this. */
static uint32_t between(const uint32_t *table, int last, double part) {
    const double at = fmin(fmax(part, 0), 1) * last;
    const int i = (int)fmin(floor(at), last - 1);
    return blend(table[i], table[i + 1], at - i);
}

uint32_t ht_colour_signed(double value) {
    return between(anchors, LAST, 0.5 * (value + 1));
}

uint32_t ht_colour_rising(double value) {
    static const uint32_t part[] = {0x440154, 0x472d7b, 0x3b528b, 0x2c728e, 0x21918c,
                                    0x28ae80, 0x5ec962, 0xaddc30, 0xfde725};
    return between(part, sizeof part / sizeof part[0] - 1, value);
}

/* ---- from nodes to pixels ---- */

double ht_plot_largest(const struct ht_picture *picture) {
    double largest = 0.0;
    for (int64_t i = 0; i < picture->width * picture->height; i++)
        if (isfinite(picture->values[i])) largest = fmax(largest, fabs(picture->values[i]));
    return largest;
}

/* Four nodes and their weights at the centre of a pixel, between nodes 0 and n - 1. */
struct taps {
    int64_t node[4];
    double weight[4];
};

static struct taps pixel_taps(int64_t pixel, int64_t pixels, int64_t n, bool cubic) {
    const double at = ((double)pixel + 0.5) / (double)pixels * (double)(n - 1);
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

/* A zero weight takes no part: a value that is not finite must not spread beyond its cubics. */
static double sample(const double *values, int64_t width, const struct taps *x,
                     const struct taps *y) {
    double sum = 0.0;
    for (int j = 0; j < 4; j++) {
        if (y->weight[j] == 0.0) continue;
        const double *row = values + y->node[j] * width;
        for (int i = 0; i < 4; i++)
            if (x->weight[i] != 0.0) sum += y->weight[j] * x->weight[i] * row[x->node[i]];
    }
    return sum;
}

bool ht_plot_relief(const struct ht_picture *picture, double extreme[2]) {
    const double *ground = picture->background;
    extreme[0] = INFINITY;
    extreme[1] = -INFINITY;
    for (int64_t i = 0; ground && i < picture->width * picture->height; i++) {
        if (!isfinite(ground[i])) continue;
        extreme[0] = fmin(extreme[0], ground[i]);
        extreme[1] = fmax(extreme[1], ground[i]);
    }
    /* a uniform background carries no information and only dulls the map */
    return extreme[1] - extreme[0] > 1e-6 * fabs(extreme[1]);
}

void ht_plot_span(const struct ht_picture *picture, double extreme[2]) {
    if (ht_plot_relief(picture, extreme)) return;
    double middle = isfinite(extreme[0]) ? extreme[0] : 0.0;
    double half = middle != 0.0 ? 0.1 * fabs(middle) : 1.0;
    extreme[0] = middle - half;
    extreme[1] = middle + half;
}

/* The background, where it is drawn and finite, else white. */
static uint32_t relief_colour(const double extreme[2], double value) {
    const double t = (value - extreme[0]) / (extreme[1] - extreme[0]);
    return isfinite(t) ? blend(light_grey, dark_grey, fmin(fmax(t, 0), 1)) : white;
}

/* A pixel's wave over its ground; ground NAN: over none. */
static uint32_t map_colour(const double extreme[2], double value, double ground) {
    const uint32_t black = 0, wave = ht_colour_signed(value);
    const uint32_t under = relief_colour(extreme, ground);
    uint32_t colour = 0;
    if (!isfinite(value)) return black;
    if (!isfinite(ground)) return wave;
    for (int shift = 0; shift < 24; shift += 8) {
        const double product = (under >> shift & 255) * (wave >> shift & 255) / (double)NEUTRAL;
        colour |= (uint32_t)fmin(product, 255) << shift;
    }
    return colour;
}

void ht_plot_map(const struct ht_picture *picture, double range, const int64_t size[2],
                 int64_t stride, uint32_t *pixel) {
    const int64_t nx = picture->width, ny = picture->height;
    const bool model = picture->values == NULL, curve = ny == 1;
    double extreme[2];
    const bool relief = ht_plot_relief(picture, extreme) || model;
    if (model) ht_plot_span(picture, extreme);
    for (int64_t j = 0; j < size[1]; j++, pixel += stride) {
        const int64_t up = picture->y_down ? j : size[1] - 1 - j;
        const struct taps y = pixel_taps(up, size[1], ny, true);
        const struct taps flat_y = pixel_taps(up, size[1], ny, false);
        for (int64_t i = 0; i < size[0]; i++) {
            const struct taps x = pixel_taps(i, size[0], nx, true);
            const struct taps flat_x = pixel_taps(i, size[0], nx, false);
            const double ground = relief ? sample(picture->background, nx, &flat_x, &flat_y) : NAN;
            const double part = (ground - extreme[0]) / (extreme[1] - extreme[0]);
            if (model)
                pixel[i] = isfinite(part) ? ht_colour_rising(part) : 0;
            else
                pixel[i] = curve ? relief_colour(extreme, ground)
                                 : map_colour(extreme, sample(picture->values, nx, &x, &y) / range,
                                              ground);
        }
    }
}

double ht_plot_curve(const struct ht_picture *picture, double range, int64_t column,
                     int64_t columns) {
    const double edge = 1.0 / HT_PLOT_HEADROOM;
    const struct taps one = {{0, 0, 0, 0}, {0.0, 1.0, 0.0, 0.0}};
    struct taps x = pixel_taps(column, columns, picture->width, true);
    double value = sample(picture->values, picture->width, &x, &one) / range;
    /* fmin and fmax would turn NaN into a number */
    return isfinite(value) ? fmin(fmax(value, -edge), edge) : NAN;
}
