/* The half step by parity blocks (src/kernel/blocks.h) on CPUs: neighbouring targets along x1 are
 * the lanes of vectors; a work-group is one work-item (cl/vectors.cl).
 *
 * A work-item computes HT_CELLS targets in each of HT_ROWS rows and marches along x3. For HT_CHUNK
 * source entries at a time it forms the vertex sums of all blocks,
 *     sums[block][entry of the chunk][row],
 * which fit a cache, and multiplies them by the operator. HT_TILE rows of a block at a time are
 * accumulated in registers over the chunk,
 *     result[row of the block][row] += op * sums;
 * the operator is read in the order in which it is stored,
 *     op[field of the source][chunk][block][tile][entry][row of the tile].
 * Rows of a block are padded to whole tiles with zeros. ht_block_row[g] is the first row of block
 * g; ht_row_target[row] is the target entry, -1 for padding.
 *
 * The sums over the vertices of a face (the vertices in one x3 plane) serve the targets below and
 * above it. With HT_ROLL they are stored for the next plane,
 *     faces[source entry][sign bits of x1 and x2][row]. */
#define HT_CORNERS (1 << HT_DIMS)
#define HT_FACE_SUMS (HT_DIMS > 1 ? 4 : 2)
#define HT_ENTRIES (HT_SOURCES * HT_COEFS)

/* Parity of coefficient i of a field: bit k is set if the coefficient changes sign under reflection
 * of axis k. */
HT_INLINE int ht_entry_parity(int field_parity, int i) {
    return field_parity ^ (i % HT_N1 % 2 + i / HT_N1 % HT_N2 % 2 * 2 + i / (HT_N1 * HT_N2) % 2 * 4);
}

/* Sums of coefficient i over the vertices of a face: face[w] takes the lower vertices along axis k
 * with the sign -1 if bit k of w is set. */
HT_INLINE void ht_face_sums(const struct ht_step_args *a, HT_GLOBAL const real *src, int i,
                            const struct ht_ends *e, const struct ht_plane *p,
                            vector face[HT_FACE_SUMS][HT_ROWS], HT_LOCAL real *stage) {
    vector sum[HT_SOURCE_ROWS], difference[HT_SOURCE_ROWS];
    HT_UNROLLED(j, HT_SOURCE_ROWS) {
        vector left, right;
        ht_read_row(a, src, i, e, p->row[j], &left, &right, stage);
        sum[j] = right + left;
        difference[j] = right - left;
    }
    HT_UNROLLED(v, HT_ROWS) {
#if HT_DIMS > 1
        face[0][v] = sum[v + 1] + sum[v];
        face[1][v] = difference[v + 1] + difference[v];
        face[2][v] = sum[v + 1] - sum[v];
        face[3][v] = difference[v + 1] - difference[v];
#else
        face[0][v] = sum[v];
        face[1][v] = difference[v];
#endif
    }
}

/* Sums over the face below the first targets of a march, where they are kept. */
HT_INLINE void ht_march_begin(const struct ht_step_args *a, const struct ht_ends *e,
                              const struct ht_plane *p, HT_LOCAL vector *faces,
                              HT_LOCAL real *stage HT_EACH_SRC(HT_SRC_PARAM)) {
    for (int field = 0; HT_ROLL && field < HT_SOURCES; field++) {
        HT_CHOOSE_SRC
        for (int i = 0; i < HT_COEFS; i++, faces += HT_FACE_SUMS * HT_ROWS) {
            vector face[HT_FACE_SUMS][HT_ROWS];
            ht_face_sums(a, chosen, i, e, p, face, stage);
            HT_UNROLLED(n, HT_FACE_SUMS * HT_ROWS) faces[n] = face[n / HT_ROWS][n % HT_ROWS];
        }
    }
}

/* sums[g][k][v] of the entries i0 + k of one field. below, above: the source planes of the targets;
 * plane `below` is read without HT_ROLL only. */
