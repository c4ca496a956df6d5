/* Absorbing layers of finite differences (docs/absorbing.md). Derivatives along the normal of a
 * layer go through a filter 1/s of one memory, once at half points and once at nodes: of what comes
 * in, x, it takes out x + e with
 *     e = p0 x + m,   m = p1 x + p2 e.
 * With D the first difference along the normal, away from the wall, it is applied half a spacing
 * above the nodes to x = D u, with e called q, and at the nodes to x = a L_k u + c,
 *     c = a scale D q,   d = g (d + c + e),   u = u + d,
 * where a step without layers has added a L u to d before. u is odd at the wall, where it is 0, and
 * q is even; beyond the layer q is 0.
 *
 * In the first step memories hold data, of half points h v/(b dt), v inwards, of nodes minus dt
 * times what v along the other axes has in u_t. With X = d + c + m - a (L - L_k) u/2, which is what
 * flows into a node along the axis in the step,
 *     q = (p0 + f/2) D u + f m,   e = p0 X - f u,   m = (p0 + p1) X - (1 - p2) e,
 * as if data had been damped before time 0, too: they leave no rest.
 *
 * A work-item computes q at the half points around its node itself, from u and from m before the
 * step, which stands in a buffer of its own: so one launch does all of a step, and q is not stored.
 *
 * A sponge multiplies u and d by exp(-sigma dt) after each step.
 *
 * profile: of each layer and depth HT_FD_PROFILES numbers, p0, p1, p2 and f at the half point, the
 * same at the node, and g. */
#if HT_FD_DENSITY /* D has the weights of the fluxes */
struct ht_fd_layer_coefs {
    struct ht_fd_coefs whole;
};
#define HT_FD_LAYER_FIRST(c, j) (c)->whole.c[HT_DIMS][j]
#define HT_FD_LAYER_SCALED(c) (c)->whole.c
#else
struct ht_fd_layer_coefs {
    struct ht_fd_coefs whole;
    real first[HT_FD_LAYER_R];
    real scaled[HT_DIMS][HT_FD_LAYER_R]; /* scale of the axis times first */
};
#define HT_FD_LAYER_FIRST(c, j) (c)->first[j]
#define HT_FD_LAYER_SCALED(c) (c)->scaled
#endif

/* Factor j of an axis. Compilers copy arguments to memory that are indexed by what they do not
 * know. */
#if HT_DIMS == 1
#define HT_FD_OF_AXIS(c, axis, j) (c)[0][j]
#elif HT_DIMS == 2
#define HT_FD_OF_AXIS(c, axis, j) ((axis) == 0 ? (c)[0][j] : (c)[1][j])
#else
#define HT_FD_OF_AXIS(c, axis, j) ((axis) == 0 ? (c)[0][j] : (axis) == 1 ? (c)[1][j] : (c)[2][j])
#endif

/* Nodes to either side that L_k reads, and all formulas of a node. */
#define HT_FD_LAYER_REACH (HT_FD_DENSITY ? 2 * HT_FD_R - 1 : HT_FD_R)
#define HT_FD_LAYER_SPAN \
    (HT_FD_LAYER_REACH > 2 * HT_FD_LAYER_R - 1 ? HT_FD_LAYER_REACH : 2 * HT_FD_LAYER_R - 1)

/* What the layers remember, and their profiles. */
#define HT_FD_MEMORY_PARAMS \
    HT_INPUT(real) profile, HT_INPUT(real) before, HT_OUTPUT(real) halves, HT_OUTPUT(real) nodes
#define HT_FD_MEMORY_ARGS profile, before, halves, nodes
/* These and the arrays of a step. */
#define HT_FD_STEP_PARAMS                                                        \
    HT_FD_MEMORY_PARAMS, HT_INPUT(real) u, HT_INPUT(real) a HT_FD_MEDIUM_PARAMS, \
        HT_OUTPUT(real) d, HT_OUTPUT(real) out
#define HT_FD_STEP_ARGS HT_FD_MEMORY_ARGS, u, a HT_FD_MEDIUM_ARGS, d, out

