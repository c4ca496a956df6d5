/* Powers of a large matrix, given by its products with vectors, applied to one
 * vector: the values of some entries after many steps.
 */
#ifndef HTWAVE_KRYLOV_H
#define HTWAVE_KRYLOV_H

#include <complex.h>

#include "htwave/base.h"

#define HT_KRYLOV_WATCHED 12

/* re + i im without the products of re + I * im; some compilers lack CMPLX. */
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

/* Requests the entries watch[0..watched) of A^steps start. */
struct ht_power {
    double steps;
    double complex guess; /* near the eigenvalue of the eigenvector that `start`
                             approximates */
    bool conservative;    /* this eigenvalue lies on the unit circle; else
                             within it */
    double direct;        /* largest number of steps computed directly */
    int most;             /* products with A for more steps, at most 64 */
    int watched;
    int64_t watch[HT_KRYLOV_WATCHED];
};

/* value: contribution of this eigenvalue, or the complete sum if the products
 * determine it. rest: root mean square of the contribution of the other
 * eigenvectors. */
struct ht_power_result {
    double complex value[HT_KRYLOV_WATCHED];
    double rest[HT_KRYLOV_WATCHED];
};
HT_CHECKED enum ht_err ht_krylov_power(const struct ht_linear_map *map,
                                       const double complex *start,
                                       const struct ht_power *power,
                                       struct ht_power_result *out);

#endif
