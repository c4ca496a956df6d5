/* The half step by parity blocks (src/kernel/blocks.h) on CPUs: neighbouring
 * targets along x1 are the lanes of vectors; a work-group is one work-item
 * (cl/vectors.cl).
 *
 * A work-item computes HT_CELLS targets in each of HT_ROWS rows and marches
 * along x3. For HT_CHUNK source entries at a time it forms the vertex sums of
 * all blocks,
 *     sums[block][entry of the chunk][row],
 * which fit a cache, and multiplies them by the operator. HT_TILE rows of a
 * block at a time are accumulated in registers over the chunk,
 *     result[row of the block][row] += op * sums;
 * the operator is read in the order in which it is stored,
 *     op[field of the source][chunk][block][tile][entry][row of the tile].
 * Rows of a block are padded to whole tiles with zeros. ht_block_row[g] is the
 * first row of block g; ht_row_target[row] is the target entry, -1 for padding.
 */
HT_KERNEL HT_GROUP_SIZE(1) void ht_propagator(
    struct ht_step_args a,
    HT_GLOBAL const real *HT_RESTRICT op HT_EACH_SRC(HT_SRC_PARAM)
        HT_EACH_DST(HT_DST_PARAM)) {
    HT_LOCAL_ARRAY(vector, sums,
                   HT_SIZE_BLOCK_SUMS(HT_CORNERS, HT_CHUNK, HT_ROWS));
    HT_LOCAL_ARRAY(vector, result,
                   HT_SIZE_BLOCK_RESULT(HT_RESULT_ROWS, HT_ROWS));
    HT_LOCAL_ARRAY(
        vector, faces,
        HT_SIZE_BLOCK_FACES(HT_ROLL, HT_ENTRIES, HT_FACE_SUMS, HT_ROWS));
    HT_LOCAL_ARRAY(real, stage, HT_SIZE_SIDE(HT_CELLS));
    const long m1 = a.begin[0] + HT_GROUP_1() * HT_CELLS;
    const long m2 = a.begin[1] + HT_GROUP_2() * HT_ROWS;
    const long begin = ht_first_plane(&a), end = ht_last_plane(&a);
    struct ht_ends ends;
    struct ht_plane below, above;
    ht_set_ends(&a, m1, &ends);
    ht_set_plane(&a, m2, begin + a.shift[2], &below);
    ht_march_begin(&a, &ends, &below, faces, stage HT_EACH_SRC(HT_SRC_ARG));
    for (long m3 = begin; m3 < end; m3++) {
        ht_set_plane(&a, m2, m3 + a.shift[2] + 1, &above);
        HT_GLOBAL const real *at = op;
        for (int n = 0; n < HT_RESULT_ROWS * HT_ROWS; n++) result[n] = 0;
        for (int slot = 0; slot < HT_SOURCES; slot++) {
            HT_GLOBAL const real *from = src0;
            HT_EACH_SRC(HT_SOURCE_CHOOSE)
            for (int i0 = 0; i0 < HT_COEFS; i0 += HT_CHUNK) {
                const int count =
                    HT_COEFS - i0 < HT_CHUNK ? HT_COEFS - i0 : HT_CHUNK;
                ht_sums(&a, from, i0, count, ht_parity[slot], &ends, &below,
                        &above,
                        faces + slot * HT_COEFS * HT_FACE_SUMS * HT_ROWS, sums,
                        stage);
                for (int g = 0; g < HT_CORNERS; g++)
                    for (int row = ht_block_row[g]; row < ht_block_row[g + 1];
                         row += HT_TILE, at += HT_TILE * count)
                        ht_tile(at, count, sums + g * HT_CHUNK * HT_ROWS,
                                result + row * HT_ROWS);
            }
        }
        for (int row = 0; row < HT_RESULT_ROWS; row++) {
            const int target = ht_row_target[row], slot = target / HT_COEFS;
            if (target < 0) continue;
            HT_GLOBAL real *to = dst0;
            HT_EACH_DST(HT_TARGET_CHOOSE)
            for (int v = 0; v < HT_ROWS && m2 + v < a.end[1]; v++)
                ht_put_row(&a, to, target % HT_COEFS, &ends, m1,
                           ht_target_row(&a, m2 + v, m3),
                           result[row * HT_ROWS + v], stage);
        }
        below = above;
    }
}
