/* Host side of cl/propagator_warpgroup.cl: shapes of groups that are one warpgroup.
 */
#include "local_sizes.h"
#include "tensor.h"
#include "variant.h"

enum {
    WARPGROUP = 128, /* work-items */
    TARGETS = 64,    /* of a group */
    DEPTH = 2,       /* x3 planes at a time of cl/propagator_warpgroup.cl */
    MOST_TILES = 32  /* of a part: what registers hold */
};

static const char *refuses(const struct ht_spec *spec) {
    const char *reason = ht_blocks_refuse(spec);
    if (reason != NULL) return reason;
    if (spec->fp64) return "it is for single precision";
    if (spec->eq->dims < 3) return "it is for three dimensions";
    return spec->order < 2 ? "it needs grid.order = 2 or more" : NULL;
}

/* Where products are narrow, those of a warp are as fast or faster (bench/NOTES.md). */
static bool pays(const struct ht_spec *spec) {
    const int fields = spec->eq->nfields;
    const int both = ht_slots(spec->src, fields) + ht_slots(spec->dst, fields);
    return spec->order > 3 || both > 4 || (spec->order == 3 && both > 2);
}

/* The operator of two chunks, the source nodes of two, places of results and parities. */
static int64_t local_bytes(const struct ht_tensor_shape *s) {
    const int64_t chunk = 4 * HT_SIZE_HALVES((int64_t)s->pairs, s->cut.all);
    const int64_t places = (int64_t)s->cut.all * 4 * 8;
    return 2 * chunk + s->data_bytes + places + (int64_t)s->chunks * 4 * s->pairs * 4;
}

static enum ht_err choose_shape(const struct ht_tuning *tuning, const struct ht_spec *spec,
                                const struct ht_device_info *info, struct ht_shape *out) {
    const int rows = 2, cells = TARGETS / DEPTH / rows;
    const int parts = ht_tensor_parts(spec, MOST_TILES);
    REQUIRE(tuning->cells == 0 || tuning->cells == cells, HT_ERR_INPUT,
            "this variant works on %d cells per group", cells);
    REQUIRE(tuning->rows == 0 || tuning->rows == rows, HT_ERR_INPUT,
            "%d rows per group: this variant works on %d", tuning->rows, rows);
    const struct ht_tensor_shape s = ht_tensor_shape_of(spec, DEPTH, parts, cells, rows, 0);
    out->cells = cells;
    out->rows = rows;
    out->chunk = HT_TENSOR_CHUNK;
    out->parts = parts;
    out->depth = DEPTH;
    out->group_size = WARPGROUP;
    out->local_bytes = local_bytes(&s);
    if (out->local_bytes > info->open_memory)
        return ht_local_too_little(spec, info, 0, info->open_memory);
    return HT_OK;
}

static enum ht_err pack(const struct ht_blocks *blocks, const struct ht_spec *spec,
                        const struct ht_shape *shape, struct ht_operator *out) {
    const struct ht_tensor_order order = {.depth = DEPTH, .halves = true};
    return ht_tensor_pack(blocks, spec, &order, shape, out);
}

const struct ht_variant ht_variant_propagator_warpgroup = {
    .name = "propagator-warpgroup",
    .meaning = "as propagator-planes, by products of warpgroups, which "
               "architecture 9.0 has through CUDA (uniform media)",
    HT_BLOCKS_ON_GPU,
    .refuses = refuses,
    .pays = pays,
    .sorted = true,
    .ptx = 90,
    .ptx_own = true,
    .open_memory = true,
    .shape = choose_shape,
    .pack = pack,
    .files = {"common.cl", "packs.cl", "ptx.cl", "vertices.cl", "tf32.cl", "wgmma.cl",
              "operator.cl", "chunks.cl", "planes.cl", "propagator_warpgroup.cl"},
    .stage = {{HT_STAGE_OPERATOR, "ht_propagator_warpgroup"}}};
