/* Part of ht_plan_create for absorbing sides. */
#ifndef HTWAVE_SOLVE_PLAN_LAYERS_H
#define HTWAVE_SOLVE_PLAN_LAYERS_H

#include "htwave/plan.h"

/* Sets plan->layers and problem.layers where sides absorb, once the medium's
 * speeds are known; refuses what the scheme's layers do not have. */
HT_CHECKED enum ht_err ht_plan_make_layers(struct ht_plan *plan);

#endif
