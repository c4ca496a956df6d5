/* Two scalar series in powers of Lambda by teams: what the kernels of teams
 * (cl/parity_team.cl, cl/parity_faces.cl) have in common. A work-item is the
 * member own = 0 .. N of the team of a class g of parities of a target. The
 * text gives the axis along which positions belong to members, HT_OWN, those of
 * planes, HT_FAST and HT_SLOW, the number of planes in a row, HT_PLANES, and of
 * values of tables, HT_TABLES.
 *
 * Of Lambda = Lambda_own + Lambda_plane a power M has the terms
 *     M! / (m! c!) Lambda_plane^m Lambda_own^c,    M = m + c,
 * and Lambda_own^c takes position b to a = b - c. So a work-item takes powers
 * of Lambda_plane in the plane of a position b, from local memory, and sums
 * what they give to P and S at one position a, weighted by
 * tables[HT_AT_WEIGHT(series, m, c)], in registers, over the planes b that it
 * has of this position (ht_team_planes: work is shared out so that no work-item
 * has many more than others); then those of the same position are summed.
 * Powers of a plane are computed once for each a. Computing them once for two
 * or all positions takes fewer instructions and is slower, by the registers of
 * the sums.
 *
 * Position a along an axis k holds j! r^a times the coefficient, j = 2 a or
 * 2 a + 1, as in cl/parity_chains.cl, but r_k = lambda_k / (lambda sigma),
 * sigma the power of two next to (N+1)^2, so that numbers stay near those of
 * the coefficients at any order and, where spacings are equal, r rounds
 * nothing; lambda is the largest of the axes.
 */
#define HT_CLASSES 8
#define HT_PLANE (HT_N1 * HT_N1)
#define HT_ENTRIES (HT_PLANE * HT_N1)
#define HT_PACKS ((HT_ENTRIES + HT_BLOCK - 1) / HT_BLOCK)
/* Positions of results along an axis (i <= N), HT_REACH of S, whose derivative
 * they take: i <= N + 1, one more at odd N. In a plane: those of S, which has
 * that one more along the fast or the slow axis, then those of P. */
#define HT_H (HT_ORDER / 2 + 1)
#define HT_REACH ((HT_ORDER + 1) / 2 + 1)
#define HT_LOWS (HT_H * HT_H)
#define HT_SUMS (HT_LOWS + 2 * (HT_REACH - HT_H) * HT_H)
#define HT_PART ((HT_LOWS + HT_SUMS + HT_WIDE - 1) / HT_WIDE * HT_WIDE)
#define HT_LOW(fast, slow) ((slow)*HT_H + (fast))
#define HT_SUM(fast, slow)                      \
    ((slow) == HT_H   ? HT_LOWS + HT_H + (fast) \
     : (fast) == HT_H ? HT_LOWS + (slow)        \
                      : HT_LOW(fast, slow))
#define HT_POWERS (2 * HT_ORDER) /* Lambda_plane^m = 0 above */
#define HT_MEMBERS (HT_CLASSES * HT_N1)

/* A row holds the plane of a scalar or of both (HT_PLANES), side by side, later
 * what the work-item has of P and S. */
#define HT_ROW HT_SIZE_TEAM_ROW(HT_WIDE, HT_PLANES, HT_PLANE, HT_PART)
#define HT_AT_PLANE(series) \
    (HT_PLANES > 1 ? (series)*HT_SIZE_TEAM_PLANE(HT_WIDE, HT_PLANE) : 0)
#define HT_TEAM HT_SIZE_TEAM_ROWS(HT_WIDE, HT_MEMBERS, HT_ROW)
#define HT_ROW_OF(g, a, cell) ((cell)*HT_TEAM + ((a)*HT_CLASSES + (g)) * HT_ROW)
#define HT_NEXT_ROW (HT_CLASSES * HT_ROW) /* from a to a + 1 */

