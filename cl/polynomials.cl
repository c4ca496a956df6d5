/* The buffer of interpolants between the interpolation and the evolution kernel, one per field, in
 * the index order
 *     poly[target][n3][n2][n1], targets counted from x3 plane a.scratch.
 * Coefficients are innermost because a work-group reads and writes whole targets. */
HT_INLINE long ht_poly_at(const struct ht_step_args *a, long m1, long m2, long m3) {
    const long rows = a->end[1] - a->begin[1], row = a->end[0] - a->begin[0];
    return (((m3 - a->scratch) * rows + m2 - a->begin[1]) * row + m1 - a->begin[0]) * HT_CUBE;
}

/* Evolution only. Work-items as in cl/common.cl; no march along x3. */
HT_TOOL_KERNEL ht_evolve_polynomials(struct ht_step_args a,
                                     HT_INPUT(real) scale HT_EACH_SRC(HT_POLY_PARAM)
                                         HT_EACH_DST(HT_DST_PARAM)
                                             HT_EACH_MATERIAL(HT_MEDIUM_PARAM)) {
    /* In one array: PoCL 5 without optimising ends the process at arrays that nothing uses. */
    HT_LOCAL_ARRAY(real, scratch, HT_STEP_LOCAL + HT_MEDIUM_SIZE);
    const int item = HT_ITEM();
    const long m1 = a.begin[0] + HT_GROUP_1() * HT_CELLS;
    const long m2 = a.begin[1] + HT_GROUP_2();
    const long m3 = a.begin[2] + HT_GROUP_3();
    const long m = m1 + item / HT_COLUMN;
    const long at = ht_poly_at(&a, m < a.end[0] ? m : a.end[0] - 1, m2, m3) + item % HT_COLUMN;
    real b[HT_FIELDS][HT_T3];
    ht_zero_fields(b);
#define HT_LOAD_POLY(slot, f) b[f][n3] = poly##slot[at + n3 * HT_COLUMN];
    HT_UNROLLED(n3, HT_T3) {
        HT_EACH_SRC(HT_LOAD_POLY)
    }
    ht_target(&a, item, m1, m2, m3, scale, b, scratch,
              scratch + HT_STEP_LOCAL HT_EACH_DST(HT_DST_ARG) HT_EACH_MATERIAL(HT_MEDIUM_ARG));
}
