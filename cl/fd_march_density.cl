/* Finite differences, varying density, on GPUs: groups, work-items and tile of
 * fd_march.cl, with HT_FD_REACH rows and nodes around. With i + 1/2 written as
 * i, fluxes and their differences are
 *     f_k(i) = b_k(i) sum_j s_j (u(i + 1 + j) - u(i - j)),
 *     D_k(i) = sum_j s_j (f_k(i + j) - f_k(i - 1 - j)),   j = 0 .. R-1.
 *
 * Along x1 a work-item computes all fluxes that its pack needs, from the tile.
 * Along x2 each is computed once and lies in a second tile, fluxes, of
 * HT_FD_ROWS + 2R - 1 rows from row -R of the group on. Along the axis of the
 * march a work-item holds values of the planes z .. z + 2R - 1 (line) and
 * fluxes of z - R .. z + R - 1: so much does the plane z of targets lag behind
 * the plane that is read. The march begins 2R - 1 planes early to fill them.
 */
#define HT_FD_AHEAD (HT_DIMS > 1 ? 2 * HT_FD_R - 1 : 0)
#define HT_FD_FLUX_ROWS (HT_DIMS > 2 ? HT_FD_ROWS + 2 * HT_FD_R - 1 : 0)
#define HT_FD_LOCAL_TYPE ht_pack
#define HT_FD_LOCAL (HT_FD_TILE + HT_FD_FLUX_ROWS * HT_FD_PACKS)
/* Packs to either side of a pack in which its fluxes lie. */
#define HT_FD_NEAR ((HT_FD_R + HT_BLOCK - 1) / HT_BLOCK)

/* sum += D_1. mine: the pack in the tile; b1: at the pack. */
HT_INLINE void ht_fd_along_row(const struct ht_fd_coefs *c,
                               HT_LOCAL const ht_pack *mine,
                               HT_GLOBAL const real *b1, real sum[HT_BLOCK]) {
    real row[(2 * HT_FD_SIDE + 1) * HT_BLOCK];
    real flux[(2 * HT_FD_NEAR + 1) * HT_BLOCK];
    HT_UNROLL
    for (int h = 0; h <= 2 * HT_FD_SIDE; h++)
        ht_unpack(mine[h - HT_FD_SIDE], row + h * HT_BLOCK);
    HT_UNROLL
    for (int h = 0; h <= 2 * HT_FD_NEAR; h++)
        ht_unpack(ht_fd_read(b1 + (h - HT_FD_NEAR) * HT_BLOCK),
                  flux + h * HT_BLOCK);
    HT_UNROLL
    for (int n = -HT_FD_R; n < HT_BLOCK + HT_FD_R - 1; n++) {
        const int at = HT_FD_SIDE * HT_BLOCK + n;
        real slope = 0;
        HT_UNROLL
        for (int j = 0; j < HT_FD_R; j++)
            slope = HT_FD_FIRST(c->c[HT_DIMS][j], row[at - j], row[at + 1 + j],
                                slope);
        flux[HT_FD_NEAR * HT_BLOCK + n] =
            HT_FD_FLUX(flux[HT_FD_NEAR * HT_BLOCK + n], slope);
    }
    HT_UNROLL
    for (int j = 0; j < HT_FD_R; j++) {
        HT_UNROLL
        for (int e = 0; e < HT_BLOCK; e++) {
            const int at = HT_FD_NEAR * HT_BLOCK + e;
            sum[e] =
                HT_FD_FIRST(c->c[0][j], flux[at - 1 - j], flux[at + j], sum[e]);
        }
    }
}

