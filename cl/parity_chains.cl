/* Systems in which one scalar p couples with one partner v_k per axis, such as acoustics,
 *     p_t = sum_k alpha_k d_k v_k,    v_k,t = beta_k d_k p,
 * as two scalar series (P and S below; dt/2 and h absorbed) in place of the Taylor series of all
 * fields: half as many applications of an operator. A work-item per class of parities. The
 * coefficients of a target's polynomials form 2^d classes g that do not couple: in class g the
 * scalar p has the indices j_k = g_k + 2 a_k, its partner v_k those of the class with bit k
 * inverted. A work-item holds the positions a = (a_1, a_2, a_3) of its class in registers and takes
 * all derivatives without other work-items. A work-group of one warp runs without the barriers of
 * larger groups; classes differ by data only, so its lanes do not diverge. Material values are
 * scalars that may differ from target to target.
 *
 *     item = g * HT_CELLS + cell     |cell 0 1 ..|cell 0 1 ..| ...
 *                                    |   g = 0   |   g = 1   |
 *
 * Derivatives are shifts: position a holds j! r^a times the coefficient, where
 *     r_k = lambda_k / lambda,   lambda_k = alpha_k beta_k
 * is the ratio of the axes' lambda_k (lambda: the largest), r^a the product of r_k^a_k. The factors
 * are in the matrices of interpolation and are taken out when results are stored. With s_k the
 * shift of a_k by one,
 *     e = sum_k alpha_k d_k v_k:  rows of v_k's matrix along axis k, shifted by
 *                                 one where v_k is even along k,
 *     Lambda = sum_k lambda_k d_k^2 = lambda (s_1 + s_2 + s_3),
 *     P = sum_m Lambda^m (p/(2m)! + e/(2m+1)!),
 *     S = sum_m Lambda^m (p/(2m+1)! + e/(2m+2)!),
 *     p+ = P,   v_k+ = v_k + beta_k d_k S.
 * Powers of the sum of shifts are taken in place by additions, only where they are not zero yet;
 * lambda^m and factorials are in the weights of P and S.
 *
 * For one field after the other the work-items of a cell share the units, runs of HT_CHUNK
 * coefficients: read them at the vertices, form the sums of all classes, and exchange these through
 * local memory,
 *     values[class][cell][coefficient],
 * which takes the results, too, with the field in place of the class. Rows are padded so that
 * neither side of the exchange has bank conflicts. In three dimensions a work-item keeps the sums
 * of its units over the upper face in local memory,
 *     faces[field][unit][sum][item],
 * since this is the lower face of the next target. Units of the next field are read while the lines
 * of this one are multiplied.
 */
/* Fields by slot: partners by axis, then the scalar, field 0. Materials of a target are the same on
 * all axes. The macros are for HT_EACH_PARTNER. */
#define HT_CHOOSE_PARTNER(axis, f, tp, tv, mp, mv) \
    if (slot == axis) chosen = src##f;
HT_INLINE HT_GLOBAL const real *ht_field_source(const int slot HT_EACH_SRC(HT_SRC_PARAM)) {
    HT_GLOBAL const real *chosen = src0;
    HT_EACH_PARTNER(HT_CHOOSE_PARTNER)
    return chosen;
}

/* Uniform ones are in the factors of the axes. */
#if HT_MEDIUM_DEGREE < 0
#define HT_MATERIAL(m) 1
#else
#define HT_MATERIAL(m) medium##m[node]
#endif
#define HT_GET_MATERIALS(axis, f, tp, tv, mp, mv) \
    if (axis == 0) {                              \
        of_scalar = HT_MATERIAL(mp);              \
        of_partner = HT_MATERIAL(mv);             \
    }

#define HT_P1 HT_N1 /* positions per axis */
#define HT_P2 HT_N2
#define HT_P3 HT_N3
#define HT_POSITIONS (HT_P1 * HT_P2 * HT_P3) /* as many as coefficients */
#define HT_POS(a1, a2, a3) (((a3)*HT_P2 + (a2)) * HT_P1 + (a1))
/* HT_H, HT_LOW: positions of results (i <= N). HT_G, HT_SUM: positions of S, one more per axis. */
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
#define HT_MOST_POWER (HT_DIMS * HT_ORDER) /* Lambda^m = 0 above */
#define HT_ITEMS_ALL (HT_CORNERS * HT_CELLS)
/* Units of a field, and how many a work-item reads. */
#define HT_UNITS ((HT_PADDED_COEFS + HT_CHUNK - 1) / HT_CHUNK)
#define HT_FACE (HT_DIMS > 1 ? 4 : 2)
#define HT_ROUNDS ((HT_UNITS + HT_CORNERS - 1) / HT_CORNERS)
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

