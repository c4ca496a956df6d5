/* The half step by parity blocks as cl/propagator_tensor.cl does it, in three
 * dimensions and single precision, two neighbouring x3 planes at a time
 * (cl/planes.cl). The two k steps of a chunk start from zero together, small
 * products first. Parts, the operator, its order and info are those of
 * cl/propagator_tensor.cl.
 */
/* of the operator of a chunk */
#define HT_CHUNK_PACKS (HT_PAIRS * HT_TILES * 64 / HT_BLOCK)
#define HT_OP_SIZE (HT_CHUNKS * HT_CHUNK_PACKS * HT_BLOCK)
#if HT_RESIDENT
#define HT_OP_PACKS (HT_CHUNKS * HT_CHUNK_PACKS)
#else
#define HT_OP_PACKS (2 * HT_CHUNK_PACKS)
#endif

/* Blocks whose products are interleaved, so that at least four products are in
 * flight between two that add to the same results. */
#define HT_TOGETHER \
    (HT_MOST_TILES >= 4 ? 1 : HT_MOST_TILES >= 2 ? 2 : HT_MIN_4(HT_PART_BLOCKS))
#define HT_MIN_4(n) ((n) < 4 ? (n) : 4)

/* USE for the tiles of parity blocks [first, end). */
#define HT_EACH_TILE(first, end, USE)                             \
    HT_UNROLL                                                     \
    for (int g = (first); g < (end) && g < HT_PART_BLOCKS; g++) { \
        HT_UNROLL                                                 \
        for (int n = 0; n < HT_MOST_TILES; n++) {                 \
            if (n >= HT_TILES_OF(g)) continue;                    \
            const int tile = HT_FIRST_TILE(g) + n;                \
            const int own = (g - (first)) * HT_MOST_TILES + n;    \
            USE                                                   \
        }                                                         \
    }

/* acc += products of a chunk. left[j][g]: fragment of k step j, block g. Those
 * of all k steps start from zero together, small ones first. */
HT_INLINE void ht_products(const int lane,
                           real left[HT_PAIRS][HT_PART_BLOCKS][4],
                           HT_LOCAL const ht_pair *op, real acc[HT_TILES][4]) {
#define HT_EACH_STEP HT_UNROLL for (int j = 0; j < HT_PAIRS; j++)
    HT_UNROLL
    for (int g0 = 0; g0 < HT_PART_BLOCKS; g0 += HT_TOGETHER) {
        real high[HT_PAIRS][HT_TOGETHER][4], low[HT_PAIRS][HT_TOGETHER][4];
        real right[HT_PAIRS][HT_TOGETHER * HT_MOST_TILES][4];
        real part[HT_TOGETHER * HT_MOST_TILES][4];
        HT_EACH_STEP {
            HT_UNROLL
            for (int g = 0; g < HT_TOGETHER && g0 + g < HT_PART_BLOCKS; g++) {
                HT_UNROLL
                for (int i = 0; i < 4; i++) {
                    high[j][g][i] = ht_high(left[j][g0 + g][i]);
                    low[j][g][i] = left[j][g0 + g][i] - high[j][g][i];
                }
            }
        }
#define HT_READ_RIGHT                                               \
    HT_EACH_STEP {                                                  \
        const ht_pair both = op[(j * HT_TILES + tile) * 32 + lane]; \
        right[j][own][0] = ht_high(both.x);                         \
        right[j][own][1] = ht_high(both.y);                         \
        right[j][own][2] = both.x - right[j][own][0];               \
        right[j][own][3] = both.y - right[j][own][1];               \
    }
#define HT_FIRST                                                   \
    HT_MULTIPLY_FIRST(part[own], low[0][g - g0], right[0][own][0], \
                      right[0][own][1]);
#define HT_LOW_HIGH \
    HT_MULTIPLY(part[own], low[1][g - g0], right[1][own][0], right[1][own][1]);
#define HT_HIGH_LOW(j) \
    HT_MULTIPLY(part[own], high[j][g - g0], right[j][own][2], right[j][own][3]);
#define HT_HIGH_HIGH(j) \
    HT_MULTIPLY(part[own], high[j][g - g0], right[j][own][0], right[j][own][1]);
#define HT_ADD_PART \
    HT_UNROLL       \
    for (int i = 0; i < 4; i++) acc[tile][i] += part[own][i];
        HT_EACH_TILE(g0, g0 + HT_TOGETHER, HT_READ_RIGHT)
        HT_EACH_TILE(g0, g0 + HT_TOGETHER, HT_FIRST)
        HT_EACH_TILE(g0, g0 + HT_TOGETHER, HT_LOW_HIGH)
        HT_EACH_TILE(g0, g0 + HT_TOGETHER, HT_HIGH_LOW(0))
        HT_EACH_TILE(g0, g0 + HT_TOGETHER, HT_HIGH_LOW(1))
        HT_EACH_TILE(g0, g0 + HT_TOGETHER, HT_HIGH_HIGH(0))
        HT_EACH_TILE(g0, g0 + HT_TOGETHER, HT_HIGH_HIGH(1))
        HT_EACH_TILE(g0, g0 + HT_TOGETHER, HT_ADD_PART)
    }
}

/* The left sides of a k step: vertex sums at the warp lane's targets for the
 * pair of coefficients at `at`, whose parity is `parity`. */
