/* The plan of a run: everything that follows from the parameters alone. */
#ifndef HTWAVE_PLAN_H
#define HTWAVE_PLAN_H

#include "htwave/fit.h"
#include "htwave/problem.h"
#include "htwave/solution.h"

/* Of the relative L2 error at the end (src/solve/expect.c): the likely value,
 * and what it lies between. All 0: not known. Where the medium varies: in a
 * uniform one of its slowest speed; jumps: it may jump, and what the jumps do
 * is not in it; limited: what its polynomials leave out is of lower order than
 * the scheme's error, and not in it. */
struct ht_expected {
    double error, low, high;
    bool varies, jumps, limited;
};
struct ht_plan {
    const struct ht_params *params;
    struct ht_equations eq;
    struct ht_grid grid;
    struct ht_medium *medium;
    struct ht_solution *solution;
    struct ht_fit *fit; /* of finite differences; NULL: the medium is uniform */
    double fd_rate;     /* their cfl per time */
    struct ht_problem problem;
    int64_t steps;
    double cfl;                  /* of the step taken */
    double cfl_limit;            /* largest stable one for the stages */
    struct ht_expected expected; /* error at the end */
    double cells_per_wavelength; /* 0: not known */
    /* These outputs are at the steps nearest to their times, not on them. */
    bool snapshots_off, pictures_off;
};
/* Checks all that can be checked without a device. params and comm (NULL:
 * alone) must outlive the plan. Collective, and ends in agreement: where one
 * rank fails, all do, with one message. The slabs are equal. */
HT_CHECKED enum ht_err ht_plan_create(const struct ht_params *params,
                                      struct ht_comm *comm,
                                      struct ht_plan **out);
/* For counting, not for stepping: alone, the medium as by ht_medium_sample.
 * cfl, dt and steps are then as good as its speeds are. */
HT_CHECKED enum ht_err ht_plan_sketch(const struct ht_params *params,
                                      struct ht_plan **out);
/* Cuts the slabs in proportion to weights[rank], positive and the same on all
 * ranks; before any stepper is made. Refuses halos deeper than a slab, on all
 * ranks. No communication. */
HT_CHECKED enum ht_err ht_plan_cut(struct ht_plan *plan, const double *weights);
void ht_plan_destroy(struct ht_plan *plan);

#endif
