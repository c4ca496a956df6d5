/* Gaussians with a flat spectrum against sums over the line: moments, spectrum, derivatives; Gauss
 * points against powers.
 */
#include "test.h"

#include "htwave/num.h"

/* Trapezoidal sums of smooth functions that vanish at the ends are exact. */
enum { POINTS = 4001 };
static const double end = 20;

static double place(int i) {
    return -end + 2 * end * i / (POINTS - 1);
}

static void test_moments(int order) {
    long double g[2], worst = 0, scale = 1;
    for (int power = 0; power < 2 * order; power += 2) {
        long double sum = 0;
        for (int i = 0; i < POINTS; i++) {
            ht_flat_derivatives(order, place(i), 1, g);
            sum += g[0] * powl(place(i), power) * 2 * end / (POINTS - 1);
        }
        /* moments of the normal density: 1, 1, 3, 15, .. */
        const long double left = fabsl(sum - (power == 0)) / scale;
        worst = left > worst ? left : worst;
        scale *= power + 1;
    }
    TEST_BELOW((double)worst, 1e-12, "Q = %d: moments below 2Q", order);
}

static void test_spectrum(int order) {
    double worst = 0;
    for (int n = 0; n <= 40; n++) {
        const double k = 0.2 * n;
        long double sum = 0, g[1];
        for (int i = 0; i < POINTS; i++) {
            ht_flat_derivatives(order, place(i), 1, g);
            sum += g[0] * cosl(k * place(i)) * 2 * end / (POINTS - 1);
        }
        worst = fmax(worst, fabs(1 - (double)sum - ht_flat_missing(order, k)));
    }
    TEST_BELOW(worst, 1e-12, "Q = %d: spectrum", order);
    /* small values are not a difference of large ones */
    const double z = 0.5 * 0.1 * 0.1;
    TEST_BELOW(fabs(ht_flat_missing(order, 0.1) * tgamma(order + 1.0) / pow(z, order) - 1), 1e-2,
               "Q = %d: of long waves", order);
}

static void test_derivatives(int order) {
    enum { COUNT = 24 };
    const long double apart = 1e-4L;
    long double at[COUNT], low[COUNT], high[COUNT], mirror[COUNT];
    double error[COUNT] = {0}, size[COUNT] = {0}, worst = 0;
    bool odd = true;
    for (int i = 0; i < 50; i++) {
        const long double x = 0.13L * i;
        ht_flat_derivatives(order, x, COUNT, at);
        ht_flat_derivatives(order, -x, COUNT, mirror);
        ht_flat_derivatives(order, x - apart, COUNT, low);
        ht_flat_derivatives(order, x + apart, COUNT, high);
        for (int n = 0; n < COUNT; n++) {
            odd = odd && mirror[n] == (n % 2 ? -at[n] : at[n]);
            size[n] = fmax(size[n], fabs((double)at[n]));
            if (n > 0)
                error[n] = fmax(error[n],
                                fabs((double)((high[n - 1] - low[n - 1]) / (2 * apart) - at[n])));
        }
    }
    /* a sixth of apart^2 and the second derivative of a wave of k = 12 */
    for (int n = 1; n < COUNT; n++) worst = fmax(worst, error[n] / size[n]);
    TEST_BELOW(worst, 1e-6, "Q = %d: derivatives by differences", order);
    TEST_CHECK(odd, "Q = %d: derivatives at -x have exact signs", order);
}

/* int of x^p over [-1/2, 1/2], exact up to degree 2n - 1; and of P_m P_n. */
static void test_gauss(void) {
    enum { COUNT = 20, DEGREES = 12 };
    double x[COUNT], weight[COUNT], worst = 0, p[DEGREES];
    double product[DEGREES][DEGREES] = {{0}};
    ht_gauss_points(COUNT, x, weight);
    for (int power = 0; power < 2 * COUNT; power++) {
        double sum = 0;
        for (int i = 0; i < COUNT; i++) sum += weight[i] * pow(2 * x[i], power);
        worst = fmax(worst, fabs(sum - (power % 2 ? 0 : 1.0 / (power + 1))));
    }
    TEST_BELOW(worst, 1e-14, "Gauss points: powers");
    worst = 0;
    for (int i = 0; i < COUNT; i++) {
        ht_legendre(DEGREES, 2 * x[i], p);
        for (int m = 0; m < DEGREES; m++)
            for (int n = 0; n < DEGREES; n++) product[m][n] += weight[i] * p[m] * p[n];
    }
    for (int m = 0; m < DEGREES; m++)
        for (int n = 0; n < DEGREES; n++)
            worst = fmax(worst, fabs(product[m][n] - (m == n ? 1.0 / (2 * n + 1) : 0)));
    TEST_BELOW(worst, 1e-14, "Legendre's polynomials are orthogonal");
}

int main(void) {
    static const int orders[] = {1, 4, 8, 16, 24};
    for (int i = 0; i < 5; i++) {
        test_moments(orders[i]);
        test_spectrum(orders[i]);
        test_derivatives(orders[i]);
    }
    test_gauss();
    return test_end("flat");
}
