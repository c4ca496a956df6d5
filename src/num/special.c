/* Special functions, quadrature, Fourier transform, eigenvalues, median. */
#include <complex.h>

#include "htwave/num.h"

double ht_kaiser_sinc(double r, double half, double shape) {
    const double t = r / half, y = shape * shape * (1 - t * t);
    double bessel = 1, term = 1; /* I_0(sqrt(y)), a power series in y/4 */
    if (fabs(t) >= 1) return 0;
    for (int k = 1; term > 1e-18 * bessel; k++) {
        term *= y / (4.0 * k * k);
        bessel += term;
    }
    return (r != 0 ? sin(HT_PI * r) / (HT_PI * r) : 1) * bessel;
}

/* ---- Legendre's polynomials and the quadrature by their zeros ---- */

void ht_legendre(int count, double x, double *out) {
    for (int n = 0; n < count; n++)
        out[n] = n == 0   ? 1
                 : n == 1 ? x
                          : ((2 * n - 1) * x * out[n - 1] - (n - 1) * out[n - 2]) / n;
}

/* Newton's method (Abramowitz and Stegun, 25.4.29). */
void ht_gauss_points(int count, double *x, double *weight) {
    const int n = count;
    double p[HT_GAUSS_MOST + 1] = {0};
    for (int i = 0; i < n; i++) {
        double z = cos(HT_PI * (i + 0.75) / (n + 0.5)), slope = 1;
        for (int sweep = 0; sweep < 20; sweep++) {
            ht_legendre(n + 1, z, p);
            slope = n * (z * p[n] - p[n - 1]) / (z * z - 1);
            z -= p[n] / slope;
        }
        x[i] = z / 2;
        weight[i] = 1 / ((1 - z * z) * slope * slope);
    }
}

/* ---- Gaussians with a flat spectrum ---- */

/* g(x) = phi(x) sum_j (-1)^j/(2^j j!) He_2j(x) with the normal density phi and Hermite's
 * polynomials He, whose n-th derivative takes He_(2j+n) and the sign (-1)^n. He_n(-x) = (-1)^n
 * He_n(x) to the last bit. */
void ht_flat_derivatives(int order, long double x, int count, long double *out) {
    const long double area = sqrtl(2 * acosl(-1.0L));
    const long double density = expl(-x * x / 2) / area;
    long double he[HT_FLAT_DERIVATIVES + 2 * HT_FLAT_ORDER] = {1, x};
    long double factor[HT_FLAT_ORDER] = {1};
    for (int j = 1; j < order; j++) factor[j] = factor[j - 1] / (-2.0L * j);
    for (int n = 2; n < count + 2 * order; n++) he[n] = x * he[n - 1] - (n - 1) * he[n - 2];
    for (int n = 0; n < count; n++) {
        long double sum = 0;
        for (int j = 0; j < order; j++) sum += factor[j] * he[2 * j + n];
        out[n] = (n % 2 ? -density : density) * sum;
    }
}

/* exp(-z) times the terms z^j/j! of the exponential from j = Q on. */
double ht_flat_missing(int order, double wavenumber) {
    const double z = wavenumber * wavenumber / 2;
    double term = exp(-z), below = 0, sum = 0;
    for (int j = 0; j < order; j++) {
        below += term;
        term *= z / (j + 1);
    }
    if (z > order) return 1 - below;
    for (int j = order; term > 1e-17 * sum; j++) {
        sum += term;
        term *= z / (j + 1);
    }
    return sum;
}

/* exp(-i pi part/width) */
static double complex turn_of(int64_t part, int64_t width) {
    const double angle = -HT_PI * (double)part / (double)width;
    return ht_complex(cos(angle), sin(angle));
}

/* Joins transforms of `width` values in pairs. Their factors are made by pieces of values beside
 * each other: those of the first piece times one. */
enum { PIECE = 32 };
static void join(int64_t n, int64_t width, double complex *x) {
    const int64_t piece = ht_least(width, PIECE);
    double complex first[PIECE], turn[PIECE];
    for (int64_t i = 0; i < piece; i++) first[i] = turn_of(i, width);
    for (int64_t from = 0; from < width; from += PIECE) {
        const double complex to = turn_of(from, width);
        for (int64_t i = 0; i < piece; i++) turn[i] = to * first[i];
        for (int64_t at = from; at < n; at += 2 * width)
            for (int64_t i = at; i < at + piece; i++) {
                const double complex odd = turn[i - at] * x[i + width];
                x[i + width] = x[i] - odd;
                x[i] += odd;
            }
    }
}

