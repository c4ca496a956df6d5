/* Sums over the nodes of a box of a window, in one pass:
 *     sum weight x y / a,   sum weight x / a  (0 where a is),   largest |x + level|,
 *     values x that are not finite, and the first of their nodes;
 * of Hermite methods (HT_SUM_POINTS > 1) the first is sum weight v^2 / a over the values v at some
 * points about each node, sums of weights times coefficients x, and there is no second one.
 * A node weighs half at each marked end of the box that it lies on; with HT_SUM_CLOSED nodes near
 * an end may have weights of their own. Groups: first axis g, second
 * axis a plane of the box; rows are cut into pieces of HT_SUM_PIECE nodes, and group g takes the
 * pieces g, g + groups, .. of the plane. Work-item i of HT_TOOL_ITEMS takes the HT_SUM_WIDTH nodes
 * from i HT_SUM_WIDTH on of every HT_TOOL_ITEMS HT_SUM_WIDTH nodes of a piece; each of these places
 * has sums of its own (on a CPU the lanes of a vector). A tree adds the work-items, the host the
 * groups: a plane's sum depends on nothing else. Sums are compensated (two-sum, Knuth, The Art of
 * Computer Programming 2, 4.2.2) in the widest type of the device. */
#if HT_SUM_WIDE
typedef double ht_wide;
#else
typedef float ht_wide;
#endif
/* Entries of a group's result; those that come in two are the sum of both. */
#define HT_SUM_PRODUCT 0
#define HT_SUM_MEAN 2
#define HT_SUM_LARGEST 4
#define HT_SUM_BAD 5
#define HT_SUM_FIRST_ROW 6 /* of the plane, of a bad value; -1: none */
#define HT_SUM_FIRST_NODE 7
#define HT_SUM_ENTRIES 8

/* *sum + *rest is the sum. */
HT_INLINE void ht_sum_add(ht_wide *sum, ht_wide *rest, const ht_wide x) {
    const ht_wide total = *sum + x, back = total - *sum;
    *rest += (*sum - (total - back)) + (x - back);
    *sum = total;
}

/* Adds the result of others. */
HT_INLINE void ht_sum_join(ht_wide own[HT_SUM_ENTRIES], const ht_wide other[HT_SUM_ENTRIES]) {
    for (int i = HT_SUM_PRODUCT; i <= HT_SUM_MEAN; i += 2) {
        ht_sum_add(own + i, own + i + 1, other[i]);
        own[i + 1] += other[i + 1];
    }
    own[HT_SUM_LARGEST] = fmax(own[HT_SUM_LARGEST], other[HT_SUM_LARGEST]);
    own[HT_SUM_BAD] += other[HT_SUM_BAD];
}

/* Of a node that is number m from an end; w: of ends marked by more than 1. */
HT_INLINE ht_wide ht_sum_end(const long m, const int end, HT_GLOBAL const ht_wide *w) {
    if (HT_SUM_CLOSED && end > 1)
        return m < end % HT_SUM_ENDS ? w[end / HT_SUM_ENDS + m] : (ht_wide)1;
    return end && m == 0 ? (ht_wide)0.5 : (ht_wide)1;
}

HT_INLINE ht_wide ht_sum_weight(const struct ht_sum_args *s, const int axis, const long m,
                                HT_GLOBAL const ht_wide *w) {
    return ht_sum_end(m, s->ends[2 * axis], w) *
           ht_sum_end(s->count[axis] - 1 - m, s->ends[2 * axis + 1], w);
}

/* Sums of the places; no branches, so that places become lanes. */
struct ht_sum_places {
    ht_wide product[2][HT_SUM_WIDTH], mean[2][HT_SUM_WIDTH];
    ht_wide largest[HT_SUM_WIDTH], bad[HT_SUM_WIDTH];
};

