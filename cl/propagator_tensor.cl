/* The half step by parity blocks (src/kernel/blocks.h) as matrix products on
 * NVIDIA's tensor cores (PTX mma.sync m16n8k8; cl/tf32.cl has the fragments).
 *
 * A warp computes 16 neighbouring targets of an x1 row, a group the HT_CELLS
 * targets in each of HT_ROWS rows. The 16 are the rows of the product; its
 * columns are rows of a parity block, 8 at a time (a tile); the sum runs over 8
 * source entries at a time (a k step).
 *
 * The order of source entries is free: lane l reads the coefficients of block
 * l % 4 of a chunk, two per k step, at the eight vertices and forms the sums of
 * all parity blocks in registers, the left sides of the products. Coefficients
 * are sorted by parity (src/kernel/storage_order.c), so both of a pair have the
 * same parity, and a pair of results is contiguous in a node.
 *
 * Single precision needs three products of the halves x = high + low, each of
 * 11 bits (tf32): low high, high low, high high. Tensor cores truncate their
 * sums instead of rounding them, and truncation errors have one sign and
 * accumulate. Therefore the three products of a k step start from zero, and
 * their result is added to the others by an ordinary, rounded addition. For the
 * same reason vertex sums are split by rounding; the host rounds the operator
 * to what two halves hold, 23 bits or more.
 *
 * With HT_PARTS = 2, 4, 8 the parity blocks of a tile's targets are distributed
 * over as many work-groups by the signs along the last axes.
 *     op[part][chunk][mix][k step of the chunk][tile][lane][2];
 * where profiles of layers vary about a node, a chunk is used once for each
 * mix, with parities that differ along the layers' axes (HT_MIXES). In
 * absorbing layers there is one operator, with its info, after the other: those
 * of neighbouring planes differ, with HT_ROWS = 1 also those of rows
 * (cl/args.h).
 * info: the parity of each (chunk, mix, l % 4, pair), then for each (tile, l %
 * 4) the target slot * HT_PADDED_COEFS + storage index of the pair of results,
 * -1 for none.
 *
 * At N = 1 each class has one coefficient (HT_SINGLE). Coefficients are in
 * tensor order, which is sorted but for pairs: the two of a pair differ in the
 * parity along the equations' first axis. Each block has one row for each
 * field, the same columns in all blocks, so that a warp lane gets all
 * coefficients of its fields at its targets and stores whole nodes. The second
 * part of info is then for each column of a block's tiles the field's parity,
 * -1 for none.
 */
#define HT_SINGLE (HT_ORDER == 1)
/* Bits of the equations' axes as those of the kernel's. */
#define HT_TURNED(bits)                                           \
    (((bits) >> HT_AXIS_1 & 1) | ((bits) >> HT_AXIS_2 & 1) << 1 | \
     ((bits) >> HT_AXIS_3 & 1) << 2)
#define HT_STEP_PACKS (HT_TILES * 64 / HT_BLOCK)
#define HT_ROW_WARPS (HT_CELLS / 16)
#define HT_PASSES (HT_CHUNKS * HT_MIXES)
#define HT_OP_SIZE (HT_PASSES * HT_PAIRS * HT_STEP_PACKS * HT_BLOCK)
#define HT_INFO_PARITIES (HT_PASSES * 4 * HT_PAIRS)
#define HT_INFOS \
    (HT_INFO_PARITIES + (HT_SINGLE ? HT_MOST_TILES * 8 : HT_TILES * 4))
#if HT_RESIDENT
#define HT_OP_PACKS (HT_PASSES * HT_PAIRS * HT_STEP_PACKS)
#else
#define HT_OP_PACKS (2 * HT_OP_STEPS * HT_STEP_PACKS)
#endif

/* USE for the tiles of parity blocks [first, end), with the warp lane's part of
 * the operator in `right`. */
#define HT_EACH_TILE(first, end, USE)                             \
    HT_UNROLL                                                     \
    for (int g = (first); g < (end) && g < HT_PART_BLOCKS; g++) { \
        HT_UNROLL                                                 \
        for (int n = 0; n < HT_MOST_TILES; n++) {                 \
            if (n >= HT_TILES_OF(g)) continue;                    \
            const int tile = HT_FIRST_TILE(g) + n;                \
            const ht_pair right = op[at + tile * 32];             \
            USE                                                   \
        }                                                         \
    }

/* Blocks whose products are interleaved, so that at least four products are in
 * flight between two that add to the same results. */
