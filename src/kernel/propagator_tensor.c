/* Host side of cl/propagator_tensor.cl and _warpgroup.cl: their shapes, and the operator in the
 * order in which the kernels read it. */
#include "blocks.h"
#include "variant.h"

/* Blocks of source entries that a kernel takes at a time: one for each l % 4 of warp lanes l. */
enum { HT_TENSOR_CHUNK = 4 };

/* Division of the parity blocks into tiles and their distribution to parts, of which each has
 * whole blocks or a share of the rows of one. */
struct ht_tensor_cut {
    int parts, blocks;      /* blocks of a part */
    int shares;             /* parts of a block */
    int tiles[8], first[8]; /* of each block of a part */
    int all;                /* tiles of a part */
};

/* The operator in local memory: resident if it fits, else by units of a chunk's k steps, all of
 * them or, where that is too much, one. */
struct ht_tensor_shape {
    struct ht_tensor_cut cut;
    int chunks, pairs, unit; /* of source entries, k steps of a chunk, of a unit */
    bool resident;
    int infos;
    int stages;          /* chunks in local memory, one of them in use */
    int64_t data_bytes;  /* their source nodes */
    int64_t local_bytes; /* these, the operator and infos */
};

enum {
    WARP = 32,
    TENSOR_CELLS = 16, /* of a warp */
    ROW_CELLS = 8,     /* of a warp in each plane, and */
    DEPTH = 2,         /* x3 planes at a time, of propagator-planes and -warpgroup */
    TILE = 8           /* results of a product */
};

static struct ht_tensor_cut make_cut(const struct ht_spec *spec, int parts) {
    const struct ht_sizes z = ht_sizes_of(spec);
    const int targets = z.targets * ht_storage_order(spec, NULL);
    const int all = 1 << spec->eq->dims, shares = parts > all ? parts / all : 1;
    struct ht_tensor_cut cut = {.parts = parts, .blocks = all * shares / parts, .shares = shares};
    int sum = 0;
    for (int g = 0; g < cut.blocks; g++) {
        for (int p = 0; p < parts / shares; p++) {
            /* Rows come in pairs of storage indices; every class of every field fills whole ones.
             */
            int pairs = 0;
            for (int s = 0; s < z.targets; s++)
                pairs +=
                    (ht_blocks_class(spec, z.target_field[s], (unsigned)(p * cut.blocks + g)) + 1) /
                    2;
            const int most = TILE * shares, tiles = (2 * pairs + most - 1) / most;
            if (tiles > cut.tiles[g]) cut.tiles[g] = tiles;
        }
        cut.first[g] = sum;
        sum += cut.tiles[g];
    }
    /* room for padding */
    while (parts * sum * TILE < targets) {
        cut.tiles[cut.blocks - 1]++;
        sum++;
    }
    cut.all = sum;
    return cut;
}

/* Nodes of a row in local memory: 4 blocks x 8 targets lie in different banks. */
static int pitch_of(int cells) {
    return cells + 2;
}

/* Of a shape with cells, rows, parts and depth. */
static struct ht_tensor_shape tensor_shape(const struct ht_spec *spec, const struct ht_shape *shape,
                                           int64_t limit) {
    const int element_size = ht_real_size(spec->fp64), depth = shape->depth;
    const int blocks = ht_sizes_of(spec).sources * ht_storage_order(spec, NULL) / spec->block;
    struct ht_tensor_shape s = {.cut = make_cut(spec, shape->parts),
                                .chunks = (blocks + 3) / 4,
                                .pairs = spec->block / 2,
                                .unit = spec->block / 2,
                                .stages = 2};
    const int64_t step = (int64_t)s.cut.all * 64 * element_size * (1 + shape->halves);
    s.infos = s.chunks * 4 * s.pairs + s.cut.all * 4;
    s.data_bytes = 2 * (int64_t)HT_TENSOR_CHUNK * 16 *
                   ht_tile_nodes(spec->eq->dims, pitch_of(shape->cells), shape->rows) *
                   (depth + 1) / 2;
    /* a parity has 1 byte, the place of a result 8 */
    const int64_t data =
        s.data_bytes + (int64_t)s.chunks * 4 * s.pairs + (int64_t)s.cut.all * 4 * 8;
    s.resident = data + step * s.chunks * s.pairs <= limit;
    if (!s.resident && depth == 1 && data + step * 2 * s.pairs > limit) s.unit = 1;
    s.local_bytes = data + (s.resident ? s.chunks * s.pairs : 2 * s.unit) * step;
    /* Of two planes in double precision a third one where it fits: 8 to 13 % faster; in single
     * precision none is. */
    const int64_t third = s.data_bytes / 2 + (s.resident ? 0 : s.unit * step);
    if (depth > 1 && spec->fp64 && s.local_bytes + third <= limit) {
        s.stages++;
        s.data_bytes += s.data_bytes / 2;
        s.local_bytes += third;
    }
    return s;
}

