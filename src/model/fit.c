/* The medium of finite differences: windows and weights along axes, checks; see fit_average.c. */
#include "fit_private.h"

/* Averages along one axis: weights of the boxes on which the medium is constant.
 *
 * With C the integral of the window w from -infinity, in spacings, an output at x gives a piece [a,
 * b] the weight C((b - x)/h) - C((a - x)/h): exact, and of sum one. The windowed sinc is
 *     g(r) = sin(pi r)/(pi r) I_0(s sqrt(1 - (r/4)^2)),  |r| <= 4,
 *     w(r) = g(r) (S_2 - S_1 r)/(S_0 S_2 - S_1^2),
 *     S_j = sum over integers m of (r - m)^j g(r - m),
 * so that sums over points equal integrals, of the medium and of x times the medium, wherever its
 * jumps are. The shape s makes the integral of r^2 w zero. Both lower the error of jumps:
 * bench/NOTES.md, "Fitted medium". */

/* ---- windows ---- */

/* The integral is tabulated at FINE intervals per spacing, interpolated by the ends of DEGREE. */
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

static double integral(double a, double b) {
    double place[GAUSS], weight[GAUSS], sum = 0;
    ht_gauss_points(GAUSS, place, weight);
    for (int i = 0; i < GAUSS; i++) sum += weight[i] * window((a + b) / 2 + (b - a) * place[i]);
    return sum * (b - a);
}

/* Integrals of the window from 0 to i/FINE. */
struct table {
    enum ht_fit_window window;
    double part[REACH * FINE + 1];
};

/* Between entries by the polynomial through DEGREE + 1 of them; the window's kinks are ends. */
static double interpolate(const struct table *table, double at) {
    const int first = (int)at / DEGREE * DEGREE;
    double weight[DEGREE + 1], sum = 0;
    ht_lagrange_weights(DEGREE + 1, at - first, weight);
    for (int i = 0; i <= DEGREE; i++) sum += weight[i] * table->part[first + i];
    return sum;
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
    return 0.5 + copysign(0.5 * interpolate(table, fabs(r) * FINE) / whole, r);
}

/* ---- weights ---- */

/* Pieces that the window touches by less are left out; their neighbour has their weight. */
static const double TOUCH = 1e-9; /* spacings */

static double output(const struct ht_fit_axis *axis, int shift, int64_t m) {
    return axis->lower + ((double)m + 0.5 * shift) * axis->h;
}

/* 1/K is larger above; the quantity itself by the factor `up`. */
static double part_of_split(double z, double x, double up, bool own) {
    const double mean = sqrt(up) / (1 + sqrt(up)); /* of a, b: root of ab */
    const double m = floor(z + 0.25);              /* the points of the mean: m, m + 1/2 */
    const double at = own ? m + 0.5 : m, rest = own ? m - 0.5 : m + 1;
    if (x == at) return mean;
    if (x == rest) return z - fmin(at, rest) + 0.5 - mean;
    return x < at;
}

/* Of output m, the part below the end of piece p. At a split points of rho along its own axis lie
 * half a spacing on. */
static double part_below(const struct ht_fit_axis *axis, const struct table *table, int64_t p,
                         int shift, int64_t m) {
    const double end = axis->place[p + 1], z = (end - axis->lower) / axis->h;
    const double x = (double)m + 0.5 * shift, up = axis->jump[shift][p];
    const enum ht_fit_end kind = axis->end[p];
    if (kind != HT_FIT_END_SPLIT)
        return cumulative(table, kind == HT_FIT_END_BOX ? HT_FIT_BY_BOX : table->window,
                          (end - output(axis, shift, m)) / axis->h);
    return axis->jump[0][p] > 1 ? part_of_split(z, x, up, shift == 1)
                                : 1 - part_of_split(-z, -x, 1 / up, shift == 1);
}

