/* Absorbing layers of finite differences (docs/developers/absorbing.md). Derivatives along the
 * normal of a layer go through a filter 1/s of one memory, once at half points and once at nodes:
 * of what comes in, x, it takes out x + e with e = p0 x + m,   m = p1 x + p2 e. With D the first
 * difference along the normal, away from the wall, it is applied half a spacing above the nodes to
 * x = D u, with e called q, and at the nodes to x = a L_k u + c, c = a scale D q. A step is
 *     d = g (d + a L u + sum of c + e of the axes),   u = u + d,
 * g the product of the factors of a node's layers. a and the nodes' m have g in them: layers make
 *     d = g d + sum of c + e
 * before a step that knows nothing of them. u is odd at the wall, where it is 0, and q is even;
 * beyond the layer q is 0.
 *
 * In the first step memories hold data, of half points h v/(b dt), v inwards, of nodes minus dt
 * times what v along the other axes has in u_t. With X = g d + c + g m + a (L + L_k) u/2, which is
 * what flows into a node along the axis in the step,
 *     q = (p0 + f/2) D u + f m,   e = p0 X - f g u,   m = (p0 + p1) X - (1 - p2) e,
 * as if data had been damped before time 0, too: they leave no rest.
 *
 * A node has q at the half points around it from u and from m before the step, which stands in a
 * buffer of its own: so one launch does all, and q is not stored. On GPUs each is computed once,
 * but where layers of three axes meet, on CPUs along x1; else each node computes all of its own. On
 * CPUs a target is the HT_WIDTH nodes of a vector along x1; of a layer along x1 they have depths of
 * their own.
 *
 * A sponge multiplies u and d by exp(-sigma dt) after each step.
 *
 * profile: of each layer HT_FD_PROFILES numbers of each depth: p0, p1, p2 and f at the half point,
 * the same at the node, and g. Of layers along x1 depths lie side by side, of an upper side
 * backwards, there and in the memories, so that they lie as nodes do; of others the numbers of a
 * depth do, and depths behind the layer have some that change nothing. */
#if HT_FD_DENSITY /* D has the weights of the fluxes */
struct ht_fd_layer_coefs {
    struct ht_fd_coefs whole;
};
#define HT_FD_LAYER_FIRST(c, j) ((c)->whole.c[HT_DIMS][j])
#define HT_FD_LAYER_SCALED(c) (c)->whole.c
#else
struct ht_fd_layer_coefs {
    struct ht_fd_coefs whole;
    real first[HT_FD_LAYER_R];
    real scaled[HT_DIMS][HT_FD_LAYER_R]; /* scale of the axis times first */
};
#define HT_FD_LAYER_FIRST(c, j) ((c)->first[j])
#define HT_FD_LAYER_SCALED(c) (c)->scaled
#endif

/* Factor j of an axis. Compilers copy arguments to memory that are indexed by what they do not
 * know. */
#if HT_DIMS == 1
#define HT_FD_OF_AXIS(c, axis, j) ((c)[0][j])
#elif HT_DIMS == 2
#define HT_FD_OF_AXIS(c, axis, j) ((axis) == 0 ? (c)[0][j] : (c)[1][j])
#else
#define HT_FD_OF_AXIS(c, axis, j) ((axis) == 0 ? (c)[0][j] : (axis) == 1 ? (c)[1][j] : (c)[2][j])
#endif

#define HT_FD_LAYER_FLUX(b, slope) fma(b, slope, (vector)(real)0) /* HT_FD_FLUX */

/* Nodes to either side that L_k reads, and all formulas of a node. */
#define HT_FD_LAYER_REACH (HT_FD_DENSITY ? 2 * HT_FD_R - 1 : HT_FD_R)
#define HT_FD_LAYER_SPAN \
    (HT_FD_LAYER_REACH > 2 * HT_FD_LAYER_R - 1 ? HT_FD_LAYER_REACH : 2 * HT_FD_LAYER_R - 1)

