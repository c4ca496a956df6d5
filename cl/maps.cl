/* Maps of a field at the nodes of a box, [map][node] in the order of the bits of HT_MAP_WHAT (enum
 * ht_map_kind): the largest and the least value, the largest magnitude and its time, the sum of
 * squares; then of each frequency the sums of cos(w t) u and -sin(w t) u. A group takes a piece of
 * a row along x1. */
struct ht_map_turns {
    real level, time, turn[2 * HT_MAP_WAVES + 1];
};

/* Of a node, whose values are `total` numbers apart; begins: there are none yet. */
HT_INLINE void ht_map_add(const struct ht_map_turns *t, int begins, long total, real u,
                          HT_GLOBAL real *map) {
    if (HT_MAP_WHAT & 1) {
        if (begins || u > *map) *map = u;
        map += total;
    }
    if (HT_MAP_WHAT & 2) {
        if (begins || u < *map) *map = u;
        map += total;
    }
    if (HT_MAP_WHAT & 4) {
        const int more = begins || fabs(u) > *map;
        if (more) *map = fabs(u);
        map += total;
        if ((HT_MAP_WHAT & 8) && more) *map = t->time;
        if (HT_MAP_WHAT & 8) map += total;
    }
    if (HT_MAP_WHAT & 16) {
        *map = begins ? u * u : fma(u, u, *map);
        map += total;
    }
    for (int w = 0; w < 2 * HT_MAP_WAVES; w++, map += total)
        *map = begins ? t->turn[w] * u : fma(t->turn[w], u, *map);
}

HT_TOOL_KERNEL ht_maps(struct ht_map_args s, struct ht_map_turns t, HT_INPUT(real) u,
                       HT_OUTPUT(real) map) {
    const long pieces = (s.count[0] + HT_SUM_PIECE - 1) / HT_SUM_PIECE;
    const long row = HT_GROUP_1() / pieces, first = HT_GROUP_1() % pieces * HT_SUM_PIECE;
    const long end = first + HT_SUM_PIECE < s.count[0] ? first + HT_SUM_PIECE : s.count[0];
    const long from = s.begin + HT_GROUP_2() * s.plane + row * s.row;
    const long to = s.to + HT_GROUP_2() * s.to_plane + row * s.to_row;
    for (long i = first + HT_ITEM(); i < end; i += HT_TOOL_ITEMS)
        ht_map_add(&t, s.begins, s.total,
                   u[HT_LAYOUT_AT(HT_BLOCK, 0, from + i * s.stride, s.nodes)] + t.level,
                   map + to + i);
}
