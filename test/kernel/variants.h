/* Every kernel variant against the oracle: system x scheme x dimension x order
 * x precision x layout x medium x walls, one half step each way from random
 * data. What is judged is the largest difference over the bound
 *     n eps sum|products|
 * of the oracle's absolute mode; 1 is the most that rounding explains.
 *
 * The whole product of cases would compile thousands of programs. All
 * (variant, system, scheme, dimension, order) are run; precision, layout, kind
 * of medium, cells and planes per group are drawn so that pairs of them meet.
 * Walls are run-time data: each program is run with several.
 */
#ifndef HTWAVE_TEST_VARIANTS_H
#define HTWAVE_TEST_VARIANTS_H

#include "open_device.h"
#include "test.h"

#include "htwave/method.h"

struct kind {
    const struct ht_variant *variant;
    struct ht_equations eq;
    struct ht_spec spec;
    int cells, planes; /* per group; 0: chosen */
    bool leapfrog;
};

/* Optional argument: run the cases whose name holds it. */
static const char *only;

static const int wall_sets[][3][2] = {
    {{0, 0}, {0, 0}, {0, 0}},
    {{1, 1}, {1, 1}, {1, 1}},
    {{-1, 1}, {0, 0}, {1, -1}},
    {{0, 0}, {-1, -1}, {-1, 1}},
};

static struct ht_grid make_grid(int dims, int order, int walls) {
    struct ht_grid grid = {.dims = dims, .order = order};
    const int64_t cells[3] = {dims == 1 ? 7 : 3, 2, 3};
    for (int k = 0; k < 3; k++) {
        bool there = k < dims;
        grid.cells[k] = there ? cells[k] : 1;
        grid.h[k] = there ? 0.5 + 0.25 * k : 1;
        grid.upper[k] = grid.h[k] * (double)grid.cells[k];
        for (int side = 0; side < 2 && there; side++)
            grid.wall[k][side] = wall_sets[walls][k][side];
    }
    return grid;
}

static struct ht_problem make_problem(const struct kind *kind,
                                      const struct ht_grid *grid) {
    struct ht_problem p = {.eq = &kind->eq, .grid = grid, .dt = 0.4};
    int full = grid->dims * (2 * grid->order + 1);
    /* Stages are loops in program text, but not of operators. */
    bool reduced = grid->order > 3 && kind->variant->pack == NULL;
    p.stages = reduced ? 6 : full;
    if (kind->leapfrog) {
        p.keep = kind->eq.leapfrog.keep;
        memcpy(p.stored, kind->eq.leapfrog.stored, sizeof p.stored);
    }
    p.medium_degree = kind->spec.medium_degree;
    for (int m = 0; m < HT_MAX_MATERIALS; m++) p.uniform[m] = 0.75 + 0.125 * m;
    if (p.medium_degree >= 0) {
        p.medium_coefs = 1;
        for (int k = 1; k <= grid->dims; k++)
            p.medium_coefs = p.medium_coefs * (p.medium_degree + k) / k;
        p.medium_fill = ht_test_medium;
    }
    return p;
}

static void describe(const struct kind *kind, char *out, size_t size) {
    snprintf(
        out, size, "%s %s %s %dD N=%d %s block %d medium %d cells %d planes %d",
        kind->variant->name, kind->eq.system->name,
        kind->leapfrog ? "leapfrog" : "taylor", kind->eq.dims, kind->spec.order,
        kind->spec.fp64 ? "double" : "single", kind->spec.block,
        kind->spec.medium_degree, kind->cells, kind->planes);
}

static struct ht_tuning tuning_of(const struct kind *kind) {
    return (struct ht_tuning){.variant = kind->variant,
                              .fp64 = kind->spec.fp64,
                              .ptx = kind->spec.ptx,
                              .trim = kind->spec.trim,
                              .block = kind->spec.block,
                              .cells = kind->cells,
                              .planes = kind->planes};
}

static enum ht_err run_walls(struct kind *kind, struct ht_device *device,
                             const struct ht_kernels *kernels, double *worst) {
    int sets = kind->eq.system->nwalls > 0 ? 4 : 1;
    *worst = 0;
    for (int w = 0; w < sets; w++) {
        struct ht_grid grid = make_grid(kind->eq.dims, kind->spec.order, w);
        struct ht_problem problem = make_problem(kind, &grid);
        double ratio = 0;
        problem.medium = &problem;
        TRY(ht_verify_kernels(&problem, device, kernels, &ratio));
        if (!(ratio <= *worst)) *worst = ratio;
    }
    return HT_OK;
}