/* What the layers remember, and their profiles. */
#define HT_FD_MEMORY_PARAMS \
    HT_INPUT(real) profile, HT_INPUT(real) before, HT_OUTPUT(real) halves, HT_OUTPUT(real) nodes
#define HT_FD_MEMORY_ARGS profile, before, halves, nodes
/* These and the arrays of a step. */
#define HT_FD_STEP_PARAMS \
    HT_FD_MEMORY_PARAMS, HT_INPUT(real) u, HT_INPUT(real) a HT_FD_MEDIUM_PARAMS, HT_OUTPUT(real) d
#define HT_FD_STEP_ARGS HT_FD_MEMORY_ARGS, u, a HT_FD_MEDIUM_ARGS, d

HT_INLINE long ht_fd_pick(const int axis, const long m1, const long m2, const long m3) {
    return axis == 0 ? m1 : axis == 1 ? m2 : m3;
}

#if HT_FD_LAYERED
/* What a pass hands on, and what it does of the targets of a row before it steps them
 * (cl/fd_layer_rows.cl), so that both read them from a near cache. */
#define HT_FD_LAYER_PARAMS                                                               \
    , const struct ht_fd_layer_args *layer, const struct ht_fd_layer_coefs *layer_coefs, \
        const int start, HT_FD_MEMORY_PARAMS
#define HT_FD_LAYER_ARGS , layer, layer_coefs, start, HT_FD_MEMORY_ARGS
#define HT_FD_PARTS 3
#define HT_FD_PREPARE_PART(k, i2, i3)                                                    \
    ht_fd_prepare_part(layer, layer_coefs, start, k, layer->cut[0][0], layer->cut[0][3], \
                       (int)(i2), (int)(i3), HT_FD_STEP_ARGS, out)
#define HT_FD_PREPARE_ROW(first, last, i2, i3)                                                 \
    HT_ROLLED                                                                                  \
    for (int k = 0; k < HT_FD_PARTS; k++)                                                      \
        ht_fd_prepare_part(layer, layer_coefs, start, k, (int)(first), (int)(last), (int)(i2), \
                           (int)(i3), HT_FD_STEP_ARGS, out);
HT_INLINE int ht_fd_prepare_part(const struct ht_fd_layer_args *s,
                                 const struct ht_fd_layer_coefs *c, const int start, const int k,
                                 const int first, const int last, const int i2, const int i3,
                                 HT_FD_STEP_PARAMS, HT_GLOBAL real *out);
#endif

/* A target, the HT_WIDTH nodes from (m1, m2, m3) of the window on, of which `count` are of its row:
 * the layers that some of them are in. */
struct ht_fd_place {
    int m1, m2, m3, layers, count;
};

/* The layers that part i of an axis is in. */
HT_INLINE int ht_fd_layers_of(const struct ht_fd_layer_args *s, const int axis, const int i) {
    return s->layers[axis] >> 8 * i & 255;
}

HT_INLINE long ht_fd_along(const struct ht_fd_layer_args *s, const int axis) {
    return ht_fd_pick(axis, 1, s->row, s->plane);
}

/* Number of a node in the window. */
HT_INLINE long ht_fd_number(const struct ht_fd_layer_args *s, const struct ht_fd_place *m) {
    return (long)m->m3 * s->plane + (long)m->m2 * s->row + m->m1;
}

/* Distance of a target from the wall of layer i. */
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

/* A line of layer i along its normal, through a target; of a vector, through its first node. */
struct ht_fd_line {
    int axis, way, cells;
    int first, end; /* nodes of the vector that are targets */
    int inward;     /* bytes of the window: a node inwards */
    int pitch;      /* bytes of the memory: an entry inwards */
    long wall;      /* number in the window of the node on the wall */
    long own;       /* number in the memory of the first entry */
    int profile;
};