/* Tables in local memory, ht_team_tables (src/kernel/team_series.c), those of
 * lines in vectors; behind them the kernel's own. role 0: HT_OWN, 1: HT_FAST,
 * 2: HT_SLOW. */
#define HT_PADDED_LINE ((HT_N1 + HT_WIDE - 1) / HT_WIDE * HT_WIDE)
#define HT_AT_WEIGHT(series, m, c) \
    ((((series) * (HT_POWERS + 1) + (m)) * HT_N1 + (c)) * 2)
#define HT_AT_UNSCALE(odd) (HT_AT_WEIGHT(2, 0, 0) + (odd)*HT_REACH)
#define HT_AT_BACK(role, odd) \
    (HT_AT_UNSCALE(2) + (((role)-1) * 2 + (odd)) * HT_H)
#define HT_AT_GAIN(role, odd) (HT_AT_BACK(3, 0) + ((role)*2 + (odd)) * HT_H)
#define HT_AT_OWN_TABLES ((HT_AT_GAIN(3, 0) + HT_WIDE - 1) / HT_WIDE * HT_WIDE)
#define HT_ROLE(axis) ((axis) == HT_OWN ? 0 : (axis) == HT_FAST ? 1 : 2)

/* A work-item in its group, and what the group shares. */
struct ht_team {
    int member, cell, own;
    unsigned g;
    HT_LOCAL real *rows, *lows;
    HT_LOCAL const real *tables;
};

/* Interpolants of v_k at positions of results, twice the coefficients along
 * HT_OWN. */
#define HT_LOW_ROW(k, g, a, cell) \
    ((((k)*HT_CLASSES + (g)) * HT_H + (a)) * HT_CELLS + (cell)) * HT_LOWS

HT_INLINE void ht_set_team(HT_LOCAL real *rows, HT_LOCAL real *tables,
                           HT_LOCAL real *lows, struct ht_team *t) {
    t->member = HT_ITEM() / HT_CELLS;
    t->cell = HT_ITEM() % HT_CELLS;
    t->g = (unsigned)(t->member % HT_CLASSES);
    t->own = t->member / HT_CLASSES;
    t->rows = rows;
    t->tables = tables;
    t->lows = lows;
    for (int n = HT_ITEM(); n < HT_TABLES; n += HT_GROUP_ITEMS)
        tables[n] = ht_team_tables[n];
    HT_GROUP_BARRIER();
}

/* Of what packs hold, drops the first `skip` values, at most `most`, so that
 * `count` begin at the first one. */