/* A work-item's registers must hold the results of all tiles of a part, 4 reals each. */
static int ht_tensor_parts(const struct ht_spec *spec, int most_tiles) {
    int parts = 1;
    while (parts < 1 << spec->eq->dims && make_cut(spec, parts).all > most_tiles) parts *= 2;
    return parts;
}

/* Where all registers are too few for the results of a block, parts share its rows, though each
 * computes the sums over vertices: 0.4 of the time on an H200, but up to 1.3 where they suffice.
 * Not measured of two planes. */
static int shared_parts(const struct ht_spec *spec, int parts) {
    while (make_cut(spec, parts).all > (spec->fp64 ? 30 : 60)) parts *= 2;
    return parts;
}

/* Completes a shape of so many cells, at most so many rows and so many tiles of a part, whose
 * results registers hold; rows: halved until the arrays fit. */
static HT_ERR complete(const struct ht_tuning *tuning, const struct ht_spec *spec,
                       const struct ht_device_info *info, int most_tiles, int rows,
                       struct ht_shape *out, struct ht_tensor_shape *s) {
    const int64_t limit = ht_local_limit(info);
    REQUIRE(tuning->cells == 0 || tuning->cells == TENSOR_CELLS, HT_ERR_INPUT,
            "this variant works on %d cells per group", TENSOR_CELLS);
    out->cells = TENSOR_CELLS;
    out->rows = tuning->rows > 0 ? tuning->rows : rows;
    if (spec->eq->dims == 1) out->rows = 1;
    out->chunk = HT_TENSOR_CHUNK;
    out->parts = ht_tensor_parts(spec, most_tiles);
    if (out->depth == 1) out->parts = shared_parts(spec, out->parts);
    *s = tensor_shape(spec, out, limit);
    while (tuning->rows <= 0 && out->rows > 1 && s->local_bytes > limit) {
        out->rows /= 2;
        *s = tensor_shape(spec, out, limit);
    }
    out->local_bytes = s->local_bytes;
    return HT_OK;
}

/* What registers hold at best; in single precision in three dimensions half as many products at a
 * time are faster, but not where they are a tenth more in all. */
static int most_tiles(const struct ht_spec *spec) {
    if (spec->fp64) return 16;
    if (spec->eq->dims < 3) return 36;
    const int parts = ht_tensor_parts(spec, 30);
    if (parts == 8) return 24;
    return 20 * make_cut(spec, 2 * parts).all > 11 * make_cut(spec, parts).all ? 30 : 24;
}

static HT_ERR choose_shape(const struct ht_tuning *tuning, const struct ht_spec *spec,
                           const struct ht_device_info *info, struct ht_shape *out) {
    struct ht_tensor_shape s;
    TRY(complete(tuning, spec, info, most_tiles(spec), 4, out, &s));
    /* With fewer registers more work-groups fit a multiprocessor; values measured on an H200. NVRTC
     * spills a few registers at 128; without a limit it may take few, so that products wait for
     * each other. In double precision left sides of one block leave room for 4 tiles more. */
    const int spare = spec->fp64 && s.cut.blocks == 1 ? 4 : 0;
    const int tiles = (s.cut.all - spare) * (spec->fp64 ? 2 : 1);
    const int most = !spec->fp64 && spec->eq->dims > 2 ? 255 : 0;
    out->registers = tiles > 20 ? most : tiles > 8 ? 168 : info->greedy ? 144 : 128;
    out->group_size = WARP * out->rows;
    return HT_OK;
}

