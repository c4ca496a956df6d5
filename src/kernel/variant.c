/* What rows of variants ask of a spec, a device and each other. */
#include "variant.h"
#include "blocks.h"

bool ht_spec_reads(const struct ht_spec *spec, int material) {
    return spec->medium_degree >= 0 || ht_material_layer(spec->eq, material) >= 0;
}

bool ht_spec_constant(const struct ht_spec *spec, int material) {
    return spec->medium_degree > 0 && material >= 0 && (spec->constant >> material & 1u) != 0;
}

static const char *device_refuses(const struct ht_variant *variant, const struct ht_spec *spec) {
    if (variant->ptx == 0) return NULL;
    if (variant->ptx_own && (!spec->ptx_own || spec->ptx != variant->ptx))
        return "it needs an NVIDIA device of architecture 9.0 through CUDA";
    if (spec->ptx < variant->ptx) return "it needs an NVIDIA device of architecture 8.0 or later";
    if (spec->fp64 && spec->ptx < variant->ptx_double)
        return "double precision needs an NVIDIA device of architecture 9.0 or later";
    return NULL;
}

bool ht_noise_grows(double noise, int dims) {
    return noise > 2 * pow(4, dims - 1);
}

const char *ht_variant_refuses(const struct ht_variant *variant, const struct ht_spec *spec) {
    const char *reason = variant->refuses != NULL ? variant->refuses(spec) : NULL;
    if (variant->differences != (spec->differences > 0))
        return variant->differences ? "it is for time.scheme = \"fd\""
                                    : "it is for Hermite methods";
    if (spec->eq->nmemory > 0 && !variant->layers) return "it does not compute absorbing layers";
    if (spec->sorted && !variant->sorted && !variant->any_order)
        return "it does not read coefficients sorted by parity";
    if (variant->uniform && spec->medium_degree >= 0) return "it needs a uniform medium";
    if (spec->eq->dims < variant->dims)
        return variant->dims > 2 ? "it is for three dimensions"
                                 : "it needs two or three dimensions";
    if (variant->blocks && !ht_blocks_apply(spec->eq)) return "the system has no parities";
    if (spec->order < variant->order) return "it needs grid.order = 2 or more";
    if (reason == NULL) reason = device_refuses(variant, spec);
    if (reason == NULL && variant->series && ht_noise_grows(spec->noise, spec->eq->dims))
        reason = "the rounding of its series would grow at this order, step and precision";
    return reason;
}

bool ht_variant_has(const struct ht_variant *variant, enum ht_stage_kind kind) {
    return variant->stage[0].kind == kind || variant->stage[1].kind == kind;
}

int64_t ht_local_limit(const struct ht_device_info *info) {
    /* NVIDIA's OpenCL reports 48 KiB but cannot launch a kernel that takes all of it; a larger
     * share would cost occupancy anyway. */
    const int64_t most = 48128; /* 47 KiB */
    return info->local_memory < most ? ht_most(info->local_memory - 1024, 0) : most;
}

int64_t ht_vector_limit(const struct ht_device_info *info) {
    return info->gpu ? ht_local_limit(info) : ht_most(info->local_memory - 1024, 0);
}

int64_t ht_tile_nodes(int dims, int pitch, int rows) {
    return (dims > 1 ? (int64_t)rows + 1 : 1) * (dims > 2 ? 2 : 1) * pitch;
}

/* ---- the order of coefficients ---- */

int ht_parity_of(const struct ht_sizes *z, int i) {
    int i1 = i % z->n1, i2 = i / z->n1 % z->n2, i3 = i / (z->n1 * z->n2);
    return (i1 & 1) | (i2 & 1) << 1 | (i3 & 1) << 2;
}

bool ht_spec_sorts(const struct ht_spec *spec) {
    return spec->sorted && spec->order > 1;
}

/* The storage index of each coefficient of a node: in tensor order, or sorted by parity. Sorted
 * means by class, the bits i_k mod 2, and within a class in tensor order. Classes begin at even
 * storage indices, so both of a pair 2 n, 2 n + 1 belong to one class (cl/propagator_tensor.cl
 * reads and writes pairs). At N = 1 each class has one coefficient: tensor order is sorted, and
 * pairs of one class would be half empty. */
int ht_storage_order(const struct ht_spec *spec, int storage[HT_MAX_COEFS]) {
    const struct ht_sizes z = ht_sizes_of(spec);
    const bool sorts = ht_spec_sorts(spec);
    int count = 0;
    for (int parity = 0; parity < (sorts ? 8 : 1); parity++) {
        for (int i = 0; i < z.coefs; i++) {
            if (sorts && ht_parity_of(&z, i) != parity) continue;
            if (storage != NULL) storage[i] = count;
            count++;
        }
        if (sorts) count += count % 2;
    }
    return (count + spec->block - 1) / spec->block * spec->block;
}
