/* The energy that finite differences conserve exactly but for rounding (docs/differences.md), with
 * <x, y> = h^d sum x y / K, half of it on walls, and d = u(t_n) - u(t_(n-1)):
 *     E = (<d, d>/dt^2 - <u(t_(n-1)), M u(t_n)>) / 2.
 * Positive while dt omega stays below the limit of the series.
 */
#include <float.h>
#include <math.h>

#include "fd.h"
#include "src/solve/methods.h"

/* z = dt^2 M u. */
static enum ht_err find_energy(struct ht_fd_stepper *s, double *energy, struct ht_measure *u) {
    const struct ht_fd_array v = s->values[HT_FD_U], d = s->values[HT_FD_D];
    const double dt = s->problem.dt;
    struct ht_measure dz, dd;
    double volume = 1;
    for (int k = 0; k < s->engine.spec.dims; k++) volume *= s->problem.grid->h[k];
    TRY(ht_fd_clear(s, s->z));
    TRY(ht_fd_apply(s, 1, s->z));
    TRY(ht_fd_total(s, v, s->z, s->level, u));
    TRY(ht_fd_total(s, d, s->z, 0, &dz));
    TRY(ht_fd_total(s, d, d, 0, &dd));
    *energy = volume / (2 * dt * dt) * (dd.sum - u->sum + dz.sum);
    return HT_OK;
}

/* ---- with layers ---- */

void ht_fd_part_cut(const struct ht_fd_stepper *s, int k, int side, bool inside,
                    struct ht_fd_part *part) {
    const int64_t cells = s->problem.layers->side[k][side].cells;
    const int64_t first = s->box.begin[k] - (k == 2 ? s->first : 0);
    const int64_t past = first + s->problem.grid->cells[k] + 1 - cells;
    const bool below = inside == (side == 0);
    const int64_t at = side == 0 ? first + cells : past;
    if (below)
        part->box.end[k] = ht_least(part->box.end[k], at);
    else
        part->box.begin[k] = ht_most(part->box.begin[k], at);
    part->ends.half[k][below ? 1 : 0] = false;
}

void ht_fd_part_open(const struct ht_fd_stepper *s, struct ht_fd_part *part) {
    *part = (struct ht_fd_part){s->box, s->ends};
    for (int n = 0; n < 2 * s->engine.spec.dims; n++)
        if (s->problem.layers->side[n / 2][n % 2].cells > 0)
            ht_fd_part_cut(s, n / 2, n % 2, false, part);
}

static enum ht_err product(struct ht_fd_stepper *s, const struct ht_fd_part *part,
                           struct ht_fd_array x, struct ht_fd_array y, struct ht_measure *out) {
    return ht_fd_part_total(s, &part->box, &part->ends, x, y, 0, out);
}

/* Of a node outside of layers all its energy counts, as differences, so that parts have one; inside
 * only that of u's rate: gradients there are as steep as the layer is thin, however long the waves.
 * In layers of its sides, too. */
static enum ht_err find_open(struct ht_fd_stepper *s, struct ht_state *out, struct ht_measure *u) {
    const double dt = s->problem.dt;
    const struct ht_fd_work slope = {
        .box = s->box, .law = ht_fd_scaled(&s->law, dt * dt), .u = s->values[HT_FD_U], .out = s->z};
    const struct ht_fd_array d = s->values[HT_FD_D];
    const struct ht_fd_part all = {s->box, s->ends};
    struct ht_fd_part inner;
    struct ht_measure dz, dd, slopes, rate, outside;
    double half = 1 / (2 * dt * dt);
    for (int k = 0; k < s->engine.spec.dims; k++) half *= s->problem.grid->h[k];
    ht_fd_part_open(s, &inner);
    TRY(ht_fd_clear(s, s->z));
    TRY(ht_fd_apply(s, 1, s->z)); /* and u's ghosts */
    TRY(ht_fd_part_total(s, &all.box, &all.ends, s->values[HT_FD_U], s->z, s->level, u));
    TRY(product(s, &inner, d, s->z, &dz));
    TRY(product(s, &inner, d, d, &dd));
    TRY(s->engine.ops->squares(&s->engine, &slope));
    TRY(product(s, &inner, s->z, s->z, &slopes));
    TRY(product(s, &all, d, d, &rate));
    TRY(product(s, &inner, d, d, &outside));
    out->energy = half * (dd.sum + dz.sum + slopes.mean + (rate.sum - outside.sum));
    for (int n = 0; n < 2 * s->engine.spec.dims; n++) {
        struct ht_fd_part layer = all;
        struct ht_measure sum;
        if (s->problem.layers->side[n / 2][n % 2].cells == 0) continue;
        ht_fd_part_cut(s, n / 2, n % 2, true, &layer);
        TRY(product(s, &layer, d, d, &sum));
        out->layer[n / 2][n % 2] = half * sum.sum;
    }
    return HT_OK;
}

