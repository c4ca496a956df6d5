/* A^n x from m products with A (Arnoldi 1951; Saad, Numerical Methods for
 * Large Eigenvalue Problems, chapter 6): an orthonormal basis V of the span of
 * x, Ax, .., A^(m-1) x makes A an upper Hessenberg matrix H = V* A V, and
 *
 *     A^j x = |x| V H^j e_1      for j < m; for all j when A V = V H.
 *
 * Beyond that, where x is one eigenvector but for a small rest: H has an
 * eigenvalue mu close to that of A, with right and left vectors y and z, and
 *
 *     A^n x ~ |x| mu^n V y (z* e_1)/(z* y).
 *
 * The rest is known for j < m; its root mean square in the second half of these
 * stands for its size at n. It is not followed further: the other eigenvalues
 * of H are no eigenvalues of A, and some may lie outside the unit circle where
 * all of A's lie on it.
 */
#include "htwave/krylov.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 64 };

typedef double complex number;

struct square {
    int n;
    number a[MOST][MOST];
};

struct krylov {
    int64_t size;
    int m;         /* columns of H */
    bool complete; /* A V = V H */
    double norm;   /* of x */
    number *basis; /* [m + 1][size] */
    struct square h, scratch[2];
};

/* Products written out: those of C test for infinities. */
static number product(number x, number y) {
    double re = creal(x) * creal(y) - cimag(x) * cimag(y);
    double im = creal(x) * cimag(y) + cimag(x) * creal(y);
    return ht_complex(re, im);
}

static number inner(int64_t size, const number *x, const number *y) {
    number sum = 0;
    for (int64_t i = 0; i < size; i++) sum += product(conj(x[i]), y[i]);
    return sum;
}

static double norm(int64_t size, const number *x) {
    double sum = 0;
    for (int64_t i = 0; i < size; i++)
        sum += creal(x[i]) * creal(x[i]) + cimag(x[i]) * cimag(x[i]);
    return sqrt(sum);
}

static void scale(int64_t size, double factor, number *x) {
    for (int64_t i = 0; i < size; i++) x[i] *= factor;
}

static void add(int64_t size, number factor, const number *x, number *y) {
    for (int64_t i = 0; i < size; i++) y[i] += product(factor, x[i]);
}

/* ---- the basis ---- */

/* next -= V V* next; the components are added to a column of H, or dropped. */
static void orthogonalise(struct krylov *k, int count, number *next,
                          int column) {
    for (int i = 0; i < count; i++) {
        const number *v = k->basis + i * k->size;
        number part = inner(k->size, v, next);
        if (column >= 0) k->h.a[i][column] += part;
        add(k->size, -part, v, next);
    }
}

/* Column `at` of H and the next vector, orthogonalised twice, and once more
 * when its length is 1: the remainder may be small, but an accurate start
 * excites just that remainder. false: nothing remains. */
static bool extend(const struct ht_linear_map *map, struct krylov *k, int at) {
    number *next = k->basis + (at + 1) * k->size;
    map->apply(map->self, k->basis + at * k->size, next);
    orthogonalise(k, at + 1, next, at);
    orthogonalise(k, at + 1, next, at);
    double left = norm(k->size, next);
    k->m = at + 1;
    if (left < DBL_MIN || k->m == k->size) return false;
    if (k->m < MOST) k->h.a[k->m][at] = left;
    scale(k->size, 1 / left, next);
    orthogonalise(k, at + 1, next, -1);
    scale(k->size, 1 / norm(k->size, next), next);
    return true;
}

static void build(const struct ht_linear_map *map, const number *start,
                  int most, struct krylov *k) {
    memcpy(k->basis, start, (size_t)k->size * sizeof *start);
    k->norm = norm(k->size, start);
    scale(k->size, 1 / k->norm, k->basis);
    while (k->m < most && !k->complete) k->complete = !extend(map, k, k->m);
    k->h.n = k->m;
}

/* |x| times the row of V that belongs to an entry, times c. */
static number entry(const struct krylov *k, int64_t at, const number *c) {
    number sum = 0;
    for (int i = 0; i < k->m; i++)
        sum += product(k->basis[i * k->size + at], c[i]);
    return k->norm * sum;
}

/* ---- small matrices ---- */

static void apply(const struct square *a, const number *x, number *y) {
    for (int i = 0; i < a->n; i++) {
        y[i] = 0;
        for (int j = 0; j < a->n; j++) y[i] += product(a->a[i][j], x[j]);
    }
}

static void multiply(const struct square *x, const struct square *y,
                     struct square *out) {
    out->n = x->n;
    for (int i = 0; i < x->n; i++) {
        for (int j = 0; j < x->n; j++) out->a[i][j] = 0;
        for (int l = 0; l < x->n; l++)
            for (int j = 0; j < x->n; j++)
                out->a[i][j] += product(x->a[i][l], y->a[l][j]);
    }
}

/* x = A^n x by squaring. */
static void raise(struct krylov *k, double n, number *x) {
    struct square *a = &k->scratch[0], *b = &k->scratch[1];
    number y[MOST];
    for (*a = k->h; n >= 1;) {
        double half = floor(n / 2);
        if (n - 2 * half >= 1) {
            apply(a, x, y);
            memcpy(x, y, (size_t)a->n * sizeof *x);
        }
        struct square *t = a;
        multiply(a, a, b);
        a = b;
        b = t;
        n = half;
    }
}

/* x = a^-1 x by elimination with row exchange; a is destroyed. A pivot of zero,
 * an exact eigenvalue, is replaced by a tiny one. */
