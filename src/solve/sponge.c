/* The sponge of Hermite methods (docs/absorbing.md): what polynomials are
 * multiplied by.
 */
#include <math.h>

#include "htwave/absorbing.h"

double ht_sponge_rate(const struct ht_problem *problem,
                      enum ht_subgrid subgrid) {
    const struct ht_layers *layers = problem->layers;
    if (layers == NULL || layers->type != HT_ABSORBING_SPONGE) return 0;
    if (problem->stored[HT_PRIMARY] == problem->stored[HT_DUAL]) return 1;
    return subgrid == HT_PRIMARY ? 2 : 0;
}

bool ht_sponge_damps(const struct ht_problem *problem, enum ht_subgrid subgrid,
                     int axis) {
    return ht_sponge_rate(problem, subgrid) > 0 &&
           (problem->layers->side[axis][0].cells > 0 ||
            problem->layers->side[axis][1].cells > 0);
}

/* Of g = exp(-tau sigma) from i g_i = -tau sum_j j sigma_j g_(i-j). */
void ht_sponge_jets(const struct ht_problem *problem, enum ht_subgrid subgrid,
                    int axis, int64_t node, double *out) {
    const struct ht_layers *layers = problem->layers;
    const double tau = ht_sponge_rate(problem, subgrid) * problem->dt / 2;
    const double at = ht_absorbing_at(subgrid, node);
    const int count = problem->grid->order + 1;
    double sigma[HT_MAX_ORDER + 1];
    ht_layers_jets(layers, axis, at, count, sigma);
    out[0] = exp(-tau * sigma[0]);
    for (int i = 1; i < count; i++) {
        out[i] = 0;
        for (int j = 1; j <= i; j++)
            out[i] -= tau * j * sigma[j] * out[i - j] / i;
    }
}
