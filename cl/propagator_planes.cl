/* The half step by parity blocks as cl/propagator_tensor.cl does it, in three dimensions, two
 * neighbouring x3 planes at a time (cl/planes.cl). In single precision the two k steps of a chunk
 * start from zero together, small products first. Parts, the operator, its order and info are those
 * of cl/propagator_tensor.cl. */
/* of the operator of a chunk */
#define HT_CHUNK_PACKS (HT_PAIRS * HT_TILES * 64 / HT_BLOCK)
#define HT_OP_SIZE (HT_CHUNKS * HT_CHUNK_PACKS * HT_BLOCK)
#if HT_RESIDENT
#define HT_OP_PACKS (HT_CHUNKS * HT_CHUNK_PACKS)
#else
#define HT_OP_PACKS (HT_STAGES * HT_CHUNK_PACKS)
#endif

/* Chunks are copied so many ahead of use; HT_AHEAD <= HT_CHUNKS. */
#define HT_AHEAD (HT_STAGES - 1)
#define HT_STAGE_AFTER(stage, n)                 \
    (HT_STAGES == 2              ? (stage) ^ (n) \
     : (stage) + (n) < HT_STAGES ? (stage) + (n) \
                                 : (stage) + (n)-HT_STAGES)

/* Blocks whose products are interleaved, so that at least four products are in flight between two
 * that add to the same results. */
#define HT_TOGETHER (HT_MOST_TILES >= 4 ? 1 : HT_MOST_TILES >= 2 ? 2 : HT_MIN_4(HT_PART_BLOCKS))
#define HT_MIN_4(n) ((n) < 4 ? (n) : 4)

#define HT_IN_TILE(first) const int own = (g - (first)) * HT_MOST_TILES + n;
#define HT_EACH_STEP HT_UNROLL for (int j = 0; j < HT_PAIRS; j++)

