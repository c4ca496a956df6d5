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
 * Of both series cl/team_series.cl tells. Lines along x1 are interpolated to
 * twice the coefficients.
 */
/* Packs that hold a line, which begins anywhere in one. */
#define HT_MOST_SKIP \
    (HT_N1 % HT_BLOCK == 0 ? 0 : HT_BLOCK - (HT_N1 % 2 ? 1 : 2))
#define HT_LINE_PACKS ((HT_N1 + HT_MOST_SKIP + HT_BLOCK - 1) / HT_BLOCK)
#define HT_LINE (HT_LINE_PACKS * HT_BLOCK)

/* Of x1: from twice the coefficients to positions, SLOPE to the derivative's
 * (by the parity of e). Of roles 1 and 2: interpolation, derivatives. */
#define HT_AT_LINES(role, odd) \
    (HT_AT_OWN_TABLES + (((role)-1) * 2 + (odd)) * HT_N1 * HT_PADDED_LINE)
#define HT_AT_TOP(role, odd) \
    (HT_AT_LINES(3, 0) + (((role)-1) * 2 + (odd)) * HT_PADDED_LINE)
#define HT_AT_NEXT(role) (HT_AT_TOP(3, 0) + ((role)-1) * HT_PADDED_LINE)
#define HT_AT_SCALE(odd) (HT_AT_NEXT(3) + (odd)*HT_N1)
#define HT_AT_SLOPE(odd) (HT_AT_SCALE(2) + (odd)*HT_N1)
#define HT_ALL_ROWS (HT_CELLS * HT_TEAM)
#define HT_VALUES (HT_ALL_ROWS + HT_TABLES + HT_SIZE_TEAM_LOWS(HT_CELLS, HT_H))

/* ---- a field's lines ---- */

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
    for (int w = 0; w < HT_CLASSES; w++)
        ht_skip(HT_MOST_SKIP, line * HT_N1 % HT_BLOCK, HT_N1, x[w]);
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

/* Sums of derivatives to the positions of class g, in place. */
HT_INLINE void ht_to_positions(const struct ht_team *t, real plane[HT_PLANE]) {
    real between[HT_PLANE];
    ht_interpolate(t->tables + HT_AT_LINES(1, (int)(t->g >> 1 & 1u)), 1, HT_N1,
                   HT_N1, plane, between);
    ht_interpolate(t->tables + HT_AT_LINES(2, (int)(t->g >> 2)), 2, HT_N1,
                   HT_N1, between, plane);
}

/* Those of class p that results need. */
HT_INLINE void ht_put_lows(const struct ht_team *t, const unsigned p,
                           const real plane[HT_PLANE], HT_LOCAL real *to) {
    real between[HT_PLANE], whole[HT_PLANE];
    ht_interpolate(t->tables + HT_AT_LINES(1, (int)(p >> 1 & 1u)), 1, HT_H,
                   HT_N1, plane, between);
    ht_interpolate(t->tables + HT_AT_LINES(2, (int)(p >> 2)), 2, HT_H, HT_H,
                   between, whole);
    HT_UNROLL
    for (int q = 0; q < HT_LOWS; q++)
        to[q] = whole[q / HT_H * HT_N1 + q % HT_H];
}

/* e += `by` times the derivative of a plane of v along the fast axis (role 1)
 * or the slow one (2), both sums of derivatives. odd: the parity of v there. */
