/* What samplers of all methods share. A trace is the sum of weights times sums over the nodes of
 * one array in one x3 plane, its rows in the order of the planes. A method lists the rows; samples
 * go into a ring of slots, after each time step one. */
#pragma once

#include "htwave/sampler.h"

/* A row of an own plane. */
struct ht_sampler_row {
    int64_t number; /* of all ranks' rows */
    enum ht_subgrid subgrid;
    int field;
    int64_t plane;   /* of the grid */
    int64_t pattern; /* nodes of a plane and their weights; rows may share one */
    int64_t end;     /* of the rows of its array, when all are listed */
};
struct ht_sampler {
    const struct ht_grid *grid;
    struct ht_stepper *stepper;
    double scale;    /* of the plan */
    int64_t traces;  /* each level and derivative by time counts */
    int64_t *first;  /* of all ranks' rows: [trace + 1] */
    double *weight;  /* [row of all ranks] */
    int64_t room[4]; /* of the lists */
    int64_t rows, all;
    struct ht_sampler_row *row; /* own ones, by grid, field, plane and number; all: of all ranks */
    struct ht_rows_shape shape; /* coefs: without gaps */
    int64_t *node;              /* of the plane of the grid */
    double *value;              /* weights; both as ht_sampler_pattern has them */
    int64_t taken;
    double *level;       /* [slot] of struct ht_arrays */
    double *ring;        /* [slot][row] */
    double *sums;        /* [slot][row of all ranks]; NULL: the grid is one slab */
    double *whole;       /* [pattern] sum of its weights of values */
    int64_t *place;      /* [row of all ranks]: the own row; not used where the grid is cut */
    double *values;      /* of ht_sampler_collect */
    double *plane;       /* of a stepper without a device: coefficients of a plane */
    struct ht_pool pool; /* of the arrays whose size is known */
    struct ht_tool *tool;
};

/* Room for pattern number shape.patterns, in the order of struct ht_rows_tables but for weights by
 * coefficients, all 0 but the first line's factor, 1; one that is not counted then is given up. */
HT_ERR ht_sampler_pattern(struct ht_sampler *s, int64_t **node, double **value);
/* Adds a row to those of the current trace; *own: its plane is. */
HT_ERR ht_sampler_add(struct ht_sampler *s, const struct ht_sampler_row *row, double weight,
                      bool *own);
/* Sums of other rows: of so many traces, over scale. */
struct ht_sampler_of {
    const struct ht_grid *grid;
    int64_t traces;
    double scale;
    struct ht_rows_shape shape; /* coefs, nodes and lines of a pattern */
    enum ht_err (*list)(const void *context, struct ht_sampler *out);
    const void *context;
};
/* The stepper does not know of it. Collective. */
HT_ERR ht_sampler_make(const struct ht_sampler_of *of, struct ht_stepper *stepper,
                       struct ht_sampler **out);
/* A sample of the state there is, into the ring. */
HT_ERR ht_sampler_take(struct ht_sampler *s);

/* A trace of all groups. */
struct ht_trace {
    const double *x;
    struct ht_reading reading;
};
/* For trace 0, 1, .. */
struct ht_trace ht_trace_at(const struct ht_receivers *receivers, int64_t trace);
