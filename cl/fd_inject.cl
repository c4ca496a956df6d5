/* Adds sources to an array or to two: a work-item per node, which adds the sources that reach it in
 * the order of its list,
 *     x[at[i]] += sign sum over e of weight[e] table[row + column[e]],
 * begin[i] <= e < begin[i + 1]. No node stands in the list twice.
 */
HT_KERNEL HT_GROUP_SIZE(HT_FD_ITEMS) void ht_fd_inject(struct ht_fd_inject_args s, const real sign,
                                                       HT_GLOBAL const long *HT_RESTRICT at,
                                                       HT_GLOBAL const int *HT_RESTRICT begin,
                                                       HT_GLOBAL const int *HT_RESTRICT column,
                                                       HT_GLOBAL const real *HT_RESTRICT weight,
                                                       HT_GLOBAL const real *HT_RESTRICT table,
                                                       HT_GLOBAL real *x, HT_GLOBAL real *y) {
    const long item = HT_GROUP_1() * HT_FD_ITEMS + HT_ITEM();
    if (item >= s.count) return;
    const long i = s.first + item;
    real sum = 0;
    for (int e = begin[i]; e < begin[i + 1]; e++) sum += weight[e] * table[s.row + column[e]];
    x[at[i]] += sign * sum;
    if (s.both) y[at[i]] += sign * sum;
}
