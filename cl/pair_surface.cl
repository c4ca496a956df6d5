/* Beside free sides (htwave/num.h, struct ht_fd_closure): what pair.cl calls where HT_PAIR_FREE.
 *
 * The host writes, of a group, HT_PAIR_BLOCK, [2][HT_PAIR_FREE][HT_PAIR_FREE] numbers, and
 * HT_PAIR_OVER, [2][HT_PAIR_FREE], and HT_PAIR_NORMALS, by axis: the number, among the coupled
 * rows, of the stress that is 0 on a free side normal to it. */
HT_TABLE const real ht_pair_block[] = HT_PAIR_BLOCK;
HT_TABLE const real ht_pair_over[] = HT_PAIR_OVER;

/* Of a node, its number along an axis. */
HT_INLINE int ht_pair_index(const int axis, const long at, const long row, const long plane) {
    return (int)(axis == 0 ? at % row : axis == 1 ? at % plane / row : at / plane);
}

/* Row i of a closure; f: the first value from the surface on. Products with block[][i][j] are made
 * as for their transposes, so that both are exactly adjoint. The number of rows comes with the
 * launch, lest compilers write the loops out for each difference. */
HT_INLINE real ht_pair_closed(const struct ht_pair_coefs *c, const int axis, const int up,
                              const int i, HT_GLOBAL const real *f, const long stride) {
    const int n = c->rows - 1 + up;
    real sum = 0;
    for (int j = 0; j < n; j++)
        sum = fma(ht_pair_block[(up * HT_PAIR_FREE + i) * HT_PAIR_FREE + j] * c->scale[axis],
                  f[j * stride], sum);
    for (int j = n; j < i + up + c->radius; j++)
        sum = fma(c->c[axis][j - i - up], f[j * stride], sum);
    return ht_pair_over[up * HT_PAIR_FREE + i] * sum;
}

/* Whether a difference at node m of an axis ends at a free side: then *out is set. Half points
 * beyond a surface, of which nothing is read, do not change. */
HT_INLINE int ht_pair_ends(const struct ht_pair_coefs *c, const int axis, const int up, const int m,
                           HT_GLOBAL const real *f, const long stride, real *out) {
    const int low = m - c->wall[axis][0], high = c->wall[axis][1] - m - up;
    const int lower = low < HT_PAIR_FREE - up, i = lower ? low : high;
    if (i >= HT_PAIR_FREE - up) return 0;
    f += (lower ? -low : high + (up ? 1 : -1)) * stride;
    *out = 0;
    if (i >= 0)
        *out = (lower ? 1 : -1) * ht_pair_closed(c, axis, up, i, f, lower ? stride : -stride);
    return 1;
}

#if HT_PAIR_COUPLED > 0
#define HT_PAIR_RELEASE_GET(i, f) x[i] = sum_##f;
#define HT_PAIR_RELEASE_SET(i, f) sum_##f = x[i];
#define HT_PAIR_RELEASE_ENTRY(i, j, m) a[i][j] = a[j][i] = m[at];
#define HT_PAIR_RELEASE_NUMBER(i, j, n) a[i][j] = a[j][i] = c->number[n];

/* The changes of stresses where the slopes normal to free sides are such that the normal stresses
 * do not change: elimination of these rows and columns of C, of which none is left in a fluid. */
HT_INLINE void ht_pair_eliminate(const unsigned free, real a[HT_PAIR_COUPLED][HT_PAIR_COUPLED],
                                 real x[HT_PAIR_COUPLED]) {
    const int normal[] = HT_PAIR_NORMALS;
    const real rounding = (real)(HT_DOUBLE ? 1e-13 : 1e-5);
    real least = 0;
    for (int i = 0; i < HT_PAIR_COUPLED; i++) least = fmax(least, a[i][i] * rounding);
    for (int k = 0; k < HT_DIMS; k++) {
        const int p = normal[k];
        if (!(free >> k & 1u) || !(a[p][p] > least)) continue;
        for (int i = 0; i < HT_PAIR_COUPLED; i++) {
            const real factor = i != p ? a[i][p] / a[p][p] : 0;
            x[i] -= factor * x[p];
            for (int j = 0; j < HT_PAIR_COUPLED; j++) a[i][j] -= factor * a[p][j];
        }
    }
    for (int k = 0; k < HT_DIMS; k++)
        if (free >> k & 1u) x[normal[k]] = 0;
}

/* In a function with c, at, and the sums of the targets. */
#define HT_PAIR_RELEASE(row, plane)                                          \
    {                                                                        \
        unsigned free = 0;                                                   \
        for (int k = 0; k < HT_DIMS; k++) {                                  \
            const int m = ht_pair_index(k, at, row, plane);                  \
            if (m == c->wall[k][0] || m == c->wall[k][1]) free |= 1u << k;   \
        }                                                                    \
        if (free != 0) {                                                     \
            real a[HT_PAIR_COUPLED][HT_PAIR_COUPLED], x[HT_PAIR_COUPLED];    \
            for (int i = 0; i < HT_PAIR_COUPLED * HT_PAIR_COUPLED; i++)      \
                a[i / HT_PAIR_COUPLED][i % HT_PAIR_COUPLED] = 0;             \
            HT_PAIR_COUPLED_ROWS(HT_PAIR_RELEASE_GET)                        \
            HT_PAIR_COUPLINGS(HT_PAIR_RELEASE_ENTRY, HT_PAIR_RELEASE_NUMBER) \
            ht_pair_eliminate(free, a, x);                                   \
            HT_PAIR_COUPLED_ROWS(HT_PAIR_RELEASE_SET)                        \
        }                                                                    \
    }
#endif
