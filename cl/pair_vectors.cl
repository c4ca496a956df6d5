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
        for (int e = 0; e < count; e++) f[e] = values[e];
    }
}

HT_INLINE void ht_pair_row(const struct ht_fd_args *s, const struct ht_pair_coefs *c, const int set,
                           long row HT_PAIR_PARAMS) {
    const long end = row + s->end[0];
    for (long at = row + s->begin[0]; at < end; at += HT_WIDTH) {
        const long count = end - at;
        HT_PAIR_CHANGES
        if (!set) {
            HT_PAIR_LOSE(1, s->row, s->plane)
        }
        HT_PAIR_TARGETS(HT_PAIR_ADD)
    }
}

HT_INLINE void ht_pair_walk(const struct ht_fd_args *s, const struct ht_pair_coefs *c,
                            const int set HT_PAIR_PARAMS) {
    HT_EACH_ROW(i2, i3) ht_pair_row(s, c, set, i3 * s->plane + i2 * s->row HT_PAIR_ARGS);
}
