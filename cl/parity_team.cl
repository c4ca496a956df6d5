/* The two scalar series of cl/parity_chains.cl in three dimensions for high
 * orders: a class g of parities of a target by a team of N + 1 work-items. A
 * group computes HT_CELLS neighbours along x1 and marches along x3. Work-item
 * (8 own + g) HT_CELLS + cell, own = 0 .. N, has two parts:
 *
 *     line  8 own + g of the (N + 1)^2 lines (i2, i3) of coefficients along x1,
 *           if there are as many: it reads a field's line at the eight
 *           vertices, forms the sums of all classes, interpolates them along x1
 *           and writes
 *               rows[a1][class][cell][i3 (N + 1) + i2];
 *     plane (a2, a3) of position a1 = own in class g, of one scalar after the
 *           other; then what planes b give to one position of results.
 *
 * Four cells make a warp of the work-items of one position: all its lanes take
 * the same branches, and all warps of a group the same way at the same time,
 * which long straight code needs to be fetched fast enough.
 *
 * The divergence e of the interpolants of v_k is again a polynomial of degree
 * 2N + 1 along each axis. Where a plane still has sums of derivatives its
 * derivative along x2 and x3 is the next entry; the one behind the last, N + 1,
 * follows from the interpolant (HT_AT_TOP).
 *
 * Of Lambda = Lambda_1 + Lambda_23 a power M has the terms
 *     M! / (m! c!) Lambda_23^m Lambda_1^c,    M = m + c,
 * and Lambda_1^c takes position b of x1 to a = b - c. So a work-item takes
 * powers of Lambda_23 in a plane b, from local memory, and sums what they give
 * to P and S at one position a, weighted by tables[HT_AT_WEIGHT(series, m, c)],
 * in registers, over the planes b that it has of this position
 * (ht_team_planes: work is shared out so that no work-item has many more than
 * others); then those of the same position are summed. Powers of a plane are
 * computed once for each a. Computing them once for two or all positions takes
 * fewer instructions and is slower, by the registers of the sums.
 *
 * In its plane position a along an axis holds j! r^a times the coefficient,
 * j = 2 a or 2 a + 1, as in cl/parity_chains.cl, but r_k = lambda_k / (lambda
 * sigma), sigma = (N+1)^2, so that numbers stay near those of the coefficients
 * at any order; lambda is the largest of the axes. Lines along x1 are
 * interpolated to twice the coefficients.
 */
#define HT_CLASSES 8
#define HT_PLANE (HT_N1 * HT_N1)
#define HT_ENTRIES (HT_PLANE * HT_N1)
#define HT_PACKS ((HT_ENTRIES + HT_BLOCK - 1) / HT_BLOCK)
#define HT_POS(a2, a3) ((a3)*HT_N1 + (a2))
/* Positions of results along an axis (i <= N), HT_REACH of S, whose derivative
 * they take: i <= N + 1, one more at odd N. In a plane: those of S, which has
 * that one more along x2 or x3, then those of P. */
#define HT_H (HT_ORDER / 2 + 1)
#define HT_REACH ((HT_ORDER + 1) / 2 + 1)
#define HT_LOWS (HT_H * HT_H)
#define HT_SUMS (HT_LOWS + 2 * (HT_REACH - HT_H) * HT_H)
#define HT_PART ((HT_LOWS + HT_SUMS + HT_WIDE - 1) / HT_WIDE * HT_WIDE)
#define HT_LOW(a2, a3) ((a3)*HT_H + (a2))
#define HT_SUM(a2, a3)                      \
    ((a3) == HT_H   ? HT_LOWS + HT_H + (a2) \
     : (a2) == HT_H ? HT_LOWS + (a3)        \
                    : HT_LOW(a2, a3))
#define HT_POWERS (2 * HT_ORDER) /* Lambda_23^m = 0 above */
#define HT_MEMBERS (HT_CLASSES * HT_N1)
/* Packs that hold a line, which begins anywhere in one. */
#define HT_MOST_SKIP \
    (HT_N1 % HT_BLOCK == 0 ? 0 : HT_BLOCK - (HT_N1 % 2 ? 1 : 2))