static HT_ERR ht_fit_axis_weigh(struct ht_fit_axis *axis, enum ht_fit_window window) {
    const bool slope = window == HT_FIT_BOX_SLOPE || window == HT_FIT_COSINE_SLOPE;
    const double half = half_width(window), width = 1.0 / FINE;
    struct table table = {.window = window};
    for (int i = 0; i < REACH * FINE && window == HT_FIT_BY_SINC; i++)
        table.part[i + 1] = table.part[i] + integral(i * width, (i + 1) * width);
    for (int s = 0; s < 2; s++) {
        int64_t from = 0;
        TRY(HT_TAKE(axis->pool, axis->taps[window][s], axis->nodes + 2));
        for (int64_t m = -1; m <= axis->nodes; m++) {
            struct ht_fit_taps *taps = &axis->taps[window][s][m + 1];
            const double x = output(axis, s, m), reach = (half - TOUCH) * axis->h;
            double before = 0;
            while (axis->place[from + 1] <= x - reach) ++from;
            int64_t end = from;
            while (axis->place[end] < x + reach) end++;
            taps->first = from;
            taps->count = (int)(end - from);
            axis->most = (int)ht_most(axis->most, taps->count);
            TRY(HT_TAKE(axis->pool, taps->weight, taps->count));
            for (int i = 0; i < taps->count; i++) {
                double part =
                    i < taps->count - 1 ? part_below(axis, &table, from + i, s, m) : !slope;
                taps->weight[i] = part - before;
                before = part;
            }
        }
    }
    return HT_OK;
}

/* Jumps of the impedance, at which the averages split the medium.
 *
 * Where 1/K and rho both jump, each up on its own side, averages put some of the larger 1/K among
 * points of the larger rho. Together these are a resonator, slower than both sides by the root of
 *     q = max(1/K) max(rho) / max(rho/K),
 * and from q about 16 on it answers to waves of 20 points per wavelength (bench/NOTES.md, "Fitted
 * medium"). Beyond that, going from the larger rho to the larger 1/K, there is a point of K and one
 * of rho half a spacing on with the geometric means of both sides; points before have the values of
 * the one side, and points behind those of the other one, but for the last rho before and the first
 * 1/K behind, which keep the sums over points. Jumps are judged in media of one axis. */

static const double RESONANT = 16;
/* Jumps by more than KEPT nearer than APART spacings have a point in common: none is split. */
static const double KEPT = 1.5, APART = 2;

int ht_fit_scalar(const struct ht_fit *fit, int field) {
    return ht_bit(fit->average->uses[ht_equations_system_field(fit->medium->eq, field)], 0);
}

/* The factors by which 1/K and rho jump at the ends of pieces along their axis, up if above 1. */
static HT_ERR find_jumps(const struct ht_fit *fit, int k) {
    const struct ht_fit_axis *axis = &fit->axis[k];
    const struct ht_second_order *form = &fit->medium->eq->second_order;
    int64_t p = 0; /* where pieces are the boxes in their order */
    while (axis->box[p] != 0 || axis->box[p + 1] != 1) p++;
    const int64_t first = k == 1 ? p : 0, lines = k == 1 ? axis->boxes : 1;
    HT_ARRAY(double, all, (HT_MAX_SCALARS * axis->boxes));
    for (int64_t i = 0; i < (k == 2 ? axis->boxes : 1); i++) {
        double *out[HT_MAX_SCALARS];
        for (int q = 0; q < HT_MAX_SCALARS; q++) out[q] = all + q * axis->boxes + i;
        TRY(ht_fit_source(fit, k == 2 ? p + i : 0, first, first + lines, 1, out));
    }
    for (int i = 0; i < 2; i++) {
        const int scalar = ht_fit_scalar(fit, i == 0 ? form->field : form->flux[0]);
        const double *value = all + scalar * axis->boxes;
        for (p = 0; p < axis->pieces - 1; p++)
            axis->jump[i][p] = value[axis->box[p + 1]] / value[axis->box[p]];
    }
    return HT_OK;
}

/* q at the end of piece p. */
static double resonance(const struct ht_fit_axis *axis, int64_t p) {
    const double C = axis->jump[0][p], rho = axis->jump[1][p];
    return fmax(C, 1) * fmax(rho, 1) / fmax(C * rho, 1);
}

/* Beside the split at the end of piece p the sinc of other jumps would reach to its other side:
 * they are averaged by boxes. */
static void settle(struct ht_fit_axis *axis, int64_t p) {
    bool alone = true;
    for (int step = -1; step <= 1; step += 2)
        for (int64_t e = p + step; e >= 0 && e < axis->pieces - 1; e += step) {
            double far = fabs(axis->place[e + 1] - axis->place[p + 1]);
            if (far > (HT_FIT_REACH + 1) * axis->h) break;
            if (axis->end[e] == HT_FIT_END_SINC) axis->end[e] = HT_FIT_END_BOX;
            for (int i = 0; i < 2 && far < APART * axis->h; i++)
                alone = alone && !(fabs(log(axis->jump[i][e])) > log(KEPT));
        }
    if (!alone) axis->end[p] = HT_FIT_END_BOX;
}

