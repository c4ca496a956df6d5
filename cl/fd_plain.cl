/* Finite differences straight from the formulas: one work-item per node. */
HT_INLINE void ht_fd_walk(const struct ht_fd_args *s, const struct ht_fd_coefs *c, const int mode,
                          HT_FD_PARAMS) {
    HT_EACH_IN_PIECE(s, at) ht_fd_node(s, c, mode, at, HT_FD_ARGS);
}
