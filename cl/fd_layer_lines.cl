/* Targets of a group: a box of a zone, all that its layers have of them along their normals; of one
 * layer along x2 or x3 alone lines from `first` on, counted along x1, then along the other axis. */
struct ht_fd_part {
    int low1, low2, low3, high1, high2, high3;
    int layers, first;
    int deep; /* rows of layers along x1 lie behind one another along this axis */
};

HT_INLINE int ht_fd_least(const int a, const int b) {
    return a < b ? a : b;
}

/* Where a work-item is: u, a and d of a node, and memories. */
struct ht_fd_spot {
    HT_GLOBAL const real *u, *a, *before;
    HT_GLOBAL real *d, *halves, *nodes;
};

HT_INLINE HT_GLOBAL real *ht_fd_move(HT_GLOBAL real *from, const int count, const int bytes) {
    return (HT_GLOBAL real *)((HT_GLOBAL char *)from + (long)count * bytes);
}

/* `count` times `window` and `memory` bytes on. */
HT_INLINE struct ht_fd_spot ht_fd_go(const struct ht_fd_spot *from, const int count,
                                     const int window, const int memory) {
    const struct ht_fd_spot to = {
        ht_fd_behind(from->u, count, window),      ht_fd_behind(from->a, count, window),
        ht_fd_behind(from->before, count, memory), ht_fd_move(from->d, count, window),
        ht_fd_move(from->halves, count, memory),   ht_fd_move(from->nodes, count, memory)};
    return to;
}

/* At a depth. */
HT_INLINE struct ht_fd_spot ht_fd_enter(const struct ht_fd_line *l, const int depth,
                                        HT_INPUT(real) before, HT_OUTPUT(real) halves,
                                        HT_OUTPUT(real) nodes, HT_INPUT(real) u, HT_INPUT(real) a,
                                        HT_OUTPUT(real) d) {
    const struct ht_fd_spot wall = {u + l->wall, a + l->wall,     before + l->own,
                                    d + l->wall, halves + l->own, nodes + l->own};
    return ht_fd_go(&wall, depth, l->inward, l->pitch);
}

/* q of a half point that remembers `old`, b D u, and what it remembers then, where it is `own`. */
HT_INLINE void ht_fd_do_point(const struct ht_fd_line *l, const int point, HT_GLOBAL const real *at,
                              const bool own, const real slope, const real old,
                              HT_GLOBAL real *halves HT_FD_MEDIUM_PARAMS, real *q, real *flux) {
    const real p[4] = {at[0], at[1], at[2], 0};
    real after;
    *q = ht_fd_filter(p, 0, slope, old, &after);
#if HT_FD_DENSITY
    *flux = ht_fd_inverse(l, ht_fd_seen(l, point, false) HT_FD_MEDIUM_ARGS);
    *q = HT_FD_LAYER_FLUX(*flux, *q);
    *flux = HT_FD_LAYER_FLUX(*flux, slope);
#endif
    if (own) *halves = after;
}

/* What a line reads for the target behind the one `on` nodes after `depth`, where it is. */
struct ht_fd_ahead {
    real u, before, d, a, node;
};

HT_INLINE struct ht_fd_ahead ht_fd_look(const struct ht_fd_line *l, const struct ht_fd_spot *at,
                                        const int depth, const int last, const int on) {
    const int cells = l->cells;
    struct ht_fd_ahead next = {0, 0, 0, 0, 0};
    if (depth + on + HT_FD_LAYER_SPAN + 1 < cells + HT_FD_LAYER_REACH)
        next.u = *ht_fd_behind(at->u, on, l->inward);
    if (depth + on + HT_FD_LAYER_R < cells) next.before = *ht_fd_behind(at->before, on, l->pitch);
    if (depth + on + 1 < last) {
        next.d = *ht_fd_behind(at->d, on + 1, l->inward);
        next.a = *ht_fd_behind(at->a, on + 1, l->inward);
        if (depth + on + 1 < cells) next.node = *ht_fd_behind(at->nodes, on + 1, l->pitch);
    }
    return next;
}

/* A line from its first target on, with what targets read of it in registers, so that each q is
 * computed once; what the next two read is under way meanwhile. Beyond the layer profiles are 0
 * and factors 1. d is damped by damp[0] times the factor of the layer, and damp[1]. */
