/* A plane wave advanced by the scheme itself: see bloch.c. */
#pragma once

#include "htwave/problem.h"

/* The error of a wave of so many cells of size h[0] along an axis, or along the diagonal of as many
 * axes, after some steps, relative: by a problem's scheme, step and stages in cubes of its
 * problem->uniform. */
HT_ERR ht_bloch_error(const struct ht_problem *problem, int axes, double cells, double steps,
                      double *error);
