/* The two scalar series by teams, cl/team_series.cl, with members for positions
 * of x3 and planes (x1, x2), where a group has local memory for faces. A group
 * computes HT_CELLS neighbours along x1 and marches along x3. Of every target
 * it reads the four nodes of its upper face alone; of the lower one it has kept
 * what it needs. Work-item 8 own + g of a cell has four parts:
 *
 *     pair  plane i3 of a field at two nodes, neighbours along x1 at the lower
 *           or the upper side along x2: their sum and difference, interpolated
 *           along x1. It swaps one of them for that of the other side, which
 *           its neighbour has, and does the same along x2:
 *               faces[field][quarter][cell][i3][a2 (N + 1) + a1],
 *           quarter: the parities of (x1, x2);
 *     lines along x3, (quarter, a1, a2), of e = div v and of p, each with what
 *           is kept of the lower face; it keeps the upper one;
 *     lines of v_k at the positions of results, in the same way;
 *     plane (a1, a2) of position a3 = own in class g: sums of the series; then
 *           results of some of the fields.
 *
 * The divergence e of the interpolants of v_k is again a polynomial of degree
 * 2N + 1 along each axis. Along x1 and x2 it is taken of positions, along x3 of
 * derivatives at the face: each is the next one; the one behind the last,
 * N + 1, follows from the interpolant, so from both faces (ht_team_top).
 *
 * Kept of the lower face: p and e of each line, in place of the last value of e
 * two for the two parities of x3, with what v_3 gives to them; v_k of the lines
 * of results.
 */
#define HT_QUARTERS 4
#define HT_LINES (HT_QUARTERS * HT_PLANE)
#define HT_ROUNDS ((HT_LINES + HT_MEMBERS - 1) / HT_MEMBERS)
#define HT_LINE_OF(t, round) ((t)->member + (round)*HT_MEMBERS)
#define HT_HAS_LINE(line) (HT_LINES % HT_MEMBERS == 0 || (line) < HT_LINES)
#define HT_FACE_PLANE HT_SIZE_FACE_PLANE(HT_WIDE, HT_PLANE)
#define HT_FACE_CELL HT_SIZE_FACE_CELL(HT_WIDE, HT_N1, HT_PLANE)
#define HT_FACE_FIELD HT_SIZE_FACE_FIELD(HT_WIDE, HT_CELLS, HT_FACE_CELL)
#define HT_FACE(slot, quarter, cell, i3)                        \
    ((slot)*HT_FACE_FIELD + (quarter)*HT_CELLS * HT_FACE_CELL + \
     ((quarter) + 1) / 2 * HT_WIDE + (cell)*HT_FACE_CELL + (i3)*HT_FACE_PLANE)
/* Rows of planes take the place of the faces of v_1 and v_2, and then results;
 * records that of the others. */
#define HT_RECORDS HT_SIZE_FACE_HALF(2 * HT_FACE_FIELD, HT_CELLS * HT_TEAM)
#define HT_FACES (2 * HT_RECORDS)

/* kept[..][cell]: value i of a line of p, of e (N + 2 of them), of a line of
 * results of v_k. */
#define HT_KEPT_P(i, line) (((i)*HT_LINES + (line)) * HT_CELLS)
#define HT_KEPT_E(i, line) HT_KEPT_P(HT_N1 + (i), line)
#define HT_KEPT_V(i, low)          \
    (HT_KEPT_P(2 * HT_N1 + 1, 0) + \
     ((i)*3 * HT_QUARTERS * HT_LOWS + (low)) * HT_CELLS)
#define HT_VALUES                                               \
    (HT_FACES + HT_TABLES + HT_SIZE_TEAM_LOWS(HT_CELLS, HT_H) + \
     HT_SIZE_KEPT(HT_CELLS, HT_N1, HT_LOWS))

/* Factors of the derivative of positions along x1 and x2, by the parity of e.
 * Matrices are in the text: ht_team_lines by role and parity, ht_team_top,
 * ht_team_next. */
#define HT_AT_SLOPE(role, odd) (HT_AT_OWN_TABLES + ((role)-1) * 2 + (odd))

