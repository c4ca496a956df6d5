/* The error to expect of finite differences. They change a wave's frequency
 * only, omega to Omega (docs/differences.md), so that it errs by
 * 2 sin((Omega - omega) t/2): exact where the medium is uniform.
 *
 * Where it varies, a wave of frequency omega takes the wavelengths of every
 * speed, and turns: |Omega - omega| is at most the largest over the speeds
 * between the least and the largest and over axes, edges and corners of the
 * grid. In a smooth medium that is an upper bound of the phase error.
 */
#include <float.h>
#include <math.h>

#include "fd_plan.h"

enum { SPEEDS = 9 };

/* (Omega - omega)/omega of a wave; INFINITY: it is not carried. */
static double shift_of(const struct ht_plan *plan,
                       const struct ht_fd_weights *w, double speed,
                       const double k[3]) {
    double x = 0, square = 0;
    for (int j = 0; j < plan->grid.dims; j++) {
        const double h = plan->grid.h[j], theta = k[j] * h;
        const double first = ht_fd_first_symbol(w, theta);
        const double nu = speed * plan->problem.dt / h;
        x += nu * nu *
             (plan->problem.fd.density ? first * first
                                       : ht_fd_second_symbol(w, theta));
        square += k[j] * k[j];
    }
    const double sine = x / 4 - (plan->problem.stages > 1 ? x * x / 48 : 0);
    if (!(sine >= 0 && sine <= 1)) return INFINITY;
    return 2 * asin(sqrt(sine)) / (speed * sqrt(square) * plan->problem.dt) - 1;
}

/* The largest magnitude over directions with the same wavelength. */
static double worst_shift(const struct ht_plan *plan,
                          const struct ht_fd_weights *w, double speed,
                          double length) {
    double worst = 0;
    for (int axes = 1; axes < 1 << plan->grid.dims; axes++) {
        const int used = (axes & 1) + (axes >> 1 & 1) + (axes >> 2 & 1);
        double k[3];
        for (int j = 0; j < 3; j++)
            k[j] = (axes >> j & 1) * length / sqrt(used);
        worst = fmax(worst, fabs(shift_of(plan, w, speed, k)));
    }
    return worst;
}

double ht_fd_wave_error(const struct ht_plan *plan, const double k[3]) {
    const struct ht_fd_weights w = ht_fd_weights(plan->order);
    const double pi = acos(-1.0), least = plan->medium->speed_min;
    const double length = sqrt(k[0] * k[0] + k[1] * k[1] + k[2] * k[2]);
    double fastest = least, shift = 0;
    for (int j = 0; j < plan->grid.dims; j++)
        fastest = fmax(fastest, plan->medium->speed[j]);
    if (plan->medium->uniform) shift = fabs(shift_of(plan, &w, least, k));
    for (int i = 0; i < SPEEDS && !plan->medium->uniform; i++) {
        const double speed = least * pow(fastest / least, i / (SPEEDS - 1.0));
        shift =
            fmax(shift, worst_shift(plan, &w, speed, length * least / speed));
    }
    const double phase =
        shift * least * length * plan->problem.dt * (double)plan->steps;
    return phase >= pi ? 2 : 2 * sin(phase / 2);
}

/* A model of measurements: after 10^4 steps in uniform and in rough media of
 * one and two dimensions single precision was off by 0.7 to 7.5 u sqrt n of
 * the wave, u = 2^-24 (test/convergence/rough.c); double by as much of its
 * own u. */
void ht_fd_expect_rounding(const struct ht_plan *plan, bool fp64,
                           struct ht_expected *expected) {
    const double unit = (fp64 ? DBL_EPSILON : FLT_EPSILON) / 2;
    const double r = 2.5 * unit * sqrt((double)plan->steps), side = 4;
    expected->error = hypot(expected->error, r);
    expected->low = fmax(expected->low - side * r, 0);
    expected->high += side * r;
}
