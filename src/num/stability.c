/* Stability and accuracy of the Hermite-Taylor step.
 *
 * Stability is looked up in a table made by tools/stability.py (von Neumann
 * analysis of the half step with q Taylor stages).
 *
 * Accuracy: for u_t + c u_x = 0 with full stages the half step moves the
 * interpolant by s = cfl/2 cells exactly, w_i = sum_(j>=i) C(j,i) (-s)^(j-i)
 * b_j, and a plane wave exp(i theta x/h) turns interpolation into b = H_L u
 * exp(-i theta/2) + H_R u exp(i theta/2). The (N+1) x (N+1) product S has one
 * eigenvalue lambda that belongs to the wave, close to exp(-i theta s), and
 * 2 steps half steps leave the relative error |(lambda/exp(-i theta s))^(2
 * steps) - 1|. (Goodrich, Hagstrom, Lorenz 2006: the eigenvalue's error is
 * of order theta^(2N+2).) Long double keeps it visible over many steps.
 */
#include <complex.h>
#include <math.h>
#include <stdbool.h>

#include "htwave/num.h"
#include "stability_pair.h"
#include "stability_table.h"
#include "two_level.h"

#define NODE (HT_MAX_ORDER + 1)
#define CELL (2 * NODE)
#define BALANCE 0.35L

typedef long double complex number;

/* Polynomials have degree 2N+1 along each axis. First-order systems lower the
 * total degree d (2N+1) by one per stage. Powers of the Laplacian hold even
 * powers of each derivative, at most d N in all: the even series of u_tt = c^2
 * lap u ends with lap^(dN), after 2dN stages; the odd one, lap^(dN)/(2dN+1)!
 * from u_t to u or grad lap^(dN) between pressure and velocity, has one more.
 */
int ht_stability_full(enum ht_symbol kind, int dims, int order) {
    switch (kind) {
    case HT_SYMBOL_ADVECTION:
    case HT_SYMBOL_WAVE:
        return dims * (2 * order + 1);
    case HT_SYMBOL_PAIR:
    case HT_SYMBOL_LEAPFROG_ODD:
        return 2 * dims * order + 1;
    case HT_SYMBOL_LEAPFROG_EVEN:
        return 2 * dims * order;
    }
    return 0;
}

double ht_stability_cfl(enum ht_symbol kind, int dims, int order, int stages) {
    if (dims < 1 || dims > HT_MAX_DIMS || order < 1 || order > HT_MAX_ORDER ||
        stages < 1)
        return 0;
    int full = ht_stability_full(kind, dims, order);
    if (stages > full) stages = full;
    if (kind == HT_SYMBOL_PAIR)
        return stages == full ? ht_stability_pair[dims - 1][order - 1] / 100.0
                              : 0;
    if (kind > HT_SYMBOL_WAVE) return stages == full ? 0.99 : 0;
    if (stages == full) return 1;
    return ht_stability_percent[kind][dims - 1][order - 1][stages - 1] / 100.0;
}

int ht_stability_stages(enum ht_symbol kind, int dims, int order, double cfl) {
    int full = ht_stability_full(kind, dims, order), stages = 2 * order + 1;
    while (stages < full && ht_stability_cfl(kind, dims, order, stages) < cfl)
        stages++;
    return stages < full ? stages : full;
}

/* cell[j][i]: coefficient j of the interpolant of a wave of amplitudes i. */
static void interpolate_wave(int order, double theta, number cell[CELL][NODE]) {
    double hermite[CELL * CELL];
    int m = order + 1, n = 2 * m;
    ht_hermite_matrix(order, hermite);
    number right = cosl(theta / 2.0L) + I * sinl(theta / 2.0L);
    for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++)
            cell[j][i] = hermite[j * n + i] * conjl(right) +
                         hermite[j * n + m + i] * right;
}

/* The half step: the interpolant about a point s cells upwind. Unknown i is
 * taken times BALANCE^i, which brings the norm from 10^7 (N = 8) to 10^2. */
