/* What a half step needs to know, without devices: equations, grid, medium,
 * time step, scheme.
 */
#ifndef HTWAVE_PROBLEM_H
#define HTWAVE_PROBLEM_H

#include "htwave/kernel.h"
#include "htwave/scheme.h"

/* How slabs exchange planes; without others none of it matters. */
struct ht_halo_choice {
    int depth; /* half steps per exchange; 0: 1 */
    enum ht_halo_precision precision;
    const char *transport; /* "auto", "peer", "shared", "staged"; NULL: auto */
};

/* What a half step needs to know; the parts must outlive the steppers. */
struct ht_problem {
    const struct ht_equations *eq;
    const struct ht_grid *grid;
    int medium_degree; /* -1 uniform, else that of medium_fill */
    int medium_coefs;  /* multi-indices per material; 0 when uniform */
    double uniform[HT_MAX_MATERIALS];
    /* As ht_medium_fill; NULL when uniform. */
    enum ht_err (*medium_fill)(const void *medium, enum ht_subgrid subgrid,
                               int64_t first, int64_t last, double *out);
    const void *medium;
    double dt;
    int stages;
    const struct ht_scheme *scheme; /* NULL: by `keep` */
    unsigned stored[2];             /* per grid, a bit per field; 0: all */
    int old_sign;                   /* as in ht_spec */
    struct ht_halo_choice halo;
};

/* Is a field stored on a grid, and how many are? */
bool ht_problem_stores(const struct ht_problem *problem,
                       enum ht_subgrid subgrid, int field);
int ht_problem_stored(const struct ht_problem *problem,
                      enum ht_subgrid subgrid);
/* How a grid's planes travel between slabs. */
struct ht_pack_format ht_problem_format(const struct ht_problem *problem,
                                        const struct ht_tuning *tuning,
                                        enum ht_subgrid subgrid);
/* What the half step from a grid must compute. Of the tuning it takes fp64,
 * trim and block. */
struct ht_spec ht_problem_spec(const struct ht_problem *problem,
                               const struct ht_tuning *tuning,
                               enum ht_subgrid from);
/* A problem with the time step -dt, for the kernels of half steps back. */
struct ht_problem ht_problem_reversed(const struct ht_problem *problem);

#endif
