/* SEG-Y files: their places and units. */
#pragma once

#include "htwave/formats.h"
#include "htwave/params.h"

/* Where the sources of a run or shot are, if they are one point; else NULL. */
const double *ht_shots_place(const struct ht_params *params);
/* Metres or seconds of a length or time of the input, as the file has them: those in us and ns
 * stand there as ms, those in other units as metres and seconds. */
double ht_segy_unit(const struct ht_params *params, const char *quantity);
/* Which header has the coordinates of an axis: 0: X, 1: Y, 2: elevation, which is their negative
 * along the axis of depth. */
int ht_segy_slot(const struct ht_params *params, int axis);
