/* The half step by parity blocks as cl/propagator_planes.cl does it, by
 * products of whole warpgroups (cl/warpgroup.cl), which read the operator from
 * local memory themselves and run beside the sums of the next ones.
 *
 * The four warps of a warpgroup have 64 targets: 16 along x1, two rows, two
 * planes. Each group is one warpgroup: groups that wait for copies leave the
 * multiprocessor to others. After the operator the info of
 * cl/propagator_tensor.cl.
 */
#define HT_OP_SIZE (HT_CHUNKS * HT_CHUNK_VALUES)

HT_KERNEL HT_GROUP_SIZE(HT_GROUP_ITEMS) void ht_propagator_warpgroup(
    struct ht_step_args a,
    HT_GLOBAL const real *HT_RESTRICT op HT_EACH_SRC(HT_SRC_PARAM)
        HT_EACH_DST(HT_DST_PARAM)) {
    HT_LOCAL_MEMORY(real, table); /* [2][HT_CHUNK_VALUES] */
    HT_LOCAL ht_pack *data = (HT_LOCAL ht_pack *)(table + 2 * HT_CHUNK_VALUES);
    HT_LOCAL long *where = (HT_LOCAL long *)(data + 2 * HT_STAGE_SIZE);
    HT_LOCAL int *parities = (HT_LOCAL int *)(where + HT_TILES * 4);
    const int item = HT_ITEM(), t = item % 4;
    const int part = (int)(HT_GROUP_1() % HT_PARTS);
    const int row = item / (32 * HT_ROW_WARPS);
    const int first1 = item / 32 % HT_ROW_WARPS * 8 + item % 32 / 4;
    const long begin = ht_first_plane(&a), end = ht_last_plane(&a);
    const long group1 = a.begin[0] + HT_GROUP_1() / HT_PARTS * HT_CELLS;
    const long group2 = a.begin[1] + HT_GROUP_2() * HT_ROWS;
    const int m1 = (int)group1 + first1, m2 = (int)group2 + row;
    HT_GLOBAL const real *info =
        op + (long)HT_PARTS * HT_OP_SIZE + part * HT_INFOS;
    struct ht_copies copies;
    ht_copies_begin(&a, item, group1, group2, &copies);
    for (int i = item; i < HT_INFO_PARITIES; i += HT_GROUP_ITEMS)
        parities[i] = (int)info[i];
    for (int i = item; i < HT_TILES * 4; i += HT_GROUP_ITEMS)
        where[i] = ht_where_of(&a, (int)info[HT_INFO_PARITIES + i]);
    op += (long)part * HT_OP_SIZE;
    HT_BARRIER();
    ht_operator_copy(item, 0, HT_CHUNK_PACKS, op, (HT_LOCAL ht_pack *)table);
    ht_copies_at(&a, begin, end, &copies);
    ht_chunk_copy(&a, &copies, 0, data HT_EACH_SRC(HT_SRC_ARG));
    HT_COPY_COMMIT();
    int stage = 0; /* buffer of the next chunk */
    for (long m3 = begin; m3 < end; m3 += 2) {
        int node[2], inside[2];
        ht_targets_at(&a, m1, m2, m3, end, node, inside);
        real acc[HT_TILES][4];
#if HT_OLD_SIGN != 0
        HT_EACH_RESULT(HT_READ_RESULT)
#endif
        ht_results_begin(acc);
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
                (HT_LOCAL const ht_pair *)(data + from * HT_STAGE_SIZE +
                                           (row * HT_CHUNK + t) * HT_PITCH +
                                           first1),
                parities + (chunk * 4 + t) * HT_PAIRS, part,
                table + from * HT_CHUNK_VALUES, acc);
        }
        HT_EACH_RESULT(HT_STORE_RESULT)
    }
}
