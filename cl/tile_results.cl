/* Products on tensor cores in tiles of cl/tile.cl: k steps of a pair of source
 * entries for each l % 4 of warp lanes l, as many as a block has pairs, and
 * results. Of these the macros are for kernels in whose scope are: the
 * step's arguments a, info and its number HT_INFO_PARITIES of values before the
 * results' (cl/propagator_tensor.cl), the warp lane's first target m1, m2, m3,
 * t = lane % 4, and acc.
 */
#define HT_PAIRS (HT_BLOCK / 2)
typedef HT_VECTOR(2) ht_pair;
#define HT_PART_BLOCKS (HT_CORNERS / HT_PARTS)

/* The pairs at the corners of the warp lane's target 0 or 1, which are 8 nodes
 * apart: v[e][w] of coefficient e. */
HT_INLINE void ht_corner_pairs(HT_LOCAL const ht_pair *at, const int target,
                               real v[2][HT_CORNERS]) {
    HT_UNROLL
    for (int w = 0; w < HT_CORNERS; w++) {
        const ht_pair x =
            at[(((w >> 2) * HT_TILE_2 + (w >> 1 & 1)) * HT_CHUNK * HT_PITCH +
                8 * target + (w & 1)) *
               HT_PAIRS];
        v[0][w] = x.x;
        v[1][w] = x.y;
    }
}

/* USE for the warp lane's results of all tiles, pairs in the nodes of its two
 * targets. `own` is 0 if there is no such result; `at` then points to another
 * valid pair, which may be read, since reads without branches overlap. */
#define HT_EACH_RESULT(USE)                                                   \
    HT_UNROLL                                                                 \
    for (int tile = 0; tile < HT_TILES; tile++) {                             \
        const int entry = info[HT_INFO_PARITIES + tile * 4 + t];              \
        const int to = entry < 0 ? 0 : entry;                                 \
        const int field = to / HT_PADDED_COEFS, index = to % HT_PADDED_COEFS; \
        const long nodes = a.dst_nodes;                                       \
        HT_GLOBAL real *chosen = dst0;                                        \
        HT_EACH_DST(HT_DST_CHOOSE)                                            \
        HT_UNROLL                                                             \
        for (int target = 0; target < 2; target++) {                          \
            const int n1 = (int)a.end[0], n2 = (int)a.end[1];                 \
            const int last2 = m2 < n2 ? m2 : n2 - 1;                          \
            const int m = m1 + 8 * target, last1 = m < n1 ? m : n1 - 1;       \
            const int own = entry >= 0 && m < n1 && m2 < n2;                  \
            const int node = (int)ht_target_row(&a, last2, m3) + last1;       \
            HT_GLOBAL ht_pair *at =                                           \
                (HT_GLOBAL ht_pair *)(chosen + HT_LAYOUT_AT(HT_BLOCK, index,  \
                                                            node, nodes));    \
            USE                                                               \
        }                                                                     \
    }
#define HT_READ_RESULT                 \
    const ht_pair old = *at;           \
    acc[tile][2 * target] = old.x;     \
    acc[tile][2 * target + 1] = old.y; \
    (void)own;
#define HT_STORE_RESULT                   \
    ht_pair result;                       \
    result.x = acc[tile][2 * target];     \
    result.y = acc[tile][2 * target + 1]; \
    if (own) *at = result;
