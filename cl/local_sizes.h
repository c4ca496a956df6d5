/* Local memory of the kernels, in values or vectors: what a kernel declares and
 * what the host reserves are the same formulas. Read by the host's compiler and
 * by the device's; all parameters are integers, see struct ht_sizes and
 * struct ht_shape for their names.
 */
#ifndef HTWAVE_LOCAL_SIZES_H
#define HTWAVE_LOCAL_SIZES_H

/* Lanes per column (cl/face.cl, evolve.cl, evolve_chains.cl). A row of a face
 * is one value longer, against bank conflicts; exchanges have two buffers. */
#define HT_SIZE_FACE(cells, fields, n3, t2, t1) \
    ((cells) * (fields) * (n3) * (t2) * ((t1) + 1))
#define HT_SIZE_EXCHANGE(slabs, exchanged, lanes) \
    (2 * (slabs) * (exchanged) * (lanes))
#define HT_SIZE_PRODUCTS(groups, lanes) (2 * (groups) * (lanes))
#define HT_SIZE_MEDIUM(cells, materials, coefs) \
    ((cells) * (materials) * (coefs))

/* cl/parity_chains.cl: sums of two planes; pairs of the matrices. */
#define HT_SIZE_PARITY_SUMS(corners, plane, cells) \
    (2 * (corners) * (plane) * (cells))
#define HT_SIZE_PARITY_MATRICES(n1) ((n1) * (n1) + 1)

/* cl/propagator.cl, in vectors: sums of a chunk, results, sums of a face that
 * is kept for the next plane. */
#define HT_SIZE_BLOCK_SUMS(corners, chunk, rows) ((corners) * (chunk) * (rows))
#define HT_SIZE_BLOCK_RESULT(result_rows, rows) ((result_rows) * (rows))
#define HT_SIZE_BLOCK_FACES(roll, entries, sums, rows) \
    ((roll) ? (entries) * (sums) * (rows) : 1)

/* cl/taylor_vectors.cl, in vectors: polynomials; products of derivatives, where
 * the medium has polynomials. */
#define HT_SIZE_POLYNOMIALS(fields, cube) ((fields) * (cube))
#define HT_SIZE_DERIVATIVES(groups, cube) ((groups) * (cube))

/* Values at the side of a vector, both of these. */
#define HT_SIZE_SIDE(cells) ((cells) + 1)

/* cl/tile.cl: packs of one area. */
#define HT_SIZE_TILE(tile2, tile3, chunk, pitch) \
    ((tile2) * (tile3) * (chunk) * (pitch))

#endif
