/* Slabs beside one process, for tests of both: a grid that is cut and the same one whole, steppers
 * of either, and the values in which they differ. */
#pragma once

#include "open_device.h"
#include "slab_cut.h"
#include "test.h"

#include "htwave/simulation.h"

struct scene {
    struct ht_comm *comm;
    struct ht_device *device;
    const char *cache, *only; /* NULL: none; all */
    int number;               /* of trials so far */
};

struct trial {
    const struct ht_variant *variant;
    struct ht_equations eq;
    struct ht_tuning tuning;
    struct ht_grid grid, whole;
    int64_t start[65]; /* first plane of each slab */
    struct ht_problem problem, alone;
    int half_steps; /* of slabs.c */
    char name[240];
};

/* Arguments: CACHE, PART of the names of trials to be run. */
static inline bool scene_open(struct scene *scene, int argc, char **argv) {
    *scene = (struct scene){.cache = argc > 1 ? argv[1] : NULL, .only = argc > 2 ? argv[2] : NULL};
    enum ht_err err = ht_comm_start(&scene->comm);
    if (err == HT_OK)
        err = ht_ranks_open(scene->comm, test_backend(), test_select(), &scene->device);
    if (ht_comm_rank(scene->comm) > 0 && freopen("/dev/null", "w", stdout) == NULL) exit(1);
    if (err != HT_OK) TEST_SKIP("no device: %s", ht_err_message());
    return err == HT_OK;
}

static inline int scene_close(struct scene *scene, const char *name) {
    ht_device_close(scene->device);
    int code = test_end(name);
    fflush(stdout);
    ht_comm_end(scene->comm, test_failed > 0, code);
    return code;
}

static inline bool scene_wants(const struct scene *scene, const char *name) {
    return scene->only == NULL || strstr(name, scene->only) != NULL;
}

/* A variant that is compiled and runs quickly, for all media. */
static inline const struct ht_variant *trial_quick(const struct scene *scene) {
    const bool gpu = ht_device_info(scene->device)->gpu;
    return ht_variant_find(gpu ? "monolithic" : "vector", NULL, false);
}

/* A grid of 3 x 2 x planes cells, cut in parts whose sizes follow from uneven:
 * 0: alike. */
static inline void trial_cut(struct trial *t, const struct scene *scene, int order,
                             const int wall[3][2], int64_t planes, int uneven) {
    int ranks = ht_comm_size(scene->comm), rank = ht_comm_rank(scene->comm);
    const int64_t cells[3] = {3, 2, planes};
    double weights[64];
    t->whole = (struct ht_grid){.dims = 3, .order = order};
    for (int k = 0; k < 3; k++) {
        t->whole.cells[k] = cells[k];
        t->whole.h[k] = 0.5 + 0.25 * k;
        t->whole.upper[k] = t->whole.h[k] * (double)cells[k];
        for (int side = 0; side < 2; side++) t->whole.wall[k][side] = wall[k][side];
    }
    for (int r = 0; r < ranks; r++) weights[r] = 1 + (uneven > 0 ? (r + uneven) % 3 * 0.5 : 0);
    test_slab_cut(planes, ranks, weights, t->start);
    t->grid = t->whole;
    t->grid.slab =
        (struct ht_slab){.comm = scene->comm, .first = t->start[rank], .last = t->start[rank + 1]};
}

/* Half steps per exchange, `wish` or as many as the thinnest slab bears. */
static inline int trial_depth(const struct scene *scene, const struct trial *t, int wish) {
    double thinnest = (double)(t->grid.slab.first - t->grid.slab.last);
    if (ht_comm_max(scene->comm, 1, &thinnest) != HT_OK) return 1;
    int most = (int)(-2 * thinnest);
    return wish < most ? wish : most;
}

