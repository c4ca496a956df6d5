/* Absorbing layers of pairs (docs/developers/absorbing.md), at the nodes in them. On GPUs they
 * follow a pass; on CPUs the pass does them as soon as it has the changes of a vector (pair.cl).
 *
 * Matched layers: a difference d along a layer's normal becomes d + psi, where
 *     psi = b psi + a d,   b = exp(-(sigma + alpha) dt),   a = sigma (b - 1)/(sigma + alpha).
 * With mixing the other differences do, too, with sigma multiplied by q. Where layers meet, one
 * takes what the one before it has made of d. A field takes the change by d, then that by what d
 * has become more. Then the fields are multiplied by exp(-loss dt).
 *
 * A sponge multiplies the fields that have changed by exp(-sigma dt).
 *
 * Lists beside those of cl/pair.cl:
 *
 *     HT_PAIR_DAMPED(X)   X(d, f, axis, up, place, slot): the differences, at places of a parity,
 *                         and their number in the memory
 *     HT_PAIR_PLACES(X)   X(f, place): fields that change, and what losses remember
 *
 * profile: of each layer, for nodes and then for half points, HT_PAIR_PROFILES numbers of each
 * depth, depths side by side: b and a, with mixing b and a of the other differences, and at last
 * the factor, which a sponge has alone. */
/* A node, or the first one of a vector, and the zone that it is in along each axis. */
struct ht_pair_spot {
    int zone[3], node[3];
};

/* The layer of an axis at a node: the number of its first difference in the memory, what it is to
 * the next one, and the same of the numbers of the profile. */
struct ht_pair_line {
    long memory, nodes;
    int profile, depths;
};

/* Found on CPUs once for a vector, on GPUs where it is used, lest it fill registers. */
#define HT_PAIR_LINE(k, slot) \
    (HT_PAIR_VECTORS ? &line[k] : ht_pair_find_line(s, m, k, slot, &line[k]))
HT_INLINE const struct ht_pair_line *ht_pair_find_line(const struct ht_pair_layer_args *s,
                                                       const struct ht_pair_spot *m, const int axis,
                                                       const int slot, struct ht_pair_line *line) {
    const int i = 2 * axis + m->zone[axis] / 2;
    long from[3], n[3];
    HT_UNROLLED(k, 3) {
        from[k] = m->node[k] - s->layer[i].begin[k];
        n[k] = s->layer[i].n[k];
    }
    line->memory = s->layer[i].memory + ((slot * n[2] + from[2]) * n[1] + from[1]) * n[0] + from[0];
    line->nodes = n[2] * n[1] * n[0];
    line->profile = s->layer[i].profile + m->node[axis] - s->layer[i].begin[axis];
    line->depths = s->layer[i].n[axis];
    return line;
}

/* Number `which` of the profile of the layer of an axis; nodes of a vector along x1 have one each.
 */
HT_INLINE ht_pair_value ht_pair_profile(const struct ht_pair_line *line, const int axis,
                                        const int between, const int which,
                                        HT_GLOBAL const real *profile) {
    HT_GLOBAL const real *p =
        profile + line->profile + (between * HT_PAIR_PROFILES + which) * line->depths;
    return axis == 0 ? HT_PAIR_LOAD(p) : (ht_pair_value)(*p);
}

/* Before filters: on CPUs the step, whose differences and results stay in registers; on GPUs
 * nothing, and differences are computed where they are filtered. */
#if HT_PAIR_VECTORS
#define HT_PAIR_RECALL(f) ht_pair_value value_##f = HT_PAIR_LOAD(f + at);
#define HT_PAIR_FIRST                 \
    HT_PAIR_CHANGES                   \
    HT_PAIR_LOSE(1, s->row, s->plane) \
    HT_PAIR_TARGETS(HT_PAIR_RECALL)   \
    HT_PAIR_TARGETS(HT_PAIR_FURTHER)
#define HT_PAIR_FURTHER(f) value_##f += sum_##f;
#define HT_PAIR_LAST HT_PAIR_PARTNERS(HT_PAIR_RECALL)
#define HT_PAIR_CHANGED(f) value_##f
#define HT_PAIR_SET(p, value) ht_pair_put(p, count, 1, value)
#define HT_PAIR_TAKE(d, f, axis, up, place, slot) \
    ht_pair_value x_##d = d;                      \
    d = 0;
