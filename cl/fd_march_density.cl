/* Finite differences, varying density, on GPUs: groups, work-items and tile of fd_march.cl, with
 * HT_FD_REACH rows and nodes around. With i + 1/2 written as i, fluxes and their differences are
 *     f_k(i) = b_k(i) sum_j s_j (u(i + 1 + j) - u(i - j)),
 *     D_k(i) = sum_j s_j (f_k(i + j) - f_k(i - 1 - j)),   j = 0 .. R-1.
 *
 * Fluxes along x1 and x2 are computed once for the group, in place of b1 and b2 in local memory,
 * those beside it too: packs to either side of its rows, and HT_FD_ROWS + 2R - 1 rows from row -R
 * on. While a plane is computed the tiles of the next one are filled.
 *
 * Along the axis of the march nothing waits for planes to come: the values of a plane go into all
 * slopes they matter to, a flux into all differences. With t_m = s_m + s_(m+1) + .. and e(i) =
 * u(i + 1) - u(i)
 *     sum_j s_j (u(i + 1 + j) - u(i - j)) = sum_m t_|m| e(i + m),  |m| < R,
 * as many operations as the first sum, no value moves from one register to the next, and it is
 * exactly 0 of a constant. The plane z of targets lags 2R - 1 planes behind the one that is read.
 */
#define HT_FD_AHEAD (HT_DIMS > 1 ? 2 * HT_FD_R - 1 : 0)
#define HT_FD_FLUX_ROWS HT_FD_FLUX_ROWS_OF(HT_DIMS, HT_FD_ROWS, HT_FD_R)
#define HT_FD_TURN HT_FD_TURN_OF(HT_DIMS, HT_FD_ROWS, HT_FD_R)
#define HT_FD_LOCAL_TYPE ht_pack
#define HT_FD_FLUXES (HT_FD_FLUX_ROWS * HT_FD_PACKS)
#define HT_FD_BESIDE_PITCH (HT_FD_PACKS + 2 * HT_FD_NEAR)
#define HT_FD_BESIDE HT_FD_BESIDE_OF(HT_FD_PACKS, HT_FD_ROWS, HT_FD_NEAR)
/* Of a plane: the tile; b2, then fluxes along x2; b1, then fluxes along x1; values and b ahead
 * along the march. */
#define HT_FD_OWN_AT (HT_FD_TILE + HT_FD_FLUXES + HT_FD_BESIDE)
#define HT_FD_STAGE_PACKS (HT_FD_OWN_AT + HT_FD_OWN_OF(HT_DIMS, HT_TOOL_ITEMS))
#define HT_FD_LOCAL (2 * HT_FD_STAGE_PACKS)
/* Planes up to the last one whose values a work-item keeps. All from that of the targets on where
 * they take few registers: then those of the next plane need not be read again for the tile. */
#if HT_FD_R == 2 && HT_DIMS > 1
#define HT_FD_KEPT 3
#define HT_FD_MIDDLE(m, k) (m).kept[k]
#else
#define HT_FD_KEPT 1
#define HT_FD_MIDDLE(m, k) 0
#endif

/* The nearest pack of a tile's row. */
HT_INLINE int ht_fd_in_row(int at) {
#if 2 * HT_FD_NEAR > HT_FD_SIDE
    const int last = HT_FD_PACKS + HT_FD_SIDE - 1;
    return at < -HT_FD_SIDE ? -HT_FD_SIDE : at > last ? last : at;
#else
    return at;
#endif
}

/* Fluxes along x1 of a pack, in place of b1; what lies further from the group's packs than
 * HT_FD_SIDE matters to none of the fluxes that are needed. at: the pack, counted from the group's
 * first one; row: of the tile. */