/* t->problem on both grids; degree: of the medium. */
static inline void trial_problem(struct trial *t, int stages, bool leapfrog, int degree) {
    struct ht_problem p = {.eq = &t->eq, .grid = &t->grid, .dt = 0.4, .stages = stages};
    (void)ht_problem_set_scheme(&p, ht_scheme_at(leapfrog ? HT_LEAPFROG : HT_TAYLOR));
    p.medium_degree = degree;
    for (int m = 0; m < HT_MAX_MATERIALS; m++) p.uniform[m] = 0.75 + 0.125 * m;
    if (degree >= 0) {
        p.medium_coefs = (degree + 1) * (degree + 2) * (degree + 3) / 6;
        p.medium_fill = ht_test_medium;
    }
    t->problem = t->alone = p;
    t->alone.grid = &t->whole;
    t->problem.medium = t->alone.medium = &t->alone;
}

/* PoCL compiles at the first launch, and keeps what it has compiled on disk:
 * half a step each way of the whole grid. */
static inline enum ht_err trial_warm(const struct scene *scene, const struct trial *t,
                                     const struct ht_kernels *kernels) {
    HT_ENDED(ht_stepper_destroy) struct ht_stepper stepper = {0};
    TRY(ht_stepper_create(&t->alone, scene->device, kernels, &stepper));
    enum ht_err err = stepper.ops->half_step(stepper.self, HT_PRIMARY);
    if (err == HT_OK) err = stepper.ops->half_step(stepper.self, HT_DUAL);
    if (err == HT_OK) err = stepper.ops->finish(stepper.self);
    return err;
}

/* Rank 0 compiles first, the others find its programs in a cache: PoCL's own, since for another it
 * would compile each kernel twice (for any size of group, too), else the scene's. warm: unless
 * rank 0 launches the kernels before the others do. */
static inline enum ht_err trial_kernels(const struct scene *scene, const struct trial *t, bool warm,
                                        struct ht_kernels *kernels) {
    const bool first = ht_comm_rank(scene->comm) == 0;
    const bool gpu = ht_device_info(scene->device)->gpu;
    ht_device_cache(scene->device, gpu ? scene->cache : NULL);
    enum ht_err err = HT_OK;
    double nothing = 0;
    if (first) err = ht_kernels_create(&t->problem, scene->device, &t->tuning, kernels);
    if (err == HT_OK && first && warm && !gpu) err = trial_warm(scene, t, kernels);
    if (err == HT_OK) err = ht_comm_max(scene->comm, 1, &nothing);
    if (err == HT_OK && !first)
        err = ht_kernels_create(&t->problem, scene->device, &t->tuning, kernels);
    return ht_comm_agree(scene->comm, err);
}

/* ---- data ---- */

/* Doubles that the fields of one grid of the whole grid take. */
static inline int64_t trial_values(const struct trial *t) {
    return ht_grid_total(&t->whole, HT_PRIMARY) * ht_grid_coefs(&t->whole) * t->eq.nfields;
}

static inline void trial_fill(const struct trial *t, enum ht_subgrid subgrid, uint64_t seed,
                              int64_t first, int64_t last, double *out) {
    int64_t plane = ht_grid_plane(&t->whole, subgrid);
    int64_t part = (last - first) * plane;
    int64_t rows = (int64_t)t->eq.nfields * ht_grid_coefs(&t->whole);
    int64_t total = ht_grid_total(&t->whole, subgrid);
    for (int64_t r = 0; r < rows; r++)
        for (int64_t n = 0; n < part; n++)
            out[r * part + n] = (double)(float)ht_rng_uniform(
                2 * seed + (uint64_t)subgrid, (uint64_t)(r * total + first * plane + n));
}

static inline bool trial_begins_slab(const struct trial *t, int64_t plane) {
    for (int r = 0; r < ht_comm_size(t->grid.slab.comm); r++)
        if (t->start[r] == plane) return true;
    return false;
}