/* Work-items of a group that lie side by side; there are so many such rows. */
#define HT_FD_ROWS_OF_ITEMS (HT_TOOL_ITEMS / HT_FD_LAYER_WIDTH)

/* A target: its indices in the window, the layers that it is in, and how many targets follow it
 * along `axis`. A work-item has those from `next` to `end` along `deep`, every
 * HT_FD_ROWS_OF_ITEMS-th of them. */
struct ht_fd_place {
    int m1, m2, m3, layers;
    int axis, count;
    int deep, next, end;
};

HT_INLINE long ht_fd_pick(const int axis, const long m1, const long m2, const long m3) {
    return axis == 0 ? m1 : axis == 1 ? m2 : m3;
}

/* The zone of a group: the last one whose first group is not behind it. */
HT_INLINE int ht_fd_zone(const struct ht_fd_layer_args *s, const int group) {
    int zone = 0;
    HT_UNROLL
    for (int most = 16; most > 0; most /= 2)
        if (zone + most < HT_FD_ZONES && group >= s->first[zone + most]) zone += most;
    return zone;
}

/* The first target of a work-item. A group has HT_FD_LAYER_WIDTH columns of HT_FD_LAYER_DEPTH
 * targets: along x2 where that is the normal of a layer and x3 is not, else along x3, so that what
 * targets of a column read of a layer is the same for many of them, and is read from the nearest
 * cache. Columns are counted along x1, then along the other axis; there are less than 2^31 targets.
 * Where a zone is done by lines, these take the place of targets. */
HT_INLINE bool ht_fd_target(const struct ht_fd_layer_args *s, struct ht_fd_place *m) {
    const int group = (int)HT_GROUP_1(), zone = ht_fd_zone(s, group);
    const int i1 = zone % 3, i2 = zone / 3 % 3, i3 = zone / 9;
    const int across = (int)HT_ITEM() % HT_FD_LAYER_WIDTH;
    int n1, n2, n3, rows, deep, first;
    unsigned each, within, part, column, row;
    n1 = s->cut[0][i1 + 1] - s->cut[0][i1];
    n2 = s->cut[1][i2 + 1] - s->cut[1][i2];
    n3 = s->cut[2][i3 + 1] - s->cut[2][i3];
    m->axis = !HT_FD_LAYER_LINES || (s->lines >> zone & 1) == 0 ? -1
              : (s->layers[0] >> 8 * i1 & 255) != 0             ? 0
              : (s->layers[1] >> 8 * i2 & 255) != 0             ? 1
                                                                : 2;
    m->count = m->axis < 0 ? 1 : m->axis == 0 ? n1 : m->axis == 1 ? n2 : n3;
    n1 = m->axis == 0 ? 1 : n1;
    n2 = m->axis == 1 ? 1 : n2;
    n3 = m->axis == 2 ? 1 : n3;
    m->deep = (s->layers[1] >> 8 * i2 & 255) != 0 && (s->layers[2] >> 8 * i3 & 255) == 0 ? 1 : 2;
    rows = m->deep == 1 ? n3 : n2;
    deep = m->deep == 1 ? n2 : n3;
    each = (unsigned)(n1 * rows + HT_FD_LAYER_WIDTH - 1) / HT_FD_LAYER_WIDTH;
    within = (unsigned)(group - s->first[zone]);
    part = within / each;
    column = (within - part * each) * HT_FD_LAYER_WIDTH + (unsigned)across;
    row = column / (unsigned)n1;
    first = (int)part * HT_FD_LAYER_DEPTH;
    m->m1 = s->cut[0][i1] + (int)(column - row * (unsigned)n1);
    m->end = s->cut[m->deep][m->deep == 1 ? i2 : i3] +
             (first + HT_FD_LAYER_DEPTH < deep ? first + HT_FD_LAYER_DEPTH : deep);
    m->next = s->cut[m->deep][m->deep == 1 ? i2 : i3] + first + (int)HT_ITEM() / HT_FD_LAYER_WIDTH;
    m->m2 = m->deep == 1 ? m->next : s->cut[1][i2] + (int)row;
    m->m3 = m->deep == 2 ? m->next : s->cut[2][i3] + (int)row;
    m->layers = (s->layers[0] >> 8 * i1 | s->layers[1] >> 8 * i2 | s->layers[2] >> 8 * i3) & 255;
    return (int)row < rows;
}

