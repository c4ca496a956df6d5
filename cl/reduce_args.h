/* Arguments of the reduction kernels, passed by value. This file is read by
 * the host's compiler and by the device's: only int and long (64 bits on both).
 */
#ifndef HTWAVE_REDUCE_ARGS_H
#define HTWAVE_REDUCE_ARGS_H

/* Points about a node; fewer have weights of 0. */
#define HT_REDUCE_POINTS 8

struct ht_reduce_args {
    long nodes[3]; /* that are reduced, per axis */
    long begin;    /* the first of them in the field's window */
    long row;      /* of the window */
    long plane;
    long total;     /* nodes of the window */
    long per_group; /* nodes that one group sums */
    long groups;
    long slot;    /* where the result goes */
    long weights; /* where the weights begin, [coefficient][point] */
    int coef;     /* storage index of the first coefficient */
    int coefs;    /* how many, one storage index after the other */
    int divide;   /* 1: by the medium's value at the node */
    int ends[6];  /* 1: nodes at this end count half, [2 * axis + side] */
};

#endif
