/* Stability of the Hermite-Taylor step: looked up in a table made by tools/stability.py (von
 * Neumann analysis of the half step with q Taylor stages). */
#include "amplification_table.h"
#include "htwave/num.h"
#include "stability_pair.h"
#include "stability_table.h"

/* Polynomials have degree 2N+1 along each axis. First-order systems lower the total degree d (2N+1)
 * by one per stage. Powers of the Laplacian hold even powers of each derivative, at most d N in
 * all: the even series of u_tt = c^2 lap u ends with lap^(dN), after 2dN stages; the odd one,
 * lap^(dN)/(2dN+1)! from u_t to u or grad lap^(dN) between pressure and velocity, has one more. */
int ht_stability_full(enum ht_symbol kind, int dims, int order) {
    if (kind == HT_SYMBOL_ADVECTION || kind == HT_SYMBOL_WAVE) return dims * (2 * order + 1);
    return 2 * dims * order + (kind != HT_SYMBOL_LEAPFROG_EVEN);
}

double ht_stability_cfl(enum ht_symbol kind, int dims, int order, int stages) {
    if (dims < 1 || dims > HT_MAX_DIMS || order < 1 || order > HT_MAX_ORDER || stages < 1) return 0;
    int full = ht_stability_full(kind, dims, order);
    if (stages > full) stages = full;
    if (kind == HT_SYMBOL_PAIR)
        return stages == full ? ht_stability_pair[dims - 1][order - 1] / 100.0 : 0;
    if (kind > HT_SYMBOL_WAVE) return stages == full ? 0.99 : 0;
    if (stages == full) return 1;
    return ht_stability_percent[kind][dims - 1][order - 1][stages - 1] / 100.0;
}

int ht_stability_stages(enum ht_symbol kind, int dims, int order, double cfl) {
    int full = ht_stability_full(kind, dims, order), stages = 2 * order + 1;
    while (stages < full && ht_stability_cfl(kind, dims, order, stages) < cfl) stages++;
    return stages < full ? stages : full;
}

/* The polynomial through the entries of a row. */
double ht_stability_growth(int dims, int order, double cfl) {
    enum { NODES = 5, LEAST = 5 };
    double weight[NODES], sum = 0;
    ht_lagrange_weights(NODES, cfl * (NODES - 1), weight);
    for (int n = 0; n < NODES && order >= LEAST; n++)
        sum += weight[n] * ht_amplification_log[dims - 1][order - LEAST][n];
    return sum;
}
