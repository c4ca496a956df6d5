/* Along a periodic axis the first node is repeated at the end, so that the picture shows the whole
 * box.
 */
#include "slice.h"

#include <math.h>

static int64_t points(const struct ht_grid *grid, int axis) {
    bool seam = axis < grid->dims && ht_grid_periodic(grid, axis);
    return ht_grid_nodes(grid, HT_PRIMARY, axis) + (seam ? 1 : 0);
}

static int64_t nearest_node(const struct ht_grid *grid, int axis, double position) {
    int64_t last = ht_grid_nodes(grid, HT_PRIMARY, axis) - 1;
    int64_t node = (int64_t)lround(position * (double)grid->cells[axis]);
    return node < 0 ? 0 : node > last ? last : node;
}

struct ht_slice ht_slice_make(const struct ht_grid *grid, enum ht_grid_axis plane,
                              double position) {
    struct ht_slice slice = {.grid = grid, .across = 0, .up = 1, .normal = -1, .height = 1};
    if (grid->dims == 3) {
        slice.normal = (int)plane;
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

void ht_slice_own(const struct ht_slice *slice, int64_t *first, int64_t *last) {
    int64_t planes[2];
    ht_grid_own(slice->grid, HT_PRIMARY, &planes[0], &planes[1]);
    *first = 0;
    *last = ht_grid_nodes(slice->grid, HT_PRIMARY, slice->up);
    if (slice->up == 2) {
        *first = planes[0];
        *last = planes[1];
    } else if (slice->normal == 2 && (slice->index < planes[0] || slice->index >= planes[1])) {
        *last = 0;
    }
}

void ht_slice_values(const struct ht_slice *slice, const double *nodal, double *out) {
    const struct ht_grid *grid = slice->grid;
    int64_t n[3], stride[3], origin[3] = {0, 0, 0}, rows[2], plane;
    for (int k = 0; k < 3; k++) n[k] = ht_grid_nodes(grid, HT_PRIMARY, k);
    stride[0] = 1;
    stride[1] = n[0];
    stride[2] = n[0] * n[1];
    ht_grid_own(grid, HT_PRIMARY, &origin[2], &plane);
    ht_slice_own(slice, &rows[0], &rows[1]);
    for (int64_t j = rows[0]; j < rows[1]; j++)
        for (int64_t i = 0; i < slice->width; i++) {
            int64_t at[3] = {0, 0, 0}, node = 0;
            if (slice->normal >= 0) at[slice->normal] = slice->index;
            at[slice->up] = j;
            at[slice->across] = i % n[slice->across];
            for (int k = 0; k < 3; k++) node += (at[k] - origin[k]) * stride[k];
            *out++ = nodal[node];
        }
}

void ht_slice_close(const struct ht_slice *slice, double *values) {
    int64_t count = slice->width * ht_grid_nodes(slice->grid, HT_PRIMARY, slice->up);
    for (int64_t i = count; i < slice->height * slice->width; i++) values[i] = values[i - count];
}

enum ht_err ht_slice_parameter(const struct ht_slice *slice, const struct ht_medium *medium,
                               const char *name, double *out) {
    const struct ht_grid *grid = slice->grid;
    double x[3];
    for (int k = 0; k < 3; k++) x[k] = ht_grid_x(grid, HT_PRIMARY, k, 0);
    if (slice->normal >= 0)
        x[slice->normal] = ht_grid_x(grid, HT_PRIMARY, slice->normal, slice->index);
    for (int64_t j = 0; j < slice->height; j++) {
        x[slice->up] = ht_grid_x(grid, HT_PRIMARY, slice->up, j);
        for (int64_t i = 0; i < slice->width; i++) {
            x[slice->across] = ht_grid_x(grid, HT_PRIMARY, slice->across, i);
            TRY(ht_medium_parameter(medium, name, x, out++));
        }
    }
    return HT_OK;
}
