/* The half step by parity blocks (src/kernel/blocks.h) through local memory, in two or three
 * dimensions on any device with work-groups.
 *
 * A work-group computes HT_CELLS targets along x1 in HT_WIDE rows of an x3 plane and marches along
 * x3; HT_PARTS consecutive groups along x1 share the same targets and divide the rows of the
 * blocks. For HT_CHUNK source entries at a time it puts into local memory the vertex sums of all
 * blocks and the operator's values,
 *
 *     sums[entry of the chunk][block][cell]: a value per row of targets
 *     values[entry of the chunk][tile][row of the tile]
 *
 * where a tile is HT_TILE rows of one block. Work-item (tile, cell) accumulates its tile at the
 * HT_WIDE targets of its cell in registers: 16 bytes of sums and HT_TILE values serve HT_TILE *
 * HT_WIDE multiply-adds.
 *
 * op[part][chunk][entry][tile][row]; ht_tile_block[tile] is a tile's block, ht_row_target[tile *
 * HT_TILE + row] its target entry slot * HT_COEFS + i, -1 for padding, ht_bits[entry] the parity of
 * a source entry slot * HT_COEFS + i; entries beyond the last have zeros in op. */
/* HT_WIDE: of 16 bytes. */
#define HT_WIDE HT_PACK
#define HT_COEFS (HT_N1 * HT_N2 * HT_N3)
#define HT_ENTRIES (HT_SOURCES * HT_COEFS)
#define HT_CHUNKS ((HT_ENTRIES + HT_CHUNK - 1) / HT_CHUNK)
#define HT_TILE_PACKS (HT_TILE / HT_WIDE)
#define HT_CHUNK_PACKS (HT_CHUNK * HT_TILES * HT_TILE_PACKS)
#define HT_LEVELS (HT_DIMS > 2 ? 2 : 1)

/* The nodes around the targets of a cell, relative to the first of the source:
 * two along x1, the first of each row and level. */
struct ht_around {
    int node[2];
    int row[HT_LEVELS][HT_WIDE + 1];
};

/* Nodes beyond the last target are read but not used: clamp. */
HT_INLINE void ht_around_set(const struct ht_step_args *a, long m1, long m2, long m3,
                             struct ht_around *out) {
    HT_UNROLLED(k, 2) {
        const long q = m1 + k < a->end[0] ? m1 + k : a->end[0];
        out->node[k] = (int)ht_closed(a, 0, q + a->shift[0]);
    }
    HT_UNROLLED(level, HT_LEVELS) {
        HT_UNROLLED(row, HT_WIDE + 1) {
            const long q = m2 + row < a->end[1] ? m2 + row : a->end[1];
            out->row[level][row] = (int)ht_source_row(a, q + a->shift[1], m3 + level + a->shift[2]);
        }
    }
}

/* The sums of an entry over x1 and x3 in a row of nodes, [x1 + 2 * x3]. */
HT_INLINE void ht_row_sums(HT_GLOBAL const real *src, const int i, const long nodes,
                           const struct ht_around *around, const int row, const real sign1,
                           const real sign3, real out[HT_CORNERS / 2]) {
    real x[HT_LEVELS][2];
    HT_UNROLLED(level, HT_LEVELS) {
        const int first = around->row[level][row];
        HT_UNROLLED(k, 2) x[level][k] = src[HT_AT(i, first + around->node[k], nodes)];
        ht_butterfly(sign1, &x[level][0], &x[level][1]);
    }
    HT_UNROLLED(k, 2) {
        HT_UNROLLED(level, HT_LEVELS) out[2 * level + k] = x[level][k];
        if (HT_LEVELS > 1) ht_butterfly(sign3, &out[k], &out[2 * (HT_LEVELS - 1) + k]);
    }
}

/* The sums of all blocks of source entry s to to[block][cell]. */
HT_INLINE void ht_put_sums(const struct ht_step_args *a, const int s,
                           const struct ht_around *around,
                           HT_LOCAL ht_pack *to HT_EACH_SRC(HT_SRC_PARAM)) {
    const int field = s / HT_COEFS, i = s % HT_COEFS, bits = ht_bits[s];
    const real sign1 = HT_SIGN_OF(bits, 0), sign2 = HT_SIGN_OF(bits, 1);
    const real sign3 = HT_SIGN_OF(bits, 2);
    HT_CHOOSE_SRC
    real sum[HT_CORNERS][HT_WIDE], row[2][HT_CORNERS / 2];
    ht_row_sums(chosen, i, a->src_nodes, around, 0, sign1, sign3, row[0]);
    HT_UNROLLED(t, HT_WIDE) {
        ht_row_sums(chosen, i, a->src_nodes, around, t + 1, sign1, sign3, row[(t + 1) % 2]);
        HT_UNROLLED(w, HT_CORNERS / 2) {
            const int g = (w & 1) + (w >> 1) * 4; /* x2 is bit 1 of a block */
            sum[g][t] = row[t % 2][w];
            sum[g + 2][t] = row[(t + 1) % 2][w];
            ht_butterfly(sign2, &sum[g][t], &sum[g + 2][t]);
        }
    }
    HT_UNROLLED(g, HT_CORNERS) to[g * HT_CELLS] = ht_packed(sum[g]);
}

