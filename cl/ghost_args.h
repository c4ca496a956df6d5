/* Arguments of the ghost kernel, passed by value. This file is read by the host's compiler and by
 * the device's: only int and long (64 bits on both).
 *
 * Ghosts are numbered in the order x3 planes, x2 rows of the other planes, x1 nodes of the other
 * rows; the lower ones of an axis come first.
 */
#ifndef HTWAVE_GHOST_ARGS_H
#define HTWAVE_GHOST_ARGS_H

struct ht_ghost_args {
    long row; /* of the window */
    long plane;
    long nodes;   /* of the whole window */
    int count[3]; /* nodes along each axis */
    int begin[3]; /* nodes [begin, end) of an axis are no ghosts */
    int end[3];
    int factor[6]; /* of the wall at [2 * axis + side] */
    int planes;    /* ghosts in x3 planes */
    int rows;      /* ghosts in x3 planes and x2 rows */
    int ghosts;    /* all ghosts */
};

#endif
