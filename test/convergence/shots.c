/* Sources of finite differences against exact solutions, by the plain engine in double precision;
 * sources and receivers between nodes unless said otherwise.
 *   - Monopoles and forces in 1 to 3 dimensions, rigid, free and periodic
 *     sides: sums over image sources, some six wavelengths of the peak away.
 *   - Order in time, one and two terms: on nodes, so that nothing else errs.
 *   - Source and receiver change places in a medium that jumps.
 *   - Steps there and back lead to rest.
 *   - Kernels, each variant in single and double precision, against the plain
 *     engine; in a closed box, where single precision corrects the mean of the
 *     increments every 100 steps, to which a slow source adds then.
 * Lengths are in spacings, the speed is 1. */
#include <stdarg.h>

#include "device_values.h"
#include "exact_shots.h"
#include "htwave/sampler.h"
#include "must.h"
#include "open_device.h"
#include "point_nodes.h"
#include "theory.h"

/* ---- a run and its trace ---- */

struct scene {
    struct ht_params *params;
    struct ht_plan *plan;
    struct ht_stepper stepper;
    struct ht_point receiver;
    double *values; /* [node] */
};

static void open_scene(struct scene *s, int count, char **overrides) {
    *s = (struct scene){.params = NULL};
    must(ht_params_read(NULL, count, overrides, &s->params));
    must(ht_plan_create(s->params, NULL, &s->plan));
    must(ht_oracle_create(&s->plan->problem, &s->stepper));
    must(HT_ALLOC(s->values, ht_grid_total(&s->plan->grid, HT_PRIMARY)));
}

static void close_scene(struct scene *s) {
    ht_point_free(&s->receiver);
    ht_stepper_destroy(&s->stepper);
    ht_plan_destroy(s->plan);
    ht_params_destroy(s->params);
    free(s->values);
}

/* The field at the receiver, u: HT_PRIMARY, its increment: HT_DUAL. */
static double read_point(const struct scene *s, enum ht_subgrid which) {
    const struct ht_grid *grid = &s->plan->grid;
    const int field = s->plan->eq.second_order.field;
    double sum = 0;
    must(s->stepper.ops->get(s->stepper.self, which, field, 1, 0, ht_grid_planes(grid, HT_PRIMARY),
                             s->values));
    for (int i = 0; i < s->receiver.count; i++) {
        const int64_t *m = s->receiver.node[i].m;
        sum += s->receiver.node[i].weight *
               s->values[m[2] * ht_grid_plane(grid, HT_PRIMARY) +
                         m[1] * ht_grid_nodes(grid, HT_PRIMARY, 0) + m[0]];
    }
    return sum;
}

static void step(const struct scene *s) {
    must(s->stepper.ops->half_step(s->stepper.self, HT_PRIMARY));
    must(s->stepper.ops->half_step(s->stepper.self, HT_DUAL));
}

/* ---- traces ---- */

enum { MOST_OVERRIDES = 24, LENGTH = 320 };

