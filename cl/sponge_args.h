/* Arguments of the kernel of cl/sponge.cl, passed by value. Read by the host's compiler and by the
 * device's: only int and long (64 bits on both).
 *
 * Of the nodes along the layers' axis those of index i < low are begin + i, the others begin + i +
 * skip: a layer at either end.
 */
#ifndef HTWAVE_SPONGE_ARGS_H
#define HTWAVE_SPONGE_ARGS_H

struct ht_sponge_args {
    long row; /* of the window */
    long plane;
    long nodes;    /* of the whole window */
    long begin[3]; /* in the window */
    long count[3]; /* nodes along each axis */
    long low, skip;
    long length; /* of the window along the layers' axis */
    int axis;
};

#endif
