/* Detects instability by the growth of the energy (docs/developers/method.md, section 9), long
 * before values overflow. At all times the energy is judged against what data and sources can have
 * brought, and from the end of the sources on against its least value since. The smaller growth of
 * two energies of a state counts, since each alone can rise in a correct run; if the two differ,
 * the data are not resolved and the energy is known only roughly. */
#include "htwave/energy.h"

/* What data and sources bring to the energy of a run: of a source the root of g's own energy
 * counts, of a delta that of its shape: a Gaussian of docs/developers/sources.md, or what the grid
 * of finite differences carries, one node per spacing. */

/* ---- shapes ---- */

/* The integral of g^2 of a Gaussian of order Q and known width along an axis, by its spectrum. */
static double gaussian_square(int order, double width) {
    const double apart = 0.05;
    const int count = (int)((sqrt(2.0 * order) + 6) / apart);
    double sum = 0;
    for (int i = 0; i < count; i++) sum += pow(1 - ht_flat_missing(order, (i + 0.5) * apart), 2);
    return sum * apart / (HT_PI * width);
}

/* Integral of g^2 of a shot's point along an axis; *reach: where it ends. */
static double axis_square(const struct ht_plan *plan, const struct ht_shot *s, int axis,
                          double *reach) {
    const double h = plan->grid.h[axis], between = 1.3; /* nodes */
    *reach = 0;
    if (!s->varies[axis]) return plan->grid.upper[axis] - plan->grid.lower[axis];
    if (plan->duhamel != NULL) {
        const struct ht_source_form *form = &plan->duhamel->form[s - plan->shots->shot];
        *reach = form->reach[axis] * h;
        return gaussian_square(form->order, form->along[axis] * h);
    }
    *reach = s->width > 0 ? HT_POINT_WIDEST * s->width : ht_point_reach(&plan->grid) * h;
    return s->width > 0 ? gaussian_square(1, s->width) : between / h;
}

/* At most: mirror images behind walls, or across a periodic box, add n parts of g, whose squares
 * together are those of g, and so n times that. */
static double parts_along(const struct ht_grid *grid, int axis, double x, double reach) {
    double parts = 1 + floor(2 * reach / (grid->upper[axis] - grid->lower[axis]));
    for (int side = 0; side < 2; side++)
        parts += !ht_grid_periodic(grid, axis) &&
                 fabs(x - (side ? grid->upper[axis] : grid->lower[axis])) < reach;
    return parts;
}

/* Half of g^T C^+ g of the fields that a shot of a pair drives, C of the materials at x. */
static HT_ERR pair_density(const struct ht_plan *plan, const struct ht_shot *s, const double x[3],
                           double *out) {
    double c[HT_MAX_FIELDS][HT_MAX_FIELDS] = {{0}}, g[HT_MAX_DRIVES], y[HT_MAX_DRIVES];
    double of[HT_MAX_DRIVES];
    struct ht_pair pair;
    (void)ht_pair_make(&plan->eq, HT_PAIR_TOGETHER, &pair);
    for (int i = 0; i < s->drives; i++) {
        for (int t = 0; t < pair.nterms; t++)
            for (int j = 0; j < s->drives; j++) {
                const struct ht_pair_term *term = &pair.term[t];
                if (term->row != s->drive[i].field || term->partner != s->drive[j].field) continue;
                const int material = pair.coefficient[term->coefficient].material;
                TRY(ht_medium_parameter(plan->medium, plan->eq.system->material[material].name, x,
                                        &c[i][j]));
            }
        of[i] = g[i] = s->drive[i].weight * (s->drive[i].material >= 0 ? c[i][i] : 1);
    }
    ht_pair_invert(s->drives, c, g, y);
    for (int i = 0; i < s->drives; i++) *out += of[i] * y[i] / 2;
    return HT_OK;
}

