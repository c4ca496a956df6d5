/* The half step as parity blocks (src/kernel/blocks.h) for CPUs: neighbouring
 * targets along x1 are the lanes of vectors, a group is one work-item.
 *
 * A group takes HT_CELLS = HT_VECTORS * HT_WIDTH targets of a row. HT_CHUNK
 * source entries at a time it forms the vertex sums of all blocks,
 *     sums[block][entry of the chunk][vector],
 * which stay in a cache, and multiplies: HT_TILE rows of a block at a time are
 * accumulated in registers over the chunk,
 *     result[row][vector] += op * sums,
 * with the operator read in the order in which it is stored,
 *     op[field of the source][chunk][block][tile][entry][row of the tile].
 * Rows of a block are padded to whole tiles, chunks to whole ones, with zeros;
 * rows ht_block_row[g] <= row < ht_block_row[g + 1] belong to block g and
 * ht_row_target[row] is the target entry, -1 for padding.
 *
 * At the end of a row that vectors do not fill, a group begins earlier and
 * stores only what is its own. Sources of such a group lie in one row but for
 * a vertex behind the lower end, that before the upper end, or one behind it;
 * rows shorter than a group, and the blocked layout, are read value by value.
 */
#define HT_CORNERS (1 << HT_DIMS)
#define HT_COEFS (HT_N1 * HT_N2 * HT_N3)
#define HT_CHUNKS ((HT_COEFS + HT_CHUNK - 1) / HT_CHUNK)

#if HT_WIDTH == 1
typedef real vector;
#define HT_LOAD(p) (*(p))
#define HT_STORE_VECTOR(v, p) (*(p) = (v))
#else
typedef HT_VECTOR_TYPE(HT_WIDTH) vector;
#define HT_LOAD(p) HT_VECTOR_LOAD(HT_WIDTH, p)
#define HT_STORE_VECTOR(v, p) HT_VECTOR_STORE(HT_WIDTH, v, p)
#endif

/* The rows of source nodes around a row of targets: q = 2 j3 + j2 counts the
 * rows at lower and upper x2 and x3. */
#define HT_SIDES (HT_CORNERS / 2)
struct ht_rows {
    long start;           /* first target along x1 */
    long base;            /* source node left of it, may be -1 */
    long row[HT_SIDES];   /* node at x1 = 0 */
    int factor[HT_SIDES]; /* of the walls passed along x2 and x3 */
    int mirror[HT_SIDES]; /* axes on which mirrored, a bit each */
    int plain;            /* no wall passed along x2 and x3 */
    int whole;            /* vectors lie in the rows but for one end */
};

HT_INLINE struct ht_rows ht_rows_of(const struct ht_step_args *a, long m1,
                                    long m2, long m3) {
    struct ht_rows r;
    const long last = a->dst[0] - HT_CELLS;
    r.start = last >= 0 && m1 > last ? last : m1;
    r.base = r.start + a->shift;
    r.plain = 1;
    r.whole = HT_BLOCK == 1 && last >= 0 && a->src[0] >= HT_CELLS;
    for (int q = 0; q < HT_SIDES; q++) {
        struct ht_source p2 = {0, 0, 1}, p3 = {0, 0, 1};
        if (HT_DIMS > 1)
            p2 = ht_source(m2 + a->shift + q % 2, a->src[1], a->wall[2],
                           a->wall[3]);
        if (HT_DIMS > 2)
            p3 = ht_source(m3 + a->shift + q / 2, a->src[2], a->wall[4],
                           a->wall[5]);
        r.row[q] = (p3.node * a->src[1] + p2.node) * a->src[0];
        r.factor[q] = p2.factor * p3.factor;
        r.mirror[q] = 2 * p2.mirrored + 4 * p3.mirrored;
        if (r.mirror[q]) r.plain = 0;
    }
    return r;
}

/* Bits set of a number below 8. */
HT_INLINE int ht_bits(int n) {
    return (n & 1) + (n >> 1 & 1) + (n >> 2 & 1);
}

/* Coefficient i at node m, perhaps behind an end, of the row that begins at
 * node `row`; odd: the coefficient changes sign in a mirror along x1. */
HT_INLINE real ht_value(const struct ht_step_args *a, HT_GLOBAL const real *src,
                        int i, long row, long m, int odd) {
    const long nodes = a->src[0] * a->src[1] * a->src[2];
    const struct ht_source p = ht_source(m, a->src[0], a->wall[0], a->wall[1]);
    const real value = src[HT_AT(i, row + p.node, nodes)];
    return p.mirrored ? (real)(p.factor * ht_sign(odd)) * value : value;
}

/* left[v], right[v]: coefficient i at the lower and upper x1 vertices of the
 * targets of vector v. stage: HT_CELLS + 1 values of scratch. */
