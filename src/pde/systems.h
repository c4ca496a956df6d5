/* The systems: each is a file src/pde/NAME.c with ht_system_NAME and a name here. Options, help,
 * kernels and tests are made from the file. */
#pragma once

#include "htwave/system.h"

#define HT_EACH_SYSTEM(X) X(advection) X(acoustic) X(wave) X(maxwell) X(maxwell_tm) X(elastic)

#define HT_DECLARE_SYSTEM(name) extern const struct ht_system ht_system_##name;
HT_EACH_SYSTEM(HT_DECLARE_SYSTEM)

#define HT_POSITIVE(symbol, text, unit) \
    { .names = (symbol), .meanings = (text), .units = (unit), .fallback = 1.0, .positive = true }

/* ---- attenuation, src/pde/systems.c ---- */
/* A modulus whose part Y relaxes at the rate w, M(omega) = M (1 - Y/(1 + i omega/w)), such that it
 * has the quality Q at omega = x w and absorption grows there as omega^y
 * (docs/developers/differences.md). The loss's strength is Y/(1 - Y) = (1 + x^2)/(x (Q - x)). */
struct ht_attenuation {
    double stiffer;  /* M over rho c^2 */
    double strength; /* beyond the rule: 3 */
    double rate;     /* of a power beyond its rule: -1 */
};
/* q 0: nothing is lost. power: y. */
struct ht_attenuation ht_attenuation_of(double q, double power, double frequency);
/* Q of an absorption at a frequency, where the phase speed is c; 0 of 0. */
double ht_absorption_quality(double absorption, double c, double frequency);
/* NULL: the rate is one. */
#define HT_RATE_RULE(rate)                                     \
    ((rate) < 0       ? "absorption_power must be less than 2" \
     : isfinite(rate) ? NULL                                   \
                      : "q_frequency must be less than 1e307")
#define HT_QUALITY_RULE                                                                     \
    "must be at least (3 - y)/sqrt(y (2 - y)), y = absorption_power (2 with y = 1), or 0: " \
    "nothing is lost"
#define HT_QUALITY(symbol, text, unit)                                                          \
    {                                                                                           \
        .names = (symbol), .meanings = (text), .units = (unit), .positive = true, .zero = true, \
        .loss = true, .inverse = true                                                           \
    }
#define HT_QUALITY_FREQUENCY                                                           \
    {                                                                                  \
        .names = "q_frequency",                                                        \
        .meanings = "frequency of speeds and, within half an octave, quality factors", \
        .units = "1/time", .fallback = 1.0, .positive = true, .loss = true             \
    }
#define HT_ABSORPTION_POWER                                                                \
    {                                                                                      \
        .names = "absorption_power",                                                       \
        .meanings = "exponent of the frequency with which absorption grows", .units = "1", \
        .fallback = 1.0, .positive = true, .loss = true                                    \
    }

/* By n_r n_q a + (delta_rq - n_r n_q) b, r and q axes (ht_average.coefficient_back). */
static inline void ht_entry_back(const double n[3], int r, int q, double a, double b, double by,
                                 double *by_a, double *by_b, double by_n[3]) {
    const double across = by * (a - b);
    *by_a += by * n[r] * n[q];
    *by_b += by * ((r == q) - n[r] * n[q]);
    by_n[r] += across * n[q];
    by_n[q] += across * n[r];
}
