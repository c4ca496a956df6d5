/* The kernels of layers, whose targets are those of fd_layer_columns.cl or of fd_layer_rows.cl. */
HT_FD_LAYER_ENTRY(ht_fd_layer_correct, 0)
HT_FD_LAYER_ENTRY(ht_fd_layer_start, 1)

/* What nodes have of - <u, L u>, as differences alone: z / a adds up to it. */
HT_TOOL_KERNEL ht_fd_layer_squares(struct ht_fd_layer_args l, struct ht_fd_layer_coefs c,
                                   HT_INPUT(real) u, HT_INPUT(real) a HT_FD_MEDIUM_PARAMS,
                                   HT_OUTPUT(real) z) {
    HT_FD_EACH_TARGET(m) {
        const long at = ht_fd_number(&l, m);
        vector sum = 0;
        HT_UNROLLED(k, HT_DIMS)
            sum += ht_fd_squares(&c.whole, k, u HT_FD_MEDIUM_ARGS, at, ht_fd_along(&l, k));
        ht_fd_put(z + at, 0, m->count, HT_GLOBAL_VECTOR(a + at) * sum);
    }
}

/* Sponges: a factor per depth. */
HT_TOOL_KERNEL ht_fd_layer_damp(struct ht_fd_layer_args l, HT_INPUT(real) profile,
                                HT_OUTPUT(real) u, HT_OUTPUT(real) d) {
    HT_FD_EACH_TARGET(m) {
        const long at = ht_fd_number(&l, m);
        const vector factor = ht_fd_factor(&l, m, m->layers, profile);
        ht_fd_put(u + at, 0, m->count, HT_GLOBAL_VECTOR(u + at) * factor);
        ht_fd_put(d + at, 0, m->count, HT_GLOBAL_VECTOR(d + at) * factor);
    }
}
