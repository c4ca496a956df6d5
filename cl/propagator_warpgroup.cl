/* The half step by parity blocks as cl/propagator_planes.cl does it, by
 * products of whole warpgroups (cl/wgmma.cl), which read the operator from
 * local memory themselves and run beside the sums of the next ones.
 *
 * The four warps of a warpgroup have 64 targets: 16 along x1, two rows, two
 * planes. A group is HT_TEAMS x HT_ROWS / 2 warpgroups: each team computes
 * another part of the parity blocks, of all targets of the group.
 *
 * A product is at most HT_MOST_WIDE tiles of one parity block, in three parts,
 * low x high, high x low, high x high, from zero for each k step, since tensor
 * cores cut off sums; their results are added to `acc` while the next product
 * runs. The operator is in both halves and in the order of cl/wgmma.cl:
 *     op[group of parts][chunk][k step][high, low][team][tile][64].
 * Then for each part the info of cl/propagator_tensor.cl.
 */
#define HT_TEAM_ITEMS (64 * HT_ROWS)
#define HT_GROUP_PARTS (HT_PARTS / HT_TEAMS)
/* values of the operator: a half of a k step, a chunk, a group of parts */
#define HT_HALF_VALUES (HT_TEAMS * HT_TILES * 64)
#define HT_CHUNK_VALUES (HT_PAIRS * 2 * HT_HALF_VALUES)
#define HT_CHUNK_PACKS (HT_CHUNK_VALUES / HT_BLOCK)
#define HT_OP_SIZE (HT_CHUNKS * HT_CHUNK_VALUES)

/* A product that runs: its tiles in acc; 0 wide: none. */
struct ht_running {
    int first, wide;
};

HT_INLINE void ht_add_products(const struct ht_running *done, real part[][4],
                               real acc[HT_TILES][4]) {
    HT_UNROLL
    for (int n = 0; n < HT_MOST_WIDE; n++) {
        HT_UNROLL
        for (int e = 0; e < 4; e++) {
            if (n >= done->wide) continue;
            HT_AWAITED(part[n][e]);
            acc[done->first + n][e] += part[n][e];
        }
    }
}

/* The left side of parity block g: vertex sums at the lane's targets for a pair
 * of coefficients, in leading bits and the rest. */
HT_INLINE void ht_left_halves(const int g, const real sign3, real face[3][2][4],
                              real high[4], real low[4]) {
    HT_UNROLL
    for (int plane = 0; plane < 2; plane++) {
        HT_UNROLL
        for (int e = 0; e < 2; e++) {
            const real x = fma(g < 4 ? sign3 : -sign3, face[plane][e][g % 4],
                               face[plane + 1][e][g % 4]);
            high[2 * e + plane] = ht_high(x);
            low[2 * e + plane] = x - high[2 * e + plane];
        }
    }
}

/* acc += products of a chunk. at: the lane's source nodes; parity: of its
 * pairs; op: the operator, of the team's first tile. */
HT_INLINE void ht_chunk_products(HT_LOCAL const ht_pack *at,
                                 HT_LOCAL const int *parity, const int part,
                                 HT_LOCAL const real *op,
                                 real acc[HT_TILES][4]) {
    const ht_right right = ht_right_at(op);
    real high[2][4], low[2][4], result[2][HT_MOST_WIDE][4];
    struct ht_running running = {0, 0};
    int next = 0;
    HT_UNROLL
    for (int j = 0; j < HT_PAIRS; j++) {
        /* lanes with odd t swap the pairs to avoid bank conflicts */
        const int pair = j ^ (HT_ITEM() & 1);
        const int bits = parity[pair] ^ part * HT_PART_BLOCKS;
        const real sign[3] = {HT_SIGN_OF(bits, 0), HT_SIGN_OF(bits, 1),
                              HT_SIGN_OF(bits, 2)};
        real face[3][2][4];
        HT_UNROLL
        for (int i = 0; i < 3; i++)
            ht_face_sums((HT_LOCAL const ht_pair *)at + pair, i, sign, face[i]);
        HT_UNROLL
        for (int g = 0; g < HT_PART_BLOCKS; g++) {
            const int own = (j * HT_PART_BLOCKS + g) % 2;
            ht_left_halves(g, sign[2], face, high[own], low[own]);
            HT_UNROLL
            for (int n = 0; n < HT_MOST_TILES; n += HT_MOST_WIDE) {
                if (n >= HT_TILES_OF(g)) continue;
                const int left = HT_TILES_OF(g) - n;
                const int wide = left < HT_MOST_WIDE ? left : HT_MOST_WIDE;
                const int first = HT_FIRST_TILE(g) + n;
                const ht_right of_high =
                    right +
                    (j * 2 * (HT_HALF_VALUES / 64) + first) * HT_RIGHT_TILE;
                const ht_right of_low =
                    of_high + HT_HALF_VALUES / 64 * HT_RIGHT_TILE;
                HT_PRODUCTS_BEGIN();
                HT_WIDE_PRODUCT(wide, result[next], low[own], of_high, "0");
                HT_WIDE_PRODUCT(wide, result[next], high[own], of_low, "1");
                HT_WIDE_PRODUCT(wide, result[next], high[own], of_high, "1");
                HT_PRODUCTS_COMMIT();
                HT_PRODUCTS_WAIT(1);
                ht_add_products(&running, result[1 - next], acc);
                running.first = first;
                running.wide = wide;
                next = 1 - next;
            }
        }
    }
    HT_PRODUCTS_WAIT(0);
    ht_add_products(&running, result[1 - next], acc);
}

