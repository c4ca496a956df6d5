/* Signals; see the header. */
#include <complex.h>

#include "htwave/shots.h"

/* A sample of a file: value, second derivative of the spline, and the integrals up to here. */
struct ht_knot {
    double t, s, bend, area, moment;
};
/* A signal of a file with columns t and s: a cubic spline between the samples, natural at its ends,
 * 0 outside. */

static HT_ERR add_knot(void *context, int64_t line, const double *row) {
    struct ht_signal *s = context;
    const int64_t n = s->samples;
    REQUIRE(n == 0 || row[0] > s->knot[n - 1].t, HT_ERR_INPUT,
            "line %lld: times must increase, but %.9g follows %.9g", (long long)line, row[0],
            s->knot[n - 1].t);
    TRY(HT_GROW(s->knot, n + 1, s->room));
    s->knot[s->samples++] = (struct ht_knot){.t = row[0], .s = row[1]};
    return HT_OK;
}

static HT_ERR check_gaps(const struct ht_signal *s) {
    const int64_t n = s->samples - 1;
    const double most = 10;
    HT_ARRAY(double, apart, n);
    for (int64_t i = 0; i < n; i++) apart[i] = s->knot[i + 1].t - s->knot[i].t;
    const double median = ht_median((int)n, apart);
    for (int64_t i = 0; i < n; i++)
        REQUIRE(s->knot[i + 1].t - s->knot[i].t <= most * median, HT_ERR_INPUT,
                "has a gap from t = %.9g to %.9g, where the median interval is %.3g", s->knot[i].t,
                s->knot[i + 1].t, median);
    return HT_OK;
}

/* ---- the spline ---- */

/* Second derivatives from a tridiagonal system; area is scratch until integrals are known. */
static void find_bends(int64_t n, struct ht_knot *k) {
    k[0].bend = k[0].area = 0;
    for (int64_t i = 1; i < n - 1; i++) {
        const double below = k[i].t - k[i - 1].t, above = k[i + 1].t - k[i].t;
        const double jump = (k[i + 1].s - k[i].s) / above - (k[i].s - k[i - 1].s) / below;
        const double pivot = 2 * (below + above) + below * k[i - 1].area;
        k[i].area = -above / pivot;
        k[i].bend = (6 * jump - below * k[i - 1].bend) / pivot;
    }
    k[n - 1].bend = 0;
    for (int64_t i = n - 2; i > 0; i--) k[i].bend += k[i].area * k[i + 1].bend;
}

/* Of the cubic from a knot on, its derivative, and its integrals added to those up to the knot. */
static double cubic(const struct ht_knot *k, double x, int order) {
    const double h = k[1].t - k[0].t;
    const double c[4] = {k[0].s, (k[1].s - k[0].s) / h - h * (2 * k[0].bend + k[1].bend) / 6,
                         k[0].bend / 2, (k[1].bend - k[0].bend) / (6 * h)};
    const double of[] = {
        k->moment +
            x * (k->area + x * (c[0] / 2 + x * (c[1] / 6 + x * (c[2] / 12 + x * c[3] / 20)))),
        k->area + x * (c[0] + x * (c[1] / 2 + x * (c[2] / 3 + x * c[3] / 4))),
        c[0] + x * (c[1] + x * (c[2] + x * c[3])), c[1] + x * (2 * c[2] + x * 3 * c[3])};
    return of[order + 2];
}

static void make_spline(struct ht_signal *s) {
    find_bends(s->samples, s->knot);
    s->knot[0].area = s->knot[0].moment = 0;
    for (int64_t i = 0; i + 1 < s->samples; i++) {
        const double h = s->knot[i + 1].t - s->knot[i].t;
        s->knot[i + 1].area = cubic(&s->knot[i], h, -1);
        s->knot[i + 1].moment = cubic(&s->knot[i], h, -2);
    }
}

static HT_ERR read_spline(struct ht_signal *s) {
    if (s->given.memory == NULL)
        TRY(ht_file_rows(s->given.file, 2, "two finite numbers, t and s", add_knot, s));
    for (int64_t i = 0; s->given.memory != NULL && i < s->given.values; i++) {
        const double row[3] = {(double)i * s->given.apart, s->given.memory[i]};
        TRY(add_knot(s, i + 1, row));
    }
    REQUIRE(s->samples >= 4, HT_ERR_INPUT, "has %lld samples, but a signal needs 4",
            (long long)s->samples);
    TRY(check_gaps(s));
    s->begin = s->knot[0].t;
    s->end = s->knot[s->samples - 1].t;
    make_spline(s);
    return HT_OK;
}

