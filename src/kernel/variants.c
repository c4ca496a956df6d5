/* The table of kernel variants and how each fits a device. A variant is its
 * files in cl/ and one row here.
 */
#include <string.h>

#include "blocks.h"
#include "counts.h"
#include "propagator.h"
#include "taylor_vectors.h"

static const struct ht_variant variants[] = {
    {.name = "separable",
     .meaning = "a one-dimensional half step along each axis (constant "
                "velocity)",
     .separable = true,
     .shape = ht_separable_shape,
     .pack = ht_separable_pack,
     .files = {"common.cl", "ptx.cl", "separable.cl"},
     .stage = {{HT_STAGE_OPERATOR, "ht_separable"}}},
    {.name = "propagator-lanes",
     .meaning = "the half step as dense parity blocks that are literals of the "
                "program, a lane per target (uniform media)",
     .blocks = true,
     .literals = true,
     .made_for = HT_FOR_GPU,
     .counts32 = true,
     .shape = ht_propagator_lanes_shape,
     .pack = ht_propagator_lanes_pack,
     .files = {"common.cl", "ptx.cl", "vertices.cl", "tile.cl",
               "propagator_lanes.cl"},
     .stage = {{HT_STAGE_OPERATOR, "ht_propagator_lanes"}}},
    {.name = "propagator-tensor",
     .meaning =
         "the half step as dense parity blocks on NVIDIA's tensor cores, "
         "in single precision as three products of halves (uniform "
         "media)",
     .blocks = true,
     .sorted = true,
     .ptx = 80,
     .made_for = HT_FOR_GPU,
     .counts32 = true,
     .shape = ht_propagator_tensor_shape,
     .pack = ht_propagator_tensor_pack,
     .files = {"common.cl", "ptx.cl", "vertices.cl", "tile.cl",
               "propagator_tensor.cl"},
     .stage = {{HT_STAGE_OPERATOR, "ht_propagator_tensor"}}},
    {.name = "propagator",
     .meaning = "the half step as dense parity blocks, targets along x1 as "
                "vectors; for CPUs (uniform media)",
     .blocks = true,
     .made_for = HT_FOR_CPU,
     .shape = ht_propagator_shape,
     .pack = ht_propagator_pack,
     .files = {"common.cl", "vectors.cl", "propagator.cl"},
     .stage = {{HT_STAGE_OPERATOR, "ht_propagator"}}},
    {.name = "vector",
     .meaning = "as monolithic, targets along x1 as vectors; for CPUs",
     .made_for = HT_FOR_CPU,
     .shape = ht_taylor_vectors_shape,
     .files = {"common.cl", "vectors.cl", "taylor_vectors.cl"},
     .stage = {{HT_STAGE_STEP, "ht_taylor_vectors"}}},
    {.name = "parity-chains",
     .meaning = "two scalar chains, a lane per parity of a target in registers "
                "(media constant per node)",
     .parity_chains = true,
     .made_for = HT_FOR_GPU,
     .counts32 = true,
     .shape = ht_parity_chains_shape,
     .files = {"common.cl", "vertices.cl", "parity_chains.cl"},
     .stage = {{HT_STAGE_STEP, "ht_parity_chains"}}},
    {.name = "chains",
     .meaning = "as monolithic, two scalar chains instead of all fields "
                "(uniform media)",
     .chains = true,
     .files = {"common.cl", "face.cl", "evolve_chains.cl", "targets.cl",
               "monolithic.cl"},
     .stage = {{HT_STAGE_STEP, "ht_monolithic"}}},
    {.name = "monolithic",
     .meaning = "interpolation and evolution in one kernel, rolling along x3",
     .files = {"common.cl", "face.cl", "evolve.cl", "targets.cl",
               "monolithic.cl"},
     .stage = {{HT_STAGE_STEP, "ht_monolithic"}}},
    {.name = "two-rolled",
     .meaning = "two kernels; interpolation rolls along x3",
     .files = {"common.cl", "face.cl", "evolve.cl", "targets.cl",
               "polynomials.cl", "interpolate_rolled.cl",
               "evolve_polynomials.cl"},
     .stage = {{HT_STAGE_INTERPOLATE_ROLLED, "ht_interpolate_rolled"},
               {HT_STAGE_EVOLVE, "ht_evolve_polynomials"}}},
    {.name = "two-naive",
     .meaning = "two kernels; interpolation cell by cell without reuse",
     .files = {"common.cl", "face.cl", "evolve.cl", "targets.cl",
               "polynomials.cl", "vertex.cl", "interpolate_naive.cl",
               "evolve_polynomials.cl"},
     .stage = {{HT_STAGE_INTERPOLATE_NAIVE, "ht_interpolate_naive"},
               {HT_STAGE_EVOLVE, "ht_evolve_polynomials"}}},
    {.name = "gemm",
     .meaning = "interpolation as matrix products by CLBlast, for comparison",
     .files = {"common.cl", "face.cl", "evolve.cl", "targets.cl",
               "polynomials.cl", "vertex.cl", "gather.cl",
               "evolve_polynomials.cl"},
     .stage = {{HT_STAGE_INTERPOLATE_GEMM, "ht_gather"},
               {HT_STAGE_EVOLVE, "ht_evolve_polynomials"}}},
};

