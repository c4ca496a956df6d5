/* Misfits: their derivatives against central differences, where they are zero, traces without
 * energy, threads. */
#include "htwave/misfit.h"

#include "must.h"

enum { TRACES = 5, SAMPLES = 200, ALL = TRACES * SAMPLES };
static const char *const names[] = {HT_EACH_MISFIT(HT_CHOICE_WORD)};
static double p[ALL], d[ALL], w[ALL], s[ALL], r[ALL];

/* Wavelets of five frequencies, the observed ones earlier and larger; a direction as long. */
static void make(void) {
    for (int i = 0; i < ALL; i++) {
        const int trace = i / SAMPLES;
        const double t = 0.01 * (i % SAMPLES) - 1, turn = 2 * acos(-1.0) * (3 + trace);
        p[i] = sin(turn * (t - 0.02)) * exp(-pow((t - 0.02) / 0.3, 2));
        d[i] = 1.3 * sin(turn * t) * exp(-pow(t / 0.3, 2));
        s[i] = exp(-pow(t / 0.3, 2)) * ht_rng_uniform(1, (uint64_t)i);
        w[i] = 0.6 + 0.4 * ht_rng_uniform(2, (uint64_t)i);
    }
}

static struct ht_misfit chi_of(enum ht_misfit_type type, const double *x, const double *weight) {
    const struct ht_misfit_of of = {
        .traces = TRACES, .samples = SAMPLES, .every = 0.01, .p = x, .d = d, .weight = weight};
    struct ht_misfit out = {0};
    must(ht_misfit_add(type, &of, r, &out));
    return out;
}

static void derivatives(enum ht_misfit_type type, const double *weight) {
    double moved[2][ALL], along = 0, size[2] = {0, 0};
    const double step = 1e-5;
    for (int i = 0; i < ALL; i++) {
        moved[0][i] = p[i] - step * s[i];
        moved[1][i] = p[i] + step * s[i];
    }
    const double quotient =
        (chi_of(type, moved[1], weight).chi - chi_of(type, moved[0], weight).chi) / (2 * step);
    const double chi = chi_of(type, p, weight).chi;
    for (int i = 0; i < ALL; i++) {
        along += r[i] * s[i];
        size[0] += r[i] * r[i];
        size[1] += s[i] * s[i];
    }
    TEST_BELOW(fabs(quotient - along) / sqrt(size[0] * size[1]), 1e-8, "%s%s, %.3g: derivative",
               names[type], weight ? " with weights" : "", chi);
}

static void zeros(enum ht_misfit_type type, double factor) {
    double same[ALL], most = 0;
    for (int i = 0; i < ALL; i++) same[i] = factor * d[i];
    const double chi = chi_of(type, same, w).chi;
    for (int i = 0; i < ALL; i++) most = fmax(most, fabs(r[i]));
    TEST_BELOW(fmax(fabs(chi), most), 1e-14, "%s of traces %g times the observed", names[type],
               factor);
}

/* Trace 1 was not observed, trace 3 is not reached; the others count as before. */
static void silence(enum ht_misfit_type type) {
    double kept[ALL], most = 0, least = 0;
    const bool needs_both = type == HT_MISFIT_CORRELATION;
    memcpy(kept, p, sizeof kept);
    for (int n = 0; n < SAMPLES; n++) p[3 * SAMPLES + n] = d[SAMPLES + n] = 0;
    const struct ht_misfit one = chi_of(type, p, NULL);
    for (int n = 0; n < SAMPLES; n++) {
        most = fmax(most, fabs(r[SAMPLES + n]));
        if (needs_both) most = fmax(most, fabs(r[3 * SAMPLES + n]));
        least = fmax(least, fabs(r[2 * SAMPLES + n]));
    }
    TEST_CHECK(one.silent == (needs_both ? 2 : 1) && most == 0 && least > 0 && isfinite(one.chi),
               "%s: %d silent traces, r there %g, else %g, chi %g", names[type], (int)one.silent,
               most, least, one.chi);
    make();
}

static void threads(enum ht_misfit_type type) {
    double one[ALL], chi;
    ht_threads_set(1);
    chi = chi_of(type, p, w).chi;
    memcpy(one, r, sizeof one);
    ht_threads_set(3);
    int other = chi_of(type, p, w).chi != chi;
    for (int i = 0; i < ALL; i++) other += one[i] != r[i];
    TEST_CHECK(other == 0, "%s: three threads give the numbers of one", names[type]);
}

int main(void) {
    make();
    for (int i = 0; i < (int)(sizeof names / sizeof *names); i++) {
        derivatives((enum ht_misfit_type)i, NULL);
        derivatives((enum ht_misfit_type)i, w);
        silence((enum ht_misfit_type)i);
        threads((enum ht_misfit_type)i);
    }
    zeros(HT_MISFIT_L2, 1);
    zeros(HT_MISFIT_ENVELOPE, 1);
    zeros(HT_MISFIT_CORRELATION, 1);
    zeros(HT_MISFIT_CORRELATION, 2.5);
    return test_end("misfit");
}
