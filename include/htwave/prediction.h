/* What slabs send, and how long a step takes on a machine that is not here:
 * counting only (docs/scaling.md).
 */
#ifndef HTWAVE_PREDICTION_H
#define HTWAVE_PREDICTION_H

#include "htwave/machine.h"
#include "htwave/method.h"

/* ---- messages.c ---- */
/* Planes of mesh `of` that a slab gets from its neighbour on a side (0: below)
 * when it takes `depth` half steps by itself, the first one from mesh `from`.
 * A scheme of two levels adds to its target, and needs it up to date. */
int ht_halo_planes(int depth, enum ht_mesh from, enum ht_mesh of,
                   bool two_level, int side);

/* Bytes that a slab sends to the one below (0) and above (1) in one exchange,
 * before half steps of which the first is from that mesh. */
struct ht_exchange {
    double bytes[2];
};
struct ht_exchange ht_exchange_count(const struct ht_problem *problem,
                                     bool fp64, enum ht_mesh from);

/* By one slab that has two neighbours, the mean per time step. */
struct ht_sent {
    double messages, bytes;
};
struct ht_sent ht_sent_here(const struct ht_problem *problem, bool fp64);
/* By a nodal discontinuous Galerkin method on the same cells, of the degree
 * 2N+1 of this method's polynomials, with five stages per step. */
struct ht_sent ht_sent_dg(const struct ht_problem *problem, bool fp64);
/* Its largest stable step as a fraction of the time in which the fastest wave
 * crosses a cell. */
double ht_dg_step(int order);

/* ---- prediction.c ---- */
/* The work of slabs of a problem. */
struct ht_load {
    double cells;   /* of an x3 plane */
    int64_t planes; /* of cells: of all slabs; weak: of each */
    bool weak;
    int depth;
    bool two_level;             /* of the scheme */
    struct ht_exchange sent[2]; /* [mesh of the first half step] */
    double plane_bytes;         /* device memory per plane, state and medium */
    double halo_bytes;          /* beside the own planes, with neighbours */
};
/* spec: what a half step from the primary grid computes. */
void ht_load_make(const struct ht_problem *problem, const struct ht_spec *spec,
                  bool weak, struct ht_load *out);

/* Cell half-steps per second of a device that reaches the machine's fraction of
 * its limits, or the machine's own number. spec: the half steps from the
 * primary and from the dual grid, which take turns. */
double ht_rate_expected(const struct ht_machine *machine,
                        const struct ht_spec spec[2]);

/* Of the slowest rank; seconds per time step. */
struct ht_prediction {
    int ranks;
    int64_t planes; /* of the largest slab; 0: there are more ranks than slabs
                       of the halo's depth, and nothing else is set */
    double memory;  /* bytes of device memory */
    double interior, boundary, pack;
    double transfer; /* of which this is seen: */
    double exposed;
    double step;       /* interior + boundary + pack + exposed */
    double efficiency; /* against one rank */
    const char *limit; /* what takes longest */
};
void ht_predict(const struct ht_load *load, const struct ht_machine *machine,
                double rate, int ranks, struct ht_prediction *out);

#endif
