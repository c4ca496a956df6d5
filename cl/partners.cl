/* A scalar, field 0, and its partner v_k on each axis, in kernels of their two
 * series: fields by slot, partners by axis, then the scalar; materials of a
 * target, the same on all axes. The macros are for HT_EACH_PARTNER.
 */
#define HT_CHOOSE_PARTNER(axis, f, tp, tv, mp, mv) \
    if (slot == axis) chosen = src##f;
HT_INLINE HT_GLOBAL const real *
ht_field_source(const int slot HT_EACH_SRC(HT_SRC_PARAM)) {
    HT_GLOBAL const real *chosen = src0;
    HT_EACH_PARTNER(HT_CHOOSE_PARTNER)
    return chosen;
}

/* Uniform ones are in the factors of the axes. */
#if HT_MEDIUM_DEGREE < 0
#define HT_MATERIAL(m) 1
#else
#define HT_MATERIAL(m) medium##m[node]
#endif
#define HT_GET_MATERIALS(axis, f, tp, tv, mp, mv) \
    if (axis == 0) {                              \
        of_scalar = HT_MATERIAL(mp);              \
        of_partner = HT_MATERIAL(mv);             \
    }
