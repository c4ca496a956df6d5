/* The kernels of layers on CPUs, by vectors along x1: a pass of cl/fd_vectors.cl or
 * cl/fd_vectors_density.cl does the layers of rows that it has stepped, as long as they are in a
 * near cache. */
/* The layers along x2 and x3 of a row. */
HT_INLINE int ht_fd_layers_of_row(const struct ht_fd_layer_args *s, const struct ht_fd_place *m) {
    int all = 0;
    HT_UNROLLED(i, 3) {
        if (m->m2 >= s->cut[1][i] && m->m2 < s->cut[1][i + 1]) all |= ht_fd_layers_of(s, 1, i);
        if (m->m3 >= s->cut[2][i] && m->m3 < s->cut[2][i + 1]) all |= ht_fd_layers_of(s, 2, i);
    }
    return all;
}

/* To the next target from m1 on, of those that lie HT_WIDTH nodes apart from `first` to `end`:
 * those that are in layers, or all where there are none. */
HT_INLINE bool ht_fd_settle(const struct ht_fd_layer_args *s, const int of_row, const int first,
                            const int end, struct ht_fd_place *m) {
    const bool all = (s->layers[0] | s->layers[1] | s->layers[2]) == 0;
    const int upper = first + (s->cut[0][2] - first) / HT_WIDTH * HT_WIDTH;
    for (; m->m1 < end; m->m1 = m->m1 < upper ? upper : end) {
        m->count = end - m->m1;
        m->layers = of_row;
        HT_UNROLLED(i, 3)
            if (m->m1 < s->cut[0][i + 1] && m->m1 + HT_WIDTH > s->cut[0][i])
                m->layers |= ht_fd_layers_of(s, 0, i);
        if (m->layers != 0 || all) return true;
    }
    return false;
}

#define HT_FD_EACH_TARGET(s, m, first, last, i2, i3)                   \
    struct ht_fd_place m = {(int)(first), (int)(i2), (int)(i3), 0, 0}; \
    const int layers_of_row = ht_fd_layers_of_row(s, &m);              \
    HT_ROLLED                                                          \
    for (; ht_fd_settle(s, layers_of_row, (int)(first), (int)(last), &m); m.m1 += HT_WIDTH)

HT_INLINE void ht_fd_finish_row(const struct ht_fd_layer_args *s, const struct ht_fd_layer_coefs *c,
                                const int start, const long first, const long last, const long i2,
                                const long i3, HT_FD_STEP_PARAMS) {
    HT_FD_EACH_TARGET(s, m, first, last, i2, i3) ht_fd_finish(s, c, start, &m, HT_FD_STEP_ARGS);
}

HT_INLINE void ht_fd_set_box(const struct ht_fd_layer_args *layers, struct ht_fd_args *box) {
    box->row = layers->row;
    box->plane = layers->plane;
    box->rows = layers->rows;
    box->planes = layers->planes;
    HT_UNROLLED(k, 3) {
        box->begin[k] = layers->cut[k][0];
        box->end[k] = layers->cut[k][3];
    }
}

#define HT_FD_LAYER_ENTRY(name, start)                                                          \
    HT_TOOL_KERNEL name(struct ht_fd_layer_args l, struct ht_fd_layer_coefs c,                  \
                        HT_FD_STEP_PARAMS) {                                                    \
        struct ht_fd_args box;                                                                  \
        HT_FD_LOCAL_ARRAY                                                                       \
        ht_fd_set_box(&l, &box);                                                                \
        ht_fd_walk(&box, &c.whole, HT_FD_OWN, u, a HT_FD_MEDIUM_ARGS, d, u, out, &l, &c, start, \
                   HT_FD_MEMORY_ARGS HT_FD_LOCAL_ARG);                                          \
    }

HT_FD_LAYER_ENTRY(ht_fd_layer_correct, 0)
HT_FD_LAYER_ENTRY(ht_fd_layer_start, 1)

/* In a kernel with the layers l: what is done at targets m of a group's rows. */
#define HT_FD_AT_TARGETS(m, work)                                    \
    struct ht_fd_args box;                                           \
    const struct ht_fd_args *const s = &box;                         \
    ht_fd_set_box(&l, &box);                                         \
    HT_EACH_ROW(i2, i3) {                                            \
        HT_FD_EACH_TARGET(&l, m, box.begin[0], box.end[0], i2, i3) { \
            work;                                                    \
        }                                                            \
    }

HT_TOOL_KERNEL ht_fd_layer_squares(struct ht_fd_layer_args l, struct ht_fd_layer_coefs c,
                                   HT_INPUT(real) u, HT_INPUT(real) a HT_FD_MEDIUM_PARAMS,
                                   HT_OUTPUT(real) z){
    HT_FD_AT_TARGETS(m, ht_fd_square(&l, &c, &m, u, a HT_FD_MEDIUM_ARGS, z))}

HT_TOOL_KERNEL ht_fd_layer_damp(struct ht_fd_layer_args l, HT_INPUT(real) profile,
                                HT_OUTPUT(real) u, HT_OUTPUT(real) d) {
    HT_FD_AT_TARGETS(m, ht_fd_damp(&l, &m, profile, u, d))
}