HT_INLINE void ht_fd_find_line(const struct ht_fd_layer_args *s, const int i,
                               const struct ht_fd_place *m, struct ht_fd_line *l) {
    l->axis = s->layer[i].axis;
    l->way = s->layer[i].way;
    l->cells = s->layer[i].cells;
    l->first = 0;
    l->end = m->count;
    l->inward = s->layer[i].inward;
    l->pitch = s->layer[i].pitch;
    l->wall = ht_fd_number(s, m) - ht_fd_depth(s, i, m) * (l->way * ht_fd_along(s, l->axis));
    l->own = s->layer[i].offset + (long)m->m1 * s->layer[i].step[0] +
             (long)m->m2 * s->layer[i].step[1] + (long)m->m3 * s->layer[i].step[2];
    l->profile = s->layer[i].profile;
}

/* The nodes of a vector have depths of their own. */
HT_INLINE bool ht_fd_along_vector(const struct ht_fd_line *l) {
    return HT_WIDTH > 1 && l->axis == 0;
}

#if HT_WIDTH > 1
/* In a layer along x1, what the depths of a vector have, the first of which is `depth`. at: what
 * depth 0 has; outside: what those have that are not in the layer. */
HT_INLINE vector ht_fd_depths(const struct ht_fd_line *l, const int depth, const real outside,
                              HT_GLOBAL const real *at) {
    real lane[HT_WIDTH];
    vector deep;
    HT_UNROLLED(e, HT_WIDTH) lane[e] = (real)e;
    deep = fma((vector)(real)l->way, *(loose *)lane, (vector)(real)depth);
    return deep >= (vector)(real)0 && deep < (vector)(real)l->cells
               ? HT_GLOBAL_VECTOR(at + l->way * depth)
               : (vector)outside;
}
#else
#define ht_fd_depths(l, depth, outside, at) (outside)
#endif

/* Nodes [from, end) of a vector. */
HT_INLINE void ht_fd_put(HT_GLOBAL real *to, const int from, const int end, const vector value) {
    if (HT_WIDTH == 1 || (from <= 0 && end >= HT_WIDTH)) {
        *(HT_GLOBAL loose *)to = value;
    } else {
        real values[HT_WIDTH];
        *(loose *)values = value;
        HT_ROLLED /* one masked store */
            for (int e = 0; e < HT_WIDTH; e++) if (e >= from && e < end) to[e] = values[e];
    }
}

HT_INLINE bool ht_fd_in_layer(const struct ht_fd_line *l, const int depth) {
    return depth < l->cells || ht_fd_along_vector(l);
}

/* Number `which` of the profile at a depth. */
HT_INLINE vector ht_fd_profile(const struct ht_fd_line *l, const int which, const int depth,
                               const real outside, HT_GLOBAL const real *profile) {
    HT_GLOBAL const real *at = profile + l->profile;
    if (l->axis > 0) return (vector)at[depth * HT_FD_PROFILES + which];
    at += which * l->cells;
    return ht_fd_along_vector(l) ? ht_fd_depths(l, depth, outside, at) : (vector)at[l->way * depth];
}

/* What is remembered of a depth. */
HT_INLINE vector ht_fd_recall(const struct ht_fd_line *l, const int depth,
                              HT_GLOBAL const real *memory) {
    return ht_fd_along_vector(l) ? ht_fd_depths(l, depth, 0, memory + l->own)
                                 : HT_GLOBAL_VECTOR(ht_fd_behind(memory + l->own, depth, l->pitch));
}

HT_INLINE void ht_fd_remember(const struct ht_fd_line *l, const int depth, const vector value,
                              HT_GLOBAL real *memory) {
    HT_GLOBAL real *to = (HT_GLOBAL real *)ht_fd_behind(memory + l->own, depth, l->pitch);
    int from = l->first, end = l->end;
    if (ht_fd_along_vector(l)) { /* those in the layer */
        const int least = l->way > 0 ? -depth : depth - l->cells + 1;
        const int most = l->way > 0 ? l->cells - depth : depth + 1;
        from = least > from ? least : from;
        end = most < end ? most : end;
    }
    ht_fd_put(to, from, end, value);
}

