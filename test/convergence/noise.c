/* Rounding of series at high orders in single precision: runs with the largest step that htwave
 * allows kernels that sum them stay as accurate as rounding allows; with the largest step that is
 * stable without rounding they grow, and are refused. Kernels that do not sum the series take that
 * step.
 *
 * Waves that cross a node at a time along each axis are the weakest case: their scheme damps
 * nothing. */
#include "scene.h"

struct noise {
    const char *system;
    int dims, order;
    const char *cells, *cycles, *more;
    const char *series, *quiet; /* variants */
    double end;
};

static const struct noise cases[] = {
    {"advection", 2, 8, "[6,6]", "[1,2]", " medium.velocity=[1,1]", "two-naive", "separable", 40},
    {"advection", 2, 7, "[5,5]", "[1,2]", " medium.velocity=[1,1]", "monolithic", "separable", 60},
    {"advection", 3, 6, "[4,4,4]", "[1,1,2]", " medium.velocity=[1,1,1]", "two-naive", "separable",
     8},
    {"acoustic", 3, 8, "[3,3,3]", "[1,1,1]", "", "vector", "propagator", 4},
};

static enum ht_err open_run(struct scene *scene, const struct noise *c, const char *variant,
                            double cfl, struct scene_run *run) {
    return scene_open(
        scene, run,
        "device.precision=single system=%s grid.order=%d grid.cells=%s initial.type=plane "
        "initial.cycles=%s time.end=%g time.cfl=%.17g device.variant=%s%s",
        c->system, c->order, c->cells, c->cycles, c->end, cfl, variant, c->more);
}

/* *error: at the end; infinite where values are not finite. *most: the highest that the plan
 * expects, with rounding (src/plan/expect.c). HT_ERR_DEVICE:
 * the device has too little local memory for the kernel. */
static enum ht_err run_to_end(struct scene *scene, const struct noise *c, const char *variant,
                              double cfl, double *error, double *most) {
    struct scene_run run;
    *error = *most = NAN;
    enum ht_err err = open_run(scene, c, variant, cfl, &run);
    if (err == HT_OK) *most = run.plan->expected.high;
    if (err == HT_OK) err = scene_finish(&run, error);
    scene_close(&run);
    if (!isfinite(*error)) *error = INFINITY;
    return err == HT_ERR_NOT_FINITE ? HT_OK : err;
}

static double quiet_cfl(struct scene *scene, const struct noise *c) {
    struct scene_run run;
    double cfl = 0;
    enum ht_err err = open_run(scene, c, c->series, 1, &run);
    TEST_CHECK(err == HT_ERR_INPUT && strstr(ht_err_message(), "rounding"),
               "%s %dD N=%d at cfl 1: %s", c->system, c->dims, c->order,
               err ? ht_err_message() : "accepted");
    if (run.plan != NULL) cfl = ht_plan_quiet_cfl(run.plan);
    scene_close(&run);
    return cfl;
}

/* Grown: by as much as the wave itself, at least. The limit is of use where it is not far below
 * steps that grow: 0.7 of them. */
static enum ht_err judge(struct scene *scene, const struct noise *c) {
    const double wave = 1, useful = 0.7;
    double error, most;
    scene->noisy = false;
    const double cfl = quiet_cfl(scene, c);
    TEST_CHECK(cfl > useful && cfl < 1, "largest cfl of series: %.3f", cfl);
    TRY(run_to_end(scene, c, c->series, cfl, &error, &most));
    TEST_BELOW(error, most, "error with it (bound: the highest expected)");
    TRY(run_to_end(scene, c, c->quiet, 1, &error, &most));
    TEST_BELOW(error, most, "error of %s at cfl 1", c->quiet);
    scene->noisy = true;
    TRY(run_to_end(scene, c, c->series, 1, &error, &most));
    TEST_CHECK(error > wave, "series at cfl 1, error %.1e (above %g)", error, wave);
    return HT_OK;
}

int main(void) {
    struct scene scene;
    if (!scene_start(&scene)) return test_end("noise");
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        if (!test_all() && n % 3 != 0) continue; /* N = 8, by two variants */
        const enum ht_err err = judge(&scene, &cases[n]);
        if (err == HT_ERR_DEVICE)
            TEST_SKIP("%s: %s", cases[n].series, ht_err_message());
        else if (err != HT_OK)
            TEST_CHECK(false, "%s: %s", cases[n].series, ht_err_message());
    }
    scene_end(&scene);
    return test_end("noise");
}
