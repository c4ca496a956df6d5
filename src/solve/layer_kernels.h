/* The kernels of absorbing layers: of the boxes where the layers of the same
 * axes overlap, one set each, beside those of the interior.
 */
#ifndef HTWAVE_SOLVE_LAYER_KERNELS_H
#define HTWAVE_SOLVE_LAYER_KERNELS_H

#include "htwave/absorbing.h"
#include "htwave/stepper.h"

enum { HT_LAYER_SETS = 8 }; /* by the mask of axes; 0: the interior, none */

/* Computed by operators: sigma is constant about each node, so that the half
 * step of a target in a uniform medium is one operator for each depth, in edges
 * for each pair of depths. Groups of targets with one operator lie along an
 * axis without a layer, the first of the kernel (turn of struct ht_spec); the
 * normal of a face, and both of an edge, are its last ones. Where there is no
 * such axis, in one dimension and in corners of two, CPUs take targets one by
 * one; GPUs, and corners of three, keep Taylor kernels. */
struct ht_layer_kernels {
    struct ht_equations full; /* with the memory variables of all axes */
    struct ht_equations eq[HT_LAYER_SETS];
    struct ht_law law[HT_LAYER_SETS];
    struct ht_kernels set[HT_LAYER_SETS];
    /* Of an axis's memory variables: ghosts on the dual grid, messages (NULL:
     * the grid is one slab). */
    struct ht_ghosts *ghosts[3];
    struct ht_packer *packer[3];
};

/* Memory variables of the layer of an axis and side, on one rank. */
struct ht_layer_memory {
    struct ht_window window[2];            /* [subgrid]; no nodes: none here */
    int64_t first[2][3];                   /* as in ht_absorbing_window */
    struct ht_buffer *u[2][HT_MAX_FIELDS]; /* by number among the axis's */
};
/* The operators of the layers of some axes on a rank. */
struct ht_layer_operators {
    struct ht_buffer *buffer;
    int64_t values; /* of an operator */
    /* By the sides, bit k: of axis k, and grid of the targets: the number of
     * the operator at the outer walls. */
    int64_t first[8][2];
};
/* Sets the windows, no nodes where there is no layer. */
void ht_layer_windows(const struct ht_problem *problem,
                      struct ht_layer_memory out[3][2]);

/* ---- layer_operators.c ---- */
/* The law of the layers of some axes. eq: set to its equations. The medium is
 * uniform or has values at the nodes there. */
HT_CHECKED enum ht_err ht_layer_law(const struct ht_problem *problem,
                                    unsigned axes, struct ht_equations *eq,
                                    struct ht_law *law);
/* How they are computed: by operators, or by the Taylor series, which does not
 * end in layers, so that nothing is trimmed. law: the problem with their law;
 * interior: its tuning. */
struct ht_layer_plan {
    struct ht_tuning tuning;
    struct ht_spec spec[2];
};
void ht_layer_plan(const struct ht_problem *law,
                   const struct ht_device_info *info,
                   const struct ht_tuning *interior, unsigned axes,
                   bool operators, struct ht_layer_plan *out);
/* tuning: of the interior's kernels. */
HT_CHECKED enum ht_err ht_layer_kernels_create(const struct ht_problem *problem,
                                               struct ht_device *device,
                                               const struct ht_tuning *tuning,
                                               const char *cache,
                                               struct ht_layer_kernels **out);
/* The regions of a grid with layers: the boxes of ht_absorbing_boxes. Returns
 * their number. kernels: with those of the layers; they must outlive the
 * regions. */
int ht_layer_regions(const struct ht_problem *problem,
                     const struct ht_kernels *kernels,
                     struct ht_region out[HT_ABSORBING_BOXES]);

/* The format of their messages. */
struct ht_pack_format ht_layer_format(const struct ht_problem *problem,
                                      const struct ht_tuning *tuning,
                                      int fields);

#endif