/* A node, seen in the wall where it may be behind it. What lies farther inside than L_k reads
 * belongs to no damped half point. */
HT_INLINE int ht_fd_seen(const struct ht_fd_line *l, const int depth, const bool behind) {
    const int node = behind && depth < 0 ? -depth : depth;
    const int last = l->cells - 1 + HT_FD_LAYER_REACH;
    return node < last ? node : last;
}

/* u at a depth, odd at the wall. */
HT_INLINE vector ht_fd_near(const struct ht_fd_line *l, const int depth, const bool behind,
                            HT_GLOBAL const real *u) {
    const vector value =
        HT_GLOBAL_VECTOR(ht_fd_behind(u + l->wall, ht_fd_seen(l, depth, behind), l->inward));
    return behind && depth < 0 ? -value : value;
}

/* (1/s - 1) of x, by the memory before; *after: that after the step. */
HT_INLINE vector ht_fd_filter(const vector p[4], const int first, const vector x, const vector old,
                              vector *after) {
    const vector out =
        first ? fma(fma(p[3], (vector)(real)0.5, p[0]), x, p[3] * old) : fma(p[0], x, old);
    *after = fma(p[1], x, p[2] * out);
    return out;
}

#if HT_FD_DENSITY
/* b of a half point in the layer. */
HT_INLINE vector ht_fd_inverse(const struct ht_fd_line *l, const int point HT_FD_MEDIUM_PARAMS) {
    HT_GLOBAL const real *b = l->axis == 0 ? b1 : l->axis == 1 ? b2 : b3;
    return HT_GLOBAL_VECTOR(ht_fd_behind(b + l->wall, point + (l->way > 0 ? 0 : 1), l->inward));
}
#endif

/* q of a half point from D u; *after: its memory after the step; *flux: b D u. behind: the point
 * may be behind the wall. */
HT_INLINE vector ht_fd_damped(const struct ht_fd_line *l, const int point, const bool behind,
                              const int first, const vector slope, HT_INPUT(real) profile,
                              HT_INPUT(real) before HT_FD_MEDIUM_PARAMS, vector *after,
                              vector *flux) {
    const int inside = behind && point < 0 ? -1 - point : point;
    const int held = ht_fd_in_layer(l, inside) ? inside : l->cells - 1;
    vector p[4], damped;
    HT_UNROLLED(k, 4) p[k] = ht_fd_profile(l, k, held, 0, profile);
    damped = ht_fd_filter(p, first, slope, ht_fd_recall(l, held, before), after);
#if HT_FD_DENSITY
    {
        const vector inverse = ht_fd_inverse(l, inside HT_FD_MEDIUM_ARGS);
        damped = HT_FD_LAYER_FLUX(inverse, damped);
        *flux = HT_FD_LAYER_FLUX(inverse, slope);
    }
#endif
    return held == inside ? damped : (vector)(real)0;
}

/* What a layer adds to d at a node, by p of the node; `in` it, a node has memories, and *after
 * becomes that after the step. begin: g d + a L u/2 in the first step, when the factor g counts. u:
 * at the node, and q at half points depth - HT_FD_LAYER_R on; flux: b D u there, or 2 R + 1 values
 * of u about the node. */
