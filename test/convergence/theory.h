/* What the theory of dispersion expects of finite differences. */
#pragma once

#include "htwave/plan.h"

/* Relative error of a Gaussian (power 0) or a Ricker (power 2) of a frequency after `distance`,
 * along an axis or the diagonal, the worse one. */
static inline double theory(const struct ht_plan *plan, double frequency, double power,
                            double distance) {
    const struct ht_fd_weights w = ht_fd_weights(plan->order);
    const double ways[2][3] = {{1, 0, 0}, {1, 1, 1}};
    const double dt = (plan->problem.fd.undispersed ? 1e-3 : 1) * plan->problem.dt;
    double worst = 0;
    for (int i = 0; i < 2; i++) {
        double sum = 0, whole = 0;
        for (int j = 1; j < 150; j++) {
            const double z = 0.02 * j, f = z * frequency;
            const double energy = pow(z, 2 * power) * exp(-2 * z * z);
            const double error =
                ht_fd_error(&w, plan->problem.stages, ways[i], 1 / f, dt, distance * f);
            whole += energy;
            sum += energy * pow(fmin(error, 2), 2);
        }
        worst = fmax(worst, sqrt(sum / whole));
    }
    return worst;
}
