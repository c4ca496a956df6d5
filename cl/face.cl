/* Interpolation within one source x3 plane, a face of the cells: along x1, then along x2, for all
 * x3 derivatives i3. Local memory in the index order
 *     face[cell][field][i3][n2][n1],
 * with n1 padded by one to avoid bank conflicts. HT_FACE_FIELDS fields are processed at a time, as
 * many as fit local memory. Fields are numbered by their slots among those that the source grid
 * stores.
 *
 *     (i2, i1) of 2 x 2 nodes --x1--> rows (j2, i2), columns n1
 *                             --x2--> rows n2, columns n1 */
#define HT_ROW (HT_T1 + 1)
#define HT_FACE_AT(c, f, i3, r, n1) \
    (((((c)*HT_FACE_FIELDS + (f)) * HT_N3 + (i3)) * HT_T2 + (r)) * HT_ROW + (n1))
#define HT_FACE_SIZE (HT_CELLS * HT_FACE_FIELDS * HT_N3 * HT_T2 * HT_ROW)

/* Number of the node at index 0 of the source row (i2, i3) of a field; the number of the field's
 * nodes. */
HT_INLINE long ht_line_row(const struct ht_step_args *a, const int slot, long i2, long i3) {
#if HT_MEMORY > 0
    const int layer = ht_src_layer[slot];
    if (layer >= 0)
        return ht_part_node(&a->src_part[1 + layer], 0, HT_DIMS > 1 ? ht_closed(a, 1, i2) : 0,
                            HT_DIMS > 2 ? ht_closed(a, 2, i3) : 0);
#endif
    (void)slot;
    return ht_source_row(a, i2, i3);
}
HT_INLINE long ht_line_nodes(const struct ht_step_args *a, const int slot) {
#if HT_MEMORY > 0
    const int layer = ht_src_layer[slot];
    if (layer >= 0) return a->src_part[1 + layer].nodes;
#endif
    (void)slot;
    return a->src_nodes;
}

/* Along x1. Line (field, i3, x2 node j2, i2, cell) reads its two nodes from global memory; its
 * interpolant goes to row j2 (N+1) + i2. */
HT_INLINE void ht_face_lines(const struct ht_step_args *a, HT_LOCAL real *face, const int item,
                             int field0, long m1, long m2, long s3 HT_EACH_SRC(HT_SRC_PARAM)) {
    const int lines = HT_CELLS * HT_T2 * HT_N3 * HT_FACE_FIELDS;
    for (int line = item; line < lines; line += HT_ITEMS) {
        const int c = line % HT_CELLS, r = line / HT_CELLS % HT_T2;
        const int i3 = line / (HT_CELLS * HT_T2) % HT_N3;
        const int f = line / (HT_CELLS * HT_T2 * HT_N3);
        const int field = field0 + f, i2 = r % HT_N2, j2 = r / HT_N2;
        if (field >= HT_SOURCES) continue;
        HT_CHOOSE_SRC
        const long m = m1 + c < a->end[0] ? m1 + c : a->end[0] - 1;
        const long row = ht_line_row(a, field, m2 + a->shift[1] + j2, s3);
        const long nodes = ht_line_nodes(a, field);
        real in[HT_T1], out[HT_T1];
        HT_UNROLLED(j1, 2) {
            const long node = row + ht_closed(a, 0, m + a->shift[0] + j1);
            HT_UNROLLED(i1, HT_N1) {
                const int i = (i3 * HT_N2 + i2) * HT_N1 + i1;
                in[j1 * HT_N1 + i1] = chosen[HT_AT(i, node, nodes)];
            }
        }
        ht_line(in, out);
        HT_UNROLLED(n1, HT_T1) face[HT_FACE_AT(c, f, i3, r, n1)] = out[n1];
    }
}

/* Along x2, in place. Column (cell, field, i3, n1) takes one value of each row. */
HT_INLINE void ht_face_columns(HT_LOCAL real *face, const int item) {
    const int columns = HT_CELLS * HT_FACE_FIELDS * HT_N3 * HT_T1;
    for (int column = item; column < columns; column += HT_ITEMS) {
        const int n1 = column % HT_T1, i3 = column / HT_T1 % HT_N3;
        const int f = column / (HT_T1 * HT_N3) % HT_FACE_FIELDS;
        const int c = column / (HT_T1 * HT_N3 * HT_FACE_FIELDS);
        real in[HT_T1], out[HT_T1];
        HT_UNROLLED(r, HT_T1) in[r] = face[HT_FACE_AT(c, f, i3, r, n1)];
        ht_line(in, out);
        HT_UNROLLED(r, HT_T1) face[HT_FACE_AT(c, f, i3, r, n1)] = out[r];
    }
}

