/* The systems: each is a file src/pde/NAME.c with ht_system_NAME and a name here. Options, help,
 * kernels and tests are made from the file. */
#pragma once

#include "htwave/system.h"

#define HT_EACH_SYSTEM(X) X(advection) X(acoustic) X(wave) X(maxwell) X(maxwell_tm) X(elastic)

#define HT_DECLARE_SYSTEM(name) extern const struct ht_system ht_system_##name;
HT_EACH_SYSTEM(HT_DECLARE_SYSTEM)

/* ---- terms.c ---- */