struct packing {
    const struct ht_blocks *blocks;
    bool halves;
    struct ht_tensor_shape s;
    int entries, *source; /* [slot * padded_coefs + storage index]: source entry or -1 */
    int64_t op_size;      /* values of a part */
    double *op, *info;    /* [part][..] */
};

/* Entries of a row of block g: by k step and tile of its part, warp lane, of which l % 4 is t, and
 * element of its pair. */
static void pack_row(const struct packing *p, int g, int row, int part, int tile, int column) {
    const int pairs = p->s.pairs;
    const int64_t tiles = p->s.cut.all;
    double *op = p->op + part * p->op_size;
    for (int k = 0; k < p->s.chunks * pairs; k++)
        for (int n = 0; n < 8; n++) {
            const int t = n / 2, e = n % 2, lane = column * 4 + t;
            const int pair = pairs == 2 ? k % 2 ^ (t & 1) : 0;
            const int at = ((k / pairs * 4 + t) * pairs + pair) * 2 + e;
            const int source = at < p->entries ? p->source[at] : -1;
            if (source < 0) continue;
            const double value = p->blocks->entry[g][(int64_t)row * p->blocks->sources + source];
            if (p->halves) {
                double *high = op + (2 * tiles * k + tile) * 64 + (int64_t)32 * e + lane;
                high[0] = ht_first_half(value);
                high[tiles * 64] = value - high[0];
            } else
                op[((k * tiles + tile) * 32 + lane) * 2 + e] = value;
        }
}

/* The target entry of result n of a part, which are in the order [tile][l % 4]. */
static double *where_of(const struct packing *p, int part, int n) {
    return p->info + (int64_t)part * p->s.infos + (int64_t)p->s.chunks * 4 * p->s.pairs + n;
}

/* Pairs of storage indices are results of their block; those that belong to no class, which are
 * padding, are free results, which are 0. storage: of ht_storage_order. */
static HT_ERR pack_rows(const struct packing *p, int targets, int coefs, int padded_coefs,
                        const int *storage) {
    const struct ht_tensor_cut *cut = &p->s.cut;
    const int all = cut->all * 4, results = cut->parts * all;
    int count[8] = {0}, free_one = 0;
    HT_ARRAY(int, block, targets); /* of a pair's first index, + 1 */
    HT_ARRAY(int, row, targets);   /* there, + 1 */
    for (int n = 0; n < results; n++) *where_of(p, n / all, n % all) = -1;
    for (int g = 0; g < p->blocks->blocks; g++)
        for (int r = 0; r < p->blocks->rows[g]; r++) {
            const int at = ht_storage_entry(p->blocks->row[g][r], coefs, padded_coefs, storage);
            block[at - at % 2] = g + 1;
            row[at] = r + 1;
        }
    for (int at = 0; at < targets; at += 2) {
        const int g = block[at] - 1;
        if (g < 0) continue;
        const int of_block = cut->first[g % cut->blocks] * 4 + count[g]++, n = of_block % all;
        const int part = g / cut->blocks * cut->shares + of_block / all;
        *where_of(p, part, n) = at;
        for (int e = 0; e < 2; e++)
            if (row[at + e] > 0) pack_row(p, g, row[at + e] - 1, part, n / 4, n % 4 * 2 + e);
    }
    for (int at = 0; at < targets; at += 2) {
        if (block[at] > 0) continue;
        while (free_one < results && *where_of(p, free_one / all, free_one % all) >= 0) free_one++;
        REQUIRE(free_one < results, HT_ERR_INTERNAL, "no result is free for padding");
        *where_of(p, free_one / all, free_one % all) = at;
    }
    return HT_OK;
}

