/* Signals: derivatives and integrals against differences and quadrature of the values, known
 * properties, spectra against closed forms, files. */
#include "htwave/shots.h"

#include "io/scratch.h"
#include "test.h"

static struct ht_signal *make(enum ht_signal_kind kind, double frequency, double cycles,
                              /* NOLINTNEXTLINE(readability-non-const-parameter): it owns it */
                              char *file) {
    const struct ht_shot_given given = {.signal = kind,
                                        .frequency = frequency,
                                        .cycles = cycles,
                                        .file = file,
                                        .until = 9 / frequency};
    struct ht_signal *signal;
    if (ht_signal_create(&given, &signal) != HT_OK) {
        printf("# %s\n", ht_err_message());
        abort();
    }
    return signal;
}

/* Integral of an order from a to b by Gauss's rule with 3 points on pieces. */
static double integral(const struct ht_signal *s, int order, double a, double b, int pieces) {
    const double r = sqrt(0.6), h = (b - a) / pieces;
    double sum = 0;
    for (int i = 0; i < pieces; i++) {
        const double middle = a + (i + 0.5) * h;
        sum +=
            h / 18 *
            (5 * ht_signal_at(s, middle - r * h / 2, order) + 8 * ht_signal_at(s, middle, order) +
             5 * ht_signal_at(s, middle + r * h / 2, order));
    }
    return sum;
}

/* Each order is the integral of the one above: over the whole signal and past its end, in units of
 * the signal's length. */
static void test_orders(const char *name, const struct ht_signal *s, double bound) {
    const struct ht_signal *t = s;
    const double length = t->end - t->begin, after = t->end + 0.3 * length;
    for (int order = 1; order >= -1; order--) {
        double worst = 0, sum = ht_signal_at(s, t->begin, order - 1);
        const int places = 13;
        const double scale = pow(length, 1 - order) * (order == 1 ? 1 : 0.1);
        for (int i = 0; i < places; i++) {
            const double a = t->begin + (after - t->begin) * i / places;
            const double b = t->begin + (after - t->begin) * (i + 1) / places;
            /* values jump at the ends of files */
            const double cut = fmin(b, t->end);
            sum += a < cut ? integral(s, order, a, cut, 512) : 0;
            sum += cut < b ? integral(s, order, fmax(a, cut), b, 512) : 0;
            if (order == 1 && b > t->end) break;
            worst = fmax(worst, fabs(sum - ht_signal_at(s, b, order - 1)));
        }
        TEST_BELOW(worst / scale, bound, "%s: order %d is that of %d", name, order - 1, order);
    }
}

static void test_extent(const char *name, const struct ht_signal *s) {
    const struct ht_signal *t = s;
    double outside = 0, largest = 0;
    for (int i = 0; i <= 4000; i++) {
        const double x = t->begin + (t->end - t->begin) * (i / 2000.0 - 0.5);
        const double value = fabs(ht_signal_at(s, x, 0));
        if (x < t->begin || x > t->end) outside = fmax(outside, value);
        largest = fmax(largest, value);
    }
    TEST_BELOW(outside, 1e-8, "%s: outside of its extent", name);
    TEST_BELOW(fabs(largest - 1), 0.02, "%s: largest value is 1", name);
    TEST_BELOW(fabs(t->largest - largest), 1e-3, "%s: as told", name);
    TEST_CHECK(fabs(ht_signal_at(s, t->begin, -1)) < 1e-10 &&
                   fabs(ht_signal_at(s, t->begin, -2)) < 1e-10,
               "%s: integrals begin with 0", name);
}

/* Part of the energy z^(2n) exp(-2 z^2) beyond z = frequency/f. */
static double part_beyond(int n, double z) {
    double whole = 0, above = 0;
    for (int i = 0; i < 8000; i++) {
        const double x = (i + 0.5) * 0.001;
        const double energy = pow(x, 2 * n) * exp(-2 * x * x);
        whole += energy;
        above += x > z ? energy : 0;
    }
    return above / whole;
}

/* By the widths of the bins, 1/(8 extents), and of the extent's cut. */
static void test_spectrum(const char *name, const struct ht_signal *s, double frequency, int n) {
    const double z = s->highest / frequency;
    TEST_CHECK(part_beyond(n, z - 0.05) > 1e-4 && part_beyond(n, z + 0.05) < 1e-4,
               "%s: 1e-4 of the energy lies beyond %.3g f (%.3g)", name, z, part_beyond(n, z));
}