/* Sets the ends at which the medium is split; the axes have pieces. */
static HT_ERR ht_fit_split(struct ht_fit *fit) {
    int axes = 0, along = 0;
    for (int k = 0; k < 3; k++)
        if (fit->axis[k].boxes > 1) axes++, along = k;
    const struct ht_second_order *form = &fit->medium->eq->second_order;
    if (axes != 1 || fit->kind != HT_FIT_SINC || !form->known || form->inverse_density < 0)
        return HT_OK;
    struct ht_fit_axis *axis = &fit->axis[along];
    TRY(find_jumps(fit, along));
    for (int64_t p = 0; p < axis->pieces - 1; p++)
        if (resonance(axis, p) > RESONANT) {
            axis->end[p] = HT_FIT_END_SPLIT;
            fit->split = true;
        }
    for (int64_t p = 0; p < axis->pieces - 1; p++)
        if (resonance(axis, p) > RESONANT) settle(axis, p);
    return HT_OK;
}

/* How many times a value one beside it may be. */
static const double CONTRAST = 1e4;

enum { LANES = 8 };

/* Extends range[2], from least to largest. */
static void extend(int64_t count, const double *values, double range[2]) {
    double low[LANES], high[LANES];
    for (int l = 0; l < LANES; l++) low[l] = range[0], high[l] = range[1];
    for (int64_t i = 0; i < count; i += LANES)
        for (int l = 0; l < ht_least(LANES, count - i); l++) {
            low[l] = values[i + l] < low[l] ? values[i + l] : low[l];
            high[l] = values[i + l] > high[l] ? values[i + l] : high[l];
        }
    for (int l = 0; l < LANES; l++) {
        range[0] = fmin(range[0], low[l]);
        range[1] = fmax(range[1], high[l]);
    }
}

/* Of 1/q the inverse is named. */
static HT_ERR refuse(const struct ht_fit_job *job, int axis, int64_t i1, int64_t i2, double a,
                     double b) {
    const char *name = job->fit->average->name[job->quantity];
    const bool inverse = strncmp(name, "1/", 2) == 0;
    const double x[3] = {ht_fit_position(job, 0, i1), ht_fit_position(job, 1, i2),
                         ht_fit_position(job, 2, 0)};
    return ht_params_error(job->fit->medium->source->params, ht_fit_key(job->fit, job->quantity),
                           "gives %s = %.6g at %s next to %.6g along x%d: finite differences take "
                           "a contrast of at most %g",
                           inverse ? name + 2 : name, inverse ? 1 / a : a,
                           HT_PLACED(job->fit->medium->grid, x), inverse ? 1 / b : b, axis + 1,
                           CONTRAST);
}

/* Refuses n values at a, from (i1, i2) of plane at3 on, next to those at b along an axis, that
 * differ by too much. */
static HT_ERR check_beside(const struct ht_fit_job *job, int axis, int64_t i1, int64_t i2,
                           int64_t n, const double *a, const double *b) {
    for (int64_t i = 0; i < n; i++)
        if ((a[i] > CONTRAST * b[i] && b[i] > 0) || (b[i] > CONTRAST * a[i] && a[i] > 0))
            return refuse(job, axis, i1 + i, i2, a[i], b[i]);
    return HT_OK;
}

/* ---- axes ---- */

