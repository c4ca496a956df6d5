/* Averages along one axis: weights of the boxes on which the medium is constant.
 *
 * With C the integral of the window w from -infinity, in spacings, an output at x gives a piece [a,
 * b] the weight C((b - x)/h) - C((a - x)/h): exact, and of sum one. The windowed sinc is
 *     g(r) = sin(pi r)/(pi r) I_0(s sqrt(1 - (r/4)^2)),  |r| <= 4,
 *     w(r) = g(r) (S_2 - S_1 r)/(S_0 S_2 - S_1^2),
 *     S_j = sum over integers m of (r - m)^j g(r - m),
 * so that sums over points equal integrals, of the medium and of x times the medium, wherever its
 * jumps are. The shape s makes the integral of r^2 w zero. Both lower the error of jumps:
 * bench/NOTES.md, "Fitted medium".
 */
#include <math.h>
#include <stdlib.h>

#include "fit_private.h"

/* ---- windows ---- */

/* The integral is tabulated at FINE intervals per spacing; interpolation goes through the ends of
 * DEGREE of them. */
enum { REACH = HT_FIT_REACH, FINE = 128, DEGREE = 8, GAUSS = 5 };
static const double SHAPE = 5.125221525907206;

static double window(double r) {
    double sum[3] = {0};
    for (int m = -2 * REACH; m <= 2 * REACH; m++) {
        const double s = r - m, g = ht_kaiser_sinc(s, REACH, SHAPE);
        const double moment[3] = {g, g * s, g * s * s};
        for (int j = 0; j < 3; j++) sum[j] += moment[j];
    }
    return ht_kaiser_sinc(r, REACH, SHAPE) * (sum[2] - sum[1] * r) /
           (sum[0] * sum[2] - sum[1] * sum[1]);
}

/* Integral of the window from a to b, by Gauss's rule. */
static double integral(double a, double b) {
    static const double place[GAUSS] = {0.046910077030668004, 0.23076534494715845, 0.5,
                                        0.76923465505284155, 0.953089922969332};
    static const double weight[GAUSS] = {0.11846344252809454, 0.23931433524968324,
                                         0.28444444444444444, 0.23931433524968324,
                                         0.11846344252809454};
    double sum = 0;
    for (int i = 0; i < GAUSS; i++) sum += weight[i] * window(a + (b - a) * place[i]);
    return sum * (b - a);
}

/* Integrals of the window from 0 to i/FINE. */
struct table {
    enum ht_fit_window window;
    double part[REACH * FINE + 1];
};

static void table_make(enum ht_fit_window by, struct table *table) {
    const double width = 1.0 / FINE;
    *table = (struct table){.window = by};
    for (int i = 0; i < REACH * FINE && by == HT_FIT_BY_SINC; i++)
        table->part[i + 1] = table->part[i] + integral(i * width, (i + 1) * width);
}

/* Between entries by the polynomial through DEGREE + 1 of them, in barycentric form; kinks of the
 * window, at integers, are ends. */
static double interpolate(const struct table *table, double at) {
    static const double binomial[DEGREE + 1] = {1, -8, 28, -56, 70, -56, 28, -8, 1};
    int first = (int)at / DEGREE * DEGREE;
    double above = 0, below = 0;
    for (int i = 0; i <= DEGREE; i++) {
        double distance = at - (first + i);
        if (distance == 0) return table->part[first + i];
        above += binomial[i] / distance * table->part[first + i];
        below += binomial[i] / distance;
    }
    return above / below;
}

static double half_width(enum ht_fit_window by) {
    static const double width[] = {[HT_FIT_BY_SINC] = REACH,
                                   [HT_FIT_BY_BOX] = 0.5,
                                   [HT_FIT_BY_COSINE] = REACH,
                                   [HT_FIT_BOX_SLOPE] = 1,
                                   [HT_FIT_COSINE_SLOPE] = REACH + 0.5};
    return width[by];
}

/* C(r) of a window; of slopes 0 at both ends. */
static double cumulative(const struct table *table, enum ht_fit_window by, double r) {
    const double pi = acos(-1), whole = table->part[(ptrdiff_t)REACH * FINE];
    const bool slope = by == HT_FIT_BOX_SLOPE || by == HT_FIT_COSINE_SLOPE;
    const enum ht_fit_window of = by == HT_FIT_BOX_SLOPE ? HT_FIT_BY_BOX : HT_FIT_BY_COSINE;
    if (slope) return cumulative(table, of, r - 0.5) - cumulative(table, of, r + 0.5);
    if (fabs(r) >= half_width(by)) return r > 0;
    if (by == HT_FIT_BY_BOX) return 0.5 + r;
    if (by == HT_FIT_BY_COSINE) return 0.5 + r / (2 * REACH) + sin(pi * r / REACH) / (2 * pi);
    double part = interpolate(table, fabs(r) * FINE);
    return 0.5 + copysign(0.5 * part / whole, r);
}

/* ---- pieces ---- */

/* Boxes from the other end, or mirrored, so that [low, high] is covered; a single box has one
 * piece. */
