/* Host side of cl/parity_team.cl. */
#include "local_sizes.h"
#include "team_series.h"

/* Whether a variant can compute a spec in the place of this one. */
static bool applies(const struct ht_variant *other,
                    const struct ht_spec *spec) {
    return ht_variant_refuses(other, spec) == NULL;
}

/* Measured on an H200 (bench/NOTES_team.md): at N = 4 as fast as products of
 * tensor cores, with less rounding. Without the local memory that launches by
 * CUDA give, the highest orders do not fit in double precision. */
static bool pays(const struct ht_spec *spec) {
    if (!spec->fp64) return spec->order > 3;
    if (spec->order > 6 && !spec->ptx_own) return false;
    if (!applies(&ht_variant_propagator_planes, spec)) return spec->order > 2;
    return spec->order > (spec->ptx_own ? 3 : 4);
}

/* Values of the kernel's own tables. */
static int table_values(const struct ht_spec *spec) {
    const int n1 = spec->order + 1;
    return (4 * n1 + 6) * ht_team_line(spec) + 4 * n1;
}

/* Along x1: to the positions that powers take from twice the coefficients; the
 * derivative of v_1, in those. */
static void put_scales(struct ht_team_series *s) {
    for (int odd = 0; odd < 2; odd++)
        for (int b = 0; b < s->n1; b++)
            ht_team_put(s, 0.5L * ht_team_scale(s, 0, odd, b));
    for (int odd = 0; odd < 2; odd++)
        for (int b = 0; b < s->n1; b++)
            ht_team_put(s, odd && b == s->n1 - 1
                               ? 0
                               : 0.5L * ht_team_scale(s, 0, odd, b) *
                                     s->alpha[0] * (2 * b + odd + 1));
}

static enum ht_err pack_series(const struct ht_blocks *blocks,
                               const struct ht_spec *spec,
                               const struct ht_shape *shape,
                               struct ht_operator *out) {
    struct ht_team_series s;
    (void)blocks;
    TRY(ht_team_start(spec, (struct ht_team_axes){0, 1, 2}, table_values(spec),
                      &s));
    for (int axis = 1; axis < 3; axis++)
        for (int odd = 0; odd < 2; odd++) ht_team_put_lines(&s, axis, odd);
    for (int axis = 1; axis < 3; axis++)
        for (int odd = 0; odd < 2; odd++) ht_team_put_top(&s, axis, odd);
    for (int axis = 1; axis < 3; axis++) ht_team_put_next(&s, axis);
    put_scales(&s);
    ht_team_finish(&s, shape->roll ? 2 : 1, &out->text);
    return HT_OK;
}

/* ---- shape ---- */

static int64_t local_bytes(const struct ht_spec *spec,
                           const struct ht_shape *shape) {
    const int64_t wide = spec->fp64 ? 2 : 4, n1 = spec->order + 1;
    const int64_t h = ht_team_results(spec);
    const int64_t row = ht_team_row(spec, shape->roll ? 2 : 1);
    const int64_t values =
        shape->cells * HT_SIZE_TEAM_ROWS(wide, HT_TEAM_CLASSES * n1, row) +
        HT_SIZE_TEAM_LOWS((int64_t)shape->cells, h) + ht_team_tables(spec) +
        table_values(spec);
    return ht_divide_up(values, wide) * 16;
}

/* Measured on an H200 (bench/NOTES_team.md): registers with which more groups
 * are worth what does not fit into them; 0: all. */
static int registers_for(const struct ht_spec *spec) {
    if (spec->fp64) return spec->order < 6 ? 168 : 0;
    if (spec->order < 4) return 96;
    return spec->order < 5 ? 128 : spec->order < 6 ? 168 : 0;
}

/* Four cells make a warp of the work-items of one position. Rows hold planes of
 * both scalars where no cells or groups are lost by it. */
static enum ht_err choose_shape(const struct ht_tuning *tuning,
                                const struct ht_spec *spec,
                                const struct ht_device_info *info,
                                struct ht_shape *out) {
    const int all = 65536; /* registers of a multiprocessor */
    out->registers = registers_for(spec);
    TRY(ht_team_shape(tuning, spec, info, local_bytes, out));
    const int64_t groups =
        info->open_memory > 0 && out->registers > 0
            ? ht_most(1, all / (out->registers * out->group_size))
            : 1;
    out->roll = true;
    out->roll = groups * local_bytes(spec, out) <= ht_team_limit(info);
    out->local_bytes = local_bytes(spec, out);
    return HT_OK;
}

const struct ht_variant ht_variant_parity_team = {
    .name = "parity-team",
    .meaning = "as parity-chains, each class of a target by a team of "
               "work-items; in three dimensions at high orders (media constant "
               "per node)",
    .medium = HT_PER_NODE,
    .series = true,
    .layouts = HT_READS_PLAIN,
    .refuses = ht_team_refuses,
    .pays = pays,
    .made_for = HT_FOR_GPU,
    .counts32 = true,
    .open_memory = true,
    .shape = choose_shape,
    .pack = pack_series,
    .cost = ht_cost_series,
    .files = {"common.cl", "packs.cl", "wide.cl", "ptx.cl", "vertices.cl",
              "partners.cl", "team_series.cl", "parity_team.cl"},
    .stage = {{HT_STAGE_STEP, "ht_parity_team"}}};
