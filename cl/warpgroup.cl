/* Products of a chunk by a warpgroup (cl/wgmma.cl), for
 * cl/propagator_warpgroup.cl with the vertex sums of cl/plane_sums.cl:
 *
 *     struct ht_sums      vertex sums of a k step, of two targets of the lane
 *     ht_sums_begin()     makes them for a pair of coefficients
 *     ht_sum_of()         that of a parity block, coefficient and target
 *
 * A k step is 8 source entries, a pair for each l % 4 of warp lanes l; a chunk
 * is HT_PAIRS steps. A product is HT_WIDE tiles from a tile of a parity block
 * on, so that all products use registers alike; results beyond the block, of
 * the next tiles or whatever lies behind the operator, are not used. It has
 * three parts, low x high, high x low, high x high, from zero for each k step,
 * since tensor cores cut off sums; results are added to `acc` while the next
 * product runs. The operator is in both halves:
 *     op[part][chunk][k step][high, low][tile][64]
 * with tiles in the order of cl/wgmma.cl.
 */
#define HT_WIDE (HT_MOST_TILES < HT_MOST_WIDE ? HT_MOST_TILES : HT_MOST_WIDE)
/* values of the operator of a chunk */
#define HT_CHUNK_VALUES HT_SIZE_HALVES(HT_PAIRS, HT_TILES)
#define HT_CHUNK_PACKS (HT_CHUNK_VALUES / HT_BLOCK)

/* A product that runs: its tiles in acc; 0 wide: none. */
struct ht_running {
    int first, wide;
};

HT_INLINE void ht_add_products(const struct ht_running *done, real part[][4],
                               real acc[HT_TILES][4]) {
    HT_UNROLL
    for (int n = 0; n < HT_WIDE; n++) {
        HT_UNROLL
        for (int e = 0; e < 4; e++) {
            if (n >= done->wide) continue;
            HT_AWAITED(part[n][e]);
            acc[done->first + n][e] += part[n][e];
        }
    }
}

/* The left side of parity block g in leading bits and the rest. */
HT_INLINE void ht_left_halves(const int g, const struct ht_sums *sums,
                              real high[4], real low[4]) {
    HT_UNROLL
    for (int i = 0; i < 4; i++) {
        const real x = ht_sum_of(sums, g, i >> 1, i & 1);
        high[i] = ht_high(x);
        low[i] = x - high[i];
    }
}

/* acc += products of a chunk. at: the lane's source nodes; parity: of
 * its pairs; op: the operator of the chunk. */
HT_INLINE void ht_chunk_products(HT_LOCAL const ht_pair *at,
                                 HT_LOCAL const int *parity, const int part,
                                 HT_LOCAL const real *op,
                                 real acc[HT_TILES][4]) {
    const ht_right right = ht_right_at(op);
    real high[2][4], low[2][4], result[2][HT_WIDE][4];
    struct ht_running running = {0, 0};
    int next = 0;
    HT_UNROLL
    for (int j = 0; j < HT_PAIRS; j++) {
        /* lanes with odd t swap the pairs to avoid bank conflicts */
        const int pair = j ^ (HT_ITEM() & 1);
        struct ht_sums sums;
        ht_sums_begin(at + pair, parity[pair] ^ part * HT_PART_BLOCKS, &sums);
        HT_UNROLL
        for (int g = 0; g < HT_PART_BLOCKS; g++) {
            const int own = (j * HT_PART_BLOCKS + g) % 2;
            ht_left_halves(g, &sums, high[own], low[own]);
            HT_UNROLL
            for (int n = 0; n < HT_MOST_TILES; n += HT_WIDE) {
                if (n >= HT_TILES_OF(g)) continue;
                const int left = HT_TILES_OF(g) - n;
                const int first = HT_FIRST_TILE(g) + n;
                const ht_right of_high =
                    right + (j * 2 * HT_TILES + first) * HT_RIGHT_TILE;
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
