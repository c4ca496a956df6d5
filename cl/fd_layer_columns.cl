/* Zones of targets, and nodes one by one: a work-item takes a column of targets along which the
 * layers that they are in are as deep. */
/* The zone of a group: the last one whose first group is not behind it. */
HT_INLINE int ht_fd_zone(const struct ht_fd_layer_args *s, const int group) {
    int zone = 0;
    HT_UNROLL
    for (int most = 16; most > 0; most /= 2)
        if (zone + most < HT_FD_ZONES && group >= s->first[zone + most]) zone += most;
    return zone;
}

/* Part i_k of axis k of a zone whose number, divided by 3^k, is n: 0, 2, 1, so that where layers
 * meet is done early: it takes long. */
HT_INLINE int ht_fd_zone_part(const int n) {
    return (3 - n % 3) % 3;
}

/* Targets of a work-item: `count` along `deep`. */
struct ht_fd_column {
    struct ht_fd_place m;
    int deep, count;
};

/* The column of a work-item. Columns are along x3, along x2 where that is not the normal of a layer
 * and x3 is, and have HT_FD_LAYER_DEPTH targets, one where layers have both as their normals. In
 * the plane across they are counted along x1 within strips, of HT_FD_LAYER_WIDTH where x1 is not
 * the normal of a layer, then along the other axis, then from strip to strip, so that targets side
 * by side read of a layer what is in a near cache. There are less than 2^31 targets. */
HT_INLINE bool ht_fd_target(const struct ht_fd_layer_args *s, struct ht_fd_column *t) {
    const int group = (int)HT_GROUP_1(), zone = ht_fd_zone(s, group);
    const int i1 = ht_fd_zone_part(zone), i2 = ht_fd_zone_part(zone / 3);
    const int i3 = ht_fd_zone_part(zone / 9);
    const bool in1 = ht_fd_layers_of(s, 0, i1) != 0, in2 = ht_fd_layers_of(s, 1, i2) != 0;
    const bool in3 = ht_fd_layers_of(s, 2, i3) != 0;
    const unsigned n1 = (unsigned)(s->cut[0][i1 + 1] - s->cut[0][i1]);
    const unsigned n2 = (unsigned)(s->cut[1][i2 + 1] - s->cut[1][i2]);
    const unsigned n3 = (unsigned)(s->cut[2][i3 + 1] - s->cut[2][i3]);
    t->deep = in3 && !in2 ? 1 : 2;
    const unsigned rows = t->deep == 1 ? n3 : n2, deep = t->deep == 1 ? n2 : n3;
    const unsigned width = in1 || n1 < HT_FD_LAYER_WIDTH ? n1 : HT_FD_LAYER_WIDTH;
    const unsigned strips = (n1 + width - 1) / width, most = in2 && in3 ? 1 : HT_FD_LAYER_DEPTH;
    const unsigned each = (width * strips * rows + HT_TOOL_ITEMS - 1) / HT_TOOL_ITEMS;
    const unsigned within = (unsigned)(group - s->first[zone]), part = within / each;
    const unsigned column = (within - part * each) * HT_TOOL_ITEMS + (unsigned)HT_ITEM();
    const unsigned line = column / width, strip = line / rows, row = line - strip * rows;
    const unsigned across = strip * width + column - line * width, first = part * most;
    t->count = (int)(first + most < deep ? most : deep - first);
    t->m.m1 = s->cut[0][i1] + (int)across;
    t->m.m2 = s->cut[1][i2] + (int)(t->deep == 1 ? first : row);
    t->m.m3 = s->cut[2][i3] + (int)(t->deep == 1 ? row : first);
    t->m.layers = ht_fd_layers_of(s, 0, i1) | ht_fd_layers_of(s, 1, i2) | ht_fd_layers_of(s, 2, i3);
    t->m.count = 1;
    return strip < strips && across < n1;
}

/* To the next target of a work-item. */
HT_INLINE void ht_fd_go_on(struct ht_fd_place *m, const int deep) {
    m->m2 += deep == 1;
    m->m3 += deep == 2;
}

/* In a kernel with the layers l: for each target *m of a work-item. */
#define HT_FD_EACH_TARGET(m)            \
    struct ht_fd_column t;              \
    struct ht_fd_place *const m = &t.m; \
    if (!ht_fd_target(&l, &t)) return;  \
    HT_ROLLED                           \
    for (; t.count > 0; t.count--, ht_fd_go_on(m, t.deep))

/* A node before its step, by one layer after the other, from the last one on, with which d is
 * damped by all factors. start: of the first step, when memories hold data. */
HT_INLINE void ht_fd_prepare(const struct ht_fd_layer_args *s, const struct ht_fd_layer_coefs *c,
                             const int start, const struct ht_fd_place *m, HT_FD_STEP_PARAMS) {
    const long at = ht_fd_number(s, m);
    const real factor = ht_fd_factor(s, m, m->layers, profile);
    const real left = HT_FD_LAYER_FLUX(factor, d[at]);
    real step = left;
    HT_ROLLED
    for (int i = HT_FD_MOST_LAYERS - 1; i >= 0; i--) {
        struct ht_fd_line l;
        real p[4];
        if ((m->layers >> i & 1) == 0) continue;
        const int depth = ht_fd_depth(s, i, m);
        ht_fd_find_line(s, i, m, &l);
        ht_fd_node_filter(&l, depth, profile, p);
        step += ht_fd_correct_node(s, c, start, &l, depth, p, m, HT_FD_MEMORY_ARGS, a[at], factor,
                                   left, u HT_FD_MEDIUM_ARGS);
    }
    d[at] = step;
}
