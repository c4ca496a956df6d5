/* Part of ht_plan_create for receivers. */
#ifndef HTWAVE_PLAN_WARN_RECEIVERS_H
#define HTWAVE_PLAN_WARN_RECEIVERS_H

#include "htwave/plan.h"

/* Once sources and receivers are known. */
void ht_plan_warn_receivers(const struct ht_plan *plan);

#endif
