/* Host side of cl/propagator.cl: vectors, chunks and tiles that suit a device,
 * and the operator in the order in which the kernel reads it.
 */
#include "propagator.h"

#include <stdlib.h>

#include "blocks.h"
#include "counts.h"
#include "taylor_vectors.h"

static int coefs_of(const struct ht_spec *spec) {
    const struct ht_sizes z = ht_sizes_of(spec);
    return z.n1 * z.n2 * z.n3;
}

static int sources_of(const struct ht_spec *spec) {
    int fields = 0;
    for (int f = 0; f < spec->eq->nfields; f++)
        fields += spec->src == 0 || spec->src >> f & 1u;
    return fields * coefs_of(spec);
}

static int padded(int rows, int tile) {
    return (rows + tile - 1) / tile * tile;
}

static int padded_rows(const int rows[8], int tile) {
    int sum = 0;
    for (int g = 0; g < 8; g++) sum += padded(rows[g], tile);
    return sum;
}

/* Rows accumulated in registers at a time. A tile costs its rows, padded, and
 * about a row to read the sums. */
static int choose_tile(const int rows[8], int most) {
    int best = 1;
    double least = 0;
    for (int tile = 1; tile <= most; tile++) {
        double cost = padded_rows(rows, tile) * (1 + 1.0 / tile);
        if (tile > 1 && cost >= least) continue;
        best = tile;
        least = cost;
    }
    return best;
}

/* Of the kernel's arrays sums, result, faces and stage. */
static int64_t local_bytes(const struct ht_spec *spec,
                           const struct ht_shape *shape, const int rows[8]) {
    int64_t sums = (int64_t)shape->chunk << spec->eq->dims;
    int64_t faces = shape->roll ? 4 * (int64_t)sources_of(spec) : 0;
    int64_t vectors = sums + padded_rows(rows, shape->tile) + faces;
    int64_t values = (vectors * shape->rows + 1) * shape->cells + 1;
    if (!shape->roll) values += shape->cells; /* faces has one vector then */
    return values * (spec->fp64 ? 8 : 4);
}

/* As many source entries as keep their sums in a first-level cache. */
static int choose_chunk(const struct ht_spec *spec,
                        const struct ht_shape *shape) {
    const int most_bytes = 32768;
    int coefs = coefs_of(spec);
    int entry = (shape->cells * shape->rows * (spec->fp64 ? 8 : 4))
                << spec->eq->dims;
    int chunk = entry < most_bytes ? most_bytes / entry : 1;
    return chunk < coefs ? chunk : coefs;
}

static void complete(const struct ht_spec *spec, const int rows[8],
                     struct ht_shape *s) {
    const int most_registers = 28; /* of 32 vectors, for a tile's sums */
    s->tile = choose_tile(rows, most_registers / s->rows);
    s->chunk = choose_chunk(spec, s);
}

/* Gives up what can be done without until the arrays fit the local memory. */
static bool fit(const struct ht_tuning *tuning, const struct ht_spec *spec,
                const int rows[8], int64_t limit, struct ht_shape *s) {
    complete(spec, rows, s);
    s->roll = spec->eq->dims == 3;
    s->roll = s->roll && local_bytes(spec, s, rows) <= limit / 2;
    while (local_bytes(spec, s, rows) > limit) {
        if (s->chunk > 1) {
            s->chunk /= 2;
            continue;
        }
        if (s->rows > 1 && tuning->rows == 0)
            s->rows = 1;
        else if (s->cells > 1 && tuning->cells == 0)
            s->cells /= 2;
        else
            return false;
        complete(spec, rows, s);
    }
    s->local_bytes = local_bytes(spec, s, rows);
    return true;
}

enum ht_err ht_propagator_shape(const struct ht_tuning *tuning,
                                const struct ht_spec *spec,
                                const struct ht_device_info *info,
                                struct ht_shape *out) {
    const int64_t most_local_gpu = 48128; /* as ht_variant_shape */
    int64_t limit = info->local_memory - 1024;
    int rows[8], dims = spec->eq->dims;
    if (info->gpu && limit > most_local_gpu) limit = most_local_gpu;
    ht_blocks_rows(spec, rows);
    TRY(ht_vector_cells(tuning, spec, info, &out->cells));
    out->rows = dims < 2 ? 1 : tuning->rows > 0 ? tuning->rows : 2;
    /* Long marches reuse faces, short ones leave neighbours in the cache. */
    if (out->planes == 0 && dims == 3) out->planes = 8;
    REQUIRE(fit(tuning, spec, rows, limit, out), HT_ERR_DEVICE,
            "order %d with %d cells per group needs more local memory than the "
            "%lld bytes of %s",
            spec->order, out->cells, (long long)limit, info->name);
    return HT_OK;
}

/* The tables that number rows: where each block's begin, and their targets. */
static void add_tables(const struct ht_blocks *blocks,
                       const struct ht_shape *shape, struct ht_text *text) {
    int begin = 0;
    ht_text_add(text, "HT_TABLE const int ht_block_row[%d] = {0",
                blocks->blocks + 1);
    for (int g = 0; g < blocks->blocks; g++) {
        begin += padded(blocks->rows[g], shape->tile);
        ht_text_add(text, ", %d", begin);
    }
    ht_text_add(text,
                "};\n#define HT_RESULT_ROWS (%d)\n"
                "HT_TABLE const int ht_row_target[%d] = {",
                begin, begin);
    for (int g = 0; g < blocks->blocks; g++)
        for (int r = 0; r < padded(blocks->rows[g], shape->tile); r++)
            ht_text_add(text, "%d,%s",
                        r < blocks->rows[g] ? blocks->row[g][r] : -1,
                        r % 16 == 15 ? "\n" : " ");
    ht_text_add(text, "};\n");
}

/* Appends a tile of one block over source entries [first, last). */
static void add_tile(const struct ht_blocks *blocks, int g, int row, int tile,
                     int first, int last, struct ht_operator *out) {
    for (int s = first; s < last; s++)
        for (int r = row; r < row + tile; r++)
            out->value[out->count++] =
                r < blocks->rows[g]
                    ? blocks->entry[g][(int64_t)r * blocks->sources + s]
                    : 0;
}

enum ht_err ht_propagator_pack(const struct ht_blocks *blocks,
                               const struct ht_spec *spec,
                               const struct ht_shape *shape,
                               struct ht_operator *out) {
    int coefs = coefs_of(spec);
    add_tables(blocks, shape, &out->text);
    TRY(HT_ALLOC(out->value, (int64_t)padded_rows(blocks->rows, shape->tile) *
                                 blocks->sources));
    for (int field = 0; field < blocks->sources; field += coefs)
        for (int i = 0; i < coefs; i += shape->chunk)
            for (int g = 0; g < blocks->blocks; g++)
                for (int r = 0; r < blocks->rows[g]; r += shape->tile) {
                    int last =
                        i + shape->chunk < coefs ? i + shape->chunk : coefs;
                    add_tile(blocks, g, r, shape->tile, field + i, field + last,
                             out);
                }
    return HT_OK;
}
