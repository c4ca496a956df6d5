/* The finite-difference baseline: known weights, orders of its dispersion, its
 * stability, and its kernel against the formulas.
 */
#include "htwave/finite_differences.h"

#include "device_scene.h"

static void test_weights(void) {
    const double known[] = {-205.0 / 72, 8.0 / 5, -1.0 / 5, 8.0 / 315,
                            -1.0 / 560}; /* order 8 */
    struct ht_fd fd = ht_fd_make(8, 2);
    double worst = 0;
    for (int k = 0; k <= 4; k++)
        worst = fmax(worst, fabs(fd.weight[k] - known[k]));
    TEST_BELOW(worst, 1e-15, "weights of order 8");
}

/* Halving h at a fixed nu divides the error by 2^2 in time; with nu small the
 * order in space shows. */
static void test_orders(void) {
    const double k[3] = {1, 1, 1};
    for (int order = 8; order <= 16; order += 8) {
        struct ht_fd fd = ht_fd_make(order, 4);
        double a = ht_fd_error(&fd, k, 5, 1e-2, 1);
        double b = ht_fd_error(&fd, k, 6, 1e-2, 1);
        double observed = log(a / b) / log(6.0 / 5);
        TEST_BELOW(fabs(observed / order - 1), 0.12,
                   "order %d in space, observed %.2f: off by", order, observed);
    }
    for (int order = 2; order <= 4; order += 2) {
        struct ht_fd fd = ht_fd_make(16, order);
        double a = ht_fd_error(&fd, k, 20, 0.4, 1);
        double b = ht_fd_error(&fd, k, 40, 0.4, 1);
        double observed = log2(a / b);
        TEST_BELOW(fabs(observed / order - 1), 0.05,
                   "order %d in time, observed %.2f: off by", order, observed);
    }
}

/* Far below the grid's own errors the phase must not be lost: of short steps,
 * 1e-4 of h/c, the error is that of the semi-discrete waves,
 *     omega/(c k) = sqrt(K)/k,  K = sum_j sum_m 4 w_m sin^2(m k_j h/2),
 * up to nu^2 (k h)^2/24 of the phase, 3e-13 at 25 points, and rounding. */
static void test_small_errors(void) {
    const double wavelengths = 100, points = 25, nu = 1e-4;
    const double pi = acos(-1.0), theta = 2 * pi / points;
    for (int order = 8; order <= 16; order += 8) {
        const struct ht_fd fd = ht_fd_make(order, 2);
        const double k[3] = {1, 0, 0};
        long double sum = 0;
        for (int m = 1; m <= order / 2; m++) {
            long double s = sinl(m * (long double)theta / 2);
            sum += 4 * (long double)fd.weight[m] * s * s;
        }
        double shift = (double)(sqrtl(sum) / (long double)theta - 1);
        double known = 2 * pi * wavelengths * fabs(shift);
        double found = ht_fd_error(&fd, k, points, nu, wavelengths);
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
    for (int time = 2; time <= 4; time += 2) {
        struct ht_fd fd = ht_fd_make(16, time);
        double nu = ht_fd_stable(&fd, 3), points = 2 / sqrt(3);
        TEST_CHECK(isfinite(ht_fd_error(&fd, k, points, 0.999 * nu, 1)) &&
                       !isfinite(ht_fd_error(&fd, k, points, 1.001 * nu, 1)),
                   "order %d in time: stable up to nu = %.4f", time, nu);
    }
}

static void test_kernel(void) {
    struct ht_device *device = open_device();
    if (device == NULL) return;
    for (int order = 8; order <= 16; order += 8)
        for (int time = 2; time <= 4; time += 2) {
            struct ht_fd fd = ht_fd_make(order, time);
            double rate = 0, worst = INFINITY;
            enum ht_err err =
                ht_fd_measure(device, &fd, 40, NULL, &rate, &worst);
            TEST_CHECK(err == HT_OK && rate > 0, "%d, %d: %.3g points/s %s",
                       order, time, rate, err ? ht_err_message() : "");
            TEST_BELOW(worst, 1.0,
                       "order %d, %d in time: difference over its bound", order,
                       time);
        }
    ht_device_close(device);
}

int main(void) {
    test_weights();
    test_orders();
    test_small_errors();
    test_stability();
    test_kernel();
    return test_end("unit/finite_differences");
}
