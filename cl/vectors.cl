/* Targets that are neighbours along x1 as the lanes of a vector, for kernels
 * that suit CPUs: one work-item takes HT_CELLS targets of each of HT_ROWS rows.
 *
 * At the end of a row that vectors do not fill, a group begins earlier and
 * stores only what is its own. The sources of a vector then lie in one row of
 * nodes but for one vertex behind the lower or the upper end; rows shorter than
 * that, and the blocked layout, are read and written value by value.
 */
#define HT_COEFS (HT_N1 * HT_N2 * HT_N3)
#define HT_SOURCE_ROWS (HT_DIMS > 1 ? HT_ROWS + 1 : 1)

#if HT_CELLS == 1
typedef real vector;
#else
typedef HT_VECTOR(HT_WIDTH) vector;
#endif
typedef vector HT_LOOSE loose;
#define HT_GLOBAL_VECTOR(p) (*(HT_GLOBAL const loose *)(p))
#define HT_LOCAL_VECTOR(p) (*(HT_LOCAL const loose *)(p))

/* Where the vectors lie along x1. */
struct ht_ends {
    long start; /* first target */
    long base;  /* source node left of it */
    int below;  /* that node is behind the lower end */
    int above;  /* the last source node is behind the upper end */
    int whole;  /* all others lie in the row */
};

/* The source rows of an x3 plane. */
struct ht_plane {
    long row[HT_SOURCE_ROWS];   /* node at x1 = 0 */
    int factor[HT_SOURCE_ROWS]; /* of the walls passed along x2 and x3 */
    int mirror[HT_SOURCE_ROWS]; /* axes on which mirrored, a bit each */
    int plain;                  /* no wall passed */
};

/* Filled through a pointer, like ht_set_plane: Oclgrind cannot run what the
 * compiler makes of a function that returns a large struct. */
HT_INLINE void ht_set_ends(const struct ht_step_args *a, long m1,
                           struct ht_ends *e) {
    const long last = a->dst[0] - HT_CELLS;
    e->start = last >= 0 && m1 > last ? last : m1;
    e->base = e->start + a->shift;
    e->below = e->base < 0;
    e->above = e->base + HT_CELLS >= a->src[0];
    e->whole = HT_BLOCK == 1 && last >= 0 && a->src[0] >= HT_CELLS;
}

/* Rows of targets beyond the grid repeat its last one. */
HT_INLINE void ht_set_plane(const struct ht_step_args *a, long m2, long s3,
                            struct ht_plane *p) {
    struct ht_source p3 = {0, 0, 1};
    if (HT_DIMS > 2) p3 = ht_source(s3, a->src[2], a->wall[4], a->wall[5]);
    p->plain = 1;
    for (int j = 0; j < HT_SOURCE_ROWS; j++) {
        struct ht_source p2 = {0, 0, 1};
        const long m = m2 + j < a->dst[1] ? m2 + j : a->dst[1];
        if (HT_DIMS > 1)
            p2 = ht_source(m + a->shift, a->src[1], a->wall[2], a->wall[3]);
        p->row[j] = (p3.node * a->src[1] + p2.node) * a->src[0];
        p->factor[j] = p2.factor * p3.factor;
        p->mirror[j] = 2 * p2.mirrored + 4 * p3.mirrored;
        if (p->mirror[j]) p->plain = 0;
    }
}

/* Bit k: coefficient i of a field changes sign when x_(k+1) is reflected. */
HT_INLINE int ht_entry_parity(int field_parity, int i) {
    return field_parity ^ (i % HT_N1 % 2 + i / HT_N1 % HT_N2 % 2 * 2 +
                           i / (HT_N1 * HT_N2) % 2 * 4);
}

/* Sign of a coefficient from row j of a plane. */
HT_INLINE real ht_row_sign(const struct ht_plane *p, int j, int parity) {
    const int odd = (parity & p->mirror[j]) >> 1;
    return (real)(p->factor[j] * ht_sign(odd + (odd >> 1)));
}

/* Coefficient i at node m, perhaps behind an end, of the row that begins at
 * node `row`; odd: it changes sign in a mirror along x1. */
HT_INLINE real ht_value(const struct ht_step_args *a, HT_GLOBAL const real *src,
                        int i, long row, long m, int odd) {
    const long nodes = a->src[0] * a->src[1] * a->src[2];
    const struct ht_source p = ht_source(m, a->src[0], a->wall[0], a->wall[1]);
    const real value = src[HT_AT(i, row + p.node, nodes)];
    return p.mirrored ? (real)(p.factor * ht_sign(odd)) * value : value;
}

/* Coefficient i at the lower and the upper x1 vertices of a row's targets.
 * stage: HT_CELLS + 1 values of scratch. */
HT_INLINE void ht_read_row(const struct ht_step_args *a,
                           HT_GLOBAL const real *src, int i, int parity,
                           const struct ht_ends *e, long row, vector *left,
                           vector *right, HT_LOCAL real *stage) {
    const long nodes = a->src[0] * a->src[1] * a->src[2];
    if (e->whole) {
        HT_GLOBAL const real *from = src + i * nodes + row + e->base;
        if (!e->below) *left = HT_GLOBAL_VECTOR(from);
        if (!e->above) *right = HT_GLOBAL_VECTOR(from + 1);
        if (e->below) {
            stage[0] = ht_value(a, src, i, row, e->base, parity);
            *(HT_LOCAL loose *)(stage + 1) = *right;
            *left = HT_LOCAL_VECTOR(stage);
        }
        if (e->above) {
            *(HT_LOCAL loose *)stage = *left;
            stage[HT_CELLS] =
                ht_value(a, src, i, row, e->base + HT_CELLS, parity);
            *right = HT_LOCAL_VECTOR(stage + 1);
        }
    } else {
        const long most = a->dst[0] - e->start;
        for (int n = 0; n <= HT_CELLS; n++)
            stage[n] = ht_value(a, src, i, row, e->base + (n < most ? n : most),
                                parity);
        *left = HT_LOCAL_VECTOR(stage);
        *right = HT_LOCAL_VECTOR(stage + 1);
    }
}

#if HT_KEEP
#define HT_WRITE(to, value) (to) = (real)HT_KEEP * (to) + (value)
#else
#define HT_WRITE(to, value) (to) = (value)
#endif

/* Coefficient i of the targets of one row, the first of which is the group's
 * m1; node: at x1 = 0. */
HT_INLINE void ht_put_row(const struct ht_step_args *a, HT_GLOBAL real *dst,
                          int i, const struct ht_ends *e, long m1, long node,
                          vector value, HT_LOCAL real *stage) {
    const long nodes = a->dst[0] * a->dst[1] * a->dst[2];
    if (e->whole && e->start == m1) {
        HT_GLOBAL loose *to = (HT_GLOBAL loose *)(dst + i * nodes + node + m1);
        HT_WRITE(*to, value);
    } else {
        *(HT_LOCAL loose *)stage = value;
        for (long m = m1; m < a->dst[0] && m < e->start + HT_CELLS; m++)
            HT_WRITE(dst[HT_AT(i, node + m, nodes)], stage[m - e->start]);
    }
}

#define HT_SOURCE_CHOOSE(number, f) from = slot == number ? src##number : from;
#define HT_TARGET_CHOOSE(number, f) to = slot == number ? dst##number : to;
