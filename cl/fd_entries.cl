/* The kernels of a variant, whose file defines ht_fd_walk. */
#ifdef HT_FD_LOCAL
#define HT_FD_LOCAL_ARRAY HT_LOCAL_ARRAY(HT_FD_LOCAL_TYPE, tile, HT_FD_LOCAL);
#define HT_FD_LOCAL_ARG , tile
#else
#define HT_FD_LOCAL_ARRAY
#define HT_FD_LOCAL_ARG
#endif
#define HT_FD_ENTRY(name, mode)                                    \
    HT_KERNEL HT_GROUP_SIZE(HT_FD_ITEMS) void name(                \
        struct ht_fd_args s, struct ht_fd_coefs c, HT_FD_PARAMS) { \
        HT_FD_LOCAL_ARRAY                                          \
        ht_fd_walk(&s, &c, mode, HT_FD_ARGS HT_FD_LOCAL_ARG);      \
    }

HT_FD_ENTRY(ht_fd_stage, HT_FD_STAGE)
HT_FD_ENTRY(ht_fd_update_own, HT_FD_OWN)
HT_FD_ENTRY(ht_fd_update_apart, HT_FD_APART)
HT_FD_ENTRY(ht_fd_update_alone, HT_FD_ALONE)

/* p = p + factor d: one work-item per node, groups as in fd_plain.cl. */
HT_KERNEL HT_GROUP_SIZE(HT_FD_ROW_ITEMS) void ht_fd_advance(
    struct ht_fd_args s, real factor, HT_GLOBAL const real *HT_RESTRICT d,
    HT_GLOBAL real *HT_RESTRICT p) {
    const long groups =
        (s.end[0] - s.begin[0] + HT_FD_ROW_ITEMS - 1) / HT_FD_ROW_ITEMS;
    const long i1 =
        s.begin[0] + HT_GROUP_1() % groups * HT_FD_ROW_ITEMS + HT_ITEM();
    const long i2 = s.begin[1] + HT_GROUP_1() / groups;
    const long at = (s.begin[2] + HT_GROUP_3()) * s.plane + i2 * s.row + i1;
    if (i1 < s.end[0]) p[at] = fma(factor, d[at], p[at]);
}

/* Ghosts of one face, (axis, side) = HT_GROUP_2: n counts its nodes, x1 first
 * but where the face is normal to x1: there depth first. */
HT_INLINE long ht_fd_face(const struct ht_fd_args *s, const int axis, long n,
                          long m[3]) {
    long depth = 0;
    HT_UNROLL
    for (int k = 0; k < 3; k++) {
        const long count = k == axis ? HT_FD_REACH : s->end[k] - s->begin[k];
        if (k == axis)
            depth = n % count;
        else
            m[k] = s->begin[k] + n % count;
        n /= count;
    }
    return n == 0 ? depth + 1 : 0; /* 0: beyond the last */
}

HT_KERNEL
HT_GROUP_SIZE(HT_FD_ROW_ITEMS)
void ht_fd_fill_ghosts(struct ht_fd_args s, HT_GLOBAL real *u) {
    const int face = (int)HT_GROUP_2(), axis = face / 2;
    const int side = s.side[face];
    const long n = HT_GROUP_1() * HT_FD_ROW_ITEMS + HT_ITEM();
    long m[3] = {0, 0, 0};
    const long depth = ht_fd_face(&s, axis, n, m);
    if (side == HT_FD_NONE || depth == 0) return;
    /* The outermost node, and the way to the ghost. */
    const long edge = face % 2 ? s.end[axis] - 1 : s.begin[axis];
    const long way = face % 2 ? depth : -depth;
    const long period = s.end[axis] - s.begin[axis];
    const long from = side != 0  ? edge - way
                      : face % 2 ? edge + way - period
                                 : edge + way + period;
    const long stride = ht_fd_stride(&s, axis);
    const long base = (axis == 2 ? 0 : m[2] * s.plane) +
                      (axis == 1 ? 0 : m[1] * s.row) + (axis == 0 ? 0 : m[0]);
    const real value = u[base + from * stride];
    u[base + (edge + way) * stride] = side < 0 ? -value : value;
}
