/* The half step by parity blocks as cl/propagator_tensor.cl does it, by products of whole
 * warpgroups (cl/wgmma.cl), which read the operator from local memory themselves and run beside the
 * sums of the next ones.
 *
 * The four warps of a warpgroup have 64 targets: 16 along x1, two rows, two planes. Each group is
 * one warpgroup: groups that wait for copies leave the multiprocessor to others. After the operator
 * the info of cl/propagator_tensor.cl.
 *
 * A k step is 8 source entries, a pair for each l % 4 of warp lanes l; a chunk is HT_PAIRS steps. A
 * product is HT_WIDE tiles from a tile of a parity block on, so that all products use registers
 * alike; results beyond the block, of the next tiles or whatever lies behind the operator, are not
 * used. It has three parts, low x high, high x low, high x high, from zero for each k step, since
 * tensor cores cut off sums; results are added to `acc` while the next product runs. The operator
 * is in both halves:
 *     op[part][chunk][k step][high, low][tile][64]
 * with tiles in the order of cl/wgmma.cl. */
/* Vertex sums of a pair of coefficients at the warp lane's targets, over the faces below, between
 * and above them. */
struct ht_sums {
    real sign3, face[3][2][4];
};

HT_INLINE void ht_sums_begin(HT_LOCAL const ht_pair *at, const int bits, struct ht_sums *sums) {
    const real sign[3] = {HT_SIGN_OF(bits, 0), HT_SIGN_OF(bits, 1), HT_SIGN_OF(bits, 2)};
    sums->sign3 = sign[2];
    HT_UNROLLED(i, 3) ht_face_sums(at, i, sign, sums->face[i]);
}

/* Of parity block g, coefficient e of the pair, the target in plane 0 or 1. */
HT_INLINE real ht_sum_of(const struct ht_sums *sums, const int g, const int e, const int plane) {
    return fma(g < 4 ? sums->sign3 : -sums->sign3, sums->face[plane][e][g % 4],
               sums->face[plane + 1][e][g % 4]);
}

#define HT_WIDE (HT_MOST_TILES < HT_MOST_WIDE ? HT_MOST_TILES : HT_MOST_WIDE)
/* values of the operator of a chunk */
#define HT_CHUNK_VALUES (HT_PAIRS * 2 * HT_TILES * 64)
#define HT_CHUNK_PACKS (HT_CHUNK_VALUES / HT_BLOCK)

/* A product that runs: its tiles in acc; 0 wide: none. */
struct ht_running {
    int first, wide;
};

HT_INLINE void ht_add_products(const struct ht_running *done, real part[][4],
                               real acc[HT_TILES][4]) {
    HT_UNROLLED(n, HT_WIDE)
        HT_UNROLLED(e, 4) {
            if (n >= done->wide) continue;
            HT_AWAITED(part[n][e]);
            acc[done->first + n][e] += part[n][e];
        }
}

/* The left side of parity block g in leading bits and the rest. */
HT_INLINE void ht_left_halves(const int g, const struct ht_sums *sums, real high[4], real low[4]) {
    HT_UNROLLED(i, 4) {
        const real x = ht_sum_of(sums, g, i >> 1, i & 1);
        high[i] = ht_high(x);
        low[i] = x - high[i];
    }
}

/* acc += products of a chunk. at: the lane's source nodes; parity: of its pairs; op: the operator
 * of the chunk. */