HT_INLINE void ht_sums(const struct ht_step_args *a, HT_GLOBAL const real *src, int i0, int count,
                       int field_parity, const struct ht_ends *e, const struct ht_plane *below,
                       const struct ht_plane *above, HT_LOCAL vector *faces, HT_LOCAL vector *sums,
                       HT_LOCAL real *stage) {
    for (int k = 0; k < count; k++) {
        const int i = i0 + k, parity = ht_entry_parity(field_parity, i);
        vector face[HT_FACE_SUMS][HT_ROWS];
        ht_face_sums(a, src, i, e, above, face, stage);
#if HT_DIMS > 2
        vector lower[HT_FACE_SUMS][HT_ROWS];
#if HT_ROLL
        HT_LOCAL vector *kept = faces + i * HT_FACE_SUMS * HT_ROWS;
        HT_UNROLLED(n, HT_FACE_SUMS * HT_ROWS) {
            lower[n / HT_ROWS][n % HT_ROWS] = kept[n];
            kept[n] = face[n / HT_ROWS][n % HT_ROWS];
        }
#else
        ht_face_sums(a, src, i, e, below, lower, stage);
#endif
#endif
        HT_UNROLLED(w, HT_FACE_SUMS) {
            HT_LOCAL vector *to =
                sums + (((w ^ parity) & (HT_CORNERS - 1)) * HT_CHUNK + k) * HT_ROWS;
#if HT_DIMS > 2
            HT_LOCAL vector *odd =
                sums + ((((w + 4) ^ parity) & (HT_CORNERS - 1)) * HT_CHUNK + k) * HT_ROWS;
#endif
            HT_UNROLLED(v, HT_ROWS) {
#if HT_DIMS > 2
                to[v] = face[w][v] + lower[w][v];
                odd[v] = face[w][v] - lower[w][v];
#else
                to[v] = face[w][v];
#endif
            }
        }
    }
}

/* result += op * sums for one tile of a block and `count` entries of a chunk. */
HT_INLINE void ht_tile(HT_GLOBAL const real *op, int count, HT_LOCAL const vector *sums,
                       HT_LOCAL vector *result) {
    vector sum[HT_TILE][HT_ROWS];
    HT_UNROLLED(n, HT_TILE * HT_ROWS) sum[n / HT_ROWS][n % HT_ROWS] = result[n];
    for (int k = 0; k < count; k++)
        HT_UNROLLED(n, HT_TILE * HT_ROWS)
            sum[n / HT_ROWS][n % HT_ROWS] =
                fma((vector)op[k * HT_TILE + n / HT_ROWS], sums[k * HT_ROWS + n % HT_ROWS],
                    sum[n / HT_ROWS][n % HT_ROWS]);
    HT_UNROLLED(n, HT_TILE * HT_ROWS) result[n] = sum[n / HT_ROWS][n % HT_ROWS];
}

HT_TOOL_KERNEL ht_propagator(HT_STEP_PARAMS(op)) {
    HT_LOCAL_ARRAY(vector, sums, HT_CORNERS * HT_CHUNK * HT_ROWS);
    HT_LOCAL_ARRAY(vector, result, HT_RESULT_ROWS * HT_ROWS);
    HT_LOCAL_ARRAY(vector, faces, HT_ROLL ? HT_ENTRIES * HT_FACE_SUMS * HT_ROWS : 1);
    HT_LOCAL_ARRAY(real, stage, HT_CELLS + 1);
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
        for (int field = 0; field < HT_SOURCES; field++) {
            HT_CHOOSE_SRC
            for (int i0 = 0; i0 < HT_COEFS; i0 += HT_CHUNK) {
                const int count = HT_COEFS - i0 < HT_CHUNK ? HT_COEFS - i0 : HT_CHUNK;
                ht_sums(&a, chosen, i0, count, ht_parity[field], &ends, &below, &above,
                        faces + field * HT_COEFS * HT_FACE_SUMS * HT_ROWS, sums, stage);
                for (int g = 0; g < HT_CORNERS; g++)
                    for (int row = ht_block_row[g]; row < ht_block_row[g + 1];
                         row += HT_TILE, at += HT_TILE * count)
                        ht_tile(at, count, sums + g * HT_CHUNK * HT_ROWS, result + row * HT_ROWS);
            }
        }
        for (int row = 0; row < HT_RESULT_ROWS; row++) {
            const int target = ht_row_target[row], field = target / HT_COEFS;
            if (target < 0) continue;
            HT_CHOOSE_DST
            for (int v = 0; v < HT_ROWS && m2 + v < a.end[1]; v++)
                ht_put_row(&a, chosen, target % HT_COEFS, &ends, m1, ht_target_row(&a, m2 + v, m3),
                           result[row * HT_ROWS + v], stage);
        }
        below = above;
    }
}
