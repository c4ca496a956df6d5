/* A grid in several regions, for tests that compare it with the grid in one. */
#pragma once

#include "test.h"

#include "htwave/stepper.h"

enum { MOST_REGIONS = 8 };

/* Cuts a grid into at most `count` boxes: one of those so far, along one of its axes, somewhere,
 * until there are enough. Region r gets kernels[r % sets]. */
static inline int cut_regions(const struct ht_grid *grid, uint64_t seed, int count,
                              const struct ht_kernels *const *kernels, int sets,
                              struct ht_region *region) {
    int regions = 1;
    region[0] = (struct ht_region){.cells = {{0, 0, 0}, {0, 0, 0}}};
    for (int k = 0; k < 3; k++) region[0].cells.end[k] = grid->cells[k];
    for (uint64_t n = 0; regions < count && n < 64; n++) {
        const uint64_t bits = ht_rng_bits(seed, n) >> 8;
        struct ht_region *old = &region[bits % (uint64_t)regions];
        const int axis = (int)(bits >> 8 & 0xff) % 3;
        const int64_t begin = old->cells.begin[axis];
        const int64_t cells = old->cells.end[axis] - begin;
        if (cells < 2) continue;
        region[regions] = *old;
        old->cells.end[axis] = region[regions].cells.begin[axis] =
            begin + 1 + (int64_t)(bits >> 16 & 0xffff) % (cells - 1);
        regions++;
    }
    for (int r = 0; r < regions; r++) region[r].kernels = kernels[r % sets];
    return regions;
}

/* ---- regions with a law of their own ---- */

enum { LAWS = 3, LAW_REGIONS = 4 };

/* A medium of degree 2 that is uniform in the first third of the cells along x1, without
 * derivatives in the second. */
struct law_medium {
    struct ht_problem noise; /* the medium elsewhere: ht_test_medium */
    int64_t end[2];          /* of the thirds */
    struct ht_law law[LAWS];
};

static inline enum ht_err law_fill(const void *context, enum ht_subgrid subgrid, int64_t first,
                                   int64_t last, double *out) {
    const struct law_medium *medium = context;
    const struct ht_problem *p = &medium->noise;
    const int64_t n1 = ht_grid_nodes(p->grid, subgrid, 0);
    const int64_t part = ht_grid_plane(p->grid, subgrid) * (last - first);
    TRY(ht_test_medium(p, subgrid, first, last, out));
    for (int m = 0; m < p->eq->nmaterials; m++)
        for (int a = 0; a < p->medium_coefs; a++)
            for (int64_t n = 0; n < part; n++) {
                double *value = &out[(m * p->medium_coefs + a) * part + n];
                if (n % n1 < medium->end[1] && a > 0) *value = 0;
                if (n % n1 < medium->end[0] && a == 0) *value = medium->law[0].uniform[m];
            }
    return HT_OK;
}

/* Gives a problem this medium. whole: its grid, or that which it is a slab of. */
static inline void law_make(struct ht_problem *problem, const struct ht_grid *whole,
                            struct law_medium *out) {
    problem->medium_degree = 2;
    problem->medium_coefs = 10;
    *out = (struct law_medium){
        .noise = *problem,
        .end = {whole->cells[0] / 3, 2 * whole->cells[0] / 3},
        .law = {{.medium_degree = -1}, {.medium_degree = 0}, {.medium_degree = 2}}};
    out->noise.grid = whole;
    for (int m = 0; m < HT_MAX_MATERIALS; m++) out->law[0].uniform[m] = 1.25 - 0.125 * m;
    problem->medium_fill = law_fill;
    problem->medium = out;
}

/* Thirds along x1, the last of them cut along x3; kernels [law]. */
static inline void law_regions(const struct law_medium *medium, const struct ht_kernels *kernels,
                               struct ht_region *region) {
    const struct ht_grid *grid = medium->noise.grid;
    for (int r = 0; r < LAW_REGIONS; r++) {
        const int l = r < LAWS ? r : LAWS - 1;
        region[r] = (struct ht_region){.law = &medium->law[l], .kernels = &kernels[l]};
        for (int k = 0; k < 3; k++) region[r].cells.end[k] = grid->cells[k];
        if (l > 0) region[r].cells.begin[0] = medium->end[l - 1];
        if (l < 2) region[r].cells.end[0] = medium->end[l];
    }
    region[2].cells.end[2] = region[3].cells.begin[2] = grid->cells[2] / 2;
}

static inline enum ht_err put_noise(const struct ht_problem *p, const struct ht_stepper *stepper,
                                    double *data) {
    for (int m = 0; m < 2; m++) {
        const enum ht_subgrid subgrid = m ? HT_DUAL : HT_PRIMARY;
        const int64_t values =
            ht_grid_total(p->grid, subgrid) * ht_grid_coefs(p->grid) * p->eq->nfields;
        for (int64_t n = 0; n < values; n++)
            data[n] = (double)(float)ht_rng_uniform(5 + (uint64_t)m, (uint64_t)n);
        TRY(stepper->ops->put(stepper->self, subgrid, 0, ht_grid_planes(p->grid, subgrid), data));
    }
    return HT_OK;
}

