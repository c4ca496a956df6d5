/* Parts of a grid. A box is a half-open range of nodes, begin <= m < end along
 * every axis. A window is the box that a rank's buffers hold:
 *     ghosts | neighbours' planes | own nodes | neighbours' planes | ghosts
 * along x3, ghosts and own nodes along x1 and x2. Node (m1, m2, m3) of a
 * window, counted from its first, is number (m3 count[1] + m2) count[0] + m1 of
 * every field.
 *
 * Ghosts are copies of other nodes of the same window, with a sign where a wall
 * mirrors them: what a half step reads behind a wall or a periodic seam. Only
 * the dual grid is read behind a wall. The primary grid is read behind the
 * upper end of a periodic axis, the dual grid behind the lower one. Along x1 a
 * periodic grid has no ghosts, since a copy of one node per row would cost the
 * traffic of a whole memory sector: the kernels close the row themselves.
 */
#ifndef HTWAVE_WINDOW_H
#define HTWAVE_WINDOW_H

#include "htwave/grid.h"

struct ht_box {
    int64_t begin[3], end[3];
};
/* 0 where it is empty along an axis. */
int64_t ht_box_nodes(const struct ht_box *box);

struct ht_window {
    int64_t count[3];   /* nodes, ghosts too */
    int64_t origin[3];  /* node of the grid at index 0; a periodic grid goes on
                           below 0 and behind its last node */
    struct ht_box own;  /* in indices of the window, as the next */
    struct ht_box held; /* own nodes and neighbours' planes: all but ghosts */
};

/* Of the part of a mesh that this rank owns, with so many planes of the
 * neighbours below and above it, where there are neighbours. */
struct ht_window ht_window_make(const struct ht_grid *grid, enum ht_mesh mesh,
                                int64_t below, int64_t above);
/* Nodes of a row of x1, of a plane of x1 and x2, in all. */
int64_t ht_window_row(const struct ht_window *window);
int64_t ht_window_plane(const struct ht_window *window);
int64_t ht_window_nodes(const struct ht_window *window);
/* Number of a node, which may lie outside. */
int64_t ht_window_at(const struct ht_window *window, int64_t m1, int64_t m2,
                     int64_t m3);
/* Source index of target index 0 of the half step from a mesh, per axis: the
 * lower of the two sources. period: number of source nodes along x1 where they
 * close, else more than any index. */
void ht_window_shift(const struct ht_grid *grid, enum ht_mesh from,
                     const struct ht_window *source,
                     const struct ht_window *target, int64_t shift[3],
                     int64_t *period);

/* The ghosts of a window as boxes, faces, edges and corners, each the image of
 * a box of held nodes; their number, HT_MAX_GHOST_BOXES at most. */
struct ht_ghost_box; /* cl/ghost_args.h */
enum { HT_MAX_GHOST_BOXES = 26 };
int ht_window_ghosts(const struct ht_grid *grid, enum ht_mesh mesh,
                     const struct ht_window *window, struct ht_ghost_box *out);

#endif
