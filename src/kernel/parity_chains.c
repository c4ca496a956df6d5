/* Host side of cl/parity_chains.cl. */
#include "local_sizes.h"
#include "variant.h"

static const char *refuses(const struct ht_spec *spec) {
    const int most_values = 64; /* of a polynomial in a work-item's registers */
    struct ht_sizes z = ht_sizes_of(spec);
    int values = z.n1 * z.n2 * z.n3 * (spec->fp64 ? 2 : 1);
    if (z.chain != 0)
        return "the system is not one scalar with a partner per axis";
    if (spec->eq->field[0].parity != 0)
        return "the scalar is odd under reflections";
    if (spec->old_sign != 0) return "it has no leapfrog form";
    if (spec->order > 3 || values > most_values)
        return "the order is too high for its registers";
    return NULL;
}

/* Bytes of the kernel's HT_LOCAL_ARRAYs. */
static int64_t local_bytes(const struct ht_sizes *z, int parities, int cells,
                           int element_size) {
    return element_size * (HT_SIZE_PARITY_SUMS((int64_t)parities,
                                               (int64_t)z->n1 * z->n2, cells) +
                           2 * HT_SIZE_PARITY_MATRICES((int64_t)z->n1));
}

static enum ht_err choose_shape(const struct ht_tuning *tuning,
                                const struct ht_spec *spec,
                                const struct ht_device_info *info,
                                struct ht_shape *out) {
    const int64_t limit = ht_local_limit(info);
    struct ht_sizes z = ht_sizes_of(spec);
    int parities = 1 << spec->eq->dims, element_size = spec->fp64 ? 8 : 4;
    out->cells = tuning->cells > 0 ? tuning->cells : 32;
    while (tuning->cells == 0 && out->cells > 1 &&
           (int64_t)out->cells * parities > info->max_group)
        out->cells /= 2;
    REQUIRE(
        (int64_t)out->cells * parities <= info->max_group, HT_ERR_INPUT,
        "device.cells_per_group = %d: %d work-items per cell, and %s allows "
        "%lld per group",
        out->cells, parities, info->name, (long long)info->max_group);
    out->local_bytes = local_bytes(&z, parities, out->cells, element_size);
    while (tuning->cells == 0 && out->cells > 1 && out->local_bytes > limit) {
        out->cells /= 2;
        out->local_bytes = local_bytes(&z, parities, out->cells, element_size);
    }
    out->group_size = out->cells * parities;
    if (out->local_bytes > limit)
        return ht_local_too_little(spec, info, out->cells, limit);
    return HT_OK;
}

const struct ht_variant ht_variant_parity_chains = {
    .name = "parity-chains",
    .meaning = "two scalar series, a work-item per parity of a target, in "
               "registers (media constant per node)",
    .medium = HT_PER_NODE,
    .layouts = HT_READS_ANY,
    .refuses = refuses,
    .made_for = HT_FOR_GPU,
    .counts32 = true,
    .shape = choose_shape,
    .cost = ht_cost_series,
    .files = {"common.cl", "vertices.cl", "parity_chains.cl"},
    .stage = {{HT_STAGE_STEP, "ht_parity_chains"}}};
