/* Shells of finite differences (docs/developers/gradients.md): values of u in boxes before
 * absorbing layers, into a record of a ring, and from records back into u.
 *
 * A record has blocks of HT_SHELL_BLOCK values, those of a box's x3 plane one after the other along
 * x1, then x2; the last block of a plane is filled with zeros, so that records of slabs have the
 * blocks of the whole grid. With HT_SHELL_CODED a value is a whole number of 16 bits times a factor
 * of its block, the largest value / 32767; factors stand behind the values. A block is done by
 * HT_SHELL_LANES work-items, of which one does each HT_SHELL_LANES-th value, so that neighbours
 * do neighbours. */
#define HT_SHELL_EACH (HT_SHELL_BLOCK / HT_SHELL_LANES)

#if HT_SHELL_CODED
typedef short ht_shell_value;
typedef float ht_shell_factor;
#else
typedef real ht_shell_value;
typedef real ht_shell_factor; /* not used */
#endif

/* The values of a work-item: the first of them, and where the first row of its plane begins. */
struct ht_shell_place {
    long plane;
    int first, count, wide; /* of the plane's; wide: along x1 */
    long block;             /* of the record */
};

HT_INLINE struct ht_shell_place ht_shell_find(const struct ht_shell_args *s) {
    const int item = HT_ITEM();
    const int n = (int)HT_GROUP_1() * (HT_TOOL_ITEMS / HT_SHELL_LANES) + item / HT_SHELL_LANES;
    struct ht_shell_place place = {0, 0, 0, 1, 0};
    int blocks = 1, within = 0;
    /* CUDA would copy arguments that are indexed by variables to memory. */
    HT_UNROLLED(i, HT_SHELL_BOXES) {
        if (n < s->begin[i] || n >= s->begin[i + 1]) continue;
        within = n - s->begin[i];
        blocks = s->blocks[i];
        place.block = s->block[i] + within;
        place.plane = s->node[i];
        place.wide = s->wide[i];
        place.count = s->count[i];
    }
    place.plane += within / blocks * s->plane;
    place.first = within % blocks * HT_SHELL_BLOCK + item % HT_SHELL_LANES;
    return place;
}

/* Numbers in the window, -1: none. */
HT_INLINE void ht_shell_nodes(const struct ht_shell_args *s, const struct ht_shell_place *place,
                              long at[HT_SHELL_EACH]) {
    HT_UNROLLED(e, HT_SHELL_EACH) {
        const int n = place->first + e * HT_SHELL_LANES, m2 = n / place->wide;
        at[e] = n < place->count ? place->plane + m2 * s->row + n - m2 * place->wide : -1;
    }
}

/* Where they stand in record number `slot` of the ring. */
HT_INLINE long ht_shell_at(const struct ht_shell_args *s, const struct ht_shell_place *place,
                           const long slot) {
    return slot * (s->bytes / (long)sizeof(ht_shell_value)) + place->block * HT_SHELL_BLOCK +
           HT_ITEM() % HT_SHELL_LANES;
}

HT_INLINE long ht_shell_factor_at(const struct ht_shell_args *s, const struct ht_shell_place *place,
                                  const long slot) {
    return (slot * s->bytes + s->factors) / (long)sizeof(ht_shell_factor) + place->block;
}

struct ht_shell_level {
    real level;
};

HT_TOOL_KERNEL ht_shell_take(struct ht_shell_args s, struct ht_shell_level l, HT_INPUT(real) u,
                             HT_GLOBAL ht_shell_value *values, HT_GLOBAL ht_shell_factor *factors) {
    const struct ht_shell_place place = ht_shell_find(&s);
    const long to = ht_shell_at(&s, &place, s.slot[0]);
    long at[HT_SHELL_EACH];
    real x[HT_SHELL_EACH];
    ht_shell_nodes(&s, &place, at);
    HT_UNROLLED(e, HT_SHELL_EACH) x[e] = at[e] < 0 ? 0 : u[at[e]] + l.level;
#if HT_SHELL_CODED
    HT_LOCAL_ARRAY(float, largest, HT_TOOL_ITEMS);
    const int item = HT_ITEM(), lane = item % HT_SHELL_LANES;
    float most = 0;
    HT_UNROLLED(e, HT_SHELL_EACH) most = fmax(most, (float)fabs(x[e]));
    largest[item] = most;
    for (int step = HT_SHELL_LANES / 2; step > 0; step /= 2) {
        HT_BARRIER();
        if (lane < step) largest[item] = fmax(largest[item], largest[item + step]);
    }
    HT_BARRIER();
    most = largest[item - lane];
    /* Below it an inverse would be infinite. */
    const float inverse = most > 1e-33f ? 32767 / most : 0;
    if (place.count == 0) return;
    if (lane == 0) factors[ht_shell_factor_at(&s, &place, s.slot[0])] = most / 32767;
    HT_UNROLLED(e, HT_SHELL_EACH) {
        const float code = (float)x[e] * inverse;
        values[to + e * HT_SHELL_LANES] = (short)(int)(code + (code < 0 ? -0.5f : 0.5f));
    }
#else
    if (place.count == 0) return;
    HT_UNROLLED(e, HT_SHELL_EACH) values[to + e * HT_SHELL_LANES] = x[e];
#endif
}

/* Of a weighted sum of records: u, and d = u - old. */
struct ht_shell_weights {
    real weight[HT_SHELL_RECORDS];
};

HT_TOOL_KERNEL ht_shell_put(struct ht_shell_args s, struct ht_shell_weights w,
                            HT_GLOBAL const ht_shell_value *values,
                            HT_GLOBAL const ht_shell_factor *factors, HT_GLOBAL const real *old,
                            HT_GLOBAL real *u, HT_GLOBAL real *d) {
    const struct ht_shell_place place = ht_shell_find(&s);
    long at[HT_SHELL_EACH];
    real x[HT_SHELL_EACH];
    if (place.count == 0) return;
    ht_shell_nodes(&s, &place, at);
    HT_UNROLLED(e, HT_SHELL_EACH) x[e] = 0;
    HT_UNROLLED(j, HT_SHELL_RECORDS) {
        if (j >= s.records) continue;
        const long from = ht_shell_at(&s, &place, s.slot[j]);
#if HT_SHELL_CODED
        const real weight = w.weight[j] * factors[ht_shell_factor_at(&s, &place, s.slot[j])];
#else
        const real weight = w.weight[j];
#endif
        HT_UNROLLED(e, HT_SHELL_EACH)
            x[e] = fma(weight, (real)values[from + e * HT_SHELL_LANES], x[e]);
    }
    HT_UNROLLED(e, HT_SHELL_EACH) {
        if (at[e] < 0) continue;
        d[at[e]] = x[e] - old[at[e]];
        u[at[e]] = x[e];
    }
}