static double spline_at(const struct ht_signal *s, double t, int order) {
    /* The last knot at or before t, which is not the last of all. */
    int64_t i = 0, high = s->samples - 1;
    while (high - i > 1) {
        const int64_t middle = (i + high) / 2;
        *(s->knot[middle].t <= t ? &i : &high) = middle;
    }
    return cubic(&s->knot[i], t - s->knot[i].t, order);
}

/* exp(-(pi f t)^2) and its derivatives and integrals. */
static double gaussian(double f, double t, int order) {
    const double w = HT_PI * f, a = w * t, g = exp(-a * a);
    const double area = sqrt(HT_PI) / (2 * w) * erfc(-a);
    const double of[] = {t * area + g / (2 * w * w),
                         area,
                         g,
                         -2 * w * a * g,
                         2 * w * w * (2 * a * a - 1) * g,
                         4 * w * w * w * a * (3 - 2 * a * a) * g};
    return of[order + 2];
}

/* ---- tone burst ---- */

/* sin(w t) and its derivatives and integrals from 0 on. */
static double sine(double w, double t, int order) {
    if (w == 0) return 0;
    const double of[] = {(t - sin(w * t) / w) / w, (1 - cos(w * t)) / w, sin(w * t),
                         w * cos(w * t)};
    return of[order + 2];
}

/* (a + 2 b cos(w t / n)) sin(w t) as a sum of sines. */
static double modulated(double w, double n, double a, double b, double t, int order) {
    return a * sine(w, t, order) +
           b * (sine(w * (1 + 1 / n), t, order) + sine(w * (1 - 1 / n), t, order));
}

/* Each part begins at a whole period: a burst is (1 - cos(w t / n))/2 sin(w t); a sine rises over n
 * whole periods, goes on, and falls. */
static double parts_at(const struct ht_signal *s, double t, int order) {
    static const double a[] = {0.5, 1, 0.5}, b[] = {-0.25, 0, 0.25};
    const bool burst = s->whole <= 0;
    const double w = 2 * HT_PI * s->given.frequency, periods = ceil(s->given.cycles);
    const double n = burst ? s->given.cycles : 2 * periods;
    const double end[] = {burst ? s->end : periods / s->given.frequency, s->whole};
    double begin = 0, area = 0, moment = 0;
    int part = 0;
    if (burst && (t <= 0 || (t >= s->end && order >= 0))) return 0;
    for (; part < 2 && t > end[part]; part++) {
        const double length = end[part] - begin;
        moment += length * area + modulated(w, n, a[part], b[part], length, -2);
        area += modulated(w, n, a[part], b[part], length, -1);
        begin = end[part];
    }
    const double value = modulated(w, n, a[part], b[part], t - begin, order);
    return order >= 0 ? value : order == -1 ? area + value : moment + (t - begin) * area + value;
}

double ht_signal_at(const struct ht_signal *s, double t, int order) {
    const double f = s->given.frequency, w = HT_PI * f, end = s->end;
    const enum ht_signal_kind type = s->given.signal;
    if (type == HT_SIGNAL_GAUSSIAN) return gaussian(f, t, order);
    if (type == HT_SIGNAL_DERIVATIVE)
        return gaussian(f, t, order + 1) / (sqrt(2.0) * HT_PI * f * exp(-0.5));
    if (type == HT_SIGNAL_RICKER) return -gaussian(f, t, order + 2) / (2 * w * w);
    if (t < s->begin) return 0;
    if (t <= end) return (s->knot ? spline_at : parts_at)(s, t, order);
    /* After the end s is 0 and its integral constant. */
    if (order >= -1) return order == -1 ? ht_signal_at(s, end, -1) : 0;
    return ht_signal_at(s, end, -2) + (t - end) * ht_signal_at(s, end, -1);
}

/* ---- spectrum ---- */

static double square(double complex x) {
    return creal(x) * creal(x) + cimag(x) * cimag(x);
}

