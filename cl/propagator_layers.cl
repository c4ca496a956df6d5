/* The half step by parity blocks in absorbing layers, as
 * cl/propagator_tensor.cl does it, by products of whole warpgroups
 * (cl/warpgroup.cl). A group is one warpgroup: a warp computes 16 neighbouring
 * targets of an x1 row, the group HT_CELLS targets in each of HT_ROWS rows, 64
 * in all. All of these have the same operator, those of the next plane may have
 * another one.
 *
 * Where profiles vary about a node, a chunk of source entries is used once for
 * each mix, as there. The order of info is as there, too.
 */
#define HT_ROW_WARPS (HT_CELLS / 16)
#define HT_PASSES (HT_CHUNKS * HT_MIXES)
#define HT_OP_SIZE (HT_PASSES * HT_CHUNK_VALUES)
#define HT_INFO_PARITIES (HT_PASSES * 4 * HT_PAIRS)
#define HT_INFOS (HT_INFO_PARITIES + HT_TILES * 4)

HT_KERNEL HT_GROUP_SIZE(HT_GROUP_ITEMS) void ht_propagator_layers(
    struct ht_step_args a,
    HT_GLOBAL const real *HT_RESTRICT op HT_EACH_SRC(HT_SRC_PARAM)
        HT_EACH_DST(HT_DST_PARAM)) {
    HT_LOCAL_MEMORY(real, table); /* [2][HT_CHUNK_VALUES] */
    HT_LOCAL ht_pack *data = (HT_LOCAL ht_pack *)(table + 2 * HT_CHUNK_VALUES);
    HT_LOCAL int *info = (HT_LOCAL int *)(data + 2 * HT_STAGE_SIZE);
    const int item = HT_ITEM(), t = item % 4;
    const int part = (int)(HT_GROUP_ALONG_1() % HT_PARTS);
    const int row = item / (32 * HT_ROW_WARPS);
    const int first1 = item / 32 % HT_ROW_WARPS * 16 + item % 32 / 4;
    const long begin = ht_first_plane(&a), end = ht_last_plane(&a);
    struct ht_tile tile;
    ht_tile_begin(&a, item, &tile);
    const int m1 = (int)tile.m1 + first1, m2 = (int)tile.m2 + row;
    for (int i = item; i < HT_INFOS; i += HT_GROUP_ITEMS)
        info[i] = (int)op[(long)HT_PARTS * HT_OP_SIZE + part * HT_INFOS + i];
    op += HT_OP_BEGIN(&a, 0, tile.m2, begin) + (long)part * HT_OP_SIZE;
    HT_BARRIER();
    struct ht_level bottom, top;
    ht_level_set(&a, begin + a.shift[2], &bottom);
    ht_level_set(&a, begin + a.shift[2] + 1, &top);
    ht_operator_copy(item, 0, HT_CHUNK_PACKS, op, (HT_LOCAL ht_pack *)table);
    ht_tile_copy(&a, item, &tile, 0, &bottom, &top,
                 data HT_EACH_SRC(HT_SRC_ARG));
    HT_COPY_COMMIT();
    int stage = 0, unit = 0; /* buffers of the next chunk, the next pass */
    for (long m3 = begin; m3 < end; m3++) {
        /* of the next plane of targets */
        HT_GLOBAL const real *const after =
            op + (m3 + 1 < end ? HT_OP_PLANE(&a) : 0);
        real acc[HT_TILES][4];
        ht_results_begin(acc);
        HT_ROLLED
        for (int pass = 0; pass < HT_PASSES; pass++) {
            const int chunk = pass / HT_MIXES, first = pass % HT_MIXES == 0;
            const int last = chunk + 1 == HT_CHUNKS;
            const int more = pass + 1 < HT_PASSES, from = unit;
            HT_COPY_WAIT(0);
            HT_PUBLISH();
            HT_BARRIER();
            unit ^= 1;
            ht_operator_copy(
                item, more ? pass + 1 : 0, HT_CHUNK_PACKS, more ? op : after,
                (HT_LOCAL ht_pack *)(table + unit * HT_CHUNK_VALUES));
            if (first) {
                if (last) {
                    bottom = top;
                    ht_level_set(&a, m3 + a.shift[2] + 2, &top);
                }
                stage ^= 1;
                if (!last || m3 + 1 < end)
                    ht_tile_copy(
                        &a, item, &tile, last ? 0 : chunk + 1, &bottom, &top,
                        data + stage * HT_STAGE_SIZE HT_EACH_SRC(HT_SRC_ARG));
            }
            HT_COPY_COMMIT();
            ht_chunk_products(
                (HT_LOCAL const ht_pair *)(data + (stage ^ 1) * HT_STAGE_SIZE +
                                           (row * HT_CHUNK + t) * HT_PITCH +
                                           first1),
                info + (pass * 4 + t) * HT_PAIRS, part,
                table + from * HT_CHUNK_VALUES,
                ht_mix_sign(&a, pass % HT_MIXES), acc);
        }
        HT_EACH_RESULT(HT_STORE_RESULT)
        op = after;
    }
}
