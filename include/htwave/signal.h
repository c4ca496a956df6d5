/* Signals of sources: functions s(t) of time, in their own time and with largest value 1 (bursts
 * nearly, files as given), with their derivative and their integrals from the beginning on.
 */
#ifndef HTWAVE_SIGNAL_H
#define HTWAVE_SIGNAL_H

#include "htwave/params.h"

struct ht_signal;
/* Of a Gaussian family, a = pi frequency t; of a burst the sine, and its number of periods; of a
 * file its name. */
struct ht_signal_given {
    enum ht_signal_kind kind;
    double frequency, cycles;
    const char *file;
};
/* Refuses files with wrong columns, values that are not finite, times that do not increase, and
 * gaps: an interval above ten times the median one. */
HT_CHECKED enum ht_err ht_signal_create(const struct ht_signal_given *given,
                                        struct ht_signal **out);
void ht_signal_destroy(struct ht_signal *signal); /* NULL allowed */

/* order 1: ds/dt; 0: s; -1, -2: its first and second integral from the beginning on. Files: 0
 * outside; the spline is cubic, natural at its ends. */
double ht_signal_at(const struct ht_signal *signal, double t, int order);

struct ht_signal_traits {
    double begin, end; /* beyond, |s| is below 1e-8 of the largest value */
    double largest;    /* |s| */
    double highest;    /* frequency beyond which 1e-4 of the energy lies */
    double constant;   /* integral of s over that of |s| */
};
struct ht_signal_traits ht_signal_traits(const struct ht_signal *signal);
/* Parts of the energy in bands of equal width from 0 to twice `highest`. */
enum { HT_SIGNAL_BANDS = 64 };
const double *ht_signal_bands(const struct ht_signal *signal);

#endif
