/* Interpolation only, by marching along x3 as cl/monolithic.cl does. The interpolants go to the
 * buffer of cl/polynomials.cl. */
HT_KERNEL
HT_GROUP_SIZE(HT_ITEMS)
void ht_interpolate_rolled(struct ht_step_args a HT_EACH_SRC(HT_SRC_PARAM)
                               HT_EACH_SRC(HT_POLY_PARAM)) {
    HT_LOCAL_ARRAY(real, face, HT_FACE_SIZE);
    const int item = HT_ITEM();
    const long m1 = a.begin[0] + HT_GROUP_1() * HT_CELLS;
    const long m2 = a.begin[1] + HT_GROUP_2();
    const long begin = ht_first_plane(&a), end = ht_last_plane(&a);
    const long m = m1 + item / HT_COLUMN;
    real bottom[HT_SOURCES][HT_N3], b[HT_FIELDS][HT_T3];
    ht_face(&a, face, item, m1, m2, begin + a.shift[2], bottom HT_EACH_SRC(HT_SRC_ARG));
    for (long m3 = begin; m3 < end; m3++) {
        ht_march(&a, face, item, m1, m2, m3, bottom, b HT_EACH_SRC(HT_SRC_ARG));
#define HT_STORE_POLY(slot, f) poly##slot[at + n3 * HT_COLUMN] = b[f][n3];
        if (m < a.end[0]) {
            const long at = ht_poly_at(&a, m, m2, m3) + item % HT_COLUMN;
            HT_UNROLLED(n3, HT_T3) {
                HT_EACH_SRC(HT_STORE_POLY)
            }
        }
    }
}
