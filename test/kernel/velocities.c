/* Advection at velocities that put a kernel's factors to the test: none along some axes or all,
 * either sign, one much less than the others. The velocity is a constant of the programs of the
 * variant made for advection. */
#include "compiler.h"
#include "open_device.h"
#include "test.h"

#include "htwave/stepper.h"

struct velocity_case {
    int dims, order;
    double velocity[3];
};

static const struct velocity_case cases[] = {
    {1, 2, {0}},
    {1, 3, {-1e-6}},
    {2, 2, {0, -0.8}},
    {2, 1, {1e-20, -1e-25}},
    {3, 1, {-0.02, 0, -0.9}},
};

static enum ht_err verify(const struct velocity_case *c, bool fp64, struct ht_device *device,
                          double *worst) {
    struct ht_equations eq = ht_equations_make(ht_system_find("advection"), c->dims);
    struct ht_grid grid = {.dims = c->dims, .order = c->order};
    struct ht_problem problem = {.eq = &eq,
                                 .grid = &grid,
                                 .scheme = ht_scheme_at(HT_TAYLOR),
                                 .medium_degree = HT_UNIFORM,
                                 .dt = 0.5,
                                 .stages = c->dims * (2 * c->order + 1)};
    struct ht_tuning tuning = {.variant = ht_variant_find("separable", NULL, true),
                               .fp64 = fp64,
                               .ptx = ht_device_info(device)->ptx,
                               .ptx_own = ht_device_info(device)->ptx_own,
                               .block = 1};
    HT_ENDED(ht_kernels_destroy) struct ht_kernels kernels = {0};
    for (int k = 0; k < 3; k++) {
        const bool there = k < c->dims;
        grid.cells[k] = there ? 3 : 1;
        grid.h[k] = there ? 0.5 + 0.25 * k : 1;
        grid.upper[k] = grid.h[k] * (double)grid.cells[k];
        problem.uniform[k] = c->velocity[k];
    }
    TRY(ht_kernels_create(&problem, device, &tuning, &kernels));
    return ht_verify_kernels(&problem, device, &kernels, worst);
}

static void judge(struct ht_device *device) {
    test_optimise(false);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct velocity_case *c = &cases[i];
        const bool fp64 = i % 2 && ht_device_info(device)->fp64 && c->order < 3;
        double worst = NAN;
        enum ht_err err = verify(c, fp64, device, &worst);
        TEST_BELOW(err ? (double)NAN : worst, 1.0,
                   "%d-D, N = %d, %s, velocity %g %g %g: over what rounding explains%s%s", c->dims,
                   c->order, fp64 ? "double" : "single", c->velocity[0], c->velocity[1],
                   c->velocity[2], err ? ": " : "", test_said(err));
    }
}

int main(void) {
    return test_on_device("velocities", judge);
}
