/* The half step as a tensor product of one-dimensional operators, for one field advected by a
 * constant velocity: along an axis one interpolates between two neighbours and shifts the
 * interpolant. HT_AXIS_AT(k, side, r, i) multiplies derivative i at the neighbour on `side` of axis
 * k in derivative r.
 *
 * Work-item row * HT_CELLS + cell computes one target per x3 plane and marches along x3. It applies
 * the operators along x1 and x2 to the four source nodes in a plane,
 *     face[i3][r2][r1],
 * and the operator along x3 to this face and to the one below, whose contribution is in
 * low[r3][r2][r1]. A work-group computes HT_TILE values of r1; the parts of r1 are the fastest
 * index of the work-groups along x1.
 *
 *     o-------o  upper face        o  source nodes, two or four per face
 *     |   x   |  target = low + contribution of the upper face
 *     o-------o  lower face: its contribution is low */
#define HT_AXIS_AT(k, side, r, i) ht_axis[(((k)*2 + (side)) * HT_N1 + (r)) * HT_N1 + (i)]
#define HT_TILE_PARTS ((HT_N1 + HT_TILE - 1) / HT_TILE)
#define HT_PLANE (HT_N2 * HT_TILE) /* results (r2, r1) */
#define HT_LINE_PACKS ((HT_N1 * HT_N2 + HT_BLOCK - 1) / HT_BLOCK + 1)

/* A slab is the coefficients (i3, i2, i1) of one i3 at a node, read with the whole blocks that
 * contain them; its first coefficient is slab[i3 * HT_N1 * HT_N2 % HT_BLOCK]. */
HT_INLINE void ht_read_slab(HT_GLOBAL const real *src, const int i3, long node, long nodes,
                            real slab[HT_LINE_PACKS * HT_BLOCK]) {
    const int first = i3 * HT_N1 * HT_N2 / HT_BLOCK;
    const int end = ((i3 + 1) * HT_N1 * HT_N2 + HT_BLOCK - 1) / HT_BLOCK;
    HT_UNROLLED(b, HT_LINE_PACKS) {
        if (first + b >= end) continue;
        HT_GLOBAL const ht_pack *at = (HT_GLOBAL const ht_pack *)src;
        ht_unpack(at[(first + b) * nodes + node], &slab[b * HT_BLOCK]);
    }
}

/* The slabs of a plane are read in the order side * HT_N3 + i3 (side along x2), those of the two
 * nodes along x1 together. HT_AHEAD of them are read ahead of use: few warps fit a multiprocessor,
 * so a work-item needs many reads in flight to hide latency. */
#define HT_SIDES (HT_DIMS > 1 ? 2 : 1)
#define HT_SLAB_WORDS (2 * HT_N1 * HT_N2 * (1 + HT_DOUBLE))
#define HT_AHEAD (HT_SLAB_WORDS <= 32 ? 2 : HT_SLAB_WORDS <= 50 ? 1 : 0)

struct ht_slabs {
    real at[2][HT_LINE_PACKS * HT_BLOCK]; /* of the lower, the upper node */
};

HT_INLINE void ht_read_slabs(const struct ht_step_args *a, HT_GLOBAL const real *src,
                             const int turn, const long node[HT_SIDES][2], struct ht_slabs *out) {
    HT_UNROLLED(upper, 2)
        ht_read_slab(src, turn % HT_N3, node[turn / HT_N3][upper], a->src_nodes, out->at[upper]);
}

/* face += contribution of the two nodes along x1 in the lower (side 0) or upper (side 1) row. */
HT_INLINE void ht_add_slabs(const struct ht_slabs *slabs, const int turn,
                            real along[2][HT_TILE][HT_N1], real face[HT_N3][HT_PLANE]) {
    const int side = turn / HT_N3, i3 = turn % HT_N3;
    const int skip = i3 * HT_N1 * HT_N2 % HT_BLOCK;
    HT_UNROLLED(i2, HT_N2) {
        HT_UNROLLED(r, HT_TILE) {
            real sum = 0;
            HT_UNROLLED(i, HT_N1) {
                const int at = skip + i2 * HT_N1 + i;
                sum = fma(along[0][r][i], slabs->at[0][at], sum);
                sum = fma(along[1][r][i], slabs->at[1][at], sum);
            }
#if HT_DIMS > 1
            HT_UNROLLED(r2, HT_N2)
                face[i3][r2 * HT_TILE + r] =
                    fma(HT_AXIS_AT(1, side, r2, i2), sum, face[i3][r2 * HT_TILE + r]);
#else
            (void)side;
            face[i3][r] = sum;
#endif
        }
    }
}

