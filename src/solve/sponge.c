/* The sponge of Hermite methods (docs/absorbing.md): what polynomials are
 * multiplied by, and what it reflects.
 */
#include <complex.h>
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

/* ---- reflection ---- */

/* What a sponge damps: p and v alike, u of a second-order equation, or p alone,
 * twice. */
enum damped { PAIR, SINGLE, FIRST };

static enum damped damped_by(const struct ht_problem *problem) {
    if (ht_sponge_rate(problem, HT_DUAL) == 0) return FIRST;
    return ht_equations_first_order(problem->eq) ? PAIR : SINGLE;
}

/* What comes back of a wave exp(i w t) that goes into the layer at an angle
 * with this cosine, in units of the layer's thickness and c: p'' = -k^2 p,
 *     k^2 = z^2 - s^2, z = w - i sigma,   or, p alone, w (w - 2 i sigma) - s^2,
 * s = w sin of the angle, in slices of constant sigma from the rigid wall.
 * Between slices p' is continuous, of the pair p'/z. */
static double complex reflected(const struct ht_layer *layer, enum damped what,
                                double w, double cosine) {
    enum { SLICES = 100 };
    const double most = -(layer->degree + 1) * log(layer->reflection) / 2;
    const double dx = 1.0 / SLICES, s2 = w * w * (1 - cosine * cosine);
    double complex p = 1, q = 0; /* p' or p'/z */
    for (int n = SLICES - 1; n >= 0; n--) {
        const double sigma = most * pow((n + 0.5) * dx, layer->degree);
        const double complex z = w - I * sigma;
        const double complex k =
            csqrt((what == FIRST ? w * (w - 2 * I * sigma) : z * z) - s2);
        const double complex scale = what == PAIR ? k / z : k;
        const double complex c = ccos(k * dx), turned = csin(k * dx);
        const double complex before = c * p - turned / scale * q;
        q = scale * turned * p + c * q;
        p = before;
    }
    q *= I / (what == PAIR ? cosine : w * cosine);
    return (p - q) / (p + q);
}

double ht_sponge_reflection(const struct ht_problem *problem, int axis,
                            int side, double wavelengths, double cosine) {
    enum { WAVES = 25, TIMES = 400 };
    const struct ht_layer *layer = &problem->layers->side[axis][side];
    const enum damped what = damped_by(problem);
    const double pi = acos(-1.0), apart = 0.1;
    double complex back[WAVES];
    double most = 0, all = 0;
    for (int n = 0; n < WAVES; n++) {
        const double f = apart * (n + 1), weight = f * f * exp(-f * f);
        back[n] =
            weight * reflected(layer, what, 2 * pi * wavelengths * f, cosine);
        all += weight;
    }
    for (int m = 0; m < TIMES; m++) {
        double sum = 0;
        for (int n = 0; n < WAVES; n++)
            sum += creal(back[n] * cexp(2 * pi * I * (n + 1) * m / TIMES));
        most = fmax(most, fabs(sum));
    }
    return 20 * log10(most / all);
}