#define HT_TOGETHER \
    (HT_MOST_TILES >= 4 ? 1 : HT_MOST_TILES >= 2 ? 2 : HT_PART_BLOCKS)

/* acc += sign * products of one k step. left[g]: fragment of block g. */
HT_INLINE void ht_products(const int lane, const real sign,
                           real left[HT_PART_BLOCKS][4],
                           HT_LOCAL const ht_pair *op, real acc[HT_TILES][4]) {
    int at = lane; /* unknown: else each tile has a register for its place */
    HT_RECOMPUTE(at);
#if HT_DOUBLE
#define HT_PRODUCT HT_MULTIPLY(acc[tile], left[g], right.x, right.y);
    HT_UNROLL
    for (int i = 0; HT_MIXES > 1 && i < 4 * HT_PART_BLOCKS; i++)
        left[i / 4][i % 4] *= sign;
    HT_EACH_TILE(0, HT_PART_BLOCKS, HT_PRODUCT)
#else
    HT_UNROLL
    for (int g0 = 0; g0 < HT_PART_BLOCKS; g0 += HT_TOGETHER) {
        real high[HT_TOGETHER][4], low[HT_TOGETHER][4];
        real part[HT_TOGETHER * HT_MOST_TILES][4];
        HT_UNROLL
        for (int g = 0; g < HT_TOGETHER && g0 + g < HT_PART_BLOCKS; g++) {
            HT_UNROLL
            for (int i = 0; i < 4; i++) {
                high[g][i] = ht_high(left[g0 + g][i]);
                low[g][i] = left[g0 + g][i] - high[g][i];
            }
        }
#define HT_OWN part[(g - g0) * HT_MOST_TILES + n]
#define HT_LOW_HIGH \
    HT_MULTIPLY_FIRST(HT_OWN, low[g - g0], ht_high(right.x), ht_high(right.y));
#define HT_HIGH_LOW                                               \
    HT_MULTIPLY(HT_OWN, high[g - g0], right.x - ht_high(right.x), \
                right.y - ht_high(right.y));
#define HT_HIGH_HIGH \
    HT_MULTIPLY(HT_OWN, high[g - g0], ht_high(right.x), ht_high(right.y));
#define HT_ADD_PART \
    HT_UNROLL       \
    for (int i = 0; i < 4; i++) HT_ADD_SIGNED(acc[tile][i], sign, HT_OWN[i]);
        HT_EACH_TILE(g0, g0 + HT_TOGETHER, HT_LOW_HIGH)
        HT_EACH_TILE(g0, g0 + HT_TOGETHER, HT_HIGH_LOW)
        HT_EACH_TILE(g0, g0 + HT_TOGETHER, HT_HIGH_HIGH)
        HT_EACH_TILE(g0, g0 + HT_TOGETHER, HT_ADD_PART)
    }
#endif
}

/* The left sides of a k step: vertex sums at the warp lane's two targets for
 * the pair of coefficients at `at`, the first of which has `parity`. */
HT_INLINE void ht_left_side(HT_LOCAL const ht_pair *at, const int parity,
                            const int part, real left[HT_PART_BLOCKS][4]) {
    real sign[2][3];
    HT_UNROLL
    for (int e = 0; e < 2; e++) {
        const int bits = parity ^ (HT_SINGLE ? HT_TURNED(e) : 0);
        HT_UNROLL
        for (int k = 0; k < 3; k++) sign[e][k] = HT_SIGN_OF(bits, k);
        HT_UNROLL
        for (int k = 0; k < HT_DIMS; k++)
            if ((part * HT_PART_BLOCKS) >> k & 1) sign[e][k] = -sign[e][k];
    }
    HT_UNROLL
    for (int target = 0; target < 2; target++) {
        real v[2][HT_CORNERS];
        ht_corner_pairs(at, target, v);
#if HT_DOUBLE
        HT_KEEP_ORDER(); /* double precision needs twice the registers */
#endif
        HT_UNROLL
        for (int e = 0; e < 2; e++) {
            ht_vertex_sums(v[e], sign[e]);
            HT_UNROLL
            for (int g = 0; g < HT_PART_BLOCKS; g++)
                left[g][2 * e + target] = v[e][g];
        }
    }
}

#if HT_SINGLE
/* The coefficients of a field of this parity, in their order, from its results
 * in all blocks. */
