/* The half step by parity blocks (src/kernel/blocks.h) as matrix products on NVIDIA's tensor cores
 * (PTX mma.sync m16n8k8; cl/tf32.cl has the fragments).
 *
 * A warp computes 16 neighbouring targets of an x1 row, a group the HT_CELLS targets in each of
 * HT_ROWS rows. The 16 are the rows of the product; its columns are rows of a parity block, 8 at a
 * time (a tile); the sum runs over 8 source entries at a time (a k step).
 *
 * The order of source entries is free: lane l reads the coefficients of block l % 4 of a chunk, two
 * per k step, at the eight vertices and forms the sums of all parity blocks in registers, the left
 * sides of the products. Coefficients are sorted by parity (src/kernel/variant.c), so both of a
 * pair have the same parity, and a pair of results is contiguous in a node.
 *
 * Single precision needs three products of the halves x = high + low, each of 11 bits (tf32): low
 * high, high low, high high (docs/developers/method.md). As tensor cores truncate their sums, those
 * of a k step start from zero, and their result is added to the others by a rounded addition.
 *
 * With HT_PARTS = 2, 4, 8 the parity blocks of a tile's targets are distributed over as many
 * work-groups by the signs along the last axes.
 *     op[part][chunk][k step of the chunk][tile][lane][2].
 * info: the parity of each (chunk, l % 4, pair), then for each (tile, l % 4) the target slot *
 * HT_PADDED_COEFS + storage index of the pair of results, -1 for none. */
/* The pairs at the corners of the warp lane's target 0 or 1, which are 8 nodes apart: v[e][w] of
 * coefficient e. */
HT_INLINE void ht_corner_pairs(HT_LOCAL const ht_pair *at, const int target,
                               real v[2][HT_CORNERS]) {
    HT_UNROLLED(w, HT_CORNERS) {
        const ht_pair x = at[(((w >> 2) * HT_TILE_2 + (w >> 1 & 1)) * HT_CHUNK * HT_PITCH +
                              8 * target + (w & 1)) *
                             HT_PAIRS];
        v[0][w] = x.x;
        v[1][w] = x.y;
    }
}

/* USE for the warp lane's results of all tiles, pairs in the nodes of its two targets. `own` is 0
 * if there is no such result; `at` then points to another valid pair, which may be read, since
 * reads without branches overlap. */
#define HT_EACH_RESULT(USE)                                                                 \
    HT_UNROLLED(tile, HT_TILES) {                                                           \
        const int entry = info[HT_INFO_PARITIES + tile * 4 + t];                            \
        const int to = entry < 0 ? 0 : entry;                                               \
        const int field = to / HT_PADDED_COEFS, index = to % HT_PADDED_COEFS;               \
        const long nodes = a.dst_nodes;                                                     \
        HT_CHOOSE_DST                                                                       \
        HT_UNROLLED(target, 2) {                                                            \
            const int n1 = (int)a.end[0], n2 = (int)a.end[1];                               \
            const int last2 = m2 < n2 ? m2 : n2 - 1;                                        \
            const int m = m1 + 8 * target, last1 = m < n1 ? m : n1 - 1;                     \
            const int own = entry >= 0 && m < n1 && m2 < n2;                                \
            const int node = (int)ht_target_row(&a, last2, m3) + last1;                     \
            HT_GLOBAL ht_pair *at =                                                         \
                (HT_GLOBAL ht_pair *)(chosen + HT_LAYOUT_AT(HT_BLOCK, index, node, nodes)); \
            USE                                                                             \
        }                                                                                   \
    }

#define HT_STEP_PACKS (HT_TILES * 64 / HT_BLOCK)
#define HT_ROW_WARPS (HT_CELLS / 16)
#define HT_OP_SIZE (HT_CHUNKS * HT_PAIRS * HT_STEP_PACKS * HT_BLOCK)
#if HT_RESIDENT
#define HT_OP_PACKS (HT_CHUNKS * HT_PAIRS * HT_STEP_PACKS)
#else
#define HT_OP_PACKS (2 * HT_OP_STEPS * HT_STEP_PACKS)
#endif

/* the warp lane's part of the operator */
#define HT_IN_TILE(first) const ht_pair right = op[at + tile * 32];

