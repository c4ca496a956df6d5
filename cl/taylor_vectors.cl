/* Interpolation and Taylor series (formulas in evolve.cl) on CPUs. A work-group is one work-item
 * with a vector of targets along x1 (cl/vectors.cl). Its polynomials
 *     b[field][n3][n2][n1], w[field][n3][n2][n1]
 * are arrays of vectors in local memory that fit a cache. Coefficients are computed one after the
 * other, so a coefficient that cannot reach an output costs one comparison (ht_reached).
 *
 * In uniform media and media that are constant per node w is overwritten in place in ascending
 * order of the indices, because derivatives read only higher indices, not yet overwritten. In
 * polynomial media the terms are summed first,
 *     products[group][n3][n2][n1] = sum of the terms of a group,
 * and then a row of coefficients n1 at a time is accumulated in registers,
 *     w = b + (1/k) sum over a of M_a products[n - a]. */
#if HT_MEDIUM_DEGREE > 0
#define HT_PRODUCTS (HT_GROUPS * HT_CUBE)
#define HT_SPAN (HT_MEDIUM_DEGREE + 1)
#define HT_SPAN2 (HT_DIMS > 1 ? HT_SPAN : 1)
#define HT_SPAN3 (HT_DIMS > 2 ? HT_SPAN : 1)
#else
#define HT_PRODUCTS 0
#define HT_SPAN 1
#define HT_SPAN2 1
#define HT_SPAN3 1
#endif
/* medium[material][a3][a2][a1] with all a_k <= degree */
#define HT_MEDIUM_AT(m, a1, a2, a3) ((((m)*HT_SPAN3 + (a3)) * HT_SPAN2 + (a2)) * HT_SPAN + (a1))
#define HT_MEDIUM_VECTORS (HT_MEDIUM_DEGREE < 0 ? 0 : HT_MATERIALS * HT_SPAN * HT_SPAN2 * HT_SPAN3)

/* ---- interpolation ---- */

/* ht_line in place on elements `stride` apart. */
HT_INLINE void ht_vector_line(HT_LOCAL vector *at, int stride){HT_LINE(vector, at, at, stride)}

/* The line along x1 of row r2 = side (N+1) + derivative of plane r3. */
HT_INLINE void ht_first_line(const struct ht_step_args *a, HT_GLOBAL const real *src,
                             const struct ht_ends *e, const struct ht_plane *p, int r2, int i3,
                             HT_LOCAL vector *at, HT_LOCAL real *stage) {
    const int j2 = r2 / HT_N2, i2 = r2 % HT_N2;
    for (int i1 = 0; i1 < HT_N1; i1++) {
        const int i = (i3 * HT_N2 + i2) * HT_N1 + i1;
        vector left, right;
        ht_read_row(a, src, i, e, p->row[j2], &left, &right, stage);
        at[i1] = left;
        at[HT_N1 + i1] = right;
    }
    ht_vector_line(at, 1);
}

/* The interpolant b of one field. below, above: the source planes. */
HT_INLINE void ht_interpolate(const struct ht_step_args *a, HT_GLOBAL const real *src,
                              const struct ht_ends *e, const struct ht_plane *below,
                              const struct ht_plane *above, HT_LOCAL vector *b,
                              HT_LOCAL real *stage) {
    for (int r3 = 0; r3 < HT_T3; r3++) {
        const struct ht_plane *p = r3 < HT_N3 ? below : above;
        HT_LOCAL vector *face = b + r3 * HT_T2 * HT_T1;
        for (int r2 = 0; r2 < HT_T2; r2++)
            ht_first_line(a, src, e, p, r2, r3 % HT_N3, face + r2 * HT_T1, stage);
        for (int n1 = 0; HT_DIMS > 1 && n1 < HT_T1; n1++) ht_vector_line(face + n1, HT_T1);
    }
    for (int q = 0; HT_DIMS > 2 && q < HT_T1 * HT_T2; q++) ht_vector_line(b + q, HT_T1 * HT_T2);
}

/* ---- medium ---- */