static enum ht_err unfold(struct ht_fit_axis *axis, double low, double high) {
    double length = axis->upper - axis->lower;
    int64_t first = (int64_t)floor((low - axis->lower) / length);
    int64_t last = (int64_t)floor((high - axis->lower) / length);
    int64_t n = axis->boxes, p = 0;
    if (n == 1) first = last = 0;
    axis->pieces = (last - first + 1) * n;
    TRY(HT_ALLOC(axis->box, axis->pieces));
    TRY(HT_ALLOC(axis->place, axis->pieces + 1));
    TRY(HT_ALLOC(axis->end, axis->pieces));
    for (int i = 0; i < 2; i++) TRY(HT_ALLOC(axis->jump[i], axis->pieces));
    for (int64_t copy = first; copy <= last; copy++) {
        double shift = (double)copy * length;
        bool mirrored = !axis->periodic && copy % 2 != 0;
        for (int64_t i = 0; i < n; i++, p++) {
            axis->box[p] = mirrored ? n - 1 - i : i;
            axis->place[p] =
                shift + (mirrored ? axis->lower + axis->upper - axis->edge[n - i] : axis->edge[i]);
        }
    }
    axis->place[p] = (double)(last + 1) * length + axis->lower;
    if (n == 1) axis->place[0] = low;
    if (n == 1) axis->place[1] = high;
    return HT_OK;
}

/* ---- weights ---- */

/* Pieces that the window touches by less are left out; their neighbour has their weight. */
static const double TOUCH = 1e-9; /* spacings */

static void taps_find(const struct ht_fit_axis *axis, double x, double half, int64_t *from,
                      struct ht_fit_taps *taps) {
    double low = x - (half - TOUCH) * axis->h;
    double high = x + (half - TOUCH) * axis->h;
    while (axis->place[*from + 1] <= low) ++*from;
    int64_t end = *from;
    while (axis->place[end] < high) end++;
    taps->first = *from;
    taps->count = (int)(end - *from);
}

static double output(const struct ht_fit_axis *axis, int shift, int64_t m) {
    return axis->lower + ((double)m + 0.5 * shift) * axis->h;
}

/* Of output m, the part below the end of piece p. */
static double part_below(const struct ht_fit_axis *axis, const struct table *table, int64_t p,
                         int shift, int64_t m) {
    const double end = axis->place[p + 1];
    const enum ht_fit_end kind = axis->end[p];
    if (kind == HT_FIT_END_SPLIT)
        return ht_fit_split_part(axis, p, (double)m + 0.5 * shift, shift == 1);
    return cumulative(table, kind == HT_FIT_END_BOX ? HT_FIT_BY_BOX : table->window,
                      (end - output(axis, shift, m)) / axis->h);
}

static void taps_weigh(const struct ht_fit_axis *axis, const struct table *table, int shift,
                       int64_t m, const struct ht_fit_taps *taps) {
    const bool slope = table->window == HT_FIT_BOX_SLOPE || table->window == HT_FIT_COSINE_SLOPE;
    double before = 0;
    for (int i = 0; i < taps->count; i++) {
        double part =
            i < taps->count - 1 ? part_below(axis, table, taps->first + i, shift, m) : !slope;
        taps->weight[i] = part - before;
        before = part;
    }
}

enum ht_err ht_fit_axis_unfold(struct ht_fit_axis *axis, enum ht_fit_kind kind) {
    const double half = half_width(kind == HT_FIT_SINC ? HT_FIT_BY_SINC : HT_FIT_BY_BOX);
    const double margin = (half + 2) * axis->h;
    return unfold(axis, axis->lower - margin, axis->upper + margin);
}

enum ht_err ht_fit_axis_weigh(struct ht_fit_axis *axis, enum ht_fit_window window) {
    struct table table;
    const double half = half_width(window);
    int64_t total = 0;
    table_make(window, &table);
    for (int s = 0; s < 2; s++) {
        int64_t from = 0;
        TRY(HT_ALLOC(axis->taps[window][s], axis->nodes + 2));
        for (int64_t m = -1; m <= axis->nodes; m++) {
            struct ht_fit_taps *taps = &axis->taps[window][s][m + 1];
            taps_find(axis, output(axis, s, m), half, &from, taps);
            if (taps->count > axis->most) axis->most = taps->count;
            total += taps->count;
        }
    }
    TRY(HT_ALLOC(axis->weights[window], total));
    double *weight = axis->weights[window];
    for (int s = 0; s < 2; s++)
        for (int64_t m = -1; m <= axis->nodes; m++) {
            struct ht_fit_taps *taps = &axis->taps[window][s][m + 1];
            taps->weight = weight;
            weight += taps->count;
            taps_weigh(axis, &table, s, m, taps);
        }
    return HT_OK;
}

void ht_fit_axis_clear(struct ht_fit_axis *axis) {
    free(axis->edge);
    free(axis->box);
    free(axis->place);
    free(axis->end);
    for (int i = 0; i < 2; i++) free(axis->jump[i]);
    for (int w = 0; w < HT_FIT_WINDOWS; w++) {
        free(axis->taps[w][0]);
        free(axis->taps[w][1]);
        free(axis->weights[w]);
    }
}
