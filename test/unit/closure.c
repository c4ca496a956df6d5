/* Differences that end at free sides: exact on polynomials, those of stresses on such that are 0 on
 * the side; minus adjoint to each other with the weights of nodes and half points; the same from
 * either side. */
#include "htwave/num.h"

#include "test.h"

enum { CELLS = 14 }; /* of an axis that is free at both ends; the last half point lies beyond */

/* The difference of kind `up` as a matrix. */
static void fill(int order, bool stresses, int up, double D[CELLS + 1][CELLS + 1]) {
    const struct ht_fd_weights w = ht_fd_weights(order);
    const struct ht_fd_closure closure = ht_fd_closure(order, stresses);
    memset(D, 0, (CELLS + 1) * sizeof *D);
    for (int m = 0; m <= CELLS; m++) {
        int offset[HT_FD_CLOSED_ROW];
        double weight[HT_FD_CLOSED_ROW];
        const int count = ht_fd_closed_row(&closure, &w, up, m, CELLS - m, offset, weight);
        for (int j = 0; j < count; j++) D[m][m + offset[j]] += weight[j];
        for (int j = 0; count < 0 && j < w.radius; j++) {
            D[m][m + up + j] += w.first[j];
            D[m][m + up - 1 - j] -= w.first[j];
        }
    }
}

static double weight_at(const struct ht_fd_closure *closure, int half, int m) {
    const int from = m < CELLS - half - m ? m : CELLS - half - m;
    return from < closure->nodes - half ? closure->weight[half][from] : 1;
}

/* On x^n, on rows from `first` on of the lower side. */
static double error_of(double D[CELLS + 1][CELLS + 1], int up, int n, int first) {
    double worst = 0;
    for (int m = first; m <= CELLS / 2; m++) {
        double sum = 0, size = 0;
        for (int j = 0; j <= CELLS - 1 + up; j++) {
            const double x = pow((j + 0.5 * (1 - up)) / CELLS, n);
            sum += D[m][j] * x * CELLS;
            size += fabs(D[m][j]) * x * CELLS;
        }
        const double exact = n == 0 ? 0 : n * pow((m + 0.5 * up) / CELLS, n - 1);
        worst = fmax(worst, fabs(sum - exact) / (size + 1));
    }
    return worst;
}

static void test_order(int order) {
    /* degrees of [stresses][up] */
    const int degrees[2][2] = {{order == 2 ? 1 : 2, 2}, {order == 8 ? 3 : 2, order == 8 ? 3 : 2}};
    const struct ht_fd_closure closure = ht_fd_closure(order, false);
    double D[2][2][CELLS + 1][CELLS + 1], worst = 0;
    for (int i = 0; i < 4; i++) fill(order, i / 2, i % 2, D[i / 2][i % 2]);
    /* By the normal stress on the side, which is 0. */
    for (int m = 0; m <= CELLS; m++) D[0][1][m][0] = D[0][1][m][CELLS] = 0;
    for (int i = 0; i < 4; i++)
        for (int n = i < 2 ? 1 : 0; n <= degrees[i / 2][i % 2]; n++)
            TEST_BELOW(error_of(D[i / 2][i % 2], i % 2, n, i == 2), 2e-13,
                       "order %d, differences of %s %s of x^%d", order,
                       i < 2 ? "stresses" : "velocities", i % 2 ? "up" : "down", n);
    for (int up = 0; up < 2; up++)
        for (int m = 0; m <= CELLS - up; m++)
            for (int j = 0; j <= CELLS - 1 + up; j++)
                worst = fmax(worst, fabs(weight_at(&closure, up, m) * D[1][up][m][j] +
                                         weight_at(&closure, 1 - up, j) * D[0][1 - up][j][m]));
    TEST_BELOW(worst, 1e-15, "order %d, sum of differences and their adjoints", order);
    worst = 0;
    for (int up = 0; up < 2; up++)
        for (int m = 0; m <= CELLS - up; m++)
            for (int j = 0; j <= CELLS - 1 + up; j++)
                worst = fmax(worst,
                             fabs(D[1][up][m][j] + D[1][up][CELLS - up - m][CELLS - 1 + up - j]));
    TEST_BELOW(worst, 1e-300, "order %d from either side", order);
}

int main(void) {
    for (int order = 2; order <= 8; order += 2) test_order(order);
    TEST_CHECK(ht_fd_closure(10, false).nodes == 0, "none at order 10");
    return test_end("closure");
}
