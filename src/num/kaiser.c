/* The sinc under Kaiser's window. */
#include <math.h>

#include "htwave/num.h"

static const double pi = 3.14159265358979323846;

/* I_0(sqrt(y)), a power series in y/4, and its derivative by y. */
static double bessel(double y, double *slope) {
    double sum = 1, term = 1, rise = 0.25;
    *slope = rise;
    for (int k = 1; term > 1e-18 * sum; k++) {
        term *= y / (4.0 * k * k);
        rise *= y / (4.0 * k * (k + 1));
        sum += term;
        *slope += rise;
    }
    return sum;
}

double ht_kaiser_sinc(double r, double half, double shape) {
    const double t = r / half;
    double slope;
    if (fabs(t) >= 1) return 0;
    return (r != 0 ? sin(pi * r) / (pi * r) : 1) *
           bessel(shape * shape * (1 - t * t), &slope);
}

double ht_kaiser_sinc_slope(double r, double half, double shape) {
    const double t = r / half;
    double slope;
    if (fabs(t) >= 1 || r == 0) return 0;
    const double sinc = sin(pi * r) / (pi * r);
    const double window = bessel(shape * shape * (1 - t * t), &slope);
    return (cos(pi * r) - sinc) / r * window -
           sinc * slope * 2 * shape * shape * t / half;
}
