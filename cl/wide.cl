/* Vectors of HT_WIDE reals, 16 bytes, which one instruction reads from local memory or writes
 * there, whatever the layout's packs (packs.cl) are.
 */
#if HT_DOUBLE
#define HT_WIDE 2
typedef HT_VECTOR(2) ht_wide;
#else
#define HT_WIDE 4
typedef HT_VECTOR(4) ht_wide;
#endif
HT_INLINE void ht_widen(const ht_wide x, real v[HT_WIDE]) {
    v[0] = x.x;
    v[1] = x.y;
#if HT_WIDE == 4
    v[2] = x.z;
    v[3] = x.w;
#endif
}

HT_INLINE ht_wide ht_widened(const real v[HT_WIDE]) {
    ht_wide x;
    x.x = v[0];
    x.y = v[1];
#if HT_WIDE == 4
    x.z = v[2];
    x.w = v[3];
#endif
    return x;
}
