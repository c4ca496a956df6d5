/* The half step as parity blocks (src/kernel/blocks.h) by matrix products on
 * NVIDIA's tensor cores (PTX mma.sync m16n8k8).
 *
 * A warp takes 16 neighbouring targets of an x1 row: they are the 16 rows of
 * the product, the rows of a parity block its columns, 8 at a time (a tile),
 * and source entries are summed 8 at a time (a k step). In the fragments that
 * the instruction wants, lane l holds targets l / 4 and l / 4 + 8, source
 * entries l % 4 and l % 4 + 4, and results 2 (l % 4), 2 (l % 4) + 1. Entries
 * may come in any order: lane l reads the coefficients of the block number
 * l % 4 of a chunk, two for every k step, at the eight vertices and forms the
 * sums of all parity blocks in registers; they are the products' left side.
 * Coefficients are sorted by parity (src/kernel/place.c), so that a pair has
 * one parity, and pairs of results lie together in a node.
 *
 * Single precision takes three products of the halves x = high + low, each of
 * 11 bits (tf32): high low, low high, high high.
 *
 * With HT_PARTS = 2, 4, 8 groups share out the blocks of their targets by the
 * signs along the last axes. op[part][k step][tile][lane][2]; info: the parity of each (block,
 * pair), then per (tile, l % 4) the target slot * HT_PLACES + place of the
 * pair of results, -1 where there is none.
 */
#define HT_PAIRS (HT_BLOCK / 2)
#define HT_STEP_PACKS (HT_TILES * 64 / HT_BLOCK)
#define HT_PART_BLOCKS (HT_CORNERS / HT_PARTS)
#define HT_OP_SIZE (HT_CHUNKS * HT_PAIRS * HT_STEP_PACKS * HT_BLOCK)
#define HT_INFO_PARITIES (HT_CHUNKS * 4 * HT_PAIRS)
#define HT_INFOS (HT_INFO_PARITIES + HT_TILES * 4)
#if HT_RESIDENT
#define HT_OP_PACKS (HT_CHUNKS * HT_PAIRS * HT_STEP_PACKS)
#else
#define HT_OP_PACKS (2 * HT_OP_STEPS * HT_STEP_PACKS)
#endif

#if HT_DOUBLE
#define HT_MULTIPLY(c, a, b0, b1)                                             \
    __asm__ volatile("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 "      \
                     "{%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"     \
                     : "+d"((c)[0]), "+d"((c)[1]), "+d"((c)[2]), "+d"((c)[3]) \
                     : "d"((a)[0]), "d"((a)[1]), "d"((a)[2]), "d"((a)[3]),    \
                       "d"(b0), "d"(b1))