/* A work-item in its group, and what the group shares. */
struct ht_team {
    int item, c;   /* the work-item and its cell */
    unsigned g;    /* its class */
    unsigned bits; /* of its coefficients: see HT_BITS */
    /* Source nodes around its targets in x3 plane 0 of the window: the lowest one, and from there
     * to the upper one along x1, x2, which may wrap around
     */
    int node, step[2];
    HT_LOCAL real *values;
    HT_LOCAL real *faces;
    HT_LOCAL const real *tables;
};

/* Coefficient of value q of the work-item's unit number n. */
#define HT_PLACE(t, n, q) (((t)->g + (unsigned)((n)*HT_CORNERS)) * HT_CHUNK + (q))

/* The bits i_k mod 2 of a coefficient. */
HT_INLINE unsigned ht_bits_of(const unsigned i) {
    return (i % HT_N1 & 1u) | (i / HT_N1 % HT_N2 & 1u) << 1 | (i / (HT_N1 * HT_N2) & 1u) << 2;
}
/* Those of the coefficient at HT_PLACE, computed once where units are not parts of a row of
 * coefficients. */
#if HT_N1 % HT_CHUNK != 0
#define HT_BITS(t, n, q) ((t)->bits >> 3 * ((n)*HT_CHUNK + (q)))
#else
#define HT_BITS(t, n, q) ht_bits_of(HT_PLACE(t, n, q))
#endif
HT_INLINE unsigned ht_all_bits(const struct ht_team *t) {
    unsigned bits = 0;
    HT_UNROLL
    for (int q = 0; q < HT_ROUNDS * HT_CHUNK; q++) {
        const unsigned at = HT_PLACE(t, q / HT_CHUNK, q % HT_CHUNK);
        if (at < HT_PADDED_COEFS) bits |= ht_bits_of(at) << 3 * q;
    }
    return bits;
}

/* Local memory, in values: the exchange, then tables. */
#define HT_ROW HT_SIZE_CLASS_ROW(HT_WIDE, HT_DIMS, HT_ROUNDS *HT_CORNERS *HT_CHUNK / HT_WIDE)
#define HT_CLASS HT_SIZE_CLASS(HT_WIDE, HT_CELLS, HT_ROW)
#define HT_MATRIX HT_SIZE_CLASS_MATRIX(HT_WIDE, HT_N1)
#define HT_AT_SLOPES (2 * HT_DIMS * HT_MATRIX)
#define HT_AT_INVERSE (2 * HT_AT_SLOPES)
#define HT_AT_BACK (HT_AT_INVERSE + 2 * HT_MOST_POWER + 4)
#define HT_AT_GAIN (HT_AT_BACK + 2 * HT_DIMS)

/* The sums over the faces of a field, which each work-item keeps for itself. */
#define HT_FACES (HT_ROUNDS * HT_FACE * HT_ITEMS_ALL * HT_CHUNK)
#define HT_FACE_UNIT(t, slot, n, v) \
    ((t)->faces + (slot)*HT_FACES + (((n)*HT_FACE + (v)) * HT_ITEMS_ALL + (t)->item) * HT_CHUNK)

/* Targets beyond the box are replaced by its last one. */
HT_INLINE void ht_set_nodes(const struct ht_step_args *a, long m1, long m2, struct ht_team *t) {
    const long i1 = (m1 < a->end[0] ? m1 : a->end[0] - 1) + a->shift[0];
    const long i2 = m2 + a->shift[1];
    const int along = (int)ht_closed(a, 0, i1);
    const int row = (int)ht_source_row(a, i2, 0);
    t->node = along + row;
    t->step[0] = (int)ht_closed(a, 0, i1 + 1) - along;
    t->step[1] = (int)ht_source_row(a, i2 + 1, 0) - row;
}

