/* Nodes in one layer alone, whose normal is not x1: a work-item goes along the normal and has in
 * registers what the nodes around read, so that each q is computed once. */
/* The line of a work-item, the depths of its targets; false: there is none. Lines are counted along
 * x1, then along the other axis. */
HT_INLINE bool ht_fd_set_line(const struct ht_fd_layer_args *s, struct ht_fd_line *l, int *first,
                              int *last) {
    const int group = (int)HT_GROUP_1(), zone = ht_fd_zone(s, group);
    const int i1 = zone % 3, i2 = zone / 3 % 3, i3 = zone / 9;
    const int layers = ht_fd_layers_of(s, 1, i2) | ht_fd_layers_of(s, 2, i3);
    const int n1 = s->cut[0][i1 + 1] - s->cut[0][i1], n2 = s->cut[1][i2 + 1] - s->cut[1][i2];
    const int n3 = s->cut[2][i3 + 1] - s->cut[2][i3];
    const int line = (group - s->first[zone]) * HT_TOOL_ITEMS + (int)HT_ITEM(), far = line / n1;
    int i = 0;
    while ((layers >> i & 1) == 0) i++;
    const bool second = s->layer[i].axis == 1;
    const struct ht_fd_place m = {s->cut[0][i1] + line - far * n1,
                                  s->cut[1][i2] + (second ? 0 : far),
                                  s->cut[2][i3] + (second ? far : 0), layers, 1};
    const int depth = ht_fd_depth(s, i, &m), count = second ? n2 : n3;
    if (far >= (second ? n3 : n2)) return false;
    *first = s->layer[i].way > 0 ? depth : depth - count + 1;
    *last = *first + count;
    ht_fd_find_line(s, i, &m, l);
    return true;
}

/* q of a half point that remembers `old`, b D u, and what it remembers then, of targets before
 * `last`. */
HT_INLINE void ht_fd_do_point(const struct ht_fd_line *l, const int point, const int last,
                              const real slope, const real old, HT_INPUT(real) profile,
                              HT_OUTPUT(real) halves HT_FD_MEDIUM_PARAMS, real *q, real *flux) {
    const int held = point < l->cells ? point : l->cells - 1;
    real p[4], after;
    HT_UNROLLED(k, 3) p[k] = ht_fd_profile(l, k, held, 0, profile);
    *q = ht_fd_filter(p, 0, slope, old, &after);
#if HT_FD_DENSITY
    *flux = ht_fd_inverse(l, point HT_FD_MEDIUM_ARGS);
    *q = HT_FD_LAYER_FLUX(*flux, *q);
    *flux = HT_FD_LAYER_FLUX(*flux, slope);
#endif
    if (point >= l->cells) *q = 0;
    if (point < l->cells && point < last) ht_fd_remember(l, point, after, halves);
}

/* A line from its first target on, with what targets read of it in registers; what the next one
 * reads is under way meanwhile. */
HT_INLINE void ht_fd_do_line(const struct ht_fd_layer_coefs *c, const struct ht_fd_line *l,
                             const int first, const int last, HT_FD_STEP_PARAMS) {
    enum { R = HT_FD_LAYER_R, NEAR = 2 * HT_FD_LAYER_SPAN };
    HT_GLOBAL real *const rate = d + l->wall;
    HT_GLOBAL const real *const scale = a + l->wall;
    const int cells = l->cells;
    real near[NEAR + 1], q[2 * R], flux[2 * R], memory[R];
    real old = *ht_fd_behind(rate, first, l->inward),
         modulus = *ht_fd_behind(scale, first, l->inward);
    real node = first < cells ? ht_fd_recall(l, first, nodes) : 0, after = 0;
    HT_UNROLLED(k, NEAR + 1)
        near[k] = ht_fd_near(l, first - HT_FD_LAYER_SPAN + k, k < HT_FD_LAYER_SPAN, u);
    HT_UNROLLED(n, R) {
        const int point = first + n;
        memory[n] = ht_fd_recall(l, point < cells ? point : cells - 1, before);
    }
    HT_UNROLLED(n, R)
        ht_fd_do_point(l, first + n, last, ht_fd_slope(c, near, R + n), memory[n], profile,
                       halves HT_FD_MEDIUM_ARGS, &q[R + n], &flux[R + n]);
    HT_UNROLLED(n, R) { /* even at the wall */
        q[n] = q[2 * R - 1 - n];
        flux[n] = flux[2 * R - 1 - n];
        if (first > 0)
            q[n] = ht_fd_damped(l, first - R + n, true, 0, ht_fd_slope(c, near, n), profile,
                                before HT_FD_MEDIUM_ARGS, &after, &flux[n]);
    }
    HT_ROLLED
    for (int depth = first; depth < last; depth++) {
        const int next = depth + 1 < last ? depth + 1 : depth, point = next + R - 1;
        const real value = ht_fd_near(l, next + HT_FD_LAYER_SPAN, false, u);
        const real kept = ht_fd_recall(l, point < cells ? point : cells - 1, before);
        const real next_old = *ht_fd_behind(rate, next, l->inward);
        const real next_modulus = *ht_fd_behind(scale, next, l->inward);
        const real next_node = ht_fd_recall(l, next < cells ? next : cells - 1, nodes);
        const bool in = depth < cells;
        real p[4] = {0}, factor = 1;
        if (in) {
            HT_UNROLLED(k, 3) p[k] = ht_fd_profile(l, 4 + k, depth, 0, profile);
            factor = ht_fd_profile(l, HT_FD_PROFILES - 1, depth, 1, profile);
        }
        const real change =
            ht_fd_correct(c, l->axis, in, p, 0, 0, 1, modulus, near[HT_FD_LAYER_SPAN], q,
                          HT_FD_DENSITY ? flux : near + HT_FD_LAYER_SPAN - HT_FD_R, node, &after);
        if (in) ht_fd_remember(l, depth, after, nodes);
        *(HT_GLOBAL real *)ht_fd_behind(rate, depth, l->inward) =
            HT_FD_LAYER_FLUX(factor, old) + change;
        HT_UNROLLED(k, NEAR) near[k] = near[k + 1];
        HT_UNROLLED(k, 2 * R - 1) {
            q[k] = q[k + 1];
            flux[k] = flux[k + 1];
        }
        near[NEAR] = value;
        ht_fd_do_point(l, point, next > depth ? last : 0, ht_fd_slope(c, near, 2 * R - 1), kept,
                       profile, halves HT_FD_MEDIUM_ARGS, &q[2 * R - 1], &flux[2 * R - 1]);
        old = next_old;
        modulus = next_modulus;
        node = next_node;
    }
}
