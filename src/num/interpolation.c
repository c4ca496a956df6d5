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
 * degree below the number of data come out right, by elimination once and two triangular solves per
 * place. Powers of the distance from the middle, in extended precision:
 * with 24 data the weights lose up to nine digits. */

typedef long double real;
enum { MOST = HT_BIRKHOFF_MOST };

/* Of power j of (x - mid)/half: its derivative l at x. */
static real power_slope(const struct ht_birkhoff *b, int j, int l, real x) {
    const real z = (x - b->middle) / b->half;
    real value = 1;
    if (l > j) return 0;
    for (int n = 0; n < l; n++) value *= (real)(j - n) / b->half;
    for (int n = l; n < j; n++) value *= z;
    return value;
}

/* With exchanges of rows; false: no solution. */
static bool eliminate(struct ht_birkhoff *b) {
    const real least = 1e-17L;
    for (int k = 0; k < b->count; k++) {
        int best = k;
        for (int i = k + 1; i < b->count; i++)
            if (fabsl(b->lu[i][k]) > fabsl(b->lu[best][k])) best = i;
        b->exchanged[k] = best;
        for (int j = 0; j < b->count; j++) {
            const real before = b->lu[k][j];
            b->lu[k][j] = b->lu[best][j];
            b->lu[best][j] = before;
        }
        if (fabsl(b->lu[k][k]) < least) return false;
        for (int i = k + 1; i < b->count; i++) {
            const real factor = b->lu[i][k] /= b->lu[k][k];
            for (int j = k + 1; j < b->count; j++) b->lu[i][j] -= factor * b->lu[k][j];
        }
    }
    return true;
}

enum ht_err ht_birkhoff_make(int levels, int derivatives, const int *derivative,
                             struct ht_birkhoff *out) {
    *out = (struct ht_birkhoff){.levels = levels,
                                .derivatives = derivatives,
                                .count = levels * derivatives,
                                .middle = (levels - 1) / 2.0,
                                .half = levels > 1 ? (levels - 1) / 2.0 : 1};
    REQUIRE(out->count > 0 && out->count <= MOST, HT_ERR_INTERNAL,
            "interpolation from %d levels of %d derivatives", levels, derivatives);
    for (int i = 0; i < out->count; i++) {
        const int level = i / derivatives;
        for (int j = 0; j < out->count; j++)
            out->lu[j][i] = power_slope(out, j, derivative[i % derivatives], level);
    }
    REQUIRE(eliminate(out), HT_ERR_INTERNAL, "no interpolation from %d levels of %d derivatives",
            levels, derivatives);
    return HT_OK;
}

void ht_birkhoff_weights(const struct ht_birkhoff *b, double at, double *weight) {
    real x[MOST];
    for (int j = 0; j < b->count; j++) x[j] = power_slope(b, j, 0, at);
    for (int k = 0; k < b->count; k++) {
        const real before = x[k];
        x[k] = x[b->exchanged[k]];
        x[b->exchanged[k]] = before;
    }
    for (int i = 0; i < b->count; i++)
        for (int j = 0; j < i; j++) x[i] -= b->lu[i][j] * x[j];
    for (int i = b->count - 1; i >= 0; i--) {
        for (int j = i + 1; j < b->count; j++) x[i] -= b->lu[i][j] * x[j];
        x[i] /= b->lu[i][i];
    }
    for (int i = 0; i < b->count; i++) weight[i] = (double)x[i];
}
