/* What samplers of all methods share. A trace is the sum of weights times sums over the nodes of
 * one array in one x3 plane, its rows in the order of the planes. A method lists the rows and knows
 * their nodes; samples go into a ring of slots, after each time step one.
 */
#ifndef HTWAVE_SOLVE_SAMPLER_PRIVATE_H
#define HTWAVE_SOLVE_SAMPLER_PRIVATE_H

#include "htwave/sampler.h"

/* A row of an own plane. */
struct ht_sampler_row {
    int64_t number; /* of all ranks' rows */
    enum ht_subgrid subgrid;
    int field;
    int64_t plane;   /* of the grid */
    int64_t pattern; /* its nodes and weights, as the method counts them */
};
struct ht_sampler_ops {
    /* Enqueues a sample of the state there is, of all rows; NULL: by `sum` on the host. */
    enum ht_err (*take)(void *self, int64_t slot);
    /* sums[slot][row] of the first slots; NULL with `take`. */
    enum ht_err (*read)(void *self, int64_t slots, double *sums);
    /* Of one row, from the coefficients [i][node] of its plane. */
    double (*sum)(const void *self, const struct ht_sampler_row *row, const double *plane);
    double (*seconds)(const void *self); /* NULL: no kernels */
    void (*destroy)(void *self);
};
struct ht_sampler {
    const struct ht_grid *grid;
    struct ht_stepper *stepper;
    double scale;   /* of the plan */
    int64_t traces; /* each level and derivative by time counts */
    int64_t *first; /* of all ranks' rows: [trace + 1] */
    double *weight; /* [row of all ranks] */
    int64_t rows, all, room[2];
    struct ht_sampler_row *row; /* own ones, by grid, field, plane and number; all: of all ranks */
    int coefs;                  /* of a node, that rows take */
    int64_t slots, taken;
    double *ring;  /* [slot][row] */
    double *sums;  /* [slot][row of all ranks] */
    double *plane; /* for `sum` */
    const struct ht_sampler_ops *ops;
    void *self;
};

/* Adds a row to those of the current trace; *own: it is kept, with its pattern. */
HT_CHECKED enum ht_err ht_sampler_add(struct ht_sampler *s, const struct ht_sampler_row *row,
                                      double weight, bool *own);
/* All rows are listed: sorts them, and makes the ring. */
HT_CHECKED enum ht_err ht_sampler_listed(struct ht_sampler *s);
/* A sample of the state there is, into the ring. */
HT_CHECKED enum ht_err ht_sampler_take(struct ht_sampler *s);
/* Samples of so many rows that a ring holds. */
int64_t ht_sampler_slots(int64_t rows);

/* A trace of all groups. */
struct ht_trace {
    const double *x;
    struct ht_reading reading;
};
/* For trace 0, 1, .. */
struct ht_trace ht_trace_at(const struct ht_receivers *receivers, int64_t trace);

#endif
