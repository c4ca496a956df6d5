/* Observed traces, with which those of a run are compared (docs/gradients.md). */
#pragma once

#include "htwave/plan.h"

/* Both [group][reading][receiver][sample], as the receivers record them. */
struct ht_observed {
    double **data;
    double **weight; /* NULL: none were given */
    struct ht_pool pool;
};
/* Of shot number `shot`, from 1; path: NULL or the shot's own file, which `key` names. Else it is
 * gradient.data: a file of all shots, or a directory with shot-N.h5, shot-N.sgy or
 * shot-N/traces.h5. receivers: those of the shot. Refuses what is not of these receivers and
 * samples. By one rank. */
HT_CHECKED enum ht_err ht_observed_read(const struct ht_plan *plan, int shot,
                                        const struct ht_receivers *receivers, const char *key,
                                        const char *path, struct ht_observed **out);
void ht_observed_destroy(struct ht_observed *observed); /* NULL allowed */
