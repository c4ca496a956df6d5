/* Stored and new tuning of a simulation: parts of ht_simulation_plan and ht_simulation_tune.
 */
#ifndef HTWAVE_TUNING_H
#define HTWAVE_TUNING_H

#include "htwave/simulation.h"
#include "htwave/tuner.h"

/* The choices that the input leaves open. */
struct ht_tune_choice ht_tuning_choice(const struct ht_simulation *sim);
/* Replaces the tuning by a stored result, where there is one. */
void ht_tuning_recall(struct ht_simulation *sim);
/* Whether to search before the run; measures the device's limits if needed.
 */
bool ht_tuning_wanted(struct ht_simulation *sim);
/* Copies rank 0's tuning to all ranks. Collective. */
HT_CHECKED enum ht_err ht_tuning_share(struct ht_simulation *sim);
/* Searches for a few seconds and stores the result. */
void ht_tuning_search(struct ht_simulation *sim);

/* The directory that device.cache means; NULL: none. Free it. */
HT_CHECKED enum ht_err ht_cache_directory(const char *given, char **out);

#endif
