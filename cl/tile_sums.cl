/* Vertex sums of tiles of cl/tile.cl for cl/warpgroup.cl: of a pair of
 * coefficients at the warp lane's two targets, 8 nodes apart, of all parity
 * blocks.
 */
struct ht_sums {
    real v[2][2][HT_CORNERS];
};

HT_INLINE void ht_sums_begin(HT_LOCAL const ht_pair *at, const int bits,
                             struct ht_sums *sums) {
    const real sign[3] = {HT_SIGN_OF(bits, 0), HT_SIGN_OF(bits, 1),
                          HT_SIGN_OF(bits, 2)};
    HT_UNROLL
    for (int target = 0; target < 2; target++) {
        HT_UNROLL
        for (int w = 0; w < HT_CORNERS; w++) {
            const ht_pair x = at[(((w >> 2) * HT_TILE_2 + (w >> 1 & 1)) *
                                      HT_CHUNK * HT_PITCH +
                                  8 * target + (w & 1)) *
                                 HT_PAIRS];
            sums->v[0][target][w] = x.x;
            sums->v[1][target][w] = x.y;
        }
        ht_vertex_sums(sums->v[0][target], sign);
        ht_vertex_sums(sums->v[1][target], sign);
    }
}

/* Of parity block g, coefficient e of the pair. */
HT_INLINE real ht_sum_of(const struct ht_sums *sums, const int g, const int e,
                         const int target) {
    return sums->v[e][target][g];
}
