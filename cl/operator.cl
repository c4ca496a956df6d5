/* What kernels on tensor cores share: copies of the operator, the results of a work-item. */
/* Starts to copy the operator of a chunk, so many packs. */
HT_INLINE void ht_operator_copy(const int item, const int chunk, const int packs,
                                HT_GLOBAL const real *op, HT_LOCAL ht_pack *to) {
    HT_GLOBAL const ht_pack *from = (HT_GLOBAL const ht_pack *)op + (long)chunk * packs;
    HT_UNROLL
    for (int k = 0; k < packs; k += HT_GROUP_ITEMS) {
        const int i = k + item < packs ? k + item : packs - 1;
        ht_copy(to + i, from + i);
    }
}

/* Results to which products are added: zero, or the old values, which acc holds, with their sign.
 */
HT_INLINE void ht_results_begin(real acc[HT_TILES][4]) {
    HT_UNROLLED(i, HT_TILES) {
        HT_UNROLLED(e, 4) acc[i][e] = HT_OLD_SIGN == 0 ? (real)0 : (real)HT_OLD_SIGN * acc[i][e];
    }
}