#define HT_LINE_PACKS ((HT_N1 + HT_MOST_SKIP + HT_BLOCK - 1) / HT_BLOCK)
#define HT_LINE (HT_LINE_PACKS * HT_BLOCK)

/* A row holds the plane of a scalar or of both, side by side, later what the
 * work-item has of P and S. */
#define HT_PLANES (HT_ROLL ? 2 : 1)
#define HT_ROW HT_SIZE_TEAM_ROW(HT_WIDE, HT_PLANES, HT_PLANE, HT_PART)
#define HT_AT_PLANE(series) \
    (HT_ROLL ? (series)*HT_SIZE_TEAM_PLANE(HT_WIDE, HT_PLANE) : 0)
#define HT_ROW_OF(g, a, cell) \
    ((((a)*HT_CLASSES + (g)) * HT_CELLS + (cell)) * HT_ROW)
#define HT_NEXT_ROW (HT_CLASSES * HT_CELLS * HT_ROW) /* from a to a + 1 */

/* Tables in local memory, those of ht_team_tables (src/kernel/parity_team.c).
 */
#define HT_PADDED_LINE ((HT_N1 + HT_WIDE - 1) / HT_WIDE * HT_WIDE)
#define HT_AT_LINES(axis, odd) (((axis)*2 + (odd)) * HT_N1 * HT_PADDED_LINE)
#define HT_AT_TOP(axis, odd) \
    (HT_AT_LINES(2, 0) + ((axis)*2 + (odd)) * HT_PADDED_LINE)
#define HT_AT_NEXT(axis) (HT_AT_TOP(2, 0) + (axis)*HT_PADDED_LINE)
#define HT_AT_WEIGHTS HT_AT_NEXT(2)
#define HT_AT_WEIGHT(series, m, c) \
    (HT_AT_WEIGHTS + (((series) * (HT_POWERS + 1) + (m)) * HT_N1 + (c)) * 2)
#define HT_AT_SCALE(odd) (HT_AT_WEIGHT(2, 0, 0) + (odd)*HT_N1)
#define HT_AT_UNSCALE(odd) (HT_AT_SCALE(2) + (odd) * (HT_H + 1))
#define HT_AT_SLOPE(odd) (HT_AT_UNSCALE(2) + (odd)*HT_N1)
#define HT_AT_BACK(axis, odd) (HT_AT_SLOPE(2) + ((axis)*2 + (odd)) * HT_H)
#define HT_AT_GAIN(axis, odd) (HT_AT_BACK(2, 0) + ((axis)*2 + (odd)) * HT_H)
#define HT_TABLES (HT_AT_GAIN(3, 0))
#define HT_ALL_ROWS HT_SIZE_TEAM_ROWS(HT_MEMBERS *HT_CELLS, HT_ROW)
#define HT_VALUES (HT_ALL_ROWS + HT_TABLES + HT_SIZE_TEAM_LOWS(HT_CELLS, HT_H))

/* A work-item in its group, and what the group shares. */
struct ht_team {
    int member, cell, own;
    unsigned g;
    HT_LOCAL real *rows, *lows;
    HT_LOCAL const real *tables;
};

/* Interpolants of v_k at positions of results. */
#define HT_LOW_ROW(k, g, a, cell) \
    ((((k)*HT_CLASSES + (g)) * HT_H + (a)) * HT_CELLS + (cell)) * HT_LOWS

/* ---- a field's lines ---- */

/* Drops the first `skip` values of a line. */
HT_INLINE void ht_skip(const int skip, real line[HT_LINE]) {
#if HT_MOST_SKIP > 1
    HT_UNROLL
    for (int i = 0; i < HT_N1 + HT_MOST_SKIP - 2; i++)
        line[i] = skip & 2 ? line[i + 2] : line[i];
#endif
#if HT_MOST_SKIP % 2
    HT_UNROLL
    for (int i = 0; i < HT_N1; i++) line[i] = skip & 1 ? line[i + 1] : line[i];
#endif
}