int ht_variant_count(void) {
    return (int)(sizeof variants / sizeof variants[0]);
}

const struct ht_variant *ht_variant_at(int index) {
    return &variants[index];
}

static const char *device_refuses(const struct ht_variant *variant,
                                  const struct ht_spec *spec) {
    const int double_products = 90; /* mma.m16n8k8 of double precision */
    if (variant->ptx == 0) return NULL;
    if (spec->ptx < variant->ptx)
        return "it needs an NVIDIA device of architecture 8.0 or later";
    if (spec->fp64 && spec->ptx < double_products)
        return "double precision needs an NVIDIA device of architecture 9.0 or "
               "later";
    if (spec->order < 2) return "it needs grid.order = 2 or more";
    return NULL;
}

const char *ht_variant_refuses(const struct ht_variant *variant,
                               const struct ht_spec *spec) {
    struct ht_sizes z = ht_sizes_of(spec);
    if ((variant->chains || variant->blocks) && spec->medium_degree >= 0)
        return "it needs a uniform medium";
    if (variant->blocks && !ht_blocks_apply(spec->eq))
        return "the system has no parities";
    if (variant->chains && z.chain < 0)
        return "the system is not one scalar with a partner per axis";
    if (variant->parity_chains && ht_parity_chains_refuses(spec) != NULL)
        return ht_parity_chains_refuses(spec);
    if (variant->literals && !ht_propagator_lanes_short(spec))
        return "the operator is too long for literals";
    if (variant->separable && ht_separable_refuses(spec) != NULL)
        return ht_separable_refuses(spec);
    return device_refuses(variant, spec);
}

bool ht_variant_suits(const struct ht_variant *variant, bool gpu) {
    return variant->made_for == HT_FOR_ANY ||
           variant->made_for == (gpu ? HT_FOR_GPU : HT_FOR_CPU);
}

/* Parity blocks, rounded once, err alike in every step. In one dimension, where
 * speed hardly matters, that is not worth it in single precision. */
static bool pays(const struct ht_variant *variant, const struct ht_spec *spec) {
    return !variant->blocks || spec->fp64 || spec->eq->dims > 1;
}

const struct ht_variant *ht_variant_find(const char *name,
                                         const struct ht_spec *spec, bool gpu) {
    bool any = strcmp(name, "auto") == 0; /* the rows are in order of speed */
    for (int i = 0; i < ht_variant_count(); i++)
        if (any ? ht_variant_suits(&variants[i], gpu) &&
                      pays(&variants[i], spec) &&
                      ht_variant_refuses(&variants[i], spec) == NULL
                : strcmp(variants[i].name, name) == 0)
            return &variants[i];
    return NULL;
}

void ht_variant_list(const struct ht_spec *spec, struct ht_text *out) {
    int last = -1, first = -1;
    for (int i = 0; i < ht_variant_count(); i++) {
        if (ht_variant_refuses(&variants[i], spec) != NULL) continue;
        if (first < 0) first = i;
        last = i;
    }
    for (int i = 0; i < ht_variant_count(); i++)
        if (ht_variant_refuses(&variants[i], spec) == NULL)
            ht_text_add(out, "%s\"%s\"",
                        i == first  ? ""
                        : i == last ? " or "
                                    : ", ",
                        variants[i].name);
}

static enum ht_err refuse(const struct ht_variant *variant,
                          const struct ht_spec *spec, const char *reason) {
    struct ht_text names = {0};
    ht_variant_list(spec, &names);
    enum ht_err err = ht_text_status(&names);
    if (err == HT_OK)
        err = ht_err_set(HT_ERR_INPUT,
                         "device.variant = \"%s\" does not apply: %s; take "
                         "%s",
                         variant->name, reason, names.data);
    ht_text_free(&names);
    return err;
}

static bool has_stage(const struct ht_variant *variant,
                      enum ht_stage_kind kind) {
    return variant->stage[0].kind == kind || variant->stage[1].kind == kind;
}

int64_t ht_variant_poly_bytes(const struct ht_variant *variant,
                              const struct ht_spec *spec) {
    if (!has_stage(variant, HT_STAGE_EVOLVE)) return 0;
    struct ht_sizes z = ht_sizes_of(spec);
    return (int64_t)z.cube * (spec->fp64 ? 8 : 4);
}

bool ht_variant_needs_work(const struct ht_variant *variant) {
    return has_stage(variant, HT_STAGE_INTERPOLATE_GEMM);
}

const char *ht_variant_lacks(const struct ht_variant *variant,
                             const struct ht_device_info *info) {
    bool gemm = has_stage(variant, HT_STAGE_INTERPOLATE_GEMM);
    return gemm ? info->no_gemm : NULL;
}

