/* Every kernel at a size that an interpreting simulator bears: test/oclgrind.sh runs this program
 * under Oclgrind. All (variant, dimension, kind of medium) that fit meet; layout, precision,
 * trimming and the share of local memory walk through their values, so that each variant sees them
 * all. Cases run with walls on every side somewhere and periodic in turn (HTWAVE_COVER=all and on a
 * GPU: both), half a step each way, and are judged like those of variants.c:
 * largest difference from the oracle over the bound that rounding allows, 1 being the most.
 *
 * Cells along x1 do not fill the groups, slabs and face batches do not divide what they split, so
 * the partial ones at the ends run too. */
#include "cover.h"
#include "law.h"
#include "open_device.h"
#include "problem.h"

enum { CELLS = 2, PLANES = 2 };

struct small_case {
    const struct ht_variant *variant;
    struct ht_equations eq;
    struct ht_spec spec;
    int stages;
    bool leapfrog;
    bool narrow; /* split local memory and the march along x3 */
};

/* Optional argument: run the cases whose name holds it. */
static const char *only;

static bool wanted(const char *name) {
    return only == NULL || strstr(name, only) != NULL;
}

static struct ht_grid make_grid(int dims, int order, bool walls) {
    static const int wall[3][2] = {{-1, 1}, {1, -1}, {1, 1}};
    return hand_grid(dims, order, (const int64_t[]){3, 2, 2}, walls ? wall : NULL);
}

static struct ht_problem make_problem(const struct small_case *c, const struct ht_grid *grid) {
    return hand_problem(&c->eq, grid, c->leapfrog ? HT_LEAPFROG : HT_TAYLOR, c->spec.medium_degree,
                        0.4, c->stages);
}

static enum ht_err run_walls(struct small_case *c, bool walls, struct ht_device *device,
                             const struct ht_kernels *kernels, double *worst) {
    struct ht_grid grid = make_grid(c->eq.dims, c->spec.order, walls);
    struct ht_problem problem = make_problem(c, &grid);
    problem.medium = &problem;
    return ht_verify_kernels(&problem, device, kernels, worst);
}

/* Smaller parts than the kernels were planned with; one step where both half steps are the same. */
static enum ht_err compile_narrow(struct ht_device *device, struct ht_kernels *kernels) {
    for (int i = 0; i < 2; i++) {
        struct ht_shape *shape = &kernels->shape[i];
        shape->slabs = shape->slabs > 3 ? 3 : 1;
        shape->face_fields = shape->face_fields > 1 ? shape->face_fields - 1 : 1;
        shape->planes = PLANES;
        kernels->step[i] = kernels->step[0];
        TRY(ht_ghosts_create(device, &kernels->spec[i], &kernels->ghosts[i]));
        if (i == 0 || kernels->spec[0].src != kernels->spec[1].src)
            TRY(ht_step_create(device, kernels->variant, &kernels->spec[i], shape,
                               &kernels->step[i]));
    }
    return HT_OK;
}

static enum ht_err run(struct small_case *c, struct ht_device *device, double *worst) {
    static bool turn;
    const bool can = c->eq.system->nwalls > 0;
    const bool walls = can && (test_all() || turn);
    struct ht_grid grid = make_grid(c->eq.dims, c->spec.order, false);
    struct ht_problem problem = make_problem(c, &grid);
    const struct ht_tuning tuning = {.variant = c->variant,
                                     .fp64 = c->spec.fp64,
                                     .ptx = c->spec.ptx,
                                     .trim = c->spec.trim,
                                     .block = c->spec.block,
                                     .cells = CELLS};
    HT_ENDED(ht_kernels_destroy) struct ht_kernels kernels = {0};
    double ratio = 0;
    if (c->narrow) {
        TRY(ht_kernels_plan(&problem, ht_device_info(device), &tuning, &kernels));
        TRY(compile_narrow(device, &kernels));
    } else {
        TRY(ht_kernels_create(&problem, device, &tuning, &kernels));
    }
    enum ht_err err = HT_OK;
    if (can) turn = !turn;
    if (!walls || test_all()) err = run_walls(c, false, device, &kernels, worst);
    if (err == HT_OK && walls) err = run_walls(c, true, device, &kernels, &ratio);
    if (!(ratio <= *worst)) *worst = ratio;
    return err;
}

static void run_case(struct small_case *c, struct ht_device *device) {
    char name[160];
    double worst = 0;
    snprintf(name, sizeof name, "%s %s %s %dD N=%d %s block %d medium %d%s%s", c->variant->name,
             c->eq.system->name, c->leapfrog ? "leapfrog" : "taylor", c->eq.dims, c->spec.order,
             c->spec.fp64 ? "double" : "single", c->spec.block, c->spec.medium_degree,
             c->spec.trim ? " trimmed" : "", c->narrow ? " narrow" : "");
    if (!wanted(name)) return;
    if (run(c, device, &worst) != HT_OK)
        TEST_CHECK(false, "%s: %s", name, ht_err_message());
    else
        TEST_BELOW(worst, 1.0, "%s", name);
}

enum { VARIANT, LAW, DIMS, MEDIUM, FP64, BLOCK, TRIM, NARROW, FACTORS };

/* Stages are enough to use every exchange buffer twice. */
static struct small_case case_of(const unsigned char *row) {
    static const int degrees[] = {-1, 0, 2};
    struct small_case c = {.variant = ht_variant_at(row[VARIANT]),
                           .stages = 3 + (row[LAW] + row[DIMS]) % 3,
                           .narrow = row[NARROW]};
    c.eq = law_at(row[LAW], 1 + row[DIMS], &c.leapfrog);
    c.spec.order = 3 - row[DIMS];
    c.spec.fp64 = row[FP64];
    c.spec.block = row[BLOCK] ? 1 : c.spec.fp64 ? 2 : 4;
    c.spec.trim = row[TRIM];
    c.spec.medium_degree = degrees[row[MEDIUM]];
    return c;
}

