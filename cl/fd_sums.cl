/* Sums over the nodes of a box of a window, in one pass:
 *     sum weight x y / a,   sum weight x / a,   largest |x + level|,
 *     values x that are not finite, and the first of their nodes.
 * A node weighs half at each marked end of the box that it lies on. Groups:
 * first axis g, second axis a plane of the box; group g takes the rows g, g + groups, .. of the
 * plane. Work-item i of HT_FD_ITEMS takes the HT_FD_WIDTH nodes from i HT_FD_WIDTH on of every
 * HT_FD_ITEMS HT_FD_WIDTH nodes of a row; each of these places has sums of its own (on a CPU the
 * lanes of a vector). A tree adds the work-items, the host the groups: a plane's sum depends on
 * nothing else. Sums are compensated (two-sum, Knuth, The Art of Computer Programming 2, 4.2.2) in
 * the widest type of the device.
 */
#if HT_FD_WIDE
typedef double ht_wide;
#else
typedef float ht_wide;
#endif
/* Entries of a group's result. */
#define HT_FD_PRODUCT 0
#define HT_FD_MEAN 2
#define HT_FD_LARGEST 4
#define HT_FD_BAD 5
#define HT_FD_FIRST_ROW 6 /* of the plane, of a bad value; -1: none */
#define HT_FD_FIRST_NODE 7
#define HT_FD_SUMS 8

/* sum[0] + sum[1] is the sum. */
HT_INLINE void ht_fd_add(ht_wide sum[2], const ht_wide x) {
    const ht_wide total = sum[0] + x, back = total - sum[0];
    sum[1] += (sum[0] - (total - back)) + (x - back);
    sum[0] = total;
}

/* The earlier one of two bad nodes. */
HT_INLINE void ht_fd_first(ht_wide own[HT_FD_SUMS], const ht_wide row, const ht_wide node) {
    const int earlier =
        row < own[HT_FD_FIRST_ROW] || (row == own[HT_FD_FIRST_ROW] && node < own[HT_FD_FIRST_NODE]);
    if (row < 0 || (own[HT_FD_FIRST_ROW] >= 0 && !earlier)) return;
    own[HT_FD_FIRST_ROW] = row;
    own[HT_FD_FIRST_NODE] = node;
}

HT_INLINE ht_wide ht_fd_half(const long m, const long count, const int low, const int high) {
    ht_wide weight = 1;
    if (low && m == 0) weight *= (ht_wide)0.5;
    if (high && m == count - 1) weight *= (ht_wide)0.5;
    return weight;
}

/* Sums of one place; no branches, so that places become lanes. */
struct ht_fd_places {
    ht_wide product[2][HT_FD_WIDTH], mean[2][HT_FD_WIDTH];
    ht_wide largest[HT_FD_WIDTH], bad[HT_FD_WIDTH];
};

/* sum += x for a place. */
HT_INLINE void ht_fd_add_place(ht_wide sum[2][HT_FD_WIDTH], const int e, const ht_wide x) {
    const ht_wide total = sum[0][e] + x, back = total - sum[0][e];
    sum[1][e] += (sum[0][e] - (total - back)) + (x - back);
    sum[0][e] = total;
}

/* `places` nodes from m1 on of a row that weighs `outer`. */
HT_INLINE void ht_fd_take(const struct ht_fd_sum_args *s, const long m1, const int places,
                          const ht_wide outer, const ht_wide level, HT_GLOBAL const real *x,
                          HT_GLOBAL const real *y, HT_GLOBAL const real *a,
                          struct ht_fd_places *sums) {
    for (int e = 0; e < places; e++) {
        const ht_wide raw = x[m1 + e];
        const ht_wide value = isfinite(raw) ? raw : 0;
        const ht_wide weighted = outer * ht_fd_half(m1 + e, s->count[0], s->ends[0], s->ends[1]) *
                                 value / (ht_wide)a[m1 + e];
        sums->bad[e] += isfinite(raw) ? 0 : 1;
        sums->largest[e] = fmax(sums->largest[e], fabs(value + level));
        ht_fd_add_place(sums->product, e, weighted * (ht_wide)y[m1 + e]);
        ht_fd_add_place(sums->mean, e, weighted);
    }
}

/* The places of a work-item. */
HT_INLINE void ht_fd_join(const struct ht_fd_places *sums, ht_wide own[HT_FD_SUMS]) {
    HT_UNROLL
    for (int e = 0; e < HT_FD_WIDTH; e++) {
        ht_fd_add(own + HT_FD_PRODUCT, sums->product[0][e]);
        own[HT_FD_PRODUCT + 1] += sums->product[1][e];
        ht_fd_add(own + HT_FD_MEAN, sums->mean[0][e]);
        own[HT_FD_MEAN + 1] += sums->mean[1][e];
        own[HT_FD_LARGEST] = fmax(own[HT_FD_LARGEST], sums->largest[e]);
        own[HT_FD_BAD] += sums->bad[e];
    }
}

