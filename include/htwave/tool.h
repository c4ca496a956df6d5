/* Small kernels beside half steps: weights added to fields, read from them, and sponges. */
#ifndef HTWAVE_TOOL_H
#define HTWAVE_TOOL_H

#include "htwave/kernel.h"

/* The kernel that adds sources to the nodes of a grid of a Hermite method: for a list of nodes, the
 * sum over entries and terms of an amplitude times a shape, all derivatives of the node.
 */

/* Nodes of a window, each once, in increasing order: at[n] with the entries [begin[n], begin[n +
 * 1]). An entry is a shape and a column of the table of amplitudes. wall: bits 0 to 2 are the axes
 * on whose walls of factor +1 the node lies, bits 3 to 5 those of walls of factor -1. */
struct ht_inject_list {
    int64_t count;
    int64_t *at;
    int *begin, *wall; /* begin: count + 1 of them */
    int *column, *shape;
};
/* Shapes: values [shape][field][term][coefficient] for the fields that the grid stores,
 * coefficients as in ht_grid_coefs. odd[field][coefficient]: bit k, odd under reflection of
 * x_(k+1). On a wall of factor +1 odd ones vanish, on one of factor -1 even ones: what is added to
 * them is left out. */
struct ht_inject_shapes {
    int fields, terms, coefs, columns;
    int64_t count;
    double *value;
    int *odd;
};

/* Compiled at the first use. cache: of compiled programs, NULL: none. */
struct ht_injector;
HT_CHECKED enum ht_err ht_injector_create(struct ht_device *device, const struct ht_spec *spec,
                                          const char *cache, struct ht_injector **out);
void ht_injector_destroy(struct ht_injector *injector); /* NULL allowed */
/* Device seconds of all launches since the last call. */
double ht_injector_seconds(struct ht_injector *injector);
HT_CHECKED enum ht_err ht_injector_text(bool fp64, int block, int lanes, struct ht_text *out);

/* List and shapes on the device, and room for a table of amplitudes [row][field <
 * row_fields][column][term], of which all fields take the same for row_fields 1; the injector must
 * outlive them. */
struct ht_injected;
HT_CHECKED enum ht_err ht_injected_create(struct ht_injector *injector,
                                          const struct ht_inject_list *list,
                                          const struct ht_inject_shapes *shapes, int64_t rows,
                                          int row_fields, struct ht_injected **out);
void ht_injected_destroy(struct ht_injected *injected); /* NULL allowed */
/* Device bytes of so many nodes, entries and shapes. */
int64_t ht_injected_bytes(const struct ht_spec *spec, int64_t nodes, int64_t entries,
                          const struct ht_inject_shapes *shapes, int64_t rows, int row_fields);
/* The whole table, after the work enqueued before. */
HT_CHECKED enum ht_err ht_injected_table(struct ht_injected *injected, const double *values);
/* Adds to the nodes [first, last) of the list with the amplitudes of a row:
 * field number `field` of the stored ones, in buffer u, which has room for `nodes` nodes; enqueued.
 */
HT_CHECKED enum ht_err ht_inject(struct ht_injected *injected, int64_t first, int64_t last,
                                 int64_t row, int field, int64_t nodes, struct ht_buffer *u);

/* Rows of sparse weights, read from fields on a device: each is a weighted sum of one field's
 * coefficients at a few nodes of a window, as a sample of a receiver of a Hermite method is.
 * Samples of all rows go to a slot of a ring, which is read when it is full, or before.
 */

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

/* The kernel of a sponge of Hermite methods: multiplies the polynomials of nodes by those of a
 * damping that depends on one axis (cl/sponge.cl).
 */

struct ht_sponge_args; /* cl/sponge_args.h */

struct ht_sponge;
/* cache: directory of compiled programs, NULL: none. */
HT_CHECKED enum ht_err ht_sponge_create(struct ht_device *device, const struct ht_spec *spec,
                                        const char *cache, struct ht_sponge **out);
void ht_sponge_destroy(struct ht_sponge *sponge); /* NULL allowed */
/* Device seconds of all launches since the last call. */
double ht_sponge_seconds(struct ht_sponge *sponge);
/* Device seconds so far of the launches for a part. */
double ht_sponge_total(const struct ht_sponge *sponge, enum ht_step_part part);
/* coefs: N+1; lines: of coefficients along an axis. */
HT_CHECKED enum ht_err ht_sponge_text(bool fp64, int block, int coefs, int lines, int items,
                                      struct ht_text *out);
/* Multiplies one field in buffer u; enqueued. jets: [coefficient][index in the window along the
 * axis] in the field's precision. */
HT_CHECKED enum ht_err ht_sponge_multiply(struct ht_sponge *sponge, enum ht_step_part part,
                                          const struct ht_sponge_args *args, struct ht_buffer *jets,
                                          struct ht_buffer *u);

#endif
