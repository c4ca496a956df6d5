/* Hermite interpolation on a cell: the matrix H takes the scaled derivatives at both ends to the
 * Taylor coefficients about the midpoint.
 *
 * H is judged by what defines it: monomials eta^m up to degree 2N+1 come back as themselves. Data
 * and H are dyadic, so products are exact and the sum of 2N+2 of them errs by at most (2N+1) u sum
 * |H| |u|, u the unit roundoff.
 */
#include <float.h>

#include "test.h"

#include "htwave/num.h"

enum { SIZE = 2 * HT_MAX_ORDER + 2, HALF = HT_MAX_ORDER + 1 };

/* C(m, i) (side/2)^(m-i): scaled derivative i of eta^m at side/2. */
static double monomial(int m, int i, int side) {
    double value = 1;
    if (i > m) return 0;
    for (int k = 0; k < i; k++) value = value * (m - k) / (k + 1);
    return value * pow(0.5 * side, m - i);
}

static void test_monomials(int order) {
    double h[SIZE * SIZE], worst = 0, ulps = 0;
    int half = order + 1, size = 2 * half;
    ht_hermite_matrix(order, h);
    for (int m = 0; m < size; m++)
        for (int k = 0; k < size; k++) {
            double sum = 0, magnitude = 0;
            for (int j = 0; j < size; j++) {
                int i = j % half, side = j < half ? -1 : 1;
                double product = h[k * size + j] * monomial(m, i, side);
                sum += product;
                magnitude += fabs(product);
            }
            double error = fabs(sum - (k == m));
            worst = fmax(worst, error);
            if (error > 0) ulps = fmax(ulps, 2 * error / DBL_EPSILON / magnitude);
        }
    TEST_BELOW(ulps, size - 1.0,
               "N=%d: monomials to degree %d, in u sum|H||u| (largest error "
               "%.2g)",
               order, size - 1, worst);
}

/* One degree more is not reproduced: the error is the leading term of the remainder, eta^(2N+2) -
 * p = (eta^2 - 1/4)^(N+1), whose constant coefficient is (-1/4)^(N+1). */
static void test_next_degree(int order) {
    double h[SIZE * SIZE], sum = 0;
    int half = order + 1, size = 2 * half;
    double expected = -pow(-0.25, order + 1);
    ht_hermite_matrix(order, h);
    for (int j = 0; j < size; j++) sum += h[j] * monomial(size, j % half, j < half ? -1 : 1);
    TEST_BELOW(fabs(sum / expected - 1), 1e-10,
               "N=%d: value at the midpoint for degree %d, %.6g, differs from "
               "%.6g relatively by",
               order, size, sum, expected);
}

static void test_entries(int order) {
    static const double largest[] = {0, 2, 6, 21, 90, 385};
    double h[SIZE * SIZE], most = 0;
    int size = 2 * order + 2, not_dyadic = 0, not_single = 0;
    double unit = 2 * pow(4, order);
    ht_hermite_matrix(order, h);
    for (int n = 0; n < size * size; n++) {
        most = fmax(most, fabs(h[n]));
        not_dyadic += h[n] * unit != floor(h[n] * unit);
        not_single += (double)(float)h[n] != h[n];
    }
    TEST_CHECK(not_dyadic == 0 && not_single == 0,
               "N=%d: %d entries are no multiples of 1/(2 4^N), %d no float32", order, not_dyadic,
               not_single);
    if (order <= 5)
        TEST_BELOW(fabs(most - largest[order]), 0.5, "N=%d: largest entry %.6g differs from %g by",
                   order, most, largest[order]);
}

/* A unit datum at one end has s_i = +-1/2 and d_i = +-1/2, so each entry of the blocks stands for
 * two of H: exact to the last bit. */
static void test_parity(int order) {
    double h[SIZE * SIZE], even[HALF * HALF], odd[HALF * HALF];
    int half = order + 1, size = 2 * half, wrong = 0;
    ht_hermite_matrix(order, h);
    ht_hermite_parity(order, even, odd);
    for (int m = 0; m < half; m++)
        for (int j = 0; j < size; j++) {
            int i = j % half, right = j >= half;
            double sign = i % 2 ? -1 : 1;
            double s = right ? 0.5 : 0.5 * sign, d = right ? 0.5 : -0.5 * sign;
            wrong += even[m * half + i] * s != h[2 * m * size + j];
            wrong += odd[m * half + i] * d != h[(2 * m + 1) * size + j];
        }
    TEST_CHECK(wrong == 0, "N=%d: %d of %d entries of H differ from the blocks", order, wrong,
               size * size);
}

int main(void) {
    for (int order = 1; order <= HT_MAX_ORDER; order++) {
        test_monomials(order);
        test_next_degree(order);
        test_entries(order);
        test_parity(order);
    }
    return test_end("hermite");
}
