/* What the finite-difference kernels share: the formulas at one node, and what becomes of the
 * increment r = L u. Kernels add the same terms in the same order, so that they give the same bits;
 * only fd_march_density.cl adds in another.
 *
 * Differences of values are taken first: where u is constant, L u is 0, and where u is smooth,
 * rounding is relative to its differences. */
#define HT_FD_STAGE 0 /* out = u + r */
#define HT_FD_OWN 1   /* d = d + r, out = u + d */
#define HT_FD_APART 2 /* d = d + r, out = p + d */
#define HT_FD_ALONE 3 /* d = d + r */
#define HT_FD_HAS_D(mode) ((mode) != HT_FD_STAGE)
#define HT_FD_HAS_OUT(mode) ((mode) != HT_FD_ALONE)

/* scale_k / h_k^2 times the weights of axis k; where density varies, row HT_DIMS has the weights of
 * a flux, the next one their sums from each on (t_m of fd_march_density.cl). */
struct ht_fd_coefs {
    real c[HT_DIMS + 2 * HT_FD_DENSITY][HT_FD_R];
#if HT_FD_MAP
    real level, rate, steepest, most;
#endif
};

/* The buffers of a launch, as parameters and as arguments. */
#if HT_FD_DENSITY
#define HT_FD_MEDIUM_PARAMS , HT_INPUT(real) b1, HT_INPUT(real) b2, HT_INPUT(real) b3
#define HT_FD_MEDIUM_ARGS , b1, b2, b3
#else
#define HT_FD_MEDIUM_PARAMS
#define HT_FD_MEDIUM_ARGS
#endif
#if HT_FD_MAP
#define HT_FD_MAP_PARAM , HT_GLOBAL real *map
#define HT_FD_MAP_ARG , map
#define HT_FD_KEEP_PARAMS , const struct ht_fd_coefs *c, HT_GLOBAL real *map
#define HT_FD_KEEP_ARGS(at) , c, map + (at)
#else
#define HT_FD_MAP_PARAM
#define HT_FD_MAP_ARG
#define HT_FD_KEEP_PARAMS
#define HT_FD_KEEP_ARGS(at)
#endif
#define HT_FD_PARAMS                                                                     \
    HT_INPUT(real)                                                                       \
    u, HT_INPUT(real) a HT_FD_MEDIUM_PARAMS, HT_GLOBAL real *d, HT_GLOBAL const real *p, \
        HT_GLOBAL real *out HT_FD_MAP_PARAM
#define HT_FD_ARGS u, a HT_FD_MEDIUM_ARGS, d, p, out HT_FD_MAP_ARG
#if !HT_FD_LAYERED /* what a pass does of layers, too: fd_layers.cl */
#define HT_FD_LAYER_PARAMS
#define HT_FD_LAYER_ARGS
#define HT_FD_PARTS 1
#define HT_FD_PREPARE_PART(k, i2, i3) s->end[0]
#define HT_FD_PREPARE_ROW(first, last, i2, i3) ;
#endif

/* sum + c times the second difference. */
#define HT_FD_SECOND(c, below, middle, above, sum) \
    fma(c, ((below) - (middle)) + ((above) - (middle)), sum)
/* sum + c times the first one. */
#define HT_FD_FIRST(c, below, above, sum) fma(c, (above) - (below), sum)

/* A flux: a product that compilers must not join to the sum it goes into, or kernels would differ
 * by their rounding. */
#define HT_FD_FLUX(b, slope) fma(b, slope, (real)0)

#if HT_FD_MAP
/* What a node's map has (HT_FD_MAP: enum ht_map_kind) of the step that ends, from u - d to u, which
 * stands in out where layers have changed d (HT_FD_OPEN): of both values, and of the wave of the
 * highest frequency through them, whose amplitude is the root of middle^2 + (rate d)^2, where the
 * wave's peak lies no further away than half the time between two such steps. By Szego's inequality
 * no wave of lower frequencies has less. */
