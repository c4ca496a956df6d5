/* Times half steps of a test problem by the device's clock. */
#include "htwave/tune.h"

void ht_test_problem(const struct ht_problem *like, const int64_t cells[3], struct ht_part *out) {
    const struct ht_box box = {.end = {cells[0], cells[1], cells[2]}};
    ht_problem_part(like, &box, HT_SIDES_PERIODIC, HT_MEDIUM_TEST, out);
}

void ht_test_problem_plain(const struct ht_equations *eq, int order, int stages,
                           const struct ht_scheme *scheme, struct ht_part *out) {
    const int64_t cells[3] = {4, 4, 4};
    struct ht_grid grid = {.dims = eq->dims, .order = order};
    struct ht_problem like = {.eq = eq, .grid = &grid, .medium_degree = -1};
    for (int k = 0; k < 3; k++) grid.h[k] = 1;
    like.stages = stages > 0 ? stages : ht_scheme_full_stages(scheme, eq, order);
    double cfl = ht_scheme_cfl(scheme, eq, order, like.stages);
    like.dt = 0.9 * (cfl > 0 ? cfl : 0.1);
    for (int m = 0; m < HT_MAX_MATERIALS; m++) like.uniform[m] = 1;
    (void)ht_problem_set_scheme(&like, scheme);
    grid.order = ht_scheme_degree(scheme, order);
    if (grid.order == 0)
        like.fd =
            (struct ht_fd_problem){.order = order, .inverse_density = 1, .pair = like.fd.pair};
    ht_test_problem(&like, cells, out);
}

int64_t ht_test_problem_cells(const struct ht_problem *like, const struct ht_tuning *tuning,
                              int64_t most, double bytes, double fma) {
    const struct ht_spec spec = ht_problem_spec(like, tuning, HT_PRIMARY);
    /* Of one field u, d, w, one for measures, the modulus, 1/rho stay on the device. */
    const double values = like->second != NULL
                              ? 5 + (like->fd.density ? like->eq->dims : 0)
                              : 2.0 * like->eq->nfields * ht_grid_coefs(like->grid);
    /* Of the most expensive variant that applies, so that all have the same test problem. */
    double most_fma = fmax(ht_cost_minimum(&spec, spec.stages).fma, 1);
    for (int i = 0; i < ht_variant_count(); i++)
        if (ht_variant_refuses(ht_variant_at(i), &spec) == NULL)
            most_fma = fmax(most_fma, ht_variant_cost(ht_variant_at(i), &spec, -1).fma);
    double room = fmin(bytes / (values * ht_real_size(tuning->fp64)), fma / most_fma);
    int64_t cells = (int64_t)floor(pow(room, 1.0 / like->grid->dims) + 1e-6);
    if (cells > most) cells = most;
    cells -= cells % (cells >= 16 ? 8 : cells >= 4 ? 4 : 1);
    return cells < 4 ? 4 : cells;
}

/* Writes the same plane of random data to every own plane. */
static HT_ERR fill(const struct ht_problem *p, enum ht_subgrid subgrid,
                   const struct ht_stepper *stepper) {
    const enum ht_subgrid nodes = ht_problem_nodes(p, subgrid);
    int64_t count = ht_grid_plane(p->grid, nodes) * p->eq->nfields * ht_grid_coefs(p->grid);
    HT_ARRAY(double, plane, count);
    for (int64_t n = 0; n < count; n++) plane[n] = ht_rng_uniform(11, (uint64_t)n);
    const struct ht_range planes = ht_grid_own(p->grid, nodes);
    for (int64_t m = planes.first; m < planes.last; m++)
        TRY(stepper->ops->put(stepper->self, subgrid, m, m + 1, plane));
    return HT_OK;
}

/* A two-level scheme also reads the old values of the target grid. */
HT_ERR ht_test_problem_fill(const struct ht_part *test, const struct ht_stepper *stepper) {
    TRY(fill(&test->problem, HT_PRIMARY, stepper));
    if (!test->problem.scheme->two_level) return HT_OK;
    return fill(&test->problem, HT_DUAL, stepper);
}

static HT_ERR take_step(const struct ht_stepper *stepper) {
    TRY(stepper->ops->half_step(stepper->self, HT_PRIMARY));
    return stepper->ops->half_step(stepper->self, HT_DUAL);
}

void ht_rate_summarise(int count, const double (*seconds)[2], struct ht_rate *out) {
    double all[HT_RATE_MOST], each[2][HT_RATE_MOST];
    for (int n = 0; n < count; n++) {
        for (int k = 0; k < 2; k++) each[k][n] = seconds[n][k] / 2;
        all[n] = each[0][n] + each[1][n];
    }
    out->median = ht_median(count, all);
    out->best = all[0];
    for (int k = 0; k < 2; k++) out->kernel[k] = ht_median(count, each[k]);
    out->timed = count;
}

static HT_ERR time_steps(const struct ht_stepper *stepper, struct ht_kernels *kernels,
                         const struct ht_effort *effort, struct ht_rate *out) {
    double seconds[HT_RATE_MOST][2], began = 0;
    int n = 0;
    for (int i = -effort->warm; n < HT_RATE_MOST; i++) {
        if (i == 0) began = ht_clock();
        if (n >= effort->least && ht_clock() - began >= effort->seconds) break;
        double both[2] = {0};
        TRY(take_step(stepper));
        TRY(stepper->ops->finish(stepper->self));
        ht_kernels_add_seconds(kernels, both);
        if (i < 0) continue;
        seconds[n][0] = both[0];
        seconds[n++][1] = both[1];
    }
    ht_rate_summarise(n, (const double(*)[2])seconds, out);
    return HT_OK;
}

/* Enqueues steps without pauses, long enough for an energy counter that is updated every 0.1 s. */
static HT_ERR measure_energy(const struct ht_stepper *stepper, struct ht_device *device,
                             const struct ht_effort *effort, struct ht_rate *out) {
    double before = ht_device_joules(device);
    int64_t batch = 1 + (int64_t)(0.05 / fmax(2 * out->median, 1e-7)), done = 0;
    if (before < 0 || effort->joules_of <= 0) return HT_OK;
    double began = ht_clock();
    while (ht_clock() - began < effort->joules_of) {
        for (int64_t n = 0; n < batch; n++, done++) TRY(take_step(stepper));
        TRY(stepper->ops->finish(stepper->self));
    }
    out->joules = (ht_device_joules(device) - before) / (2.0 * (double)done);
    return HT_OK;
}

HT_ERR ht_rate_measure(const struct ht_part *test, struct ht_device *device,
                       struct ht_kernels *kernels, const struct ht_effort *effort,
                       struct ht_rate *out) {
    struct ht_stepper stepper = {0};
    *out = (struct ht_rate){.joules = NAN};
    TRY(ht_stepper_create(&test->problem, device, kernels, &stepper));
    enum ht_err err = ht_test_problem_fill(test, &stepper);
    (void)ht_kernels_seconds(kernels);
    if (err == HT_OK) err = time_steps(&stepper, kernels, effort, out);
    if (err == HT_OK) err = measure_energy(&stepper, device, effort, out);
    (void)ht_kernels_seconds(kernels);
    ht_stepper_destroy(&stepper);
    return err;
}
