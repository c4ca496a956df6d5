/* The primary grid x_m = lower + m h and the dual grid of cell midpoints.
 * Along an axis with n cells the dual grid has n nodes and the primary grid
 * n (periodic) or n + 1 (walls). Axes beyond dims have one node and h = 1.
 */
#ifndef HTWAVE_GRID_H
#define HTWAVE_GRID_H

#include "htwave/system.h"

enum ht_mesh { HT_PRIMARY, HT_DUAL };

struct ht_grid {
    int dims, order;
    int64_t cells[3];
    double lower[3], upper[3], h[3];
    int wall[3][2]; /* factors of struct ht_wall_kind; 0 periodic */
};

/* Coefficients per node and field: (order + 1)^dims, index
 * (i3 (N+1) + i2) (N+1) + i1. */
int ht_grid_coefs(const struct ht_grid *grid);
int64_t ht_grid_nodes(const struct ht_grid *grid, enum ht_mesh mesh, int axis);
/* Nodes of one x3 plane (3-D), of the grid (1-D, 2-D). */
int64_t ht_grid_plane(const struct ht_grid *grid, enum ht_mesh mesh);
int64_t ht_grid_total(const struct ht_grid *grid, enum ht_mesh mesh);
/* Number of x3 planes: nodes along x3 in 3-D, else 1. */
int64_t ht_grid_planes(const struct ht_grid *grid, enum ht_mesh mesh);
double ht_grid_x(const struct ht_grid *grid, enum ht_mesh mesh, int axis,
                 int64_t m);
bool ht_grid_periodic(const struct ht_grid *grid, int axis);
/* Source node m of mesh `from`, perhaps behind a wall or the periodic seam:
 * returns the node that holds its values and sets *factor to the product of
 * wall factors passed (1: none passed) and *mirrored. */
int64_t ht_grid_source(const struct ht_grid *grid, enum ht_mesh from, int axis,
                       int64_t m, int *factor, bool *mirrored);

#endif
