/* Every kernel variant against the oracle: system x scheme x dimension x order x precision x layout
 * x medium x walls, one half step each way from random data. What is judged is the largest
 * difference over the bound
 *     n eps sum|products|
 * of the oracle's absolute mode; 1 is the most that rounding explains.
 *
 * On a CPU the cases are those of a pairwise covering (cases.h). On a GPU, and on a CPU by `make
 * check-all` (HTWAVE_COVER=all), all (variant, system, scheme, dimension, order) are run, the rest
 * is drawn.
 *
 * Sides and lengths of rows are run-time data: each program is run with several walls and, where a
 * group's cells are those the variant chooses, on rows along x1 longer than a vector or a group:
 * whole vectors, vectors at either end and between, rows that they do not fill. Grids are also
 * stepped in several regions, which must not change a bit: all of them, or with a covering one per
 * program, with walls that take turns, and the first of long rows. */
#pragma once

#include "cases.h"
#include "regions.h"
#include "test.h"

/* Optional argument: run the cases whose name holds it. */
static const char *only;

/* All cases, not a covering. */
static bool all_cases;

/* Of every `parts` variants in their order this program runs number `part`, so that several cores,
 * or devices, share the work. */
static int part, parts = 1;

static const int wall_sets[][3][2] = {
    {{0, 0}, {0, 0}, {0, 0}},
    {{1, 1}, {1, 1}, {1, 1}},
    {{-1, 1}, {0, 0}, {1, -1}},
    {{1, -1}, {-1, 1}, {-1, 1}},
};

/* Full vectors of the widest kind, a cell more, and a cell less than two. */
static const int64_t row_lengths[] = {32, 17, 31};

static struct ht_grid make_grid(int dims, int order, int walls) {
    return case_grid(dims, order, wall_sets[walls]);
}

static enum ht_err run_grid(struct kind *kind, struct ht_device *device,
                            const struct ht_kernels *kernels, const struct ht_grid *grid,
                            bool in_regions, double *worst) {
    struct ht_problem problem = case_problem(kind, grid);
    double ratio = 0;
    problem.medium = &problem;
    TRY(ht_verify_kernels(&problem, device, kernels, &ratio));
    if (!(ratio <= *worst)) *worst = ratio;
    if (!in_regions) return HT_OK;
    return regions_differ(&problem, device, &kernels, 1, (uint64_t)grid->cells[0], 2,
                          &kind->different);
}

static enum ht_err run_walls(struct kind *kind, struct ht_device *device,
                             const struct ht_kernels *kernels, double *worst) {
    static int number;
    const int sets = kind->eq.system->nwalls > 0 ? 4 : 1;
    const int turn = number++ % sets;
    *worst = 0;
    for (int w = 0; w < sets; w++) {
        /* the oracle takes long in three dimensions: walls of both kinds and one set in turn */
        if (!all_cases && kind->eq.dims == 3 && w != turn && w != 3) continue;
        struct ht_grid grid = make_grid(kind->eq.dims, kind->spec.order, w);
        TRY(run_grid(kind, device, kernels, &grid, all_cases || w == turn, worst));
    }
    for (int n = 0; n < 3 && kind->rows; n++)
        for (int w = 0; w < sets; w += 3) {
            struct ht_grid grid = make_grid(kind->eq.dims, kind->spec.order, w);
            grid.cells[0] = row_lengths[n];
            grid.upper[0] = grid.h[0] * (double)grid.cells[0];
            TRY(run_grid(kind, device, kernels, &grid, all_cases || n + w == 0, worst));
        }
    return HT_OK;
}

static void run_kind(struct kind *kind, struct ht_device *device) {
    struct ht_grid grid = make_grid(kind->eq.dims, kind->spec.order, 0);
    struct ht_problem problem = case_problem(kind, &grid);
    struct ht_tuning tuning = case_tuning(kind);
    struct ht_kernels kernels = {0};
    double worst = 0;
    char name[160];
    case_name(kind, name, sizeof name);
    if (only != NULL && strstr(name, only) == NULL) return;
    test_optimise(!kind->plain);
    if (ht_kernels_plan(&problem, ht_device_info(device), &tuning, &kernels) != HT_OK) {
        TEST_SKIP("%s: %s", name, ht_err_message());
        return;
    }
    enum ht_err err = ht_kernels_create(&problem, device, &tuning, &kernels);
    if (err == HT_OK) err = run_walls(kind, device, &kernels, &worst);
    ht_kernels_destroy(&kernels);
    if (err != HT_OK) {
        TEST_CHECK(false, "%s: %s", name, ht_err_message());
        return;
    }
    TEST_BELOW(worst, 1.0, "%s", name);
    TEST_CHECK(kind->different == 0, "%s in regions: %.0f values differ", name, kind->different);
}

