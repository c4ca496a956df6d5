/* Planes, volumes and plane waves from outside, by the plain engines in double precision.
 *   - A plane against d'Alembert's solution with images, at any place; a volume
 *     against the integral over it; both beside a wall against their images.
 *   - Plane waves: what leaks out of the box against the error of its spline,
 *     the field inside against the exact wave and the theory of dispersion; in
 *     one to three dimensions, oblique, for both operators, one and two terms.
 *   - Kernels, each variant in single and double precision, agree with the plain engine.
 * Lengths are in spacings, the speed is 1. */
#include "errors.h"
#include "htwave/energy.h"
#include "open_device.h"
#include "planned.h"
#include "theory.h"

/* ---- a run ---- */

struct scene {
    struct planned of;
    struct ht_plan *plan;
    int64_t nodes, done;
    double *u;
};

/* Options separated by bars; from the plan's data by the plain engine. */
#define open_scene(s, ...) \
    (must(plan_make(&(s)->of, '|', "time.scheme=fd|" __VA_ARGS__)), start_scene(s))

static void start_scene(struct scene *s) {
    s->plan = s->of.plan;
    s->done = 0;
    s->nodes = ht_grid_total(&s->plan->grid, HT_PRIMARY);
    must(HT_ALLOC(s->u, s->nodes));
    must(plan_oracle(&s->of, true));
}

static void close_scene(struct scene *s) {
    planned_end(&s->of);
    free(s->u);
}

/* One step; returns the time after it. */
static double step(struct scene *s) {
    const struct ht_stepper *of = &s->of.stepper;
    must(ht_stepper_advance(of, 1));
    must(of->ops->get(of->self, HT_PRIMARY, 0, 1, 0, ht_grid_planes(&s->plan->grid, HT_PRIMARY),
                      s->u));
    return (double)++s->done * s->plan->problem.dt;
}

static void place(const struct scene *s, int64_t node, double x[3]) {
    const struct ht_grid *grid = &s->plan->grid;
    for (int k = 0; k < 3; k++) {
        const int64_t n = ht_grid_nodes(grid, HT_PRIMARY, k);
        x[k] = k < grid->dims ? ht_grid_x(grid, HT_PRIMARY, k, node % n) : 0;
        node /= n;
    }
}

static const struct ht_shot *shot_of(const struct scene *s) {
    return &s->plan->shots->shot[0];
}

static double signal_at(const struct scene *s, double time) {
    return ht_shot_at(shot_of(s), time, 0);
}

/* ---- planes ---- */

/* Along x1, free below and rigid above. */
static double plane_at(const struct scene *s, double x, double source, double size, double time,
                       bool force, bool wave) {
    double sum = 0;
    for (int n = -2; n <= 2; n++)
        for (int side = 0; side < 2; side++) {
            const double at = 2 * n * size + (side ? -source : source);
            const double value = ht_shot_at(shot_of(s), time - fabs(x - at), wave ? -1 : 0) / 2;
            const double turn = side && !force ? -1 : 1;
            const double way = force ? (x > at ? 1 : -1) : wave ? 1 : 1.3;
            sum += (n % 2 == 0 ? 1 : -1) * turn * way * value;
        }
    return sum;
}

#define FORCE "kind = \"force\"; direction = [3.0, 0.0];"

/* At all nodes of all steps; the field does not depend on x2. bound: of Hermite methods; 0 of
 * finite differences. */
