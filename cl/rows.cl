/* Rows of sparse weights times a field's coefficients at HT_ROW_NODES nodes:
 *     node    [row][HT_ROW_NODES]: numbers in the window
 *     weight  [row][storage index][HT_ROW_NODES]
 *     ring    [slot][row]
 * A work-group of HT_ROW_ITEMS, a power of two, for each row: sums of every HT_ROW_ITEMS-th
 * product, then of these by halves. A sum depends on its row and the values alone, not on the
 * window.
 */
#define HT_ROW_VALUES (HT_ROW_COEFS * HT_ROW_NODES)

HT_KERNEL HT_GROUP_SIZE(HT_ROW_ITEMS) void ht_rows(struct ht_rows_args s,
                                                   HT_GLOBAL const long *HT_RESTRICT node,
                                                   HT_GLOBAL const real *HT_RESTRICT weight,
                                                   HT_GLOBAL const real *HT_RESTRICT u,
                                                   HT_GLOBAL real *HT_RESTRICT ring) {
    HT_LOCAL_ARRAY(real, part, HT_ROW_ITEMS);
    const int item = HT_ITEM();
    const long row = s.first + HT_GROUP_1();
    real sum = 0;
    for (int n = item; n < HT_ROW_VALUES; n += HT_ROW_ITEMS) {
        const long at = node[row * HT_ROW_NODES + n % HT_ROW_NODES];
        sum = fma(weight[row * HT_ROW_VALUES + n],
                  u[HT_LAYOUT_AT(HT_BLOCK, n / HT_ROW_NODES, at, s.nodes)], sum);
    }
    part[item] = sum;
    for (int step = HT_ROW_ITEMS / 2; step > 0; step /= 2) {
        HT_BARRIER();
        if (item < step) part[item] += part[item + step];
    }
    if (item == 0) ring[s.slot * s.rows + row] = part[0];
}
