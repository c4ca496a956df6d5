/* A pass on GPUs: a work-item takes a pack, HT_WIDTH nodes of a row that one instruction reads,
 * a group HT_FD_PACKS packs of HT_FD_ROWS rows of HT_FD_PLANES planes. What work-items read they
 * find in the caches, since their neighbours read it, too. A pack may be one node
 * (src/kernel/pair.c). */
#if HT_WIDTH > 1
enum { HT_PAIR_NEAR = (HT_FD_R + HT_WIDTH - 1) / HT_WIDTH };
#define ht_pair_value vector
#undef HT_PAIR_LOAD
#undef HT_PAIR_STORE
#define HT_PAIR_LOAD(p) ht_pair_get(p)
#define HT_PAIR_STORE(p, set, value) ht_pair_put(p, (int)(s->begin[0] - i1), count, set, value)

HT_INLINE vector ht_pair_get(HT_GLOBAL const real *f) {
    real values[HT_WIDTH];
    ht_unpack(*(HT_GLOBAL const ht_pack *)f, values);
    return *(const loose *)values;
}

/* Nodes first .. count - 1 of a pack are targets. */
HT_INLINE void ht_pair_put(HT_GLOBAL real *f, const int first, const int count, const int set,
                           const vector change) {
    real values[HT_WIDTH];
    *(loose *)values = set ? change : ht_pair_get(f) + change;
    if (first <= 0 && count >= HT_WIDTH) {
        *(HT_GLOBAL ht_pack *)f = ht_packed(values);
    } else {
        HT_UNROLLED(e, HT_WIDTH)
            if (e >= first && e < count) f[e] = values[e];
    }
}

/* Of a pack at f along x1: neighbours lie in packs to either side. */
HT_INLINE vector ht_pair_along(const struct ht_pair_coefs *c, const int up,
                               HT_GLOBAL const real *f) {
    real near[(2 * HT_PAIR_NEAR + 1) * HT_WIDTH], sum[HT_WIDTH];
    HT_UNROLLED(k, 2 * HT_PAIR_NEAR + 1)
        ht_unpack(((HT_GLOBAL const ht_pack *)f)[k - HT_PAIR_NEAR], near + k * HT_WIDTH);
    HT_UNROLLED(e, HT_WIDTH) {
        const int m = HT_PAIR_NEAR * HT_WIDTH + e + up;
        sum[e] = 0;
        HT_UNROLLED(j, HT_FD_R) sum[e] = fma(c->c[0][j], near[m + j] - near[m - 1 - j], sum[e]);
    }
    return *(const loose *)sum;
}

HT_INLINE vector ht_pair_pack_difference(const struct ht_pair_coefs *c, const int axis,
                                         const int up, HT_GLOBAL const real *f, const long at,
                                         const long row, const long plane) {
    const long stride = axis == 1 ? row : plane;
    vector sum = 0;
    f += at;
    if (axis == 0) return ht_pair_along(c, up, f);
    HT_UNROLLED(j, HT_FD_R)
        sum =
            fma((vector)c->c[axis][j],
                HT_PAIR_LOAD(f + (up + j) * stride) - HT_PAIR_LOAD(f + (up - 1 - j) * stride), sum);
    return sum;
}
#define ht_pair_difference ht_pair_pack_difference
#endif

HT_INLINE void ht_pair_walk(const struct ht_fd_args *s, const struct ht_pair_coefs *c,
                            const int set HT_PAIR_PARAMS) {
    const int row = HT_ITEM() / HT_FD_PACKS;
    const long i1 =
        (s->begin[0] / HT_WIDTH + HT_GROUP_1() * HT_FD_PACKS + HT_ITEM() % HT_FD_PACKS) * HT_WIDTH;
    const long i2 = s->begin[1] + HT_GROUP_2() * HT_FD_ROWS + row % HT_FD_ROWS;
    const long i3 = s->begin[2] + HT_GROUP_3() * HT_FD_PLANES + row / HT_FD_ROWS;
    const long at = i3 * s->plane + i2 * s->row + i1;
    const int count = (int)(s->end[0] - i1);
    if (count > 0 && i2 < s->end[1] && i3 < s->end[2]) {
        HT_PAIR_CHANGES
        if (!set) {
            HT_PAIR_LOSE(1, s->row, s->plane)
        }
        HT_PAIR_TARGETS(HT_PAIR_ADD)
    }
}
