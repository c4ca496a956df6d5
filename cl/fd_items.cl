/* Where the work-items of a marching group stand, and how a pack of targets is read and written
 * (cl/packs.cl, cl/fd_march.cl). */
#define HT_FD_SIDE HT_FD_PACKS_OF(HT_FD_REACH, HT_BLOCK)
#define HT_FD_PITCH (HT_FD_PACKS + 2 * HT_FD_SIDE)
#define HT_FD_HALO (HT_DIMS > 2 ? HT_FD_REACH : 0)
/* Packs to either side of a pack that hold what a difference takes. */
#define HT_FD_NEAR HT_FD_PACKS_OF(HT_FD_R, HT_BLOCK)
#if HT_FD_DENSITY
#define HT_FD_SPARE HT_FD_SPARE_OF(HT_DIMS, HT_FD_ROWS, HT_FD_R)
#else
#define HT_FD_SPARE 0
#endif
#define HT_FD_TILE HT_FD_TILE_OF(HT_FD_PACKS, HT_FD_ROWS + HT_FD_SPARE, HT_FD_SIDE, HT_FD_HALO)

/* Offsets in a plane: of 32 bits they take fewer registers, of 64 bits fewer instructions. Measured
 * on an H200 (bench/NOTES.md). */
#if HT_FD_R > 2
typedef int ht_fd_offset;
#else
typedef long ht_fd_offset;
#endif

struct ht_fd_item {
    int x, y;                    /* in the group: pack and row */
    ht_fd_offset first1, first2; /* node of the group's first pack */
    ht_fd_offset most1, most2;   /* the last pack and row that may be read */
    ht_fd_offset i1, i2;         /* node of the pack; no further than most1, most2 */
    ht_fd_offset row;            /* from a row to the next one */
    long begin, end;             /* of the march */
    int from, to;                /* nodes [from, to) of the pack are targets */
};

HT_INLINE ht_fd_offset ht_fd_least(ht_fd_offset a, ht_fd_offset b) {
    return a < b ? a : b;
}

HT_INLINE ht_pack ht_fd_read(HT_GLOBAL const real *from) {
    return *(HT_GLOBAL const ht_pack *)from;
}

/* The same, read here: where fluxes take most registers, compilers move such reads to their use and
 * wait there. Measured on an H200 (bench/NOTES.md): with uniform density it costs more than it
 * gives. */
#if HT_PTX >= 70 && HT_FD_DENSITY && HT_BLOCK * (HT_DOUBLE + 1) == 4
HT_INLINE void ht_fd_read_now(HT_GLOBAL const real *from, real v[HT_BLOCK]) {
#if HT_DOUBLE
    __asm__ volatile("ld.global.v2.f64 {%0, %1}, [%2];" : "=d"(v[0]), "=d"(v[1]) : "l"(from));
#else
    __asm__ volatile("ld.global.v4.f32 {%0, %1, %2, %3}, [%4];"
                     : "=f"(v[0]), "=f"(v[1]), "=f"(v[2]), "=f"(v[3])
                     : "l"(from));
#endif
}
#else
HT_INLINE void ht_fd_read_now(HT_GLOBAL const real *from, real v[HT_BLOCK]) {
    ht_unpack(ht_fd_read(from), v);
}
#endif

HT_INLINE void ht_fd_copy(HT_LOCAL ht_pack *to, HT_GLOBAL const real *from) {
    ht_copy(to, (HT_GLOBAL const ht_pack *)from);
}

/* x, y: pack and row, counted from the group's first one. */
HT_INLINE void ht_fd_set_item(const struct ht_fd_args *s, const int x, const int y,
                              struct ht_fd_item *me) {
    me->x = x;
    me->y = y;
    const ht_fd_offset begin1 = (ht_fd_offset)s->begin[0];
    const ht_fd_offset begin2 = (ht_fd_offset)s->begin[1];
    const ht_fd_offset end1 = (ht_fd_offset)s->end[0];
    const ht_fd_offset end2 = (ht_fd_offset)s->end[1];
    me->row = (ht_fd_offset)s->row;
    me->first1 =
        begin1 / HT_BLOCK * HT_BLOCK + (ht_fd_offset)HT_GROUP_1() * (HT_FD_PACKS * HT_BLOCK);
    me->first2 = HT_DIMS > 2 ? begin2 + (ht_fd_offset)HT_GROUP_2() * HT_FD_ROWS : 0;
    me->most1 = (end1 - 1) / HT_BLOCK * HT_BLOCK + HT_FD_SIDE * HT_BLOCK;
    me->most2 = HT_DIMS > 2 ? end2 - 1 + HT_FD_REACH : 0;
    me->i1 = me->first1 + me->x * HT_BLOCK;
    me->i2 = me->first2 + me->y;
    me->from = me->i1 < begin1 ? (int)(begin1 - me->i1) : 0;
    me->to = (int)ht_fd_least(end1 - me->i1, HT_BLOCK);
    if (HT_DIMS > 2 && me->i2 >= end2) me->to = 0;
    me->i1 = ht_fd_least(me->i1, me->most1);
    me->i2 = ht_fd_least(me->i2, me->most2);
    me->begin = 0;
    me->end = 1;
    if (HT_DIMS > 1) {
        me->begin = s->begin[HT_DIMS - 1] + HT_GROUP_3() * s->planes;
        me->end = me->begin + s->planes;
        if (me->end > s->end[HT_DIMS - 1]) me->end = s->end[HT_DIMS - 1];
    }
}

