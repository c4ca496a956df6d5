/* Host side of cl/propagator_lanes.cl: its shape, and the operator as literals. */
#include "blocks.h"
#include "variant.h"

enum { WARP = 32 };

enum { MOST_STAGES = 4 };

static int64_t entries_of(const struct ht_spec *spec) {
    const struct ht_sizes z = ht_sizes_of(spec);
    return (int64_t)z.sources * z.coefs * z.targets * z.coefs;
}

static const char *refuses(const struct ht_spec *spec) {
    const int64_t most = 3000; /* entries, about 50 kB of instructions */
    return entries_of(spec) <= most ? NULL : "the operator is too long for literals";
}

/* Where tensor cores are slower, or are not there (bench/NOTES.md, propagator-lanes). */
static bool pays(const struct ht_spec *spec) {
    const struct ht_sizes z = ht_sizes_of(spec);
    const int dims = spec->eq->dims;
    const int64_t entries = entries_of(spec);
    if (dims == 1 || ht_variant_refuses(&ht_variant_propagator_tensor, spec) != NULL) return true;
    if (spec->fp64)
        return z.coefs <= 9 || (z.sources == z.targets && z.coefs <= 16 && entries <= 1024);
    return dims == 2 ? z.coefs <= 36 : entries <= 1024;
}

HT_ERR ht_target_group(const struct ht_tuning *tuning, const struct ht_device_info *info, int dims,
                       struct ht_shape *out) {
    out->cells = tuning->cells > 0 ? tuning->cells : WARP;
    out->rows = dims == 1 ? 1 : tuning->rows > 0 ? tuning->rows : 4;
    while (tuning->rows == 0 && out->rows > 1 && (int64_t)out->cells * out->rows > info->max_group)
        out->rows /= 2;
    REQUIRE((int64_t)out->cells * out->rows <= info->max_group, HT_ERR_INPUT,
            "%d rows of %d cells are more work-items than the %lld that %s allows per group",
            out->rows, out->cells, (long long)info->max_group, info->name);
    out->group_size = out->cells * out->rows;
    return HT_OK;
}

static HT_ERR choose_shape(const struct ht_tuning *tuning, const struct ht_spec *spec,
                           const struct ht_device_info *info, struct ht_shape *out) {
    int dims = spec->eq->dims, element_size = ht_real_size(spec->fp64);
    TRY(ht_target_group(tuning, info, dims, out));
    out->chunk = 1;
    out->registers = info->greedy ? 0 : 128;
    out->local_bytes = (int64_t)MOST_STAGES * spec->block * element_size *
                       ht_tile_nodes(dims, out->cells + 1, out->rows);
    return HT_OK;
}

static HT_ERR pack_literals(const struct ht_blocks *blocks, const struct ht_spec *spec,
                            HT_UNUSED const struct ht_shape *shape, struct ht_operator *out) {
    int storage[HT_MAX_COEFS], most = 0;
    HT_FREED int *bits = NULL, *target = NULL;
    const int padded = ht_storage_order(spec, storage);
    const struct ht_sizes z = ht_sizes_of(spec);
    const int entries = z.sources * padded, targets = z.targets * padded;
    for (int g = 0; g < blocks->blocks; g++)
        if (blocks->rows[g] > most) most = blocks->rows[g];
    TRY(HT_ALLOC(bits, entries));
    TRY(HT_ALLOC(target, targets));
    HT_ARRAY(double, value, ((int64_t)blocks->blocks * most * entries));
    for (int e = 0; e < targets; e++) target[e] = -1;
    for (int s = 0; s < blocks->sources; s++)
        bits[ht_storage_entry(s, z.coefs, padded, storage)] = blocks->parity[s];
    for (int g = 0; g < blocks->blocks; g++)
        for (int r = 0; r < blocks->rows[g]; r++) {
            target[ht_storage_entry(blocks->row[g][r], z.coefs, padded, storage)] = g * most + r;
            for (int s = 0; s < blocks->sources; s++)
                value[(int64_t)(g * most + r) * entries +
                      ht_storage_entry(s, z.coefs, padded, storage)] =
                    blocks->entry[g][(int64_t)r * blocks->sources + s];
        }
    ht_text_add(&out->text,
                "#define HT_PARTS 1\n#define HT_PITCH HT_TILE_1\n"
                "#define HT_STAGES (HT_CHUNKS < %d ? HT_CHUNKS + 1 : %d)\n"
                "#define HT_BLOCK_ROWS %d\n",
                MOST_STAGES - 1, MOST_STAGES, most);
    ht_text_ints(&out->text, "bits", bits, entries);
    ht_text_ints(&out->text, "target", target, targets);
    ht_text_table(&out->text, "entry", value, blocks->blocks * most * entries, spec->fp64);
    return HT_OK;
}

const struct ht_variant ht_variant_propagator_lanes = {
    .name = "propagator-lanes",
    .meaning = "the half step as dense parity blocks that are literals of the program, a work-item "
               "per target (uniform media)",
    HT_BLOCKS_ON_GPU,
    .refuses = refuses,
    .pays = pays,
    .shape = choose_shape,
    .pack = pack_literals,
    .files = {"packs.cl", "ptx.cl", "vertices.cl", "chunks.cl", "tile.cl", "propagator_lanes.cl"},
    .stage = {{HT_STAGE_OPERATOR, "ht_propagator_lanes"}}};