HT_INLINE void ht_left_side(HT_LOCAL const ht_pair *at, const int parity,
                            const int part, real left[HT_PART_BLOCKS][4]) {
    const int bits = parity ^ part * HT_PART_BLOCKS;
    const real sign[3] = {HT_SIGN_OF(bits, 0), HT_SIGN_OF(bits, 1),
                          HT_SIGN_OF(bits, 2)};
    real lower[2][4], upper[2][4];
    ht_face_sums(at, 0, sign, lower);
    HT_UNROLL
    for (int plane = 0; plane < 2; plane++) {
        ht_face_sums(at, plane + 1, sign, upper);
        HT_UNROLL
        for (int e = 0; e < 2; e++) {
            HT_UNROLL
            for (int g = 0; g < HT_PART_BLOCKS; g++)
                left[g][2 * e + plane] = fma(g < 4 ? sign[2] : -sign[2],
                                             lower[e][g % 4], upper[e][g % 4]);
            HT_UNROLL
            for (int g = 0; g < 4; g++) lower[e][g] = upper[e][g];
        }
    }
}

HT_KERNEL HT_GROUP_SIZE(HT_GROUP_ITEMS) void ht_propagator_planes(
    struct ht_step_args a,
    HT_GLOBAL const real *HT_RESTRICT op HT_EACH_SRC(HT_SRC_PARAM)
        HT_EACH_DST(HT_DST_PARAM)) {
    HT_LOCAL_ARRAY(ht_pack, data, 2 * HT_STAGE_SIZE);
    HT_LOCAL_ARRAY(ht_pack, table, HT_OP_PACKS);
    HT_LOCAL_ARRAY(long, where, HT_TILES * 4);
    HT_LOCAL_ARRAY(int, parities, HT_INFO_PARITIES);
    const int item = HT_ITEM(), t = item % 4;
    const int part = (int)(HT_GROUP_1() % HT_PARTS);
    const int row = item / (32 * HT_ROW_WARPS);
    const int first1 = item / 32 % HT_ROW_WARPS * 8 + item % 32 / 4;
    const long begin = ht_first_plane(&a), end = ht_last_plane(&a);
    const long group1 = a.begin[0] + HT_GROUP_1() / HT_PARTS * HT_CELLS;
    const long group2 = a.begin[1] + HT_GROUP_2() * HT_ROWS;
    const int m1 = (int)group1 + first1, m2 = (int)group2 + row;
    HT_GLOBAL const real *info =
        op + (long)HT_PARTS * HT_OP_SIZE + part * HT_INFOS;
    struct ht_copies copies;
    ht_copies_begin(&a, item, group1, group2, &copies);
    for (int i = item; i < HT_INFO_PARITIES; i += HT_GROUP_ITEMS)
        parities[i] = (int)info[i];
    for (int i = item; i < HT_TILES * 4; i += HT_GROUP_ITEMS)
        where[i] = ht_where_of(&a, (int)info[HT_INFO_PARITIES + i]);
    op += (long)part * HT_OP_SIZE;
    HT_BARRIER();
    for (int chunk = 0; chunk < (HT_RESIDENT ? HT_CHUNKS : 1); chunk++)
        ht_operator_copy(item, chunk, HT_CHUNK_PACKS, op,
                         table + chunk * HT_CHUNK_PACKS);
    ht_copies_at(&a, begin, end, &copies);
    ht_chunk_copy(&a, &copies, 0, data HT_EACH_SRC(HT_SRC_ARG));
    HT_COPY_COMMIT();
    int stage = 0; /* buffer of the next chunk */
    for (long m3 = begin; m3 < end; m3 += 2) {
        int node[2], inside[2];
        ht_targets_at(&a, m1, m2, m3, end, node, inside);
        real acc[HT_TILES][4];
#if HT_OLD_SIGN != 0
        HT_EACH_RESULT(HT_READ_RESULT)
#endif
        ht_results_begin(acc);
        HT_ROLLED
        for (int chunk = 0; chunk < HT_CHUNKS; chunk++) {
            const int last = chunk + 1 == HT_CHUNKS;
            const int next = last ? 0 : chunk + 1;
            HT_LOCAL const ht_pack *at = data + stage * HT_STAGE_SIZE +
                                         (row * HT_CHUNK + t) * HT_PITCH +
                                         first1;
            HT_LOCAL const ht_pack *right =
                table + (HT_RESIDENT ? chunk : stage) * HT_CHUNK_PACKS;
            real left[HT_PAIRS][HT_PART_BLOCKS][4];
            HT_COPY_WAIT(0);
            HT_BARRIER();
            stage ^= 1;
            if (last) ht_copies_at(&a, m3 + 2, end, &copies);
            if (!HT_RESIDENT)
                ht_operator_copy(item, next, HT_CHUNK_PACKS, op,
                                 table + stage * HT_CHUNK_PACKS);
            ht_chunk_copy(&a, &copies, next,
                          data + stage * HT_STAGE_SIZE HT_EACH_SRC(HT_SRC_ARG));
            HT_COPY_COMMIT();
            HT_EACH_STEP {
                /* lanes with odd t swap the pairs to avoid bank conflicts */
                const int pair = j ^ (t & 1);
                ht_left_side((HT_LOCAL const ht_pair *)at + pair,
                             parities[(chunk * 4 + t) * HT_PAIRS + pair], part,
                             left[j]);
            }
            ht_products(item % 32, left, (HT_LOCAL const ht_pair *)right, acc);
        }
        HT_EACH_RESULT(HT_STORE_RESULT)
    }
}