static void add(char (*text)[LENGTH], char **list, int *count, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

static void add(char (*text)[LENGTH], char **list, int *count, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    vsnprintf(text[*count], LENGTH, fmt, args);
    va_end(args);
    list[*count] = text[*count];
    ++*count;
}

struct kind {
    int order, terms;
    double cfl;   /* 0: the usual one */
    bool removed; /* the dispersion of one term */
    const char *more;
};

/* The receiver's value at each step; beyond the run what samples there need. */
static double *values_of(const struct scene *s) {
    const bool removed = s->plan->problem.fd.undispersed;
    const int64_t steps = s->plan->steps + (removed ? ht_resampling_beyond(s->plan) : 0);
    double *value = NULL;
    must(HT_ALLOC(value, steps + 1));
    for (int64_t i = 1; i <= steps; i++) {
        step(s);
        value[i] = read_point(s, HT_PRIMARY);
    }
    return value;
}

/* Values at the times of the steps in place of those of the steps. */
static void resample(const struct scene *s, double **value) {
    const int64_t steps = s->plan->steps + ht_resampling_beyond(s->plan) + 1;
    const struct ht_whole of = {
        .value = *value, .width = 1, .steps = steps, .every = 1, .samples = s->plan->steps + 1};
    double *out = NULL;
    must(HT_ALLOC(out, of.samples));
    must(ht_resample_whole(&of, 1, out));
    free(*value);
    *value = out;
}

/* The trace of the scheme against the exact one: relative error in L2. */
static double trace_error(const struct exact *given, const struct kind *kind, double end,
                          double *expected) {
    char text[MOST_OVERRIDES][LENGTH], *list[MOST_OVERRIDES];
    const char *sides[] = {"[\"free\", \"rigid\"]", "\"periodic\"", "\"rigid\""};
    struct exact e = *given;
    struct scene s;
    int n = 0;
    char cells[60] = "", upper[80] = "", source[100] = "";
    for (int k = 0; k < e.dims; k++) {
        const char *comma = k ? ", " : "";
        snprintf(cells + strlen(cells), sizeof cells - strlen(cells), "%s%d", comma,
                 (int)e.size[k]);
        snprintf(upper + strlen(upper), sizeof upper - strlen(upper), "%s%.1f", comma, e.size[k]);
        snprintf(source + strlen(source), sizeof source - strlen(source), "%s%.17g", comma,
                 e.source[k]);
        add(text, list, &n, "boundary.x%d=%s", k + 1,
            sides[(k > 0 && e.wall < 0 ? RIGID : e.wall) + 1]);
    }
    add(text, list, &n, "system=%s", e.wave ? "wave" : "acoustic");
    add(text, list, &n, "grid.cells=[%s]", cells);
    add(text, list, &n, "grid.upper=[%s]", upper);
    add(text, list, &n, "grid.order=%d", kind->order);
    add(text, list, &n, "time.scheme=fd");
    add(text, list, &n, "time.stages=%d", kind->terms);
    add(text, list, &n, "time.end=%g", end);
    if (kind->removed) add(text, list, &n, "time.dispersion=remove");
    if (kind->cfl > 0) add(text, list, &n, "time.cfl=%g", kind->cfl);
    if (!e.wave) add(text, list, &n, "medium.rho=%g", e.density);
    add(text, list, &n, "sources=({ position = [%s]; frequency = %.17g; kind = \"%s\"; %s })",
        source, e.frequency, e.force ? "force" : "monopole",
        e.force ? e.dims > 2 ? "direction = [2.0, 0.0, 0.0];" : "direction = [2.0, 0.0];" : "");
    open_scene(&s, n, list);
    must(point_nodes(false, &s.plan->grid, e.receiver, -1, &s.receiver));
    e.signal = s.plan->shots->shot[0].signal;
    e.delay = s.plan->shots->shot[0].delay;
    double difference = 0, whole = 0, *value = values_of(&s);
    if (kind->removed) resample(&s, &value);
    for (int64_t i = 1; i <= s.plan->steps; i++) {
        const double exact = exact_at(&e, (double)i * s.plan->problem.dt);
        difference += pow(value[i] - exact, 2);
        whole += exact * exact;
    }
    free(value);
    if (expected != NULL) *expected = theory(s.plan, e.frequency, 2, end - e.delay);
    close_scene(&s);
    return sqrt(difference / whole);
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
    TEST_BELOW(error, bound,
               "%s%s %d-D, walls %d, order %d, %d term%s, %g points (theory "
               "%.2g)",
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

/* ---- places exchanged, steps back ---- */

static char *const layered[] = {
    "grid.cells=[30, 26]",
    "grid.upper=[30.0, 26.0]",
    "boundary.x1=[\"free\", \"rigid\"]",
    "boundary.x2=\"rigid\"",
    "medium.type=layers",
    "medium.axis=x2",
    "medium.interfaces=[9.3, 17.8]",
    "medium.c=[1.0, 2.5, 1.3]",
    "medium.rho=[1.0, 2.0, 0.7]",
    "time.end=60.0",
};
enum { LAYERED = sizeof layered / sizeof *layered };

static void trace(const double from[2], const double to[2], double *out) {
    char text[MOST_OVERRIDES][LENGTH], *list[MOST_OVERRIDES];
    const double at[3] = {to[0], to[1], 0};
    struct scene s;
    int n = 0;
    for (int i = 0; i < LAYERED; i++) add(text, list, &n, "%s", layered[i]);
    add(text, list, &n, "sources=({ position = [%.17g, %.17g]; frequency = 0.08; })", from[0],
        from[1]);
    open_scene(&s, n, list);
    must(point_nodes(false, &s.plan->grid, at, -1, &s.receiver));
    for (int64_t i = 0; i < 40; i++) {
        step(&s);
        out[i] = read_point(&s, HT_PRIMARY);
    }
    close_scene(&s);
}

static void test_reciprocity(void) {
    /* near walls and on either side of jumps */
    const double a[2] = {1.61, 25.3}, b[2] = {14.2, 9.1};
    double there[40], back[40], worst = 0, largest = 0;
    trace(a, b, there);
    trace(b, a, back);
    for (int i = 0; i < 40; i++) {
        worst = fmax(worst, fabs(there[i] - back[i]));
        largest = fmax(largest, fabs(there[i]));
    }
    TEST_BELOW(worst / largest, 1e-12, "source and receiver exchanged");
}

/* ---- kernels ---- */

static char *const closed[] = {
    "grid.cells=[13, 12, 15]",
    "grid.upper=[13.0, 12.0, 15.0]",
    "boundary.x1=\"rigid\"",
    "grid.order=4",
    "time.scheme=fd",
    "medium.type=expression",
    "medium.c=\"1.5 + 0.5 * sin(2 * pi * x3 / 15)\"",
    "time.end=200.0",
    "sources=({ position = [0.4, 4.4, 14.7]; frequency = 0.015; signal = "
    "\"gaussian\"; }, { type = \"line\"; from = [3.0, 2.2, 0.0]; to = "
    "[9.0, 11.7, 7.0]; count = 5; frequency = 0.1; }, { kind = \"force\"; "
    "position = [4.1, 3.7, 8.2]; direction = [1.0, 0.0, -2.0]; frequency = "
    "0.1; signal = \"burst\"; cycles = 9.0; })",
};
enum { CLOSED = sizeof closed / sizeof *closed };

/* Each step rounds u, d and what a source adds, and single precision the medium, which shifts
 * phases: half an ulp of the largest value for each step. */
static void test_kernels(struct ht_device *device, const struct scene *s, const char *variant,
                         bool fp64, int steps) {
    const int64_t nodes = ht_grid_total(&s->plan->grid, HT_PRIMARY);
    double worst = 0, largest = 0, *got = NULL;
    must(HT_ALLOC(got, nodes));
    must(device_values(s->plan, device, variant, fp64, steps, got));
    for (int64_t i = 0; i < nodes; i++) {
        worst = fmax(worst, fabs(got[i] - s->values[i]));
        largest = fmax(largest, fabs(s->values[i]));
    }
    free(got);
    TEST_BELOW(worst / largest, ldexp(steps, fp64 ? -53 : -24), "%s in %s precision after %d steps",
               variant, fp64 ? "double" : "single", steps);
}

static void test_device(void) {
    struct ht_device *device;
    struct scene s;
    const int steps = 330;
    if (test_open_device(&device) != HT_OK) {
        TEST_SKIP("no device: %s", ht_err_message());
        return;
    }
    open_scene(&s, CLOSED, (char **)closed);
    for (int i = 0; i < steps; i++) step(&s);
    (void)read_point(&s, HT_PRIMARY);
    for (int i = 0; i < ht_variant_count(); i++)
        for (int fp64 = 0; fp64 < 2 && ht_variant_at(i)->differences; fp64++)
            if (!fp64 || ht_device_info(device)->fp64)
                test_kernels(device, &s, ht_variant_at(i)->name, fp64, steps);
    close_scene(&s);
    ht_device_close(device);
}

int main(void) {
    test_device();
    test_order(1);
    test_order(2);
    test_reciprocity();
    test_accuracy();
    test_removed();
    return test_end("shots");
}
