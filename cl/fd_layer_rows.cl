/* The targets of layers on CPUs, vectors along x1: a pass does the layers of a row before it steps
 * it, so that both read it from a near cache, that of cl/fd_vectors.cl part by part, since caches
 * fetch ahead what is read in the order of memory. */
/* The layers along x2 and x3 that the nodes of a row are in. */
HT_INLINE int ht_fd_layers_across(const struct ht_fd_layer_args *s, const struct ht_fd_place *m) {
    int layers = 0;
    HT_UNROLLED(i, 3) {
        if (m->m2 >= s->cut[1][i] && m->m2 < s->cut[1][i + 1]) layers |= ht_fd_layers_of(s, 1, i);
        if (m->m3 >= s->cut[2][i] && m->m3 < s->cut[2][i + 1]) layers |= ht_fd_layers_of(s, 2, i);
    }
    return layers;
}

/* To the next target from m1 on, of those that lie HT_WIDTH nodes apart from `first` to `end`:
 * those that are in layers, or all where there are none. */
HT_INLINE bool ht_fd_settle(const struct ht_fd_layer_args *s, const int first, const int end,
                            struct ht_fd_place *m) {
    const bool all = (s->layers[0] | s->layers[1] | s->layers[2]) == 0;
    const int upper = first + (s->cut[0][2] - first) / HT_WIDTH * HT_WIDTH;
    for (; m->m1 < end; m->m1 = m->m1 < upper ? upper : end) {
        m->count = end - m->m1;
        m->layers = ht_fd_layers_across(s, m);
        HT_UNROLLED(i, 3)
            if (m->m1 < s->cut[0][i + 1] && m->m1 + HT_WIDTH > s->cut[0][i])
                m->layers |= ht_fd_layers_of(s, 0, i);
        if (m->layers != 0 || all) return true;
    }
    return false;
}
#define HT_FD_EACH_OF_ROW(s, m, first, last, i2, i3)                         \
    for (m = (struct ht_fd_place){(int)(first), (int)(i2), (int)(i3), 0, 0}; \
         ht_fd_settle(s, (int)(first), (int)(last), &m); m.m1 += HT_WIDTH)

/* A vector of targets m by a layer of theirs; damp: the first one done, which damps d by all
 * factors. In the first step `out` has what they have left of d, for the layers after it. */
HT_INLINE void ht_fd_do_vector(const struct ht_fd_layer_args *s, const struct ht_fd_layer_coefs *c,
                               const int start, const bool damp, const struct ht_fd_line *l,
                               const int depth, const vector p[4], const struct ht_fd_place *m,
                               const vector factor, HT_FD_STEP_PARAMS, HT_GLOBAL real *out) {
    const long at = ht_fd_number(s, m);
    vector step = HT_GLOBAL_VECTOR(d + at), left = 0;
    if (damp) step = HT_FD_LAYER_FLUX(factor, step);
    if (start) left = damp ? step : HT_GLOBAL_VECTOR(out + at);
    if (start && damp) ht_fd_put(out + at, l->first, l->end, step);
    step += ht_fd_correct_node(s, c, start, l, depth, p, m, HT_FD_MEMORY_ARGS,
                               HT_GLOBAL_VECTOR(a + at), factor, left, u HT_FD_MEDIUM_ARGS);
    ht_fd_put(d + at, l->first, l->end, step);
}

/* Targets from m on, m.count, all in the same layers, by layer i of these, along x1, whose vectors
 * lie from its wall on. */
HT_INLINE void ht_fd_part_along(const struct ht_fd_layer_args *s, const struct ht_fd_layer_coefs *c,
                                const int start, const bool damp, const int i, const int way,
                                struct ht_fd_place m, HT_FD_STEP_PARAMS, HT_GLOBAL real *out) {
    const int from = m.m1, to = from + m.count, wall = s->layer[i].wall;
    const int nearest = way > 0 ? from - wall : wall - to + 1;
    int next = nearest / HT_WIDTH * HT_WIDTH;
    HT_ROLLED
    for (int left = nearest - next + m.count; left > 0; left -= HT_WIDTH, next += HT_WIDTH) {
        const int depth = way > 0 ? next : next + HT_WIDTH - 1;
        struct ht_fd_line l;
        vector p[4], factor = 1;
        m.m1 = wall + way * depth;
        m.count = to - m.m1;
        ht_fd_find_line(s, i, &m, &l);
        l.axis = 0;
        l.way = way;
        l.first = from - m.m1;
        ht_fd_node_filter(&l, depth, profile, p);
        if (damp || start) factor = ht_fd_factor(s, &m, m.layers, profile);
        ht_fd_do_vector(s, c, start, damp, &l, depth, p, &m, factor, HT_FD_STEP_ARGS, out);
    }
}