/* To the next target of a work-item. */
HT_INLINE void ht_fd_go_on(struct ht_fd_place *m) {
    m->next += HT_FD_ROWS_OF_ITEMS;
    m->m2 = m->deep == 1 ? m->next : m->m2;
    m->m3 = m->deep == 2 ? m->next : m->m3;
}

HT_INLINE long ht_fd_along(const struct ht_fd_layer_args *s, const int axis) {
    return ht_fd_pick(axis, 1, s->row, s->plane);
}

/* Number of a node in the window. */
HT_INLINE long ht_fd_number(const struct ht_fd_layer_args *s, const struct ht_fd_place *m) {
    return (long)m->m3 * s->plane + (long)m->m2 * s->row + m->m1;
}

/* Distance of a node from the wall of layer i. */
HT_INLINE int ht_fd_depth(const struct ht_fd_layer_args *s, const int i,
                          const struct ht_fd_place *m) {
    return s->layer[i].way *
           ((int)ht_fd_pick(s->layer[i].axis, m->m1, m->m2, m->m3) - s->layer[i].wall);
}

/* What lies `count` times `bytes` behind an address: one instruction where 64 bits are added to a
 * product of two numbers of 32. */
HT_INLINE HT_GLOBAL const real *ht_fd_behind(HT_GLOBAL const real *from, const int count,
                                             const int bytes) {
    return (HT_GLOBAL const real *)((HT_GLOBAL const char *)from + (long)count * bytes);
}

/* A line of layer i along its normal, through a target. */
struct ht_fd_line {
    int axis, way, cells;
    int inward; /* bytes of the window: a node inwards */
    int pitch;  /* bytes of the memory: an entry inwards */
    long wall;  /* number in the window of the node on the wall */
    long own;   /* number in the memory of the first entry */
    int profile;
};

HT_INLINE void ht_fd_find_line(const struct ht_fd_layer_args *s, const int i,
                               const struct ht_fd_place *m, struct ht_fd_line *l) {
    l->axis = s->layer[i].axis;
    l->way = s->layer[i].way;
    l->cells = s->layer[i].cells;
    l->inward = s->layer[i].inward;
    l->pitch = s->layer[i].pitch;
    l->wall = ht_fd_number(s, m) - ht_fd_depth(s, i, m) * (l->way * ht_fd_along(s, l->axis));
    l->own = s->layer[i].offset + (long)m->m1 * s->layer[i].step[0] +
             (long)m->m2 * s->layer[i].step[1] + (long)m->m3 * s->layer[i].step[2];
    l->profile = s->layer[i].profile;
}

/* A node, seen in the wall where it may be behind it. What lies farther inside than L_k reads
 * belongs to no damped half point. */
HT_INLINE int ht_fd_seen(const struct ht_fd_line *l, const int depth, const bool behind) {
    const int node = behind && depth < 0 ? -depth : depth;
    const int last = l->cells - 1 + HT_FD_LAYER_REACH;
    return node < last ? node : last;
}

/* u at a depth, odd at the wall. */
HT_INLINE real ht_fd_near(const struct ht_fd_line *l, const int depth, const bool behind,
                          HT_GLOBAL const real *u) {
    const real value = *ht_fd_behind(u + l->wall, ht_fd_seen(l, depth, behind), l->inward);
    return behind && depth < 0 ? -value : value;
}

/* A half point seen in the wall, and its entry in the memory. */
HT_INLINE int ht_fd_inside(const int point) {
    return point < 0 ? -1 - point : point;
}

HT_INLINE int ht_fd_held(const struct ht_fd_line *l, const int inside) {
    return inside < l->cells ? inside : l->cells - 1;
}

