/* Variants with a work-item for each column n3 = 0, 1, .. of a target's coefficients: interpolation
 * by faces or cell by cell, then the Taylor series with exchanges through local memory, in one
 * kernel or two (cl/common.cl, face.cl, evolve.cl). */
#include "variant.h"

/* ---- local memory, in values ---- */

static int64_t face_size(const struct ht_sizes *z, const struct ht_shape *s) {
    return (int64_t)s->cells * s->face_fields * z->n3 * z->t2 * (z->t1 + 1);
}

static int64_t evolve_size(const struct ht_sizes *z, const struct ht_shape *s) {
    int64_t items = 2 * (int64_t)s->cells * z->t1 * z->t2;
    int64_t exchange = items * s->slabs * z->exchanged;
    if (z->medium_coefs == 0) return exchange;
    return exchange + items * z->groups;
}

/* Local memory of the kernel that needs most. */
static int64_t local_values(const struct ht_variant *variant, const struct ht_sizes *z,
                            const struct ht_shape *s) {
    int64_t face = face_size(z, s), evolve = evolve_size(z, s), most = 0;
    int64_t medium = (int64_t)s->cells * z->materials * z->medium_coefs;
    if (ht_variant_has(variant, HT_STAGE_STEP)) most = (face > evolve ? face : evolve) + medium;
    if (ht_variant_has(variant, HT_STAGE_EVOLVE)) most = evolve + medium;
    if (ht_variant_has(variant, HT_STAGE_INTERPOLATE_ROLLED) && face > most) most = face;
    if (ht_variant_has(variant, HT_STAGE_INTERPOLATE_NAIVE) && z->cube > most) most = z->cube;
    return most;
}

/* Reduces slabs and face batches until the kernels fit local memory. */
static bool fit(const struct ht_variant *variant, const struct ht_sizes *z, int64_t limit,
                int element_size, struct ht_shape *s) {
    s->slabs = z->t3;
    s->face_fields = z->sources;
    while (local_values(variant, z, s) * element_size > limit) {
        if ((face_size(z, s) >= evolve_size(z, s) || s->slabs == 1) && s->face_fields > 1)
            s->face_fields--;
        else if (s->slabs > 1)
            s->slabs--;
        else
            break;
    }
    s->local_bytes = local_values(variant, z, s) * element_size;
    return s->local_bytes <= limit;
}

static HT_ERR choose_shape(const struct ht_tuning *tuning, const struct ht_spec *spec,
                           const struct ht_device_info *info, struct ht_shape *out) {
    const struct ht_variant *variant = tuning->variant;
    const struct ht_sizes z = ht_sizes_of(spec);
    int cells = tuning->cells;
    int element_size = ht_real_size(spec->fp64), column = z.t1 * z.t2;
    REQUIRE(column <= info->max_group, HT_ERR_DEVICE,
            "order %d in %d dimensions needs groups of %d work-items; %s allows %lld: choose a "
            "lower grid.order",
            spec->order, spec->eq->dims, column, info->name, (long long)info->max_group);
    REQUIRE((int64_t)cells * column <= info->max_group, HT_ERR_INPUT,
            "%d work-items per cell, and %s allows %lld per group", column, info->name,
            (long long)info->max_group);
    bool chosen = cells > 0;
    int wanted = info->max_group < 128 ? (int)info->max_group : 128;
    out->cells = chosen ? cells : wanted > column ? wanted / column : 1;
    while (!fit(variant, &z, ht_local_limit(info), element_size, out) && !chosen && out->cells > 1)
        out->cells /= 2;
    out->group_size = out->cells * column;
    return HT_OK;
}

/* ---- rows ---- */

#define OF_COLUMNS .series = true, .shape = choose_shape, .cost = ht_cost_series

const struct ht_variant ht_variant_monolithic = {
    .name = "monolithic",
    .meaning = "interpolation and evolution in one kernel, marching along x3",
    OF_COLUMNS,
    .any_order = true,
    .layers = true,
    .files = {"face.cl", "evolve.cl", "targets.cl", "monolithic.cl"},
    .stage = {{HT_STAGE_STEP, "ht_monolithic"}}};

const struct ht_variant ht_variant_two_rolled = {
    .name = "two-rolled",
    .meaning = "two kernels; interpolation marches along x3",
    OF_COLUMNS,
    .layers = true,
    .files = {"face.cl", "evolve.cl", "targets.cl", "polynomials.cl", "interpolate_rolled.cl"},
    .stage = {{HT_STAGE_INTERPOLATE_ROLLED, "ht_interpolate_rolled"},
              {HT_STAGE_EVOLVE, "ht_evolve_polynomials"}}};

const struct ht_variant ht_variant_two_naive = {
    .name = "two-naive",
    .meaning = "two kernels; interpolation cell by cell without reuse",
    OF_COLUMNS,
    .files = {"face.cl", "evolve.cl", "targets.cl", "polynomials.cl", "vertex.cl",
              "interpolate_naive.cl"},
    .stage = {{HT_STAGE_INTERPOLATE_NAIVE, "ht_interpolate_naive"},
              {HT_STAGE_EVOLVE, "ht_evolve_polynomials"}}};

const struct ht_variant ht_variant_gemm = {
    .name = "gemm",
    .meaning = "interpolation as matrix products by CLBlast, for comparison",
    OF_COLUMNS,
    .files = {"face.cl", "evolve.cl", "targets.cl", "polynomials.cl", "vertex.cl", "gather.cl"},
    .stage = {{HT_STAGE_INTERPOLATE_GEMM, "ht_gather"},
              {HT_STAGE_EVOLVE, "ht_evolve_polynomials"}}};
