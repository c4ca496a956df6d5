/* The symbol S of the half step (docs/method.md, sections 2 and 3): the
 * interpolant of the two neighbours per axis, q Horner stages w = b +
 * (dt/2)/k L w, the coefficients <= N kept.
 *
 * S is made real: coefficient j is multiplied by i^|j| and velocities by i;
 * then interpolation weighs by cos(theta/2) where the parities of input and
 * output agree and by sin(theta/2) where they differ, and a derivative is real.
 * An advected field has real and imaginary part as two fields that couple like
 * pressure and velocity; the pair u_t = v, v_t = lap u has a second derivative,
 * which turns its sign. S is applied without being formed; only the
 * coefficients j with excess(j) <= k-1 <= |j| take part in stage k (of the
 * pair, whose stages lower the degree by 0 and 2 in turn, one more on either
 * side). Its largest eigenvalue comes from Arnoldi's method. Coefficient j is
 * scaled by BALANCE^|j|, which keeps |S| below 200 and eigenvalue conditions
 * near 2.
 */
#ifndef HTWAVE_TOOLS_STABILITY_SYMBOL_H
#define HTWAVE_TOOLS_STABILITY_SYMBOL_H

#include <complex.h>
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "htwave/num.h"

#define PI 3.14159265358979323846
/* Growth per half step taken for rounding or for the harmless growth of
 * long waves when q < 2N+1 (a factor e after 5 million full steps). */
#define TOLERANCE 1e-7
/* Of the pair (u, u_t): u = a + b t, a double eigenvalue 1, passes for a growth
 * of 1e-6 in the 2^24 half steps by which it is judged. */
#define PAIR_TOLERANCE 3e-6
#define MAX_CELL (2 * HT_MAX_ORDER + 2)
#define MAX_NODE (HT_MAX_ORDER + 1)
#define MAX_KRYLOV 320
#define BALANCE 0.35

/* du[row]/dt += factor D u[col], D the derivative of that order along axis */
struct term {
    int row, col, axis, derivative;
    double factor;
};

struct scheme {
    enum ht_symbol kind;
    int dims, order, stages;
    int node[3], cell[3];    /* coefficients per axis: N+1, 2N+2; unused: 1 */
    int stride[4];           /* of the cell's array per axis, and per field */
    int fields, terms, size; /* size = unknowns of S */
    struct term term[2 * HT_MAX_DIMS];
    double weight[MAX_CELL + 2]; /* balance: unknown j is weight[j] u_j */
    double hermite[MAX_CELL * MAX_CELL];
    double *cell_a, *cell_b, *cell_0; /* Taylor stages and interpolant */
    double *basis;                    /* Krylov vectors */
};

/* One way to begin Arnoldi's method: where only a sector of the unknowns
 * matters, it closes much earlier. */
struct start {
    bool symmetric; /* under the exchanges of axes that leave theta alone */
    int parity;     /* the sector in the axes of mask, a bit per axis */
    int mask;       /* axes with theta = 0 or pi, where parity is kept */
    int krylov;     /* at most so many steps */
};

static int imin(int a, int b) {
    return a < b ? a : b;
}
static int imax(int a, int b) {
    return a > b ? a : b;
}

static double *allocate(size_t count) {
    double *p = calloc(count, sizeof *p);
    if (!p) {
        fprintf(stderr, "stability: out of memory\n");
        exit(1);
    }
    return p;
}

/* ---- the half step ---- */

static void scheme_terms(struct scheme *s) {
    if (s->kind == HT_SYMBOL_PAIR)
        s->term[s->terms++] = (struct term){0, 1, 0, 0, 1.0};
    for (int k = 0; k < s->dims; k++) {
        int other = s->kind == HT_SYMBOL_WAVE ? 1 + k : 1;
        if (s->kind == HT_SYMBOL_PAIR) {
            s->term[s->terms++] = (struct term){1, 0, k, 2, -1.0};
            continue;
        }
        s->term[s->terms++] = (struct term){0, other, k, 1, 1.0};
        s->term[s->terms++] = (struct term){other, 0, k, 1, -1.0};
    }
}

