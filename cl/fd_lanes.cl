/* Where the work-items of a marching group stand, and how a pack of targets is
 * read and written (cl/packs.cl, cl/fd_march.cl).
 */
#define HT_FD_SIDE ((HT_FD_REACH + HT_BLOCK - 1) / HT_BLOCK)
#define HT_FD_PITCH (HT_FD_PACKS + 2 * HT_FD_SIDE)
#define HT_FD_HALO (HT_DIMS > 2 ? HT_FD_REACH : 0)
#define HT_FD_TILE (HT_FD_PITCH * (HT_FD_ROWS + 2 * HT_FD_HALO))

struct ht_fd_lane {
    int x, y;            /* in the group: pack and row */
    long first1, first2; /* node of the group's first pack */
    long most1, most2;   /* the last pack and row that may be read */
    long i1, i2;         /* node of the pack; no further than most1, most2 */
    long begin, end;     /* of the march */
    int from, to;        /* nodes [from, to) of the pack are targets */
};

HT_INLINE long ht_fd_least(long a, long b) {
    return a < b ? a : b;
}

HT_INLINE ht_pack ht_fd_read(HT_GLOBAL const real *from) {
    return *(HT_GLOBAL const ht_pack *)from;
}

HT_INLINE ht_pack ht_fd_read_once(HT_GLOBAL const real *from) {
    return HT_READ_ONCE((HT_GLOBAL const ht_pack *)from);
}

HT_INLINE void ht_fd_set_lane(const struct ht_fd_args *s,
                              struct ht_fd_lane *l) {
    l->x = HT_ITEM() % HT_FD_PACKS;
    l->y = HT_ITEM() / HT_FD_PACKS;
    l->first1 = s->begin[0] / HT_BLOCK * HT_BLOCK +
                HT_GROUP_1() * (HT_FD_PACKS * HT_BLOCK);
    l->first2 = HT_DIMS > 2 ? s->begin[1] + HT_GROUP_2() * HT_FD_ROWS : 0;
    l->most1 = (s->end[0] - 1) / HT_BLOCK * HT_BLOCK + HT_FD_SIDE * HT_BLOCK;
    l->most2 = HT_DIMS > 2 ? s->end[1] - 1 + HT_FD_REACH : 0;
    l->i1 = l->first1 + l->x * HT_BLOCK;
    l->i2 = l->first2 + l->y;
    l->from = l->i1 < s->begin[0] ? (int)(s->begin[0] - l->i1) : 0;
    l->to = (int)ht_fd_least(s->end[0] - l->i1, HT_BLOCK);
    if (HT_DIMS > 2 && l->i2 >= s->end[1]) l->to = 0;
    l->i1 = ht_fd_least(l->i1, l->most1);
    l->i2 = ht_fd_least(l->i2, l->most2);
    l->begin = 0;
    l->end = 1;
    if (HT_DIMS > 1) {
        l->begin = s->begin[HT_DIMS - 1] + HT_GROUP_3() * s->planes;
        l->end = ht_fd_least(l->begin + s->planes, s->end[HT_DIMS - 1]);
    }
}

/* Copies what surrounds the packs of a group into a tile: plane points to node
 * (0, 0) of the plane. */
HT_INLINE void ht_fd_surround(const struct ht_fd_lane *l,
                              const struct ht_fd_args *s,
                              HT_GLOBAL const real *plane,
                              HT_LOCAL ht_pack *tile) {
    HT_LOCAL ht_pack *mine = tile + (l->y + HT_FD_HALO) * HT_FD_PITCH;
    HT_GLOBAL const real *row = plane + l->i2 * s->row;
    if (l->x < HT_FD_SIDE) {
        mine[l->x] =
            ht_fd_read(row + l->first1 + (l->x - HT_FD_SIDE) * HT_BLOCK);
        mine[HT_FD_PACKS + HT_FD_SIDE + l->x] = ht_fd_read(
            row +
            ht_fd_least(l->first1 + (HT_FD_PACKS + l->x) * HT_BLOCK, l->most1));
    }
    HT_LOCAL ht_pack *column = tile + HT_FD_SIDE + l->x;
    HT_UNROLL
    for (int n = 0; n < HT_FD_HALO; n += HT_FD_ROWS) {
        const int r = n + l->y;
        if (r < HT_FD_HALO) {
            const long below = l->first2 - HT_FD_HALO + r;
            const long above =
                ht_fd_least(l->first2 + HT_FD_ROWS + r, l->most2);
            column[r * HT_FD_PITCH] =
                ht_fd_read(plane + below * s->row + l->i1);
            column[(HT_FD_HALO + HT_FD_ROWS + r) * HT_FD_PITCH] =
                ht_fd_read(plane + above * s->row + l->i1);
        }
    }
}

/* What an update needs beside the sum, read early. */
struct ht_fd_put {
    real a[HT_BLOCK], d[HT_BLOCK], p[HT_BLOCK];
};

HT_INLINE void ht_fd_set_put(const struct ht_fd_lane *l, const int mode,
                             HT_GLOBAL const real *a, HT_GLOBAL const real *d,
                             HT_GLOBAL const real *p, struct ht_fd_put *put) {
    if (l->from >= l->to) return;
    ht_unpack(ht_fd_read_once(a), put->a);
    if (HT_FD_HAS_D(mode)) ht_unpack(ht_fd_read_once(d), put->d);
    if (mode == HT_FD_APART) ht_unpack(ht_fd_read_once(p), put->p);
}

HT_INLINE void ht_fd_store(const struct ht_fd_lane *l, const real v[HT_BLOCK],
                           HT_GLOBAL real *to) {
    if (l->from == 0 && l->to == HT_BLOCK) {
        HT_WRITE_ONCE((HT_GLOBAL ht_pack *)to, ht_packed(v));
    } else {
        HT_UNROLL
        for (int e = 0; e < HT_BLOCK; e++)
            if (e >= l->from && e < l->to) to[e] = v[e];
    }
}

HT_INLINE void ht_fd_write(const struct ht_fd_lane *l, const int mode,
                           const real sum[HT_BLOCK], const real u[HT_BLOCK],
                           const struct ht_fd_put *put, HT_GLOBAL real *d,
                           HT_GLOBAL real *out) {
    real change[HT_BLOCK], value[HT_BLOCK];
    if (l->from >= l->to) return;
    HT_UNROLL
    for (int e = 0; e < HT_BLOCK; e++) {
        change[e] =
            fma(put->a[e], sum[e], HT_FD_HAS_D(mode) ? put->d[e] : u[e]);
        value[e] = mode == HT_FD_STAGE   ? change[e]
                   : mode == HT_FD_APART ? put->p[e] + change[e]
                                         : u[e] + change[e];
    }
    if (HT_FD_HAS_D(mode)) ht_fd_store(l, change, d);
    if (HT_FD_HAS_OUT(mode)) ht_fd_store(l, value, out);
}
