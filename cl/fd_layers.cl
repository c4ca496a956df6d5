/* Absorbing layers of finite differences (docs/absorbing.md). Of a layer, with
 * D the first difference along its normal, away from its wall, and e =
 * exp(-sigma dt/2) at half points,
 *     q = (e^2 - 1) v + (e - 1) D u,   v = v + q + D u,
 * half a spacing above the nodes, and at the nodes, with e there and
 * f = (1 - e)/sigma,
 *     c = a scale D q,   F = F + a L_k u + c,
 *     d = d + c,   u = u + c + f r + f r',   r = e r',   r' = e r - sigma F.
 * A step without layers has added L u to d and d to u. q is odd at the wall;
 * beyond the layer it is 0.
 *
 * A sponge multiplies u and d by exp(-sigma dt) after each step.
 *
 * profile: of each layer e^2 - 1 and e - 1 at half points, e, f and sigma at
 * nodes, `cells` of them each.
 */
struct ht_fd_layer_coefs {
    struct ht_fd_coefs whole;
    real first[HT_FD_LAYER_R];
    real scaled[3][HT_FD_LAYER_R]; /* scale of the axis times first */
};

/* What the layers remember, and their profiles. */
#define HT_FD_MEMORY_PARAMS                                             \
    HT_GLOBAL const real *HT_RESTRICT profile, HT_GLOBAL const real *q, \
        HT_GLOBAL real *flow, HT_GLOBAL real *rest
#define HT_FD_MEMORY_ARGS profile, q, flow, rest

/* Indices of a target, and that along one of the axes. */
struct ht_fd_place {
    long m1, m2, m3;
};

HT_INLINE long ht_fd_pick(const int axis, const long m1, const long m2,
                          const long m3) {
    return axis == 0 ? m1 : axis == 1 ? m2 : m3;
}

/* The target of a work-item: those of a plane are counted by items of groups
 * along the first axis. There are less than 2^31 of them. */
HT_INLINE bool ht_fd_target(const struct ht_fd_layer_args *s,
                            struct ht_fd_place *m) {
    const int count = (int)(s->end[0] - s->begin[0]);
    const int item = (int)(HT_GROUP_1() * HT_FD_ROW_ITEMS) + HT_ITEM();
    const int row = item / count;
    m->m1 = s->begin[0] + item - row * count;
    m->m2 = s->begin[1] + row;
    m->m3 = s->begin[2] + HT_GROUP_3();
    return m->m2 < s->end[1];
}

HT_INLINE long ht_fd_along(const struct ht_fd_layer_args *s, const int axis) {
    return ht_fd_pick(axis, 1, s->row, s->plane);
}

/* Number in the window of a target whose index along the layer's axis counts
 * from its wall. */
HT_INLINE long ht_fd_number(const struct ht_fd_layer_args *s,
                            const struct ht_fd_layer *l,
                            const struct ht_fd_place *m) {
    const long depth = ht_fd_pick(l->axis, m->m1, m->m2, m->m3);
    return m->m3 * s->plane + m->m2 * s->row + m->m1 +
           (l->wall + l->way * depth - depth) * ht_fd_along(s, l->axis);
}

/* Half points: targets with the index along the axis from the wall. */
HT_KERNEL HT_GROUP_SIZE(HT_FD_ROW_ITEMS) void ht_fd_layer_flux(
    struct ht_fd_layer_args s, struct ht_fd_layer_coefs c,
    HT_GLOBAL const real *HT_RESTRICT profile,
    HT_GLOBAL const real *HT_RESTRICT u HT_FD_MEDIUM_PARAMS,
    HT_GLOBAL real *HT_RESTRICT v, HT_GLOBAL real *HT_RESTRICT q) {
    const struct ht_fd_layer *l = &s.layer[0];
    struct ht_fd_place m;
    if (!ht_fd_target(&s, &m)) return;
    const long inward = l->way * ht_fd_along(&s, l->axis);
    const long own = l->offset + m.m1 * l->pitch[0] + m.m2 * l->pitch[1] +
                     m.m3 * l->pitch[2];
    HT_GLOBAL const real *at_depth =
        profile + l->profile + ht_fd_pick(l->axis, m.m1, m.m2, m.m3);
    const long at = ht_fd_number(&s, l, &m);
    real slope = 0, change = 0;
    HT_UNROLL
    for (int j = 0; j < HT_FD_LAYER_R; j++)
        slope = HT_FD_FIRST(c.first[j], u[at - j * inward],
                            u[at + (j + 1) * inward], slope);
    change = fma(at_depth[l->cells], slope, at_depth[0] * v[own]);
    v[own] = v[own] + (change + slope);
#if HT_FD_DENSITY
    {
        HT_GLOBAL const real *b = l->axis == 0 ? b1 : l->axis == 1 ? b2 : b3;
        change = HT_FD_FLUX(b[l->way > 0 ? at : at + inward], change);
    }
#endif
    q[own] = change;
}

