/* Nodes that are in a layer along x1 alone: a row of it is HT_FD_LAYER_LANES work-items, a node
 * each, which share u and q, each computed once, in local memory. A group has HT_FD_LANE_ROWS rows
 * side by side along x2 and goes from plane to plane; index order [row][depth]. */
#define HT_FD_LANE_ROWS (HT_TOOL_ITEMS / HT_FD_LAYER_LANES)
/* Of a row in local memory: what lies behind the wall, too. */
#define HT_FD_LANE_PITCH (HT_FD_LAYER_LANES + HT_FD_LAYER_SPAN + 1)
#define HT_FD_LANE_SIZE (HT_FD_LANE_ROWS * HT_FD_LANE_PITCH)

/* What a node reads; the next plane's is under way while a plane is done. */
struct ht_fd_lane {
    real u, before, node, d, a;
};

HT_INLINE struct ht_fd_lane ht_fd_read_lane(const struct ht_fd_line *l, const int depth,
                                            const bool in, const bool target, HT_INPUT(real) before,
                                            HT_OUTPUT(real) nodes, HT_INPUT(real) u,
                                            HT_INPUT(real) a, HT_OUTPUT(real) d) {
    const long at = l->wall + l->way * depth;
    const struct ht_fd_lane lane = {
        ht_fd_near(l, depth, false, u), in ? ht_fd_recall(l, depth, before) : 0,
        in ? ht_fd_recall(l, depth, nodes) : 0, target ? d[at] : 0, target ? a[at] : 0};
    return lane;
}

/* near: two planes, which take turns, so that one may be filled while the other is read. */
HT_INLINE void ht_fd_do_rows(const struct ht_fd_layer_args *s, const struct ht_fd_layer_coefs *c,
                             const int i, HT_FD_STEP_PARAMS, HT_LOCAL real *near, HT_LOCAL real *q,
                             HT_LOCAL real *flux) {
    enum { R = HT_FD_LAYER_R, SPAN = HT_FD_LAYER_SPAN, LAST = HT_FD_LAYER_LANES - 1 };
    const int group = (int)HT_GROUP_1(), zone = ht_fd_zone(s, group), item = (int)HT_ITEM();
    const int end2 = s->cut[1][zone / 3 % 3 + 1], end3 = s->cut[2][zone / 9 + 1];
    const int blocks = (end2 - s->cut[1][zone / 3 % 3] + HT_FD_LANE_ROWS - 1) / HT_FD_LANE_ROWS;
    const int within = group - s->first[zone], part = within / blocks;
    const int lane = item % HT_FD_LAYER_LANES, row = item / HT_FD_LAYER_LANES;
    const int m2 = s->cut[1][zone / 3 % 3] + (within - part * blocks) * HT_FD_LANE_ROWS + row;
    const int m3 = s->cut[2][zone / 9] + part * HT_FD_LANE_PLANES;
    const int count = end3 - m3 < HT_FD_LANE_PLANES ? end3 - m3 : HT_FD_LANE_PLANES;
    const struct ht_fd_place m = {s->layer[i].wall, m2 < end2 ? m2 : end2 - 1, m3, 0, 1};
    const int depth = s->layer[i].way > 0 ? lane : LAST - lane, cells = s->layer[i].cells;
    const bool target = m2 < end2 && depth < s->cut[0][zone % 3 + 1] - s->cut[0][zone % 3];
    const bool in = depth < cells, reads = depth < cells + (HT_FD_DENSITY ? R : 0);
    const int mine = row * HT_FD_LANE_PITCH + SPAN + depth;
    struct ht_fd_line l;
    real p[4], of[4], factor = 1;
    ht_fd_find_line(s, i, &m, &l);
    HT_UNROLLED(k, 3) p[k] = ht_fd_profile(&l, k, in ? depth : 0, 0, profile);
    ht_fd_node_filter(&l, depth, profile, of);
    if (in) factor = ht_fd_profile(&l, HT_FD_PROFILES - 1, depth, 1, profile);
    struct ht_fd_lane next = ht_fd_read_lane(&l, depth, in, target, before, nodes, u, a, d);
    HT_ROLLED
    for (int n = 0; n < count; n++) {
        const struct ht_fd_lane now = next;
        const struct ht_fd_line here = l;
        HT_LOCAL real *const mid = near + (n & 1) * HT_FD_LANE_SIZE + mine;
        const long at = here.wall + here.way * depth;
        real after = 0, damped = 0;
        l.wall += s->plane;
        l.own += s->layer[i].step[2];
        if (n + 1 < count) next = ht_fd_read_lane(&l, depth, in, target, before, nodes, u, a, d);
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
                const real inverse = ht_fd_inverse(&here, depth HT_FD_MEDIUM_ARGS);
                damped = HT_FD_LAYER_FLUX(inverse, damped);
                flux[mine] = HT_FD_LAYER_FLUX(inverse, slope);
                if (depth < R) flux[mine - 2 * depth - 1] = flux[mine];
            }
#endif
            if (!in) damped = 0;
            if (in && m2 < end2) ht_fd_remember(&here, depth, after, halves);
        }
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
            if (in) ht_fd_remember(&here, depth, after, nodes);
            d[at] = HT_FD_LAYER_FLUX(factor, now.d) + change;
        }
    }
}

/* The layer that a group's targets are in where it is one alone, and its rows fit; -1: else. */
HT_INLINE int ht_fd_one_layer(const struct ht_fd_layer_args *s) {
    const int zone = ht_fd_zone(s, (int)HT_GROUP_1());
    const int layers = ht_fd_layers_of(s, 0, zone % 3) | ht_fd_layers_of(s, 1, zone / 3 % 3) |
                       ht_fd_layers_of(s, 2, zone / 9);
    int i = 0;
    if ((layers & (layers - 1)) != 0) return -1;
    while (layers >> i > 1) i++;
    return s->layer[i].axis > 0 || s->layer[i].cells + HT_FD_LAYER_SPAN <= HT_FD_LAYER_LANES ? i
                                                                                             : -1;
}

#define HT_FD_LAYER_ENTRY(name, start)                                                   \
    HT_TOOL_KERNEL name(struct ht_fd_layer_args l, struct ht_fd_layer_coefs c,           \
                        HT_FD_STEP_PARAMS) {                                             \
        HT_LOCAL_ARRAY(real, near, 2 * HT_FD_LANE_SIZE);                                 \
        HT_LOCAL_ARRAY(real, q, HT_FD_LANE_SIZE);                                        \
        HT_LOCAL_ARRAY(real, flux, HT_FD_LANE_SIZE);                                     \
        struct ht_fd_column t;                                                           \
        struct ht_fd_line line;                                                          \
        int first, last;                                                                 \
        if (start) {                                                                     \
            HT_FD_EACH_TARGET(m) ht_fd_prepare(&l, &c, m, HT_FD_STEP_ARGS);              \
            return;                                                                      \
        }                                                                                \
        const int one = ht_fd_one_layer(&l);                                             \
        if (one < 0) {                                                                   \
            if (ht_fd_target(&l, &t)) ht_fd_prepare_column(&l, &c, &t, HT_FD_STEP_ARGS); \
        } else if (l.layer[one].axis == 0) {                                             \
            ht_fd_do_rows(&l, &c, one, HT_FD_STEP_ARGS, near, q, flux);                  \
        } else if (ht_fd_set_line(&l, &line, &first, &last)) {                           \
            ht_fd_do_line(&c, &line, first, last, HT_FD_STEP_ARGS);                      \
        }                                                                                \
    }
