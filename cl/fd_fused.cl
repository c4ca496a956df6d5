/* Finite differences, uniform density, two terms of the series in time, on
 * GPUs: both passes of a step in one kernel, w = u + stage L u,   d = d + L w,
 * out = u + d, so that w never leaves the multiprocessor. Sums are those of two
 * passes bit by bit. HT_FD_REACH is 2R here.
 *
 * A group takes HT_FD_PACKS packs of HT_FD_ROWS rows and marches along x3. A
 * work-item computes w of one pack: the targets, and R nodes around them, of
 * which the corners are not needed:
 *
 *                        +------------------------+
 *      2R rows           |   u of 2R rows more    |
 *          +-------------+------------------------+-------------+
 *          |     R rows  |  w    items            |  u          |
 *          |    +--------+------------------------+--------+    |
 *          |    | packs  |   targets: w, d, out   |        |    |
 *          |    | of R   |  items y = 0 .. ROWS-1 |   w    |  u |
 *          |    | nodes  |        x = 0 .. PACKS-1|        |    |
 *          |    +--------+------------------------+--------+    |
 *
 * The items of the targets come first, so that the warps of the others have
 * nothing to do in the second pass. At plane z an item has u of its pack in the
 * planes z - R .. z + R in registers (line), computes w there and puts it into
 * the tile of w of this plane; then the targets of plane z - R have all of w:
 * their own in registers (past), the neighbours' in a tile that was filled R
 * planes ago. There are R + 1 of these, used in turn, and two of u, so that one
 * barrier per plane is enough.
 */
#define HT_FD_TARGETS (HT_FD_PACKS * HT_FD_ROWS)
/* Packs of u beyond those of w. */
#define HT_FD_OUTER (HT_FD_SIDE - HT_FD_NEAR)
#define HT_FD_ABOVE (2 * HT_FD_R * HT_FD_PACKS)
#define HT_FD_BESIDE (2 * HT_FD_OUTER * HT_FD_ROWS)
#define HT_FD_CORNERS (4 * HT_FD_NEAR * HT_FD_R)
#define HT_FD_W_PITCH (HT_FD_PACKS + 2 * HT_FD_NEAR)
#define HT_FD_W_TILE \
    HT_FD_W_TILE_OF(HT_FD_PACKS, HT_FD_ROWS, HT_FD_NEAR, HT_FD_R)
#define HT_FD_W_TILES (HT_FD_R + 1)

/* Place n of 2 count places beside [0, size), `first` places away from it. */
HT_INLINE int ht_fd_beside(const int n, const int count, const int first,
                           const int size) {
    return n < count ? n - first - count : size + first + n - count;
}

/* Pack and row of an item. */
HT_INLINE void ht_fd_place(int n, int *x, int *y) {
    if (n < HT_FD_TARGETS) {
        *x = n % HT_FD_PACKS;
        *y = n / HT_FD_PACKS;
    } else if (n < HT_FD_TARGETS + HT_FD_ABOVE) {
        n -= HT_FD_TARGETS;
        *x = n % HT_FD_PACKS;
        *y = ht_fd_beside(n / HT_FD_PACKS, HT_FD_R, 0, HT_FD_ROWS);
    } else {
        n -= HT_FD_TARGETS + HT_FD_ABOVE;
        *x = ht_fd_beside(n % (2 * HT_FD_NEAR), HT_FD_NEAR, 0, HT_FD_PACKS);
        *y = n / (2 * HT_FD_NEAR);
    }
}

/* Of the packs of u around those of the items number n: whether there are so
 * many. Each item copies one of them. */
HT_INLINE int ht_fd_place_around(int n, int *x, int *y) {
    if (n < HT_FD_ABOVE) {
        *x = n % HT_FD_PACKS;
        *y = ht_fd_beside(n / HT_FD_PACKS, HT_FD_R, HT_FD_R, HT_FD_ROWS);
        return 1;
    }
    n -= HT_FD_ABOVE;
    if (n < HT_FD_CORNERS) {
        *x = ht_fd_beside(n % (2 * HT_FD_NEAR), HT_FD_NEAR, 0, HT_FD_PACKS);
        *y = ht_fd_beside(n / (2 * HT_FD_NEAR), HT_FD_R, 0, HT_FD_ROWS);
        return 1;
    }
#if HT_FD_OUTER > 0
    n -= HT_FD_CORNERS;
    *x = ht_fd_beside(n % (2 * HT_FD_OUTER), HT_FD_OUTER, HT_FD_NEAR,
                      HT_FD_PACKS);
    *y = n / (2 * HT_FD_OUTER);
    return n < HT_FD_BESIDE;
#else
    return 0;
#endif
}

/* A pack that an item copies from a plane of u into the tile. */
struct ht_fd_around {
    int some;
    int to;
    ht_fd_offset from;
};

HT_INLINE void ht_fd_set_around(const struct ht_fd_item *me,
                                struct ht_fd_around *around) {
    int x = 0, y = 0;
    around->some = ht_fd_place_around(HT_ITEM(), &x, &y);
    around->to = (y + HT_FD_HALO) * HT_FD_PITCH + HT_FD_SIDE + x;
    around->from = ht_fd_least(me->first2 + y, me->most2) * me->row +
                   ht_fd_least(me->first1 + x * HT_BLOCK, me->most1);
}

