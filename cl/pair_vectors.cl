/* A pass on CPUs: a group is one work-item, which takes `rows` rows along x2 and goes from plane to
 * plane along x3, so that the planes around them stay in a cache; in two dimensions it goes from
 * row to row. HT_WIDTH nodes of a row are done at a time. The last vector of a row reads beyond its
 * targets, whatever lies there, and stores its targets alone. */
#define HT_PAIR_STORE(p, set, value) ht_pair_put(p, count, set, value)

HT_INLINE void ht_pair_put(HT_GLOBAL real *f, const long count, const int set,
                           const vector change) {
    const vector value = set ? change : HT_GLOBAL_VECTOR(f) + change;
    if (count >= HT_WIDTH) {
        *(HT_GLOBAL loose *)f = value;
    } else {
        real values[HT_WIDTH];
        *(loose *)values = value;
        HT_ROLLED
        for (int e = 0; e < HT_WIDTH; e++)
            if (e < count) f[e] = values[e];
    }
}

/* The nodes of a vector, of which `count` are targets. */
HT_INLINE void ht_pair_step(const struct ht_fd_args *s, const struct ht_pair_coefs *c,
                            const int set, const long at, const long count HT_PAIR_PARAMS) {
    HT_PAIR_CHANGES
    if (!set) {
        HT_PAIR_LOSE(1, s->row, s->plane)
    }
    HT_PAIR_TARGETS(HT_PAIR_ADD)
}

HT_INLINE void ht_pair_walk(const struct ht_fd_args *s, const struct ht_pair_coefs *c,
                            const int set HT_PAIR_PARAMS) {
    HT_EACH_ROW(i2, i3) {
        const long row = i3 * s->plane + i2 * s->row;
        for (long i1 = s->begin[0]; i1 < s->end[0]; i1 += HT_WIDTH)
            ht_pair_step(s, c, set, row + i1, s->end[0] - i1 HT_PAIR_ARGS);
    }
}
