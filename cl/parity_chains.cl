/* The two scalar series of cl/evolve_chains.cl with one work-item per parity.
 * The coefficients of a target's polynomials form 2^d parity groups g that do
 * not couple. In group g the scalar p has the indices j_k = g_k + 2 a_k, and
 * its partner v_k those of the parity g with bit k flipped. A work-item holds
 * all positions a of its parity group in registers and computes all derivatives
 * without other work-items. Material values are scalars that may differ from
 * target to target.
 *
 *     item = g * HT_CELLS + cell     |cell 0 1 ..|cell 0 1 ..| ...
 *                                    |   g = 0   |   g = 1   |
 *
 * For one field after the other and one x3 derivative i3 at a time, the
 * work-items of a cell share the source coefficients (i2, i1), form the vertex
 * sums of all parities and exchange them through local memory,
 *     sums[turn][parity][i2][i1][cell].
 * Each work-item then interpolates its parity along x1, x2 and, after the last
 * i3, along x3. Then
 *     e = sum_k alpha_k d_k v_k,   Lambda = sum_k alpha_k beta_k d_k^2,
 *     P = sum_m Lambda^m (p/(2m)! + e/(2m+1)!),
 *     S = sum_m Lambda^m (p/(2m+1)! + e/(2m+2)!),
 *     p+ = P,   v_k+ = v_k + beta_k d_k S,
 * where Lambda^m e and then Lambda^m p are computed in place, only at positions
 * that are not zero yet.
 */
#define HT_P1 HT_N1 /* positions per axis */
#define HT_P2 HT_N2
#define HT_P3 HT_N3
#define HT_POSITIONS (HT_P1 * HT_P2 * HT_P3)
#define HT_POS(a1, a2, a3) (((a3)*HT_P2 + (a2)) * HT_P1 + (a1))
/* HT_H, HT_LOW: positions of results (i <= N). HT_G, HT_SUM: positions of S,
 * one more per axis. */
#define HT_H1 (HT_ORDER / 2 + 1)
#define HT_H2 (HT_DIMS > 1 ? HT_H1 : 1)
#define HT_H3 (HT_DIMS > 2 ? HT_H1 : 1)
#define HT_LOWS (HT_H1 * HT_H2 * HT_H3)
#define HT_LOW(a1, a2, a3) (((a3)*HT_H2 + (a2)) * HT_H1 + (a1))
#define HT_G1 (HT_H1 + 1)
#define HT_G2 (HT_DIMS > 1 ? HT_G1 : 1)
#define HT_G3 (HT_DIMS > 2 ? HT_G1 : 1)
#define HT_SUMS (HT_G1 * HT_G2 * HT_G3)
#define HT_SUM(a1, a2, a3) (((a3)*HT_G2 + (a2)) * HT_G1 + (a1))
#define HT_PLANE (HT_N1 * HT_N2) /* coefficients of one i3 */
#define HT_SHARES ((HT_PLANE * HT_CELLS + HT_ITEMS_ALL - 1) / HT_ITEMS_ALL)
#define HT_ITEMS_ALL (HT_CORNERS * HT_CELLS)
#define HT_MOST_POWER (HT_DIMS * HT_ORDER) /* Lambda^m = 0 above */
#define HT_EACH_POSITION                         \
    HT_UNROLL                                    \
    for (int a3 = 0; a3 < HT_P3; a3++) HT_UNROLL \
    for (int a2 = 0; a2 < HT_P2; a2++) HT_UNROLL \
    for (int a1 = 0; a1 < HT_P1; a1++)
#define HT_EACH_SUM                              \
    HT_UNROLL                                    \
    for (int a3 = 0; a3 < HT_G3; a3++) HT_UNROLL \
    for (int a2 = 0; a2 < HT_G2; a2++) HT_UNROLL \
    for (int a1 = 0; a1 < HT_G1; a1++)
#define HT_EACH_LOW                              \
    HT_UNROLL                                    \
    for (int a3 = 0; a3 < HT_H3; a3++) HT_UNROLL \
    for (int a2 = 0; a2 < HT_H2; a2++) HT_UNROLL \
    for (int a1 = 0; a1 < HT_H1; a1++)

