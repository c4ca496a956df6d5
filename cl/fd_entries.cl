/* The kernels of a variant, whose file defines ht_fd_walk. */
#ifdef HT_FD_LOCAL
#define HT_FD_LOCAL_ARRAY HT_LOCAL_ARRAY(HT_FD_LOCAL_TYPE, tile, HT_FD_LOCAL);
#define HT_FD_LOCAL_ARG , tile
#else
#define HT_FD_LOCAL_ARRAY
#define HT_FD_LOCAL_ARG
#endif
#define HT_FD_ENTRY(name, mode)                                                               \
    HT_KERNEL HT_GROUP_SIZE(HT_FD_ITEMS) void name(struct ht_fd_args s, struct ht_fd_coefs c, \
                                                   HT_FD_PARAMS) {                            \
        HT_FD_LOCAL_ARRAY                                                                     \
        ht_fd_walk(&s, &c, mode, HT_FD_ARGS HT_FD_LOCAL_ARG);                                 \
    }

HT_FD_ENTRY(ht_fd_stage, HT_FD_STAGE)
HT_FD_ENTRY(ht_fd_update_own, HT_FD_OWN)
HT_FD_ENTRY(ht_fd_update_apart, HT_FD_APART)
HT_FD_ENTRY(ht_fd_update_alone, HT_FD_ALONE)

/* p = p + factor d: one work-item per node, groups as in fd_plain.cl. */
HT_KERNEL HT_GROUP_SIZE(HT_FD_ROW_ITEMS) void ht_fd_advance(struct ht_fd_args s, real factor,
                                                            HT_GLOBAL const real *HT_RESTRICT d,
                                                            HT_GLOBAL real *HT_RESTRICT p) {
    const long groups = (s.end[0] - s.begin[0] + HT_FD_ROW_ITEMS - 1) / HT_FD_ROW_ITEMS;
    const long i1 = s.begin[0] + HT_GROUP_1() % groups * HT_FD_ROW_ITEMS + HT_ITEM();
    const long i2 = s.begin[1] + HT_GROUP_1() / groups;
    const long at = (s.begin[2] + HT_GROUP_3()) * s.plane + i2 * s.row + i1;
    if (i1 < s.end[0]) p[at] = fma(factor, d[at], p[at]);
}

/* Ghosts of finite differences, HT_FD_REACH nodes deep: of a face, (axis, side)
 * = HT_GROUP_2. i counts nodes of the face along x1, or x2 where the face is
 * normal to x1: HT_FD_ROW_ITEMS of them are a group's; j counts along the axis that is left. Each
 * node has HT_FD_REACH ghosts, copied one after the other by a work-item, or, normal to x1 where
 * they are neighbours in memory, by work-items that are neighbours.
 */
HT_KERNEL
HT_GROUP_SIZE(HT_FD_ROW_ITEMS)
void ht_fd_fill_ghosts(struct ht_fd_args s, HT_GLOBAL real *u) {
    const int face = (int)HT_GROUP_2(), axis = face / 2;
    const int fast = axis == 0, slow = axis == 2 ? 1 : 2;
    const long first = s.begin[fast] + HT_GROUP_1() * HT_FD_ROW_ITEMS;
    const long j = s.begin[slow] + HT_GROUP_3();
    const int side = s.side[face];
    if (side == HT_FD_NONE || j >= s.end[slow]) return;
    /* The outermost node, and the way from it to the first ghost; ghosts are copies of what lies
     * one period behind them, or opposite. */
    const long stride = ht_fd_stride(&s, axis);
    const long edge = face % 2 ? s.end[axis] - 1 : s.begin[axis];
    const long way = face % 2 ? stride : -stride;
    const long period = (s.end[axis] - s.begin[axis]) * (face % 2 ? -1 : 1);
    const long line = edge * stride + j * ht_fd_stride(&s, slow);
    for (int n = 0; n < HT_FD_REACH; n++) {
        const int item = n * HT_FD_ROW_ITEMS + (int)HT_ITEM();
        const int depth = 1 + (axis == 0 ? item % HT_FD_REACH : n);
        const long i = first + (axis == 0 ? item / HT_FD_REACH : (int)HT_ITEM());
        const long at = line + i * ht_fd_stride(&s, fast);
        const long from = side != 0 ? at - depth * way : at + depth * way + period * stride;
        if (i >= s.end[fast]) continue;
        u[at + depth * way] = side < 0 ? -u[from] : u[from];
    }
}
