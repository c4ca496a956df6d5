/* Packs planes of all fields into a message and unpacks them. From `at` on a message holds
 *     scale[field][index]                          with HT_PACK_SCALED only
 *     value[field][index / block][node][index % block]
 * with the storage index of the coefficient. Scales have single precision and are padded to 16
 * bytes. Values of half precision are multiplied by a power of two per field and coefficient that
 * brings the largest of them to [2^14, 2^15), because halves end at 65504 and lose digits below
 * 2^-14, whatever the units of a field.
 *
 * Work-groups: first axis HT_TOOL_ITEMS values of a block of coefficients each, second axis the
 * field, third the block. Value v of a block is that of node v
 * / HT_BLOCK of the box. */

#if HT_PACK_BYTES == 2
typedef HT_HALF ht_packed;
#define HT_PACK_WRITE(values, i, x) HT_STORE_HALF(values, i, x)
#define HT_PACK_READ(values, i) HT_LOAD_HALF(values, i)
#else
#if HT_PACK_BYTES == 8
typedef double ht_packed;
#else
typedef float ht_packed;
#endif
#define HT_PACK_WRITE(values, i, x) (values)[i] = (ht_packed)(x)
#define HT_PACK_READ(values, i) (values)[i]
#endif

#define HT_PACK_IN(slot) , HT_INPUT(real) u##slot
#define HT_PACK_OUT(slot) , HT_OUTPUT(real) u##slot
#define HT_PACK_CHOOSE(slot) chosen = field == slot ? u##slot : chosen;

/* Number in the window of node n of the box, of which the host ensures that it has less than 2^31:
 * divisions of 64 bits took most of a kernel's time. */
HT_INLINE long ht_pack_node(const struct ht_pack_args *a, long n) {
    const unsigned row = (unsigned)n / (unsigned)a->count[0];
    const unsigned plane = row / (unsigned)a->count[1];
    return a->first + plane * a->plane + (row - plane * (unsigned)a->count[1]) * a->row + n -
           row * (unsigned)a->count[0];
}

/* Index in the field of value v of a block. */
HT_INLINE long ht_pack_source(const struct ht_pack_args *a, int block, long v) {
    const long node = ht_pack_node(a, v / HT_BLOCK);
    return (block * a->total + node) * HT_BLOCK + v % HT_BLOCK;
}

/* Length of the scales, in units of 16 bytes. */
HT_INLINE long ht_pack_header(const struct ht_pack_args *a) {
#if HT_PACK_SCALED
    return ((long)HT_PACK_FIELDS * a->blocks * HT_BLOCK + 3) / 4;
#else
    return 0;
#endif
}

HT_INLINE HT_GLOBAL float *ht_pack_scales(const struct ht_pack_args *a, HT_GLOBAL float *message,
                                          const int field) {
    return message + 4 * a->at + (long)field * a->blocks * HT_BLOCK;
}

/* The values of a field. */
HT_INLINE HT_GLOBAL ht_packed *ht_pack_values(const struct ht_pack_args *a,
                                              HT_GLOBAL float *message, const int field) {
    return (HT_GLOBAL ht_packed *)(message + 4 * (a->at + ht_pack_header(a))) +
           (long)field * a->blocks * a->nodes * HT_BLOCK;
}

#if HT_PACK_SCALED
/* The scales. One work-group per storage index (first axis) and field (second). */
HT_TOOL_KERNEL ht_pack_scale(struct ht_pack_args a,
                             HT_GLOBAL float *message HT_EACH_PACKED(HT_PACK_IN)) {
    HT_LOCAL_ARRAY(float, largest, HT_TOOL_ITEMS);
    const int item = HT_ITEM(), field = (int)HT_GROUP_2();
    const int index = (int)HT_GROUP_1();
    HT_GLOBAL const real *chosen = u0;
    HT_EACH_PACKED(HT_PACK_CHOOSE)
    float most = 0;
    for (long n = item; n < a.nodes; n += HT_TOOL_ITEMS) {
        const float x =
            fabs((float)chosen[HT_LAYOUT_AT(HT_BLOCK, index, ht_pack_node(&a, n), a.total)]);
        most = x > most ? x : most;
    }
    largest[item] = most;
    HT_BARRIER();
    for (int width = HT_TOOL_ITEMS / 2; width > 0; width /= 2) {
        if (item < width && largest[item + width] > largest[item])
            largest[item] = largest[item + width];
        HT_BARRIER();
    }
    if (item == 0) {
        const int top = 14, most_shift = 120;
        most = largest[0];
        int shift = most > 0 && isfinite(most) ? top - ilogb(most) : 0;
        shift = shift > most_shift ? most_shift : shift;
        ht_pack_scales(&a, message, field)[index] = ldexp(1.0f, shift);
    }
}
#endif

HT_TOOL_KERNEL ht_pack(struct ht_pack_args a, HT_GLOBAL float *message HT_EACH_PACKED(HT_PACK_IN)) {
    const int field = (int)HT_GROUP_2(), block = (int)HT_GROUP_3();
    const long v = HT_GROUP_1() * HT_TOOL_ITEMS + HT_ITEM();
    const long values = a.nodes * HT_BLOCK; /* of a block */
    HT_GLOBAL const real *chosen = u0;
    HT_EACH_PACKED(HT_PACK_CHOOSE)
    if (v < values) {
        real x = chosen[ht_pack_source(&a, block, v)];
#if HT_PACK_SCALED
        x *= ht_pack_scales(&a, message, field)[block * HT_BLOCK + (int)(v % HT_BLOCK)];
#endif
        HT_PACK_WRITE(ht_pack_values(&a, message, field), block * values + v, x);
    }
}

HT_TOOL_KERNEL ht_unpack(struct ht_pack_args a,
                         HT_GLOBAL float *message HT_EACH_PACKED(HT_PACK_OUT)) {
    const int field = (int)HT_GROUP_2(), block = (int)HT_GROUP_3();
    const long v = HT_GROUP_1() * HT_TOOL_ITEMS + HT_ITEM();
    const long values = a.nodes * HT_BLOCK; /* of a block */
    HT_GLOBAL real *chosen = u0;
    HT_EACH_PACKED(HT_PACK_CHOOSE)
    if (v < values) {
        real x = HT_PACK_READ(ht_pack_values(&a, message, field), block * values + v);
#if HT_PACK_SCALED
        x /= ht_pack_scales(&a, message, field)[block * HT_BLOCK + (int)(v % HT_BLOCK)];
#endif
        chosen[ht_pack_source(&a, block, v)] = x;
    }
}
