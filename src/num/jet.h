/* Elementary functions of jets, for expr.c. Every set of ht_jets_total or ht_jets_tensor is
 * allowed; out must not overlap the arguments. A function that is singular at the value gives
 * entries that are not finite.
 */
#pragma once

#include <math.h>

#include "htwave/num.h"

/* Squares are frequent, and many times faster so. */
static inline double ht_power(double base, double exponent) {
    return exponent == 2 ? base * base : pow(base, exponent);
}
void ht_jet_divide(const struct ht_jets *jets, const double *a, const double *b, double *out);
void ht_jet_exp(const struct ht_jets *jets, const double *g, double *out);
/* curvature -1: sine and cosine; +1: hyperbolic sine and cosine. */
void ht_jet_sincos(const struct ht_jets *jets, const double *g, int curvature, double *sine,
                   double *cosine);
/* g^exponent; any base for integers, else a positive one. scratch: 2 jets. */
void ht_jet_power(const struct ht_jets *jets, const double *g, double exponent, double *scratch,
                  double *out);
/* scratch: 2 jets for each of the rest. */
void ht_jet_log(const struct ht_jets *jets, const double *g, double *scratch, double *out);
void ht_jet_tan(const struct ht_jets *jets, const double *g, double *scratch, double *out);
void ht_jet_tanh(const struct ht_jets *jets, const double *g, double *scratch, double *out);
void ht_jet_atan(const struct ht_jets *jets, const double *g, double *scratch, double *out);
void ht_jet_erf(const struct ht_jets *jets, const double *g, double *scratch, double *out);