/* The sums of node number `at`, which weighs `weight`, in place e. */
HT_INLINE void ht_sum_node(const struct ht_sum_args *s, const int e, const long at,
                           const ht_wide weight, const ht_wide level, HT_GLOBAL const real *x,
                           HT_GLOBAL const real *y, HT_GLOBAL const real *a,
                           HT_GLOBAL const ht_wide *w, struct ht_sum_places *sums) {
#if HT_SUM_POINTS > 1
    /* A fixed number of points lets the values stay in registers. */
    ht_wide value[HT_SUM_POINTS], squares = 0;
    HT_UNROLLED(q, HT_SUM_POINTS) value[q] = 0;
    for (int c = 0; c < s->coefs; c++) {
        const ht_wide raw = x[HT_LAYOUT_AT(HT_BLOCK, s->coef + c, at, s->total)];
        const ht_wide one = isfinite(raw) ? raw : 0;
        sums->bad[e] += isfinite(raw) ? 0 : 1;
        sums->largest[e] = fmax(sums->largest[e], fabs(one + level));
        HT_UNROLLED(q, HT_SUM_POINTS) value[q] += w[c * HT_SUM_POINTS + q] * one;
    }
    HT_UNROLLED(q, HT_SUM_POINTS) squares += value[q] * value[q];
    ht_sum_add(&sums->product[0][e], &sums->product[1][e],
               weight * squares / (s->divide ? (ht_wide)a[at] : 1));
#else
    const ht_wide raw = x[at];
    const ht_wide value = isfinite(raw) ? raw : 0;
    const ht_wide by = s->divide ? (ht_wide)a[at] : 1;
    const ht_wide weighted = by != 0 ? weight * value / by : 0;
    sums->bad[e] += isfinite(raw) ? 0 : 1;
    sums->largest[e] = fmax(sums->largest[e], fabs(value + level));
    ht_sum_add(&sums->product[0][e], &sums->product[1][e], weighted * (ht_wide)y[at]);
    ht_sum_add(&sums->mean[0][e], &sums->mean[1][e], weighted);
#endif
}

/* Whether a node has a value that is not finite. */
HT_INLINE int ht_sum_is_bad(const struct ht_sum_args *s, const long at, HT_GLOBAL const real *x) {
    const int coefs = HT_SUM_POINTS > 1 ? s->coefs : 1;
    int bad = 0;
    for (int c = 0; c < coefs; c++)
        bad |= !isfinite(x[HT_LAYOUT_AT(HT_BLOCK, s->coef + c, at, s->total)]);
    return bad;
}

/* `places` nodes from m1 on of a row that weighs `outer`. */
HT_INLINE void ht_sum_take(const struct ht_sum_args *s, const long row, const long m1,
                           const int places, const ht_wide outer, const ht_wide level,
                           HT_GLOBAL const real *x, HT_GLOBAL const real *y,
                           HT_GLOBAL const real *a, HT_GLOBAL const ht_wide *w,
                           struct ht_sum_places *sums) {
    for (int e = 0; e < places; e++) {
        const ht_wide weight = outer * ht_sum_weight(s, 0, m1 + e, w);
        ht_sum_node(s, e, row + m1 + e, weight, level, x, y, a, w, sums);
    }
}

/* Pieces of a row. */
HT_INLINE long ht_sum_pieces(const struct ht_sum_args *s) {
    return (s->count[0] + HT_SUM_PIECE - 1) / HT_SUM_PIECE;
}

/* The first bad node of a group. */
HT_INLINE void ht_sum_find(const struct ht_sum_args *s, HT_GLOBAL const real *x,
                           ht_wide own[HT_SUM_ENTRIES]) {
    const long pieces = ht_sum_pieces(s);
    for (long i = HT_GROUP_1(); i < s->count[1] * pieces; i += s->groups) {
        const long m2 = i / pieces, first = i % pieces * HT_SUM_PIECE;
        const long row = s->begin + HT_GROUP_2() * s->plane + m2 * s->row;
        for (long m1 = first; m1 < s->count[0] && m1 < first + HT_SUM_PIECE; m1++)
            if (ht_sum_is_bad(s, row + m1, x)) {
                own[HT_SUM_FIRST_ROW] = (ht_wide)m2;
                own[HT_SUM_FIRST_NODE] = (ht_wide)m1;
                return;
            }
    }
}