/* The medium's values at a vector of targets. */
HT_INLINE vector ht_medium_vector(const struct ht_step_args *a, HT_GLOBAL const real *from,
                                  const struct ht_ends *e, HT_LOCAL real *stage) {
    if (e->whole) return HT_GLOBAL_VECTOR(from + e->start);
    for (int n = 0; n < HT_CELLS; n++)
        stage[n] = from[e->start + n < a->end[0] ? e->start + n : a->end[0] - 1];
    return HT_LOCAL_VECTOR(stage);
}

/* Loads material m. Multi-indices are in the order of ht_jets_make. node:
 * number of the target node at index 0 of the row. */
HT_INLINE void ht_load_medium(const struct ht_step_args *a, int m, HT_GLOBAL const real *from,
                              const struct ht_ends *e, HT_LOCAL vector *medium,
                              HT_LOCAL real *stage) {
    const long nodes = a->dst_nodes;
    long q = 0;
    for (int a1 = 0; a1 < HT_SPAN; a1++)
        for (int a2 = 0; a2 < HT_SPAN2 && a1 + a2 < HT_SPAN; a2++)
            for (int a3 = 0; a3 < HT_SPAN3 && a1 + a2 + a3 < HT_SPAN; a3++, q++)
                if (q < HT_COEFS_OF(m))
                    medium[HT_MEDIUM_AT(m, a1, a2, a3)] =
                        ht_medium_vector(a, from + q * nodes, e, stage);
}

/* ---- evolution ---- */

