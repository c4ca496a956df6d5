/* Small programs beside the half steps: ghosts, messages, sums, sources, receivers, sponges. Those
 * of finite differences are the same as those of Hermite methods with one coefficient per node. */
#pragma once

#include "htwave/kernel.h"

/* One of them. Functions below that make one take `device` NULL for its text alone, as for a GPU.
 * Launches are enqueued in the work queue. */
struct ht_tool;
void ht_tool_destroy(struct ht_tool *tool); /* NULL allowed */
const char *ht_tool_text(const struct ht_tool *tool);
/* Compiles it, if that is not done; else the first launch does. */
HT_ERR ht_tool_build(struct ht_tool *tool);
bool ht_tool_cached(const struct ht_tool *tool);
/* Adds the seconds of launches since the last call: [1] second kernel, [0] others. NULL: 0. */
void ht_tool_add_seconds(struct ht_tool *tool, double seconds[2]);
/* Of launches for a part of a step; a tool without parts has all in the interior. NULL: 0. */
double ht_tool_total(const struct ht_tool *tool, enum ht_step_part part);

/* ---- ghosts.c: the ghosts of a window ---- */
struct ht_ghost_args; /* cl/tool_args.h */
/* For the fields that a spec's source grid stores. */
HT_ERR ht_ghosts_create(struct ht_device *device, const struct ht_spec *spec, struct ht_tool **out);
/* args: of ht_window_ghosts; u: the buffers of the fields, without gaps. */
HT_ERR ht_ghosts_fill(struct ht_tool *ghosts, const struct ht_ghost_args *args,
                      struct ht_buffer *const *u);

/* ---- packer.c: boxes of a window into messages and out of them; compiled when made ---- */
struct ht_pack_format {
    bool fp64;        /* of the fields */
    int block;        /* as in ht_spec */
    int fields;       /* number of buffers, packed one after the other */
    int padded_coefs; /* of ht_storage_order */
    enum ht_halo_precision precision;
};
/* A box of the window that the buffers hold, and the part of a message buffer that begins at byte
 * `at`, a multiple of 16. */
struct ht_pack_range {
    const struct ht_window *window;
    struct ht_box box;
    int64_t at;
};
HT_ERR ht_packer_create(struct ht_device *device, const struct ht_pack_format *format,
                        struct ht_tool **out);
/* Size of a message of this number of nodes in bytes, a multiple of 16. */
int64_t ht_packer_bytes(const struct ht_pack_format *format, int64_t nodes);
/* u[fields]. */
HT_ERR ht_packer_pack(struct ht_tool *packer, struct ht_buffer *const *u,
                      const struct ht_pack_range *range, struct ht_buffer *message);
HT_ERR ht_packer_unpack(struct ht_tool *packer, struct ht_buffer *const *u,
                        const struct ht_pack_range *range, struct ht_buffer *message);

/* ---- inject.c: sources ---- */
/* Nodes of a window, each once, in increasing order: at[n] with the entries [begin[n], begin[n +
 * 1]). An entry is a shape and a column of the table of amplitudes. wall: bits 0 to 2 are the axes
 * on whose walls of factor +1 the node lies, bits 3 to 5 those of walls of factor -1. Of finite
 * differences wall and shape are NULL: entry e has shape e. */
struct ht_inject_list {
    int64_t count;
    int64_t *at;
    int *begin, *wall; /* begin: count + 1 of them */
    int *column, *shape;
};
/* Shapes: values [shape][field][term][coefficient] for the fields that the grid stores,
 * coefficients as in ht_grid_coefs. odd[field][coefficient]: bit k, odd under reflection of
 * x_(k+1). On a wall of factor +1 odd ones vanish, on one of factor -1 even ones: what is added to
 * them is left out. Of finite differences there are one field, term and coefficient. */
struct ht_inject_shapes {
    int fields, terms, coefs, columns;
    int64_t count;
    double *value;
    int *odd;
};
HT_ERR ht_injector_create(struct ht_device *device, const struct ht_spec *spec,
                          struct ht_tool **out);
/* List and shapes on the device, and room for a table of amplitudes [row][column][term]; the
 * injector must outlive them. count > 0. */
struct ht_injected;
HT_ERR ht_injected_create(struct ht_tool *injector, const struct ht_inject_list *list,
                          const struct ht_inject_shapes *shapes, int64_t rows,
                          struct ht_injected **out);
void ht_injected_destroy(struct ht_injected *injected); /* NULL allowed */
/* Device bytes of so many nodes, entries and shapes. */
int64_t ht_injected_bytes(const struct ht_spec *spec, int64_t nodes, int64_t entries,
                          const struct ht_inject_shapes *shapes, int64_t rows);
/* The whole table, after the work enqueued before. */
HT_ERR ht_injected_table(struct ht_injected *injected, const double *values);
/* Adds the amplitudes of a row to nodes [first, last) of the list: field number `field` of the
 * stored ones, in buffer u, of room for `nodes` nodes, and in v (NULL: none). */
HT_ERR ht_inject(struct ht_injected *injected, int64_t first, int64_t last, int64_t row, int field,
                 int64_t nodes, struct ht_buffer *u, struct ht_buffer *v);

/* ---- rows.c: samples of receivers; compiled when made ---- */
/* Rows of sparse weights, each a weighted sum of one array's coefficients at a few nodes of a
 * window, those of some lines, with a factor for each line. Samples of all rows, at least one, go
 * to a slot of a ring, which is read when it is full, or before. */