HT_INLINE real ht_fd_peak(const struct ht_fd_coefs *c, real u, real d) {
    const real value = u + c->level, middle = fma((real)-0.5, d, value);
    const real sign = HT_FD_MAP == 0x2 || (HT_FD_MAP == 0x4 && middle < 0) ? -1 : 1;
    const real top = fmax(sign * value, sign * (value - d));
    const real swing = c->rate * fabs(d), height = sign * middle;
    const real wave =
        swing <= c->steepest * height ? sqrt(fma(height, height, swing * swing)) : top;
    return (HT_FD_MAP == 0x2 ? -1 : 1) * fmax(top, wave);
}
HT_INLINE bool ht_fd_beyond(real peak, real kept) {
    return HT_FD_MAP == 0x2 ? peak < kept : peak > kept;
}
/* No peak lies further: a wave's is at most `most` times its middle. */
HT_INLINE real ht_fd_bound(const struct ht_fd_coefs *c, real u, real d) {
    const real middle = fma((real)-0.5, d, u + c->level), sign = HT_FD_MAP == 0x2 ? -1 : 1;
    const real height = HT_FD_MAP == 0x4 ? fabs(middle) : sign * middle;
    return sign * fma((real)0.5, fabs(d), fmax(height, c->most * height));
}
#endif

/* Distance of two nodes that are neighbours along an axis. */
HT_INLINE long ht_fd_stride(const struct ht_fd_args *s, const int axis) {
    return axis == 0 ? 1 : axis == 1 ? s->row : s->plane;
}

/* ---- one node ---- */

#if HT_FD_DENSITY
/* Flux along an axis, half a spacing above a node. */
HT_INLINE real ht_fd_flux(const struct ht_fd_coefs *c, HT_GLOBAL const real *u,
                          HT_GLOBAL const real *b, long at, long stride) {
    real sum = 0;
    HT_UNROLLED(j, HT_FD_R)
        sum = HT_FD_FIRST(c->c[HT_DIMS][j], u[at - j * stride], u[at + (j + 1) * stride], sum);
    return HT_FD_FLUX(b[at], sum);
}

HT_INLINE real ht_fd_axis(const struct ht_fd_coefs *c, const int axis, HT_GLOBAL const real *u,
                          HT_GLOBAL const real *b, long at, long stride, real sum) {
    HT_UNROLLED(j, HT_FD_R)
        sum = HT_FD_FIRST(c->c[axis][j], ht_fd_flux(c, u, b, at - (j + 1) * stride, stride),
                          ht_fd_flux(c, u, b, at + j * stride, stride), sum);
    return sum;
}
#else
HT_INLINE real ht_fd_axis(const struct ht_fd_coefs *c, const int axis, HT_GLOBAL const real *u,
                          long at, long stride, real sum) {
    HT_UNROLLED(j, HT_FD_R)
        sum = HT_FD_SECOND(c->c[axis][j], u[at - (j + 1) * stride], u[at], u[at + (j + 1) * stride],
                           sum);
    return sum;
}
#endif

/* L u / a; row, plane: those of the window. */
HT_INLINE real ht_fd_whole(const struct ht_fd_coefs *c, const long row, const long plane,
                           const long at, HT_GLOBAL const real *u HT_FD_MEDIUM_PARAMS) {
    real sum = 0;
#if HT_FD_DENSITY
    sum = ht_fd_axis(c, 0, u, b1, at, 1, sum);
    if (HT_DIMS > 1) sum = ht_fd_axis(c, 1, u, b2, at, row, sum);
    if (HT_DIMS > 2) sum = ht_fd_axis(c, 2, u, b3, at, plane, sum);
#else
    sum = ht_fd_axis(c, 0, u, at, 1, sum);
    if (HT_DIMS > 1) sum = ht_fd_axis(c, 1, u, at, row, sum);
    if (HT_DIMS > 2) sum = ht_fd_axis(c, 2, u, at, plane, sum);
#endif
    return sum;
}

HT_INLINE void ht_fd_node(const struct ht_fd_args *s, const struct ht_fd_coefs *c, const int mode,
                          long at, HT_FD_PARAMS) {
    const real sum = ht_fd_whole(c, s->row, s->plane, at, u HT_FD_MEDIUM_ARGS);
    const real change = fma(a[at], sum, HT_FD_HAS_D(mode) ? d[at] : u[at]);
#if HT_FD_MAP
    const real now = mode == HT_FD_APART ? p[at] : u[at];
    const real peak = ht_fd_peak(c, now, HT_FD_OPEN ? now - out[at] : d[at]);
    if (ht_fd_beyond(peak, map[at])) map[at] = peak;
#endif
    if (HT_FD_HAS_D(mode)) d[at] = change;
    if (mode == HT_FD_STAGE) out[at] = change;
    if (mode == HT_FD_OWN) out[at] = u[at] + change;
    if (mode == HT_FD_APART) out[at] = p[at] + change;
}