/* Energy of g of one point; *widest: the largest reach. */
static HT_ERR point_square(const struct ht_plan *plan, const struct ht_shot *s, int n,
                           double *widest, double *out) {
    const int of_drive = s->drive[0].material;
    const int material = of_drive < 0 ? plan->eq.second_order.modulus : of_drive;
    double x[3], value = 1;
    const bool pair = plan->problem.early != 0;
    ht_shot_position(s, n, x);
    if (material >= 0 && !pair)
        TRY(ht_medium_parameter(plan->medium, plan->eq.system->material[material].name, x, &value));
    /* g is the material delta, or delta alone, in a field divided by the material in the energy */
    *out = pair ? 0 : of_drive < 0 ? 0.5 / value : value / 2;
    if (pair) TRY(pair_density(plan, s, x, out));
    *widest = 0;
    for (int k = 0; k < plan->grid.dims; k++) {
        double reach;
        *out *= axis_square(plan, s, k, &reach);
        *out *= parts_along(&plan->grid, k, x[k], reach);
        *widest = fmax(*widest, reach);
    }
    return HT_OK;
}

/* Of a plane wave's box: beside each face two cells of the wave in a time of h/c, twice. */
static HT_ERR surface_norm(const struct ht_plan *plan, const struct ht_shot *s, double *out) {
    const struct ht_second_order *form = &plan->eq.second_order;
    const int of = s->drive[0].material < 0 ? form->modulus : s->drive[0].material;
    double material[HT_MAX_MATERIALS], sum = 0;
    TRY(ht_medium_point(plan->medium, s->first, material));
    for (int k = 0; k < plan->grid.dims; k++) {
        const double h = plan->grid.h[k];
        double area = 1;
        for (int j = 0; j < plan->grid.dims; j++)
            if (j != k) area *= s->last[j] - s->first[j] + 2 * plan->grid.h[j];
        /* wave: u_t and gradients of u of the highest frequency */
        const double rate = !form->known || form->rate < 0 ? 1 : 2 * HT_PI * s->signal->highest;
        sum += 2 * rate * s->speed / h * sqrt(4 * h * area / material[of]);
    }
    *out = sum;
    return HT_OK;
}

/* Of g, with the points of a line: as many of them as overlap count as one. */
static HT_ERR shot_norm(const struct ht_plan *plan, const struct ht_shot *s, double *out) {
    double sum = 0, reach = 0, length = 0;
    if (s->type->outside) return surface_norm(plan, s, out);
    for (int n = 0; n < s->points; n++) {
        double square;
        TRY(point_square(plan, s, n, &reach, &square));
        sum += square;
    }
    for (int k = 0; k < plan->grid.dims; k++) length += pow(s->last[k] - s->first[k], 2);
    const double apart = s->points > 1 ? sqrt(length) / (s->points - 1) : 0;
    const double over = apart > 0 ? 1 + floor(4 * reach / apart) : s->points;
    *out = sqrt(fmin(over, s->points) * sum);
    return HT_OK;
}

HT_ERR ht_plan_weigh_shots(struct ht_plan *plan) {
    const bool steps = plan->problem.dt > 0;
    HT_EACH_SHOT(shot, steps ? plan->shots : NULL) TRY(shot_norm(plan, shot, &shot->norm));
    return HT_OK;
}

/* ---- in time ---- */

/* The integral of |s| between two times, of a plane wave the time in which it is in its box. */
static double acted(const struct ht_shot *shot, double dt, double from, double to) {
    const struct ht_signal *t = shot->signal;
    const double past = t->end + shot->delay + 1.25 * shot->crossing;
    from = fmax(from, t->begin + shot->delay);
    to = fmin(to, past + dt);
    if (!(from < to)) return 0;
    if (shot->type->outside) return (to - from) * fabs(shot->amplitude) * t->largest;
    const int64_t count = (int64_t)ceil(2 * (to - from) / dt);
    double sum = 0;
    for (int64_t i = 0; i < count; i++)
        sum += fabs(ht_shot_at(shot, from + (to - from) * ((double)i + 0.5) / (double)count, 0));
    return sum * (to - from) / (double)count;
}

/* A step looks at the signal a step before and after it. */
double ht_plan_undriven(const struct ht_plan *plan) {
    return plan->shots == NULL ? 0 : plan->shots->end + plan->problem.dt;
}

double ht_plan_shot_points(const struct ht_plan *plan) {
    return plan->medium->slowest / (plan->shots->highest * ht_grid_widest(&plan->grid));
}

