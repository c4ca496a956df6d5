/* Ghosts of finite differences, HT_FD_REACH nodes deep: of a face, (axis, side)
 * = HT_GROUP_2. i counts nodes of the face along x1, or x2 where the face is
 * normal to x1: HT_FD_ROW_ITEMS of them are a group's; j counts along the axis
 * that is left. Each node has HT_FD_REACH ghosts, copied one after the other by
 * a work-item, or, normal to x1 where they are neighbours in memory, by
 * work-items that are neighbours.
 */

/* The node along an axis that node m is an image of; its sign goes into *sign.
 * What a neighbour holds is there. */
HT_INLINE long ht_fd_imaged(const struct ht_fd_args *s, const int axis,
                            const long m, int *sign) {
    const long begin = s->begin[axis], end = s->end[axis];
    const int upper = m >= end, side = s->side[2 * axis + upper];
    if ((m >= begin && !upper) || side == HT_FD_NONE) return m;
    if (side == 0) return upper ? m - (end - begin) : m + (end - begin);
    *sign *= side;
    return 2 * (upper ? end - 1 : begin) - m;
}

/* edges: in three dimensions so many nodes beyond two axes are filled, too: a
 * face extends along the axes that come after its own. */
HT_INLINE void ht_fd_fill_faces(const struct ht_fd_args *s, const int edges,
                                HT_GLOBAL real *u) {
    const int face = (int)HT_GROUP_2(), axis = face / 2;
    const int fast = axis == 0, slow = axis == 2 ? 1 : 2;
    const int more1 = fast > axis ? edges : 0, more2 = slow > axis ? edges : 0;
    const long first = s->begin[fast] - more1 + HT_GROUP_1() * HT_FD_ROW_ITEMS;
    const long j = s->begin[slow] - more2 + HT_GROUP_3();
    const int side = s->side[face];
    if (side == HT_FD_NONE || j >= s->end[slow] + more2) return;
    /* The outermost node, and the way from it to the first ghost; ghosts are
     * copies of what lies one period behind them, or opposite. */
    const long stride = ht_fd_stride(s, axis);
    const long edge = face % 2 ? s->end[axis] - 1 : s->begin[axis];
    const long way = face % 2 ? stride : -stride;
    const long period = (s->end[axis] - s->begin[axis]) * (face % 2 ? -1 : 1);
    const long line = edge * stride + j * ht_fd_stride(s, slow);
    for (int n = 0; n < HT_FD_REACH; n++) {
        const int item = n * HT_FD_ROW_ITEMS + (int)HT_ITEM();
        const int depth = 1 + (axis == 0 ? item % HT_FD_REACH : n);
        const long i =
            first + (axis == 0 ? item / HT_FD_REACH : (int)HT_ITEM());
        const long at = line + i * ht_fd_stride(s, fast);
        long from =
            side != 0 ? at - depth * way : at + depth * way + period * stride;
        int sign = side < 0 ? -1 : 1;
        if (i >= s->end[fast] + more1) continue;
        if (edges > 0)
            from +=
                (ht_fd_imaged(s, fast, i, &sign) - i) * ht_fd_stride(s, fast) +
                (ht_fd_imaged(s, slow, j, &sign) - j) * ht_fd_stride(s, slow);
        u[at + depth * way] = sign < 0 ? -u[from] : u[from];
    }
}
