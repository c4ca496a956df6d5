/* Absorbing layers of pairs (docs/developers/absorbing.md), on the nodes in them, after a pass.
 *
 * Matched layers: a difference d along a layer's normal becomes d + psi, where
 *     psi = b psi + a d,   b = exp(-(sigma + alpha) dt),   a = sigma (b - 1)/(sigma + alpha).
 * With mixing the other differences do, too, with sigma multiplied by q. Where layers meet, one
 * takes what the one before it has made of d. A field takes the change of d by its terms: the pass
 * has not changed what d is made of. Then the fields are multiplied by exp(-loss dt).
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
/* Where a group or a work-item stands. */
struct ht_pair_spot {
    int zone[3];
    int m1, m2, m3;
};

/* The zone of a group: the last one whose first group is not behind it. */
HT_INLINE int ht_pair_zone(const struct ht_pair_layer_args *l, const int group) {
    int zone = 0;
    HT_UNROLL
    for (int most = 16; most > 0; most /= 2)
        if (zone + most < HT_PAIR_ZONES && group >= l->first[zone + most]) zone += most;
    return zone;
}

/* Number `which` of the profile of layer `i` along an axis, at a depth; nodes of a vector along x1
 * have one each. */
HT_INLINE ht_pair_value ht_pair_profile(const struct ht_pair_layer_args *l, const int i,
                                        const int axis, const int between, const int which,
                                        const int depth, HT_GLOBAL const real *profile) {
    HT_GLOBAL const real *p =
        profile + l->layer[i].profile + (between * HT_PAIR_PROFILES + which) * l->layer[i].n[axis];
    return axis == 0 ? HT_PAIR_LOAD(p + depth) : (ht_pair_value)(p[depth]);
}

/* Layer of an axis that a node is in, by its zone. */
HT_INLINE int ht_pair_layer_of(const struct ht_pair_spot *m, const int axis) {
    return 2 * axis + m->zone[axis] / 2;
}

HT_INLINE int ht_pair_depth(const struct ht_pair_layer_args *l, const struct ht_pair_spot *m,
                            const int axis) {
    const int at = axis == 0 ? m->m1 : axis == 1 ? m->m2 : m->m3;
    return at - l->layer[ht_pair_layer_of(m, axis)].begin[axis];
}

#define HT_PAIR_DAMP(f, place)                                                                   \
    {                                                                                            \
        ht_pair_value value = HT_PAIR_LOAD(f + at);                                              \
        HT_UNROLLED(k, HT_DIMS)                                                                  \
            if (m->zone[k] != 1)                                                                 \
                value *= ht_pair_profile(l, ht_pair_layer_of(m, k), k, (place) >> k & 1,         \
                                         HT_PAIR_PROFILES - 1, ht_pair_depth(l, m, k), profile); \
        HT_PAIR_STORE(f + at, 1, value);                                                         \
    }

#if HT_PAIR_SPONGE
#define HT_PAIR_LAYER_PARAMS , HT_INPUT(real) profile
#define HT_PAIR_LAYER_ARGS , profile
/* `count` nodes: one, or those of a vector. */
HT_INLINE void ht_pair_damp(const struct ht_pair_layer_args *l, const struct ht_pair_coefs *c,
                            const struct ht_pair_spot *m,
                            const long count HT_PAIR_LAYER_PARAMS HT_PAIR_PARAMS) {
    const long at = (long)m->m3 * l->plane + (long)m->m2 * l->row + m->m1;
    HT_PAIR_PLACES(HT_PAIR_DAMP)
}
#else
#define HT_PAIR_LAYER_PARAMS , HT_INPUT(real) profile, HT_OUTPUT(real) memory
#define HT_PAIR_LAYER_ARGS , profile, memory

/* What the layer of an axis adds to a difference along its normal (own), or another one. */
HT_INLINE ht_pair_value ht_pair_filter(const struct ht_pair_layer_args *l,
                                       const struct ht_pair_spot *m, const int axis, const int own,
                                       const int between, const int slot, const long count,
                                       const ht_pair_value x, HT_INPUT(real) profile,
                                       HT_OUTPUT(real) memory) {
    const int i = ht_pair_layer_of(m, axis), depth = ht_pair_depth(l, m, axis);
    const long n1 = l->layer[i].n[0], n2 = l->layer[i].n[1], n3 = l->layer[i].n[2];
    const long m1 = m->m1 - l->layer[i].begin[0], m2 = m->m2 - l->layer[i].begin[1];
    const long m3 = m->m3 - l->layer[i].begin[2];
    HT_GLOBAL real *psi = memory + l->layer[i].memory + ((slot * n3 + m3) * n2 + m2) * n1 + m1;
    const ht_pair_value b = ht_pair_profile(l, i, axis, between, own ? 0 : 2, depth, profile);
    const ht_pair_value a = ht_pair_profile(l, i, axis, between, own ? 1 : 3, depth, profile);
    const ht_pair_value now = fma(b, HT_PAIR_LOAD(psi), a * x);
    HT_PAIR_STORE(psi, 1, now);
    return now;
}

