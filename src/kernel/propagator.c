/* Host side of cl/taylor_vectors.cl and cl/propagator.cl, for CPUs: sizes of vectors, chunks and
 * tiles for a device, and the propagator's operator in the order in which the kernel reads it. */
#include "blocks.h"
#include "variant.h"

/* ---- vector: the widest vectors whose targets' polynomials fit local memory ---- */

/* Bytes of the kernel's arrays b, w, products, medium and stage. */
static int64_t vector_bytes(const struct ht_spec *spec, int cells) {
    const struct ht_sizes z = ht_sizes_of(spec);
    int64_t products = z.medium_coefs > 0 ? (int64_t)z.groups * z.cube : 0;
    int64_t medium = spec->medium_degree < 0 ? 0 : z.materials;
    for (int k = 0; spec->medium_degree > 0 && k < spec->eq->dims; k++)
        medium *= spec->medium_degree + 1;
    int64_t vectors = (int64_t)2 * z.fields * z.cube + products + medium;
    return (vectors * cells + cells + 1) * ht_real_size(spec->fp64);
}

/* Targets per vector: those of the tuning, else 64 bytes on a CPU and one target on a GPU.
 * HT_ERR_INPUT if the tuning's cells are not the size of a vector. */
static HT_ERR ht_vector_cells(const struct ht_tuning *tuning, const struct ht_spec *spec,
                              const struct ht_device_info *info, int *cells) {
    const int most = spec->fp64 ? 8 : 16; /* 64 bytes */
    int wanted = tuning->cells;
    REQUIRE(wanted <= most && (wanted & (wanted - 1)) == 0, HT_ERR_INPUT,
            "on %s variant \"%s\" takes 1, 2, 4, 8%s", info->name, tuning->variant->name,
            spec->fp64 ? "" : " or 16");
    *cells = wanted > 0 ? wanted : info->gpu ? 1 : most;
    return HT_OK;
}

static HT_ERR vector_shape(const struct ht_tuning *tuning, const struct ht_spec *spec,
                           const struct ht_device_info *info, struct ht_shape *out) {
    const int64_t limit = ht_vector_limit(info);
    TRY(ht_vector_cells(tuning, spec, info, &out->cells));
    while (tuning->cells == 0 && out->cells > 1 && vector_bytes(spec, out->cells) > limit)
        out->cells /= 2;
    out->local_bytes = vector_bytes(spec, out->cells);
    return HT_OK;
}

const struct ht_variant ht_variant_vector = {
    .name = "vector",
    .meaning = "as monolithic, targets along x1 as vectors; for CPUs",
    .made_for = HT_FOR_CPU,
    .series = true,
    .shape = vector_shape,
    .cost = ht_cost_series,
    .files = {"loose.cl", "vectors.cl", "taylor_vectors.cl"},
    .stage = {{HT_STAGE_STEP, "ht_taylor_vectors"}}};

/* Bytes of the kernel's arrays sums, result, faces and stage. */
static int64_t local_bytes(const struct ht_spec *spec, const struct ht_shape *shape,
                           const int rows[8]) {
    const struct ht_sizes z = ht_sizes_of(spec);
    const int64_t corners = 1 << spec->eq->dims, all = shape->rows;
    const int64_t faces = shape->roll ? (int64_t)4 * z.sources * z.coefs * all : 1;
    int64_t vectors = (corners * shape->chunk + ht_blocks_padded(rows, shape->tile)) * all + faces;
    int64_t values = vectors * shape->cells + shape->cells + 1;
    return values * ht_real_size(spec->fp64);
}

static void complete(const struct ht_spec *spec, const int rows[8], struct ht_shape *s) {
    const int most_registers = 28; /* of 32 vector registers, for a tile */
    s->tile = ht_blocks_tile(rows, 1, most_registers / s->rows, 1);
    /* The number of source entries whose sums fit a first-level cache. */
    const int most_bytes = 32768;
    const int entry = (s->cells * s->rows * ht_real_size(spec->fp64)) << spec->eq->dims;
    s->chunk = (int)ht_least(ht_most(1, most_bytes / entry), ht_sizes_of(spec).coefs);
}

/* Reduces optional sizes until the arrays fit local memory. */
static void fit(const struct ht_tuning *tuning, const struct ht_spec *spec, const int rows[8],
                int64_t limit, struct ht_shape *s) {
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
            break;
        complete(spec, rows, s);
    }
    s->local_bytes = local_bytes(spec, s, rows);
}

static HT_ERR choose_shape(const struct ht_tuning *tuning, const struct ht_spec *spec,
                           const struct ht_device_info *info, struct ht_shape *out) {
    int rows[8], dims = spec->eq->dims;
    ht_blocks_rows(spec, rows);
    TRY(ht_vector_cells(tuning, spec, info, &out->cells));
    out->rows = dims < 2 ? 1 : tuning->rows > 0 ? tuning->rows : 2;
    /* Long marches reuse faces; with short ones neighbours stay in cache. */
    if (out->planes == 0 && dims == 3) out->planes = 8;
    fit(tuning, spec, rows, ht_vector_limit(info), out);
    return HT_OK;
}

/* op[field][chunk][tile of rows][source entry of the chunk][row]. */
static HT_ERR pack_tiles(const struct ht_blocks *blocks, const struct ht_spec *spec,
                         const struct ht_shape *shape, struct ht_operator *out) {
    const int coefs = ht_sizes_of(spec).coefs, tile = shape->tile;
    const int rows = ht_blocks_padded(blocks->rows, tile);
    int begin[9];
    HT_ARRAY(int, target, rows);
    HT_ARRAY(const double *, entry, rows);
    TRY(HT_ALLOC(out->value, (int64_t)rows * blocks->sources));
    ht_blocks_pad(blocks, tile, begin, target, entry);
    ht_text_ints(&out->text, "block_row", begin, blocks->blocks + 1);
    ht_text_ints(&out->text, "row_target", target, rows);
    ht_text_add(&out->text, "#define HT_RESULT_ROWS (%d)\n", rows);
    for (int field = 0; field < blocks->sources; field += coefs)
        for (int i = 0; i < coefs; i += shape->chunk) {
            const int last = i + shape->chunk < coefs ? i + shape->chunk : coefs;
            for (int first = 0; first < rows; first += tile)
                for (int s = field + i; s < field + last; s++)
                    for (int r = first; r < first + tile; r++)
                        out->value[out->count++] = entry[r] != NULL ? entry[r][s] : 0;
        }
    return HT_OK;
}

const struct ht_variant ht_variant_propagator = {
    .name = "propagator",
    .meaning = "the half step as dense parity blocks, targets along x1 as vectors; for CPUs "
               "(uniform media)",
    .uniform = true,
    .blocks = true,
    .made_for = HT_FOR_CPU,
    .shape = choose_shape,
    .cost = ht_cost_operator,
    .pack = pack_tiles,
    .files = {"loose.cl", "vectors.cl", "propagator.cl"},
    .stage = {{HT_STAGE_OPERATOR, "ht_propagator"}}};
