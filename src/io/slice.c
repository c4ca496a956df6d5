/* Along a periodic axis the first node is repeated at the end, so that the
 * picture shows the whole box.
 */
#include "slice.h"

#include <math.h>

static int64_t points(const struct ht_grid *grid, int axis) {
    bool seam = axis < grid->dims && ht_grid_periodic(grid, axis);
    return ht_grid_nodes(grid, HT_PRIMARY, axis) + (seam ? 1 : 0);
}

static int64_t nearest_node(const struct ht_grid *grid, int axis,
                            double position) {
    int64_t last = ht_grid_nodes(grid, HT_PRIMARY, axis) - 1;
    int64_t node = (int64_t)lround(position * (double)grid->cells[axis]);
    return node < 0 ? 0 : node > last ? last : node;
}

struct ht_slice ht_slice_make(const struct ht_grid *grid, const char *plane,
                              double position) {
    struct ht_slice slice = {
        .grid = grid, .across = 0, .up = 1, .normal = -1, .height = 1};
    if (grid->dims == 3) {
        /* names are "x1" to "x3" */
        slice.normal = plane[1] - '1';
        slice.across = slice.normal == 0 ? 1 : 0;
        slice.up = slice.normal == 2 ? 1 : 2;
        slice.index = nearest_node(grid, slice.normal, position);
    }
    slice.width = points(grid, slice.across);
    if (grid->dims > 1) slice.height = points(grid, slice.up);
    slice.x0 = grid->lower[slice.across];
    slice.x1 = grid->upper[slice.across];
    slice.y0 = grid->lower[slice.up];
    slice.y1 = grid->upper[slice.up];
    return slice;
}

void ht_slice_values(const struct ht_slice *slice, const double *nodal,
                     double *out) {
    const struct ht_grid *grid = slice->grid;
    int64_t n[3], stride[3] = {1, 0, 0};
    for (int k = 0; k < 3; k++) n[k] = ht_grid_nodes(grid, HT_PRIMARY, k);
    stride[1] = n[0];
    stride[2] = n[0] * n[1];
    if (slice->normal >= 0) nodal += slice->index * stride[slice->normal];
    for (int64_t j = 0; j < slice->height; j++)
        for (int64_t i = 0; i < slice->width; i++)
            *out++ = nodal[j % n[slice->up] * stride[slice->up] +
                           i % n[slice->across] * stride[slice->across]];
}

enum ht_err ht_slice_parameter(const struct ht_slice *slice,
                               const struct ht_medium *medium, const char *name,
                               double *out) {
    const struct ht_grid *grid = slice->grid;
    double x[3];
    for (int k = 0; k < 3; k++) x[k] = ht_grid_x(grid, HT_PRIMARY, k, 0);
    if (slice->normal >= 0)
        x[slice->normal] =
            ht_grid_x(grid, HT_PRIMARY, slice->normal, slice->index);
    for (int64_t j = 0; j < slice->height; j++) {
        x[slice->up] = ht_grid_x(grid, HT_PRIMARY, slice->up, j);
        for (int64_t i = 0; i < slice->width; i++) {
            x[slice->across] = ht_grid_x(grid, HT_PRIMARY, slice->across, i);
            TRY(ht_medium_parameter(medium, name, x, out++));
        }
    }
    return HT_OK;
}
