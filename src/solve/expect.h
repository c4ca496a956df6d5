/* What a plan may say of the error at the end: see expect.c. */
#ifndef HTWAVE_SOLVE_EXPECT_H
#define HTWAVE_SOLVE_EXPECT_H

#include "htwave/plan.h"

/* Sets cells_per_wavelength and expected of a plan that is complete else. */
HT_CHECKED enum ht_err ht_expect(struct ht_plan *plan);

/* rounding.c: adds what rounding does over so many wavelengths. */
void ht_expect_rounding(const struct ht_plan *plan, double wavelengths,
                        struct ht_expected *expected);

#endif
