/* Measures of a state on the primary grid: nodal values, energies, error. */
#ifndef HTWAVE_ENERGY_H
#define HTWAVE_ENERGY_H

#include "htwave/plan.h"
#include "htwave/stepper.h"

/* Nodal values are those of the own planes: ht_grid_own_total of them, the
 * first own plane first. Where a function is collective all ranks get the same
 * numbers; sums depend in their last digits on the number of ranks. A rank that
 * fails alone must enter ht_comm_agree. */

/* nodal[field][node], as output and error take it; NULL for fields that are
 * not stored there. */
HT_CHECKED enum ht_err ht_nodal_read(const struct ht_plan *plan,
                                     const struct ht_stepper *stepper,
                                     double *const *nodal);
struct ht_state {
    double energy;  /* of the fields stored there: docs/method.md 9 */
    double content; /* the same from the nodes' Taylor polynomials at h/4 to
                       either side, of all grids that the scheme keeps */
    double slope;   /* that of gradients, if fields changed by their own size
                       from node to node */
    double largest[HT_MAX_FIELDS]; /* |u| at the nodes */
};
/* Looks at the coefficients where they are, without reading them. One that is
 * not finite: HT_ERR_NOT_FINITE naming field, place and time, the same on all
 * ranks. Collective. */
HT_CHECKED enum ht_err ht_state_measure(const struct ht_plan *plan,
                                        const struct ht_stepper *stepper,
                                        double time, struct ht_state *out);
/* The quadratic form that the plan's scheme conserves (docs/method.md, section
 * 13), from all coefficients of both grids and a half step whose result is
 * undone: the state is left as it was. Zero for data that do not vary along all
 * axes. conserves: the plan has one, of a size that one host can bear, whatever
 * the number of ranks. Collective. */
bool ht_conserves_energy(const struct ht_plan *plan);
HT_CHECKED enum ht_err ht_conserved_energy(const struct ht_plan *plan,
                                           const struct ht_stepper *stepper,
                                           double *energy);
/* What a run's states have shown so far; begins as zeros. */
struct ht_energy_watch {
    double first_energy, first_content; /* 0: none above 0 yet */
    double energy, content;             /* the lowest */
    double slope;                       /* the largest */
    double rise; /* by a scheme that dissipates: the largest above the lowest
                    before it, relative, where the energy is known well enough
                  */
    bool grows;  /* it rose by more than errors of the measures: 1 %, or 20 %
                    where a state was not resolved */
    bool rough;  /* a state so far was not resolved by the grid */
    bool began_rough;
};
/* Adds the state at a time. HT_ERR_NOT_FINITE when the energy of a conserving
 * system has doubled since it was lowest, or grown a hundredfold or 10^4-fold
 * where it is known roughly only: an instability that has not overflowed yet.
 * No communication: the numbers are the same on all ranks. */
HT_CHECKED enum ht_err ht_energy_watch(const struct ht_plan *plan, double time,
                                       const struct ht_state *state,
                                       struct ht_energy_watch *watch);
/* Why a run of this plan may grow, in words. */
const char *ht_growth_cause(const struct ht_plan *plan);
/* Relative L2 error of the nodal values of all fields stored on the primary
 * grid at a time for which the solution is known. Collective. */
HT_CHECKED enum ht_err ht_nodal_error(const struct ht_plan *plan,
                                      const double *const *nodal, double time,
                                      double *error);

#endif
