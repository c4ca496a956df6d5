/* Arguments of the kernels of cl/fd_sums.cl, passed by value. Read by the host's compiler and by
 * the device's: only int and long (64 bits on both).
 */
#ifndef HTWAVE_FD_SUM_ARGS_H
#define HTWAVE_FD_SUM_ARGS_H

struct ht_fd_sum_args {
    long begin; /* index of the box's first node in the window */
    long row;   /* nodes of a row, of a plane of the window */
    long plane;
    long count[3]; /* nodes of the box */
    long groups;   /* of a plane */
    int ends[6];   /* [2 * axis + side]: nodes of that end weigh half */
};

#endif