/* Source nodes at the vertices of a work-item's cell. */
struct ht_cell {
    int node;    /* the lowest one */
    int step[3]; /* to the upper one along each axis, which may wrap around */
};

HT_INLINE int ht_cell_node(const struct ht_cell *cell, const int v) {
    int node = cell->node;
    HT_UNROLL
    for (int k = 0; k < HT_DIMS; k++)
        if (v >> k & 1) node += cell->step[k];
    return node;
}

HT_INLINE void ht_cell_nodes(const struct ht_step_args *a, long m1, long m2,
                             long m3, struct ht_cell *cell) {
    const long i1 = (m1 < a->end[0] ? m1 : a->end[0] - 1) + a->shift[0];
    const long i2 = m2 + a->shift[1], i3 = m3 + a->shift[2];
    const int along = (int)ht_closed(a, 0, i1);
    const int row = (int)ht_source_row(a, i2, 0);
    const int plane = (int)ht_source_row(a, 0, i3);
    cell->node = along + row + plane;
    cell->step[0] = (int)ht_closed(a, 0, i1 + 1) - along;
    cell->step[1] = (int)ht_source_row(a, i2 + 1, 0) - row;
    cell->step[2] = (int)ht_source_row(a, 0, i3 + 1) - plane;
}

/* Two contiguous coefficients are read by one instruction. */
#define HT_PAIRED \
    (HT_BLOCK % 2 == 0 && HT_SHARES == 2 && HT_PLANE % 2 == 0 && !HT_SORTED)

/* Reads the work-item's share of the coefficients (i2, i1) at i3 of one
 * field. */
HT_INLINE void ht_read_share(const int g, const int i3, long nodes,
                             const struct ht_cell *cell,
                             HT_GLOBAL const real *src,
                             real share[HT_SHARES][HT_CORNERS]) {
#if HT_PAIRED
    const int q = g * 2 < HT_PLANE ? g * 2 : 0;
    HT_GLOBAL const real *at = src + HT_AT(i3 * HT_PLANE + q, 0, nodes);
    HT_UNROLL
    for (int v = 0; v < HT_CORNERS; v++) {
        const HT_VECTOR(2) x = *(HT_GLOBAL const HT_VECTOR(
            2) *)(at + (long)ht_cell_node(cell, v) * HT_BLOCK);
        share[0][v] = x.x;
        share[1][v] = x.y;
    }
#else
    HT_UNROLL
    for (int n = 0; n < HT_SHARES; n++) {
        const int q = g * HT_SHARES + n < HT_PLANE ? g * HT_SHARES + n : 0;
        HT_GLOBAL const real *at = src + HT_AT(i3 * HT_PLANE + q, 0, nodes);
        HT_UNROLL
        for (int v = 0; v < HT_CORNERS; v++)
            share[n][v] = at[(long)ht_cell_node(cell, v) * HT_BLOCK];
    }
#endif
}

/* The vertex sums of a share, sums[parity][q][cell]. */
HT_INLINE void ht_share_sums(const int g, const int c, const int i3,
                             real share[HT_SHARES][HT_CORNERS],
                             HT_LOCAL real *sums) {
    HT_UNROLL
    for (int n = 0; n < HT_SHARES; n++) {
        const int q = g * HT_SHARES + n;
        const int bits = (q % HT_N1 & 1) | (q / HT_N1 & 1) << 1 | (i3 & 1) << 2;
        const real sign[3] = {HT_SIGN_OF(bits, 0), HT_SIGN_OF(bits, 1),
                              HT_SIGN_OF(bits, 2)};
        ht_vertex_sums(share[n], sign);
        if (q < HT_PLANE) {
            HT_UNROLL
            for (int p = 0; p < HT_CORNERS; p++)
                sums[(p * HT_PLANE + q) * HT_CELLS + c] = share[n][p];
        }
    }
}

