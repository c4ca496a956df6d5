/* Interpolation and Taylor series of a target in three dimensions by work-items
 * of one warp, without barriers of the group. A team of HT_TEAM work-items
 * computes a target and marches along x3; a warp has HT_TEAMS teams, a group
 * HT_CELLS, for neighbouring targets along x1. A work-item holds HT_STRIPE rows
 * n2, all n3 and all fields of the polynomials b and w in registers:
 *
 *     own = n1 + HT_T1 stripe,   n2 = HT_STRIPE stripe + r,   r < HT_STRIPE
 *
 *     stripe 0   own  0 1 .. T1-1       n2 = 0, 1      (HT_STRIPE = 2)
 *     stripe 1   own T1 ..              n2 = 2, 3
 *
 * so that derivatives along x3, and most along x2, are in registers, and others
 * come from a work-item of the same warp (HT_NEIGHBOUR of cl/shuffles.cl).
 *
 * Where the medium is constant in a cell the polynomials are kept as
 * derivatives, coefficient times n1! n2! n3!: then a derivative is a shift
 * without a factor. With cell polynomials they are coefficients. Formulas as in
 * cl/evolve.cl; a warp's polynomials of the medium are in local memory.
 */
#define HT_STRIPE HT_TILE
#define HT_TEAM (HT_T1 * (HT_T2 / HT_STRIPE))
#define HT_TEAMS (32 / HT_TEAM)
#define HT_ROW (HT_T1 + 1)
#define HT_FACE_SIZE HT_SIZE_FACE(1, HT_SOURCES, HT_N3, HT_T2, HT_T1)
#define HT_OUT_SIZE (HT_TARGETS * HT_PADDED_COEFS)
#define HT_TEAM_SIZE HT_SIZE_TEAM(HT_FACE_SIZE, HT_OUT_SIZE, HT_BLOCK)
#define HT_LOWER_SIZE HT_SIZE_LOWER(HT_SOURCES, HT_N3, HT_T2, HT_T1)
#define HT_VALUES (HT_FIELDS * HT_STRIPE * HT_T3)
/* Of products, exchanged while the others are. */
#define HT_PRODUCTS (HT_MEDIUM_DEGREE > 0 ? HT_STRIPE * HT_T3 : 0)
#define HT_COEFS (HT_N1 * HT_N2 * HT_N3)
#define HT_EACH_VALUE                             \
    HT_UNROLL                                     \
    for (int r = 0; r < HT_STRIPE; r++) HT_UNROLL \
    for (int s = 0; s < HT_T3; s++)

/* A work-item of a team. */
struct ht_member {
    int item; /* of the group */
    int own, n1, stripe;
    long m1, m2; /* the target's row, clamped */
    int spare;   /* of no team, beyond the last one */
    int there;   /* the target is in the box, the work-item is in a team */
};

/* Number in its group of a work-item's team; of a spare one, which has none,
 * any other team's. */
HT_INLINE int ht_team_of(const int item) {
    const int lane = item % 32 / HT_TEAM;
    const int team =
        item / 32 * HT_TEAMS + (lane < HT_TEAMS ? lane : HT_TEAMS - 1);
    return team < HT_CELLS ? team : HT_CELLS - 1;
}

HT_INLINE void ht_set_member(const struct ht_step_args *a, const int item,
                             struct ht_member *me) {
    const int lane = item % 32;
    const long m1 = a->begin[0] + HT_GROUP_1() * HT_CELLS + ht_team_of(item);
    me->item = item;
    me->own = lane % HT_TEAM;
    me->n1 = me->own % HT_T1;
    me->stripe = me->own / HT_T1;
    me->m1 = m1 < a->end[0] ? m1 : a->end[0] - 1;
    me->m2 = a->begin[1] + HT_GROUP_2();
    me->spare = HT_CELLS * HT_TEAM < HT_GROUP_ITEMS &&
                (lane / HT_TEAM >= HT_TEAMS ||
                 item / 32 * HT_TEAMS + lane / HT_TEAM >= HT_CELLS);
    me->there = m1 < a->end[0] && !me->spare;
}

/* ---- interpolation ---- */