/* Whether number n of the units of `size` of all classes are within a field. */
#define HT_ALL_INSIDE(n, size) (((n) + 1) * HT_CORNERS * (size) <= HT_PADDED_COEFS)
/* Coefficients that one instruction reads: a pack, or one of it. */
#define HT_LOADED (HT_CHUNK % HT_BLOCK == 0 ? HT_BLOCK : 1)
/* Reads the work-item's units of a field at the vertices of its face in plane i3. */
HT_INLINE void ht_read_units(const struct ht_step_args *a, const struct ht_team *t, long i3,
                             HT_GLOBAL const real *src, real x[HT_ROUNDS][HT_FACE][HT_CHUNK]) {
    const int first = t->node + (int)ht_source_row(a, 0, i3);
    HT_UNROLL
    for (int q = 0; q < HT_ROUNDS * HT_CHUNK; q += HT_LOADED) {
        const unsigned at = HT_PLACE(t, q / HT_CHUNK, q % HT_CHUNK);
        const int inside = HT_ALL_INSIDE(q / HT_CHUNK, HT_CHUNK);
        HT_GLOBAL const real *from =
            src + HT_LAYOUT_AT(HT_BLOCK, inside || at < HT_PADDED_COEFS ? at : 0u, 0, a->src_nodes);
        HT_UNROLL
        for (int v = 0; v < HT_FACE; v++) {
            const unsigned node =
                (unsigned)(first + (v & 1 ? t->step[0] : 0) + (v & 2 ? t->step[1] : 0));
            real *to = &x[q / HT_CHUNK][v][q % HT_CHUNK];
#if HT_LOADED == HT_BLOCK
            ht_unpack(((HT_GLOBAL const ht_pack *)from)[node], to);
#else
            *to = from[(long)node * HT_BLOCK];
#endif
        }
    }
}

/* In place, the sums over a face of all signs, of the work-item's units. */
HT_INLINE void ht_face_sums(const struct ht_team *t, real x[HT_ROUNDS][HT_FACE][HT_CHUNK]) {
    HT_UNROLL
    for (int q = 0; q < HT_ROUNDS * HT_CHUNK; q++) {
        const unsigned bits = HT_BITS(t, q / HT_CHUNK, q % HT_CHUNK);
        HT_UNROLL
        for (int k = 0; k < 2 && k < HT_DIMS; k++) {
            HT_UNROLL
            for (int v = 0; v < HT_FACE; v++)
                if ((v >> k & 1) == 0)
                    ht_butterfly(HT_SIGN_OF(bits, k), &x[q / HT_CHUNK][v][q % HT_CHUNK],
                                 &x[q / HT_CHUNK][v | 1 << k][q % HT_CHUNK]);
        }
    }
}

/* Writes a unit to local memory. */
HT_INLINE void ht_put_unit(HT_LOCAL real *to, const real v[HT_CHUNK]) {
#if HT_CHUNK == HT_WIDE
    *(HT_LOCAL ht_wide *)to = ht_widened(v);
#else
    HT_UNROLL
    for (int q = 0; q < HT_CHUNK; q++) to[q] = v[q];
#endif
}
HT_INLINE void ht_get_unit(HT_LOCAL const real *from, real v[HT_CHUNK]) {
#if HT_CHUNK == HT_WIDE
    ht_widen(*(HT_LOCAL const ht_wide *)from, v);
#else
    HT_UNROLL
    for (int q = 0; q < HT_CHUNK; q++) v[q] = from[q];
#endif
}

/* The sums of all classes of the work-item's units of a field. x: the units at the upper face. The
 * team's faces hold the sums over the lower one, on return over the upper one. */
HT_INLINE void ht_put_sums(const struct ht_team *t, const int slot,
                           real x[HT_ROUNDS][HT_FACE][HT_CHUNK]) {
    ht_face_sums(t, x);
    HT_UNROLL
    for (int n = 0; n < HT_ROUNDS; n++) {
        HT_LOCAL real *to = t->values + t->c * HT_ROW + HT_PLACE(t, n, 0);
        HT_UNROLL
        for (int v = 0; v < HT_FACE; v++) {
#if HT_DIMS > 2
            HT_LOCAL real *face = HT_FACE_UNIT(t, slot, n, v);
            real low[HT_CHUNK], high[HT_CHUNK];
            ht_get_unit(face, low);
            ht_put_unit(face, x[n][v]);
            HT_UNROLL
            for (int q = 0; q < HT_CHUNK; q++) {
                const unsigned bits = HT_BITS(t, n, q);
                high[q] = x[n][v][q];
                ht_butterfly(HT_SIGN_OF(bits, 2), &low[q], &high[q]);
            }
            ht_put_unit(to + v * HT_CLASS, low);
            ht_put_unit(to + (v + HT_FACE) * HT_CLASS, high);
#else
            ht_put_unit(to + v * HT_CLASS, x[n][v]);
#endif
        }
    }
}

