/* Arguments of the kernel of cl/rows.cl, passed by value. Read by the host's compiler and by the
 * device's: only int and long (64 bits on both).
 */
#ifndef HTWAVE_ROWS_ARGS_H
#define HTWAVE_ROWS_ARGS_H

struct ht_rows_args {
    long first; /* rows [first, last) */
    long last;
    long rows;  /* of all launches */
    long nodes; /* of the window */
    long slot;  /* of the ring */
};

#endif
