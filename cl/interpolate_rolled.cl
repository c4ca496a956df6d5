/* Interpolation only, by marching along x3 as cl/monolithic.cl does. The interpolants go to the
 * buffer of cl/polynomials.cl. */
HT_TOOL_KERNEL ht_interpolate_rolled(struct ht_step_args a HT_EACH_SRC(HT_SRC_PARAM)
                                         HT_EACH_SRC(HT_POLY_PARAM)) {
    HT_LOCAL_ARRAY(real, face, HT_FACE_SIZE);
#define HT_STORE_POLY(slot, f) poly##slot[at + n3 * HT_COLUMN] = b[f][n3];
#define HT_STORE_MARCHED                                              \
    if (m < a.end[0]) {                                               \
        const long at = ht_poly_at(&a, m, m2, m3) + item % HT_COLUMN; \
        HT_UNROLLED(n3, HT_T3) {                                      \
            HT_EACH_SRC(HT_STORE_POLY)                                \
        }                                                             \
    }
    HT_EACH_MARCHED(face, HT_STORE_MARCHED)
}