/* Boxes from the other end, or mirrored, to cover the axis and a margin; one box has one piece. */
static HT_ERR unfold(struct ht_fit_axis *axis, double margin) {
    const double low = axis->lower - margin, high = axis->upper + margin;
    const double length = axis->upper - axis->lower;
    int64_t first = (int64_t)floor((low - axis->lower) / length);
    int64_t last = (int64_t)floor((high - axis->lower) / length);
    int64_t n = axis->boxes, p = 0;
    if (n == 1) first = last = 0;
    axis->pieces = (last - first + 1) * n;
    TRY(HT_TAKE(axis->pool, axis->box, axis->pieces));
    TRY(HT_TAKE(axis->pool, axis->place, axis->pieces + 1));
    TRY(HT_TAKE(axis->pool, axis->end, axis->pieces));
    for (int i = 0; i < 2; i++) TRY(HT_TAKE(axis->pool, axis->jump[i], axis->pieces));
    for (int64_t copy = first; copy <= last; copy++) {
        const double shift = (double)copy * length;
        const bool mirrored = !axis->periodic && copy % 2 != 0;
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

HT_ERR ht_fit_make_axes(struct ht_fit *fit, const struct ht_medium_boxes all[3]) {
    for (int k = 0; k < 3; k++) {
        const struct ht_grid *grid = fit->medium->grid;
        struct ht_fit_axis *axis = &fit->axis[k];
        bool exists = k < grid->dims;
        axis->pool = &fit->pool;
        axis->lower = exists ? grid->lower[k] : 0;
        axis->upper = exists ? grid->upper[k] : 1;
        axis->h = exists ? grid->h[k] : 1;
        axis->nodes = ht_grid_nodes(grid, HT_PRIMARY, k);
        axis->periodic = !exists || ht_grid_periodic(grid, k);
        if (fit->kind == HT_FIT_POINT) continue;
        const struct ht_medium_boxes *boxes = &all[k];
        axis->boxes = boxes->count;
        axis->base = boxes->base;
        axis->edge = boxes->edge;
        const double half = half_width(fit->kind == HT_FIT_SINC ? HT_FIT_BY_SINC : HT_FIT_BY_BOX);
        TRY(unfold(axis, (half + 2) * axis->h));
    }
    if (fit->kind == HT_FIT_POINT) return HT_OK;
    TRY(ht_fit_split(fit));
    for (int n = 0; n < 3 * HT_FIT_WINDOWS; n++) {
        const enum ht_fit_window by = (enum ht_fit_window)(n / 3);
        if (fit->kind != HT_FIT_BOX || by == HT_FIT_BY_BOX || by == HT_FIT_BOX_SLOPE)
            TRY(ht_fit_axis_weigh(&fit->axis[n % 3], by));
    }
    return HT_OK;
}

/* The place is the lowest along x3, of these along x2, of these along x1: whatever the order in
 * which parts are counted. */
void ht_fit_counts_add(const struct ht_fit_counts *more, struct ht_fit_counts *counts) {
    int k = 2;
    while (k > 0 && more->place[k] == counts->place[k]) k--;
    if (more->cut > 0 && (counts->cut == 0 || more->place[k] < counts->place[k]))
        memcpy(counts->place, more->place, sizeof counts->place);
    counts->values += more->values;
    counts->cut += more->cut;
}

double ht_fit_position(const struct ht_fit_job *job, int k, int64_t i) {
    const struct ht_fit_axis *axis = &job->fit->axis[k];
    if (k == 2) i = job->at3;
    if (job->fitted[k]) {
        double m = (double)(k == 1 ? job->first[1] + i : i);
        return axis->lower + (m + (job->shift >> k & 1u ? 0.5 : 0)) * axis->h;
    }
    int64_t box = k == 0 ? i : axis->box[k == 1 ? job->pieces[0] + i : i];
    return (axis->edge[box] + axis->edge[box + 1]) / 2;
}

HT_ERR ht_fit_check_plane(struct ht_fit_job *job, const int64_t n[2], int64_t row,
                          const double *values, const double *before) {
    const struct ht_fit_axis *axis = job->fit->axis;
    double *range = job->range[job->quantity];
    for (int64_t i2 = 0; i2 < n[1]; i2++) extend(n[0], values + i2 * row, range);
    if (!(range[1] > CONTRAST * range[0])) return HT_OK; /* no two differ by too much */
    for (int64_t i2 = 0; i2 < n[1]; i2++) {
        const double *line = values + i2 * row;
        TRY(check_beside(job, 0, 1, i2, n[0] - 1, line + 1, line));
        if (i2 > 0) TRY(check_beside(job, 1, 0, i2, n[0], line, line - row));
        if (before) TRY(check_beside(job, 2, 0, i2, n[0], line, before + i2 * row));
        if (job->fitted[0] && axis[0].periodic)
            TRY(check_beside(job, 0, 0, i2, 1, line, line + n[0] - 1));
        if (job->fitted[1] && axis[1].periodic && i2 == 0)
            TRY(check_beside(job, 1, 0, 0, n[0], line, line + (n[1] - 1) * row));
    }
    return HT_OK;
}