static void run_kind(struct kind *kind, struct ht_device *device) {
    struct ht_grid grid = make_grid(kind->eq.dims, kind->spec.order, 0);
    struct ht_problem problem = make_problem(kind, &grid);
    struct ht_tuning tuning = tuning_of(kind);
    struct ht_kernels kernels = {0};
    double worst = 0;
    char name[160];
    describe(kind, name, sizeof name);
    if (only != NULL && strstr(name, only) == NULL) return;
    if (ht_kernels_plan(&problem, ht_device_info(device), &tuning, &kernels) !=
        HT_OK) {
        TEST_SKIP("%s: %s", name, ht_err_message());
        return;
    }
    enum ht_err err =
        ht_kernels_create(&problem, device, &tuning, NULL, &kernels);
    if (err == HT_OK) err = run_walls(kind, device, &kernels, &worst);
    ht_kernels_destroy(&kernels);
    if (err != HT_OK)
        TEST_CHECK(false, "%s: %s", name, ht_err_message());
    else
        TEST_BELOW(worst, 1.0, "%s", name);
}

/* The options of case number n: drawn, so that over the many cases of a
 * variant every pair of values meets. */
static void draw_options(struct kind *kind, int n) {
    uint64_t bits = ht_rng_bits(17, (uint64_t)n);
    int degrees[4] = {-1, 0, kind->spec.order + 1, 2};
    int degree = degrees[bits >> 2 & 3];
    bool varies = kind->eq.system->material[0].varies;
    bool uniform = kind->variant->medium == HT_UNIFORM;
    if (kind->eq.dims == 3 && kind->spec.order > 5 && degree > 2) degree = 2;
    kind->spec.fp64 = kind->spec.fp64 && bits & 1;
    kind->spec.block = !(bits & 2) ? 1 : kind->spec.fp64 ? 2 : 4;
    if (degree > kind->variant->medium) degree = HT_PER_NODE;
    kind->spec.medium_degree = varies && !uniform ? degree : -1;
    kind->spec.trim = (bits >> 4 & 3) != 0;
    if (kind->eq.dims < 3 && kind->spec.order < 6)
        kind->cells = (int)(bits >> 6 & 3);
    if (kind->variant->ptx > 0) kind->cells = 0; /* it has its own */
    /* Left to itself a group takes one plane of so few; on real grids it walks
     * through many, and keeps what neighbouring planes share. */
    kind->planes = (bits >> 8 & 3) > 0 ? 3 : 0;
}

/* Cases of one (system, scheme, dimension, order); by leapfrog the variants
 * take turns, up to N = 4 in three dimensions; so they do on CPUs, where
 * compiling takes long, above N = 3. */
static void run_order(const struct ht_system *system, bool leapfrog, int dims,
                      int order, struct ht_device *device) {
    static int number;
    bool gpu = ht_device_info(device)->gpu;
    int rounds = gpu && order <= 2 && !leapfrog ? 3 : 1;
    for (int v = 0; v < ht_variant_count(); v++)
        for (int r = 0; r < rounds; r++) {
            if (!gpu && order > 3 && (v + order + dims) % 3 != 0) continue;
            struct kind kind = {.variant = ht_variant_at(v),
                                .eq = ht_equations_make(system, dims),
                                .leapfrog = leapfrog};
            struct ht_grid grid = make_grid(dims, order, 0);
            kind.spec.order = order;
            kind.spec.medium_degree = -1;
            kind.spec.fp64 = ht_device_info(device)->fp64;
            kind.spec.ptx = ht_device_info(device)->ptx;
            struct ht_tuning tuning = tuning_of(&kind);
            struct ht_problem problem = make_problem(&kind, &grid);
            struct ht_spec spec =
                ht_problem_spec(&problem, &tuning, HT_PRIMARY);
            if (ht_variant_refuses(kind.variant, &spec) != NULL) continue;
            if (leapfrog && ((v + order + dims) % 2 || order * dims > 12))
                continue;
            draw_options(&kind, number++);
            run_kind(&kind, device);
        }
}

/* What the comparison must find: a kernel with a wrong parity, seen behind a
 * wall, and values that are not finite on both sides. */
