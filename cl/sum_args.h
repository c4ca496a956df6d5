/* Arguments of the kernels of cl/sums.cl, passed by value. Read by the host's compiler and by the
 * device's: only int and long (64 bits on both).
 */
#ifndef HTWAVE_SUM_ARGS_H
#define HTWAVE_SUM_ARGS_H

/* Points about a node of a Hermite method; points that are not used have weights of 0. */
#define HT_MEASURE_POINTS 8
/* Nodes of a row that a group takes before the next piece. */
#define HT_SUM_PIECE 4096

struct ht_sum_args {
    long begin; /* index of the box's first node in the window */
    long row;   /* nodes of a row, of a plane, of all of the window */
    long plane;
    long total;
    long count[3]; /* nodes of the box */
    long groups;   /* of a plane */
    long slot;     /* the first group's result */
    long weights;  /* index of the first weight, [coefficient][point] */
    int coef;      /* storage index of the first coefficient */
    int coefs;     /* number of coefficients, at consecutive storage indices */
    int divide;    /* 1: by a at the node */
    int ends[6];   /* [2 * axis + side]: nodes of that end weigh half */
};

#endif
