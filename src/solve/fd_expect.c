/* What to expect of finite differences: points per wavelength, and in a uniform
 * medium the error of one wave by its dispersion, which is known exactly
 * (ht_fd_error). The plan's step and order.
 */
#include <math.h>
#include <string.h>

#include "expect.h"
#include "fd_plan.h"

/* Points of the shortest wave, along the axis where they are fewest. */
static double find_points(const struct ht_plan *plan, double *length) {
    const struct ht_solution *solution = plan->solution;
    double most = 0;
    *length = 0;
    for (int k = 0; k < plan->grid.dims; k++) {
        most = fmax(most, solution->wavenumber[k] * plan->grid.h[k]);
        *length += solution->wavenumber[k] * solution->wavenumber[k];
    }
    *length = solution->single_wave ? sqrt(*length) : solution->wavenumber[0];
    return 2 * acos(-1.0) / fmax(most, solution->theta);
}

enum ht_err ht_fd_expect(struct ht_plan *plan) {
    const struct ht_fd_weights w = ht_fd_weights(plan->problem.fd.order);
    const struct ht_solution *solution = plan->solution;
    double length, fastest = plan->medium->speed[0],
                   slowest = plan->medium->speed_min;
    if (!(solution->theta > 0) || plan->steps == 0) return HT_OK;
    plan->cells_per_wavelength = find_points(plan, &length);
    if (slowest > 0 && slowest < fastest)
        plan->cells_per_wavelength *= slowest / fastest;
    if (!plan->medium->uniform || !solution->single_wave) return HT_OK;
    const double wavelengths =
        plan->params->time.end * fastest * length / (2 * acos(-1.0));
    const double direction[3] = {solution->wavenumber[0],
                                 solution->wavenumber[1],
                                 solution->wavenumber[2]};
    const double h = plan->grid.h[0];
    for (int k = 1; k < plan->grid.dims; k++)
        if (fabs(plan->grid.h[k] - h) > 1e-9 * h) return HT_OK;
    const double error = ht_fd_error(
        &w, plan->problem.stages, direction, 2 * acos(-1.0) / (length * h),
        fastest * plan->problem.dt / h, wavelengths);
    if (isfinite(error))
        plan->expected = (struct ht_expected){error, error / 2, 2 * error,
                                              false, false,     false};
    return HT_OK;
}