/* The change of a difference. */
#define HT_PAIR_CHANGE(d, f, axis, up, place, slot)                                             \
    ht_pair_value d = 0;                                                                        \
    if (HT_PAIR_MIXES || m->zone[axis] != 1) {                                                  \
        ht_pair_value x = ht_pair_difference(c, axis, up, f, at, l->row, l->plane);             \
        HT_UNROLLED(k, HT_DIMS)                                                                 \
            if (m->zone[k] != 1 && (HT_PAIR_MIXES || k == axis)) {                              \
                const ht_pair_value more = ht_pair_filter(l, m, k, k == axis, (place) >> k & 1, \
                                                          slot, count, x, profile, memory);     \
                x += more;                                                                      \
                d += more;                                                                      \
            }                                                                                   \
    }
#define HT_PAIR_ADD_LAYER(f) HT_PAIR_STORE(f + at, 0, sum_##f);

HT_INLINE void ht_pair_damp(const struct ht_pair_layer_args *l, const struct ht_pair_coefs *c,
                            const struct ht_pair_spot *m,
                            const long count HT_PAIR_LAYER_PARAMS HT_PAIR_PARAMS) {
    const long at = (long)m->m3 * l->plane + (long)m->m2 * l->row + m->m1;
    HT_PAIR_DAMPED(HT_PAIR_CHANGE)
    HT_PAIR_TARGETS(HT_PAIR_START)
    HT_PAIR_TERMS(HT_PAIR_VARYING, HT_PAIR_CONSTANT)
    HT_PAIR_RELEASE(l->row, l->plane)
    HT_PAIR_LOSE(0, l->row, l->plane)
    HT_PAIR_TARGETS(HT_PAIR_ADD_LAYER)
    HT_PAIR_PLACES(HT_PAIR_DAMP)
}
#endif

/* A group has HT_TOOL_ITEMS nodes of a zone, counted along x1, x2, x3; on CPUs some rows. */
HT_TOOL_KERNEL ht_pair_layers(struct ht_pair_layer_args l,
                              struct ht_pair_coefs c HT_PAIR_LAYER_PARAMS HT_PAIR_PARAMS) {
    const int group = (int)HT_GROUP_1(), zone = ht_pair_zone(&l, group);
    struct ht_pair_spot m = {{zone % 3, zone / 3 % 3, zone / 9}, 0, 0, 0};
    const int begin1 = l.cut[0][m.zone[0]], end1 = l.cut[0][m.zone[0] + 1];
    const int begin2 = l.cut[1][m.zone[1]], n2 = l.cut[1][m.zone[1] + 1] - begin2;
    const int begin3 = l.cut[2][m.zone[2]], n3 = l.cut[2][m.zone[2] + 1] - begin3;
    const int within = group - l.first[zone];
#if HT_PAIR_VECTORS
    const int first = within * l.rows, rows = n2 * n3;
    const int last = first + l.rows < rows ? first + l.rows : rows;
    for (int row = first; row < last; row++) {
        m.m2 = begin2 + row % n2;
        m.m3 = begin3 + row / n2;
        for (m.m1 = begin1; m.m1 < end1; m.m1 += HT_WIDTH)
            ht_pair_damp(&l, &c, &m, end1 - m.m1 HT_PAIR_LAYER_ARGS HT_PAIR_ARGS);
    }
#else
    const unsigned n1 = (unsigned)(end1 - begin1);
    const unsigned node = (unsigned)within * HT_TOOL_ITEMS + (unsigned)HT_ITEM();
    const unsigned row = node / n1;
    m.m1 = begin1 + (int)(node - row * n1);
    m.m2 = begin2 + (int)(row % (unsigned)n2);
    m.m3 = begin3 + (int)(row / (unsigned)n2);
    if (row < (unsigned)n2 * (unsigned)n3)
        ht_pair_damp(&l, &c, &m, 1 HT_PAIR_LAYER_ARGS HT_PAIR_ARGS);
#endif
}
