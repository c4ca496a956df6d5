/* The mean that leapfrog keeps: stepper_means.c. */
#ifndef HTWAVE_HERMITE_KEPT_MEAN_H
#define HTWAVE_HERMITE_KEPT_MEAN_H

#include "htwave/means.h"
#include "htwave/problem.h"

/* Whether a stepper corrects the mean: in single precision, where rounding
 * alone changes it. Its half steps must be the same on both grids. */
bool ht_problem_keeps_mean(const struct ht_problem *problem, bool fp64);

#endif
