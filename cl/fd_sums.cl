/* Sums over the nodes of a box of a window, in one pass:
 *     sum weight x y / a,   sum weight x / a,   largest |x|,
 *     values x that are not finite, and the first of their nodes.
 * A node weighs half at each marked end of the box that it lies on. Groups:
 * first axis g, second axis a plane of the box; group g takes the rows g, g +
 * groups,
 * .. of the plane, a work-item every HT_FD_ITEMS-th node of a row. A tree adds
 * the work-items, the host the groups: a plane's sum depends on nothing else.
 * Sums are compensated (two-sum, Knuth, The Art of Computer
 * Programming 2, 4.2.2) in the widest type of the device.
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
HT_INLINE void ht_fd_first(ht_wide own[HT_FD_SUMS], const ht_wide row,
                           const ht_wide node) {
    const int earlier =
        row < own[HT_FD_FIRST_ROW] ||
        (row == own[HT_FD_FIRST_ROW] && node < own[HT_FD_FIRST_NODE]);
    if (row < 0 || (own[HT_FD_FIRST_ROW] >= 0 && !earlier)) return;
    own[HT_FD_FIRST_ROW] = row;
    own[HT_FD_FIRST_NODE] = node;
}

HT_INLINE ht_wide ht_fd_half(const long m, const long count, const int low,
                             const int high) {
    ht_wide weight = 1;
    if (low && m == 0) weight *= (ht_wide)0.5;
    if (high && m == count - 1) weight *= (ht_wide)0.5;
    return weight;
}

HT_KERNEL HT_GROUP_SIZE(HT_FD_ITEMS) void ht_fd_sums(
    struct ht_fd_sum_args s, HT_GLOBAL const real *HT_RESTRICT x,
    HT_GLOBAL const real *HT_RESTRICT y, HT_GLOBAL const real *HT_RESTRICT a,
    HT_GLOBAL ht_wide *HT_RESTRICT results) {
    HT_LOCAL_ARRAY(ht_wide, tree, HT_FD_ITEMS * HT_FD_SUMS);
    const int lane = HT_ITEM();
    ht_wide own[HT_FD_SUMS];
    HT_UNROLL
    for (int i = 0; i < HT_FD_SUMS; i++) own[i] = 0;
    own[HT_FD_FIRST_ROW] = -1;
    const long m3 = HT_GROUP_2();
    for (long m2 = HT_GROUP_1(); m2 < s.count[1]; m2 += s.groups) {
        const ht_wide outer = ht_fd_half(m2, s.count[1], s.ends[2], s.ends[3]) *
                              ht_fd_half(m3, s.count[2], s.ends[4], s.ends[5]);
        const long start = s.begin + m3 * s.plane + m2 * s.row;
        for (long m1 = lane; m1 < s.count[0]; m1 += HT_FD_ITEMS) {
            const ht_wide value = x[start + m1];
            const ht_wide weight =
                outer * ht_fd_half(m1, s.count[0], s.ends[0], s.ends[1]) /
                (ht_wide)a[start + m1];
            if (!isfinite(value)) {
                own[HT_FD_BAD] += 1;
                ht_fd_first(own, (ht_wide)m2, (ht_wide)m1);
                continue;
            }
            const ht_wide size = fabs(value);
            own[HT_FD_LARGEST] =
                size > own[HT_FD_LARGEST] ? size : own[HT_FD_LARGEST];
            ht_fd_add(own + HT_FD_PRODUCT,
                      weight * value * (ht_wide)y[start + m1]);
            ht_fd_add(own + HT_FD_MEAN, weight * value);
        }
    }
    HT_UNROLL
    for (int i = 0; i < HT_FD_SUMS; i++) tree[i * HT_FD_ITEMS + lane] = own[i];
    HT_BARRIER();
    for (int width = HT_FD_ITEMS / 2; width > 0; width /= 2) {
        if (lane < width) {
            ht_wide other[HT_FD_SUMS];
            HT_UNROLL
            for (int i = 0; i < HT_FD_SUMS; i++)
                other[i] = tree[i * HT_FD_ITEMS + lane + width];
            ht_fd_add(own + HT_FD_PRODUCT, other[HT_FD_PRODUCT]);
            own[HT_FD_PRODUCT + 1] += other[HT_FD_PRODUCT + 1];
            ht_fd_add(own + HT_FD_MEAN, other[HT_FD_MEAN]);
            own[HT_FD_MEAN + 1] += other[HT_FD_MEAN + 1];
            own[HT_FD_LARGEST] = other[HT_FD_LARGEST] > own[HT_FD_LARGEST]
                                     ? other[HT_FD_LARGEST]
                                     : own[HT_FD_LARGEST];
            own[HT_FD_BAD] += other[HT_FD_BAD];
            ht_fd_first(own, other[HT_FD_FIRST_ROW], other[HT_FD_FIRST_NODE]);
            HT_UNROLL
            for (int i = 0; i < HT_FD_SUMS; i++)
                tree[i * HT_FD_ITEMS + lane] = own[i];
        }
        HT_BARRIER();
    }
    if (lane == 0)
        for (int i = 0; i < HT_FD_SUMS; i++)
            results[(m3 * s.groups + HT_GROUP_1()) * HT_FD_SUMS + i] = own[i];
}

/* x += shift at the nodes of the box. Groups as above. */
HT_KERNEL HT_GROUP_SIZE(HT_FD_ITEMS) void ht_fd_shift(
    struct ht_fd_sum_args s, const real shift, HT_GLOBAL real *HT_RESTRICT x) {
    for (long m2 = HT_GROUP_1(); m2 < s.count[1]; m2 += s.groups) {
        const long start = s.begin + HT_GROUP_2() * s.plane + m2 * s.row;
        for (long m1 = HT_ITEM(); m1 < s.count[0]; m1 += HT_FD_ITEMS)
            x[start + m1] += shift;
    }
}
