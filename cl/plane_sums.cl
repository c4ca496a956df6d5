/* Vertex sums of tiles of cl/planes.cl for cl/warpgroup.cl: of a pair of
 * coefficients at the warp lane's targets, over the faces below, between and
 * above them.
 */
struct ht_sums {
    real sign3, face[3][2][4];
};

HT_INLINE void ht_sums_begin(HT_LOCAL const ht_pair *at, const int bits,
                             struct ht_sums *sums) {
    const real sign[3] = {HT_SIGN_OF(bits, 0), HT_SIGN_OF(bits, 1),
                          HT_SIGN_OF(bits, 2)};
    sums->sign3 = sign[2];
    HT_UNROLL
    for (int i = 0; i < 3; i++) ht_face_sums(at, i, sign, sums->face[i]);
}

/* Of parity block g, coefficient e of the pair, the target in plane 0 or 1. */
HT_INLINE real ht_sum_of(const struct ht_sums *sums, const int g, const int e,
                         const int plane) {
    return fma(g < 4 ? sums->sign3 : -sums->sign3, sums->face[plane][e][g % 4],
               sums->face[plane + 1][e][g % 4]);
}
