/* Eigenvalues of small symmetric matrices by Jacobi's method. */
#include <math.h>

#include "htwave/num.h"

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