static void add_tiles(const struct ht_tensor_shape *s, const struct ht_shape *shape,
                      struct ht_text *text) {
    int most = 0;
    ht_text_add(text, "#define HT_TILES_OF(g) (");
    for (int g = 0; g < s->cut.blocks; g++) {
        ht_text_add(text, "(g) == %d ? %d : ", g, s->cut.tiles[g]);
        if (s->cut.tiles[g] > most) most = s->cut.tiles[g];
    }
    ht_text_add(text, "0)\n#define HT_FIRST_TILE(g) (");
    for (int g = 0; g < s->cut.blocks; g++)
        ht_text_add(text, "(g) == %d ? %d : ", g, s->cut.first[g]);
    ht_text_add(text,
                "0)\n#define HT_MOST_TILES %d\n#define HT_TILES %d\n"
                "#define HT_PARTS %d\n#define HT_RESIDENT %d\n"
                "#define HT_UNIT %d\n#define HT_PITCH %d\n#define HT_STAGES %d\n",
                most, s->cut.all, shape->parts, s->resident, s->unit, pitch_of(shape->cells),
                s->stages);
}

/* As ht_variant.pack. */
static HT_ERR pack(const struct ht_blocks *blocks, const struct ht_spec *spec,
                   const struct ht_shape *shape, struct ht_operator *out) {
    int storage[HT_MAX_COEFS];
    const struct ht_sizes z = ht_sizes_of(spec);
    const int padded_coefs = ht_storage_order(spec, storage);
    struct packing p = {.blocks = blocks,
                        .halves = shape->halves,
                        .s = tensor_shape(spec, shape, shape->local_bytes),
                        .entries = z.sources * padded_coefs};
    HT_ARRAY(int, source, p.entries);
    p.op_size = (int64_t)p.s.chunks * p.s.pairs * p.s.cut.all * 64 * (p.halves ? 2 : 1);
    out->count = shape->parts * (p.op_size + p.s.infos);
    TRY(HT_ALLOC(out->value, out->count));
    p.source = source;
    p.op = out->value;
    p.info = out->value + shape->parts * p.op_size;
    for (int at = 0; at < p.entries; at++) source[at] = -1;
    for (int s = 0; s < blocks->sources; s++) {
        const int at = ht_storage_entry(s, z.coefs, padded_coefs, storage);
        source[at] = s;
        for (int part = 0; part < shape->parts; part++)
            p.info[part * p.s.infos + at / 2] = blocks->parity[s];
    }
    add_tiles(&p.s, shape, &out->text);
    return pack_rows(&p, z.targets * padded_coefs, z.coefs, padded_coefs, storage);
}

/* Measured on an H200 and, in double precision, an H100 (bench/NOTES.md): what spills at 128
 * registers of one field's 8 tiles costs less than a group fewer on the multiprocessor does, and
 * where blocks have many tiles a third group is worth more than 255 registers. */
static int planes_registers(const struct ht_spec *spec, const struct ht_tensor_cut *cut) {
    const struct ht_sizes z = ht_sizes_of(spec);
    int most = 0;
    if (spec->fp64) return cut->all > 12 || (cut->all <= 8 && spec->order > 2) ? 255 : 168;
    for (int g = 0; g < cut->blocks; g++)
        if (cut->tiles[g] > most) most = cut->tiles[g];
    if (cut->all > 16) return 255;
    if (cut->all <= 8 && z.sources == 1 && z.targets == 1) return 128;
    return cut->all <= 8 || most >= 8 ? 168 : 255;
}

static HT_ERR planes_shape(const struct ht_tuning *tuning, const struct ht_spec *spec,
                           const struct ht_device_info *info, struct ht_shape *out) {
    struct ht_tensor_shape s;
    out->depth = DEPTH;
    TRY(complete(tuning, spec, info, spec->fp64 ? 16 : 24, 2, out, &s));
    out->registers = planes_registers(spec, &s.cut);
    out->group_size = WARP * (TENSOR_CELLS / ROW_CELLS) * out->rows;
    return HT_OK;
}

