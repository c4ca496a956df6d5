/* The error to expect of finite differences: of one wave in a uniform medium by
 * its dispersion, which is known exactly (ht_fd_error), where the spacing is
 * the same along all axes.
 */
#include <math.h>

#include "fd_plan.h"

void ht_fd_expect(struct ht_plan *plan) {
    const struct ht_fd_weights w = ht_fd_weights(plan->order);
    const double *k = plan->solution->wavenumber, *h = plan->grid.h;
    const double length = sqrt(k[0] * k[0] + k[1] * k[1] + k[2] * k[2]);
    const double speed = plan->medium->speed[0], turn = 2 * acos(-1.0);
    if (!plan->medium->uniform || !plan->solution->single_wave) return;
    for (int i = 1; i < plan->grid.dims; i++)
        if (fabs(h[i] - h[0]) > 1e-9 * h[0]) return;
    const double error =
        ht_fd_error(&w, plan->problem.stages, k, turn / (length * h[0]),
                    speed * plan->problem.dt / h[0],
                    plan->params->time.end * speed * length / turn);
    if (isfinite(error))
        plan->expected = (struct ht_expected){
            .error = error, .low = error / 2, .high = 2 * error};
}