static struct scheme *scheme_create(enum ht_symbol kind, int dims, int order,
                                    int stages) {
    struct scheme *s = calloc(1, sizeof *s);
    if (!s) exit(1);
    s->kind = kind;
    s->dims = dims;
    s->order = order;
    s->stages = stages;
    s->fields = kind == HT_SYMBOL_WAVE ? 1 + dims : 2;
    s->size = s->fields;
    s->stride[0] = 1;
    for (int k = 0; k < 3; k++) {
        bool used = k < dims;
        s->node[k] = used ? order + 1 : 1;
        s->cell[k] = used ? 2 * order + 2 : 1;
        s->size *= s->node[k];
        /* two more than needed: the coefficients beyond the last are zero */
        s->stride[k + 1] = s->stride[k] * (used ? s->cell[k] + 2 : 1);
    }
    ht_hermite_matrix(order, s->hermite);
    scheme_terms(s);
    s->weight[0] = 1;
    for (int i = 0; i < MAX_CELL + 1; i++)
        s->weight[i + 1] = BALANCE * s->weight[i];
    size_t count = (size_t)(s->fields * s->stride[3]);
    s->cell_a = allocate(count);
    s->cell_b = allocate(count);
    s->cell_0 = allocate(count);
    s->basis = allocate((size_t)(s->size * (MAX_KRYLOV + 1)));
    return s;
}

static void scheme_destroy(struct scheme *s) {
    free(s->cell_a);
    free(s->cell_b);
    free(s->cell_0);
    free(s->basis);
    free(s);
}

/* Transposed one-dimensional interpolation of a plane wave: entry
 * [input i][output j], both balanced. */
static void wave_matrix(const struct scheme *s, double theta, double *matrix) {
    int m = s->order + 1, n = 2 * m;
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            int shift = i - j + 4 * MAX_CELL, odd = shift & 1;
            double sign = (shift + odd) % 4 ? -1 : 1;
            double phase = odd ? sin(theta / 2) : cos(theta / 2);
            if (fabs(phase) < 1e-15) phase = 0; /* keeps sectors apart */
            matrix[i * n + j] = sign * 2 * phase * s->hermite[j * n + m + i] *
                                s->weight[j] / s->weight[i];
        }
}

/* Node values of one field -> cell coefficients, axis after axis. The rows
 * of stage k are [.., i_(k+1), i_k, j_(k-1) ..] with the cell's strides. */
static void interpolate(const struct scheme *s, const double *const matrix[3],
                        const double *node, double *cell) {
    static double work[2][MAX_CELL * MAX_CELL * MAX_CELL];
    const double *from = node;
    int inner = 1, outer = s->node[1] * s->node[2];
    for (int k = 0; k < s->dims; k++) {
        int m = s->node[k], n = s->cell[k];
        double *to = work[k % 2];
        memset(to, 0, (size_t)(inner * outer * n) * sizeof *to);
        for (int o = 0; o < outer; o++)
            for (int i = 0; i < m; i++)
                for (int j = 0; j < n; j++) {
                    double f = matrix[k][i * n + j];
                    const double *x = from + (o * m + i) * inner;
                    double *y = to + (o * n + j) * inner;
                    for (int a = 0; a < inner; a++) y[a] += f * x[a];
                }
        from = to;
        inner *= n;
        if (k < 2) outer /= s->node[k + 1];
    }
    for (int c = 0; c < s->cell[2]; c++)
        for (int b = 0; b < s->cell[1]; b++)
            memcpy(cell + c * s->stride[2] + b * s->stride[1],
                   from + (c * s->cell[1] + b) * s->cell[0],
                   (size_t)s->cell[0] * sizeof *cell);
}

/* Row [first, last] of one field: out = b + step L w. j = indices of the row
 * along the other axes. */
