/* Values into and out of a stepper of finite differences, whose first field is u. */
#pragma once

#include "must.h"

#include "htwave/stepper.h"

/* The caller frees it. */
static inline double *zeros(int64_t count) {
    double *x = NULL;
    must(HT_ALLOC(x, count));
    return x;
}

/* By a variant, "auto": the one that a run takes; not tuned. */
static inline void make_kernels_by(const char *variant, const struct ht_problem *p,
                                   struct ht_device *device, bool fp64, struct ht_kernels *out) {
    struct ht_tuning tuning = {.fp64 = fp64, .block = 1};
    const struct ht_spec spec = ht_problem_spec(p, &tuning, HT_PRIMARY);
    tuning.variant = ht_variant_find(variant, &spec, ht_device_info(device)->gpu);
    must(ht_kernels_create(p, device, &tuning, out));
}

static inline void make_kernels(const struct ht_problem *p, struct ht_device *device, bool fp64,
                                struct ht_kernels *out) {
    make_kernels_by("auto", p, device, fp64, out);
}

/* u, or of the dual grid d, of all nodes; other fields are 0. */
static inline void put_u(const struct ht_problem *p, const struct ht_stepper *stepper,
                         enum ht_subgrid subgrid, const double *values) {
    const int64_t nodes = ht_grid_total(p->grid, HT_PRIMARY);
    HT_FREED double *all = zeros(nodes * p->eq->nfields);
    memcpy(all, values, (size_t)nodes * sizeof *all);
    must(stepper->ops->put(stepper->self, subgrid, 0, ht_grid_planes(p->grid, HT_PRIMARY), all));
}

static inline void get_u(const struct ht_problem *p, const struct ht_stepper *stepper,
                         enum ht_subgrid subgrid, double *values) {
    must(stepper->ops->get(stepper->self, subgrid, 0, 1, 0, ht_grid_planes(p->grid, HT_PRIMARY),
                           values));
}