/* face += contribution of the nodes of a source plane. */
HT_INLINE void ht_face_part(const struct ht_step_args *a, HT_GLOBAL const real *src,
                            const long node[HT_SIDES][2], real along[2][HT_TILE][HT_N1],
                            real face[HT_N3][HT_PLANE]) {
    struct ht_slabs slabs[HT_AHEAD + 1];
    HT_UNROLL
    for (int turn = 0; turn < HT_AHEAD && turn < HT_SIDES * HT_N3; turn++)
        ht_read_slabs(a, src, turn, node, &slabs[turn]);
    HT_UNROLLED(turn, HT_SIDES * HT_N3) {
        const int next = turn + HT_AHEAD;
        if (next < HT_SIDES * HT_N3)
            ht_read_slabs(a, src, next, node, &slabs[next % (HT_AHEAD + 1)]);
        ht_add_slabs(&slabs[turn % (HT_AHEAD + 1)], turn, along, face);
    }
}

/* out = the contribution of the face below (side 0), or low and that of the face above. */
HT_INLINE void ht_along_march(const int side, real low[HT_N3][HT_PLANE], real face[HT_N3][HT_PLANE],
                              real out[HT_N3][HT_PLANE]) {
    HT_UNROLLED(q, HT_PLANE)
        HT_UNROLLED(r3, HT_N3) {
            real sum = side ? low[r3][q] : (real)0;
            HT_UNROLLED(i3, HT_N3) sum = fma(HT_AXIS_AT(2, side, r3, i3), face[i3][q], sum);
            out[r3][q] = sum;
        }
}

HT_INLINE void ht_store_part(HT_GLOBAL real *dst, const int r1, long node, long nodes,
                             real out[HT_N3][HT_PLANE]) {
#if HT_TILE == HT_N1
    HT_UNROLL
    for (int b = 0; b * HT_BLOCK < HT_N1 * HT_N2 * HT_N3; b++) {
        real w[HT_BLOCK];
        HT_UNROLLED(j, HT_BLOCK) {
            const int i = b * HT_BLOCK + j;
            w[j] = i < HT_N3 * HT_PLANE ? out[i / HT_PLANE % HT_N3][i % HT_PLANE] : (real)0;
        }
        ((HT_GLOBAL ht_pack *)dst)[b * nodes + node] = ht_packed(w);
    }
    (void)r1;
#else
    HT_UNROLLED(r3, HT_N3)
        HT_UNROLLED(q, HT_PLANE) {
            const int i1 = r1 + q % HT_TILE;
            const int i = (r3 * HT_N2 + q / HT_TILE) * HT_N1 + i1;
            if (i1 < HT_N1) dst[HT_AT(i, node, nodes)] = out[r3][q];
        }
#endif
}

HT_TOOL_KERNEL ht_separable(struct ht_step_args a, HT_INPUT(real) unused, HT_INPUT(real) src0,
                            HT_OUTPUT(real) dst0) {
    const int item = HT_ITEM();
    const int r1 = (int)(HT_GROUP_1() % HT_TILE_PARTS) * HT_TILE;
    const long m1 = a.begin[0] + HT_GROUP_1() / HT_TILE_PARTS * HT_CELLS + item % HT_CELLS;
    const long m2 = a.begin[1] + HT_GROUP_2() * HT_ROWS + item / HT_CELLS;
    const long begin = ht_first_plane(&a), end = ht_last_plane(&a);
    (void)unused;
    if (m1 >= a.end[0] || m2 >= a.end[1]) return;
    const long left = ht_closed(&a, 0, m1 + a.shift[0]);
    const long right = ht_closed(&a, 0, m1 + a.shift[0] + 1);
    real along[2][HT_TILE][HT_N1], low[HT_N3][HT_PLANE];
    HT_UNROLLED(side, 2)
        HT_UNROLLED(r, HT_TILE)
            HT_UNROLLED(i, HT_N1)
                along[side][r][i] =
                    HT_AXIS_AT(0, side, HT_TILE_PARTS > 1 ? (r1 + r) % HT_N1 : r, i);
    HT_UNROLLED(i3, HT_N3)
        HT_UNROLLED(q, HT_PLANE) low[i3][q] = 0;
    for (long m3 = begin; m3 < end + (HT_DIMS > 2); m3++) {
        real face[HT_N3][HT_PLANE];
        HT_UNROLLED(i3, HT_N3)
            HT_UNROLLED(q, HT_PLANE) face[i3][q] = 0;
        long node[HT_SIDES][2];
        HT_UNROLLED(side, HT_SIDES) {
            const long row = ht_source_row(&a, m2 + a.shift[1] + side, m3 + a.shift[2]);
            node[side][0] = row + left;
            node[side][1] = row + right;
        }
        ht_face_part(&a, src0, node, along, face);
        const long target = ht_target_row(&a, m2, m3 - (HT_DIMS > 2)) + m1;
#if HT_DIMS > 2
        real out[HT_N3][HT_PLANE];
        ht_along_march(1, low, face, out);
        if (m3 > begin) ht_store_part(dst0, r1, target, a.dst_nodes, out);
        ht_along_march(0, low, face, low);
#else
        ht_store_part(dst0, r1, target, a.dst_nodes, face);
#endif
    }
}
