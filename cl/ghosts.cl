/* Fills the ghosts of all fields of a window in one launch. Along an axis, index i < begin or i >=
 * end is a ghost of index from + way i, for each side those of cl/tool_args.h. Edges and corners
 * are mirrored along several axes at once, so the order of the axes does not matter.
 *
 *       begin-1   begin      end-1   end
 *     ----g---|-----s---- ... -s---|---g----    | wall, g ghost, s its source
 *
 * A coefficient takes the sign
 *     product of the walls' factors * (-1)^(number of bits in mirrored & bits),
 * where bit k of bits[field][storage index] is set if the coefficient is odd under reflection of
 * x_(k+1).
 *
 * Work-groups: first axis HT_TOOL_ITEMS ghosts, second axis HT_GHOST_BLOCKS blocks of
 * coefficients, third axis the field. */
#define HT_GHOST_PARAM(slot) , HT_OUTPUT(ht_pack) u##slot
#define HT_GHOST_CHOOSE(slot) u = field == slot ? u##slot : u;

/* Indices of ghost n in the window. */
HT_INLINE void ht_ghost_at(const struct ht_ghost_args *a, int n, int m[3]) {
    const int low = a->begin[0], inner1 = a->count[0] - a->end[0] + low;
    const int inner2 = a->end[1] - a->begin[1];
    if (n < a->planes) {
        m[0] = n % a->count[0];
        m[1] = n / a->count[0] % a->count[1];
        m[2] = n / a->count[0] / a->count[1];
        m[2] = m[2] < a->begin[2] ? m[2] : m[2] - a->begin[2] + a->end[2];
    } else if (n < a->rows) {
        const int outer = a->count[1] - inner2;
        n -= a->planes;
        m[0] = n % a->count[0];
        m[1] = n / a->count[0] % outer;
        m[1] = m[1] < a->begin[1] ? m[1] : m[1] - a->begin[1] + a->end[1];
        m[2] = a->begin[2] + n / a->count[0] / outer;
    } else {
        n -= a->rows;
        m[0] = n % inner1;
        m[0] = m[0] < low ? m[0] : m[0] - low + a->end[0];
        m[1] = a->begin[1] + n / inner1 % inner2;
        m[2] = a->begin[2] + n / inner1 / inner2;
    }
}

/* Number of the source of node m. mirrored: bit k is set if a wall normal to axis k mirrors it;
 * factor: product of these walls' factors. */
HT_INLINE long ht_ghost_source(const struct ht_ghost_args *a, const int m[3], int *mirrored,
                               int *factor) {
    int from[3];
    *mirrored = 0;
    *factor = 1;
    HT_UNROLLED(k, 3) {
        const int below = m[k] < a->begin[k], above = m[k] >= a->end[k];
        const int way = below ? a->way[2 * k] : a->way[2 * k + 1];
        from[k] = below   ? a->from[2 * k] + way * m[k]
                  : above ? a->from[2 * k + 1] + way * m[k]
                          : m[k];
        *mirrored |= ((below || above) && way < 0) << k;
        *factor *= below ? a->factor[2 * k] : above ? a->factor[2 * k + 1] : 1;
    }
    return a->first + from[2] * a->plane + from[1] * a->row + from[0];
}

HT_INLINE ht_pack ht_mirrored(const ht_pack x, const int mirrored, const int factor,
                              HT_GLOBAL const int *bits) {
    real v[HT_BLOCK];
    ht_unpack(x, v);
    HT_UNROLLED(j, HT_BLOCK) {
        const int odd = bits[j] & mirrored;
        const int sign = (odd ^ odd >> 1 ^ odd >> 2) & 1 ? -factor : factor;
        v[j] *= (real)sign;
    }
    return ht_packed(v);
}

HT_TOOL_KERNEL ht_fill_ghosts(struct ht_ghost_args a,
                              HT_INPUT(int) bits HT_EACH_GHOST_FIELD(HT_GHOST_PARAM)) {
    const int n = (int)(HT_GROUP_1() * HT_TOOL_ITEMS) + HT_ITEM();
    const int first = (int)HT_GROUP_2() * HT_GHOST_BLOCKS;
    const int field = (int)HT_GROUP_3();
    int m[3], mirrored, factor;
    if (n >= a.ghosts) return;
    ht_ghost_at(&a, n, m);
    const long to = a.first + m[2] * a.plane + m[1] * a.row + m[0];
    const long from = ht_ghost_source(&a, m, &mirrored, &factor);
    HT_GLOBAL ht_pack *u = u0;
    HT_EACH_GHOST_FIELD(HT_GHOST_CHOOSE)
    HT_UNROLLED(i, HT_GHOST_BLOCKS) {
        const int b = first + i;
        if (b < a.blocks)
            u[b * a.nodes + to] = ht_mirrored(u[b * a.nodes + from], mirrored, factor,
                                              bits + (field * a.blocks + b) * HT_BLOCK);
    }
}