HT_INLINE void ht_fd_fill_row_flux(const struct ht_fd_coefs *c, HT_LOCAL const ht_pack *row,
                                   const int at, HT_LOCAL ht_pack *flux) {
    real u[(2 * HT_FD_NEAR + 1) * HT_BLOCK], b[HT_BLOCK];
    HT_UNROLLED_FROM(h, -HT_FD_NEAR, HT_FD_NEAR + 1)
        ht_unpack(row[ht_fd_in_row(at + h)], u + (h + HT_FD_NEAR) * HT_BLOCK);
    ht_unpack(*flux, b);
    HT_UNROLLED(e, HT_BLOCK) {
        const int n = HT_FD_NEAR * HT_BLOCK + e;
        real slope = 0;
        HT_UNROLLED(j, HT_FD_R)
            slope = HT_FD_FIRST(c->c[HT_DIMS][j], u[n - j], u[n + 1 + j], slope);
        b[e] = HT_FD_FLUX(b[e], slope);
    }
    *flux = ht_packed(b);
}

/* The fluxes along x1 of a plane: each work-item does its pack, then the first ones do those beside
 * the group. first: the group's first pack in the tile; fluxes: in place of b1. */
HT_INLINE void ht_fd_fill_row_fluxes(const struct ht_fd_item *me, const struct ht_fd_coefs *c,
                                     HT_LOCAL const ht_pack *first, HT_LOCAL ht_pack *fluxes) {
    const int item = me->y * HT_FD_PACKS + me->x;
    const int y = item / (2 * HT_FD_NEAR), side = item % (2 * HT_FD_NEAR);
    const int at = side < HT_FD_NEAR ? side - HT_FD_NEAR : HT_FD_PACKS + side - HT_FD_NEAR;
    ht_fd_fill_row_flux(c, first + me->y * HT_FD_PITCH, me->x,
                        fluxes + me->y * HT_FD_BESIDE_PITCH + HT_FD_NEAR + me->x);
    if (y < HT_FD_ROWS)
        ht_fd_fill_row_flux(c, first + y * HT_FD_PITCH, at,
                            fluxes + y * HT_FD_BESIDE_PITCH + HT_FD_NEAR + at);
}

/* sum += D_1. mine: the fluxes of the pack. */
HT_INLINE void ht_fd_along_row(const struct ht_fd_coefs *c, HT_LOCAL const ht_pack *mine,
                               real sum[HT_BLOCK]) {
    real flux[(2 * HT_FD_NEAR + 1) * HT_BLOCK];
    HT_UNROLLED_FROM(h, -HT_FD_NEAR, HT_FD_NEAR + 1)
        ht_unpack(mine[h], flux + (h + HT_FD_NEAR) * HT_BLOCK);
    HT_UNROLLED(j, HT_FD_R)
        HT_UNROLLED(e, HT_BLOCK) {
            const int at = HT_FD_NEAR * HT_BLOCK + e;
            sum[e] = HT_FD_FIRST(c->c[0][j], flux[at - 1 - j], flux[at + j], sum[e]);
        }
}

#if HT_DIMS > 2
/* The fluxes along x2 of a plane, in place of b2: each work-item those of HT_FD_TURN rows that
 * follow one another, from the middle outwards, so that it reads each row once. */
