/* The kernels of layers: work-items take nodes of columns in layers. */
/* The zone of a group: the last one whose first group is not behind it. */
HT_INLINE int ht_fd_zone(const struct ht_fd_layer_args *s, const int group) {
    int zone = 0;
    HT_UNROLL
    for (int most = 16; most > 0; most /= 2)
        if (zone + most < HT_FD_ZONES && group >= s->first[zone + most]) zone += most;
    return zone;
}

/* Work-items of a group that lie side by side; there are so many such rows. */
#define HT_FD_ROWS_OF_ITEMS (HT_TOOL_ITEMS / HT_FD_LAYER_WIDTH)

/* Targets of a work-item: those from `next` to `end` along `deep`, every HT_FD_ROWS_OF_ITEMS-th of
 * them. */
struct ht_fd_column {
    struct ht_fd_place m;
    int deep, next, end;
};

/* The first target of a work-item. A group has HT_FD_LAYER_WIDTH columns of HT_FD_LAYER_DEPTH
 * targets: along x2 where that is the normal of a layer and x3 is not, else along x3, so that what
 * targets of a column read of a layer is the same for many of them, and is read from the nearest
 * cache. Columns are counted along x1, then along the other axis; there are less than 2^31 targets.
 */
HT_INLINE bool ht_fd_target(const struct ht_fd_layer_args *s, struct ht_fd_column *t) {
    const int group = (int)HT_GROUP_1(), zone = ht_fd_zone(s, group);
    const int i1 = zone % 3, i2 = zone / 3 % 3, i3 = zone / 9;
    const int across = (int)HT_ITEM() % HT_FD_LAYER_WIDTH;
    const int n1 = s->cut[0][i1 + 1] - s->cut[0][i1];
    const int n2 = s->cut[1][i2 + 1] - s->cut[1][i2];
    const int n3 = s->cut[2][i3 + 1] - s->cut[2][i3];
    int rows, deep, first;
    unsigned each, within, part, column, row;
    t->deep = ht_fd_layers_of(s, 1, i2) != 0 && ht_fd_layers_of(s, 2, i3) == 0 ? 1 : 2;
    rows = t->deep == 1 ? n3 : n2;
    deep = t->deep == 1 ? n2 : n3;
    each = (unsigned)(n1 * rows + HT_FD_LAYER_WIDTH - 1) / HT_FD_LAYER_WIDTH;
    within = (unsigned)(group - s->first[zone]);
    part = within / each;
    column = (within - part * each) * HT_FD_LAYER_WIDTH + (unsigned)across;
    row = column / (unsigned)n1;
    first = (int)part * HT_FD_LAYER_DEPTH;
    t->m.m1 = s->cut[0][i1] + (int)(column - row * (unsigned)n1);
    t->end = s->cut[t->deep][t->deep == 1 ? i2 : i3] +
             (first + HT_FD_LAYER_DEPTH < deep ? first + HT_FD_LAYER_DEPTH : deep);
    t->next = s->cut[t->deep][t->deep == 1 ? i2 : i3] + first + (int)HT_ITEM() / HT_FD_LAYER_WIDTH;
    t->m.m2 = t->deep == 1 ? t->next : s->cut[1][i2] + (int)row;
    t->m.m3 = t->deep == 2 ? t->next : s->cut[2][i3] + (int)row;
    t->m.layers = ht_fd_layers_of(s, 0, i1) | ht_fd_layers_of(s, 1, i2) | ht_fd_layers_of(s, 2, i3);
    t->m.count = 1;
    return (int)row < rows;
}

/* To the next target of a work-item. */
HT_INLINE void ht_fd_go_on(struct ht_fd_column *t) {
    t->next += HT_FD_ROWS_OF_ITEMS;
    t->m.m2 = t->deep == 1 ? t->next : t->m.m2;
    t->m.m3 = t->deep == 2 ? t->next : t->m.m3;
}

/* In a kernel with the layers l: for each target *m of a work-item. */
#define HT_FD_EACH_TARGET(m)            \
    struct ht_fd_column t;              \
    struct ht_fd_place *const m = &t.m; \
    if (!ht_fd_target(&l, &t)) return;  \
    HT_ROLLED                           \
    for (; t.next < t.end; ht_fd_go_on(&t))

#define HT_FD_LAYER_ENTRY(name, start)                                         \
    HT_TOOL_KERNEL name(struct ht_fd_layer_args l, struct ht_fd_layer_coefs c, \
                        HT_FD_STEP_PARAMS) {                                   \
        HT_FD_EACH_TARGET(m) ht_fd_finish(&l, &c, start, m, HT_FD_STEP_ARGS);  \
    }
