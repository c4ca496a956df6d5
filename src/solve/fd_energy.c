/* The energy that finite differences conserve exactly but for rounding
 * (docs/differences.md), with <x, y> = h^d sum x y / K, half of it on
 * walls, and d = u(t_n) - u(t_(n-1)):
 *     E = (<d, d>/dt^2 - <u(t_(n-1)), M u(t_n)>) / 2.
 * Positive while dt omega stays below the limit of the series.
 */
#include <math.h>

#include "fd.h"
#include "methods.h"

/* What the nodes of a part have of the energy, z = dt^2 M u. */
static enum ht_err energy_of(struct ht_fd_stepper *s,
                             const struct ht_fd_box *part,
                             const struct ht_fd_ends *ends, double *energy,
                             struct ht_fd_sum *u) {
    const struct ht_fd_array v = s->values[HT_FD_U], d = s->values[HT_FD_D];
    const double dt = s->problem.dt;
    struct ht_fd_sum dz, dd;
    double volume = 1;
    for (int k = 0; k < s->engine.spec.dims; k++)
        volume *= s->problem.grid->h[k];
    TRY(ht_fd_part_total(s, part, ends, v, s->z, s->level, u));
    TRY(ht_fd_part_total(s, part, ends, d, s->z, 0, &dz));
    TRY(ht_fd_part_total(s, part, ends, d, d, 0, &dd));
    *energy = volume / (2 * dt * dt) * (dd.product - u->product + dz.product);
    return HT_OK;
}

/* w is scratch. */
static enum ht_err find_energy(struct ht_fd_stepper *s, double *energy,
                               struct ht_fd_sum *u) {
    TRY(ht_fd_clear(s, s->z));
    TRY(ht_fd_apply(s, 1, s->z));
    return energy_of(s, &s->box, &s->ends, energy, u);
}

/* The energies in the layers, after find_energy; that of a corner in both. */
static enum ht_err find_layers(struct ht_fd_stepper *s, double out[3][2]) {
    const struct ht_grid *grid = s->problem.grid;
    for (int n = 0; n < 2 * grid->dims && s->problem.layers != NULL; n++) {
        const int k = n / 2, side = n % 2;
        const int64_t cells = s->problem.layers->side[k][side].cells;
        const int64_t first = s->box.begin[k] - (k == 2 ? s->first : 0);
        const int64_t past = first + grid->cells[k] + 1 - cells;
        struct ht_fd_box part = s->box;
        struct ht_fd_ends ends = s->ends;
        struct ht_fd_sum sum;
        if (cells == 0) continue;
        if (side == 0)
            part.end[k] = ht_least(part.end[k], first + cells);
        else
            part.begin[k] = ht_most(part.begin[k], past);
        ends.half[k][1 - side] = false;
        TRY(energy_of(s, &part, &ends, &out[k][side], &sum));
    }
    return HT_OK;
}

/* Without a mass there is no energy: before the first step of none. */
static bool known(const struct ht_plan *plan) {
    return plan->problem.dt > 0;
}

static enum ht_err measure(const struct ht_plan *plan,
                           const struct ht_stepper *stepper, double *energy) {
    struct ht_fd_sum sums;
    (void)plan;
    return find_energy(ht_fd_stepper_of(stepper), energy, &sums);
}

const struct ht_invariant ht_fd_energy = {.known = known, .measure = measure};

static enum ht_err not_finite(const struct ht_fd_stepper *s, double time,
                              const struct ht_fd_sum *sums) {
    const struct ht_grid *grid = s->problem.grid;
    const int64_t node = sums->first > 0 ? sums->first : 0;
    const int64_t n1 = ht_grid_nodes(grid, HT_PRIMARY, 0);
    const int64_t n2 = ht_grid_nodes(grid, HT_PRIMARY, 1);
    FAIL(HT_ERR_NOT_FINITE, "%s is not finite at (%g, %g, %g), time %g",
         s->problem.eq->field[s->problem.eq->system->second_order.field].name,
         ht_grid_x(grid, HT_PRIMARY, 0, node % n1),
         ht_grid_x(grid, HT_PRIMARY, 1, node / n1 % n2),
         ht_grid_x(grid, HT_PRIMARY, 2, node / (n1 * n2)), time);
}

/* The root of E grows in a step by at most |S| / (dt sqrt(2 k)), where S is
 * what the sources add to d, since a step's work is <S, u(t+dt) - u(t-dt)>/(2
 * dt^2), and |d|^2/dt^2 <= 2 E/k with k = 1 - dt^2 max(-M)/4; with two terms
 * dt^2 M is -z + z^2/12, at least -3. */
static double find_driven(const struct ht_plan *plan,
                          const struct ht_fd_stepper *s) {
    const double part = plan->cfl / plan->cfl_limit;
    const double k = plan->problem.stages > 1 ? 0.25 : 1 - part * part;
    if (s->injection == NULL || !known(plan)) return 0;
    return s->injection->driven / (plan->problem.dt * sqrt(2 * k));
}

enum ht_err ht_differences_state_measure(const struct ht_plan *plan,
                                         const struct ht_stepper *stepper,
                                         double time, struct ht_state *out) {
    struct ht_fd_stepper *s = ht_fd_stepper_of(stepper);
    struct ht_fd_sum sums;
    *out = (struct ht_state){.energy = 0};
    if (known(plan))
        TRY(find_energy(s, &out->energy, &sums));
    else
        TRY(ht_fd_total(s, s->values[HT_FD_U], s->values[HT_FD_U], s->level,
                        &sums));
    if (sums.bad > 0) return not_finite(s, time, &sums);
    if (known(plan)) TRY(find_layers(s, out->layer));
    out->driven = find_driven(plan, s);
    out->content = out->energy;
    out->largest[plan->eq.system->second_order.field] = sums.largest;
    return HT_OK;
}
