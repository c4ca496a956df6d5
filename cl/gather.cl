/* Copies the vertex values of the cells of one field into the buffer of interpolants
 * (cl/polynomials.cl), as operand of interpolation by matrix products: out[target][r3][r2][r1] with
 * r as in cl/vertex.cl. A work-item copies one value; the values of a work-group are consecutive in
 * a row of targets along x1. */
HT_TOOL_KERNEL ht_gather(struct ht_step_args a, HT_INPUT(real) src, HT_OUTPUT(real) out) {
    const long at = HT_GROUP_1() * HT_ITEMS + HT_ITEM();
    const long m[3] = {a.begin[0] + at / HT_CUBE, a.begin[1] + HT_GROUP_2(),
                       a.begin[2] + HT_GROUP_3()};
    const int q = (int)(at % HT_CUBE);
    const int r[3] = {q % HT_T1, q / HT_T1 % HT_T2, q / HT_COLUMN};
    if (m[0] < a.end[0]) out[ht_poly_at(&a, m[0], m[1], m[2]) + q] = ht_vertex(&a, src, r, m);
}