HT_INLINE void ht_fd_fill_column_fluxes(const struct ht_fd_item *me, const struct ht_fd_coefs *c,
                                        HT_LOCAL const ht_pack *tile, HT_LOCAL ht_pack *fluxes) {
    const int first = me->y * HT_FD_TURN;
    HT_LOCAL const ht_pack *column =
        tile + (first + HT_FD_R - 1) * HT_FD_PITCH + HT_FD_SIDE + me->x;
    HT_LOCAL ht_pack *mine = fluxes + first * HT_FD_PACKS + me->x;
    real below[HT_FD_TURN][HT_BLOCK], above[HT_FD_TURN][HT_BLOCK];
    real slope[HT_FD_TURN][HT_BLOCK];
    if (first >= HT_FD_FLUX_ROWS) return;
    HT_UNROLLED(k, HT_FD_TURN) {
        ht_unpack(column[k * HT_FD_PITCH], below[k]);
        if (k < HT_FD_TURN - 1) ht_unpack(column[(k + 1) * HT_FD_PITCH], above[k]);
        HT_UNROLLED(e, HT_BLOCK) slope[k][e] = 0;
    }
    HT_UNROLLED(j, HT_FD_R) {
        ht_unpack(column[(HT_FD_TURN + j) * HT_FD_PITCH], above[HT_FD_TURN - 1]);
        HT_UNROLLED(k, HT_FD_TURN)
            HT_UNROLLED(e, HT_BLOCK)
                slope[k][e] = HT_FD_FIRST(c->c[HT_DIMS][j], below[k][e], above[k][e], slope[k][e]);
        HT_UNROLLED(k, HT_FD_TURN - 1)
            HT_UNROLLED(e, HT_BLOCK) above[k][e] = above[k + 1][e];
        HT_UNROLL
        for (int k = HT_FD_TURN - 1; k > 0; k--)
            HT_UNROLLED(e, HT_BLOCK) below[k][e] = below[k - 1][e];
        if (j + 1 < HT_FD_R) ht_unpack(column[-(1 + j) * HT_FD_PITCH], below[0]);
    }
    HT_UNROLLED(k, HT_FD_TURN) {
        real b[HT_BLOCK];
        if (first + k >= HT_FD_FLUX_ROWS) return;
        ht_unpack(mine[k * HT_FD_PACKS], b);
        HT_UNROLLED(e, HT_BLOCK) b[e] = HT_FD_FLUX(b[e], slope[k][e]);
        mine[k * HT_FD_PACKS] = ht_packed(b);
    }
}

/* sum += D_2. */
HT_INLINE void ht_fd_along_column(const struct ht_fd_item *me, const struct ht_fd_coefs *c,
                                  HT_LOCAL const ht_pack *fluxes, real sum[HT_BLOCK]) {
    HT_LOCAL const ht_pack *mine = fluxes + (me->y + HT_FD_R) * HT_FD_PACKS + me->x;
    HT_UNROLLED(j, HT_FD_R) {
        real below[HT_BLOCK], above[HT_BLOCK];
        ht_unpack(mine[-(1 + j) * HT_FD_PACKS], below);
        ht_unpack(mine[j * HT_FD_PACKS], above);
        HT_UNROLLED(e, HT_BLOCK) sum[e] = HT_FD_FIRST(c->c[1][j], below[e], above[e], sum[e]);
    }
}
#endif

#if HT_DIMS > 1
/* What a work-item keeps of its march. */
struct ht_fd_march {
    real kept[HT_FD_KEPT][HT_BLOCK];
    real slope[2 * HT_FD_R - 1][HT_BLOCK]; /* begun */
    real sum[2 * HT_FD_R][HT_BLOCK];       /* begun */
};

/* Takes the values of a plane; slope[0] is then complete. */
HT_INLINE void ht_fd_take_values(const struct ht_fd_coefs *c, const real value[HT_BLOCK],
                                 struct ht_fd_march *m) {
    HT_UNROLLED(e, HT_BLOCK) {
        const real change = value[e] - m->kept[HT_FD_KEPT - 1][e];
        HT_UNROLLED(k, HT_FD_KEPT)
            m->kept[k][e] = k < HT_FD_KEPT - 1 ? m->kept[k + 1][e] : value[e];
        HT_UNROLLED(k, 2 * HT_FD_R - 1) {
            const int from = k < HT_FD_R ? HT_FD_R - 1 - k : k - HT_FD_R + 1;
            const real old = k < 2 * HT_FD_R - 2 ? m->slope[k + 1][e] : 0;
            m->slope[k][e] = fma(c->c[HT_DIMS + 1][from], change, old);
        }
    }
}

