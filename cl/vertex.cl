/* One coefficient at a vertex of the cell around target m[3]. r[k] = j (N+1) + i selects derivative
 * i at the node on side j of axis k. */
HT_INLINE real ht_vertex(const struct ht_step_args *a, HT_GLOBAL const real *src, const int *r,
                         const long *m) {
    long at[3];
    int i = 0;
    HT_UNROLL
    for (int k = HT_DIMS - 1; k >= 0; k--) {
        at[k] = m[k] + a->shift[k] + r[k] / HT_N1;
        i = i * HT_N1 + r[k] % HT_N1;
    }
    const long row = ht_source_row(a, HT_DIMS > 1 ? at[1] : 0, HT_DIMS > 2 ? at[2] : 0);
    return src[HT_AT(i, row + ht_closed(a, 0, at[0]), a->src_nodes)];
}
