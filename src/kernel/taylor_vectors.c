/* Host side of cl/taylor_vectors.cl: the widest vectors whose targets' polynomials fit local
 * memory.
 */
#include "local_sizes.h"
#include "variant.h"

/* Bytes of the kernel's arrays b, w, products, medium and stage. */
static int64_t local_bytes(const struct ht_spec *spec, int cells) {
    const struct ht_sizes z = ht_sizes_of(spec);
    int64_t products = z.medium_coefs > 0 ? HT_SIZE_DERIVATIVES((int64_t)z.groups, z.cube) : 1;
    int64_t medium = spec->medium_degree < 0 ? 1 : z.materials;
    for (int k = 0; spec->medium_degree > 0 && k < spec->eq->dims; k++)
        medium *= spec->medium_degree + 1;
    int64_t vectors = 2 * HT_SIZE_POLYNOMIALS((int64_t)z.fields, z.cube) + products + medium;
    return (vectors * cells + HT_SIZE_SIDE(cells)) * ht_real_size(spec->fp64);
}

enum ht_err ht_vector_cells(const struct ht_tuning *tuning, const struct ht_spec *spec,
                            const struct ht_device_info *info, int *cells) {
    const int most = spec->fp64 ? 8 : 16; /* 64 bytes */
    int wanted = tuning->cells;
    REQUIRE(wanted <= most && (wanted & (wanted - 1)) == 0, HT_ERR_INPUT,
            "on %s variant \"%s\" takes 1, 2, 4, 8%s", info->name, tuning->variant->name,
            spec->fp64 ? "" : " or 16");
    *cells = wanted > 0 ? wanted : info->gpu ? 1 : most;
    return HT_OK;
}

static enum ht_err choose_shape(const struct ht_tuning *tuning, const struct ht_spec *spec,
                                const struct ht_device_info *info, struct ht_shape *out) {
    const int64_t limit = ht_vector_limit(info);
    TRY(ht_vector_cells(tuning, spec, info, &out->cells));
    while (tuning->cells == 0 && out->cells > 1 && local_bytes(spec, out->cells) > limit)
        out->cells /= 2;
    out->local_bytes = local_bytes(spec, out->cells);
    if (out->local_bytes > limit) return ht_local_too_little(spec, info, out->cells, limit);
    return HT_OK;
}

const struct ht_variant ht_variant_vector = {
    .name = "vector",
    .meaning = "as monolithic, targets along x1 as vectors; for CPUs",
    .made_for = HT_FOR_CPU,
    .medium = HT_POLYNOMIALS,
    .series = true,
    .shape = choose_shape,
    .cost = ht_cost_series,
    .files = {"common.cl", "loose.cl", "vectors.cl", "taylor_vectors.cl"},
    .stage = {{HT_STAGE_STEP, "ht_taylor_vectors"}}};
