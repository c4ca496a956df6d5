/* Finite differences, varying density, on GPUs: groups, work-items and tile of
 * fd_march.cl, with HT_FD_REACH rows and nodes around. With i + 1/2 written as
 * i, fluxes and their differences are
 *     f_k(i) = b_k(i) sum_j s_j (u(i + 1 + j) - u(i - j)),
 *     D_k(i) = sum_j s_j (f_k(i + j) - f_k(i - 1 - j)),   j = 0 .. R-1.
 *
 * Along x1 a work-item computes all fluxes that its pack needs, from the tile
 * and one of b1. Along x2 each is computed once: a third tile, of HT_FD_ROWS +
 * 2R - 1 rows from row -R of the group on, holds b2 and then, in its place, the
 * fluxes. While a plane is computed the tiles of the next one are filled. Along
 * the axis of the march a work-item holds values of the planes z .. z + 2R - 1
 * (line) and fluxes of z - R .. z + R - 1: so much does the plane z of targets
 * lag behind the plane that is read. The march begins 2R - 1 planes early to
 * fill them.
 */
#define HT_FD_AHEAD (HT_DIMS > 1 ? 2 * HT_FD_R - 1 : 0)
#define HT_FD_FLUX_ROWS HT_FD_FLUX_ROWS_OF(HT_DIMS, HT_FD_ROWS, HT_FD_R)
#define HT_FD_LOCAL_TYPE ht_pack
#define HT_FD_FLUXES (HT_FD_FLUX_ROWS * HT_FD_PACKS)
#define HT_FD_BESIDE_PITCH (HT_FD_PACKS + 2 * HT_FD_NEAR)
#define HT_FD_BESIDE HT_FD_BESIDE_OF(HT_FD_PACKS, HT_FD_ROWS, HT_FD_NEAR)
/* Tile, b2 and then fluxes along x2, b1: of a plane. */
#define HT_FD_STAGE_PACKS (HT_FD_TILE + HT_FD_FLUXES + HT_FD_BESIDE)
#define HT_FD_LOCAL (2 * HT_FD_STAGE_PACKS)
/* Packs to either side of a pack in which its fluxes lie. */
#define HT_FD_NEAR HT_FD_PACKS_OF(HT_FD_R, HT_BLOCK)

