#pragma once

#include "htwave/problem.h"

/* The spectral radius of a half step's sums of magnitudes, of Hermite methods, in a uniform medium
 * with the largest speed along each axis; 0 where it is harmless: below N = 5. The unit roundoff
 * times this is the noise of ht_spec.
 */
double ht_series_amplification(const struct ht_problem *problem, const double speed[3]);

/* Whether the rounding of single precision grows with problem->amplification.
 */
bool ht_series_grows(const struct ht_problem *problem);
