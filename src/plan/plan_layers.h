/* Part of ht_plan_create for absorbing sides. */
#ifndef HTWAVE_PLAN_PLAN_LAYERS_H
#define HTWAVE_PLAN_PLAN_LAYERS_H

#include "htwave/plan.h"

/* Sets plan->layers and problem.layers where sides absorb, once the medium's
 * speeds are known; refuses what the scheme's layers do not have. */
HT_CHECKED enum ht_err ht_plan_make_layers(struct ht_plan *plan);
/* Refuses keys of perfectly matched layers. */
HT_CHECKED enum ht_err ht_plan_check_sponge(const struct ht_params *params);
/* The same as ht_plan_make_layers for Hermite methods, a part of it. */
HT_CHECKED enum ht_err ht_plan_make_hermite_layers(struct ht_plan *plan);
/* The rest for Hermite methods, once the step is known: stages in the layers,
 * and their damping within the limit of the step. */
void ht_plan_limit_layers(struct ht_plan *plan);
/* Warns where layers send back more than 3 % of a source's waves. */
void ht_plan_warn_layers(const struct ht_plan *plan);
/* Continues the problem's medium into the perfectly matched layers of Hermite
 * methods, constant along their normals. */
void ht_plan_continue_medium(struct ht_plan *plan);

#endif