/* Local memory, in values, of each kernel of cl/: the formulas of
 * HT_FACE_SIZE, HT_EXCHANGE_SIZE, HT_PRODUCT_SIZE and HT_MEDIUM_SIZE. */
static int64_t face_size(const struct ht_sizes *z, const struct ht_shape *s) {
    return (int64_t)s->cells * s->face_fields * z->n3 * z->t2 * (z->t1 + 1);
}

static int64_t evolve_size(const struct ht_sizes *z, const struct ht_shape *s) {
    int64_t lanes = (int64_t)s->cells * z->t1 * z->t2;
    int64_t exchange = 2 * lanes * s->slabs * z->exchanged;
    if (z->medium_coefs == 0) return exchange;
    return exchange + 2 * lanes * z->groups;
}

static int64_t local_values(const struct ht_variant *variant,
                            const struct ht_sizes *z,
                            const struct ht_shape *s) {
    int64_t face = face_size(z, s), evolve = evolve_size(z, s), most = 0;
    int64_t medium = (int64_t)s->cells * z->materials * z->medium_coefs + 1;
    if (has_stage(variant, HT_STAGE_STEP))
        most = (face > evolve ? face : evolve) + medium;
    if (has_stage(variant, HT_STAGE_EVOLVE)) most = evolve + medium;
    if (has_stage(variant, HT_STAGE_INTERPOLATE_ROLLED) && face > most)
        most = face;
    if (has_stage(variant, HT_STAGE_INTERPOLATE_NAIVE) && z->cube > most)
        most = z->cube;
    return most;
}

/* Gives up the largest slabs and face batches until the kernels fit. */
static bool fit(const struct ht_variant *variant, const struct ht_sizes *z,
                int64_t limit, int word, struct ht_shape *s) {
    s->slabs = z->t3;
    s->face_fields = z->sources;
    while (local_values(variant, z, s) * word > limit) {
        bool faces = face_size(z, s) >= evolve_size(z, s) || s->slabs == 1;
        if (faces && s->face_fields > 1)
            s->face_fields--;
        else if (s->slabs > 1)
            s->slabs--;
        else
            return false;
    }
    s->local_bytes = local_values(variant, z, s) * word;
    return true;
}

enum ht_err ht_variant_shape(const struct ht_tuning *tuning,
                             const struct ht_spec *spec,
                             const struct ht_device_info *info,
                             struct ht_shape *out) {
    /* NVIDIA's OpenCL reports 48 KiB but cannot launch a kernel that takes
     * all of it; a larger share would cost occupancy anyway. */
    const int64_t most_local = 48128; /* 47 KiB */
    const struct ht_variant *variant = tuning->variant;
    const char *reason = ht_variant_refuses(variant, spec);
    const char *lacks = ht_variant_lacks(variant, info);
    struct ht_sizes z = ht_sizes_of(spec);
    int cells = tuning->cells;
    int word = spec->fp64 ? 8 : 4, column = z.t1 * z.t2;
    int64_t limit = info->local_memory < most_local ? info->local_memory - 1024
                                                    : most_local;
    if (reason != NULL) return refuse(variant, spec, reason);
    REQUIRE(lacks == NULL, HT_ERR_DEVICE,
            "device.variant = \"%s\" does not apply: %s; \"%s\" does",
            variant->name, lacks,
            ht_variant_find("auto", spec, info->gpu)->name);
    REQUIRE(!spec->fp64 || info->fp64, HT_ERR_DEVICE,
            "device.precision = \"double\": %s has no double precision",
            info->name);
    *out = (struct ht_shape){
        .rows = 1, .planes = tuning->planes, .lanes = 1, .naive_lanes = 1};
    if (variant->shape != NULL) return variant->shape(tuning, spec, info, out);
    if (variant->chains) z.exchanged = 2;
    REQUIRE(column <= info->max_group, HT_ERR_DEVICE,
            "order %d in %d dimensions needs groups of %d lanes; %s allows "
            "%lld: choose a lower grid.order",
            spec->order, spec->eq->dims, column, info->name,
            (long long)info->max_group);
    REQUIRE((int64_t)cells * column <= info->max_group, HT_ERR_INPUT,
            "device.cells_per_group = %d: %d lanes per cell, and %s allows "
            "%lld per group",
            cells, column, info->name, (long long)info->max_group);
    bool chosen = cells > 0;
    int wanted = info->max_group < 128 ? (int)info->max_group : 128;
    out->cells = chosen ? cells : wanted > column ? wanted / column : 1;
    while (!fit(variant, &z, limit, word, out)) {
        REQUIRE(!chosen && out->cells > 1, HT_ERR_DEVICE,
                "order %d with %d cells per group needs more local memory "
                "than the %lld bytes of %s",
                spec->order, out->cells, (long long)limit, info->name);
        out->cells /= 2;
    }
    out->lanes = out->cells * column;
    out->naive_lanes = column;
    return HT_OK;
}
