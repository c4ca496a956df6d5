/* Interpolation from values, and from derivatives, at equally spaced levels. */
#include "htwave/num.h"

/* Barycentric form (Berrut and Trefethen, SIAM Review 46, 2004, eq. 4.2). */
void ht_lagrange_weights(int count, double at, double *weight) {
    double sum = 0, binomial = 1;
    for (int j = 0; j < count; j++) weight[j] = 0;
    for (int j = 0; j < count; j++) {
        if (at == j) {
            for (int i = 0; i < count; i++) weight[i] = i == j;
            return;
        }
        weight[j] = (j % 2 ? -binomial : binomial) / (at - j);
        sum += weight[j];
        binomial *= (double)(count - 1 - j) / (j + 1);
    }
    for (int j = 0; j < count; j++) weight[j] /= sum;
}

/* The rule of products, factor by factor: no place is special. */
void ht_lagrange_slopes(int count, double at, double *weight) {
    for (int i = 0; i < count; i++) {
        double value = 1, slope = 0;
        for (int j = 0; j < count; j++) {
            if (j == i) continue;
            slope = (slope * (at - j) + value) / (i - j);
            value *= (at - j) / (i - j);
        }
        weight[i] = slope;
    }
}

/* Interpolation from derivatives of given orders at equally spaced levels (Birkhoff's problem;
 * Lorentz, Jetter, Riemenschneider, Birkhoff Interpolation, 1983): weights for which polynomials of
 * degree below the number of data come out right, by elimination. Powers of the distance from the
 * middle, in extended precision: with 24 data the weights lose up to nine digits. */

typedef long double real;
enum { MOST = HT_BIRKHOFF_MOST };

/* Of power j of z = (x - middle)/half: its derivative l by x. */
static real power_slope(int j, int l, real z, real half) {
    real value = 1;
    if (l > j) return 0;
    for (int n = 0; n < l; n++) value *= (real)(j - n) / half;
    for (int n = l; n < j; n++) value *= z;
    return value;
}

/* Rows of a system and its right side, behind them; false: no solution. */
static bool eliminate(int count, real row[MOST][MOST + 1]) {
    const real least = 1e-17L;
    for (int k = 0; k < count; k++) {
        int best = k;
        for (int i = k + 1; i < count; i++)
            if (fabsl(row[i][k]) > fabsl(row[best][k])) best = i;
        for (int j = 0; j <= count; j++) {
            const real before = row[k][j];
            row[k][j] = row[best][j];
            row[best][j] = before;
        }
        if (fabsl(row[k][k]) < least) return false;
        for (int i = k + 1; i < count; i++) {
            const real factor = row[i][k] / row[k][k];
            for (int j = k + 1; j <= count; j++) row[i][j] -= factor * row[k][j];
        }
    }
    return true;
}

HT_ERR ht_birkhoff_weights(int levels, int derivatives, const int *derivative, double at,
                           double *weight) {
    const int count = levels * derivatives;
    const real middle = (levels - 1) / 2.0L, half = levels > 1 ? middle : 1;
    real row[MOST][MOST + 1], x[MOST];
    REQUIRE(count > 0 && count <= MOST, HT_ERR_INTERNAL,
            "interpolation from %d levels of %d derivatives", levels, derivatives);
    for (int j = 0; j < count; j++) {
        for (int i = 0; i < count; i++) {
            const int level = i / derivatives;
            row[j][i] = power_slope(j, derivative[i % derivatives], (level - middle) / half, half);
        }
        row[j][count] = power_slope(j, 0, (at - middle) / half, half);
    }
    REQUIRE(eliminate(count, row), HT_ERR_INTERNAL,
            "no interpolation from %d levels of %d derivatives", levels, derivatives);
    for (int i = count - 1; i >= 0; i--) {
        x[i] = row[i][count];
        for (int j = i + 1; j < count; j++) x[i] -= row[i][j] * x[j];
        x[i] /= row[i][i];
        weight[i] = (double)x[i];
    }
    return HT_OK;
}