/* q at half point i of a line whose first is number line of the memory. */
HT_INLINE real ht_fd_q(const struct ht_fd_layer *l, const long pitch,
                       HT_GLOBAL const real *q, const long line, const long i) {
    const long inside = i < 0 ? -1 - i : i;
    if (inside >= l->cells) return 0;
    return i < 0 ? -q[line + inside * pitch] : q[line + inside * pitch];
}

/* L_k u / a of a node. */
HT_INLINE real ht_fd_along_axis(const struct ht_fd_coefs *c, const int axis,
                                HT_GLOBAL const real *u HT_FD_MEDIUM_PARAMS,
                                const long at, const long stride) {
#if HT_FD_DENSITY
    if (axis == 0) return ht_fd_axis(c, 0, u, b1, at, stride, 0);
    if (HT_DIMS > 1 && axis == 1)
        return ht_fd_axis(c, HT_DIMS > 1, u, b2, at, stride, 0);
    return ht_fd_axis(c, HT_DIMS - 1, u, HT_DIMS > 2 ? b3 : b2, at, stride, 0);
#else
    if (axis == 0) return ht_fd_axis(c, 0, u, at, stride, 0);
    if (HT_DIMS > 1 && axis == 1)
        return ht_fd_axis(c, HT_DIMS > 1, u, at, stride, 0);
    return ht_fd_axis(c, HT_DIMS - 1, u, at, stride, 0);
#endif
}

/* What a layer adds at a node, number `at` of the window and `own` of the
 * layer's memory: to d what it returns, to u *more beside it. */
HT_INLINE real ht_fd_correct(const struct ht_fd_layer_args *s,
                             const struct ht_fd_layer *l,
                             const struct ht_fd_layer_coefs *c, const long at,
                             const long own, const long depth,
                             HT_FD_MEMORY_PARAMS, const real modulus,
                             HT_GLOBAL const real *u HT_FD_MEDIUM_PARAMS,
                             real *more) {
    const long pitch =
        ht_fd_pick(l->axis, l->pitch[0], l->pitch[1], l->pitch[2]);
    const long line = own - depth * pitch;
    real change = 0;
    HT_UNROLL
    for (int j = 0; j < HT_FD_LAYER_R; j++) {
        const real weight = l->axis == 0   ? c->scaled[0][j]
                            : l->axis == 1 ? c->scaled[1][j]
                                           : c->scaled[2][j];
        change = HT_FD_FIRST(weight, ht_fd_q(l, pitch, q, line, depth - 1 - j),
                             ht_fd_q(l, pitch, q, line, depth + j), change);
    }
    change = HT_FD_FLUX(modulus, change);
    if (depth < l->cells) {
        HT_GLOBAL const real *here =
            profile + l->profile + 2 * l->cells + depth;
        const real before = rest[own];
        const real flowing =
            flow[own] +
            fma(modulus,
                ht_fd_along_axis(&c->whole, l->axis, u HT_FD_MEDIUM_ARGS, at,
                                 ht_fd_along(s, l->axis)),
                change);
        const real after =
            fma(-here[2 * l->cells], flowing, HT_FD_FLUX(here[0], before));
        flow[own] = flowing;
        rest[own] = here[0] * after;
        *more = fma(here[l->cells], before + after, *more);
    }
    return change;
}

/* Nodes that the interior's kernel has stepped: targets with the index along
 * the axis from the wall. */
