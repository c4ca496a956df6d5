/* Host side of cl/parity_chains.cl. */
#include "local_sizes.h"
#include "variant.h"

/* Whether a scalar and its partners (ht_sizes.chain) have materials that differ between axes. Those
 * of a uniform medium are in the factors of the axes. */
static bool materials_differ(const struct ht_spec *spec) {
    const struct ht_term *term = spec->eq->term;
    const struct ht_sizes z = ht_sizes_of(spec);
    for (int k = 1; k < spec->eq->dims && spec->medium_degree >= 0; k++)
        if (term[z.term_of_chain[k]].material != term[z.term_of_chain[0]].material ||
            term[z.term_of_partner[k]].material != term[z.term_of_partner[0]].material)
            return true;
    return false;
}

static const char *refuses(const struct ht_spec *spec) {
    const int most_values = 64; /* of a polynomial in a work-item's registers */
    struct ht_sizes z = ht_sizes_of(spec);
    int values = z.n1 * z.n2 * z.n3 * (spec->fp64 ? 2 : 1);
    if (z.chain != 0) return "the system is not one scalar with a partner per axis";
    if (spec->old_sign != 0) return "it has no leapfrog form";
    if (materials_differ(spec)) return "materials differ between axes";
    if (spec->order > 3 || values > most_values) return "the order is too high for its registers";
    return NULL;
}

/* In double precision dense blocks on tensor cores are faster than scalar series in half as many
 * registers. */
static bool pays(const struct ht_spec *spec) {
    return !spec->fp64 || ht_variant_refuses(&ht_variant_propagator_tensor, spec) != NULL;
}

/* Bytes of the kernel's HT_LOCAL_ARRAYs. */
static int64_t local_bytes(const struct ht_spec *spec, int classes, const struct ht_shape *shape) {
    int storage[HT_MAX_COEFS], coefs = ht_storage_order(spec, storage);
    const int wide = spec->fp64 ? 2 : 4, n1 = spec->order + 1;
    const int dims = spec->eq->dims;
    const int64_t rounds = ht_divide_up(coefs, (int64_t)shape->chunk * classes);
    const int64_t row = HT_SIZE_CLASS_ROW(wide, dims, rounds * classes * shape->chunk / wide);
    const int64_t faces = (int64_t)4 * rounds * classes * shape->cells * shape->chunk;
    const int64_t values =
        classes * HT_SIZE_CLASS(wide, shape->cells, row) + HT_SIZE_CLASS_FACES(dims, faces) +
        HT_SIZE_CLASS_TABLES((int64_t)dims, HT_SIZE_CLASS_MATRIX(wide, (int64_t)n1), spec->order);
    return ht_divide_up(values, wide) * 16;
}

/* As many cells as make a warp. */
static enum ht_err choose_shape(const struct ht_tuning *tuning, const struct ht_spec *spec,
                                const struct ht_device_info *info, struct ht_shape *out) {
    const int64_t limit = ht_local_limit(info);
    const int warp = 32, classes = 1 << spec->eq->dims;
    out->cells = tuning->cells > 0 ? tuning->cells : warp / classes;
    while (tuning->cells == 0 && out->cells > 1 && (int64_t)out->cells * classes > info->max_group)
        out->cells /= 2;
    TRY(ht_group_fits(out->cells, classes, info));
    /* Coefficients of a field that a work-item reads at a time: its part of them, at most 16 bytes.
     */
    int storage[HT_MAX_COEFS], coefs = ht_storage_order(spec, storage);
    int chunk = 1, most = spec->fp64 ? 2 : 4;
    while (chunk < most && chunk * classes < coefs) chunk *= 2;
    out->chunk = chunk;
    out->local_bytes = local_bytes(spec, classes, out);
    while (tuning->cells == 0 && out->cells > 1 && out->local_bytes > limit) {
        out->cells /= 2;
        out->local_bytes = local_bytes(spec, classes, out);
    }
    out->group_size = out->cells * classes;
    if (out->local_bytes > limit) return ht_local_too_little(spec, info, out->cells, limit);
    return HT_OK;
}

const struct ht_variant ht_variant_parity_chains = {
    .name = "parity-chains",
    .meaning = "two scalar series, a work-item per class of parities of a target, in registers "
               "(media constant per node)",
    .medium = HT_PER_NODE,
    .series = true,
    .refuses = refuses,
    .pays = pays,
    .made_for = HT_FOR_GPU,
    .counts32 = true,
    .shape = choose_shape,
    .cost = ht_cost_series,
    .files = {"common.cl", "packs.cl", "wide.cl", "ptx.cl", "vertices.cl", "parity_chains.cl"},
    .stage = {{HT_STAGE_STEP, "ht_parity_chains"}}};