#if HT_DIMS > 2
/* The fluxes along x2 of a plane, into their tile; b2: at node (0, 0). */
HT_INLINE void
ht_fd_fill_fluxes(const struct ht_fd_item *me, const struct ht_fd_args *s,
                  const struct ht_fd_coefs *c, HT_GLOBAL const real *b2,
                  HT_LOCAL const ht_pack *tile, HT_LOCAL ht_pack *fluxes) {
    HT_LOCAL const ht_pack *column = tile + HT_FD_SIDE + me->x;
    HT_UNROLL
    for (int n = 0; n < HT_FD_FLUX_ROWS; n += HT_FD_ROWS) {
        const int r = n + me->y, at = r + HT_FD_R - 1; /* at: in the tile */
        if (r < HT_FD_FLUX_ROWS) {
            real b[HT_BLOCK], slope[HT_BLOCK];
            const long row = ht_fd_least(me->first2 - HT_FD_R + r, me->most2);
            ht_unpack(ht_fd_read(b2 + row * s->row + me->i1), b);
            HT_UNROLL
            for (int e = 0; e < HT_BLOCK; e++) slope[e] = 0;
            HT_UNROLL
            for (int j = 0; j < HT_FD_R; j++) {
                real below[HT_BLOCK], above[HT_BLOCK];
                ht_unpack(column[(at - j) * HT_FD_PITCH], below);
                ht_unpack(column[(at + 1 + j) * HT_FD_PITCH], above);
                HT_UNROLL
                for (int e = 0; e < HT_BLOCK; e++)
                    slope[e] = HT_FD_FIRST(c->c[HT_DIMS][j], below[e], above[e],
                                           slope[e]);
            }
            HT_UNROLL
            for (int e = 0; e < HT_BLOCK; e++)
                b[e] = HT_FD_FLUX(b[e], slope[e]);
            fluxes[r * HT_FD_PACKS + me->x] = ht_packed(b);
        }
    }
}

/* sum += D_2. */
HT_INLINE void ht_fd_along_column(const struct ht_fd_item *me,
                                  const struct ht_fd_coefs *c,
                                  HT_LOCAL const ht_pack *fluxes,
                                  real sum[HT_BLOCK]) {
    HT_LOCAL const ht_pack *mine =
        fluxes + (me->y + HT_FD_R) * HT_FD_PACKS + me->x;
    HT_UNROLL
    for (int j = 0; j < HT_FD_R; j++) {
        real below[HT_BLOCK], above[HT_BLOCK];
        ht_unpack(mine[-(1 + j) * HT_FD_PACKS], below);
        ht_unpack(mine[j * HT_FD_PACKS], above);
        HT_UNROLL
        for (int e = 0; e < HT_BLOCK; e++)
            sum[e] = HT_FD_FIRST(c->c[1][j], below[e], above[e], sum[e]);
    }
}
#endif

#if HT_DIMS > 1
/* The flux along the march that follows from the line. */
HT_INLINE void ht_fd_new_flux(const struct ht_fd_coefs *c,
                              const real line[2 * HT_FD_R][HT_BLOCK],
                              HT_GLOBAL const real *b, real flux[HT_BLOCK]) {
    real slope[HT_BLOCK];
    HT_UNROLL
    for (int e = 0; e < HT_BLOCK; e++) slope[e] = 0;
    HT_UNROLL
    for (int j = 0; j < HT_FD_R; j++) {
        HT_UNROLL
        for (int e = 0; e < HT_BLOCK; e++)
            slope[e] = HT_FD_FIRST(c->c[HT_DIMS][j], line[HT_FD_R - 1 - j][e],
                                   line[HT_FD_R + j][e], slope[e]);
    }
    ht_unpack(ht_fd_read(b), flux);
    HT_UNROLL
    for (int e = 0; e < HT_BLOCK; e++) flux[e] = HT_FD_FLUX(flux[e], slope[e]);
}

/* sum += D of the last axis. */
HT_INLINE void ht_fd_along_march(const struct ht_fd_coefs *c,
                                 const real flux[2 * HT_FD_R][HT_BLOCK],
                                 real sum[HT_BLOCK]) {
    HT_UNROLL
    for (int j = 0; j < HT_FD_R; j++) {
        HT_UNROLL
        for (int e = 0; e < HT_BLOCK; e++)
            sum[e] = HT_FD_FIRST(c->c[HT_DIMS - 1][j], flux[HT_FD_R - 1 - j][e],
                                 flux[HT_FD_R + j][e], sum[e]);
    }
}

