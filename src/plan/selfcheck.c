/* The compiled kernels against the oracle for a few cells (docs/developers/method.md, section 11),
 * since drivers have returned zeros or stale data after updates. */
#include "src/solve/methods.h"

/* A problem with the kinds of layers of another: at each absorbing side so many cells, or as it has
 * there, one cell at least between them, of one field more than their differences span, and `least`
 * along each axis. */
static void shrink_layers(const struct ht_problem *problem, int64_t cells, int64_t least,
                          struct ht_layers *layers, struct ht_part *small) {
    struct ht_box box = {.end = {least, least, least}};
    const int64_t between = problem->second != NULL ? problem->fd.order + 2 : 1;
    *layers = *problem->layers;
    for (int k = 0; k < problem->grid->dims; k++) {
        int64_t sum = 0;
        HT_EACH(struct ht_layer, layer, layers->side[k], 2) {
            layer->cells = ht_least(layer->cells, cells);
            layer->length = problem->grid->h[k] * (double)layer->cells;
            sum += layer->cells;
        }
        box.end[k] = ht_most(least, sum + between);
        layers->cells[k] = box.end[k];
    }
    layers->stages = 4;
    ht_problem_part(problem, &box, HT_SIDES_SAME, HT_MEDIUM_TEST, small);
    small->problem.layers = layers;
    for (int n = 0; n < 6; n++) small->grid.layer[n / 2][n % 2] = layers->side[n / 2][n % 2].cells;
}

struct trial {
    const struct ht_problem *problem;
    struct ht_stepper stepper[3]; /* of the device, the reference, and its bound */
    double *data[3];
    double unit; /* unit roundoff of the device's precision */
};

static void end(struct trial *t) {
    for (int s = 0; s < 3; s++) {
        free(t->data[s]);
        ht_stepper_destroy(&t->stepper[s]);
    }
}

/* Puts the same random data on a grid of all steppers. */
static HT_ERR put_random(struct trial *t, enum ht_subgrid subgrid) {
    const struct ht_grid *grid = t->problem->grid;
    int coefs = ht_grid_coefs(grid);
    const enum ht_subgrid of = ht_problem_nodes(t->problem, subgrid);
    int64_t nodes = ht_grid_total(grid, of);
    /* Random values that both precisions represent exactly, with the decay of a resolved
     * polynomial's coefficients. */
    for (int64_t n = 0; n < nodes * coefs * t->problem->eq->nfields; n++)
        t->data[0][n] =
            (double)(float)(ht_rng_uniform(3, (uint64_t)n) * pow(0.75, (double)(n / nodes % 16)));
    /* Finite differences hold 0 on free walls. */
    const int64_t plane = ht_grid_plane(grid, HT_PRIMARY);
    for (int64_t n = 0; coefs == 1 && n < nodes; n++)
        for (int f = 0; f < t->problem->eq->nfields; f++)
            if (ht_fd_held(grid, n / plane, n % plane)) t->data[0][f * nodes + n] = 0;
    for (int s = 0; s < 3; s++)
        TRY(t->stepper[s].ops->put(t->stepper[s].self, subgrid, 0, ht_grid_planes(grid, of),
                                   t->data[0]));
    return HT_OK;
}

/* Largest difference of values over its bound; rounding explains values up to 1. */
static void compare_values(const struct trial *t, int64_t count, double *const data[3],
                           double *worst) {
    const double roundings = ht_oracle_roundings(t->problem);
    for (int64_t n = 0; n < count; n++) {
        double difference = fabs(data[0][n] - data[1][n]);
        double bound = roundings * t->unit * data[2][n] + DBL_MIN;
        /* a NaN must not be lost in a comparison */
        double ratio = isfinite(difference) ? difference / bound : INFINITY;
        if (ratio > *worst) *worst = ratio;
    }
}

static HT_ERR compare_field(struct trial *t, enum ht_subgrid subgrid, int field, double *worst) {
    const struct ht_grid *grid = t->problem->grid;
    int coefs = ht_grid_coefs(grid);
    const enum ht_subgrid of = ht_problem_nodes(t->problem, subgrid);
    for (int s = 0; s < 3; s++)
        TRY(t->stepper[s].ops->get(t->stepper[s].self, subgrid, field, coefs, 0,
                                   ht_grid_planes(grid, of), t->data[s]));
    compare_values(t, ht_grid_total(grid, of) * coefs, t->data, worst);
    return HT_OK;
}