static void taylor_row(const struct scheme *s, int field, const int j[3],
                       int last, double step, const double *w, double *out) {
    int row = j[1] * s->stride[1] + j[2] * s->stride[2];
    int base = field * s->stride[3] + row;
    const double *b = s->cell_0 + base;
    double *y = out + base;
    for (int a = j[0]; a <= last; a++) y[a] = b[a];
    for (int t = 0; t < s->terms; t++) {
        const struct term *term = &s->term[t];
        if (term->row != field) continue;
        int k = term->axis, n = term->derivative;
        const double *x = w + term->col * s->stride[3] + row + n * s->stride[k];
        double f = step * term->factor;
        const double *g = s->weight;
        if (k == 0) {
            for (int a = j[0]; a <= last; a++) {
                double power = n == 0 ? 1 : n == 1 ? a + 1 : (a + 1) * (a + 2);
                y[a] += f * power * (g[a] / g[a + n]) * x[a];
            }
        } else {
            for (int i = 1; i <= n; i++) f *= j[k] + i;
            f *= g[j[k]] / g[j[k] + n];
            for (int a = j[0]; a <= last; a++) y[a] += f * x[a];
        }
    }
}

/* Stage k of Horner's scheme, on the coefficients that take part. */
static void taylor_stage(const struct scheme *s, int k, double step,
                         const double *w, double *out) {
    int order = s->order, full = 2 * order + 1;
    int slack = s->kind == HT_SYMBOL_PAIR ? 1 : 0;
    int most = k - 1 + slack, least = k - 1 - slack;
    for (int c = 0; c < s->cell[2]; c++)
        for (int b = 0; b < s->cell[1]; b++) {
            int excess = imax(0, b - order) + imax(0, c - order);
            int j[3] = {imax(0, least - b - c), b, c};
            int last = imin(full, order + most - excess);
            if (excess > most || j[0] > last) continue;
            for (int f = 0; f < s->fields; f++)
                taylor_row(s, f, j, last, step, w, out);
        }
}

/* out = S in */
static void half_step(const struct scheme *s, const double *const matrix[3],
                      double cfl, const double *in, double *out) {
    int nodes = s->size / s->fields;
    for (int f = 0; f < s->fields; f++)
        interpolate(s, matrix, in + f * nodes, s->cell_0 + f * s->stride[3]);
    const double *w = s->cell_0;
    for (int k = s->stages; k > 0; k--) {
        double *to = w == s->cell_a ? s->cell_b : s->cell_a;
        taylor_stage(s, k, cfl / 2 / k, w, to);
        w = to;
    }
    for (int f = 0; f < s->fields; f++)
        for (int c = 0; c < s->node[2]; c++)
            for (int b = 0; b < s->node[1]; b++) {
                memcpy(out,
                       w + f * s->stride[3] + c * s->stride[2] +
                           b * s->stride[1],
                       (size_t)s->node[0] * sizeof *out);
                out += s->node[0];
            }
}

/* ---- eigenvalues of a real Hessenberg matrix ---- */

/* Applies I - beta v v^T to rows and columns k.. of the block [lo, hi]. */
static void reflect(double *a, const int range[2], int k, int count,
                    const double v[4]) {
    for (int j = imax(k - 1, range[0]); j <= range[1]; j++) {
        double *p = a + k * MAX_KRYLOV + j, sum = 0;
        for (int i = 0; i < count; i++) sum += v[i] * p[i * MAX_KRYLOV];
        for (int i = 0; i < count; i++) p[i * MAX_KRYLOV] -= v[3] * sum * v[i];
    }
    for (int i = range[0]; i <= imin(k + 3, range[1]); i++) {
        double *p = a + i * MAX_KRYLOV + k, sum = 0;
        for (int j = 0; j < count; j++) sum += v[j] * p[j];
        for (int j = 0; j < count; j++) p[j] -= v[3] * sum * v[j];
    }
}

/* One implicit double-shift step (Golub and Van Loan, algorithm 7.5.1);
 * trace and det are those of the shift matrix. */