/* The sums of one class, by coefficient. */
HT_INLINE void ht_get_sums(HT_LOCAL const real *row, real b[HT_POSITIONS]) {
    HT_UNROLL
    for (int s = 0; s < HT_PADDED_COEFS; s += HT_WIDE) {
        real v[HT_WIDE];
        ht_widen(*(HT_LOCAL const ht_wide *)(row + s), v);
        HT_UNROLL
        for (int q = 0; q < HT_WIDE; q++)
            if (s + q < HT_POSITIONS) b[s + q] = v[q];
    }
}

/* ---- lines of positions along an axis ---- */

#define HT_STRIDE(axis) ((axis) == 0 ? 1 : (axis) == 1 ? HT_P1 : HT_P1 * HT_P2)
#define HT_EACH_LINE(axis)                    \
    HT_UNROLL                                 \
    for (int at = 0; at < HT_POSITIONS; at++) \
        if (at / HT_STRIDE(axis) % HT_P1 == 0)

HT_INLINE void ht_get_matrix(HT_LOCAL const real *table, real matrix[HT_MATRIX]) {
    HT_UNROLL
    for (int n = 0; n < HT_MATRIX; n += HT_WIDE)
        ht_widen(*(HT_LOCAL const ht_wide *)(table + n), matrix + n);
}

/* Row m of a matrix times the line of b at `at`. */
HT_INLINE real ht_line_row(const real matrix[HT_MATRIX], const int m, const int axis, const int at,
                           const real b[HT_POSITIONS]) {
    real sum = matrix[m * HT_N1] * b[at];
    HT_UNROLL
    for (int i = 1; i < HT_N1; i++)
        sum = fma(matrix[m * HT_N1 + i], b[at + i * HT_STRIDE(axis)], sum);
    return sum;
}

/* All lines along an axis, in place. */
HT_INLINE void ht_lines(HT_LOCAL const real *table, const int axis, real b[HT_POSITIONS]) {
    real matrix[HT_MATRIX];
    ht_get_matrix(table, matrix);
    HT_EACH_LINE(axis) {
        real out[HT_N1];
        HT_UNROLL
        for (int m = 0; m < HT_N1; m++) out[m] = ht_line_row(matrix, m, axis, at, b);
        HT_UNROLL
        for (int m = 0; m < HT_N1; m++) b[at + m * HT_STRIDE(axis)] = out[m];
    }
}

/* e: the products of all lines (first) or their sum with what is there. */
HT_INLINE void ht_add_lines(HT_LOCAL const real *table, const int axis, const int first,
                            const real b[HT_POSITIONS], real e[HT_POSITIONS]) {
    real matrix[HT_MATRIX];
    ht_get_matrix(table, matrix);
    HT_EACH_LINE(axis) {
        HT_UNROLL
        for (int m = 0; m < HT_N1; m++) {
            const int to = at + m * HT_STRIDE(axis);
            if (first) {
                e[to] = ht_line_row(matrix, m, axis, at, b);
            } else {
                HT_UNROLL
                for (int i = 0; i < HT_N1; i++)
                    e[to] = fma(matrix[m * HT_N1 + i], b[at + i * HT_STRIDE(axis)], e[to]);
            }
        }
    }
}

/* The positions of results. */
HT_INLINE void ht_low_lines(HT_LOCAL const real *table, const int axis, const real b[HT_POSITIONS],
                            real low[HT_LOWS]) {
    real matrix[HT_MATRIX];
    ht_get_matrix(table, matrix);
    HT_EACH_LOW {
        const int a[3] = {a1, a2, a3};
        low[HT_LOW(a1, a2, a3)] =
            ht_line_row(matrix, a[axis], axis, HT_POS(a1, a2, a3) - a[axis] * HT_STRIDE(axis), b);
    }
}

