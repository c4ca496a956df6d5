/* Taylor series in time of one target's polynomial,
 *     w = b;  for k = stages..1:  w = b + (dt/2)/k L w,
 *     (L w)[row] += coef M D w[col],   D = 1, d/dx_axis or d^2/dx_axis^2,
 * with w and b in registers: work-item (n2, n1) holds the column n3 = 0..HT_T3-1. Derivatives along
 * x3 need no other work-item. Derivatives along x1 and x2 come from the work-item one or two
 * indices above through local memory,
 *     exchange[n3 - s0][slot][item],
 * HT_SLABS values of n3 at a time. Two exchange buffers, used in turn, need one barrier each.
 *
 *     n2 + 2 | up22          |    w[n1] of the derivatives along x1:
 *     n2 + 1 | up2           |    (n1 + 1) w[n1 + 1],
 *     n2     | item up1 up11 |    (n1 + 1) (n1 + 2) w[n1 + 2]
 *
 * scale[term] = (dt/2) coef / h_axis^derivative, times M in a uniform medium.
 *
 * In layers whose profiles are polynomials in xi_k (HT_PROFILE_DEGREE) a term with such a profile
 * takes coefficients n_k - a + derivative of w[col]. */
#define HT_EXCHANGE_SIZE (2 * HT_SLABS * HT_EXCHANGED * HT_ITEMS)

/* HT_DERIVATIVE_nk: coefficient n3 = s of the n-th derivative of w[col] along axis k, times scale.
 * slot: index of the field in the exchange. HT_SCALE_nk:
 * the factor that depends on the work-item, 0 at the end of a row. */
