/* Arguments of the kernel of cl/fd_sample.cl, passed by value. Read by the host's compiler and by
 * the device's: only int and long (64 bits on both).
 */
#ifndef HTWAVE_FD_SAMPLE_ARGS_H
#define HTWAVE_FD_SAMPLE_ARGS_H

struct ht_fd_sample_args {
    long row; /* nodes of a row, of a plane of the window */
    long plane;
    long items;
    long slot; /* of the ring */
};

#endif
