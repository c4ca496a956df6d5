/* Reads a target's medium, evolves its polynomial and writes the result; shared by the kernels with
 * a work-item per column. */
#if HT_MEDIUM_DEGREE <= 0
#define HT_MEDIUM_SIZE 0
#define HT_STEP_LOCAL HT_EXCHANGE_SIZE
#else
#define HT_STEP_LOCAL (HT_EXCHANGE_SIZE + HT_PRODUCT_SIZE)
#endif

/* Evolves this work-item's column b and writes its coefficients up to N; leapfrog (HT_OLD_SIGN)
 * adds the old value times its sign. scratch:
 * HT_STEP_LOCAL values; local_medium, behind them: HT_MEDIUM_SIZE values in the index order
 * [cell][material][a]. All work-items of the group must call it. */
HT_INLINE void ht_target(const struct ht_step_args *a, const int item, long m1, long m2, long m3,
                         HT_GLOBAL const real *scale, real b[HT_FIELDS][HT_T3],
                         HT_LOCAL real *scratch,
                         HT_LOCAL real *local_medium HT_EACH_DST(HT_DST_PARAM)
                             HT_EACH_MATERIAL(HT_MEDIUM_PARAM)) {
    const int n1 = item % HT_T1, n2 = item / HT_T1 % HT_T2;
    const long nodes = a->dst_nodes, m = m1 + item / HT_COLUMN;
    const int active = m < a->end[0];
    const long node = ht_target_row(a, m2, m3) + (active ? m : a->end[0] - 1);
    real w[HT_FIELDS][HT_T3];
#if HT_MEDIUM_DEGREE < 0
    ht_evolve(item, a->stages, scale, b, w, scratch);
#elif HT_MEDIUM_DEGREE == 0
#if HT_PROFILES > 0
    const long at1 = active ? m : a->end[0] - 1;
#define HT_INDEX_OF(i)                \
    (ht_profile_axis[i] < 0    ? node \
     : ht_profile_axis[i] == 0 ? at1  \
     : ht_profile_axis[i] == 1 ? m2   \
                               : m3)
/* Profiles in the index order [index along the axis][degree]. */
#define HT_READ_MEDIUM(i)                                                                         \
    if (ht_profile_axis[i] < 0) {                                                                 \
        value[i] = medium##i[node];                                                               \
    } else {                                                                                      \
        for (int d = 0; d <= HT_PROFILE_DEGREE; d++)                                              \
            value[HT_PROFILE_AT(i, d)] = medium##i[HT_INDEX_OF(i) * (HT_PROFILE_DEGREE + 1) + d]; \
    }
#else
#define HT_READ_MEDIUM(i) value[i] = medium##i[node];
#endif
    real value[HT_MATERIALS + HT_PROFILES * HT_PROFILE_DEGREE];
    HT_EACH_MATERIAL(HT_READ_MEDIUM)
    ht_evolve(item, a->stages, scale, b, w, scratch, value);
#else
#define HT_READ_MEDIUM(i)                                                             \
    for (int q = item % HT_COLUMN; q < HT_COEFS_OF(i); q += HT_COLUMN)                \
        local_medium[(item / HT_COLUMN * HT_MATERIALS + (i)) * HT_MEDIUM_COEFS + q] = \
            medium##i[q * nodes + node];
    HT_EACH_MATERIAL(HT_READ_MEDIUM)
    HT_BARRIER();
    ht_evolve(item, a->stages, scale, b, w, scratch, local_medium, scratch + HT_EXCHANGE_SIZE);
#endif
#if HT_MEMORY > 0
#define HT_STORE(slot, f)                                                 \
    {                                                                     \
        const int layer = ht_dst_layer[slot];                             \
        const struct ht_part_place *p = &a->dst_part[1 + layer];          \
        dst##slot[HT_AT(i, layer < 0 ? node : ht_part_node(p, m, m2, m3), \
                        layer < 0 ? nodes : p->nodes)] = w[f][n3];        \
    }
#elif HT_OLD_SIGN == 0
#define HT_STORE(slot, f) dst##slot[HT_AT(i, node, nodes)] = w[f][n3];
#else
#define HT_STORE(slot, f)              \
    dst##slot[HT_AT(i, node, nodes)] = \
        fma((real)2, w[f][n3], (real)HT_OLD_SIGN * dst##slot[HT_AT(i, node, nodes)]);
#endif
    if (active && n1 <= HT_ORDER && n2 <= HT_ORDER) {
        HT_UNROLLED(n3, HT_N3) {
            const int i = (n3 * HT_N2 + n2) * HT_N1 + n1;
            HT_EACH_DST(HT_STORE)
        }
    }
}
