/* Finite-difference weights: exact on polynomials up to their order, orders of their symbols, known
 * values; dispersion and stability of the scheme.
 */
#include "htwave/num.h"

#include "test.h"

static void test_known(void) {
    const double known[] = {-205.0 / 72, 8.0 / 5, -1.0 / 5, 8.0 / 315, -1.0 / 560}; /* order 8 */
    const double first[] = {75.0 / 64, -25.0 / 384, 3.0 / 640};                     /* order 6 */
    const struct ht_fd_weights eight = ht_fd_weights(8), six = ht_fd_weights(6);
    double worst = 0;
    for (int k = 0; k <= 4; k++) worst = fmax(worst, fabs(eight.second[k] - known[k]));
    for (int j = 0; j < 3; j++) worst = fmax(worst, fabs(six.first[j] - first[j]));
    TEST_BELOW(worst, 1e-15, "known weights of orders 8 and 6");
}

/* On x^n about the point: n = 2 gives 2, other n <= 2R + 1 give 0; on (x - 1/2)^n about 1/2: n = 1
 * gives 1, other n <= 2R give 0. Sums relative to those of magnitudes. */
static void test_exact(int order) {
    const struct ht_fd_weights w = ht_fd_weights(order);
    double worst = 0;
    for (int n = 0; n <= order + 1; n++) {
        long double sum = n == 0 ? (long double)w.second[0] : 0;
        long double size = n == 0 ? -sum : 0;
        for (int k = 1; k <= w.radius; k++) {
            long double x = powl(k, n) * (long double)w.second[k];
            sum += n % 2 ? 0 : 2 * x;
            size += 2 * fabsl(x);
        }
        worst = fmax(worst, (double)(fabsl(sum - (n == 2 ? 2 : 0)) / size));
    }
    for (int n = 0; n <= order; n++) {
        long double sum = 0, size = 0;
        for (int j = 0; j < w.radius; j++) {
            long double x = powl(j + 0.5L, n) * (long double)w.first[j];
            sum += n % 2 ? 2 * x : 0;
            size += 2 * fabsl(x);
        }
        worst = fmax(worst, (double)(fabsl(sum - (n == 1)) / size));
    }
    TEST_BELOW(worst, 1e-15, "order %d: weights on polynomials, off by", order);
}

static double observed(double coarse, double fine, double ratio) {
    return log(coarse / fine) / log(ratio);
}

/* Relative errors of the symbols at theta and at 4/5 of it. */
static void test_symbols(int order) {
    const struct ht_fd_weights w = ht_fd_weights(order);
    const double theta[2] = {0.6, 0.48};
    double second[2], first[2];
    for (int i = 0; i < 2; i++) {
        second[i] = ht_fd_second_symbol(&w, theta[i]);
        second[i] = fabs(second[i] / (theta[i] * theta[i]) - 1);
        first[i] = fabs(ht_fd_first_symbol(&w, theta[i]) / theta[i] - 1);
    }
    double two = observed(second[0], second[1], 1.25);
    double one = observed(first[0], first[1], 1.25);
    TEST_BELOW(fabs(two / order - 1), 0.03, "order %d: of the second derivative %.3f, off by",
               order, two);
    TEST_BELOW(fabs(one / order - 1), 0.03, "order %d: of the first derivative %.3f, off by", order,
               one);
}

/* With nu small the order in space shows; halving h at a fixed nu divides the error by 2^2 in time,
 * or by 2^4 with two terms. */
static void test_orders(void) {
    const double k[3] = {1, 1, 1};
    for (int order = 8; order <= 16; order += 8) {
        const struct ht_fd_weights w = ht_fd_weights(order);
        double a = ht_fd_error(&w, 2, k, 5, 1e-2, 1);
        double b = ht_fd_error(&w, 2, k, 6, 1e-2, 1);
        double found = observed(a, b, 6.0 / 5);
        TEST_BELOW(fabs(found / order - 1), 0.12, "order %d in space, observed %.2f: off by", order,
                   found);
    }
    const struct ht_fd_weights w = ht_fd_weights(16);
    for (int terms = 1; terms <= 2; terms++) {
        double a = ht_fd_error(&w, terms, k, 20, 0.4, 1);
        double b = ht_fd_error(&w, terms, k, 40, 0.4, 1);
        double found = observed(a, b, 2);
        TEST_BELOW(fabs(found / (2 * terms) - 1), 0.05, "order %d in time, observed %.2f: off by",
                   2 * terms, found);
    }
}

/* Far below the grid's own errors the phase must not be lost: of short steps, 1e-4 of h/c, the
 * error is that of the semi-discrete waves,
 *     omega/(c k) = sqrt(K)/k,  K = sum_j sum_m 4 w_m sin^2(m k_j h/2),
 * up to nu^2 (k h)^2/24 of the phase, 3e-13 at 25 points, and rounding. */
static void test_small_errors(void) {
    const double wavelengths = 100, points = 25, nu = 1e-4;
    const double pi = acos(-1.0), theta = 2 * pi / points;
    for (int order = 8; order <= 16; order += 8) {
        const struct ht_fd_weights w = ht_fd_weights(order);
        const double k[3] = {1, 0, 0};
        long double sum = 0;
        for (int m = 1; m <= order / 2; m++) {
            long double s = sinl(m * (long double)theta / 2);
            sum += 4 * (long double)w.second[m] * s * s;
        }
        double shift = (double)(sqrtl(sum) / (long double)theta - 1);
        double known = 2 * pi * wavelengths * fabs(shift);
        double found = ht_fd_error(&w, 1, k, points, nu, wavelengths);
        double time = 2 * pi * wavelengths * nu * nu * theta * theta / 24;
        TEST_BELOW(fabs(found - known), 1.1 * time + 1e-12,
                   "order %d, 25 points: error %.6e, semi-discrete %.6e: off "
                   "by",
                   order, found, known);
    }
}

/* The shortest wave of the grid is carried just below the limit only. */
static void test_stability(void) {
    const double k[3] = {1, 1, 1};
    const struct ht_fd_weights w = ht_fd_weights(16);
    for (int terms = 1; terms <= 2; terms++) {
        double nu = ht_fd_stable(&w, false, terms, 3), points = 2 / sqrt(3);
        TEST_CHECK(isfinite(ht_fd_error(&w, terms, k, points, 0.999 * nu, 1)) &&
                       !isfinite(ht_fd_error(&w, terms, k, points, 1.001 * nu, 1)),
                   "%d terms in time: stable up to nu = %.4f", terms, nu);
    }
}

int main(void) {
    test_known();
    for (int order = 2; order <= 2 * HT_FD_RADIUS; order += 2) {
        test_exact(order);
        test_symbols(order);
    }
    test_orders();
    test_small_errors();
    test_stability();
    return test_end("unit/fd");
}
