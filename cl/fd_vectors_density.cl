/* Finite differences, varying density, on CPUs: a group is one work-item, which takes HT_FD_SEGMENT
 * nodes at most of HT_FD_BLOCK_ROWS rows and marches along the last axis. Fluxes are those of
 * fd_march_density.cl; local memory holds
 *
 *     row[node + R]                   along x1, of one row,
 *     column[row + R][node]           along x2, of one plane,
 *     march[z mod 2R][row][node]      along the march, of 2R planes z.
 *
 * The segments of a row are alike, but for the last one, which begins earlier and stores what is
 * its own; rows shorter than a vector are done node by node. */
#define HT_FD_BLOCK_ROWS (HT_DIMS > 2 ? HT_FD_ROWS : 1)
#define HT_FD_ROW_VALUES (HT_FD_SEGMENT + 2 * HT_FD_R)
#define HT_FD_COLUMN_ROWS (HT_DIMS > 2 ? HT_FD_BLOCK_ROWS + 2 * HT_FD_R - 1 : 0)
/* A vector more than fits: planes at a power of two would meet in a cache. */
#define HT_FD_PLANE_VALUES (HT_FD_BLOCK_ROWS * HT_FD_SEGMENT + HT_WIDTH)
#define HT_FD_LOCAL_TYPE real
#define HT_FD_LOCAL                                         \
    (HT_FD_ROW_VALUES + HT_FD_COLUMN_ROWS * HT_FD_SEGMENT + \
     (HT_DIMS > 1 ? 2 * HT_FD_R * HT_FD_PLANE_VALUES : 0))

HT_INLINE HT_LOCAL real *ht_fd_column_of(HT_LOCAL real *fluxes) {
    return fluxes + HT_FD_ROW_VALUES;
}

HT_INLINE HT_LOCAL real *ht_fd_march_of(HT_LOCAL real *fluxes) {
    return fluxes + HT_FD_ROW_VALUES + HT_FD_COLUMN_ROWS * HT_FD_SEGMENT;
}

/* `count` fluxes, HT_WIDTH or more, of the nodes from u and b on. */
HT_INLINE void ht_fd_fluxes(const struct ht_fd_coefs *c, HT_GLOBAL const real *u,
                            HT_GLOBAL const real *b, const long stride, int count,
                            HT_LOCAL real *out) {
    for (int next = 0; next < count; next += HT_WIDTH) {
        const int at = next < count - HT_WIDTH ? next : count - HT_WIDTH;
        vector slope = 0;
        HT_UNROLLED(j, HT_FD_R)
            slope = HT_FD_FIRST((vector)c->c[HT_DIMS][j], HT_GLOBAL_VECTOR(u + at - j * stride),
                                HT_GLOBAL_VECTOR(u + at + (1 + j) * stride), slope);
        *(HT_LOCAL loose *)(out + at) = fma(HT_GLOBAL_VECTOR(b + at), slope, (vector)(real)0);
    }
}

/* What a work-item takes: nodes [start, start + count), of which those before own belong to
 * another; rows [first2, end2). */
struct ht_fd_part {
    long start, own, first2, end2, begin, end;
    int count;
};

HT_INLINE void ht_fd_set_part(const struct ht_fd_args *s, struct ht_fd_part *t) {
    const long nodes = s->end[0] - s->begin[0];
    const long groups = (nodes + HT_FD_SEGMENT - 1) / HT_FD_SEGMENT;
    const long vectors = ((nodes + groups - 1) / groups + HT_WIDTH - 1) / HT_WIDTH;
    const long most = vectors * HT_WIDTH;
    t->own = s->begin[0] + HT_GROUP_1() * most;
    t->start = t->own < s->end[0] - most ? t->own : s->end[0] - most;
    if (t->start < s->begin[0]) t->start = s->begin[0];
    t->count = (int)(s->end[0] - t->start < most ? s->end[0] - t->start : most);
    t->first2 = HT_DIMS > 2 ? s->begin[1] + HT_GROUP_2() * HT_FD_BLOCK_ROWS : 0;
    t->end2 = t->first2 + HT_FD_BLOCK_ROWS;
    if (HT_DIMS > 2 && t->end2 > s->end[1]) t->end2 = s->end[1];
    t->begin = 0;
    t->end = 1;
    if (HT_DIMS > 1) {
        t->begin = s->begin[HT_DIMS - 1] + HT_GROUP_3() * s->planes;
        t->end = t->begin + s->planes;
        if (t->end > s->end[HT_DIMS - 1]) t->end = s->end[HT_DIMS - 1];
    }
}

/* sum + the differences of fluxes along one axis that lie `stride` apart. */
HT_INLINE vector ht_fd_differences(const struct ht_fd_coefs *c, const int axis,
                                   HT_LOCAL const real *flux, const int stride, vector sum) {
    HT_UNROLLED(j, HT_FD_R)
        sum = HT_FD_FIRST((vector)c->c[axis][j], HT_LOCAL_VECTOR(flux - (1 + j) * stride),
                          HT_LOCAL_VECTOR(flux + j * stride), sum);
    return sum;
}