/* q of a half point from D u; *after: its memory after the step; *flux: b D u. behind: the point
 * may be behind the wall. */
HT_INLINE real ht_fd_damped(const struct ht_fd_line *l, const int point, const bool behind,
                            const int first, const real slope, HT_INPUT(real) profile,
                            HT_INPUT(real) before HT_FD_MEDIUM_PARAMS, real *after, real *flux) {
    const int inside = behind ? ht_fd_inside(point) : point;
    const int held = ht_fd_held(l, inside);
    const real old = *ht_fd_behind(before + l->own, held, l->pitch);
    HT_GLOBAL const real *p = profile + (l->profile + held * HT_FD_PROFILES);
    real damped =
        first ? fma(fma(p[3], (real)0.5, p[0]), slope, p[3] * old) : fma(p[0], slope, old);
    *after = fma(p[1], slope, p[2] * damped);
#if HT_FD_DENSITY
    {
        HT_GLOBAL const real *b = l->axis == 0 ? b1 : l->axis == 1 ? b2 : b3;
        const real inverse = *ht_fd_behind(b + l->wall, inside + (l->way > 0 ? 0 : 1), l->inward);
        damped = HT_FD_FLUX(inverse, damped);
        *flux = HT_FD_FLUX(inverse, slope);
    }
#endif
    return inside < l->cells ? damped : (real)0;
}

/* What a layer remembers of a depth: of its half point and of its node. */
struct ht_fd_kept {
    real point, node;
};

/* What a layer adds to d at a node; *factor: g, multiplied. begin: d - a L u/2 in the first step.
 * u: at the node, and q at half points depth - HT_FD_LAYER_R on; flux: b D u there, or 2 R + 1
 * values of u about the node; kept: of the half point after the step, of the node before it, then
 * after. */
HT_INLINE real ht_fd_correct(const struct ht_fd_layer_coefs *c, const struct ht_fd_line *l,
                             const int depth, const int first, const real begin, const real modulus,
                             const real u, const real *q, const real *flux, HT_INPUT(real) profile,
                             struct ht_fd_kept *kept, real *factor) {
    real change = 0;
    HT_UNROLLED(j, HT_FD_LAYER_R)
        change = HT_FD_FIRST(HT_FD_OF_AXIS(HT_FD_LAYER_SCALED(c), l->axis, j),
                             q[HT_FD_LAYER_R - 1 - j], q[HT_FD_LAYER_R + j], change);
    change = HT_FD_FLUX(modulus, change);
    if (depth < l->cells) {
        HT_GLOBAL const real *p = profile + (l->profile + depth * HT_FD_PROFILES + 4);
        real sum = 0, x, excess;
        HT_UNROLLED(j, HT_FD_R)
#if HT_FD_DENSITY
            sum = HT_FD_FIRST(HT_FD_OF_AXIS(c->whole.c, l->axis, j), flux[HT_FD_R - 1 - j],
                              flux[HT_FD_R + j], sum);
#else
            sum = HT_FD_SECOND(HT_FD_OF_AXIS(c->whole.c, l->axis, j), flux[HT_FD_R - j - 1],
                               flux[HT_FD_R], flux[HT_FD_R + j + 1], sum);
#endif
        if (first) {
            x = begin + kept->node + fma(modulus, sum * (real)0.5, change);
            excess = fma(p[0], x, -(p[3] * u));
            kept->node = fma(p[0] + p[1], x, (p[2] - 1) * excess);
        } else {
            x = fma(modulus, sum, change);
            excess = fma(p[0], x, kept->node);
            kept->node = fma(p[1], x, p[2] * excess);
        }
        change += excess;
        *factor *= p[4];
    }
    return change;
}

/* The memory of a node; 0 of nodes that have none. */
HT_INLINE real ht_fd_recall(const struct ht_fd_line *l, const int depth,
                            HT_GLOBAL const real *nodes) {
    return depth < l->cells ? *ht_fd_behind(nodes + l->own, depth, l->pitch) : (real)0;
}

