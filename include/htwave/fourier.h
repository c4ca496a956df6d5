/* Complex numbers; discrete Fourier transform.
 */
#ifndef HTWAVE_FOURIER_H
#define HTWAVE_FOURIER_H

#include <complex.h>

#include "htwave/base.h"

/* re + i im without the products of re + I * im; some compilers lack CMPLX. */
static inline double complex ht_complex(double re, double im) {
    const union {
        double part[2];
        double complex z;
    } both = {{re, im}};
    return both.z;
}

/* x_q becomes the sum over l of x_l exp(-2 pi i q l / n), n = 2^bits. */
void ht_fourier(int bits, double complex *x);

#endif
