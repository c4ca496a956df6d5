/* Legendre's polynomials and the quadrature by their zeros. */
#include "htwave/num.h"

#include <math.h>

void ht_legendre(int count, double x, double *out) {
    for (int n = 0; n < count; n++)
        out[n] = n == 0   ? 1
                 : n == 1 ? x
                          : ((2 * n - 1) * x * out[n - 1] - (n - 1) * out[n - 2]) / n;
}

/* Newton's method (Abramowitz and Stegun, 25.4.29). */
void ht_gauss_points(int count, double *x, double *weight) {
    const int n = count;
    for (int i = 0; i < n; i++) {
        double z = cos(acos(-1.0) * (i + 0.75) / (n + 0.5)), slope = 1;
        for (int sweep = 0; sweep < 20; sweep++) {
            double before = 1, p = z;
            for (int k = 2; k <= n; k++) {
                double next = ((2 * k - 1) * z * p - (k - 1) * before) / k;
                before = p;
                p = next;
            }
            slope = n * (z * p - before) / (z * z - 1);
            z -= p / slope;
        }
        x[i] = z / 2;
        weight[i] = 1 / ((1 - z * z) * slope * slope);
    }
}
