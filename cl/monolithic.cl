/* Interpolation and evolution in one kernel. A work-group marches along x3; each work-item holds
 * its column of the lower face in registers ("register rolling"), so each face is interpolated once
 * per work-group. Work-items as in cl/common.cl. */
#define HT_MAX2(a, b) ((a) > (b) ? (a) : (b))

HT_TOOL_KERNEL ht_monolithic(HT_STEP_PARAMS(scale) HT_EACH_MATERIAL(HT_MEDIUM_PARAM)) {
    HT_LOCAL_ARRAY(real, scratch, HT_MAX2(HT_FACE_SIZE, HT_STEP_LOCAL) + HT_MEDIUM_SIZE);
    HT_LOCAL real *medium = scratch + HT_MAX2(HT_FACE_SIZE, HT_STEP_LOCAL);
#define HT_TAKE_STEP                                                           \
    ht_target(&a, item, m1, m2, m3, scale, b, scratch,                         \
              medium HT_EACH_DST(HT_DST_ARG) HT_EACH_MATERIAL(HT_MEDIUM_ARG)); \
    HT_BARRIER();
    HT_EACH_MARCHED(scratch, HT_TAKE_STEP)
}
