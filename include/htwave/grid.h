/* The primary grid x_m = lower + m h and the dual grid of cell midpoints. Along an axis with n
 * cells the dual grid has n nodes and the primary grid n (periodic) or n + 1 (walls). Axes beyond
 * dims have one node and h = 1.
 */
#ifndef HTWAVE_GRID_H
#define HTWAVE_GRID_H

#include "htwave/comm.h"
#include "htwave/system.h"

enum ht_subgrid { HT_PRIMARY, HT_DUAL };

/* The part of a grid that one of several ranks works on. A rank owns the planes of dual nodes in
 * its cells and of primary nodes at their lower sides; the last rank also those on the upper wall.
 * All zero: one rank owns everything.
 */
struct ht_slab {
    struct ht_comm *comm; /* ranks in the order of their slabs */
    int64_t first, last;  /* x3 planes of cells [first, last) */
};

struct ht_grid {
    int dims, order;
    int64_t cells[3];
    double lower[3], upper[3], h[3];
    int wall[3][2]; /* factors of struct ht_wall_kind; 0 periodic */
    /* Cells of the layer in front of an absorbing side, whose wall is rigid; 0: none
     * (htwave/layers.h). */
    int64_t layer[3][2];
    int point_nodes; /* about a point along an axis (htwave/point.h) */
    struct ht_slab slab;
};

/* Coefficients per node and field: (order + 1)^dims, index (i3 (N+1) + i2) (N+1) + i1. */
int ht_grid_coefs(const struct ht_grid *grid);
int64_t ht_grid_nodes(const struct ht_grid *grid, enum ht_subgrid subgrid, int axis);
/* Nodes of one x3 plane (3-D), of the grid (1-D, 2-D). */
int64_t ht_grid_plane(const struct ht_grid *grid, enum ht_subgrid subgrid);
int64_t ht_grid_total(const struct ht_grid *grid, enum ht_subgrid subgrid);
/* Number of x3 planes: nodes along x3 in 3-D, else 1. */
int64_t ht_grid_planes(const struct ht_grid *grid, enum ht_subgrid subgrid);
double ht_grid_x(const struct ht_grid *grid, enum ht_subgrid subgrid, int axis, int64_t m);
bool ht_grid_periodic(const struct ht_grid *grid, int axis);
/* Source node m of grid `from`, perhaps behind a wall or the periodic seam:
 * returns the node that holds its values and sets *factor to the product of wall factors passed (1:
 * none passed) and *mirrored. */
int64_t ht_grid_source(const struct ht_grid *grid, enum ht_subgrid from, int axis, int64_t m,
                       int *factor, bool *mirrored);

/* ---- slabs ---- */
/* Are there others? Only 3-D grids are cut. */
bool ht_grid_cut(const struct ht_grid *grid);
/* x3 planes [first, last) of a grid that this rank owns, and the nodes on them.
 */
void ht_grid_own(const struct ht_grid *grid, enum ht_subgrid subgrid, int64_t *first,
                 int64_t *last);
int64_t ht_grid_own_total(const struct ht_grid *grid, enum ht_subgrid subgrid);
/* The rank with the slab below (side 0) or above (1), through the periodic seam, too; -1: none, or
 * there are no others. */
int ht_grid_neighbour(const struct ht_grid *grid, int side);
/* The same grid for a rank alone. */
struct ht_grid ht_grid_whole(const struct ht_grid *grid);
/* Cuts `cells` planes in parts as equal as they can be; start[0 .. ranks]. */
void ht_slab_cut(int64_t cells, int ranks, int64_t *start);

#endif
