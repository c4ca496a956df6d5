/* Parts of samples.c for the medium: the value alone of a polynomial, and weights of samples in an
 * interval, for means of more than one quantity.
 */
#ifndef HTWAVE_MODEL_SAMPLES_PRIVATE_H
#define HTWAVE_MODEL_SAMPLES_PRIVATE_H

#include "htwave/medium.h"

/* Entry 0 of ht_samples_jet over ht_jets_total(dims, degree). */
double ht_samples_value(const struct ht_samples *samples, int dims, int degree, const double x[3],
                        const double h[3]);

/* The samples first..last whose intervals meet [low, high] on an axis. */
struct ht_samples_span {
    double low, high;
    int64_t first, last;
};
void ht_samples_span(const struct ht_samples *samples, int axis, double low, double high,
                     struct ht_samples_span *span);
/* The part of the span that belongs to sample i; they sum to 1. */
double ht_samples_share(const struct ht_samples *samples, int axis,
                        const struct ht_samples_span *span, int64_t i);

#endif