/* What is in layers at the start counts as a whole. */
static enum ht_err find_state(struct ht_fd_stepper *s, struct ht_state *out, struct ht_measure *u) {
    *out = (struct ht_state){.energy = 0};
    return s->problem.layers != NULL && s->at > 0 ? find_open(s, out, u)
                                                  : find_energy(s, &out->energy, u);
}

/* Without a mass there is no energy: before the first step of none. */
static bool known(const struct ht_plan *plan) {
    return plan->problem.dt > 0;
}

static enum ht_err measure(const struct ht_plan *plan, const struct ht_stepper *stepper,
                           double *energy) {
    struct ht_measure sums;
    struct ht_state state;
    (void)plan;
    TRY(find_state(ht_fd_stepper_of(stepper), &state, &sums));
    *energy = state.energy;
    return HT_OK;
}

const struct ht_invariant ht_fd_energy = {.known = known, .measure = measure};

/* The root of E grows in a step by at most |S| / (dt sqrt(2 k)), where S is what the sources add to
 * d, since a step's work is <S, u(t+dt) - u(t-dt)>/(2 dt^2), and |d|^2/dt^2 <= 2 E/k with k = 1 -
 * dt^2 max(-M)/4; with two terms dt^2 M is -z + z^2/12, at least -3. */
static double find_driven(const struct ht_plan *plan, const struct ht_fd_stepper *s) {
    const double part = plan->cfl / plan->cfl_limit;
    const double k = plan->problem.stages > 1 ? 0.25 : 1 - part * part;
    if (s->injection == NULL || !known(plan)) return 0;
    return s->injection->driven / (plan->problem.dt * sqrt(2 * k));
}

enum ht_err ht_differences_state_measure(const struct ht_plan *plan,
                                         const struct ht_stepper *stepper, double time,
                                         struct ht_state *out) {
    struct ht_fd_stepper *s = ht_fd_stepper_of(stepper);
    struct ht_measure sums;
    *out = (struct ht_state){.energy = 0};
    if (known(plan))
        TRY(find_state(s, out, &sums));
    else
        TRY(ht_fd_total(s, s->values[HT_FD_U], s->values[HT_FD_U], s->level, &sums));
    if (sums.bad > 0) return ht_fd_not_finite(s, plan->eq.second_order.field, time, &sums);
    if (known(plan)) {
        /* Of the field itself, and of what the energy's terms round by: each value of dt^2 M u by
         * some units of u. */
        const double unit = s->engine.spec.fp64 ? DBL_EPSILON : FLT_EPSILON;
        const struct ht_fd_array u = s->values[HT_FD_U];
        struct ht_measure squares;
        TRY(ht_fd_total(s, u, u, 0, &squares));
        out->held = squares.sum / 2;
        for (int k = 0; k < s->engine.spec.dims; k++) out->held *= s->problem.grid->h[k];
        out->rounding = 16 * unit * out->held / pow(s->problem.dt, 2);
    }
    out->driven = find_driven(plan, s);
    out->of_rate = ht_equations_first_order(&plan->eq);
    out->partial = plan->problem.layers != NULL && time <= 0;
    out->content = out->energy;
    out->largest[plan->eq.second_order.field] = sums.largest;
    return HT_OK;
}

const char *ht_differences_growth_cause(const struct ht_plan *plan) {
    if (plan->problem.layers == NULL)
        return "the largest stable step was estimated too long for this medium, or the device "
               "computes wrongly; take a smaller time.cfl";
    if (plan->layers.type == HT_ABSORBING_SPONGE)
        return "the largest stable step was estimated too long for this medium; take a smaller "
               "time.cfl";
    return "waves grow in the absorbing layers, or the largest stable step was estimated too long "
           "for this medium; take a smaller time.cfl or absorbing.type = \"sponge\"";
}
