/* Parts of ht_plan_create. */
#pragma once

#include "src/solve/methods.h"

/* ---- plan_scheme.c ---- */
/* Sets problem.scheme, what follows from it, order and chosen_by, from params, eq and
 * medium->uniform. No communication: the same on all ranks. */
HT_ERR ht_plan_choose_scheme(struct ht_plan *plan);

/* ---- plan_layers.c: absorbing sides ---- */
/* The rest for Hermite methods, once the step is known: stages in the layers, and their damping
 * within the limit of the step. */
void ht_plan_limit_layers(struct ht_plan *plan);
/* Warns where layers send back more than 3 % of a source's waves. */
void ht_plan_warn_layers(const struct ht_plan *plan);
/* Continues the problem's medium into the perfectly matched layers of Hermite methods, constant
 * along their normals. */
void ht_plan_continue_medium(struct ht_plan *plan);

/* ---- expect.c ---- */
/* Sets cells_per_wavelength and expected of a plan that is otherwise complete. */
HT_ERR ht_expect(struct ht_plan *plan);

/* ---- scheme.c: a new scheme needs its word in HT_EACH_SCHEME (htwave/params.h), a row and a line
 * here ---- */
extern const struct ht_scheme ht_scheme_taylor, ht_scheme_leapfrog, ht_scheme_fd;
