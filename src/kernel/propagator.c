/* Host side of cl/propagator.cl: vectors, chunks and tiles that suit a device,
 * and the operator in the order in which the kernel reads it.
 */
#include "propagator.h"

#include <stdio.h>
#include <stdlib.h>

#include "blocks.h"
#include "counts.h"

static int coefs_of(const struct ht_sizes *z) {
    return z->n1 * z->n2 * z->n3;
}

static int padded(int rows, int tile) {
    return (rows + tile - 1) / tile * tile;
}

static int padded_rows(const int rows[8], int tile) {
    int sum = 0;
    for (int g = 0; g < 8; g++) sum += padded(rows[g], tile);
    return sum;
}

/* Lanes of a vector: the largest power of two in 64 bytes that divides the
 * targets of a group. */
static int width_of(const struct ht_spec *spec, const struct ht_shape *shape) {
    int width = spec->fp64 ? 8 : 16;
    while (shape->cells % width != 0) width /= 2;
    return width;
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

static int64_t local_bytes(const struct ht_spec *spec,
                           const struct ht_shape *shape, const int rows[8]) {
    int64_t vectors = ((int64_t)shape->chunk << spec->eq->dims) +
                      padded_rows(rows, shape->tile);
    int64_t values = vectors * shape->cells + shape->cells + 1;
    return values * (spec->fp64 ? 8 : 4);
}

enum ht_err ht_propagator_shape(const struct ht_tuning *tuning,
                                const struct ht_spec *spec,
                                const struct ht_device_info *info,
                                struct ht_shape *out) {
    const int most_registers = 28;   /* of 32, for a tile's sums */
    const int64_t most_sums = 32768; /* bytes, to stay in a cache */
    const struct ht_sizes z = ht_sizes_of(spec);
    int64_t limit = info->local_memory - 1024;
    int rows[8], vectors;
    const char *e = getenv("P");
    int ev = 2, et = 28, ec = 32768;
    if (e) sscanf(e, "%d,%d,%d", &ev, &et, &ec);
    (void)most_registers;
    (void)most_sums;
    if (info->gpu && limit > 48128) limit = 48128;
    ht_blocks_rows(spec, rows);
    out->cells = tuning->cells > 0 ? tuning->cells
                 : info->gpu       ? 1
                                   : ev * (spec->fp64 ? 8 : 16);
    vectors = out->cells / width_of(spec, out);
    out->tile = choose_tile(rows, et / vectors);
    out->chunk = (int)(ec / ((int64_t)out->cells * (spec->fp64 ? 8 : 4)) >>
                       spec->eq->dims);
    if (out->chunk > coefs_of(&z)) out->chunk = coefs_of(&z);
    if (out->chunk < 1) out->chunk = 1;
    while (local_bytes(spec, out, rows) > limit && out->chunk > 1)
        out->chunk /= 2;
    out->local_bytes = local_bytes(spec, out, rows);
    REQUIRE(out->local_bytes <= limit, HT_ERR_DEVICE,
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
    const struct ht_sizes z = ht_sizes_of(spec);
    int coefs = coefs_of(&z), width = width_of(spec, shape);
    ht_text_add(&out->text, "#define HT_WIDTH %d\n#define HT_VECTORS (%d)\n",
                width, shape->cells / width);
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
