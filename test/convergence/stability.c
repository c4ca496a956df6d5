/* Runs from random data at the entries of the stability table: 20,000 steps with just the cfl of
 * the table, periodic, on grids of which no two have a common set of wavenumbers. Without arguments
 * a few entries, fewer steps; with
 *
 *     stability all [advection|acoustic|wave [DIMS [N [GRID [STAGES]]]]]
 *
 * every entry in one and two dimensions for N <= 4 and in three for N <= 2.
 *
 * Random data excite every mode, high derivatives far above the smooth part, so that the norm first
 * falls. It is the root of the sum of squares of all coefficients, those of degree k times 0.35^k
 * (tools/stability.py); values of which one is conserved, as of pressure and velocity, may pass
 * among others, hence the largest norm of a window of steps counts. From one window to the other it
 * may grow by the table's tolerance, 1e-7 per half step (wave: 1e-6), and by a beat: factor 1.5 in
 * all. That shows a growth of 1e-5 per half step. */
#include "scene.h"

enum { STEPS = 20000, FEW = 5000, BEFORE = 400, WINDOW = 400, EVERY = 20, GRIDS = 3 };

static const double growth_allowed = 1.5;

static const char *const grids[3][GRIDS] = {
    {"[24]", "[31]", "[97]"},
    {"[12,10]", "[16,16]", "[31,24]"},
    {"[8,8,8]", "[9,10,7]", "[12,5,6]"},
};

/* ---- the norm ---- */

/* Without the mean of the values: where u_t = v, it grows by the mean of v. */
static double field_norm(const struct ht_grid *grid, const double *coefs, int64_t nodes) {
    const double balance = 0.35;
    int m = grid->order + 1, count = ht_grid_coefs(grid);
    double sum = 0;
    for (int i = 0; i < count; i++) {
        int degree = i % m + i / m % m + i / m / m;
        double part = 0, mean = 0;
        for (int64_t n = 0; i == 0 && n < nodes; n++) mean += coefs[n] / (double)nodes;
        for (int64_t n = 0; n < nodes; n++) part += pow(coefs[i * nodes + n] - mean, 2);
        sum += part * pow(balance, 2 * degree);
    }
    return sum;
}

static enum ht_err norm_of(const struct scene_run *run, double *coefs, double *out) {
    const struct ht_plan *plan = run->plan;
    int64_t nodes = ht_grid_total(&plan->grid, HT_PRIMARY), first, last;
    int count = ht_grid_coefs(&plan->grid);
    double sum = 0;
    ht_grid_own(&plan->grid, HT_PRIMARY, &first, &last);
    for (int f = 0; f < plan->eq.nfields; f++) {
        TRY(run->stepper.ops->get(run->stepper.self, HT_PRIMARY, f, count, first, last, coefs));
        sum += field_norm(&plan->grid, coefs, nodes);
    }
    *out = sqrt(sum);
    return HT_OK;
}

/* The largest norm over the next WINDOW steps. */
static enum ht_err window_norm(struct scene_run *run, double *coefs, double *out) {
    *out = 0;
    for (int n = 0; n < WINDOW; n += EVERY) {
        double now;
        TRY(scene_advance(run, EVERY));
        TRY(norm_of(run, coefs, &now));
        *out = now >= *out ? now : isnan(now) ? INFINITY : *out;
    }
    return HT_OK;
}

/* ---- runs ---- */

struct entry {
    const char *system;
    int dims, order, stages;
};

static enum ht_symbol symbol_of(const char *system) {
    return ht_equations_make(ht_system_find(system), HT_MAX_DIMS).symbol;
}

static enum ht_err measure_growth(struct scene *scene, const struct entry *e, double cfl,
                                  const char *cells, int64_t steps, double *growth) {
    struct scene_run run;
    double before = 0, after = 0, *coefs = NULL;
    const char *velocity = e->dims == 1 ? "[1]" : e->dims == 2 ? "[1,1]" : "[1,1,1]";
    bool moved = strcmp(e->system, "advection") == 0;
    enum ht_err err =
        scene_open(scene, &run,
                   "system=%s grid.order=%d grid.cells=%s grid.upper=%s%s%s "
                   "initial.type=random time.stages=%d time.cfl=%.17g time.end=%.17g "
                   "device.variant=monolithic",
                   e->system, e->order, cells, cells, moved ? " medium.velocity=" : "",
                   moved ? velocity : "", e->stages, cfl, cfl * (double)steps);
    if (err == HT_OK)
        err = HT_ALLOC(coefs,
                       ht_grid_total(&run.plan->grid, HT_PRIMARY) * ht_grid_coefs(&run.plan->grid));
    if (err == HT_OK) err = scene_advance(&run, BEFORE);
    if (err == HT_OK) err = window_norm(&run, coefs, &before);
    if (err == HT_OK) err = scene_advance(&run, steps - BEFORE - 2 * (int64_t)WINDOW);
    if (err == HT_OK) err = window_norm(&run, coefs, &after);
    free(coefs);
    scene_close(&run);
    *growth = after / before;
    return err;
}