/* sum += D_1. mine: the pack in the tile; b1: at the pack. */
HT_INLINE void ht_fd_along_row(const struct ht_fd_coefs *c,
                               HT_LOCAL const ht_pack *mine,
                               HT_LOCAL const ht_pack *b1, real sum[HT_BLOCK]) {
    real row[(2 * HT_FD_SIDE + 1) * HT_BLOCK];
    real flux[(2 * HT_FD_NEAR + 1) * HT_BLOCK];
    HT_UNROLL
    for (int h = 0; h <= 2 * HT_FD_SIDE; h++)
        ht_unpack(mine[h - HT_FD_SIDE], row + h * HT_BLOCK);
    HT_UNROLL
    for (int h = 0; h <= 2 * HT_FD_NEAR; h++)
        ht_unpack(b1[h - HT_FD_NEAR], flux + h * HT_BLOCK);
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
/* The fluxes along x2 of a plane, in place of b2. */
HT_INLINE void ht_fd_fill_fluxes(const struct ht_fd_item *me,
                                 const struct ht_fd_coefs *c,
                                 HT_LOCAL const ht_pack *tile,
                                 HT_LOCAL ht_pack *fluxes) {
    HT_LOCAL const ht_pack *column = tile + HT_FD_SIDE + me->x;
    HT_UNROLL
    for (int n = 0; n < HT_FD_FLUX_ROWS; n += HT_FD_ROWS) {
        const int r = n + me->y, at = r + HT_FD_R - 1; /* at: in the tile */
        if (r < HT_FD_FLUX_ROWS) {
            HT_LOCAL ht_pack *mine = fluxes + r * HT_FD_PACKS + me->x;
            real b[HT_BLOCK], slope[HT_BLOCK];
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
            ht_unpack(*mine, b);
            HT_UNROLL
            for (int e = 0; e < HT_BLOCK; e++)
                b[e] = HT_FD_FLUX(b[e], slope[e]);
            *mine = ht_packed(b);
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
                              const real b[HT_BLOCK], real flux[HT_BLOCK]) {
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
    HT_UNROLL
    for (int e = 0; e < HT_BLOCK; e++) flux[e] = HT_FD_FLUX(b[e], slope[e]);
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

/* Takes the values of a plane into the line, then the flux that follows. */
HT_INLINE void ht_fd_take_plane(const struct ht_fd_coefs *c,
                                const real lead[HT_BLOCK],
                                const real b[HT_BLOCK],
                                real line[2 * HT_FD_R][HT_BLOCK],
                                real flux[2 * HT_FD_R][HT_BLOCK]) {
    ht_fd_shift(line);
    ht_fd_shift(flux);
    HT_UNROLL
    for (int e = 0; e < HT_BLOCK; e++) line[2 * HT_FD_R - 1][e] = lead[e];
    ht_fd_new_flux(c, line, b, flux[2 * HT_FD_R - 1]);
}
#endif

/* Begins to fill the tiles of a plane: u, b1, b2 point to its node (0, 0). */
HT_INLINE void ht_fd_fill(const struct ht_fd_item *me,
                          const struct ht_fd_args *s, HT_GLOBAL const real *u,
                          HT_GLOBAL const real *b1, HT_GLOBAL const real *b2,
                          const real middle[HT_BLOCK], HT_LOCAL ht_pack *tile) {
    HT_LOCAL ht_pack *fluxes = tile + HT_FD_TILE + me->x;
    HT_LOCAL ht_pack *beside =
        tile + HT_FD_TILE + HT_FD_FLUXES + me->y * HT_FD_BESIDE_PITCH + me->x;
    HT_GLOBAL const real *row = b1 + me->i2 * s->row;
    const long left = me->first1 + (me->x - HT_FD_NEAR) * HT_BLOCK;
    tile[(me->y + HT_FD_HALO) * HT_FD_PITCH + HT_FD_SIDE + me->x] =
        ht_packed(middle);
    ht_fd_surround(me, s, u, tile);
    ht_fd_copy(beside, row + ht_fd_least(left, me->most1));
    if (me->x < 2 * HT_FD_NEAR)
        ht_fd_copy(beside + HT_FD_PACKS,
                   row + ht_fd_least(left + HT_FD_PACKS * HT_BLOCK, me->most1));
    HT_UNROLL
    for (int n = 0; n < HT_FD_FLUX_ROWS; n += HT_FD_ROWS) {
        const int r = n + me->y;
        const long at = ht_fd_least(me->first2 - HT_FD_R + r, me->most2);
        if (r < HT_FD_FLUX_ROWS)
            ht_fd_copy(fluxes + r * HT_FD_PACKS, b2 + at * s->row + me->i1);
    }
    HT_COPY_COMMIT();
}

HT_INLINE void ht_fd_walk(const struct ht_fd_args *s,
                          const struct ht_fd_coefs *c, const int mode,
                          HT_FD_PARAMS, HT_LOCAL ht_pack *tiles) {
    struct ht_fd_item me;
    ht_fd_set_item(s, &me);
    const int own = (me.y + HT_FD_HALO) * HT_FD_PITCH + HT_FD_SIDE + me.x;
    const int beside = HT_FD_TILE + HT_FD_FLUXES + me.y * HT_FD_BESIDE_PITCH +
                       HT_FD_NEAR + me.x;
    const long step = HT_DIMS > 1 ? ht_fd_stride(s, HT_DIMS - 1) : 0;
    const long mine = me.i2 * s->row + me.i1;
    real lead[HT_BLOCK];
#if HT_DIMS > 1
    HT_GLOBAL const real *along = (HT_DIMS > 2 ? b3 : b2) + mine;
    real line[2 * HT_FD_R][HT_BLOCK], flux[2 * HT_FD_R][HT_BLOCK];
    real b[HT_BLOCK];
    HT_UNROLL
    for (int k = 1; k <= HT_FD_AHEAD; k++)
        ht_unpack(
            ht_fd_read(u + (me.begin - HT_FD_AHEAD + k - 1) * step + mine),
            line[k]);
    for (long z = me.begin - HT_FD_AHEAD; z < me.begin; z++) {
        ht_unpack(ht_fd_read(u + (z + HT_FD_AHEAD) * step + mine), lead);
        ht_unpack(ht_fd_read(along + (z + HT_FD_R - 1) * step), b);
        ht_fd_take_plane(c, lead, b, line, flux);
    }
#endif
    ht_unpack(ht_fd_read(u + me.begin * step + mine), lead);
    ht_fd_fill(&me, s, u + me.begin * step, b1 + me.begin * step,
               b2 + me.begin * step, lead,
               tiles + (me.begin & 1) * HT_FD_STAGE_PACKS);
    for (long z = me.begin; z < me.end; z++) {
        const long at = z * step + mine;
        HT_LOCAL ht_pack *tile = tiles + (z & 1) * HT_FD_STAGE_PACKS;
        struct ht_fd_put put;
        real sum[HT_BLOCK], middle[HT_BLOCK];
        HT_COPY_WAIT(0);
        HT_BARRIER();
#if HT_DIMS > 1
        ht_unpack(ht_fd_read(u + at + HT_FD_AHEAD * step), lead);
        ht_unpack(ht_fd_read(along + (z + HT_FD_R - 1) * step), b);
        if (z + 1 < me.end)
            ht_fd_fill(&me, s, u + (z + 1) * step, b1 + (z + 1) * step,
                       b2 + (z + 1) * step, HT_FD_R > 1 ? line[2] : lead,
                       tiles + ((z + 1) & 1) * HT_FD_STAGE_PACKS);
#endif
        ht_fd_set_put(&me, mode, a + at, d + at, p + at, &put);
        HT_UNROLL
        for (int e = 0; e < HT_BLOCK; e++) sum[e] = 0;
        ht_fd_along_row(c, tile + own, tile + beside, sum);
#if HT_DIMS > 2
        ht_fd_fill_fluxes(&me, c, tile, tile + HT_FD_TILE);
        HT_BARRIER();
        ht_fd_along_column(&me, c, tile + HT_FD_TILE, sum);
#endif
#if HT_DIMS > 1
        ht_fd_take_plane(c, lead, b, line, flux);
        ht_fd_along_march(c, flux, sum);
#endif
        ht_unpack(tile[own], middle);
        ht_fd_write(&me, mode, sum, middle, &put, d + at, out + at);
    }
}
