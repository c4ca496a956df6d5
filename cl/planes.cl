/* Tiles of targets in two neighbouring x3 planes, in three dimensions, for products on tensor
 * cores: source nodes in local memory, sums over faces, and where results go. Shared by
 * cl/propagator_planes.cl and cl/propagator_warpgroup.cl.
 *
 * A group computes HT_CELLS targets in each of HT_ROWS rows of both planes. A warp has 8
 * neighbouring targets of an x1 row in each plane, the 16 rows of its products: warp lane l has
 * target l / 4 in both. Sums over the face between the planes serve both, and source nodes are
 * copied for three faces instead of four:
 *
 *     target   m3    m3 + 1
 *     face   0     1       2    source nodes at four vertices
 *
 * A k step is 8 source entries, two neighbouring ones for each l % 4; a chunk is HT_PAIRS steps. */
#define HT_ROW_WARPS (HT_CELLS / 8)

/* Source nodes in local memory: data[stage][face][row][block of a chunk][node], rows padded to
 * HT_PITCH. */
#define HT_TILE_1 (HT_CELLS + 1)
#define HT_TILE_2 (HT_ROWS + 1)
#define HT_TILE_NODES (HT_TILE_1 * HT_TILE_2 * 3)
#define HT_COPIES ((HT_TILE_NODES + HT_TOOL_ITEMS - 1) / HT_TOOL_ITEMS)
#define HT_STAGE_SIZE (HT_TILE_2 * 3 * HT_CHUNK * HT_PITCH)

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
        copies->in_plane[i] = (int)(ht_closed(a, 1, q2) * a->src_row + ht_closed(a, 0, q1));
        copies->to[i] = n / HT_TILE_1 * HT_CHUNK * HT_PITCH + c1;
        copies->face[i] = n / (HT_TILE_1 * HT_TILE_2);
    }
}

/* The planes around those of targets from m3 on. */
HT_INLINE void ht_copies_at(const struct ht_step_args *a, const long m3, const long end,
                            struct ht_copies *copies) {
    HT_UNROLLED(i, HT_COPIES) {
        const long q3 = m3 + copies->face[i];
        copies->node[i] =
            copies->in_plane[i] +
            (int)(ht_closed(a, 2, (q3 < end ? q3 : end) + a->shift[2]) * a->src_plane);
    }
}

/* Starts to copy a chunk, without branches: beyond the last block that one, for which the operator
 * has zeros. A chunk within a field steps from block to block. */
HT_INLINE void ht_chunk_copy(const struct ht_step_args *a, const struct ht_copies *copies,
                             const int chunk, HT_LOCAL ht_pack *data HT_EACH_SRC(HT_SRC_PARAM)) {
    const long nodes = a->src_nodes;
    HT_GLOBAL const ht_pack *from = (HT_GLOBAL const ht_pack *)src0;
    HT_UNROLLED(b, HT_CHUNK) {
        const int next = chunk * HT_CHUNK + b;
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

/* Where a result goes: its place in its field's buffer, of node 0, and from bit HT_SLOT_BIT on the
 * field's slot; slot -1 and place 0 for none. */
#define HT_SLOT_BIT 48
HT_INLINE long ht_where_of(const struct ht_step_args *a, const int entry) {
    const long at = HT_LAYOUT_AT(HT_BLOCK, entry % HT_PADDED_COEFS, 0, a->dst_nodes);
    return entry < 0 ? (long)-1 << HT_SLOT_BIT
                     : at + ((long)(entry / HT_PADDED_COEFS) << HT_SLOT_BIT);
}

/* The warp lane's nodes in the planes m3 and m3 + 1, and whether they are targets: else the last
 * one's. */
HT_INLINE void ht_targets_at(const struct ht_step_args *a, const int m1, const int m2,
                             const long m3, const long end, int node[2], int inside[2]) {
    const int n1 = (int)a->end[0], n2 = (int)a->end[1];
    HT_UNROLLED(p, 2) {
        const long q3 = m3 + p < end ? m3 + p : end - 1;
        node[p] = (int)ht_target_row(a, m2 < n2 ? m2 : n2 - 1, q3) + (m1 < n1 ? m1 : n1 - 1);
        inside[p] = m1 < n1 && m2 < n2 && m3 + p < end;
    }
}

/* The beginning of a kernel: where its work-items stand, the nodes that they copy, `where` their
 * results go and the `parities` of pairs. op: of all parts, then of the group's. */
#define HT_PLANES_BEGIN                                                                      \
    HT_LANES_BEGIN(8)                                                                        \
    const long group1 = a.begin[0] + HT_GROUP_1() / HT_PARTS * HT_CELLS;                     \
    const long group2 = a.begin[1] + HT_GROUP_2() * HT_ROWS;                                 \
    const int m1 = (int)group1 + first1, m2 = (int)group2 + row;                             \
    HT_GLOBAL const real *info = op + (long)HT_PARTS * HT_OP_SIZE + part * HT_INFOS;         \
    struct ht_copies copies;                                                                 \
    ht_copies_begin(&a, item, group1, group2, &copies);                                      \
    for (int i = item; i < HT_INFO_PARITIES; i += HT_TOOL_ITEMS) parities[i] = (int)info[i]; \
    for (int i = item; i < HT_TILES * 4; i += HT_TOOL_ITEMS)                                 \
        where[i] = ht_where_of(&a, (int)info[HT_INFO_PARITIES + i]);                         \
    op += (long)part * HT_OP_SIZE;                                                           \
    HT_BARRIER();
