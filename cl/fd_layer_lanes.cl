/* Layers along x1: a row of one is HT_FD_LAYER_LANES work-items, a node each, which share u and q,
 * each computed once, in local memory. A group has HT_FD_LANE_ROWS rows side by side along x2 or
 * x3 and goes along the other one; index order [row][depth]. */
#define HT_FD_LANE_ROWS (HT_TOOL_ITEMS / HT_FD_LAYER_LANES)
/* Of a row in local memory: what lies behind the wall, too. Work-items of no row have one. */
#define HT_FD_LANE_PITCH (HT_FD_LAYER_LANES + HT_FD_LAYER_SPAN + 1)
#define HT_FD_LANE_SIZE ((HT_FD_LANE_ROWS + 1) * HT_FD_LANE_PITCH)

/* What a node reads; that of the next two rows is under way while one is done. */
struct ht_fd_lane {
    real u, before, node, d, a;
};

HT_INLINE struct ht_fd_lane ht_fd_read_lane(const struct ht_fd_spot *at, const bool in,
                                            const bool target) {
    const struct ht_fd_lane lane = {*at->u, in ? *at->before : 0, in ? *at->nodes : 0,
                                    target ? *at->d : 0, target ? *at->a : 0};
    return lane;
}

/* A work-item's node in `count` rows one behind the other, `window` and `memory` bytes apart, the
 * first one at l. mine: of the node in local memory, which has two rows of u, so that one may be
 * filled while the other is read. some: the row is one of the group's. */
HT_INLINE void ht_fd_do_lane(const struct ht_fd_layer_coefs *c, struct ht_fd_line l,
                             const int depth, const bool some, const bool target, const real factor,
                             const int count, const int window, const int memory, const int mine,
                             HT_FD_STEP_PARAMS, HT_LOCAL real *near, HT_LOCAL real *q,
                             HT_LOCAL real *flux) {
    enum { R = HT_FD_LAYER_R, SPAN = HT_FD_LAYER_SPAN };
    const bool in = depth < l.cells, reads = depth < l.cells + (HT_FD_DENSITY ? R : 0);
    struct ht_fd_spot at = ht_fd_enter(&l, depth, before, halves, nodes, u, a, d);
    real p[4], of[4];
    HT_UNROLLED(k, 3) p[k] = ht_fd_profile(&l, k, in ? depth : 0, 0, profile);
    ht_fd_node_filter(&l, depth, profile, of);
    at.u = ht_fd_behind(u + l.wall, ht_fd_seen(&l, depth, false), l.inward);
    struct ht_fd_spot ahead = ht_fd_go(&at, 1, window, memory);
    struct ht_fd_lane next = ht_fd_read_lane(&at, in, target), then = next;
    if (count > 1) then = ht_fd_read_lane(&ahead, in, target);
    HT_ROLLED
    for (int n = 0; n < count; n++) {
        const struct ht_fd_lane now = next;
        const struct ht_fd_spot own = at;
        HT_LOCAL real *const mid = near + (n & 1) * HT_FD_LANE_SIZE + mine;
        real after = 0, damped = 0;
        at = ht_fd_go(&at, 1, window, memory);
        next = then;
        ahead = ht_fd_go(&at, 1, window, memory);
        if (n + 2 < count) then = ht_fd_read_lane(&ahead, in, target);
        mid[0] = now.u;
        if (depth > 0 && depth <= SPAN) mid[-2 * depth] = -now.u; /* odd at the wall */
        HT_BARRIER();
        if (reads) {
            real slope = 0;
            HT_UNROLLED(j, R)
                slope = HT_FD_FIRST(HT_FD_LAYER_FIRST(c, j), mid[-j], mid[j + 1], slope);
            damped = ht_fd_filter(p, 0, slope, now.before, &after);
#if HT_FD_DENSITY
            {
                const real inverse = ht_fd_inverse(&l, depth HT_FD_MEDIUM_ARGS);
                damped = HT_FD_LAYER_FLUX(inverse, damped);
                flux[mine] = HT_FD_LAYER_FLUX(inverse, slope);
                if (depth < R) flux[mine - 2 * depth - 1] = flux[mine];
            }
#endif
            if (!in) damped = 0;
            if (in && some) *own.halves = after;
        }
        l.wall += window / (int)sizeof(real);
        q[mine] = damped;
        if (depth < R) q[mine - 2 * depth - 1] = damped; /* even at the wall */
        HT_BARRIER();
        if (target) {
            real points[2 * R], around[2 * HT_FD_R + 1];
            HT_UNROLLED(k, 2 * R) points[k] = q[mine - R + k];
            HT_UNROLLED(k, 2 * HT_FD_R + 1 - HT_FD_DENSITY)
                around[k] = HT_FD_DENSITY ? flux[mine - R + k] : mid[k - HT_FD_R];
            const real change = ht_fd_correct(c, 0, in, of, 0, 0, 1, now.a, now.u, points, around,
                                              now.node, &after);
            if (in) *own.nodes = after;
            *own.d = HT_FD_LAYER_FLUX(factor, now.d) + change;
        }
    }
}