HT_INLINE void ht_read_row(const struct ht_step_args *a,
                           HT_GLOBAL const real *src, int i, int parity,
                           const struct ht_rows *r, int q,
                           vector left[HT_VECTORS], vector right[HT_VECTORS],
                           HT_LOCAL real *stage) {
    const long nodes = a->src[0] * a->src[1] * a->src[2];
    if (r->whole) {
        HT_GLOBAL const real *from = src + i * nodes + r->row[q] + r->base;
        const int below = r->base < 0;
        const int above = r->base + HT_CELLS >= a->src[0];
        HT_UNROLL
        for (int v = 0; v < HT_VECTORS; v++) {
            if (v > 0 || !below) left[v] = HT_LOAD(from + v * HT_WIDTH);
            if (v + 1 < HT_VECTORS || !above)
                right[v] = HT_LOAD(from + v * HT_WIDTH + 1);
        }
        if (below) {
            stage[0] = ht_value(a, src, i, r->row[q], r->base, parity);
            HT_STORE_VECTOR(right[0], stage + 1);
            left[0] = HT_LOAD(stage);
        }
        if (above) {
            HT_STORE_VECTOR(left[HT_VECTORS - 1], stage);
            stage[HT_WIDTH] =
                ht_value(a, src, i, r->row[q], r->base + HT_CELLS, parity);
            right[HT_VECTORS - 1] = HT_LOAD(stage + 1);
        }
    } else {
        const long most = a->dst[0] - r->start;
        for (int n = 0; n <= HT_CELLS; n++)
            stage[n] = ht_value(a, src, i, r->row[q],
                                r->base + (n < most ? n : most), parity);
        HT_UNROLL
        for (int v = 0; v < HT_VECTORS; v++) {
            left[v] = HT_LOAD(stage + v * HT_WIDTH);
            right[v] = HT_LOAD(stage + v * HT_WIDTH + 1);
        }
    }
}

/* Sums of one source entry: h[w] gets the sign -1 from the lower vertex of
 * every axis in w. */
HT_INLINE void ht_butterfly(const struct ht_step_args *a,
                            HT_GLOBAL const real *src, int i, int parity,
                            const struct ht_rows *r,
                            vector h[HT_CORNERS][HT_VECTORS],
                            HT_LOCAL real *stage) {
    HT_UNROLL
    for (int q = 0; q < HT_SIDES; q++) {
        vector left[HT_VECTORS], right[HT_VECTORS];
        ht_read_row(a, src, i, parity, r, q, left, right, stage);
        if (!r->plain) {
            const real sign =
                (real)(r->factor[q] * ht_sign(ht_bits(parity & r->mirror[q])));
            HT_UNROLL
            for (int v = 0; v < HT_VECTORS; v++) {
                left[v] *= sign;
                right[v] *= sign;
            }
        }
        HT_UNROLL
        for (int v = 0; v < HT_VECTORS; v++) {
            h[2 * q][v] = right[v] + left[v];
            h[2 * q + 1][v] = right[v] - left[v];
        }
    }
    HT_UNROLL
    for (int bit = 2; bit < HT_CORNERS; bit *= 2) {
        HT_UNROLL
        for (int w = 0; w < HT_CORNERS; w++) {
            if (w & bit) continue;
            HT_UNROLL
            for (int v = 0; v < HT_VECTORS; v++) {
                const vector lower = h[w][v], upper = h[w + bit][v];
                h[w][v] = upper + lower;
                h[w + bit][v] = upper - lower;
            }
        }
    }
}

/* sums[g][k][v] of the entries i0 + k of one field. */
HT_INLINE void ht_sums(const struct ht_step_args *a, HT_GLOBAL const real *src,
                       int i0, int field_parity, const struct ht_rows *r,
                       HT_LOCAL vector *sums, HT_LOCAL real *stage) {
    for (int k = 0; k < HT_CHUNK; k++) {
        const int i = i0 + k;
        if (i >= HT_COEFS) break;
        const int parity =
            field_parity ^ (i % HT_N1 % 2 + i / HT_N1 % HT_N2 % 2 * 2 +
                            i / (HT_N1 * HT_N2) % 2 * 4);
        vector h[HT_CORNERS][HT_VECTORS];
        ht_butterfly(a, src, i, parity, r, h, stage);
        HT_UNROLL
        for (int w = 0; w < HT_CORNERS; w++) {
            HT_UNROLL
            for (int v = 0; v < HT_VECTORS; v++)
                sums[(((w ^ parity) & (HT_CORNERS - 1)) * HT_CHUNK + k) *
                         HT_VECTORS +
                     v] = h[w][v];
        }
    }
}