HT_TOOL_KERNEL ht_sums(struct ht_sum_args s, const ht_wide level, HT_INPUT(real) x,
                       HT_INPUT(real) y, HT_INPUT(real) a, HT_INPUT(ht_wide) weights,
                       HT_OUTPUT(ht_wide) results) {
    HT_LOCAL_ARRAY(ht_wide, tree, HT_TOOL_ITEMS * HT_SUM_ENTRIES);
    const int lane = HT_ITEM();
    const long m3 = HT_GROUP_2(), pieces = ht_sum_pieces(&s);
    struct ht_sum_places sums;
    ht_wide own[HT_SUM_ENTRIES], other[HT_SUM_ENTRIES];
    for (int e = 0; e < HT_SUM_WIDTH; e++) {
        sums.product[0][e] = sums.product[1][e] = 0;
        sums.mean[0][e] = sums.mean[1][e] = 0;
        sums.largest[e] = sums.bad[e] = 0;
    }
    for (long i = HT_GROUP_1(); i < s.count[1] * pieces; i += s.groups) {
        const long m2 = i / pieces, first = i % pieces * HT_SUM_PIECE;
        const long end = first + HT_SUM_PIECE < s.count[0] ? first + HT_SUM_PIECE : s.count[0];
        const ht_wide outer = ht_sum_weight(&s, 1, m2, weights + s.weights) *
                              ht_sum_weight(&s, 2, m3, weights + s.weights);
        const long row = s.begin + m3 * s.plane + m2 * s.row;
        long m1 = first + (long)lane * HT_SUM_WIDTH;
        for (; m1 + HT_SUM_WIDTH <= end; m1 += HT_TOOL_ITEMS * HT_SUM_WIDTH)
            ht_sum_take(&s, row, m1, HT_SUM_WIDTH, outer, level, x, y, a, weights + s.weights,
                        &sums);
        if (m1 < end)
            ht_sum_take(&s, row, m1, (int)(end - m1), outer, level, x, y, a, weights + s.weights,
                        &sums);
    }
    HT_UNROLLED(i, HT_SUM_ENTRIES) own[i] = other[i] = 0;
    HT_UNROLLED(e, HT_SUM_WIDTH) {
        for (int i = 0; i < 2; i++) {
            other[HT_SUM_PRODUCT + i] = sums.product[i][e];
            other[HT_SUM_MEAN + i] = sums.mean[i][e];
        }
        other[HT_SUM_LARGEST] = sums.largest[e];
        other[HT_SUM_BAD] = sums.bad[e];
        ht_sum_join(own, other);
    }
    HT_UNROLLED(i, HT_SUM_ENTRIES) tree[i * HT_TOOL_ITEMS + lane] = own[i];
    HT_BARRIER();
    for (int width = HT_TOOL_ITEMS / 2; width > 0; width /= 2) {
        if (lane < width) {
            HT_UNROLLED(i, HT_SUM_ENTRIES) other[i] = tree[i * HT_TOOL_ITEMS + lane + width];
            ht_sum_join(own, other);
            HT_UNROLLED(i, HT_SUM_ENTRIES) tree[i * HT_TOOL_ITEMS + lane] = own[i];
        }
        HT_BARRIER();
    }
    if (lane == 0) {
        own[HT_SUM_FIRST_ROW] = -1;
        if (own[HT_SUM_BAD] > 0) ht_sum_find(&s, x, own);
        for (int i = 0; i < HT_SUM_ENTRIES; i++)
            results[(s.slot + m3 * s.groups + HT_GROUP_1()) * HT_SUM_ENTRIES + i] = own[i];
    }
}
