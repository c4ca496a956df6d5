/* Rows of sparse weights times an array's coefficients at HT_ROW_NODES nodes of HT_ROW_LINES lines,
 * with a factor for each line:
 *     from    [row][2]: its pattern, the node from which that counts
 *     node    [pattern][HT_ROW_NODES + HT_ROW_LINES]: numbers of nodes and lines, from there on
 *     weight  [pattern][storage index][HT_ROW_NODES], then [HT_ROW_LINES]
 *     ring    [slot][row]
 * HT_ROW_ITEMS work-items, a power of two, for each row: sums of every HT_ROW_ITEMS-th product,
 * then of these by halves. On CPUs a work-item takes HT_ROW_TURN rows and adds in the same order. A
 * sum depends on its row and the values alone, not on the window. */
#define HT_ROW_VALUES (HT_ROW_COEFS * HT_ROW_NODES)

#if HT_TOOL_ITEMS == 1
/* part[item] += product `from` + item of a row, of all items that there are. even: the row's nodes
 * follow each other, so that a line's are read at once. */
HT_INLINE void ht_row_parts(long all, long start, int from, bool even, HT_INPUT(int) node,
                            HT_INPUT(real) weight, HT_INPUT(real) u, real *part) {
    const int rest = HT_ROW_VALUES - from, items = rest < HT_ROW_ITEMS ? rest : HT_ROW_ITEMS;
    real across[HT_ROW_ITEMS];
    for (int item = 0; item < HT_ROW_ITEMS; item++) across[item] = 0;
    for (int line = 0; line < HT_ROW_LINES; line++) {
        const long first = start + node[HT_ROW_NODES + line];
        const real factor = weight[HT_ROW_VALUES + line];
        HT_UNROLL
        for (int item = 0; item < HT_ROW_ITEMS; item++) {
            if (item >= items) continue;
            const int n = from + item, of = HT_ROW_COEFS == 1 ? n : n % HT_ROW_NODES;
            const long at = even ? first + node[0] + of : first + node[of];
            across[item] =
                fma(factor, u[HT_LAYOUT_AT(HT_BLOCK, n / HT_ROW_NODES, at, all)], across[item]);
        }
    }
    HT_UNROLL
    for (int item = 0; item < HT_ROW_ITEMS; item++)
        if (item < items) part[item] = fma(weight[from + item], across[item], part[item]);
}
#else
/* Sum of every HT_ROW_ITEMS-th product of a row from `item` on. */
HT_INLINE real ht_row_part(const struct ht_rows_args *s, long row, int item, HT_INPUT(int) node,
                           HT_INPUT(long) from, HT_INPUT(real) weight, HT_INPUT(real) u) {
    const long pattern = from[2 * row], start = from[2 * row + 1];
    HT_GLOBAL const int *nodes = node + pattern * (HT_ROW_NODES + HT_ROW_LINES);
    HT_GLOBAL const real *weights = weight + pattern * (HT_ROW_VALUES + HT_ROW_LINES);
    real sum = 0;
    for (int n = item; n < HT_ROW_VALUES; n += HT_ROW_ITEMS) {
        real across = 0;
        for (int line = 0; line < HT_ROW_LINES; line++) {
            const long at = start + nodes[n % HT_ROW_NODES] + nodes[HT_ROW_NODES + line];
            across = fma(weights[HT_ROW_VALUES + line],
                         u[HT_LAYOUT_AT(HT_BLOCK, n / HT_ROW_NODES, at, s->nodes)], across);
        }
        sum = fma(weights[n], across, sum);
    }
    return sum;
}
#endif

HT_TOOL_KERNEL ht_rows(struct ht_rows_args s, HT_INPUT(int) node, HT_INPUT(long) from,
                       HT_INPUT(real) weight, HT_INPUT(real) u, HT_OUTPUT(real) ring) {
#if HT_TOOL_ITEMS == 1
    for (int turn = 0; turn < HT_ROW_TURN; turn++) {
        const long row = s.first + HT_GROUP_1() * HT_ROW_TURN + turn;
        real part[HT_ROW_ITEMS];
        if (row >= s.last) continue;
        const long pattern = from[2 * row], start = from[2 * row + 1];
        HT_GLOBAL const int *nodes = node + pattern * (HT_ROW_NODES + HT_ROW_LINES);
        HT_GLOBAL const real *weights = weight + pattern * (HT_ROW_VALUES + HT_ROW_LINES);
        bool even = HT_ROW_COEFS == 1;
        HT_UNROLL
        for (int n = 1; n < HT_ROW_NODES; n++) even &= nodes[n] == nodes[0] + n;
        for (int item = 0; item < HT_ROW_ITEMS; item++) part[item] = 0;
        for (int n = 0; n < HT_ROW_VALUES; n += HT_ROW_ITEMS)
            if (even)
                ht_row_parts(s.nodes, start, n, true, nodes, weights, u, part);
            else
                ht_row_parts(s.nodes, start, n, false, nodes, weights, u, part);
        HT_UNROLL
        for (int step = HT_ROW_ITEMS / 2; step > 0; step /= 2) HT_UNROLL
        for (int item = 0; item < step; item++) part[item] += part[item + step];
        ring[s.slot * s.rows + row] = part[0];
    }
#else
    HT_LOCAL_ARRAY(real, part, HT_TOOL_ITEMS);
    const int lane = HT_ITEM(), item = lane % HT_ROW_ITEMS;
    const long row = s.first + HT_GROUP_1() * (HT_TOOL_ITEMS / HT_ROW_ITEMS) + lane / HT_ROW_ITEMS;
    part[lane] = row < s.last ? ht_row_part(&s, row, item, node, from, weight, u) : 0;
    for (int step = HT_ROW_ITEMS / 2; step > 0; step /= 2) {
        HT_BARRIER();
        if (item < step) part[lane] += part[lane + step];
    }
    if (item == 0 && row < s.last) ring[s.slot * s.rows + row] = part[lane];
#endif
}
