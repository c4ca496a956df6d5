/* Leapfrog, and the wave system that came with it, in double precision:
 * errors of a wave after 100 wavelengths, orders, the conserved energy over 10^4 steps, the start
 * from data that are known at time 0 only. */
#include "scene.h"

/* ---- a hundred wavelengths ---- */

/* Plane waves in one dimension, c dt = 0.9 h: the error must be what the plan says (it steps the
 * same wave). `table` holds errors found elsewhere for u_tt = c^2 u_xx; they hold a factor 1.5, not
 * more, because the phase error changes sign near this step for some N. */
static void far(struct scene *scene, const char *system, int order, int cells, int cycles,
                double table) {
    HT_ENDED(scene_close) struct scene_run run;
    scene_open(scene, &run,
               "system=%s time.scheme=leapfrog grid.order=%d grid.cells=[%d] initial.type=plane "
               "initial.cycles=[%d] initial.phase=0.785398 time.end=%.17g device.variant=vector",
               system, order, cells, cycles, 100.0 / cycles);
    const double error = scene_finish(&run), expected = run.plan->expected.error;
    TEST_CHECK(fabs(error / expected - 1) < 0.2,
               "%s 1D N=%d, %.2g cells per wavelength, 100 wavelengths: error %.2e (%.2e expected, "
               "+-20 %%)",
               system, order, (double)cells / cycles, error, expected);
    if (table > 0)
        TEST_BELOW(error, 1.5 * table,
                   "%s 1D N=%d, %.2g cells per wavelength: error against a table", system, order,
                   (double)cells / cycles);
}

static void accuracy(struct scene *scene) {
    far(scene, "wave", 3, 12, 4, 1.8e-3);
    far(scene, "wave", 3, 16, 4, 4.4e-4);
    far(scene, "wave", 5, 8, 4, 8.3e-6);
    far(scene, "wave", 5, 12, 4, 5.7e-7);
    far(scene, "wave", 5, 16, 4, 7e-8);
    far(scene, "wave", 7, 6, 5, 1.5e-5);
    far(scene, "wave", 7, 6, 4, 2.3e-6);
    far(scene, "acoustic", 4, 12, 4, 0);
    if (!test_all()) return;
    far(scene, "wave", 4, 12, 4, 0);
    far(scene, "wave", 6, 6, 5, 4.7e-4);
    far(scene, "acoustic", 3, 12, 4, 0);
    far(scene, "acoustic", 5, 8, 4, 0);
}

/* ---- orders ---- */

/* In phase the wave system has order 2N, pressure and velocity 2N at odd N and 2N+2 at even N (the
 * 1-D eigenvalue; docs/developers/method.md, section 13); what the data excite beside the wave
 * stays and blurs them by up to 0.5. The pair (u, u_t) has at least 2N. The steps are such that the
 * phase error does not change sign between the grids. */
static double wanted(const char *system, const char *scheme, int order) {
    bool pressure = strcmp(system, "acoustic") == 0;
    if (strcmp(scheme, "taylor") == 0) return 2 * order - 0.1;
    return 2 * order + (pressure && order % 2 == 0 ? 2 : 0) - 0.5;
}

static void orders(struct scene *scene, const char *system, const char *scheme, int dims,
                   int order) {
    static const char *const cycles[] = {"[2]", "[1,1]", "[1,1,1]"};
    static const int cells[3][3][SCENE_RUNGS] = {
        {{64, 96}, {24, 32}, {16, 24}},
        {{24, 32}, {12, 16}, {8, 12}},
        {{12, 16}, {8, 12}, {4, 6}},
    };
    static const char *const upper[] = {"[1]", "[1,1.25]", "[1,1.25,1.5]"};
    struct scene_ladder ladder = {
        .ratio = {1, dims > 1, dims > 2},
        .wanted = wanted(system, scheme, order),
    };
    char name[SCENE_TEXT], text[SCENE_TEXT];
    memcpy(ladder.cells, cells[dims - 1][order > 3 ? 2 : order - 1], sizeof ladder.cells);
    snprintf(name, sizeof name, "%s %s %dD N=%d", system, scheme, dims, order);
    snprintf(text, sizeof text,
             "system=%s time.scheme=%s grid.order=%d initial.type=plane initial.cycles=%s "
             "grid.upper=%s time.cfl=%g time.end=%g device.variant=vector",
             system, scheme, order, cycles[dims - 1], upper[dims - 1],
             strcmp(system, "acoustic") == 0 ? 0.9 : 0.7, dims == 1 ? 14.0 : 3.6);
    scene_ladder(scene, name, &ladder, text);
}