static inline enum ht_err noise_steps(const struct ht_problem *p, const struct ht_stepper *s,
                                      int half_steps, double *data) {
    TRY(put_noise(p, s, data));
    for (int n = 0; n < half_steps; n++)
        TRY(s->ops->half_step(s->self, n % 2 ? HT_DUAL : HT_PRIMARY));
    return s->ops->finish(s->self);
}

/* The largest difference of a stepper from the reference over the value of its absolute mode, after
 * half steps from both grids. reference: the problem that it steps. */
static inline enum ht_err worst_of_reference(const struct ht_problem *p, const struct ht_stepper *s,
                                             const struct ht_problem *reference, int half_steps,
                                             double *worst) {
    const int coefs = ht_grid_coefs(p->grid);
    struct ht_stepper oracle[2] = {{0}, {0}};
    const struct ht_stepper *all[3] = {s, &oracle[0], &oracle[1]};
    double *data[3] = {NULL, NULL, NULL};
    enum ht_err err = HT_OK;
    *worst = 0;
    for (int i = 0; i < 2 && err == HT_OK; i++) err = ht_oracle_create(reference, &oracle[i]);
    if (err == HT_OK) ht_oracle_absolute(&oracle[1]);
    for (int i = 0; i < 3 && err == HT_OK; i++) {
        err = HT_ALLOC(data[i], ht_grid_total(p->grid, HT_PRIMARY) * coefs * p->eq->nfields);
        if (err == HT_OK) err = noise_steps(p, all[i], half_steps, data[i]);
    }
    for (int m = 0; m < 2 * p->eq->nfields && err == HT_OK; m++) {
        const enum ht_subgrid subgrid = m % 2 ? HT_DUAL : HT_PRIMARY;
        if (!ht_problem_stores(p, subgrid, m / 2)) continue;
        for (int i = 0; i < 3 && err == HT_OK; i++)
            err = all[i]->ops->get(all[i]->self, subgrid, m / 2, coefs, 0,
                                   ht_grid_planes(p->grid, subgrid), data[i]);
        for (int64_t n = 0; n < ht_grid_total(p->grid, subgrid) * coefs; n++) {
            const double off = fabs(data[0][n] - data[1][n]);
            if (!isfinite(off)) *worst = INFINITY;
            if (off > *worst * data[2][n]) *worst = off / data[2][n];
        }
    }
    for (int i = 0; i < 3; i++) free(data[i]);
    for (int i = 0; i < 2; i++) ht_stepper_destroy(&oracle[i]);
    return err;
}

/* A zero's sign counts, too. */
static inline bool same_bits(double a, double b) {
    const void *bits[2] = {&a, &b};
    return memcmp(bits[0], bits[1], sizeof a) == 0;
}

/* Adds the number of values in which two steppers differ in any bit, or which are not finite. data:
 * room for a field of each. */
static inline enum ht_err count_different(const struct ht_problem *p,
                                          const struct ht_stepper stepper[2], double *const data[2],
                                          double *different) {
    const int coefs = ht_grid_coefs(p->grid);
    for (int m = 0; m < 2 * p->eq->nfields; m++) {
        const enum ht_subgrid subgrid = m % 2 ? HT_DUAL : HT_PRIMARY;
        if (!ht_problem_stores(p, subgrid, m / 2)) continue;
        for (int i = 0; i < 2; i++)
            TRY(stepper[i].ops->get(stepper[i].self, subgrid, m / 2, coefs, 0,
                                    ht_grid_planes(p->grid, subgrid), data[i]));
        for (int64_t n = 0; n < ht_grid_total(p->grid, subgrid) * coefs; n++)
            *different += !same_bits(data[0][n], data[1][n]) || !isfinite(data[0][n]);
    }
    return HT_OK;
}

static inline enum ht_err step_both(const struct ht_problem *p, const struct ht_stepper stepper[2],
                                    int half_steps, double *different) {
    const int64_t values =
        ht_grid_total(p->grid, HT_PRIMARY) * ht_grid_coefs(p->grid) * p->eq->nfields;
    double *data[2] = {NULL, NULL};
    enum ht_err err = HT_ALLOC(data[0], values);
    if (err == HT_OK) err = HT_ALLOC(data[1], values);
    for (int i = 0; i < 2 && err == HT_OK; i++)
        err = noise_steps(p, &stepper[i], half_steps, data[i]);
    if (err == HT_OK) err = count_different(p, stepper, data, different);
    for (int i = 0; i < 2; i++) free(data[i]);
    return err;
}

/* Adds the number of values in which the grid in one region, by kernels[0], differs from the grid
 * in several, by all sets, after some half steps. */
static inline enum ht_err regions_differ(const struct ht_problem *p, struct ht_device *device,
                                         const struct ht_kernels *const *kernels, int sets,
                                         uint64_t seed, int half_steps, double *different) {
    struct ht_region region[MOST_REGIONS];
    struct ht_stepper stepper[2] = {{0}, {0}};
    int regions = cut_regions(p->grid, seed, MOST_REGIONS, kernels, sets, region);
    TRY(ht_stepper_create(p, device, kernels[0], &stepper[0]));
    enum ht_err err = ht_stepper_create_regions(p, device, regions, region, &stepper[1]);
    if (err == HT_OK) err = step_both(p, stepper, half_steps, different);
    for (int i = 0; i < 2; i++) ht_stepper_destroy(&stepper[i]);
    return err;
}
