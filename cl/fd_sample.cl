/* Values at points, from the nodes around them: of each item, the nodes of a pattern in one plane
 * of the window, the sum of w2 w1 u.
 *     item    [item][2]: its pattern, its plane
 *     node    [pattern][2 + 2 HT_FD_POINT]: nodes along x1 and along x2, their
 *             indices along x1, along x2
 *     weight  [pattern][2 HT_FD_POINT]: along x1, along x2
 *     ring    [slot][item]
 * HT_FD_POINT work-items per item, one per row of nodes; the first adds the rows in their order.
 * What is left of a group does nothing. A sum depends on its pattern and its plane alone.
 */
HT_KERNEL HT_GROUP_SIZE(HT_FD_ITEMS) void ht_fd_sample(struct ht_fd_sample_args s,
                                                       HT_GLOBAL const int *HT_RESTRICT item,
                                                       HT_GLOBAL const int *HT_RESTRICT node,
                                                       HT_GLOBAL const real *HT_RESTRICT weight,
                                                       HT_GLOBAL const real *HT_RESTRICT u,
                                                       HT_GLOBAL real *HT_RESTRICT ring) {
    HT_LOCAL_ARRAY(real, rows, HT_FD_ITEMS);
    const int each = HT_FD_ITEMS / HT_FD_POINT;
    const int lane = HT_ITEM(), line = lane % HT_FD_POINT;
    const long own = lane / HT_FD_POINT < each ? HT_GROUP_1() * each + lane / HT_FD_POINT : s.items;
    real sum = 0;
    int lines = 0;
    if (own < s.items) {
        const long pattern = item[2 * own];
        HT_GLOBAL const int *n = node + pattern * (2 + 2 * HT_FD_POINT);
        HT_GLOBAL const real *w = weight + pattern * 2 * HT_FD_POINT;
        lines = n[1];
        if (line < lines) {
            const long start = item[2 * own + 1] * s.plane + n[2 + HT_FD_POINT + line] * s.row;
            for (int i = 0; i < n[0]; i++) sum = fma(w[i], u[start + n[2 + i]], sum);
            sum *= w[HT_FD_POINT + line];
        }
    }
    rows[lane] = sum;
    HT_BARRIER();
    if (line == 0 && own < s.items) {
        real total = 0;
        for (int i = 0; i < lines; i++) total += rows[lane + i];
        ring[s.slot * s.items + own] = total;
    }
}
