/* Signals; see the header. */

#include <complex.h>
#include <math.h>
#include <stdlib.h>

#include "signal_private.h"

/* ---- the Gaussian and its derivatives ---- */

/* exp(-(pi f t)^2) and its derivatives and integrals. */
static double gaussian(double f, double t, int order) {
    const double w = HT_PI * f, a = w * t, g = exp(-a * a);
    const double area = sqrt(HT_PI) / (2 * w) * erfc(-a);
    switch (order) {
    case 3:
        return 4 * w * w * w * a * (3 - 2 * a * a) * g;
    case 2:
        return 2 * w * w * (2 * a * a - 1) * g;
    case 1:
        return -2 * w * a * g;
    case 0:
        return g;
    case -1:
        return area;
    default:
        return t * area + g / (2 * w * w);
    }
}

static double gaussian_at(const struct ht_signal *s, double t, int order) {
    return gaussian(s->given.frequency, t, order);
}

static double derivative_at(const struct ht_signal *s, double t, int order) {
    const double largest = sqrt(2.0) * HT_PI * s->given.frequency * exp(-0.5);
    return gaussian(s->given.frequency, t, order + 1) / largest;
}

static double ricker_at(const struct ht_signal *s, double t, int order) {
    const double w = HT_PI * s->given.frequency;
    return -gaussian(s->given.frequency, t, order + 2) / (2 * w * w);
}

static void gaussian_extent(const struct ht_signal *s, double extent[2]) {
    const double a = 5; /* exp(-25) a^2 = 3e-10 */
    extent[1] = a / (HT_PI * s->given.frequency);
    extent[0] = -extent[1];
}

/* ---- tone burst ---- */

/* sin(w t) and its derivatives and integrals from 0 on. */
static double sine(double w, double t, int order) {
    if (w == 0) return 0;
    switch (order) {
    case 1:
        return w * cos(w * t);
    case 0:
        return sin(w * t);
    case -1:
        return (1 - cos(w * t)) / w;
    default:
        return (t - sin(w * t) / w) / w;
    }
}

/* (1 - cos(w t / n))/2 sin(w t) as a sum of sines. */
static double burst_inside(const struct ht_signal *s, double t, int order) {
    const double w = 2 * HT_PI * s->given.frequency, n = s->given.cycles;
    return sine(w, t, order) / 2 -
           (sine(w * (1 + 1 / n), t, order) + sine(w * (1 - 1 / n), t, order)) / 4;
}

static void burst_extent(const struct ht_signal *s, double extent[2]) {
    extent[0] = 0;
    extent[1] = s->given.cycles / s->given.frequency;
}

/* After the end s is 0 and its integral constant. */
static double burst_at(const struct ht_signal *s, double t, int order) {
    double extent[2];
    burst_extent(s, extent);
    if (t <= extent[0]) return 0;
    if (t < extent[1]) return burst_inside(s, t, order);
    if (order >= 0) return 0;
    const double area = burst_inside(s, extent[1], -1);
    return order == -1 ? area : burst_inside(s, extent[1], -2) + (t - extent[1]) * area;
}

/* ---- all kinds ---- */

static const struct signal_row {
    double (*at)(const struct ht_signal *s, double t, int order);
    void (*extent)(const struct ht_signal *s, double extent[2]);
} rows[] = {
    [HT_SIGNAL_RICKER] = {ricker_at, gaussian_extent},
    [HT_SIGNAL_GAUSSIAN] = {gaussian_at, gaussian_extent},
    [HT_SIGNAL_DERIVATIVE] = {derivative_at, gaussian_extent},
    [HT_SIGNAL_BURST] = {burst_at, burst_extent},
    [HT_SIGNAL_FILE] = {ht_spline_at, ht_spline_extent},
};

double ht_signal_at(const struct ht_signal *signal, double t, int order) {
    return rows[signal->given.kind].at(signal, t, order);
}

