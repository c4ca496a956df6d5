/* Rows of sparse weights, read from fields on a device: each is a weighted sum of one field's
 * coefficients at a few nodes of a window, as a sample of a receiver of a Hermite method is.
 * Samples of all rows go to a slot of a ring, which is read when it is full, or before.
 */
#ifndef HTWAVE_ROWS_H
#define HTWAVE_ROWS_H

#include "htwave/kernel.h"

/* What is the same for all rows. */
struct ht_rows_shape {
    bool fp64;
    int block; /* of the layout */
    int coefs; /* weights of a node, of all storage indices */
    int nodes; /* of a row: 2 or 4 */
    int64_t rows, slots;
};

struct ht_rows;
/* node[row][nodes]: numbers in the window of the row's field. weight[row][storage index][nodes].
 * rows >= 1. cache: of compiled programs; NULL: none. */
HT_CHECKED enum ht_err ht_rows_create(struct ht_device *device, const struct ht_rows_shape *shape,
                                      const char *cache, const int64_t *node, const double *weight,
                                      struct ht_rows **out);
void ht_rows_destroy(struct ht_rows *rows); /* NULL allowed */
/* Device bytes. */
int64_t ht_rows_bytes(const struct ht_rows_shape *shape);
/* The program's text. */
HT_CHECKED enum ht_err ht_rows_text(const struct ht_rows_shape *shape, struct ht_text *out);
/* Samples of the rows [first, last), whose field is u in a window of so many nodes, to a slot;
 * enqueued. */
HT_CHECKED enum ht_err ht_rows_take(struct ht_rows *rows, int64_t first, int64_t last,
                                    struct ht_buffer *u, int64_t nodes, int64_t slot);
/* out[slot][row] of the first `slots` slots; waits for the work before. */
HT_CHECKED enum ht_err ht_rows_read(struct ht_rows *rows, int64_t slots, double *out);
/* Device seconds of all launches. */
double ht_rows_seconds(const struct ht_rows *rows);

#endif
