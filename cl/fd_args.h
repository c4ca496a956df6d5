/* Arguments of the finite-difference kernels, passed by value. This file is read by the host's
 * compiler and by the device's: only int and long (64 bits on both). Node (m1, m2, m3) of a window
 * is number m3 plane + m2 row + m1. */
#ifndef HTWAVE_FD_ARGS_H
#define HTWAVE_FD_ARGS_H

struct ht_fd_args {
    long row;
    long plane;
    long begin[3]; /* targets [begin, end) */
    long end[3];
    long rows;   /* x2 rows per group, where it can be chosen at a launch */
    long planes; /* of the last axis that one group does in turn */
    int side[6]; /* of ghosts, at [2 * axis + side]: htwave/fd_kernel.h */
};

#endif
