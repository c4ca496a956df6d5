/* Ghosts of finite differences, HT_FD_REACH nodes deep, of the faces alone: stars do not read
 * edges. Of a face, (axis, side) = HT_GROUP_2, i counts nodes along x1, or x2 where the face is
 * normal to x1: HT_TOOL_ITEMS of them are a group's; j counts along the axis that is left. Each
 * node has HT_FD_REACH ghosts, copied by one work-item, or, normal to x1 where
 * they are neighbours in memory, by work-items that are neighbours. Mirrors stand at nodes; of
 * fields that lie half a spacing above them (HT_FD_HALF added to the side's number) ghost -d is the
 * image of node d - 1. No work-item divides: cl/ghosts.cl, which fills edges, too, takes three
 * times as long. */
HT_TOOL_KERNEL ht_fd_fill_ghosts(struct ht_fd_args s, HT_GLOBAL real *u) {
    const int face = (int)HT_GROUP_2(), axis = face / 2, upper = face % 2;
    /* CUDA would copy arguments that are indexed by variables to memory. */
    long begin = s.begin[0], end = s.end[0], stride = 1;
    int side = s.side[0];
    HT_UNROLLED(k, 6) side = face == k ? s.side[k] : side;
    begin = axis == 1 ? s.begin[1] : axis == 2 ? s.begin[2] : begin;
    end = axis == 1 ? s.end[1] : axis == 2 ? s.end[2] : end;
    stride = axis == 1 ? s.row : axis == 2 ? s.plane : stride;
    /* along the face: i, fast, and j, slow */
    const long first = (axis == 0 ? s.begin[1] : s.begin[0]) + HT_GROUP_1() * HT_TOOL_ITEMS;
    const long last = axis == 0 ? s.end[1] : s.end[0], row = axis == 0 ? s.row : 1;
    const long j = (axis == 2 ? s.begin[1] : s.begin[2]) + HT_GROUP_3();
    const int above = side > HT_FD_NONE, sign = above ? side - HT_FD_HALF : side;
    if (side == HT_FD_NONE || j >= (axis == 2 ? s.end[1] : s.end[2])) return;
    /* The outermost node, and the way from it to the first ghost; ghosts are copies of what lies
     * one period behind them, or opposite. */
    const long way = upper ? stride : -stride;
    const long period = (end - begin) * (upper ? -stride : stride);
    const long line = (upper ? end - 1 : begin) * stride + j * (axis == 2 ? s.row : s.plane);
    /* All is read before it is written: compilers do not move reads before writes. */
    real value[HT_FD_REACH];
    long to[HT_FD_REACH];
    HT_UNROLLED(n, HT_FD_REACH) {
        const int item = n * HT_TOOL_ITEMS + (int)HT_ITEM();
        const int depth = 1 + (axis == 0 ? item % HT_FD_REACH : n);
        const long i = first + (axis == 0 ? item / HT_FD_REACH : (int)HT_ITEM());
        const long at = line + i * row;
        const long mirror = at - depth * way + (above ? -stride : 0);
        const long from = side != 0 ? mirror : at + depth * way + period;
        to[n] = i < last ? at + depth * way : -1;
        value[n] = i < last ? u[from] : 0;
    }
    HT_UNROLLED(n, HT_FD_REACH)
        if (to[n] >= 0) u[to[n]] = sign < 0 ? -value[n] : value[n];
}
