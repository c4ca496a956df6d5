/* What kernels on tensor cores share: copies of the operator, the results of a work-item, pairs in
 * the nodes of its two targets. */
#define HT_PAIRS (HT_BLOCK / 2)
typedef HT_VECTOR(2) ht_pair;
#define HT_PART_BLOCKS (HT_CORNERS / HT_PARTS)
#define HT_INFO_PARITIES (HT_CHUNKS * 4 * HT_PAIRS)
#define HT_INFOS (HT_INFO_PARITIES + HT_TILES * 4)

#define HT_RESULT(i) acc[tile][2 * target + (i)]
#define HT_READ_RESULT       \
    const ht_pair old = *at; \
    HT_RESULT(0) = old.x;    \
    HT_RESULT(1) = old.y;    \
    (void)own;
#define HT_STORE_RESULT      \
    ht_pair result;          \
    result.x = HT_RESULT(0); \
    result.y = HT_RESULT(1); \
    if (own) *at = result;
#if HT_OLD_SIGN == 0
#define HT_READ_RESULTS
#else
#define HT_READ_RESULTS HT_EACH_RESULT(HT_READ_RESULT)
#endif
#define HT_RESULTS_BEGIN   \
    real acc[HT_TILES][4]; \
    HT_READ_RESULTS        \
    ht_results_begin(acc);

/* Where a work-item stands in its group, rows of whose warps have so many targets of each, and
 * planes. */
#define HT_LANES_BEGIN(targets)                                            \
    const int item = HT_ITEM(), t = item % 4;                              \
    const int part = (int)(HT_GROUP_1() % HT_PARTS);                       \
    const int row = item / (32 * HT_ROW_WARPS);                            \
    const int first1 = item / 32 % HT_ROW_WARPS * targets + item % 32 / 4; \
    const long begin = ht_first_plane(&a), end = ht_last_plane(&a);

/* USE for the tiles of parity blocks [first, end), after HT_IN_TILE. */
#define HT_EACH_TILE(first, end, USE)                           \
    HT_UNROLL                                                   \
    for (int g = (first); g < (end) && g < HT_PART_BLOCKS; g++) \
        HT_UNROLLED(n, HT_MOST_TILES) {                         \
            if (n >= HT_TILES_OF(g)) continue;                  \
            const int tile = HT_FIRST_TILE(g) + n;              \
            HT_IN_TILE(first)                                   \
            USE                                                 \
        }

/* Starts to copy the operator of a chunk, so many packs. */
HT_INLINE void ht_operator_copy(const int item, const int chunk, const int packs,
                                HT_GLOBAL const real *op, HT_LOCAL ht_pack *to) {
    HT_GLOBAL const ht_pack *from = (HT_GLOBAL const ht_pack *)op + (long)chunk * packs;
    HT_UNROLL
    for (int k = 0; k < packs; k += HT_TOOL_ITEMS) {
        const int i = k + item < packs ? k + item : packs - 1;
        ht_copy(to + i, from + i);
    }
}

/* Results to which products are added: zero, or the old values, which acc holds, with their sign.
 */
HT_INLINE void ht_results_begin(real acc[HT_TILES][4]) {
    HT_UNROLLED(i, HT_TILES)
        HT_UNROLLED(e, 4) acc[i][e] = HT_OLD_SIGN == 0 ? (real)0 : (real)HT_OLD_SIGN * acc[i][e];
}