/* Line number `line` of a field at the vertices, bit k of w: upper side. */
HT_INLINE void ht_read_lines(const int line, const long nodes,
                             const int node[HT_CLASSES],
                             HT_GLOBAL const real *src,
                             real x[HT_CLASSES][HT_LINE]) {
    int first = line * HT_N1 / HT_BLOCK;
    HT_RECOMPUTE(first); /* offsets of all fields would take registers */
    HT_UNROLL
    for (int b = 0; b < HT_LINE_PACKS; b++) {
        const int pack = first + b < HT_PACKS ? first + b : HT_PACKS - 1;
        HT_GLOBAL const ht_pack *from =
            (HT_GLOBAL const ht_pack *)src + pack * nodes;
        HT_UNROLL
        for (int w = 0; w < HT_CLASSES; w++)
            ht_unpack(from[(unsigned)node[w]], &x[w][b * HT_BLOCK]);
    }
}

/* Their sums of all classes, interpolated along x1. */
HT_INLINE void ht_write_lines(const struct ht_team *t, const int line,
                              real x[HT_CLASSES][HT_LINE]) {
    HT_UNROLL
    for (int w = 0; w < HT_CLASSES; w++) ht_skip(line * HT_N1 % HT_BLOCK, x[w]);
    const real sign2 = line % HT_N1 & 1 ? (real)-1 : (real)1;
    const real sign3 = line / HT_N1 & 1 ? (real)-1 : (real)1;
    HT_UNROLL
    for (int i = 0; i < HT_N1; i++) {
        const real sign[3] = {HT_SIGN_OF(i, 0), sign2, sign3};
        HT_UNROLL
        for (int k = 0; k < 3; k++) {
            HT_UNROLL
            for (int w = 0; w < HT_CLASSES; w++) {
                if (w >> k & 1) continue;
                ht_butterfly(sign[k], &x[w][i], &x[w + (1 << k)][i]);
            }
        }
    }
    HT_UNROLL
    for (int g = 0; g < HT_CLASSES; g++) {
        HT_UNROLL
        for (int a1 = 0; a1 < HT_N1; a1++) {
            /* equal values without derivatives interpolate to a constant */
            const int begin = !(g & 1) && a1 > 0 ? 1 : 0;
            real sum = 0;
            HT_UNROLL
            for (int i = 0; i < HT_N1; i++)
                if (i >= begin)
                    sum = fma(g & 1 ? ht_odd[a1 * HT_N1 + i]
                                    : ht_even[a1 * HT_N1 + i],
                              x[g][i], sum);
            t->rows[HT_ROW_OF(g, a1, t->cell) + line] = sum;
        }
    }
}

/* The rows of a field, by the group, which has read the rows of another. */
HT_INLINE void ht_put_rows(const struct ht_team *t, const long nodes,
                           const int node[HT_CLASSES],
                           HT_GLOBAL const real *src) {
    HT_GROUP_BARRIER();
    HT_ROLLED
    for (int line = t->member; line < HT_PLANE; line += HT_MEMBERS) {
        real x[HT_CLASSES][HT_LINE];
        ht_read_lines(line, nodes, node, src, x);
        ht_write_lines(t, line, x);
    }
    HT_GROUP_BARRIER();
}

/* ---- planes ---- */

HT_INLINE void ht_get_plane(HT_LOCAL const real *row, real plane[HT_PLANE]) {
    HT_UNROLL
    for (int s = 0; s < HT_PLANE; s += HT_WIDE) {
        real v[HT_WIDE];
        ht_widen(*(HT_LOCAL const ht_wide *)(row + s), v);
        HT_UNROLL
        for (int q = 0; q < HT_WIDE; q++)
            if (s + q < HT_PLANE) plane[s + q] = v[q];
    }
}

HT_INLINE void ht_keep_plane(HT_LOCAL real *row, const real plane[HT_PLANE]) {
    HT_UNROLL
    for (int s = 0; s < HT_PLANE; s += HT_WIDE) {
        real v[HT_WIDE];
        HT_UNROLL
        for (int q = 0; q < HT_WIDE; q++)
            v[q] = s + q < HT_PLANE ? plane[s + q] : (real)0;
        *(HT_LOCAL ht_wide *)(row + s) = ht_widened(v);
    }
}

HT_INLINE void ht_get_line(HT_LOCAL const real *table,
                           real line[HT_PADDED_LINE]) {
    HT_UNROLL
    for (int s = 0; s < HT_PADDED_LINE; s += HT_WIDE)
        ht_widen(*(HT_LOCAL const ht_wide *)(table + s), line + s);
}

