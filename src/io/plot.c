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

static const struct ht_colour white = {255, 255, 255};
static const struct ht_colour light_grey = {250, 250, 250};
static const struct ht_colour dark_grey = {184, 184, 184};

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

enum { LAST = 16, NEUTRAL = LAST / 2 };

static const struct ht_colour anchors[LAST + 1] = {
    {1, 66, 155},    {2, 94, 195},    {41, 125, 228},  {85, 155, 248},  {123, 177, 255},
    {157, 196, 255}, {189, 215, 255}, {218, 233, 254}, {246, 246, 246}, {254, 226, 215},
    {255, 204, 184}, {253, 181, 153}, {246, 154, 123}, {233, 124, 93},  {211, 89, 65},
    {179, 52, 42},   {141, 19, 26},
};

static unsigned char mix(unsigned char a, unsigned char b, double t) {
    return (unsigned char)lround(a + t * (b - a));
}

static struct ht_colour blend(struct ht_colour a, struct ht_colour b, double t) {
    return (struct ht_colour){mix(a.red, b.red, t), mix(a.green, b.green, t),
                              mix(a.blue, b.blue, t)};
}

/* part: 0 to 1 of the way through a table whose last entry is this. */
static struct ht_colour between(const struct ht_colour *table, int last, double part) {
    const double at = fmin(fmax(part, 0), 1) * last;
    const int i = (int)fmin(floor(at), last - 1);
    return blend(table[i], table[i + 1], at - i);
}

struct ht_colour ht_colour_signed(double value) {
    return between(anchors, LAST, 0.5 * (value + 1));
}

struct ht_colour ht_colour_rising(double value) {
    static const struct ht_colour part[] = {{68, 1, 84},    {71, 45, 123},  {59, 82, 139},
                                            {44, 114, 142}, {33, 145, 140}, {40, 174, 128},
                                            {94, 201, 98},  {173, 220, 48}, {253, 231, 37}};
    return between(part, sizeof part / sizeof part[0] - 1, value);
}

/* ---- from nodes to pixels ---- */

double ht_plot_largest(const struct ht_picture *picture) {
    double largest = 0.0;
    int64_t count = picture->width * picture->height;
    for (int64_t i = 0; i < count; i++)
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
static struct ht_colour relief_colour(const double extreme[2], double value) {
    double t = (value - extreme[0]) / (extreme[1] - extreme[0]);
    if (!isfinite(t)) return white;
    return blend(light_grey, dark_grey, fmin(fmax(t, 0.0), 1.0));
}

static uint32_t rgb(struct ht_colour c) {
    return (uint32_t)c.red << 16 | (uint32_t)c.green << 8 | c.blue;
}

static unsigned char multiply(unsigned char ground, unsigned char wave) {
    return (unsigned char)fmin(ground * wave / (double)anchors[NEUTRAL].red, 255);
}

/* A pixel's wave over its ground; ground NAN: over none. */
static uint32_t map_colour(const double extreme[2], double value, double ground) {
    const uint32_t black = 0;
    if (!isfinite(value)) return black;
    const struct ht_colour wave = ht_colour_signed(value), under = relief_colour(extreme, ground);
    if (!isfinite(ground)) return rgb(wave);
    return rgb((struct ht_colour){multiply(under.red, wave.red), multiply(under.green, wave.green),
                                  multiply(under.blue, wave.blue)});
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
                pixel[i] = isfinite(part) ? rgb(ht_colour_rising(part)) : 0;
            else
                pixel[i] = curve ? rgb(relief_colour(extreme, ground))
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
