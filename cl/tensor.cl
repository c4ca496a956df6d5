/* The half step by parity blocks (src/kernel/blocks.h) as matrix products on NVIDIA's tensor cores:
 * what kernels with products of warps (cl/propagator_tensor.cl) and of warpgroups
 * (cl/propagator_warpgroup.cl) share.
 *
 * A group computes HT_CELLS targets in each of HT_ROWS rows of HT_DEPTH planes. 16
 * targets of a warp are the rows of the product; its columns are rows of a parity block, 8 at a
 * time (a tile); the sum runs over 8 source entries at a time (a k step), two neighbouring ones for
 * each l % 4 of warp lanes l; a chunk is HT_PAIRS steps. The 16 are neighbours in an x1 row, of
 * which warp lane l has l / 4 and l / 4 + 8; or, in three dimensions, 8 neighbours in each of two
 * planes, of which it has l / 4 in both: sums over the face between the planes serve both, and
 * source nodes are copied for three faces instead of four:
 *
 *     target   m3    m3 + 1
 *     face   0     1       2    source nodes at four vertices
 *
 * The order of source entries is free: lane l reads the coefficients of block l % 4 of a chunk, two
 * per k step, at the vertices and forms the sums of all parity blocks in registers, the left sides
 * of the products. Coefficients are sorted by parity (src/kernel/variant.c), so both of a pair have
 * the same parity, and a pair of results is contiguous in a node.
 *
 * With HT_PARTS = 2, 4, 8 the parity blocks of a tile's targets are distributed over as many
 * work-groups by the signs along the last axes; with more, the rows of each block, too.
 *     op[part][chunk][k step of the chunk][tile][lane][2].
 * info: the parity of each (chunk, l % 4, pair), then for each (tile, l % 4) the target slot *
 * HT_PADDED_COEFS + storage index of the pair of results, -1 for none. */
#define HT_PAIRS (HT_BLOCK / 2)
typedef HT_VECTOR(2) ht_pair;
#define HT_PART_BLOCKS (HT_PARTS < HT_CORNERS ? HT_CORNERS / HT_PARTS : 1)
#define HT_FIRST_BLOCK(part) ((part)*HT_CORNERS / HT_PARTS)
#define HT_INFO_PARITIES (HT_CHUNKS * 4 * HT_PAIRS)
#define HT_INFOS (HT_INFO_PARITIES + HT_TILES * 4)
#define HT_WARP_CELLS (16 / HT_DEPTH)
#define HT_ROW_WARPS (HT_CELLS / HT_WARP_CELLS)
/* Units, of HT_UNIT k steps, of a chunk. */
#define HT_CHUNK_UNITS (HT_PAIRS / HT_UNIT)
#define HT_UNIT_BLOCKS (HT_CHUNK / HT_CHUNK_UNITS)
#define HT_EACH_STEP HT_UNROLL for (int j = 0; j < HT_UNIT; j++)
/* lanes with odd t swap the pairs to avoid bank conflicts */
#define HT_PAIR_OF(j) (HT_PAIRS == 2 ? (j) ^ (t & 1) : 0)

/* ---- source nodes ---- */

/* Source nodes in local memory: data[stage][face][row][block of a chunk][node], rows padded to
 * HT_PITCH. */
#define HT_TILE_1 (HT_CELLS + 1)
#define HT_TILE_2 (HT_DIMS > 1 ? HT_ROWS + 1 : 1)
#define HT_TILE_3 (HT_DIMS > 2 ? HT_DEPTH + 1 : 1)
#define HT_TILE_NODES (HT_TILE_1 * HT_TILE_2 * HT_TILE_3)
#define HT_COPIES ((HT_TILE_NODES + HT_TOOL_ITEMS - 1) / HT_TOOL_ITEMS)
#define HT_STAGE_SIZE (HT_TILE_2 * HT_TILE_3 * HT_CHUNK * HT_PITCH)

/* The nodes that a work-item copies: in their plane, in the window, and in local memory; work-items
 * that are left over copy the last one, too. The host ensures that node numbers fit int. */
struct ht_copies {
    int in_plane[HT_COPIES], node[HT_COPIES], to[HT_COPIES], face[HT_COPIES];
};

