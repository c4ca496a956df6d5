/* Arguments of the reduction kernels, passed by value. This file is read by the host's compiler and
 * by the device's: only int and long (64 bits on both).
 */
#ifndef HTWAVE_REDUCE_ARGS_H
#define HTWAVE_REDUCE_ARGS_H

/* Points about a node; points that are not used have weights of 0. */
#define HT_REDUCE_POINTS 8

struct ht_reduce_args {
    long nodes[3];  /* nodes of the reduced box along each axis */
    long begin;     /* the first of these nodes in the field's window */
    long row;       /* stride of the window along x2, in nodes */
    long plane;     /* stride of the window along x3, in nodes */
    long total;     /* nodes of the window */
    long per_group; /* nodes that a work-group sums */
    long groups;
    long slot;    /* index of the result */
    long weights; /* index of the first weight, [coefficient][point] */
    int coef;     /* storage index of the first coefficient */
    int coefs;    /* number of coefficients, at consecutive storage indices */
    int divide;   /* 1: divide by the medium's value at the node */
    int ends[6];  /* 1: nodes at this end count half, [2 * axis + side] */
};

#endif
