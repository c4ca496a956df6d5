/* The kernels of absorbing layers: of the boxes where the layers of the same axes overlap, one set
 * each, beside those of the interior. */
#pragma once

#include "htwave/stepper.h"

/* Memory variables of the layer of an axis and side, on one rank. */
struct ht_layer_memory {
    struct ht_window window[2];            /* [subgrid]; no nodes: none here */
    int64_t first[2][3];                   /* as in ht_absorbing_window */
    struct ht_buffer *u[2][HT_MAX_FIELDS]; /* by number among the axis's */
};
/* Sets the windows, no nodes where there is no layer. */
void ht_layer_windows(const struct ht_problem *problem, struct ht_layer_memory out[3][2]);

/* The regions of a grid with layers: the boxes of ht_absorbing_boxes. Returns their number.
 * kernels: with those of the layers; they must outlive the regions. */
int ht_layer_regions(const struct ht_problem *problem, const struct ht_kernels *kernels,
                     struct ht_region out[HT_ABSORBING_BOXES]);

/* The format of their messages. */
struct ht_pack_format ht_layer_format(const struct ht_problem *problem,
                                      const struct ht_tuning *tuning, int fields);
