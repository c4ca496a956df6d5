/* Arguments of the kernels of cl/pack.cl, passed by value. This file is read by
 * the host's compiler and by the device's: only int and long (64 bits on both).
 */
#ifndef HTWAVE_PACK_ARGS_H
#define HTWAVE_PACK_ARGS_H

struct ht_pack_args {
    long total; /* nodes of a field's window */
    long row;   /* of it */
    long plane;
    long first;    /* node of it at which the box that travels begins */
    long count[2]; /* nodes of the box along x1 and x2 */
    long nodes;    /* in all */
    long at;       /* 16 bytes of the message before them */
    int blocks;    /* of coefficients of a node */
};

#endif