/* Entry n of line number q of a plane along x2 (axis 0) or x3 (1). */
#define HT_ON(axis, q, n) ((axis) == 0 ? (q)*HT_N1 + (n) : (n)*HT_N1 + (q))

HT_INLINE real ht_dot(const int axis, const int q,
                      const real line[HT_PADDED_LINE],
                      const real from[HT_PLANE]) {
    real sum = line[0] * from[HT_ON(axis, q, 0)];
    HT_UNROLL
    for (int i = 1; i < HT_N1; i++)
        sum = fma(line[i], from[HT_ON(axis, q, i)], sum);
    return sum;
}

/* The first `rows` rows of the interpolation along an axis, of the first
 * `lines` lines. */
HT_INLINE void ht_interpolate(const struct ht_team *t, const int axis,
                              const int odd, const int rows, const int lines,
                              const real from[HT_PLANE], real to[HT_PLANE]) {
    HT_UNROLL
    for (int m = 0; m < rows; m++) {
        real line[HT_PADDED_LINE];
        ht_get_line(t->tables + HT_AT_LINES(axis, odd) + m * HT_PADDED_LINE,
                    line);
        HT_UNROLL
        for (int q = 0; q < lines; q++)
            to[HT_ON(axis, q, m)] = ht_dot(axis, q, line, from);
    }
}

/* Sums of derivatives to the positions of class g, in place. */
HT_INLINE void ht_to_positions(const struct ht_team *t, real plane[HT_PLANE]) {
    real between[HT_PLANE];
    ht_interpolate(t, 0, (int)(t->g >> 1 & 1u), HT_N1, HT_N1, plane, between);
    ht_interpolate(t, 1, (int)(t->g >> 2), HT_N1, HT_N1, between, plane);
}

/* Those of class p that results need. */
HT_INLINE void ht_put_lows(const struct ht_team *t, const unsigned p,
                           const real plane[HT_PLANE], HT_LOCAL real *to) {
    real between[HT_PLANE], whole[HT_PLANE];
    ht_interpolate(t, 0, (int)(p >> 1 & 1u), HT_H, HT_N1, plane, between);
    ht_interpolate(t, 1, (int)(p >> 2), HT_H, HT_H, between, whole);
    HT_UNROLL
    for (int q = 0; q < HT_LOWS; q++) to[q] = whole[HT_POS(q % HT_H, q / HT_H)];
}

/* e += `by` times the derivative of a plane of v along x2 (axis 0) or x3 (1),
 * both sums of derivatives. odd: the parity of v along the axis. */
HT_INLINE void ht_add_derivative(const struct ht_team *t, const int axis,
                                 const int odd, const real by,
                                 const real plane[HT_PLANE], real e[HT_PLANE]) {
    real top[HT_PADDED_LINE], next[HT_PADDED_LINE];
    ht_get_line(t->tables + HT_AT_TOP(axis, odd), top);
    ht_get_line(t->tables + HT_AT_NEXT(axis), next);
    HT_UNROLL
    for (int i = 0; i < HT_N1; i++) {
        top[i] *= by;
        next[i] *= by;
    }
    HT_UNROLL
    for (int q = 0; q < HT_N1; q++) {
        e[HT_ON(axis, q, HT_ORDER)] += ht_dot(axis, q, top, plane);
        HT_UNROLL
        for (int i = 0; i < HT_ORDER; i++)
            e[HT_ON(axis, q, i)] = fma(next[i], plane[HT_ON(axis, q, i + 1)],
                                       e[HT_ON(axis, q, i)]);
    }
}

/* ---- the series ---- */

/* Adds what the powers of a plane at position b give to P and S at position a
 * of x1: part[HT_SUM(..)] to S, part[HT_SUMS + HT_LOW(..)] to P. */
