/* Reductions of a field over all nodes of a box on the device:
 *     sum of (sum over i of weight_i u_i)^2 / M,   largest |u_i|,
 *     number of values that are not finite.
 * Index i covers one or several consecutive coefficients of a node. A set of weights gives the
 * value of the field at a point near the node; a node may have several points. A node on a wall
 * counts half, once per wall. Values that are not finite are counted and excluded from the sum and
 * the maximum.
 *
 * The order of summation is fixed: a work-item adds every HT_REDUCE_ITEMS-th node of its
 * work-group's range, the work-items of a group are added by a tree, and a second kernel adds the
 * groups' results in the same way. Sums are compensated (two-sum, Knuth, The Art of Computer
 * Programming 2, 4.2.2) in the widest type of the device.
 */
#if HT_REDUCE_WIDE
typedef double ht_wide;
#else
typedef float ht_wide;
#endif

/* Partial result. bad: number of values that are not finite; first: node of the first one, or the
 * number of nodes; the sum is sum + low. */
struct ht_part {
    long bad;
    long first;
    ht_wide sum;
    ht_wide low;
    ht_wide largest;
};

HT_INLINE void ht_part_add(struct ht_part *p, ht_wide x) {
    const ht_wide sum = p->sum + x, back = sum - p->sum;
    p->low += (p->sum - (sum - back)) + (x - back);
    p->sum = sum;
}

HT_INLINE void ht_part_merge(struct ht_part *p, const struct ht_part *q) {
    ht_part_add(p, q->sum);
    p->low += q->low;
    p->largest = q->largest > p->largest ? q->largest : p->largest;
    p->bad += q->bad;
    p->first = q->first < p->first ? q->first : p->first;
}

/* Merges the partial results of all work-items into that of work-item 0. */
HT_INLINE void ht_part_tree(HT_LOCAL struct ht_part *tree, const int item, struct ht_part *p) {
    tree[item] = *p;
    HT_BARRIER();
    for (int width = HT_REDUCE_ITEMS / 2; width > 0; width /= 2) {
        if (item < width) {
            struct ht_part q = tree[item + width];
            ht_part_merge(p, &q);
            tree[item] = *p;
        }
        HT_BARRIER();
    }
}

HT_INLINE ht_wide ht_weight(const struct ht_reduce_args *a, const long m[3]) {
    ht_wide weight = 1;
    for (int k = 0; k < 3; k++) {
        if (a->ends[2 * k] && m[k] == 0) weight *= (ht_wide)0.5;
        if (a->ends[2 * k + 1] && m[k] == a->nodes[k] - 1) weight *= (ht_wide)0.5;
    }
    return weight;
}

HT_KERNEL HT_GROUP_SIZE(HT_REDUCE_ITEMS) void ht_reduce_nodes(
    struct ht_reduce_args a, HT_GLOBAL const real *HT_RESTRICT u,
    HT_GLOBAL const real *HT_RESTRICT medium, HT_GLOBAL const ht_wide *HT_RESTRICT weights,
    HT_GLOBAL struct ht_part *HT_RESTRICT parts) {
    HT_LOCAL_ARRAY(struct ht_part, tree, HT_REDUCE_ITEMS);
    const int item = HT_ITEM();
    const long total = a.nodes[0] * a.nodes[1] * a.nodes[2];
    const long begin = HT_GROUP_1() * a.per_group;
    const long end = begin + a.per_group < total ? begin + a.per_group : total;
    struct ht_part p = {0, total, 0, 0, 0};
    for (long node = begin + item; node < end; node += HT_REDUCE_ITEMS) {
        const long row = node / a.nodes[0], plane = row / a.nodes[1];
        const long m[3] = {node - row * a.nodes[0], row - plane * a.nodes[1], plane};
        const long at = a.begin + m[2] * a.plane + m[1] * a.row + m[0];
        /* A fixed number of points lets the values stay in registers. */
        ht_wide value[HT_REDUCE_POINTS], squares = 0;
        HT_UNROLL
        for (int q = 0; q < HT_REDUCE_POINTS; q++) value[q] = 0;
        for (int c = 0; c < a.coefs; c++) {
            HT_GLOBAL const ht_wide *w = weights + a.weights + c * HT_REDUCE_POINTS;
            const ht_wide x = u[HT_LAYOUT_AT(HT_BLOCK, a.coef + c, at, a.total)];
            if (!isfinite(x)) {
                p.bad++;
                p.first = node < p.first ? node : p.first;
                continue;
            }
            const ht_wide size = fabs(x);
            p.largest = size > p.largest ? size : p.largest;
            HT_UNROLL
            for (int q = 0; q < HT_REDUCE_POINTS; q++) value[q] += w[q] * x;
        }
        HT_UNROLL
        for (int q = 0; q < HT_REDUCE_POINTS; q++) squares += value[q] * value[q];
        if (a.divide) squares /= (ht_wide)medium[at];
        ht_part_add(&p, ht_weight(&a, m) * squares);
    }
    ht_part_tree(tree, item, &p);
    if (item == 0) parts[HT_GROUP_1()] = p;
}

/* Launched with one work-group. */
HT_KERNEL HT_GROUP_SIZE(HT_REDUCE_ITEMS) void ht_reduce_parts(
    struct ht_reduce_args a, HT_GLOBAL const struct ht_part *HT_RESTRICT parts,
    HT_GLOBAL struct ht_part *HT_RESTRICT results) {
    HT_LOCAL_ARRAY(struct ht_part, tree, HT_REDUCE_ITEMS);
    const int item = HT_ITEM();
    struct ht_part p = {0, a.nodes[0] * a.nodes[1] * a.nodes[2], 0, 0, 0};
    for (long n = item; n < a.groups; n += HT_REDUCE_ITEMS) {
        struct ht_part q = parts[n];
        ht_part_merge(&p, &q);
    }
    ht_part_tree(tree, item, &p);
    if (item == 0) results[a.slot] = p;
}
