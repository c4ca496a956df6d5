/* Sums over the vertices of the cell around a target, for all parities at
 * once, and the signs of mirrored vertices.
 */
#define HT_CORNERS (1 << HT_DIMS)

/* Minus where bit k of a parity is set. */
#define HT_SIGN_OF(bits, k) ((bits) >> (k)&1 ? (real)-1 : (real)1)

/* The mirrors around one target, two bits for each axis and side: is the
 * vertex there mirrored, and by a wall of factor -1? */
HT_INLINE int ht_mirrors(const struct ht_step_args *a, const int axis, long m) {
    int mirrors = 0;
    HT_UNROLL
    for (int side = 0; side < 2; side++) {
        const struct ht_source p =
            ht_source(m + a->shift + side, a->src[axis], a->wall[2 * axis],
                      a->wall[2 * axis + 1]);
        if (p.mirrored)
            mirrors |= (p.factor < 0 ? 3 : 1) << (4 * axis + 2 * side);
    }
    return mirrors;
}

/* Sign of a coefficient of parity bits `bits` at vertex v: of every mirror
 * passed, its factor, turned where the coefficient is odd. */
HT_INLINE real ht_mirror_sign(const int mirrors, const int bits, const int v) {
    int odd = 0;
    HT_UNROLL
    for (int k = 0; k < HT_DIMS; k++) {
        const int m = mirrors >> (4 * k + 2 * (v >> k & 1));
        odd ^= m & ((m >> 1) ^ (bits >> k)) & 1;
    }
    return odd ? (real)-1 : (real)1;
}

/* The sums of all blocks from the vertex values of one coefficient, in place:
 * sums[g] takes the vertices at the lower side of axis k with the sign
 * sign[k] (-1)^(bit k of g). */
HT_INLINE void ht_vertex_sums(real v[HT_CORNERS], const real sign[3]) {
    HT_UNROLL
    for (int k = 0; k < HT_DIMS; k++) {
        HT_UNROLL
        for (int w = 0; w < HT_CORNERS; w++) {
            if (w >> k & 1) continue;
            const real low = v[w], high = v[w + (1 << k)];
            v[w] = fma(sign[k], low, high);
            v[w + (1 << k)] = fma(-sign[k], low, high);
        }
    }
}