static void test_plane(const char *scheme, double cells, const char *system, const char *more,
                       double at, double bound) {
    const bool force = strstr(more, "force") != NULL;
    const bool wave = strcmp(system, "wave") == 0;
    const int rows = bound > 0 ? 2 : 12;
    double across = 0;
    struct errors e = {0};
    struct scene s;
    open_scene(&s,
               "grid.cells=[50, %d]|grid.upper=[50.0, "
               "%g]|time.%s|system=%s|%stime.end=60.0|boundary.x2=\"rigid\"|boundary.x1=[\"free\", "
               "\"rigid\"]|sources=({ type = \"plane\"; axis = \"x1\"; at = %.17g; frequency = "
               "%.17g; %s })",
               rows, 1.2 * rows, scheme, system, wave ? "" : "medium.rho=1.3|", at, 1 / cells,
               more);
    if (!(bound > 0)) bound = 2 * fmax(2e-3, theory(s.plan, 1 / cells, 2, 60));
    while (s.done < s.plan->steps) {
        const double time = step(&s);
        for (int64_t n = 0; n < s.nodes; n++) {
            const double x = (double)(n % 51);
            const double exact = plane_at(&s, x, at, 50, time, force, wave);
            across = fmax(across, fabs(s.u[n] - s.u[n % 51]));
            if (fabs(x - at) < 8) continue; /* the Gaussian is no plane */
            errors_add(&e, s.u[n], exact);
        }
    }
    close_scene(&s);
    TEST_BELOW(errors_l2(e), bound, "plane at %g, %s, %s, %g cells %s", at, system, scheme, cells,
               more);
    TEST_BELOW(across, 1e-12, "its differences across");
}

/* ---- volumes ---- */

/* r p obeys the equation in one dimension, with the source r g(r) s'(t). */
static double volume_at(const struct scene *s, double r, double time) {
    const double radius = shot_of(s)->width, apart = radius / 200;
    double sum = 0;
    for (int i = -1400; i <= 1400; i++) {
        const double q = i * apart;
        sum += q * exp(-q * q / (2 * radius * radius)) * signal_at(s, time - fabs(r - q));
    }
    return sum * apart / (2 * r * pow(2 * HT_PI * radius * radius, 1.5));
}

static void test_volume(double radius) {
    const double frequency = 1 / 15.0, centre[3] = {22.37, 21.71, 23.18};
    struct errors e = {0};
    struct scene s;
    open_scene(&s,
               "grid.cells=[44, 44, 44]|grid.upper=[44.0, 44.0, "
               "44.0]|grid.order=8|time.end=36.0|sources=({ type = \"volume\"; position = [%.17g, "
               "%.17g, %.17g]; width = %.17g; frequency = %.17g; })",
               centre[0], centre[1], centre[2], radius, frequency);
    const double expected = theory(s.plan, frequency, 2, 15);
    while (s.done < s.plan->steps) {
        const double time = step(&s);
        if (time < 24 || time > 36) continue;
        for (int64_t n = 0; n < s.nodes; n += 131) {
            double x[3], square = 0;
            place(&s, n, x);
            for (int k = 0; k < 3; k++) square += pow(x[k] - centre[k], 2);
            if (square < 1 || square > 121) continue; /* no images yet */
            const double exact = volume_at(&s, sqrt(square), time);
            errors_add(&e, s.u[n], exact);
        }
    }
    close_scene(&s);
    TEST_BELOW(errors_l2(e), 2 * expected, "volume of width %g in 3-D", radius);
}

/* In one dimension, between sides that no wave has come back from. */
static double line_at(const struct scene *s, double x, double time) {
    const double width = shot_of(s)->width, apart = width / 200;
    const double root = sqrt(2 * HT_PI);
    double sum = 0;
    for (int i = -1200; i <= 1200; i++) {
        const double q = i * apart;
        sum += exp(-q * q / (2 * width * width)) *
               signal_at(s, time - fabs(x - shot_of(s)->first[0] - q)) / 2;
    }
    return sum * apart / (root * width);
}

/* Of Hermite methods, everywhere. */
static void test_hermite_volume(const char *scheme, double cells, double width, double bound) {
    struct errors e = {0};
    struct scene s;
    open_scene(&s,
               "grid.cells=[64]|grid.upper=[64.0]|time.%s|time.end=%.17g|sources=({ type = "
               "\"volume\"; position = [32.37]; width = %.17g; frequency = %.17g; })",
               scheme, 3 * cells + 12, width, 1 / cells);
    while (s.done < s.plan->steps) {
        const double time = step(&s);
        for (int64_t n = 4; n < s.nodes - 4; n++) {
            const double exact = line_at(&s, (double)n, time);
            errors_add(&e, s.u[n], exact);
        }
    }
    close_scene(&s);
    TEST_BELOW(errors_l2(e), bound, "volume of width %g, %s, %g cells", width, scheme, cells);
}

