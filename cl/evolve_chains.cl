/* Evolution in a uniform medium by scalar series, for systems in which one
 * scalar p couples with one partner v_k per axis, such as acoustics:
 *     p_t = sum_k alpha_k d_k v_k,    v_k,t = beta_k d_k p.
 * With Lambda = sum_k alpha_k beta_k d_k^2 and e = sum_k alpha_k d_k v_k (dt/2
 * and h absorbed) the Taylor series of all stages is
 *     p+   = P,   P = sum_m Lambda^m (p/(2m)!   + e/(2m+1)!)
 *     v_k+ = v_k + beta_k d_k S,
 *                 S = sum_m Lambda^m (p/(2m+1)! + e/(2m+2)!)
 * without the terms beyond the number of stages: two scalars instead of all
 * fields, and half as many applications of an operator. Horner's form, scaled
 * so that no factorial appears:
 *     P_m = p + e/(2m+1) + Lambda P_(m+1) / ((2m+1)(2m+2)),       P = P_0
 *     S_m = p + e/(2m+2) + Lambda S_(m+1) / ((2m+2)(2m+3)),       S = S_0
 *
 * Work-items and local memory as in evolve.cl: work-item (n2, n1) holds n3 =
 * 0..; exchange[slab][slot][item] has two slots (v_1, v_2; then P, S; then S).
 * HT_EACH_PARTNER(X): X(axis, field, term of p, term of the partner, material
 * of each).
 */
#define HT_EXCHANGE_SIZE HT_SIZE_EXCHANGE(HT_SLABS, 2, HT_ITEMS)

#define HT_LOAD_PARTNER(axis, f, tp, tv, mp, mv) \
    const real alpha_##axis = scale[tp], beta_##axis = scale[tv];
#define HT_SLOT(slot) (((s - s0) * 2 + (slot)) * HT_ITEMS + item)

/* First and second derivatives along each axis, times a factor c. */
#define HT_FIRST_0(c, q) (c * d1 * x[HT_SLOT(q) + up1])
#define HT_FIRST_1(c, q) (c * d2 * x[HT_SLOT(q) + up2])
#define HT_FIRST_2(c, column) \
    (s + 1 < HT_T3 ? c * (real)(s + 1) * (column)[(s + 1) % HT_T3] : (real)0)
#define HT_SECOND_0(c, q, column) (c * x[HT_SLOT(q) + up11])
#define HT_SECOND_1(c, q, column) (c * x[HT_SLOT(q) + up22])
#define HT_SECOND_2(c, q, column)                                              \
    (s + 2 < HT_T3 ? c * (real)((s + 1) * (s + 2)) * (column)[(s + 2) % HT_T3] \
                   : (real)0)

#define HT_PUT_PARTNER(axis, f, tp, tv, mp, mv) \
    if (axis < 2) x[HT_SLOT((axis) % 2)] = b[f][s];
#define HT_DIVERGENCE_0(f) HT_FIRST_0(alpha_0, 0)
#define HT_DIVERGENCE_1(f) HT_FIRST_1(alpha_1, 1)
#define HT_DIVERGENCE_2(f) HT_FIRST_2(alpha_2, b[f])
#define HT_ADD_DIVERGENCE(axis, f, tp, tv, mp, mv) \
    sum += HT_DIVERGENCE_##axis(f);
#define HT_GRADIENT_0 HT_FIRST_0(beta_0, 0)
#define HT_GRADIENT_1 HT_FIRST_1(beta_1, 0)
#define HT_GRADIENT_2 HT_FIRST_2(beta_2, S)
#define HT_ADD_GRADIENT(axis, f, tp, tv, mp, mv) \
    w[f][s] = b[f][s] + HT_GRADIENT_##axis;
#define HT_ADD_SECOND_P(axis, f, tp, tv, mp, mv) \
    sum += HT_SECOND_##axis(lambda_##axis, 0, P);
#define HT_ADD_SECOND_S(axis, f, tp, tv, mp, mv) \
    sum += HT_SECOND_##axis(lambda_##axis, 1, S);
#define HT_LAMBDA_FACTOR_0 d11
#define HT_LAMBDA_FACTOR_1 d22
#define HT_LAMBDA_FACTOR_2 (real)1
#define HT_LOAD_LAMBDA(axis, f, tp, tv, mp, mv) \
    const real lambda_##axis =                  \
        alpha_##axis * beta_##axis * HT_LAMBDA_FACTOR_##axis;

