/* What a benchmark does before it times kernels of finite differences: a step
 * against the oracle.
 */
#include <math.h>

#include "htwave/oracle.h"

/* Periodic, some more points than the stencil spans, a medium that jumps at
 * every node. */
static void make_test(const struct ht_fd_spec *spec, int terms,
                      const struct ht_equations *eq, struct ht_grid *grid,
                      struct ht_problem *out) {
    const struct ht_fd_weights w = ht_fd_weights(2 * spec->radius);
    const int least = ht_fd_reach(spec) + 2;
    *grid = (struct ht_grid){.dims = spec->dims, .order = 0};
    for (int k = 0; k < 3; k++) {
        grid->cells[k] = k < spec->dims ? least + 2 - k : 1;
        grid->h[k] = 1;
        grid->upper[k] = (double)grid->cells[k];
    }
    *out = (struct ht_problem){.eq = eq,
                               .grid = grid,
                               .stages = terms,
                               .dt = 0.4 * ht_fd_stable(&w, terms, spec->dims),
                               .fd = {.order = 2 * spec->radius,
                                      .density = spec->density,
                                      .inverse_density = 1,
                                      .fill = ht_test_values,
                                      .medium = out}};
    (void)ht_problem_set_scheme(out, ht_scheme_find("fd"));
}

enum ht_err ht_fd_verify(struct ht_device *device,
                         const struct ht_fd_spec *spec, int terms,
                         const char *variant, const char *cache) {
    const struct ht_equations eq =
        ht_equations_make(ht_system_find("acoustic"), spec->dims);
    const struct ht_device_info *info = ht_device_info(device);
    struct ht_kernels kernels;
    struct ht_problem problem;
    struct ht_grid grid;
    double worst = INFINITY;
    make_test(spec, terms, &eq, &grid, &problem);
    struct ht_tuning tuning = {.fp64 = spec->fp64, .block = 1};
    const struct ht_spec of = ht_problem_spec(&problem, &tuning, HT_PRIMARY);
    tuning.variant = ht_variant_find(variant, &of, info->gpu);
    TRY(ht_kernels_create(&problem, device, &tuning, cache, &kernels));
    enum ht_err err = ht_verify_kernels(&problem, device, &kernels, &worst);
    ht_kernels_destroy(&kernels);
    TRY(err);
    REQUIRE(worst <= 1, HT_ERR_DEVICE,
            "finite differences of order %d differ from the reference by %.3g "
            "times what rounding explains",
            2 * spec->radius, worst);
    return HT_OK;
}
