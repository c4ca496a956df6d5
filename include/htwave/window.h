/* Parts of a grid. A box is a half-open range of nodes, begin <= m < end along every axis. A window
 * is the box that a rank's buffers hold:
 *     ghosts | neighbours' planes | own nodes | neighbours' planes | ghosts
 * along x3, ghosts and own nodes along x1 and x2. Node (m1, m2, m3) of a window, counted from its
 * first, is number (m3 count[1] + m2) count[0] + m1 of every field.
 *
 * Ghosts are the mirror images, with a sign, of nodes of the same window: the values that a half
 * step reads behind a wall. Only the dual grid is read there, half a cell behind the wall. A
 * periodic axis has no ghosts; kernels wrap indices instead.
 */
#ifndef HTWAVE_WINDOW_H
#define HTWAVE_WINDOW_H

#include "htwave/grid.h"

struct ht_box {
    int64_t begin[3], end[3];
};
/* Number of nodes; 0 if the box is empty along an axis. */
int64_t ht_box_nodes(const struct ht_box *box);

struct ht_window {
    int64_t count[3];   /* nodes, including ghosts */
    int64_t origin[3];  /* node of the grid at index 0; on a periodic grid it may
                           be below 0 or beyond the last node */
    struct ht_box own;  /* own nodes, in indices of the window */
    struct ht_box held; /* own nodes and neighbours' planes, no ghosts */
};

/* The window of the part of a grid that this rank owns, with this number of planes of the
 * neighbours below and above, if these exist. */
struct ht_window ht_window_make(const struct ht_grid *grid, enum ht_subgrid subgrid, int64_t below,
                                int64_t above);
/* Nodes of a row along x1, of a plane of x1 and x2, of the window. */
int64_t ht_window_row(const struct ht_window *window);
int64_t ht_window_plane(const struct ht_window *window);
int64_t ht_window_nodes(const struct ht_window *window);
/* Number of a node, which may lie outside. */
int64_t ht_window_at(const struct ht_window *window, int64_t m1, int64_t m2, int64_t m3);
/* shift: per axis the lower of the two source indices of target index 0 in the half step from a
 * grid. period: number of source nodes after which a periodic axis wraps around, else larger than
 * any index. */
void ht_window_shift(const struct ht_grid *grid, enum ht_subgrid from,
                     const struct ht_window *source, const struct ht_window *target,
                     int64_t shift[3], int64_t period[3]);
/* Arguments of the ghost kernel (cl/ghost_args.h) for a window of a grid. HT_ERR_DEVICE if int
 * cannot count the ghosts. */
struct ht_ghost_args;
HT_CHECKED enum ht_err ht_window_ghosts(const struct ht_grid *grid, const struct ht_window *window,
                                        struct ht_ghost_args *out);

#endif