/* Switches to the other exchange buffer, so that one barrier per turn
 * suffices. */
#define HT_NEXT_BUFFER()                                            \
    HT_LOCAL real *x = exchange + turn * (HT_SLABS * 2 * HT_ITEMS); \
    turn ^= 1;
#define HT_EACH_SLAB \
    HT_UNROLL        \
    for (int s = s0; s < s0 + HT_SLABS && s < HT_T3; s++)

HT_INLINE void ht_evolve(const int item, const int stages,
                         HT_GLOBAL const real *scale, real b[HT_FIELDS][HT_T3],
                         real w[HT_FIELDS][HT_T3], HT_LOCAL real *exchange) {
    const int n1 = item % HT_T1, n2 = item / HT_T1 % HT_T2;
    const int up1 = n1 + 1 < HT_T1 ? 1 : 0, up11 = n1 + 2 < HT_T1 ? 2 : 0;
    const int up2 = n2 + 1 < HT_T2 ? HT_T1 : 0;
    const int up22 = n2 + 2 < HT_T2 ? 2 * HT_T1 : 0;
    const real d1 = (real)(up1 ? n1 + 1 : 0), d2 = (real)(up2 ? n2 + 1 : 0);
    const real d11 = (real)(up11 ? (n1 + 1) * (n1 + 2) : 0);
    const real d22 = (real)(up22 ? (n2 + 1) * (n2 + 2) : 0);
    (void)d2; /* nothing along x2 in one dimension */
    (void)d22;
    const int top = stages / 2;
    real e[HT_T3], P[HT_T3], S[HT_T3];
    int turn = 0;
    HT_EACH_PARTNER(HT_LOAD_PARTNER)
    HT_EACH_PARTNER(HT_LOAD_LAMBDA)
    HT_UNROLL
    for (int s0 = 0; s0 < HT_T3; s0 += HT_SLABS) {
        HT_NEXT_BUFFER()
        HT_EACH_SLAB{HT_EACH_PARTNER(HT_PUT_PARTNER)} HT_BARRIER();
        HT_EACH_SLAB {
            real sum = 0;
            HT_EACH_PARTNER(HT_ADD_DIVERGENCE)
            e[s] = sum;
        }
    }
    const real es = 2 * top + 1 <= stages ? ht_inverse[2 * top + 1] : (real)0;
    const real ps = 2 * top + 1 <= stages ? (real)1 : (real)0;
    HT_UNROLL
    for (int s = 0; s < HT_T3; s++) {
        P[s] = fma(es, e[s], b[HT_CHAIN][s]);
        S[s] = ps * b[HT_CHAIN][s];
    }
    for (int m = top - 1; m >= 0; m--) {
        const real in1 = ht_inverse[2 * m + 1], in2 = ht_inverse[2 * m + 2];
        const real lp = in1 * in2, ls = in2 * ht_inverse[2 * m + 3];
        HT_UNROLL
        for (int s0 = 0; s0 < HT_T3; s0 += HT_SLABS) {
            HT_NEXT_BUFFER()
            HT_EACH_SLAB {
                x[HT_SLOT(0)] = P[s];
                x[HT_SLOT(1)] = S[s];
            }
            HT_BARRIER();
            HT_EACH_SLAB {
                if (ht_needed(2 * m + 1, n1, n2, s)) {
                    real sum = 0;
                    HT_EACH_PARTNER(HT_ADD_SECOND_P)
                    P[s] = fma(lp, sum, fma(in1, e[s], b[HT_CHAIN][s]));
                }
                if (ht_needed(2 * m + 2, n1, n2, s)) {
                    real sum = 0;
                    HT_EACH_PARTNER(HT_ADD_SECOND_S)
                    S[s] = fma(ls, sum, fma(in2, e[s], b[HT_CHAIN][s]));
                }
            }
        }
    }
    HT_UNROLL
    for (int s0 = 0; s0 < HT_N3; s0 += HT_SLABS) {
        HT_NEXT_BUFFER()
        HT_EACH_SLAB x[HT_SLOT(0)] = S[s];
        HT_BARRIER();
        HT_EACH_SLAB {
            w[HT_CHAIN][s] = P[s];
            HT_EACH_PARTNER(HT_ADD_GRADIENT)
        }
    }
}
