/* What the receivers of a run read from its state: of each trace and step the value, and what else
 * ht_resampling_of says. Traces are numbered group by group, reading by reading, receiver by
 * receiver (htwave/receivers.h). The state is only read: a run with receivers has the bits of one
 * without. Values do not depend on the number of ranks:
 * each x3 plane around a receiver gives one sum, of its owner, and planes are added in their order.
 *
 * Finite differences take a sample after each step by themselves, into a ring on the device;
 * Hermite methods when they are collected, from the polynomials of the receivers' cells.
 */
#ifndef HTWAVE_SAMPLER_H
#define HTWAVE_SAMPLER_H

#include "htwave/plan.h"
#include "htwave/stepper.h"

struct ht_sampler;
/* For a plan with receivers whose stepper holds the state of step 0, from which the first sample
 * is. Destroy it before the stepper. cache: of compiled programs; NULL: none. Collective. */
HT_CHECKED enum ht_err ht_sampler_create(const struct ht_plan *plan,
                                         const struct ht_stepper *stepper, const char *cache,
                                         struct ht_sampler **out);
void ht_sampler_destroy(struct ht_sampler *sampler); /* NULL allowed */
/* Most samples that it holds: collect them at least so often. */
int64_t ht_sampler_period(const struct ht_sampler *sampler);
/* values[step][level][trace][derivative] of all samples since the last call; NULL: this rank does
 * not need them. *steps: their number. Collective. */
HT_CHECKED enum ht_err ht_sampler_collect(struct ht_sampler *sampler, int64_t *steps,
                                          double *values);
/* Device seconds of its kernels, without reads. */
double ht_sampler_seconds(const struct ht_sampler *sampler);
/* Bytes that it takes on the device, at most. */
int64_t ht_sampler_bytes(const struct ht_plan *plan, bool fp64);

#endif