/* The frequency beyond which a part of the energy lies, and the bands. */
static void find_bands(int bits, double apart, const double complex *x, struct ht_signal *s) {
    const int64_t n = (int64_t)1 << bits;
    const double part = 1e-4, length = (double)n * apart;
    double whole = 0, above = 0;
    for (int64_t i = 0; i <= n / 2; i++) whole += square(x[i]);
    int64_t i = n / 2;
    for (; i > 0; i--) {
        above += square(x[i]);
        if (above > part * whole) break;
    }
    s->highest = (double)i / length;
    const double width = 2 * s->highest / HT_SIGNAL_BANDS;
    for (i = 0; i <= n / 2 && width > 0; i++) {
        const double at = (double)i / length / width;
        if (at < HT_SIGNAL_BANDS) s->band[(int)at] += square(x[i]);
    }
    for (int b = 0; b < HT_SIGNAL_BANDS && width > 0; b++) s->band[b] /= whole;
}

/* Samples over the extent; the transform has PAD times as many, the others 0. */
enum { PAD_BITS = 3, LEAST_BITS = 10, MOST_BITS = 18 };

static HT_ERR find_traits(struct ht_signal *s) {
    double sum = 0, size = 0;
    int bits = LEAST_BITS;
    const bool sine = s->given.signal == HT_SIGNAL_SINE;
    const bool burst = s->given.signal == HT_SIGNAL_BURST;
    const double rise = ceil(s->given.cycles) / s->given.frequency;
    if (sine) s->whole = 2 * rise; /* a short one has the spectrum but for the line's width */
    if (sine) s->end = 3 * rise;
    if (burst) s->end = s->given.cycles / s->given.frequency;
    if (!sine && !burst && s->given.signal != HT_SIGNAL_FILE) {
        s->end = 5 / (HT_PI * s->given.frequency); /* exp(-25) 5^2 = 3e-10 */
        s->begin = -s->end;
    }
    const double least = fmax(8 * (double)s->samples, sine || burst ? 32 * s->given.cycles : 0);
    while (bits < MOST_BITS && (1 << bits) < least) bits++;
    const int64_t n = (int64_t)1 << bits;
    const double apart = (s->end - s->begin) / (double)n;
    HT_ARRAY(double complex, x, n << PAD_BITS);
    for (int64_t i = 0; i < n; i++) {
        const double value = ht_signal_at(s, s->begin + ((double)i + 0.5) * apart, 0);
        x[i] = value;
        sum += value;
        size += fabs(value);
        s->largest = fmax(s->largest, fabs(value));
    }
    s->constant = size > 0 ? sum / size : 0;
    ht_fourier(bits + PAD_BITS, x);
    find_bands(bits + PAD_BITS, apart, x, s);
    if (!sine) return HT_OK;
    s->whole = fmax(rise, ceil(s->given.until * s->given.frequency) / s->given.frequency);
    s->end = s->whole + rise;
    return HT_OK;
}

static HT_ERR make(const struct ht_shot_given *given, struct ht_signal *s) {
    s->given = *given;
    s->holders = 1;
    if (given->signal == HT_SIGNAL_FILE) TRY(read_spline(s));
    TRY(find_traits(s));
    REQUIRE(s->largest > 0, HT_ERR_INPUT, "the signal is zero or not finite");
    return HT_OK;
}

HT_ERR ht_signal_create(const struct ht_shot_given *given, struct ht_signal **out) {
    HT_CREATE(out, make(given, *out), ht_signal_destroy);
}

bool ht_signal_is_of(const struct ht_signal *signal, const struct ht_shot_given *given) {
    const struct ht_shot_given *s = &signal->given;
    return s->signal == given->signal && s->frequency == given->frequency &&
           s->cycles == given->cycles && s->until == given->until && s->memory == given->memory &&
           s->values == given->values && s->apart == given->apart &&
           strcmp(s->file, given->file) == 0;
}

static HT_ERR make_unit(const struct ht_signal *of, int64_t sample, struct ht_signal *s) {
    *s = *of;
    s->holders = 1;
    s->knot = NULL;
    s->room = 0;
    TRY(HT_GROW(s->knot, s->samples, s->room));
    for (int64_t i = 0; i < s->samples; i++)
        s->knot[i] = (struct ht_knot){.t = of->knot[i].t, .s = i == sample};
    make_spline(s);
    return HT_OK;
}

HT_ERR ht_signal_unit(const struct ht_signal *of, int64_t sample, struct ht_signal **out) {
    HT_CREATE(out, make_unit(of, sample, *out), ht_signal_destroy);
}

void ht_signal_destroy(struct ht_signal *signal) {
    if (signal == NULL || --signal->holders > 0) return;
    free(signal->knot);
    free(signal);
}