/* Packs that hold a plane, which begins anywhere in one. */
#define HT_MOST_SKIP (HT_PLANE % HT_BLOCK == 0 ? 0 : HT_BLOCK - 1)
#define HT_FACE_PACKS ((HT_PLANE + HT_MOST_SKIP + HT_BLOCK - 1) / HT_BLOCK)

/* The planes of a field at a pair of nodes along x1, as they are read. */
struct ht_pair {
    real low[HT_FACE_PACKS * HT_BLOCK], high[HT_FACE_PACKS * HT_BLOCK];
};

/* What the lines of a work-item give to planes of even positions along x3, then
 * of odd ones. */
struct ht_line_results {
    real of[HT_ROUNDS][2][HT_N1];
};

/* ---- faces ---- */

/* A plane at a node, whose first pack is at `from`. */
HT_INLINE void ht_read_plane(HT_GLOBAL const ht_pack *from, const long nodes,
                             real x[HT_FACE_PACKS * HT_BLOCK]) {
    HT_UNROLL
    for (int b = 0; b < HT_FACE_PACKS; b++)
        ht_unpack(from[b * nodes], &x[b * HT_BLOCK]);
}

/* What a work-item has of a face: plane i3 of a field, of a pair of nodes at
 * the lower or upper side along x2, then of a parity of x1 (bit). */
struct ht_share {
    int bit, i3, slot;
    int left, right;               /* nodes of plane 0 */
    HT_GLOBAL const ht_pack *from; /* at node 0 */
};
HT_INLINE void ht_set_share(const struct ht_step_args *a,
                            const struct ht_team *t, const long m1,
                            const long m2,
                            struct ht_share *share HT_EACH_SRC(HT_SRC_PARAM)) {
    share->bit = t->member % 2;
    share->i3 = t->member / 2 % HT_N1;
    share->slot = t->member / 2 / HT_N1;
    const long i1 = (m1 < a->end[0] ? m1 : a->end[0] - 1) + a->shift[0];
    const int row = (int)ht_source_row(a, m2 + a->shift[1] + share->bit, 0);
    share->left = row + (int)ht_closed(a, 0, i1);
    share->right = row + (int)ht_closed(a, 0, i1 + 1);
    share->from = (HT_GLOBAL const ht_pack *)ht_field_source(
                      share->slot HT_EACH_SRC(HT_SRC_ARG)) +
                  share->i3 * HT_PLANE / HT_BLOCK * a->src_nodes;
}

HT_INLINE void ht_read_pair(const struct ht_step_args *a,
                            const struct ht_share *share, const int face,
                            struct ht_pair *pair) {
    const int plane =
        (int)ht_closed(a, 2, face + a->shift[2]) * (int)a->src_plane;
    ht_read_plane(share->from + (unsigned)(share->left + plane), a->src_nodes,
                  pair->low);
    ht_read_plane(share->from + (unsigned)(share->right + plane), a->src_nodes,
                  pair->high);
}

/* A line of sums of derivatives, `pitch` apart, to positions of a parity, in
 * place. */
HT_INLINE void ht_to_positions(const int role, const int odd, const int pitch,
                               real *at) {
    real line[HT_N1];
    HT_UNROLL
    for (int m = 0; m < HT_N1; m++) {
        line[m] = 0;
        HT_UNROLL
        for (int i = 0; i < HT_N1; i++) {
            const real by =
                ht_team_lines[((role * 2 + odd) * HT_N1 + m) * HT_PADDED_LINE +
                              i];
            /* equal values without derivatives give a constant */
            if (odd || m == 0 || i > 0)
                line[m] = fma(by, at[i * pitch], line[m]);
        }
    }
    HT_UNROLL
    for (int m = 0; m < HT_N1; m++) at[m * pitch] = line[m];
}

/* The sums and differences of two planes along their fast axis (role 1) or the
 * slow one (2), at positions, in place of them. */
HT_INLINE void ht_sum_planes(const int role, real low[HT_PLANE],
                             real high[HT_PLANE]) {
    HT_UNROLL
    for (int q = 0; q < HT_PLANE; q++)
        ht_butterfly(HT_SIGN_OF(role == 1 ? q % HT_N1 : q / HT_N1, 0), &low[q],
                     &high[q]);
    HT_UNROLL
    for (int q = 0; q < HT_N1; q++) {
        ht_to_positions(role, 0, HT_ON(role, 0, 1), low + HT_ON(role, q, 0));
        ht_to_positions(role, 1, HT_ON(role, 0, 1), high + HT_ON(role, q, 0));
    }
}

