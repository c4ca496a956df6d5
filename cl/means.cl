/* The mean of a field of Hermite methods: sums over the nodes of a box of
 *     value = sum over c of weight[c] u[at[c]]
 * and of |value|, at: storage indices; and a shift of the first of these
 * coefficients. A node weighs half at each marked end of the box that it lies
 * on.
 *
 * Groups of the sums: first axis g, second axis a plane of the box; group g
 * takes the rows g, g + groups, .. of the plane, work-item i the nodes i, i +
 * HT_MEAN_ITEMS, .. of a row. A tree adds the work-items, the host the groups:
 * a plane's sum depends on nothing else. Sums are compensated (two-sum, Knuth,
 * The Art of Computer Programming 2, 4.2.2) in the widest type of the device.
 */
#if HT_MEAN_WIDE
typedef double ht_wide;
#else
typedef float ht_wide;
#endif
/* Entries of a group's result: sum and what it lost, sum of magnitudes. */
#define HT_MEAN_SUMS 3

/* sum[0] + sum[1] is the sum. */
HT_INLINE void ht_mean_add(ht_wide sum[HT_MEAN_SUMS], const ht_wide x) {
    const ht_wide total = sum[0] + x, back = total - sum[0];
    sum[1] += (sum[0] - (total - back)) + (x - back);
    sum[0] = total;
}

HT_INLINE ht_wide ht_mean_half(const struct ht_mean_args *s, const int axis,
                               const long m) {
    ht_wide weight = 1;
    if (s->ends[2 * axis] && m == 0) weight *= (ht_wide)0.5;
    if (s->ends[2 * axis + 1] && m == s->count[axis] - 1)
        weight *= (ht_wide)0.5;
    return weight;
}

HT_KERNEL HT_GROUP_SIZE(HT_MEAN_ITEMS) void ht_mean_sums(
    struct ht_mean_args s, HT_GLOBAL const int *HT_RESTRICT at,
    HT_GLOBAL const ht_wide *HT_RESTRICT weights,
    HT_GLOBAL const real *HT_RESTRICT u,
    HT_GLOBAL ht_wide *HT_RESTRICT results) {
    HT_LOCAL_ARRAY(ht_wide, tree, HT_MEAN_ITEMS * HT_MEAN_SUMS);
    const int item = HT_ITEM();
    const long m3 = HT_GROUP_2();
    ht_wide own[HT_MEAN_SUMS] = {0, 0, 0};
    for (long m2 = HT_GROUP_1(); m2 < s.count[1]; m2 += s.groups) {
        const ht_wide outer = ht_mean_half(&s, 1, m2) * ht_mean_half(&s, 2, m3);
        const long start = s.begin + m3 * s.plane + m2 * s.row;
        for (long m1 = item; m1 < s.count[0]; m1 += HT_MEAN_ITEMS) {
            ht_wide value = 0;
            for (int c = 0; c < s.coefs; c++)
                value +=
                    weights[c] *
                    (ht_wide)
                        u[HT_LAYOUT_AT(HT_BLOCK, at[c], start + m1, s.nodes)];
            value *= outer * ht_mean_half(&s, 0, m1);
            ht_mean_add(own, value);
            own[2] += fabs(value);
        }
    }
    HT_UNROLL
    for (int i = 0; i < HT_MEAN_SUMS; i++)
        tree[i * HT_MEAN_ITEMS + item] = own[i];
    HT_BARRIER();
    for (int width = HT_MEAN_ITEMS / 2; width > 0; width /= 2) {
        if (item < width) {
            ht_mean_add(own, tree[item + width]);
            own[1] += tree[HT_MEAN_ITEMS + item + width];
            own[2] += tree[2 * HT_MEAN_ITEMS + item + width];
            HT_UNROLL
            for (int i = 0; i < HT_MEAN_SUMS; i++)
                tree[i * HT_MEAN_ITEMS + item] = own[i];
        }
        HT_BARRIER();
    }
    if (item == 0) {
        HT_UNROLL
        for (int i = 0; i < HT_MEAN_SUMS; i++)
            results[(m3 * s.groups + HT_GROUP_1()) * HT_MEAN_SUMS + i] = own[i];
    }
}

/* u += shift for coefficient at[0] of all nodes of the window. Groups: of
 * HT_MEAN_ITEMS nodes. */
HT_KERNEL HT_GROUP_SIZE(HT_MEAN_ITEMS) void ht_mean_shift(
    struct ht_mean_args s, const real shift,
    HT_GLOBAL const int *HT_RESTRICT at, HT_GLOBAL real *HT_RESTRICT u) {
    const long node = HT_GROUP_1() * HT_MEAN_ITEMS + HT_ITEM();
    if (node < s.nodes)
        u[HT_LAYOUT_AT(HT_BLOCK, at[0], node, s.nodes)] += shift;
}