/* Of what layer i remembers of a vector of the next row, that which no row has read yet. */
HT_INLINE void ht_fd_fetch_memory(const struct ht_fd_layer_args *s, const int i,
                                  const struct ht_fd_line *l, const int depth,
                                  HT_FD_MEMORY_PARAMS) {
    const int next = l->axis == 1 ? depth + l->way : depth;
    const int point = l->way > 0 ? next + HT_FD_LAYER_R - 1 : next - HT_FD_LAYER_R;
    const long own = l->own + s->layer[i].step[1];
    HT_PREFETCH(ht_fd_behind(before + own, point, l->pitch));
    HT_PREFETCH(ht_fd_behind(halves + own, next, l->pitch));
    HT_PREFETCH(ht_fd_behind(nodes + own, next, l->pitch));
}

/* As above, along another axis. */
HT_INLINE void ht_fd_part_across(const struct ht_fd_layer_args *s,
                                 const struct ht_fd_layer_coefs *c, const int start,
                                 const bool damp, const int i, struct ht_fd_place m,
                                 HT_FD_STEP_PARAMS, HT_GLOBAL real *out) {
    const int depth = ht_fd_depth(s, i, &m);
    const int along = ht_fd_layers_of(s, 0, 0) | ht_fd_layers_of(s, 0, 2);
    const bool each = start || (damp && (m.layers & along) != 0);
    struct ht_fd_line l;
    vector p[4], factor = 1;
    ht_fd_find_line(s, i, &m, &l);
    l.axis = l.axis == 1 ? 1 : 2;
    ht_fd_node_filter(&l, depth, profile, p);
    if (damp) factor = ht_fd_factor(s, &m, m.layers, profile);
    HT_ROLLED
    for (; m.count > 0; m.count -= HT_WIDTH, m.m1 += HT_WIDTH) {
        l.end = m.count;
        ht_fd_fetch_memory(s, i, &l, depth, HT_FD_MEMORY_ARGS);
        if (each) factor = ht_fd_factor(s, &m, m.layers, profile);
        ht_fd_do_vector(s, c, start, damp, &l, depth, p, &m, factor, HT_FD_STEP_ARGS, out);
        l.wall += HT_WIDTH;
        l.own += HT_WIDTH;
    }
}

/* Those targets of a row from `first` to `last` that are in part k before their step, by one layer
 * after the other, from the last one on. The end of the part. */
HT_INLINE int ht_fd_prepare_part(const struct ht_fd_layer_args *s,
                                 const struct ht_fd_layer_coefs *c, const int start, const int k,
                                 const int first, const int last, const int i2, const int i3,
                                 HT_FD_STEP_PARAMS, HT_GLOBAL real *out) {
    const int from = s->cut[0][k], to = s->cut[0][k + 1];
    struct ht_fd_place m = {from > first ? from : first, i2, i3, 0, 0};
    bool damp = true;
    int i = 0;
    m.layers = ht_fd_layers_of(s, 0, k) | ht_fd_layers_across(s, &m);
    m.count = (to < last ? to : last) - m.m1;
    if (m.layers == 0 || m.count <= 0) return to;
    HT_ROLLED
    while (m.layers >> i > 1) i++;
    HT_ROLLED
    for (; i >= 0; i--) {
        if ((m.layers >> i & 1) == 0) continue;
        if (s->layer[i].axis > 0)
            ht_fd_part_across(s, c, start, damp, i, m, HT_FD_STEP_ARGS, out);
        else if (s->layer[i].way > 0)
            ht_fd_part_along(s, c, start, damp, i, 1, m, HT_FD_STEP_ARGS, out);
        else
            ht_fd_part_along(s, c, start, damp, i, -1, m, HT_FD_STEP_ARGS, out);
        damp = false;
    }
    return to;
}

/* In a kernel with the layers l. */
#define HT_FD_SET_BOX                                                          \
    struct ht_fd_args box = {l.row, l.plane, {0}, {0}, l.rows, l.planes, {0}}; \
    HT_UNROLLED(k, 3) {                                                        \
        box.begin[k] = l.cut[k][0];                                            \
        box.end[k] = l.cut[k][3];                                              \
    }

#define HT_FD_LAYER_ENTRY(name, start)                                                            \
    HT_TOOL_KERNEL name(struct ht_fd_layer_args l, struct ht_fd_layer_coefs c, HT_FD_STEP_PARAMS, \
                        HT_OUTPUT(real) out) {                                                    \
        HT_FD_LOCAL_ARRAY                                                                         \
        HT_FD_SET_BOX                                                                             \
        ht_fd_walk(&box, &c.whole, HT_FD_OWN, u, a HT_FD_MEDIUM_ARGS, d, u, out, &l, &c, start,   \
                   HT_FD_MEMORY_ARGS HT_FD_LOCAL_ARG);                                            \
    }

/* For each target *m of a group's rows. */
#define HT_FD_EACH_TARGET(m)                     \
    HT_FD_SET_BOX                                \
    const struct ht_fd_args *const s = &box;     \
    struct ht_fd_place place, *const m = &place; \
    HT_EACH_ROW(i2, i3) HT_FD_EACH_OF_ROW(&l, place, s->begin[0], s->end[0], i2, i3)
