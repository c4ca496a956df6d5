/* The kernels of a variant, whose file defines ht_fd_walk. */
#ifdef HT_FD_LOCAL
#define HT_FD_LOCAL_ARRAY HT_LOCAL_ARRAY(HT_FD_LOCAL_TYPE, tile, HT_FD_LOCAL);
#define HT_FD_LOCAL_ARG , tile
#else
#define HT_FD_LOCAL_ARRAY
#define HT_FD_LOCAL_ARG
#endif
#define HT_FD_ENTRY(name, mode)                                                    \
    HT_TOOL_KERNEL name(struct ht_fd_args s, struct ht_fd_coefs c, HT_FD_PARAMS) { \
        HT_FD_LOCAL_ARRAY                                                          \
        ht_fd_walk(&s, &c, mode, HT_FD_ARGS HT_FD_LOCAL_ARG);                      \
    }

#if !HT_FD_LAYERED
HT_FD_ENTRY(ht_fd_update_own, HT_FD_OWN)
HT_FD_ENTRY(ht_fd_update_apart, HT_FD_APART)
#if !HT_FD_MAP
HT_FD_ENTRY(ht_fd_stage, HT_FD_STAGE)
HT_FD_ENTRY(ht_fd_update_alone, HT_FD_ALONE)

/* p = p + factor d, or p + factor. d may be p. */
HT_TOOL_KERNEL ht_fd_advance(struct ht_fd_args s, real factor, int alone, HT_GLOBAL const real *d,
                             HT_GLOBAL real *p) {
    HT_EACH_IN_PIECE(&s, at) p[at] = fma(factor, alone ? (real)1 : d[at], p[at]);
}
#endif
#endif
