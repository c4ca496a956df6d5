/* The windows by which a medium is averaged, from their definitions (bench/NOTES.md). */
#pragma once

#include "htwave/medium.h"

static inline double bessel(double x) {
    double sum = 1, term = 1;
    for (int k = 1; k < 60; k++) {
        term *= x / 2 / k;
        sum += term * term;
    }
    return sum;
}

static inline double kaiser(double r) {
    const double pi = acos(-1), shape = 5.125221525907206;
    if (fabs(r) >= 4) return 0;
    double sinc = r == 0 ? 1 : sin(pi * r) / (pi * r);
    return sinc * bessel(shape * sqrt(1 - r * r / 16));
}

/* The window of the definition; of the normal that of the sinc is a raised cosine. */
static inline double window(enum ht_fit_kind kind, bool normal, double r) {
    double s0 = 0, s1 = 0, s2 = 0;
    if (kind == HT_FIT_BOX) return fabs(r) < 0.5;
    if (normal) return fabs(r) < 4 ? (1 + cos(acos(-1.0) * r / 4)) / 8 : 0;
    for (int m = -9; m <= 9; m++) {
        s0 += kaiser(r - m);
        s1 += kaiser(r - m) * (r - m);
        s2 += kaiser(r - m) * (r - m) * (r - m);
    }
    return kaiser(r) * (s2 - s1 * r) / (s0 * s2 - s1 * s1);
}
