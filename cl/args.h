/* Arguments of every step kernel, passed by value. This file is read by the
 * host's compiler and by the device's: only int and long (64 bits on both).
 *
 * Indices are those of the windows (htwave/window.h): node (m1, m2, m3) of a
 * window has the number m3 plane + m2 row + m1. Target m reads the source nodes
 * m + shift and m + shift + 1 along every axis. Ghosts hold the values behind
 * walls. A window that is periodic along an axis has no ghosts there: source
 * index i >= period means node i - period.
 */
#ifndef HTWAVE_ARGS_H
#define HTWAVE_ARGS_H

/* Where a part of a window holds its nodes: node (m1, m2, m3) of the window has
 * the number m3 plane + m2 row + m1 - first there. */
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
    /* Memory variables of absorbing layers, by the axis of the layer. Programs
     * without them get the struct up to here. */
    struct ht_part_place src_memory[3];
    struct ht_part_place dst_memory[3];
#endif
};

#endif
