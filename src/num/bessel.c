#include <math.h>

#include "htwave/num.h"

/* Downwards from an order where J is negligible (Miller; Abramowitz and Stegun,
 * 9.12), in any scale: J_0 + 2 (J_2 + J_4 + ..) = 1. */
void ht_bessel_orders(double z, int64_t count, double *out) {
    const double large = 1e200;
    const int64_t top = (int64_t)ceil(z + 12 * cbrt(z)) + 30;
    double above = 0, now = 1e-200, sum = 0;
    for (int64_t k = 0; k < count; k++) out[k] = k == 0;
    if (!(z > 0)) return;
    for (int64_t k = top; k >= 0; k--) {
        const double below = 2 * (double)k / z * now - above;
        if (k < count) out[k] = now;
        if (k % 2 == 0) sum += k > 0 ? 2 * now : now;
        above = now;
        now = below;
        if (fabs(now) < large) continue;
        for (int64_t i = k; i < count; i++) out[i] /= large;
        sum /= large;
        above /= large;
        now /= large;
    }
    for (int64_t k = 0; k < count; k++) out[k] /= sum;
}
