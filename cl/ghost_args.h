/* Arguments of the ghost kernel. This file is read by the host's compiler and
 * by the device's: only int and long (64 bits on both).
 */
#ifndef HTWAVE_GHOST_ARGS_H
#define HTWAVE_GHOST_ARGS_H

/* Ghosts of one box of a window, and the nodes whose values they take: ghost
 * (i1, i2, i3) of the box is node to + i3 plane + i2 row + i1 of the window,
 * its source from + i3 step[2] + i2 step[1] + i1 step[0]. */
struct ht_ghost_box {
    long to;
    long from;
    long step[3]; /* negative along axes that a wall mirrors */
    int first;    /* ghosts of the boxes before */
    int count[2]; /* ghosts along x1 and x2 */
    int mirrored; /* bit k: by a wall normal to axis k */
    int factor;   /* product of the factors of these walls */
};

/* Passed by value. */
struct ht_ghost_args {
    long row; /* of the window */
    long plane;
    long nodes; /* in all */
    int boxes;
    int ghosts; /* of all boxes */
};

#endif