static void convergence(struct scene *scene) {
    const int most[3] = {3, test_all() ? 3 : 2, test_all() ? 2 : 1};
    for (int dims = 1; dims <= 3; dims++)
        for (int order = 1; order <= most[dims - 1]; order++) {
            if (dims == 2 && order == 1 && !test_all()) continue;
            if (dims < 3 || test_all()) orders(scene, "wave", "taylor", dims, order);
            orders(scene, "wave", "leapfrog", dims, order);
            /* oblique, it changes sign at N = 3 */
            if (dims == 1 || (order < 3 && (dims < 3 || test_all())))
                orders(scene, "acoustic", "leapfrog", dims, order);
        }
}

/* ---- walls ---- */

static void rooms(struct scene *scene) {
    static const struct {
        const char *name, *text;
        struct scene_ladder ladder;
    } rows[] = {
        {"wave leapfrog 2D N=2 mixed walls",
         "system=wave time.scheme=leapfrog grid.order=2 boundary.x1=[\"rigid\",\"free\"] "
         "boundary.x2=free initial.type=standing initial.modes=[2,1] time.end=3 time.cfl=0.5",
         {{1, 1}, {8, 12}, 3.5}},
        {"acoustic leapfrog 2D N=2 mixed walls",
         "system=acoustic time.scheme=leapfrog grid.order=2 boundary.x1=[\"rigid\",\"free\"] "
         "boundary.x2=free initial.type=standing initial.modes=[2,1] time.end=3",
         {{1, 1}, {12, 16}, 5.5}},
        {"wave taylor 2D N=2 mixed walls",
         "system=wave time.scheme=taylor grid.order=2 boundary.x1=[\"rigid\",\"free\"] "
         "boundary.x2=rigid initial.type=standing initial.modes=[2,1] time.end=3",
         {{1, 1}, {8, 12}, 3.9}},
    };
    for (size_t n = 0; n < sizeof rows / sizeof *rows; n++) {
        char text[SCENE_TEXT]; /* by the programs of orders() */
        snprintf(text, sizeof text, "%s device.variant=vector", rows[n].text);
        scene_ladder(scene, rows[n].name, &rows[n].ladder, text);
    }
}

/* ---- the start ---- */

/* A plane wave given by expressions, known at time 0 only: the dual grid starts by a backward
 * Taylor half step, in several layers of planes in 3-D. After a few steps the error is that of the
 * wave known at all times, within a factor 2: the backward half step has an error like one of the
 * scheme. */
static void begun(struct scene *scene, const char *system, const char *values, const char *grid) {
    HT_ENDED(scene_close) struct scene_run exact;
    HT_ENDED(scene_close) struct scene_run run;
    scene_open(
        scene, &exact,
        "system=%s time.scheme=leapfrog %s initial.type=plane initial.cycles=[1,0,0] time.end=1",
        system, grid);
    scene_open(scene, &run,
               "system=%s time.scheme=leapfrog %s initial.type=expression initial.returns=true %s "
               "time.end=1",
               system, grid, values);
    const double known = scene_finish(&exact), stepped = scene_finish(&run);
    TEST_CHECK(stepped < 2 * known && known < 2 * stepped,
               "start of %s %s by a half step back: error %.3e, from exact data %.3e (factor at "
               "most 2)",
               system, grid, stepped, known);
}

