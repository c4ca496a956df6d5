/* Sizes of the kernels' arrays in local memory, in values or vectors. Kernels declare and the host
 * reserves by the same formulas. Read by the host's compiler and by the device's. All parameters
 * are integers, named as in struct ht_sizes and struct ht_shape. */
#ifndef HTWAVE_LOCAL_SIZES_H
#define HTWAVE_LOCAL_SIZES_H

/* Kernels with a work-item per column (cl/face.cl, evolve.cl). Rows of a face are padded by one
 * value to avoid bank conflicts. Exchanges have two buffers. */
#define HT_SIZE_FACE(cells, fields, n3, t2, t1) ((cells) * (fields) * (n3) * (t2) * ((t1) + 1))
#define HT_SIZE_EXCHANGE(slabs, exchanged, items) (2 * (slabs) * (exchanged) * (items))
#define HT_SIZE_PRODUCTS(groups, items) (2 * (groups) * (items))
#define HT_SIZE_MEDIUM(cells, materials, coefs) ((cells) * (materials) * (coefs))

/* cl/propagator.cl, in vectors: vertex sums of a chunk, results, sums over a face that the next
 * plane reads again. */
#define HT_SIZE_BLOCK_SUMS(corners, chunk, rows) ((corners) * (chunk) * (rows))
#define HT_SIZE_BLOCK_RESULT(result_rows, rows) ((result_rows) * (rows))
#define HT_SIZE_BLOCK_FACES(roll, entries, sums, rows) ((roll) ? (entries) * (sums) * (rows) : 1)

/* cl/taylor_vectors.cl, in vectors: polynomials; sums of derivatives, for polynomial media. */
#define HT_SIZE_POLYNOMIALS(fields, cube) ((fields) * (cube))
#define HT_SIZE_DERIVATIVES(groups, cube) ((groups) * (cube))

/* Values of a row that a vector and its neighbour along x1 read (both CPU kernels). */
#define HT_SIZE_SIDE(cells) ((cells) + 1)

/* cl/tile.cl: packs of one stage. */
#define HT_SIZE_TILE(tile2, tile3, chunk, pitch) ((tile2) * (tile3) * (chunk) * (pitch))

/* cl/propagator_warpgroup.cl: values of the operator of a chunk, in both halves. */
#define HT_SIZE_HALVES(pairs, tiles) ((pairs)*2 * (tiles)*64)

#endif
