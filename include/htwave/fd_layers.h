/* Kernels of the absorbing layers of finite differences (cl/fd_layers.cl,
 * docs/absorbing.md). A layer is an end of an axis of a window: along the axis
 * nodes count from its wall, 0, inwards, and half point i lies between nodes i
 * and i + 1. Half points and nodes 0 .. cells - 1 are damped; nodes up to
 * cells + radius - 1 take part of what the damped half points change, where
 * radius is that of the layers' first differences.
 */
#ifndef HTWAVE_FD_LAYERS_H
#define HTWAVE_FD_LAYERS_H

#include "htwave/fd_kernel.h"

enum { HT_FD_MOST_SIDES = 6, HT_FD_PROFILES = 5 };

/* Half width of the layers' first differences: that of the operator where the
 * density varies. Where it is uniform one less: the square of these differences
 * is below the second ones at every wavenumber, that of wider ones is not, and
 * the layer would grow. */
int ht_fd_layer_radius(const struct ht_fd_spec *spec);

struct ht_fd_side {
    int axis, side;
    int64_t cells;
    int64_t wall; /* index in the window of the wall's nodes, along the axis */
    /* Memory of node (m1, m2, m3) of the window, whose index along the axis
     * counts from the wall: number offset + sum of m_k pitch[k]. */
    int64_t offset, pitch[3];
    int64_t profile; /* its first number in the table */
};
/* profile, of a perfectly matched layer: HT_FD_PROFILES times `cells` numbers
 * of each layer: e^2 - 1 and e - 1 at half points, e, f and sigma at nodes. v,
 * q, flow, rest: what layers remember; q is scratch of a step. Of a sponge:
 * exp(-sigma dt) at nodes, and nothing else. */
struct ht_fd_sides {
    int count;
    struct ht_fd_side side[HT_FD_MOST_SIDES];
    int64_t profiles, memory; /* numbers of the table, of each of the others */
};
struct ht_fd_memory {
    struct ht_buffer *profile, *v, *q, *flow, *rest;
};

/* Compiled when they are made. */
struct ht_fd_layer_kernels;
HT_CHECKED enum ht_err
ht_fd_layer_kernels_create(struct ht_device *device,
                           const struct ht_fd_spec *spec, const char *cache,
                           struct ht_fd_layer_kernels **out);
void ht_fd_layer_kernels_destroy(struct ht_fd_layer_kernels *k); /* NULL too */
HT_CHECKED enum ht_err ht_fd_layer_text(const struct ht_fd_spec *spec,
                                        int lanes, struct ht_text *out);
/* Device seconds of all launches since the last call; in all. NULL: 0. */
double ht_fd_layer_seconds(struct ht_fd_layer_kernels *k);
double ht_fd_layer_total(const struct ht_fd_layer_kernels *k,
                         enum ht_step_part part);

/* Enqueued in order. L of op has its factor in scale.
 *     flux:    half points of a layer, before the step
 *     correct: nodes of a layer, after d = d + L u, out = u + d
 *     update:  both at once, for nodes in any of some layers
 *     damp:    nodes of a sponge, after a step
 * Boxes of flux, correct and damp count along the layer's axis from its wall,
 * those of update are in indices of the window. */
HT_CHECKED enum ht_err
ht_fd_layer_flux(struct ht_fd_layer_kernels *k, const struct ht_fd_box *box,
                 const struct ht_fd_side *side, const struct ht_fd_operator *op,
                 const struct ht_fd_memory *memory, struct ht_buffer *u);
HT_CHECKED enum ht_err
ht_fd_layer_correct(struct ht_fd_layer_kernels *k, enum ht_step_part part,
                    const struct ht_fd_box *box, const struct ht_fd_side *side,
                    const struct ht_fd_operator *op,
                    const struct ht_fd_memory *memory, struct ht_buffer *u,
                    struct ht_buffer *d, struct ht_buffer *out);
HT_CHECKED enum ht_err
ht_fd_layer_update(struct ht_fd_layer_kernels *k, enum ht_step_part part,
                   const struct ht_fd_box *box, int sides,
                   const struct ht_fd_side *const *side,
                   const struct ht_fd_operator *op,
                   const struct ht_fd_memory *memory, struct ht_buffer *u,
                   struct ht_buffer *d, struct ht_buffer *out);
HT_CHECKED enum ht_err
ht_fd_layer_damp(struct ht_fd_layer_kernels *k, enum ht_step_part part,
                 const struct ht_fd_box *box, const struct ht_fd_side *side,
                 struct ht_buffer *profile, struct ht_buffer *u,
                 struct ht_buffer *d);

#endif
