/* Interpolation and Taylor series of one field u with
 *     (dt/2) u_t = sum over k of s_k h_k d_k u,
 * the polynomial of a target in registers: in those of one work-item, or of
 * HT_PER_CELL neighbouring ones, of which work-item l has the
 * coefficients n1 = HT_OWN l .. HT_OWN l + HT_OWN - 1. All loops over
 * coefficients are unrolled.
 *
 * Coefficients carry factors (src/kernel/registers.c),
 *     t(n) = 2^d n1! n2! n3! r_1^n1 r_2^n2 r_3^n3 b(n),
 * with which a stage needs no products:
 *     (L t)(n) = sum over k of ratio_k t(n + e_k),   ratio_k = 1 unless s_k is
 *                                                    much less than the others,
 *     w = sum over m of weight_m L^m t.
 * L^m t is computed in place, in ascending order of the indices, where it is
 * not zero and can still reach a result. The interpolation matrices
 * ht_scaled_even, ht_scaled_odd[axis][N+1][N+1] and ht_last[axis][N+1], by
 * which results are multiplied, hold the factors.
 *
 * A work-group marches along x3. Of the source plane that two targets share,
 * the interpolants along x1 and x2 (its face) are kept in local memory.
 */
/* What a work-item takes of its neighbour comes by a shuffle where all of a
 * cell are in one warp, elsewhere through local memory. */
#if HT_PER_CELL == 1
#define HT_PASSES 0
#define HT_PASS(t, passed) (void)passed;
#define HT_PASSED(t, passed, at) 0
#define HT_PASS_END()
#elif HT_PTX >= 70 && !HT_DOUBLE
#define HT_PASSES 0
#define HT_CELL_BARRIER() HT_KEEP_ORDER()
#define HT_PASS(t, passed) (void)passed;
#define HT_PASSED(t, passed, at) ht_from_next(t[at], HT_PER_CELL)
#define HT_PASS_END()
#else
#define HT_PASSES 1
#define HT_CELL_BARRIER() HT_BARRIER()
#define HT_PASS(t, passed)                                          \
    HT_UNROLL                                                       \
    for (int q = 0; q < HT_POLYNOMIAL / HT_OWN; q++)                \
        (passed)[q * HT_GROUP_ITEMS + HT_ITEM()] = (t)[q * HT_OWN]; \
    HT_BARRIER();
#define HT_PASSED(t, passed, at) \
    (passed)[(at) / HT_OWN * HT_GROUP_ITEMS + HT_ITEM() + 1]
#define HT_PASS_END() HT_BARRIER();
#endif

#define HT_OWN (HT_T1 / HT_PER_CELL)
#define HT_GROUP_TARGETS (HT_CELLS * HT_ROWS)
#define HT_FACE_VALUES (HT_N3 * HT_T2 * HT_OWN) /* of a work-item */
#define HT_POLYNOMIAL (HT_T3 * HT_T2 * HT_OWN)
#define HT_RESULTS_1 (HT_PER_CELL > 1 ? HT_OWN : HT_N1)
#define HT_RESULTS (HT_N3 * HT_N2 * HT_RESULTS_1)
#define HT_POINT(n3, n2, own) (((n3)*HT_T2 + (n2)) * HT_OWN + (own))
#define HT_RESULT(i3, i2, own) (((i3)*HT_N2 + (i2)) * HT_RESULTS_1 + (own))
#define HT_LAST(axis, i) ht_last[(axis)*HT_N1 + (i)]

/* A larger polynomial leaves no registers for what does not change between
 * planes: it is computed again. */
#define HT_MOST_COMFORTABLE 100

/* Where a work-item is: its targets' row, its cell's place in local memory. */
struct ht_seat {
    int part; /* of the cell's work-items */
    int target;
    int inside; /* whether the target is computed */
    int m1, m2;
    int left, right; /* source nodes along x1 */
};

/* ht_source_row of cl/common.cl with node indices of 32 bits. */
HT_INLINE int ht_near_row(const struct ht_step_args *a, int i2, int i3) {
    int row = 0;
    if (HT_DIMS > 1)
        row +=
            (i2 < a->period[1] ? i2 : i2 - (int)a->period[1]) * (int)a->src_row;
    if (HT_DIMS > 2)
        row += (i3 < a->period[2] ? i3 : i3 - (int)a->period[2]) *
               (int)a->src_plane;
    return row;
}