/* Random data on all planes that the stepper's grid owns at once (stride 0), or one by one on every
 * `stride`-th of the whole grid and the first of each slab, since ranks put together. */
static inline enum ht_err trial_put(const struct trial *t, const struct ht_grid *grid,
                                    const struct ht_stepper *stepper, enum ht_subgrid subgrid,
                                    uint64_t seed, int stride, double *data) {
    int64_t step = stride > 0 ? 1 : INT64_MAX / 2;
    const struct ht_range own = ht_grid_own(grid, subgrid);
    for (int64_t m = own.first; m < own.last; m += step) {
        int64_t end = m + step < own.last ? m + step : own.last;
        if (stride > 0 && m % stride != 0 && !trial_begins_slab(t, m)) continue;
        trial_fill(t, subgrid, seed, m, end, data);
        TRY(stepper->ops->put(stepper->self, subgrid, m, end, data));
    }
    return HT_OK;
}

/* Called for each coefficient of the own planes by trial_compare: where it is, what slabs and what
 * a stepper of the whole grid have. */
typedef void trial_judge(void *context, enum ht_subgrid subgrid, int64_t plane, double together,
                         double alone);

/* data: room for the values of a grid, twice. */
static inline enum ht_err trial_compare(const struct trial *t, const struct ht_stepper *together,
                                        const struct ht_stepper *alone, double *const data[2],
                                        trial_judge *judge, void *context) {
    int coefs = ht_grid_coefs(&t->whole);
    for (int m = 0; m < 2; m++) {
        enum ht_subgrid subgrid = m ? HT_DUAL : HT_PRIMARY;
        const struct ht_range own = ht_grid_own(&t->grid, subgrid);
        const int64_t plane = ht_grid_plane(&t->grid, subgrid);
        const int64_t values = (own.last - own.first) * plane;
        for (int f = 0; f < t->eq.nfields; f++) {
            if (!ht_problem_stores(&t->problem, subgrid, f)) continue;
            TRY(together->ops->get(together->self, subgrid, f, coefs, own.first, own.last,
                                   data[0]));
            TRY(alone->ops->get(alone->self, subgrid, f, coefs, own.first, own.last, data[1]));
            for (int64_t n = 0; n < values * coefs; n++)
                judge(context, subgrid, own.first + n % values / plane, data[0][n], data[1][n]);
        }
    }
    return HT_OK;
}

/* context: a count of values that differ in any bit or are not finite. */
static inline void trial_same(void *context, enum ht_subgrid subgrid, int64_t plane,
                              double together, double alone) {
    double *different = context;
    (void)subgrid, (void)plane;
    const void *bits[2] = {&together, &alone};
    *different += memcmp(bits[0], bits[1], sizeof together) != 0 || !isfinite(together);
}

/* Measures of the own planes add up to those of the whole grid, also beside its layers: the
 * difference, of sums over their size. */
static inline enum ht_err trial_measure(const struct scene *scene, enum ht_subgrid subgrid,
                                        const struct ht_stepper *together,
                                        const struct ht_stepper *alone, double *error) {
    *error = 0;
    for (int beside = 0; beside < 2; beside++) {
        const struct ht_quantity what = {.field = 0, .coef = 0, .material = -1, .beside = beside};
        struct ht_measure part, all;
        TRY(together->ops->measure(together->self, subgrid, 1, &what, &part));
        TRY(alone->ops->measure(alone->self, subgrid, 1, &what, &all));
        TRY(ht_comm_sum(scene->comm, 1, &part.sum));
        TRY(ht_comm_max(scene->comm, 1, &part.largest));
        *error += all.sum > 0 ? fabs(part.sum - all.sum) / all.sum : 0;
        *error += fabs(part.largest - all.largest);
    }
    return HT_OK;
}

/* Sums in the device's own order: some thousand roundings. */
static inline double trial_measure_bound(const struct trial *t) {
    return t->tuning.fp64 ? 1e-12 : 1e-5;
}