/* The interpolation matrix of one parity along an axis, as rows of pairs. */
HT_INLINE void ht_parity_matrix(HT_LOCAL const HT_VECTOR(2) * matrices,
                                const int odd, real matrix[HT_N1 * HT_N1 + 1]) {
    HT_UNROLL
    for (int n = 0; n < (HT_N1 * HT_N1 + 1) / 2; n++) {
        const HT_VECTOR(2) x = matrices[odd * ((HT_N1 * HT_N1 + 1) / 2) + n];
        matrix[2 * n] = x.x;
        matrix[2 * n + 1] = x.y;
    }
}

/* Multiplies a line of HT_N1 values with a stride by matrix, in place. */
HT_INLINE void ht_parity_line(const real matrix[HT_N1 * HT_N1 + 1],
                              const int stride, real *line) {
    real in[HT_N1];
    HT_UNROLL
    for (int i = 0; i < HT_N1; i++) in[i] = line[i * stride];
    HT_UNROLL
    for (int m = 0; m < HT_N1; m++) {
        real sum = matrix[m * HT_N1] * in[0];
        HT_UNROLL
        for (int i = 1; i < HT_N1; i++)
            sum = fma(matrix[m * HT_N1 + i], in[i], sum);
        line[m * stride] = sum;
    }
}

/* b at one i3: the sums of one parity, interpolated along x1 and x2. */
HT_INLINE void ht_flat_lines(HT_LOCAL const real *sums, const int c,
                             const int parity,
                             HT_LOCAL const HT_VECTOR(2) * matrices, real *b) {
    real matrix[HT_N1 * HT_N1 + 1];
    ht_parity_matrix(matrices, parity & 1, matrix);
    HT_UNROLL
    for (int q = 0; q < HT_PLANE; q++)
        b[q] = sums[(parity * HT_PLANE + q) * HT_CELLS + c];
    HT_UNROLL
    for (int i2 = 0; i2 < HT_N2; i2++)
        ht_parity_line(matrix, 1, b + i2 * HT_N1);
#if HT_DIMS > 1
    ht_parity_matrix(matrices, parity >> 1 & 1, matrix);
    HT_UNROLL
    for (int i1 = 0; i1 < HT_N1; i1++) ht_parity_line(matrix, HT_N1, b + i1);
#endif
}

/* e += alpha d_axis v at the positions of the scalar, with v in b. shift is 1
 * if the scalar is odd along the axis, else 0. */
#define HT_ADD_SLOPE(axis, shift)                                       \
    HT_EACH_POSITION {                                                  \
        const int a[3] = {a1, a2, a3}, most[3] = {HT_P1, HT_P2, HT_P3}; \
        if (a[axis] + shift < most[axis])                               \
            e[HT_POS(a1, a2, a3)] =                                     \
                fma(slope[a[axis]],                                     \
                    b[HT_POS(a1 + (axis == 0 ? shift : 0),              \
                             a2 + (axis == 1 ? shift : 0),              \
                             a3 + (axis == 2 ? shift : 0)) %            \
                      HT_POSITIONS],                                    \
                    e[HT_POS(a1, a2, a3)]);                             \
    }
#define HT_ADD_DIVERGENCE(axis, f, tp, tv, mp, mv)                         \
    if (slot == axis) {                                                    \
        real slope[HT_N1];                                                 \
        HT_UNROLL                                                          \
        for (int n = 0; n < HT_N1; n++)                                    \
            slope[n] = alpha_##axis * (real)((g >> axis & 1) + 2 * n + 1); \
        if (g >> axis & 1) {                                               \
            HT_ADD_SLOPE(axis, 1)                                          \
        } else {                                                           \
            HT_ADD_SLOPE(axis, 0)                                          \
        }                                                                  \
        HT_EACH_LOW {                                                      \
            low_##axis[HT_LOW(a1, a2, a3)] = b[HT_POS(a1, a2, a3)];        \
        }                                                                  \
    }

/* P += sum_m u_m / (2m + odd)!, S += sum_m u_m / (2m + 1 + odd)! with u_m =
 * Lambda^m u, without the terms beyond the number of stages. */
