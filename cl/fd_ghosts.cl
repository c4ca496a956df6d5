/* Ghosts of finite differences, HT_FD_REACH nodes deep, of the faces alone: stars do not read
 * edges. Of a face, (axis, side) = HT_GROUP_2, i counts nodes along x1, or x2 where the face is
 * normal to x1: HT_TOOL_ITEMS of them are a group's; j counts along the axis that is left. Each
 * node has HT_FD_REACH ghosts, copied one after the other by a work-item, or, normal to x1 where
 * they are neighbours in memory, by work-items that are neighbours. No work-item divides:
 * cl/ghosts.cl, which fills edges, too, takes three times as long.
 */
HT_KERNEL HT_GROUP_SIZE(HT_TOOL_ITEMS) void ht_fd_fill_ghosts(struct ht_fd_args s,
                                                              HT_GLOBAL real *u) {
    const int face = (int)HT_GROUP_2(), axis = face / 2;
    const int fast = axis == 0, slow = axis == 2 ? 1 : 2;
    const long first = s.begin[fast] + HT_GROUP_1() * HT_TOOL_ITEMS;
    const long j = s.begin[slow] + HT_GROUP_3();
    const int side = s.side[face];
    if (side == HT_FD_NONE || j >= s.end[slow]) return;
    /* The outermost node, and the way from it to the first ghost; ghosts are copies of what lies
     * one period behind them, or opposite. */
    const long stride = axis == 0 ? 1 : axis == 1 ? s.row : s.plane;
    const long edge = face % 2 ? s.end[axis] - 1 : s.begin[axis];
    const long way = face % 2 ? stride : -stride;
    const long period = (s.end[axis] - s.begin[axis]) * (face % 2 ? -1 : 1);
    const long line = edge * stride + j * (slow == 1 ? s.row : s.plane);
    for (int n = 0; n < HT_FD_REACH; n++) {
        const int item = n * HT_TOOL_ITEMS + (int)HT_ITEM();
        const int depth = 1 + (axis == 0 ? item % HT_FD_REACH : n);
        const long i = first + (axis == 0 ? item / HT_FD_REACH : (int)HT_ITEM());
        const long at = line + i * (fast == 0 ? 1 : s.row);
        const long from = side != 0 ? at - depth * way : at + depth * way + period * stride;
        if (i >= s.end[fast]) continue;
        u[at + depth * way] = side < 0 ? -u[from] : u[from];
    }
}
