/* Parts of a grid. A box is a half-open range of nodes, begin <= m < end along
 * every axis. A window is the box that a rank's buffers hold:
 *     ghosts | neighbours' planes | own nodes | neighbours' planes | ghosts
 * along x3, ghosts and own nodes along x1 and x2. Node (m1, m2, m3) of a
 * window, counted from its first, is number (m3 count[1] + m2) count[0] + m1 of
 * every field.
 *
 * Ghosts are the mirror images, with a sign, of nodes of the same window: what
 * a half step reads behind a wall. Only the dual grid is read there, half a
 * cell off. A periodic axis has no ghosts: the window closes upon itself, since
 * a launch that copies a layer of nodes costs more than the comparison that
 * tells the kernels where to go on (bench/NOTES.md, Boxes, windows and
 * ghosts).
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

/* Of the part of a grid that this rank owns, with so many planes of the
 * neighbours below and above it, where there are neighbours. */
struct ht_window ht_window_make(const struct ht_grid *grid,
                                enum ht_subgrid subgrid, int64_t below,
                                int64_t above);
/* Nodes of a row of x1, of a plane of x1 and x2, in all. */
int64_t ht_window_row(const struct ht_window *window);
int64_t ht_window_plane(const struct ht_window *window);
int64_t ht_window_nodes(const struct ht_window *window);
/* Number of a node, which may lie outside. */
int64_t ht_window_at(const struct ht_window *window, int64_t m1, int64_t m2,
                     int64_t m3);
/* Source index of target index 0 of the half step from a grid, per axis: the
 * lower of the two sources. period: source nodes after which the axis closes,
 * else more than any index. */
void ht_window_shift(const struct ht_grid *grid, enum ht_subgrid from,
                     const struct ht_window *source,
                     const struct ht_window *target, int64_t shift[3],
                     int64_t period[3]);
/* Ghosts of a window of a grid, as their kernel takes them (cl/ghost_args.h).
 * HT_ERR_DEVICE where int cannot count them. */
struct ht_ghost_args;
HT_CHECKED enum ht_err ht_window_ghosts(const struct ht_grid *grid,
                                        const struct ht_window *window,
                                        struct ht_ghost_args *out);

#endif