HT_INLINE void ht_fd_remember(const struct ht_fd_line *l, const int depth,
                              const struct ht_fd_kept *kept, HT_GLOBAL real *halves,
                              HT_GLOBAL real *nodes) {
    if (depth >= l->cells) return;
    *(HT_GLOBAL real *)ht_fd_behind(halves + l->own, depth, l->pitch) = kept->point;
    *(HT_GLOBAL real *)ht_fd_behind(nodes + l->own, depth, l->pitch) = kept->node;
}

/* D u of the half point above value `middle` of a line. */
HT_INLINE real ht_fd_slope(const struct ht_fd_layer_coefs *c, const real *near, const int middle) {
    real slope = 0;
    HT_UNROLLED(j, HT_FD_LAYER_R)
        slope = HT_FD_FIRST(HT_FD_LAYER_FIRST(c, j), near[middle - j], near[middle + j + 1], slope);
    return slope;
}

/* d - a L u/2 of a node. */
HT_INLINE real ht_fd_begin(const struct ht_fd_layer_args *s, const struct ht_fd_layer_coefs *c,
                           const long at, const real modulus, const real d,
                           HT_GLOBAL const real *u HT_FD_MEDIUM_PARAMS) {
    return fma((real)-0.5 * modulus,
               ht_fd_whole(&c->whole, s->row, s->plane, at, u HT_FD_MEDIUM_ARGS), d);
}

/* Layer i at one target: q at all half points around it. */
HT_INLINE real ht_fd_correct_node(const struct ht_fd_layer_args *s,
                                  const struct ht_fd_layer_coefs *c, const int start, const int i,
                                  const struct ht_fd_place *m, HT_FD_MEMORY_PARAMS,
                                  const real modulus, const real d,
                                  HT_INPUT(real) u HT_FD_MEDIUM_PARAMS, real *factor) {
    const int depth = ht_fd_depth(s, i, m);
    struct ht_fd_line l;
    struct ht_fd_kept kept;
    real near[2 * HT_FD_LAYER_SPAN + 1], q[2 * HT_FD_LAYER_R];
    real flux[2 * HT_FD_LAYER_R], there, change;
    ht_fd_find_line(s, i, m, &l);
    HT_UNROLLED_FROM(j, -HT_FD_LAYER_SPAN, HT_FD_LAYER_SPAN + 1)
        near[HT_FD_LAYER_SPAN + j] = ht_fd_near(&l, depth + j, j < 0, u);
    HT_UNROLLED(n, 2 * HT_FD_LAYER_R) {
        const real slope = ht_fd_slope(c, near, HT_FD_LAYER_SPAN - HT_FD_LAYER_R + n);
        q[n] = ht_fd_damped(&l, depth - HT_FD_LAYER_R + n, n < HT_FD_LAYER_R, start, slope, profile,
                            before HT_FD_MEDIUM_ARGS, &there, &flux[n]);
        if (n == HT_FD_LAYER_R) kept.point = there;
    }
    kept.node = ht_fd_recall(&l, depth, nodes);
    change = ht_fd_correct(
        c, &l, depth, start,
        start ? ht_fd_begin(s, c, ht_fd_number(s, m), modulus, d, u HT_FD_MEDIUM_ARGS) : d, modulus,
        near[HT_FD_LAYER_SPAN], q, HT_FD_DENSITY ? flux : near + HT_FD_LAYER_SPAN - HT_FD_R,
        profile, &kept, factor);
    ht_fd_remember(&l, depth, &kept, halves, nodes);
    return change;
}

#define HT_FD_SHIFT(x, count) \
    HT_UNROLL                 \
    for (int j = 0; j + 1 < (count); j++) (x)[j] = (x)[j + 1]