/* Of a work-item's coefficients n1: the factors of its results, and ratio_1 of
 * the last, 0 if the polynomial ends there. */
struct ht_edge {
    real last[HT_OWN];
    real ratio;
};

/* ---- interpolation ---- */

/* ht_line of cl/common.cl in place on values `stride` apart, with factors: 2
 * from sums that are not halved. Column 0 of the even part is 1, 0, 0, ..: a
 * constant has no derivatives. */
HT_INLINE void ht_scaled_line(const int axis, const int stride, real *at) {
    real even[HT_N1], odd[HT_N1];
    const int first = axis * HT_N1 * HT_N1;
    HT_UNROLL
    for (int i = 0; i < HT_N1; i++) {
        const real lower = at[i * stride], right = at[(HT_N1 + i) * stride];
        even[i] = i % 2 ? right - lower : right + lower;
        odd[i] = i % 2 ? right + lower : right - lower;
    }
    HT_UNROLL
    for (int m = 0; m < HT_N1; m++) {
        const int row = first + m * HT_N1;
        real e = m == 0 ? even[0] : ht_scaled_even[row + 1] * even[1];
        real o = ht_scaled_odd[row] * odd[0];
        HT_UNROLL
        for (int i = 1; i < HT_N1; i++) {
            if (m == 0 || i > 1) e = fma(ht_scaled_even[row + i], even[i], e);
            o = fma(ht_scaled_odd[row + i], odd[i], o);
        }
        at[2 * m * stride] = e;
        at[(2 * m + 1) * stride] = o;
    }
}

/* The x2 lines of a face. */
HT_INLINE void ht_second_lines(real *face) {
#if HT_DIMS > 1
    HT_UNROLL
    for (int i3 = 0; i3 < HT_N3; i3++) {
        HT_UNROLL
        for (int own = 0; own < HT_OWN; own++)
            ht_scaled_line(1, HT_OWN, face + HT_POINT(i3, 0, own));
    }
#else
    (void)face;
#endif
}

#if HT_PER_CELL == 1
#define HT_NODE_PACKS ((HT_N1 * HT_N2 * HT_N3 + HT_BLOCK - 1) / HT_BLOCK)

HT_INLINE void ht_read_node(HT_GLOBAL const real *src, int node, long nodes,
                            real v[HT_NODE_PACKS * HT_BLOCK]) {
    HT_UNROLL
    for (int b = 0; b < HT_NODE_PACKS; b++)
        ht_unpack(((HT_GLOBAL const ht_pack *)src + b * nodes)[node],
                  &v[b * HT_BLOCK]);
}

/* The face of source plane p3. */
HT_INLINE void ht_registers_face(const struct ht_step_args *a,
                                 const struct ht_seat *seat, int p3,
                                 HT_GLOBAL const real *src,
                                 HT_LOCAL HT_VECTOR(2) * turned, real *face) {
    (void)turned;
    HT_UNROLL
    for (int j2 = 0; j2 < (HT_DIMS > 1 ? 2 : 1); j2++) {
        real left[HT_NODE_PACKS * HT_BLOCK], right[HT_NODE_PACKS * HT_BLOCK];
        const int row = ht_near_row(a, seat->m2 + (int)a->shift[1] + j2, p3);
        ht_read_node(src, row + seat->left, a->src_nodes, left);
        ht_read_node(src, row + seat->right, a->src_nodes, right);
        HT_UNROLL
        for (int i = 0; i < HT_N2 * HT_N3; i++) {
            const int i2 = i % HT_N2, i3 = i / HT_N2;
            real *at = face + HT_POINT(i3, j2 * HT_N2 + i2, 0);
            HT_UNROLL
            for (int i1 = 0; i1 < HT_N1; i1++) {
                at[i1] = left[i * HT_N1 + i1];
                at[HT_N1 + i1] = right[i * HT_N1 + i1];
            }
            ht_scaled_line(0, 1, at);
        }
    }
    ht_second_lines(face);
}
#else
#define HT_LINE_PACKS (HT_N1 / HT_BLOCK)

/* The ends of line (i2, i3) along x1 with i2 = part, at x2 side j2 of source
 * plane p3. There are as many parts as i2. */