/* P += sum_m w_m u_m, S += sum_m w_m u_m / (2m + odd + 1) with u_m the m-th power of the sum of
 * shifts, w_m = weight lambda^m / (2m + odd)!. inverse: 1/n up to the number of stages, then 0. */
HT_INLINE void ht_chain(const int odd, const real lambda, real weight, HT_LOCAL const real *inverse,
                        real u[HT_POSITIONS], real P[HT_LOWS], real S[HT_SUMS]) {
    HT_UNROLL
    for (int m = 0; m <= HT_MOST_POWER; m++) {
        const real ws = weight * inverse[2 * m + odd + 1];
        HT_EACH_LOW {
            if (a1 + a2 + a3 <= HT_MOST_POWER - m)
                P[HT_LOW(a1, a2, a3)] = fma(weight, u[HT_POS(a1, a2, a3)], P[HT_LOW(a1, a2, a3)]);
        }
        HT_EACH_SUM {
            const int beyond =
                (a1 >= HT_H1) + (HT_DIMS > 1 && a2 >= HT_H2) + (HT_DIMS > 2 && a3 >= HT_H3);
            const int there = a1 < HT_P1 && a2 < HT_P2 && a3 < HT_P3;
            if (beyond <= 1 && there && a1 + a2 + a3 <= HT_MOST_POWER - m)
                S[HT_SUM(a1, a2, a3)] =
                    fma(ws, u[HT_POS(a1, a2, a3) % HT_POSITIONS], S[HT_SUM(a1, a2, a3)]);
        }
        weight = ws * lambda * inverse[2 * m + odd + 2];
        HT_EACH_POSITION {
            const int in1 = a1 + 1 < HT_P1, in2 = a2 + 1 < HT_P2;
            if (a1 + a2 + a3 > HT_MOST_POWER - m - 1) continue;
            real sum = u[(in1   ? HT_POS(a1 + 1, a2, a3)
                          : in2 ? HT_POS(a1, a2 + 1, a3)
                                : HT_POS(a1, a2, a3 + 1)) %
                         HT_POSITIONS];
            if (in1 && in2) sum += u[HT_POS(a1, a2 + 1, a3) % HT_POSITIONS];
            if ((in1 || in2) && a3 + 1 < HT_P3) sum += u[HT_POS(a1, a2, a3 + 1) % HT_POSITIONS];
            u[HT_POS(a1, a2, a3)] = sum;
        }
    }
}

/* ---- tables in local memory ---- */

/* Factors of the axes, from `scale`: lambda_k and alpha_k without materials, beta_k. The macros are
 * for HT_EACH_PARTNER. */
#define HT_GET_FACTORS(axis, f, tp, tv, mp, mv) \
    alpha[axis] = scale[tp];                    \
    beta[axis] = scale[tv];
HT_INLINE real ht_factors(HT_GLOBAL const real *scale, real alpha[3], real beta[3]) {
    real lambda = 0;
    HT_EACH_PARTNER(HT_GET_FACTORS)
    HT_UNROLL
    for (int k = 0; k < HT_DIMS; k++) lambda = fmax(lambda, alpha[k] * beta[k]);
    return lambda;
}

/* Row m, column i of the matrices of an axis: of interpolation, and its shift that gives the axis'
 * part of e / alpha_1. */
HT_INLINE void ht_put_matrices(const int axis, const int odd, const int m, const int i,
                               const real ratio, const real slope, HT_LOCAL real *tables) {
    HT_LOCAL real *plain = tables + (2 * axis + odd) * HT_MATRIX;
    HT_LOCAL real *shifted = tables + HT_AT_SLOPES + (2 * axis + 1 - odd) * HT_MATRIX;
    const int at = m * HT_N1 + i;
    real x = (real)0.5 * (odd ? ht_odd[at] : ht_even[at]), below;
    for (int j = 2; j <= odd + 2 * m; j++) x *= (real)j;
    for (int n = 1; n < m; n++) x *= ratio;
    below = x;
    if (m > 0) x *= ratio;
    plain[at] = x;
    if (odd)
        shifted[at] = x * slope;
    else if (m > 0)
        shifted[at - HT_N1] = below * slope;
    else
        shifted[(HT_N1 - 1) * HT_N1 + i] = 0;
}