HT_INLINE void ht_chain(const int stages, const int odd, real lambda[3][HT_N1],
                        real u[HT_POSITIONS], real P[HT_LOWS],
                        real S[HT_SUMS]) {
    real weight = 1;
    HT_UNROLL
    for (int m = 0; m <= HT_MOST_POWER; m++) {
        const int order = 2 * m + odd;
        if (order > 0) weight *= ht_inverse[order];
        const real wp = order <= stages ? weight : (real)0;
        const real ws =
            order + 1 <= stages ? weight * ht_inverse[order + 1] : (real)0;
        HT_EACH_LOW {
            if (a1 + a2 + a3 <= HT_MOST_POWER - m)
                P[HT_LOW(a1, a2, a3)] =
                    fma(wp, u[HT_POS(a1, a2, a3)], P[HT_LOW(a1, a2, a3)]);
        }
        HT_EACH_SUM {
            const int beyond = (a1 >= HT_H1) + (HT_DIMS > 1 && a2 >= HT_H2) +
                               (HT_DIMS > 2 && a3 >= HT_H3);
            const int there = a1 < HT_P1 && a2 < HT_P2 && a3 < HT_P3;
            if (beyond <= 1 && there && a1 + a2 + a3 <= HT_MOST_POWER - m)
                S[HT_SUM(a1, a2, a3)] =
                    fma(ws, u[HT_POS(a1, a2, a3) % HT_POSITIONS],
                        S[HT_SUM(a1, a2, a3)]);
        }
        weight *= ht_inverse[order + 1];
        HT_EACH_POSITION {
            real sum = 0;
            if (a1 + a2 + a3 > HT_MOST_POWER - m - 1) continue;
            if (a1 + 1 < HT_P1)
                sum = lambda[0][a1] * u[HT_POS(a1 + 1, a2, a3) % HT_POSITIONS];
            if (a2 + 1 < HT_P2)
                sum = fma(lambda[1][a2],
                          u[HT_POS(a1, a2 + 1, a3) % HT_POSITIONS], sum);
            if (a3 + 1 < HT_P3)
                sum = fma(lambda[2][a3],
                          u[HT_POS(a1, a2, a3 + 1) % HT_POSITIONS], sum);
            u[HT_POS(a1, a2, a3)] = sum;
        }
    }
}

#define HT_STORE_AT(f, a1, a2, a3, p, value)                               \
    {                                                                      \
        const int i1 = ((p)&1) + 2 * (a1), i2 = ((p) >> 1 & 1) + 2 * (a2); \
        const int i3 = ((p) >> 2 & 1) + 2 * (a3);                          \
        if (i1 <= HT_ORDER && i2 <= HT_ORDER && i3 <= HT_ORDER)            \
            dst##f[HT_AT((i3 * HT_N2 + i2) * HT_N1 + i1, node, nodes)] =   \
                value;                                                     \
    }