#else
#define HT_PAIR_LATER(d, f, axis, up) ht_pair_value d = 0;
#define HT_PAIR_FIRST HT_PAIR_DIFFERENCES(HT_PAIR_LATER)
#define HT_PAIR_FURTHER(f) HT_PAIR_STORE(f + at, 0, sum_##f);
#define HT_PAIR_LAST
#define HT_PAIR_CHANGED(f) HT_PAIR_LOAD(f + at)
#define HT_PAIR_SET(p, value) *(p) = (value)
#define HT_PAIR_TAKE(d, f, axis, up, place, slot)                               \
    real x_##d = HT_PAIR_MIXES || m->zone[axis] != 1                            \
                     ? ht_pair_difference(c, axis, up, f, at, s->row, s->plane) \
                     : (real)0;
#endif
#define HT_PAIR_FADE(f, place)                                                    \
    {                                                                             \
        ht_pair_value value = HT_PAIR_CHANGED(f);                                 \
        HT_UNROLLED(k, HT_DIMS)                                                   \
            if (m->zone[k] != 1)                                                  \
                value *= ht_pair_profile(HT_PAIR_LINE(k, 0), k, (place) >> k & 1, \
                                         HT_PAIR_PROFILES - 1, profile);          \
        HT_PAIR_STORE(f + at, 1, value);                                          \
    }

#if HT_PAIR_SPONGE
#define HT_PAIR_LAYER_PARAMS , HT_INPUT(real) profile
#define HT_PAIR_LAYER_ARGS , profile
#define HT_PAIR_FILTER
#else
#define HT_PAIR_LAYER_PARAMS , HT_INPUT(real) profile, HT_OUTPUT(real) memory
#define HT_PAIR_LAYER_ARGS , profile, memory

/* First all differences, then layer by layer all that is remembered of them: what is read waits for
 * nothing that was written before. In the place of a difference what layers add to it. */
#define HT_PAIR_REMIND(d, f, axis, up, place, slot) \
    const ht_pair_value was_##d =                   \
        HT_PAIR_MIXES || k == axis ? HT_PAIR_LOAD(psi + slot * line[k].nodes) : (ht_pair_value)0;