/* The derivatives i1 = 0..N of line (i3, i2) at a node. */
HT_INLINE void ht_read_line(HT_GLOBAL const real *src, const int line,
                            long node, long nodes, real *in) {
#if HT_N1 % HT_BLOCK == 0 && !HT_SORTED
    HT_UNROLL
    for (int i = 0; i < HT_N1; i += HT_BLOCK)
        ht_unpack(*(HT_GLOBAL const ht_pack *)(src + HT_AT(line * HT_N1 + i,
                                                           node, nodes)),
                  in + i);
#else
    HT_UNROLL
    for (int i = 0; i < HT_N1; i++)
        in[i] = src[HT_AT(line * HT_N1 + i, node, nodes)];
#endif
}

/* Lines along x1 of a face, of all fields; lines of a node side by side. */
#define HT_FACE_LINES (HT_N3 * HT_T2)
#define HT_READ_LINES(slot, f)                                       \
    ht_read_line(src##slot, line / 2, left, a->src_nodes, in[slot]); \
    ht_read_line(src##slot, line / 2, right, a->src_nodes, in[slot] + HT_N1);
HT_INLINE void ht_team_lines(const struct ht_step_args *a,
                             const struct ht_member *me, long s3,
                             HT_LOCAL real *face HT_EACH_SRC(HT_SRC_PARAM)) {
    HT_UNROLL
    for (int first = 0; first < HT_FACE_LINES; first += HT_TEAM) {
        const int within = !me->spare && first + me->own < HT_FACE_LINES;
        const int line = within ? first + me->own : 0;
        const int j2 = line % 2, i2 = line / 2 % HT_N2, i3 = line / 2 / HT_N2;
        const long row = ht_source_row(a, me->m2 + a->shift[1] + j2, s3);
        const long left = row + ht_closed(a, 0, me->m1 + a->shift[0]);
        const long right = row + ht_closed(a, 0, me->m1 + a->shift[0] + 1);
        real in[HT_SOURCES][HT_T1];
        HT_EACH_SRC(HT_READ_LINES)
        if (first == 0) HT_WARP_BARRIER();
        HT_UNROLL
        for (int f = 0; f < HT_SOURCES; f++) {
            /* Factors apart: of a sum in brackets clang makes a reversal of
             * bits at N = 1, which Oclgrind does not know. */
            HT_LOCAL real *to = face + (f * HT_N3 + i3) * HT_T2 * HT_ROW +
                                j2 * (HT_N2 * HT_ROW) + i2 * HT_ROW;
            real out[HT_T1];
            ht_line(in[f], out);
            HT_UNROLL
            for (int n = 0; n < HT_T1; n++)
                if (within) to[n] = out[n];
        }
    }
}

/* Along x2, in place. */
#define HT_FACE_COLUMNS (HT_N3 * HT_T1)
HT_INLINE void ht_team_columns(const struct ht_member *me,
                               HT_LOCAL real *face) {
    HT_UNROLL
    for (int first = 0; first < HT_FACE_COLUMNS; first += HT_TEAM) {
        if (me->spare || first + me->own >= HT_FACE_COLUMNS) continue;
        HT_LOCAL real *column = face +
                                (first + me->own) / HT_T1 * HT_T2 * HT_ROW +
                                (first + me->own) % HT_T1;
        HT_UNROLL
        for (int f = 0; f < HT_SOURCES; f++) {
            HT_LOCAL real *at = column + f * HT_N3 * HT_T2 * HT_ROW;
            real in[HT_T1], out[HT_T1];
            HT_UNROLL
            for (int r = 0; r < HT_T1; r++) in[r] = at[r * HT_ROW];
            ht_line(in, out);
            HT_UNROLL
            for (int r = 0; r < HT_T1; r++) at[r * HT_ROW] = out[r];
        }
    }
}

/* The work-item's part of the face at source plane s3. */
HT_INLINE void ht_team_face(
    const struct ht_step_args *a, const struct ht_member *me, long s3,
    HT_LOCAL real *face,
    real part[HT_SOURCES][HT_STRIPE][HT_N3] HT_EACH_SRC(HT_SRC_PARAM)) {
    ht_team_lines(a, me, s3, face HT_EACH_SRC(HT_SRC_ARG));
    HT_WARP_BARRIER();
    ht_team_columns(me, face);
    HT_WARP_BARRIER();
    HT_UNROLL
    for (int f = 0; f < HT_SOURCES; f++) {
        HT_UNROLL
        for (int r = 0; r < HT_STRIPE; r++) {
            HT_UNROLL
            for (int i3 = 0; i3 < HT_N3; i3++)
                part[f][r][i3] = face[((f * HT_N3 + i3) * HT_T2 +
                                       me->stripe * HT_STRIPE + r) *
                                          HT_ROW +
                                      me->n1];
        }
    }
}

/* Keeps the part for the next target's lower face. */
#define HT_LOWER(f, r, i3) \
    lower[(((f)*HT_STRIPE + (r)) * HT_N3 + (i3)) * HT_TEAM + me->own]
HT_INLINE void ht_keep_face(const struct ht_member *me, HT_LOCAL real *lower,
                            real part[HT_SOURCES][HT_STRIPE][HT_N3]) {
    HT_UNROLL
    for (int f = 0; f < HT_SOURCES; f++) {
        HT_UNROLL
        for (int r = 0; r < HT_STRIPE; r++) {
            HT_UNROLL
            for (int i3 = 0; i3 < HT_N3; i3++)
                if (!me->spare) HT_LOWER(f, r, i3) = part[f][r][i3];
        }
    }
}

/* n! */
HT_INLINE real ht_factorial(const int n) {
    real product = 1;
    HT_UNROLL
    for (int i = 2; i < HT_T1; i++) product *= i <= n ? (real)i : (real)1;
    return product;
}

#if HT_MEDIUM_DEGREE > 0
#define HT_BASIS(r, s) (real)1
#define HT_FROM_BASIS(r, s) (real)1
#else
#define HT_BASIS(r, s) (basis[r] * ht_factorial(s))
#define HT_FROM_BASIS(r, s) (back[r] * ((real)1 / ht_factorial(s)))
#endif

/* Along x3: b of a field from its lower and upper face, which takes the place
 * of the lower one. */
#define HT_BETWEEN(slot, f)                                                   \
    HT_UNROLL                                                                 \
    for (int r = 0; r < HT_STRIPE; r++) {                                     \
        real in[HT_T1], out[HT_T1];                                           \
        HT_UNROLL                                                             \
        for (int i3 = 0; i3 < HT_N3; i3++) {                                  \
            in[i3] = me->spare ? (real)0 : HT_LOWER(slot, r, i3);             \
            in[HT_N3 + i3] = part[slot][r][i3];                               \
        }                                                                     \
        ht_line(in, out);                                                     \
        HT_UNROLL                                                             \
        for (int s = 0; s < HT_T3; s++) b[f][r][s] = HT_BASIS(r, s) * out[s]; \
    }
HT_INLINE void ht_team_between(const struct ht_member *me, HT_LOCAL real *lower,
                               const real *basis,
                               real part[HT_SOURCES][HT_STRIPE][HT_N3],
                               real b[HT_FIELDS][HT_STRIPE][HT_T3]) {
    (void)basis;
#if HT_SOURCES < HT_FIELDS
    HT_UNROLL
    for (int f = 0; f < HT_FIELDS; f++) {
        HT_EACH_VALUE b[f][r][s] = 0;
    }
#endif
    HT_EACH_SRC(HT_BETWEEN)
    ht_keep_face(me, lower, part);
}

/* ---- evolution ---- */

/* Coefficient (r, s) of a derivative, without the factor of HT_SLOPE_nk. Those
 * along x1 and x2 that another work-item holds come from there. */
#define HT_VALUE(f, r, s) (((f)*HT_STRIPE + (r)) * HT_T3 + (s))
#define HT_GET(f, r, s, by) \
    HT_NEIGHBOUR(exchange, HT_VALUE(f, r, s), w[f][r][s], me->item, by)
#define HT_SHIFT_0(f, n) ((n) == 0 ? w[f][r][s] : HT_GET(f, r, s, n))
#define HT_SHIFT_1(f, n)                  \
    (r + (n) < HT_STRIPE                  \
         ? w[f][(r + (n)) % HT_STRIPE][s] \
         : HT_GET(f, (r + (n)) % HT_STRIPE, s, (r + (n)) / HT_STRIPE * HT_T1))
#define HT_SHIFT_2(f, n) w[f][r][(s + (n)) % HT_T3]
/* Its factor, 0 at the end of a row. */
#if HT_MEDIUM_DEGREE > 0
#define HT_POWERS_0(n) 1
#define HT_POWERS_1(n) ((n) + 1)
#define HT_POWERS_2(n) (((n) + 1) * ((n) + 2))
#define HT_END_0(c, n, r) \
    ((c) * (real)(me->n1 + (n) < HT_T1 ? HT_POWERS_##n(me->n1) : 0))
#define HT_END_1(c, n, r)                                           \
    ((c) * (real)(me->stripe * HT_STRIPE + (r) + (n) < HT_T2        \
                      ? HT_POWERS_##n(me->stripe * HT_STRIPE + (r)) \
                      : 0))
#define HT_END_2(c, n, r) (c)
#define HT_HEIGHT_0(n) (real)1
#define HT_HEIGHT_1(n) (real)1
#define HT_HEIGHT_2(n) (real) HT_POWERS_##n(s)
#else
#define HT_END_0(c, n, r) (me->n1 + (n) < HT_T1 ? (c) : (real)0)
#define HT_END_1(c, n, r)                                                \
    ((r) + (n) < HT_STRIPE || me->stripe * HT_STRIPE + (r) + (n) < HT_T2 \
         ? (c)                                                           \
         : (real)0)
#define HT_END_2(c, n, r) (c)
#endif

/* factor_t[r] = c_t / k, c_t = scale times the medium of degree 0. */
#define HT_DECLARE_TERM(t, row, col, axis, derivative, group, slot) \
    const real c_##t = scale[t] * of[group];
#define HT_TERM_PARAM(t, row, col, axis, derivative, group, slot) \
    , const real c_##t
#define HT_TERM_ARG(t, row, col, axis, derivative, group, slot) , c_##t
#define HT_STAGE_TERM(t, row, col, axis, derivative, group, slot) \
    real factor_##t[HT_STRIPE];                                   \
    HT_UNROLL                                                     \
    for (int r = 0; r < HT_STRIPE; r++)                           \
        factor_##t[r] = HT_END_##axis(inverse * c_##t, derivative, r);

HT_INLINE void ht_publish(const struct ht_member *me, HT_LOCAL real *exchange,
                          real w[HT_FIELDS][HT_STRIPE][HT_T3]) {
    (void)me;
    (void)exchange;
    (void)w;
    HT_UNROLL
    for (int f = 0; f < HT_FIELDS; f++) {
        HT_EACH_VALUE HT_PUBLISH(exchange, HT_VALUE(f, r, s), w[f][r][s],
                                 me->item);
    }
    HT_EXCHANGE_BARRIER();
}

#if HT_MEDIUM_DEGREE <= 0
#define HT_ADD_TERM(t, row, col, axis, derivative, group, slot)             \
    if (axis != 2 || s + derivative < HT_T3)                                \
        next[row][r] = fma(factor_##t[r], HT_SHIFT_##axis(col, derivative), \
                           next[row][r]);

/* Planes [first, end) of w, in place, upwards in s: derivatives read only
 * higher values. */
HT_INLINE void
ht_team_stage(const struct ht_member *me, const int k, const int first,
              const int end, HT_LOCAL real *exchange,
              real b[HT_FIELDS][HT_STRIPE][HT_T3],
              real w[HT_FIELDS][HT_STRIPE][HT_T3] HT_EACH_TERM(HT_TERM_PARAM)) {
    const real inverse = ht_inverse[k];
    HT_EACH_TERM(HT_STAGE_TERM)
    ht_publish(me, exchange, w);
    HT_UNROLL
    for (int s = first; s < end; s++) {
        real next[HT_FIELDS][HT_STRIPE];
        HT_UNROLL
        for (int r = 0; r < HT_STRIPE; r++) {
            HT_UNROLL
            for (int f = 0; f < HT_FIELDS; f++) next[f][r] = b[f][r][s];
            HT_EACH_TERM(HT_ADD_TERM)
        }
        HT_UNROLL
        for (int f = 0; f < HT_FIELDS; f++) {
            HT_UNROLL
            for (int r = 0; r < HT_STRIPE; r++) w[f][r][s] = next[f][r];
        }
    }
    HT_EXCHANGE_BARRIER();
}

#define HT_GROUP_OF_MATERIAL(group, row, m) of[group] = HT_MATERIAL(m);
#if HT_MEDIUM_DEGREE < 0
#define HT_MATERIAL(m) 1
#else
#define HT_MATERIAL(m) medium[m]
#endif
#else
/* Values of polynomials of the medium in local memory: a target's. */
#define HT_PRODUCT_EXCHANGE \
    (HT_SHUFFLES ? exchange : exchange + HT_VALUES * HT_GROUP_ITEMS)
#define HT_MATERIAL_AT(m) (medium + (m)*HT_MEDIUM_COEFS)

/* x += M_a g along x3 for one (a1, a2): to[s] += sum over a3 of M[a3] g[s -
 * a3]. */
HT_INLINE void ht_add_columns(HT_LOCAL const real *M, const int last,
                              const real g[HT_STRIPE][HT_T3],
                              real x[HT_STRIPE][HT_T3]) {
    HT_UNROLL
    for (int a3 = 0; a3 <= HT_MEDIUM_DEGREE; a3++)
        if (a3 <= last) {
            const real value = M[a3];
            HT_UNROLL
            for (int r = 0; r < HT_STRIPE; r++) {
                HT_UNROLL
                for (int s = a3; s < HT_T3; s++)
                    x[r][s] = fma(value, g[r][s - a3], x[r][s]);
            }
        }
}

/* Coefficient n2 takes the place of n2 + 1; inside: 1, or 0 in the first
 * stripe. */
HT_INLINE void ht_raise_2(const int item, const real inside,
                          HT_LOCAL real *exchange, real x[HT_STRIPE][HT_T3]) {
    HT_UNROLL
    for (int s = 0; s < HT_T3; s++)
        HT_PUBLISH(exchange, s, x[HT_STRIPE - 1][s], item);
    HT_EXCHANGE_BARRIER();
    HT_UNROLL
    for (int s = 0; s < HT_T3; s++) {
        const real from =
            HT_STRIPE == HT_T2
                ? (real)0
                : HT_NEIGHBOUR(exchange, s, x[HT_STRIPE - 1][s], item, -HT_T1);
        HT_UNROLL
        for (int r = HT_STRIPE - 1; r > 0; r--) x[r][s] = x[r - 1][s];
        x[0][s] = inside * from;
    }
    HT_EXCHANGE_BARRIER();
}

/* y = x + y, y with n1 in the place of n1 + 1. */
HT_INLINE void ht_raise_1(const int item, const real inside,
                          HT_LOCAL real *exchange, real x[HT_STRIPE][HT_T3],
                          real y[HT_STRIPE][HT_T3]) {
    HT_EACH_VALUE HT_PUBLISH(exchange, r * HT_T3 + s, y[r][s], item);
    HT_EXCHANGE_BARRIER();
    HT_EACH_VALUE y[r][s] =
        fma(inside, HT_NEIGHBOUR(exchange, r * HT_T3 + s, y[r][s], item, -1),
            x[r][s]);
    HT_EXCHANGE_BARRIER();
}

/* sum += M g, truncated: Horner's rule in the shifts along x1 and x2,
 *     sum over a1 of S1^a1 (sum over a2 of S2^a2 (sum over a3 of M_a g[s-a3])),
 * multi-indices backwards in the order of ht_jets_total. */
HT_INLINE void ht_team_multiply(const struct ht_member *me,
                                HT_LOCAL const real *M, HT_LOCAL real *exchange,
                                real g[HT_STRIPE][HT_T3],
                                real sum[HT_STRIPE][HT_T3]) {
    const real inside1 = me->n1 > 0, inside2 = me->stripe > 0;
    int first = HT_MEDIUM_COEFS;
    real y[HT_STRIPE][HT_T3];
    HT_EACH_VALUE y[r][s] = 0;
    HT_UNROLL_SHUFFLES
    for (int a1 = HT_MEDIUM_DEGREE; a1 >= 0; a1--) {
        real x[HT_STRIPE][HT_T3];
        HT_EACH_VALUE x[r][s] = 0;
        HT_UNROLL_SHUFFLES
        for (int a2 = HT_MEDIUM_DEGREE - a1; a2 >= 0; a2--) {
            const int last = HT_MEDIUM_DEGREE - a1 - a2;
            first -= last + 1;
            if (last > 0) ht_raise_2(me->item, inside2, exchange, x);
            ht_add_columns(M + first, last, g, x);
        }
        ht_raise_1(me->item, inside1, exchange, x, y);
    }
    HT_EACH_VALUE sum[r][s] += y[r][s];
}

#define HT_ADD_TERM(t, row, col, axis, derivative, group, slot)     \
    if (group == number && (axis != 2 || s + derivative < HT_T3))   \
        g[r][s] = fma(factor_##t[r] * HT_HEIGHT_##axis(derivative), \
                      HT_SHIFT_##axis(col, derivative), g[r][s]);
#define HT_DERIVE(group)          \
    const int number = group;     \
    real g[HT_STRIPE][HT_T3];     \
    HT_EACH_VALUE {               \
        g[r][s] = 0;              \
        HT_EACH_TERM(HT_ADD_TERM) \
    }
#define HT_ADD_GROUP(group, row, m)                                     \
    {                                                                   \
        HT_DERIVE(group)                                                \
        ht_team_multiply(me, HT_MATERIAL_AT(m), HT_PRODUCT_EXCHANGE, g, \
                         next[row]);                                    \
    }
#define HT_ADD_CONSTANT_GROUP(group, row, m)                                  \
    {                                                                         \
        const real value = HT_MATERIAL_AT(m)[0];                              \
        HT_DERIVE(group)                                                      \
        HT_EACH_VALUE next[row][r][s] = fma(value, g[r][s], next[row][r][s]); \
    }
#define HT_ADD_PLAIN_GROUP(group, row)            \
    {                                             \
        HT_DERIVE(group)                          \
        HT_EACH_VALUE next[row][r][s] += g[r][s]; \
    }

/* A field's old values are dead after the last group that reads them: systems
 * of two families of fields need no second copy of w. */
HT_INLINE void
ht_team_stage(const struct ht_member *me, const int k,
              HT_LOCAL const real *medium, HT_LOCAL real *exchange,
              real b[HT_FIELDS][HT_STRIPE][HT_T3],
              real w[HT_FIELDS][HT_STRIPE][HT_T3] HT_EACH_TERM(HT_TERM_PARAM)) {
    const real inverse = ht_inverse[k];
    real next[HT_FIELDS][HT_STRIPE][HT_T3];
    HT_EACH_TERM(HT_STAGE_TERM)
    ht_publish(me, exchange, w);
    HT_UNROLL
    for (int f = 0; f < HT_FIELDS; f++) {
        HT_EACH_VALUE next[f][r][s] = b[f][r][s];
    }
    HT_EACH_GROUP(HT_ADD_GROUP)
    HT_EACH_CONSTANT_GROUP(HT_ADD_CONSTANT_GROUP)
    HT_EACH_PLAIN_GROUP(HT_ADD_PLAIN_GROUP)
    HT_UNROLL
    for (int f = 0; f < HT_FIELDS; f++) {
        HT_EACH_VALUE w[f][r][s] = next[f][r][s];
    }
    HT_EXCHANGE_BARRIER();
}
#endif

/* Trimming (ht_needed of cl/common.cl) by planes n3, in loops one after the
 * other, since branches within a stage cost more than they save: from stage
 * HT_UPPER_STAGES on only planes above N reach an output, in the last stages
 * only those below HT_MIDDLE, then those up to N. */
#define HT_UPPER_STAGES (HT_N3 + HT_T1 + HT_T2 - 1 + HT_SLACK)
#define HT_MIDDLE (HT_N3 + HT_N3 / 2)
#define HT_STAGES_BELOW(end) \
    ((end)-HT_ORDER - HT_SLACK > 0 ? (end)-HT_ORDER - HT_SLACK : 0)
/* medium: a number per material; its polynomials in local memory. */
#if HT_MEDIUM_DEGREE > 0
#define HT_TEAM_MEDIUM HT_LOCAL const real *
#else
#define HT_TEAM_MEDIUM const real *
#endif
HT_INLINE void ht_team_series(const struct ht_member *me, const int stages,
                              HT_GLOBAL const real *scale,
                              HT_TEAM_MEDIUM medium, HT_LOCAL real *exchange,
                              real b[HT_FIELDS][HT_STRIPE][HT_T3],
                              real w[HT_FIELDS][HT_STRIPE][HT_T3]) {
    real of[HT_GROUPS];
    (void)medium;
    HT_UNROLL
    for (int g = 0; g < HT_GROUPS; g++) of[g] = 1;
#if HT_MEDIUM_DEGREE <= 0
    HT_EACH_GROUP(HT_GROUP_OF_MATERIAL)
#endif
    HT_EACH_TERM(HT_DECLARE_TERM)
#if HT_MEDIUM_DEGREE > 0
    HT_ROLLED
    for (int k = stages; k >= 1; k--)
        ht_team_stage(me, k, medium, exchange, b, w HT_EACH_TERM(HT_TERM_ARG));
#else
    int k = stages;
#if HT_TRIM
    HT_ROLLED
    for (; k >= HT_UPPER_STAGES; k--)
        ht_team_stage(me, k, HT_N3, HT_T3, exchange, b,
                      w HT_EACH_TERM(HT_TERM_ARG));
    HT_ROLLED
    for (; k > HT_STAGES_BELOW(HT_MIDDLE); k--)
        ht_team_stage(me, k, 0, HT_T3, exchange, b,
                      w HT_EACH_TERM(HT_TERM_ARG));
    HT_ROLLED
    for (; k > HT_STAGES_BELOW(HT_N3); k--)
        ht_team_stage(me, k, 0, HT_MIDDLE, exchange, b,
                      w HT_EACH_TERM(HT_TERM_ARG));
#endif
    HT_ROLLED
    for (; k >= 1; k--)
        ht_team_stage(me, k, 0, HT_TRIM ? HT_N3 : HT_T3, exchange, b,
                      w HT_EACH_TERM(HT_TERM_ARG));
#endif
}

/* ---- the kernel ---- */

/* Writes the results by whole packs. */
#define HT_FIELD_BLOCKS (HT_PADDED_COEFS / HT_BLOCK)
#define HT_PUT_RESULT(slot, f)                                        \
    HT_UNROLL                                                         \
    for (int r = 0; r < HT_STRIPE; r++) {                             \
        const int n2 = me->stripe * HT_STRIPE + r;                    \
        HT_UNROLL                                                     \
        for (int s = 0; s < HT_N3; s++)                               \
            if (me->n1 <= HT_ORDER && n2 <= HT_ORDER)                 \
                out[slot * HT_PADDED_COEFS +                          \
                    HT_AT((s * HT_N2 + n2) * HT_N1 + me->n1, 0, 1)] = \
                    HT_FROM_BASIS(r, s) * w[f][r][s];                 \
    }
HT_INLINE void
ht_team_store(const struct ht_step_args *a, const struct ht_member *me, long m3,
              const real *back, HT_LOCAL real *out,
              real w[HT_FIELDS][HT_STRIPE][HT_T3] HT_EACH_DST(HT_DST_PARAM)) {
    const long node = ht_target_row(a, me->m2, m3) + me->m1;
    (void)back;
    HT_WARP_BARRIER();
#if HT_PADDED_COEFS > HT_COEFS
    for (int i = me->own; i < HT_OUT_SIZE; i += HT_TEAM) out[i] = 0;
    HT_WARP_BARRIER();
#endif
    if (me->there) {
        HT_EACH_DST(HT_PUT_RESULT)
    }
    HT_WARP_BARRIER();
    HT_UNROLL
    for (int first = 0; first < HT_TARGETS * HT_FIELD_BLOCKS;
         first += HT_TEAM) {
        const int p = first + me->own, field = p / HT_FIELD_BLOCKS;
        HT_GLOBAL real *chosen = dst0;
        HT_EACH_DST(HT_DST_CHOOSE)
        if (me->there && p < HT_TARGETS * HT_FIELD_BLOCKS) {
            HT_GLOBAL ht_pack *to = (HT_GLOBAL ht_pack *)chosen +
                                    p % HT_FIELD_BLOCKS * a->dst_nodes + node;
            ht_pack result = ((HT_LOCAL const ht_pack *)out)[p];
#if HT_OLD_SIGN
            real now[HT_BLOCK], old[HT_BLOCK];
            ht_unpack(result, now);
            ht_unpack(*to, old);
            HT_UNROLL
            for (int i = 0; i < HT_BLOCK; i++)
                now[i] = fma((real)2, now[i], (real)HT_OLD_SIGN * old[i]);
            result = ht_packed(now);
#endif
            *to = result;
        }
    }
}

#if HT_MEDIUM_DEGREE > 0
#define HT_READ_MEDIUM(m)                                                 \
    for (int i = me.spare ? HT_MEDIUM_COEFS : me.own; i < HT_COEFS_OF(m); \
         i += HT_TEAM)                                                    \
        medium[(m)*HT_MEDIUM_COEFS + i] = medium##m[i * a.dst_nodes + node];
#elif HT_MEDIUM_DEGREE == 0
#define HT_READ_MEDIUM(m) medium[m] = medium##m[node];
#endif
HT_KERNEL HT_GROUP_SIZE(HT_GROUP_ITEMS) void ht_warp(
    struct ht_step_args a,
    HT_GLOBAL const real *HT_RESTRICT scale HT_EACH_SRC(HT_SRC_PARAM)
        HT_EACH_DST(HT_DST_PARAM) HT_EACH_MATERIAL(HT_MEDIUM_PARAM)) {
    HT_LOCAL_ARRAY(ht_pack, faces, HT_CELLS * HT_TEAM_SIZE / HT_BLOCK);
    HT_LOCAL_ARRAY(real, lowers, HT_CELLS * HT_LOWER_SIZE);
    HT_LOCAL_ARRAY(real, exchange,
                   HT_SIZE_NEIGHBOURS(HT_SHUFFLES, HT_VALUES + HT_PRODUCTS,
                                      HT_GROUP_ITEMS));
    HT_LOCAL_ARRAY(real, media,
                   HT_SIZE_MEDIUM(HT_CELLS, HT_MATERIALS, HT_MEDIUM_COEFS) + 1);
    const int team = ht_team_of(HT_ITEM());
    HT_LOCAL real *face = (HT_LOCAL real *)faces + team * HT_TEAM_SIZE;
    HT_LOCAL real *lower = lowers + team * HT_LOWER_SIZE;
    const long begin = ht_first_plane(&a), end = ht_last_plane(&a);
    struct ht_member me;
    real part[HT_SOURCES][HT_STRIPE][HT_N3];
    real b[HT_FIELDS][HT_STRIPE][HT_T3], w[HT_FIELDS][HT_STRIPE][HT_T3];
    real basis[HT_STRIPE], back[HT_STRIPE];
    ht_set_member(&a, HT_ITEM(), &me);
    HT_UNROLL
    for (int r = 0; r < HT_STRIPE; r++) {
        basis[r] =
            ht_factorial(me.n1) * ht_factorial(me.stripe * HT_STRIPE + r);
        back[r] = (real)1 / basis[r];
    }
    ht_team_face(&a, &me, begin + a.shift[2], face,
                 part HT_EACH_SRC(HT_SRC_ARG));
    ht_keep_face(&me, lower, part);
    HT_ROLLED
    for (long m3 = begin; m3 < end; m3++) {
        const long node = ht_target_row(&a, me.m2, m3) + me.m1;
        (void)node; /* of media that vary */
#if HT_MEDIUM_DEGREE > 0
        HT_LOCAL real *medium = media + team * HT_MATERIALS * HT_MEDIUM_COEFS;
#else
        real medium[HT_MATERIALS + 1];
        (void)media;
#endif
        HT_EACH_MATERIAL(HT_READ_MEDIUM)
        ht_team_face(&a, &me, m3 + a.shift[2] + 1, face,
                     part HT_EACH_SRC(HT_SRC_ARG));
        ht_team_between(&me, lower, basis, part, b);
        HT_UNROLL
        for (int f = 0; f < HT_FIELDS; f++) {
            HT_EACH_VALUE w[f][r][s] = b[f][r][s];
        }
        ht_team_series(&me, a.stages, scale, medium, exchange, b, w);
        ht_team_store(&a, &me, m3, back, face, w HT_EACH_DST(HT_DST_ARG));
    }
}