HT_INLINE vector ht_fd_correct(const struct ht_fd_layer_coefs *c, const int axis, const bool in,
                               const vector p[4], const int first, const vector begin,
                               const vector factor, const vector modulus, const vector u,
                               const vector *q, const vector *flux, const vector node,
                               vector *after) {
    vector change = 0;
    HT_UNROLLED(j, HT_FD_LAYER_R)
        change = HT_FD_FIRST((vector)HT_FD_OF_AXIS(HT_FD_LAYER_SCALED(c), axis, j),
                             q[HT_FD_LAYER_R - 1 - j], q[HT_FD_LAYER_R + j], change);
    vector excess = 0;
    change = HT_FD_LAYER_FLUX(modulus, change);
    if (in) {
        vector sum = 0, x;
        HT_UNROLLED(j, HT_FD_R)
#if HT_FD_DENSITY
            sum = HT_FD_FIRST((vector)HT_FD_OF_AXIS(c->whole.c, axis, j), flux[HT_FD_R - 1 - j],
                              flux[HT_FD_R + j], sum);
#else
            sum = HT_FD_SECOND((vector)HT_FD_OF_AXIS(c->whole.c, axis, j), flux[HT_FD_R - j - 1],
                               flux[HT_FD_R], flux[HT_FD_R + j + 1], sum);
#endif
        if (first) {
            x = fma(factor, node, begin) + fma(modulus, sum * (vector)(real)0.5, change);
            excess = fma(p[0], x, -(p[3] * factor * u));
            *after = fma(p[0] + p[1], x, (p[2] - (vector)(real)1) * excess);
        } else {
            x = fma(modulus, sum, change);
            excess = ht_fd_filter(p, 0, x, node, after);
        }
    }
    return change + excess;
}

/* D u of the half point n - HT_FD_LAYER_R + 1/2 above the middle of near. */
HT_INLINE vector ht_fd_slope(const struct ht_fd_layer_coefs *c, const vector *near, const int n) {
    const int middle = HT_FD_LAYER_SPAN - HT_FD_LAYER_R + n;
    vector slope = 0;
    HT_UNROLLED(j, HT_FD_LAYER_R)
        slope = HT_FD_FIRST((vector)HT_FD_LAYER_FIRST(c, j), near[middle - j], near[middle + j + 1],
                            slope);
    return slope;
}

/* d + a L u/2 of nodes. */
HT_INLINE vector ht_fd_begin(const struct ht_fd_layer_args *s, const struct ht_fd_layer_coefs *c,
                             const struct ht_fd_place *m, const vector modulus, const vector d,
                             HT_GLOBAL const real *u HT_FD_MEDIUM_PARAMS) {
    const long at = ht_fd_number(s, m);
    real whole[HT_WIDTH] = {0};
    for (int e = 0; e < HT_WIDTH && e < m->count; e++)
        whole[e] = ht_fd_whole(&c->whole, s->row, s->plane, at + e, u HT_FD_MEDIUM_ARGS);
    return fma((vector)(real)0.5 * modulus, *(loose *)whole, d);
}

#if HT_WIDTH > 1
/* Vectors that hold the half points of the nodes of one. */
#define HT_FD_LAYER_VECTORS ((2 * HT_FD_LAYER_R + 2 * HT_WIDTH - 2) / HT_WIDTH)

/* HT_WIDTH numbers of vectors that lie side by side, from number `first` on. */
HT_INLINE vector ht_fd_between(const vector *row, const int first) {
    vector between = 0;
    HT_UNROLLED(e, HT_WIDTH) between[e] = row[(first + e) / HT_WIDTH][(first + e) % HT_WIDTH];
    return between;
}

/* Half points along a vector whose node next to the wall is at a multiple of HT_WIDTH: each once.
 * As ht_fd_correct has them, the first one of 2 R or 2 R + 1 in near and flux. They stay in
 * registers: what is read back otherwise than it was written waits for all that was before. */
