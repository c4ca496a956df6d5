/* A pass with one work-item per node: a group takes HT_FD_PACKS nodes of HT_FD_ROWS rows. What
 * work-items read they find in the caches, since their neighbours read it, too. */
#define HT_PAIR_STORE(p, set, value) *(p) = (set ? 0 : *(p)) + (value)

HT_INLINE void ht_pair_walk(const struct ht_fd_args *s, const struct ht_pair_coefs *c,
                            const int set HT_PAIR_PARAMS) {
    const long i1 = s->begin[0] + HT_GROUP_1() * HT_FD_PACKS + HT_ITEM() % HT_FD_PACKS;
    const long i2 = s->begin[1] + HT_GROUP_2() * HT_FD_ROWS + HT_ITEM() / HT_FD_PACKS;
    const long at = (s->begin[2] + HT_GROUP_3()) * s->plane + i2 * s->row + i1;
    if (i1 < s->end[0] && i2 < s->end[1]) {
        HT_PAIR_CHANGES
        if (!set) {
            HT_PAIR_LOSE(1, s->row, s->plane)
        }
        HT_PAIR_TARGETS(HT_PAIR_ADD)
    }
}