HT_INLINE void ht_fd_shift(real queue[2 * HT_FD_R][HT_BLOCK]) {
    HT_UNROLL
    for (int k = 0; k < 2 * HT_FD_R - 1; k++) {
        HT_UNROLL
        for (int e = 0; e < HT_BLOCK; e++) queue[k][e] = queue[k + 1][e];
    }
}

/* Takes the values of a plane that u points to into the line, then the flux
 * that follows. */
HT_INLINE void ht_fd_take_plane(const struct ht_fd_coefs *c,
                                HT_GLOBAL const real *u,
                                HT_GLOBAL const real *b, const long step,
                                real line[2 * HT_FD_R][HT_BLOCK],
                                real flux[2 * HT_FD_R][HT_BLOCK]) {
    ht_fd_shift(line);
    ht_fd_shift(flux);
    ht_unpack(ht_fd_read(u + (2 * HT_FD_R - 1) * step), line[2 * HT_FD_R - 1]);
    ht_fd_new_flux(c, line, b + (HT_FD_R - 1) * step, flux[2 * HT_FD_R - 1]);
}
#endif

HT_INLINE void ht_fd_walk(const struct ht_fd_args *s,
                          const struct ht_fd_coefs *c, const int mode,
                          HT_FD_PARAMS, HT_LOCAL ht_pack *tile) {
    struct ht_fd_item me;
    ht_fd_set_item(s, &me);
    const int own = (me.y + HT_FD_HALO) * HT_FD_PITCH + HT_FD_SIDE + me.x;
    const long step = HT_DIMS > 1 ? ht_fd_stride(s, HT_DIMS - 1) : 0;
    const long mine = me.i2 * s->row + me.i1;
    /* b1 is read to both sides: not further than most1. */
    HT_GLOBAL const real *beside =
        b1 + me.i2 * s->row +
        ht_fd_least(me.i1, me.most1 - HT_FD_NEAR * HT_BLOCK);
    real line[HT_FD_AHEAD + 1][HT_BLOCK];
#if HT_DIMS > 1
    HT_GLOBAL const real *b = (HT_DIMS > 2 ? b3 : b2) + mine;
    real flux[2 * HT_FD_R][HT_BLOCK];
    HT_UNROLL
    for (int k = 1; k <= HT_FD_AHEAD; k++)
        ht_unpack(
            ht_fd_read(u + (me.begin - HT_FD_AHEAD + k - 1) * step + mine),
            line[k]);
    for (long z = me.begin - HT_FD_AHEAD; z < me.begin; z++)
        ht_fd_take_plane(c, u + z * step + mine, b + z * step, step, line,
                         flux);
#endif
    for (long z = me.begin; z < me.end; z++) {
        const long at = z * step + mine;
        struct ht_fd_put put;
        real sum[HT_BLOCK];
#if HT_DIMS > 1
        ht_fd_take_plane(c, u + at, b + z * step, step, line, flux);
#else
        ht_unpack(ht_fd_read(u + at), line[0]);
#endif
        ht_fd_set_put(&me, mode, a + at, d + at, p + at, &put);
        tile[own] = ht_packed(line[0]);
        ht_fd_surround(&me, s, u + z * step, tile);
        HT_BARRIER();
        HT_UNROLL
        for (int e = 0; e < HT_BLOCK; e++) sum[e] = 0;
        ht_fd_along_row(c, tile + own, beside + z * step, sum);
#if HT_DIMS > 2
        ht_fd_fill_fluxes(&me, s, c, b2 + z * step, tile, tile + HT_FD_TILE);
#endif
        HT_BARRIER();
#if HT_DIMS > 2
        ht_fd_along_column(&me, c, tile + HT_FD_TILE, sum);
#endif
#if HT_DIMS > 1
        ht_fd_along_march(c, flux, sum);
#endif
        ht_fd_write(&me, mode, sum, line[0], &put, d + at, out + at);
    }
}
