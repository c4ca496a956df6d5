/* Arguments of every step kernel, passed by value. This file is read by the
 * host's compiler and by the device's: only int and long (64 bits on both).
 *
 * Indices are those of the windows (htwave/window.h): node (m1, m2, m3) of a
 * window is number m3 plane + m2 row + m1. Target m takes its data from the
 * source nodes m + shift and m + shift + 1 of every axis. Ghosts stand for what
 * lies behind a wall. A window that closes upon itself along an axis has none
 * there: source index i stands for i - period from i = period on.
 */
#ifndef HTWAVE_ARGS_H
#define HTWAVE_ARGS_H

struct ht_step_args {
    long begin[3]; /* targets [begin, end) are computed */
    long end[3];
    long shift[3];
    long period[3]; /* of an open axis: more than any index */
    long src_row;   /* of the source's window */
    long src_plane;
    long src_nodes; /* in all */
    long dst_row;   /* of the target's window */
    long dst_plane;
    long dst_nodes;
    long march;   /* planes that one group does in turn */
    long scratch; /* x3 plane at which the interpolants' buffer begins */
    int stages;   /* Taylor stages */
};

#endif