/* Two work-items, bit 0 and 1, exchange planes; in a warp they are neighbours.
 */
#if HT_PTX >= 70 && 32 % (2 * HT_CELLS) == 0
#define HT_PAIR_BARRIER() HT_KEEP_ORDER()
#else
#define HT_PAIR_BARRIER() HT_GROUP_BARRIER()
#endif

/* The work-item's part of a face, when the group has read the results of a
 * target. */
HT_INLINE void ht_put_face(const struct ht_team *t,
                           const struct ht_share *share, struct ht_pair *pair) {
    HT_LOCAL real *own =
        t->rows + HT_FACE(share->slot, 2 * share->bit, t->cell, share->i3);
    HT_LOCAL real *both =
        t->rows + HT_FACE(share->slot, share->bit, t->cell, share->i3);
    const int skip = share->i3 * HT_PLANE % HT_BLOCK;
    const int next =
        HT_FACE(0, 1 + 2 * share->bit, 0, 0) - HT_FACE(0, 2 * share->bit, 0, 0);
    const int upper =
        HT_FACE(0, 2 + share->bit, 0, 0) - HT_FACE(0, share->bit, 0, 0);
    ht_skip(HT_MOST_SKIP, skip, HT_PLANE, pair->low);
    ht_skip(HT_MOST_SKIP, skip, HT_PLANE, pair->high);
    ht_sum_planes(1, pair->low, pair->high);
    HT_GROUP_BARRIER();
    ht_keep_plane(own, pair->low);
    ht_keep_plane(own + next, pair->high);
    HT_PAIR_BARRIER();
    ht_get_plane(both, pair->low);
    ht_get_plane(both + upper, pair->high);
    ht_sum_planes(2, pair->low, pair->high);
    ht_keep_plane(both, pair->low);
    ht_keep_plane(both + upper, pair->high);
    HT_GROUP_BARRIER();
}

/* ---- lines along x3 ---- */

/* A line of a face with the lower one that is kept, which it replaces, to its
 * sums of both parities. Kept values of a line are `after` apart. */
HT_INLINE void ht_line_sums(HT_LOCAL const real *line, HT_LOCAL real *kept,
                            const int after, real even[HT_N1],
                            real odd[HT_N1]) {
    real upper[HT_N1];
    HT_UNROLL
    for (int i = 0; i < HT_N1; i++) {
        upper[i] = line[i * HT_FACE_PLANE];
        even[i] = kept[i * after];
    }
    HT_UNROLL
    for (int i = 0; i < HT_N1; i++) {
        kept[i * after] = odd[i] = upper[i];
        ht_butterfly(HT_SIGN_OF(i, 0), &even[i], &odd[i]);
    }
}

HT_INLINE void ht_scalar_line(const struct ht_team *t, const int line,
                              HT_LOCAL real *kept, real to[2][HT_N1]) {
    ht_line_sums(t->rows + HT_FACE(3, line / HT_PLANE, t->cell, 0) +
                     line % HT_PLANE,
                 kept + HT_KEPT_P(0, line), HT_LINES * HT_CELLS, to[0], to[1]);
    ht_to_positions(0, 0, 1, to[0]);
    ht_to_positions(0, 1, 1, to[1]);
}

/* e_i at the face, but for what v_3 gives to the last one; v_3. */
HT_INLINE void ht_face_divergence(const struct ht_team *t, const int line,
                                  real e[HT_N1], real v3[HT_N1]) {
    const int quarter = line / HT_PLANE, at = line % HT_PLANE;
    const int odd1 = quarter & 1, odd2 = quarter >> 1;
    /* behind the last position there is none */
    const int none1 = odd1 && at % HT_N1 == HT_ORDER;
    const int none2 = odd2 && at / HT_N1 == HT_ORDER;
    const real slope1 = none1 ? 0 : t->tables[HT_AT_SLOPE(1, odd1)];
    const real slope2 = none2 ? 0 : t->tables[HT_AT_SLOPE(2, odd2)];
    HT_LOCAL const real *v1 = t->rows + HT_FACE(0, quarter ^ 1, t->cell, 0) +
                              at + (odd1 && !none1 ? 1 : 0);
    HT_LOCAL const real *v2 = t->rows + HT_FACE(1, quarter ^ 2, t->cell, 0) +
                              at + (odd2 && !none2 ? HT_N1 : 0);
    HT_LOCAL const real *from = t->rows + HT_FACE(2, quarter, t->cell, 0) + at;
    HT_UNROLL
    for (int i = 0; i < HT_N1; i++) {
        e[i] =
            fma(slope1, v1[i * HT_FACE_PLANE], slope2 * v2[i * HT_FACE_PLANE]);
        v3[i] = from[i * HT_FACE_PLANE];
    }
    HT_UNROLL
    for (int i = 0; i < HT_ORDER; i++)
        e[i] = fma(ht_team_next[i], v3[i + 1], e[i]);
}

