/* Every variant on rows along x1 longer than a vector or a group: whole
 * vectors, vectors at either end and between, rows that they do not fill, with
 * periodic sides and walls; by the Taylor series and by leapfrog, single and
 * double precision. Judged as in variants.h: the largest difference from the
 * oracle over the bound that rounding allows, 1 being the most. Each length
 * and wall also in several regions, against one, bit by bit.
 */
#include "open_device.h"
#include "regions.h"
#include "test.h"

#include "htwave/method.h"

struct row_case {
    const struct ht_variant *variant;
    struct ht_equations eq;
    bool leapfrog, fp64;
};

/* Optional argument: run the cases whose name holds it. */
static const char *only;

/* Full vectors of the widest kind, a cell more, and a cell less than two. */
static const int64_t lengths[] = {32, 17, 31};

static struct ht_grid make_grid(int dims, int order, int64_t cells,
                                bool walls) {
    static const int wall[3][2] = {{1, -1}, {-1, 1}, {1, 1}};
    struct ht_grid grid = {.dims = dims, .order = order};
    for (int k = 0; k < 3; k++) {
        grid.cells[k] = k >= dims ? 1 : k == 0 ? cells : 3;
        grid.h[k] = k < dims ? 0.5 + 0.25 * k : 1;
        grid.upper[k] = grid.h[k] * (double)grid.cells[k];
        for (int side = 0; side < 2; side++)
            grid.wall[k][side] = k < dims && walls ? wall[k][side] : 0;
    }
    return grid;
}

static struct ht_problem make_problem(const struct row_case *c,
                                      const struct ht_grid *grid) {
    struct ht_problem p = {.eq = &c->eq,
                           .grid = grid,
                           .medium_degree = -1,
                           .dt = 0.3,
                           .stages = 2 * grid->order + 1};
    for (int m = 0; m < HT_MAX_MATERIALS; m++) p.uniform[m] = 0.75 + 0.125 * m;
    if (c->leapfrog) {
        p.stored[0] = c->eq.leapfrog.stored[0];
        p.stored[1] = c->eq.leapfrog.stored[1];
        p.keep = c->eq.leapfrog.keep;
    }
    return p;
}

/* One set of kernels for all lengths and walls. */
static enum ht_err run(const struct row_case *c, struct ht_device *device,
                       int order, double *worst, double *different) {
    const struct ht_tuning tuning = {
        .variant = c->variant, .fp64 = c->fp64, .block = 1};
    struct ht_grid grid = make_grid(c->eq.dims, order, lengths[0], false);
    struct ht_problem problem = make_problem(c, &grid);
    struct ht_kernels kernels = {0};
    const struct ht_kernels *set = &kernels;
    int walls = c->eq.system->nwalls > 0 ? 2 : 1;
    TRY(ht_kernels_create(&problem, device, &tuning, NULL, &kernels));
    enum ht_err err = HT_OK;
    for (int n = 0; err == HT_OK && n < 3 * walls; n++) {
        double ratio = 0;
        grid = make_grid(c->eq.dims, order, lengths[n / walls], n % walls > 0);
        err = ht_verify_kernels(&problem, device, &kernels, &ratio);
        if (!(ratio <= *worst)) *worst = ratio;
        if (err == HT_OK)
            err = regions_differ(&problem, device, &set, 1, (uint64_t)n, 2,
                                 different);
    }
    ht_kernels_destroy(&kernels);
    return err;
}

static void run_case(const struct row_case *c, struct ht_device *device) {
    const int order = 4 - c->eq.dims;
    const struct ht_grid grid = make_grid(c->eq.dims, order, 1, false);
    const struct ht_problem problem = make_problem(c, &grid);
    const struct ht_tuning tuning = {.fp64 = c->fp64, .block = 1};
    struct ht_spec spec = ht_problem_spec(&problem, &tuning, HT_PRIMARY);
    double worst = 0, different = 0;
    char name[160];
    snprintf(name, sizeof name, "%s %s %dD N=%d %s%s", c->variant->name,
             c->eq.system->name, c->eq.dims, order,
             c->fp64 ? "double" : "single", c->leapfrog ? " leapfrog" : "");
    if (only != NULL && strstr(name, only) == NULL) return;
    if (ht_variant_refuses(c->variant, &spec) != NULL) return;
    if (run(c, device, order, &worst, &different) != HT_OK) {
        TEST_CHECK(false, "%s: %s", name, ht_err_message());
        return;
    }
    TEST_BELOW(worst, 1.0, "%s", name);
    TEST_CHECK(different == 0, "%s in regions: %.0f values differ", name,
               different);
}

/* Precision goes round; leapfrog where the system has it. */
static void run_system(const struct ht_system *system,
                       struct ht_device *device) {
    const struct ht_device_info *info = ht_device_info(device);
    for (int v = 0; v < ht_variant_count(); v++) {
        const char *lacks = ht_variant_lacks(ht_variant_at(v), info);
        if (lacks != NULL) {
            TEST_SKIP("%s: %s", ht_variant_at(v)->name, lacks);
            continue;
        }
        for (int dims = 1; dims <= 3; dims++)
            for (int leapfrog = 0; leapfrog < 2; leapfrog++) {
                struct row_case c = {.variant = ht_variant_at(v),
                                     .eq = ht_equations_make(system, dims),
                                     .leapfrog = leapfrog,
                                     .fp64 = info->fp64 && (v + dims) % 2};
                if (leapfrog && c.eq.leapfrog.keep == 0) continue;
                run_case(&c, device);
            }
    }
}

int main(int argc, char **argv) {
    struct ht_device *device = NULL;
    only = argc > 1 ? argv[1] : NULL;
    if (test_open_device(&device) != HT_OK) {
        TEST_SKIP("no device: %s", ht_err_message());
        return test_end("long_rows");
    }
    for (int s = 0; s < ht_system_count(); s++)
        run_system(ht_system_at(s), device);
    ht_device_close(device);
    return test_end("long_rows");
}