static void francis_step(double *a, const int range[2], double trace,
                         double det) {
    int lo = range[0], hi = range[1], ld = MAX_KRYLOV;
    const double *p = a + lo * ld + lo;
    double x[3] = {p[0] * p[0] + p[1] * p[ld] - trace * p[0] + det,
                   p[ld] * (p[0] + p[ld + 1] - trace), p[ld] * p[2 * ld + 1]};
    for (int k = lo; k < hi; k++) {
        int count = k + 1 < hi ? 3 : 2;
        double norm = 0;
        for (int i = 0; i < count; i++) norm = hypot(norm, x[i]);
        if (norm > 0) {
            double v[4] = {x[0] + copysign(norm, x[0]), x[1],
                           count > 2 ? x[2] : 0, 0};
            v[3] = 1 / (norm * fabs(v[0])); /* beta */
            reflect(a, range, k, count, v);
        }
        for (int i = 0; i < 3; i++)
            x[i] = k + 1 + i <= hi ? a[(k + 1 + i) * ld + k] : 0;
    }
}

/* Eigenvalue of larger modulus of a real 2x2 matrix. */
static double complex largest_2x2(double trace, double det) {
    double half = trace / 2;
    return half + copysign(1, half) * csqrt(half * half - det);
}

/* First row of the last block of [0, hi] that has split off. */
static int block_start(const double *a, int hi, double tiny) {
    int lo = hi;
    while (lo > 0 && fabs(a[lo * MAX_KRYLOV + lo - 1]) > tiny) lo--;
    return lo;
}

/* The eigenvalue of largest modulus of the Hessenberg matrix a (destroyed).
 * An eigenvalue on which the iteration stalls is left out. */
static double complex hessenberg_largest(double *a, int n) {
    double complex largest = 0;
    double norm = 0;
    for (int i = 0; i < n; i++)
        for (int j = imax(0, i - 1); j < n; j++)
            norm = fmax(norm, fabs(a[i * MAX_KRYLOV + j]));
    for (int hi = n - 1, turns = 0; hi >= 0;) {
        int lo = block_start(a, hi, 1e-16 * norm);
        const double *p = a + hi * MAX_KRYLOV + hi;
        const double *o = p - MAX_KRYLOV;
        if (lo >= hi - 1 || turns > 60) {
            double complex found = lo == hi ? p[0] : 0;
            if (lo == hi - 1)
                found = largest_2x2(p[0] + o[-1], p[0] * o[-1] - p[-1] * o[0]);
            if (cabs(found) > cabs(largest)) largest = found;
            hi -= lo == hi - 1 ? 2 : 1;
            turns = 0;
            continue;
        }
        double trace = p[0] + o[-1], det = p[0] * o[-1] - p[-1] * o[0];
        if (++turns % 10 == 0) { /* exceptional shift */
            double size = fabs(p[-1]) + fabs(o[-2]);
            trace = 1.5 * size;
            det = size * size;
        }
        francis_step(a, (int[2]){lo, hi}, trace, det);
    }
    return largest;
}

/* |last component| of the normalised eigenvector of an eigenvalue: times the
 * next subdiagonal entry it is the residual of the Ritz pair. One step of
 * inverse iteration with elimination by neighbouring rows. */
static double hessenberg_last(const double *a, int n, double complex value) {
    static double complex u[MAX_KRYLOV * MAX_KRYLOV], x[MAX_KRYLOV];
    const int ld = MAX_KRYLOV;
    for (int i = 0; i < n; i++)
        for (int j = imax(0, i - 1); j < n; j++)
            u[i * ld + j] = a[i * ld + j] - (i == j ? value : 0);
    for (int k = 0; k + 1 < n; k++) {
        double complex *p = u + k * ld, *q = p + ld;
        bool swap = cabs(q[k]) > cabs(p[k]);
        double complex f = swap ? p[k] / q[k] : p[k] != 0 ? q[k] / p[k] : 0;
        for (int j = k; j < n; j++) {
            double complex big = swap ? q[j] : p[j];
            q[j] = (swap ? p[j] : q[j]) - f * big;
            p[j] = big;
        }
    }
    double sum = 0;
    for (int i = n - 1; i >= 0; i--) {
        double complex r = 1e-20;
        for (int j = i + 1; j < n; j++) r -= u[i * ld + j] * x[j];
        double complex pivot = u[i * ld + i];
        x[i] = r / (cabs(pivot) > 1e-15 ? pivot : 1e-15);
        sum += creal(x[i] * conj(x[i]));
    }
    return cabs(x[n - 1]) / sqrt(sum);
}