HT_INLINE void ht_read_ends(const struct ht_step_args *a,
                            const struct ht_seat *seat, const int j2,
                            const int i3, int p3, HT_GLOBAL const real *src,
                            real at[HT_T1]) {
    const long nodes = a->src_nodes;
    const int row = ht_near_row(a, seat->m2 + (int)a->shift[1] + j2, p3);
    HT_GLOBAL const ht_pack *packs =
        (HT_GLOBAL const ht_pack *)src + seat->part * HT_LINE_PACKS * nodes;
    HT_UNROLL
    for (int b = 0; b < HT_LINE_PACKS; b++) {
        const long from = (i3 * HT_N2 * HT_LINE_PACKS + b) * nodes;
        ht_unpack((packs + from)[row + seat->left], &at[b * HT_BLOCK]);
        ht_unpack((packs + from)[row + seat->right], &at[HT_N1 + b * HT_BLOCK]);
    }
}

/* The face of source plane p3. The work-items of a cell share the lines along
 * x1 and pass the values n1 of others through `turned`. */
HT_INLINE void ht_registers_face(const struct ht_step_args *a,
                                 const struct ht_seat *seat, int p3,
                                 HT_GLOBAL const real *src,
                                 HT_LOCAL HT_VECTOR(2) * turned, real *face) {
    HT_LOCAL HT_VECTOR(2) *cell =
        turned + seat->target * HT_SIZE_TURNED(HT_PER_CELL, HT_T2, HT_N1, 1);
    real line[HT_N3][2][HT_T1];
    HT_UNROLL
    for (int i3 = 0; i3 < HT_N3; i3++) {
        HT_UNROLL
        for (int j2 = 0; j2 < 2; j2++)
            ht_read_ends(a, seat, j2, i3, p3, src, line[i3][j2]);
    }
    HT_UNROLL
    for (int i3 = 0; i3 < HT_N3; i3++) {
        HT_CELL_BARRIER();
        HT_UNROLL
        for (int j2 = 0; j2 < 2; j2++) {
            const int r2 = j2 * HT_N2 + seat->part;
            ht_scaled_line(0, 1, line[i3][j2]);
            HT_UNROLL
            for (int n = 0; n < HT_N1; n++) {
                HT_VECTOR(2) x;
                x.x = line[i3][j2][2 * n];
                x.y = line[i3][j2][2 * n + 1];
                cell[r2 * HT_N1 + n] = x;
            }
        }
        HT_CELL_BARRIER();
        HT_UNROLL
        for (int r2 = 0; r2 < HT_T2; r2++) {
            const HT_VECTOR(2) x = cell[r2 * HT_N1 + seat->part];
            face[HT_POINT(i3, r2, 0)] = x.x;
            face[HT_POINT(i3, r2, 1)] = x.y;
        }
    }
    ht_second_lines(face);
}
#endif

/* ---- series ---- */

/* Whether L^m t is wanted at a coefficient: it is not zero, and q - m further
 * derivatives can bring it to a result. */
#define HT_DEGREE (HT_DIMS * (2 * HT_ORDER + 1))
#define HT_EXCESS(n) ((n) > HT_ORDER ? (n)-HT_ORDER : 0)
#define HT_WANTED(m, n1, n2, n3)              \
    ((n1) + (n2) + (n3) + (m) <= HT_DEGREE && \
     HT_EXCESS(n1) + HT_EXCESS(n2) + HT_EXCESS(n3) + (m) <= HT_SERIES_STAGES)

