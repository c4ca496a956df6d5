/* Results of several ranks: gathered from all, printed by rank 0. For a single rank nothing is
 * printed.
 */
#ifndef HTWAVE_PARALLEL_H
#define HTWAVE_PARALLEL_H

#include "htwave/json.h"
#include "htwave/simulation.h"

/* Seconds over the ranks. */
struct ht_spread {
    double mean, worst;
};
enum { HT_TRANSPORT_NAMES = 64 };
struct ht_parallel {
    struct ht_spread step; /* of all steps, by the hosts' clocks */
    struct ht_spread kernel, interior, boundary, pack;
    struct ht_spread ghosts;  /* of interior */
    struct ht_spread exposed; /* of step: none of these kernels */
    double exchanges;         /* per step */
    double messages, bytes;   /* per step, sent by all ranks */
    double limit;             /* of all devices, or NaN */
    double joules;            /* likewise */
    char transport[HT_TRANSPORT_NAMES];
};

/* The transports of all pairs of ranks, each once, the fastest first: "peer + staged"; "" without
 * neighbours. Collective. */
HT_CHECKED enum ht_err ht_parallel_transport(struct ht_comm *comm, const struct ht_traffic *own,
                                             char out[HT_TRANSPORT_NAMES]);
/* Collective; after the last step. */
HT_CHECKED enum ht_err ht_parallel_gather(const struct ht_simulation *sim, struct ht_parallel *out);
/* Ranks, devices, slabs and their halos. */
void ht_parallel_add_ranks(const struct ht_simulation *sim, struct ht_text *text);
/* What the exchange took. */
void ht_parallel_add_times(const struct ht_simulation *sim, const struct ht_parallel *parallel,
                           struct ht_text *text);
/* A member "parallel"; parallel NULL: before the run. */
void ht_parallel_add_json(const struct ht_simulation *sim, const struct ht_parallel *parallel,
                          struct ht_json *json);

#endif