/* ---- is the half step stable? ---- */

static double dot(int n, const double *x, const double *y) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += x[i] * y[i];
    return sum;
}

static double normalise(int n, double *x) {
    double norm = sqrt(dot(n, x, x));
    for (int i = 0; i < n && norm > 0; i++) x[i] /= norm;
    return norm;
}

/* Makes basis vector m orthogonal to those before (twice, against
 * cancellation); the components go to column m-1 of the Hessenberg matrix. */
static void orthogonalise(const struct scheme *s, int m, double *hess) {
    int n = s->size;
    double *v = s->basis + m * n;
    for (int i = 0; i < m; i++) hess[i * MAX_KRYLOV + m - 1] = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < m; i++) {
            const double *q = s->basis + i * n;
            double c = dot(n, q, v);
            for (int a = 0; a < n; a++) v[a] -= c * q[a];
            hess[i * MAX_KRYLOV + m - 1] += c;
        }
}

/* Adds to out the vector x with its axes exchanged by p (axis k -> p[k]). */
static void add_exchanged(const struct scheme *s, const int p[3],
                          const double *x, double *out) {
    int m = s->order + 1, nodes = s->size / s->fields;
    for (int f = 0; f < s->fields; f++) {
        int to = s->kind == HT_SYMBOL_WAVE && f > 0 ? 1 + p[f - 1] : f;
        for (int a = 0; a < nodes; a++) {
            int i[3] = {a % m, a / m % m, a / m / m}, j[3] = {0};
            for (int k = 0; k < s->dims; k++) j[p[k]] = i[k];
            out[to * nodes + (j[2] * m + j[1]) * m + j[0]] += x[f * nodes + a];
        }
    }
}

/* Sum over all exchanges of axes with equal theta. */
static void symmetrise(const struct scheme *s, const double theta[3],
                       const double *x, double *out) {
    static const int all[6][3] = {{0, 1, 2}, {1, 0, 2}, {0, 2, 1},
                                  {2, 1, 0}, {1, 2, 0}, {2, 0, 1}};
    memset(out, 0, (size_t)s->size * sizeof *out);
    for (int n = 0; n < 6; n++) {
        bool keeps = true;
        for (int k = 0; k < 3; k++)
            keeps = keeps && (all[n][k] == k || (imax(k, all[n][k]) < s->dims &&
                                                 theta[all[n][k]] == theta[k]));
        if (keeps) add_exchanged(s, all[n], x, out);
    }
}

/* The parity of unknown a of field f in the axes of mask; a velocity is odd
 * along its axis in the sector of a pressure that is even. */
static int parity_of(const struct scheme *s, int f, int a) {
    int m = s->order + 1, i[3] = {a % m, a / m % m, a / m / m}, parity = 0;
    for (int k = 0; k < 3; k++) parity |= (i[k] & 1) << k;
    return f > 0 && s->kind == HT_SYMBOL_WAVE ? parity ^ (1 << (f - 1))
                                              : parity;
}

/* A fixed pseudo-random vector of the sector, then some half steps that damp
 * the modes nobody asks for. */
static void start_vector(const struct scheme *s, const struct start *start,
                         const double theta[3], const double *const matrix[3],
                         double cfl) {
    int nodes = s->size / s->fields;
    double *v = s->basis, *w = s->basis + s->size;
    unsigned seed = 12345;
    for (int i = 0; i < s->size; i++) {
        seed = seed * 1664525u + 1013904223u;
        int parity = parity_of(s, i / nodes, i % nodes);
        bool in = ((parity ^ start->parity) & start->mask) == 0;
        w[i] = in ? (double)(seed >> 8) / (1 << 24) - 0.5 : 0;
    }
    if (start->symmetric)
        symmetrise(s, theta, w, v);
    else
        memcpy(v, w, (size_t)s->size * sizeof *v);
    for (int i = 0; i < 20; i++) {
        half_step(s, matrix, cfl, v, w);
        normalise(s->size, w);
        memcpy(v, w, (size_t)s->size * sizeof *v);
    }
}

