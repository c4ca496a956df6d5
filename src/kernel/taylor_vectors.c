/* Host side of cl/taylor_vectors.cl: vectors as wide as the polynomials of
 * their targets fit the local memory.
 */
#include "taylor_vectors.h"

#include "counts.h"

/* Of the kernel's arrays b, w, products, medium and stage. */
static int64_t local_bytes(const struct ht_spec *spec, int cells) {
    const struct ht_sizes z = ht_sizes_of(spec);
    int64_t products = z.medium_coefs > 0 ? (int64_t)z.groups * z.cube : 1;
    int64_t medium = spec->medium_degree < 0 ? 1 : z.materials;
    for (int k = 0; spec->medium_degree > 0 && k < spec->eq->dims; k++)
        medium *= spec->medium_degree + 1;
    int64_t vectors = 2 * (int64_t)z.fields * z.cube + products + medium + 1;
    return (vectors * cells + 1) * (spec->fp64 ? 8 : 4);
}

enum ht_err ht_vector_cells(const struct ht_tuning *tuning,
                            const struct ht_spec *spec,
                            const struct ht_device_info *info, int *cells) {
    const int most = spec->fp64 ? 8 : 16; /* 64 bytes */
    int wanted = tuning->cells;
    REQUIRE(wanted <= most && (wanted & (wanted - 1)) == 0, HT_ERR_INPUT,
            "device.cells_per_group = %d: on %s variant \"%s\" takes 1, 2, 4, "
            "8%s",
            wanted, info->name, tuning->variant->name,
            spec->fp64 ? "" : " or 16");
    *cells = wanted > 0 ? wanted : info->gpu ? 1 : most;
    return HT_OK;
}

enum ht_err ht_taylor_vectors_shape(const struct ht_tuning *tuning,
                                    const struct ht_spec *spec,
                                    const struct ht_device_info *info,
                                    struct ht_shape *out) {
    const int64_t most_local_gpu = 48128; /* as ht_variant_shape */
    int64_t limit = info->local_memory - 1024;
    if (info->gpu && limit > most_local_gpu) limit = most_local_gpu;
    TRY(ht_vector_cells(tuning, spec, info, &out->cells));
    while (tuning->cells == 0 && out->cells > 1 &&
           local_bytes(spec, out->cells) > limit)
        out->cells /= 2;
    out->local_bytes = local_bytes(spec, out->cells);
    REQUIRE(out->local_bytes <= limit, HT_ERR_DEVICE,
            "order %d with %d cells per group needs more local memory than the "
            "%lld bytes of %s",
            spec->order, out->cells, (long long)limit, info->name);
    return HT_OK;
}
