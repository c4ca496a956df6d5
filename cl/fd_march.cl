/* Finite differences, uniform density, on GPUs. A pack is the HT_BLOCK nodes of a row that lie in
 * 16 bytes; index order [m3][m2][m1 / HT_BLOCK].
 *
 * A group takes HT_FD_PACKS packs of HT_FD_ROWS rows, a work-item one pack, and marches along the
 * last axis, z. A work-item holds the values of its pack in the planes z - R .. z + R (line); those
 * of plane z lie in local memory, where the others read their neighbours:
 *
 *             HT_FD_SIDE        HT_FD_PACKS        HT_FD_SIDE
 *                       +------------------------+
 *     HT_FD_HALO rows   |       rows above       |
 *              +--------+------------------------+--------+
 *     ROWS     |  left  | work-items y = ROWS-1  |  right |
 *              |        |   ...  x = 0 .. PACKS-1|        |
 *              +--------+------------------------+--------+
 *     HT_FD_HALO rows   |       rows below       |
 *                       +------------------------+
 *
 * There are two tiles, which take turns: while a plane is computed the tile of the next one is
 * filled, and one barrier per plane is enough. In two dimensions, marching along x2, and in one,
 * where there is no march, a tile is one row. Work-items beyond the box hold what its nodes read
 * there. */
#define HT_FD_LOCAL_TYPE ht_pack
#define HT_FD_LOCAL (2 * HT_FD_TILE)
#define HT_FD_DEPTH (HT_DIMS > 1 ? HT_FD_R : 0)

/* sum += the differences along x1 and, in three dimensions, along x2. mine: the pack in a tile
 * whose rows are `pitch` packs apart. */
HT_INLINE void ht_fd_in_plane(const struct ht_fd_coefs *c, HT_LOCAL const ht_pack *mine,
                              const int pitch, const real middle[HT_BLOCK], real sum[HT_BLOCK]) {
    real row[(2 * HT_FD_NEAR + 1) * HT_BLOCK];
    HT_UNROLLED(h, 2 * HT_FD_NEAR + 1) ht_unpack(mine[h - HT_FD_NEAR], row + h * HT_BLOCK);
    HT_UNROLLED_FROM(j, 1, HT_FD_R + 1)
        HT_UNROLLED(e, HT_BLOCK) {
            const int at = HT_FD_NEAR * HT_BLOCK + e;
            sum[e] = HT_FD_SECOND(c->c[0][j - 1], row[at - j], middle[e], row[at + j], sum[e]);
        }
#if HT_DIMS > 2
    HT_UNROLLED_FROM(j, 1, HT_FD_R + 1) {
        real below[HT_BLOCK], above[HT_BLOCK];
        ht_unpack(mine[-j * pitch], below);
        ht_unpack(mine[j * pitch], above);
        HT_UNROLLED(e, HT_BLOCK)
            sum[e] = HT_FD_SECOND(c->c[1][j - 1], below[e], middle[e], above[e], sum[e]);
    }
#endif
}

/* sum += the differences along the march of the plane in the middle of line. */
HT_INLINE void ht_fd_along_march(const struct ht_fd_coefs *c,
                                 real line[2 * HT_FD_DEPTH + 1][HT_BLOCK], real sum[HT_BLOCK]) {
    HT_UNROLLED_FROM(j, 1, HT_FD_DEPTH + 1)
        HT_UNROLLED(e, HT_BLOCK)
            sum[e] = HT_FD_SECOND(c->c[HT_DIMS - 1][j - 1], line[HT_FD_DEPTH - j][e],
                                  line[HT_FD_DEPTH][e], line[HT_FD_DEPTH + j][e], sum[e]);
}

/* The next plane's place in a line is the last one's. */
HT_INLINE void ht_fd_move_on(real line[2 * HT_FD_DEPTH + 1][HT_BLOCK]) {
    HT_UNROLLED(k, 2 * HT_FD_DEPTH)
        HT_UNROLLED(e, HT_BLOCK) line[k][e] = line[k + 1][e];
}

/* Begins to fill the tile of a plane with what lies around the group; the own values are known. */
HT_INLINE void ht_fd_fill(const struct ht_fd_item *me, HT_GLOBAL const real *plane,
                          const real middle[HT_BLOCK], HT_LOCAL ht_pack *tile) {
    tile[(me->y + HT_FD_HALO) * HT_FD_PITCH + HT_FD_SIDE + me->x] = ht_packed(middle);
    ht_fd_surround(me, plane, tile);
    HT_COPY_COMMIT();
}

HT_INLINE void ht_fd_walk(const struct ht_fd_args *s, const struct ht_fd_coefs *c, const int mode,
                          HT_FD_PARAMS, HT_LOCAL ht_pack *tiles) {
    struct ht_fd_item me;
    ht_fd_set_item(s, HT_ITEM() % HT_FD_PACKS, HT_ITEM() / HT_FD_PACKS, &me);
    const int own = (me.y + HT_FD_HALO) * HT_FD_PITCH + HT_FD_SIDE + me.x;
    const long step = HT_DIMS > 1 ? ht_fd_stride(s, HT_DIMS - 1) : 0;
    const long mine = (long)me.i2 * s->row + me.i1;
    real line[2 * HT_FD_DEPTH + 1][HT_BLOCK];
    HT_UNROLLED(k, 2 * HT_FD_DEPTH + (HT_DIMS == 1))
        ht_unpack(ht_fd_read(u + (me.begin - HT_FD_DEPTH + k) * step + mine), line[k]);
    ht_fd_fill(&me, u + me.begin * step, line[HT_FD_DEPTH], tiles + (me.begin & 1) * HT_FD_TILE);
    for (long z = me.begin; z < me.end; z++) {
        const long at = z * step + mine;
        HT_LOCAL const ht_pack *tile = tiles + (z & 1) * HT_FD_TILE;
        struct ht_fd_put put;
        real sum[HT_BLOCK];
        HT_COPY_WAIT(0);
        HT_BARRIER();
        ht_unpack(ht_fd_read(u + at + HT_FD_DEPTH * step), line[2 * HT_FD_DEPTH]);
        ht_fd_set_put(&me, mode, a + at, d + at, p + at, &put);
        if (HT_DIMS > 1 && z + 1 < me.end)
            ht_fd_fill(&me, u + (z + 1) * step, line[HT_FD_DEPTH + (HT_DIMS > 1)],
                       tiles + ((z + 1) & 1) * HT_FD_TILE);
        HT_UNROLLED(e, HT_BLOCK) sum[e] = 0;
        ht_fd_in_plane(c, tile + own, HT_FD_PITCH, line[HT_FD_DEPTH], sum);
        ht_fd_along_march(c, line, sum);
        ht_fd_write(&me, mode, sum, line[HT_FD_DEPTH], &put, d + at, out + at HT_FD_KEEP_ARGS(at));
        ht_fd_move_on(line);
    }
}
