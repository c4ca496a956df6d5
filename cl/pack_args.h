/* Arguments of the kernels of cl/pack.cl, passed by value. This file is read by the host's compiler
 * and by the device's: only int and long (64 bits on both).
 */
#ifndef HTWAVE_PACK_ARGS_H
#define HTWAVE_PACK_ARGS_H

struct ht_pack_args {
    long total;    /* nodes of a field's window */
    long row;      /* stride of the window along x2, in nodes */
    long plane;    /* stride of the window along x3, in nodes */
    long first;    /* node of the window at which the packed box begins */
    long count[2]; /* nodes of the box along x1 and x2 */
    long nodes;    /* nodes of the box */
    long at;       /* start of the box in the message, in units of 16 bytes */
    int blocks;    /* blocks of coefficients of a node */
};

#endif
