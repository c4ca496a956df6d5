/* The table of kernel variants, and the choice of one. */
#include "variant.h"

/* In order of expected speed, fastest first. */
static const struct ht_variant *const variants[] = {
    &ht_variant_separable,
    &ht_variant_propagator_lanes,
    &ht_variant_propagator_warpgroup,
    &ht_variant_propagator_planes,
    &ht_variant_propagator_tensor,
    &ht_variant_propagator,
    &ht_variant_vector,
    &ht_variant_propagator_local,
    &ht_variant_monolithic,
    &ht_variant_two_rolled,
    &ht_variant_two_naive,
    &ht_variant_gemm,
    &ht_variant_fd_march,
    &ht_variant_fd_vectors,
    &ht_variant_fd_plain,
};

int ht_variant_count(void) {
    return (int)(sizeof variants / sizeof variants[0]);
}

const struct ht_variant *ht_variant_at(int index) {
    return variants[index];
}

bool ht_variant_suits(const struct ht_variant *variant, bool gpu) {
    return variant->made_for == HT_FOR_ANY || variant->made_for == (gpu ? HT_FOR_GPU : HT_FOR_CPU);
}

/* The rounding errors of the parity blocks' entries are the same in every step and accumulate. In
 * one dimension, where speed hardly matters, this excludes parity blocks in single precision. */
static bool pays(const struct ht_variant *variant, const struct ht_spec *spec) {
    if (variant->pays != NULL && !variant->pays(spec)) return false;
    return !variant->blocks || spec->fp64 || spec->eq->dims > 1;
}

/* info: NULL: of whatever device of that kind. */
static const struct ht_variant *choose(const char *name, const struct ht_spec *spec, bool gpu,
                                       const struct ht_device_info *info) {
    const bool any = strcmp(name, "auto") == 0;
    const struct ht_variant *first = NULL;
    for (int i = 0; i < ht_variant_count(); i++) {
        const struct ht_tuning tuning = {.variant = variants[i]};
        struct ht_shape shape;
        if (!any && strcmp(variants[i]->name, name) == 0) return variants[i];
        if (!any || !ht_variant_suits(variants[i], gpu) || !pays(variants[i], spec) ||
            ht_variant_refuses(variants[i], spec) != NULL)
            continue;
        if (info == NULL || ht_variant_shape(&tuning, spec, info, &shape) == HT_OK)
            return variants[i];
        if (first == NULL) first = variants[i];
    }
    return first; /* whose shape says what there is too little of */
}

const struct ht_variant *ht_variant_find(const char *name, const struct ht_spec *spec, bool gpu) {
    return choose(name, spec, gpu, NULL);
}

const struct ht_variant *ht_variant_choose(const char *name, const struct ht_spec *spec,
                                           const struct ht_device_info *info) {
    return choose(name, spec, info->gpu, info);
}

void ht_variant_list(const struct ht_spec *spec, struct ht_text *out) {
    int last = -1, first = -1;
    for (int i = 0; i < ht_variant_count(); i++) {
        if (ht_variant_refuses(variants[i], spec) != NULL) continue;
        if (first < 0) first = i;
        last = i;
    }
    for (int i = 0; i < ht_variant_count(); i++)
        if (ht_variant_refuses(variants[i], spec) == NULL)
            ht_text_add(out, "%s\"%s\"",
                        i == first  ? ""
                        : i == last ? " or "
                                    : ", ",
                        variants[i]->name);
}

int64_t ht_variant_poly_bytes(const struct ht_variant *variant, const struct ht_spec *spec) {
    if (!ht_variant_has(variant, HT_STAGE_EVOLVE)) return 0;
    return (int64_t)ht_sizes_of(spec).cube * ht_real_size(spec->fp64);
}

bool ht_variant_needs_work(const struct ht_variant *variant) {
    return ht_variant_has(variant, HT_STAGE_INTERPOLATE_GEMM);
}

const char *ht_variant_lacks(const struct ht_variant *variant, const struct ht_device_info *info) {
    return ht_variant_needs_work(variant) ? info->no_gemm : NULL;
}

struct ht_cost ht_variant_cost(const struct ht_variant *variant, const struct ht_spec *spec,
                               int kernel) {
    struct ht_cost sum = {0};
    for (int i = 0; i < 2; i++) {
        if (kernel >= 0 && kernel != i) continue;
        if (variant->stage[i].kind == HT_STAGE_NONE) continue;
        struct ht_cost c = variant->cost(variant, spec, i);
        sum.fma += c.fma;
        sum.bytes += c.bytes * ht_real_size(spec->fp64);
    }
    return sum;
}

/* ---- shared by several variants' shapes ---- */

HT_ERR ht_variant_shape(const struct ht_tuning *tuning, const struct ht_spec *spec,
                        const struct ht_device_info *info, struct ht_shape *out) {
    const struct ht_variant *variant = tuning->variant;
    const char *reason = ht_variant_refuses(variant, spec);
    const char *lacks = ht_variant_lacks(variant, info);
    HT_FREED_TEXT struct ht_text names = {0};
    if (reason != NULL) ht_variant_list(spec, &names);
    TRY(ht_text_status(&names));
    REQUIRE(reason == NULL, HT_ERR_INPUT, "device.variant = \"%s\" does not apply: %s; use %s",
            variant->name, reason, names.data);
    REQUIRE(lacks == NULL, HT_ERR_DEVICE, "device.variant = \"%s\" does not apply: %s; \"%s\" does",
            variant->name, lacks, ht_variant_find("auto", spec, info->gpu)->name);
    REQUIRE(!spec->fp64 || info->fp64, HT_ERR_DEVICE,
            "device.precision = \"double\": %s has no double precision", info->name);
    *out = (struct ht_shape){.rows = 1, .planes = tuning->planes, .depth = 1, .group_size = 1};
    TRY(variant->shape(tuning, spec, info, out));
    const int64_t limit = variant->open_memory              ? info->open_memory
                          : variant->made_for == HT_FOR_CPU ? ht_vector_limit(info)
                                                            : ht_local_limit(info);
    REQUIRE(out->local_bytes <= limit, HT_ERR_DEVICE,
            "order %d with %d cells per group needs more local memory than the %lld bytes of %s",
            spec->order, out->cells, (long long)limit, info->name);
    return HT_OK;
}

long ht_shape_march(const struct ht_shape *shape, long planes) {
    return (long)(ht_divide_up(planes, shape->depth) * shape->depth);
}