/* A field that has decayed to rounding errors may fluctuate. Energies below this fraction of the
 * first are not watched: (2^-24)^2 for single precision, and a margin for accumulation. */
static const double ROUNDING = 1e-11;

/* Absorbing layers take energy from the waves. What is left behind them is not watched below these
 * fractions of the first energy and of the most that sources can have brought, some hundred times
 * what they bring: rounding in single precision leaves d in the layers that nothing takes away, so
 * that u grows like the number of steps, 1e-5 of its largest value in 10^4 of them. */
static const double LEFT = 1e-3, LEFT_DRIVEN = 1e-7;
/* Layers of pairs give back of waves some times longer than they are thick. */
static const double LEFT_PAIR = 0.05;

/* The value as a multiple of the lowest value so far, or of `least` if that is larger. hidden: what
 * it leaves out now and may have later. */
static double growth(double now, double hidden, double least, double *lowest, double *first) {
    if (!(*first > 0)) *first = now, *lowest = now + hidden;
    if (!(*first > 0)) return 1;
    *lowest = fmax(fmin(*lowest, now + hidden), ROUNDING * *first);
    return now / fmax(*lowest, least);
}

/* Whether the data are resolved: the two energies agree within the polynomials' error, 0.15 for N =
 * 1 at four cells per wavelength, and so are the waves of the initial data. Of a Gaussian the
 * shortest waves count, which have little of its energy. Random data may seem resolved by chance.
 * Other data, whose waves are unknown, count as resolved in varying media, where runs can grow. */
static bool resolved(const struct ht_plan *plan, const struct ht_state *state) {
    const double differ = 0.25;
    const double cells = plan->solution->single_wave ? 2.5 : 1.2;
    bool known = plan->cells_per_wavelength > 0;
    bool random = plan->params->initial.type == HT_DATA_RANDOM;
    bool fine = known ? plan->cells_per_wavelength >= cells : !plan->medium->uniform && !random;
    return fine && fabs(state->content - state->energy) <= differ * state->energy;
}

/* Growth at which a run is stopped, unless the scheme defines it. In a varying medium the medium is
 * the likely cause, and the growing waves are not resolved. In a uniform medium the energy of
 * unresolved data fluctuates, most for the second-order equation. */
static double most_growth(const struct ht_plan *plan, const struct ht_energy_watch *watch) {
    const double doubled = 2, given = plan->problem.scheme->most_growth;
    if (plan->problem.layers != NULL && (given > 0 || plan->eq.first_order))
        return fmax(given, doubled);
    if (given > 0) return given;
    if (!watch->rough) return doubled;
    if (plan->medium->uniform) return plan->eq.first_order ? 100 : 1e4;
    return plan->eq.first_order || !watch->began_rough ? doubled : 100;
}

/* Rise of the energy above which a run is reported as growing. Measured rises of stable runs: 0.1
 * for random data in smooth media, 4 for random data of second-order equations, 0.05 for a pulse of
 * second-order equations, 0.23 where absorbing layers give back waves of 200 cells, 0.87 where
 * these are of 60 cells and damping varies about a node. The expected rounding error is added. */
static double small_rise(const struct ht_plan *plan, const struct ht_energy_watch *watch) {
    const double small = plan->eq.first_order               ? 0.01
                         : plan->problem.layers == NULL     ? 0.1
                         : plan->layers.profile_degree == 0 ? 0.5
                                                            : 0.9;
    if (watch->rough) return plan->eq.first_order ? 0.2 : 10;
    return plan->medium->uniform ? fmax(small, 2 * plan->expected.high) : small;
}

/* Of the fields, not of the state. */
static double told(const struct ht_plan *plan, double energy) {
    return energy / (plan->scale * plan->scale);
}

/* Squares that overflow, and an energy below 0: the energies of stable steps are sums of squares,
 * but for rounding; of what absorbing layers hold, finite differences know only a part. */
