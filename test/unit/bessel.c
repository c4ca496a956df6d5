/* Bessel functions of all orders at a place against Bessel's integral,
 *     J_n(z) = (1/pi) integral of cos(n a - z sin a), 0 < a < pi,
 * by the trapezoidal rule, which is exact up to rounding of the argument with
 * more points than n + z; small and large places, orders beyond them. Errors
 * are absolute: all are at most 1.
 */
#include <math.h>
#include <stdlib.h>

#include "../test.h"
#include "htwave/num.h"

static double integral(int64_t n, double z) {
    const int64_t points = n + (int64_t)z + 50;
    const double pi = acos(-1.0);
    double sum = (1 + cos((double)n * pi)) / 2;
    for (int64_t i = 1; i < points; i++) {
        const double a = pi * (double)i / (double)points;
        sum += cos((double)n * a - z * sin(a));
    }
    return sum / (double)points;
}

static void test_orders(double z, int64_t count) {
    double *out = NULL, worst = 0;
    if (HT_ALLOC(out, count) != HT_OK) abort();
    ht_bessel_orders(z, count, out);
    for (int64_t n = 0; n < count; n += 1 + count / 50)
        worst = fmax(worst, fabs(out[n] - integral(n, z)));
    TEST_BELOW(worst, 1e-15 * (10 + z), "J_n(%g), n below %d", z, (int)count);
    free(out);
}

int main(void) {
    const double z[] = {0, 1e-12, 1e-3, 0.5, 2.4048, 10, 57.3, 1000, 20000.5};
    for (int i = 0; i < (int)(sizeof z / sizeof *z); i++) {
        test_orders(z[i], 2);
        test_orders(z[i], (int64_t)z[i] + 200);
    }
    return test_end("bessel");
}