#else
#define HT_MULTIPLY(c, a, b0, b1)                                             \
    __asm__ volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "    \
                     "{%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"     \
                     : "+f"((c)[0]), "+f"((c)[1]), "+f"((c)[2]), "+f"((c)[3]) \
                     : "r"(HT_AS_UINT((a)[0])), "r"(HT_AS_UINT((a)[1])),      \
                       "r"(HT_AS_UINT((a)[2])), "r"(HT_AS_UINT((a)[3])),      \
                       "r"(HT_AS_UINT(b0)), "r"(HT_AS_UINT(b1)))
/* The leading 11 bits; the rest is exact. */
HT_INLINE real ht_high(real x) {
    return HT_AS_FLOAT(HT_AS_UINT(x) & 0xffffe000u);
}
#endif

/* acc += products of one k step: left[g] the fragment of block g. */
HT_INLINE void ht_products(const int lane, real left[HT_PART_BLOCKS][4],
                           HT_LOCAL const real *op,
                           real acc[HT_TILES][4]) {
    HT_UNROLL
    for (int g = 0; g < HT_PART_BLOCKS; g++) {
#if !HT_DOUBLE
        real high[4], low[4];
        HT_UNROLL
        for (int i = 0; i < 4; i++) {
            high[i] = ht_high(left[g][i]);
            low[i] = left[g][i] - high[i];
        }
#endif
        HT_UNROLL
        for (int n = 0; n < HT_MOST_TILES; n++) {
            if (n >= HT_TILES_OF(g)) continue;
            const int tile = HT_FIRST_TILE(g) + n;
            HT_LOCAL const real *pair = op + (tile * 32 + lane) * 2;
            const real b0 = pair[0], b1 = pair[1];
#if HT_DOUBLE
            HT_MULTIPLY(acc[tile], left[g], b0, b1);
#else
            const real high0 = ht_high(b0), high1 = ht_high(b1);
            const real low0 = b0 - high0, low1 = b1 - high1;
            HT_MULTIPLY(acc[tile], low, high0, high1);
            HT_MULTIPLY(acc[tile], high, low0, low1);
            HT_MULTIPLY(acc[tile], high, high0, high1);
#endif
        }
    }
}

/* The left sides of a chunk: sums of the lane's two targets at the vertices,
 * for every pair of the block at `at`; parities: bits of both pairs. */
HT_INLINE void ht_left_sides(HT_LOCAL const ht_pack *at, const int parity[],
                             const int part, const struct ht_mirrors mirrors[2],
                             const int walled,
                             real left[HT_PAIRS][HT_PART_BLOCKS][4]) {
    HT_UNROLL
    for (int target = 0; target < 2; target++) {
        real v[HT_BLOCK][HT_CORNERS];
        HT_UNROLL
        for (int w = 0; w < HT_CORNERS; w++) {
            real x[HT_BLOCK];
            ht_unpack(
                at[((w >> 2) * HT_TILE_2 + (w >> 1 & 1)) * HT_CHUNK * HT_PITCH +
                   8 * target + (w & 1)],
                x);
            HT_UNROLL
            for (int i = 0; i < HT_BLOCK; i++) v[i][w] = x[i];
        }
        if (walled) {
            HT_UNROLL
            for (int i = 0; i < HT_BLOCK; i++) {
                HT_UNROLL
                for (int w = 0; w < HT_CORNERS; w++)
                    v[i][w] *=
                        ht_mirror_sign(&mirrors[target], parity[i / 2], w);
            }
        }
        HT_UNROLL
        for (int i = 0; i < HT_BLOCK; i++) {
            real sign[3] = {HT_SIGN_OF(parity[i / 2], 0),
                            HT_SIGN_OF(parity[i / 2], 1),
                            HT_SIGN_OF(parity[i / 2], 2)};
            HT_UNROLL
            for (int k = 0; k < HT_DIMS; k++)
                if ((part * HT_PART_BLOCKS) >> k & 1) sign[k] = -sign[k];
            ht_vertex_sums(v[i], sign);
            HT_UNROLL
            for (int g = 0; g < HT_PART_BLOCKS; g++)
                left[i / 2][g][i % 2 * 2 + target] = v[i][g];
        }
    }
}

/* The lane's results of a tile: pairs in the nodes of its two targets. */
#define HT_EACH_RESULT(USE)                                                 \
    HT_UNROLL                                                               \
    for (int tile = 0; tile < HT_TILES; tile++) {                      \
        const int entry =                                                   \
            info[HT_INFO_PARITIES + (part * HT_TILES + tile) * 4 + t]; \
        if (entry < 0 || !active) continue;                                 \
        const int field = entry / HT_PLACES, place = entry % HT_PLACES;     \
        HT_GLOBAL real *chosen = dst0;                                      \
        HT_EACH_DST(HT_DST_CHOOSE)                                       \
        HT_UNROLL                                                           \
        for (int target = 0; target < 2; target++) {                        \
            if (m1 + 8 * target >= a.dst[0]) continue;                      \
            const long node =                                               \
                (m3 * a.dst[1] + m2) * a.dst[0] + m1 + 8 * target;          \
            HT_GLOBAL HT_VECTOR_TYPE(2) *at = (HT_GLOBAL HT_VECTOR_TYPE(    \
                2) *)(chosen + HT_AT(place, node, nodes));                  \
            USE                                                             \
        }                                                                   \
    }
#define HT_START_RESULT                            \
    const HT_VECTOR_TYPE(2) old = *at;             \
    acc[tile][2 * target] = (real)HT_KEEP * old.x; \
    acc[tile][2 * target + 1] = (real)HT_KEEP * old.y;
#define HT_STORE_RESULT                   \
    HT_VECTOR_TYPE(2) result;             \
    result.x = acc[tile][2 * target];     \
    result.y = acc[tile][2 * target + 1]; \
    *at = result;

/* Begins to copy the operator's k steps [first, first + HT_OP_STEPS). */
HT_INLINE void ht_operator_copy(const int lane, const int first,
                                HT_GLOBAL const real *op,
                                HT_LOCAL ht_pack *to) {
    HT_GLOBAL const ht_pack *from =
        (HT_GLOBAL const ht_pack *)op + (long)first * HT_STEP_PACKS;
    for (int i = lane; i < HT_OP_STEPS * HT_STEP_PACKS; i += HT_GROUP_LANES)
        ht_copy(to + i, from + i);
}

HT_KERNEL HT_GROUP_SIZE(HT_GROUP_LANES) void ht_propagator_tensor(
    struct ht_step_args a,
    HT_GLOBAL const real *HT_RESTRICT op HT_EACH_SRC(HT_SRC_PARAM)
        HT_EACH_DST(HT_DST_PARAM)) {
    HT_LOCAL_ARRAY(ht_pack, data, 2 * HT_STAGE_SIZE);
    HT_LOCAL_ARRAY(ht_pack, table, HT_OP_PACKS);
    HT_LOCAL_ARRAY(int, info, HT_INFOS);
    const int lane = HT_LANE(), t = lane % 4;
    const int part = (int)(HT_GROUP_1() % HT_PARTS), row = lane / 32;
    const long begin = a.first + HT_GROUP_3() * a.march;
    const long end = begin + a.march < a.last ? begin + a.march : a.last;
    const long nodes = a.dst[0] * a.dst[1] * a.dst[2];
    struct ht_tile tile;
    ht_tile_begin(&a, lane, &tile);
    const long m1 = tile.m1 + lane % 32 / 4, m2 = tile.m2 + row;
    const int active = m2 < a.dst[1];
    struct ht_mirrors mirrors[2];
    ht_mirrors_of(&a, 0, m1, &mirrors[0]);
    ht_mirrors_of(&a, 0, m1 + 8, &mirrors[1]);
    ht_mirrors_of(&a, 1, m2, &mirrors[0]);
    ht_mirrors_of(&a, 1, m2, &mirrors[1]);
    for (int i = lane; i < HT_INFOS; i += HT_GROUP_LANES)
        info[i] =
            (int)op[(long)HT_PARTS * HT_OP_SIZE + part * HT_INFOS + i];
    op += (long)part * HT_OP_SIZE;
    /* blocks past the last one are never copied: let them be zero */
    for (int i = lane; i < 2 * HT_STAGE_SIZE; i += HT_GROUP_LANES) {
        const real zero[HT_BLOCK] = {0};
        data[i] = ht_packed(zero);
    }
    HT_BARRIER();
    long bottom = ht_plane_node(&a, begin + a.shift);
    long top = ht_plane_node(&a, begin + a.shift + 1);
#if HT_RESIDENT
    for (int k = 0; k < HT_CHUNKS * HT_PAIRS; k += HT_OP_STEPS)
        ht_operator_copy(lane, k, op, table + k * HT_STEP_PACKS);
#else
    ht_operator_copy(lane, 0, op, table);
#endif
    ht_tile_copy(&a, lane, &tile, 0, bottom, top,
                 data HT_EACH_SRC(HT_SRC_ARG));
    HT_COPY_COMMIT();
    int stage = 0, unit = 0; /* which areas hold what comes next */
    for (long m3 = begin; m3 < end; m3++) {
        real acc[HT_TILES][4];
        HT_UNROLL
        for (int i = 0; i < HT_TILES; i++) {
            HT_UNROLL
            for (int j = 0; j < 4; j++) acc[i][j] = 0;
        }
#if HT_KEEP != 0
        HT_EACH_RESULT(HT_START_RESULT)
#endif
        ht_mirrors_of(&a, 2, m3, &mirrors[0]);
        ht_mirrors_of(&a, 2, m3, &mirrors[1]);
        const int walled =
            tile.walled || (HT_DIMS > 2 && (mirrors[0].factor[2][0] ||
                                            mirrors[0].factor[2][1]));
        HT_ROLLED
        for (int chunk = 0; chunk < HT_CHUNKS; chunk++) {
            const int last = chunk + 1 == HT_CHUNKS;
            real left[HT_PAIRS][HT_PART_BLOCKS][4];
            HT_UNROLL
            for (int j = 0; j < HT_PAIRS; j++) {
                if (j % HT_OP_STEPS == 0) {
                    if (j == 0)
                        HT_COPY_WAIT(0);
                    else
                        HT_COPY_WAIT(1); /* the next chunk's data may follow */
                    HT_BARRIER();
#if !HT_RESIDENT
                    const int next = chunk * HT_PAIRS + j + HT_OP_STEPS;
                    unit ^= 1;
                    ht_operator_copy(
                        lane, next < HT_CHUNKS * HT_PAIRS ? next : 0, op,
                        table + unit * HT_STEP_PACKS * HT_OP_STEPS);
                    HT_COPY_COMMIT();
#endif
                }
                if (j == 0) {
                    HT_LOCAL const ht_pack *at =
                        data + stage * HT_STAGE_SIZE +
                        (row * HT_CHUNK + t) * HT_PITCH + lane % 32 / 4;
                    int parity[HT_PAIRS];
                    HT_UNROLL
                    for (int i = 0; i < HT_PAIRS; i++)
                        parity[i] = info[(chunk * 4 + t) * HT_PAIRS + i];
                    if (last) {
                        bottom = top;
                        top = ht_plane_node(&a, m3 + a.shift + 2);
                    }
                    stage ^= 1;
                    if (!last || m3 + 1 < end)
                        ht_tile_copy(
                            &a, lane, &tile, last ? 0 : chunk + 1, bottom, top,
                            data + stage * HT_STAGE_SIZE HT_EACH_SRC(
                                               HT_SRC_ARG));
                    HT_COPY_COMMIT();
                    ht_left_sides(at, parity, part, mirrors, walled, left);
                }
#if HT_RESIDENT
                HT_LOCAL const ht_pack *right =
                    table + (chunk * HT_PAIRS + j) * HT_STEP_PACKS;
#else
                HT_LOCAL const ht_pack *right =
                    table + ((unit ^ 1) * HT_OP_STEPS + j % HT_OP_STEPS) *
                                HT_STEP_PACKS;
#endif
                ht_products(lane % 32, left[j],
                            (HT_LOCAL const real *)right, acc);
            }
        }
        HT_EACH_RESULT(HT_STORE_RESULT)
    }
}