#define HT_SLOT(slot) (((s - s0) * HT_EXCHANGED + (slot)) * HT_ITEMS + item)
#define HT_DERIVATIVE_00(t, col, slot) (scale_##t * w[col][s])
#define HT_DERIVATIVE_10(t, col, slot) (scale_##t * x[HT_SLOT(slot) + up1])
#define HT_DERIVATIVE_11(t, col, slot) (scale_##t * x[HT_SLOT(slot) + up2])
#define HT_DERIVATIVE_12(t, col, slot) \
    (s + 1 < HT_T3 ? (real)(s + 1) * scale_##t * w[col][(s + 1) % HT_T3] : (real)0)
#define HT_DERIVATIVE_20(t, col, slot) (scale_##t * x[HT_SLOT(slot) + up11])
#define HT_DERIVATIVE_21(t, col, slot) (scale_##t * x[HT_SLOT(slot) + up22])
#define HT_DERIVATIVE_22(t, col, slot) \
    (s + 2 < HT_T3 ? (real)((s + 1) * (s + 2)) * scale_##t * w[col][(s + 2) % HT_T3] : (real)0)
#define HT_SCALE_00 (real)1
#define HT_SCALE_10 d1
#define HT_SCALE_11 d2
#define HT_SCALE_12 (real)1
#define HT_SCALE_20 (real)(up11 ? (n1 + 1) * (n1 + 2) : 0)
#define HT_SCALE_21 (real)(up22 ? (n2 + 1) * (n2 + 2) : 0)
#define HT_SCALE_22 (real)1
#define HT_LOAD_SCALE(t, row, col, axis, derivative, group, slot) \
    const real scale_##t = scale[t] * HT_SCALE_##derivative##axis;
#define HT_ADD_TERM(t, row, col, axis, derivative, group, slot) \
    g[group] += HT_DERIVATIVE_##derivative##axis(t, col, slot);
#define HT_PUT(slot, f) x[HT_SLOT(slot)] = w[f][s];

#if HT_MEDIUM_DEGREE < 0
#define HT_ADD_GROUP(group, row, m) sum[row] += g[group];
#elif HT_MEDIUM_DEGREE == 0
#define HT_ADD_GROUP(group, row, m) sum[row] += medium[m] * g[group];
#endif
#define HT_ADD_PLAIN_GROUP(group, row) sum[row] += g[group];
#if HT_PROFILES > 0
/* Coefficient d of the profile `material` among the values of a target. */
#define HT_PROFILE_AT(material, d) \
    ((d) == 0                      \
         ? (material)              \
         : HT_MATERIALS + ((material) + HT_PROFILES - HT_MATERIALS) * HT_PROFILE_DEGREE + (d)-1)

/* The derivative's factor at degree n - d, 0 where nothing comes from. */
HT_INLINE real ht_raised(const int n, const int derivative, const int size) {
    const int inside = n >= 0 && n + derivative < size;
    return (real)(!inside ? 0 : derivative == 0 ? 1 : derivative == 1 ? n + 1 : (n + 1) * (n + 2));
}

/* HT_RAISED_k: that factor along axis k. HT_TAKEN_k: the coefficient. */
#define HT_RAISED_0(d, derivative) ht_raised(n1 - (d), derivative, HT_T1)
#define HT_RAISED_1(d, derivative) ht_raised(n2 - (d), derivative, HT_T2)
#define HT_RAISED_2(d, derivative) ht_raised(s - (d), derivative, HT_T3)
#define HT_TAKEN_0(col, slot, to) \
    x[HT_SLOT(slot) + (n1 + (to) < 0 || n1 + (to) >= HT_T1 ? 0 : (to))]
#define HT_TAKEN_1(col, slot, to) \
    x[HT_SLOT(slot) + (n2 + (to) < 0 || n2 + (to) >= HT_T2 ? 0 : (to)) * HT_T1]
#define HT_TAKEN_2(col, slot, to) \
    ((to) < 0 ? past[-(to) > 0 ? -(to)-1 : 0][col] : w[col][(s + (to)) % HT_T3])
#define HT_ADD_PROFILE(t, row, col, axis, derivative, material, slot)                         \
    HT_UNROLLED(d, HT_PROFILE_DEGREE + 1)                                                     \
        sum[row] =                                                                            \
            fma(scale_##t * medium[HT_PROFILE_AT(material, d)],                               \
                HT_RAISED_##axis(d, derivative) * HT_TAKEN_##axis(col, slot, (derivative)-d), \
                sum[row]);
#define HT_LOAD_PROFILE_SCALE(t, row, col, axis, derivative, material, slot) \
    const real scale_##t = scale[t];
/* past[d]: column n3 = s - 1 - d of w as it was before this stage. */
#define HT_KEEP_PAST                                                                 \
    HT_UNROLLED(f, HT_FIELDS) {                                                      \
        HT_UNROLL                                                                    \
        for (int d = HT_PROFILE_DEGREE - 1; d > 0; d--) past[d][f] = past[d - 1][f]; \
        past[0][f] = w[f][s];                                                        \
    }
#endif
#define HT_ADD_PLAIN_SLAB(group, row) sum[row][s] += g[group];

#if HT_MEDIUM_DEGREE > 0
/* The medium of a cell in local memory: medium[cell][material][a]. */
#define HT_MEDIUM_SIZE (HT_CELLS * HT_MATERIALS * HT_MEDIUM_COEFS)
#define HT_PRODUCT_SIZE (2 * HT_GROUPS * HT_ITEMS)
/* Materials that are constant in each cell have one coefficient there. */
#define HT_ADD_CONSTANT_GROUP(group, row, m) \
    sum[row][s] = fma(medium[(m)*HT_MEDIUM_COEFS], g[group], sum[row][s]);
#define HT_PUT_GROUP(group, row, m) y[(group)*HT_ITEMS + item] = g[group];
#define HT_GET_GROUP(group, row, m) \
    const real value_##group = inside ? y[(group)*HT_ITEMS + item - a1 - a2 * HT_T1] : (real)0;
#define HT_ADD_PRODUCT(group, row, m) \
    sum[row][(s + a3) % HT_T3] =      \
        fma(medium[(m)*HT_MEDIUM_COEFS + a], value_##group, sum[row][(s + a3) % HT_T3]);

/* sum += M g for the slab n3 = s of g, the product of two truncated polynomials: g comes from the
 * work-items at n1 - a1, n2 - a2 and is added to n3 = s + a3. Multi-indices a are in the order of
 * ht_jets_make. */
HT_INLINE void ht_multiply(HT_LOCAL const real *medium, HT_LOCAL const real *y, const int item,
                           const int s, real sum[HT_FIELDS][HT_T3]) {
    const int n1 = item % HT_T1, n2 = item / HT_T1 % HT_T2;
    int first = 0;
    for (int a1 = 0; a1 <= HT_MEDIUM_DEGREE; a1++) {
        const int end2 = HT_DIMS > 1 ? HT_MEDIUM_DEGREE - a1 : 0;
        for (int a2 = 0; a2 <= end2; a2++) {
            const int end3 = HT_DIMS > 2 ? HT_MEDIUM_DEGREE - a1 - a2 : 0;
            const int inside = a1 <= n1 && a2 <= n2;
            HT_EACH_GROUP(HT_GET_GROUP)
            HT_UNROLL
            for (int a3 = 0; a3 <= (HT_DIMS > 2 ? HT_MEDIUM_DEGREE : 0); a3++) {
                const int a = first + a3;
                if (a3 <= end3 && s + a3 < HT_T3) {
                    HT_EACH_GROUP(HT_ADD_PRODUCT)
                }
            }
            first += end3 + 1;
        }
    }
}
#endif

/* b: the interpolant on entry; w: the evolved polynomial on return, valid for indices up to N.
 * medium: the target's material values (degree 0); media: the group's polynomials in local memory
 * (degree > 0). */
HT_INLINE void ht_evolve(const int item, const int stages, HT_GLOBAL const real *scale,
                         real b[HT_FIELDS][HT_T3], real w[HT_FIELDS][HT_T3], HT_LOCAL real *exchange
#if HT_MEDIUM_DEGREE == 0
                         ,
                         const real *medium
#elif HT_MEDIUM_DEGREE > 0
                         ,
                         HT_LOCAL const real *media, HT_LOCAL real *products
#endif
) {
    const int n1 = item % HT_T1, n2 = item / HT_T1 % HT_T2;
    const int up1 = n1 + 1 < HT_T1 ? 1 : 0;
    const int up2 = n2 + 1 < HT_T2 ? HT_T1 : 0;
    const int up11 = n1 + 2 < HT_T1 ? 2 : 0;
    const int up22 = n2 + 2 < HT_T2 ? 2 * HT_T1 : 0;
    const real d1 = (real)(up1 ? n1 + 1 : 0), d2 = (real)(up2 ? n2 + 1 : 0);
    (void)d1; /* the terms of the system decide which of these are used */
    (void)d2;
    (void)up11;
    (void)up22;
    int turn = 0;
#if HT_MEDIUM_DEGREE > 0
    HT_LOCAL const real *medium = media + item / HT_COLUMN * HT_MATERIALS * HT_MEDIUM_COEFS;
#endif
    HT_EACH_TERM(HT_LOAD_SCALE)
#if HT_PROFILES > 0
    HT_EACH_PROFILE_TERM(HT_LOAD_PROFILE_SCALE)
#endif
    HT_UNROLLED(f, HT_FIELDS)
        HT_UNROLLED(s, HT_T3) w[f][s] = b[f][s];
    for (int k = stages; k >= 1; k--) {
        const real inverse = (real)1 / (real)k;
#if HT_PROFILES > 0
        real past[HT_PROFILE_DEGREE][HT_FIELDS];
        for (int f = 0; f < HT_PROFILE_DEGREE * HT_FIELDS; f++)
            past[f / HT_FIELDS][f % HT_FIELDS] = 0;
#endif
#if HT_MEDIUM_DEGREE > 0
        real sum[HT_FIELDS][HT_T3];
        HT_UNROLLED(f, HT_FIELDS)
            HT_UNROLLED(s, HT_T3) sum[f][s] = 0;
#endif
        HT_UNROLL
        for (int s0 = 0; s0 < HT_T3; s0 += HT_SLABS) {
            HT_LOCAL real *x = exchange + turn * (HT_SLABS * HT_EXCHANGED * HT_ITEMS);
            turn ^= 1;
            HT_UNROLL
            for (int s = s0; s < s0 + HT_SLABS && s < HT_T3; s++) {
                HT_EACH_EXCHANGED(HT_PUT)
            }
            HT_BARRIER();
            HT_UNROLL
            for (int s = s0; s < s0 + HT_SLABS && s < HT_T3; s++) {
                real g[HT_GROUPS];
                HT_UNROLLED(i, HT_GROUPS) g[i] = 0;
#if HT_MEDIUM_DEGREE > 0
                HT_EACH_TERM(HT_ADD_TERM)
                HT_LOCAL real *y = products + (s & 1) * HT_GROUPS * HT_ITEMS;
                HT_EACH_GROUP(HT_PUT_GROUP)
                HT_BARRIER();
                if (ht_needed(k, n1, n2, s)) {
                    ht_multiply(medium, y, item, s, sum);
                    HT_EACH_CONSTANT_GROUP(HT_ADD_CONSTANT_GROUP)
                    HT_EACH_PLAIN_GROUP(HT_ADD_PLAIN_SLAB)
                    HT_UNROLLED(f, HT_FIELDS) w[f][s] = fma(inverse, sum[f][s], b[f][s]);
                }
#else
                if (ht_needed(k, n1, n2, s)) {
                    real sum[HT_FIELDS];
                    HT_UNROLLED(f, HT_FIELDS) sum[f] = 0;
                    HT_EACH_TERM(HT_ADD_TERM)
                    HT_EACH_GROUP(HT_ADD_GROUP)
                    HT_EACH_PLAIN_GROUP(HT_ADD_PLAIN_GROUP)
#if HT_PROFILES > 0
                    HT_EACH_PROFILE_TERM(HT_ADD_PROFILE)
                    HT_KEEP_PAST
#endif
                    HT_UNROLLED(f, HT_FIELDS) w[f][s] = fma(inverse, sum[f], b[f][s]);
                }
#endif
            }
        }
    }
}