#define HT_ADD(k, x, sum) \
    (HT_UNIT_##k ? (sum) + (x) : fma(HT_RATIO_##k, x, sum))

/* (L t)(n) of the work-item's coefficient n = (own, n2, n3). next: t of the
 * cell's next work-item at own = 0. */
HT_INLINE real ht_slope(const int n3, const int n2, const int own,
                        const struct ht_edge *edge, real next, const real *t) {
    real sum = 0;
    int some = 0;
    if (n3 + 1 < HT_T3) {
        sum = HT_RATIO_3 * t[HT_POINT(n3 + 1, n2, own)];
        some = 1;
    }
    if (n2 + 1 < HT_T2) {
        const real x = t[HT_POINT(n3, n2 + 1, own)];
        sum = some ? HT_ADD(2, x, sum) : HT_RATIO_2 * x;
        some = 1;
    }
    if (own + 1 < HT_OWN) {
        const real x = t[HT_POINT(n3, n2, own + 1)];
        sum = some ? HT_ADD(1, x, sum) : HT_RATIO_1 * x;
    } else if (HT_PER_CELL > 1)
        sum = some ? fma(edge->ratio, next, sum) : edge->ratio * next;
    return sum;
}

/* Stage m: t = L t, w += weight t. The work-items of a cell run the same
 * program: all compute what the first of them wants. */
HT_INLINE void ht_registers_stage(const int m, const real weight,
                                  const struct ht_edge *edge,
                                  HT_LOCAL real *passed, real *t, real *w) {
    HT_PASS(t, passed)
    HT_UNROLL
    for (int n3 = 0; n3 < HT_T3; n3++) {
        HT_UNROLL
        for (int n2 = 0; n2 < HT_T2; n2++) {
            real next = 0;
            if (HT_PER_CELL > 1 && HT_WANTED(m, HT_OWN - 1, n2, n3))
                next = HT_PASSED(t, passed, HT_POINT(n3, n2, 0));
            HT_UNROLL
            for (int own = 0; own < HT_OWN; own++) {
                const int result = HT_RESULT(n3, n2, own);
                if (!HT_WANTED(m, own, n2, n3)) continue;
                const real sum = ht_slope(n3, n2, own, edge, next, t);
                t[HT_POINT(n3, n2, own)] = sum;
                if (n3 < HT_N3 && n2 < HT_N2 && own < HT_RESULTS_1)
                    w[result] = fma(weight, sum, w[result]);
            }
        }
    }
    HT_PASS_END()
}

/* w = the series. */
#define HT_ONE_STAGE(m, weight) \
    ht_registers_stage(m, weight, edge, passed, t, w);
HT_INLINE void ht_registers_series(const struct ht_edge *edge,
                                   HT_LOCAL real *passed, real *t, real *w) {
    HT_UNROLL
    for (int i3 = 0; i3 < HT_N3; i3++) {
        HT_UNROLL
        for (int i2 = 0; i2 < HT_N2; i2++) {
            HT_UNROLL
            for (int own = 0; own < HT_RESULTS_1; own++)
                w[HT_RESULT(i3, i2, own)] = t[HT_POINT(i3, i2, own)];
        }
    }
    HT_EACH_STAGE(HT_ONE_STAGE)
}

/* ---- the kernel ---- */

HT_INLINE void ht_registers_store(const struct ht_seat *seat,
                                  const struct ht_edge *edge, int node,
                                  long nodes, real *w, HT_GLOBAL real *dst) {
    HT_UNROLL
    for (int i3 = 0; i3 < HT_N3; i3++) {
        HT_UNROLL
        for (int i2 = 0; i2 < HT_N2; i2++) {
            HT_UNROLL
            for (int own = 0; own < HT_RESULTS_1; own++)
                w[HT_RESULT(i3, i2, own)] *=
                    edge->last[own] * (HT_LAST(1, i2) * HT_LAST(2, i3));
        }
    }
#if HT_PER_CELL == 1
    (void)seat;
    HT_UNROLL
    for (int b = 0; b < HT_NODE_PACKS; b++) {
        real v[HT_BLOCK];
        HT_UNROLL
        for (int j = 0; j < HT_BLOCK; j++) {
            const int i = b * HT_BLOCK + j;
            v[j] = i < HT_RESULTS ? w[i < HT_RESULTS ? i : 0] : (real)0;
        }
        ((HT_GLOBAL ht_pack *)dst)[b * nodes + node] = ht_packed(v);
    }
#else
    HT_GLOBAL real *at = dst + HT_AT(HT_OWN * seat->part, node, nodes);
    if (HT_OWN * seat->part >= HT_N1) return;
    HT_UNROLL
    for (int i = 0; i < HT_RESULTS; i++)
        at[i / HT_OWN * HT_N1 * nodes +
           i % HT_OWN * (HT_BLOCK > 1 ? 1 : nodes)] = w[i];
#endif
}

HT_INLINE void ht_seat_of(const struct ht_step_args *a, int item,
                          struct ht_seat *seat, struct ht_edge *edge) {
    seat->part = item % HT_PER_CELL;
    seat->target = item / HT_PER_CELL;
    const unsigned row = (unsigned)(a->end[0] - a->begin[0]);
    const unsigned last = row * (unsigned)(a->end[1] - a->begin[1]) - 1;
    const unsigned target =
        (unsigned)(HT_GROUP_1() * HT_GROUP_TARGETS + seat->target);
    const unsigned own = target < last ? target : last;
    seat->inside = target <= last;
    seat->m1 = (int)a->begin[0] + (int)(own % row);
    seat->m2 = (int)a->begin[1] + (int)(own / row);
    seat->left = seat->m1 + (int)a->shift[0];
    seat->right = seat->left + 1;
    if (seat->left >= a->period[0]) seat->left -= (int)a->period[0];
    if (seat->right >= a->period[0]) seat->right -= (int)a->period[0];
    edge->ratio = seat->part + 1 < HT_PER_CELL ? HT_RATIO_1 : (real)0;
    HT_UNROLL
    for (int n = 0; n < HT_RESULTS_1; n++)
        edge->last[n] = HT_LAST(0, (HT_OWN * seat->part + n) % HT_N1);
}

/* A face from local memory, or into it. */
HT_INLINE void ht_face_load(HT_LOCAL const ht_wide *kept, int item,
                            real *face) {
    HT_UNROLL
    for (int q = 0; q < HT_FACE_VALUES; q += HT_WIDE) {
        ht_widen(kept[q / HT_WIDE * HT_GROUP_ITEMS + item], face + q);
    }
}

HT_INLINE void ht_face_keep(const real *face, int item,
                            HT_LOCAL ht_wide *kept) {
    HT_UNROLL
    for (int q = 0; q < HT_FACE_VALUES; q += HT_WIDE) {
        kept[q / HT_WIDE * HT_GROUP_ITEMS + item] = ht_widened(face + q);
    }
}

HT_KERNEL HT_GROUP_SIZE(HT_GROUP_ITEMS) void ht_registers(
    struct ht_step_args a, HT_GLOBAL const real *HT_RESTRICT unused,
    HT_GLOBAL const real *HT_RESTRICT src0, HT_GLOBAL real *HT_RESTRICT dst0) {
    HT_LOCAL_ARRAY(
        ht_wide, kept,
        HT_SIZE_KEPT_FACES(HT_DIMS, HT_FACE_VALUES / HT_WIDE, HT_GROUP_ITEMS));
    HT_LOCAL_ARRAY(HT_VECTOR(2), turned,
                   HT_SIZE_TURNED(HT_PER_CELL, HT_T2, HT_N1, HT_GROUP_TARGETS));
    HT_LOCAL_ARRAY(
        real, passed,
        HT_SIZE_PASSED(HT_PASSES, HT_POLYNOMIAL / HT_OWN, HT_GROUP_ITEMS));
    const int begin = (int)ht_first_plane(&a), end = (int)ht_last_plane(&a);
    struct ht_seat seat;
    struct ht_edge edge;
    int item = HT_ITEM();
    (void)unused;
    (void)kept;
    ht_seat_of(&a, item, &seat, &edge);
    if (HT_PER_CELL == 1 && !seat.inside) return;
    for (int m3 = begin - (HT_DIMS > 2); m3 < end; m3++) {
        real t[HT_POLYNOMIAL], w[HT_RESULTS];
        const int p3 = m3 + (int)a.shift[2];
        if (HT_POLYNOMIAL > HT_MOST_COMFORTABLE) {
            HT_RECOMPUTE(item);
            ht_seat_of(&a, item, &seat, &edge);
        }
#if HT_DIMS > 2
        ht_registers_face(&a, &seat, p3 + 1, src0, turned, t + HT_FACE_VALUES);
        if (m3 >= begin) ht_face_load(kept, item, t);
        ht_face_keep(t + HT_FACE_VALUES, item, kept);
        if (m3 < begin) continue;
        HT_UNROLL
        for (int q = 0; q < HT_T2 * HT_OWN; q++)
            ht_scaled_line(2, HT_T2 * HT_OWN, t + q);
#else
        ht_registers_face(&a, &seat, p3, src0, turned, t);
#endif
        HT_KEEP_ORDER(); /* else other reads begin before the series ends */
        ht_registers_series(&edge, passed, t, w);
        if (HT_PER_CELL == 1 || seat.inside)
            ht_registers_store(&seat, &edge,
                               (int)ht_target_row(&a, seat.m2, m3) + seat.m1,
                               a.dst_nodes, w, dst0);
    }
}