struct ht_signal_traits ht_signal_traits(const struct ht_signal *signal) {
    return signal->traits;
}

const double *ht_signal_bands(const struct ht_signal *signal) {
    return signal->band;
}

/* ---- spectrum ---- */

/* The frequency beyond which this part of the energy lies. */
static double highest_of(int bits, double apart, const double complex *x) {
    const int64_t n = (int64_t)1 << bits;
    const double part = 1e-4;
    double whole = 0, above = 0;
    for (int64_t i = 0; i <= n / 2; i++)
        whole += creal(x[i]) * creal(x[i]) + cimag(x[i]) * cimag(x[i]);
    int64_t i = n / 2;
    for (; i > 0; i--) {
        above += creal(x[i]) * creal(x[i]) + cimag(x[i]) * cimag(x[i]);
        if (above > part * whole) break;
    }
    return (double)i / ((double)n * apart);
}

static void fill_bands(int bits, double apart, const double complex *x, struct ht_signal *s) {
    const int64_t n = (int64_t)1 << bits;
    const double width = 2 * s->traits.highest / HT_SIGNAL_BANDS;
    double whole = 0;
    for (int64_t i = 0; i <= n / 2; i++) {
        const double energy = creal(x[i]) * creal(x[i]) + cimag(x[i]) * cimag(x[i]);
        const double at = (double)i / ((double)n * apart) / width;
        whole += energy;
        if (at < HT_SIGNAL_BANDS) s->band[(int)at] += energy;
    }
    for (int b = 0; b < HT_SIGNAL_BANDS; b++) s->band[b] /= whole;
}

/* Samples over the extent; the transform has PAD times as many, the others 0.
 */
enum { PAD_BITS = 3, LEAST_BITS = 10, MOST_BITS = 18 };

static enum ht_err find_traits(struct ht_signal *s) {
    struct ht_signal_traits *t = &s->traits;
    double extent[2], sum = 0, size = 0;
    double complex *x = NULL;
    int bits = LEAST_BITS;
    rows[s->given.kind].extent(s, extent);
    while (bits < MOST_BITS && (1 << bits) < 8 * s->samples) bits++;
    if (s->given.kind == HT_SIGNAL_BURST)
        while (bits < MOST_BITS && (1 << bits) < 32 * s->given.cycles) bits++;
    const int64_t n = (int64_t)1 << bits;
    const double apart = (extent[1] - extent[0]) / (double)n;
    TRY(HT_ALLOC(x, n << PAD_BITS));
    t->begin = extent[0];
    t->end = extent[1];
    for (int64_t i = 0; i < n; i++) {
        const double value = ht_signal_at(s, extent[0] + ((double)i + 0.5) * apart, 0);
        x[i] = value;
        sum += value;
        size += fabs(value);
        t->largest = fmax(t->largest, fabs(value));
    }
    t->constant = size > 0 ? sum / size : 0;
    ht_fourier(bits + PAD_BITS, x);
    t->highest = highest_of(bits + PAD_BITS, apart, x);
    if (t->highest > 0) fill_bands(bits + PAD_BITS, apart, x, s);
    free(x);
    return HT_OK;
}

enum ht_err ht_signal_create(const struct ht_signal_given *given, struct ht_signal **out) {
    struct ht_signal *s = NULL;
    *out = NULL;
    TRY(HT_ALLOC(s, 1));
    s->given = *given;
    enum ht_err err = given->kind == HT_SIGNAL_FILE ? ht_spline_read(s) : HT_OK;
    if (err == HT_OK) err = find_traits(s);
    if (err == HT_OK && !(s->traits.largest > 0))
        err = ht_err_set(HT_ERR_INPUT, "the signal is zero");
    return HT_MADE(err, s, ht_signal_destroy, out);
}

void ht_signal_destroy(struct ht_signal *signal) {
    if (signal == NULL) return;
    free(signal->knot);
    free(signal);
}
