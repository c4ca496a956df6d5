/* Arguments of every step kernel, passed by value. This file is read by the host's compiler and by
 * the device's: only int and long (64 bits on both).
 *
 * Indices are those of the windows (htwave/grid.h): node (m1, m2, m3) of a window has the number
 * m3 plane + m2 row + m1. Target m reads the source nodes m + shift and m + shift + 1 along every
 * axis. Ghosts hold the values behind walls. A window that is periodic along an axis has no ghosts
 * there: source index i >= period means node i - period. */
#ifndef HTWAVE_ARGS_H
#define HTWAVE_ARGS_H

/* Where a window or a part of it holds its nodes: node (m1, m2, m3) has the number m3 plane + m2
 * row + m1 - first there. */
struct ht_part_place {
    long first;
    long row;
    long plane;
    long nodes; /* of the whole part */
};

struct ht_step_args {
    long begin[3]; /* targets [begin, end) are computed */
    long end[3];
    long shift[3];
    long period[3]; /* of an axis with ghosts: larger than any index */
    long src_row;   /* of the source's window */
    long src_plane;
    long src_nodes; /* of the whole window */
    long dst_row;   /* of the target's window */
    long dst_plane;
    long dst_nodes;
    long march;   /* planes that a work-group computes one after the other */
    long scratch; /* x3 plane at which the interpolants' buffer begins */
    int stages;   /* Taylor stages */
#if !defined(HT_MEMORY) || HT_MEMORY > 0
    /* Programs without memory variables get the struct up to here. [0]: the whole window, [1 + n]:
     * the memory variables of layer n of the program's equations. */
    struct ht_part_place src_part[4];
    struct ht_part_place dst_part[4];
#endif
};

#endif