/* column[field][i3] of this work-item from the face at source plane s3. On entry and on return no
 * work-item reads local memory any more. */
HT_INLINE void ht_face(const struct ht_step_args *a, HT_LOCAL real *face, const int item, long m1,
                       long m2, long s3, real column[HT_SOURCES][HT_N3] HT_EACH_SRC(HT_SRC_PARAM)) {
    const int n1 = item % HT_T1, n2 = item / HT_T1 % HT_T2;
    const int c = item / HT_COLUMN;
    HT_UNROLL
    for (int field0 = 0; field0 < HT_SOURCES; field0 += HT_FACE_FIELDS) {
        ht_face_lines(a, face, item, field0, m1, m2, s3 HT_EACH_SRC(HT_SRC_ARG));
        HT_BARRIER();
#if HT_DIMS > 1
        ht_face_columns(face, item);
        HT_BARRIER();
#endif
        HT_UNROLLED(f, HT_FACE_FIELDS) {
            if (field0 + f >= HT_SOURCES) continue;
            HT_UNROLLED(i3, HT_N3) column[field0 + f][i3] = face[HT_FACE_AT(c, f, i3, n2, n1)];
        }
        HT_BARRIER();
    }
}

/* Along x3: from the work-item's columns at the two faces of a cell to its column of one field's
 * interpolant. */
HT_INLINE void ht_between_faces(const real bottom[HT_N3], const real top[HT_N3], real b[HT_T3]) {
#if HT_DIMS > 2
    real in[HT_T1];
    HT_UNROLLED(i3, HT_N3) {
        in[i3] = bottom[i3];
        in[HT_N3 + i3] = top[i3];
    }
    ht_line(in, b);
#else
    b[0] = bottom[0];
#endif
}

/* Fields that the source grid does not store are zero. */
HT_INLINE void ht_zero_fields(real b[HT_FIELDS][HT_T3]) {
#if HT_SOURCES < HT_FIELDS
    HT_UNROLLED(f, HT_FIELDS)
        HT_UNROLLED(s, HT_T3) b[f][s] = 0;
#endif
}

/* ht_between_faces for all fields. */
#define HT_BETWEEN_FIELD(slot, f) ht_between_faces(bottom[slot], top[slot], b[f]);
HT_INLINE void ht_between(real bottom[HT_SOURCES][HT_N3], real top[HT_SOURCES][HT_N3],
                          real b[HT_FIELDS][HT_T3]) {
    ht_zero_fields(b);
    HT_EACH_SRC(HT_BETWEEN_FIELD)
}

/* The interpolant b of the target between two faces, then one step along x3:
 * the column of the upper face becomes that of the lower face of the next target ("register
 * rolling"). Local memory as in ht_face. */
HT_INLINE void ht_march(const struct ht_step_args *a, HT_LOCAL real *face, const int item, long m1,
                        long m2, long m3, real bottom[HT_SOURCES][HT_N3],
                        real b[HT_FIELDS][HT_T3] HT_EACH_SRC(HT_SRC_PARAM)) {
    real top[HT_SOURCES][HT_N3];
#if HT_DIMS > 2
    ht_face(a, face, item, m1, m2, m3 + a->shift[2] + 1, top HT_EACH_SRC(HT_SRC_ARG));
#endif
    ht_between(bottom, top, b);
#if HT_DIMS > 2
    HT_UNROLLED(f, HT_SOURCES)
        HT_UNROLLED(i3, HT_N3) bottom[f][i3] = top[f][i3];
#endif
}

/* USE for each x3 plane m3 of a work-item's march, with the interpolant b of its target (m, m2,
 * m3); m1: the group's first one. */
#define HT_EACH_MARCHED(face, USE)                                                       \
    const int item = HT_ITEM();                                                          \
    const long m1 = a.begin[0] + HT_GROUP_1() * HT_CELLS;                                \
    const long m2 = a.begin[1] + HT_GROUP_2();                                           \
    const long begin = ht_first_plane(&a), end = ht_last_plane(&a);                      \
    const long m = m1 + item / HT_COLUMN;                                                \
    real bottom[HT_SOURCES][HT_N3], b[HT_FIELDS][HT_T3];                                 \
    (void)m;                                                                             \
    ht_face(&a, face, item, m1, m2, begin + a.shift[2], bottom HT_EACH_SRC(HT_SRC_ARG)); \
    for (long m3 = begin; m3 < end; m3++) {                                              \
        ht_march(&a, face, item, m1, m2, m3, bottom, b HT_EACH_SRC(HT_SRC_ARG));         \
        USE                                                                              \
    }
