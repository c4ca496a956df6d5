/* The half step of cl/separable.cl in three dimensions for high orders, whose
 * coefficients the registers of one work-item do not hold: a team computes a
 * target per x3 plane and marches along x3. It has HT_TILE_PARTS work-items for
 * each number 0..N, each with HT_TILE values of r1. Work-item (part * (N + 1) +
 * own) * HT_CELLS + cell of a group, for its r1,
 *
 *     reads the coefficients i3 = own of four source nodes, applies the
 *     operators along x1 and x2 and writes faces[i3 = own][r2][r1][cell],
 *     reads faces[i3][r2 = own][r1][cell], applies the operator along x3 and
 *     writes results[r3][r2 = own][r1][cell],
 *     stores some packs of the results.
 *
 * Its contribution of the lower face, low[r3][r] for r2 = own, stays in
 * registers. Neighbouring work-items have neighbouring cells.
 */
#define HT_TILE_PARTS ((HT_N1 + HT_TILE - 1) / HT_TILE)
#define HT_TEAM (HT_TILE_PARTS * HT_N1)
#define HT_PLANE (HT_N2 * HT_TILE)
#define HT_SLAB (HT_N1 * HT_N2)
#define HT_CUBE (HT_SLAB * HT_N3)
#define HT_PACKS ((HT_CUBE + HT_BLOCK - 1) / HT_BLOCK)
/* Packs that hold a slab, the coefficients of one i3, wherever it begins. */
#define HT_SKIPS (HT_SLAB % HT_BLOCK != 0)
#define HT_SLAB_PACKS \
    ((HT_SLAB + (HT_SKIPS ? 2 : 1) * (HT_BLOCK - 1)) / HT_BLOCK)

/* Drops the first `count` values of a slab. */
HT_INLINE void ht_skip(const int count, real slab[HT_SLAB_PACKS * HT_BLOCK]) {
    HT_UNROLL
    for (int i = 0; i < HT_SLAB_PACKS * HT_BLOCK - count; i++)
        slab[i] = slab[i + count];
}

/* slab[i2 (N + 1) + i1], what follows it unused. */
HT_INLINE void ht_read_slab(HT_GLOBAL const real *src, const int i3,
                            const long node, const long nodes,
                            real slab[HT_SLAB_PACKS * HT_BLOCK]) {
    const int first = i3 * HT_SLAB / HT_BLOCK, skip = i3 * HT_SLAB % HT_BLOCK;
    HT_GLOBAL const ht_pack *at = (HT_GLOBAL const ht_pack *)src + node;
    HT_UNROLL
    for (int b = 0; b < HT_SLAB_PACKS; b++) {
        const int next = first + b < HT_PACKS ? first + b : HT_PACKS - 1;
        ht_unpack(at[next * nodes], &slab[b * HT_BLOCK]);
    }
#if HT_SKIPS
    if (skip & 1) ht_skip(1, slab);
    if (skip & 2) ht_skip(2, slab);
#else
    (void)skip;
#endif
}

/* face[r2 * HT_TILE + r] += contribution of two nodes along x1 in the lower
 * (side 0) or upper (side 1) row to r1 = first + r. */
HT_INLINE void ht_add_row(real slab[2][HT_SLAB_PACKS * HT_BLOCK],
                          const int side, const int first,
                          real face[HT_PLANE]) {
    HT_UNROLL
    for (int i2 = 0; i2 < HT_N2; i2++) {
        HT_UNROLL
        for (int r = 0; r < HT_TILE; r++) {
            if (first + r >= HT_N1) continue;
            real sum = 0;
            HT_UNROLL
            for (int i1 = 0; i1 < HT_N1; i1++) {
                const int at = i2 * HT_N1 + i1;
                sum = fma(HT_AXIS_AT(0, 0, first + r, i1), slab[0][at], sum);
                sum = fma(HT_AXIS_AT(0, 1, first + r, i1), slab[1][at], sum);
            }
            HT_UNROLL
            for (int r2 = 0; r2 < HT_N2; r2++)
                face[r2 * HT_TILE + r] = fma(HT_AXIS_AT(1, side, r2, i2), sum,
                                             face[r2 * HT_TILE + r]);
        }
    }
}

