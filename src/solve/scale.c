/* The power of two by which a run's state is larger than its fields. All equations are linear, so
 * that it changes nothing but the range of numbers: in single precision squares of 1e19 overflow,
 * and values below 1e-38 are lost. It follows from the largest values of the initial data and from
 * what sources bring, and is 1 where these are no extreme numbers. */
#include "htwave/plan.h"

/* How far the Taylor series of a half step amplifies rounding: rho(|A|) of
 * docs/developers/method.md, section 11, which tools/amplification.py finds on one periodic cell,
 * whose nodes have the same data.
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
 * precision or better. */

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

/* What each field would have in waves of energy density 1/2, nearly. */
static HT_ERR find_units(const struct ht_plan *plan, double unit[HT_MAX_FIELDS]) {
    const struct ht_grid *grid = &plan->grid;
    double middle[3], material[HT_MAX_MATERIALS], h = ht_grid_widest(grid);
    for (int k = 0; k < 3; k++) middle[k] = ht_grid_middle(grid, k);
    for (int f = 0; f < HT_MAX_FIELDS; f++) unit[f] = 1;
    TRY(ht_medium_point(plan->medium, middle, material));
    HT_EACH(const struct ht_energy_term, term, plan->eq.energy, plan->eq.nenergy) {
        const double scale = term->material >= 0 ? material[term->material] : 1;
        unit[term->field] = sqrt(fabs(scale)) * (term->gradient ? h : 1);
    }
    return HT_OK;
}

/* That a snapshot holds only as infinite. */
static HT_ERR refuse_value(const struct ht_plan *plan, int field, int64_t node, double value) {
    const struct ht_params *params = plan->params;
    const enum ht_data_type type = params->initial.type;
    const char *key = type == HT_DATA_EXPRESSION
                          ? HT_KEY("initial.values.%s", plan->eq.field[field].name)
                      : type == HT_DATA_FILE              ? "initial.file"
                      : params->initial.pulses.count == 0 ? "initial.amplitude"
                                                          : "initial.pulses";
    double x[3];
    ht_grid_position(&plan->grid, HT_PRIMARY, node, x);
    return ht_params_error(params, key,
                           "%s is %.6g at %s, which single precision, up to %.3g, cannot hold: "
                           "take device.precision = \"double\", or other units",
                           plan->eq.field[field].name, value, HT_PLACED(&plan->grid, x),
                           (double)FLT_MAX);
}

/* In these units: of the values of a solution at the nodes. */
static HT_ERR find_most(const struct ht_plan *plan, const struct ht_solution *solution,
                        const double unit[HT_MAX_FIELDS], double *most) {
    const int64_t plane = ht_grid_plane(solution->grid, HT_PRIMARY);
    const int64_t field = plane * ht_grid_coefs(solution->grid);
    const struct ht_range own = ht_grid_own(solution->grid, HT_PRIMARY);
    HT_ARRAY(double, values, field * plan->eq.nfields);
    for (int64_t m = own.first; m < own.last; m++) {
        TRY(ht_solution_fill(solution, HT_PRIMARY, 0, m, m + 1, values));
        for (int f = 0; f < plan->eq.nfields; f++)
            for (int64_t n = 0; n < plane; n++) {
                const double value = values[f * field + n];
                if (!isfinite(value)) continue;
                if (fabs(value) > FLT_MAX && !ht_in_double(plan->params))
                    return refuse_value(plan, f, m * plane + n, value);
                *most = fmax(*most, fabs(value) / unit[f]);
            }
    }
    return HT_OK;
}

/* Without derivatives; a file may have them. */
static HT_ERR find_data(const struct ht_plan *plan, const double unit[HT_MAX_FIELDS],
                        double *most) {
    struct ht_grid grid = plan->grid;
    struct ht_medium medium = *plan->medium;
    struct ht_solution *solution = NULL;
    if (plan->params->initial.type == HT_DATA_FILE)
        return find_most(plan, plan->solution, unit, most);
    grid.order = 0;
    medium.grid = &grid;
    enum ht_err err = ht_solution_create(plan->params, &medium, &solution);
    if (err == HT_OK) err = find_most(plan, solution, unit, most);
    ht_solution_destroy(solution);
    return err;
}

/* Of sources: g in a cell, while a wave crosses it. */
static double find_sources(const struct ht_plan *plan) {
    const struct ht_grid *grid = &plan->grid;
    double volume = 1, time = INFINITY, most = 0;
    for (int k = 0; k < grid->dims; k++) {
        volume *= grid->h[k];
        time = fmin(time, grid->h[k] / plan->medium->speed[k]);
    }
    HT_EACH_SHOT(shot, plan->shots)
        most = fmax(most, shot->norm * fabs(shot->amplitude) * shot->signal->largest * time *
                              sqrt(2 / volume));
    return most;
}

/* Files of a run in single precision hold numbers of single precision. */
static void warn_range(const struct ht_plan *plan, double most, const double unit[HT_MAX_FIELDS]) {
    const double low = FLT_MIN / FLT_EPSILON, high = FLT_MAX / 10;
    for (int f = 0; f < plan->eq.nfields && !ht_in_double(plan->params); f++) {
        const double value = most * unit[f];
        /* shear stress in a fluid, whose unit is 0, has no values */
        if (!ht_problem_stores(&plan->problem, HT_PRIMARY, f) || unit[f] == 0 ||
            (value >= low && value <= high))
            continue;
        ht_warn(
            "values of %s near %.1g leave the range of single precision, %.1g to %.1g, in which "
            "files hold them: take device.precision = \"double\", or other units or amplitudes",
            plan->eq.field[f].name, value, low, high);
        return;
    }
}

HT_ERR ht_plan_choose_scale(struct ht_plan *plan) {
    const double usual = 1e10;
    double unit[HT_MAX_FIELDS], most = 0, low = INFINITY, high = 0;
    if (plan->scale != 1) return HT_OK;
    enum ht_err err = find_units(plan, unit);
    if (err == HT_OK && !plan->solution->rest) err = find_data(plan, unit, &most);
    TRY(ht_comm_agree(plan->grid.slab.comm, err));
    TRY(ht_comm_max(plan->grid.slab.comm, 1, &most));
    most = fmax(most, find_sources(plan));
    if (!(most > 0) || !isfinite(most)) return HT_OK;
    warn_range(plan, most, unit);
    for (int f = 0; f < plan->eq.nfields; f++) {
        if (unit[f] == 0) continue;
        low = fmin(low, most * unit[f]);
        high = fmax(high, most * unit[f]);
    }
    if (low >= 1 / usual && high <= usual) return HT_OK;
    const int power = (int)-lround((log2(low) + log2(high)) / 2);
    plan->scale = ldexp(1, (int)ht_most(-1000, ht_least(1000, power)));
    HT_EACH_SHOT(shot, plan->shots) shot->amplitude *= plan->scale;
    return HT_OK;
}

void ht_plan_multiply(const struct ht_plan *plan, bool divide, int64_t count, double *values) {
    const double factor = divide ? 1 / plan->scale : plan->scale;
    for (int64_t n = 0; n < count && factor != 1; n++) values[n] *= factor;
}
