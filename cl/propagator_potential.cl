/* The half step of one scalar p with a partner v_k for each axis in a uniform
 * medium,
 *     p_t = sum_k s_k d_k v_k,    v_k,t = t_k d_k p,
 * on CPUs (cl/vectors.cl, cl/block_sums.cl). v changes by a gradient, whatever
 * it is: with D = sum_k s_k d_k v_k and the potential phi = the integral of p
 * over the half step,
 *     p and phi = functions of p and D at the start,   v_k += t_k d_k phi,
 * so that two source fields act on two results instead of dims + 1 on as many
 * (docs/method.md, section 4). phi has the coefficients that its derivatives
 * need, n_k <= N + 1 along one axis.
 *
 * D of an interpolant of v is again a polynomial of degree 2N + 1 along each
 * axis: its values at the vertices are those of v with the next derivative; the
 * derivative of order N + 1 of v follows from its interpolant, `top` below. In
 * a block sums are taken alike of D and of v_k.
 *
 * The operator, in the order in which it is read:
 *     op[p][block][tile][entry][row of the tile]    rows of p, then of phi
 *     op[v_k][block][tile][entry][row of the tile]  the interpolation of v_k
 *     op[D][block][tile][entry][row of the tile]    rows of p, then of phi
 *     factors[k]: s_k (i + 1), i < N; top[parity along k][N + 1]; t_k (i + 1)
 * of those fields that are stored on the source and on the target grid.
 * ht_block_row[g], ht_velocity_row[k][g]: first rows of block g;
 * ht_pressure_at[i], ht_velocity_at[k][i], ht_potential_at[n1 + (N + 2) (n2 +
 * (N + 2) n3)]: rows of coefficients.
 */
#define HT_FACTORS (HT_N1 - 1 + 3 * HT_N1) /* of an axis */
#define HT_TOP (HT_N1 - 1)
#define HT_GRADIENT (HT_TOP + 2 * HT_N1)
/* Coefficients along axis k, from one to the next. */
#define HT_ALONG(k) ((k) == 0 ? 1 : (k) == 1 ? HT_N1 : HT_N1 * HT_N2)
#define HT_POTENTIAL_ALONG(k) \
    ((k) == 0 ? 1 : (k) == 1 ? HT_N1 + 1 : (HT_N1 + 1) * (HT_N1 + 1))

/* The first row of a block of p and phi, k = -1, or of v_k; of block
 * HT_CORNERS: behind the last. */
HT_INLINE int ht_first_row(const int k, const int g) {
#if HT_INTERPOLATES
    if (k >= 0) return ht_velocity_row[k * (HT_CORNERS + 1) + g];
#endif
    return ht_block_row[g];
}

/* The rows of all blocks += op * sums. Returns what follows op. */
HT_INLINE HT_GLOBAL const real *ht_blocks_apply(HT_GLOBAL const real *op,
                                                const int k,
                                                HT_LOCAL const vector *sums,
                                                HT_LOCAL vector *result) {
    for (int g = 0; g < HT_CORNERS; g++) {
        const int last = ht_first_row(k, g + 1);
        for (int row = ht_first_row(k, g); row < last; row += HT_TILE) {
            ht_tile(op, 1, HT_COEFS, sums + g * HT_CHUNK * HT_ROWS,
                    result + row * HT_ROWS);
            op += HT_TILE * HT_COEFS;
        }
    }
    return op;
}

/* divergence += s_k d_k v_k along a line of coefficients of one block. */
HT_INLINE void ht_add_line(const int along, HT_GLOBAL const real *factors,
                           HT_GLOBAL const real *top,
                           HT_LOCAL const vector *sums,
                           HT_LOCAL vector *divergence) {
    HT_UNROLL
    for (int v = 0; v < HT_ROWS; v++) {
        vector line[HT_N1], last = divergence[HT_TOP * along * HT_ROWS + v];
        HT_UNROLL
        for (int j = 0; j < HT_N1; j++) {
            line[j] = sums[j * along * HT_ROWS + v];
            last = fma((vector)top[j], line[j], last);
        }
        HT_UNROLL
        for (int i = 0; i < HT_TOP; i++) {
            HT_LOCAL vector *to = divergence + i * along * HT_ROWS + v;
            *to = fma((vector)factors[i], line[i + 1], *to);
        }
        divergence[HT_TOP * along * HT_ROWS + v] = last;
    }
}

/* The same in all blocks. k is a number for the compiler. */
HT_INLINE void ht_add_divergence(const int k, HT_GLOBAL const real *factors,
                                 HT_LOCAL const vector *sums,
                                 HT_LOCAL vector *divergence) {
    const int along = HT_ALONG(k);
    for (int g = 0; g < HT_CORNERS; g++) {
        HT_GLOBAL const real *top = factors + HT_TOP + (g >> k & 1) * HT_N1;
        for (int n = 0; n < HT_COEFS / HT_N1; n++) {
            const int first = n / along * along * HT_N1 + n % along;
            const int at = (g * HT_CHUNK + first) * HT_ROWS;
            ht_add_line(along, factors, top, sums + at, divergence + at);
        }
    }
}

