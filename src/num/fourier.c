/* Fast Fourier transform by decimation in time; see the header. */

#include <complex.h>
#include <math.h>

#include "htwave/num.h"

void ht_fourier(int bits, double complex *x) {
    const int64_t n = (int64_t)1 << bits;
    for (int64_t i = 1, j = 0; i < n; i++) {
        int64_t bit = n / 2;
        for (; j & bit; bit /= 2) j ^= bit;
        j ^= bit;
        if (i >= j) continue;
        const double complex before = x[i];
        x[i] = x[j];
        x[j] = before;
    }
    for (int64_t width = 1; width < n; width *= 2)
        for (int64_t i = 0; i < width; i++) {
            const double angle = -HT_PI * (double)i / (double)width;
            const double complex turn = ht_complex(cos(angle), sin(angle));
            for (int64_t at = i; at < n; at += 2 * width) {
                const double complex odd = turn * x[at + width];
                x[at + width] = x[at] - odd;
                x[at] += odd;
            }
        }
}