#define HT_PAIR_MORE(d, f, axis, up, place, slot)                                           \
    if (HT_PAIR_MIXES || k == axis) {                                                       \
        const int of = k == axis ? 0 : 2, between = (place) >> k & 1;                       \
        const ht_pair_value now = fma(p[between][of], was_##d, p[between][of + 1] * x_##d); \
        HT_PAIR_SET(psi + slot * line[k].nodes, now);                                       \
        x_##d += now;                                                                       \
        d += now;                                                                           \
    }
#define HT_PAIR_MEET                                                                   \
    HT_PAIR_DAMPED(HT_PAIR_TAKE)                                                       \
    HT_UNROLLED(k, HT_DIMS)                                                            \
        if (m->zone[k] != 1) {                                                         \
            ht_pair_value p[2][4];                                                     \
            HT_UNROLLED(i, 2 * (HT_PAIR_PROFILES - 1))                                 \
                p[i / (HT_PAIR_PROFILES - 1)][i % (HT_PAIR_PROFILES - 1)] =            \
                    ht_pair_profile(HT_PAIR_LINE(k, 0), k, i / (HT_PAIR_PROFILES - 1), \
                                    i % (HT_PAIR_PROFILES - 1), profile);              \
            HT_GLOBAL real *psi = memory + line[k].memory;                             \
            HT_PAIR_DAMPED(HT_PAIR_REMIND)                                             \
            HT_PAIR_DAMPED(HT_PAIR_MORE)                                               \
        }
#define HT_PAIR_FILTER                                   \
    HT_PAIR_MEET {                                       \
        HT_PAIR_TARGETS(HT_PAIR_START)                   \
        HT_PAIR_TERMS(HT_PAIR_VARYING, HT_PAIR_CONSTANT) \
        HT_PAIR_RELEASE(s->row, s->plane)                \
        HT_PAIR_LOSE(0, s->row, s->plane)                \
        HT_PAIR_TARGETS(HT_PAIR_FURTHER)                 \
    }
#endif

/* A node, or the `count` nodes of a vector. */
HT_INLINE void ht_pair_damp(const struct ht_pair_layer_args *s, const struct ht_pair_coefs *c,
                            const struct ht_pair_spot *m,
                            const long count HT_PAIR_LAYER_PARAMS HT_PAIR_PARAMS) {
    const long at = m->node[2] * s->plane + m->node[1] * s->row + m->node[0];
    struct ht_pair_line line[HT_DIMS];
    HT_UNROLLED(k, HT_DIMS)
        if (HT_PAIR_VECTORS) ht_pair_find_line(s, m, k, 0, &line[k]);
    HT_PAIR_FIRST
    HT_PAIR_FILTER
    HT_PAIR_LAST
    HT_PAIR_PLACES(HT_PAIR_FADE)
}

#if HT_PAIR_VECTORS
/* The zone of a node along an axis. */
HT_INLINE int ht_pair_zone(const struct ht_pair_layer_args *l, const int axis, const long at) {
    return (at >= l->cut[axis][1]) + (at >= l->cut[axis][2]);
}

/* Rows as those of a pass without layers. */
HT_TOOL_KERNEL ht_pair_layers(struct ht_pair_layer_args l,
                              struct ht_pair_coefs c HT_PAIR_LAYER_PARAMS HT_PAIR_PARAMS) {
    struct ht_fd_args box = {l.row, l.plane, {0}, {0}, l.rows, l.planes, {0}};
    const struct ht_fd_args *const s = &box;
    HT_UNROLLED(k, 3) {
        box.begin[k] = l.cut[k][0];
        box.end[k] = l.cut[k][3];
    }
    HT_EACH_ROW(i2, i3) {
        struct ht_pair_spot m = {{0, ht_pair_zone(&l, 1, i2), ht_pair_zone(&l, 2, i3)},
                                 {0, (int)i2, (int)i3}};
        const long row = i3 * l.plane + i2 * l.row;
        HT_ROLLED
        for (int i = 0; i < 3; i++) {
            const int end = l.cut[0][i + 1];
            const bool none = i == 1 && m.zone[1] == 1 && m.zone[2] == 1;
            m.zone[0] = i;
            for (int i1 = l.cut[0][i]; i1 < end; i1 += HT_WIDTH) {
                m.node[0] = i1;
                if (none)
                    ht_pair_step(s, &c, 0, row + i1, end - i1 HT_PAIR_ARGS);
                else
                    ht_pair_damp(&l, &c, &m, end - i1 HT_PAIR_LAYER_ARGS HT_PAIR_ARGS);
            }
        }
    }
}
#else
/* The zone of a group: the last one whose first group is not behind it. */
HT_INLINE int ht_pair_zone(const struct ht_pair_layer_args *l, const int group) {
    int zone = 0;
    HT_UNROLL
    for (int most = 16; most > 0; most /= 2)
        if (zone + most < HT_PAIR_ZONES && group >= l->first[zone + most]) zone += most;
    return zone;
}

/* A group has HT_TOOL_ITEMS nodes of a zone, counted along x1, x2, x3. */
HT_TOOL_KERNEL ht_pair_layers(struct ht_pair_layer_args l,
                              struct ht_pair_coefs c HT_PAIR_LAYER_PARAMS HT_PAIR_PARAMS) {
    const int group = (int)HT_GROUP_1(), zone = ht_pair_zone(&l, group);
    struct ht_pair_spot m = {{zone % 3, zone / 3 % 3, zone / 9}, {0, 0, 0}};
    const int begin1 = l.cut[0][m.zone[0]], end1 = l.cut[0][m.zone[0] + 1];
    const int begin2 = l.cut[1][m.zone[1]], n2 = l.cut[1][m.zone[1] + 1] - begin2;
    const int begin3 = l.cut[2][m.zone[2]], n3 = l.cut[2][m.zone[2] + 1] - begin3;
    const unsigned n1 = (unsigned)(end1 - begin1);
    const unsigned node = (unsigned)(group - l.first[zone]) * HT_TOOL_ITEMS + (unsigned)HT_ITEM();
    const unsigned row = node / n1;
    m.node[0] = begin1 + (int)(node - row * n1);
    m.node[1] = begin2 + (int)(row % (unsigned)n2);
    m.node[2] = begin3 + (int)(row / (unsigned)n2);
    if (row < (unsigned)n2 * (unsigned)n3)
        ht_pair_damp(&l, &c, &m, 1 HT_PAIR_LAYER_ARGS HT_PAIR_ARGS);
}
#endif