HT_INLINE vector ht_fd_points_along(const struct ht_fd_layer_coefs *c, const struct ht_fd_line *l,
                                    const int depth, const int start, HT_INPUT(real) u,
                                    HT_INPUT(real) profile,
                                    HT_INPUT(real) before HT_FD_MEDIUM_PARAMS, vector *q,
                                    vector *flux) {
    enum {
        R = HT_FD_LAYER_R,
        LAST = HT_FD_LAYER_VECTORS - 1,
        END = HT_FD_LAYER_VECTORS * HT_WIDTH
    };
    const bool up = l->way > 0;
    const int next = up ? depth : depth - HT_WIDTH + 1;
    vector row[3][HT_FD_LAYER_VECTORS]; /* in the order of memory */
    HT_UNROLLED(k, HT_FD_LAYER_VECTORS) {
        const int least = next - R + k * HT_WIDTH, point = up ? least : least + HT_WIDTH - 1;
        HT_GLOBAL const real *at = u + l->wall + l->way * point;
        vector slope = 0, after = 0, through = 0, damped = 0;
        if (least < l->cells + (HT_FD_DENSITY ? R : 0)) {
            HT_UNROLLED(j, R)
                slope =
                    HT_FD_FIRST((vector)HT_FD_LAYER_FIRST(c, j), HT_GLOBAL_VECTOR(at - l->way * j),
                                HT_GLOBAL_VECTOR(at + l->way * (j + 1)), slope);
            damped = ht_fd_damped(l, point, false, start, slope, profile, before HT_FD_MEDIUM_ARGS,
                                  &after, &through);
        }
        row[0][up ? k : LAST - k] = damped;
        row[1][up ? k : LAST - k] = through;
        row[2][up ? k : LAST - k] = after;
    }
    if (next == 0) { /* even at the wall */
        HT_UNROLLED(i, 2)
            HT_UNROLLED(n, R) {
                const int to = up ? n : END - 1 - n, from = up ? 2 * R - 1 - n : END - 2 * R + n;
                row[i][to / HT_WIDTH][to % HT_WIDTH] = row[i][from / HT_WIDTH][from % HT_WIDTH];
            }
    }
    HT_UNROLLED(n, 2 * R) {
        q[n] = ht_fd_between(row[0], up ? n : LAST * HT_WIDTH - n);
        flux[n] = ht_fd_between(row[1], up ? n : LAST * HT_WIDTH - n);
    }
    return ht_fd_between(row[2], up ? R : LAST * HT_WIDTH - R);
}
#endif

/* The filter of a target's nodes. */
HT_INLINE void ht_fd_node_filter(const struct ht_fd_line *l, const int depth,
                                 HT_INPUT(real) profile, vector p[4]) {
    HT_UNROLLED(k, 4) {
        p[k] = 0;
        if (ht_fd_in_layer(l, depth)) p[k] = ht_fd_profile(l, 4 + k, depth, 0, profile);
    }
}

