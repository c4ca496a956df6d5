/* Host side of cl/parity_faces.cl. */
#include "local_sizes.h"
#include "team_series.h"

/* Measured on an H100 (bench/NOTES_team.md). Above, and in double precision,
 * local memory holds too few cells. */
static bool pays(const struct ht_spec *spec) {
    return spec->ptx_own && !spec->fp64 && spec->order > 3 && spec->order < 7;
}

enum { SLOPES = 4 };

/* The derivative of positions along an axis, by the parity of e. */
static void put_slopes(struct ht_team_series *s, int axis) {
    ht_team_put(s, s->alpha[axis]);
    ht_team_put(s, s->alpha[axis] / s->ratio[axis]);
}

static enum ht_err pack_series(const struct ht_blocks *blocks,
                               const struct ht_spec *spec,
                               const struct ht_shape *shape,
                               struct ht_operator *out) {
    struct ht_team_series s;
    (void)blocks;
    (void)shape;
    TRY(ht_team_start(spec, (struct ht_team_axes){2, 0, 1},
                      6 * (spec->order + 1) * ht_team_line(spec), &s));
    const int begin = s.count, roles[] = {2, 0, 1};
    for (int role = 0; role < 3; role++)
        for (int odd = 0; odd < 2; odd++)
            ht_team_put_lines(&s, roles[role], odd);
    ht_team_take(&s, begin, "team_lines", &out->text);
    for (int odd = 0; odd < 2; odd++) ht_team_put_top(&s, 2, odd);
    ht_team_take(&s, begin, "team_top", &out->text);
    ht_team_put_next(&s, 2);
    ht_team_take(&s, begin, "team_next", &out->text);
    for (int axis = 0; axis < 2; axis++) put_slopes(&s, axis);
    ht_team_pad(&s);
    ht_team_finish(&s, 1, &out->text);
    return HT_OK;
}

/* ---- shape ---- */

static int64_t local_bytes(const struct ht_spec *spec,
                           const struct ht_shape *shape) {
    const int64_t wide = spec->fp64 ? 2 : 4, n1 = spec->order + 1;
    const int64_t h = ht_team_results(spec), cells = shape->cells;
    const int64_t cell = HT_SIZE_FACE_CELL(wide, n1, n1 * n1);
    const int64_t fields = 2 * HT_SIZE_FACE_FIELD(wide, cells, cell);
    const int64_t rows = cells * HT_SIZE_TEAM_ROWS(wide, HT_TEAM_CLASSES * n1,
                                                   ht_team_row(spec, 1));
    const int64_t values =
        2 * HT_SIZE_FACE_HALF(fields, rows) + HT_SIZE_TEAM_LOWS(cells, h) +
        HT_SIZE_KEPT(cells, n1, h * h) + ht_team_tables(spec) + SLOPES;
    return ht_divide_up(values, wide) * 16;
}

/* Measured there, too: registers with which three and two groups fit; 0: all.
 */
static int registers_for(const struct ht_spec *spec) {
    return spec->order < 5 ? 128 : spec->order < 6 ? 168 : 0;
}

static enum ht_err choose_shape(const struct ht_tuning *tuning,
                                const struct ht_spec *spec,
                                const struct ht_device_info *info,
                                struct ht_shape *out) {
    out->registers = registers_for(spec);
    out->roll = spec->order > 4; /* with as few registers it is slower */
    return ht_team_shape(tuning, spec, info, local_bytes, out);
}

const struct ht_variant ht_variant_parity_faces = {
    .name = "parity-faces",
    .meaning = "as parity-team, what was computed of the lower face of a "
               "target kept, for devices with much local memory",
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
              "partners.cl", "team_series.cl", "parity_faces.cl"},
    .stage = {{HT_STAGE_STEP, "ht_parity_faces"}}};