static void run_entry(struct scene *scene, const struct entry *e, int64_t steps, int first,
                      int last) {
    double cfl = ht_stability_cfl(symbol_of(e->system), e->dims, e->order, e->stages);
    if (cfl <= 0) return;
    for (int g = first; g <= last; g++) {
        double growth = INFINITY;
        const char *cells = grids[e->dims - 1][g];
        enum ht_err err = measure_growth(scene, e, cfl, cells, steps, &growth);
        if (err != HT_OK)
            TEST_CHECK(false, "%s %dD N=%d: %s", e->system, e->dims, e->order, ht_err_message());
        else
            TEST_BELOW(growth, growth_allowed,
                       "%s %dD N=%d q=%d cfl %.2f cells %s: growth from random "
                       "data in %lld steps",
                       e->system, e->dims, e->order, e->stages, cfl, cells, (long long)steps);
        fflush(stdout);
    }
}

/* which = dims, N, number of the grid, stages; 0 for all */
static void run_all(struct scene *scene, const char *system, const int which[4]) {
    int first = which[2] ? which[2] - 1 : 0;
    int last = which[2] ? which[2] - 1 : GRIDS - 1;
    for (int d = 1; d <= 3; d++)
        for (int n = 1; n <= (d == 3 ? 2 : 4); n++) {
            if ((which[0] && d != which[0]) || (which[1] && n != which[1])) continue;
            int full = ht_stability_full(symbol_of(system), d, n);
            for (int q = 1; q <= full; q++) {
                struct entry e = {system, d, n, q};
                if (!which[3] || q == which[3]) run_entry(scene, &e, STEPS, first, last);
            }
        }
}

/* The program's own word on cfl 0.96 with 7 stages, where bands near (theta, 0) grow from 0.942 on:
 * refused, and "least" takes more. */
static void check_refused(void) {
    const char *text = "system=acoustic grid.order=2 grid.cells=[16,16] "
                       "initial.type=random time.end=1 time.cfl=0.96 "
                       "time.stages=";
    struct ht_params *params = NULL;
    struct ht_plan *plan = NULL;
    char full[SCENE_TEXT];
    snprintf(full, sizeof full, "%s7", text);
    enum ht_err err = scene_read(full, &params);
    if (err == HT_OK) err = ht_plan_create(params, NULL, &plan);
    TEST_CHECK(err == HT_ERR_INPUT && strstr(ht_err_message(), "unstable"),
               "acoustic 2D N=2, 7 stages at cfl 0.96: %s", err ? ht_err_message() : "accepted");
    ht_plan_destroy(plan);
    ht_params_destroy(params);
    plan = NULL;
    snprintf(full, sizeof full, "%s\"least\"", text);
    err = scene_read(full, &params);
    if (err == HT_OK) err = ht_plan_create(params, NULL, &plan);
    TEST_CHECK(err == HT_OK && plan->problem.stages > 7,
               "acoustic 2D N=2, least stages at cfl 0.96: %d (above 7)",
               err ? 0 : plan->problem.stages);
    ht_plan_destroy(plan);
    ht_params_destroy(params);
}

static void check_short(struct scene *scene) {
    static const struct entry entries[] = {
        {"acoustic", 2, 2, 7},
        {"acoustic", 1, 4, 5},
        {"advection", 2, 2, 5},
    };
    for (size_t n = 0; n < sizeof entries / sizeof *entries; n++)
        run_entry(scene, &entries[n], FEW, 1, 1);
    check_refused();
}

int main(int argc, char **argv) {
    static const char *const systems[] = {"advection", "acoustic", "wave"};
    struct scene scene;
    int which[4] = {0};
    if (!scene_start(&scene)) return test_end("stability");
    for (int n = 0; n < 4 && n + 3 < argc; n++) which[n] = (int)strtol(argv[n + 3], NULL, 10);
    for (int k = 0; argc > 1 && k < 3; k++)
        if (argc < 3 || strcmp(argv[2], systems[k]) == 0) run_all(&scene, systems[k], which);
    if (argc < 2) check_short(&scene);
    scene_end(&scene);
    return test_end("stability");
}
