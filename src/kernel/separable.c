/* Host side of cl/separable.cl: one-dimensional half steps of advection,
 * u(x, dt/2) = u(x + shift, 0),  shift = sum of scale along the axis, so that
 * with the interpolant b of two neighbours along an axis
 *     out_r = sum_j C(j, r) shift^(j-r) b_j.
 * All derivatives commute, so the Taylor series with all stages is the product of the series along
 * the axes. */
#include "variant.h"

static const char *refuses(const struct ht_spec *spec) {
    const struct ht_equations *eq = spec->eq;
    bool one = eq->nfields == 1 && spec->old_sign == 0;
    for (int t = 0; t < eq->nterms; t++) one = one && eq->term[t].row == 0 && eq->term[t].col == 0;
    if (!one) return "the system is not one field advected by a velocity";
    if (spec->stages < eq->dims * (2 * spec->order + 1)) return "it needs time.stages = \"full\"";
    return NULL;
}

static HT_ERR choose_shape(const struct ht_tuning *tuning, const struct ht_spec *spec,
                           const struct ht_device_info *info, struct ht_shape *out) {
    const int most_values = spec->fp64 ? 32 : 72; /* registers of a face */
    struct ht_sizes z = ht_sizes_of(spec);
    TRY(ht_target_group(tuning, info, spec->eq->dims, out));
    out->tile = z.n1;
    while (out->tile > 1 && out->tile * z.n2 * z.n3 > most_values) out->tile = (out->tile + 1) / 2;
    out->parts = (z.n1 + out->tile - 1) / out->tile;
    return HT_OK;
}

static HT_ERR pack_axes(HT_UNUSED const struct ht_blocks *blocks, const struct ht_spec *spec,
                        HT_UNUSED const struct ht_shape *shape, struct ht_operator *out) {
    enum { MOST = 2 * HT_MAX_ORDER + 2 };
    double matrix[MOST * MOST], axis[3 * 2 * MOST * MOST / 4];
    int n = spec->order + 1, count = 0;
    ht_hermite_matrix(spec->order, matrix);
    for (int k = 0; k < 3; k++) {
        long double shift = 0;
        for (int t = 0; t < spec->eq->nterms; t++)
            if (spec->eq->term[t].axis == k) shift += spec->scale[t];
        for (int side = 0; side < 2; side++)
            for (int r = 0; r < n; r++)
                for (int i = 0; i < n; i++) {
                    long double sum = 0, power = 1;
                    double over = 1; /* C(j, r) */
                    for (int j = r; j < 2 * n; j++) {
                        sum += over * power * matrix[j * 2 * n + side * n + i];
                        power *= shift;
                        over = over * (j + 1) / (j + 1 - r);
                    }
                    axis[count++] = (double)sum;
                }
    }
    ht_text_table(&out->text, "axis", axis, count, spec->fp64);
    return HT_OK;
}

const struct ht_variant ht_variant_separable = {
    .name = "separable",
    .meaning = "a one-dimensional half step along each axis (constant velocity)",
    .uniform = true,
    .even_planes = 4,
    .refuses = refuses,
    .shape = choose_shape,
    .pack = pack_axes,
    .cost = ht_cost_operator,
    .files = {"packs.cl", "separable.cl"},
    .stage = {{HT_STAGE_OPERATOR, "ht_separable"}}};
