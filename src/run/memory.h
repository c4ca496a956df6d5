/* Checks that memory suffices: parts of ht_simulation_plan and of the functions that change its
 * slabs or kernels. Collective.
 */
#ifndef HTWAVE_RUN_MEMORY_H
#define HTWAVE_RUN_MEMORY_H

#include "htwave/simulation.h"

/* Before the plan scans the grid: a lower bound. */
HT_CHECKED enum ht_err ht_memory_check_cells(const struct ht_simulation *sim);
/* Sets the budget from plan and tuning; without a device it is only reported.
 */
/* Refuses more receivers than the host's memory holds, from the input alone. */
HT_CHECKED enum ht_err ht_memory_check_receivers(const struct ht_simulation *sim);
double ht_memory_host(void); /* bytes */
HT_CHECKED enum ht_err ht_memory_check_budget(struct ht_simulation *sim);

#endif
