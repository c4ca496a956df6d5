/* Interpolation from derivatives at equally spaced levels: polynomials of degree below the number
 * of data come out right at any place, data at their own level are taken as they are, and a problem
 * without solution is refused.
 */
#include <math.h>

#include "../test.h"
#include "htwave/num.h"

/* Derivative l of (x - middle)^j. */
static double slope(int j, int l, double x) {
    double value = 1;
    if (l > j) return 0;
    for (int n = 0; n < l; n++) value *= j - n;
    return value * pow(x, j - l);
}

/* Powers of the distance from the middle over half the width, of size 1; the sum of the magnitudes
 * of the products times eps bounds rounding. */
static void test_powers(int levels, int derivatives, const int *derivative) {
    struct ht_birkhoff b;
    double weight[HT_BIRKHOFF_MOST], worst = 0;
    const double middle = (levels - 1) / 2.0, half = middle;
    if (ht_birkhoff_make(levels, derivatives, derivative, &b) != HT_OK) {
        TEST_CHECK(false, "%s", ht_err_message());
        return;
    }
    for (int place = 0; 0.17 * place <= levels - 1; place++)
        for (int j = 0; j < b.count; j++) {
            const double at = 0.17 * place;
            double sum = 0, size = 1;
            ht_birkhoff_weights(&b, at, weight);
            for (int i = 0; i < b.count; i++) {
                const int l = derivative[i % derivatives];
                const int level = i / derivatives;
                const double x = (level - middle) / half;
                const double part = weight[i] * slope(j, l, x) / pow(half, l);
                sum += part;
                size += fabs(part);
            }
            const double exact = pow((at - middle) / half, j);
            worst = fmax(worst, fabs(sum - exact) / size);
        }
    TEST_BELOW(worst, 1e-15 * b.count, "%d levels, %d derivatives to %d: powers below %d", levels,
               derivatives, derivative[derivatives - 1], b.count);
    ht_birkhoff_weights(&b, 1, weight);
    double off = 0;
    for (int i = 0; i < b.count; i++) off = fmax(off, fabs(weight[i] - (i == derivatives)));
    TEST_BELOW(off, 1e-12, "on a level");
}

int main(void) {
    static const int all[] = {0, 1, 2, 3, 4, 5, 6, 7, 8}, even[] = {0, 2};
    struct ht_birkhoff b;
    for (int n = 2; n <= HT_MAX_ORDER + 1; n++) test_powers(2, n, all);
    for (int levels = 2; levels <= 6; levels += 2) test_powers(levels, 2, even);
    test_powers(12, 1, all);
    /* x (x^2 - 1) vanishes with its second derivative at -1, 0, 1, but for its multiple of the
     * latter's: an odd number of levels has no solution */
    TEST_CHECK(ht_birkhoff_make(3, 2, even, &b) != HT_OK, "refused: %s", ht_err_message());
    return test_end("birkhoff");
}
