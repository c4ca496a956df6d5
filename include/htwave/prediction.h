/* Predicted time of a step on a machine, from counts only (docs/scaling.md).
 */
#ifndef HTWAVE_PREDICTION_H
#define HTWAVE_PREDICTION_H

#include "htwave/fd_schedule.h"
#include "htwave/machine.h"

/* The work of slabs of a problem. */
struct ht_load {
    double cells;   /* of an x3 plane */
    int64_t planes; /* of cells: of all slabs together; weak: of each slab */
    bool weak;
    int depth;
    int64_t thinnest;           /* planes that a slab must have */
    bool two_level;             /* of the scheme */
    struct ht_exchange sent[2]; /* [subgrid of the first half step] */
    struct ht_fd_slab fd;       /* of finite differences; else terms is 0 */
    double array_bytes;         /* of a plane of one of their arrays, sent */
    double plane_bytes;         /* device memory per plane, state and medium */
    double halo_bytes;          /* further device memory with neighbours */
};
/* spec: of the half step from the primary grid. */
void ht_load_make(const struct ht_problem *problem, const struct ht_spec *spec, bool weak,
                  struct ht_load *out);

/* Cell half-steps per second: the machine's rate if given, else that of a device which reaches the
 * machine's fraction of its limits. spec: the half steps from the primary and from the dual grid.
 */
double ht_rate_expected(const struct ht_machine *machine, const struct ht_spec spec[2]);

/* Of the slowest rank; seconds per time step. */
struct ht_prediction {
    int ranks;
    int64_t planes; /* of the largest slab; 0: slabs would be thinner than the
                       halo needs, and no other member is set */
    double memory;  /* bytes of device memory */
    double interior, boundary, pack;
    double transfer; /* of which this is exposed: */
    double exposed;
    double step;       /* interior + boundary + pack + exposed */
    double efficiency; /* relative to one rank */
    const char *limit; /* the part that takes longest */
};
void ht_predict(const struct ht_load *load, const struct ht_machine *machine, double rate,
                int ranks, struct ht_prediction *out);

#endif
