/* Discrete Fourier transform.
 */
#ifndef HTWAVE_FOURIER_H
#define HTWAVE_FOURIER_H

#include <complex.h>

#include "htwave/base.h"

/* x_q becomes the sum over l of x_l exp(-2 pi i q l / n), n = 2^bits. */
void ht_fourier(int bits, double complex *x);

#endif