/* The rows of a group by layer i, as ht_fd_do_lines. */
HT_INLINE void ht_fd_do_rows(const struct ht_fd_layer_args *s, const struct ht_fd_layer_coefs *c,
                             const int deep, const int i, const int others, const bool damped,
                             const struct ht_fd_part *part, HT_FD_STEP_PARAMS, HT_LOCAL real *near,
                             HT_LOCAL real *q, HT_LOCAL real *flux) {
    const int item = (int)HT_ITEM(), lane = item % HT_FD_LAYER_LANES;
    const int row = item / HT_FD_LAYER_LANES, way = s->layer[i].way;
    const int depth = way > 0 ? lane : HT_FD_LAYER_LANES - 1 - lane;
    const int m1 = s->layer[i].wall + way * depth;
    const int low = deep == 1 ? part->low3 : part->low2;
    const int high = deep == 1 ? part->high3 : part->high2;
    const int first = deep == 1 ? part->low2 : part->low3;
    const int count = (deep == 1 ? part->high2 : part->high3) - first;
    const bool some = low + row < high;
    const bool target = some && m1 >= part->low1 && m1 < part->high1;
    const int side = some ? low + row : low;
    struct ht_fd_place m = {m1, deep == 1 ? first : side, deep == 1 ? side : first, part->layers,
                            1};
    struct ht_fd_line l;
    real factor = damped || !target ? 1 : ht_fd_factor(s, &m, others, profile);
    m.m1 = s->layer[i].wall;
    ht_fd_find_line(s, i, &m, &l);
    l.axis = 0;
    if (!damped && depth < l.cells)
        factor = ht_fd_profile(&l, HT_FD_PROFILES - 1, depth, 1, profile) * factor;
    ht_fd_do_lane(
        c, l, depth, some, target, factor, count, (int)ht_fd_along(s, deep) * (int)sizeof(real),
        s->layer[i].step[deep] * (int)sizeof(real),
        row * HT_FD_LANE_PITCH + HT_FD_LAYER_SPAN + depth, HT_FD_STEP_ARGS, near, q, flux);
}

/* The targets of a group: of a layer along x1 alone rows side by side along x2, of one along
 * another axis HT_TOOL_ITEMS lines, of two axes s->meeting nodes along the third one, so that each
 * work-item has one line at most. false: they are done node by node. */
