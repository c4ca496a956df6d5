/* Grids for an error against runs of the reference in two dimensions, along an axis, an edge and
 * (1,2): the grid that is found reaches the error in all of them, and one a fifth coarser does not
 * along the axis. The box holds whole waves on at most 4 % more cells per wavelength than asked
 * for. */
#include "../test.h"
#include "htwave/simulation.h"
#include "options.h"

enum { WAYS = 3, WAVELENGTHS = 10 };

static const int ways[WAYS][2] = {{1, 0}, {1, 1}, {1, 2}};

struct method {
    const char *system;
    enum ht_scheme_name scheme;
    int order, stages;
    double error;
};

/* Cells of a side with so many waves, the fewest that are fine enough. */
static int choose_side(const int way[2], double cells, int least, int *turns) {
    const double length = hypot(way[0], way[1]);
    for (*turns = 1;; ++*turns) {
        const double wanted = *turns * length * cells;
        if (ceil(wanted) >= least && ceil(wanted) <= 1.04 * wanted) return (int)ceil(wanted);
    }
}

static enum ht_err read_method(const struct method *m, const struct ht_resolution *grid,
                               const int way[2], struct ht_params **out) {
    const bool fd = m->stages > 0;
    const int least = fd ? m->order / 2 + 1 : 3;
    int turns;
    const int side = choose_side(way, grid->cells, least, &turns);
    const int other = way[1] > 0 ? side : least;
    const double points = side / (turns * hypot(way[0], way[1]));
    return test_params(NULL, ' ', out,
                       "device.backend=oracle system=%s time.scheme=%s grid.order=%d "
                       "grid.cells=[%d,%d] grid.upper=[%d.0,%d.0] initial.type=plane "
                       "initial.cycles=[%d,%d] time.cfl=%.9g time.end=%.17e "
                       "output.snapshots=false output.pictures=false %s",
                       m->system, HT_WORD(SCHEME_WORD, m->scheme), m->order, side, other, side,
                       other, turns * way[0], turns * way[1], grid->cfl, WAVELENGTHS * points,
                       fd ? HT_KEY("time.stages=%d", m->stages) : "");
}

static enum ht_err run_params(const struct ht_params *params, double *error) {
    struct ht_simulation *sim = NULL;
    TRY(ht_simulation_plan(params, NULL, NULL, &sim));
    const struct ht_observer observer = ht_observe_error(sim->plan, error);
    enum ht_err err = ht_simulation_compile(sim);
    if (err == HT_OK) err = ht_simulation_start(sim);
    if (err == HT_OK) err = ht_run_execute(&sim->run, 1, &observer);
    ht_simulation_destroy(sim);
    return err;
}

/* The largest error of so many directions; NaN: a run failed. */
static double worst_error(const struct method *m, int count, const struct ht_resolution *grid) {
    double worst = 0;
    for (int way = 0; way < count; way++) {
        struct ht_params *params = NULL;
        double error = NAN;
        enum ht_err err = read_method(m, grid, ways[way], &params);
        if (err == HT_OK) err = run_params(params, &error);
        ht_params_destroy(params);
        if (err != HT_OK) printf("# %s\n", ht_err_message());
        if (err != HT_OK) return NAN;
        worst = fmax(worst, error);
    }
    return worst;
}

static void judge(const struct method *m) {
    const struct ht_equations eq = ht_equations_make(ht_system_find(m->system), 2);
    const struct ht_carrier carrier = {.eq = &eq,
                                       .scheme = ht_scheme_at((int)m->scheme),
                                       .order = m->order,
                                       .stages = m->stages,
                                       .contrast = 1};
    struct ht_resolution grid;
    const enum ht_err err = ht_resolution_find(&carrier, WAVELENGTHS, m->error, &grid);
    TEST_CHECK(err == HT_OK && grid.cells > 0, "%s, %s %d: %.3g cells per wavelength, cfl %.3g",
               m->system, HT_WORD(SCHEME_WORD, m->scheme), m->order, grid.cells, grid.cfl);
    if (err != HT_OK || !(grid.cells > 0)) return;
    TEST_BELOW(worst_error(m, WAYS, &grid), m->error, "%s, %s %d: error there", m->system,
               HT_WORD(SCHEME_WORD, m->scheme), m->order);
    grid.cells *= 0.8;
    TEST_BELOW(-worst_error(m, 1, &grid), -m->error,
               "%s, %s %d: error on a fifth fewer, along an axis, negative", m->system,
               HT_WORD(SCHEME_WORD, m->scheme), m->order);
}

/* At both speeds of a medium as by ht_fd_error. In one dimension, where errors in space and time
 * would cancel at the least speed. */
static void judge_contrast(void) {
    const struct ht_equations eq = ht_equations_make(ht_system_find("wave"), 1);
    const struct ht_carrier carrier = {
        .eq = &eq, .scheme = ht_scheme_at(HT_DIFFERENCES), .order = 8, .stages = 1, .contrast = 3};
    const struct ht_fd_weights w = ht_fd_weights(8);
    const double way[3] = {1, 0, 0};
    struct ht_resolution grid;
    double worst = 0;
    if (ht_resolution_find(&carrier, 10, 1e-2, &grid) != HT_OK) grid.cells = 0;
    for (int i = 0; i < 2; i++) {
        const double faster = i == 0 ? 1 : carrier.contrast;
        worst = fmax(worst, ht_fd_error(&w, 1, way, faster * grid.cells,
                                        faster * grid.cfl / carrier.contrast, 10));
    }
    TEST_BELOW(fabs(worst / grid.error - 1), 1e-6,
               "fd, one term, speeds 1 and 3: error %.3g at %.3g cells, off", worst, grid.cells);
    TEST_BELOW(grid.cfl / ht_fd_stable(&w, false, 1, 1), 1, "its step is stable");
}

int main(void) {
    static const struct method methods[] = {
        {"wave", HT_LEAPFROG, 3, 0, 5e-4}, /* near a zero along an axis */
        {"wave", HT_LEAPFROG, 4, 0, 1e-5},
        {"acoustic", HT_TAYLOR, 2, 0, 1e-2},
        {"acoustic", HT_TAYLOR, 3, 0, 1e-3},
        {"wave", HT_DIFFERENCES, 8, 2, 1e-3},
        {"acoustic", HT_DIFFERENCES, 8, 1, 1e-2},
        /* as those before */
        {"wave", HT_LEAPFROG, 2, 0, 1e-3},
        {"acoustic", HT_TAYLOR, 4, 0, 1e-4}};
    const size_t count = test_all() ? sizeof methods / sizeof *methods : 6;
    for (size_t i = 0; i < count; i++) judge(&methods[i]);
    judge_contrast();
    return test_end("resolution");
}
