/* Finite differences on a device against the plain engine (selfcheck.c): the
 * oracle, the bound of rounding, problems to compare on.
 */
#include <math.h>

#include "fd.h"
#include "htwave/part.h"
#include "methods.h"

enum ht_err ht_differences_oracle_create(const struct ht_problem *problem,
                                         struct ht_stepper *out) {
    const struct ht_fd_spec spec = ht_fd_spec_of(problem, true);
    struct ht_fd_engine engine;
    ht_fd_engine_plain(&spec, &engine);
    return ht_fd_stepper_create(problem, &engine, out);
}

/* ---- verification ---- */

/* Longest chain of roundings behind an output, of both passes: the products of
 * an operator, and some for its factors and the medium in single precision. A
 * layer's q, or L_k, becomes F, r' and what u takes by 12 more at most, after
 * which two sums follow for each side. */
double ht_differences_oracle_roundings(const struct ht_problem *p) {
    const double radius = p->fd.order / 2.0, dims = p->eq->dims;
    const double products = p->fd.density ? 4 * radius : 2 * radius + 1;
    const double layers = p->layers != NULL ? products + 12 + 4 * dims : 0;
    return p->stages * (dims * products + 8) + layers;
}

/* A positive medium that jumps at every node. */
enum ht_err ht_test_values(const void *context, int what, int64_t first,
                           int64_t last, double *out) {
    const struct ht_problem *p = context;
    const int64_t plane = ht_grid_plane(p->grid, HT_PRIMARY);
    for (int64_t n = 0; n < plane * (last - first); n++) {
        const uint64_t key = 4 * (uint64_t)(first * plane + n) + (unsigned)what;
        out[n] = 1 + 0.5 * ht_rng_uniform(7, key);
    }
    return HT_OK;
}

/* Some more points than the stencil spans. */
void ht_differences_shrink(const struct ht_problem *problem,
                           const struct ht_variant *variant,
                           struct ht_part *out) {
    const struct ht_fd_spec spec = ht_fd_spec_of(problem, true);
    const struct ht_fd_variant *fd = ht_fd_variant_find(variant->name, false);
    const int64_t least = ht_fd_margin(&spec, fd) + 2;
    const struct ht_box box = {.end = {least + 3, least + 1, least}};
    ht_problem_part(problem, &box, HT_SIDES_SAME, HT_MEDIUM_TEST, out);
}

/* Periodic, some more points than the stencil spans, a medium that jumps at
 * every node. */
static void make_test(const struct ht_fd_spec *spec,
                      const struct ht_fd_variant *variant, int terms,
                      const struct ht_equations *eq, struct ht_grid *grid,
                      struct ht_problem *out) {
    const struct ht_fd_weights w = ht_fd_weights(2 * spec->radius);
    const int least = ht_fd_margin(spec, variant) + 2;
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
    make_test(spec, ht_fd_variant_find(variant, info->gpu), terms, &eq, &grid,
              &problem);
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
