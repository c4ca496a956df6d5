/* The kernels of a group; pair_plain.cl or pair_vectors.cl defines the walk. */
#define HT_PAIR_ENTRY(name, set)                                                      \
    HT_TOOL_KERNEL name(struct ht_fd_args s, struct ht_pair_coefs c HT_PAIR_PARAMS) { \
        ht_pair_walk(&s, &c, set HT_PAIR_ARGS);                                       \
    }
HT_PAIR_ENTRY(ht_pair_pass, 0)
HT_PAIR_ENTRY(ht_pair_rate, 1)
#if HT_PAIR_STAGED
HT_PAIR_ENTRY(ht_pair_stage, 2)
#endif

/* z = C^+ f of the coupled fields of a node, f in the range of C: elimination with the largest
 * pivots, which ends where the rest is rounding (in a fluid the normal stresses have one pivot). A
 * group takes HT_TOOL_ITEMS nodes of a row; the targets z are in the place of the sources. */
#if HT_PAIR_COUPLED > 0
#define HT_PAIR_COUPLED_PARAM(i, f) , HT_GLOBAL const real *f, HT_GLOBAL real *z##i
#define HT_PAIR_COUPLED_LOAD(i, f) x[i] = f[at];
#define HT_PAIR_COUPLED_STORE(i, f) z##i[at] = y[i];
#define HT_PAIR_COUPLING(i, j, m) a[i][j] = a[j][i] = m[at];
#define HT_PAIR_COUPLING_NUMBER(i, j, n) a[i][j] = a[j][i] = c.number[n];
#define HT_PAIR_COUPLED_MEDIUM(m) , HT_GLOBAL const real *m

HT_TOOL_KERNEL ht_pair_solve(struct ht_fd_args s,
                             struct ht_pair_coefs c HT_PAIR_MEDIA(HT_PAIR_COUPLED_MEDIUM)
                                 HT_PAIR_COUPLED_ROWS(HT_PAIR_COUPLED_PARAM)) {
    const real rounding = (real)(HT_DOUBLE ? 1e-13 : 1e-5);
    real a[HT_PAIR_COUPLED][HT_PAIR_COUPLED], x[HT_PAIR_COUPLED], y[HT_PAIR_COUPLED];
    int row[HT_PAIR_COUPLED], rank = 0;
    const long i1 = s.begin[0] + HT_GROUP_1() * HT_TOOL_ITEMS + HT_ITEM();
    const long at =
        (s.begin[2] + HT_GROUP_3()) * s.plane + (s.begin[1] + HT_GROUP_2()) * s.row + i1;
    real least = 0;
    if (i1 >= s.end[0]) return;
    for (int i = 0; i < HT_PAIR_COUPLED * HT_PAIR_COUPLED; i++)
        a[i / HT_PAIR_COUPLED][i % HT_PAIR_COUPLED] = 0;
    HT_PAIR_COUPLED_ROWS(HT_PAIR_COUPLED_LOAD)
    HT_PAIR_COUPLINGS(HT_PAIR_COUPLING, HT_PAIR_COUPLING_NUMBER)
    for (int i = 0; i < HT_PAIR_COUPLED; i++) {
        least = fmax(least, a[i][i] * rounding);
        row[i] = i;
        y[i] = 0;
    }
    for (; rank < HT_PAIR_COUPLED; rank++) {
        int best = rank;
        for (int i = rank + 1; i < HT_PAIR_COUPLED; i++)
            if (a[row[i]][row[i]] > a[row[best]][row[best]]) best = i;
        const int pivot = row[best];
        row[best] = row[rank];
        row[rank] = pivot;
        if (!(a[pivot][pivot] > least)) break;
        for (int i = rank + 1; i < HT_PAIR_COUPLED; i++) {
            const real factor = a[row[i]][pivot] / a[pivot][pivot];
            for (int j = rank + 1; j < HT_PAIR_COUPLED; j++)
                a[row[i]][row[j]] -= factor * a[pivot][row[j]];
            x[row[i]] -= factor * x[pivot];
        }
    }
    for (int k = rank - 1; k >= 0; k--) {
        real sum = x[row[k]];
        for (int j = k + 1; j < rank; j++) sum -= a[row[k]][row[j]] * y[row[j]];
        y[row[k]] = sum / a[row[k]][row[k]];
    }
    HT_PAIR_COUPLED_ROWS(HT_PAIR_COUPLED_STORE)
}
#endif