#define HT_ADD_GRADIENT(axis, shift, f, odd)                                  \
    HT_EACH_LOW {                                                             \
        const real s = S[HT_SUM(a1 + (axis == 0 ? shift : 0),                 \
                                a2 + (axis == 1 ? shift : 0),                 \
                                a3 + (axis == 2 ? shift : 0))];               \
        const int a[3] = {a1, a2, a3};                                        \
        HT_STORE_AT(f, a1, a2, a3, g ^ 1 << axis,                             \
                    fma(beta_##axis * (real)((1 - odd) + 2 * a[axis] + 1), s, \
                        low_##axis[HT_LOW(a1, a2, a3)]))                      \
    }
#define HT_STORE_PARTNER(axis, f, tp, tv, mp, mv) \
    if (g >> axis & 1) {                          \
        HT_ADD_GRADIENT(axis, 0, f, 1)            \
    } else {                                      \
        HT_ADD_GRADIENT(axis, 1, f, 0)            \
    }

#if HT_MEDIUM_DEGREE < 0
#define HT_MATERIAL(m) 1
#else
#define HT_MATERIAL(m) medium##m[node]
#endif
#define HT_DECLARE_PARTNER(axis, f, tp, tv, mp, mv)        \
    const real alpha_##axis = scale[tp] * HT_MATERIAL(mp); \
    const real beta_##axis = scale[tv] * HT_MATERIAL(mv);  \
    real low_##axis[HT_LOWS];
#define HT_LAMBDA_PARTNER(axis, f, tp, tv, mp, mv)                  \
    HT_UNROLL                                                       \
    for (int n = 0; n < HT_N1; n++) {                               \
        const int j = (g >> axis & 1) + 2 * n;                      \
        lambda[axis][n] =                                           \
            alpha_##axis * beta_##axis * (real)((j + 1) * (j + 2)); \
    }
/* The order of the fields: partners by axis, then the scalar (field 0). */
#define HT_CHOOSE_PARTNER(axis, f, tp, tv, mp, mv) \
    if (next == axis) {                            \
        chosen.src = src##f;                       \
        chosen.parity = ht_parity[f];              \
    }
struct ht_chosen {
    HT_GLOBAL const real *src;
    int parity;
};
HT_INLINE struct ht_chosen ht_choose(const int next HT_EACH_SRC(HT_SRC_PARAM)) {
    struct ht_chosen chosen = {src0, ht_parity[0]};
    HT_EACH_PARTNER(HT_CHOOSE_PARTNER)
    return chosen;
}

/* A work-item's position in its work-group, and what the group shares. */
struct ht_team {
    int g, c;   /* the work-item's parity group and cell */
    long nodes; /* of the source grid */
    HT_LOCAL real *sums;
    HT_LOCAL const HT_VECTOR(2) * matrices;
};

/* b: the interpolant of field number `slot` in the work-item's parity group. On
 * entry share holds the work-item's coefficients of this field at i3 = 0, on
 * return those of the next field if there are more. */
HT_INLINE void
ht_interpolate_field(const struct ht_team *t, const struct ht_cell *cell,
                     const int slot, const int more,
                     real share[HT_SHARES][HT_CORNERS],
                     real b[HT_POSITIONS] HT_EACH_SRC(HT_SRC_PARAM)) {
    const struct ht_chosen own = ht_choose(slot HT_EACH_SRC(HT_SRC_ARG));
    HT_UNROLL
    for (int i3 = 0; i3 < HT_N3; i3++) {
        HT_LOCAL real *x = t->sums + ((slot * HT_N3 + i3) & 1) * HT_CORNERS *
                                         HT_PLANE * HT_CELLS;
        ht_share_sums(t->g, t->c, i3, share, x);
        if (i3 + 1 < HT_N3) {
            ht_read_share(t->g, i3 + 1, t->nodes, cell, own.src, share);
        } else if (more) {
            const struct ht_chosen next =
                ht_choose(slot + 1 HT_EACH_SRC(HT_SRC_ARG));
            ht_read_share(t->g, 0, t->nodes, cell, next.src, share);
        }
        HT_BARRIER();
        ht_flat_lines(x, t->c, t->g ^ own.parity, t->matrices,
                      b + i3 * HT_PLANE);
    }
#if HT_DIMS > 2
    real matrix[HT_N1 * HT_N1 + 1];
    ht_parity_matrix(t->matrices, (t->g ^ own.parity) >> 2 & 1, matrix);
    HT_UNROLL
    for (int q = 0; q < HT_PLANE; q++) ht_parity_line(matrix, HT_PLANE, b + q);
#endif
}

/* Computes one target per cell of the row (m2, m3). */
HT_INLINE void ht_parity_target(
    const struct ht_step_args *a, const struct ht_team *t, long m2, long m3,
    HT_GLOBAL const real *scale HT_EACH_SRC(HT_SRC_PARAM)
        HT_EACH_DST(HT_DST_PARAM) HT_EACH_MATERIAL(HT_MEDIUM_PARAM)) {
    const int g = t->g;
    const long m1 = a->begin[0] + HT_GROUP_1() * HT_CELLS + t->c;
    const long nodes = a->dst_nodes;
    const long node =
        ht_target_row(a, m2, m3) + (m1 < a->end[0] ? m1 : a->end[0] - 1);
    real b[HT_POSITIONS], share[HT_SHARES][HT_CORNERS];
    real P[HT_LOWS], S[HT_SUMS], lambda[3][HT_N1];
    HT_EACH_PARTNER(HT_DECLARE_PARTNER)
    struct ht_cell cell;
    ht_cell_nodes(a, m1, m2, m3, &cell);
    const struct ht_chosen first = ht_choose(0 HT_EACH_SRC(HT_SRC_ARG));
    ht_read_share(g, 0, t->nodes, &cell, first.src, share);
    {
        real e[HT_POSITIONS];
        HT_UNROLL
        for (int q = 0; q < HT_POSITIONS; q++) e[q] = 0;
        HT_ROLLED
        for (int slot = 0; slot < HT_DIMS; slot++) {
            ht_interpolate_field(t, &cell, slot, 1, share,
                                 b HT_EACH_SRC(HT_SRC_ARG));
            HT_EACH_PARTNER(HT_ADD_DIVERGENCE)
        }
        HT_EACH_PARTNER(HT_LAMBDA_PARTNER)
        HT_UNROLL
        for (int q = 0; q < HT_LOWS; q++) P[q] = 0;
        HT_UNROLL
        for (int q = 0; q < HT_SUMS; q++) S[q] = 0;
        ht_chain(a->stages, 1, lambda, e, P, S);
    }
    ht_interpolate_field(t, &cell, HT_DIMS, 0, share,
                         b HT_EACH_SRC(HT_SRC_ARG));
    ht_chain(a->stages, 0, lambda, b, P, S);
    if (m1 >= a->end[0]) return;
    HT_EACH_LOW{
        HT_STORE_AT(0, a1, a2, a3, g,
                    P[HT_LOW(a1, a2, a3)])} HT_EACH_PARTNER(HT_STORE_PARTNER)
}

HT_KERNEL HT_GROUP_SIZE(HT_ITEMS_ALL) void ht_parity_chains(
    struct ht_step_args a,
    HT_GLOBAL const real *HT_RESTRICT scale HT_EACH_SRC(HT_SRC_PARAM)
        HT_EACH_DST(HT_DST_PARAM) HT_EACH_MATERIAL(HT_MEDIUM_PARAM)) {
    HT_LOCAL_ARRAY(real, sums,
                   HT_SIZE_PARITY_SUMS(HT_CORNERS, HT_PLANE, HT_CELLS));
    HT_LOCAL_ARRAY(HT_VECTOR(2), matrices, HT_SIZE_PARITY_MATRICES(HT_N1));
    const long begin = ht_first_plane(&a), end = ht_last_plane(&a);
    struct ht_team team;
    team.g = HT_ITEM() / HT_CELLS;
    team.c = HT_ITEM() % HT_CELLS;
    team.nodes = a.src_nodes;
    team.sums = sums;
    team.matrices = matrices;
    for (int n = HT_ITEM(); n < HT_N1 * HT_N1 + 1; n += HT_ITEMS_ALL) {
        const int pairs = (HT_N1 * HT_N1 + 1) / 2, i = n % pairs * 2;
        const int last = HT_N1 * HT_N1 - 1;
        HT_VECTOR(2) x;
        x.x = (real)0.5 * (n < pairs ? ht_even[i] : ht_odd[i]);
        x.y = (real)0.5 * (n < pairs ? ht_even[i < last ? i + 1 : last]
                                     : ht_odd[i < last ? i + 1 : last]);
        if (n < 2 * pairs) matrices[n] = x;
    }
    HT_BARRIER();
    for (long m3 = begin; m3 < end; m3++) {
        ht_parity_target(&a, &team, a.begin[1] + HT_GROUP_2(), m3,
                         scale HT_EACH_SRC(HT_SRC_ARG) HT_EACH_DST(HT_DST_ARG)
                             HT_EACH_MATERIAL(HT_MEDIUM_ARG));
        HT_BARRIER();
    }
}