HT_INLINE void ht_skip(const int most, const int skip, const int count,
                       real *x) {
    HT_UNROLL
    for (int i = 0; i < (most > 1 ? count + most - 2 : 0); i++)
        x[i] = skip & 2 ? x[i + 2] : x[i];
    HT_UNROLL
    for (int i = 0; i < (most % 2 ? count : 0); i++)
        x[i] = skip & 1 ? x[i + 1] : x[i];
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

/* Entry n of line number q of a plane along the fast axis (role 1) or the slow
 * one (2). */
#define HT_ON(role, q, n) ((role) == 1 ? (q)*HT_N1 + (n) : (n)*HT_N1 + (q))

HT_INLINE real ht_dot(const int role, const int q,
                      const real line[HT_PADDED_LINE],
                      const real from[HT_PLANE]) {
    real sum = line[0] * from[HT_ON(role, q, 0)];
    HT_UNROLL
    for (int i = 1; i < HT_N1; i++)
        sum = fma(line[i], from[HT_ON(role, q, i)], sum);
    return sum;
}

/* The first `rows` rows of a matrix in a table times the first `lines` lines of
 * a plane. */
HT_INLINE void ht_interpolate(HT_LOCAL const real *table, const int role,
                              const int rows, const int lines,
                              const real from[HT_PLANE], real to[HT_PLANE]) {
    HT_UNROLL
    for (int m = 0; m < rows; m++) {
        real line[HT_PADDED_LINE];
        ht_get_line(table + m * HT_PADDED_LINE, line);
        HT_UNROLL
        for (int q = 0; q < lines; q++)
            to[HT_ON(role, q, m)] = ht_dot(role, q, line, from);
    }
}

/* ---- the series ---- */

/* Adds what the powers of a plane at position b give to P and S at position a
 * of HT_OWN: part[HT_SUM(..)] to S, part[HT_SUMS + HT_LOW(..)] to P. */
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
            const int i = q % HT_N1, j = q / HT_N1;
            if (i + j > HT_POWERS - m) continue;
            if (i < HT_H && j < HT_H)
                part[HT_SUMS + HT_LOW(i, j)] =
                    fma(of_p, u[q], part[HT_SUMS + HT_LOW(i, j)]);
            if (i < HT_REACH && j < HT_REACH && (i < HT_H || j < HT_H))
                part[HT_SUM(i, j)] = fma(of_s, u[q], part[HT_SUM(i, j)]);
        }
        if (HT_MEDIUM_DEGREE >= 0) power *= lambda;
        HT_UNROLL
        for (int q = 0; q < HT_PLANE; q++) {
            const int i = q % HT_N1, j = q / HT_N1;
            if (i + j > HT_POWERS - m - 1) continue;
            if (i == HT_ORDER)
                u[q] = u[(q + HT_N1) % HT_PLANE];
            else if (j == HT_ORDER)
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

/* Where P and S at position a of HT_OWN are when their sums are complete. */
HT_INLINE HT_LOCAL real *ht_record_of(const struct ht_team *t, const int a) {
    return t->rows + HT_ROW_OF(t->g, ht_team_owners[a], t->cell);
}

/* ---- results ---- */

#define HT_STRIDE(axis) ((axis) == 0 ? 1 : (axis) == 1 ? HT_N1 : HT_PLANE)

/* Values of class p by their positions in a plane to coefficients. */
HT_INLINE void ht_to_coefficients(const struct ht_team *t, const unsigned p,
                                  real value[HT_LOWS]) {
    HT_LOCAL const real *fast =
        t->tables + HT_AT_BACK(1, (int)(p >> HT_FAST & 1u));
    HT_LOCAL const real *slow =
        t->tables + HT_AT_BACK(2, (int)(p >> HT_SLOW & 1u));
    HT_UNROLL
    for (int q = 0; q < HT_LOWS; q++)
        value[q] *= slow[q / HT_H] * fast[q % HT_H];
}

/* Puts coefficients of class p of field f at position `at` of HT_OWN, those
 * whose indices are at most N. value[HT_LOW(fast, slow)]. */
HT_INLINE void ht_put_results(const struct ht_team *t, const int f,
                              const unsigned p, const int at,
                              const real value[HT_LOWS]) {
    const int odd = (int)(p >> HT_OWN & 1u);
    const int fast = (int)(p >> HT_FAST & 1u), slow = (int)(p >> HT_SLOW & 1u);
    HT_LOCAL real *to = t->rows +
                        (f * HT_CELLS + t->cell) * HT_PACKS * HT_BLOCK +
                        (odd + 2 * at) * HT_STRIDE(HT_OWN) +
                        fast * HT_STRIDE(HT_FAST) + slow * HT_STRIDE(HT_SLOW);
    if (odd + 2 * at > HT_ORDER) return;
    HT_UNROLL
    for (int q = 0; q < HT_LOWS; q++) {
        const int i = q % HT_H, j = q / HT_H;
        if (fast + 2 * i <= HT_ORDER && slow + 2 * j <= HT_ORDER)
            to[2 * (j * HT_STRIDE(HT_SLOW) + i * HT_STRIDE(HT_FAST))] =
                value[q];
    }
}

/* Values begin to end of a record, by whole vectors. */
HT_INLINE void ht_get_record(HT_LOCAL const real *row, const int begin,
                             const int end, real record[HT_PART]) {
    HT_UNROLL
    for (int s = 0; s < HT_PART; s += HT_WIDE)
        if (s + HT_WIDE > begin && s < end)
            ht_widen(*(HT_LOCAL const ht_wide *)(row + s), record + s);
}

/* p of class g from P of a record, by what unscales its position of HT_OWN. */
HT_INLINE void ht_get_scalar_results(const struct ht_team *t,
                                     const real unscale,
                                     const real record[HT_PART],
                                     real value[HT_LOWS]) {
    HT_UNROLL
    for (int q = 0; q < HT_LOWS; q++) value[q] = unscale * record[HT_SUMS + q];
    ht_to_coefficients(t, t->g, value);
}

/* v_k of class g with bit k inverted at position `at` of HT_OWN: its
 * interpolant, and `by` times the derivative of S along axis k. record: at the
 * same position of S, along HT_OWN at that which the derivative takes. */
HT_INLINE void ht_get_partner(const struct ht_team *t, const int axis,
                              const int at, const real by,
                              const real record[HT_PART], real value[HT_LOWS]) {
    const int role = HT_ROLE(axis), odd = (int)(t->g >> axis & 1u);
    const unsigned of = t->g ^ 1u << axis;
    HT_LOCAL const real *low = t->lows + HT_LOW_ROW(axis, (int)of, at, t->cell);
    const real gain =
        by * t->tables[HT_AT_GAIN(role, odd) + (role == 0 ? at : 0)];
    HT_UNROLL
    for (int q = 0; q < HT_LOWS; q++) {
        const int i = q % HT_H, j = q / HT_H;
        /* beyond HT_REACH: of an index above N, which is not stored */
        const int up_i = role == 1 && i + 1 < HT_REACH ? i + 1 : i;
        const int up_j = role == 2 && j + 1 < HT_REACH ? j + 1 : j;
        const real s = role == 0 || odd ? record[HT_SUM(i, j)]
                                        : record[HT_SUM(up_i, up_j)];
        value[q] = fma(gain, s, (real)0.5 * low[q]);
    }
    ht_to_coefficients(t, of, value);
}

/* Results of all fields, by packs: number r of a work-item from rows, and to
 * the target `node`. One without a pack reads the last one. */
#define HT_ALL_PACKS (HT_FIELDS * HT_PACKS)
#define HT_STORES ((HT_ALL_PACKS + HT_MEMBERS - 1) / HT_MEMBERS)
HT_INLINE ht_pack ht_get_result(const struct ht_team *t, const int r) {
    const int own = t->member + r * HT_MEMBERS;
    const int n = own < HT_ALL_PACKS ? own : HT_ALL_PACKS - 1;
    const int f = n / HT_PACKS, b = n % HT_PACKS;
    return ((HT_LOCAL const ht_pack *)
                t->rows)[(f * HT_CELLS + t->cell) * HT_PACKS + b];
}

HT_INLINE void ht_store_pack(HT_GLOBAL real *field, const long at, const int b,
                             const ht_pack pack) {
    real w[HT_BLOCK];
    ht_unpack(pack, w);
    HT_UNROLL
    for (int j = 0; j < HT_BLOCK; j++)
        if (b * HT_BLOCK + j >= HT_ENTRIES) w[j] = 0;
    ((HT_GLOBAL ht_pack *)field)[at] = ht_packed(w);
}
#define HT_CHOOSE_DST(slot, f) \
    if (n / HT_PACKS == f) field = dst##slot;
#define HT_STORE_RESULT(a, t, node, r, pack)                           \
    {                                                                  \
        const int n = (t)->member + (r)*HT_MEMBERS, b = n % HT_PACKS;  \
        HT_GLOBAL real *field = dst0;                                  \
        HT_EACH_DST(HT_CHOOSE_DST)                                     \
        if (n < HT_ALL_PACKS)                                          \
            ht_store_pack(field, b *(a)->dst_nodes + (node), b, pack); \
    }
