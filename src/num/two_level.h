/* What stability.c and two_level.c share. */
#ifndef HTWAVE_NUM_TWO_LEVEL_H
#define HTWAVE_NUM_TWO_LEVEL_H

#include "htwave/num.h"

/* ht_expected_error of the kinds with two coupled sets of unknowns. */
double ht_two_level_error(enum ht_symbol kind, int order, double theta,
                          double cfl, double steps);

#endif