#define OF_TENSORS HT_BLOCKS_ON_GPU, .order = 2, .sorted = true, .pack = pack
#define OF_WARPS                                                          \
    .files = {"packs.cl",  "ptx.cl",    "vertices.cl",         "tf32.cl", \
              "chunks.cl", "tensor.cl", "propagator_tensor.cl"},          \
    .stage = {{HT_STAGE_OPERATOR, "ht_propagator_tensor"}}

const struct ht_variant ht_variant_propagator_tensor = {
    .name = "propagator-tensor",
    .meaning = "the half step as dense parity blocks on NVIDIA's tensor cores, in single precision "
               "as three products of halves (uniform media)",
    OF_TENSORS,
    .ptx = 80,
    .ptx_double = 90, /* mma.m16n8k8 of double precision */
    .shape = choose_shape,
    OF_WARPS};

const struct ht_variant ht_variant_propagator_planes = {
    .name = "propagator-planes",
    .meaning = "as propagator-tensor, in three dimensions, two x3 planes at a time (uniform media)",
    OF_TENSORS,
    .dims = 3,
    .ptx = 80,
    .ptx_double = 90,
    .shape = planes_shape,
    OF_WARPS};

/* ---- cl/propagator_warpgroup.cl: shapes of groups that are one warpgroup ---- */

enum {
    WARPGROUP = 128, /* work-items */
    TARGETS = 64,    /* of a group */
    MOST_TILES = 32  /* of a part: what registers hold */
};

static const char *warpgroup_refuses(const struct ht_spec *spec) {
    return spec->fp64 ? "it is for single precision" : NULL;
}

/* Where products are narrow, those of a warp are as fast or faster (bench/NOTES.md). */
static bool warpgroup_pays(const struct ht_spec *spec) {
    const struct ht_sizes z = ht_sizes_of(spec);
    const int both = z.sources + z.targets;
    return spec->order > 3 || both > 4 || (spec->order == 3 && both > 2);
}

static HT_ERR warpgroup_shape(const struct ht_tuning *tuning, const struct ht_spec *spec,
                              HT_UNUSED const struct ht_device_info *info, struct ht_shape *out) {
    const int rows = 2, cells = TARGETS / DEPTH / rows;
    REQUIRE(tuning->cells == 0 || tuning->cells == cells, HT_ERR_INPUT,
            "this variant works on %d cells per group", cells);
    REQUIRE(tuning->rows == 0 || tuning->rows == rows, HT_ERR_INPUT,
            "%d rows per group: this variant works on %d", tuning->rows, rows);
    *out = (struct ht_shape){.cells = cells,
                             .rows = rows,
                             .planes = out->planes,
                             .chunk = HT_TENSOR_CHUNK,
                             .parts = ht_tensor_parts(spec, MOST_TILES),
                             .depth = DEPTH,
                             .halves = true,
                             .group_size = WARPGROUP};
    out->local_bytes = tensor_shape(spec, out, 0).local_bytes;
    return HT_OK;
}

const struct ht_variant ht_variant_propagator_warpgroup = {
    .name = "propagator-warpgroup",
    .meaning = "as propagator-planes, by products of warpgroups, which architecture 9.0 has "
               "through CUDA (uniform media)",
    OF_TENSORS,
    .dims = 3,
    .refuses = warpgroup_refuses,
    .pays = warpgroup_pays,
    .ptx = 90,
    .ptx_own = true,
    .open_memory = true,
    .shape = warpgroup_shape,
    .files = {"packs.cl", "ptx.cl", "vertices.cl", "tf32.cl", "wgmma.cl", "chunks.cl", "tensor.cl",
              "propagator_warpgroup.cl"},
    .stage = {{HT_STAGE_OPERATOR, "ht_propagator_warpgroup"}}};
