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

/* p = p + factor d. Groups as in fd_plain.cl, of HT_FD_PIECE nodes of a row. */
HT_TOOL_KERNEL ht_fd_advance(struct ht_fd_args s, real factor, HT_INPUT(real) d,
                             HT_OUTPUT(real) p) {
    const long groups = (s.end[0] - s.begin[0] + HT_FD_PIECE - 1) / HT_FD_PIECE;
    const long first = s.begin[0] + HT_GROUP_1() % groups * HT_FD_PIECE;
    const long last = first + HT_FD_PIECE < s.end[0] ? first + HT_FD_PIECE : s.end[0];
    const long i2 = s.begin[1] + HT_GROUP_1() / groups;
    const long row = (s.begin[2] + HT_GROUP_3()) * s.plane + i2 * s.row;
    for (long i1 = first + HT_ITEM(); i1 < last; i1 += HT_TOOL_ITEMS)
        p[row + i1] = fma(factor, d[row + i1], p[row + i1]);
}
#endif
#endif
