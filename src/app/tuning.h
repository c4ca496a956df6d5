/* Stored and new tuning of a simulation: parts of ht_simulation_plan and
 * ht_simulation_tune.
 */
#ifndef HTWAVE_APP_TUNING_H
#define HTWAVE_APP_TUNING_H

#include "htwave/tuner.h"
#include "simulation.h"

/* What the input leaves open. */
struct ht_tune_choice ht_tuning_choice(const struct ht_simulation *sim);
/* Puts a stored result in place of the guess, where there is one. */
void ht_tuning_recall(struct ht_simulation *sim);
/* Whether to search before the run; measures the device's limits if need be.
 */
bool ht_tuning_wanted(struct ht_simulation *sim);
/* Gives rank 0's tuning to all ranks. Collective. */
HT_CHECKED enum ht_err ht_tuning_share(struct ht_simulation *sim);
/* Searches for a few seconds and stores what it finds. */
void ht_tuning_search(struct ht_simulation *sim);

/* The directory that device.cache means; NULL: none. Free it. */
HT_CHECKED enum ht_err ht_cache_directory(const char *given, char **out);

#endif
