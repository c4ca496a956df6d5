/* The rows of the kernels of finite differences among the variants: what a user can choose, and
 * their work. The kernels themselves: htwave/fd_kernel.h.
 */
#include "variant.h"

struct ht_fd_shape ht_fd_asked(const struct ht_tuning *tuning) {
    const int pack = ht_fd_pack(tuning->fp64);
    return (struct ht_fd_shape){
        .packs = (tuning->cells + pack - 1) / pack, .rows = tuning->rows, .planes = tuning->planes};
}

static struct ht_fd_spec fd_spec_of(const struct ht_spec *spec) {
    return (struct ht_fd_spec){.dims = spec->eq->dims,
                               .radius = spec->differences / 2,
                               .fp64 = spec->fp64,
                               .density = spec->density};
}

enum ht_err ht_fd_variant_text(const struct ht_variant *variant, const struct ht_spec *spec,
                               const struct ht_shape *shape, struct ht_text *out) {
    const struct ht_fd_spec fd = fd_spec_of(spec);
    const struct ht_tuning tuning = {
        .fp64 = spec->fp64, .cells = shape->cells, .rows = shape->rows, .planes = shape->planes};
    const struct ht_fd_shape chosen = ht_fd_asked(&tuning);
    return ht_fd_text(&fd, variant, &chosen, spec->ptx, out);
}

static enum ht_err choose_shape(const struct ht_tuning *tuning, const struct ht_spec *spec,
                                const struct ht_device_info *info, struct ht_shape *out) {
    const struct ht_fd_spec fd = fd_spec_of(spec);
    const struct ht_fd_shape asked = ht_fd_asked(tuning);
    const struct ht_fd_shape shape = ht_fd_shape(&fd, tuning->variant, &asked, info);
    out->cells = shape.packs * ht_fd_pack(spec->fp64);
    out->rows = shape.rows;
    out->planes = shape.planes;
    return HT_OK;
}

static struct ht_cost cost(const struct ht_variant *variant, const struct ht_spec *spec,
                           int kernel) {
    (void)variant;
    (void)kernel;
    return ht_cost_differences(spec);
}

const struct ht_variant ht_variant_fd_march = {
    .name = "fd-march",
    .meaning = "finite differences, four points per work-item, marching through "
               "the grid",
    .made_for = HT_FOR_GPU,
    .medium = HT_POLYNOMIALS,
    .differences = true,
    .shape = choose_shape,
    .cost = cost,
    .files = {"packs.cl", "ptx.cl", "fd_items.cl", "fd_march.cl"},
    .density_files = {"packs.cl", "ptx.cl", "fd_items.cl", "fd_march_density.cl"},
    .stage = {{HT_STAGE_STEP, "ht_fd"}}};

const struct ht_variant ht_variant_fd_vectors = {
    .name = "fd-vectors",
    .meaning = "finite differences by vectors along x1",
    .made_for = HT_FOR_CPU,
    .medium = HT_POLYNOMIALS,
    .differences = true,
    .shape = choose_shape,
    .cost = cost,
    .files = {"loose.cl", "fd_rows.cl", "fd_vectors.cl"},
    .density_files = {"loose.cl", "fd_rows.cl", "fd_vectors_density.cl"},
    .stage = {{HT_STAGE_STEP, "ht_fd"}}};

const struct ht_variant ht_variant_fd_plain = {.name = "fd-plain",
                                               .meaning =
                                                   "finite differences, one point per work-item",
                                               .made_for = HT_FOR_ANY,
                                               .medium = HT_POLYNOMIALS,
                                               .differences = true,
                                               .shape = choose_shape,
                                               .cost = cost,
                                               .files = {"fd_plain.cl"},
                                               .density_files = {"fd_plain.cl"},
                                               .stage = {{HT_STAGE_STEP, "ht_fd"}}};
