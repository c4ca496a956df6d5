/* The systems that src/pde/systems.c lists; one file each. */
#ifndef HTWAVE_PDE_SYSTEMS_H
#define HTWAVE_PDE_SYSTEMS_H

#include "htwave/system.h"

extern const struct ht_system ht_system_advection;
extern const struct ht_system ht_system_acoustic;
extern const struct ht_system ht_system_wave;

#endif