/* Blocks whose products are interleaved, so that at least four products are in flight between two
 * that add to the same results. */
#define HT_TOGETHER (HT_MOST_TILES >= 4 ? 1 : HT_MOST_TILES >= 2 ? 2 : HT_PART_BLOCKS)

/* acc += products of one k step. left[g]: fragment of block g. */
HT_INLINE void ht_products(const int lane, real left[HT_PART_BLOCKS][4], HT_LOCAL const ht_pair *op,
                           real acc[HT_TILES][4]) {
    int at = lane; /* unknown: else each tile has a register for its place */
    HT_RECOMPUTE(at);
#if HT_DOUBLE
#define HT_PRODUCT HT_MULTIPLY(acc[tile], left[g], right.x, right.y);
    HT_EACH_TILE(0, HT_PART_BLOCKS, HT_PRODUCT)
#else
    HT_UNROLL
    for (int g0 = 0; g0 < HT_PART_BLOCKS; g0 += HT_TOGETHER) {
        real high[HT_TOGETHER][4], low[HT_TOGETHER][4];
        real part[HT_TOGETHER * HT_MOST_TILES][4];
        HT_UNROLL
        for (int g = 0; g < HT_TOGETHER && g0 + g < HT_PART_BLOCKS; g++)
            HT_UNROLLED(i, 4) {
                high[g][i] = ht_high(left[g0 + g][i]);
                low[g][i] = left[g0 + g][i] - high[g][i];
            }
#define HT_OWN part[(g - g0) * HT_MOST_TILES + n]
#define HT_LOW_HIGH HT_MULTIPLY_FIRST(HT_OWN, low[g - g0], ht_high(right.x), ht_high(right.y));
#define HT_HIGH_LOW \
    HT_MULTIPLY(HT_OWN, high[g - g0], right.x - ht_high(right.x), right.y - ht_high(right.y));
#define HT_HIGH_HIGH HT_MULTIPLY(HT_OWN, high[g - g0], ht_high(right.x), ht_high(right.y));
#define HT_ADD_PART \
    HT_UNROLLED(i, 4) acc[tile][i] += HT_OWN[i];
        HT_EACH_TILE(g0, g0 + HT_TOGETHER, HT_LOW_HIGH)
        HT_EACH_TILE(g0, g0 + HT_TOGETHER, HT_HIGH_LOW)
        HT_EACH_TILE(g0, g0 + HT_TOGETHER, HT_HIGH_HIGH)
        HT_EACH_TILE(g0, g0 + HT_TOGETHER, HT_ADD_PART)
    }
#endif
}

/* The left sides of a k step: vertex sums at the warp lane's two targets for the pair of
 * coefficients at `at`, the first of which has `parity`. */
HT_INLINE void ht_left_side(HT_LOCAL const ht_pair *at, const int parity, const int part,
                            real left[HT_PART_BLOCKS][4]) {
    real sign[3];
    HT_UNROLLED(k, 3) sign[k] = HT_SIGN_OF(parity, k);
    HT_UNROLLED(k, HT_DIMS)
        if ((part * HT_PART_BLOCKS) >> k & 1) sign[k] = -sign[k];
    HT_UNROLLED(target, 2) {
        real v[2][HT_CORNERS];
        ht_corner_pairs(at, target, v);
#if HT_DOUBLE
        HT_KEEP_ORDER(); /* double precision needs twice the registers */
#endif
        HT_UNROLLED(e, 2) {
            ht_vertex_sums(v[e], sign);
            HT_UNROLLED(g, HT_PART_BLOCKS) left[g][2 * e + target] = v[e][g];
        }
    }
}

/* Starts to copy the operator's k steps [first, first + HT_OP_STEPS). */
HT_INLINE void ht_steps_copy(const int item, const int first, HT_GLOBAL const real *op,
                             HT_LOCAL ht_pack *to) {
    HT_GLOBAL const ht_pack *from = (HT_GLOBAL const ht_pack *)op + (long)first * HT_STEP_PACKS;
    for (int i = item; i < HT_OP_STEPS * HT_STEP_PACKS; i += HT_TOOL_ITEMS)
        ht_copy(to + i, from + i);
}