#if HT_DIMS > 1
/* Of the last axis; first: slot of the plane; march: at the node in slot 0. */
HT_INLINE vector ht_fd_march_differences(const struct ht_fd_coefs *c, const int first,
                                         HT_LOCAL const real *march, vector sum) {
    HT_UNROLLED(j, HT_FD_R) {
        const int below = first - 1 - j, above = first + j;
        const int turn = 2 * HT_FD_R;
        sum = HT_FD_FIRST(
            (vector)c->c[HT_DIMS - 1][j],
            HT_LOCAL_VECTOR(march + (below < 0 ? below + turn : below) * HT_FD_PLANE_VALUES),
            HT_LOCAL_VECTOR(march + (above < turn ? above : above - turn) * HT_FD_PLANE_VALUES),
            sum);
    }
    return sum;
}
#endif

/* One row of targets in plane z; at: number of its node `start`. */
HT_INLINE void ht_fd_row(const struct ht_fd_part *t, const struct ht_fd_coefs *c, const int mode,
                         long z, int r, long at, HT_FD_PARAMS, HT_LOCAL real *fluxes) {
    ht_fd_fluxes(c, u + at - HT_FD_R, b1 + at - HT_FD_R, 1, t->count + 2 * HT_FD_R - 1, fluxes);
    for (int next = 0; next < t->count; next += HT_WIDTH) {
        const int n = next < t->count - HT_WIDTH ? next : t->count - HT_WIDTH;
        const long done = t->own - t->start > next ? t->own - t->start : next;
        vector sum = 0;
        if (done >= n + HT_WIDTH) continue;
        sum = ht_fd_differences(c, 0, fluxes + n + HT_FD_R, 1, sum);
#if HT_DIMS > 2
        sum = ht_fd_differences(c, 1, ht_fd_column_of(fluxes) + (r + HT_FD_R) * HT_FD_SEGMENT + n,
                                HT_FD_SEGMENT, sum);
#endif
#if HT_DIMS > 1
        sum = ht_fd_march_differences(c, (int)(z % (2 * HT_FD_R)),
                                      ht_fd_march_of(fluxes) + r * HT_FD_SEGMENT + n, sum);
#endif
        ht_fd_write(mode, at + n, (int)(done - n), sum, u, a, d, p, out HT_FD_KEEP_ARGS(0));
    }
}

/* The plane z of targets, whose node `start` of row 0 is number at. */
HT_INLINE void ht_fd_plane(const struct ht_fd_args *s, const struct ht_fd_part *t,
                           const struct ht_fd_coefs *c, const int mode, long z, long at,
                           HT_FD_PARAMS, HT_LOCAL real *fluxes) {
    const int rows = (int)(t->end2 - t->first2);
    if (t->count < HT_WIDTH) {
        for (long i = 0; i < (long)rows * t->count; i++)
            ht_fd_node(s, c, mode, at + (t->first2 + i / t->count) * s->row + i % t->count,
                       HT_FD_ARGS);
        return;
    }
#if HT_DIMS > 2
    for (int r = 0; r < rows + 2 * HT_FD_R - 1; r++) {
        const long from = at + (t->first2 - HT_FD_R + r) * s->row;
        ht_fd_fluxes(c, u + from, b2 + from, s->row, t->count,
                     ht_fd_column_of(fluxes) + r * HT_FD_SEGMENT);
    }
#endif
    for (int r = 0; r < rows; r++)
        ht_fd_row(t, c, mode, z, r, at + (t->first2 + r) * s->row, HT_FD_ARGS, fluxes);
}

HT_INLINE void ht_fd_walk(const struct ht_fd_args *s, const struct ht_fd_coefs *c, const int mode,
                          HT_FD_PARAMS HT_FD_LAYER_PARAMS, HT_LOCAL real *fluxes) {
    const long step = HT_DIMS > 1 ? ht_fd_stride(s, HT_DIMS - 1) : 0;
    struct ht_fd_part t;
    ht_fd_set_part(s, &t);
#if HT_DIMS > 1
    const bool few = t.count < HT_WIDTH;
    for (long f = few ? t.begin + HT_FD_R - 1 : t.begin - HT_FD_R; f < t.end + HT_FD_R - 1; f++) {
        const long z = f - HT_FD_R + 1; /* targets that now have all fluxes */
        const int slot = (int)((f + 2 * HT_FD_R) % (2 * HT_FD_R));
        for (long i2 = t.first2; i2 < t.end2 && !few; i2++) {
            const long from = f * step + i2 * s->row + t.start;
            ht_fd_fluxes(c, u + from, (HT_DIMS > 2 ? b3 : b2) + from, step, t.count,
                         ht_fd_march_of(fluxes) + slot * HT_FD_PLANE_VALUES +
                             (i2 - t.first2) * HT_FD_SEGMENT);
        }
        if (z < t.begin) continue;
        for (long i2 = t.first2; i2 < t.end2; i2++)
            HT_FD_PREPARE_ROW(t.own, t.start + t.count, HT_DIMS > 2 ? i2 : z, HT_DIMS > 2 ? z : 0)
        ht_fd_plane(s, &t, c, mode, z, z * step + t.start, HT_FD_ARGS, fluxes);
    }
#else
    ht_fd_plane(s, &t, c, mode, 0, t.start, HT_FD_ARGS, fluxes);
#endif
}
