/* Sizes, work-items and access to the source nodes, shared by the step kernels.
 *
 * A work-group computes HT_CELLS neighbouring targets along x1 in one x2 row and marches along x3.
 * Each target has HT_T1 * HT_T2 work-items; work-item (n2, n1) holds the column of polynomial
 * coefficients n3 = 0..HT_T3-1 of every field. Axes beyond HT_DIMS have one coefficient.
 *
 *          n1 = 0 1 .. T1-1 | 0 1 .. T1-1 |          item =
 *     n2 = 0    . .    .    | . .    .    |            (cell * T2 + n2) * T1
 *          :    cell 0      | cell 1      | ...        + n1
 *          T2-1 . .    .    | . .    .    |
 *
 * The host writes the lists, each entry X(..) once:
 *
 *     HT_EACH_SRC(X), _DST(X)       X(slot, field): stored on the source, on the target grid
 *     HT_EACH_EXCHANGED(X)          X(slot, field): cl/evolve.cl
 *     HT_EACH_MATERIAL(X)           X(m): those that are read
 *     HT_EACH_GROUP(X)              X(group, row, material); _CONSTANT_GROUP(X): of degree 0
 *     HT_EACH_PLAIN_GROUP(X)        X(group, row): without a material
 *     HT_EACH_TERM(X)               X(term, row, col, axis, derivative, group, slot of col)
 *     HT_EACH_PROFILE_TERM(X)       X(term, row, col, its axis, derivative, material, slot) */
#define HT_N1 (HT_ORDER + 1)
#define HT_T1 (2 * HT_N1)
#define HT_N2 (HT_DIMS > 1 ? HT_N1 : 1)
#define HT_T2 (HT_DIMS > 1 ? HT_T1 : 1)
#define HT_N3 (HT_DIMS > 2 ? HT_N1 : 1)
#define HT_T3 (HT_DIMS > 2 ? HT_T1 : 1)
#define HT_COLUMN (HT_T1 * HT_T2)
#define HT_ITEMS (HT_COLUMN * HT_CELLS)
#define HT_CUBE (HT_COLUMN * HT_T3)

#if HT_SORTED
#define HT_AT(i, node, nodes) HT_LAYOUT_AT(HT_BLOCK, ht_storage_index[i], node, nodes)
#else
#define HT_AT(i, node, nodes) HT_LAYOUT_AT(HT_BLOCK, i, node, nodes)
#endif

/* One pointer per stored field: as parameters, as arguments, and selected by number. Slots number
 * the fields that a grid stores. */
#define HT_SRC_PARAM(slot, f) , HT_INPUT(real) src##slot
#define HT_DST_PARAM(slot, f) , HT_OUTPUT(real) dst##slot
#define HT_POLY_PARAM(slot, f) , HT_OUTPUT(real) poly##slot
#define HT_MEDIUM_PARAM(m) , HT_INPUT(real) medium##m
#define HT_STEP_PARAMS(values) \
    struct ht_step_args a, HT_INPUT(real) values HT_EACH_SRC(HT_SRC_PARAM) HT_EACH_DST(HT_DST_PARAM)
#define HT_SRC_ARG(slot, f) , src##slot
#define HT_DST_ARG(slot, f) , dst##slot
#define HT_MEDIUM_ARG(m) , medium##m
#define HT_SRC_CHOOSE(slot, f) chosen = field == slot ? src##slot : chosen;
#define HT_DST_CHOOSE(slot, f) chosen = field == slot ? dst##slot : chosen;
#define HT_CHOOSE_SRC                    \
    HT_GLOBAL const real *chosen = src0; \
    HT_EACH_SRC(HT_SRC_CHOOSE)
#define HT_CHOOSE_DST              \
    HT_GLOBAL real *chosen = dst0; \
    HT_EACH_DST(HT_DST_CHOOSE)

/* Values of material m in a cell. */
#define HT_COEFS_OF(m) \
    (HT_MEDIUM_DEGREE > 0 && !(HT_CONSTANT_MATERIALS >> (m)&1) ? HT_MEDIUM_COEFS : 1)

