/* Host side of cl/propagator_local.cl: sizes of tiles and chunks for a device, and the operator in
 * the order in which the kernel reads it. */
#include "blocks.h"
#include "variant.h"

/* How the rows of all blocks are divided into tiles. */
struct tiles {
    int rows; /* of a tile */
    int count;
};

static int wide_of(const struct ht_spec *spec) {
    return spec->fp64 ? 2 : 4; /* HT_WIDE: 16 bytes */
}

static const char *refuses(const struct ht_spec *spec) {
    if (spec->eq->dims < 2) return "it needs two or three dimensions";
    return ht_blocks_refuse(spec);
}

static int count_tiles(const struct ht_spec *spec, int tile) {
    int rows[8], count = 0;
    ht_blocks_rows(spec, rows);
    for (int g = 0; g < 1 << spec->eq->dims; g++) count += (rows[g] + tile - 1) / tile;
    return count;
}

/* Multiply-adds of padded rows, and the reads of sums that a tile's rows share:
 * least for rows * (1 + 2 / tile). */
static struct tiles choose_tiles(const struct ht_spec *spec) {
    const int wide = wide_of(spec), most = 16;
    struct tiles best = {0};
    double least = 0;
    for (int rows = wide; rows <= most; rows += wide) {
        const int count = count_tiles(spec, rows);
        const double cost = rows * count * (1 + 2.0 / rows);
        if (best.rows > 0 && cost >= least) continue;
        best = (struct tiles){rows, count};
        least = cost;
    }
    return best;
}

static int64_t local_bytes(const struct ht_spec *spec, const struct ht_shape *s, int tiles) {
    const int64_t sums = (int64_t)s->cells << spec->eq->dims;
    const int64_t values = (int64_t)tiles * s->tile / wide_of(spec);
    return 16 * (sums + values) * s->chunk;
}

/* Parts: as many as groups of the device's size need. A chunk gives each work-item the sums of one
 * entry, or of fewer where local memory has no room. Measured on an H200 (bench/NOTES.md): 32 cells
 * and all of the local memory, not 16 cells or half of it, which more groups would share. */
static enum ht_err choose_shape(const struct ht_tuning *tuning, const struct ht_spec *spec,
                                const struct ht_device_info *info, struct ht_shape *out) {
    const int most = info->max_group < 512 ? (int)info->max_group : 512;
    const struct tiles tiles = choose_tiles(spec);
    out->cells = tuning->cells > 0 ? tuning->cells : most < 32 ? most : 32;
    out->rows = wide_of(spec);
    out->tile = tiles.rows;
    REQUIRE(out->cells <= most, HT_ERR_INPUT, "must be at most %d", most);
    out->parts = (int)ht_divide_up(tiles.count, most / out->cells);
    const int own = (tiles.count + out->parts - 1) / out->parts;
    out->group_size = own * out->cells;
    out->chunk = own;
    while (out->chunk > 1 && local_bytes(spec, out, own) > ht_local_limit(info)) out->chunk--;
    out->local_bytes = local_bytes(spec, out, own);
    if (out->local_bytes > ht_local_limit(info))
        return ht_local_too_little(spec, info, out->cells, ht_local_limit(info));
    return HT_OK;
}

/* The tiles of all blocks one after the other: block and first row. */
static int place_tiles(const struct ht_blocks *blocks, int rows, int *block, int *first) {
    int count = 0;
    for (int g = 0; g < blocks->blocks; g++)
        for (int r = 0; r < blocks->rows[g]; r += rows) {
            block[count] = g;
            first[count++] = r;
        }
    return count;
}

/* op[part][chunk][entry][tile][row]. */
static void put_values(const struct ht_blocks *blocks, const struct ht_shape *shape, int own,
                       int count, const int *block, const int *first, int entries,
                       struct ht_operator *out) {
    for (int part = 0; part < shape->parts; part++)
        for (int s = 0; s < entries; s++)
            for (int n = 0; n < own * shape->tile; n++) {
                const int t = part * own + n / shape->tile;
                const int r = t < count ? first[t] + n % shape->tile : HT_MAX_COEFS * 8;
                const int g = t < count ? block[t] : 0;
                out->value[out->count++] = s < blocks->sources && r < blocks->rows[g]
                                               ? blocks->entry[g][(int64_t)r * blocks->sources + s]
                                               : 0;
            }
}

static enum ht_err pack_tiles(const struct ht_blocks *blocks, const struct ht_spec *spec,
                              const struct ht_shape *shape, struct ht_operator *out) {
    const int own = shape->group_size / shape->cells, all = own * shape->parts;
    const int sources = ht_slots(spec->src, spec->eq->nfields) * ht_spec_coefs(spec);
    const int chunks = (sources + shape->chunk - 1) / shape->chunk;
    const int entries = chunks * shape->chunk;
    HT_FREED int *block = NULL, *first = NULL, *target = NULL;
    TRY(HT_ALLOC(block, all));
    TRY(HT_ALLOC(first, all));
    TRY(HT_ALLOC(target, all * shape->tile));
    TRY(HT_ALLOC(out->value, (int64_t)entries * all * shape->tile));
    const int count = place_tiles(blocks, shape->tile, block, first);
    for (int n = 0; n < all * shape->tile; n++) {
        const int t = n / shape->tile, r = first[t] + n % shape->tile;
        target[n] = t < count && r < blocks->rows[block[t]] ? blocks->row[block[t]][r] : -1;
    }
    put_values(blocks, shape, own, count, block, first, entries, out);
    ht_text_add(&out->text, "#define HT_TILES %d\n#define HT_PARTS %d\n", own, shape->parts);
    ht_text_ints(&out->text, "tile_block", block, all);
    ht_text_ints(&out->text, "row_target", target, all * shape->tile);
    ht_text_ints(&out->text, "bits", blocks->parity, blocks->sources);
    return HT_OK;
}

const struct ht_variant ht_variant_propagator_local = {
    .name = "propagator-local",
    .meaning =
        "the half step as dense parity blocks through local memory, for any GPU (uniform media)",
    HT_BLOCKS_ON_GPU,
    .refuses = refuses,
    .shape = choose_shape,
    .pack = pack_tiles,
    .files = {"common.cl", "vertices.cl", "propagator_local.cl"},
    .stage = {{HT_STAGE_OPERATOR, "ht_propagator_local"}}};
