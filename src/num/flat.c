/* Gaussians with a flat spectrum; see num.h. */
#include "htwave/num.h"

#include <math.h>

/* g(x) = phi(x) sum_j (-1)^j/(2^j j!) He_2j(x) with the normal density phi and Hermite's
 * polynomials He, whose n-th derivative takes He_(2j+n) and the sign (-1)^n. He_n(-x) = (-1)^n
 * He_n(x) to the last bit. */
void ht_flat_derivatives(int order, long double x, int count, long double *out) {
    const long double area = sqrtl(2 * acosl(-1.0L));
    const long double density = expl(-x * x / 2) / area;
    long double he[HT_FLAT_DERIVATIVES + 2 * HT_FLAT_ORDER] = {1, x};
    long double factor[HT_FLAT_ORDER] = {1};
    for (int j = 1; j < order; j++) factor[j] = factor[j - 1] / (-2.0L * j);
    for (int n = 2; n < count + 2 * order; n++) he[n] = x * he[n - 1] - (n - 1) * he[n - 2];
    for (int n = 0; n < count; n++) {
        long double sum = 0;
        for (int j = 0; j < order; j++) sum += factor[j] * he[2 * j + n];
        out[n] = (n % 2 ? -density : density) * sum;
    }
}

/* exp(-z) times the terms z^j/j! of the exponential from j = Q on. */
double ht_flat_missing(int order, double wavenumber) {
    const double z = wavenumber * wavenumber / 2;
    double term = exp(-z), below = 0, sum = 0;
    for (int j = 0; j < order; j++) {
        below += term;
        term *= z / (j + 1);
    }
    if (z > order) return 1 - below;
    for (int j = order; term > 1e-17 * sum; j++) {
        sum += term;
        term *= z / (j + 1);
    }
    return sum;
}
