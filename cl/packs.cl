/* A pack: HT_PACK reals that one instruction reads and writes, where nothing else is said HT_BLOCK
 * coefficients of a node, which are contiguous in memory (cl/layout.h). */
#ifndef HT_PACK
#define HT_PACK HT_BLOCK
#endif
#if HT_PACK == 1
typedef real ht_pack;
#elif HT_PACK == 2
typedef HT_VECTOR(2) ht_pack;
#else
typedef HT_VECTOR(4) ht_pack;
#endif

HT_INLINE void ht_unpack(const ht_pack x, real v[HT_PACK]) {
#if HT_PACK == 1
    v[0] = x;
#else
    v[0] = x.x;
    v[1] = x.y;
#if HT_PACK == 4
    v[2] = x.z;
    v[3] = x.w;
#endif
#endif
}

HT_INLINE ht_pack ht_packed(const real v[HT_PACK]) {
    ht_pack x;
#if HT_PACK == 1
    x = v[0];
#else
    x.x = v[0];
    x.y = v[1];
#if HT_PACK == 4
    x.z = v[2];
    x.w = v[3];
#endif
#endif
    return x;
}
