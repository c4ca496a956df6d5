/* Sources of finite differences against exact solutions, by the plain engine in double precision;
 * sources and receivers between nodes unless said otherwise.
 *   - Monopoles and forces in 1 to 3 dimensions, rigid, free and periodic
 *     sides: sums over image sources, some six wavelengths of the peak away.
 *   - Order in time, one and two terms: on nodes, so that nothing else errs.
 * Lengths are in spacings, the speed is 1. */
#include "exact_shots.h"
#include "theory.h"

struct kind {
    int order, terms;
    double cfl;   /* 0: the usual one */
    bool removed; /* the dispersion of one term */
};

static double expects(const struct ht_plan *plan, const struct exact *e, double way) {
    return theory(plan, e->frequency, 2, way);
}

static double trace_error(const struct exact *e, const struct kind *kind, double end,
                          double *expected) {
    char scheme[160];
    const int used = snprintf(scheme, sizeof scheme,
                              "time={scheme=\"fd\";stages=%d;dispersion=\"%s\";} grid.order=%d",
                              kind->terms, kind->removed ? "remove" : "keep", kind->order);
    if (kind->cfl > 0)
        snprintf(scheme + used, sizeof scheme - (size_t)used, " time.cfl=%g", kind->cfl);
    return exact_error(e, "oracle", scheme, "", end, expects, expected);
}

/* Points per shortest wavelength, 2.5 f: the issue of accuracy is judged at six wavelengths of the
 * peak, 2.5 * 6 points. */
static void judge_distance(int dims, int wall, double points, const struct kind *kind, bool force,
                           bool wave, double bound) {
    const double frequency = 1 / (2.5 * points), length = 2.5 * points;
    struct exact e = {.dims = dims,
                      .wall = wall,
                      .source = {12.37, 11.71, 10.18},
                      .density = wave ? 1 : 1.3,
                      .frequency = frequency,
                      .force = force,
                      .wave = wave};
    double expected;
    for (int k = 0; k < 3; k++) {
        e.size[k] = k == 0 ? ceil(7.5 * length) : 24 + 2 * k;
        e.receiver[k] = e.source[k] + (k == 0 ? 5.9 * length : 0.1 * length + 0.29);
    }
    const double error = trace_error(&e, kind, 8.5 * length, &expected);
    if (kind->removed)
        bound = fmin(bound, 1.2 * expected);
    else
        bound = 2 * fmax(bound, expected);
    TEST_BELOW(error, bound, "%s%s %d-D, walls %d, order %d, %d term%s, %g points (theory %.2g)",
               wave ? "wave " : "", force ? "force" : "monopole", dims, wall, kind->order,
               kind->terms, kind->removed ? " corrected" : "", points, expected);
}

static void test_distance(int dims, int wall, double points, int order, bool force, bool wave,
                          double bound) {
    const struct kind kind = {.order = order, .terms = 2};
    judge_distance(dims, wall, points, &kind, force, wave, bound);
}

/* One term at the usual step, 0.95 of its limit: the error in space is left, that of dispersion,
 * since points between nodes err by less. */
static void test_removed(void) {
    for (int order = 8; order <= 16; order += 8) {
        const struct kind kind = {.order = order, .terms = 1, .removed = true};
        judge_distance(1, PERIODIC, 4, &kind, false, false, 2e-2);
        judge_distance(2, PERIODIC, 4, &kind, false, false, 2e-2);
        judge_distance(2, FREE, 6, &kind, false, false, 2e-3);
        if (order == 8 || test_all()) judge_distance(3, PERIODIC, 4, &kind, false, false, 2e-2);
        if (order == 16 || test_all()) judge_distance(3, RIGID, 6, &kind, false, false, 2e-3);
    }
    const struct kind kind = {.order = 16, .terms = 1, .removed = true};
    judge_distance(3, FREE, 6, &kind, true, false, 4e-3);
    judge_distance(3, PERIODIC, 6, &kind, false, true, 2e-3);
}

static void test_accuracy(void) {
    for (int dims = 1; dims <= 2; dims++)
        for (int wall = -1; wall <= 1; wall++) test_distance(dims, wall, 6, 8, false, false, 2e-3);
    for (int order = 8; order <= 16; order += 8) {
        if (order == 8 || test_all()) test_distance(3, PERIODIC, 4, order, false, false, 2e-2);
        if (order == 16 || test_all()) test_distance(3, RIGID, 6, order, false, false, 2e-3);
    }
    test_distance(3, FREE, 6, 16, true, false, 2e-3);
    test_distance(3, PERIODIC, 6, 16, false, true, 2e-3);
    if (!test_all()) return;
    test_distance(3, FREE, 6, 16, false, false, 2e-3);
    test_distance(3, RIGID, 6, 16, true, false, 2e-3);
}

/* ---- order in time ---- */

static void test_order(int terms) {
    const struct exact e = {.dims = 1,
                            .wall = RIGID,
                            .size = {300, 0, 0},
                            .source = {20, 0, 0},
                            .receiver = {170, 0, 0},
                            .density = 1,
                            .frequency = 0.04};
    double error[3];
    for (int i = 0; i < 3; i++) {
        const struct kind kind = {
            .order = 16, .terms = terms, .cfl = (terms > 1 ? 0.8 : 0.4) / (1 << i)};
        error[i] = trace_error(&e, &kind, 230, NULL);
    }
    for (int i = 0; i < 2; i++) {
        const double order = log2(error[i] / error[i + 1]);
        TEST_BELOW(fabs(order - 2 * terms), 0.1, "%d terms: order %.2f in time (%.2e, %.2e)", terms,
                   order, error[i], error[i + 1]);
    }
}

int main(void) {
    ht_log_level_set(HT_LOG_QUIET);
    test_order(1);
    test_order(2);
    test_accuracy();
    test_removed();
    return test_end("shots");
}