/* The index of n = 2^bits values after l in the order of bits from the end. */
static int64_t reversed_next(int64_t n, int64_t l) {
    int64_t bit = n / 2;
    for (; l & bit; bit /= 2) l ^= bit;
    return l ^ bit;
}

/* By decimation in time. */
void ht_fourier(int bits, double complex *x) {
    const int64_t n = (int64_t)1 << bits;
    for (int64_t i = 1, j = 0; i < n; i++) {
        j = reversed_next(n, j);
        if (i >= j) continue;
        const double complex before = x[i];
        x[i] = x[j];
        x[j] = before;
    }
    for (int64_t width = 1; width < n; width *= 2) join(n, width, x);
}

static inline void butterfly(double complex by, double *restrict even, double *restrict odd) {
    const double re = creal(by), im = cimag(by);
    for (int lane = 0; lane < HT_LANES; lane++) {
        const double a = re * odd[lane] - im * odd[lane + HT_LANES];
        const double b = re * odd[lane + HT_LANES] + im * odd[lane];
        odd[lane] = even[lane] - a;
        odd[lane + HT_LANES] = even[lane + HT_LANES] - b;
        even[lane] += a;
        even[lane + HT_LANES] += b;
    }
}

void ht_fourier_lanes(int bits, const double complex *turn, ht_lanes *x) {
    const int64_t n = (int64_t)1 << bits;
    for (int64_t i = 1, j = 0; i < n; i++) {
        ht_lanes before;
        j = reversed_next(n, j);
        if (i >= j) continue;
        memcpy(before, x[i], sizeof before);
        memcpy(x[i], x[j], sizeof before);
        memcpy(x[j], before, sizeof before);
    }
    for (int64_t width = 1; width < n; width *= 2)
        for (int64_t at = 0; at < n; at += 2 * width)
            for (int64_t i = 0; i < width; i++)
                butterfly(turn[n / 2 / width * i], x[at + i], x[at + i + width]);
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double ht_median(int count, double *values) {
    qsort(values, (size_t)count, sizeof *values, ascending);
    return values[count / 2];
}

/* ---- eigenvalues of small symmetric matrices, by Jacobi's method ---- */

/* Turns a in the plane of axes p and q so that its entry pq is 0; the columns of V turn with it. */
static void turn(int n, double *a, double *V, int p, int q) {
    const double pq = a[p * n + q], cot = (a[q * n + q] - a[p * n + p]) / (2 * pq);
    if (pq == 0) return;
    const double t = copysign(1, cot) / (fabs(cot) + sqrt(1 + cot * cot));
    const double cosine = 1 / sqrt(1 + t * t), sine = t * cosine;
    a[p * n + p] -= t * pq;
    a[q * n + q] += t * pq;
    a[p * n + q] = a[q * n + p] = 0;
    for (int i = 0; i < n; i++) {
        const double ap = a[i * n + p], aq = a[i * n + q];
        const double vp = V[i * n + p], vq = V[i * n + q];
        V[i * n + p] = cosine * vp - sine * vq;
        V[i * n + q] = sine * vp + cosine * vq;
        if (i == p || i == q) continue;
        a[i * n + p] = a[p * n + i] = cosine * ap - sine * aq;
        a[i * n + q] = a[q * n + i] = sine * ap + cosine * aq;
    }
}

void ht_eigen(int n, double *a, double *V) {
    enum { SWEEPS = 12 }; /* some are enough */
    for (int i = 0; i < n * n; i++) V[i] = i % n == i / n;
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        double rest = 0, all = 0;
        for (int i = 0; i < n * n; i++) {
            all += fabs(a[i]);
            if (i % n != i / n) rest += fabs(a[i]);
        }
        if (rest <= 1e-30 * all) return;
        for (int p = 0; p < n; p++)
            for (int q = p + 1; q < n; q++) turn(n, a, V, p, q);
    }
}
