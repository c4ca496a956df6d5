/* Host side of cl/propagator_local.cl: sizes of tiles and chunks for a device, and the operator in
 * the order in which the kernel reads it. */
#include "blocks.h"
#include "variant.h"

static int wide_of(const struct ht_spec *spec) {
    return spec->fp64 ? 2 : 4; /* HT_WIDE: 16 bytes */
}

static int64_t local_bytes(const struct ht_spec *spec, const struct ht_shape *s, int tiles) {
    const int64_t sums = (int64_t)s->cells << spec->eq->dims;
    const int64_t values = (int64_t)tiles * s->tile / wide_of(spec);
    return 16 * (sums + values) * s->chunk;
}

/* Parts: as many as groups of the device's size need. A chunk gives each work-item the sums of one
 * entry, or of fewer where local memory has no room. Measured on an H200 (bench/NOTES.md): 32 cells
 * and all of the local memory, not 16 cells or half of it, which more groups would share. */
static HT_ERR choose_shape(const struct ht_tuning *tuning, const struct ht_spec *spec,
                           const struct ht_device_info *info, struct ht_shape *out) {
    const int most = info->max_group < 512 ? (int)info->max_group : 512;
    int rows[8];
    ht_blocks_rows(spec, rows);
    out->cells = tuning->cells > 0 ? tuning->cells : most < 32 ? most : 32;
    out->rows = wide_of(spec);
    out->tile = ht_blocks_tile(rows, wide_of(spec), 16, 2);
    const int tiles = ht_blocks_padded(rows, out->tile) / out->tile;
    REQUIRE(out->cells <= most, HT_ERR_INPUT, "must be at most %d", most);
    out->parts = (int)ht_divide_up(tiles, most / out->cells);
    const int own = (tiles + out->parts - 1) / out->parts;
    out->group_size = own * out->cells;
    out->chunk = own;
    while (out->chunk > 1 && local_bytes(spec, out, own) > ht_local_limit(info)) out->chunk--;
    out->local_bytes = local_bytes(spec, out, own);
    return HT_OK;
}

/* op[part][chunk][entry][tile][row]. */
static HT_ERR pack_tiles(const struct ht_blocks *blocks, const struct ht_spec *spec,
                         const struct ht_shape *shape, struct ht_operator *out) {
    const int own = shape->group_size / shape->cells, tile = shape->tile;
    const int all = own * shape->parts, rows = all * tile;
    const int64_t entries = ht_divide_up(blocks->sources, shape->chunk) * shape->chunk;
    int first[9];
    HT_ARRAY(int, block, all);
    HT_ARRAY(int, target, rows);
    HT_ARRAY(const double *, entry, rows);
    TRY(HT_ALLOC(out->value, entries * rows));
    ht_blocks_pad(blocks, tile, first, target, entry);
    for (int r = first[blocks->blocks]; r < rows; r++) target[r] = -1;
    for (int g = 0; g < blocks->blocks; g++)
        for (int r = first[g]; r < first[g + 1]; r += tile) block[r / tile] = g;
    for (int r = 0; r < rows; r += own * tile)
        for (int64_t s = 0; s < entries; s++)
            for (int n = r; n < r + own * tile; n++)
                out->value[out->count++] =
                    s < blocks->sources && entry[n] != NULL ? entry[n][s] : 0;
    ht_text_add(&out->text, "#define HT_TILES %d\n#define HT_PARTS %d\n#define HT_PACK %d\n", own,
                shape->parts, wide_of(spec));
    ht_text_ints(&out->text, "tile_block", block, all);
    ht_text_ints(&out->text, "row_target", target, rows);
    ht_text_ints(&out->text, "bits", blocks->parity, blocks->sources);
    return HT_OK;
}

const struct ht_variant ht_variant_propagator_local = {
    .name = "propagator-local",
    .meaning =
        "the half step as dense parity blocks through local memory, for any GPU (uniform media)",
    HT_BLOCKS_ON_GPU,
    .dims = 2,
    .shape = choose_shape,
    .pack = pack_tiles,
    .files = {"packs.cl", "vertices.cl", "propagator_local.cl"},
    .stage = {{HT_STAGE_OPERATOR, "ht_propagator_local"}}};