/* What v_3 of a parity gives to the last sum of e: of the upper face, and of
 * the same values as lower face. */
HT_INLINE void ht_top_sums(const int odd, const real v3[HT_N1], real *upper,
                           real *lower) {
    real sum[2] = {0, 0};
    HT_UNROLL
    for (int i = 0; i < HT_N1; i++)
        sum[i % 2] =
            fma(ht_team_top[odd * HT_PADDED_LINE + i], v3[i], sum[i % 2]);
    *upper = sum[0] + sum[1];
    *lower = odd ? sum[1] - sum[0] : sum[0] - sum[1];
}

HT_INLINE void ht_divergence_line(const struct ht_team *t, const int line,
                                  const real of_scalar, HT_LOCAL real *kept,
                                  real to[2][HT_N1]) {
    HT_LOCAL real *lower = kept + HT_KEPT_E(0, line);
    const int after = HT_LINES * HT_CELLS;
    const real sign = HT_SIGN_OF(HT_ORDER, 0);
    real e[HT_N1], v3[HT_N1], below[HT_N1 + 1];
    ht_face_divergence(t, line, e, v3);
    HT_UNROLL
    for (int i = 0; i <= HT_N1; i++) below[i] = lower[i * after];
    HT_UNROLL
    for (int i = 0; i < HT_ORDER; i++) {
        lower[i * after] = to[1][i] = e[i];
        to[0][i] = below[i];
        ht_butterfly(HT_SIGN_OF(i, 0), &to[0][i], &to[1][i]);
    }
    HT_UNROLL
    for (int odd = 0; odd < 2; odd++) {
        real up, down; /* v_3 is odd where e is even */
        ht_top_sums(!odd, v3, &up, &down);
        to[odd][HT_ORDER] = e[HT_ORDER] + up + below[HT_ORDER + odd];
        lower[(HT_ORDER + odd) * after] =
            fma(odd ? -sign : sign, e[HT_ORDER], down);
    }
    HT_UNROLL
    for (int odd = 0; odd < 2; odd++) {
        ht_to_positions(0, odd, 1, to[odd]);
        HT_UNROLL
        for (int m = 0; m < HT_N1; m++)
            if (HT_MEDIUM_DEGREE >= 0) to[odd][m] *= of_scalar;
    }
}

/* Interpolants of v_k at positions of results. */
HT_INLINE void ht_put_lows(const struct ht_team *t, HT_LOCAL real *kept) {
    HT_ROLLED
    for (int n = t->member; n < 3 * HT_QUARTERS * HT_LOWS; n += HT_MEMBERS) {
        const int k = n / (HT_QUARTERS * HT_LOWS),
                  quarter = n / HT_LOWS % HT_QUARTERS;
        const int low = n % HT_LOWS;
        real sum[2][HT_N1];
        ht_line_sums(t->rows + HT_FACE(k, quarter, t->cell, 0) +
                         low / HT_H * HT_N1 + low % HT_H,
                     kept + HT_KEPT_V(0, n),
                     3 * HT_QUARTERS * HT_LOWS * HT_CELLS, sum[0], sum[1]);
        HT_UNROLL
        for (int odd = 0; odd < 2; odd++) {
            HT_UNROLL
            for (int m = 0; m < HT_H; m++) {
                real value = 0;
                HT_UNROLL
                for (int i = 0; i < HT_N1; i++)
                    value = fma(odd ? ht_odd[m * HT_N1 + i]
                                    : ht_even[m * HT_N1 + i],
                                sum[odd][i], value);
                t->lows[HT_LOW_ROW(k, quarter + 4 * odd, m, t->cell) + low] =
                    value;
            }
        }
    }
}