/* The options of case number n: drawn, so that over the many cases of a variant every pair of
 * values meets. */
static void draw_options(struct kind *kind, int n) {
    uint64_t bits = ht_rng_bits(17, (uint64_t)n);
    int degrees[4] = {-1, 0, kind->spec.order + 1, 2};
    int degree = degrees[bits >> 2 & 3];
    bool varies = kind->eq.system->material[0].varies;
    bool uniform = kind->variant->uniform;
    if (kind->eq.dims == 3 && kind->spec.order > 5 && degree > 2) degree = 2;
    kind->spec.fp64 = kind->spec.fp64 && bits & 1;
    kind->spec.block = !(bits & 2) ? 1 : kind->spec.fp64 ? 2 : 4;
    kind->spec.medium_degree = varies && !uniform ? degree : -1;
    kind->spec.trim = (bits >> 4 & 3) != 0;
    if (kind->eq.dims < 3 && kind->spec.order < 6) kind->cells = (int)(bits >> 6 & 3);
    if (kind->variant->ptx > 0) kind->cells = 0; /* it has its own */
    /* Left to itself a group takes one plane of so few; on real grids it walks through many, and
     * keeps what neighbouring planes share. */
    kind->planes = (bits >> 8 & 3) > 0 ? 3 : 0;
    kind->rows = kind->cells == 0 && kind->eq.dims * kind->spec.order <= 4;
}

/* Cases of one (system, scheme, dimension, order); by leapfrog the variants take turns, up to N = 4
 * in three dimensions. */
static void run_order(const struct ht_system *system, bool leapfrog, int dims, int order,
                      struct ht_device *device) {
    static int number;
    int rounds = order <= 2 && !leapfrog ? 3 : 1;
    for (int v = 0; v < ht_variant_count(); v++)
        for (int r = 0; r < rounds; r++) {
            struct kind kind = {.variant = ht_variant_at(v),
                                .eq = ht_equations_make(system, dims),
                                .leapfrog = leapfrog};
            struct ht_grid grid = make_grid(dims, order, 0);
            kind.spec.order = order;
            kind.spec.medium_degree = -1;
            kind.spec.fp64 = ht_device_info(device)->fp64;
            kind.spec.ptx = ht_device_info(device)->ptx;
            kind.spec.ptx_own = ht_device_info(device)->ptx_own;
            struct ht_tuning tuning = case_tuning(&kind);
            struct ht_problem problem = case_problem(&kind, &grid);
            struct ht_spec spec = ht_problem_spec(&problem, &tuning, HT_PRIMARY);
            if (ht_variant_refuses(kind.variant, &spec) != NULL) kind.spec.fp64 = spec.fp64 = false;
            if (ht_variant_refuses(kind.variant, &spec) != NULL) continue;
            if (leapfrog && ((v + order + dims) % 2 || order * dims > 12)) continue;
            draw_options(&kind, number++);
            if (v % parts == part) run_kind(&kind, device);
        }
}

static void run_all(int first, int last, struct ht_device *device) {
    for (int order = 1; order <= HT_MAX_ORDER; order++)
        for (int dims = first; dims <= last; dims++)
            for (int s = 0; s < ht_system_count(); s++) {
                const struct ht_system *system = ht_system_at(s);
                run_order(system, false, dims, order, device);
                if (ht_equations_make(system, dims).leapfrog.old_sign != 0)
                    run_order(system, true, dims, order, device);
            }
}

static void run_covering(int first, int last, struct ht_device *device) {
    HT_FREED struct kind *kind = NULL;
    const int count = cases_choose(ht_device_info(device), false, &kind);
    for (int i = 0, n = 0; i < count; i++)
        if (kind[i].eq.dims >= first && kind[i].eq.dims <= last && n++ % parts == part)
            run_kind(&kind[i], device);
}

/* What the comparison must find: a kernel with a wrong parity, seen behind a wall, and values that
 * are not finite on both sides. */
