/* Part of ht_plan_create: which scheme steps the run. */
#ifndef HTWAVE_PLAN_PLAN_SCHEME_H
#define HTWAVE_PLAN_PLAN_SCHEME_H

#include "htwave/plan.h"

/* Sets problem.scheme, what follows from it, order and chosen_by, from
 * params, eq and medium->uniform. No communication: the same on all ranks. */
HT_CHECKED enum ht_err ht_plan_choose_scheme(struct ht_plan *plan);

#endif
