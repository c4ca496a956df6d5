/* What absorbing layers send back, by the equations in them: waves in slices of
 * constant damping, before a rigid wall. The grid's part is measured
 * (plan_layers.c, plan_hermite_layers.c); matched layers of finite differences
 * are taken as they are (fd_reflection.c).
 */
#include <complex.h>
#include <math.h>

#include "htwave/absorbing.h"
#include "src/solve/methods.h"

/* What is damped: p and v alike, u of a second-order equation, or of it the
 * derivative by time (of p and v: p) alone. */
enum damped { PAIR, SINGLE, FIRST };

static enum damped damped_by(const struct ht_problem *problem) {
    const bool pair = ht_equations_first_order(problem->eq);
    if (problem->fd.order > 0) return SINGLE;
    if (problem->layers->type == HT_ABSORBING_CPML) return pair ? PAIR : FIRST;
    if (ht_sponge_rate(problem, HT_DUAL) == 0) return FIRST;
    return pair ? PAIR : SINGLE;
}

/* Of exp(i w t) at a depth: derivatives along the normal are divided by
 * `stretch`, and rate is what damps. */
struct slice {
    double complex stretch;
    double rate;
};

/* In units of the layer's thickness and c. */
static struct slice slice_at(const struct ht_problem *problem,
                             const struct ht_layer *layer, enum damped what,
                             double w, double depth) {
    const double whole = -(layer->degree + 1) * log(layer->reflection) / 2;
    const double sigma = whole * pow(depth, layer->degree);
    const double alpha =
        layer->most > 0 ? layer->alpha * whole / layer->most : 0;
    if (problem->layers->type == HT_ABSORBING_CPML)
        return (struct slice){1 + sigma / (alpha + I * w),
                              sigma * layer->sponge};
    return (struct slice){1, what == FIRST ? 2 * sigma : sigma};
}

/* What comes back of a wave exp(i w t) that goes into the layer at an angle
 * with this cosine: (d/stretch)^2 p = -k^2 p,
 *     k^2 = z^2 - s^2, z = w - i rate,   or, the derivative alone, w z - s^2,
 * s = w sin of the angle. Between slices p'/stretch is continuous, of the pair
 * p'/(stretch z). */
static double complex reflected(const struct ht_problem *problem,
                                const struct ht_layer *layer, double w,
                                double cosine) {
    enum { SLICES = 100 };
    const enum damped what = damped_by(problem);
    const double dx = 1.0 / SLICES, s2 = w * w * (1 - cosine * cosine);
    double complex p = 1, q = 0; /* p' over what makes it continuous */
    for (int n = SLICES - 1; n >= 0; n--) {
        const struct slice slice =
            slice_at(problem, layer, what, w, (n + 0.5) * dx);
        const double complex z = w - I * slice.rate;
        const double complex k = csqrt((what == FIRST ? w * z : z * z) - s2);
        const double complex scale = what == PAIR ? k / z : k;
        const double complex turn = k * slice.stretch * dx;
        const double complex c = ccos(turn), turned = csin(turn);
        const double complex before = c * p - turned / scale * q;
        q = scale * turned * p + c * q;
        p = before;
    }
    q *= I / (what == PAIR ? cosine : w * cosine);
    return (p - q) / (p + q);
}

double ht_layer_returned(const struct ht_problem *problem, int axis, int side,
                         double frequency, double cosine) {
    const double pi = acos(-1.0);
    const struct ht_layer *layer = &problem->layers->side[axis][side];
    if (layer->cells == 0) return 0;
    if (problem->fd.order > 0 && problem->layers->type == HT_ABSORBING_CPML)
        return ht_fd_layer_returned(problem, axis, side, frequency, cosine);
    /* w = omega L/c, from sigma L/c at the wall */
    const double whole = -(layer->degree + 1) * log(layer->reflection) / 2;
    const double w = 2 * pi * frequency * whole / layer->most;
    return w > 0 ? cabs(reflected(problem, layer, w, cosine)) : 1;
}

double ht_sponge_reflection(const struct ht_problem *problem, int axis,
                            int side, double wavelengths, double cosine) {
    enum { WAVES = 25, TIMES = 400 };
    const struct ht_layer *layer = &problem->layers->side[axis][side];
    const double pi = acos(-1.0), apart = 0.1;
    double complex back[WAVES];
    double most = 0, all = 0;
    for (int n = 0; n < WAVES; n++) {
        const double f = apart * (n + 1), weight = f * f * exp(-f * f);
        back[n] = weight *
                  reflected(problem, layer, 2 * pi * wavelengths * f, cosine);
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
