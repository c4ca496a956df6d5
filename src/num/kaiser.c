/* The sinc under Kaiser's window. */
#include <math.h>

#include "htwave/num.h"

/* I_0(sqrt(y)), a power series in y/4. */
static double bessel(double y) {
    double sum = 1, term = 1;
    for (int k = 1; term > 1e-18 * sum; k++) {
        term *= y / (4.0 * k * k);
        sum += term;
    }
    return sum;
}

double ht_kaiser_sinc(double r, double half, double shape) {
    const double t = r / half;
    if (fabs(t) >= 1) return 0;
    return (r != 0 ? sin(HT_PI * r) / (HT_PI * r) : 1) * bessel(shape * shape * (1 - t * t));
}