struct ht_rows_shape {
    bool fp64;
    int block; /* of the layout */
    int coefs; /* weights of a node, of all storage indices */
    int nodes; /* of each line of a pattern, */
    int lines; /* which are alike */
    int64_t patterns, rows, slots;
};
/* Of a pattern. */
static inline int64_t ht_rows_numbers(const struct ht_rows_shape *shape) {
    return shape->nodes + shape->lines;
}
static inline int64_t ht_rows_weights(const struct ht_rows_shape *shape) {
    return (int64_t)shape->coefs * shape->nodes + shape->lines;
}
/* node[pattern]: numbers in the window of a line's nodes, from the line on, and of lines, from a
 * row's node on; weight[pattern]: [storage index][node], and of lines; from[row]: pattern, node. */
struct ht_rows_tables {
    int *node;
    double *weight;
    int64_t (*from)[2];
};
HT_ERR ht_rows_create(struct ht_device *device, const struct ht_rows_shape *shape,
                      const struct ht_rows_tables *tables, struct ht_tool **out);
int64_t ht_rows_bytes(const struct ht_rows_shape *shape);
/* Samples of the rows [first, last), whose array is u of a window of so many nodes, to a slot. */
HT_ERR ht_rows_take(struct ht_tool *rows, int64_t first, int64_t last, struct ht_buffer *u,
                    int64_t nodes, int64_t slot);
/* out[slot][row] of the first `slots` slots; waits for the work before. */
HT_ERR ht_rows_read(struct ht_tool *rows, int64_t slots, double *out);

/* ---- maps.c: extremes, squares and waves of a field (cl/maps.cl); compiled when made ---- */
/* what: bit per enum ht_map_kind; for so many nodes. */
struct ht_map_shape {
    bool fp64;
    int block; /* of the layout */
    unsigned what;
    int waves;
    int64_t nodes;
    int64_t window; /* its nodes or more, if the map, of one kind, has numbers of them; else 0 */
};
/* Numbers of a node. */
int ht_map_slots(const struct ht_map_shape *shape);
HT_ERR ht_mapper_create(struct ht_device *device, const struct ht_map_shape *shape,
                        struct ht_tool **out);
/* Takes values of u, less `level`, at so many nodes along each axis, each stride-th from node
 * number `from` of the window on. turn: [wave][2]. */
HT_ERR ht_mapper_take(struct ht_tool *mapper, const struct ht_window *window, int64_t from,
                      int64_t stride, const int64_t count[3], struct ht_buffer *u, bool begins,
                      double level, double time, const double *turn);
/* [slot][node], or of a window [node]. */
struct ht_buffer *ht_mapper_buffer(const struct ht_tool *mapper);
/* `count` numbers from number `first` on of it. */
HT_ERR ht_mapper_move(struct ht_tool *mapper, bool load, int64_t first, int64_t count,
                      double *values);

/* ---- sponge.c: multiplies the polynomials of nodes by those of a damping that depends on one
 * axis; compiled when made ---- */
struct ht_sponge_args; /* cl/tool_args.h */
HT_ERR ht_sponge_create(struct ht_device *device, const struct ht_spec *spec, struct ht_tool **out);
/* Of one field in u. jets: [coefficient][index in the window along the axis] in its precision. */
HT_ERR ht_sponge_multiply(struct ht_tool *sponge, enum ht_step_part part,
                          const struct ht_sponge_args *args, struct ht_buffer *jets,
                          struct ht_buffer *u);

/* ---- sums.c: sums over the nodes of a box ---- */
/* Values that are not finite are counted and left out. */
struct ht_measure {
    double sum;     /* of x y / a, or value^2 / a, over nodes and points */
    double mean;    /* of x / a */
    double largest; /* |x + level|; 0 if no value is finite */
    int64_t bad;    /* values x that are not finite */
    int64_t first;  /* node of the box, or of the plane, of the first of them; -1: none */
};
/* A node weighs 1, halved for each end [axis][lower, upper] in `half` that it lies on. With
 * `closed` half may be HT_SUM_ENDS first + count, where the first `count` nodes from that end on
 * have the weights from `first` on (cl/tool_args.h). */
struct ht_sum_item {
    struct ht_buffer *x; /* NULL: not stored; no values */
    struct ht_buffer *y; /* NULL: x */
    struct ht_buffer *a; /* first value per node; NULL: 1 */
    double level;
    int coef; /* storage index */
    /* [point][coefs]: values sum_c weights[c] x[coef + c]; NULL: x[coef]. With `closed` the weights
     * of ends, coefs in all. */
    const double *weights;
    int coefs, points;
    int64_t row, plane, total; /* nodes of a row, of a plane, of all of the window */
    struct ht_box box;         /* in the window */
    int half[3][2];
};
/* For fields of a spec's precision and layout. Sums in double precision where `wide`, else in
 * single; compensated, in an order that depends on the box alone. */
HT_ERR ht_sums_create(struct ht_device *device, const struct ht_spec *spec, bool wide, bool closed,
                      struct ht_tool **out);
/* After all work enqueued so far; out[i] is the result of items[i], or, each, of one item that of
 * its plane i, which depends on that plane alone. Without wide the squares must not overflow single
 * precision (|x| < 1e19), else sum is infinite. */
HT_ERR ht_sums_run(struct ht_tool *sums, int count, const struct ht_sum_item *items, bool each,
                   struct ht_measure *out);