/* One tile of rows over `count` entries of a chunk. */
HT_INLINE void ht_tile(HT_GLOBAL const real *op, int count,
                       HT_LOCAL const vector *sums, HT_LOCAL vector *result) {
    vector sum[HT_TILE][HT_VECTORS];
    HT_UNROLL
    for (int r = 0; r < HT_TILE; r++) {
        HT_UNROLL
        for (int v = 0; v < HT_VECTORS; v++)
            sum[r][v] = result[r * HT_VECTORS + v];
    }
    for (int k = 0; k < count; k++) {
        HT_UNROLL
        for (int r = 0; r < HT_TILE; r++) {
            HT_UNROLL
            for (int v = 0; v < HT_VECTORS; v++)
                sum[r][v] = fma((vector)op[k * HT_TILE + r],
                                sums[k * HT_VECTORS + v], sum[r][v]);
        }
    }
    HT_UNROLL
    for (int r = 0; r < HT_TILE; r++) {
        HT_UNROLL
        for (int v = 0; v < HT_VECTORS; v++)
            result[r * HT_VECTORS + v] = sum[r][v];
    }
}

/* Writes row `row` of the result to the field of its target entry. */
HT_INLINE void ht_store_row(const struct ht_step_args *a, HT_GLOBAL real *dst,
                            int i, const struct ht_rows *r, long m1, long node,
                            HT_LOCAL const vector *result,
                            HT_LOCAL real *stage) {
    const long nodes = a->dst[0] * a->dst[1] * a->dst[2];
    const int all =
        HT_BLOCK == 1 && r->start == m1 && m1 + HT_CELLS <= a->dst[0];
    HT_GLOBAL real *to = dst + i * nodes + node + m1;
    HT_UNROLL
    for (int v = 0; v < HT_VECTORS; v++) {
        if (all) {
#if HT_KEEP
            HT_STORE_VECTOR((vector)(real)HT_KEEP * HT_LOAD(to + v * HT_WIDTH) +
                                result[v],
                            to + v * HT_WIDTH);
#else
            HT_STORE_VECTOR(result[v], to + v * HT_WIDTH);
#endif
        } else {
            HT_STORE_VECTOR(result[v], stage + v * HT_WIDTH);
        }
    }
    for (long n = m1 - r->start; !all && n < HT_CELLS; n++) {
        const long m = r->start + n;
        if (m >= a->dst[0]) break;
        const long at = HT_AT(i, node + m, nodes);
#if HT_KEEP
        dst[at] = (real)HT_KEEP * dst[at] + stage[n];
#else
        dst[at] = stage[n];
#endif
    }
}

#define HT_SOURCE_CHOOSE(n, f) from = slot == n ? src##n : from;
#define HT_TARGET_CHOOSE(n, f) to = slot == n ? dst##n : to;

HT_KERNEL HT_GROUP_SIZE(1) void ht_propagator(
    struct ht_step_args a,
    HT_GLOBAL const real *HT_RESTRICT op HT_EACH_SRC(HT_SRC_PARAM)
        HT_EACH_DST(HT_DST_PARAM)) {
    HT_LOCAL_ARRAY(vector, sums, HT_CORNERS * HT_CHUNK * HT_VECTORS);
    HT_LOCAL_ARRAY(vector, result, HT_RESULT_ROWS * HT_VECTORS);
    HT_LOCAL_ARRAY(real, stage, HT_CELLS + 1);
    const long m1 = HT_GROUP_1() * HT_CELLS, m2 = HT_GROUP_2();
    const long begin = a.first + HT_GROUP_3() * a.march;
    const long end = begin + a.march < a.last ? begin + a.march : a.last;
    for (long m3 = begin; m3 < end; m3++) {
        const struct ht_rows rows = ht_rows_of(&a, m1, m2, m3);
        HT_GLOBAL const real *at = op;
        for (int n = 0; n < HT_RESULT_ROWS * HT_VECTORS; n++) result[n] = 0;
        for (int slot = 0; slot < HT_SOURCES; slot++) {
            HT_GLOBAL const real *from = src0;
            HT_EACH_SRC(HT_SOURCE_CHOOSE)
            for (int i0 = 0; i0 < HT_COEFS; i0 += HT_CHUNK) {
                const int count =
                    HT_COEFS - i0 < HT_CHUNK ? HT_COEFS - i0 : HT_CHUNK;
                ht_sums(&a, from, i0, ht_parity[slot], &rows, sums, stage);
                for (int g = 0; g < HT_CORNERS; g++)
                    for (int row = ht_block_row[g]; row < ht_block_row[g + 1];
                         row += HT_TILE, at += HT_TILE * count)
                        ht_tile(at, count, sums + g * HT_CHUNK * HT_VECTORS,
                                result + row * HT_VECTORS);
            }
        }
        for (int row = 0; row < HT_RESULT_ROWS; row++) {
            const int target = ht_row_target[row], slot = target / HT_COEFS;
            if (target < 0) continue;
            HT_GLOBAL real *to = dst0;
            HT_EACH_DST(HT_TARGET_CHOOSE)
            ht_store_row(&a, to, target % HT_COEFS, &rows, m1,
                         (m3 * a.dst[1] + m2) * a.dst[0],
                         result + row * HT_VECTORS, stage);
        }
    }
}