/* ---- walls ---- */

#define BESIDE(sign, factor)                                                   \
    "{ type = \"volume\"; position = [" sign "2.3, 9.1]; width = 2.0; "        \
    "frequency = 0.06; amplitude = " factor "; }, { type = \"plane\"; axis = " \
    "\"x1\"; at = " sign "3.4; frequency = 0.06; amplitude = " factor "; }, "  \
    "{ type = \"volume\"; position = [" sign "4.0, 3.7]; width = 1.1; kind "   \
    "= \"force\"; direction = [" sign "1.0, 0.0]; frequency = 0.06; "          \
    "amplitude = " factor "; }"

/* A wall is a box of twice the length with the mirror images. */
static void test_walls(const char *scheme, const char *wall, const char *turned) {
    struct scene half, both;
    struct errors e = {0};
    open_scene(&half,
               "%s|grid.cells=[30, 18]|grid.upper=[30.0, 18.0]|time.end=50.0|boundary.x1=[\"%s\", "
               "\"rigid\"]|boundary.x2=rigid|sources=(" BESIDE("", "1.0") ")",
               scheme, wall);
    open_scene(&both,
               "%s|grid.cells=[60, 18]|grid.lower=[-30.0, 0.0]|grid.upper=[30.0, "
               "18.0]|time.end=50.0|boundary.x1=rigid|boundary.x2=rigid|sources=(" BESIDE(
                   "", "1.0") "," BESIDE("-", "%s") ")",
               scheme, turned, turned, turned);
    while (half.done < half.plan->steps) {
        (void)step(&half);
        (void)step(&both);
    }
    for (int64_t n = 0; n < half.nodes; n++)
        errors_add(&e, half.u[n], both.u[n / 31 * 61 + 30 + n % 31]);
    close_scene(&half);
    close_scene(&both);
    TEST_BELOW(errors_most(e), 1e-8, "planes and volumes beside a %s wall and their images, %s",
               wall, scheme);
}

/* ---- plane waves ---- */

struct inside {
    double low[3], high[3];
};

static bool contains(const struct inside *box, int dims, const double x[3]) {
    bool in = true;
    for (int k = 0; k < dims && k < 3; k++)
        in = in && x[k] >= box->low[k] - 1e-9 && x[k] <= box->high[k] + 1e-9;
    return in;
}

/* Takes all steps. Returns what leaks out of the box; *error: the difference inside from the exact
 * wave, relative L2. */
static double run_wave(struct scene *s, double *error) {
    const struct ht_shot *shot = shot_of(s);
    const int dims = s->plan->grid.dims;
    double out = 0;
    struct errors e = {0};
    struct inside box;
    memcpy(box.low, shot->first, sizeof box.low);
    memcpy(box.high, shot->last, sizeof box.high);
    while (s->done < s->plan->steps) {
        const double time = step(s);
        for (int64_t n = 0; n < s->nodes; n++) {
            double x[3], xi = -shot->corner;
            place(s, n, x);
            for (int k = 0; k < dims && k < 3; k++) xi += shot->direction[k] * x[k];
            if (!contains(&box, dims, x)) {
                out = fmax(out, fabs(s->u[n]));
                continue;
            }
            const double exact = signal_at(s, time - xi);
            errors_add(&e, s->u[n], exact);
        }
    }
    *error = errors_l2(e);
    return out;
}

/* points: per wavelength of the highest frequency, 2.55 of a Ricker's. */
static void test_wave(const char *name, double points, const char *options) {
    const double frequency = 1 / (2.55 * points);
    double error;
    HT_ENDED(close_scene) struct scene s;
    open_scene(&s, "%s|sources.1.frequency=%.17g", options, frequency);
    const double expected = theory(s.plan, frequency, 2, shot_of(&s)->crossing);
    const double out = run_wave(&s, &error);
    /* the spline's error at the highest frequency, by two columns a spacing */
    TEST_BELOW(out, pow(2 * points - 1, -6), "%s: leaks at %g points", name, points);
    TEST_BELOW(error, 2 * expected, "%s: inside against the exact wave (leak over it %.1e)", name,
               out / error);
}