static HT_ERR watch_sign(const struct ht_plan *plan, double time, const struct ht_state *state,
                         const struct ht_energy_watch *watch) {
    const double part = plan->problem.layers != NULL ? 0.01 : 0;
    const double most = fmax(watch->largest, state->driven * state->driven);
    if (!isfinite(state->energy) || !isfinite(state->content))
        FAIL(HT_ERR_NOT_FINITE, "the energy overflows at time %g: unstable; likely cause: %s", time,
             ht_growth_cause(plan));
    if (state->energy >= -fmax(state->rounding, part * most)) return HT_OK;
    FAIL(HT_ERR_NOT_FINITE,
         "the energy is %.3g at time %g, below 0 by more than rounding makes, %.2g: unstable; "
         "likely cause: %s",
         told(plan, state->energy), time, told(plan, state->rounding), ht_growth_cause(plan));
}

/* A signal begins where it is below 1e-8 of its largest value, not 0: the first step brings what of
 * it lies before, less than that for a period of its highest frequency; here ten times as much.
 * Where its dispersion is removed, a signal with kinks, as a burst, rings before it begins:
 * measured are 1.9e-3 of a period (burst of one cycle), a step before the beginning more. */
static double brought_early(const struct ht_plan *plan) {
    const double part = plan->problem.fd.undispersed ? 1e-2 : 1e-7;
    double sum = 0;
    HT_EACH_SHOT(shot, plan->shots) {
        const struct ht_signal *s = shot->signal;
        if (s->highest > 0)
            sum += part * shot->norm * fabs(shot->amplitude) * s->largest / s->highest;
    }
    return sum;
}

static HT_ERR watch_brought(const struct ht_plan *plan, double time, const struct ht_state *state,
                            struct ht_energy_watch *watch) {
    const double now = state->of_rate                    ? state->held
                       : plan->problem.scheme->two_level ? state->content
                                                         : fmin(state->energy, state->content);
    if (!watch->looked) {
        /* At the first look. */
        const double both = fmax(state->energy, state->content) + state->steep;
        double hidden;
        TRY(ht_data_hidden(plan, &hidden));
        if (!plan->solution->rest && !resolved(plan, state)) watch->rough = true;
        if (watch->rough) hidden += state->slope;
        watch->brought = sqrt(hidden + fmax(state->of_rate ? state->held : both, 0));
    }
    double sum = 0;
    HT_EACH_SHOT(shot, plan->shots)
        sum += shot->norm * acted(shot, plan->problem.dt, watch->time, time);
    if (!watch->looked) sum += brought_early(plan);
    watch->brought += sum;
    const double brought = pow(watch->brought, 2);
    /* Random derivatives of v are not those of its random values. */
    const bool random = plan->params->initial.type == HT_DATA_RANDOM;
    if (state->of_rate ? random : plan->shots == NULL) return HT_OK;
    /* Times as much as data and sources bring: sources are resolved; of data see most_growth. */
    if (!(brought > 0) ||
        now <= (plan->solution->rest ? 2 : fmax(2, most_growth(plan, watch))) * brought)
        return HT_OK;
    FAIL(HT_ERR_NOT_FINITE,
         "the energy%s%s, %.3g at time %g, is more than data and sources can have brought, %.3g: "
         "unstable; likely cause: %s",
         state->of_rate ? " of " : "",
         state->of_rate ? plan->eq.field[plan->eq.second_order.field].name : "", told(plan, now),
         time, told(plan, brought), ht_growth_cause(plan));
}

/* Of finite differences while sources act: the energy that they conserve, within rounding. */
static HT_ERR watch_driven(const struct ht_plan *plan, double time, const struct ht_state *state,
                           struct ht_energy_watch *watch) {
    const double rounding = 1.01;
    const double most = pow(watch->given + state->driven + brought_early(plan), 2);
    if (!(state->driven > 0)) watch->given = sqrt(fmax(state->energy, 0));
    if (!(state->driven > 0) || state->energy <= rounding * most) return HT_OK;
    FAIL(HT_ERR_NOT_FINITE,
         "the energy, %.3g at time %g, is more than the sources can have brought, %.3g: unstable; "
         "likely cause: %s",
         told(plan, state->energy), time, told(plan, most), ht_growth_cause(plan));
}

/* Below which what layers leave is not watched. */
static double left_by_layers(const struct ht_plan *plan, const struct ht_state *state,
                             const struct ht_energy_watch *watch) {
    const double left = plan->problem.early != 0 ? LEFT_PAIR : LEFT;
    return fmax(left * fmax(watch->first_energy, watch->began),
                LEFT_DRIVEN * state->driven * state->driven);
}

