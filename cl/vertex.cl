/* One coefficient of the vertices of target m[3], signed where behind a wall:
 * r[k] = j (N+1) + i is derivative i of the node on side j of axis k.
 */
HT_INLINE real ht_vertex(const struct ht_step_args *a,
                         HT_GLOBAL const real *src, int parity, const int *r,
                         const long *m) {
    long node = 0;
    int sign = 1, i = 0;
    HT_UNROLL
    for (int k = HT_DIMS - 1; k >= 0; k--) {
        const int side = r[k] / HT_N1, n = r[k] % HT_N1;
        struct ht_source p = ht_source(m[k] + a->shift + side, a->src[k],
                                       a->wall[2 * k], a->wall[2 * k + 1]);
        node = node * a->src[k] + p.node;
        i = i * HT_N1 + n;
        sign *= p.factor * ht_sign(p.mirrored * (n + (parity >> k)));
    }
    const long nodes = a->src[0] * a->src[1] * a->src[2];
    return (real)sign * src[HT_AT(i, node, nodes)];
}
