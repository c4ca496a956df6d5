/* Fills the ghosts of all fields of a window in one launch. A box of ghosts is
 * the image of a box of other nodes, so that faces, edges and corners need no
 * order. Behind walls coefficient `place` of a field takes the sign
 *     factor * (-1)^(number of bits in mirrored & bits[field][place]),
 * where bit k tells that the coefficient is odd under reflection of x_(k+1).
 *
 * Groups: first axis HT_GHOST_LANES ghosts, second axis HT_GHOST_BLOCKS blocks
 * of coefficients, third axis the field.
 */
#define HT_GHOST_PARAM(slot) , HT_GLOBAL ht_pack *HT_RESTRICT u##slot
#define HT_GHOST_CHOOSE(slot) u = field == slot ? u##slot : u;

HT_INLINE int ht_is_odd(int bits) {
    return (bits ^ bits >> 1 ^ bits >> 2) & 1;
}

/* The box that ghost n lies in. */
HT_INLINE int ht_ghost_box_of(const struct ht_ghost_args *a, const int n,
                              HT_GLOBAL const struct ht_ghost_box *boxes) {
    int box = 0;
    while (box + 1 < a->boxes && boxes[box + 1].first <= n) box++;
    return box;
}

/* The block as a wall mirrors it. */
HT_INLINE ht_pack ht_mirrored(const ht_pack x, const int mirrored,
                              const int factor, HT_GLOBAL const int *bits) {
    real v[HT_BLOCK];
    ht_unpack(x, v);
    HT_UNROLL
    for (int j = 0; j < HT_BLOCK; j++)
        v[j] *= (real)(ht_is_odd(mirrored & bits[j]) ? -factor : factor);
    return ht_packed(v);
}

HT_KERNEL HT_GROUP_SIZE(HT_GHOST_LANES) void ht_fill_ghosts(
    struct ht_ghost_args a,
    HT_GLOBAL const struct ht_ghost_box *HT_RESTRICT boxes,
    HT_GLOBAL const int *HT_RESTRICT bits HT_EACH_GHOST_FIELD(HT_GHOST_PARAM)) {
    const int n = (int)(HT_GROUP_1() * HT_GHOST_LANES) + HT_LANE();
    const int first = (int)HT_GROUP_2() * HT_GHOST_BLOCKS;
    const int field = (int)HT_GROUP_3();
    if (n >= a.ghosts) return;
    const struct ht_ghost_box box = boxes[ht_ghost_box_of(&a, n, boxes)];
    const int i1 = (n - box.first) % box.count[0];
    const int rest = (n - box.first) / box.count[0];
    const long i2 = rest % box.count[1], i3 = rest / box.count[1];
    const long to = box.to + i3 * a.plane + i2 * a.row + i1;
    const long from =
        box.from + i3 * box.step[2] + i2 * box.step[1] + i1 * box.step[0];
    HT_GLOBAL ht_pack *u = u0;
    HT_EACH_GHOST_FIELD(HT_GHOST_CHOOSE)
    for (int b = first; b < first + HT_GHOST_BLOCKS; b++) {
        if (b >= HT_GHOST_PLACES / HT_BLOCK) continue;
        const ht_pack x = u[b * a.nodes + from];
        u[b * a.nodes + to] =
            box.mirrored
                ? ht_mirrored(x, box.mirrored, box.factor,
                              bits + field * HT_GHOST_PLACES + b * HT_BLOCK)
                : x;
    }
}
