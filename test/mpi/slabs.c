/* Slabs against one process, bit by bit: every rank steps the whole grid alone,
 * then all step it together, from the same random data on both grids, and each
 * compares the planes it owns. Systems, schemes and variants are all run;
 * order, precision, layout, medium, walls, planes, depth of halos and transport
 * are drawn so that pairs of them meet. Alone it only shows that it runs.
 *
 *     slabs [CACHE [PART]]    cases whose name holds PART
 */
#include "test.h"

#include "htwave/method.h"

enum { HALF_STEPS = 7 };

struct scene {
    struct ht_comm *comm;
    struct ht_device *device;
    const char *cache, *only;
    int number;
};

struct trial {
    const struct ht_variant *variant;
    struct ht_equations eq;
    struct ht_tuning tuning;
    struct ht_grid grid, whole;
    struct ht_problem problem, alone;
    char name[200];
};

static const int wall_sets[][3][2] = {
    {{0, 0}, {0, 0}, {0, 0}},
    {{1, 1}, {0, 0}, {-1, 1}},
    {{0, 0}, {-1, 1}, {0, 0}},
    {{-1, 1}, {1, 1}, {1, 1}},
};

static void make_grids(struct trial *t, const struct scene *scene, int order,
                       uint64_t bits) {
    int ranks = ht_comm_size(scene->comm), walls = (int)(bits & 3);
    const int64_t cells[3] = {4, 3,
                              (bits >> 2 & 3) == 0 ? ranks : ranks * 2 + 1};
    double weights[64];
    int64_t start[65];
    t->whole = (struct ht_grid){.dims = 3, .order = order};
    if (t->eq.system->nwalls == 0) walls = 0;
    for (int k = 0; k < 3; k++) {
        t->whole.cells[k] = cells[k];
        t->whole.h[k] = 0.5 + 0.25 * k;
        t->whole.upper[k] = t->whole.h[k] * (double)cells[k];
        for (int side = 0; side < 2; side++)
            t->whole.wall[k][side] = wall_sets[walls][k][side];
    }
    for (int r = 0; r < ranks; r++)
        weights[r] = 1 + (r + (int)(bits >> 4)) % 3 * 0.5;
    ht_slab_cut(cells[2], ranks, weights, start);
    t->grid = t->whole;
    t->grid.slab =
        (struct ht_slab){.comm = scene->comm,
                         .first = start[ht_comm_rank(scene->comm)],
                         .last = start[ht_comm_rank(scene->comm) + 1]};
}

/* As deep as the thinnest slab bears. */
static int choose_depth(const struct scene *scene, const struct trial *t,
                        uint64_t bits) {
    double thinnest = (double)(t->grid.slab.first - t->grid.slab.last);
    if (ht_comm_max(scene->comm, 1, &thinnest) != HT_OK) return 1;
    int most = (int)(-2 * thinnest), depth = 1 + (int)(bits & 3);
    return depth < most ? depth : most;
}

static void make_problem(struct trial *t, const struct scene *scene,
                         bool leapfrog, int degree, uint64_t bits) {
    static const char *const transport[] = {"auto", "auto", "shared", "staged"};
    struct ht_problem p = {.eq = &t->eq, .grid = &t->grid, .dt = 0.4};
    p.stages = 3 * (2 * t->grid.order + 1);
    if (t->variant->pack == NULL && t->grid.order > 2) p.stages = 4;
    if (leapfrog) {
        p.keep = t->eq.leapfrog.keep;
        memcpy(p.stored, t->eq.leapfrog.stored, sizeof p.stored);
    }
    p.medium_degree = degree;
    for (int m = 0; m < HT_MAX_MATERIALS; m++) p.uniform[m] = 0.75 + 0.125 * m;
    if (degree >= 0) {
        p.medium_coefs = (degree + 1) * (degree + 2) * (degree + 3) / 6;
        p.medium_fill = ht_test_medium;
    }
    p.halo.depth = choose_depth(scene, t, bits);
    p.halo.transport = transport[bits >> 2 & 3];
    t->problem = t->alone = p;
    t->alone.grid = &t->whole;
    t->problem.medium = t->alone.medium = &t->alone;
}

static void fill(const struct trial *t, enum ht_mesh mesh, int64_t first,
                 int64_t last, double *out) {
    int64_t plane = ht_grid_plane(&t->whole, mesh),
            part = (last - first) * plane;
    int64_t rows = (int64_t)t->eq.nfields * ht_grid_coefs(&t->whole);
    int64_t total = ht_grid_total(&t->whole, mesh);
    for (int64_t r = 0; r < rows; r++)
        for (int64_t n = 0; n < part; n++)
            out[r * part + n] = (double)(float)ht_rng_uniform(
                5 + (uint64_t)mesh, (uint64_t)(r * total + first * plane + n));
}

