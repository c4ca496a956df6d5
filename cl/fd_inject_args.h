/* Arguments of the kernel of cl/fd_inject.cl, passed by value. Read by the host's compiler and by
 * the device's: only int and long (64 bits on both).
 */
#ifndef HTWAVE_FD_INJECT_ARGS_H
#define HTWAVE_FD_INJECT_ARGS_H

struct ht_fd_inject_args {
    long first, count; /* entries of the list of nodes */
    long row;          /* of the table, its first value */
    int both;          /* adds to y, too */
};

#endif