HT_INLINE void ht_fd_do_line(const struct ht_fd_layer_coefs *c, const int axis,
                             struct ht_fd_line *l, const int first, const int last,
                             const real damp[2], HT_FD_STEP_PARAMS) {
    enum { R = HT_FD_LAYER_R, NEAR = 2 * HT_FD_LAYER_SPAN };
    const int cells = l->cells, end = cells < last ? cells : last;
    const int inward = l->inward, pitch = l->pitch;
    HT_GLOBAL const real *p = profile + l->profile + first * HT_FD_PROFILES;
    struct ht_fd_spot at = ht_fd_enter(l, first, before, halves, nodes, u, a, d);
    real near[NEAR + 1], q[2 * R], flux[2 * R], kept[R];
    real old = *at.d, modulus = *at.a, node = first < cells ? *at.nodes : 0, after = 0;
    l->axis = axis;
    HT_UNROLLED(k, NEAR + 1)
        near[k] = ht_fd_near(l, first - HT_FD_LAYER_SPAN + k, k < HT_FD_LAYER_SPAN, u);
    HT_UNROLLED(n, R) {
        kept[n] = first + n < cells ? *at.before : 0;
        at.before = ht_fd_behind(at.before, 1, pitch);
    }
    HT_UNROLLED(n, R) {
        ht_fd_do_point(l, first + n, p + n * HT_FD_PROFILES, first + n < end,
                       ht_fd_slope(c, near, R + n), kept[n], at.halves HT_FD_MEDIUM_ARGS, &q[R + n],
                       &flux[R + n]);
        at.halves = ht_fd_move(at.halves, 1, pitch);
    }
    at.u = ht_fd_behind(at.u, HT_FD_LAYER_SPAN + 1, inward);
    HT_UNROLLED(n, R) { /* even at the wall */
        q[n] = q[2 * R - 1 - n];
        flux[n] = flux[2 * R - 1 - n];
        if (first > 0)
            q[n] = ht_fd_damped(l, first - R + n, true, 0, ht_fd_slope(c, near, n), profile,
                                before HT_FD_MEDIUM_ARGS, &after, &flux[n]);
    }
    struct ht_fd_ahead coming = ht_fd_look(l, &at, first, last, 0);
    HT_ROLLED
    for (int depth = first; depth < last; depth++) {
        const struct ht_fd_ahead next = ht_fd_look(l, &at, depth, last, 1);
        const real of[4] = {p[4], p[5], p[6], 0};
        const real factor = fma(p[HT_FD_PROFILES - 1], damp[0], damp[1]);
        const real change =
            ht_fd_correct(c, axis, true, of, 0, 0, 1, modulus, near[HT_FD_LAYER_SPAN], q,
                          HT_FD_DENSITY ? flux : near + HT_FD_LAYER_SPAN - HT_FD_R, node, &after);
        if (depth < cells) *at.nodes = after;
        *at.d = HT_FD_LAYER_FLUX(factor, old) + change;
        HT_UNROLLED(k, NEAR) near[k] = near[k + 1];
        HT_UNROLLED(k, 2 * R - 1) {
            q[k] = q[k + 1];
            flux[k] = flux[k + 1];
        }
        near[NEAR] = coming.u;
        ht_fd_do_point(l, depth + R, p + R * HT_FD_PROFILES, depth + R < end,
                       ht_fd_slope(c, near, 2 * R - 1), coming.before, at.halves HT_FD_MEDIUM_ARGS,
                       &q[2 * R - 1], &flux[2 * R - 1]);
        old = coming.d;
        modulus = coming.a;
        node = coming.node;
        coming = next;
        at = ht_fd_go(&at, 1, inward, pitch);
        p += HT_FD_PROFILES;
    }
}

/* A line of a group's, if there is one for the work-item, by layer i. others: layers whose factors
 * damp d, too; damped: d has been. */
HT_INLINE void ht_fd_do_lines(const struct ht_fd_layer_args *s, const struct ht_fd_layer_coefs *c,
                              const int axis, const int i, const int others, const bool damped,
                              const struct ht_fd_part *part, HT_FD_STEP_PARAMS) {
    const int n1 = part->high1 - part->low1;
    const int n2 = part->high2 - part->low2, n3 = part->high3 - part->low3;
    const int deep = axis == 1 ? n2 : n3, line = part->first + HT_ITEM(), far = line / n1;
    const struct ht_fd_place m = {part->low1 + line - far * n1, part->low2 + (axis == 1 ? 0 : far),
                                  part->low3 + (axis == 1 ? far : 0), part->layers, 1};
    if (far >= (axis == 1 ? n3 : n2)) return;
    const int depth = ht_fd_depth(s, i, &m);
    const int first = s->layer[i].way > 0 ? depth : depth - deep + 1;
    const real damp[2] = {damped ? (real)0 : ht_fd_factor(s, &m, others, profile), damped ? 1 : 0};
    struct ht_fd_line l;
    ht_fd_find_line(s, i, &m, &l);
    ht_fd_do_line(c, axis, &l, first, first + deep, damp, HT_FD_STEP_ARGS);
}