/* acc += the products of a chunk. */
HT_INLINE void ht_products(HT_LOCAL const ht_pack *sums, HT_LOCAL const ht_pack *values,
                           real acc[HT_TILE][HT_WIDE]) {
    HT_UNROLL_BY(2)
    for (int e = 0; e < HT_CHUNK; e++) {
        real x[HT_WIDE];
        ht_unpack(sums[e * HT_CORNERS * HT_CELLS], x);
        HT_UNROLLED(p, HT_TILE_PACKS) {
            real value[HT_WIDE];
            ht_unpack(values[e * HT_TILES * HT_TILE_PACKS + p], value);
            HT_UNROLLED(r, HT_WIDE)
                HT_UNROLLED(t, HT_WIDE)
                    acc[p * HT_WIDE + r][t] = fma(value[r], x[t], acc[p * HT_WIDE + r][t]);
        }
    }
}

/* dst = HT_OLD_SIGN dst + acc at the targets (m1, m2 ..) of a tile. */
HT_INLINE void ht_store_tile(const struct ht_step_args *a, const int tile, long m1, long m2,
                             long m3, real acc[HT_TILE][HT_WIDE] HT_EACH_DST(HT_DST_PARAM)) {
    const long nodes = a->dst_nodes;
    HT_UNROLLED(r, HT_TILE) {
        const int target = ht_row_target[tile * HT_TILE + r];
        const int field = target / HT_COEFS, i = target % HT_COEFS;
        if (target < 0) continue;
        HT_CHOOSE_DST
        HT_UNROLLED(t, HT_WIDE) {
            if (m2 + t >= a->end[1]) continue;
            HT_GLOBAL real *at = chosen + HT_AT(i, ht_target_row(a, m2 + t, m3) + m1, nodes);
#if HT_OLD_SIGN != 0
            *at = fma((real)HT_OLD_SIGN, *at, acc[r][t]);
#else
            *at = acc[r][t];
#endif
        }
    }
}

HT_TOOL_KERNEL ht_propagator_local(HT_STEP_PARAMS(op)) {
    HT_LOCAL_ARRAY(ht_pack, sums, HT_CHUNK * HT_CORNERS * HT_CELLS);
    HT_LOCAL_ARRAY(ht_pack, values, HT_CHUNK_PACKS);
    const int item = HT_ITEM(), cell = item % HT_CELLS, tile = item / HT_CELLS;
    const int part = (int)(HT_GROUP_1() % HT_PARTS);
    const long m1 = a.begin[0] + HT_GROUP_1() / HT_PARTS * HT_CELLS + cell;
    const long m2 = a.begin[1] + HT_GROUP_2() * HT_WIDE;
    const long begin = ht_first_plane(&a), end = ht_last_plane(&a);
    const int block = ht_tile_block[part * HT_TILES + tile];
    HT_GLOBAL const ht_pack *from =
        (HT_GLOBAL const ht_pack *)op + (long)part * HT_CHUNKS * HT_CHUNK_PACKS;
    for (long m3 = begin; m3 < end; m3++) {
        real acc[HT_TILE][HT_WIDE];
        struct ht_around around;
        ht_around_set(&a, m1, m2, m3, &around);
        HT_UNROLLED(n, HT_TILE * HT_WIDE) acc[n / HT_WIDE][n % HT_WIDE] = 0;
        HT_ROLLED
        for (int chunk = 0; chunk < HT_CHUNKS; chunk++) {
            HT_BARRIER();
            HT_ROLLED
            for (int e = tile; e < HT_CHUNK; e += HT_TILES) {
                const int s = chunk * HT_CHUNK + e;
                ht_put_sums(&a, s < HT_ENTRIES ? s : HT_ENTRIES - 1, &around,
                            sums + e * HT_CORNERS * HT_CELLS + cell HT_EACH_SRC(HT_SRC_ARG));
            }
            for (int n = item; n < HT_CHUNK_PACKS; n += HT_TOOL_ITEMS)
                values[n] = from[chunk * HT_CHUNK_PACKS + n];
            HT_BARRIER();
            ht_products(sums + block * HT_CELLS + cell, values + tile * HT_TILE_PACKS, acc);
        }
        if (m1 < a.end[0])
            ht_store_tile(&a, part * HT_TILES + tile, m1, m2, m3, acc HT_EACH_DST(HT_DST_ARG));
    }
}
