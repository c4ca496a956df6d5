/* Sums over the vertices of the cell around a target, with the signs of all 2^d parities, by d
 * butterfly steps (fast Walsh-Hadamard transform). */
#define HT_CORNERS (1 << HT_DIMS)

/* -1 if bit k of a parity is set, else +1. */
#define HT_SIGN_OF(bits, k) ((bits) >> (k)&1 ? (real)-1 : (real)1)

/* The sums of two values with sign and with -sign of the lower one. */
HT_INLINE void ht_butterfly(const real sign, real *low, real *high) {
    const real a = *low, b = *high;
    *low = fma(sign, a, b);
    *high = fma(-sign, a, b);
}

/* In place, from the vertex values v[w] of one coefficient (bit k of w: upper side of axis k) to
 * the sums of all parity blocks. v[g] takes the vertices at the lower side of axis k with the sign
 * sign[k] (-1)^(bit k of g). */
HT_INLINE void ht_vertex_sums(real v[HT_CORNERS], const real sign[3]) {
    HT_UNROLLED(k, HT_DIMS)
        HT_UNROLLED(w, HT_CORNERS) {
            if (w >> k & 1) continue;
            ht_butterfly(sign[k], &v[w], &v[w + (1 << k)]);
        }
}
