/* Arguments of the kernels of cl/pack.cl, passed by value. This file is read by
 * the host's compiler and by the device's: only int and long (64 bits on both).
 */
#ifndef HTWAVE_PACK_ARGS_H
#define HTWAVE_PACK_ARGS_H

struct ht_pack_args {
    long total; /* nodes of a field's buffer */
    long first; /* nodes [first, first + nodes) travel */
    long nodes;
    long at;    /* 16 bytes of the message before them */
    int blocks; /* of coefficients of a node */
};

#endif
