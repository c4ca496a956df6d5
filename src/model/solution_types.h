/* Shared by the files src/model/solution*.c: one row per initial.type. */
#pragma once

#include "htwave/medium.h"

/* The part of a grid that is filled, and of which field. */
struct ht_solution_range {
    const struct ht_solution *solution;
    enum ht_subgrid subgrid;
    double time;
    int64_t first, last; /* x3 planes */
    int64_t plane;       /* nodes of a plane */
    int64_t nodes;       /* of all planes: stride of the coefficients */
    int field;
    double *out; /* [i][node], zeros before */
};

/* Values that a thread computes at least. */
enum { HT_SOLUTION_CHUNK = 1 << 13 };

struct ht_solution_type {
    /* Checks the parameters, sets exact, wavenumber, the fields that occur and the private data. */
    enum ht_err (*prepare)(struct ht_solution *solution);
    /* A field that occurs. */
    enum ht_err (*fill)(struct ht_solution_range *range);
    unsigned occurs; /* fields, before it is prepared */
    bool rest;
};

/* One node of one axis, for data whose fields are sums over the data's parts of
 * Re(amplitude * product over axes of factor_k(x_k)). */
struct ht_solution_point {
    int part, field, axis;
    double x, time;
};

/* A Gaussian; key: of its list's group, or the section "initial". */
struct ht_solution_pulse {
    struct ht_pulse is;
    int field;
    char key[32];
};

struct ht_solution_data {
    const struct ht_params *params;
    const struct ht_medium *medium;
    const struct ht_solution_type *type;
    int parts; /* of data that are products; a factor: order + 1 scaled Taylor coefficients */
    void (*factor)(const struct ht_solution *solution, const struct ht_solution_point *point,
                   double _Complex *out);
    double _Complex (*amplitude)(const struct ht_solution *solution, int part, int field,
                                 double time);
    struct ht_solution_pulse *pulse;     /* gaussian: parts of them */
    double velocity[3];                  /* gaussian that translates */
    double k[3], omega;                  /* plane, standing */
    double cosine[HT_MAX_FIELDS];        /* plane: real part of amplitudes */
    double sine[HT_MAX_FIELDS];          /* standing; plane: imaginary part */
    struct ht_jets *jets;                /* expression */
    struct ht_expr *expr[HT_MAX_FIELDS]; /* NULL: the field is zero */
    double *values[HT_MAX_FIELDS];       /* file; NULL: the field is zero */
    bool coefficients[HT_MAX_FIELDS];    /* of values; else nodal values */
    double *stencil;                     /* file: see solution.c */
    struct ht_pool pool;                 /* of pulses, values, stencil */
};

/* solution_separable.c */
HT_CHECKED enum ht_err ht_solution_prepare_gaussian(struct ht_solution *solution);
HT_CHECKED enum ht_err ht_solution_prepare_plane(struct ht_solution *solution);
HT_CHECKED enum ht_err ht_solution_prepare_standing(struct ht_solution *solution);
HT_CHECKED enum ht_err ht_solution_fill_product(struct ht_solution_range *range);

/* The field with a name given by the user; the error names the key when there is no such field. */
HT_CHECKED enum ht_err ht_solution_find_field(const struct ht_solution *solution, const char *key,
                                              const char *name, int *field);
