/* Arguments of the kernels of cl/means.cl, passed by value. Read by the host's
 * compiler and by the device's: only int and long (64 bits on both).
 */
#ifndef HTWAVE_MEAN_ARGS_H
#define HTWAVE_MEAN_ARGS_H

struct ht_mean_args {
    long begin; /* index of the box's first node in the window */
    long row;   /* nodes of a row, of a plane, of the whole window */
    long plane;
    long nodes;
    long count[3]; /* nodes of the box */
    long groups;   /* of a plane */
    int ends[6];   /* [2 * axis + side]: nodes of that end weigh half */
    int coefs;     /* coefficients of a node that have weights */
};

#endif