HT_INLINE void ht_chunk_products(HT_LOCAL const ht_pair *at, HT_LOCAL const unsigned char *parity,
                                 const int part, HT_LOCAL const real *op, real acc[HT_TILES][4]) {
    const ht_right right = ht_right_at(op);
    real high[2][4], low[2][4], result[2][HT_WIDE][4];
    struct ht_running running = {0, 0};
    int next = 0;
    HT_UNROLLED(j, HT_PAIRS) {
        /* lanes with odd t swap the pairs to avoid bank conflicts */
        const int pair = j ^ (HT_ITEM() & 1);
        struct ht_sums sums;
        ht_sums_begin(at + pair, parity[pair] ^ HT_FIRST_BLOCK(part), &sums);
        HT_UNROLLED(g, HT_PART_BLOCKS) {
            const int own = (j * HT_PART_BLOCKS + g) % 2;
            ht_left_halves(g, &sums, high[own], low[own]);
            HT_UNROLL
            for (int n = 0; n < HT_MOST_TILES; n += HT_WIDE) {
                if (n >= HT_TILES_OF(g)) continue;
                const int left = HT_TILES_OF(g) - n;
                const int first = HT_FIRST_TILE(g) + n;
                const ht_right of_high = right + (j * 2 * HT_TILES + first) * HT_RIGHT_TILE;
                const ht_right of_low = of_high + HT_TILES * HT_RIGHT_TILE;
                HT_PRODUCTS_BEGIN();
                HT_WIDE_PRODUCT(HT_WIDE, result[next], low[own], of_high, "0");
                HT_WIDE_PRODUCT(HT_WIDE, result[next], high[own], of_low, "1");
                HT_WIDE_PRODUCT(HT_WIDE, result[next], high[own], of_high, "1");
                HT_PRODUCTS_COMMIT();
                HT_PRODUCTS_WAIT(1);
                ht_add_products(&running, result[1 - next], acc);
                running.first = first;
                running.wide = left < HT_WIDE ? left : HT_WIDE;
                next = 1 - next;
            }
        }
    }
    HT_PRODUCTS_WAIT(0);
    ht_add_products(&running, result[1 - next], acc);
}

#define HT_OP_SIZE (HT_CHUNKS * HT_CHUNK_VALUES)

HT_TOOL_KERNEL ht_propagator_warpgroup(HT_STEP_PARAMS(op)) {
    HT_LOCAL_MEMORY(real, table); /* [2][HT_CHUNK_VALUES] */
    HT_LOCAL ht_pack *data = (HT_LOCAL ht_pack *)(table + 2 * HT_CHUNK_VALUES);
    HT_LOCAL long *where = (HT_LOCAL long *)(data + 2 * HT_STAGE_SIZE);
    HT_LOCAL unsigned char *parities = (HT_LOCAL unsigned char *)(where + HT_TILES * 4);
    HT_TENSOR_BEGIN
    ht_operator_copy(item, 0, HT_CHUNK_PACKS, op, (HT_LOCAL ht_pack *)table);
    ht_copies_at(&a, begin, end, &copies);
    ht_chunk_copy(&a, &copies, 0, data HT_EACH_SRC(HT_SRC_ARG));
    HT_COPY_COMMIT();
    int stage = 0; /* buffer of the next chunk */
    for (long m3 = begin; m3 < end; m3 += 2) {
        int node[2], inside[2];
        ht_targets_at(&a, m1, m2, m3, end, node, inside);
        HT_RESULTS_BEGIN
        HT_ROLLED
        for (int chunk = 0; chunk < HT_CHUNKS; chunk++) {
            const int last = chunk + 1 == HT_CHUNKS;
            const int next = last ? 0 : chunk + 1, from = stage;
            HT_COPY_WAIT(0);
            HT_PUBLISH();
            HT_BARRIER();
            stage ^= 1;
            if (last) ht_copies_at(&a, m3 + 2, end, &copies);
            ht_operator_copy(item, next, HT_CHUNK_PACKS, op,
                             (HT_LOCAL ht_pack *)(table + stage * HT_CHUNK_VALUES));
            ht_chunk_copy(&a, &copies, next * HT_CHUNK,
                          data + stage * HT_STAGE_SIZE HT_EACH_SRC(HT_SRC_ARG));
            HT_COPY_COMMIT();
            ht_chunk_products((HT_LOCAL const ht_pair *)(data + from * HT_STAGE_SIZE +
                                                         (row * HT_CHUNK + t) * HT_PITCH + first1),
                              parities + (chunk * 4 + t) * HT_PAIRS, part,
                              table + from * HT_CHUNK_VALUES, acc);
        }
        HT_EACH_RESULT(HT_STORE_RESULT)
    }
}
