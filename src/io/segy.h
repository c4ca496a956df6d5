/* SEG-Y files: their places and units. */
#pragma once

#include "htwave/formats.h"
#include "htwave/params.h"

/* Where the sources of a run or shot are, if they are one point; else NULL. */
const double *ht_shots_place(const struct ht_params *params);
/* Metres or seconds of a length or time of the input; what is in other units is taken as it is. */
double ht_segy_unit(const struct ht_params *params, const char *quantity);