/* Layer i along a line: each half point once. */
HT_INLINE void ht_fd_march(const struct ht_fd_layer_args *s, const struct ht_fd_layer_coefs *c,
                           const int i, const struct ht_fd_place *m, HT_FD_STEP_PARAMS) {
    struct ht_fd_line l;
    real near[2 * HT_FD_LAYER_SPAN + 1] = {0}, q[2 * HT_FD_LAYER_R] = {0};
    real flux[2 * HT_FD_LAYER_R] = {0}, after[HT_FD_LAYER_R + 1] = {0};
    struct ht_fd_kept kept;
    int first = ht_fd_depth(s, i, m);
    ht_fd_find_line(s, i, m, &l);
    first = l.way > 0 ? first : first - (m->count - 1);
    /* Values of u, half points and nodes join at the end of the arrays. */
    HT_ROLLED
    for (int n = -2 * HT_FD_LAYER_SPAN; n < m->count; n++) {
        const int depth = first + n;
        const long at = l.wall + depth * (l.way * ht_fd_along(s, l.axis));
        real factor = 1, change, step;
        HT_FD_SHIFT(near, 2 * HT_FD_LAYER_SPAN + 1);
        near[2 * HT_FD_LAYER_SPAN] = ht_fd_near(&l, depth + HT_FD_LAYER_SPAN, true, u);
        if (n < 1 - 2 * HT_FD_LAYER_R) continue;
        HT_FD_SHIFT(q, 2 * HT_FD_LAYER_R);
        HT_FD_SHIFT(flux, 2 * HT_FD_LAYER_R);
        HT_FD_SHIFT(after, HT_FD_LAYER_R + 1);
        q[2 * HT_FD_LAYER_R - 1] = ht_fd_damped(
            &l, depth + HT_FD_LAYER_R - 1, true, 0,
            ht_fd_slope(c, near, HT_FD_LAYER_SPAN + HT_FD_LAYER_R - 1), profile,
            before HT_FD_MEDIUM_ARGS, &after[HT_FD_LAYER_R], &flux[2 * HT_FD_LAYER_R - 1]);
        if (n < 0) continue;
        kept.point = after[1];
        kept.node = ht_fd_recall(&l, depth, nodes);
        step = d[at];
        change = ht_fd_correct(c, &l, depth, 0, step, a[at], u[at], q,
                               HT_FD_DENSITY ? flux : near + HT_FD_LAYER_SPAN - HT_FD_R, profile,
                               &kept, &factor);
        ht_fd_remember(&l, depth, &kept, halves, nodes);
        step = factor * (step + change);
        d[at] = step;
        out[at] = u[at] + step;
    }
}

/* All layers at a node, whose d without them is `plain`. */
HT_INLINE void ht_fd_finish_node(const struct ht_fd_layer_args *s,
                                 const struct ht_fd_layer_coefs *c, const int start,
                                 const struct ht_fd_place *m, const long at, const real plain,
                                 HT_FD_STEP_PARAMS) {
    real step = plain, factor = 1;
    HT_ROLLED
    for (int i = 0; m->layers >> i != 0; i++)
        if (m->layers >> i & 1)
            step += ht_fd_correct_node(s, c, start, i, m, HT_FD_MEMORY_ARGS, a[at], plain,
                                       u HT_FD_MEDIUM_ARGS, &factor);
    step *= factor;
    d[at] = step;
    out[at] = u[at] + step;
}

/* Nodes that the interior's kernel has stepped. start: of the first step, when memories hold data.
 */
HT_INLINE void ht_fd_layer_step(const struct ht_fd_layer_args *s, const struct ht_fd_layer_coefs *c,
                                const int start, HT_FD_STEP_PARAMS) {
    struct ht_fd_place m;
    if (!ht_fd_target(s, &m)) return;
    if (!start && m.axis >= 0) { /* along the lines of a zone that has one layer */
        HT_ROLLED
        for (int i = 0; i < HT_FD_MOST_LAYERS; i++)
            if (m.layers >> i & 1) ht_fd_march(s, c, i, &m, HT_FD_STEP_ARGS);
        return;
    }
    HT_ROLLED
    for (; m.next < m.end; ht_fd_go_on(&m)) {
        const long at = ht_fd_number(s, &m);
        ht_fd_finish_node(s, c, start, &m, at, d[at], HT_FD_STEP_ARGS);
    }
}