HT_INLINE void ht_sort_results(const int parity, real x[HT_CORNERS]) {
    real y[HT_CORNERS];
    HT_UNROLL
    for (int k = 0; k < HT_DIMS; k++) {
        const int odd = parity >> k & 1;
        HT_UNROLL
        for (int g = 0; g < HT_CORNERS; g++) y[g] = odd ? x[g ^ 1 << k] : x[g];
        HT_UNROLL
        for (int g = 0; g < HT_CORNERS; g++) x[g] = y[g];
    }
    HT_UNROLL
    for (int i = 0; i < HT_CORNERS; i++) x[i] = y[HT_TURNED(i)];
}

/* Stores a node of a field; nodes: of the whole part. */
HT_INLINE void ht_store_node(HT_GLOBAL ht_pack *to, const long nodes,
                             const real x[HT_CORNERS]) {
    HT_UNROLL
    for (int b = 0; b < HT_FIELD_BLOCKS; b++) {
        real v[HT_BLOCK];
        HT_UNROLL
        for (int i = 0; i < HT_BLOCK; i++)
            v[i] = b * HT_BLOCK + i < HT_CORNERS
                       ? x[(b * HT_BLOCK + i) % HT_CORNERS]
                       : (real)0;
        to[b * nodes] = ht_packed(v);
    }
}

/* Stores the warp lane's results; t: l % 4; m1, m2, m3: its first target. */
HT_INLINE void
ht_store_results(const struct ht_step_args *a, const int t, const int m1,
                 const int m2, const long m3, HT_LOCAL const int *info,
                 real acc[HT_TILES][4] HT_EACH_DST(HT_DST_PARAM)) {
    HT_UNROLL
    for (int c = 0; c < 2 * HT_MOST_TILES; c++) {
        const int field = c / 2 * 8 + 2 * t + c % 2;
        const int parity = info[HT_INFO_PARITIES + field];
        if (parity < 0 || m2 >= (int)a->end[1]) continue;
        const int place = HT_DST_PLACE(field);
        HT_GLOBAL real *chosen = dst0;
        HT_EACH_DST(HT_DST_CHOOSE)
        HT_UNROLL
        for (int target = 0; target < 2; target++) {
            const int m = m1 + 8 * target;
            real x[HT_CORNERS];
            HT_UNROLL
            for (int g = 0; g < HT_CORNERS; g++)
                x[g] = acc[HT_FIRST_TILE(g) + c / 2][2 * target + c % 2];
            ht_sort_results(parity, x);
            if (m < (int)a->end[0])
                ht_store_node((HT_GLOBAL ht_pack *)chosen +
                                  ht_place_target(a, place, m2, m3) +
                                  m * HT_DST_CELL(a, place),
                              HT_DST_NODES(a, place), x);
        }
    }
}
#endif

/* Starts to copy the operator's k steps [first, first + HT_OP_STEPS). */
HT_INLINE void ht_steps_copy(const int item, const int first,
                             HT_GLOBAL const real *op, HT_LOCAL ht_pack *to) {
    HT_GLOBAL const ht_pack *from =
        (HT_GLOBAL const ht_pack *)op + (long)first * HT_STEP_PACKS;
    for (int i = item; i < HT_OP_STEPS * HT_STEP_PACKS; i += HT_GROUP_ITEMS)
        ht_copy(to + i, from + i);
}