/* The planes of a scalar, e (series 1) or p (0), in rows, when the group has
 * read those of another or of faces. */
HT_INLINE void ht_put_scalar(const struct ht_team *t, const int series,
                             const real of_scalar, HT_LOCAL real *kept) {
    struct ht_line_results to;
    if (series) {
        HT_UNROLL
        for (int r = 0; r < HT_ROUNDS; r++)
            if (HT_HAS_LINE(HT_LINE_OF(t, r)))
                ht_divergence_line(t, HT_LINE_OF(t, r), of_scalar, kept,
                                   to.of[r]);
    } else {
        HT_UNROLL
        for (int r = 0; r < HT_ROUNDS; r++)
            if (HT_HAS_LINE(HT_LINE_OF(t, r)))
                ht_scalar_line(t, HT_LINE_OF(t, r), kept, to.of[r]);
    }
    HT_GROUP_BARRIER();
    HT_UNROLL
    for (int r = 0; r < HT_ROUNDS; r++) {
        const int line = HT_LINE_OF(t, r);
        if (!HT_HAS_LINE(line)) continue;
        HT_UNROLL
        for (int n = 0; n < 2 * HT_N1; n++) {
            const int g = line / HT_PLANE + 4 * (n / HT_N1);
            t->rows[HT_ROW_OF(g, n % HT_N1, t->cell) + line % HT_PLANE] =
                to.of[r][n / HT_N1][n % HT_N1];
        }
    }
    HT_GROUP_BARRIER();
}

/* ---- results ---- */

/* Values begin to end of P and S at position a of x3: the sums over its
 * owners. */
HT_INLINE void ht_sum_record(const struct ht_team *t, const int a,
                             const int begin, const int end,
                             real record[HT_PART]) {
    HT_LOCAL const real *from = ht_record_of(t, a) + HT_RECORDS;
    ht_get_record(from, begin, end, record);
    HT_ROLLED
    for (int o = ht_team_owners[a] + 1; o < ht_team_owners[a + 1]; o++) {
        real more[HT_PART];
        from += HT_NEXT_ROW;
        ht_get_record(from, begin, end, more);
        HT_UNROLL
        for (int s = begin; s < end; s++) record[s] += more[s];
    }
}

/* Results of a target at position `at` of x3, in rows by field and cell: of P
 * and v_3, or of v_1 and v_2. Local memory is read first, since no read may
 * pass a write. */
#define HT_VALUE_OF(axis) value[(axis) == HT_SLOW || (axis) == HT_OWN]
#define HT_GET_OTHERS(axis, f, tp, tv, mp, mv) \
    if (axis != HT_OWN)                        \
        ht_get_partner(t, axis, at, by, record, HT_VALUE_OF(axis));
#define HT_PUT_OTHERS(axis, f, tp, tv, mp, mv) \
    if (axis != HT_OWN)                        \
        ht_put_results(t, f, t->g ^ 1u << axis, at, HT_VALUE_OF(axis));
#define HT_PUT_OWN(axis, f, tp, tv, mp, mv) \
    if (axis == HT_OWN)                     \
        ht_put_results(t, f, t->g ^ 1u << axis, at, HT_VALUE_OF(axis));
HT_INLINE void ht_put_position(const struct ht_team *t, const int at,
                               const int others, const real of_partner) {
    const int odd = (int)(t->g >> HT_OWN & 1u), above = odd ? at : at + 1;
    const int next = above < HT_REACH ? above : at;
    HT_LOCAL const real *unscale = t->tables + HT_AT_UNSCALE(odd);
    const real unscale_at = unscale[at];
    real record[HT_PART], value[2][HT_LOWS];
    if (others) {
        const real by = of_partner * unscale_at;
        ht_sum_record(t, at, 0, HT_SUMS, record);
        HT_EACH_PARTNER(HT_GET_OTHERS)
        HT_EACH_PARTNER(HT_PUT_OTHERS)
        return;
    }
    ht_sum_record(t, at, HT_SUMS, HT_SUMS + HT_LOWS, record);
    ht_get_scalar_results(t, unscale_at, record, value[0]);
    ht_sum_record(t, next, 0, HT_LOWS, record);
    ht_get_partner(t, HT_OWN, at, of_partner * unscale[next], record, value[1]);
    ht_put_results(t, 0, t->g, at, value[0]);
    HT_EACH_PARTNER(HT_PUT_OWN)
}