HT_INLINE void ht_add_derivative(const struct ht_team *t, const int role,
                                 const int odd, const real by,
                                 const real plane[HT_PLANE], real e[HT_PLANE]) {
    real top[HT_PADDED_LINE], next[HT_PADDED_LINE];
    ht_get_line(t->tables + HT_AT_TOP(role, odd), top);
    ht_get_line(t->tables + HT_AT_NEXT(role), next);
    HT_UNROLL
    for (int i = 0; i < HT_N1; i++) {
        top[i] *= by;
        next[i] *= by;
    }
    HT_UNROLL
    for (int q = 0; q < HT_N1; q++) {
        e[HT_ON(role, q, HT_ORDER)] += ht_dot(role, q, top, plane);
        HT_UNROLL
        for (int i = 0; i < HT_ORDER; i++)
            e[HT_ON(role, q, i)] = fma(next[i], plane[HT_ON(role, q, i + 1)],
                                       e[HT_ON(role, q, i)]);
    }
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

/* The position of v_1 that a member derives: that of the scalar where v_1 is
 * odd, the next one where it is even; there the last member has the first one.
 */
HT_INLINE int ht_first_of(const struct ht_team *t) {
    if (!(t->g >> HT_OWN & 1u)) return t->own;
    return t->own + 1 < HT_N1 ? t->own + 1 : 0;
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
            ht_add_derivative(t, 1, (int)(of >> 1 & 1u), by, plane, scalar);
        else if (slot == 2)
            ht_add_derivative(t, 2, (int)(of >> 2), by, plane, scalar);
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

/* The sums over the work-items of the same position, when all have read their
 * planes. */
HT_INLINE void ht_sum_records(const struct ht_team *t,
                              const real part[HT_PART]) {
    const int packs = HT_PART / HT_WIDE;
    HT_GROUP_BARRIER();
    ht_put_record(t->rows + HT_ROW_OF(t->g, t->own, t->cell), part);
    HT_GROUP_BARRIER();
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
    HT_GROUP_BARRIER();
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
    ht_sum_records(t, part);
}

#define HT_PUT_PARTNER(axis, f, tp, tv, mp, mv)                              \
    {                                                                        \
        const int at = axis == HT_OWN ? first : t->own;                      \
        if (at < HT_H) {                                                     \
            ht_get_partner(t, axis, at, of_partner *unscale[axis == HT_OWN], \
                           axis == HT_OWN ? next : here, value);             \
            ht_put_results(t, f, t->g ^ 1u << axis, at, value);              \
        }                                                                    \
    }

/* Results of a target, in rows by field and cell, from complete records. */
HT_INLINE void ht_put_target(const struct ht_team *t, const real of_partner) {
    const int odd = (int)(t->g >> HT_OWN & 1u), first = ht_first_of(t);
    const int above = odd ? first : t->own + 1;
    const int at[2] = {t->own < HT_H ? t->own : 0,
                       above < HT_REACH ? above : 0};
    HT_LOCAL const real *table = t->tables + HT_AT_UNSCALE(odd);
    const real unscale[2] = {table[at[0]], table[at[1]]};
    real here[HT_PART], next[HT_PART], value[HT_LOWS];
    ht_get_record(ht_record_of(t, at[0]), 0, HT_PART, here);
    ht_get_record(ht_record_of(t, at[1]), 0, HT_LOWS, next);
    HT_GROUP_BARRIER();
    if (t->own < HT_H) {
        ht_get_scalar_results(t, unscale[0], here, value);
        ht_put_results(t, 0, t->g, t->own, value);
    }
    HT_EACH_PARTNER(HT_PUT_PARTNER)
    HT_GROUP_BARRIER();
}

HT_INLINE void ht_team_target(const struct ht_step_args *a,
                              const struct ht_team *t, const long m1,
                              const long m2, const long m3,
                              const real of_scalar,
                              const real of_partner HT_EACH_SRC(HT_SRC_PARAM)) {
    int around[HT_CLASSES];
    ht_set_nodes(a, m1, m2, m3, around);
    ht_sum_series(a, t, ht_first_of(t), around, of_scalar,
                  of_scalar * of_partner HT_EACH_SRC(HT_SRC_ARG));
    ht_put_target(t, of_partner);
}

HT_KERNEL HT_GROUP_SIZE(HT_GROUP_ITEMS) void ht_parity_team(
    struct ht_step_args a,
    HT_GLOBAL const real *HT_RESTRICT scale HT_EACH_SRC(HT_SRC_PARAM)
        HT_EACH_DST(HT_DST_PARAM) HT_EACH_MATERIAL(HT_MEDIUM_PARAM)) {
    /* rows, tables, interpolants of v_k */
    HT_OPEN_ARRAY(ht_wide, memory, (HT_VALUES + HT_WIDE - 1) / HT_WIDE);
    const long begin = ht_first_plane(&a), end = ht_last_plane(&a);
    const long m2 = a.begin[1] + HT_GROUP_2();
    HT_LOCAL real *rows = (HT_LOCAL real *)memory;
    HT_LOCAL real *tables = rows + HT_ALL_ROWS;
    struct ht_team team;
    ht_set_team(rows, tables, tables + HT_TABLES, &team);
    const long m1 = a.begin[0] + HT_GROUP_1() * HT_CELLS + team.cell;
    (void)scale;
    const long inside = m1 < a.end[0] ? m1 : a.end[0] - 1;
    for (long m3 = begin; m3 < end; m3++) {
        const long node = ht_target_row(&a, m2, m3) + inside;
        real of_scalar = 1, of_partner = 1;
        HT_EACH_PARTNER(HT_GET_MATERIALS)
        ht_team_target(&a, &team, inside, m2, m3, of_scalar,
                       of_partner HT_EACH_SRC(HT_SRC_ARG));
        if (m1 >= a.end[0]) continue;
        for (int r = 0; r < HT_STORES; r++)
            HT_STORE_RESULT(&a, &team, node, r, ht_get_result(&team, r))
    }
}
