/* Points by nodes: products of the lists of their axes. */
#pragma once

#include "htwave/grid.h"

/* u(x) is the sum of weight u(m), of its derivative along axis `slope` unless that is -1; or the
 * nodes of delta(. - x). Needs ht_point_free. */
static inline enum ht_err point_nodes(bool spread, const struct ht_grid *grid, const double x[3],
                                      int slope, struct ht_point *out) {
    struct ht_point_axis a[3];
    for (int k = 0; k < 3; k++)
        (spread ? ht_point_axis_spread : ht_point_axis_read)(grid, k, x[k], k == slope, &a[k]);
    *out = (struct ht_point){.count = 0};
    TRY(HT_ALLOC(out->node, a[0].count * a[1].count * a[2].count));
    for (int i3 = 0; i3 < a[2].count; i3++)
        for (int i2 = 0; i2 < a[1].count; i2++)
            for (int i1 = 0; i1 < a[0].count; i1++)
                out->node[out->count++] =
                    (struct ht_point_node){{a[0].node[i1], a[1].node[i2], a[2].node[i3]},
                                           a[0].weight[i1] * a[1].weight[i2] * a[2].weight[i3]};
    return HT_OK;
}