/* All tables, by the work-items of the group. */
HT_INLINE void ht_put_tables(const int item, const int stages, HT_GLOBAL const real *scale,
                             HT_LOCAL real *tables) {
    real alpha[3] = {0}, beta[3] = {0};
    const real lambda = ht_factors(scale, alpha, beta);
    for (int n = item; n < 2 * HT_DIMS * HT_N1 * HT_N1; n += HT_ITEMS_ALL) {
        const int axis = n / (2 * HT_N1 * HT_N1);
        ht_put_matrices(axis, n / (HT_N1 * HT_N1) % 2, n / HT_N1 % HT_N1, n % HT_N1,
                        alpha[axis] * beta[axis] / lambda, alpha[axis] / alpha[0], tables);
    }
    for (int n = item; n < 2 * HT_MOST_POWER + 4; n += HT_ITEMS_ALL)
        tables[HT_AT_INVERSE + n] = n > 0 && n <= stages ? (real)1 / (real)n : (real)0;
    for (int n = item; n < 2 * HT_DIMS; n += HT_ITEMS_ALL) {
        const int axis = n / 2, odd = n % 2;
        const real ratio = alpha[axis] * beta[axis] / lambda;
        tables[HT_AT_BACK + n] = 1 / (ratio * (real)(odd ? 6 : 2));
        tables[HT_AT_GAIN + n] = odd ? beta[axis] : beta[axis] / ratio;
    }
}

/* ---- a field ---- */

/* Exchanges the sums of a field, whose units x holds; then x holds those of the next partner. */
#define HT_EXCHANGE(slot)                                                    \
    HT_GROUP_BARRIER();                                                      \
    ht_put_sums(t, slot, x);                                                 \
    if (slot + 1 < HT_DIMS)                                                  \
        ht_read_units(a, t, m3 + a->shift[2] + 1,                            \
                      ht_field_source(slot + 1 HT_EACH_SRC(HT_SRC_ARG)), x); \
    HT_GROUP_BARRIER();

