/* Arguments of the ghost kernel, passed by value. This file is read by the host's compiler and by
 * the device's: only int and long (64 bits on both).
 *
 * Ghosts are numbered in the order x3 planes, x2 rows of the other planes, x1 nodes of the other
 * rows; the lower ones of an axis come first.
 */
#ifndef HTWAVE_GHOST_ARGS_H
#define HTWAVE_GHOST_ARGS_H

struct ht_ghost_args {
    long first; /* number in the window of the node of indices 0 */
    long row;   /* of the window */
    long plane;
    long nodes;   /* of the whole window */
    int count[3]; /* nodes along each axis */
    int begin[3]; /* nodes [begin, end) of an axis are no ghosts */
    int end[3];
    /* At [2 * axis + side] a ghost of index i along the axis has its source at index from + way i:
     * way -1 behind a wall, which multiplies by factor, way 1 where the axis is periodic. */
    int from[6], way[6], factor[6];
    int planes; /* ghosts in x3 planes */
    int rows;   /* ghosts in x3 planes and x2 rows */
    int ghosts; /* all ghosts */
};

#endif
