/* The half step by parity blocks (src/kernel/blocks.h) with one work-item per target: the vertex
 * sums and results of all blocks are in registers, the operator is literals in the program. For
 * small operators only, since a long program exceeds the instruction cache.
 *
 * Work-item row * HT_CELLS + cell computes target (row, cell) of the tile of cl/tile.cl. An entry
 * is slot * HT_PADDED_COEFS + storage index.
 *     ht_entry[(g * HT_BLOCK_ROWS + r) * HT_ENTRIES + s]
 * is the operator's value for row r of block g and sum s; ht_bits[s] is the parity of source entry
 * s; ht_target[e] is the row g * HT_BLOCK_ROWS + r of target entry e, -1 for padding. */
#define HT_ENTRIES (HT_SOURCES * HT_PADDED_COEFS)

/* acc += contribution of the coefficients of layout block b, v[coefficient][vertex]. */
HT_INLINE void ht_add_block(const int b, real v[HT_BLOCK][HT_CORNERS],
                            real acc[HT_CORNERS][HT_BLOCK_ROWS]) {
    HT_UNROLLED(j, HT_BLOCK) {
        const int s = b * HT_BLOCK + j;
        const real sign[3] = {HT_SIGN_OF(ht_bits[s], 0), HT_SIGN_OF(ht_bits[s], 1),
                              HT_SIGN_OF(ht_bits[s], 2)};
        ht_vertex_sums(v[j], sign);
        HT_UNROLLED(g, HT_CORNERS)
            HT_UNROLLED(r, HT_BLOCK_ROWS)
                acc[g][r] =
                    fma(ht_entry[(g * HT_BLOCK_ROWS + r) * HT_ENTRIES + s], v[j][g], acc[g][r]);
    }
}

/* dst = HT_OLD_SIGN dst + acc at a node. */
HT_INLINE void ht_store_target(real acc[HT_CORNERS][HT_BLOCK_ROWS], long node,
                               long nodes HT_EACH_DST(HT_DST_PARAM)) {
#define HT_STORE_SLOT(slot, f)                                                                    \
    HT_UNROLLED(b, HT_FIELD_BLOCKS) {                                                             \
        HT_GLOBAL ht_pack *at = (HT_GLOBAL ht_pack *)dst##slot + b * nodes + node;                \
        real w[HT_BLOCK];                                                                         \
        HT_READ_OLD                                                                               \
        HT_UNROLLED(j, HT_BLOCK) {                                                                \
            const int e = ht_target[(slot)*HT_PADDED_COEFS + b * HT_BLOCK + j];                   \
            w[j] =                                                                                \
                e < 0                                                                             \
                    ? (real)0                                                                     \
                    : fma((real)HT_OLD_SIGN, w[j],                                                \
                          acc[(e < 0 ? 0 : e) / HT_BLOCK_ROWS][(e < 0 ? 0 : e) % HT_BLOCK_ROWS]); \
        }                                                                                         \
        *at = ht_packed(w);                                                                       \
    }
#if HT_OLD_SIGN != 0
#define HT_READ_OLD ht_unpack(*at, w);
#else
#define HT_READ_OLD \
    HT_UNROLLED(j, HT_BLOCK) w[j] = 0;
#endif
    HT_EACH_DST(HT_STORE_SLOT)
}

/* Chunks use the stages in turn, across planes: `phase` is the stage of chunk 0 of this plane.
 * There are at most HT_CHUNKS + 1 stages, so chunks that are copied ahead belong to this plane or
 * the next. */
#define HT_STAGE_AT(c) (data + (phase + (c)) % HT_STAGES * HT_STAGE_SIZE)

/* Starts to copy chunk c of this plane, or chunk c - HT_CHUNKS of the next. bottom, top and above
 * are consecutive source planes. */
#define HT_COPY_AHEAD(c, more)                                                                   \
    if ((c) < HT_CHUNKS)                                                                         \
        ht_tile_copy(&a, item, &tile, (c), bottom, top, HT_STAGE_AT(c) HT_EACH_SRC(HT_SRC_ARG)); \
    else if (more)                                                                               \
        ht_tile_copy(&a, item, &tile, (c)-HT_CHUNKS, top, above,                                 \
                     HT_STAGE_AT(c) HT_EACH_SRC(HT_SRC_ARG));                                    \
    HT_COPY_COMMIT();

HT_TOOL_KERNEL ht_propagator_lanes(HT_STEP_PARAMS(unused)) {
    HT_LOCAL_ARRAY(ht_pack, data, HT_STAGES * HT_STAGE_SIZE);
    const int item = HT_ITEM(), c1 = item % HT_CELLS, c2 = item / HT_CELLS;
    const long begin = ht_first_plane(&a), end = ht_last_plane(&a);
    struct ht_tile tile;
    (void)unused;
    ht_tile_begin(&a, item, &tile);
    int bottom = (int)ht_source_row(&a, 0, begin + a.shift[2]);
    int top = (int)ht_source_row(&a, 0, begin + a.shift[2] + 1);
    int above = top, phase = 0;
    HT_UNROLLED(c, HT_STAGES - 1) {
        HT_COPY_AHEAD(c, 0)
    }
    for (long m3 = begin; m3 < end; m3++) {
        real acc[HT_CORNERS][HT_BLOCK_ROWS];
        HT_UNROLLED(g, HT_CORNERS)
            HT_UNROLLED(r, HT_BLOCK_ROWS) acc[g][r] = 0;
        above = (int)ht_source_row(&a, 0, m3 + a.shift[2] + 2);
        HT_UNROLLED(c, HT_CHUNKS) {
            HT_COPY_WAIT(HT_STAGES - 2);
            HT_BARRIER();
            HT_COPY_AHEAD(c + HT_STAGES - 1, m3 + 1 < end)
            HT_LOCAL const ht_pack *at = HT_STAGE_AT(c) + c2 * HT_PITCH + c1;
            real v[HT_BLOCK][HT_CORNERS];
            HT_UNROLLED(w, HT_CORNERS) {
                real x[HT_BLOCK];
                ht_unpack(at[((w >> 2) * HT_TILE_2 + (w >> 1 & 1)) * HT_PITCH + (w & 1)], x);
                HT_UNROLLED(j, HT_BLOCK) v[j][w] = x[j];
            }
            ht_add_block(c, v, acc);
        }
        bottom = top;
        top = above;
        phase = (phase + HT_CHUNKS) % HT_STAGES;
        if (tile.m1 + c1 < a.end[0] && tile.m2 + c2 < a.end[1])
            ht_store_target(acc, ht_target_row(&a, tile.m2 + c2, m3) + tile.m1 + c1,
                            a.dst_nodes HT_EACH_DST(HT_DST_ARG));
#if HT_PTX < 80
        HT_BARRIER(); /* before the next plane's copies overwrite the stage */
#endif
    }
}