HT_INLINE void ht_add_powers(const struct ht_team *t, const int series,
                             const int a, const int b, const real lambda,
                             real u[HT_PLANE], real part[HT_PART]) {
    HT_LOCAL const real *weights = t->tables + HT_AT_WEIGHT(series, 0, b - a);
    real power = 1;
    if (HT_MEDIUM_DEGREE >= 0)
        for (int c = a; c < b; c++) power *= lambda;
    HT_UNROLL
    for (int m = 0; m <= HT_POWERS; m++) {
        HT_LOCAL const real *w =
            weights + (HT_AT_WEIGHT(0, m, 0) - HT_AT_WEIGHT(0, 0, 0));
        const real of_p = power * w[0], of_s = power * w[1];
        HT_UNROLL
        for (int q = 0; q < HT_PLANE; q++) {
            const int a2 = q % HT_N1, a3 = q / HT_N1;
            if (a2 + a3 > HT_POWERS - m) continue;
            if (a2 < HT_H && a3 < HT_H)
                part[HT_SUMS + HT_LOW(a2, a3)] =
                    fma(of_p, u[q], part[HT_SUMS + HT_LOW(a2, a3)]);
            if (a2 < HT_REACH && a3 < HT_REACH && (a2 < HT_H || a3 < HT_H))
                part[HT_SUM(a2, a3)] = fma(of_s, u[q], part[HT_SUM(a2, a3)]);
        }
        if (HT_MEDIUM_DEGREE >= 0) power *= lambda;
        HT_UNROLL
        for (int q = 0; q < HT_PLANE; q++) {
            const int a2 = q % HT_N1, a3 = q / HT_N1;
            if (a2 + a3 > HT_POWERS - m - 1) continue;
            if (a2 == HT_ORDER)
                u[q] = u[(q + HT_N1) % HT_PLANE];
            else if (a3 == HT_ORDER)
                u[q] = u[q + 1];
            else
                u[q] = u[q + 1] + u[q + HT_N1];
        }
    }
}

/* What the planes b of a scalar, which are in rows, give to the work-item's
 * position a. ht_team_planes: a, begin and end of b. */
HT_INLINE void ht_add_planes(const struct ht_team *t, const int series,
                             const real lambda, real part[HT_PART]) {
    const int a = ht_team_planes[3 * t->own];
    const int end = ht_team_planes[3 * t->own + 2];
    HT_ROLLED
    for (int b = ht_team_planes[3 * t->own + 1]; b < end; b++) {
        real u[HT_PLANE];
        ht_get_plane(
            t->rows + HT_ROW_OF(t->g, b, t->cell) + HT_AT_PLANE(series), u);
        ht_add_powers(t, series, a, b, lambda, u, part);
    }
}

HT_INLINE void ht_put_record(HT_LOCAL real *to, const real part[HT_PART]) {
    HT_UNROLL
    for (int s = 0; s < HT_PART; s += HT_WIDE)
        *(HT_LOCAL ht_wide *)(to + s) = ht_widened(part + s);
}

/* Where P and S at position a are when their sums are complete. */
HT_INLINE HT_LOCAL real *ht_record_of(const struct ht_team *t, const int a) {
    return t->rows + HT_ROW_OF(t->g, ht_team_owners[a], t->cell);
}

/* The sums over the work-items of the same position. */
HT_INLINE void ht_sum_records(const struct ht_team *t) {
    const int packs = HT_PART / HT_WIDE;
    for (int n = t->own; n < HT_REACH * packs; n += HT_N1) {
        const int a = n / packs, s = n % packs * HT_WIDE;
        const int owners = ht_team_owners[a + 1] - ht_team_owners[a];
        HT_LOCAL real *first = ht_record_of(t, a) + s;
        real sum[HT_WIDE];
        ht_widen(*(HT_LOCAL ht_wide *)first, sum);
        for (int o = 1; o < owners; o++) {
            real v[HT_WIDE];
            ht_widen(*(HT_LOCAL ht_wide *)(first + o * HT_NEXT_ROW), v);
            HT_UNROLL
            for (int q = 0; q < HT_WIDE; q++) sum[q] += v[q];
        }
        *(HT_LOCAL ht_wide *)first = ht_widened(sum);
    }
}

/* ---- results ---- */

/* Puts `by` times positions (a1, a2, a3) of class p of field f, those whose
 * indices are at most N. value[HT_LOW(a2, a3)]. */