static void solve(struct square *a, number *x) {
    int n = a->n;
    for (int k = 0; k < n; k++) {
        int p = k;
        for (int i = k + 1; i < n; i++)
            if (cabs(a->a[i][k]) > cabs(a->a[p][k])) p = i;
        for (int j = 0; j < n; j++) {
            number t = a->a[k][j];
            a->a[k][j] = a->a[p][j];
            a->a[p][j] = t;
        }
        number t = x[k];
        x[k] = x[p];
        x[p] = t;
        if (cabs(a->a[k][k]) < 1e-18) a->a[k][k] = 1e-18;
        for (int i = k + 1; i < n; i++) {
            number f = a->a[i][k] / a->a[k][k];
            if (f == 0) continue;
            for (int j = k; j < n; j++) a->a[i][j] -= product(f, a->a[k][j]);
            x[i] -= product(f, x[k]);
        }
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int j = i + 1; j < n; j++) x[i] -= product(a->a[i][j], x[j]);
        x[i] /= a->a[i][i];
    }
}

/* ---- the eigenvalue ---- */

/* x = (H - shift)^-1 x, or of the adjoint, of length 1. */
static void iterate(struct krylov *k, number shift, bool adjoint, number *x) {
    struct square *a = &k->scratch[0];
    a->n = k->m;
    for (int i = 0; i < k->m; i++)
        for (int j = 0; j < k->m; j++) {
            number entry = k->h.a[i][j] - (i == j ? shift : 0);
            if (adjoint)
                a->a[j][i] = conj(entry);
            else
                a->a[i][j] = entry;
        }
    solve(a, x);
    scale(k->m, 1 / norm(k->m, x), x);
}

/* Inverse iteration from e_1, with the shift fixed for the first sweeps so that
 * it cannot move to another eigenvalue. part: the part of e_1 along it. */
static number nearest(struct krylov *k, number guess, number *part) {
    number right[MOST] = {1}, left[MOST] = {1}, shift = guess, mu = guess;
    for (int sweep = 0; sweep < 12; sweep++) {
        number image[MOST];
        iterate(k, shift, false, right);
        iterate(k, shift, true, left);
        apply(&k->h, right, image);
        mu = inner(k->m, left, image) / inner(k->m, left, right);
        if (sweep >= 6) shift = mu;
    }
    number share = conj(left[0]) / inner(k->m, left, right);
    for (int i = 0; i < k->m; i++) part[i] = product(share, right[i]);
    return mu;
}

/* mu^n, mu brought to the unit circle, or into it. */
static number power_of(number mu, const struct ht_power *power) {
    double size = cabs(mu), angle = carg(mu) * power->steps;
    double decay = power->conservative ? 1 : fmin(size, 1);
    return pow(decay, power->steps) * ht_complex(cos(angle), sin(angle));
}

static void estimate(struct krylov *k, const struct ht_power *power,
                     struct ht_power_result *out) {
    number part[MOST], x[MOST] = {1}, y[MOST];
    number mu = nearest(k, power->guess, part);
    number grown = power_of(mu, power);
    int first = k->m / 2;
    for (int w = 0; w < power->watched; w++)
        out->value[w] = product(grown, entry(k, power->watch[w], part));
    for (int j = 0; j < k->m; j++) {
        for (int w = 0; w < power->watched && j >= first; w++) {
            number rest =
                entry(k, power->watch[w], x) - entry(k, power->watch[w], part);
            out->rest[w] += pow(cabs(rest), 2) / (k->m - first);
        }
        apply(&k->h, x, y);
        memcpy(x, y, sizeof x);
        for (int i = 0; i < k->m; i++) part[i] = product(mu, part[i]);
    }
    for (int w = 0; w < power->watched; w++) out->rest[w] = sqrt(out->rest[w]);
}

static enum ht_err take_all(const struct ht_linear_map *map,
                            const number *start, const struct ht_power *power,
                            struct ht_power_result *out) {
    number *x[2] = {NULL, NULL};
    int last = 0;
    enum ht_err err = HT_ALLOC(x[0], map->size);
    if (err == HT_OK) err = HT_ALLOC(x[1], map->size);
    if (err == HT_OK) {
        memcpy(x[0], start, (size_t)map->size * sizeof *start);
        int64_t steps = (int64_t)power->steps;
        for (int64_t n = 0; n < steps; n++, last = 1 - last)
            map->apply(map->self, x[last], x[1 - last]);
        for (int w = 0; w < power->watched; w++)
            out->value[w] = x[last][power->watch[w]];
    }
    free(x[0]);
    free(x[1]);
    return err;
}

static enum ht_err take_subspace(const struct ht_linear_map *map,
                                 const number *start,
                                 const struct ht_power *power,
                                 struct ht_power_result *out) {
    struct krylov *k = NULL;
    TRY(HT_ALLOC(k, 1));
    k->size = map->size;
    enum ht_err err = HT_ALLOC(k->basis, (power->most + 1) * k->size);
    if (err == HT_OK) {
        build(map, start, power->most, k);
        if (k->complete || power->steps < k->m) {
            number x[MOST] = {1};
            raise(k, power->steps, x);
            for (int w = 0; w < power->watched; w++)
                out->value[w] = entry(k, power->watch[w], x);
        } else {
            estimate(k, power, out);
        }
        free(k->basis);
    }
    free(k);
    return err;
}

enum ht_err ht_krylov_power(const struct ht_linear_map *map,
                            const number *start, const struct ht_power *power,
                            struct ht_power_result *out) {
    *out = (struct ht_power_result){0};
    REQUIRE(power->most >= 1 && power->most <= MOST, HT_ERR_INTERNAL,
            "%d products: 1 to %d are possible", power->most, MOST);
    return (power->steps <= power->direct ? take_all : take_subspace)(
        map, start, power, out);
}
