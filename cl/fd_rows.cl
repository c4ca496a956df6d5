/* Writes what a vector of targets becomes, for cl/fd_vectors.cl and cl/fd_vectors_density.cl. */
/* The increment L u of HT_WIDTH nodes becomes d and out; the first `skip` of them have been done.
 */
HT_INLINE void ht_fd_write(const int mode, long at, int skip, vector sum, HT_GLOBAL const real *u,
                           HT_GLOBAL const real *a, HT_GLOBAL real *d, HT_GLOBAL const real *p,
                           HT_GLOBAL real *out HT_FD_KEEP_PARAMS) {
    const vector base = HT_GLOBAL_VECTOR((HT_FD_HAS_D(mode) ? d : u) + at);
    const vector change = fma(HT_GLOBAL_VECTOR(a + at), sum, base);
    vector value = change;
    if (mode == HT_FD_OWN) value = HT_GLOBAL_VECTOR(u + at) + change;
    if (mode == HT_FD_APART) value = HT_GLOBAL_VECTOR(p + at) + change;
#if HT_FD_MAP
    for (int e = skip; e < HT_WIDTH; e++) {
        const real peak = ht_fd_peak(c, mode == HT_FD_APART ? p[at + e] : u[at + e], d[at + e]);
        if (ht_fd_beyond(peak, map[at + e])) map[at + e] = peak;
    }
#endif
    if (skip == 0) {
        if (HT_FD_HAS_D(mode)) *(HT_GLOBAL loose *)(d + at) = change;
        if (HT_FD_HAS_OUT(mode)) *(HT_GLOBAL loose *)(out + at) = value;
    } else {
        real changes[HT_WIDTH], values[HT_WIDTH];
        *(loose *)changes = change;
        *(loose *)values = value;
        for (int e = skip; e < HT_WIDTH; e++) {
            if (HT_FD_HAS_D(mode)) d[at + e] = changes[e];
            if (HT_FD_HAS_OUT(mode)) out[at + e] = values[e];
        }
    }
}