static void half_step(int order, double theta, long double s,
                      number out[NODE][NODE]) {
    number cell[CELL][NODE];
    interpolate_wave(order, theta, cell);
    for (int i = 0; i <= order; i++)
        for (int a = 0; a <= order; a++) {
            long double factor = 1; /* C(j,i) (-s)^(j-i) */
            number sum = 0;
            for (int j = i; j < 2 * order + 2; j++) {
                sum += factor * cell[j][a];
                factor *= -s * (j + 1) / (j + 1 - i);
            }
            out[i][a] = sum * powl(BALANCE, i - a);
        }
}

/* x = a^-1 x by elimination with row exchange; a is destroyed. A pivot of
 * zero, an exact eigenvalue, is replaced by a tiny one. */
static void solve(int m, number a[NODE][NODE], number *x) {
    for (int k = 0; k < m; k++) {
        int p = k;
        for (int i = k + 1; i < m; i++)
            if (cabsl(a[i][k]) > cabsl(a[p][k])) p = i;
        for (int j = 0; j < m; j++) {
            number t = a[k][j];
            a[k][j] = a[p][j];
            a[p][j] = t;
        }
        number t = x[k];
        x[k] = x[p];
        x[p] = t;
        if (cabsl(a[k][k]) < 1e-25L) a[k][k] = 1e-25L;
        for (int i = k + 1; i < m; i++) {
            number f = a[i][k] / a[k][k];
            for (int j = k; j < m; j++) a[i][j] -= f * a[k][j];
            x[i] -= f * x[k];
        }
    }
    for (int i = m - 1; i >= 0; i--) {
        for (int j = i + 1; j < m; j++) x[i] -= a[i][j] * x[j];
        x[i] /= a[i][i];
    }
}

/* The eigenvalue of s nearest to guess: inverse iteration, with the shift
 * held for the first sweeps so that it cannot wander to another one. */
static number nearest_eigenvalue(int m, number s[NODE][NODE], double theta,
                                 number guess) {
    number x[NODE] = {1}, shift = guess;
    for (int i = 1; i < m; i++) /* the exact wave */
        x[i] = x[i - 1] * (I * theta * BALANCE / i);
    for (int sweep = 0; sweep < 12; sweep++) {
        number a[NODE][NODE], old[NODE], top = 0, bottom = 0;
        for (int i = 0; i < m; i++) {
            old[i] = x[i];
            for (int j = 0; j < m; j++) a[i][j] = s[i][j] - (i == j) * shift;
        }
        solve(m, a, x);
        long double norm = 0;
        for (int i = 0; i < m; i++) {
            top += conjl(x[i]) * old[i];
            bottom += conjl(x[i]) * x[i];
            norm = fmaxl(norm, cabsl(x[i]));
        }
        guess = shift + top / bottom;
        for (int i = 0; i < m; i++) x[i] /= norm;
        if (sweep >= 6) shift = guess;
    }
    return guess;
}

static double principal_error(int order, double theta, double cfl,
                              double steps) {
    number s[NODE][NODE];
    long double shift = cfl / 2.0L;
    half_step(order, theta, shift, s);
    number exact = cosl(theta * shift) - I * sinl(theta * shift);
    number lambda = nearest_eigenvalue(order + 1, s, theta, exact);
    number rate = clogl(lambda / exact) * 2.0L * steps;
    /* e^rate - 1 without cancellation; decay makes the cap 2 safe */
    long double half = sinl(cimagl(rate) / 2);
    long double grown = expl(fminl(creall(rate), 0));
    long double real = expm1l(fminl(creall(rate), 0)) - 2 * grown * half * half;
    long double error = hypotl(real, grown * sinl(cimagl(rate)));
    return (double)fminl(fmaxl(error, 1e-16L), 2);
}

double ht_expected_error(enum ht_symbol kind, int order, double theta,
                         double cfl, double steps) {
    if (kind == HT_SYMBOL_ADVECTION || kind == HT_SYMBOL_WAVE)
        return principal_error(order, theta, cfl, steps);
    return ht_two_level_error(kind, order, theta, cfl, steps);
}
