/* Counts of the messages between slabs (docs/scaling.md). */
#ifndef HTWAVE_MESSAGES_H
#define HTWAVE_MESSAGES_H

#include "htwave/problem.h"

/* Device buffers of a link to a neighbour, each of its longest message: one for outgoing messages
 * and two slots for incoming ones. */
enum { HT_LINK_BUFFERS = 3 };

/* Numbers of a plane of a grid, each with all coefficients, of Hermite methods:
 * fields, and memory variables of absorbing layers along x1 and x2. */
double ht_message_values(const struct ht_problem *problem, enum ht_subgrid of);

/* Bytes that a slab sends to the slab below (0) and above (1) in one exchange, before half steps of
 * which the first is from grid `from`. */
struct ht_exchange {
    double bytes[2];
};
struct ht_exchange ht_exchange_count(const struct ht_problem *problem, bool fp64,
                                     enum ht_subgrid from);

/* Bytes of one value at each node of a plane of the primary grid. */
double ht_message_plane(const struct ht_problem *problem, bool fp64);

/* Sent by a slab with two neighbours, mean per time step. */
struct ht_sent {
    double messages, bytes;
};
struct ht_sent ht_sent_here(const struct ht_problem *problem, bool fp64);
/* Sent by a nodal discontinuous Galerkin method on the same cells, of the degree 2N+1 of this
 * method's polynomials, with five stages per step. */
struct ht_sent ht_sent_dg(const struct ht_problem *problem, bool fp64);
/* Largest stable step of the dG method as a fraction of the time in which the fastest wave crosses
 * a cell. */
double ht_dg_step(int order);

#endif