HT_INLINE void ht_copies_begin(const struct ht_step_args *a, const int item, const long m1,
                               const long m2, struct ht_copies *copies) {
    HT_UNROLLED(i, HT_COPIES) {
        const int own = i * HT_TOOL_ITEMS + item;
        const int n = own < HT_TILE_NODES ? own : HT_TILE_NODES - 1;
        const int c1 = n % HT_TILE_1, c2 = n / HT_TILE_1 % HT_TILE_2;
        /* nodes beyond the last target are copied but not used: clamp */
        long q1 = m1 + c1, q2 = m2 + c2;
        q1 = (q1 < a->end[0] ? q1 : a->end[0]) + a->shift[0];
        q2 = (q2 < a->end[1] ? q2 : a->end[1]) + a->shift[1];
        copies->in_plane[i] =
            (int)((HT_DIMS > 1 ? ht_closed(a, 1, q2) * a->src_row : 0) + ht_closed(a, 0, q1));
        copies->to[i] = n / HT_TILE_1 * HT_CHUNK * HT_PITCH + c1;
        copies->face[i] = n / (HT_TILE_1 * HT_TILE_2);
    }
}

/* The planes around those of targets from m3 on. */
HT_INLINE void ht_copies_at(const struct ht_step_args *a, const long m3, const long end,
                            struct ht_copies *copies) {
    HT_UNROLLED(i, HT_COPIES) {
        const long q3 = m3 + copies->face[i];
        const long i3 = (q3 < end ? q3 : end) + a->shift[2];
        copies->node[i] =
            copies->in_plane[i] + (HT_DIMS > 2 ? (int)(ht_closed(a, 2, i3) * a->src_plane) : 0);
    }
}

/* Starts to copy a unit's share of a chunk, blocks from `first` on, without branches: beyond the
 * last block that one, for which the operator has zeros. A chunk within a field steps from block to
 * block. */
HT_INLINE void ht_chunk_copy(const struct ht_step_args *a, const struct ht_copies *copies,
                             const int first, HT_LOCAL ht_pack *data HT_EACH_SRC(HT_SRC_PARAM)) {
    const long nodes = a->src_nodes;
    HT_GLOBAL const ht_pack *from = (HT_GLOBAL const ht_pack *)src0;
    HT_UNROLLED(b, HT_UNIT_BLOCKS) {
        const int next = first + b;
        const int block = next < HT_BLOCKS ? next : HT_BLOCKS - 1;
        if (b % HT_STEPS == 0) {
            const int field = block / HT_FIELD_BLOCKS;
            HT_CHOOSE_SRC
            from = (HT_GLOBAL const ht_pack *)chosen + block % HT_FIELD_BLOCKS * nodes;
        } else if (HT_BLOCKS % HT_CHUNK == 0 || next < HT_BLOCKS) {
            from += nodes;
        }
        HT_UNROLLED(i, HT_COPIES)
            ht_copy(data + copies->to[i] + b * HT_PITCH, from + copies->node[i]);
    }
}

/* ---- results ---- */

/* USE for the warp lane's results of all tiles, pairs in the nodes of its targets. `own` is 0 if
 * there is no such result; `at` then points to another valid pair, which may be read, since reads
 * without branches overlap. */
#define HT_EACH_RESULT(USE)                                                                        \
    HT_UNROLLED(tile, HT_TILES) {                                                                  \
        const long entry = where[tile * 4 + t];                                                    \
        const int field = (int)(entry >> HT_SLOT_BIT);                                             \
        HT_CHOOSE_DST                                                                              \
        chosen += entry & (((long)1 << HT_SLOT_BIT) - 1);                                          \
        HT_UNROLLED(target, 2) {                                                                   \
            const int own = entry >= 0 && inside[target];                                          \
            HT_GLOBAL ht_pair *at = (HT_GLOBAL ht_pair *)(chosen + (long)node[target] * HT_BLOCK); \
            USE                                                                                    \
        }                                                                                          \
    }
#define HT_RESULT(i) acc[tile][2 * target + (i)]
#define HT_READ_RESULT       \
    const ht_pair old = *at; \
    HT_RESULT(0) = old.x;    \
    HT_RESULT(1) = old.y;    \
    (void)own;
#define HT_STORE_RESULT      \
    ht_pair result;          \
    result.x = HT_RESULT(0); \
    result.y = HT_RESULT(1); \
    if (own) *at = result;
