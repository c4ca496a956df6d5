/* Powers of a large matrix that is known by its products with vectors, applied
 * to one vector: what some entries are after many steps.
 */
#ifndef HTWAVE_KRYLOV_H
#define HTWAVE_KRYLOV_H

#include <complex.h>

#include "htwave/base.h"

#define HT_KRYLOV_WATCHED 12

/* re + i im without the products of re + I * im; CMPLX is not everywhere. */
static inline double complex ht_complex(double re, double im) {
    const union {
        double part[2];
        double complex z;
    } both = {{re, im}};
    return both.z;
}

struct ht_linear_map {
    int64_t size;
    void *self;
    /* y = A x; y does not overlap x. */
    void (*apply)(void *self, const double complex *x, double complex *y);
};

/* What is asked: the entries watch[0..watched) of A^steps start. */
struct ht_power {
    double steps;
    double complex guess; /* near the eigenvalue of which start consists
                             almost */
    bool conservative;    /* that eigenvalue lies on the unit circle; else
                             within it */
    double direct;        /* steps up to which they are simply taken */
    int most;             /* products with A beyond that, at most 64 */
    int watched;
    int64_t watch[HT_KRYLOV_WATCHED];
};

/* value: from that eigenvalue alone, or complete where the products show all.
 * rest: root mean square of what the other eigenvectors add. */
struct ht_power_result {
    double complex value[HT_KRYLOV_WATCHED];
    double rest[HT_KRYLOV_WATCHED];
};
HT_CHECKED enum ht_err ht_krylov_power(const struct ht_linear_map *map,
                                       const double complex *start,
                                       const struct ht_power *power,
                                       struct ht_power_result *out);

#endif