HT_TOOL_KERNEL ht_propagator_tensor(HT_STEP_PARAMS(op)) {
    HT_LOCAL_ARRAY(ht_pack, data, 2 * HT_STAGE_SIZE);
    HT_LOCAL_ARRAY(ht_pack, table, HT_OP_PACKS);
    HT_LOCAL_ARRAY(int, info, HT_INFOS);
    HT_LANES_BEGIN(16)
    struct ht_tile tile;
    ht_tile_begin(&a, item, &tile);
    const int m1 = (int)tile.m1 + first1, m2 = (int)tile.m2 + row;
    for (int i = item; i < HT_INFOS; i += HT_TOOL_ITEMS)
        info[i] = (int)op[(long)HT_PARTS * HT_OP_SIZE + part * HT_INFOS + i];
    op += (long)part * HT_OP_SIZE;
    HT_BARRIER();
    int bottom = (int)ht_source_row(&a, 0, begin + a.shift[2]);
    int top = (int)ht_source_row(&a, 0, begin + a.shift[2] + 1);
#if HT_RESIDENT
    for (int k = 0; k < HT_CHUNKS * HT_PAIRS; k += HT_OP_STEPS)
        ht_steps_copy(item, k, op, table + k * HT_STEP_PACKS);
#else
    ht_steps_copy(item, 0, op, table);
#endif
    ht_tile_copy(&a, item, &tile, 0, bottom, top, data HT_EACH_SRC(HT_SRC_ARG));
    HT_COPY_COMMIT();
    int stage = 0, unit = 0; /* buffers of the next chunk, the next k steps */
    for (long m3 = begin; m3 < end; m3++) {
        HT_RESULTS_BEGIN
        HT_ROLLED
        for (int chunk = 0; chunk < HT_CHUNKS; chunk++) {
            const int last = chunk + 1 == HT_CHUNKS;
            HT_LOCAL const ht_pack *at =
                data + stage * HT_STAGE_SIZE + (row * HT_CHUNK + t) * HT_PITCH + first1;
            HT_UNROLLED(j, HT_PAIRS) {
                if (j % HT_OP_STEPS == 0) {
                    if (j == 0)
                        HT_COPY_WAIT(0);
                    else
                        HT_COPY_WAIT(1); /* all but the next chunk's data */
                    HT_BARRIER();
#if !HT_RESIDENT
                    const int next = chunk * HT_PAIRS + j + HT_OP_STEPS;
                    unit ^= 1;
                    const int more = next < HT_CHUNKS * HT_PAIRS;
                    ht_steps_copy(item, more ? next : 0, op,
                                  table + unit * HT_STEP_PACKS * HT_OP_STEPS);
                    HT_COPY_COMMIT();
#endif
                }
                if (j == 0) {
                    if (last) {
                        bottom = top;
                        top = (int)ht_source_row(&a, 0, m3 + a.shift[2] + 2);
                    }
                    stage ^= 1;
                    if (!last || m3 + 1 < end)
                        ht_tile_copy(&a, item, &tile, last ? 0 : chunk + 1, bottom, top,
                                     data + stage * HT_STAGE_SIZE HT_EACH_SRC(HT_SRC_ARG));
                    HT_COPY_COMMIT();
                }
                /* lanes with odd t swap the pairs to avoid bank conflicts */
                const int pair = HT_PAIRS == 2 ? j ^ (t & 1) : 0;
                real left[HT_PART_BLOCKS][4];
                ht_left_side((HT_LOCAL const ht_pair *)at + pair,
                             info[(chunk * 4 + t) * HT_PAIRS + pair], part, left);
#if HT_RESIDENT
                HT_LOCAL const ht_pack *right = table + (chunk * HT_PAIRS + j) * HT_STEP_PACKS;
#else
                HT_LOCAL const ht_pack *right =
                    table + ((unit ^ 1) * HT_OP_STEPS + j % HT_OP_STEPS) * HT_STEP_PACKS;
#endif
                ht_products(item % 32, left, (HT_LOCAL const ht_pair *)right, acc);
            }
        }
        HT_EACH_RESULT(HT_STORE_RESULT)
    }
}
