/* The serial reference, and checks of compiled kernels against it. */
#ifndef HTWAVE_ORACLE_H
#define HTWAVE_ORACLE_H

#include "htwave/stepper.h"

/* The plain serial reference: double precision, straight from the formulas,
 * shares only tables with the kernels. */
HT_CHECKED enum ht_err ht_oracle_create(const struct ht_problem *problem,
                                        struct ht_stepper *out);
/* Turns the oracle to absolute values throughout: |H|, |coef|, |M| applied to
 * |u|. Started from the same data, its result bounds the rounding error of
 * any ordering of a half step: n eps times it, with n = ht_oracle_roundings.
 */
void ht_oracle_absolute(struct ht_stepper *oracle);
double ht_oracle_roundings(const struct ht_problem *problem);

/* One half step from each grid, of random data, by compiled kernels and by the
 * oracle; *worst: the largest difference over the bound that rounding allows
 * (<= 1 when all is well, infinite when either gives NaN). Takes the memory
 * and time of the oracle: for small problems. */
HT_CHECKED enum ht_err ht_verify_kernels(const struct ht_problem *problem,
                                         struct ht_device *device,
                                         const struct ht_kernels *kernels,
                                         double *worst);
/* A smooth positive medium for problems that only test kernels, of their
 * medium_degree; context: the struct ht_problem. For medium_fill. */
HT_CHECKED enum ht_err ht_test_medium(const void *context,
                                      enum ht_subgrid subgrid, int64_t first,
                                      int64_t last, double *out);

/* The same for finite differences: the fill of ht_fd_problem. */
HT_CHECKED enum ht_err ht_test_values(const void *context, int what,
                                      int64_t first, int64_t last, double *out);

/* Runs a few cells of the compiled kernels, with this problem's walls, sizes
 * and kind of medium, against the oracle. HT_ERR_DEVICE when they differ by
 * more than rounding explains; *worst: largest difference over its bound. */
HT_CHECKED enum ht_err ht_selfcheck(const struct ht_problem *problem,
                                    struct ht_device *device,
                                    const struct ht_kernels *kernels,
                                    double *worst);

#endif
