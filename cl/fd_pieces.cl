/* Pieces of HT_FD_PIECE nodes of rows, of targets s: a group does one of them, those of a row one
 * after the other along the first axis of groups, then rows, planes along the third; `at` the nodes
 * of a work-item. */
#define HT_EACH_IN_PIECE(s, at)                                                              \
    const unsigned pieces =                                                                  \
        (unsigned)(((s)->end[0] - (s)->begin[0] + HT_FD_PIECE - 1) / HT_FD_PIECE);           \
    const unsigned row = (unsigned)HT_GROUP_1() / pieces;                                    \
    const long line =                                                                        \
        ((s)->begin[2] + HT_GROUP_3()) * (s)->plane + ((s)->begin[1] + row) * (s)->row;      \
    const long first =                                                                       \
        line + (s)->begin[0] + (long)((unsigned)HT_GROUP_1() - row * pieces) * HT_FD_PIECE;  \
    const long last =                                                                        \
        first + HT_FD_PIECE < line + (s)->end[0] ? first + HT_FD_PIECE : line + (s)->end[0]; \
    for (long at = first + HT_ITEM(); at < last; at += HT_TOOL_ITEMS)

/* to = from; one row of targets. */
HT_TOOL_KERNEL ht_copy_array(struct ht_fd_args s, HT_INPUT(real) from, HT_OUTPUT(real) to) {
    const long at = HT_GROUP_1() * HT_TOOL_ITEMS + HT_ITEM();
    if (at < s.end[0]) to[at] = from[at];
}