HT_INLINE bool ht_fd_find_part(const struct ht_fd_layer_args *s, struct ht_fd_part *part) {
    const int group = (int)HT_GROUP_1(), zone = ht_fd_zone(s, group);
    const int i1 = ht_fd_zone_part(zone), i2 = ht_fd_zone_part(zone / 3);
    const int i3 = ht_fd_zone_part(zone / 9), within = group - s->first[zone];
    const int in1 = ht_fd_layers_of(s, 0, i1), in2 = ht_fd_layers_of(s, 1, i2);
    const int in3 = ht_fd_layers_of(s, 2, i3);
    const int axes = (in1 != 0) + (in2 != 0) + (in3 != 0);
    part->low1 = s->cut[0][i1];
    part->low2 = s->cut[1][i2];
    part->low3 = s->cut[2][i3];
    part->high1 = s->cut[0][i1 + 1];
    part->high2 = s->cut[1][i2 + 1];
    part->high3 = s->cut[2][i3 + 1];
    part->layers = in1 | in2 | in3;
    part->first = axes == 1 && in1 == 0 ? within * HT_TOOL_ITEMS : 0;
    part->deep = in2 ? 1 : 2;
    if (axes == 3 || (axes == 2 && s->meeting == 0)) return false;
    if (axes == 1 && in1 != 0) {
        const int blocks = (part->high2 - part->low2 + HT_FD_LANE_ROWS - 1) / HT_FD_LANE_ROWS;
        const int block = within / blocks;
        part->low2 += (within - block * blocks) * HT_FD_LANE_ROWS;
        part->high2 = ht_fd_least(part->high2, part->low2 + HT_FD_LANE_ROWS);
        part->low3 += block * HT_FD_LANE_PLANES;
        part->high3 = ht_fd_least(part->high3, part->low3 + HT_FD_LANE_PLANES);
    } else if (axes == 2 && in1 == 0) {
        part->low1 += within * s->meeting;
        part->high1 = ht_fd_least(part->high1, part->low1 + s->meeting);
    } else if (axes == 2 && in2 == 0) {
        part->low2 += within * s->meeting;
        part->high2 = ht_fd_least(part->high2, part->low2 + s->meeting);
    } else if (axes == 2) {
        part->low3 += within * s->meeting;
        part->high3 = ht_fd_least(part->high3, part->low3 + s->meeting);
    }
    return true;
}

/* By one layer after the other, from the last one on, as ht_fd_prepare. */
HT_INLINE void ht_fd_do_part(const struct ht_fd_layer_args *s, const struct ht_fd_layer_coefs *c,
                             const struct ht_fd_part *part, HT_FD_STEP_PARAMS, HT_LOCAL real *near,
                             HT_LOCAL real *q, HT_LOCAL real *flux) {
    int i = 0;
    while (part->layers >> i > 1) i++;
    if (part->layers == 1 << i) { /* apart: what is constant saves registers */
        if (s->layer[i].axis == 0)
            ht_fd_do_rows(s, c, 2, i, 0, false, part, HT_FD_STEP_ARGS, near, q, flux);
        else if (s->layer[i].axis == 1)
            ht_fd_do_lines(s, c, 1, i, 0, false, part, HT_FD_STEP_ARGS);
        else
            ht_fd_do_lines(s, c, 2, i, 0, false, part, HT_FD_STEP_ARGS);
        return;
    }
    HT_ROLLED
    for (bool damped = false; i >= 0; i--) {
        const int axis = s->layer[i].axis, others = part->layers & ((1 << i) - 1);
        if ((part->layers >> i & 1) == 0) continue;
        if (damped) HT_BARRIER_GLOBAL();
        if (axis == 0)
            ht_fd_do_rows(s, c, part->deep, i, others, damped, part, HT_FD_STEP_ARGS, near, q,
                          flux);
        else
            ht_fd_do_lines(s, c, axis, i, others, damped, part, HT_FD_STEP_ARGS);
        damped = true;
    }
}

#define HT_FD_LAYER_ENTRY(name, start)                                         \
    HT_TOOL_KERNEL name(struct ht_fd_layer_args l, struct ht_fd_layer_coefs c, \
                        HT_FD_STEP_PARAMS) {                                   \
        HT_LOCAL_ARRAY(real, near, 2 * HT_FD_LANE_SIZE);                       \
        HT_LOCAL_ARRAY(real, q, HT_FD_LANE_SIZE);                              \
        HT_LOCAL_ARRAY(real, flux, HT_FD_LANE_SIZE);                           \
        struct ht_fd_part part;                                                \
        if (!start && !HT_FD_LAYER_COLUMNS && ht_fd_find_part(&l, &part)) {    \
            ht_fd_do_part(&l, &c, &part, HT_FD_STEP_ARGS, near, q, flux);      \
            return;                                                            \
        }                                                                      \
        HT_FD_EACH_TARGET(m) ht_fd_prepare(&l, &c, start, m, HT_FD_STEP_ARGS); \
    }