HT_INLINE void ht_put_results(const struct ht_team *t, const int f,
                              const unsigned p, const int a1, const real by,
                              const real value[HT_LOWS]) {
    const int odd1 = (int)(p & 1u), odd2 = (int)(p >> 1 & 1u);
    const int odd3 = (int)(p >> 2);
    HT_LOCAL real *to = t->rows +
                        (f * HT_CELLS + t->cell) * HT_PACKS * HT_BLOCK +
                        (odd3 * HT_N1 + odd2) * HT_N1 + odd1 + 2 * a1;
    if (odd1 + 2 * a1 > HT_ORDER) return;
    HT_UNROLL
    for (int a3 = 0; a3 < HT_H; a3++) {
        const real back3 = by * t->tables[HT_AT_BACK(1, odd3) + a3];
        if (odd3 + 2 * a3 > HT_ORDER) continue;
        HT_UNROLL
        for (int a2 = 0; a2 < HT_H; a2++)
            if (odd2 + 2 * a2 <= HT_ORDER)
                to[2 * (a3 * HT_N1 + a2) * HT_N1] =
                    value[HT_LOW(a2, a3)] *
                    (back3 * t->tables[HT_AT_BACK(0, odd2) + a2]);
    }
}

HT_INLINE void ht_get_record(HT_LOCAL const real *row, const int count,
                             real record[HT_PART]) {
    HT_UNROLL
    for (int s = 0; s < HT_PART; s += HT_WIDE)
        if (s < count)
            ht_widen(*(HT_LOCAL const ht_wide *)(row + s), record + s);
}

/* v_k of class g with bit k inverted: its interpolant and the derivative of S
 * along axis k. */
HT_INLINE void ht_put_partner(const struct ht_team *t, const int axis,
                              const int f, const int a1, const real of_partner,
                              const real here[HT_PART],
                              const real next[HT_PART]) {
    const int odd = (int)(t->g >> axis & 1u);
    const unsigned of = t->g ^ 1u << axis;
    HT_LOCAL const real *low = t->lows + HT_LOW_ROW(axis, (int)of, a1, t->cell);
    const real gain =
        of_partner * t->tables[HT_AT_GAIN(axis, odd) + (axis == 0 ? a1 : 0)];
    real value[HT_LOWS];
    HT_UNROLL
    for (int q = 0; q < HT_LOWS; q++) {
        const int a2 = q % HT_H, a3 = q / HT_H;
        /* beyond HT_REACH: of i > N, which is not stored */
        const int b2 = axis == 1 && a2 + 1 < HT_REACH ? a2 + 1 : a2;
        const int b3 = axis == 2 && a3 + 1 < HT_REACH ? a3 + 1 : a3;
        const real s = axis == 0 ? next[HT_SUM(a2, a3)]
                       : odd     ? here[HT_SUM(a2, a3)]
                                 : here[HT_SUM(b2, b3)];
        value[q] = fma(gain, s, (real)0.5 * low[q]);
    }
    ht_put_results(t, f, of, a1, 1, value);
}

#define HT_PUT_PARTNER(axis, f, tp, tv, mp, mv)                \
    if ((axis == 0 ? first : t->own) < HT_H)                   \
        ht_put_partner(t, axis, f, axis == 0 ? first : t->own, \
                       of_partner * unscale[axis == 0], here, next);