#if HT_OLD_SIGN == 0
#define HT_READ_RESULTS
#else
#define HT_READ_RESULTS HT_EACH_RESULT(HT_READ_RESULT)
#endif

#define HT_RESULTS_BEGIN   \
    real acc[HT_TILES][4]; \
    HT_READ_RESULTS        \
    ht_results_begin(acc);

/* Results to which products are added: zero, or the old values, which acc holds, with their sign.
 */
HT_INLINE void ht_results_begin(real acc[HT_TILES][4]) {
    HT_UNROLLED(i, HT_TILES)
        HT_UNROLLED(e, 4) acc[i][e] = HT_OLD_SIGN == 0 ? (real)0 : (real)HT_OLD_SIGN * acc[i][e];
}

/* Where a result goes: its place in its field's buffer, of node 0, and from bit HT_SLOT_BIT on the
 * field's slot; slot -1 and place 0 for none. */
#define HT_SLOT_BIT 48
HT_INLINE long ht_where_of(const struct ht_step_args *a, const int entry) {
    const long at = HT_LAYOUT_AT(HT_BLOCK, entry % HT_PADDED_COEFS, 0, a->dst_nodes);
    return entry < 0 ? (long)-1 << HT_SLOT_BIT
                     : at + ((long)(entry / HT_PADDED_COEFS) << HT_SLOT_BIT);
}

/* The nodes of the warp lane's targets, the first of which is (m1, m2, m3), and whether they are
 * targets: else the last one's. */
HT_INLINE void ht_targets_at(const struct ht_step_args *a, const int m1, const int m2,
                             const long m3, const long end, int node[2], int inside[2]) {
    const int n1 = (int)a->end[0], n2 = (int)a->end[1];
    HT_UNROLLED(p, 2) {
        const int q1 = m1 + (HT_DEPTH > 1 ? 0 : 8 * p);
        const long up = m3 + (HT_DEPTH > 1 ? p : 0), q3 = up < end ? up : end - 1;
        node[p] = (int)ht_target_row(a, m2 < n2 ? m2 : n2 - 1, q3) + (q1 < n1 ? q1 : n1 - 1);
        inside[p] = q1 < n1 && m2 < n2 && up < end;
    }
}

/* ---- the operator ---- */

/* USE for the tiles of parity blocks [first, end), number `own` of them. */
#define HT_EACH_TILE(first, end, USE)                           \
    HT_UNROLL                                                   \
    for (int g = (first); g < (end) && g < HT_PART_BLOCKS; g++) \
        HT_UNROLLED(n, HT_MOST_TILES) {                         \
            if (n >= HT_TILES_OF(g)) continue;                  \
            const int tile = HT_FIRST_TILE(g) + n;              \
            const int own = (g - (first)) * HT_MOST_TILES + n;  \
            USE                                                 \
        }

/* Starts to copy the operator of a chunk, so many packs. */
HT_INLINE void ht_operator_copy(const int item, const int chunk, const int packs,
                                HT_GLOBAL const real *op, HT_LOCAL ht_pack *to) {
    HT_GLOBAL const ht_pack *from = (HT_GLOBAL const ht_pack *)op + (long)chunk * packs;
    HT_UNROLL
    for (int k = 0; k < packs; k += HT_TOOL_ITEMS) {
        const int whole = k + HT_TOOL_ITEMS <= packs;
        const int i = whole || k + item < packs ? k + item : packs - 1;
        ht_copy(to + i, from + i);
    }
}

/* ---- left sides ---- */

#if HT_DEPTH > 1
/* The pairs of coefficients at the four vertices of a face: v[e][w] of coefficient e. */
HT_INLINE void ht_face_pairs(HT_LOCAL const ht_pair *at, const int face, real v[2][4]) {
    HT_UNROLLED(w, 4) {
        const ht_pair x =
            at[((face * HT_TILE_2 + (w >> 1)) * HT_CHUNK * HT_PITCH + (w & 1)) * HT_PAIRS];
        v[0][w] = x.x;
        v[1][w] = x.y;
    }
}

/* In place, the sums over the vertices of a face, with all signs along x1 and x2. */
HT_INLINE void ht_face_butterflies(const real sign[3], real v[4]) {
    ht_butterfly(sign[0], &v[0], &v[1]);
    ht_butterfly(sign[0], &v[2], &v[3]);
    ht_butterfly(sign[1], &v[0], &v[2]);
    ht_butterfly(sign[1], &v[1], &v[3]);
}

