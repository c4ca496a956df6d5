/* Accuracy of schemes with two sets of unknowns in one dimension: leapfrog and
 * the pair (u, u_t). A wave exp(i theta x/h) makes a full step a matrix of
 * size 2 (N+1); its power, by squaring, is applied to exact data. So what the
 * data excite beside the scheme's own wave is in the result: leapfrog does not
 * damp it.
 *
 * With s = cfl/2 and the interpolant b about the target (in x/h), c = 1:
 *     even  (T_s + T_-s) b,  T_s the shift:  2 sum_(j-i even) C(j,i) s^(j-i)
 * b_j odd  -(T_s - T_-s) b:                 -2 sum_(j-i odd)  C(j,i) s^(j-i)
 * b_j leapfrog  w = keep w + P I u,  u = keep u + P I w,  P odd or even pair u
 * = Cu + Sv,  v = L u + C v, the series of cos, sin and their derivative in s
 * d/dx, twice.
 */
#include <complex.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "two_level.h"

enum {
    NODE = HT_MAX_ORDER + 1,
    CELL = 2 * NODE,
    BOTH = 2 * NODE /* unknowns of the two sets */
};

typedef long double complex number;

/* Unknown i is taken times BALANCE^i, which keeps norms small. */
#define BALANCE 0.35L

struct matrix {
    int n;
    number a[BOTH][BOTH];
};

static void multiply(const struct matrix *x, const struct matrix *y,
                     struct matrix *out) {
    out->n = x->n;
    for (int i = 0; i < x->n; i++)
        for (int j = 0; j < x->n; j++) {
            number sum = 0;
            for (int k = 0; k < x->n; k++) sum += x->a[i][k] * y->a[k][j];
            out->a[i][j] = sum;
        }
}

static struct matrix identity(int n) {
    struct matrix out = {.n = n};
    for (int i = 0; i < n; i++) out.a[i][i] = 1;
    return out;
}

/* The factor with which b_(i+k) enters output i, in units of C(i+k, i):
 * series of the four operators above. */
enum series { EVEN, ODD, PAIR_C, PAIR_S, PAIR_L };

static long double series_factor(enum series series, int k, long double s) {
    bool even = k % 2 == 0;
    switch (series) {
    case EVEN:
        return even ? 2 * powl(s, k) : 0;
    case ODD:
        return even ? 0 : -2 * powl(s, k);
    case PAIR_C:
        return even ? powl(s, k) : 0;
    case PAIR_S:
        return even ? powl(s, k + 1) / (k + 1) : 0;
    case PAIR_L:
        return even && k > 0 ? powl(s, k - 1) * k : 0;
    }
    return 0;
}

/* Block (row, col) of the step: a series after the wave's interpolation. */
static void add_block(int order, double theta, long double s,
                      enum series series, int row, int col,
                      struct matrix *out) {
    double hermite[CELL * CELL];
    int m = order + 1, n = 2 * m;
    ht_hermite_matrix(order, hermite);
    number right = cosl(theta / 2.0L) + I * sinl(theta / 2.0L);
    for (int i = 0; i < m; i++)
        for (int a = 0; a < m; a++) {
            long double binomial = 1; /* C(j, i) */
            number sum = 0;
            for (int j = i; j < n; j++) {
                number b = hermite[j * n + a] * conjl(right) +
                           hermite[j * n + m + a] * right;
                sum += binomial * series_factor(series, j - i, s) * b;
                binomial *= (long double)(j + 1) / (j + 1 - i);
            }
            out->a[row * m + i][col * m + a] += sum * powl(BALANCE, i - a);
        }
}

static struct matrix leapfrog_step(enum ht_symbol kind, int order, double theta,
                                   long double s) {
    bool even = kind == HT_SYMBOL_LEAPFROG_EVEN;
    struct matrix half[2], out;
    for (int turn = 0; turn < 2; turn++) { /* to the dual unknowns, back */
        half[turn] = identity(2 * (order + 1));
        int to = 1 - turn, from = turn;
        for (int i = to * (order + 1); i < (to + 1) * (order + 1); i++)
            half[turn].a[i][i] = even ? -1 : 1;
        add_block(order, theta, s, even ? EVEN : ODD, to, from, &half[turn]);
    }
    multiply(&half[1], &half[0], &out);
    return out;
}

static struct matrix pair_step(int order, double theta, long double s) {
    struct matrix half = {.n = 2 * (order + 1)}, out;
    add_block(order, theta, s, PAIR_C, 0, 0, &half);
    add_block(order, theta, s, PAIR_S, 0, 1, &half);
    add_block(order, theta, s, PAIR_L, 1, 0, &half);
    add_block(order, theta, s, PAIR_C, 1, 1, &half);
    multiply(&half, &half, &out);
    return out;
}

/* x = step^steps x by squaring. */
static void apply_power(struct matrix step, double steps, number *x) {
    while (steps >= 1) {
        struct matrix square;
        double half = floor(steps / 2);
        if (steps - 2 * half >= 1) {
            number y[BOTH] = {0};
            for (int i = 0; i < step.n; i++)
                for (int j = 0; j < step.n; j++) y[i] += step.a[i][j] * x[j];
            memcpy(x, y, (size_t)step.n * sizeof *x);
        }
        multiply(&step, &step, &square);
        step = square;
        steps = half;
    }
}

double ht_two_level_error(enum ht_symbol kind, int order, double theta,
                          double cfl, double steps) {
    long double s = cfl / 2.0L, turned;
    int m = order + 1;
    bool pair = kind == HT_SYMBOL_PAIR;
    number x[BOTH], wave = 1;
    /* The second unknowns: v = u_t, or the wave half a step earlier. */
    number second = pair ? -I * theta : cosl(theta * s) + I * sinl(theta * s);
    for (int i = 0; i < m; i++) {
        x[i] = wave;
        x[m + i] = second * wave;
        wave *= I * theta * BALANCE / (i + 1);
    }
    apply_power(pair ? pair_step(order, theta, s)
                     : leapfrog_step(kind, order, theta, s),
                steps, x);
    turned = fmodl(theta * (long double)cfl * steps, 2 * acosl(-1.0L));
    long double error = cabsl(x[0] - (cosl(turned) - I * sinl(turned)));
    return (double)fminl(fmaxl(error, 1e-16L), 2);
}