#define WAVE "sources=({ type = \"plane wave\"; frequency = 0.1; "
#define LINE "grid.cells=[60]|grid.upper=[60.0]|time.end=120.0|grid.order=8|"
#define SQUARE "grid.cells=[56, 50]|grid.upper=[56.0, 50.0]|time.end=110.0|grid.order=8|"
#define SKEW "from = [14.63, 13.2]; to = [40.4, 33.37]; direction = [-1.0, 0.6]; })"

static void test_waves(void) {
    test_wave("1-D", 6, LINE WAVE "from = [15.0]; to = [40.4]; direction = [-2.0]; })");
    test_wave("2-D", 6, SQUARE WAVE SKEW);
    test_wave("2-D, one term", 6, SQUARE "time.stages=1|" WAVE SKEW);
    test_wave("2-D, order 16", 4, SQUARE "grid.order=16|" WAVE SKEW);
    test_wave("2-D, order 2, wave", 10, SQUARE "grid.order=2|system=wave|" WAVE SKEW);
    test_wave("2-D, cells of 1 by 0.7", 6,
              "grid.cells=[56, 70]|grid.upper=[56.0, 49.0]|time.end=110.0|grid.order=8|" WAVE SKEW);
    /* density varies, in a corner that no wave reaches */
    test_wave("2-D, density", 6,
              SQUARE "grid.order=6|medium.type=expression|medium.c=1|medium.rho=\"1 + step(x1 - "
                     "50) * step(x2 - 44)\"|" WAVE SKEW);
    test_wave("2-D, box from side to side", 6,
              SQUARE "boundary.x2=rigid|" WAVE
                     "from = [14.63, 0.0]; to = [40.4, 50.0]; direction = [1.0, 0.0]; })");
    test_wave(
        "3-D", 6,
        "grid.cells=[30, 28, 26]|grid.upper=[30.0, 28.0, 26.0]|time.end=80.0|grid.order=8|" WAVE
        "from = [8.3, 8.0, 7.2]; to = [20.4, 19.0, 18.9]; direction = [0.5, 0.7, -1.0]; })");
    /* thinner than the stencil */
    test_wave("1-D, box of three points", 6,
              LINE WAVE "from = [29.9]; to = [32.3]; direction = [1.0]; })");
}

/* ---- kernels ---- */

#define ALL                                                                                        \
    "grid.cells=[24, 20, 18]|grid.upper=[24.0, 20.0, 18.0]|grid.order=4|boundary.x1=rigid|"        \
    "medium.type=expression|medium.c=\"1.3 + 0.2*max(0, x1 - 22)\"|medium.rho=1.2|time.end=300.0|" \
    "sources=({ type = \"plane wave\"; frequency = 0.06; from = [6.1, 5.0, 4.2]; to = [15.0, "     \
    "13.0, 12.0]; direction = [1.0, 0.3, -0.4]; delay = 70.0; }, { type = \"plane\"; axis = "      \
    "\"x3\"; at = 3.3; frequency = 0.05; }, { type = \"plane\"; axis = \"x1\"; at = 0.7; "         \
    "frequency = 0.05; kind = \"force\"; direction = [1.0, 0.0, 0.0]; }, { type = \"volume\"; "    \
    "position = [3.0, 9.2, 17.5]; width = 1.7; frequency = 0.05; }, { position = [23.4, 4.4, "     \
    "17.7]; frequency = 0.015; signal = \"gaussian\"; }, { type = \"line\"; from = [3.0, 2.2, "    \
    "0.0]; to = [23.0, 11.7, 7.0]; count = 5; frequency = 0.1; }, { kind = \"force\"; position = " \
    "[4.1, 3.7, 8.2]; direction = [1.0, 0.0, -2.0]; frequency = 0.1; signal = \"burst\"; cycles "  \
    "= 9.0; })"

