/* Multiplies the polynomials of nodes in the layers of an axis by those of the damping, which
 * depend on that axis alone,
 *     u_i = sum_{j <= i} jets[i - j] u_j,
 * i the index along the axis, cut at degree N: of each line of coefficients along the axis the
 * highest first, in place.
 *
 * at[axis][line][i]: storage index of a coefficient. jets[i][m], m the index in the window along
 * the axis. Work-groups: first axis HT_TOOL_ITEMS nodes, second axis the lines. */
HT_TOOL_KERNEL ht_sponge(struct ht_sponge_args s, HT_INPUT(int) at, HT_INPUT(real) jets,
                         HT_GLOBAL real *u) {
    const long item = HT_GROUP_1() * HT_TOOL_ITEMS + HT_ITEM();
    const long rows = item / s.count[0];
    const int line = (int)HT_GROUP_2();
    long m1 = item - rows * s.count[0];
    long m3 = rows / s.count[1];
    long m2 = rows - m3 * s.count[1];
    real g[HT_SPONGE_N], v[HT_SPONGE_N];
    if (m3 >= s.count[2]) return;
    m1 += s.begin[0] + (s.axis == 0 && m1 >= s.low ? s.skip : 0);
    m2 += s.begin[1] + (s.axis == 1 && m2 >= s.low ? s.skip : 0);
    m3 += s.begin[2] + (s.axis == 2 && m3 >= s.low ? s.skip : 0);
    const long depth = s.axis == 0 ? m1 : s.axis == 1 ? m2 : m3;
    const long node = m3 * s.plane + m2 * s.row + m1;
    HT_GLOBAL const int *index = at + (s.axis * HT_SPONGE_LINES + line) * HT_SPONGE_N;
    HT_UNROLLED(i, HT_SPONGE_N) {
        g[i] = jets[i * s.length + depth];
        v[i] = u[HT_LAYOUT_AT(HT_BLOCK, index[i], node, s.nodes)];
    }
    HT_UNROLL
    for (int i = HT_SPONGE_N - 1; i >= 0; i--) {
        real sum = g[0] * v[i];
        HT_UNROLLED_FROM(j, 1, i + 1) sum = fma(g[j], v[i - j], sum);
        u[HT_LAYOUT_AT(HT_BLOCK, index[i], node, s.nodes)] = sum;
    }
}
