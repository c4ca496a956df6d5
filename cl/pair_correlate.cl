/* What an adjoint run of a pair adds to its sums at a node (docs/developers/gradients.md), of the
 * adjoint fields q and the changes d = u - o in a step of fields that C couples, or of one field:
 * of their parts (ht_pair_parts of htwave/fd_kernel.h)
 *     m_ij = m_ij + q_i d_j + q_j d_i,    m_ii = m_ii + q_i d_i.
 * lit: light, the squares of d, too. */
#if HT_PAIR_FIELDS == 1
#define HT_PAIR_EACH(X) X(0)
#define HT_PAIR_EACH_PAIR(X) X(0, 0)
#elif HT_PAIR_FIELDS == 2
#define HT_PAIR_EACH(X) X(0) X(1)
#define HT_PAIR_EACH_PAIR(X) X(0, 0) X(0, 1) X(1, 1)
#else
#define HT_PAIR_EACH(X) X(0) X(1) X(2)
#define HT_PAIR_EACH_PAIR(X) X(0, 0) X(0, 1) X(0, 2) X(1, 1) X(1, 2) X(2, 2)
#endif
#define HT_PAIR_FIELD(i) , HT_INPUT(real) q##i, HT_INPUT(real) u##i, HT_INPUT(real) o##i
#define HT_PAIR_SUM(i, j) , HT_OUTPUT(real) m##i##j
#define HT_PAIR_GET(i) \
    q[i] = q##i[at];   \
    d[i] = u##i[at] - o##i[at];
#define HT_PAIR_ADD(i, j) \
    m##i##j[at] = fma(q[i], d[j], i < j ? fma(q[j], d[i], m##i##j[at]) : m##i##j[at]);

HT_INLINE void ht_pair_parts(real x[HT_PAIR_FIELDS]) {
    real sum = 0;
    HT_UNROLLED(i, HT_PAIR_FIELDS) sum += x[i];
    for (int i = HT_PAIR_FIELDS - 1; i > 0; i--) x[i] = x[i - 1] - x[i];
    x[0] = sum;
}

HT_TOOL_KERNEL ht_pair_correlate(struct ht_fd_args s, const int lit HT_PAIR_EACH(HT_PAIR_FIELD),
                                 HT_OUTPUT(real) light HT_PAIR_EACH_PAIR(HT_PAIR_SUM)) {
    HT_EACH_IN_PIECE(&s, at) {
        real q[HT_PAIR_FIELDS], d[HT_PAIR_FIELDS], squares = 0;
        HT_PAIR_EACH(HT_PAIR_GET)
        HT_UNROLLED(i, HT_PAIR_FIELDS) squares = fma(d[i], d[i], squares);
        if (lit) light[at] += squares;
        ht_pair_parts(q);
        ht_pair_parts(d);
        HT_PAIR_EACH_PAIR(HT_PAIR_ADD)
    }
}
