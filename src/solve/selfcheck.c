/* Compares the compiled kernels with the oracle for a few cells on the actual
 * device, since drivers have returned zeros or stale data after updates.
 *
 * The bound follows from the data: the oracle in absolute mode gives for every
 * output the sum of the magnitudes of its products; the error of any order of
 * summation is at most n eps times this sum.
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "htwave/kernels.h"
#include "htwave/oracle.h"
#include "htwave/part.h"
#include "htwave/stepper.h"
#include "methods.h"

/* A smooth positive medium of the wanted degree: 1 + small polynomials. */
enum ht_err ht_test_medium(const void *context, enum ht_subgrid subgrid,
                           int64_t first, int64_t last, double *out) {
    const struct ht_problem *p = context;
    int64_t plane = ht_grid_plane(p->grid, subgrid),
            part = plane * (last - first);
    int64_t at = 0;
    for (int m = 0; m < p->eq->nmaterials; m++)
        for (int a = 0; a < p->medium_coefs; a++)
            for (int64_t n = 0; n < part; n++, at++) {
                uint64_t node = (uint64_t)(first * plane + n);
                uint64_t index =
                    (node * 1000 + (uint64_t)(m * p->medium_coefs + a)) * 2 +
                    (subgrid == HT_DUAL);
                double noise = ht_rng_uniform(7, index);
                out[at] =
                    a == 0 ? 1 + 0.25 * noise : 0.25 * noise / p->medium_coefs;
            }
    return HT_OK;
}

/* Reduces the problem to 3 x 2 x 2 cells. */
void ht_hermite_shrink(const struct ht_problem *problem,
                       const struct ht_variant *variant,
                       struct ht_part *small) {
    const int most_stages = 4; /* for kernels with stages as an argument */
    const struct ht_box box = {.end = {3, 2, 2}};
    ht_problem_part(problem, &box, HT_SIDES_SAME, HT_MEDIUM_TEST, small);
    if (variant->pack == NULL && small->problem.stages > most_stages)
        small->problem.stages = most_stages;
}

/* A problem with the kinds of layers of another: one cell at each absorbing
 * side, one between the layers, two along other axes. */
static void shrink_layers(const struct ht_problem *problem,
                          struct ht_layers *layers, struct ht_part *small) {
    struct ht_box box = {.end = {2, 2, 2}};
    *layers = *problem->layers;
    for (int k = 0; k < problem->grid->dims; k++) {
        int sides = 0;
        for (int side = 0; side < 2; side++) {
            struct ht_layer *layer = &layers->side[k][side];
            layer->cells = layer->cells > 0;
            layer->length = problem->grid->h[k] * (double)layer->cells;
            sides += layer->cells > 0;
        }
        if (sides > 0) box.end[k] = sides + 1;
        layers->cells[k] = box.end[k];
    }
    layers->stages = 4;
    ht_problem_part(problem, &box, HT_SIDES_SAME, HT_MEDIUM_TEST, small);
    small->problem.layers = layers;
    for (int n = 0; n < 6; n++)
        small->grid.layer[n / 2][n % 2] = layers->side[n / 2][n % 2].cells;
}

/* Random values that both precisions represent exactly, with the decay of a
 * resolved polynomial's coefficients. */
static void fill_random(int64_t count, int64_t nodes, double *out) {
    for (int64_t n = 0; n < count; n++)
        out[n] = (double)(float)(ht_rng_uniform(3, (uint64_t)n) *
                                 pow(0.75, (double)(n / nodes % 16)));
}

struct trial {
    const struct ht_problem *problem;
    struct ht_stepper device, oracle, bound;
    double *data[3];
    double unit; /* unit roundoff of the device's precision */
};

/* Puts the same random data on a grid of all steppers. */
static enum ht_err put_random(struct trial *t, enum ht_subgrid subgrid) {
    const struct ht_grid *grid = t->problem->grid;
    struct ht_stepper *all[3] = {&t->device, &t->oracle, &t->bound};
    int coefs = ht_grid_coefs(grid);
    const enum ht_subgrid of = ht_problem_nodes(t->problem, subgrid);
    int64_t nodes = ht_grid_total(grid, of);
    fill_random(nodes * coefs * t->problem->eq->nfields, nodes, t->data[0]);
    for (int s = 0; s < 3; s++)
        TRY(all[s]->ops->put(all[s]->self, subgrid, 0, ht_grid_planes(grid, of),
                             t->data[0]));
    return HT_OK;
}

/* Largest difference of a field over its bound; rounding explains values up to
 * 1. */