/* Coefficient i = n1 + (N + 1) (n2 + (N + 1) n3) of v_k in a row of targets. */
HT_INLINE vector ht_velocity(const int k, const int i, const int n1,
                             const int n2, const int n3,
                             HT_GLOBAL const real *factors,
                             HT_LOCAL const vector *result,
                             HT_LOCAL const vector *velocity, const int v) {
    const int order = k == 0 ? n1 : k == 1 ? n2 : n3;
    const int at = n1 + (HT_N1 + 1) * (n2 + (HT_N1 + 1) * n3);
    const int row = ht_potential_at[at + HT_POTENTIAL_ALONG(k)];
    const vector rate = (vector)factors[HT_GRADIENT + order];
#if HT_INTERPOLATES
    return fma(rate, result[row * HT_ROWS + v],
               velocity[ht_velocity_at[k * HT_COEFS + i] * HT_ROWS + v]);
#else
    return rate * result[row * HT_ROWS + v];
#endif
}

/* Stores a field of the targets: p, k = -1, or v_k. */
HT_INLINE void ht_store_field(const struct ht_step_args *a, const int k,
                              const struct ht_ends *ends, const long m1,
                              const long m2, const long m3,
                              HT_GLOBAL const real *factors,
                              HT_LOCAL const vector *result,
                              HT_LOCAL const vector *velocity,
                              HT_LOCAL real *stage, HT_GLOBAL real *to) {
    int i = 0;
    for (int n3 = 0; n3 < HT_N3; n3++)
        for (int n2 = 0; n2 < HT_N2; n2++)
            for (int n1 = 0; n1 < HT_N1; n1++, i++)
                for (int v = 0; v < HT_ROWS && m2 + v < a->end[1]; v++)
                    ht_put_row(a, to, 0, i, ends, m1,
                               ht_place_target(a, 0, m2 + v, m3),
                               k < 0 ? result[ht_pressure_at[i] * HT_ROWS + v]
                                     : ht_velocity(k, i, n1, n2, n3, factors,
                                                   result, velocity, v),
                               stage);
}

HT_KERNEL HT_GROUP_SIZE(1) void ht_propagator_potential(
    struct ht_step_args a,
    HT_GLOBAL const real *HT_RESTRICT op HT_EACH_SRC(HT_SRC_PARAM)
        HT_EACH_DST(HT_DST_PARAM)) {
    HT_LOCAL_ARRAY(vector, sums,
                   HT_SIZE_BLOCK_SUMS(HT_CORNERS, HT_CHUNK, HT_ROWS));
    HT_LOCAL_ARRAY(vector, divergence,
                   HT_SIZE_BLOCK_SUMS(HT_CORNERS, HT_CHUNK, HT_ROWS));
    HT_LOCAL_ARRAY(vector, result,
                   HT_SIZE_BLOCK_RESULT(HT_RESULT_ROWS, HT_ROWS));
    HT_LOCAL_ARRAY(vector, velocity,
                   HT_SIZE_BLOCK_RESULT(HT_VELOCITY_ROWS + 1, HT_ROWS));
    HT_LOCAL_ARRAY(
        vector, faces,
        HT_SIZE_BLOCK_FACES(HT_ROLL, HT_ENTRIES, HT_FACE_SUMS, HT_ROWS));
    HT_LOCAL_ARRAY(real, stage, HT_SIZE_SIDE(HT_CELLS));
    HT_GLOBAL const real *const factors = op + HT_OP_VALUES;
    const long m1 = a.begin[0] + HT_GROUP_1() * HT_CELLS;
    const long m2 = a.begin[1] + HT_GROUP_2() * HT_ROWS;
    const long begin = ht_first_plane(&a), end = ht_last_plane(&a);
    struct ht_ends ends;
    struct ht_plane below, above;
    ht_set_ends(&a, m1, &ends);
    ht_set_plane(&a, m2, begin + a.shift[2], &below);
    ht_march_begin(&a, &ends, &below, faces, stage HT_EACH_SRC(HT_SRC_ARG));
    for (long m3 = begin; m3 < end; m3++) {
        ht_set_plane(&a, m2, m3 + a.shift[2] + 1, &above);
        HT_GLOBAL const real *at = op;
        for (int n = 0; n < HT_RESULT_ROWS * HT_ROWS; n++) result[n] = 0;
        for (int n = 0; n < HT_VELOCITY_ROWS * HT_ROWS; n++) velocity[n] = 0;
        for (int n = 0; HT_FROM_VELOCITY && n < HT_CORNERS * HT_CHUNK * HT_ROWS;
             n++)
            divergence[n] = 0;
        for (int slot = 0; slot < HT_SOURCES; slot++) {
            const int k = slot - HT_FROM_PRESSURE; /* -1: p */
            HT_GLOBAL const real *from = src0;
            HT_EACH_SRC(HT_SOURCE_CHOOSE)
            ht_sums(&a, from, HT_SRC_PLACE(slot), 0, HT_COEFS, ht_parity[slot],
                    &ends, &below, &above,
                    faces + slot * HT_COEFS * HT_FACE_SUMS * HT_ROWS, sums,
                    stage);
            if (k < 0) {
                at = ht_blocks_apply(at, -1, sums, result);
                continue;
            }
#if HT_INTERPOLATES
            at = ht_blocks_apply(at, k, sums, velocity);
#endif
            HT_UNROLL
            for (int axis = 0; axis < HT_DIMS; axis++)
                if (axis == k)
                    ht_add_divergence(axis, factors + axis * HT_FACTORS, sums,
                                      divergence);
        }
        if (HT_FROM_VELOCITY) at = ht_blocks_apply(at, -1, divergence, result);
        for (int slot = 0; slot < HT_TARGETS; slot++) {
            const int k = slot - HT_TO_PRESSURE;
            HT_GLOBAL real *to = dst0;
            HT_EACH_DST(HT_TARGET_CHOOSE)
            ht_store_field(&a, k, &ends, m1, m2, m3, factors + k * HT_FACTORS,
                           result, velocity, stage, to);
        }
        below = above;
    }
}