static void test_kinds(void) {
    const double f = 3.5;
    static const struct {
        enum ht_signal_kind kind;
        int derivatives; /* of the Gaussian; -1: none */
        double constant;
    } rows[] = {{HT_SIGNAL_RICKER, 2, 0},
                {HT_SIGNAL_GAUSSIAN, 0, 1},
                {HT_SIGNAL_DERIVATIVE, 1, 0},
                {HT_SIGNAL_BURST, -1, 0},
                {HT_SIGNAL_SINE, -1, 0}};
    for (int i = 0; i < 5; i++) {
        const char *name = HT_WORD(SIGNAL, rows[i].kind);
        struct ht_signal *s = make(rows[i].kind, f, 6, NULL);
        test_orders(name, s, 1e-10);
        test_extent(name, s);
        if (rows[i].derivatives >= 0) test_spectrum(name, s, f, rows[i].derivatives);
        TEST_BELOW(fabs(s->constant - rows[i].constant), 1e-8, "%s: constant part", name);
        ht_signal_destroy(s);
    }
    struct ht_signal *s = make(HT_SIGNAL_SINE, f, 2.5, NULL);
    TEST_CHECK(fabs(ht_signal_at(s, 4.3 / f, 0) - sin(2 * HT_PI * 4.3)) < 1e-12 &&
                   fabs(ht_signal_at(s, 8.9 / f, 0) - sin(2 * HT_PI * 8.9)) < 1e-12 &&
                   fabs(s->end - 12 / f) < 1e-12 && s->highest < 1.5 * f,
               "sine: whole after 3 periods up to the end, and 1e-4 beyond %.3g f", s->highest / f);
    ht_signal_destroy(s);
    s = make(HT_SIGNAL_RICKER, f, 0, NULL);
    TEST_BELOW(fabs(ht_signal_at(s, 0.05, 0) -
                    (1 - 2 * pow(HT_PI * f * 0.05, 2)) * exp(-pow(HT_PI * f * 0.05, 2))),
               1e-15, "ricker: its formula");
    ht_signal_destroy(s);
}

static void write_text(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    if (file == NULL) abort();
    fputs(text, file);
    fclose(file);
}

/* A cubic polynomial is no natural spline, a Ricker is one at its ends. */
static void test_file(char *path) {
    const int n = 241;
    FILE *file = fopen(path, "w");
    struct ht_signal *exact = make(HT_SIGNAL_RICKER, 2, 0, NULL);
    if (file == NULL) abort();
    fprintf(file, "# t s\n\n");
    for (int i = 0; i < n; i++) {
        /* intervals that differ */
        const double t = 1.8 * i / (n - 1) + 0.002 * sin(3.0 * i);
        fprintf(file, "%.17g%s%.17g\n", t, i % 2 ? ", " : "\t", ht_signal_at(exact, t - 0.9, 0));
    }
    fclose(file);
    struct ht_signal *s = make(HT_SIGNAL_FILE, 0, 0, path);
    const double h = 0.012; /* f'''' h^4 5/384, f'''' about (2 pi 2)^4 */
    double worst = 0;
    for (int i = 0; i < 999; i++)
        worst = fmax(
            worst, fabs(ht_signal_at(s, 0.0018 * i, 0) - ht_signal_at(exact, 0.0018 * i - 0.9, 0)));
    TEST_BELOW(worst, pow(4 * HT_PI * h, 4) * 15 * 5 / 384, "file: its spline");
    test_orders("file", s, 1e-5);
    TEST_BELOW(fabs(s->highest / exact->highest - 1), 0.03, "file: highest frequency");
    ht_signal_destroy(s);
    ht_signal_destroy(exact);
}

static void test_refusals(char *path) {
    static const struct {
        const char *text, *word;
    } rows[] = {
        {"0 1\n1 2\n2\n3 4\n", "two finite numbers"},
        {"0 1\n1 2 3\n2 1\n3 4\n", "two finite numbers"},
        {"0 1\n1 x\n2 1\n3 4\n", "two finite numbers"},
        {"0 1\n1 nan\n2 1\n3 4\n", "finite"},
        {"0 1\ninf 2\n", "finite"},
        {"0 1\n1 2\n1 3\n3 4\n", "increase"},
        {"0 1\n1 2\n0.5 3\n3 4\n", "increase"},
        {"0 1\n1 2\n2 1\n3 4\n14 1\n", "gap"},
        {"0 1\n1 2\n", "samples"},
        {"# nothing\n", "samples"},
        {"0 0\n1 0\n2 0\n3 0\n", "zero"},
    };
    TEST_EACH(row, rows) {
        const struct ht_shot_given given = {.signal = HT_SIGNAL_FILE, .file = path};
        struct ht_signal *s;
        write_text(path, row->text);
        const enum ht_err err = ht_signal_create(&given, &s);
        TEST_CHECK(err == HT_ERR_INPUT && s == NULL && strstr(ht_err_message(), row->word) != NULL,
                   "file refused: %s", ht_err_message());
    }
}

int main(void) {
    char *directory = scratch_make("signal");
    if (directory == NULL) return 1;
    char *path = scratch_path(directory, "signal.txt");
    test_kinds();
    test_file(path);
    test_refusals(path);
    free(path);
    scratch_remove(directory);
    return test_end("signal");
}