static double row_cost(const unsigned char *row, void *context) {
    const struct ht_device_info *info = context;
    const struct small_case c = case_of(row);
    const struct ht_grid grid = make_grid(c.eq.dims, c.spec.order, false);
    const struct ht_problem problem = make_problem(&c, &grid);
    const struct ht_tuning tuning = {.fp64 = c.spec.fp64};
    const struct ht_spec spec = ht_problem_spec(&problem, &tuning, HT_PRIMARY);
    if (c.spec.fp64 && !info->fp64) return 0;
    if (row[MEDIUM] > 0 && (!c.eq.system->material[0].varies || c.variant->uniform)) return 0;
    if (ht_variant_lacks(c.variant, info) != NULL) return 0;
    return ht_variant_refuses(c.variant, &spec) == NULL ? 1 + row[DIMS] : 0;
}

/* Each variant meets each level of the other factors, and any two of these meet by some. */
static void run_variants(struct ht_device *device) {
    struct ht_device_info info = *ht_device_info(device);
    struct cover cover = {.factors = FACTORS,
                          .levels = {ht_variant_count(), law_count(), 3, 3, 2, 2, 2, 2},
                          .cost = row_cost,
                          .context = &info};
    for (int v = 0; v < ht_variant_count(); v++) {
        const char *lacks = ht_variant_lacks(ht_variant_at(v), &info);
        if (lacks != NULL) TEST_SKIP("%s: %s", ht_variant_at(v)->name, lacks);
    }
    cover_make(&cover);
    for (int i = 0; i < cover.count; i++) {
        struct small_case c = case_of(cover.row[i]);
        c.spec.eq = &c.eq;
        run_case(&c, device);
    }
    free(cover.row);
}

/* The kernels that measure the device; a rate is all there is to judge. */
static void run_limits(bool fp64, struct ht_device *device) {
    const char *name = fp64 ? "limits double" : "limits single";
    struct ht_limits limits = {0};
    if (!wanted(name)) return;
    enum ht_err err = ht_limits_measure(device, fp64, true, &limits);
    TEST_CHECK(err == HT_OK && limits.bytes_per_s > 0 && limits.fma_per_s > 0,
               "%s: %.3g bytes/s, %.3g FMA/s (bound: above 0)%s", name, limits.bytes_per_s,
               limits.fma_per_s, test_said(err));
}

/* One field u = 1 + node % 5 over M = 2 on 52 x 45 nodes, two groups, with one NaN; walls at the
 * lower end of x1 and the upper end of x2. Every sum is of few bits, so the result is exact. */
enum { N1 = 52, N2 = 45, BAD = 2100 };

static void reduce_expect(struct ht_measure *out) {
    *out = (struct ht_measure){.largest = 5, .bad = 1, .first = BAD};
    for (int n = 0; n < N1 * N2; n++) {
        double u = 1 + n % 5, weight = n % N1 == 0 ? 0.5 : 1;
        if (n / N1 == N2 - 1) weight /= 2;
        if (n != BAD) out->sum += weight * u * u / 2;
    }
}

static enum ht_err reduce_buffers(struct ht_device *device, struct ht_sum_item *item) {
    static float u[N1 * N2], medium[N1 * N2];
    struct ht_span span = {.width = sizeof u, .pitch = sizeof u, .rows = 1};
    for (int n = 0; n < N1 * N2; n++) {
        u[n] = n == BAD ? (float)NAN : 1 + (float)(n % 5);
        medium[n] = 2;
    }
    TRY(ht_buffer_create(device, sizeof u, &item->x));
    TRY(ht_buffer_create(device, sizeof medium, &item->a));
    TRY(ht_buffer_write(item->x, span, u));
    return ht_buffer_write(item->a, span, medium);
}

static void run_reduction(bool wide, struct ht_device *device) {
    const char *name = wide ? "reduce, sums in double" : "reduce";
    const struct ht_spec spec = {.fp64 = false, .block = 1};
    struct ht_sum_item item = {.row = N1,
                               .plane = (int64_t)N1 * N2,
                               .total = (int64_t)N1 * N2,
                               .box = {.end = {N1, N2, 1}},
                               .half = {{true, false}, {false, true}}};
    struct ht_tool *reduction = NULL;
    struct ht_measure found = {.sum = 0}, expected;
    if (!wanted(name)) return;
    reduce_expect(&expected);
    enum ht_err err = reduce_buffers(device, &item);
    if (err == HT_OK) err = ht_sums_create(device, &spec, wide, false, &reduction);
    if (err == HT_OK) err = ht_sums_run(reduction, 1, &item, false, &found);
    TEST_CHECK(err == HT_OK && found.sum == expected.sum && found.largest == expected.largest &&
                   found.bad == expected.bad && found.first == expected.first,
               "%s: sum %g (expected %g), largest %g (%g), %d bad (%d), the first at %d (%d)%s",
               name, found.sum, expected.sum, found.largest, expected.largest, (int)found.bad,
               (int)expected.bad, (int)found.first, (int)expected.first, test_said(err));
    ht_tool_destroy(reduction);
    ht_buffer_destroy(item.x);
    ht_buffer_destroy(item.a);
}

static void judge(struct ht_device *device) {
    run_variants(device);
    run_reduction(false, device);
    if (ht_device_info(device)->fp64) run_reduction(true, device);
    run_limits(false, device);
    if (ht_device_info(device)->fp64) run_limits(true, device);
}

int main(int argc, char **argv) {
    only = argc > 1 ? argv[1] : NULL;
    return test_on_device("small", judge);
}