static enum ht_err put_random(const struct trial *t, const struct ht_grid *grid,
                              const struct ht_stepper *stepper, double *data) {
    for (int m = 0; m < 2; m++) {
        enum ht_mesh mesh = m ? HT_DUAL : HT_PRIMARY;
        int64_t first, last;
        ht_grid_own(grid, mesh, &first, &last);
        fill(t, mesh, first, last, data);
        TRY(stepper->ops->put(stepper->self, mesh, first, last, data));
    }
    return HT_OK;
}

static enum ht_err advance(const struct ht_stepper *stepper) {
    for (int n = 0; n < HALF_STEPS; n++) {
        TRY(stepper->ops->half_step(stepper->self,
                                    n % 2 ? HT_DUAL : HT_PRIMARY));
        /* An exchange may be under way or not. */
        if (n == 2) TRY(stepper->ops->finish(stepper->self));
    }
    return stepper->ops->finish(stepper->self);
}

/* Values of the own planes that differ in any bit, and of all. */
static enum ht_err compare(const struct trial *t,
                           const struct ht_stepper *together,
                           const struct ht_stepper *alone, double *data[2],
                           double *different) {
    int coefs = ht_grid_coefs(&t->whole);
    for (int m = 0; m < 2; m++) {
        enum ht_mesh mesh = m ? HT_DUAL : HT_PRIMARY;
        int64_t first, last;
        ht_grid_own(&t->grid, mesh, &first, &last);
        int64_t values = (last - first) * ht_grid_plane(&t->grid, mesh) * coefs;
        for (int f = 0; f < t->eq.nfields; f++) {
            if (!ht_problem_stores(&t->problem, mesh, f)) continue;
            TRY(together->ops->get(together->self, mesh, f, coefs, first, last,
                                   data[0]));
            TRY(alone->ops->get(alone->self, mesh, f, coefs, first, last,
                                data[1]));
            for (int64_t n = 0; n < values; n++) {
                *different +=
                    memcmp(&data[0][n], &data[1][n], sizeof data[0][n]) != 0 ||
                    !isfinite(data[0][n]);
            }
        }
    }
    return HT_OK;
}

/* Measures of the own planes add up to those of the whole grid. */
static enum ht_err compare_measures(const struct scene *scene,
                                    const struct ht_stepper *together,
                                    const struct ht_stepper *alone,
                                    double *error) {
    const struct ht_quantity what = {.field = 0, .coef = 0, .material = -1};
    struct ht_measure part, all;
    TRY(together->ops->measure(together->self, HT_PRIMARY, 1, &what, &part));
    TRY(alone->ops->measure(alone->self, HT_PRIMARY, 1, &what, &all));
    TRY(ht_comm_sum(scene->comm, 1, &part.sum));
    TRY(ht_comm_max(scene->comm, 1, &part.largest));
    *error = fabs(part.sum - all.sum) / fabs(all.sum) +
             fabs(part.largest - all.largest);
    return HT_OK;
}

/* Rank 0 compiles first, the others find its programs in the cache. */
static enum ht_err make_kernels(const struct scene *scene, struct trial *t,
                                struct ht_kernels *kernels) {
    enum ht_err err = HT_OK;
    double nothing = 0;
    if (ht_comm_rank(scene->comm) == 0)
        err = ht_kernels_create(&t->problem, scene->device, &t->tuning,
                                scene->cache, kernels);
    if (err == HT_OK) err = ht_comm_max(scene->comm, 1, &nothing);
    if (err == HT_OK && ht_comm_rank(scene->comm) > 0)
        err = ht_kernels_create(&t->problem, scene->device, &t->tuning,
                                scene->cache, kernels);
    return ht_comm_agree(scene->comm, err);
}

static enum ht_err run(const struct scene *scene, struct trial *t,
                       const struct ht_kernels *kernels, double numbers[2],
                       const char **transport) {
    struct ht_stepper together = {0}, alone = {0};
    struct ht_traffic traffic;
    double *data[2] = {NULL, NULL};
    int64_t values = ht_grid_total(&t->whole, HT_PRIMARY) *
                     ht_grid_coefs(&t->whole) * t->eq.nfields;
    enum ht_err err =
        ht_stepper_create(&t->problem, scene->device, kernels, &together);
    if (err == HT_OK)
        err = ht_stepper_create(&t->alone, scene->device, kernels, &alone);
    for (int i = 0; i < 2 && err == HT_OK; i++) err = HT_ALLOC(data[i], values);
    if (err == HT_OK) err = put_random(t, &t->grid, &together, data[0]);
    if (err == HT_OK) err = put_random(t, &t->whole, &alone, data[0]);
    if (err == HT_OK) err = advance(&together);
    if (err == HT_OK) err = advance(&alone);
    if (err == HT_OK) err = compare(t, &together, &alone, data, &numbers[0]);
    err = ht_comm_agree(scene->comm, err);
    if (err == HT_OK)
        err = compare_measures(scene, &together, &alone, &numbers[1]);
    if (err == HT_OK) err = ht_comm_sum(scene->comm, 1, &numbers[0]);
    if (err == HT_OK) together.ops->traffic(together.self, &traffic);
    *transport = err == HT_OK ? traffic.transport : NULL;
    ht_stepper_destroy(&together);
    ht_stepper_destroy(&alone);
    for (int i = 0; i < 2; i++) free(data[i]);
    return ht_comm_agree(scene->comm, err);
}