/* ---- a target ---- */

/* A face, and with what is kept of the one below the target between. At the
 * first face nothing is kept, and what comes of it is not used. */
HT_INLINE void ht_faces_target(const struct ht_team *t,
                               const struct ht_share *share,
                               HT_LOCAL real *kept, const int first,
                               const real of_scalar, const real of_partner,
                               struct ht_pair *pair) {
    real part[HT_PART];
    ht_put_face(t, share, pair);
    ht_put_lows(t, kept);
    HT_UNROLL
    for (int q = 0; q < HT_PART; q++) part[q] = 0;
    HT_ROLLED
    for (int series = 1; series >= 0; series--) {
        ht_put_scalar(t, series, of_scalar, kept);
        if (!first) ht_add_planes(t, series, of_scalar * of_partner, part);
    }
    ht_put_record(t->rows + HT_RECORDS + HT_ROW_OF(t->g, t->own, t->cell),
                  part);
    HT_GROUP_BARRIER();
    HT_ROLLED
    for (int task = t->own; task < 2 * HT_H; task += HT_N1)
        ht_put_position(t, task % HT_H, task / HT_H, of_partner);
    HT_GROUP_BARRIER();
}

HT_KERNEL HT_GROUP_SIZE(HT_GROUP_ITEMS) void ht_parity_faces(
    struct ht_step_args a,
    HT_GLOBAL const real *HT_RESTRICT scale HT_EACH_SRC(HT_SRC_PARAM)
        HT_EACH_DST(HT_DST_PARAM) HT_EACH_MATERIAL(HT_MEDIUM_PARAM)) {
    /* faces and rows, tables, interpolants of v_k, what is kept */
    HT_OPEN_ARRAY(ht_wide, memory, (HT_VALUES + HT_WIDE - 1) / HT_WIDE);
    const int begin = (int)ht_first_plane(&a), end = (int)ht_last_plane(&a);
    const long m2 = a.begin[1] + HT_GROUP_2();
    HT_LOCAL real *rows = (HT_LOCAL real *)memory;
    HT_LOCAL real *tables = rows + HT_FACES;
    HT_LOCAL real *lows = tables + HT_TABLES;
    const long m1 = a.begin[0] + HT_GROUP_1() * HT_CELLS + HT_ITEM() % HT_CELLS;
    HT_LOCAL real *kept = lows + HT_SIZE_TEAM_LOWS(HT_CELLS, HT_H);
    struct ht_team team;
    struct ht_share share;
    ht_set_team(rows, tables, lows, &team);
    ht_set_share(&a, &team, m1, m2, &share HT_EACH_SRC(HT_SRC_ARG));
    kept += team.cell;
    const int inside = m1 < a.end[0];
    int node =
        (int)(ht_target_row(&a, m2, begin) + (inside ? m1 : a.end[0] - 1));
    struct ht_pair pair;
    (void)scale;
    ht_read_pair(&a, &share, begin, &pair);
    for (int face = begin; face <= end; face++) {
        const int next = face < end ? face + 1 : face;
        real of_scalar = 1, of_partner = 1;
        ht_pack results[HT_STORES];
        HT_EACH_PARTNER(HT_GET_MATERIALS)
        ht_faces_target(&team, &share, kept, face == begin, of_scalar,
                        of_partner, &pair);
        HT_UNROLL
        for (int r = 0; r < HT_STORES; r++)
            results[r] = ht_get_result(&team, r);
        /* Otherwise the compiler has all of it in registers at once. */
        HT_KEEP_ORDER();
        if (HT_ROLL) ht_read_pair(&a, &share, next, &pair);
        HT_KEEP_ORDER();
        if (inside && face > begin) {
            HT_UNROLL
            for (int r = 0; r < HT_STORES; r++)
                HT_STORE_RESULT(&a, &team, node, r, results[r])
        }
        HT_KEEP_ORDER();
        if (!HT_ROLL) ht_read_pair(&a, &share, next, &pair);
        if (face > begin) node += (int)a.dst_plane;
    }
}
