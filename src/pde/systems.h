/* The systems: each is a file src/pde/NAME.c with ht_system_NAME and a name here. Options, help,
 * kernels and tests are made from the file. */
#pragma once

#include "htwave/system.h"

#define HT_EACH_SYSTEM(X) X(advection) X(acoustic) X(wave) X(maxwell) X(maxwell_tm) X(elastic)

#define HT_DECLARE_SYSTEM(name) extern const struct ht_system ht_system_##name;
HT_EACH_SYSTEM(HT_DECLARE_SYSTEM)

/* ---- attenuation, src/pde/systems.c ---- */
/* A modulus whose part Y relaxes at the rate w = 2 pi f, M(omega) = M (1 - Y/(1 + i omega/w)), has
 * at omega = w the quality Q = Re M/Im M for Y = 2/(Q + 1) (see for instance Moczo, Kristek, Galis,
 * The Finite-Difference Modelling of Earthquake Motions, chapter 4). Where rho c^2 is given by the
 * phase speed c there,
 *     M = rho c^2 (1 + 1/Q) (1 + sqrt(1 + 1/Q^2)) / (2 (1 + 1/Q^2)).
 * q 0: nothing is lost. The strength of the loss is Y/(1 - Y) = 2/(Q - 1). */
double ht_quality_part(double q);
/* M over rho c^2. */
double ht_quality_stiffer(double q);
/* modulus[i] of jets that belong to q. */
void ht_quality_stiffen(const struct ht_jets *jets, const double *q, double *modulus);
#define HT_QUALITY_RULE "must be at least 2, or 0: nothing is lost"
#define HT_QUALITY(symbol, text)                                                             \
    {                                                                                        \
        .names = (symbol), .meanings = (text), .units = "1", .positive = true, .zero = true, \
        .loss = true                                                                         \
    }
#define HT_QUALITY_FREQUENCY                                                                      \
    {                                                                                             \
        .names = "q_frequency",                                                                   \
        .meanings = "frequency at which quality factors and speeds are taken", .units = "1/time", \
        .fallback = 1.0, .positive = true, .loss = true                                           \
    }

/* ---- terms.c ---- */
