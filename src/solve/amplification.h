#ifndef HTWAVE_SOLVE_AMPLIFICATION_H
#define HTWAVE_SOLVE_AMPLIFICATION_H

#include "htwave/problem.h"

/* The spectral radius of a half step's sums of magnitudes, of Hermite methods,
 * in a uniform medium with the largest speed along each axis; all of them 0: 0.
 * The unit roundoff times this is the noise of ht_spec. */
HT_CHECKED enum ht_err ht_series_amplification(const struct ht_problem *problem,
                                               const double speed[3],
                                               double *out);

/* Whether the rounding of single precision grows with problem->amplification.
 */
bool ht_series_grows(const struct ht_problem *problem);

#endif
