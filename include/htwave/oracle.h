/* The serial reference, and checks of compiled kernels against it. */
#ifndef HTWAVE_ORACLE_H
#define HTWAVE_ORACLE_H

#include "htwave/stepper.h"

/* The serial reference: double precision, directly from the formulas; it shares only tables with
 * the kernels. */
HT_CHECKED enum ht_err ht_oracle_create(const struct ht_problem *problem, struct ht_stepper *out);
/* Switches the oracle to absolute mode: |H|, |coef|, |M| applied to |u|. For the same data its
 * result times n eps with n = ht_oracle_roundings bounds the rounding error of a half step in any
 * order of summation. */
void ht_oracle_absolute(struct ht_stepper *oracle);
double ht_oracle_roundings(const struct ht_problem *problem);

/* Compares compiled kernels with the oracle for one half step of random data from each grid.
 * *worst: largest difference over the bound for rounding (<= 1 if correct, infinite if either gives
 * NaN). Needs the memory and time of the oracle, so it is for small problems. */
HT_CHECKED enum ht_err ht_verify_kernels(const struct ht_problem *problem, struct ht_device *device,
                                         const struct ht_kernels *kernels, double *worst);
/* A medium_fill for problems that only test kernels: a smooth positive medium of their
 * medium_degree. context: the struct ht_problem. */
HT_CHECKED enum ht_err ht_test_medium(const void *context, enum ht_subgrid subgrid, int64_t first,
                                      int64_t last, double *out);

/* Compares the compiled kernels with the oracle on a few cells with this problem's walls, sizes and
 * kind of medium. HT_ERR_DEVICE if they differ by more than rounding explains; *worst: largest
 * difference over its bound. */
HT_CHECKED enum ht_err ht_selfcheck(const struct ht_problem *problem, struct ht_device *device,
                                    const struct ht_kernels *kernels, double *worst);

#endif
