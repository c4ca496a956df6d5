/* The table of kernel variants and the checks common to all.
 */
#include <math.h>
#include <string.h>

#include "local_sizes.h"
#include "variant.h"

/* In order of expected speed, fastest first. */
static const struct ht_variant *const variants[] = {
    &ht_variant_separable,
    &ht_variant_propagator_lanes,
    &ht_variant_propagator_layers,
    &ht_variant_propagator_warpgroup,
    &ht_variant_parity_chains,
    &ht_variant_propagator_planes,
    &ht_variant_propagator_tensor,
    &ht_variant_propagator,
    &ht_variant_vector,
    &ht_variant_propagator_local,
    &ht_variant_chains,
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

static const char *device_refuses(const struct ht_variant *variant,
                                  const struct ht_spec *spec) {
    if (variant->ptx == 0) return NULL;
    if (variant->ptx_own && (!spec->ptx_own || spec->ptx != variant->ptx))
        return "it needs an NVIDIA device of architecture 9.0 through CUDA";
    if (spec->ptx < variant->ptx)
        return "it needs an NVIDIA device of architecture 8.0 or later";
    if (spec->fp64 && spec->ptx < variant->ptx_double)
        return "double precision needs an NVIDIA device of architecture 9.0 or "
               "later";
    return NULL;
}

bool ht_noise_grows(double noise, int dims) {
    return noise > 2 * pow(4, dims - 1);
}

const char *ht_variant_refuses(const struct ht_variant *variant,
                               const struct ht_spec *spec) {
    const char *reason =
        variant->refuses != NULL ? variant->refuses(spec) : NULL;
    if (variant->differences != (spec->differences > 0))
        return variant->differences ? "it is for time.scheme = \"fd\""
                                    : "it is for Hermite methods";
    if (spec->eq->nmemory > 0 && !variant->layers)
        return "it does not compute absorbing layers";
    if (spec->sorted && (variant->layouts & HT_READS_SORTED) == 0)
        return "it does not read coefficients sorted by parity";
    if (spec->medium_degree > variant->medium)
        return variant->medium == HT_UNIFORM ? "it needs a uniform medium"
                                             : "it needs medium.degree = 0";
    if (reason == NULL) reason = device_refuses(variant, spec);
    if (reason == NULL && variant->series &&
        ht_noise_grows(spec->noise, spec->eq->dims))
        reason = "the rounding of its series would grow at this order, step "
                 "and precision";
    return reason;
}

bool ht_spec_reads(const struct ht_spec *spec, int material) {
    return spec->medium_degree >= 0 ||
           ht_material_layer(spec->eq, material) >= 0;
}

bool ht_spec_constant(const struct ht_spec *spec, int material) {
    return spec->medium_degree > 0 && material >= 0 &&
           (spec->constant >> material & 1u) != 0;
}

int ht_spec_axis(const struct ht_spec *spec, int k) {
    return (k + spec->turn[k]) % 3;
}

unsigned ht_spec_turned(const struct ht_spec *spec, unsigned axes) {
    unsigned out = 0;
    for (int k = 0; k < 3; k++)
        out |= (axes >> ht_spec_axis(spec, k) & 1u) << k;
    return out;
}

bool ht_spec_operators(const struct ht_variant *variant,
                       const struct ht_spec *spec) {
    return variant->blocks && spec->eq->nprofiles > 0;
}

bool ht_variant_suits(const struct ht_variant *variant, bool gpu) {
    return variant->made_for == HT_FOR_ANY ||
           variant->made_for == (gpu ? HT_FOR_GPU : HT_FOR_CPU);
}

static bool applies(const struct ht_variant *variant,
                    const struct ht_spec *spec) {
    return ht_variant_refuses(variant, spec) == NULL;
}

/* The rounding errors of the parity blocks' entries are the same in every step
 * and accumulate. In one dimension, where speed hardly matters, this excludes
 * parity blocks in single precision. */
static bool pays(const struct ht_variant *variant, const struct ht_spec *spec) {
    if (variant->pays != NULL && !variant->pays(spec)) return false;
    return !variant->blocks || spec->fp64 || spec->eq->dims > 1;
}

/* The next row from `first` on that "auto" takes, or NULL. */
static const struct ht_variant *next_of(int first, const struct ht_spec *spec,
                                        bool gpu, int *at) {
    for (*at = first; *at < ht_variant_count(); ++*at) {
        const struct ht_variant *variant = variants[*at];
        if (ht_variant_suits(variant, gpu) && pays(variant, spec) &&
            applies(variant, spec))
            return variant;
    }
    return NULL;
}

static bool is_auto(const char *name) {
    return strcmp(name, "auto") == 0;
}

const struct ht_variant *ht_variant_find(const char *name,
                                         const struct ht_spec *spec, bool gpu) {
    int at = 0; /* the rows are in order of speed */
    if (is_auto(name)) return next_of(0, spec, gpu, &at);
    for (int i = 0; i < ht_variant_count(); i++)
        if (strcmp(variants[i]->name, name) == 0) return variants[i];
    return NULL;
}

const struct ht_variant *ht_variant_choose(const char *name,
                                           const struct ht_spec *spec,
                                           const struct ht_device_info *info) {
    int at = 0;
    const struct ht_variant *first = ht_variant_find(name, spec, info->gpu);
    if (!is_auto(name)) return first;
    for (const struct ht_variant *next = next_of(0, spec, info->gpu, &at);
         next != NULL; next = next_of(at + 1, spec, info->gpu, &at)) {
        const struct ht_tuning tuning = {.variant = next};
        struct ht_shape shape;
        if (ht_variant_shape(&tuning, spec, info, &shape) == HT_OK) return next;
    }
    return first; /* whose shape says what there is too little of */
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

static enum ht_err refuse(const struct ht_variant *variant,
                          const struct ht_spec *spec, const char *reason) {
    struct ht_text names = {0};
    ht_variant_list(spec, &names);
    enum ht_err err = ht_text_status(&names);
    if (err == HT_OK)
        err = ht_err_set(HT_ERR_INPUT,
                         "device.variant = \"%s\" does not apply: %s; use "
                         "%s",
                         variant->name, reason, names.data);
    ht_text_free(&names);
    return err;
}

bool ht_variant_has(const struct ht_variant *variant, enum ht_stage_kind kind) {
    return variant->stage[0].kind == kind || variant->stage[1].kind == kind;
}

int64_t ht_variant_poly_bytes(const struct ht_variant *variant,
                              const struct ht_spec *spec) {
    if (!ht_variant_has(variant, HT_STAGE_EVOLVE)) return 0;
    struct ht_sizes z = ht_sizes_of(spec);
    return (int64_t)z.cube * (spec->fp64 ? 8 : 4);
}

bool ht_variant_needs_work(const struct ht_variant *variant) {
    return ht_variant_has(variant, HT_STAGE_INTERPOLATE_GEMM);
}

const char *ht_variant_lacks(const struct ht_variant *variant,
                             const struct ht_device_info *info) {
    return variant->lacks != NULL ? variant->lacks(info) : NULL;
}

struct ht_cost ht_variant_cost(const struct ht_variant *variant,
                               const struct ht_spec *spec, int kernel) {
    struct ht_cost sum = {0};
    for (int i = 0; i < 2; i++) {
        if (kernel >= 0 && kernel != i) continue;
        if (variant->stage[i].kind == HT_STAGE_NONE) continue;
        struct ht_cost c = variant->cost(variant, spec, i);
        sum.fma += c.fma;
        sum.bytes += c.bytes * (spec->fp64 ? 8 : 4);
    }
    return sum;
}

/* ---- shared by several variants' shapes ---- */

/* Materials of a uniform medium are in the factors of the axes. */
bool ht_chain_materials_differ(const struct ht_spec *spec) {
    const struct ht_term *term = spec->eq->term;
    const struct ht_sizes z = ht_sizes_of(spec);
    for (int k = 1; k < spec->eq->dims && spec->medium_degree >= 0; k++)
        if (term[z.term_of_chain[k]].material !=
                term[z.term_of_chain[0]].material ||
            term[z.term_of_partner[k]].material !=
                term[z.term_of_partner[0]].material)
            return true;
    return false;
}

enum ht_err ht_group_fits(int cells, int items,
                          const struct ht_device_info *info) {
    REQUIRE((int64_t)cells * items <= info->max_group, HT_ERR_INPUT,
            "device.cells_per_group = %d: %d work-items per cell, and %s "
            "allows %lld per group",
            cells, items, info->name, (long long)info->max_group);
    return HT_OK;
}

int64_t ht_local_limit(const struct ht_device_info *info) {
    /* NVIDIA's OpenCL reports 48 KiB but cannot launch a kernel that takes
     * all of it; a larger share would cost occupancy anyway. */
    const int64_t most = 48128; /* 47 KiB */
    return info->local_memory < most ? info->local_memory - 1024 : most;
}

int64_t ht_vector_limit(const struct ht_device_info *info) {
    return info->gpu ? ht_local_limit(info) : info->local_memory - 1024;
}

enum ht_err ht_local_too_little(const struct ht_spec *spec,
                                const struct ht_device_info *info, int cells,
                                int64_t limit) {
    char with[48] = "";
    if (cells > 0)
        snprintf(with, sizeof with, " with %d cells per group", cells);
    FAIL(HT_ERR_DEVICE,
         "order %d%s needs more local memory than the %lld bytes of %s",
         spec->order, with, (long long)limit, info->name);
}

int ht_slots(unsigned mask, int fields) {
    int count = 0;
    for (int f = 0; f < fields; f++)
        count += mask == 0 || (mask >> f & 1u) != 0;
    return count;
}

int64_t ht_tile_nodes(int dims, int pitch, int rows) {
    return HT_SIZE_TILE(dims > 1 ? (int64_t)rows + 1 : 1, dims > 2 ? 2 : 1, 1,
                        (int64_t)pitch);
}

enum ht_err ht_variant_shape(const struct ht_tuning *tuning,
                             const struct ht_spec *spec,
                             const struct ht_device_info *info,
                             struct ht_shape *out) {
    const struct ht_variant *variant = tuning->variant;
    const char *reason = ht_variant_refuses(variant, spec);
    const char *lacks = ht_variant_lacks(variant, info);
    if (reason != NULL) return refuse(variant, spec, reason);
    REQUIRE(lacks == NULL, HT_ERR_DEVICE,
            "device.variant = \"%s\" does not apply: %s; \"%s\" does",
            variant->name, lacks,
            ht_variant_find("auto", spec, info->gpu)->name);
    REQUIRE(!spec->fp64 || info->fp64, HT_ERR_DEVICE,
            "device.precision = \"double\": %s has no double precision",
            info->name);
    *out = (struct ht_shape){.rows = 1,
                             .planes = tuning->planes,
                             .group_size = 1,
                             .naive_group_size = 1};
    return variant->shape(tuning, spec, info, out);
}

long ht_shape_march(const struct ht_shape *shape, long planes) {
    const int64_t depth = shape->depth > 1 ? shape->depth : 1;
    return (long)(ht_divide_up(planes, depth) * depth);
}