/* A layer at a target, whose line is l and whose filter p. left: g d. */
HT_INLINE vector ht_fd_correct_node(const struct ht_fd_layer_args *s,
                                    const struct ht_fd_layer_coefs *c, const int start,
                                    const struct ht_fd_line *l, const int depth, const vector p[4],
                                    const struct ht_fd_place *m, HT_FD_MEMORY_PARAMS,
                                    const vector modulus, const vector factor, const vector left,
                                    HT_INPUT(real) u HT_FD_MEDIUM_PARAMS) {
    const bool in = ht_fd_in_layer(l, depth);
    vector near[2 * HT_FD_LAYER_SPAN + 1], q[2 * HT_FD_LAYER_R], flux[2 * HT_FD_LAYER_R];
    vector there, change, point = 0, node = 0, after = 0;
#if HT_WIDTH > 1
    if (l->axis == 0) {
        HT_UNROLLED_FROM(j, -HT_FD_R, HT_FD_R + 1)
            near[HT_FD_LAYER_SPAN + j] = HT_GLOBAL_VECTOR(u + l->wall + l->way * (depth + j));
        point =
            ht_fd_points_along(c, l, depth, start, u, profile, before HT_FD_MEDIUM_ARGS, q, flux);
    } else
#endif
    {
        HT_UNROLLED_FROM(j, -HT_FD_LAYER_SPAN, HT_FD_LAYER_SPAN + 1)
            near[HT_FD_LAYER_SPAN + j] = ht_fd_near(l, depth + j, j < 0, u);
        HT_UNROLLED(n, 2 * HT_FD_LAYER_R) {
            q[n] = ht_fd_damped(l, depth - HT_FD_LAYER_R + n, n < HT_FD_LAYER_R, start,
                                ht_fd_slope(c, near, n), profile, before HT_FD_MEDIUM_ARGS, &there,
                                &flux[n]);
            if (n == HT_FD_LAYER_R) point = there;
        }
    }
    if (in) node = ht_fd_recall(l, depth, nodes);
    change = start ? ht_fd_begin(s, c, m, modulus, left, u HT_FD_MEDIUM_ARGS) : left;
    change =
        ht_fd_correct(c, l->axis, in, p, start, change, factor, modulus, near[HT_FD_LAYER_SPAN], q,
                      HT_FD_DENSITY ? flux : near + HT_FD_LAYER_SPAN - HT_FD_R, node, &after);
    if (in) {
        ht_fd_remember(l, depth, point, halves);
        ht_fd_remember(l, depth, after, nodes);
    }
    return change;
}

/* The product of the factors of some layers at a target. */
HT_INLINE vector ht_fd_factor(const struct ht_fd_layer_args *s, const struct ht_fd_place *m,
                              const int layers, HT_INPUT(real) profile) {
    vector factor = 1;
    HT_ROLLED
    for (int i = 0; layers >> i != 0; i++) {
        struct ht_fd_line l;
        if ((layers >> i & 1) == 0) continue;
        const int depth = ht_fd_depth(s, i, m);
        ht_fd_find_line(s, i, m, &l);
        if (ht_fd_in_layer(&l, depth))
            factor *= ht_fd_profile(&l, HT_FD_PROFILES - 1, depth, 1, profile);
    }
    return factor;
}

#if HT_FD_DENSITY
/* Half of the products of first differences of u at half points +-1/2. */
HT_INLINE vector ht_fd_squares(const struct ht_fd_coefs *c, const int axis,
                               HT_GLOBAL const real *u HT_FD_MEDIUM_PARAMS, const long at,
                               const long stride) {
    HT_GLOBAL const real *b = axis == 0 ? b1 : axis == 1 ? b2 : b3;
    vector sum = 0;
    HT_UNROLLED(side, 2) {
        const long between = at - side * stride;
        vector slope = 0, scaled = 0;
        HT_UNROLLED(j, HT_FD_R) {
            const vector below = HT_GLOBAL_VECTOR(u + between - j * stride);
            const vector above = HT_GLOBAL_VECTOR(u + between + (j + 1) * stride);
            slope = HT_FD_FIRST((vector)c->c[HT_DIMS][j], below, above, slope);
            scaled = HT_FD_FIRST((vector)c->c[axis][j], below, above, scaled);
        }
        sum += HT_GLOBAL_VECTOR(b + between) * (slope * scaled);
    }
    return sum * (vector)(real)0.5;
}
#else
/* Half of the weighted squares of differences from node `at`. */
HT_INLINE vector ht_fd_squares(const struct ht_fd_coefs *c, const int axis, HT_GLOBAL const real *u,
                               const long at, const long stride) {
    const vector middle = HT_GLOBAL_VECTOR(u + at);
    vector sum = 0;
    HT_UNROLLED(j, HT_FD_R) {
        const vector down = HT_GLOBAL_VECTOR(u + at - (j + 1) * stride) - middle;
        const vector up = HT_GLOBAL_VECTOR(u + at + (j + 1) * stride) - middle;
        sum = fma((vector)c->c[axis][j], down * down + up * up, sum);
    }
    return sum * (vector)(real)0.5;
}
#endif