HT_KERNEL HT_GROUP_SIZE(HT_GROUP_ITEMS) void ht_propagator_tensor(
    struct ht_step_args a,
    HT_GLOBAL const real *HT_RESTRICT op HT_EACH_SRC(HT_SRC_PARAM)
        HT_EACH_DST(HT_DST_PARAM)) {
    HT_LOCAL_ARRAY(ht_pack, data, 2 * HT_STAGE_SIZE);
    HT_LOCAL_ARRAY(ht_pack, table, HT_OP_PACKS);
    HT_LOCAL_ARRAY(int, info, HT_INFOS);
    const int item = HT_ITEM(), t = item % 4;
    const int part = (int)(HT_GROUP_ALONG_1() % HT_PARTS);
    const int row = item / (32 * HT_ROW_WARPS);
    const int first1 = item / 32 % HT_ROW_WARPS * 16 + item % 32 / 4;
    const long begin = ht_first_plane(&a), end = ht_last_plane(&a);
    struct ht_tile tile;
    ht_tile_begin(&a, item, &tile);
    const int m1 = (int)tile.m1 + first1, m2 = (int)tile.m2 + row;
    for (int i = item; i < HT_INFOS; i += HT_GROUP_ITEMS)
        info[i] = (int)op[(long)HT_PARTS * HT_OP_SIZE + part * HT_INFOS + i];
    op += HT_OP_BEGIN(&a, 0, tile.m2, begin) + (long)part * HT_OP_SIZE;
    HT_BARRIER();
    struct ht_level bottom, top;
    ht_level_set(&a, begin + a.shift[2], &bottom);
    ht_level_set(&a, begin + a.shift[2] + 1, &top);
#if HT_RESIDENT
    for (int k = 0; k < HT_PASSES * HT_PAIRS; k += HT_OP_STEPS)
        ht_steps_copy(item, k, op, table + k * HT_STEP_PACKS);
#else
    ht_steps_copy(item, 0, op, table);
#endif
    ht_tile_copy(&a, item, &tile, 0, &bottom, &top,
                 data HT_EACH_SRC(HT_SRC_ARG));
    HT_COPY_COMMIT();
    int stage = 0, unit = 0; /* buffers of the next chunk, the next k steps */
    for (long m3 = begin; m3 < end; m3++) {
        /* of the next plane of targets */
        HT_GLOBAL const real *const after =
            op + (m3 + 1 < end ? HT_OP_PLANE(&a) : 0);
        real acc[HT_TILES][4];
#if HT_OLD_SIGN != 0
        HT_EACH_RESULT(HT_READ_RESULT)
#endif
        ht_results_begin(acc);
        HT_ROLLED
        for (int pass = 0; pass < HT_PASSES; pass++) {
            const int chunk = pass / HT_MIXES, first = pass % HT_MIXES == 0;
            const int last = chunk + 1 == HT_CHUNKS;
            HT_LOCAL const ht_pack *at =
                data + (first ? stage : stage ^ 1) * HT_STAGE_SIZE +
                (row * HT_CHUNK + t) * HT_PITCH + first1;
            HT_UNROLL
            for (int j = 0; j < HT_PAIRS; j++) {
                if (j % HT_OP_STEPS == 0) {
                    if (j == 0)
                        HT_COPY_WAIT(0);
                    else
                        HT_COPY_WAIT(1); /* all but the next chunk's data */
                    HT_BARRIER();
#if !HT_RESIDENT
                    const int next = pass * HT_PAIRS + j + HT_OP_STEPS;
                    unit ^= 1;
                    const int more = next < HT_PASSES * HT_PAIRS;
                    ht_steps_copy(item, more ? next : 0, more ? op : after,
                                  table + unit * HT_STEP_PACKS * HT_OP_STEPS);
                    HT_COPY_COMMIT();
#endif
                }
                if (j == 0 && first) {
                    if (last) {
                        bottom = top;
                        ht_level_set(&a, m3 + a.shift[2] + 2, &top);
                    }
                    stage ^= 1;
                    if (!last || m3 + 1 < end)
                        ht_tile_copy(&a, item, &tile, last ? 0 : chunk + 1,
                                     &bottom, &top,
                                     data + stage * HT_STAGE_SIZE HT_EACH_SRC(
                                                        HT_SRC_ARG));
                }
                if (j == 0) HT_COPY_COMMIT();
                /* lanes with odd t swap the pairs to avoid bank conflicts */
                const int pair = HT_PAIRS == 2 ? j ^ (t & 1) : 0;
                real left[HT_PART_BLOCKS][4];
                ht_left_side((HT_LOCAL const ht_pair *)at + pair,
                             info[(pass * 4 + t) * HT_PAIRS + pair], part,
                             left);
#if HT_RESIDENT
                HT_LOCAL const ht_pack *right =
                    table + (pass * HT_PAIRS + j) * HT_STEP_PACKS;
#else
                HT_LOCAL const ht_pack *right =
                    table + ((unit ^ 1) * HT_OP_STEPS + j % HT_OP_STEPS) *
                                HT_STEP_PACKS;
#endif
                ht_products(item % 32, ht_mix_sign(&a, pass % HT_MIXES), left,
                            (HT_LOCAL const ht_pair *)right, acc);
            }
        }
#if HT_SINGLE
        ht_store_results(&a, t, m1, m2, m3, info, acc HT_EACH_DST(HT_DST_ARG));
#else
        HT_EACH_RESULT(HT_STORE_RESULT)
#endif
        op = after;
    }
}
