/* Host side of cl/propagator_warpgroup.cl: its shapes. */
#include "tensor.h"
#include "variant.h"

enum {
    CELLS = 16,      /* along x1, of two rows in two x3 planes: */
    ROWS = 2,        /* the 64 targets of a warpgroup */
    DEPTH = 2,       /* x3 planes at a time */
    WARPGROUP = 128, /* work-items */
    MOST_TILES = 32, /* of a part: what registers hold */
    TEAMS = 2,       /* most parts of a group */
    WHERE_BYTES = 8  /* of a result's place */
};

static const char *refuses(const struct ht_spec *spec) {
    const char *reason = ht_blocks_refuse(spec);
    if (reason != NULL) return reason;
    if (spec->fp64) return "it is for single precision";
    if (spec->eq->dims < 3) return "it is for three dimensions";
    if (spec->eq->nprofiles > 0) return "it does not compute absorbing layers";
    return spec->order < 2 ? "it needs grid.order = 2 or more" : NULL;
}

/* Of a group; all of a launch's local memory is given to it. */
static int64_t local_bytes(const struct ht_tensor_shape *s, int teams) {
    const int64_t chunk = (int64_t)s->pairs * 2 * teams * s->cut.all * 64 * 4;
    return 2 * chunk + s->data_bytes +
           (int64_t)teams * s->cut.all * 4 * WHERE_BYTES +
           (int64_t)s->chunks * 4 * s->pairs * 4;
}

static int teams_of(const struct ht_shape *shape) {
    return shape->group_size / WARPGROUP / (shape->rows / ROWS);
}

/* Groups of two warpgroups, of different parts where there are several. */
static enum ht_err choose_shape(const struct ht_tuning *tuning,
                                const struct ht_spec *spec,
                                const struct ht_device_info *info,
                                struct ht_shape *out) {
    const int parts = ht_tensor_parts(spec, MOST_TILES);
    const int teams = parts < TEAMS ? parts : TEAMS;
    const int rows = tuning->rows > 0 ? tuning->rows : ROWS * (TEAMS / teams);
    REQUIRE(tuning->cells == 0 || tuning->cells == CELLS, HT_ERR_INPUT,
            "device.cells_per_group = %d: this variant works on %d",
            tuning->cells, CELLS);
    REQUIRE(rows % ROWS == 0, HT_ERR_INPUT,
            "device.rows_per_group = %d: this variant needs a multiple of %d",
            rows, ROWS);
    const struct ht_tensor_shape s =
        ht_tensor_shape_of(spec, DEPTH, parts, CELLS, rows, 0);
    out->cells = CELLS;
    out->rows = rows;
    out->chunk = HT_TENSOR_CHUNK;
    out->parts = parts / teams;
    out->group_size = WARPGROUP * teams * (rows / ROWS);
    out->local_bytes = local_bytes(&s, teams);
    if (out->local_bytes > info->open_memory)
        return ht_local_too_little(spec, info, 0, info->open_memory);
    return HT_OK;
}

static enum ht_err pack(const struct ht_blocks *blocks,
                        const struct ht_spec *spec,
                        const struct ht_shape *shape, struct ht_operator *out) {
    const int teams = teams_of(shape);
    const struct ht_tensor_order order = {
        .depth = DEPTH, .parts = shape->parts * teams, .teams = teams};
    ht_text_add(&out->text, "#define HT_TEAMS %d\n", teams);
    return ht_tensor_pack(blocks, spec, &order, shape, out);
}

const struct ht_variant ht_variant_propagator_warpgroup = {
    .name = "propagator-warpgroup",
    .meaning = "as propagator-planes, by products of warpgroups, which "
               "architecture 9.0 has through CUDA (uniform media)",
    .medium = HT_UNIFORM,
    .blocks = true,
    .refuses = refuses,
    .layouts = HT_READS_SORTED,
    .ptx = 90,
    .ptx_own = true,
    .open_memory = true,
    .made_for = HT_FOR_GPU,
    .counts32 = true,
    .shape = choose_shape,
    .cost = ht_cost_dense,
    .pack = pack,
    .files = {"common.cl", "packs.cl", "ptx.cl", "vertices.cl", "tf32.cl",
              "wgmma.cl", "planes.cl", "propagator_warpgroup.cl"},
    .stage = {{HT_STAGE_OPERATOR, "ht_propagator_warpgroup"}}};