HT_KERNEL HT_GROUP_SIZE(HT_GROUP_ITEMS) void ht_propagator_warpgroup(
    struct ht_step_args a,
    HT_GLOBAL const real *HT_RESTRICT op HT_EACH_SRC(HT_SRC_PARAM)
        HT_EACH_DST(HT_DST_PARAM)) {
    HT_LOCAL_MEMORY(real, table); /* first: HT_RIGHT_TILE needs its alignment */
    HT_LOCAL ht_pack *data = (HT_LOCAL ht_pack *)(table + 2 * HT_CHUNK_VALUES);
    HT_LOCAL long *wheres = (HT_LOCAL long *)(data + 2 * HT_STAGE_SIZE);
    HT_LOCAL int *parities = (HT_LOCAL int *)(wheres + HT_TEAMS * HT_TILES * 4);
    const int item = HT_ITEM(), t = item % 4;
    const int team = ht_uniform(item / HT_TEAM_ITEMS);
    const int group_part = (int)(HT_GROUP_1() % HT_GROUP_PARTS);
    const int part = group_part * HT_TEAMS + team;
    const int warp = item % HT_TEAM_ITEMS / 32;
    const int row = warp / HT_ROW_WARPS;
    const int first1 = warp % HT_ROW_WARPS * 8 + item % 32 / 4;
    const long begin = ht_first_plane(&a), end = ht_last_plane(&a);
    const long group1 = a.begin[0] + HT_GROUP_1() / HT_GROUP_PARTS * HT_CELLS;
    const long group2 = a.begin[1] + HT_GROUP_2() * HT_ROWS;
    const int m1 = (int)group1 + first1, m2 = (int)group2 + row;
    const int n1 = (int)a.end[0], n2 = (int)a.end[1];
    HT_GLOBAL const real *infos = op + (long)HT_GROUP_PARTS * HT_OP_SIZE +
                                  group_part * HT_TEAMS * HT_INFOS;
    struct ht_copies copies;
    ht_copies_begin(&a, item, group1, group2, &copies);
    for (int i = item; i < HT_INFO_PARITIES; i += HT_GROUP_ITEMS)
        parities[i] = (int)infos[i];
    for (int i = item; i < HT_TEAMS * HT_TILES * 4; i += HT_GROUP_ITEMS)
        wheres[i] =
            ht_where_of(&a, (int)infos[i / (HT_TILES * 4) * HT_INFOS +
                                       HT_INFO_PARITIES + i % (HT_TILES * 4)]);
    op += (long)group_part * HT_OP_SIZE;
    HT_LOCAL const long *where = wheres + team * HT_TILES * 4;
    HT_BARRIER();
    ht_operator_copy(item, 0, HT_CHUNK_PACKS, op, (HT_LOCAL ht_pack *)table);
    ht_copies_at(&a, begin, end, &copies);
    ht_chunk_copy(&a, &copies, 0, data HT_EACH_SRC(HT_SRC_ARG));
    HT_COPY_COMMIT();
    int stage = 0; /* buffer of the next chunk */
    for (long m3 = begin; m3 < end; m3 += 2) {
        int node[2], inside[2];
        HT_UNROLL
        for (int p = 0; p < 2; p++) {
            const long q3 = m3 + p < end ? m3 + p : end - 1;
            node[p] = (int)ht_target_row(&a, m2 < n2 ? m2 : n2 - 1, q3) +
                      (m1 < n1 ? m1 : n1 - 1);
            inside[p] = m1 < n1 && m2 < n2 && m3 + p < end;
        }
        real acc[HT_TILES][4];
#if HT_OLD_SIGN != 0
        HT_EACH_RESULT(HT_READ_RESULT)
#endif
        HT_UNROLL
        for (int i = 0; i < HT_TILES; i++) {
            HT_UNROLL
            for (int e = 0; e < 4; e++)
                acc[i][e] =
                    HT_OLD_SIGN == 0 ? (real)0 : (real)HT_OLD_SIGN * acc[i][e];
        }
        HT_ROLLED
        for (int chunk = 0; chunk < HT_CHUNKS; chunk++) {
            const int last = chunk + 1 == HT_CHUNKS;
            const int next = last ? 0 : chunk + 1, from = stage;
            HT_COPY_WAIT(0);
            HT_PUBLISH();
            HT_BARRIER();
            stage ^= 1;
            if (last) ht_copies_at(&a, m3 + 2, end, &copies);
            ht_operator_copy(
                item, next, HT_CHUNK_PACKS, op,
                (HT_LOCAL ht_pack *)(table + stage * HT_CHUNK_VALUES));
            ht_chunk_copy(&a, &copies, next,
                          data + stage * HT_STAGE_SIZE HT_EACH_SRC(HT_SRC_ARG));
            HT_COPY_COMMIT();
            ht_chunk_products(
                data + from * HT_STAGE_SIZE + (row * HT_CHUNK + t) * HT_PITCH +
                    first1,
                parities + (chunk * 4 + t) * HT_PAIRS, part,
                table + from * HT_CHUNK_VALUES + team * HT_TILES * 64, acc);
        }
        HT_EACH_RESULT(HT_STORE_RESULT)
    }
}