/* From the end of the sources on. */
static HT_ERR watch_growth(const struct ht_plan *plan, double time, const struct ht_state *state,
                           struct ht_energy_watch *watch) {
    const struct ht_scheme *scheme = plan->problem.scheme;
    bool loses = scheme->dissipates, begins = !(watch->first_content > 0);
    if (state->partial) return HT_OK;
    watch->rough = watch->rough || !resolved(plan, state);
    if (begins) watch->began_rough = watch->rough;
    double most = most_growth(plan, watch);
    /* Gradients between the nodes that low-order polynomials do not include. */
    watch->slope = fmax(watch->slope, state->slope);
    double least =
        fmax(watch->rough ? 0.01 * watch->slope : 0, ROUNDING * state->driven * state->driven);
    if (plan->problem.layers != NULL) least = fmax(least, left_by_layers(plan, state, watch));
    double content =
        growth(state->content, state->steep, least, &watch->content, &watch->first_content);
    double energy =
        growth(state->energy, state->steep, least, &watch->energy, &watch->first_energy);
    double both = scheme->two_level ? content : fmin(content, energy);
    if (loses && (!watch->rough || !plan->medium->uniform))
        watch->rise = fmax(watch->rise, both - 1);
    watch->grows = watch->grows || watch->rise > small_rise(plan, watch);
    if (both < most) return HT_OK;
    FAIL(HT_ERR_NOT_FINITE,
         "the energy has grown %.3g-fold by time %g%s: unstable; likely cause: %s", both, time,
         loses ? ", and this scheme can only lose it" : "", ht_growth_cause(plan));
}

HT_ERR ht_energy_watch(const struct ht_plan *plan, double time, const struct ht_state *state,
                       struct ht_energy_watch *watch) {
    if (!ht_energy_measured(plan)) return HT_OK;
    TRY(watch_sign(plan, time, state, watch));
    TRY(watch_brought(plan, time, state, watch));
    /* Pairs do not add up what their sources have pushed. */
    struct ht_state pushed = *state;
    if (plan->problem.early != 0 && plan->shots != NULL) {
        pushed.driven = watch->brought;
        state = &pushed;
    }
    if (plan->problem.layers != NULL) {
        /* What comes into a layer was there before, or sources brought it. */
        const char *cure = plan->layers.type == HT_ABSORBING_SPONGE ? ""
                           : plan->problem.early == 0
                               ? " or absorbing.type = \"sponge\""
                               : ", a larger absorbing.mix or absorbing.type = \"sponge\"";
        const double brought = state->driven - watch->driven;
        const bool first = !watch->looked || watch->partial;
        if (first) watch->began = fmax(state->energy, 0);
        const double held = pow(sqrt(watch->held) + brought, 2);
        const double most = fmax(2 * held, left_by_layers(plan, state, watch));
        int worst = 0;
        for (int n = 1; n < 6; n++)
            if (state->layer[n / 2][n % 2] > state->layer[worst / 2][worst % 2]) worst = n;
        const double now = state->layer[worst / 2][worst % 2];
        if (!first && now > most)
            FAIL(HT_ERR_NOT_FINITE,
                 "the absorbing layer at the %s side of x%d holds an energy of %.3g at time %g, "
                 "where there was %.3g in all, with what sources can have brought since: waves "
                 "grow in it; likely cause: the largest stable step was estimated too long for the "
                 "medium at its inner face, or the device computes wrongly; take a smaller "
                 "time.cfl%s",
                 worst % 2 == 0 ? "lower" : "upper", worst / 2 + 1, told(plan, now), time,
                 told(plan, held), cure);
        const double all = fmax(fmax(state->energy, now), 0);
        watch->held = first ? all : fmin(held, all);
        watch->driven = state->driven;
    }
    watch->looked = true;
    watch->partial = state->partial;
    watch->time = time;
    watch->largest = fmax(watch->largest, state->energy);
    return time < ht_plan_undriven(plan) ? watch_driven(plan, time, state, watch)
                                         : watch_growth(plan, time, state, watch);
}