static double tolerance(const struct scheme *s) {
    return s->kind == HT_SYMBOL_PAIR ? PAIR_TOLERANCE : TOLERANCE;
}

/* Growth per half step from |S^(2^24)|^(1/2^24), S formed column by column and
 * squared. For the pair, which damps little: nearly all its eigenvalues lie so
 * close to the unit circle that no few of them stand out. */
static double squared_growth(const struct scheme *s, const double theta[3],
                             double cfl) {
    enum { SQUARINGS = 24 };
    double axis[3][MAX_NODE * MAX_CELL], log_scale = 0, norm = 0;
    const double *const matrix[3] = {axis[0], axis[1], axis[2]};
    int n = s->size;
    double *x = allocate((size_t)n * (size_t)n);
    double *y = allocate((size_t)n * (size_t)n);
    for (int k = 0; k < s->dims; k++) wave_matrix(s, theta[k], axis[k]);
    for (int i = 0; i < n; i++) { /* row i of x: S applied to unit vector i */
        memset(s->basis, 0, (size_t)n * sizeof *x);
        s->basis[i] = 1;
        half_step(s, matrix, cfl, s->basis, x + (size_t)i * (size_t)n);
    }
    for (int turn = 0; turn <= SQUARINGS; turn++) {
        norm = DBL_MIN;
        for (int i = 0; i < n * n; i++) norm = fmax(norm, fabs(x[i]));
        for (int i = 0; i < n * n; i++) x[i] /= norm;
        log_scale = 2 * log_scale + log(norm);
        if (turn == SQUARINGS) break;
        memset(y, 0, (size_t)n * (size_t)n * sizeof *y);
        for (int i = 0; i < n; i++)
            for (int k = 0; k < n; k++) {
                double f = x[i * n + k];
                for (int j = 0; f != 0 && j < n; j++)
                    y[i * n + j] += f * x[k * n + j];
            }
        double *swap = x;
        x = y;
        y = swap;
    }
    free(x);
    free(y);
    return log_scale / ldexp(1, SQUARINGS);
}

/* Growth per half step at the angles theta: spectral radius - 1, where the
 * start's sector and number of steps can prove one above TOLERANCE; else 0 or
 * less. Arnoldi's method goes on until a Ritz value that has converged well
 * enough proves growth, the sector is exhausted, or the largest Ritz value has
 * settled inside the disc. */
static double half_step_growth(const struct scheme *s,
                               const struct start *start, const double theta[3],
                               double cfl) {
    static double hess[MAX_KRYLOV * MAX_KRYLOV], copy[MAX_KRYLOV * MAX_KRYLOV];
    double axis[3][MAX_NODE * MAX_CELL];
    const double *const matrix[3] = {axis[0], axis[1], axis[2]};
    for (int k = 0; k < s->dims; k++) wave_matrix(s, theta[k], axis[k]);
    start_vector(s, start, theta, matrix, cfl);
    memset(hess, 0, sizeof hess);
    int limit = imin(start->krylov, s->size), next = 16, settled = 0;
    for (int m = 1;; m++) {
        double *v = s->basis + m * s->size;
        half_step(s, matrix, cfl, v - s->size, v);
        orthogonalise(s, m, hess);
        double rest = normalise(s->size, v);
        bool end = m == limit || rest < 1e-13;
        if (end || m == next) {
            next = m + imax(16, m / 2);
            memcpy(copy, hess, sizeof copy);
            double complex value = hessenberg_largest(copy, m);
            double error = rest * hessenberg_last(hess, m, value);
            double growth = cabs(value) - 1;
            bool proved = error < 0.2 * fmax(growth, TOLERANCE);
            settled = proved && growth <= TOLERANCE ? settled + 1 : 0;
            if (proved && growth > TOLERANCE) return growth;
            if (end || settled == 2) return fmin(growth, 0);
        }
        hess[m * MAX_KRYLOV + m - 1] = rest;
    }
}

#endif
