/* Kernels of the absorbing layers of finite differences (cl/fd_layers.cl, docs/absorbing.md). A
 * layer is an end of an axis of a window: along the axis nodes count from its wall, 0, inwards, and
 * half point i lies between nodes i and i + 1. Half points and nodes 0 .. cells - 1 are damped;
 * nodes up to cells + radius - 1 take part of what the damped half points change, where radius is
 * that of the layers' first differences.
 */
#ifndef HTWAVE_FD_LAYERS_H
#define HTWAVE_FD_LAYERS_H

#include "htwave/fd_kernel.h"

enum { HT_FD_MOST_SIDES = 6, HT_FD_PROFILES = 9 };

/* Half width and weights of the layers' first differences: where density varies those of the
 * operator, where it is uniform such that their square is below the second differences at every
 * wavenumber, else the layer would grow. */
int ht_fd_layer_radius(const struct ht_fd_spec *spec);
struct ht_fd_weights ht_fd_layer_weights(const struct ht_fd_spec *spec);

struct ht_fd_side {
    int axis, side;
    int64_t cells;
    int64_t wall; /* index in the window of the wall's nodes, along the axis */
    /* Memory of node (m1, m2, m3) of the window, whose index along the axis counts from the wall:
     * number offset + sum of m_k pitch[k]. */
    int64_t offset, pitch[3];
    int64_t profile; /* its first number in the table */
};
struct ht_fd_sides {
    int count;
    struct ht_fd_side side[HT_FD_MOST_SIDES];
    /* Nodes that a layer changes beyond its own: radius, of a sponge 0. */
    int64_t beyond;
    int64_t profiles, memory; /* numbers of the table, of each of the others */
};
/* profile, of a perfectly matched layer: HT_FD_PROFILES numbers of each cell of each layer, as in
 * cl/fd_layers.cl; of a sponge exp(-sigma dt) at nodes, and nothing else. Memories of half points
 * before and after a step, and of nodes; start: they hold data (cl/fd_layers.cl). */
struct ht_fd_memory {
    struct ht_buffer *profile, *before, *halves, *nodes;
    bool start;
};

/* A box, cut along each axis where layers end that change its nodes: part i of axis k has the nodes
 * from cut[k][i] to cut[k][i + 1], perhaps none, which are in the layers of the bits of
 * layers[k][i] (sides by number). */
struct ht_fd_zones {
    int64_t cut[3][4];
    unsigned layers[3][3];
};
void ht_fd_layer_zones(const struct ht_fd_box *box, const struct ht_fd_sides *sides,
                       struct ht_fd_zones *out);

/* Most nodes from one to its neighbour along an axis of the window. */
int64_t ht_fd_layer_limit(const struct ht_fd_spec *spec);

/* Compiled when they are made. */
struct ht_fd_layer_kernels;
HT_CHECKED enum ht_err ht_fd_layer_kernels_create(struct ht_device *device,
                                                  const struct ht_fd_spec *spec, const char *cache,
                                                  struct ht_fd_layer_kernels **out);
void ht_fd_layer_kernels_destroy(struct ht_fd_layer_kernels *k); /* NULL too */
/* lines: where a zone is in one layer, work-items do lines along its normal, as CPUs do: each half
 * point is computed once, with twice the registers. */
HT_CHECKED enum ht_err ht_fd_layer_text(const struct ht_fd_spec *spec, int lanes, bool lines,
                                        struct ht_text *out);
/* Device seconds of all launches since the last call; in all. NULL: 0. */
double ht_fd_layer_seconds(struct ht_fd_layer_kernels *k);
double ht_fd_layer_total(const struct ht_fd_layer_kernels *k, enum ht_step_part part);

/* Enqueued in order, one launch each for all layers of a box of the window. L of op has its factor
 * in scale; u: before the step.
 *     correct: nodes that layers change, after d = d + L u; out = u + d
 *     update:  both at once; everywhere: at all nodes of the box
 *     damp:    nodes of sponges, after a step */
HT_CHECKED enum ht_err ht_fd_layer_correct(struct ht_fd_layer_kernels *k, enum ht_step_part part,
                                           const struct ht_fd_box *box,
                                           const struct ht_fd_sides *sides,
                                           const struct ht_fd_operator *op,
                                           const struct ht_fd_memory *memory, struct ht_buffer *u,
                                           struct ht_buffer *d, struct ht_buffer *out);
HT_CHECKED enum ht_err ht_fd_layer_update(struct ht_fd_layer_kernels *k, enum ht_step_part part,
                                          const struct ht_fd_box *box,
                                          const struct ht_fd_sides *sides, bool everywhere,
                                          const struct ht_fd_operator *op,
                                          const struct ht_fd_memory *memory, struct ht_buffer *u,
                                          struct ht_buffer *d, struct ht_buffer *out);
HT_CHECKED enum ht_err ht_fd_layer_damp(struct ht_fd_layer_kernels *k, enum ht_step_part part,
                                        const struct ht_fd_box *box,
                                        const struct ht_fd_sides *sides, struct ht_buffer *profile,
                                        struct ht_buffer *u, struct ht_buffer *d);
/* z = a times what a node has of - <u, L u>, which is L's share of the energy, by differences
 * alone: where density is uniform half of the weights of second differences times squares of
 * differences from the node, else half of b times squares of first differences at the half points
 * to either side. Over all nodes z / a adds up to - <u, L u>; over some of them, too, a constant
 * counts nothing. */
HT_CHECKED enum ht_err ht_fd_layer_squares(struct ht_fd_layer_kernels *k,
                                           const struct ht_fd_box *box,
                                           const struct ht_fd_operator *op, struct ht_buffer *u,
                                           struct ht_buffer *z);

#endif