#define HT_STORE_FIELD(slot, f)                                           \
    for (int b = t->member; b < HT_PACKS; b += HT_MEMBERS) {              \
        HT_LOCAL const real *from =                                       \
            t->rows + ((f)*HT_CELLS + t->cell) * HT_PACKS * HT_BLOCK;     \
        real w[HT_BLOCK];                                                 \
        HT_UNROLL                                                         \
        for (int j = 0; j < HT_BLOCK; j++)                                \
            w[j] = b * HT_BLOCK + j < HT_ENTRIES ? from[b * HT_BLOCK + j] \
                                                 : (real)0;               \
        ((HT_GLOBAL ht_pack *)dst##slot)[b * a->dst_nodes + node] =       \
            ht_packed(w);                                                 \
    }

/* ---- a target ---- */

/* Source nodes around a target. */
HT_INLINE void ht_set_nodes(const struct ht_step_args *a, const long m1,
                            const long m2, const long m3,
                            int node[HT_CLASSES]) {
    const long i1 = m1 + a->shift[0];
    const int left = (int)ht_closed(a, 0, i1);
    const int right = (int)ht_closed(a, 0, i1 + 1);
    HT_UNROLL
    for (int w = 0; w < HT_CLASSES; w += 2) {
        const int row = (int)ht_source_row(a, m2 + a->shift[1] + (w >> 1 & 1),
                                           m3 + a->shift[2] + (w >> 2));
        node[w] = row + left;
        node[w + 1] = row + right;
    }
}

/* The positions of a scalar in the work-item's plane: e (series 1), p (0).
 * first: its position of v_1. */
HT_INLINE void ht_get_scalar(const struct ht_step_args *a,
                             const struct ht_team *t, const int series,
                             const int first, const int node[HT_CLASSES],
                             const real of_scalar,
                             real scalar[HT_PLANE] HT_EACH_SRC(HT_SRC_PARAM)) {
    const int odd = (int)(t->g & 1u);
    const real by = t->tables[HT_AT_SCALE(odd) + t->own];
    HT_UNROLL
    for (int q = 0; q < HT_PLANE; q++) scalar[q] = 0;
    HT_ROLLED
    for (int slot = series ? 0 : 3; slot < (series ? 3 : 4); slot++) {
        const unsigned of = slot < 3 ? t->g ^ 1u << slot : t->g;
        const int at = slot == 0 ? first : t->own;
        real plane[HT_PLANE];
        ht_put_rows(t, a->src_nodes, node,
                    ht_field_source(slot HT_EACH_SRC(HT_SRC_ARG)));
        ht_get_plane(t->rows + HT_ROW_OF((int)of, at, t->cell), plane);
        if (slot < 3 && at < HT_H)
            ht_put_lows(t, of, plane,
                        t->lows + HT_LOW_ROW(slot, (int)of, at, t->cell));
        if (slot == 1)
            ht_add_derivative(t, 0, (int)(of >> 1 & 1u), by, plane, scalar);
        else if (slot == 2)
            ht_add_derivative(t, 1, (int)(of >> 2), by, plane, scalar);
        else {
            const real times =
                slot == 3 ? by : t->tables[HT_AT_SLOPE(odd) + t->own];
            HT_UNROLL
            for (int q = 0; q < HT_PLANE; q++) scalar[q] = times * plane[q];
        }
    }
    if (HT_MEDIUM_DEGREE >= 0 && series) {
        HT_UNROLL
        for (int q = 0; q < HT_PLANE; q++) scalar[q] *= of_scalar;
    }
    ht_to_positions(t, scalar);
}

/* The planes of a scalar, in rows. */
HT_INLINE void ht_put_scalar(const struct ht_step_args *a,
                             const struct ht_team *t, const int series,
                             const int first, const int node[HT_CLASSES],
                             const real of_scalar HT_EACH_SRC(HT_SRC_PARAM)) {
    real scalar[HT_PLANE];
    ht_get_scalar(a, t, series, first, node, of_scalar,
                  scalar HT_EACH_SRC(HT_SRC_ARG));
    HT_GROUP_BARRIER();
    ht_keep_plane(t->rows + HT_ROW_OF(t->g, t->own, t->cell) +
                      HT_AT_PLANE(series),
                  scalar);
}

/* P and S of all classes, in records. Where rows hold the planes of both
 * scalars, no sums are kept while a field is read. */
HT_INLINE void ht_sum_series(const struct ht_step_args *a,
                             const struct ht_team *t, const int first,
                             const int node[HT_CLASSES], const real of_scalar,
                             const real lambda HT_EACH_SRC(HT_SRC_PARAM)) {
    real part[HT_PART];
#if HT_ROLL
    HT_ROLLED
    for (int series = 1; series >= 0; series--)
        ht_put_scalar(a, t, series, first, node,
                      of_scalar HT_EACH_SRC(HT_SRC_ARG));
    HT_GROUP_BARRIER();
#endif
    HT_UNROLL
    for (int q = 0; q < HT_PART; q++) part[q] = 0;
    HT_ROLLED
    for (int series = 1; series >= 0; series--) {
#if !HT_ROLL
        ht_put_scalar(a, t, series, first, node,
                      of_scalar HT_EACH_SRC(HT_SRC_ARG));
        HT_GROUP_BARRIER();
#endif
        ht_add_planes(t, series, lambda, part);
    }
    HT_GROUP_BARRIER();
    ht_put_record(t->rows + HT_ROW_OF(t->g, t->own, t->cell), part);
    HT_GROUP_BARRIER();
    ht_sum_records(t);
    HT_GROUP_BARRIER();
}

HT_INLINE void ht_team_target(const struct ht_step_args *a,
                              const struct ht_team *t, long m1, long m2,
                              long m3 HT_EACH_SRC(HT_SRC_PARAM)
                                  HT_EACH_DST(HT_DST_PARAM)
                                      HT_EACH_MATERIAL(HT_MEDIUM_PARAM)) {
    const long inside = m1 < a->end[0] ? m1 : a->end[0] - 1;
    const long node = ht_target_row(a, m2, m3) + inside;
    /* e takes v_1 in positions of x1: those of v_1 where it is odd, the next
     * ones where it is even; there the last work-item has the first one. */
    const int first = !(t->g & 1u)         ? t->own
                      : t->own + 1 < HT_N1 ? t->own + 1
                                           : 0;
    int around[HT_CLASSES];
    real of_scalar = 1, of_partner = 1;
    HT_EACH_PARTNER(HT_GET_MATERIALS)
    ht_set_nodes(a, inside, m2, m3, around);
    ht_sum_series(a, t, first, around, of_scalar,
                  of_scalar * of_partner HT_EACH_SRC(HT_SRC_ARG));
    {
        real here[HT_PART], next[HT_PART];
        const int above = t->g & 1u ? first : t->own + 1;
        const int at[2] = {t->own < HT_H ? t->own : 0,
                           above < HT_REACH ? above : 0};
        HT_LOCAL const real *table =
            t->tables + HT_AT_UNSCALE((int)(t->g & 1u));
        const real unscale[2] = {table[at[0]], table[at[1]]};
        ht_get_record(ht_record_of(t, at[0]), HT_PART, here);
        ht_get_record(ht_record_of(t, at[1]), HT_LOWS, next);
        HT_GROUP_BARRIER();
        if (t->own < HT_H)
            ht_put_results(t, 0, t->g, t->own, unscale[0], here + HT_SUMS);
        HT_EACH_PARTNER(HT_PUT_PARTNER)
    }
    HT_GROUP_BARRIER();
    if (m1 < a->end[0]) {
        HT_EACH_DST(HT_STORE_FIELD)
    }
}

HT_KERNEL HT_GROUP_SIZE(HT_GROUP_ITEMS) void ht_parity_team(
    struct ht_step_args a,
    HT_GLOBAL const real *HT_RESTRICT scale HT_EACH_SRC(HT_SRC_PARAM)
        HT_EACH_DST(HT_DST_PARAM) HT_EACH_MATERIAL(HT_MEDIUM_PARAM)) {
    /* rows, tables, interpolants of v_k */
    HT_OPEN_ARRAY(ht_wide, memory, (HT_VALUES + HT_WIDE - 1) / HT_WIDE);
    const long begin = ht_first_plane(&a), end = ht_last_plane(&a);
    const long m2 = a.begin[1] + HT_GROUP_2();
    struct ht_team team;
    (void)scale;
    team.member = HT_ITEM() / HT_CELLS;
    team.cell = HT_ITEM() % HT_CELLS;
    team.g = (unsigned)(team.member % HT_CLASSES);
    team.own = team.member / HT_CLASSES;
    team.rows = (HT_LOCAL real *)memory;
    HT_LOCAL real *tables = team.rows + HT_ALL_ROWS;
    team.tables = tables;
    team.lows = tables + HT_TABLES;
    const long m1 = a.begin[0] + HT_GROUP_1() * HT_CELLS + team.cell;
    for (int n = HT_ITEM(); n < HT_TABLES; n += HT_GROUP_ITEMS)
        tables[n] = ht_team_tables[n];
    HT_GROUP_BARRIER();
    for (long m3 = begin; m3 < end; m3++)
        ht_team_target(&a, &team, m1, m2,
                       m3 HT_EACH_SRC(HT_SRC_ARG) HT_EACH_DST(HT_DST_ARG)
                           HT_EACH_MATERIAL(HT_MEDIUM_ARG));
}
