/* Errors of values against exact ones, taken up one by one. */
#pragma once

#include "test.h"

struct errors {
    double square, whole; /* sums of squares of errors and of exact values */
    double most, largest; /* magnitudes of both */
};

static inline void errors_add(struct errors *e, double value, double exact) {
    const double off = fabs(value - exact);
    e->square += off * off;
    e->whole += exact * exact;
    e->most = test_worse(off, e->most);
    e->largest = test_worse(fabs(exact), e->largest);
}

static inline struct errors errors_of(int64_t count, const double *values, const double *exact) {
    struct errors e = {0};
    for (int64_t n = 0; n < count; n++) errors_add(&e, values[n], exact[n]);
    return e;
}

static inline double dot(int64_t count, const double *x, const double *y) {
    double sum = 0;
    for (int64_t i = 0; i < count; i++) sum += x[i] * y[i];
    return sum;
}

/* Relative, in L2 and by the largest. */
static inline double errors_l2(struct errors e) {
    return sqrt(e.square / e.whole);
}

static inline double errors_most(struct errors e) {
    return e.most / e.largest;
}
