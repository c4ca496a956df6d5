/* Sizes of the kernels' arrays in local memory, in values or vectors. Kernels
 * declare and the host reserves by the same formulas. Read by the host's
 * compiler and by the device's. All parameters are integers, named as in struct
 * ht_sizes and struct ht_shape.
 */
#ifndef HTWAVE_LOCAL_SIZES_H
#define HTWAVE_LOCAL_SIZES_H

/* Kernels with a work-item per column (cl/face.cl, evolve.cl,
 * evolve_chains.cl). Rows of a face are padded by one value to avoid bank
 * conflicts. Exchanges have two buffers. */
#define HT_SIZE_FACE(cells, fields, n3, t2, t1) \
    ((cells) * (fields) * (n3) * (t2) * ((t1) + 1))
#define HT_SIZE_EXCHANGE(slabs, exchanged, items) \
    (2 * (slabs) * (exchanged) * (items))
#define HT_SIZE_PRODUCTS(groups, items) (2 * (groups) * (items))
#define HT_SIZE_MEDIUM(cells, materials, coefs) \
    ((cells) * (materials) * (coefs))

/* cl/parity_chains.cl. 16 bytes hold `wide` values. A row: a cell's values in
 * `units` of 16 bytes, padded so that neither the work-items that write a unit
 * each nor those that read a row each meet in a bank. A class: the rows of all
 * cells and 16 bytes more. Tables: two kinds of matrices per axis and parity,
 * 1/n, two factors per axis and parity. Faces: the sums over the faces below
 * the next targets, in 3-D, `faces` values per field. */
#define HT_SIZE_CLASS_ROW(wide, dims, units) \
    ((wide) * ((dims) > 2 ? (units) + (6 - (units) % 4) % 4 : (units) | 1))
#define HT_SIZE_CLASS(wide, cells, row) ((cells) * (row) + (wide))
#define HT_SIZE_CLASS_MATRIX(wide, n1) \
    (((n1) * (n1) + (wide)-1) / (wide) * (wide))
#define HT_SIZE_CLASS_FACES(dims, faces) \
    ((dims) > 2 ? ((dims) + 1) * (faces) : 4)
#define HT_SIZE_CLASS_TABLES(dims, matrix, order) \
    (4 * (dims) * (matrix) + 2 * (dims) * (order) + 4 + 4 * (dims))

/* cl/warp.cl, per target: a face, later the results, in whole packs; the parts
 * of lower faces. Per group: values that work-items exchange without shuffles.
 */
#define HT_SIZE_TEAM(face, results, block) \
    (((face) > (results) ? (face) + (block)-1 : (results)) / (block) * (block))
#define HT_SIZE_LOWER(sources, n3, t2, t1) ((sources) * (n3) * (t2) * (t1))
#define HT_SIZE_NEIGHBOURS(shuffles, values, items) \
    ((shuffles) ? 1 : (values) * (items))

/* cl/registers.cl: faces in vectors of 16 bytes; values n1 of a cell's lines in
 * vectors of two, padded against bank conflicts; values passed to the
 * neighbour where a device has no shuffles. */
#define HT_SIZE_KEPT_FACES(dims, face, items) \
    ((dims) > 2 ? (face) * (items) : 1)
#define HT_SIZE_TURNED(per_cell, t2, n1, cells) \
    ((per_cell) > 1 ? ((t2) * (n1) + 2) * (cells) : 1)
#define HT_SIZE_PASSED(passes, values, items) \
    ((passes) ? (values) * (items) + 1 : 1)

/* cl/parity_team.cl, per work-item: a row of whole vectors of 16 bytes, an odd
 * number of them against bank conflicts, for `planes` planes of positions or
 * `part` values of results; per cell two vectors beyond a multiple of four, so
 * that those of four cells are in other banks. Then the interpolants of three
 * fields at h^3 positions of eight classes. */
#define HT_SIZE_TEAM_PITCH(wide, values) \
    (((values) + 2 * (wide)-1) / (4 * (wide)) * (4 * (wide)) + 2 * (wide))
#define HT_SIZE_TEAM_PLANE(wide, plane) (((plane) + (wide)-1) / (wide) * (wide))
#define HT_SIZE_TEAM_VALUES(wide, planes, plane, part) \
    ((planes)*HT_SIZE_TEAM_PLANE(wide, plane) > (part) \
         ? (planes)*HT_SIZE_TEAM_PLANE(wide, plane)    \
         : (part))
#define HT_SIZE_TEAM_ROW(wide, planes, plane, part)                          \
    (((HT_SIZE_TEAM_VALUES(wide, planes, plane, part) + (wide)-1) / (wide) | \
      1) *                                                                   \
     (wide))
#define HT_SIZE_TEAM_ROWS(wide, items, row) \
    HT_SIZE_TEAM_PITCH(wide, (items) * (row))
#define HT_SIZE_TEAM_LOWS(cells, h) (24 * (h) * (h) * (h) * (cells))

/* cl/parity_faces.cl: a plane of a face, of whole vectors, an odd number of
 * them; those of all i3 of a cell, in other banks than those of another cell;
 * those of a field in four quarters of the classes, a vector more before the
 * second and the fourth; two fields, or rows. Then what is kept of a lower
 * face. */
#define HT_SIZE_FACE_PLANE(wide, plane) \
    ((((plane) + (wide)-1) / (wide) | 1) * (wide))
#define HT_SIZE_FACE_CELL(wide, n1, plane) \
    HT_SIZE_TEAM_PITCH(wide, (n1)*HT_SIZE_FACE_PLANE(wide, plane))
#define HT_SIZE_FACE_FIELD(wide, cells, cell) \
    (4 * (cells) * (cell) + 2 * (wide))
#define HT_SIZE_FACE_HALF(faces, rows) ((faces) > (rows) ? (faces) : (rows))
#define HT_SIZE_KEPT(cells, n1, lows) \
    ((4 * (n1) * (n1) * (2 * (n1) + 1) + 12 * (lows) * (n1)) * (cells))

/* cl/separable_team.cl: a value of each coefficient of each cell. */
#define HT_SIZE_TEAM_CUBE(cube, cells) ((cube) * (cells))

/* cl/propagator.cl, in vectors: vertex sums of a chunk, results, sums over a
 * face that the next plane reads again. */
#define HT_SIZE_BLOCK_SUMS(corners, chunk, rows) ((corners) * (chunk) * (rows))
#define HT_SIZE_BLOCK_RESULT(result_rows, rows) ((result_rows) * (rows))
#define HT_SIZE_BLOCK_FACES(roll, entries, sums, rows) \
    ((roll) ? (entries) * (sums) * (rows) : 1)

/* cl/taylor_vectors.cl, in vectors: polynomials; sums of derivatives, for
 * polynomial media. */
#define HT_SIZE_POLYNOMIALS(fields, cube) ((fields) * (cube))
#define HT_SIZE_DERIVATIVES(groups, cube) ((groups) * (cube))

/* Values of a row that a vector and its neighbour along x1 read (both CPU
 * kernels). */
#define HT_SIZE_SIDE(cells) ((cells) + 1)

/* cl/tile.cl: packs of one stage. */
#define HT_SIZE_TILE(tile2, tile3, chunk, pitch) \
    ((tile2) * (tile3) * (chunk) * (pitch))

/* cl/warpgroup.cl: values of the operator of a chunk, in both halves. */
#define HT_SIZE_HALVES(pairs, tiles) ((pairs)*2 * (tiles)*64)

#endif