static void starts(struct scene *scene) {
    const char *wave = "initial.values.u=\"cos(2*pi*x1)\" initial.values.v=\"2*pi*sin(2*pi*x1)\"";
    const char *sound = "initial.values.p=\"cos(2*pi*x1)\" initial.values.v1=\"cos(2*pi*x1)\"";
    const char *line = "grid.order=4 grid.cells=[6] device.variant=vector";
    const char *box = "grid.order=1 grid.cells=[6,48,12] grid.upper=[1,8,2] device.variant=vector";
    begun(scene, "wave", wave, line);
    begun(scene, "acoustic", sound, line);
    begun(scene, "acoustic", sound, box);
}

/* ---- energy ---- */

/* Each of the 2n half steps errs by at most R eps in the norm of E, R the roundings behind an
 * output (ht_oracle_roundings), all of one sign at worst. */
static void conserved(struct scene *scene, const char *system, int64_t steps, const char *options) {
    HT_ENDED(scene_close) struct scene_run run;
    double before = 0, after = 0;
    scene_open(scene, &run, "system=%s time.scheme=leapfrog device.variant=vector %s time.end=1e6",
               system, options);
    must(ht_conserved_energy(run.plan, fd_stepper(&run.of), &before));
    scene_advance(&run, steps);
    must(ht_conserved_energy(run.plan, fd_stepper(&run.of), &after));
    const double bound =
        2.0 * (double)steps * scene_epsilon(run.plan) * ht_oracle_roundings(&run.plan->problem);
    /* NaN, which fails, where there is nothing to conserve */
    TEST_BELOW(before > 0 ? fabs(after / before - 1) : NAN, bound,
               "energy of %s %s over %lld steps: relative change", system, options,
               (long long)steps);
}

static void energies(struct scene *scene) {
    static const char *const cases[] = {
        "grid.order=3 grid.cells=[8] initial.type=random",
        "grid.order=3 grid.cells=[8] initial.type=random boundary.x1=[\"rigid\",\"free\"]",
        "grid.order=5 grid.cells=[6] initial.type=plane initial.cycles=[2]",
        "grid.order=2 grid.cells=[4,3] initial.type=random",
        "grid.order=2 grid.cells=[4,3] initial.type=random boundary.x1=free "
        "boundary.x2=[\"free\",\"rigid\"]",
        "grid.order=1 grid.cells=[3,3,2] initial.type=random",
        "grid.order=1 grid.cells=[3,2,2] initial.type=random boundary.x1=rigid "
        "boundary.x2=[\"free\",\"rigid\"] boundary.x3=free",
    };
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        /* both systems between walls, where signs count, else in turn */
        const bool both = test_all() || strstr(cases[n], "boundary");
        const bool far = test_all() || strstr(cases[n], "order=3");
        const int64_t steps = far ? 10000 : 2000;
        if (both || n % 4 == 0) conserved(scene, "wave", steps, cases[n]);
        if (both || n % 4 != 0) conserved(scene, "acoustic", steps, cases[n]);
    }
}

/* Unresolved waves by the operators of single precision, whose rounded entries must not make them
 * grow. Steps are few enough that the bound is below 1. */
static void operators(struct scene *scene) {
    static const char *const cases[] = {
        "grid.order=6 grid.cells=[3,2,2]", "grid.order=7 grid.cells=[4,3]",
        "grid.order=4 grid.cells=[3,2,2]", "grid.order=5 grid.cells=[4,3]"};
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        char text[SCENE_TEXT];
        snprintf(text, sizeof text,
                 "%s initial.type=random device.precision=single device.variant=propagator",
                 cases[n]);
        if (test_all() || n == 1) conserved(scene, "wave", 3000, text);
        if (test_all() || n == 3) conserved(scene, "acoustic", 3000, text);
    }
}

int main(void) {
    struct scene scene;
    if (scene_start(&scene)) {
        accuracy(&scene);
        convergence(&scene);
        rooms(&scene);
        starts(&scene);
        energies(&scene);
        operators(&scene);
    }
    return test_end("leapfrog");
}
