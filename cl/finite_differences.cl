/* Central finite differences of radius HT_FD_R on a periodic grid
 * u[i3][i2][i1]. A work-item per (i1, i2) marches along x3 with the
 * 2 HT_FD_R + 1 values of its line in registers; neighbours along x1 and x2 are
 * read through the caches.
 */
HT_INLINE real ht_fd_beside(HT_GLOBAL const real *HT_RESTRICT u, long at,
                            long i, long n, long pitch, int k) {
    const long up = i + k < n ? k : k - n, down = i >= k ? -k : n - k;
    return u[at + up * pitch] + u[at + down * pitch];
}

/* out = base + a src + b laplacian(src); base is 2 u - out in ht_fd_update and
 * 0 in ht_fd_laplacian. */
#define HT_FD_KERNEL(name, PARAMETERS, BASE)                                \
    HT_KERNEL HT_GROUP_SIZE(HT_FD_ITEMS) void name(                         \
        long n1, long n2, long n3, long march, real a, real b,              \
        HT_GLOBAL const real *HT_RESTRICT src,                              \
        HT_GLOBAL real *HT_RESTRICT out PARAMETERS) {                       \
        const real weight[HT_FD_R + 1] = HT_FD_WEIGHTS;                     \
        const long i1 = HT_GROUP_1() * HT_FD_ITEMS + HT_ITEM();             \
        const long i2 = HT_GROUP_2(), first = HT_GROUP_3() * march;         \
        const long last = first + march < n3 ? first + march : n3;          \
        if (i1 >= n1) return;                                               \
        const long column = i2 * n1 + i1, plane = n1 * n2;                  \
        real line[2 * HT_FD_R + 1];                                         \
        HT_UNROLL                                                           \
        for (int k = 1; k <= 2 * HT_FD_R; k++)                              \
            line[k] =                                                       \
                src[(first + k - 1 - HT_FD_R + n3) % n3 * plane + column];  \
        for (long i3 = first; i3 < last; i3++) {                            \
            const long at = i3 * plane + column;                            \
            HT_UNROLL                                                       \
            for (int k = 0; k < 2 * HT_FD_R; k++) line[k] = line[k + 1];    \
            line[2 * HT_FD_R] = src[(i3 + HT_FD_R) % n3 * plane + column];  \
            const real middle = line[HT_FD_R];                              \
            real sum = 3 * weight[0] * middle;                              \
            HT_UNROLL                                                       \
            for (int k = 1; k <= HT_FD_R; k++)                              \
                sum += weight[k] * (line[HT_FD_R - k] + line[HT_FD_R + k] + \
                                    ht_fd_beside(src, at, i1, n1, 1, k) +   \
                                    ht_fd_beside(src, at, i2, n2, n1, k));  \
            out[at] = (BASE) + a * middle + b * sum;                        \
        }                                                                   \
    }

#define HT_FD_NONE
#define HT_FD_STATE , HT_GLOBAL const real *HT_RESTRICT u
HT_FD_KERNEL(ht_fd_laplacian, HT_FD_NONE, 0)
HT_FD_KERNEL(ht_fd_update, HT_FD_STATE, 2 * u[at] - out[at])
