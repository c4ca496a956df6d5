/* Finite differences, uniform density, on CPUs: a group is one work-item, which takes whole rows of
 * `rows` rows (x2) and goes from plane to plane (x3), so that the planes around them stay in a
 * cache. In two dimensions it goes from row to row. HT_WIDTH nodes of a row are done at a time; the
 * last ones of a row that vectors do not fill begin earlier and store what is their own, and rows
 * shorter than a vector are done node by node. */

/* L u / a of the nodes from u on. */
HT_INLINE vector ht_fd_sum(const struct ht_fd_args *s, const struct ht_fd_coefs *c,
                           HT_GLOBAL const real *u) {
    const vector middle = HT_GLOBAL_VECTOR(u);
    vector sum = 0;
    HT_UNROLLED(k, HT_DIMS)
        HT_UNROLLED(j, HT_FD_R) {
            const long distance = (j + 1) * ht_fd_stride(s, k);
            sum = HT_FD_SECOND((vector)c->c[k][j], HT_GLOBAL_VECTOR(u - distance), middle,
                               HT_GLOBAL_VECTOR(u + distance), sum);
        }
    return sum;
}

/* Of the nodes from `at` on, which the next row has, what is not in a cache yet. */
HT_INLINE void ht_fd_fetch(const struct ht_fd_args *s, const int mode, const long at,
                           HT_FD_PARAMS) {
    HT_PREFETCH(u + at + HT_FD_R * ht_fd_stride(s, HT_DIMS - 1));
    HT_PREFETCH(a + at);
    if (HT_FD_HAS_D(mode)) HT_PREFETCH(d + at);
    if (mode == HT_FD_APART) HT_PREFETCH(p + at);
    if (HT_FD_HAS_OUT(mode)) HT_PREFETCH(out + at);
}

/* The targets of a row. */
HT_INLINE void ht_fd_row(const struct ht_fd_args *s, const struct ht_fd_coefs *c, const int mode,
                         const long i2, const long i3, HT_FD_PARAMS HT_FD_LAYER_PARAMS) {
    const long row = i3 * s->plane + i2 * s->row;
    const long first = row + s->begin[0], end = row + s->end[0];
    const bool few = end - first < HT_WIDTH;
    long next = first;
    HT_ROLLED
    for (int k = 0; k < HT_FD_PARTS; k++) {
        const long ready = row + HT_FD_PREPARE_PART(k, i2, i3);
        const long stop = ready < end ? ready - HT_WIDTH + 1 : end;
        for (; next < stop && !few; next += HT_WIDTH) {
            const long at = next < end - HT_WIDTH ? next : end - HT_WIDTH;
            ht_fd_fetch(s, mode, at + s->row, HT_FD_ARGS);
            ht_fd_write(mode, at, (int)(next - at), ht_fd_sum(s, c, u + at), u, a, d, p,
                        out HT_FD_KEEP_ARGS(0));
        }
    }
    for (long at = first; few && at < end; at++) ht_fd_node(s, c, mode, at, HT_FD_ARGS);
}

HT_INLINE void ht_fd_walk(const struct ht_fd_args *s, const struct ht_fd_coefs *c, const int mode,
                          HT_FD_PARAMS HT_FD_LAYER_PARAMS) {
    HT_EACH_ROW(i2, i3) {
        ht_fd_row(s, c, mode, i2, i3, HT_FD_ARGS HT_FD_LAYER_ARGS);
    }
}