#define HT_LINES_ALONG(k) ht_lines(t->tables + (2 * (k) + (p >> (k)&1)) * HT_MATRIX, k, b);
#define HT_ADD_PARTNER(axis, f, tp, tv, mp, mv)                                                    \
    {                                                                                              \
        const int p = (int)t->g ^ 1 << axis;                                                       \
        HT_EXCHANGE(axis)                                                                          \
        ht_get_sums(t->values + p * HT_CLASS + t->c * HT_ROW, b);                                  \
        HT_UNROLL                                                                                  \
        for (int k = 0; k < HT_DIMS; k++)                                                          \
            if (k != axis) HT_LINES_ALONG(k)                                                       \
        ht_low_lines(t->tables + (2 * axis + (p >> axis & 1)) * HT_MATRIX, axis, b, low_##axis);   \
        ht_add_lines(t->tables + HT_AT_SLOPES + (2 * axis + (int)(t->g >> axis & 1u)) * HT_MATRIX, \
                     axis, axis == 0, b, e);                                                       \
    }

/* ---- results ---- */

/* Puts a result of class p where its index is at most N. */
HT_INLINE void ht_put_result(const struct ht_team *t, const int f, const int p, const int a1,
                             const int a2, const int a3, const real value) {
    const int i1 = (p & 1) + 2 * a1, i2 = (p >> 1 & 1) + 2 * a2;
    const int i3 = (p >> 2 & 1) + 2 * a3;
    HT_LOCAL const real *back = t->tables + HT_AT_BACK;
    real factor = 1;
    if (a1 > 0) factor = back[p & 1];
    if (a2 > 0) factor *= back[2 + (p >> 1 & 1)];
    if (a3 > 0) factor *= back[4 + (p >> 2 & 1)];
    if (i1 <= HT_ORDER && i2 <= HT_ORDER && i3 <= HT_ORDER)
        t->values[f * HT_CLASS + t->c * HT_ROW + (i3 * HT_N2 + i2) * HT_N1 + i1] = value * factor;
}

#define HT_PUT_PARTNER(axis, f, tp, tv, mp, mv)                                                  \
    {                                                                                            \
        const int odd = (int)(t->g >> axis & 1u);                                                \
        const real beta = of_partner * t->tables[HT_AT_GAIN + 2 * axis + odd];                   \
        HT_EACH_LOW {                                                                            \
            const real above = S[HT_SUM(a1 + (axis == 0), a2 + (axis == 1), a3 + (axis == 2))];  \
            ht_put_result(                                                                       \
                t, f, (int)t->g ^ 1 << axis, a1, a2, a3,                                         \
                fma(beta, odd ? S[HT_SUM(a1, a2, a3)] : above, low_##axis[HT_LOW(a1, a2, a3)])); \
        }                                                                                        \
    }

/* Zeros behind the coefficients of a field, by one of the work-items of a cell.
 */
HT_INLINE void ht_put_gaps(const struct ht_team *t, const int f) {
    HT_UNROLL
    for (int s = HT_POSITIONS; s < HT_PADDED_COEFS; s++)
        if (t->g == 0) t->values[f * HT_CLASS + t->c * HT_ROW + s] = 0;
}
#define HT_PUT_GAPS(slot, f) ht_put_gaps(t, f);

HT_INLINE void ht_store_packs(const struct ht_team *t, const int f, const long node,
                              const long nodes, HT_GLOBAL real *dst) {
    HT_LOCAL const real *row = t->values + f * HT_CLASS + t->c * HT_ROW;
    HT_UNROLL
    for (int n = 0; n * HT_CORNERS * HT_BLOCK < HT_PADDED_COEFS; n++) {
        const unsigned s = (t->g + (unsigned)(n * HT_CORNERS)) * HT_BLOCK;
        HT_GLOBAL ht_pack *to = (HT_GLOBAL ht_pack *)(dst + HT_LAYOUT_AT(HT_BLOCK, s, 0, nodes));
        if (HT_ALL_INSIDE(n, HT_BLOCK) || s < HT_PADDED_COEFS)
            to[(unsigned)node] = *(HT_LOCAL const ht_pack *)(row + s);
    }
}
#define HT_STORE_FIELD(slot, f) ht_store_packs(t, f, node, nodes, dst##slot);

/* ---- a target ---- */

#define HT_DECLARE_LOW(axis, f, tp, tv, mp, mv) real low_##axis[HT_LOWS];

/* Computes one target per cell of the row (m2, m3). On entry x holds the units of the first partner
 * at the upper face, the team's faces the sums over the lower ones; on return both are those of the
 * next target along x3. */
HT_INLINE void ht_parity_target(const struct ht_step_args *a, const struct ht_team *t, long m1,
                                long m2, long m3, const real alpha, const real lambda,
                                real x[HT_ROUNDS][HT_FACE][HT_CHUNK] HT_EACH_SRC(HT_SRC_PARAM)
                                    HT_EACH_DST(HT_DST_PARAM) HT_EACH_MATERIAL(HT_MEDIUM_PARAM)) {
    const long nodes = a->dst_nodes;
    const long node = ht_target_row(a, m2, m3) + (m1 < a->end[0] ? m1 : a->end[0] - 1);
    real b[HT_POSITIONS], P[HT_LOWS], S[HT_SUMS];
    real of_scalar = 1, of_partner = 1;
    HT_EACH_PARTNER(HT_DECLARE_LOW)
    HT_EACH_PARTNER(HT_GET_MATERIALS) {
        real e[HT_POSITIONS];
        HT_EACH_PARTNER(HT_ADD_PARTNER)
        ht_read_units(a, t, m3 + a->shift[2] + 1, src0, x);
        HT_UNROLL
        for (int q = 0; q < HT_LOWS; q++) P[q] = 0;
        HT_UNROLL
        for (int q = 0; q < HT_SUMS; q++) S[q] = 0;
        ht_chain(1, lambda * of_scalar * of_partner, alpha * of_scalar, t->tables + HT_AT_INVERSE,
                 e, P, S);
    }
    {
        const int p = (int)t->g;
        HT_EXCHANGE(HT_DIMS)
        ht_get_sums(t->values + p * HT_CLASS + t->c * HT_ROW, b);
        HT_UNROLL
        for (int k = 0; k < HT_DIMS; k++) HT_LINES_ALONG(k)
    }
    if (m3 + 1 < ht_last_plane(a))
        ht_read_units(a, t, m3 + a->shift[2] + 2, ht_field_source(0 HT_EACH_SRC(HT_SRC_ARG)), x);
    ht_chain(0, lambda * of_scalar * of_partner, 1, t->tables + HT_AT_INVERSE, b, P, S);
    HT_GROUP_BARRIER();
    HT_EACH_LOW {
        ht_put_result(t, 0, (int)t->g, a1, a2, a3, P[HT_LOW(a1, a2, a3)]);
    }
    HT_EACH_PARTNER(HT_PUT_PARTNER)
    HT_EACH_DST(HT_PUT_GAPS)
    HT_GROUP_BARRIER();
    if (m1 < a->end[0]) {
        HT_EACH_DST(HT_STORE_FIELD)
    }
}

/* The sums over the faces below target plane m3, the first one. */
HT_INLINE void ht_first_faces(const struct ht_step_args *a, const struct ht_team *t, long m3,
                              real x[HT_ROUNDS][HT_FACE][HT_CHUNK] HT_EACH_SRC(HT_SRC_PARAM)) {
    HT_ROLLED
    for (int slot = 0; slot <= HT_DIMS; slot++) {
        ht_read_units(a, t, m3 + a->shift[2], ht_field_source(slot HT_EACH_SRC(HT_SRC_ARG)), x);
        ht_face_sums(t, x);
        HT_UNROLL
        for (int n = 0; n < HT_ROUNDS; n++) {
            HT_UNROLL
            for (int v = 0; v < HT_FACE; v++) ht_put_unit(HT_FACE_UNIT(t, slot, n, v), x[n][v]);
        }
    }
}

HT_KERNEL HT_GROUP_SIZE(HT_ITEMS_ALL) void ht_parity_chains(
    struct ht_step_args a, HT_GLOBAL const real *HT_RESTRICT scale HT_EACH_SRC(HT_SRC_PARAM)
                               HT_EACH_DST(HT_DST_PARAM) HT_EACH_MATERIAL(HT_MEDIUM_PARAM)) {
    HT_LOCAL_ARRAY(ht_wide, values, HT_CORNERS * HT_CLASS / HT_WIDE);
    HT_LOCAL_ARRAY(ht_wide, tables,
                   (HT_SIZE_CLASS_TABLES(HT_DIMS, HT_MATRIX, HT_ORDER) + HT_WIDE - 1) / HT_WIDE);
    HT_LOCAL_ARRAY(ht_wide, faces, HT_SIZE_CLASS_FACES(HT_DIMS, HT_FACES) / HT_WIDE);
    const long begin = ht_first_plane(&a), end = ht_last_plane(&a);
    const long m2 = a.begin[1] + HT_GROUP_2();
    real x[HT_ROUNDS][HT_FACE][HT_CHUNK], alpha[3], beta[3];
    const real lambda = ht_factors(scale, alpha, beta);
    struct ht_team team;
    team.item = HT_ITEM();
    team.g = (unsigned)HT_ITEM() / HT_CELLS;
    team.c = (int)((unsigned)HT_ITEM() % HT_CELLS);
    team.bits = ht_all_bits(&team);
    team.values = (HT_LOCAL real *)values;
    team.tables = (HT_LOCAL const real *)tables;
    team.faces = (HT_LOCAL real *)faces;
    const long m1 = a.begin[0] + HT_GROUP_1() * HT_CELLS + team.c;
    ht_set_nodes(&a, m1, m2, &team);
    ht_put_tables(HT_ITEM(), a.stages, scale, (HT_LOCAL real *)tables);
#if HT_DIMS > 2
    ht_first_faces(&a, &team, begin, x HT_EACH_SRC(HT_SRC_ARG));
#endif
    ht_read_units(&a, &team, begin + a.shift[2] + 1, ht_field_source(0 HT_EACH_SRC(HT_SRC_ARG)), x);
    for (long m3 = begin; m3 < end; m3++)
        ht_parity_target(&a, &team, m1, m2, m3, alpha[0], lambda,
                         x HT_EACH_SRC(HT_SRC_ARG) HT_EACH_DST(HT_DST_ARG)
                             HT_EACH_MATERIAL(HT_MEDIUM_ARG));
}
