/* Neighbouring targets along x1 as the lanes of a vector, for CPU kernels: one work-item computes
 * HT_CELLS targets in each of HT_ROWS rows.
 *
 * If a row of targets is no multiple of the vector, its last vector starts earlier and overlaps the
 * previous one; only new targets are stored. The sources of a vector lie in one row of nodes, which
 * wraps around at most once (periodic axis). Rows shorter than a vector, and blocked layouts, are
 * read and written value by value. Vectors themselves: cl/loose.cl.
 *
 *     targets   |0 1 2 3|4 5 6 7|   HT_CELLS = 4, row of 10 targets
 *                           |6 7 8 9|   the last vector stores 8, 9 */
#define HT_COEFS (HT_N1 * HT_N2 * HT_N3)
#define HT_SOURCE_ROWS (HT_DIMS > 1 ? HT_ROWS + 1 : 1)

/* Position of a work-item's vectors along x1. */
struct ht_ends {
    long start; /* first target */
    long base;  /* source node at its lower side */
    int first;  /* the row wraps around after the first source node */
    int last;   /* the row wraps around before the last source node */
    int whole;  /* memory may be read and written by vectors */
};

/* The source rows of an x3 plane. */
struct ht_plane {
    long row[HT_SOURCE_ROWS]; /* node at index 0 of x1 */
};

/* The result is written through a pointer, as in ht_set_plane: Oclgrind cannot run the compiled
 * form of functions that return a large struct. */
HT_INLINE void ht_set_ends(const struct ht_step_args *a, long m1, struct ht_ends *e) {
    const long last = a->end[0] - HT_CELLS;
    e->start = last >= a->begin[0] && m1 > last ? last : m1;
    e->base = ht_closed(a, 0, e->start + a->shift[0]);
    e->first = e->base + 1 == a->period[0];
    e->last = !e->first && e->base + HT_CELLS == a->period[0];
    e->whole = HT_BLOCK == 1 && last >= a->begin[0];
}

/* Rows of targets beyond the box are replaced by its last row. */
HT_INLINE void ht_set_plane(const struct ht_step_args *a, long m2, long i3, struct ht_plane *p) {
    for (int j = 0; j < HT_SOURCE_ROWS; j++) {
        const long m = m2 + j < a->end[1] ? m2 + j : a->end[1];
        p->row[j] = ht_source_row(a, m + a->shift[1], i3);
    }
}

/* Coefficient i at the lower (left) and upper (right) x1 vertices of a vector of targets. stage:
 * scratch for HT_CELLS + 1 values. */
HT_INLINE void ht_read_row(const struct ht_step_args *a, HT_GLOBAL const real *src, int i,
                           const struct ht_ends *e, long row, vector *left, vector *right,
                           HT_LOCAL real *stage) {
    const long nodes = a->src_nodes;
    if (e->whole) {
        HT_GLOBAL const real *from = src + i * nodes + row;
        if (!e->first) *left = HT_GLOBAL_VECTOR(from + e->base);
        if (!e->last) *right = HT_GLOBAL_VECTOR(from + (e->first ? 0 : e->base + 1));
        if (e->first) {
            stage[0] = from[e->base];
            *(HT_LOCAL loose *)(stage + 1) = *right;
            *left = HT_LOCAL_VECTOR(stage);
        }
        if (e->last) {
            *(HT_LOCAL loose *)stage = *left;
            stage[HT_CELLS] = from[0];
            *right = HT_LOCAL_VECTOR(stage + 1);
        }
    } else {
        const long most = a->end[0] - e->start;
        for (int n = 0; n <= HT_CELLS; n++) {
            const long m = ht_closed(a, 0, e->base + (n < most ? n : most));
            stage[n] = src[HT_AT(i, row + m, nodes)];
        }
        *left = HT_LOCAL_VECTOR(stage);
        *right = HT_LOCAL_VECTOR(stage + 1);
    }
}

#if HT_OLD_SIGN
#define HT_WRITE(to, value) (to) = (real)HT_OLD_SIGN * (to) + (value)
#else
#define HT_WRITE(to, value) (to) = (value)
#endif

/* Stores coefficient i of a vector of targets, from target m1 on. node: number of the target node
 * at index 0 of the row. */
HT_INLINE void ht_put_row(const struct ht_step_args *a, HT_GLOBAL real *dst, int i,
                          const struct ht_ends *e, long m1, long node, vector value,
                          HT_LOCAL real *stage) {
    const long nodes = a->dst_nodes;
    if (e->whole && e->start == m1) {
        HT_GLOBAL loose *to = (HT_GLOBAL loose *)(dst + i * nodes + node + m1);
        HT_WRITE(*to, value);
    } else {
        *(HT_LOCAL loose *)stage = value;
        for (long m = m1; m < a->end[0] && m < e->start + HT_CELLS; m++)
            HT_WRITE(dst[HT_AT(i, node + m, nodes)], stage[m - e->start]);
    }
}
