/* Adds sources to an array, or to two: a work-item per node of a list and coefficient,
 *     u[at[n]][i] += sum over e, r of amplitude[column[e]][r] shape[e][r][i],
 * begin[n] <= e < begin[n + 1]. Coefficients that vanish on a wall on which the node lies are left
 * alone: bit k of odd[i] is set if coefficient i is odd under reflection of x_(k+1), the lower bits
 * of wall[n] are the axes whose wall lets even ones pass, the upper ones those that let odd ones
 * pass. No node stands in the list twice. Without HT_INJECT_SHAPED a node has one coefficient, an
 * entry a shape of its own with one term, and walls let all pass. */
HT_TOOL_KERNEL ht_inject(struct ht_inject_args s, HT_INPUT(long) at, HT_INPUT(int) begin,
                         HT_INPUT(int) wall, HT_INPUT(int) column, HT_INPUT(int) shape,
                         HT_INPUT(int) odd, HT_INPUT(real) values, HT_INPUT(real) table,
                         HT_GLOBAL real *u, HT_GLOBAL real *v) {
    const int coefs = HT_INJECT_SHAPED ? s.coefs : 1, terms = HT_INJECT_SHAPED ? s.terms : 1;
    const long item = HT_GROUP_1() * HT_TOOL_ITEMS + HT_ITEM();
    if (item >= s.count * coefs) return;
    const long n = s.first + item / coefs;
    const int i = (int)(item % coefs);
    real sum = 0;
#if HT_INJECT_SHAPED
    const int parity = odd[s.odd + i];
    const int vanishes = (parity & wall[n]) | (~parity & (wall[n] >> 3));
    if (vanishes & 7) return;
#endif
    for (int e = begin[n]; e < begin[n + 1]; e++) {
        HT_GLOBAL const real *value =
            values + (HT_INJECT_SHAPED ? shape[e] * s.size + s.field + i : e);
        HT_GLOBAL const real *amplitude = table + s.row + (long)column[e] * terms;
        real part = 0;
        for (int r = 0; r < terms; r++) part += amplitude[r] * value[(long)r * coefs];
        sum += part;
    }
    const long to = HT_LAYOUT_AT(HT_BLOCK, i, at[n], s.nodes);
    u[to] += sum;
    if (s.both) v[to] += sum;
}