/* Takes a flux; sum[0] is then complete. */
HT_INLINE void ht_fd_take_flux(const struct ht_fd_coefs *c, const real b[HT_BLOCK],
                               struct ht_fd_march *m) {
    HT_UNROLLED(e, HT_BLOCK) {
        const real flux = HT_FD_FLUX(b[e], m->slope[0][e]);
        HT_UNROLLED(k, 2 * HT_FD_R) {
            const real old = k < 2 * HT_FD_R - 1 ? m->sum[k + 1][e] : 0;
            m->sum[k][e] = k < HT_FD_R ? fma(c->c[HT_DIMS - 1][HT_FD_R - 1 - k], flux, old)
                                       : fma(-c->c[HT_DIMS - 1][k - HT_FD_R], flux, old);
        }
    }
}
#endif

/* Begins to fill the tiles of a plane: u, b1, b2 point to its node (0, 0). */
HT_INLINE void ht_fd_fill(const struct ht_fd_item *me, HT_GLOBAL const real *u,
                          HT_GLOBAL const real *b1, HT_GLOBAL const real *b2,
                          HT_GLOBAL const real *along, long step, const real *middle,
                          HT_LOCAL ht_pack *tile) {
    HT_LOCAL ht_pack *mine = tile + (me->y + HT_FD_HALO) * HT_FD_PITCH + HT_FD_SIDE + me->x;
    HT_LOCAL ht_pack *fluxes = tile + HT_FD_TILE + me->x;
    HT_LOCAL ht_pack *beside =
        tile + HT_FD_TILE + HT_FD_FLUXES + me->y * HT_FD_BESIDE_PITCH + me->x;
    const ht_fd_offset row = me->i2 * me->row;
    const ht_fd_offset left = me->first1 + (me->x - HT_FD_NEAR) * HT_BLOCK;
    if (HT_FD_KEPT > 1)
        *mine = ht_packed(middle);
    else
        ht_fd_copy(mine, u + (row + me->i1));
    ht_fd_surround(me, u, tile);
    ht_fd_copy(beside, b1 + (row + ht_fd_least(left, me->most1)));
    if (me->x < 2 * HT_FD_NEAR)
        ht_fd_copy(beside + HT_FD_PACKS,
                   b1 + (row + ht_fd_least(left + HT_FD_PACKS * HT_BLOCK, me->most1)));
    HT_UNROLL
    for (int n = 0; n < HT_FD_FLUX_ROWS; n += HT_FD_ROWS) {
        const int r = n + me->y;
        const ht_fd_offset at = ht_fd_least(me->first2 - HT_FD_R + r, me->most2);
        if (r < HT_FD_FLUX_ROWS) ht_fd_copy(fluxes + r * HT_FD_PACKS, b2 + (at * me->row + me->i1));
    }
#if HT_DIMS > 1
    HT_LOCAL ht_pack *ahead = tile + HT_FD_OWN_AT + HT_ITEM();
    ht_fd_copy(ahead, u + HT_FD_AHEAD * step + (row + me->i1));
    ht_fd_copy(ahead + HT_TOOL_ITEMS, along + (HT_FD_R - 1) * step + (row + me->i1));
#endif
    HT_COPY_COMMIT();
}

