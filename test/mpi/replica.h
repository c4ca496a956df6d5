/* A stepper of slabs for tests without a device: every rank holds the oracle of the whole grid and
 * takes the planes of others from them before a half step. What it is asked for must lie on own
 * planes.
 */
#pragma once

#include "htwave/stepper.h"

struct replica {
    const struct ht_problem *cut; /* the problem of the slabs */
    struct ht_grid grid;
    struct ht_problem problem;
    struct ht_stepper oracle;
};

static bool replica_owns(const struct replica *r, enum ht_subgrid subgrid, int64_t first,
                         int64_t last) {
    int64_t begin, end;
    ht_grid_own(r->cut->grid, subgrid, &begin, &end);
    return begin <= first && first <= last && last <= end;
}

static enum ht_err replica_put(void *self, enum ht_subgrid subgrid, int64_t first, int64_t last,
                               const double *coefs) {
    struct replica *r = self;
    REQUIRE(replica_owns(r, subgrid, first, last), HT_ERR_INTERNAL,
            "put: planes %lld to %lld are not all own", (long long)first, (long long)last);
    return r->oracle.ops->put(r->oracle.self, subgrid, first, last, coefs);
}

static enum ht_err replica_get(void *self, enum ht_subgrid subgrid, int field, int count,
                               int64_t first, int64_t last, double *out) {
    struct replica *r = self;
    REQUIRE(replica_owns(r, subgrid, first, last), HT_ERR_INTERNAL,
            "get: planes %lld to %lld are not all own", (long long)first, (long long)last);
    return r->oracle.ops->get(r->oracle.self, subgrid, field, count, first, last, out);
}

/* Puts one plane, which some rank owns, on all ranks. */
static enum ht_err replica_share(struct replica *r, enum ht_subgrid subgrid, int64_t plane,
                                 double *own, double *all) {
    const struct ht_grid *grid = &r->grid;
    struct ht_comm *comm = r->cut->grid->slab.comm;
    int coefs = ht_grid_coefs(grid);
    int64_t values = coefs * ht_grid_plane(grid, subgrid), row = 0;
    int64_t size = values * r->problem.eq->nfields;
    bool mine = replica_owns(r, subgrid, plane, plane + 1);
    own[size] = mine;
    for (int f = 0; f < r->problem.eq->nfields && mine; f++, row += values)
        if (ht_problem_stores(&r->problem, subgrid, f))
            TRY(r->oracle.ops->get(r->oracle.self, subgrid, f, coefs, plane, plane + 1, own + row));
    TRY(ht_comm_gather(comm, own, (size_t)(size + 1) * sizeof *own, all));
    for (int rank = 0; rank < ht_comm_size(comm); rank++) {
        const double *from = all + rank * (size + 1);
        if (from[size] > 0)
            TRY(r->oracle.ops->put(r->oracle.self, subgrid, plane, plane + 1, from));
    }
    return HT_OK;
}

static enum ht_err replica_half_step(void *self, enum ht_subgrid from) {
    struct replica *r = self;
    const struct ht_grid *grid = &r->grid;
    int64_t size =
        ht_grid_coefs(grid) * ht_grid_plane(grid, HT_PRIMARY) * r->problem.eq->nfields + 1;
    double *own = NULL, *all = NULL;
    enum ht_err err = HT_ALLOC(own, size);
    if (err == HT_OK) err = HT_ALLOC(all, size * ht_comm_size(r->cut->grid->slab.comm));
    for (int subgrid = 0; subgrid < 2; subgrid++)
        for (int64_t p = 0; err == HT_OK && p < ht_grid_planes(grid, (enum ht_subgrid)subgrid); p++)
            err = replica_share(r, (enum ht_subgrid)subgrid, p, own, all);
    free(own);
    free(all);
    if (err != HT_OK) return err;
    return r->oracle.ops->half_step(r->oracle.self, from);
}

/* Uniform media only. */
static enum ht_err replica_quantity(struct replica *r, enum ht_subgrid subgrid,
                                    const struct ht_quantity *what, double *values,
                                    struct ht_measure *m) {
    const struct ht_grid *grid = r->cut->grid;
    int64_t first, last, n[3];
    ht_grid_own(grid, subgrid, &first, &last);
    for (int k = 0; k < 3; k++) n[k] = ht_grid_nodes(grid, subgrid, k);
    n[2] = last - first;
    TRY(replica_get(r, subgrid, what->field, what->coef + 1, first, last, values));
    values += what->coef * n[0] * n[1] * n[2];
    *m = (struct ht_measure){.first = -1};
    for (int64_t i = 0; i < n[0] * n[1] * n[2]; i++) {
        const int64_t at[3] = {i % n[0], i / n[0] % n[1], i / n[0] / n[1]};
        double weight = ht_measure_factor(&r->problem, what);
        for (int k = 0; k < 3; k++) {
            if (at[k] == 0 && ht_measure_half(grid, subgrid, k, 0)) weight /= 2;
            if (at[k] == n[k] - 1 && ht_measure_half(grid, subgrid, k, 1)) weight /= 2;
        }
        if (!isfinite(values[i])) {
            if (m->bad++ == 0) m->first = i + first * n[0] * n[1];
            continue;
        }
        m->sum += weight * values[i] * values[i];
        m->largest = fmax(m->largest, fabs(values[i]));
    }
    return HT_OK;
}

static enum ht_err replica_measure(void *self, enum ht_subgrid subgrid, int count,
                                   const struct ht_quantity *what, struct ht_measure *out) {
    struct replica *r = self;
    double *values = NULL;
    TRY(HT_ALLOC(values, ht_grid_coefs(&r->grid) * ht_grid_total(&r->grid, subgrid)));
    enum ht_err err = HT_OK;
    for (int i = 0; err == HT_OK && i < count; i++)
        err = replica_quantity(r, subgrid, &what[i], values, &out[i]);
    free(values);
    return err;
}

static enum ht_err replica_finish(void *self) {
    struct replica *r = self;
    return r->oracle.ops->finish(r->oracle.self);
}

static void replica_destroy(void *self) {
    struct replica *r = self;
    ht_stepper_destroy(&r->oracle);
    free(r);
}

static inline enum ht_err replica_create(const struct ht_problem *problem, struct ht_stepper *out) {
    static const struct ht_stepper_ops ops = {.put = replica_put,
                                              .get = replica_get,
                                              .measure = replica_measure,
                                              .half_step = replica_half_step,
                                              .finish = replica_finish,
                                              .destroy = replica_destroy};
    struct replica *r = NULL;
    TRY(HT_ALLOC(r, 1));
    r->cut = problem;
    r->problem = *problem;
    r->grid = ht_grid_whole(problem->grid);
    r->problem.grid = &r->grid;
    r->problem.halo = (struct ht_halo_choice){0};
    enum ht_err err = ht_oracle_create(&r->problem, &r->oracle);
    if (err != HT_OK) {
        free(r);
        return err;
    }
    *out = (struct ht_stepper){.ops = &ops, .self = r};
    return HT_OK;
}
