/* Observed traces, with which those of a run are compared (docs/gradients.md). */
#pragma once

#include "htwave/plan.h"

/* Both [group][reading][receiver][sample], as the receivers record them; weights of
 * gradient.weights. */
struct ht_observed {
    double **data;
    double **weight; /* NULL: none were given */
    struct ht_pool pool;
};
/* Of shot number `shot`, from 1, from the file `path`, which `key` names: of HDF5 as traces.h5, or
 * SEG-Y, which has these traces in their order (htwave/sampler.h), or those of several shots, told
 * apart by their numbers. Refuses what is not of these receivers and samples, has values that are
 * not finite, or is 0; weights likewise. By one rank; end *out also after a failure. */
HT_ERR ht_observed_read(const struct ht_plan *plan, int shot, const struct ht_receivers *receivers,
                        const char *key, const char *path, struct ht_observed *out);
/* HT_ENDED(ht_observed_end) struct ht_observed observed = {0} */
static inline void ht_observed_end(struct ht_observed *observed) {
    ht_pool_free(&observed->pool);
}
