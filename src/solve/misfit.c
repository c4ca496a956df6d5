/* Misfits: a row for each word of gradient.misfit; see the header.
 *
 *   l2           chi = 1/2 sum w (p - d)^2 Dt
 *   correlation  chi = 1 - <p, d>/(|p| |d|) per trace, with w inside <,>
 *   envelope     chi = 1/2 sum w (E_p - E_d)^2 Dt,  E_p^2 = p^2 + H[p]^2
 *   given        chi = sum w d p: r is the user's own, d
 *
 * H is the Hilbert transform of the trace padded with zeros, whose transpose is -H. */
#include <complex.h>

#include "htwave/misfit.h"

/* A trace; room: 2^bits values, at least twice the samples, for each worker. */
struct trace {
    int64_t samples;
    double every;
    const double *p, *d, *w;
    double *r;
    double complex *room;
    int bits;
};

static double weight_of(const struct trace *t, int64_t n) {
    return t->w != NULL ? t->w[n] : 1;
}

static double product(const struct trace *t, const double *x, const double *y) {
    double sum = 0;
    for (int64_t n = 0; n < t->samples; n++) sum += weight_of(t, n) * x[n] * y[n];
    return sum;
}

static double l2(const struct trace *t) {
    double sum = 0;
    for (int64_t n = 0; n < t->samples; n++) {
        t->r[n] = weight_of(t, n) * (t->p[n] - t->d[n]) * t->every;
        sum += t->r[n] * (t->p[n] - t->d[n]) / 2;
    }
    return sum;
}

static double correlation(const struct trace *t) {
    const double p = sqrt(product(t, t->p, t->p)), d = sqrt(product(t, t->d, t->d));
    const double cosine = product(t, t->p, t->d) / p / d;
    for (int64_t n = 0; n < t->samples; n++)
        t->r[n] = -weight_of(t, n) * (t->d[n] / d - cosine * t->p[n] / p) / p;
    return 1 - cosine;
}

/* Both parts of room[n] become their Hilbert transforms. */
static void hilbert(const struct trace *t) {
    const int64_t size = (int64_t)1 << t->bits;
    for (int64_t n = t->samples; n < size; n++) t->room[n] = 0;
    ht_fourier(t->bits, t->room);
    t->room[0] = t->room[size / 2] = 0;
    for (int64_t q = 1; q < size / 2; q++) {
        /* times -i and i, and exchanged for the way back */
        const double complex up = ht_complex(0, -1) * t->room[q];
        t->room[q] = ht_complex(0, 1) * t->room[size - q];
        t->room[size - q] = up;
    }
    ht_fourier(t->bits, t->room);
    for (int64_t n = 0; n < t->samples; n++) t->room[n] /= (double)size;
}

static double envelope(const struct trace *t) {
    double sum = 0;
    for (int64_t n = 0; n < t->samples; n++) t->room[n] = ht_complex(t->p[n], t->d[n]);
    hilbert(t);
    for (int64_t n = 0; n < t->samples; n++) {
        const double p = hypot(t->p[n], creal(t->room[n])), d = hypot(t->d[n], cimag(t->room[n]));
        const double part = p > 0 ? weight_of(t, n) * (p - d) / p * t->every : 0;
        sum += weight_of(t, n) * (p - d) * (p - d) / 2 * t->every;
        t->r[n] = part * t->p[n];
        t->room[n] = part * creal(t->room[n]);
    }
    hilbert(t);
    for (int64_t n = 0; n < t->samples; n++) t->r[n] -= creal(t->room[n]);
    return sum;
}

static double given(const struct trace *t) {
    double sum = 0;
    for (int64_t n = 0; n < t->samples; n++) {
        t->r[n] = weight_of(t, n) * t->d[n];
        sum += t->r[n] * t->p[n];
    }
    return sum;
}

static const struct row {
    double (*chi)(const struct trace *); /* sets r */
    bool direction;                      /* needs the energy of p, too */
} rows[] = {[HT_MISFIT_L2] = {l2, false},
            [HT_MISFIT_CORRELATION] = {correlation, true},
            [HT_MISFIT_ENVELOPE] = {envelope, false},
            [HT_MISFIT_GIVEN] = {given, false}};

struct work {
    const struct row *row;
    struct trace first;
    double *chi; /* [trace]; NaN: silent */
};

static HT_ERR derive(void *data, int64_t trace) {
    const struct work *work = data;
    struct trace t = work->first;
    const int64_t at = trace * t.samples;
    t.p += at;
    t.d += at;
    t.r += at;
    if (t.w != NULL) t.w += at;
    t.room += (int64_t)ht_threads_worker() << t.bits;
    const bool silent =
        product(&t, t.d, t.d) == 0 || (work->row->direction && product(&t, t.p, t.p) == 0);
    if (silent) memset(t.r, 0, (size_t)t.samples * sizeof *t.r);
    work->chi[trace] = silent ? NAN : work->row->chi(&t);
    return HT_OK;
}

HT_ERR ht_misfit_add(enum ht_misfit_type type, const struct ht_misfit_of *of, double *r,
                     struct ht_misfit *sum) {
    int bits = 1;
    while ((int64_t)1 << bits < 2 * of->samples) bits++;
    HT_ARRAY(double complex, room, (int64_t)ht_threads_count() << bits);
    HT_ARRAY(double, chi, of->traces);
    struct work work = {.row = &rows[type], .chi = chi};
    work.first = (struct trace){of->samples, of->every, of->p, of->d, of->weight, NULL, room, bits};
    work.first.r = r;
    TRY(ht_threads_run(of->traces, derive, &work));
    for (int64_t i = 0; i < of->traces; i++) {
        if (isnan(chi[i]))
            sum->silent++;
        else
            sum->chi += chi[i];
    }
    return HT_OK;
}

HT_ERR ht_misfit_groups(enum ht_misfit_type type, const struct ht_receivers *receivers,
                        double *const *p, double *const *d, double *const *weight, double *const *r,
                        struct ht_misfit *sum) {
    HT_EACH_AT(n, const struct ht_receiver_group, group, receivers->group, receivers->count) {
        const struct ht_misfit_of of = {.traces = group->count * group->readings,
                                        .samples = group->samples,
                                        .every = group->every > 0 ? group->every : receivers->dt,
                                        .p = p[n],
                                        .d = d[n],
                                        .weight = weight != NULL ? weight[n] : NULL};
        TRY(ht_misfit_add(type, &of, r[n], sum));
    }
    return HT_OK;
}
