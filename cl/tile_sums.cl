/* Vertex sums of tiles of cl/tile.cl for cl/warpgroup.cl: of a pair of
 * coefficients at the warp lane's two targets, 8 nodes apart, of all parity
 * blocks.
 */
struct ht_sums {
    real v[2][2][HT_CORNERS]; /* [target][coefficient] */
};

HT_INLINE void ht_sums_begin(HT_LOCAL const ht_pair *at, const int bits,
                             struct ht_sums *sums) {
    const real sign[3] = {HT_SIGN_OF(bits, 0), HT_SIGN_OF(bits, 1),
                          HT_SIGN_OF(bits, 2)};
    HT_UNROLL
    for (int target = 0; target < 2; target++) {
        ht_corner_pairs(at, target, sums->v[target]);
        ht_vertex_sums(sums->v[target][0], sign);
        ht_vertex_sums(sums->v[target][1], sign);
    }
}

/* Of parity block g, coefficient e of the pair. */
HT_INLINE real ht_sum_of(const struct ht_sums *sums, const int g, const int e,
                         const int target) {
    return sums->v[target][e][g];
}
