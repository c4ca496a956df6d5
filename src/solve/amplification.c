/* How far the Taylor series of a half step amplifies rounding.
 *
 * In a half step u <- A u every product may err by the unit roundoff: A becomes
 * A + E with |E| at most some u |A|, where |A| sums the magnitudes of products
 * (src/solve/oracle.c, absolute mode; Higham, Accuracy and Stability, section
 * 3.1). Factors of interpolation grow like 4^N along each axis and cancel only
 * in the sum over the series, so |A| is far above A at high orders. The
 * eigenvalues of |E| are at most u rho(|A|), rho by power iteration with
 * positive data: on one periodic cell, whose nodes have the same data.
 *
 * Less than u rho grows, since errors are random and the scheme damps. Runs in
 * single precision on 3 to 7 cells along each axis, by kernels that sum the
 * series on the device:
 *
 *     2-D  errors stay linear in time up to 8 (advection along (1,1), N = 8 at
 *          cfl 0.8), and grow from 10 on where nothing is damped (N = 7 at 1),
 *          else from 36 on (N = 8 at 0.9);
 *     3-D  linear up to 32 (acoustic, N = 7 at 1: 22, N = 8 at 0.8: 26;
 *          advection along (1,1,1), N = 5 at 0.98: 32); some grow from 105 on
 *          (acoustic and wave, N = 8 at 0.9), all from 200 on.
 *
 * Hence ht_noise_grows. Variants that apply operators sum the series on the
 * host, in double precision or better.
 */
#include "amplification.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "htwave/kernel.h"
#include "htwave/oracle.h"
#include "htwave/part.h"
#include "htwave/plan.h"

/* The cell has the run's CFL numbers, with all materials 1. */
static void make_cell(const struct ht_problem *problem, const double speed[3],
                      struct ht_part *cell) {
    const struct ht_box box = {.end = {1, 1, 1}};
    const double least = 1e-6; /* an axis without a wave */
    double ones[HT_MAX_MATERIALS], most = 0;
    for (int m = 0; m < HT_MAX_MATERIALS; m++) ones[m] = 1;
    ht_problem_part(problem, &box, HT_SIDES_PERIODIC, HT_MEDIUM_TEST, cell);
    cell->problem.medium_degree = -1;
    cell->problem.medium_coefs = 0;
    cell->problem.medium_fill = NULL;
    for (int m = 0; m < HT_MAX_MATERIALS; m++) cell->problem.uniform[m] = 1;
    for (int k = 0; k < cell->grid.dims; k++) most = fmax(most, speed[k]);
    for (int k = 0; k < cell->grid.dims; k++)
        cell->grid.h[k] *=
            problem->eq->system->speed(ones, k) / fmax(speed[k], least * most);
}

/* A half step of x, all values of a grid, from a grid to the other, where a
 * scheme of two levels finds zeros. Divides by the largest value, *growth. */
static enum ht_err half_step(const struct ht_part *cell,
                             const struct ht_stepper *oracle,
                             enum ht_subgrid from, double *x, double *zeros,
                             double *growth) {
    const enum ht_subgrid to = from == HT_PRIMARY ? HT_DUAL : HT_PRIMARY;
    const int coefs = ht_grid_coefs(&cell->grid);
    const int fields = cell->problem.eq->nfields, count = fields * coefs;
    TRY(oracle->ops->put(oracle->self, to, 0, 1, zeros));
    TRY(oracle->ops->put(oracle->self, from, 0, 1, x));
    TRY(oracle->ops->half_step(oracle->self, from));
    TRY(oracle->ops->finish(oracle->self));
    for (int n = 0; n < count; n++) x[n] = 0;
    for (int f = 0; f < fields; f++)
        if (ht_problem_stores(&cell->problem, to, f))
            TRY(oracle->ops->get(oracle->self, to, f, coefs, 0, 1,
                                 x + (ptrdiff_t)f * coefs));
    *growth = 0;
    for (int n = 0; n < count; n++) *growth = fmax(*growth, x[n]);
    if (*growth == 0) return HT_OK;
    for (int n = 0; n < count; n++) x[n] /= *growth;
    return HT_OK;
}

static enum ht_err iterate(const struct ht_part *cell,
                           const struct ht_stepper *oracle, double *x,
                           double *zeros, double *out) {
    const int most = 40;
    const double close = 0.01;
    double before = 0;
    for (int i = 0; i < most; i++) {
        double there, back;
        TRY(half_step(cell, oracle, HT_PRIMARY, x, zeros, &there));
        TRY(half_step(cell, oracle, HT_DUAL, x, zeros, &back));
        *out = sqrt(there * back);
        if (fabs(*out - before) <= close * *out) break;
        before = *out;
    }
    return HT_OK;
}

enum ht_err ht_series_amplification(const struct ht_problem *problem,
                                    const double speed[3], double *out) {
    struct ht_part cell;
    struct ht_stepper oracle = {.ops = NULL};
    double *x = NULL, *zeros = NULL;
    *out = 0;
    if (fmax(speed[0], fmax(speed[1], speed[2])) == 0) return HT_OK;
    make_cell(problem, speed, &cell);
    const int count = ht_grid_coefs(&cell.grid) * cell.problem.eq->nfields;
    enum ht_err err = HT_ALLOC(x, count);
    if (err == HT_OK) err = HT_ALLOC(zeros, count);
    if (err == HT_OK) err = ht_oracle_create(&cell.problem, &oracle);
    if (err == HT_OK) {
        ht_oracle_absolute(&oracle);
        for (int n = 0; n < count; n++) x[n] = 1;
        err = iterate(&cell, &oracle, x, zeros, out);
    }
    ht_stepper_destroy(&oracle);
    free(zeros);
    free(x);
    return err;
}

bool ht_series_grows(const struct ht_problem *problem) {
    return ht_noise_grows(problem->amplification * FLT_EPSILON / 2,
                          problem->eq->dims);
}

enum ht_err ht_plan_quiet_cfl(const struct ht_plan *plan, double *cfl) {
    const int halvings = 10;
    double below = 0, above = plan->cfl;
    for (int i = 0; i < halvings; i++) {
        struct ht_problem slower = plan->problem;
        const double middle = (below + above) / 2;
        slower.dt *= middle / plan->cfl;
        TRY(ht_series_amplification(&slower, plan->medium->speed,
                                    &slower.amplification));
        if (ht_series_grows(&slower))
            above = middle;
        else
            below = middle;
    }
    *cfl = below;
    return HT_OK;
}
