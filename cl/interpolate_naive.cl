/* Interpolation by algorithms 1 and 2 of the paper. A work-group per target and field loads the
 * vertices of the cell into a tensor in local memory,
 *     cube[r3][r2][r1],  r = j (N+1) + i for derivative i at the node on side j,
 * and applies the full matrix H along x1, x2 and x3 in place; a work-item transforms one line at a
 * time. Cells share no data. Work-groups:
 * (m1, m2, m3 * sources + slot). */

/* Along one axis whose lines have the given stride; line l starts at (l % inner) + (l / inner) *
 * inner * HT_T1. */
HT_INLINE void ht_cube_lines(HT_LOCAL real *cube, const int item, int inner) {
    for (int line = item; line < HT_CUBE / HT_T1; line += HT_COLUMN) {
        HT_LOCAL real *at = cube + line % inner + line / inner * inner * HT_T1;
        real in[HT_T1];
        HT_UNROLLED(r, HT_T1) in[r] = at[r * inner];
#if HT_OLD_SIGN == 0
        HT_UNROLLED(n, HT_T1) {
            real sum = 0;
            HT_UNROLLED(r, HT_T1) sum = fma(ht_matrix[n * HT_T1 + r], in[r], sum);
            at[n * inner] = sum;
        }
#else
        /* ht_line keeps the result exactly even or odd at a wall; otherwise leapfrog would
         * accumulate rounding errors of the wrong parity. */
        real out[HT_T1];
        ht_line(in, out);
        HT_UNROLLED(n, HT_T1) at[n * inner] = out[n];
#endif
    }
}

HT_KERNEL
HT_GROUP_SIZE(HT_COLUMN)
void ht_interpolate_naive(struct ht_step_args a HT_EACH_SRC(HT_SRC_PARAM)
                              HT_EACH_SRC(HT_POLY_PARAM)) {
    HT_LOCAL_ARRAY(real, cube, HT_CUBE);
    const int item = HT_ITEM();
    const int field = (int)(HT_GROUP_3() % HT_SOURCES);
    const long m[3] = {a.begin[0] + HT_GROUP_1(), a.begin[1] + HT_GROUP_2(),
                       a.begin[2] + HT_GROUP_3() / HT_SOURCES};
    HT_CHOOSE_SRC
    for (int q = item; q < HT_CUBE; q += HT_COLUMN) {
        const int r[3] = {q % HT_T1, q / HT_T1 % HT_T2, q / HT_COLUMN};
        cube[q] = ht_vertex(&a, chosen, r, m);
    }
    HT_BARRIER();
    ht_cube_lines(cube, item, 1);
    HT_BARRIER();
#if HT_DIMS > 1
    ht_cube_lines(cube, item, HT_T1);
    HT_BARRIER();
#endif
#if HT_DIMS > 2
    ht_cube_lines(cube, item, HT_COLUMN);
    HT_BARRIER();
#endif
    HT_GLOBAL real *out = poly0;
#define HT_POLY_CHOOSE(slot, f) out = field == slot ? poly##slot : out;
    HT_EACH_SRC(HT_POLY_CHOOSE)
    out += ht_poly_at(&a, m[0], m[1], m[2]);
    for (int q = item; q < HT_CUBE; q += HT_COLUMN) out[q] = cube[q];
}
