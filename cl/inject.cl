/* Adds sources to one field of a Hermite method: a work-item per node of a list and coefficient,
 *     u[at[n]][i] += sum over e, r of amplitude[column[e]][r] shape[e][r][i],
 * begin[n] <= e < begin[n + 1]. Coefficients that vanish on a wall on which the node lies are left
 * alone: bit k of odd[i] is set if coefficient i is odd under reflection of x_(k+1), the lower bits
 * of wall[n] are the axes whose wall lets even ones pass, the upper ones those that let odd ones
 * pass. No node stands in the list twice.
 */
HT_KERNEL HT_GROUP_SIZE(HT_INJECT_ITEMS) void ht_inject(
    struct ht_inject_args s, HT_GLOBAL const long *HT_RESTRICT at,
    HT_GLOBAL const int *HT_RESTRICT begin, HT_GLOBAL const int *HT_RESTRICT wall,
    HT_GLOBAL const int *HT_RESTRICT column, HT_GLOBAL const int *HT_RESTRICT shape,
    HT_GLOBAL const int *HT_RESTRICT odd, HT_GLOBAL const real *HT_RESTRICT values,
    HT_GLOBAL const real *HT_RESTRICT table, HT_GLOBAL real *u) {
    const long item = HT_GROUP_1() * HT_INJECT_ITEMS + HT_ITEM();
    if (item >= s.count * s.coefs) return;
    const long n = s.first + item / s.coefs;
    const int i = (int)(item % s.coefs);
    const int parity = odd[s.odd + i];
    const int vanishes = (parity & wall[n]) | (~parity & (wall[n] >> 3));
    real sum = 0;
    if (vanishes & 7) return;
    for (int e = begin[n]; e < begin[n + 1]; e++) {
        HT_GLOBAL const real *value = values + shape[e] * s.size + s.field + i;
        HT_GLOBAL const real *amplitude = table + s.row + (long)column[e] * s.terms;
        real part = 0;
        for (int r = 0; r < s.terms; r++) part += amplitude[r] * value[(long)r * s.coefs];
        sum += part;
    }
    u[HT_LAYOUT_AT(HT_BLOCK, i, at[n], s.nodes)] += sum;
}