static void run_planted(struct ht_device *device) {
    struct kind kind = {.variant = ht_variant_find("monolithic", NULL, true)};
    struct ht_grid grid = make_grid(1, 2, 1);
    struct ht_equations wrong;
    struct ht_kernels kernels = {0};
    double parity = 0, nan = 0;
    kind.eq = wrong = ht_equations_make(ht_system_find("acoustic"), 1);
    wrong.field[0].parity ^= 1u;
    kind.spec = (struct ht_spec){.order = 2, .block = 1, .medium_degree = -1};
    struct ht_tuning tuning = case_tuning(&kind);
    struct ht_problem problem = case_problem(&kind, &grid), bad = problem;
    bad.eq = &wrong;
    enum ht_err err = ht_kernels_create(&bad, device, &tuning, &kernels);
    if (err == HT_OK) err = ht_verify_kernels(&problem, device, &kernels, &parity);
    problem.dt = NAN;
    if (err == HT_OK) err = ht_verify_kernels(&problem, device, &kernels, &nan);
    ht_kernels_destroy(&kernels);
    TEST_CHECK(err == HT_OK && parity > 1,
               "planted wrong parity: %.3g times the bound (more than 1 expected)", parity);
    TEST_CHECK(err == HT_OK && nan > 1, "planted NaN: %.3g times the bound (more than 1 expected)",
               nan);
}

/* What the self-check must refuse: a kernel whose operator belongs to a step that is off by the
 * relative `off`, some thousand roundings. No difference is larger than off/u times the smallest
 * bound, one rounding. */
static void run_slightly_wrong(struct ht_device *device, bool fp64, double off) {
    struct kind kind = {.variant = ht_variant_find("propagator", NULL, true)};
    struct ht_grid grid = make_grid(2, 3, 0);
    struct ht_kernels kernels = {0};
    double worst[2] = {NAN, NAN};
    const double most = off / (fp64 ? 0x1p-53 : 0x1p-24);
    kind.eq = ht_equations_make(ht_system_find("acoustic"), 2);
    kind.spec = (struct ht_spec){.order = 3, .block = 1, .medium_degree = -1, .fp64 = fp64};
    if (fp64 && !ht_device_info(device)->fp64) return;
    struct ht_tuning tuning = case_tuning(&kind);
    struct ht_problem problem = case_problem(&kind, &grid);
    enum ht_err found[2] = {HT_OK, HT_OK}, err = HT_OK;
    for (int wrong = 0; err == HT_OK && wrong < 2; wrong++) {
        struct ht_problem made = problem;
        made.dt *= 1 + wrong * off;
        err = ht_kernels_create(&made, device, &tuning, &kernels);
        for (int subgrid = 0; subgrid < 2; subgrid++) /* it claims to be the right one */
            kernels.spec[subgrid] =
                ht_problem_spec(&problem, &tuning, subgrid ? HT_DUAL : HT_PRIMARY);
        if (err == HT_OK) found[wrong] = ht_selfcheck(&problem, device, &kernels, &worst[wrong]);
        ht_kernels_destroy(&kernels);
    }
    TEST_CHECK(err == HT_OK && found[0] == HT_OK && worst[0] < 1,
               "self-check, %s: a right kernel passes, %.3g of the bound",
               fp64 ? "double" : "single", worst[0]);
    TEST_CHECK(found[1] == HT_ERR_DEVICE && worst[1] > 1 && worst[1] < most,
               "self-check, %s: a step off by %g is refused, %.3g times the bound (1 to %.3g)",
               fp64 ? "double" : "single", off, worst[1], most);
}

/* All cases of dimensions first..last. */
static int run_dimensions(int first, int last, int argc, char **argv) {
    struct ht_device *device = test_device_here();
    only = argc > 1 ? argv[1] : NULL;
    if (device == NULL) return test_end("variants");
    if (part == 0) {
        run_planted(device);
        run_slightly_wrong(device, false, 1e-4);
        run_slightly_wrong(device, true, 1e-12);
    }
    const char *cover = getenv("HTWAVE_COVER");
    all_cases = ht_device_info(device)->gpu || (cover && strcmp(cover, "all") == 0);
    if (all_cases)
        run_all(first, last, device);
    else
        run_covering(first, last, device);
    ht_device_close(device);
    return test_end("variants");
}
