/* The buffer of interpolants between the two kernels: one per field,
 *     poly[target][n3][n2][n1], targets counted from x3 plane a.scratch,
 * coefficients innermost because one group reads and writes whole targets.
 */
HT_INLINE long ht_poly_at(const struct ht_step_args *a, long m1, long m2,
                          long m3) {
    return (((m3 - a->scratch) * a->dst[1] + m2) * a->dst[0] + m1) * HT_CUBE;
}