/* Source index i of an axis, wrapped if the window is periodic along it. */
HT_INLINE long ht_closed(const struct ht_step_args *a, const int axis, long i) {
    return i < a->period[axis] ? i : i - a->period[axis];
}

/* Number of the source node at index 0 of the row (i2, i3). */
HT_INLINE long ht_source_row(const struct ht_step_args *a, long i2, long i3) {
    long row = 0;
    if (HT_DIMS > 1) row += ht_closed(a, 1, i2) * a->src_row;
    if (HT_DIMS > 2) row += ht_closed(a, 2, i3) * a->src_plane;
    return row;
}

/* Number of the target node at index 0 of the row (m2, m3). */
HT_INLINE long ht_target_row(const struct ht_step_args *a, long m2, long m3) {
    return m3 * a->dst_plane + m2 * a->dst_row;
}

#if HT_MEMORY > 0
/* Number of a node in the part that holds the memory variables of a layer. */
HT_INLINE long ht_part_node(const struct ht_part_place *p, long m1, long m2, long m3) {
    return m3 * p->plane + m2 * p->row + m1 - p->first;
}

#endif

/* x3 planes [first, last) of targets that a work-group computes one after the other. */
HT_INLINE long ht_first_plane(const struct ht_step_args *a) {
    return a->begin[2] + HT_GROUP_3() * a->march;
}
HT_INLINE long ht_last_plane(const struct ht_step_args *a) {
    const long last = ht_first_plane(a) + a->march;
    return last < a->end[2] ? last : a->end[2];
}

/* Hermite interpolant of one line from scaled derivatives at its two ends:
 * in[0..N] left, in[N+1..2N+1] right; out[0..2N+1] about the midpoint. The even coefficients depend
 * only on sums and the odd ones only on differences of the ends, up to the sign (-1)^i, so half the
 * multiplications of the full matrix suffice. */
#define HT_LINE(number, in, out, stride)                                           \
    number even[HT_N1], odd[HT_N1];                                                \
    HT_UNROLLED(i, HT_N1) {                                                        \
        const number lower = in[i * (stride)], right = in[(HT_N1 + i) * (stride)]; \
        const number left = i % 2 ? -lower : lower;                                \
        even[i] = (real)0.5 * (right + left);                                      \
        odd[i] = (real)0.5 * (right - left);                                       \
    }                                                                              \
    HT_UNROLLED(m, HT_N1) {                                                        \
        number e = 0, o = 0;                                                       \
        HT_UNROLLED(i, HT_N1) {                                                    \
            e = fma((number)ht_even[m * HT_N1 + i], even[i], e);                   \
            o = fma((number)ht_odd[m * HT_N1 + i], odd[i], o);                     \
        }                                                                          \
        out[2 * m * (stride)] = e;                                                 \
        out[(2 * m + 1) * (stride)] = o;                                           \
    }
HT_INLINE void ht_line(const real *in, real *out){HT_LINE(real, in, out, 1)}

/* Trimming: whether coefficient (n1, n2, s) of w at stage k can reach an output coefficient. The
 * k - 1 remaining applications of L lower the total degree by k - 1 +- HT_SLACK, and each index by
 * at most as much. Products with polynomials of the medium raise indices: there only the upper
 * limit holds. */
HT_INLINE int ht_needed(int k, int n1, int n2, int s) {
#if HT_TRIM
    const int excess = (n1 > HT_ORDER ? n1 - HT_ORDER : 0) + (n2 > HT_ORDER ? n2 - HT_ORDER : 0) +
                       (s > HT_ORDER ? s - HT_ORDER : 0);
    const int fewest = HT_MEDIUM_DEGREE > 0 ? 0 : k - 1 - HT_SLACK;
    return excess <= k - 1 + HT_SLACK && fewest <= n1 + n2 + s;
#else
    return 1;
#endif
}
