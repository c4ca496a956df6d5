/* The initial data of a run, as coefficients of both grids. */
#ifndef HTWAVE_START_H
#define HTWAVE_START_H

#include "htwave/plan.h"
#include "htwave/stepper.h"

/* Sets the stepper's own planes to the solution at time 0, and for a two-level scheme the dual grid
 * to the solution at -dt/2. If the solution is known only at time 0, the scheme's starter computes
 * the dual grid by a backward half step from all fields on the primary grid, some x3 planes at a
 * time, on the device (NULL: by the oracle) with kernels of the tuning and the cache's directory.
 * No communication: data of other slabs are computed here. */
HT_CHECKED enum ht_err ht_start(const struct ht_plan *plan, struct ht_device *device,
                                const struct ht_tuning *tuning, const char *cache,
                                const struct ht_stepper *stepper);
/* Device bytes that ht_start needs in addition to the stepper. */
int64_t ht_start_bytes(const struct ht_plan *plan, const struct ht_tuning *tuning,
                       const struct ht_device_info *info);

#endif
