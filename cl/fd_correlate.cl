/* What an adjoint run adds to its sums at a node after a step (docs/developers/gradients.md), of
 * the fields q, e = q(n) - q(n + 1) and d = u(n) - u(n - 1); with two terms of the stages o of q
 * and w of u(n - 1), too; where density varies of differences at the half points above the node, D:
 *     m = m + sign e d + 12 (o - q) (w - u),   b_k = b_k + D q D w + D (o - q) D u.
 * light: d^2. sign: of d. */
#if HT_FD_DENSITY
struct ht_fd_slopes {
    real c[HT_FD_R];
};

HT_INLINE real ht_fd_slope(const struct ht_fd_slopes *c, HT_GLOBAL const real *a, const long at,
                           const long stride) {
    real sum = 0;
    HT_UNROLLED(j, HT_FD_R) sum = fma(c->c[j], a[at + (j + 1) * stride] - a[at - j * stride], sum);
    return sum;
}

HT_INLINE void ht_fd_add_slopes(const struct ht_fd_slopes *c, const long at, const long stride,
                                HT_INPUT(real) q, HT_INPUT(real) o, HT_INPUT(real) u,
                                HT_INPUT(real) w, HT_GLOBAL real *b) {
    const real slope = ht_fd_slope(c, q, at, stride);
#if HT_FD_TERMS > 1
    const real more = ht_fd_slope(c, o, at, stride) - slope;
    b[at] =
        fma(slope, ht_fd_slope(c, w, at, stride), fma(more, ht_fd_slope(c, u, at, stride), b[at]));
#else
    b[at] = fma(slope, ht_fd_slope(c, u, at, stride), b[at]);
#endif
}
#endif

HT_TOOL_KERNEL ht_fd_correlate(struct ht_fd_args s, const real sign,
#if HT_FD_DENSITY
                               const struct ht_fd_slopes c,
#endif
                               HT_INPUT(real) e, HT_INPUT(real) d, HT_INPUT(real) q,
                               HT_INPUT(real) o, HT_INPUT(real) u, HT_INPUT(real) w,
                               HT_OUTPUT(real) m, HT_OUTPUT(real) light
#if HT_FD_DENSITY
                               ,
                               HT_GLOBAL real *b1, HT_GLOBAL real *b2, HT_GLOBAL real *b3
#endif
) {
    HT_EACH_IN_PIECE(&s, at) {
        real sum = fma(sign * e[at], d[at], m[at]);
#if HT_FD_TERMS > 1
        sum = fma(12 * (o[at] - q[at]), w[at] - u[at], sum);
#endif
        m[at] = sum;
        light[at] = fma(d[at], d[at], light[at]);
#if HT_FD_DENSITY
        ht_fd_add_slopes(&c, at, 1, q, o, u, w, b1);
        if (HT_DIMS > 1) ht_fd_add_slopes(&c, at, s.row, q, o, u, w, b2);
        if (HT_DIMS > 2) ht_fd_add_slopes(&c, at, s.plane, q, o, u, w, b3);
#endif
    }
}
