/* The targets of layers on CPUs, vectors along x1: a pass of cl/fd_vectors.cl or
 * cl/fd_vectors_density.cl does the layers of a row before it steps it, so that both read it from a
 * near cache. */
#define HT_FD_EACH_OF_ROW(s, m, first, last, i2, i3)                         \
    for (m = (struct ht_fd_place){(int)(first), (int)(i2), (int)(i3), 0, 0}; \
         ht_fd_settle(s, (int)(first), (int)(last), &m); m.m1 += HT_WIDTH)

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
