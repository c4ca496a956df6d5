/* Initial data and exact solutions: node coefficients to full order at any time for which the
 * solution is known.
 */
#ifndef HTWAVE_SOLUTION_H
#define HTWAVE_SOLUTION_H

#include "htwave/layers.h"
#include "htwave/medium.h"

struct ht_solution {
    const struct ht_equations *eq;
    const struct ht_grid *grid;
    bool exact;                    /* known at every time */
    bool rest;                     /* zero, at times before 0, too */
    bool returns;                  /* known at time.end only: equals the initial data */
    double snapshot;               /* a snapshot of a run at this time; 0: none */
    double wavenumber[3];          /* largest per axis where known (radians per length,
                                      also from a frequency); else 0 */
    bool single_wave;              /* wavenumber is the vector of one plane wave or mode;
                                      else     it bounds waves along any axis */
    double theta;                  /* the worst radians per cell where known; else 0 */
    struct ht_solution_data *data; /* private */
};

/* Checks initial.* against system, walls and medium (a standing mode must suit the walls, plane
 * waves need periodic sides, ...). The arguments must outlive the solution. */
HT_CHECKED enum ht_err ht_solution_create(const struct ht_params *params,
                                          const struct ht_medium *medium, struct ht_solution **out);
void ht_solution_destroy(struct ht_solution *solution);

/* Whether a field may differ from 0 at time 0. */
bool ht_solution_occurs(const struct ht_solution *solution, int field);

/* Coefficients of all fields on x3 planes [first, last) of a grid at a time:
 * out[field][i][node in those planes], i as in ht_grid_coefs, nodes with x1 fastest. time must be 0
 * unless exact, 0 or less at rest. */
HT_CHECKED enum ht_err ht_solution_fill(const struct ht_solution *solution, enum ht_subgrid subgrid,
                                        double time, int64_t first, int64_t last, double *out);

#endif