/* Begins to copy what surrounds the packs of a group into a tile: plane points to node (0, 0) of
 * the plane. */
HT_INLINE void ht_fd_surround(const struct ht_fd_item *me, HT_GLOBAL const real *plane,
                              HT_LOCAL ht_pack *tile) {
    HT_LOCAL ht_pack *mine = tile + (me->y + HT_FD_HALO) * HT_FD_PITCH;
    const ht_fd_offset row = me->i2 * me->row;
    if (me->x < HT_FD_SIDE) {
        ht_fd_copy(mine + me->x, plane + (row + me->first1 + (me->x - HT_FD_SIDE) * HT_BLOCK));
        ht_fd_copy(
            mine + HT_FD_PACKS + HT_FD_SIDE + me->x,
            plane + (row + ht_fd_least(me->first1 + (HT_FD_PACKS + me->x) * HT_BLOCK, me->most1)));
    }
    HT_LOCAL ht_pack *column = tile + HT_FD_SIDE + me->x;
    HT_UNROLL
    for (int n = 0; n < HT_FD_HALO; n += HT_FD_ROWS) {
        const int r = n + me->y;
        if (r < HT_FD_HALO) {
            const ht_fd_offset below = me->first2 - HT_FD_HALO + r;
            const ht_fd_offset above = ht_fd_least(me->first2 + HT_FD_ROWS + r, me->most2);
            ht_fd_copy(column + r * HT_FD_PITCH, plane + (below * me->row + me->i1));
            ht_fd_copy(column + (HT_FD_HALO + HT_FD_ROWS + r) * HT_FD_PITCH,
                       plane + (above * me->row + me->i1));
        }
    }
}

/* What an update needs beside the sum, read early. */
struct ht_fd_put {
    real a[HT_BLOCK], d[HT_BLOCK], p[HT_BLOCK];
};

HT_INLINE void ht_fd_set_put(const struct ht_fd_item *me, const int mode, HT_GLOBAL const real *a,
                             HT_GLOBAL const real *d, HT_GLOBAL const real *p,
                             struct ht_fd_put *put) {
    if (me->from >= me->to) return;
    ht_fd_read_now(a, put->a);
    if (HT_FD_HAS_D(mode)) ht_fd_read_now(d, put->d);
    if (mode == HT_FD_APART) ht_fd_read_now(p, put->p);
}

HT_INLINE void ht_fd_store(const struct ht_fd_item *me, const real v[HT_BLOCK],
                           HT_GLOBAL real *to) {
    if (me->from == 0 && me->to == HT_BLOCK) {
        *(HT_GLOBAL ht_pack *)to = ht_packed(v);
    } else {
        HT_UNROLLED(e, HT_BLOCK)
            if (e >= me->from && e < me->to) to[e] = v[e];
    }
}

HT_INLINE void ht_fd_write(const struct ht_fd_item *me, const int mode, const real sum[HT_BLOCK],
                           const real u[HT_BLOCK], const struct ht_fd_put *put, HT_GLOBAL real *d,
                           HT_GLOBAL real *out HT_FD_KEEP_PARAMS) {
    real change[HT_BLOCK], value[HT_BLOCK];
    if (me->from >= me->to) return;
    HT_UNROLLED(e, HT_BLOCK) {
        change[e] = fma(put->a[e], sum[e], HT_FD_HAS_D(mode) ? put->d[e] : u[e]);
        value[e] = mode == HT_FD_STAGE   ? change[e]
                   : mode == HT_FD_APART ? put->p[e] + change[e]
                                         : u[e] + change[e];
    }
#if HT_FD_MAP
    real kept[HT_BLOCK], rate[HT_BLOCK];
    bool more = false;
    ht_fd_read_now(map, kept);
    if (HT_FD_OPEN) ht_fd_read_now(out, rate);
    HT_UNROLLED(e, HT_BLOCK) {
        const real now = mode == HT_FD_APART ? put->p[e] : u[e];
        rate[e] = HT_FD_OPEN ? now - rate[e] : put->d[e];
        const real bound = ht_fd_bound(c, now, rate[e]);
        more = more || ht_fd_beyond(bound, kept[e]);
    }
    if (more) {
        HT_UNROLLED(e, HT_BLOCK) {
            const real peak = ht_fd_peak(c, mode == HT_FD_APART ? put->p[e] : u[e], rate[e]);
            if (ht_fd_beyond(peak, kept[e])) kept[e] = peak;
        }
        ht_fd_store(me, kept, map);
    }
#endif
    if (HT_FD_HAS_D(mode)) ht_fd_store(me, change, d);
    if (HT_FD_HAS_OUT(mode)) ht_fd_store(me, value, out);
}