/* sums[e]: those of a face of coefficient e of the pair at `at`. */
HT_INLINE void ht_face_sums(HT_LOCAL const ht_pair *at, const int face, const real sign[3],
                            real sums[2][4]) {
    ht_face_pairs(at, face, sums);
    ht_face_butterflies(sign, sums[0]);
    ht_face_butterflies(sign, sums[1]);
}
#endif

/* The left sides of a k step: vertex sums at the warp lane's targets for the pair of coefficients
 * at `at`, whose parity is `parity`. In two planes, where a group has the blocks of one sign along
 * x3, that axis comes first, so that nothing else is summed; else the faces, whose sums serve both
 * signs. */
HT_INLINE void ht_left_side(HT_LOCAL const ht_pair *at, const int parity, const int part,
                            real left[HT_PART_BLOCKS][4]) {
    const int bits = parity ^ HT_FIRST_BLOCK(part);
    const real sign[3] = {HT_SIGN_OF(bits, 0), HT_SIGN_OF(bits, 1), HT_SIGN_OF(bits, 2)};
#if HT_DEPTH > 1
    real face[3][2][4];
    HT_UNROLLED(i, 3) {
        if (HT_PARTS > 1)
            ht_face_pairs(at, i, face[i]);
        else
            ht_face_sums(at, i, sign, face[i]);
    }
    HT_UNROLLED(i, 4) {
        const int e = i / 2, plane = i % 2;
        real v[8];
        HT_UNROLLED(g, 8)
            v[g] =
                fma(g < 4 ? sign[2] : -sign[2], face[plane][e][g % 4], face[plane + 1][e][g % 4]);
        if (HT_PARTS > 1) ht_face_butterflies(sign, v);
        HT_UNROLLED(g, HT_PART_BLOCKS) left[g][i] = v[g];
    }
#else
    HT_UNROLLED(target, 2) {
        real v[2][HT_CORNERS];
        HT_UNROLLED(w, HT_CORNERS) {
            const ht_pair x = at[(((w >> 2) * HT_TILE_2 + (w >> 1 & 1)) * HT_CHUNK * HT_PITCH +
                                  8 * target + (w & 1)) *
                                 HT_PAIRS];
            v[0][w] = x.x;
            v[1][w] = x.y;
        }
#if HT_DOUBLE
        HT_KEEP_ORDER(); /* double precision needs twice the registers */
#endif
        HT_UNROLLED(e, 2) {
            ht_vertex_sums(v[e], sign);
            HT_UNROLLED(g, HT_PART_BLOCKS) left[g][2 * e + target] = v[e][g];
        }
    }
#endif
}

/* The beginning of a kernel: where its work-items stand, the nodes that they copy, `where` their
 * results go and the `parities` of pairs. op: of all parts, then of the group's. */
#define HT_TENSOR_BEGIN                                                              \
    const int item = HT_ITEM(), t = item % 4;                                        \
    const int part = (int)(HT_GROUP_1() % HT_PARTS);                                 \
    const int row = item / (32 * HT_ROW_WARPS);                                      \
    const int first1 = item / 32 % HT_ROW_WARPS * HT_WARP_CELLS + item % 32 / 4;     \
    const long begin = ht_first_plane(&a), end = ht_last_plane(&a);                  \
    const long group1 = a.begin[0] + HT_GROUP_1() / HT_PARTS * HT_CELLS;             \
    const long group2 = a.begin[1] + HT_GROUP_2() * HT_ROWS;                         \
    const int m1 = (int)group1 + first1, m2 = (int)group2 + row;                     \
    HT_GLOBAL const real *info = op + (long)HT_PARTS * HT_OP_SIZE + part * HT_INFOS; \
    struct ht_copies copies;                                                         \
    ht_copies_begin(&a, item, group1, group2, &copies);                              \
    for (int i = item; i < HT_INFO_PARITIES; i += HT_TOOL_ITEMS)                     \
        parities[i] = (unsigned char)info[i];                                        \
    for (int i = item; i < HT_TILES * 4; i += HT_TOOL_ITEMS)                         \
        where[i] = ht_where_of(&a, (int)info[HT_INFO_PARITIES + i]);                 \
    op += (long)part * HT_OP_SIZE;                                                   \
    HT_BARRIER();
