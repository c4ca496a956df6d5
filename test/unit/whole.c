/* Samples from all steps at once against the exact ones of modes: of the steps' values cos(w n), at
 * tau steps, cos(s tau) with s = 2 sin(w/2), and sin(s tau)/s of its integral; of sin(w (n - 1/2)),
 * half a step before the steps, sin(s tau); an odd number of
 * traces, samples between steps, on steps and more than steps apart, few and many steps; a trace
 * that ends. Rounding of s tau grows with tau. Signals the other way. */
#include "htwave/sampler.h"

#include "test.h"

enum { TRACES = 5, MOST_SAMPLES = 700 };
static const double waves[TRACES] = {1e-4, 0.03, 0.7, 2, 3.1};

enum kind { VALUE, INTEGRAL, BETWEEN, KINDS };
static const char *const names[] = {"values", "integrals", "values between"};

static double sample(double w, double tau, enum kind kind) {
    const double s = 2 * sin(w / 2);
    return kind == VALUE ? cos(s * tau) : kind == INTEGRAL ? sin(s * tau) / s : sin(s * tau);
}

static struct ht_whole whole_of(const double *value, int64_t width, int64_t steps, enum kind kind) {
    return (struct ht_whole){.value = value,
                             .width = width,
                             .steps = steps,
                             .integral = kind == INTEGRAL,
                             .between = kind == BETWEEN};
}

static void test_modes(double at, double every, int64_t samples, enum kind kind) {
    static double out[TRACES * MOST_SAMPLES];
    const double last = at + every * (double)samples;
    const int64_t steps = 40 + (int64_t)(1.1 * last), width = TRACES + 2;
    double *value = NULL, worst = 0;
    if (HT_ALLOC(value, steps * width) != HT_OK) abort();
    for (int64_t n = 0; n < steps; n++)
        for (int i = 0; i < TRACES; i++)
            value[n * width + i] =
                kind == BETWEEN ? sin(waves[i] * ((double)n - 0.5)) : cos(waves[i] * (double)n);
    struct ht_whole of = whole_of(value, width, steps, kind);
    of.at = at;
    of.every = every;
    of.samples = samples;
    if (ht_resample_whole(&of, TRACES, out) != HT_OK) abort();
    for (int i = 0; i < TRACES; i++)
        for (int64_t j = 0; j < samples; j++) {
            const double exact = sample(waves[i], at + every * (double)j, kind);
            worst = fmax(worst, fabs(out[i * samples + j] - exact));
        }
    free(value);
    TEST_BELOW(worst, 1e-12 * (kind == INTEGRAL ? last + 1 : 1 + last / 1000),
               "%s at %g, %g ..: %d samples of %d steps", names[kind], at, at + every, (int)samples,
               (int)steps);
}

/* Values that are not finite, and later ones, belong to no sample before. */
static void test_end_of_trace(void) {
    double value[200], out[10];
    for (int n = 0; n < 200; n++) value[n] = n < 150 ? cos(0.3 * n) : NAN;
    struct ht_whole of = whole_of(value, 1, 200, VALUE);
    of.at = 90;
    of.every = 1;
    of.samples = 10;
    if (ht_resample_whole(&of, 1, out) != HT_OK) abort();
    for (int j = 0; j < 10; j++)
        TEST_BELOW(fabs(out[j] - sample(0.3, 90 + j, VALUE)), 1e-12, "sample %d of steps that end",
                   j);
}

/* Steps of a signal f against the integral over frequencies, term by term:
 *     f_n = 1/pi integral of cos(w/2) sum of f_j cos(n w - s j apart) apart,
 * half a step later with n + 1/2. */
static void test_signal(bool later) {
    enum { VALUES = 400, COUNT = 110, PARTS = 600 };
    const double pi = acos(-1.0), apart = 0.25;
    double f[VALUES], out[COUNT], worst = 0;
    for (int j = 0; j < VALUES; j++) f[j] = exp(-pow((j - 200) / 32.0, 2)) * cos(0.15 * j);
    if (ht_transform_signal(VALUES, apart, f, later, COUNT, out) != HT_OK) abort();
    for (int n = 0; n < COUNT; n++) {
        double sum = 0;
        for (int q = 0; q < PARTS; q++) {
            const double w = pi * (q + 0.5) / PARTS, s = 2 * sin(w / 2);
            const double t = n + (later ? 0.5 : 0);
            for (int j = 0; j < VALUES; j++) sum += f[j] * cos(t * w - s * j * apart) * cos(w / 2);
        }
        worst = fmax(worst, fabs(out[n] - sum * apart / PARTS));
    }
    TEST_BELOW(worst, 1e-12, "steps of a signal%s", later ? ", between them" : "");
}

int main(void) {
    test_signal(false);
    test_signal(true);
    for (enum kind kind = VALUE; kind < KINDS; kind++) {
        test_modes(0, 1, 1, kind);
        test_modes(0, 1, 50, kind);
        test_modes(0, 0.37, MOST_SAMPLES, kind);
        test_modes(812.25, 7.3, 400, kind);
        test_modes(0, 41.9, MOST_SAMPLES, kind);
    }
    test_end_of_trace();
    return test_end("whole");
}