HT_KERNEL HT_GROUP_SIZE(HT_FD_ROW_ITEMS) void ht_fd_layer_correct(
    struct ht_fd_layer_args s, struct ht_fd_layer_coefs c, HT_FD_MEMORY_PARAMS,
    HT_GLOBAL const real *HT_RESTRICT u,
    HT_GLOBAL const real *HT_RESTRICT a HT_FD_MEDIUM_PARAMS, HT_GLOBAL real *d,
    HT_GLOBAL real *out) {
    const struct ht_fd_layer *l = &s.layer[0];
    real more = 0, change = 0;
    struct ht_fd_place m;
    if (!ht_fd_target(&s, &m)) return;
    const long at = ht_fd_number(&s, l, &m);
    const long own = l->offset + m.m1 * l->pitch[0] + m.m2 * l->pitch[1] +
                     m.m3 * l->pitch[2];
    change =
        ht_fd_correct(&s, l, &c, at, own, ht_fd_pick(l->axis, m.m1, m.m2, m.m3),
                      HT_FD_MEMORY_ARGS, a[at], u HT_FD_MEDIUM_ARGS, &more);
    d[at] += change;
    out[at] += change + more;
}

/* A sponge: targets with the index along the axis from the wall, and a factor
 * per depth. */
HT_KERNEL HT_GROUP_SIZE(HT_FD_ROW_ITEMS) void ht_fd_layer_damp(
    struct ht_fd_layer_args s, HT_GLOBAL const real *HT_RESTRICT profile,
    HT_GLOBAL real *HT_RESTRICT u, HT_GLOBAL real *HT_RESTRICT d) {
    const struct ht_fd_layer *l = &s.layer[0];
    struct ht_fd_place m;
    if (!ht_fd_target(&s, &m)) return;
    const real factor =
        profile[l->profile + ht_fd_pick(l->axis, m.m1, m.m2, m.m3)];
    const long at = ht_fd_number(&s, l, &m);
    u[at] *= factor;
    d[at] *= factor;
}

/* A whole step of nodes, in layers or not: targets in indices of the window. */
HT_KERNEL HT_GROUP_SIZE(HT_FD_ROW_ITEMS) void ht_fd_layer_update(
    struct ht_fd_layer_args s, struct ht_fd_layer_coefs c, HT_FD_MEMORY_PARAMS,
    HT_GLOBAL const real *HT_RESTRICT u,
    HT_GLOBAL const real *HT_RESTRICT a HT_FD_MEDIUM_PARAMS, HT_GLOBAL real *d,
    HT_GLOBAL real *out) {
    real sum = 0, more = 0, change = 0;
    struct ht_fd_place m;
    if (!ht_fd_target(&s, &m)) return;
    const long at = m.m3 * s.plane + m.m2 * s.row + m.m1;
#if HT_FD_DENSITY
    sum = ht_fd_axis(&c.whole, 0, u, b1, at, 1, sum);
    if (HT_DIMS > 1) sum = ht_fd_axis(&c.whole, 1, u, b2, at, s.row, sum);
    if (HT_DIMS > 2) sum = ht_fd_axis(&c.whole, 2, u, b3, at, s.plane, sum);
#else
    HT_UNROLL
    for (int k = 0; k < HT_DIMS; k++)
        sum = ht_fd_axis(&c.whole, k, u, at, ht_fd_along(&s, k), sum);
#endif
    change = fma(a[at], sum, d[at]);
    for (int i = 0; i < s.layers; i++) {
        const struct ht_fd_layer *l = &s.layer[i];
        const long along = ht_fd_pick(l->axis, m.m1, m.m2, m.m3);
        const long depth = l->way * (along - l->wall);
        const long pitch =
            ht_fd_pick(l->axis, l->pitch[0], l->pitch[1], l->pitch[2]);
        const long own = l->offset + m.m1 * l->pitch[0] + m.m2 * l->pitch[1] +
                         m.m3 * l->pitch[2] + (depth - along) * pitch;
        if (depth < l->cells + HT_FD_LAYER_R)
            change +=
                ht_fd_correct(&s, l, &c, at, own, depth, HT_FD_MEMORY_ARGS,
                              a[at], u HT_FD_MEDIUM_ARGS, &more);
    }
    d[at] = change;
    out[at] = (u[at] + change) + more;
}
