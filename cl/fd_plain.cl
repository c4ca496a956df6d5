/* Finite differences straight from the formulas: one work-item per node. Groups stand along a row
 * of targets, rows one after the other along the first axis of groups, planes along the third. */
HT_INLINE void ht_fd_walk(const struct ht_fd_args *s, const struct ht_fd_coefs *c, const int mode,
                          HT_FD_PARAMS) {
    const long groups = (s->end[0] - s->begin[0] + HT_TOOL_ITEMS - 1) / HT_TOOL_ITEMS;
    const long i1 = s->begin[0] + HT_GROUP_1() % groups * HT_TOOL_ITEMS + HT_ITEM();
    const long i2 = s->begin[1] + HT_GROUP_1() / groups;
    const long i3 = s->begin[2] + HT_GROUP_3();
    if (i1 < s->end[0]) ht_fd_node(s, c, mode, i3 * s->plane + i2 * s->row + i1, HT_FD_ARGS);
}