/* As ht_fd_fill of fd_march.cl. */
HT_INLINE void ht_fd_fill(const struct ht_fd_around *around, const int own,
                          HT_GLOBAL const real *plane,
                          const real middle[HT_BLOCK], HT_LOCAL ht_pack *tile) {
    tile[own] = ht_packed(middle);
    if (around->some) ht_fd_copy(tile + around->to, plane + around->from);
    HT_COPY_COMMIT();
}

/* Values of the planes before the first one of w. */
HT_INLINE void ht_fd_begin(HT_GLOBAL const real *u, const long plane,
                           real line[2 * HT_FD_R + 1][HT_BLOCK],
                           real past[2 * HT_FD_R + 1][HT_BLOCK]) {
    HT_UNROLL
    for (int k = 0; k < 2 * HT_FD_R; k++) {
        ht_unpack(ht_fd_read(u + k * plane), line[k]);
        HT_UNROLL
        for (int e = 0; e < HT_BLOCK; e++) past[k + 1][e] = 0;
    }
}

HT_KERNEL HT_GROUP_SIZE(HT_FD_ITEMS) void ht_fd_both(
    struct ht_fd_args s, struct ht_fd_coefs stage, struct ht_fd_coefs c,
    HT_GLOBAL const real *HT_RESTRICT u, HT_GLOBAL const real *HT_RESTRICT a,
    HT_GLOBAL real *HT_RESTRICT d, HT_GLOBAL real *HT_RESTRICT out) {
    HT_LOCAL_ARRAY(ht_pack, tiles, 2 * HT_FD_TILE);
    HT_LOCAL_ARRAY(ht_pack, w_tiles, HT_FD_W_TILES * HT_FD_W_TILE);
    struct ht_fd_item me;
    struct ht_fd_around around;
    int x, y, now = 0;
    ht_fd_place(HT_ITEM(), &x, &y);
    ht_fd_set_item(&s, x, y, &me);
    if (HT_ITEM() >= HT_FD_TARGETS) me.to = 0;
    ht_fd_set_around(&me, &around);
    const int own = (y + HT_FD_HALO) * HT_FD_PITCH + HT_FD_SIDE + x;
    const int w_own = (y + HT_FD_R) * HT_FD_W_PITCH + HT_FD_NEAR + x;
    const long mine = (long)me.i2 * s.row + me.i1;
    const long first = me.begin - HT_FD_R, last = me.end + HT_FD_R;
    /* past: w of planes z - 2R .. z */
    real line[2 * HT_FD_R + 1][HT_BLOCK], past[2 * HT_FD_R + 1][HT_BLOCK];
    ht_fd_begin(u + (first - HT_FD_R) * s.plane + mine, s.plane, line, past);
    ht_fd_fill(&around, own, u + first * s.plane, line[HT_FD_R],
               tiles + (first & 1) * HT_FD_TILE);
    for (long z = first; z < last; z++) {
        const long at = z * s.plane + mine, done = at - HT_FD_R * s.plane;
        const bool ends = me.from < me.to && z - HT_FD_R >= me.begin;
        const int then = now < HT_FD_R ? now + 1 : 0; /* R planes ago */
        struct ht_fd_put put;
        real sum[HT_BLOCK], medium[HT_BLOCK];
        HT_COPY_WAIT(0);
        HT_BARRIER();
        ht_unpack(ht_fd_read(u + at + HT_FD_R * s.plane), line[2 * HT_FD_R]);
        ht_unpack(ht_fd_read(a + at), medium);
        if (ends) ht_fd_set_put(&me, HT_FD_OWN, a + done, d + done, u, &put);
        if (z + 1 < last)
            ht_fd_fill(&around, own, u + (z + 1) * s.plane, line[HT_FD_R + 1],
                       tiles + ((z + 1) & 1) * HT_FD_TILE);
        ht_fd_move_on(past);
        HT_UNROLL
        for (int e = 0; e < HT_BLOCK; e++) sum[e] = 0;
        ht_fd_in_plane(&stage, tiles + (z & 1) * HT_FD_TILE + own, HT_FD_PITCH,
                       line[HT_FD_R], sum);
        ht_fd_along_march(&stage, line, sum);
        HT_UNROLL
        for (int e = 0; e < HT_BLOCK; e++)
            past[2 * HT_FD_R][e] = fma(medium[e], sum[e], line[HT_FD_R][e]);
        w_tiles[now * HT_FD_W_TILE + w_own] = ht_packed(past[2 * HT_FD_R]);
        if (ends) {
            HT_UNROLL
            for (int e = 0; e < HT_BLOCK; e++) sum[e] = 0;
            ht_fd_in_plane(&c, w_tiles + then * HT_FD_W_TILE + w_own,
                           HT_FD_W_PITCH, past[HT_FD_R], sum);
            ht_fd_along_march(&c, past, sum);
            ht_fd_write(&me, HT_FD_OWN, sum, line[0], &put, d + done,
                        out + done);
        }
        ht_fd_move_on(line);
        now = then;
    }
}

/* Of u: the first pass is taken around the targets, too. */
HT_KERNEL
HT_GROUP_SIZE(HT_FD_ROW_ITEMS)
void ht_fd_fill_edges(struct ht_fd_args s, HT_GLOBAL real *u) {
    ht_fd_fill_faces(&s, HT_FD_REACH, u);
}