/* Sums in the device's own order: some thousand roundings. */
static double measure_bound(const struct trial *t) {
    return t->tuning.fp64 ? 1e-12 : 1e-5;
}

static void judge(const struct scene *scene, struct trial *t) {
    struct ht_kernels kernels = {0};
    double numbers[2] = {0, 0};
    const char *transport = NULL;
    enum ht_err err = make_kernels(scene, t, &kernels);
    if (err == HT_OK) err = run(scene, t, &kernels, numbers, &transport);
    ht_kernels_destroy(&kernels);
    if (err != HT_OK) {
        TEST_CHECK(false, "%s: %s", t->name, ht_err_message());
        return;
    }
    TEST_CHECK(numbers[0] == 0, "%s, %s: %.0f values differ", t->name,
               transport ? transport : "alone", numbers[0]);
    TEST_BELOW(numbers[1], measure_bound(t), "%s: measures", t->name);
}

static void run_variant(struct scene *scene, const struct ht_variant *variant,
                        const struct ht_system *system, bool leapfrog) {
    const struct ht_device_info *info = ht_device_info(scene->device);
    const uint64_t bits = ht_rng_bits(23, (uint64_t)scene->number);
    const int degrees[4] = {-1, 0, 2, -1}, order = 1 + scene->number % 3;
    struct trial t = {.variant = variant, .eq = ht_equations_make(system, 3)};
    int degree = system->material[0].varies ? degrees[bits >> 8 & 3] : -1;
    t.tuning = (struct ht_tuning){.variant = variant,
                                  .fp64 = info->fp64 && (bits >> 10 & 1),
                                  .ptx = info->ptx,
                                  .trim = true};
    t.tuning.block = bits >> 11 & 1 ? 1 : t.tuning.fp64 ? 2 : 4;
    make_grids(&t, scene, order, bits >> 12);
    for (int tries = 0; tries < 3; tries++) {
        make_problem(&t, scene, leapfrog, degree, bits >> 20);
        const struct ht_spec spec =
            ht_problem_spec(&t.problem, &t.tuning, HT_PRIMARY);
        if (ht_variant_refuses(variant, &spec) == NULL) break;
        degree = tries == 0 && degree > 0 ? 0 : -1;
    }
    const struct ht_spec spec =
        ht_problem_spec(&t.problem, &t.tuning, HT_PRIMARY);
    struct ht_shape shape;
    if (ht_variant_refuses(variant, &spec) != NULL ||
        ht_variant_lacks(variant, info) != NULL ||
        ht_variant_shape(&t.tuning, &spec, info, &shape) != HT_OK)
        return;
    scene->number++;
    snprintf(t.name, sizeof t.name,
             "%d ranks %s %s %s N=%d %s block %d medium %d walls %d%d planes "
             "%lld depth %d",
             ht_comm_size(scene->comm), variant->name, system->name,
             leapfrog ? "leapfrog" : "taylor", order,
             t.tuning.fp64 ? "double" : "single", t.tuning.block, degree,
             t.grid.wall[2][0], t.grid.wall[2][1], (long long)t.grid.cells[2],
             t.problem.halo.depth);
    if (scene->only == NULL || strstr(t.name, scene->only) != NULL)
        judge(scene, &t);
}

static void run_all(struct scene *scene) {
    for (int s = 0; s < ht_system_count(); s++) {
        const struct ht_system *system = ht_system_at(s);
        const struct ht_equations eq = ht_equations_make(system, 3);
        for (int v = 0; v < ht_variant_count(); v++) {
            run_variant(scene, ht_variant_at(v), system, false);
            if (eq.leapfrog.keep != 0)
                run_variant(scene, ht_variant_at(v), system, true);
        }
    }
}

int main(int argc, char **argv) {
    const char *select = getenv("HTWAVE_DEVICE");
    struct scene scene = {.cache = argc > 1 ? argv[1] : NULL,
                          .only = argc > 2 ? argv[2] : NULL};
    enum ht_err err = ht_comm_start(&scene.comm);
    if (err == HT_OK)
        err = ht_device_open("auto", select ? select : "cpu",
                             ht_comm_local(scene.comm), &scene.device);
    if (err != HT_OK) {
        TEST_SKIP("no device: %s", ht_err_message());
    } else {
        if (ht_comm_rank(scene.comm) > 0 &&
            freopen("/dev/null", "w", stdout) == NULL)
            return 1;
        run_all(&scene);
    }
    ht_device_close(scene.device);
    int code = test_end("slabs");
    fflush(stdout);
    ht_comm_end(scene.comm, test_failed > 0, code);
    return code;
}
