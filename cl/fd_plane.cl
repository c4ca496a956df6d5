/* Second differences of a pack, for kernels that march along the last axis
 * through a medium of uniform density: neighbours in the plane are read from a
 * tile in local memory, those of other planes are in registers. They are added
 * in the order of fd_common.cl.
 */
#define HT_FD_DEPTH (HT_DIMS > 1 ? HT_FD_R : 0)

/* sum += the differences along x1 and, in three dimensions, along x2. mine: the
 * pack in a tile whose rows are `pitch` packs apart. */
HT_INLINE void ht_fd_in_plane(const struct ht_fd_coefs *c,
                              HT_LOCAL const ht_pack *mine, const int pitch,
                              const real middle[HT_BLOCK], real sum[HT_BLOCK]) {
    real row[(2 * HT_FD_NEAR + 1) * HT_BLOCK];
    HT_UNROLL
    for (int h = 0; h <= 2 * HT_FD_NEAR; h++)
        ht_unpack(mine[h - HT_FD_NEAR], row + h * HT_BLOCK);
    HT_UNROLL
    for (int j = 1; j <= HT_FD_R; j++) {
        HT_UNROLL
        for (int e = 0; e < HT_BLOCK; e++) {
            const int at = HT_FD_NEAR * HT_BLOCK + e;
            sum[e] = HT_FD_SECOND(c->c[0][j - 1], row[at - j], middle[e],
                                  row[at + j], sum[e]);
        }
    }
#if HT_DIMS > 2
    HT_UNROLL
    for (int j = 1; j <= HT_FD_R; j++) {
        real below[HT_BLOCK], above[HT_BLOCK];
        ht_unpack(mine[-j * pitch], below);
        ht_unpack(mine[j * pitch], above);
        HT_UNROLL
        for (int e = 0; e < HT_BLOCK; e++)
            sum[e] = HT_FD_SECOND(c->c[1][j - 1], below[e], middle[e], above[e],
                                  sum[e]);
    }
#endif
}

/* sum += the differences along the march of the plane in the middle of line. */
HT_INLINE void ht_fd_along_march(const struct ht_fd_coefs *c,
                                 real line[2 * HT_FD_DEPTH + 1][HT_BLOCK],
                                 real sum[HT_BLOCK]) {
    HT_UNROLL
    for (int j = 1; j <= HT_FD_DEPTH; j++) {
        HT_UNROLL
        for (int e = 0; e < HT_BLOCK; e++)
            sum[e] = HT_FD_SECOND(
                c->c[HT_DIMS - 1][j - 1], line[HT_FD_DEPTH - j][e],
                line[HT_FD_DEPTH][e], line[HT_FD_DEPTH + j][e], sum[e]);
    }
}

/* The next plane's place in a line is the last one's. */
HT_INLINE void ht_fd_move_on(real line[2 * HT_FD_DEPTH + 1][HT_BLOCK]) {
    HT_UNROLL
    for (int k = 0; k < 2 * HT_FD_DEPTH; k++) {
        HT_UNROLL
        for (int e = 0; e < HT_BLOCK; e++) line[k][e] = line[k + 1][e];
    }
}
