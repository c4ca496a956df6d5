/* Index arithmetic of the two grids; see the header for the conventions. */
#include "htwave/grid.h"

int ht_grid_coefs(const struct ht_grid *grid) {
    int coefs = 1;
    for (int k = 0; k < grid->dims; k++) coefs *= grid->order + 1;
    return coefs;
}

bool ht_grid_periodic(const struct ht_grid *grid, int axis) {
    return grid->wall[axis][0] == 0;
}

int64_t ht_grid_nodes(const struct ht_grid *grid, enum ht_mesh mesh, int axis) {
    if (axis >= grid->dims) return 1;
    bool both_ends = mesh == HT_PRIMARY && !ht_grid_periodic(grid, axis);
    return grid->cells[axis] + (both_ends ? 1 : 0);
}

int64_t ht_grid_plane(const struct ht_grid *grid, enum ht_mesh mesh) {
    return ht_grid_nodes(grid, mesh, 0) * ht_grid_nodes(grid, mesh, 1);
}

int64_t ht_grid_planes(const struct ht_grid *grid, enum ht_mesh mesh) {
    return ht_grid_nodes(grid, mesh, 2);
}

int64_t ht_grid_total(const struct ht_grid *grid, enum ht_mesh mesh) {
    return ht_grid_plane(grid, mesh) * ht_grid_planes(grid, mesh);
}

double ht_grid_x(const struct ht_grid *grid, enum ht_mesh mesh, int axis,
                 int64_t m) {
    double offset = mesh == HT_DUAL && axis < grid->dims ? 0.5 : 0.0;
    return grid->lower[axis] + ((double)m + offset) * grid->h[axis];
}

int64_t ht_grid_source(const struct ht_grid *grid, enum ht_mesh from, int axis,
                       int64_t m, int *factor, bool *mirrored) {
    int64_t n = ht_grid_nodes(grid, from, axis);
    *factor = 1;
    *mirrored = false;
    if (m >= 0 && m < n) return m;
    if (ht_grid_periodic(grid, axis)) return (m % n + n) % n;
    *mirrored = true;
    *factor = grid->wall[axis][m < 0 ? 0 : 1];
    /* Only the dual grid is read behind a wall: half a cell off it. */
    return m < 0 ? -1 - m : 2 * n - 1 - m;
}
