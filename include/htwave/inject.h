/* The kernel that adds sources to the nodes of a grid of a Hermite method: for a list of nodes, the
 * sum over entries and terms of an amplitude times a shape, all derivatives of the node.
 */
#ifndef HTWAVE_INJECT_H
#define HTWAVE_INJECT_H

#include "htwave/device.h"
#include "htwave/kernel.h"

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

#endif