/* Puts the same random numbers in what layers of finite differences remember, or compares it. */
static HT_ERR do_memories(struct trial *t, bool put, double *worst) {
    const int64_t count = ht_fd_memory_numbers(&t->stepper[1]);
    if (count == 0) return HT_OK;
    HT_ARRAY(double, values, 3 * count);
    double *const data[3] = {values, values + count, values + 2 * count};
    for (int i = 0; i < HT_FD_MEMORIES; i++) {
        for (int64_t n = 0; put && n < count; n++)
            data[0][n] = (double)(float)ht_rng_uniform(3, (uint64_t)(n * HT_FD_MEMORIES + i));
        for (int s = 0; s < 3; s++)
            TRY(ht_fd_memory_move(&t->stepper[s], i, put, data[put ? 0 : s]));
        if (!put) compare_values(t, count, data, worst);
    }
    return HT_OK;
}

/* A half step from random data of one grid; a two-level scheme adds to those on the other grid. */
static HT_ERR compare_half_step(struct trial *t, enum ht_subgrid from, double *worst) {
    enum ht_subgrid to = from == HT_PRIMARY ? HT_DUAL : HT_PRIMARY;
    TRY(put_random(t, from));
    if (t->problem->scheme->two_level) TRY(put_random(t, to));
    TRY(do_memories(t, true, NULL));
    for (int s = 0; s < 3; s++) {
        TRY(t->stepper[s].ops->half_step(t->stepper[s].self, from));
        TRY(t->stepper[s].ops->finish(t->stepper[s].self));
    }
    for (int f = 0; f < t->problem->eq->nfields; f++) {
        if (ht_problem_stores(t->problem, to, f)) TRY(compare_field(t, to, f, worst));
        /* finite differences change both */
        if (ht_problem_stores(t->problem, from, f)) TRY(compare_field(t, from, f, worst));
    }
    return do_memories(t, false, worst);
}

HT_ERR ht_verify_kernels(const struct ht_problem *problem, struct ht_device *device,
                         const struct ht_kernels *kernels, double *worst) {
    double epsilon = kernels->spec[0].fp64 ? DBL_EPSILON : FLT_EPSILON;
    HT_ENDED(end) struct trial t = {.problem = problem, .unit = epsilon / 2};
    const int64_t nodes = ht_grid_total(problem->grid, HT_PRIMARY);
    const int64_t values = nodes * ht_grid_coefs(problem->grid) * problem->eq->nfields;
    *worst = 0;
    TRY(ht_stepper_create(problem, device, kernels, &t.stepper[0]));
    for (int s = 0; s < 3; s++) TRY(HT_ALLOC(t.data[s], values));
    for (int s = 1; s < 3; s++) TRY(ht_oracle_create(problem, &t.stepper[s]));
    ht_oracle_absolute(&t.stepper[2]);
    TRY(compare_half_step(&t, HT_PRIMARY, worst));
    return compare_half_step(&t, HT_DUAL, worst);
}

HT_ERR ht_selfcheck(const struct ht_problem *problem, struct ht_device *device,
                    const struct ht_kernels *kernels, double *worst) {
    struct ht_part small;
    struct ht_pair_faces *faces = NULL;
    problem->scheme->does->shrink(problem, kernels->variant, &small);
    if (kernels->meeting[0] != NULL || kernels->meeting[1] != NULL)
        TRY(ht_pair_faces_test(&small.problem, problem->fd.faces, &faces));
    small.problem.fd.faces = faces;
    const enum ht_err err = ht_verify_kernels(&small.problem, device, kernels, worst);
    ht_pair_faces_destroy(faces);
    TRY(err);
    if (problem->layers != NULL && *worst <= 1) {
        const bool one = problem->grid->order == 0; /* value per node */
        const int64_t least = one ? small.grid.cells[small.grid.dims - 1] : 2;
        const double inside = *worst;
        struct ht_layers layers;
        shrink_layers(problem, one ? 2 : 1, least, &layers, &small);
        TRY(ht_verify_kernels(&small.problem, device, kernels, worst));
        *worst = fmax(*worst, inside);
    }
    REQUIRE(*worst <= 1, HT_ERR_DEVICE,
            "self-check: variant %s on %s differs from the reference by %.3g times what rounding "
            "explains; the driver or device cannot be trusted with it%s (device.selfcheck = false "
            "runs anyway)",
            kernels->variant->name, ht_device_info(device)->name, *worst,
            kernels->spec[0].fp64 ? ""
                                  : ", or the medium has values that single precision "
                                    "does not carry with its steps: then take other units or "
                                    "device.precision = \"double\"");
    return HT_OK;
}
