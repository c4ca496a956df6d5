/* Plane waves of Maxwell's equations and of elastic solids, compressional and shear, uniform media,
 * double precision: the error is the expected one of the scheme, and falls as h^(2N + 0.7) or
 * faster with Taylor series, of finite differences with short steps as h^2R, and with two terms in
 * time as dt^4. */
#include "scene.h"

static const struct {
    const char *system, *text;
    int dims;
    int first, last; /* orders of Hermite methods unless all are wanted */
} waves[] = {
    {"maxwell", "initial.cycles=[1]", 1, 1, 1},
    {"maxwell", "medium.eps=2.25 initial.cycles=[1,1] grid.upper=[1,1.25]", 2, 2, 3},
    {"maxwell", "medium.mu=0.5 initial.cycles=[1,0,1]", 3, 2, 2},
    {"maxwell_tm", "medium.eps=2.25 initial.cycles=[1,1] grid.upper=[1,1.25]", 2, 2, 2},
    {"elastic", "medium.vs=0.6 initial.cycles=[1]", 1, 3, 3},
    {"elastic", "medium.vs=0.6 medium.rho=1.2 initial.cycles=[1,1] grid.upper=[1,1.25]", 2, 1, 2},
    {"elastic", "medium.vs=0.6 initial.wave=2 initial.cycles=[1,1] grid.upper=[1,1.25]", 2, 1, 2},
    {"elastic",
     "medium.lambda=2.2 medium.mu=1.3 medium.rho=1.2 initial.wave=2 initial.cycles=[1,0,1]", 3, 1,
     1},
};
enum { WAVES = sizeof waves / sizeof *waves };

/* *expected: of the same run. */
static double error_of(struct scene *scene, int wave, int order, const char *scheme, int cells,
                       const char *more, double *expected) {
    static const char *const grid[] = {"[%d]", "[%d,%d]", "[%d,%d,%d]"};
    char all[48];
    HT_ENDED(scene_close) struct scene_run run;
    snprintf(all, sizeof all, grid[waves[wave].dims - 1], cells, cells, cells);
    scene_open(scene, &run,
               "system=%s grid.order=%d time.scheme=%s initial.type=plane %s time.end=0.7 "
               "grid.cells=%s %s",
               waves[wave].system, order, scheme, waves[wave].text, all, more);
    *expected = run.plan->expected.error;
    return scene_finish(&run);
}

static void judge(struct scene *scene, int wave, int order, const char *scheme) {
    static const int cells[3][2] = {{12, 18}, {6, 10}, {5, 8}};
    const int *n = cells[order - 1];
    double error[2], expected[2];
    for (int i = 0; i < 2; i++)
        error[i] = error_of(scene, wave, order, scheme, n[i], "time.cfl=0.6", &expected[i]);
    for (int i = 0; i < 2; i++)
        TEST_BELOW(fabs(log(error[i] / expected[i])), log(1.02),
                   "%s %dD N=%d %s on %d cells: %.3g, expected %.3g: logarithm of the ratio",
                   waves[wave].system, waves[wave].dims, order, scheme, n[i], error[i],
                   expected[i]);
    const double found = log(error[0] / error[1]) / log((double)n[1] / n[0]);
    if (strcmp(scheme, "taylor") == 0)
        TEST_BELOW(2 * order + 0.7 - found, 0, "%s %dD N=%d: order %.2f, short of 2N + 0.7 by",
                   waves[wave].system, waves[wave].dims, order, found);
}

/* Two terms in time, where differences err less than a percent of them. */
static void judge_terms(struct scene *scene, int wave) {
    double error[2], expected[2];
    for (int i = 0; i < 2; i++)
        error[i] =
            error_of(scene, wave, 16, "fd", 24,
                     i == 0 ? "time.stages=2 time.step=0.035" : "time.stages=2 time.step=0.0175",
                     &expected[i]);
    for (int i = 0; i < 2; i++)
        TEST_BELOW(fabs(log(error[i] / expected[i])), log(1.02),
                   "%s %dD fd, two terms: %.3g, expected %.3g: logarithm of the ratio",
                   waves[wave].system, waves[wave].dims, error[i], expected[i]);
    TEST_BELOW(fabs(error[0] / error[1] / 16 - 1), 0.03,
               "%s %dD fd, two terms: of half the step the error is %.2f times less, not 16",
               waves[wave].system, waves[wave].dims, error[0] / error[1]);
}

/* By finite differences: of the steps too little to see; the start adds (omega dt)^4/128. */
static void judge_differences(struct scene *scene, int wave, int order) {
    const int n[2] = {order + 6, 2 * order + 6};
    double error[2], expected[2];
    for (int i = 0; i < 2; i++)
        error[i] = error_of(scene, wave, order, "fd", n[i], "time.cfl=0.004", &expected[i]);
    const double found = log(error[0] / error[1]) / log((double)n[1] / n[0]);
    for (int i = 0; i < 2; i++)
        TEST_BELOW(fabs(log(error[i] / expected[i])), log(1.02),
                   "%s %dD fd of order %d on %d cells: %.3g, expected %.3g: logarithm of the ratio",
                   waves[wave].system, waves[wave].dims, order, n[i], error[i], expected[i]);
    TEST_BELOW(order - 0.4 - found, 0, "%s %dD fd of order %d: order %.2f, short by",
               waves[wave].system, waves[wave].dims, order, found);
}

int main(void) {
    struct scene scene;
    if (!scene_start_plain(&scene)) return test_end("systems");
    for (int wave = 0; wave < WAVES; wave++)
        for (int order = 1; order <= 3; order++) {
            if (!test_all() && (order < waves[wave].first || order > waves[wave].last)) continue;
            judge(&scene, wave, order, "taylor");
            if (wave % 2 == 0 || test_all()) judge(&scene, wave, order, "leapfrog");
        }
    for (int wave = 0; wave < WAVES; wave++)
        if (waves[wave].dims == 2 && strcmp(waves[wave].system, "maxwell_tm") != 0)
            judge_terms(&scene, wave);
    for (int wave = 0; wave < WAVES; wave++)
        for (int order = 2; order <= 6; order += 2) {
            /* a field of second order, whose rate at the start is not the scheme's */
            if (strcmp(waves[wave].system, "maxwell_tm") == 0) continue;
            const int turn[] = {4, 6, 2}; /* of dimensions; in two the lowest, too */
            if (order == turn[waves[wave].dims - 1] || (waves[wave].dims == 2 && order == 2) ||
                test_all())
                judge_differences(&scene, wave, order);
        }
    return test_end("systems");
}