#define HT_FD_LAYER_ENTRY(name, start)                                         \
    HT_TOOL_KERNEL name(struct ht_fd_layer_args s, struct ht_fd_layer_coefs c, \
                        HT_FD_STEP_PARAMS) {                                   \
        ht_fd_layer_step(&s, &c, start, HT_FD_STEP_ARGS);                      \
    }

HT_FD_LAYER_ENTRY(ht_fd_layer_correct, 0)
HT_FD_LAYER_ENTRY(ht_fd_layer_start, 1)

#if HT_FD_DENSITY
/* Half of the products of first differences of u at half points +-1/2. */
HT_INLINE real ht_fd_squares(const struct ht_fd_coefs *c, const int axis, HT_GLOBAL const real *u,
                             HT_GLOBAL const real *b, const long at, const long stride) {
    real sum = 0;
    HT_UNROLLED(side, 2) {
        const long between = at - side * stride;
        real slope = 0, scaled = 0;
        HT_UNROLLED(j, HT_FD_R) {
            const real below = u[between - j * stride];
            const real above = u[between + (j + 1) * stride];
            slope = HT_FD_FIRST(c->c[HT_DIMS][j], below, above, slope);
            scaled = HT_FD_FIRST(c->c[axis][j], below, above, scaled);
        }
        sum += b[between] * (slope * scaled);
    }
    return sum / 2;
}
#else
/* Half of the weighted squares of differences from node `at`. */
HT_INLINE real ht_fd_squares(const struct ht_fd_coefs *c, const int axis, HT_GLOBAL const real *u,
                             const long at, const long stride) {
    real sum = 0;
    HT_UNROLLED(j, HT_FD_R) {
        const real down = u[at - (j + 1) * stride] - u[at];
        const real up = u[at + (j + 1) * stride] - u[at];
        sum = fma(c->c[axis][j], down * down + up * up, sum);
    }
    return sum / 2;
}
#endif

/* What a node has of - <u, L u>, as differences alone: z / a adds up to it. */
HT_TOOL_KERNEL ht_fd_layer_squares(struct ht_fd_layer_args s, struct ht_fd_layer_coefs c,
                                   HT_INPUT(real) u, HT_INPUT(real) a HT_FD_MEDIUM_PARAMS,
                                   HT_OUTPUT(real) z) {
    struct ht_fd_place m;
    if (!ht_fd_target(&s, &m)) return;
    HT_ROLLED
    for (; m.next < m.end; ht_fd_go_on(&m)) {
        const long at = ht_fd_number(&s, &m);
        real sum = 0;
#if HT_FD_DENSITY
        sum += ht_fd_squares(&c.whole, 0, u, b1, at, 1);
        if (HT_DIMS > 1) sum += ht_fd_squares(&c.whole, 1, u, b2, at, s.row);
        if (HT_DIMS > 2) sum += ht_fd_squares(&c.whole, 2, u, b3, at, s.plane);
#else
        HT_UNROLLED(k, HT_DIMS) sum += ht_fd_squares(&c.whole, k, u, at, ht_fd_along(&s, k));
#endif
        z[at] = a[at] * sum;
    }
}

/* Sponges: a factor per depth. */
HT_TOOL_KERNEL ht_fd_layer_damp(struct ht_fd_layer_args s, HT_INPUT(real) profile,
                                HT_OUTPUT(real) u, HT_OUTPUT(real) d) {
    struct ht_fd_place m;
    if (!ht_fd_target(&s, &m)) return;
    HT_ROLLED
    for (; m.next < m.end; ht_fd_go_on(&m)) {
        const long at = ht_fd_number(&s, &m);
        real value = u[at], increment = d[at];
        HT_ROLLED
        for (int i = 0; m.layers >> i != 0; i++)
            if (m.layers >> i & 1) {
                const real factor = profile[s.layer[i].profile + ht_fd_depth(&s, i, &m)];
                value *= factor;
                increment *= factor;
            }
        u[at] = value;
        d[at] = increment;
    }
}