/* The first bad node of a work-item that has one. */
HT_INLINE void ht_fd_find(const struct ht_fd_sum_args *s, HT_GLOBAL const real *x,
                          ht_wide own[HT_FD_SUMS]) {
    for (long m2 = HT_GROUP_1(); m2 < s->count[1]; m2 += s->groups)
        for (long m1 = 0; m1 < s->count[0]; m1++)
            if (m1 / HT_FD_WIDTH % HT_FD_ITEMS == HT_ITEM() &&
                !isfinite(x[s->begin + HT_GROUP_2() * s->plane + m2 * s->row + m1])) {
                own[HT_FD_FIRST_ROW] = (ht_wide)m2;
                own[HT_FD_FIRST_NODE] = (ht_wide)m1;
                return;
            }
}

HT_KERNEL HT_GROUP_SIZE(HT_FD_ITEMS) void ht_fd_sums(struct ht_fd_sum_args s, const ht_wide level,
                                                     HT_GLOBAL const real *HT_RESTRICT x,
                                                     HT_GLOBAL const real *HT_RESTRICT y,
                                                     HT_GLOBAL const real *HT_RESTRICT a,
                                                     HT_GLOBAL ht_wide *HT_RESTRICT results) {
    HT_LOCAL_ARRAY(ht_wide, tree, HT_FD_ITEMS * HT_FD_SUMS);
    const int lane = HT_ITEM();
    struct ht_fd_places sums;
    ht_wide own[HT_FD_SUMS];
    for (int e = 0; e < HT_FD_WIDTH; e++) {
        sums.product[0][e] = sums.product[1][e] = 0;
        sums.mean[0][e] = sums.mean[1][e] = 0;
        sums.largest[e] = sums.bad[e] = 0;
    }
    HT_UNROLL
    for (int i = 0; i < HT_FD_SUMS; i++) own[i] = 0;
    own[HT_FD_FIRST_ROW] = -1;
    const long m3 = HT_GROUP_2();
    for (long m2 = HT_GROUP_1(); m2 < s.count[1]; m2 += s.groups) {
        const ht_wide outer = ht_fd_half(m2, s.count[1], s.ends[2], s.ends[3]) *
                              ht_fd_half(m3, s.count[2], s.ends[4], s.ends[5]);
        const long at = s.begin + m3 * s.plane + m2 * s.row;
        long m1 = (long)lane * HT_FD_WIDTH;
        for (; m1 + HT_FD_WIDTH <= s.count[0]; m1 += HT_FD_ITEMS * HT_FD_WIDTH)
            ht_fd_take(&s, m1, HT_FD_WIDTH, outer, level, x + at, y + at, a + at, &sums);
        if (m1 < s.count[0])
            ht_fd_take(&s, m1, (int)(s.count[0] - m1), outer, level, x + at, y + at, a + at, &sums);
    }
    ht_fd_join(&sums, own);
    if (own[HT_FD_BAD] > 0) ht_fd_find(&s, x, own);
    HT_UNROLL
    for (int i = 0; i < HT_FD_SUMS; i++) tree[i * HT_FD_ITEMS + lane] = own[i];
    HT_BARRIER();
    for (int width = HT_FD_ITEMS / 2; width > 0; width /= 2) {
        if (lane < width) {
            ht_wide other[HT_FD_SUMS];
            HT_UNROLL
            for (int i = 0; i < HT_FD_SUMS; i++) other[i] = tree[i * HT_FD_ITEMS + lane + width];
            ht_fd_add(own + HT_FD_PRODUCT, other[HT_FD_PRODUCT]);
            own[HT_FD_PRODUCT + 1] += other[HT_FD_PRODUCT + 1];
            ht_fd_add(own + HT_FD_MEAN, other[HT_FD_MEAN]);
            own[HT_FD_MEAN + 1] += other[HT_FD_MEAN + 1];
            own[HT_FD_LARGEST] = other[HT_FD_LARGEST] > own[HT_FD_LARGEST] ? other[HT_FD_LARGEST]
                                                                           : own[HT_FD_LARGEST];
            own[HT_FD_BAD] += other[HT_FD_BAD];
            ht_fd_first(own, other[HT_FD_FIRST_ROW], other[HT_FD_FIRST_NODE]);
            HT_UNROLL
            for (int i = 0; i < HT_FD_SUMS; i++) tree[i * HT_FD_ITEMS + lane] = own[i];
        }
        HT_BARRIER();
    }
    if (lane == 0)
        for (int i = 0; i < HT_FD_SUMS; i++)
            results[(m3 * s.groups + HT_GROUP_1()) * HT_FD_SUMS + i] = own[i];
}

/* x += shift at the nodes of the box. Groups as above. */
HT_KERNEL HT_GROUP_SIZE(HT_FD_ITEMS) void ht_fd_shift(struct ht_fd_sum_args s, const real shift,
                                                      HT_GLOBAL real *HT_RESTRICT x) {
    for (long m2 = HT_GROUP_1(); m2 < s.count[1]; m2 += s.groups) {
        const long start = s.begin + HT_GROUP_2() * s.plane + m2 * s.row;
        for (long m1 = HT_ITEM(); m1 < s.count[0]; m1 += HT_FD_ITEMS) x[start + m1] += shift;
    }
}
