/* How far the Taylor series of a half step amplifies rounding.
 *
 * In a half step u <- A u every product may err by the unit roundoff: A becomes A + E with |E| at
 * most some u |A|, where |A| sums the magnitudes of products (src/hermite/oracle.c, absolute mode;
 * Higham, Accuracy and Stability, section 3.1). Factors of interpolation grow like 4^N along each
 * axis and cancel only in the sum over the series, so |A| is far above A at high orders. The
 * eigenvalues of |E| are at most u rho(|A|). tools/amplification.py finds rho, on one periodic
 * cell, whose nodes have the same data.
 *
 * The table is of acoustics with equal cfl along all axes. `wave` and both by leapfrog have the
 * same within 6 % from cfl 0.4 on, and with unequal cfl the root of their mean square counts,
 * within 17 %. Where a system translates the series is a product over the axes, and rho, too.
 *
 * Less than u rho grows, since errors are random and the scheme damps. Runs in single precision on
 * 3 to 7 cells along each axis, by kernels that sum the series on the device:
 *
 *     2-D  errors stay linear in time up to 8 (advection along (1,1), N = 8 at
 *          cfl 0.8), and grow from 10 on where nothing is damped (N = 7 at 1),
 *          else from 36 on (N = 8 at 0.9);
 *     3-D  linear up to 32 (acoustic, N = 7 at 1: 22, N = 8 at 0.8: 26;
 *          advection along (1,1,1), N = 5 at 0.98: 32); some grow from 105 on
 *          (acoustic and wave, N = 8 at 0.9), all from 200 on.
 *
 * Hence ht_noise_grows. Variants that apply operators sum the series on the host, in double
 * precision or better.
 */
#include "amplification.h"

#include <float.h>
#include <math.h>

#include "htwave/plan.h"

double ht_series_amplification(const struct ht_problem *problem, const double speed[3]) {
    const struct ht_grid *grid = problem->grid;
    double axes = 0, square = 0;
    for (int k = 0; k < grid->dims; k++) {
        const double cfl = speed[k] * problem->dt / grid->h[k];
        axes += ht_stability_growth(1, grid->order, cfl);
        square += cfl * cfl;
    }
    if (square == 0) return 0;
    if (problem->eq->translates) return exp(axes);
    return exp(ht_stability_growth(grid->dims, grid->order, sqrt(square / grid->dims)));
}

bool ht_series_grows(const struct ht_problem *problem) {
    return ht_noise_grows(problem->amplification * FLT_EPSILON / 2, problem->eq->dims);
}

double ht_plan_quiet_cfl(const struct ht_plan *plan) {
    const int halvings = 10;
    double below = 0, above = plan->cfl;
    for (int i = 0; i < halvings; i++) {
        struct ht_problem slower = plan->problem;
        const double middle = (below + above) / 2;
        slower.dt *= middle / plan->cfl;
        slower.amplification = ht_series_amplification(&slower, plan->medium->speed);
        if (ht_series_grows(&slower))
            above = middle;
        else
            below = middle;
    }
    return below;
}
