/* The buffer of interpolants between the interpolation and the evolution
 * kernel, one per field, in the index order
 *     poly[target][n3][n2][n1], targets counted from x3 plane a.scratch.
 * Coefficients are innermost because a work-group reads and writes whole
 * targets.
 */
HT_INLINE long ht_poly_at(const struct ht_step_args *a, long m1, long m2,
                          long m3) {
    const long rows = a->end[1] - a->begin[1], row = a->end[0] - a->begin[0];
    return (((m3 - a->scratch) * rows + m2 - a->begin[1]) * row + m1 -
            a->begin[0]) *
           HT_CUBE;
}