/* A run's values after some steps on a device, by steps alone. */
static enum ht_err device_values(const struct ht_plan *plan, struct ht_device *device,
                                 const char *variant, bool fp64, int steps, double *out) {
    const struct ht_problem *problem = &plan->problem;
    struct ht_tuning tuning = {.fp64 = fp64, .block = 1};
    const struct ht_spec spec = ht_problem_spec(problem, &tuning, HT_PRIMARY);
    HT_ENDED(ht_kernels_destroy) struct ht_kernels kernels = {0};
    HT_ENDED(ht_stepper_destroy) struct ht_stepper stepper = {0};
    tuning.variant = ht_variant_find(variant, &spec, false);
    TRY(ht_kernels_create(problem, device, &tuning, &kernels));
    enum ht_err err = ht_stepper_create(problem, device, &kernels, &stepper);
    if (err == HT_OK) err = ht_stepper_advance(&stepper, steps);
    if (err == HT_OK)
        err = stepper.ops->get(stepper.self, HT_PRIMARY, 0, 1, 0,
                               ht_grid_planes(&plan->grid, HT_PRIMARY), out);
    return err;
}

/* Each step rounds u, d and what a source adds, and single precision the medium, which shifts
 * phases: half an ulp of the largest value for each step. In single precision the mean of a closed
 * box is corrected every 100 steps, to which a slow source adds then. */
static void test_variant(struct ht_device *device, const struct scene *s, const char *variant,
                         bool fp64, int steps) {
    HT_FREED double *got = NULL;
    must(HT_ALLOC(got, s->nodes));
    must(device_values(s->plan, device, variant, fp64, steps, got));
    const struct errors e = errors_of(s->nodes, got, s->u);
    TEST_BELOW(errors_most(e), ldexp(steps, fp64 ? -53 : -24), "all types: %s in %s precision",
               variant, fp64 ? "double" : "single");
}

static void test_kernels(void) {
    struct ht_device *device = test_device_here();
    struct scene s;
    const int steps = 220;
    if (device == NULL) return;
    open_scene(&s, ALL);
    for (int i = 0; i < steps; i++) (void)step(&s);
    for (int i = 0; i < ht_variant_count(); i++)
        for (int fp64 = 0; fp64 < 2 && ht_variant_at(i)->differences; fp64++)
            if (!fp64 || ht_device_info(device)->fp64)
                test_variant(device, &s, ht_variant_at(i)->name, fp64, steps);
    close_scene(&s);
    ht_device_close(device);
}

int main(void) {
    test_kernels();
    test_plane("scheme=fd|grid.order=8", 15, "acoustic", "", 30, 0);
    test_plane("scheme=fd|grid.order=8", 15, "acoustic", FORCE, 30.37, 0);
    test_plane("scheme=taylor|grid.order=3", 5, "acoustic", "", 30.37, 1e-3);
    test_plane("scheme=taylor|grid.order=5", 4, "acoustic", FORCE, 30, 5e-4);
    test_plane("scheme=leapfrog|grid.order=5", 4, "acoustic", "", 2.4, 5e-4);
    test_plane("scheme=leapfrog|grid.order=3", 6, "wave", "", 30.37, 1e-4);
    test_volume(1);
    test_volume(2.3);
    test_hermite_volume("scheme=taylor|grid.order=3", 5, 1, 5e-5);
    if (test_all()) test_hermite_volume("scheme=taylor|grid.order=5", 5, 2.3, 1e-5);
    test_hermite_volume("scheme=leapfrog|grid.order=3", 5, 1, 1e-4);
    test_walls("time.scheme=fd", "rigid", "1.0");
    test_walls("time.scheme=fd", "free", "-1.0");
    test_walls("time.scheme=leapfrog|grid.order=2", "free", "-1.0");
    test_waves();
    return test_end("shapes");
}