HT_INLINE void ht_fd_walk(const struct ht_fd_args *s, const struct ht_fd_coefs *c, const int mode,
                          HT_FD_PARAMS, HT_LOCAL ht_pack *tiles) {
    struct ht_fd_item me;
    ht_fd_set_item(s, HT_ITEM() % HT_FD_PACKS, HT_ITEM() / HT_FD_PACKS, &me);
    const int own = (me.y + HT_FD_HALO) * HT_FD_PITCH + HT_FD_SIDE + me.x;
    const int beside = HT_FD_TILE + HT_FD_FLUXES + me.y * HT_FD_BESIDE_PITCH + HT_FD_NEAR + me.x;
    const long step = HT_DIMS > 1 ? ht_fd_stride(s, HT_DIMS - 1) : 0;
    const long mine = (long)me.i2 * s->row + me.i1;
    HT_GLOBAL const real *along = HT_DIMS > 2 ? b3 : b2;
#if HT_DIMS > 1
    real lead[HT_BLOCK];
    struct ht_fd_march m;
    real b[HT_BLOCK];
    HT_UNROLLED(k, 2 * HT_FD_R - 1)
        HT_UNROLLED(e, HT_BLOCK) m.slope[k][e] = 0;
    HT_UNROLLED(k, 2 * HT_FD_R)
        HT_UNROLLED(e, HT_BLOCK) m.sum[k][e] = 0;
    HT_GLOBAL const real *before = u + (me.begin - HT_FD_AHEAD) * step + mine;
    ht_unpack(ht_fd_read(before), m.kept[HT_FD_KEPT - 1]);
    HT_UNROLL_BY(7)
    for (int n = 1; n < HT_FD_AHEAD; n++) {
        ht_unpack(ht_fd_read(before + n * step), lead);
        ht_fd_take_values(c, lead, &m);
    }
    HT_GLOBAL const real *medium = along + (me.begin - HT_FD_R) * step + mine;
    before += HT_FD_AHEAD * step;
    HT_UNROLL_BY(5)
    for (int n = 0; n < HT_FD_AHEAD; n++) {
        ht_unpack(ht_fd_read(before + n * step), lead);
        ht_unpack(ht_fd_read(medium + n * step), b);
        ht_fd_take_values(c, lead, &m);
        ht_fd_take_flux(c, b, &m);
    }
#endif
    ht_fd_fill(&me, u + me.begin * step, b1 + me.begin * step, b2 + me.begin * step,
               along + me.begin * step, step, HT_FD_MIDDLE(m, 0),
               tiles + (me.begin & 1) * HT_FD_STAGE_PACKS);
    for (long z = me.begin; z < me.end; z++) {
        const long at = z * step + mine;
        HT_LOCAL ht_pack *tile = tiles + (z & 1) * HT_FD_STAGE_PACKS;
        struct ht_fd_put put;
        real sum[HT_BLOCK], middle[HT_BLOCK];
        HT_COPY_WAIT(0);
        HT_BARRIER();
#if HT_DIMS > 1
        if (z + 1 < me.end)
            ht_fd_fill(&me, u + (z + 1) * step, b1 + (z + 1) * step, b2 + (z + 1) * step,
                       along + (z + 1) * step, step, HT_FD_MIDDLE(m, 1),
                       tiles + ((z + 1) & 1) * HT_FD_STAGE_PACKS);
#endif
        ht_fd_set_put(&me, mode, a + at, d + at, p + at, &put);
        HT_KEEP_ORDER();
        HT_UNROLLED(e, HT_BLOCK) sum[e] = 0;
        ht_fd_fill_row_fluxes(&me, c, tile + HT_FD_HALO * HT_FD_PITCH + HT_FD_SIDE,
                              tile + HT_FD_TILE + HT_FD_FLUXES);
#if HT_DIMS > 2
        ht_fd_fill_column_fluxes(&me, c, tile, tile + HT_FD_TILE);
#endif
        HT_BARRIER();
        ht_fd_along_row(c, tile + beside, sum);
#if HT_DIMS > 2
        ht_fd_along_column(&me, c, tile + HT_FD_TILE, sum);
#endif
#if HT_DIMS > 1
        ht_unpack(tile[HT_FD_OWN_AT + HT_ITEM()], lead);
        ht_fd_take_values(c, lead, &m);
        ht_unpack(tile[HT_FD_OWN_AT + HT_TOOL_ITEMS + HT_ITEM()], b);
        ht_fd_take_flux(c, b, &m);
        HT_UNROLLED(e, HT_BLOCK) sum[e] += m.sum[0][e];
#endif
        ht_unpack(tile[own], middle);
        ht_fd_write(&me, mode, sum, middle, &put, d + at, out + at HT_FD_KEEP_ARGS(at));
    }
}
