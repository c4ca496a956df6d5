/* Host side of cl/separable.cl and cl/separable_team.cl: one-dimensional half
 * steps of advection, u(x, dt/2) = u(x + shift, 0),  shift = sum of scale along
 * the axis, so that with the interpolant b of two neighbours along an axis
 *     out_r = sum_j C(j, r) shift^(j-r) b_j.
 * All derivatives commute, so the Taylor series with all stages is the product
 * of the series along the axes.
 */
#include <stdlib.h>

#include "local_sizes.h"
#include "variant.h"

static const char *refuses(const struct ht_spec *spec) {
    const struct ht_equations *eq = spec->eq;
    bool one = eq->nfields == 1 && spec->old_sign == 0;
    for (int t = 0; t < eq->nterms; t++)
        one = one && eq->term[t].row == 0 && eq->term[t].col == 0;
    if (!one) return "the system is not one field advected by a velocity";
    if (spec->stages < eq->dims * (2 * spec->order + 1))
        return "it needs time.stages = \"full\"";
    return NULL;
}

static enum ht_err choose_shape(const struct ht_tuning *tuning,
                                const struct ht_spec *spec,
                                const struct ht_device_info *info,
                                struct ht_shape *out) {
    const int most_values = spec->fp64 ? 32 : 72; /* registers of a face */
    struct ht_sizes z = ht_sizes_of(spec);
    int dims = spec->eq->dims;
    TRY(ht_target_group(tuning, info, dims, out));
    out->tile = z.n1;
    while (out->tile > 1 && out->tile * z.n2 * z.n3 > most_values)
        out->tile = (out->tile + 1) / 2;
    out->parts = (z.n1 + out->tile - 1) / out->tile;
    return HT_OK;
}

/* ---- teams ---- */

enum { WARP = 32 };

static const char *team_refuses(const struct ht_spec *spec) {
    if (spec->eq->dims < 3) return "it is for three dimensions";
    return refuses(spec);
}

/* Measured on an H100 (bench/NOTES.md). */
static bool team_pays(const struct ht_spec *spec) {
    return spec->order > (spec->fp64 ? 3 : 2);
}

/* Values of r1 of a work-item: half of them where registers then hold two slabs
 * of source nodes and the results in a face and below, and else do not. */
static int team_tile(const struct ht_spec *spec) {
    const int n1 = spec->order + 1, most_words = 230;
    const int half = (n1 + 1) / 2, words = 2 * n1 * (spec->fp64 ? 2 : 1);
    const bool whole = words * (n1 + n1) <= most_words;
    return whole || words * (half + n1) > most_words ? n1 : half;
}

static enum ht_err team_shape(const struct ht_tuning *tuning,
                              const struct ht_spec *spec,
                              const struct ht_device_info *info,
                              struct ht_shape *out) {
    const struct ht_sizes z = ht_sizes_of(spec);
    const int64_t limit = ht_local_limit(info), most = info->max_group;
    const int64_t cube = (int64_t)z.n1 * z.n2 * z.n3;
    const int64_t cell =
        (int64_t)2 * (spec->fp64 ? 8 : 4) * HT_SIZE_TEAM_CUBE(cube, (int64_t)1);
    out->tile = team_tile(spec);
    const int team = z.n1 * ((z.n1 + out->tile - 1) / out->tile);
    out->rows = 1;
    out->cells = tuning->cells > 0 ? tuning->cells : WARP;
    while (tuning->cells == 0 && out->cells > 1 &&
           (cell * out->cells > limit || (int64_t)out->cells * team > most))
        out->cells /= 2;
    TRY(ht_group_fits(out->cells, team, info));
    out->group_size = out->cells * team;
    out->local_bytes = cell * out->cells;
    /* three groups on a multiprocessor */
    out->registers = !spec->fp64 && spec->order <= 4 ? 128 : 0;
    if (out->local_bytes > limit)
        return ht_local_too_little(spec, info, out->cells, limit);
    return HT_OK;
}

/* ---- operators ---- */

static double binomial(int n, int k) {
    double value = 1;
    for (int i = 1; i <= k; i++) value = value * (n - k + i) / i;
    return value;
}

static enum ht_err pack_axes(const struct ht_blocks *blocks,
                             const struct ht_spec *spec,
                             const struct ht_shape *shape,
                             struct ht_operator *out) {
    enum { MOST = 2 * HT_MAX_ORDER + 2 };
    double matrix[MOST * MOST], axis[3 * 2 * MOST * MOST / 4];
    int n = spec->order + 1, count = 0;
    (void)blocks;
    (void)shape;
    ht_hermite_matrix(spec->order, matrix);
    for (int k = 0; k < 3; k++) {
        long double shift = 0;
        for (int t = 0; t < spec->eq->nterms; t++)
            if (spec->eq->term[t].axis == k) shift += spec->scale[t];
        for (int side = 0; side < 2; side++)
            for (int r = 0; r < n; r++)
                for (int i = 0; i < n; i++) {
                    long double sum = 0, power = 1;
                    for (int j = r; j < 2 * n; j++) {
                        sum += binomial(j, r) * power *
                               matrix[j * 2 * n + side * n + i];
                        power *= shift;
                    }
                    axis[count++] = (double)sum;
                }
    }
    ht_text_table(&out->text, "axis", axis, count, spec->fp64);
    return HT_OK;
}

const struct ht_variant ht_variant_separable = {
    .name = "separable",
    .meaning = "a one-dimensional half step along each axis (constant "
               "velocity)",
    .medium = HT_UNIFORM,
    .layouts = HT_READS_PLAIN,
    .even_planes = 4,
    .refuses = refuses,
    .shape = choose_shape,
    .pack = pack_axes,
    .cost = ht_cost_separable,
    .files = {"common.cl", "packs.cl", "ptx.cl", "separable_axes.cl",
              "separable.cl"},
    .stage = {{HT_STAGE_OPERATOR, "ht_separable"}}};

const struct ht_variant ht_variant_separable_team = {
    .name = "separable-team",
    .meaning =
        "as separable, each target by a team of work-items; advection in "
        "three dimensions at high orders",
    .medium = HT_UNIFORM,
    .layouts = HT_READS_PLAIN,
    .made_for = HT_FOR_GPU,
    .refuses = team_refuses,
    .pays = team_pays,
    .shape = team_shape,
    .pack = pack_axes,
    .cost = ht_cost_separable,
    .files = {"common.cl", "packs.cl", "ptx.cl", "separable_axes.cl",
              "separable_team.cl"},
    .stage = {{HT_STAGE_OPERATOR, "ht_separable_team"}}};