static void run_planted(struct ht_device *device) {
    struct kind kind = {.variant = ht_variant_find("monolithic", NULL, true)};
    struct ht_grid grid = make_grid(1, 2, 1);
    struct ht_equations wrong;
    struct ht_kernels kernels = {0};
    double parity = 0, nan = 0;
    kind.eq = wrong = ht_equations_make(ht_system_find("acoustic"), 1);
    wrong.field[0].parity ^= 1u;
    kind.spec = (struct ht_spec){.order = 2, .block = 1, .medium_degree = -1};
    struct ht_tuning tuning = tuning_of(&kind);
    struct ht_problem problem = make_problem(&kind, &grid), bad = problem;
    bad.eq = &wrong;
    enum ht_err err = ht_kernels_create(&bad, device, &tuning, NULL, &kernels);
    if (err == HT_OK)
        err = ht_verify_kernels(&problem, device, &kernels, &parity);
    problem.dt = NAN;
    if (err == HT_OK) err = ht_verify_kernels(&problem, device, &kernels, &nan);
    ht_kernels_destroy(&kernels);
    TEST_CHECK(err == HT_OK && parity > 1,
               "planted wrong parity: %.3g times "
               "the bound (more than 1 expected)",
               parity);
    TEST_CHECK(err == HT_OK && nan > 1,
               "planted NaN: %.3g times the bound "
               "(more than 1 expected)",
               nan);
}

/* What the self-check must refuse: a kernel whose operator belongs to a step
 * that is off by the relative `off`, some thousand roundings. No difference is
 * larger than off/u times the smallest bound, one rounding. */
static void run_slightly_wrong(struct ht_device *device, bool fp64,
                               double off) {
    struct kind kind = {.variant = ht_variant_find("propagator", NULL, true)};
    struct ht_grid grid = make_grid(2, 3, 0);
    struct ht_kernels kernels = {0};
    double worst[2] = {NAN, NAN};
    const double most = off / (fp64 ? 0x1p-53 : 0x1p-24);
    kind.eq = ht_equations_make(ht_system_find("acoustic"), 2);
    kind.spec = (struct ht_spec){
        .order = 3, .block = 1, .medium_degree = -1, .fp64 = fp64};
    if (fp64 && !ht_device_info(device)->fp64) return;
    struct ht_tuning tuning = tuning_of(&kind);
    struct ht_problem problem = make_problem(&kind, &grid);
    enum ht_err found[2] = {HT_OK, HT_OK}, err = HT_OK;
    for (int wrong = 0; err == HT_OK && wrong < 2; wrong++) {
        struct ht_problem made = problem;
        made.dt *= 1 + wrong * off;
        err = ht_kernels_create(&made, device, &tuning, NULL, &kernels);
        for (int mesh = 0; mesh < 2; mesh++) /* it claims to be the right one */
            kernels.spec[mesh] =
                ht_problem_spec(&problem, &tuning, mesh ? HT_DUAL : HT_PRIMARY);
        if (err == HT_OK)
            found[wrong] =
                ht_selfcheck(&problem, device, &kernels, &worst[wrong]);
        ht_kernels_destroy(&kernels);
    }
    TEST_CHECK(err == HT_OK && found[0] == HT_OK && worst[0] < 1,
               "self-check, %s: a right kernel passes, %.3g of the bound",
               fp64 ? "double" : "single", worst[0]);
    TEST_CHECK(found[1] == HT_ERR_DEVICE && worst[1] > 1 && worst[1] < most,
               "self-check, %s: a step off by %g is refused, %.3g times the "
               "bound (1 to %.3g)",
               fp64 ? "double" : "single", off, worst[1], most);
}

/* All cases of dimensions first..last. */
static int run_dimensions(int first, int last, int argc, char **argv) {
    struct ht_device *device = NULL;
    only = argc > 1 ? argv[1] : NULL;
    if (test_open_device(&device) != HT_OK) {
        TEST_SKIP("no device: %s", ht_err_message());
        return test_end("variants");
    }
    printf("device %s\n", ht_device_info(device)->name);
    run_planted(device);
    run_slightly_wrong(device, false, 1e-4);
    run_slightly_wrong(device, true, 1e-12);
    for (int order = 1; order <= HT_MAX_ORDER; order++)
        for (int dims = first; dims <= last; dims++)
            for (int s = 0; s < ht_system_count(); s++) {
                const struct ht_system *system = ht_system_at(s);
                run_order(system, false, dims, order, device);
                if (system->leapfrog.keep != 0)
                    run_order(system, true, dims, order, device);
            }
    ht_device_close(device);
    return test_end("variants");
}

#endif
