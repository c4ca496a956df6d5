/* Packs planes of all fields into a message and unpacks them. From `at` on a message holds
 *     value[field][index / block][node][index % block]
 * with the storage index of the coefficient.
 *
 * Work-groups: first axis HT_TOOL_ITEMS values of a block of coefficients each, second axis the
 * field, third the block. Value v of a block is that of node v / HT_BLOCK of the box. */

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

/* The values of a block of a field. */
HT_INLINE HT_GLOBAL real *ht_pack_values(const struct ht_pack_args *a, HT_GLOBAL real *message,
                                         const int field, const int block) {
    return message + 16 / sizeof(real) * a->at +
           ((long)field * a->blocks + block) * a->nodes * HT_BLOCK;
}

HT_TOOL_KERNEL ht_pack(struct ht_pack_args a, HT_GLOBAL real *message HT_EACH_PACKED(HT_PACK_IN)) {
    const int field = (int)HT_GROUP_2(), block = (int)HT_GROUP_3();
    const long v = HT_GROUP_1() * HT_TOOL_ITEMS + HT_ITEM();
    HT_GLOBAL const real *chosen = u0;
    HT_EACH_PACKED(HT_PACK_CHOOSE)
    if (v < a.nodes * HT_BLOCK)
        ht_pack_values(&a, message, field, block)[v] = chosen[ht_pack_source(&a, block, v)];
}

HT_TOOL_KERNEL ht_unpack(struct ht_pack_args a,
                         HT_GLOBAL real *message HT_EACH_PACKED(HT_PACK_OUT)) {
    const int field = (int)HT_GROUP_2(), block = (int)HT_GROUP_3();
    const long v = HT_GROUP_1() * HT_TOOL_ITEMS + HT_ITEM();
    HT_GLOBAL real *chosen = u0;
    HT_EACH_PACKED(HT_PACK_CHOOSE)
    if (v < a.nodes * HT_BLOCK)
        chosen[ht_pack_source(&a, block, v)] = ht_pack_values(&a, message, field, block)[v];
}
