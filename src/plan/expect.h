/* The error at the end that a plan expects: see expect.c. */
#ifndef HTWAVE_PLAN_EXPECT_H
#define HTWAVE_PLAN_EXPECT_H

#include "htwave/plan.h"

/* Sets cells_per_wavelength and expected of a plan that is otherwise
 * complete. */
HT_CHECKED enum ht_err ht_expect(struct ht_plan *plan);

/* Adds the error of rounding over this number of wavelengths. */
void ht_expect_rounding(const struct ht_plan *plan, double wavelengths,
                        struct ht_expected *expected);

#endif
