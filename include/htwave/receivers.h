/* The receivers of a run: where they stand, what they record and at which times, from the groups of
 * the option `receivers`. A trace is what one receiver records of one field.
 */
#ifndef HTWAVE_RECEIVERS_H
#define HTWAVE_RECEIVERS_H

#include "htwave/grid.h"
#include "htwave/layers.h"
#include "htwave/params.h"

/* Steps that a sample between steps is interpolated from. */
enum { HT_RECEIVERS_STENCIL = 12 };

enum { HT_READING_NAME = 24, HT_MAX_READINGS = 16 };

/* What is recorded of a field: its value, or its derivative along an axis, or the integral of that
 * by time, which is another field. */
struct ht_reading {
    int field;
    int slope; /* -1: the value */
    bool integral;
    char name[HT_READING_NAME];
};
struct ht_receiver_group {
    char name[HT_RECEIVERS_NAME];
    int64_t count; /* receivers */
    double (*x)[3];
    int readings;
    struct ht_reading reading[HT_MAX_READINGS];
    double every;  /* 0: each time step */
    double start;  /* time of the first sample */
    int64_t first; /* its step, where every is 0 */
    int64_t samples;
};
struct ht_receivers {
    int count;
    struct ht_receiver_group *group;
    int64_t traces;
    double dt, end;
    int64_t steps; /* of dt, up to end */
    int64_t bytes; /* of all samples in the files' precision */
};

/* What receivers depend on beside the input. */
struct ht_receivers_of {
    const struct ht_equations *eq;
    const struct ht_grid *grid;           /* its box */
    unsigned held;                        /* bit per field that has values at whole steps; 0: all */
    const struct ht_second_order *second; /* its flux is recorded as integrals;
                                             NULL: no */
    double dt;                            /* of a step, */
    int64_t steps;                        /* of the run */
    double frequency;                     /* highest of the waves; 0: not known */
};
/* *out: NULL where there are none. */
HT_CHECKED enum ht_err ht_receivers_create(const struct ht_params *params,
                                           const struct ht_receivers_of *of,
                                           struct ht_receivers **out);
void ht_receivers_destroy(struct ht_receivers *receivers); /* NULL allowed */
double ht_receivers_time(const struct ht_receivers *receivers,
                         const struct ht_receiver_group *group, int64_t sample);

/* ---- receivers_file.c ---- */
/* Positions in a file, a line each; x is freed by the caller. */
HT_CHECKED enum ht_err ht_positions_read(const char *path, int dims, int64_t *count,
                                         double (**x)[3]);

#endif