/* The operator along x3 of one side on a line of values of both faces. */
HT_INLINE real ht_along_3(const int side, const int r3, const real line[HT_N3],
                          real sum) {
    HT_UNROLL
    for (int i3 = 0; i3 < HT_N3; i3++)
        sum = fma(HT_AXIS_AT(2, side, r3, i3), line[i3], sum);
    return sum;
}

HT_KERNEL HT_GROUP_SIZE(HT_GROUP_ITEMS) void ht_separable_team(
    struct ht_step_args a, HT_GLOBAL const real *HT_RESTRICT unused,
    HT_GLOBAL const real *HT_RESTRICT src0, HT_GLOBAL real *HT_RESTRICT dst0) {
    HT_LOCAL_ARRAY(real, faces, HT_SIZE_TEAM_CUBE(HT_CUBE, HT_CELLS));
    HT_LOCAL_ARRAY(real, results, HT_SIZE_TEAM_CUBE(HT_CUBE, HT_CELLS));
    const int member = HT_ITEM() / HT_CELLS, cell = HT_ITEM() % HT_CELLS;
    const int own = member % HT_N1, part = member / HT_N1;
    const long first1 = a.begin[0] + HT_GROUP_1() * HT_CELLS + cell;
    const int active = first1 < a.end[0];
    const long m1 = active ? first1 : a.end[0] - 1;
    const long m2 = a.begin[1] + HT_GROUP_2();
    const long begin = ht_first_plane(&a), end = ht_last_plane(&a);
    const long left = ht_closed(&a, 0, m1 + a.shift[0]);
    const long right = ht_closed(&a, 0, m1 + a.shift[0] + 1);
    real low[HT_PLANE];
    (void)unused;
    HT_UNROLL
    for (int q = 0; q < HT_PLANE; q++) low[q] = 0;
    for (long m3 = begin; m3 <= end; m3++) {
        real face[HT_PLANE];
        HT_UNROLL
        for (int q = 0; q < HT_PLANE; q++) face[q] = 0;
        HT_UNROLL
        for (int side = 0; side < 2; side++) {
            real slab[2][HT_SLAB_PACKS * HT_BLOCK];
            const long row =
                ht_source_row(&a, m2 + a.shift[1] + side, m3 + a.shift[2]);
            ht_read_slab(src0, own, row + left, a.src_nodes, slab[0]);
            ht_read_slab(src0, own, row + right, a.src_nodes, slab[1]);
            HT_UNROLL
            for (int p = 0; p < HT_TILE_PARTS; p++)
                if (part == p) ht_add_row(slab, side, p * HT_TILE, face);
        }
        HT_UNROLL
        for (int q = 0; q < HT_PLANE; q++) {
            const int r1 = part * HT_TILE + q % HT_TILE;
            if (r1 < HT_N1)
                faces[((own * HT_N2 + q / HT_TILE) * HT_N1 + r1) * HT_CELLS +
                      cell] = face[q];
        }
        HT_BARRIER();
        HT_UNROLL
        for (int r = 0; r < HT_TILE; r++) {
            const int r1 = part * HT_TILE + r;
            const int at = (own * HT_N1 + r1) * HT_CELLS + cell;
            if (r1 >= HT_N1) continue;
            real line[HT_N3];
            HT_UNROLL
            for (int i3 = 0; i3 < HT_N3; i3++)
                line[i3] = faces[i3 * HT_SLAB * HT_CELLS + at];
            HT_UNROLL
            for (int r3 = 0; r3 < HT_N3; r3++) {
                real *kept = &low[r3 * HT_TILE + r];
                results[r3 * HT_SLAB * HT_CELLS + at] =
                    ht_along_3(1, r3, line, *kept);
                *kept = ht_along_3(0, r3, line, 0);
            }
        }
        HT_BARRIER();
        /* the first face is below the first targets */
        const int stores = active && m3 > begin;
        const long node = ht_target_row(&a, m2, m3 - 1) + m1;
        for (int b = member; b < HT_PACKS && stores; b += HT_TEAM) {
            real w[HT_BLOCK];
            HT_UNROLL
            for (int j = 0; j < HT_BLOCK; j++) {
                const int i = b * HT_BLOCK + j;
                w[j] = i < HT_CUBE ? results[i * HT_CELLS + cell] : (real)0;
            }
            ((HT_GLOBAL ht_pack *)dst0)[b * a.dst_nodes + node] = ht_packed(w);
        }
    }
}