/* Adds a term to the sum of its group; n[axis] is the index of coefficient `at`. */
#define HT_LENGTH_0 HT_T1
#define HT_LENGTH_1 HT_T2
#define HT_LENGTH_2 HT_T3
#define HT_STRIDE_0 1
#define HT_STRIDE_1 HT_T1
#define HT_STRIDE_2 (HT_T1 * HT_T2)
#define HT_POWERS_0(n) 1
#define HT_POWERS_1(n) ((n) + 1)
#define HT_POWERS_2(n) (((n) + 1) * ((n) + 2))
#define HT_ADD_TERM(t, row, col, axis, derivative, group, slot)        \
    if (n##axis + derivative < HT_LENGTH_##axis)                       \
        g[group] += scale[t] * (real)HT_POWERS_##derivative(n##axis) * \
                    w[(col)*HT_CUBE + at + derivative * HT_STRIDE_##axis];
#define HT_ADD_GROUP_UNIFORM(group, row, m) sum[row] += g[group];
#define HT_ADD_GROUP_NODE(group, row, m) sum[row] += medium[m] * g[group];
#define HT_ADD_PLAIN_GROUP(group, row) sum[row] += g[group];

/* The terms of all groups at coefficient (n0, n1, n2) of w. */
HT_INLINE void ht_terms(HT_GLOBAL const real *scale, int n0, int n1, int n2,
                        HT_LOCAL const vector *w, vector g[HT_GROUPS]) {
    const int at = (n2 * HT_T2 + n1) * HT_T1 + n0;
    HT_UNROLLED(n, HT_GROUPS) g[n] = 0;
    HT_EACH_TERM(HT_ADD_TERM)
}

#if HT_MEDIUM_DEGREE <= 0
/* ht_needed by a table: Oclgrind does not support the saturating subtraction into which a compiler
 * turns the conditional there. */
HT_INLINE int ht_reached(int k, int n0, int n1, int n2) {
    const int excess = ht_excess[n0] + ht_excess[n1] + ht_excess[n2];
    return !HT_TRIM || (excess <= k - 1 + HT_SLACK && k - 1 - HT_SLACK <= n0 + n1 + n2);
}

/* One stage in place, for media without polynomials. */
HT_INLINE void ht_stage(HT_GLOBAL const real *scale, int k, HT_LOCAL const vector *b,
                        HT_LOCAL vector *w, HT_LOCAL const vector *medium,
                        HT_LOCAL vector *products) {
    const vector inverse = ht_inverse[k];
    for (int n2 = 0; n2 < HT_T3; n2++)
        for (int n1 = 0; n1 < HT_T2; n1++)
            for (int n0 = 0; n0 < HT_T1; n0++) {
                const int at = (n2 * HT_T2 + n1) * HT_T1 + n0;
                vector g[HT_GROUPS], sum[HT_FIELDS];
                if (!ht_reached(k, n0, n1, n2)) continue;
                ht_terms(scale, n0, n1, n2, w, g);
                HT_UNROLLED(f, HT_FIELDS) sum[f] = 0;
#if HT_MEDIUM_DEGREE < 0
                HT_EACH_GROUP(HT_ADD_GROUP_UNIFORM)
#else
                HT_EACH_GROUP(HT_ADD_GROUP_NODE)
#endif
                HT_EACH_PLAIN_GROUP(HT_ADD_PLAIN_GROUP)
                HT_UNROLLED(f, HT_FIELDS)
                    w[f * HT_CUBE + at] = fma(inverse, sum[f], b[f * HT_CUBE + at]);
            }
}
#else
/* sum[n] += the coefficients n = 0..length - 1 of row (n2, n1) of M times products. */
HT_INLINE void ht_multiply_row(HT_LOCAL const vector *medium, int m,
                               HT_LOCAL const vector *products, int n1, int n2, const int length,
                               vector sum[HT_T1]) {
    for (int a3 = 0; a3 < HT_SPAN3 && a3 <= n2; a3++)
        for (int a2 = 0; a2 < HT_SPAN2 && a2 <= n1 && a2 + a3 < HT_SPAN; a2++) {
            HT_LOCAL const vector *row = products + ((n2 - a3) * HT_T2 + n1 - a2) * HT_T1;
            HT_UNROLLED(a1, HT_SPAN) {
                if (a1 + a2 + a3 < HT_SPAN) {
                    const vector value = medium[HT_MEDIUM_AT(m, a1, a2, a3)];
                    HT_UNROLLED_FROM(n, a1, length) sum[n] = fma(value, row[n - a1], sum[n]);
                }
            }
        }
}

#define HT_MULTIPLY_GROUP(group, row, m) \
    if (f == row) ht_multiply_row(medium, m, products + (group)*HT_CUBE, n1, n2, length, sum);
#define HT_ADD_CONSTANT_ROW(group, row, m)                                                         \
    if (f == row) {                                                                                \
        HT_UNROLLED(n, length)                                                                     \
            sum[n] =                                                                               \
                fma(medium[HT_MEDIUM_AT(m, 0, 0, 0)], products[(group)*HT_CUBE + at + n], sum[n]); \
    }
#define HT_ADD_PLAIN_ROW(group, row)                                         \
    if (f == row) {                                                          \
        HT_UNROLLED(n, length) sum[n] += products[(group)*HT_CUBE + at + n]; \
    }

/* w in row (n2, n1), n = 0..length - 1, from the products. */
HT_INLINE void ht_add_row(const vector inverse, int n1, int n2, const int length,
                          HT_LOCAL const vector *b, HT_LOCAL vector *w,
                          HT_LOCAL const vector *medium, HT_LOCAL const vector *products) {
    const int at = (n2 * HT_T2 + n1) * HT_T1;
    for (int f = 0; f < HT_FIELDS; f++) {
        vector sum[HT_T1];
        HT_UNROLLED(n, length) sum[n] = 0;
        HT_EACH_GROUP(HT_MULTIPLY_GROUP)
        HT_EACH_CONSTANT_GROUP(HT_ADD_CONSTANT_ROW)
        HT_EACH_PLAIN_GROUP(HT_ADD_PLAIN_ROW)
        HT_UNROLLED(n, length)
            w[f * HT_CUBE + at + n] = fma(inverse, sum[n], b[f * HT_CUBE + at + n]);
    }
}

/* By rows: coefficients that reach an output lie in rows of an excess of at most k - 1 + HT_SLACK,
 * at the limit in their first N + 1 places. */
HT_INLINE void ht_stage(HT_GLOBAL const real *scale, int k, HT_LOCAL const vector *b,
                        HT_LOCAL vector *w, HT_LOCAL const vector *medium,
                        HT_LOCAL vector *products) {
    const vector inverse = ht_inverse[k];
    const int most = HT_TRIM ? k - 1 + HT_SLACK : HT_T1 + HT_T2;
    for (int at = 0; at < HT_CUBE; at += HT_T1) {
        const int n1 = at / HT_T1 % HT_T2, n2 = at / (HT_T1 * HT_T2);
        if (ht_excess[n1] + ht_excess[n2] > most) continue;
        for (int n0 = 0; n0 < HT_T1; n0++) {
            vector g[HT_GROUPS];
            ht_terms(scale, n0, n1, n2, w, g);
            HT_UNROLLED(n, HT_GROUPS) products[n * HT_CUBE + at + n0] = g[n];
        }
    }
    for (int at = 0; at < HT_CUBE; at += HT_T1) {
        const int n1 = at / HT_T1 % HT_T2, n2 = at / (HT_T1 * HT_T2);
        const int excess = ht_excess[n1] + ht_excess[n2];
        if (excess < most)
            ht_add_row(inverse, n1, n2, HT_T1, b, w, medium, products);
        else if (excess == most)
            ht_add_row(inverse, n1, n2, HT_N1, b, w, medium, products);
    }
}
#endif

/* ---- the kernel ---- */

#define HT_INTERPOLATE(slot, f) \
    ht_interpolate(&a, src##slot, &ends, &below, &above, b + (f)*HT_CUBE, stage);
#define HT_LOAD_MATERIAL(m) ht_load_medium(&a, m, medium##m + node, &ends, medium, stage);
#define HT_WRITE_FIELD(slot, f)                   \
    ht_put_row(&a, dst##slot, i, &ends, m1, node, \
               (HT_OLD_SIGN ? (real)2 : (real)1) * w[(f)*HT_CUBE + at], stage);

HT_TOOL_KERNEL ht_taylor_vectors(HT_STEP_PARAMS(scale) HT_EACH_MATERIAL(HT_MEDIUM_PARAM)) {
    /* In one array: PoCL 5 without optimising ends the process at arrays that nothing uses. */
    HT_LOCAL_ARRAY(vector, b, HT_FIELDS * HT_CUBE + HT_PRODUCTS + HT_MEDIUM_VECTORS);
    HT_LOCAL_ARRAY(vector, w, HT_FIELDS * HT_CUBE);
    HT_LOCAL vector *products = b + HT_FIELDS * HT_CUBE, *medium = products + HT_PRODUCTS;
    HT_LOCAL_ARRAY(real, stage, HT_CELLS + 1);
    const long m1 = a.begin[0] + HT_GROUP_1() * HT_CELLS;
    const long m2 = a.begin[1] + HT_GROUP_2();
    const long begin = ht_first_plane(&a), end = ht_last_plane(&a);
    struct ht_ends ends;
    struct ht_plane below, above;
    ht_set_ends(&a, m1, &ends);
    for (int n = 0; n < HT_FIELDS * HT_CUBE; n++) b[n] = 0;
    for (long m3 = begin; m3 < end; m3++) {
        ht_set_plane(&a, m2, m3 + a.shift[2], &below);
        ht_set_plane(&a, m2, m3 + a.shift[2] + 1, &above);
        const long node = ht_target_row(&a, m2, m3);
        HT_EACH_SRC(HT_INTERPOLATE)
        HT_EACH_MATERIAL(HT_LOAD_MATERIAL)
        for (int n = 0; n < HT_FIELDS * HT_CUBE; n++) w[n] = b[n];
        for (int k = a.stages; k >= 1; k--) ht_stage(scale, k, b, w, medium, products);
        for (int i = 0; i < HT_COEFS; i++) {
            const int at = (i / (HT_N1 * HT_N2) * HT_T2 + i / HT_N1 % HT_N2) * HT_T1 + i % HT_N1;
            HT_EACH_DST(HT_WRITE_FIELD)
        }
    }
}
