/* Velocities at receivers of finite differences, which hold pressure alone:
 *     v_k(t) = v_k(0) - 1/rho integral of dp/dx_k from 0 to t.
 * Such a trace reads the slope and is start + factor times its integral.
 */
#ifndef HTWAVE_INTEGRALS_H
#define HTWAVE_INTEGRALS_H

#include "htwave/plan.h"

/* Of all receivers of a reading that is an integral: initial values by the windowed sinc of
 * htwave/point.h, and -1/rho there. */
HT_CHECKED enum ht_err ht_integrals_find(const struct ht_plan *plan,
                                         const struct ht_receiver_group *group,
                                         const struct ht_reading *reading, double *start,
                                         double *factor);

#endif