static enum ht_err compare_field(struct trial *t, enum ht_subgrid subgrid,
                                 int field, double *worst) {
    const struct ht_grid *grid = t->problem->grid;
    struct ht_stepper *all[3] = {&t->device, &t->oracle, &t->bound};
    int coefs = ht_grid_coefs(grid);
    const enum ht_subgrid of = ht_problem_nodes(t->problem, subgrid);
    int64_t values = ht_grid_total(grid, of) * coefs;
    double roundings = ht_oracle_roundings(t->problem);
    for (int s = 0; s < 3; s++)
        TRY(all[s]->ops->get(all[s]->self, subgrid, field, coefs, 0,
                             ht_grid_planes(grid, of), t->data[s]));
    for (int64_t n = 0; n < values; n++) {
        double difference = fabs(t->data[0][n] - t->data[1][n]);
        double bound = roundings * t->unit * t->data[2][n] + DBL_MIN;
        /* a NaN must not be lost in a comparison */
        double ratio = isfinite(difference) ? difference / bound : INFINITY;
        if (ratio > *worst) *worst = ratio;
    }
    return HT_OK;
}

/* A half step from random data of one grid; a two-level scheme adds to random
 * data on the other grid. */
static enum ht_err compare_half_step(struct trial *t, enum ht_subgrid from,
                                     double *worst) {
    enum ht_subgrid to = from == HT_PRIMARY ? HT_DUAL : HT_PRIMARY;
    struct ht_stepper *all[3] = {&t->device, &t->oracle, &t->bound};
    TRY(put_random(t, from));
    if (ht_problem_scheme(t->problem)->two_level) TRY(put_random(t, to));
    for (int s = 0; s < 3; s++) {
        TRY(all[s]->ops->half_step(all[s]->self, from));
        TRY(all[s]->ops->finish(all[s]->self));
    }
    for (int f = 0; f < t->problem->eq->nfields; f++) {
        if (ht_problem_stores(t->problem, to, f))
            TRY(compare_field(t, to, f, worst));
        /* finite differences change both */
        if (ht_problem_stores(t->problem, from, f))
            TRY(compare_field(t, from, f, worst));
    }
    return HT_OK;
}

static enum ht_err run_trial(struct trial *t, double *worst) {
    const struct ht_grid *grid = t->problem->grid;
    int64_t nodes = ht_grid_total(grid, HT_PRIMARY);
    int64_t values = nodes * ht_grid_coefs(grid) * t->problem->eq->nfields;
    for (int s = 0; s < 3; s++) TRY(HT_ALLOC(t->data[s], values));
    TRY(ht_oracle_create(t->problem, &t->oracle));
    TRY(ht_oracle_create(t->problem, &t->bound));
    ht_oracle_absolute(&t->bound);
    TRY(compare_half_step(t, HT_PRIMARY, worst));
    return compare_half_step(t, HT_DUAL, worst);
}

enum ht_err ht_verify_kernels(const struct ht_problem *problem,
                              struct ht_device *device,
                              const struct ht_kernels *kernels, double *worst) {
    double epsilon = kernels->spec[0].fp64 ? DBL_EPSILON : FLT_EPSILON;
    struct trial trial = {.problem = problem, .unit = epsilon / 2};
    *worst = 0;
    enum ht_err err =
        ht_stepper_create(problem, device, kernels, &trial.device);
    if (err == HT_OK) err = run_trial(&trial, worst);
    for (int s = 0; s < 3; s++) free(trial.data[s]);
    ht_stepper_destroy(&trial.device);
    ht_stepper_destroy(&trial.oracle);
    ht_stepper_destroy(&trial.bound);
    return err;
}

enum ht_err ht_selfcheck(const struct ht_problem *problem,
                         struct ht_device *device,
                         const struct ht_kernels *kernels, double *worst) {
    struct ht_part small;
    ht_method_of(problem)->shrink(problem, kernels->variant, &small);
    TRY(ht_verify_kernels(&small.problem, device, kernels, worst));
    if ((kernels->layers != NULL || kernels->sponge != NULL) && *worst <= 1) {
        struct ht_layers layers;
        shrink_layers(problem, &layers, &small);
        TRY(ht_verify_kernels(&small.problem, device, kernels, worst));
    }
    REQUIRE(*worst <= 1, HT_ERR_DEVICE,
            "self-check: variant %s on %s differs from the reference by %.3g "
            "times what rounding explains; the driver or device cannot be "
            "trusted with it (device.selfcheck = false runs anyway)",
            kernels->variant->name, ht_device_info(device)->name, *worst);
    return HT_OK;
}