#if HT_DOUBLE
/* acc += products of a chunk. left[j][g]: fragment of k step j, block g. */
HT_INLINE void ht_products(const int lane, real left[HT_PAIRS][HT_PART_BLOCKS][4],
                           HT_LOCAL const ht_pair *op, real acc[HT_TILES][4]) {
#define HT_PRODUCT                                             \
    const ht_pair right = op[at + (j * HT_TILES + tile) * 32]; \
    HT_MULTIPLY(acc[tile], left[j][g], right.x, right.y);      \
    (void)own;
    int at = lane; /* unknown: else each tile has a register for its place */
    HT_RECOMPUTE(at);
    HT_EACH_STEP {
        HT_EACH_TILE(0, HT_PART_BLOCKS, HT_PRODUCT)
    }
}
#else
/* The same. Products of all k steps start from zero together, small ones first. */
HT_INLINE void ht_products(const int lane, real left[HT_PAIRS][HT_PART_BLOCKS][4],
                           HT_LOCAL const ht_pair *op, real acc[HT_TILES][4]) {
    HT_UNROLL
    for (int g0 = 0; g0 < HT_PART_BLOCKS; g0 += HT_TOGETHER) {
        real high[HT_PAIRS][HT_TOGETHER][4], low[HT_PAIRS][HT_TOGETHER][4];
        real right[HT_PAIRS][HT_TOGETHER * HT_MOST_TILES][4];
        real part[HT_TOGETHER * HT_MOST_TILES][4];
        HT_EACH_STEP {
            HT_UNROLL
            for (int g = 0; g < HT_TOGETHER && g0 + g < HT_PART_BLOCKS; g++)
                HT_UNROLLED(i, 4) {
                    high[j][g][i] = ht_high(left[j][g0 + g][i]);
                    low[j][g][i] = left[j][g0 + g][i] - high[j][g][i];
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
#define HT_FIRST HT_MULTIPLY_FIRST(part[own], low[0][g - g0], right[0][own][0], right[0][own][1]);
#define HT_LOW_HIGH HT_MULTIPLY(part[own], low[1][g - g0], right[1][own][0], right[1][own][1]);
#define HT_HIGH_LOW(j) HT_MULTIPLY(part[own], high[j][g - g0], right[j][own][2], right[j][own][3]);
#define HT_HIGH_HIGH(j) HT_MULTIPLY(part[own], high[j][g - g0], right[j][own][0], right[j][own][1]);
#define HT_ADD_PART \
    HT_UNROLLED(i, 4) acc[tile][i] += part[own][i];
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
#endif

/* The left sides of a k step: vertex sums at the warp lane's targets for the pair of coefficients
 * at `at`, whose parity is `parity`. Where a group has the blocks of one sign along x3, that axis
 * comes first, so that nothing else is summed; else the faces, whose sums serve both signs. */
HT_INLINE void ht_left_side(HT_LOCAL const ht_pair *at, const int parity, const int part,
                            real left[HT_PART_BLOCKS][4]) {
    const int bits = parity ^ part * HT_PART_BLOCKS;
    const real sign[3] = {HT_SIGN_OF(bits, 0), HT_SIGN_OF(bits, 1), HT_SIGN_OF(bits, 2)};
    real face[3][2][4];
    HT_UNROLLED(i, 3) {
        if (HT_PARTS > 1)
            ht_face_pairs(at, i, face[i]);
        else
            ht_face_sums(at, i, sign, face[i]);
    }
    HT_UNROLLED(i, 4) {
        const int e = i / 2, plane = i % 2;
        real v[8];
        HT_UNROLLED(g, 8)
            v[g] =
                fma(g < 4 ? sign[2] : -sign[2], face[plane][e][g % 4], face[plane + 1][e][g % 4]);
        if (HT_PARTS > 1) ht_face_butterflies(sign, v);
        HT_UNROLLED(g, HT_PART_BLOCKS) left[g][i] = v[g];
    }
}

HT_TOOL_KERNEL ht_propagator_planes(HT_STEP_PARAMS(op)) {
    HT_LOCAL_ARRAY(ht_pack, data, HT_STAGES * HT_STAGE_SIZE);
    HT_LOCAL_ARRAY(ht_pack, table, HT_OP_PACKS);
    HT_LOCAL_ARRAY(long, where, HT_TILES * 4);
    HT_LOCAL_ARRAY(int, parities, HT_INFO_PARITIES);
    HT_PLANES_BEGIN
    for (int chunk = 0; HT_RESIDENT && chunk < HT_CHUNKS; chunk++)
        ht_operator_copy(item, chunk, HT_CHUNK_PACKS, op, table + chunk * HT_CHUNK_PACKS);
#define HT_COPY_CHUNK(chunk, to)                                                          \
    if (!HT_RESIDENT)                                                                     \
        ht_operator_copy(item, chunk, HT_CHUNK_PACKS, op, table + (to)*HT_CHUNK_PACKS);   \
    ht_chunk_copy(&a, &copies, chunk, data + (to)*HT_STAGE_SIZE HT_EACH_SRC(HT_SRC_ARG)); \
    HT_COPY_COMMIT();
    ht_copies_at(&a, begin, end, &copies);
    for (int chunk = 0; chunk < HT_AHEAD; chunk++) {
        HT_COPY_CHUNK(chunk, chunk)
    }
    int stage = 0; /* buffer of the next chunk */
    for (long m3 = begin; m3 < end; m3 += 2) {
        int node[2], inside[2];
        ht_targets_at(&a, m1, m2, m3, end, node, inside);
        HT_RESULTS_BEGIN
        HT_ROLLED
        for (int chunk = 0; chunk < HT_CHUNKS; chunk++) {
            real left[HT_PAIRS][HT_PART_BLOCKS][4];
            const int from = stage, to = HT_STAGE_AFTER(from, HT_AHEAD);
            const int next = chunk + HT_AHEAD, turn = next == HT_CHUNKS;
            HT_LOCAL const ht_pack *at =
                data + from * HT_STAGE_SIZE + (row * HT_CHUNK + t) * HT_PITCH + first1;
            HT_LOCAL const ht_pack *right = table + (HT_RESIDENT ? chunk : from) * HT_CHUNK_PACKS;
            HT_COPY_WAIT(HT_AHEAD - 1);
            HT_BARRIER();
            stage = HT_STAGE_AFTER(stage, 1);
            if (turn) ht_copies_at(&a, m3 + 2, end, &copies);
            const int wrapped = HT_AHEAD > 1 ? next - HT_CHUNKS : 0;
            HT_COPY_CHUNK(next < HT_CHUNKS ? next : wrapped, to)
            HT_EACH_STEP {
                /* lanes with odd t swap the pairs to avoid bank conflicts */
                const int pair = HT_PAIRS == 2 ? j ^ (t & 1) : 0;
                ht_left_side((HT_LOCAL const ht_pair *)at + pair,
                             parities[(chunk * 4 + t) * HT_PAIRS + pair], part, left[j]);
            }
            ht_products(item % 32, left, (HT_LOCAL const ht_pair *)right, acc);
            /* else NVRTC takes the pragma of a last loop of one turn for that of this loop, and
             * unrolls it */
            HT_RECOMPUTE(stage);
        }
        HT_EACH_RESULT(HT_STORE_RESULT)
    }
}
