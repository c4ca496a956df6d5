/* Arguments of every step kernel, passed by value. This file is read by the
 * host's compiler and by the device's: only int and long (64 bits on both).
 *
 * Target node m of an axis takes its data from the source nodes m + shift and
 * m + shift + 1. A source index out of range continues at the far side where
 * the wall factor is 0 (periodic), else in the mirror with that factor.
 */
#ifndef HTWAVE_ARGS_H
#define HTWAVE_ARGS_H

struct ht_step_args {
    long src[3]; /* nodes of the source grid per axis */
    long dst[3]; /* nodes of the target grid per axis */
    long first;  /* x3 planes [first, last) of the target are computed */
    long last;
    long march;   /* planes that one group does in turn */
    long scratch; /* x3 plane at which the interpolants' buffer begins */
    int shift;    /* 0: primary to dual, -1: dual to primary */
    int stages;   /* Taylor stages */
    int wall[6];  /* wall factor, [2 * axis + side] */
};

#endif
