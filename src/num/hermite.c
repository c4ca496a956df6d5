/* One-dimensional Hermite interpolation on a cell.
 *
 * With z = eta + 1/2 in [0, 1], the cardinal polynomial of derivative j at the right node is
 *     p_j(z) = z^(N+1) sum_{i=0}^{N-j} (-1)^i C(N+i, i) (z-1)^(i+j),
 * because z^-(N+1) = sum_i (-1)^i C(N+i, i) (z-1)^i. Its coefficients in eta are column N+1+j of H;
 * reflection gives the left node:
 *     H[k][j] = (-1)^(k+j) H[k][N+1+j].
 * All entries are dyadic with denominator 2*4^N, so every sum below is exact in double for N <= 8.
 * Source: Goodrich, Hagstrom, Lorenz, Math. Comp. 75 (2006), section 2, for the interpolant. */
#include "htwave/num.h"

enum { COEFS = 2 * HT_MAX_ORDER + 2 };

/* p(eta) *= (eta + shift), degree rising by one. */
static void multiply_linear(double *p, int *degree, double shift) {
    p[*degree + 1] = p[*degree];
    for (int k = *degree; k >= 1; k--) p[k] = p[k - 1] + shift * p[k];
    p[0] *= shift;
    ++*degree;
}

void ht_hermite_matrix(int order, double *matrix) {
    int half = order + 1, size = 2 * half;
    for (int j = 0; j < half; j++) {
        double column[COEFS];
        double binomial = 1; /* C(N+i, i) */
        memset(column, 0, COEFS * sizeof *column);
        for (int i = 0; i <= order - j; i++) {
            double p[COEFS] = {1};
            int degree = 0;
            for (int n = 0; n <= order; n++) multiply_linear(p, &degree, 0.5);
            for (int n = 0; n < i + j; n++) multiply_linear(p, &degree, -0.5);
            for (int k = 0; k <= degree; k++) column[k] += (i % 2 ? -1 : 1) * binomial * p[k];
            binomial = binomial * (order + i + 1) / (i + 1);
        }
        for (int k = 0; k < size; k++) {
            matrix[k * size + half + j] = column[k];
            matrix[k * size + j] = (k + j) % 2 ? -column[k] : column[k];
        }
    }
}

void ht_hermite_along(const double *matrix, const int t[3], int axis, double *x) {
    const int size = t[axis], stride = axis == 0 ? 1 : axis == 1 ? t[0] : t[0] * t[1];
    for (int n = 0; n < t[0] * t[1] * t[2] / size; n++) {
        double *at = x + (int64_t)(n / stride) * size * stride + n % stride, line[COEFS];
        for (int row = 0; row < size; row++) {
            line[row] = 0;
            for (int col = 0; col < size; col++)
                line[row] += matrix[row * size + col] * at[(int64_t)col * stride];
        }
        for (int row = 0; row < size; row++) at[(int64_t)row * stride] = line[row];
    }
}

void ht_hermite_parity(int order, double *even, double *odd) {
    int half = order + 1, size = 2 * half;
    double matrix[COEFS * COEFS];
    ht_hermite_matrix(order, matrix);
    for (int m = 0; m < half; m++)
        for (int j = 0; j < half; j++) {
            even[m * half + j] = 2 * matrix[2 * m * size + half + j];
            odd[m * half + j] = 2 * matrix[(2 * m + 1) * size + half + j];
        }
}
