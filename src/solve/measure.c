/* Measures of a state: finiteness, energy, error. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "htwave/energy.h"
#include "methods.h"
#include "reduce_args.h"

/* Planes of all coefficients that fit about 64 MiB. */
static int64_t chunk_planes(const struct ht_plan *plan) {
    const struct ht_grid *grid = &plan->grid;
    int64_t bytes = ht_grid_plane(grid, HT_PRIMARY) * ht_grid_coefs(grid) *
                    plan->eq.nfields * 8;
    int64_t planes = ((int64_t)1 << 26) / (bytes > 0 ? bytes : 1);
    int64_t begin, end;
    ht_grid_own(grid, HT_PRIMARY, &begin, &end);
    return planes < 1 ? 1 : planes < end - begin ? planes : end - begin;
}

/* Computes the solution on the own planes in chunks and calls `use` for each.
 */
static enum ht_err each_chunk(const struct ht_plan *plan, double time,
                              enum ht_err (*use)(void *context, int64_t first,
                                                 int64_t last,
                                                 const double *coefs),
                              void *context) {
    const struct ht_grid *grid = &plan->grid;
    int64_t chunk = chunk_planes(plan), begin, end;
    double *coefs = NULL;
    ht_grid_own(grid, HT_PRIMARY, &begin, &end);
    TRY(HT_ALLOC(coefs, ht_grid_plane(grid, HT_PRIMARY) * chunk *
                            ht_grid_coefs(grid) * plan->eq.nfields));
    enum ht_err err = HT_OK;
    for (int64_t first = begin; err == HT_OK && first < end; first += chunk) {
        int64_t last = first + chunk < end ? first + chunk : end;
        err = ht_solution_fill(plan->solution, HT_PRIMARY, time, first, last,
                               coefs);
        if (err == HT_OK) err = use(context, first, last, coefs);
    }
    free(coefs);
    return err;
}

enum ht_err ht_nodal_read(const struct ht_plan *plan,
                          const struct ht_stepper *stepper,
                          double *const *nodal) {
    int64_t first, last;
    ht_grid_own(&plan->grid, HT_PRIMARY, &first, &last);
    for (int f = 0; f < plan->eq.nfields; f++)
        if (ht_problem_stores(&plan->problem, HT_PRIMARY, f)) {
            TRY(stepper->ops->get(stepper->self, HT_PRIMARY, f, 1, first, last,
                                  nodal[f]));
            ht_plan_multiply(plan, true,
                             ht_grid_own_total(&plan->grid, HT_PRIMARY),
                             nodal[f]);
        }
    return HT_OK;
}

static void node_position(const struct ht_grid *grid, enum ht_subgrid subgrid,
                          int64_t node, double x[3]) {
    int64_t n1 = ht_grid_nodes(grid, subgrid, 0);
    int64_t n2 = ht_grid_nodes(grid, subgrid, 1);
    x[0] = ht_grid_x(grid, subgrid, 0, node % n1);
    x[1] = ht_grid_x(grid, subgrid, 1, node / n1 % n2);
    x[2] = ht_grid_x(grid, subgrid, 2, node / (n1 * n2));
}

static enum ht_err not_finite(const struct ht_plan *plan,
                              enum ht_subgrid subgrid, int field, int64_t node,
                              double time) {
    double x[3];
    node_position(&plan->grid, subgrid, node, x);
    if (time == 0)
        FAIL(HT_ERR_NOT_FINITE,
             "%s is not finite at (%g, %g, %g), time 0: the initial data are "
             "not, or their derivatives",
             plan->eq.field[field].name, x[0], x[1], x[2]);
    FAIL(HT_ERR_NOT_FINITE,
         "%s is not finite at (%g, %g, %g), time %g; likely cause: %s",
         plan->eq.field[field].name, x[0], x[1], x[2], time,
         ht_growth_cause(plan));
}

/* The quantities measured of a state. On the primary grid: the terms of the
 * energy with their factors, and the nodal values of every stored field that is
 * in no term. On all grids of the scheme's state: the terms again from the
 * nodes' Taylor polynomials. */
enum { MOST_QUANTITIES = 4 * HT_MAX_FIELDS };
struct energy_list {
    struct ht_quantity what[MOST_QUANTITIES];
    double factor[MOST_QUANTITIES];
    int count;
    double *weights; /* of the polynomials, [quantity][point][coefficient] */
};

/* Gradients count beside absorbing layers only: in these they are as steep as
 * the layer is thin, however long the waves. */
static void add_quantity(struct energy_list *list, int field, int coef,
                         int material, bool beside, double factor) {
    list->what[list->count] = (struct ht_quantity){
        .field = field, .coef = coef, .material = material, .beside = beside};
    list->factor[list->count++] = factor;
}

/* The components of the gradient are the first scaled derivatives over h. */
static void list_term(const struct ht_grid *grid,
                      const struct ht_energy_term *term,
                      struct energy_list *list) {
    if (!term->gradient)
        add_quantity(list, term->field, 0, term->material, false, 0.5);
    for (int k = 0, i = 1; term->gradient && k < grid->dims;
         k++, i *= grid->order + 1) {
        const double factor = 0.5 / (grid->h[k] * grid->h[k]);
        add_quantity(list, term->field, i, term->material, true, factor);
        if (ht_layers_any(grid)) /* all of them, for ht_state.steep */
            add_quantity(list, term->field, i, term->material, false, factor);
    }
}

/* xi^power; if scale > 0, its derivative times scale. */
static double monomial(double xi, int power, double scale) {
    if (!(scale > 0)) return pow(xi, power);
    return power > 0 ? scale * power * pow(xi, power - 1) : 0;
}

/* Weights that evaluate a node's Taylor polynomial, or its derivative along an
 * axis (-1: none), at the points (-+1/4, -+1/4, -+1/4) h about the node. The
 * points have distances of h/2, so the mean square is exact for waves of more
 * than one cell per wavelength. */
static void weigh_points(const struct ht_grid *grid, int axis,
                         double *weights) {
    const int n = grid->order + 1, coefs = ht_grid_coefs(grid);
    for (int q = 0; q < 1 << grid->dims; q++)
        for (int c = 0; c < coefs; c++) {
            const int i[3] = {c % n, c / n % n, c / (n * n)};
            double value = 1;
            for (int k = 0; k < 3; k++)
                value *= monomial(q >> k & 1 ? 0.25 : -0.25, i[k],
                                  k == axis ? 1 / grid->h[k] : 0);
            weights[q * coefs + c] = value;
        }
}

static void list_state(const struct ht_plan *plan, struct energy_list *list) {
    list->count = 0;
    for (int f = 0; f < plan->eq.nfields; f++) {
        bool values = false;
        if (!ht_problem_stores(&plan->problem, HT_PRIMARY, f)) continue;
        for (int t = 0; t < plan->eq.nenergy; t++) {
            const struct ht_energy_term *term = &plan->eq.energy[t];
            if (term->field != f) continue;
            list_term(&plan->grid, term, list);
            values = values || !term->gradient;
        }
        if (!values) add_quantity(list, f, 0, -1, false, 0);
    }
}

static void add_points(const struct ht_grid *grid,
                       const struct ht_energy_term *term, int axis,
                       struct energy_list *list) {
    const int points = 1 << grid->dims;
    double *weights = list->weights + (int64_t)list->count * HT_REDUCE_POINTS *
                                          ht_grid_coefs(grid);
    weigh_points(grid, axis, weights);
    add_quantity(list, term->field, 0, term->material, axis >= 0, 0.5 / points);
    list->what[list->count - 1].weights = weights;
    list->what[list->count - 1].points = points;
}

/* Adds the terms of the energy on a grid from the polynomials to the list. */
static void list_content(const struct ht_plan *plan, enum ht_subgrid subgrid,
                         struct energy_list *list) {
    list->count = 0;
    for (int t = 0; t < plan->eq.nenergy; t++) {
        const struct ht_energy_term *term = &plan->eq.energy[t];
        if (!ht_problem_stores(&plan->problem, subgrid, term->field)) continue;
        if (!term->gradient) add_points(&plan->grid, term, -1, list);
        for (int k = 0; term->gradient && k < plan->grid.dims; k++)
            add_points(&plan->grid, term, k, list);
    }
}

/* Combines the measures of all ranks' own planes. The first bad node becomes
 * the lowest of all ranks; the number of bad values stays that of the rank. */
static enum ht_err combine(struct ht_comm *comm, int count,
                           struct ht_measure *m) {
    double sum[MOST_QUANTITIES], most[2 * MOST_QUANTITIES];
    double *largest = most, *lowest = most + count; /* lowest: negative */
    for (int i = 0; i < count; i++) {
        sum[i] = m[i].sum;
        largest[i] = m[i].largest;
        lowest[i] = m[i].bad > 0 ? -(double)m[i].first : -INFINITY;
    }
    TRY(ht_comm_sum(comm, count, sum));
    TRY(ht_comm_max(comm, 2 * count, most));
    for (int i = 0; i < count; i++) {
        m[i].sum = sum[i];
        m[i].largest = largest[i];
        m[i].first = isfinite(lowest[i]) ? (int64_t)-lowest[i] : -1;
    }
    return HT_OK;
}

/* Measures a list of quantities over a grid on all ranks. */
static enum ht_err measure_list(const struct ht_plan *plan,
                                const struct ht_stepper *stepper,
                                enum ht_subgrid subgrid,
                                const struct energy_list *list,
                                struct ht_measure *measure) {
    TRY(stepper->ops->measure(stepper->self, subgrid, list->count, list->what,
                              measure));
    return combine(plan->grid.slab.comm, list->count, measure);
}

/* Factor of the squares of a field whose gradient is in the energy. */
static double slope_factor(const struct ht_plan *plan, int field) {
    double sum = 0;
    for (int t = 0; t < plan->eq.nenergy; t++)
        for (int k = 0; k < plan->grid.dims; k++)
            if (plan->eq.energy[t].field == field &&
                plan->eq.energy[t].gradient)
                sum += 0.5 / (plan->grid.h[k] * plan->grid.h[k]);
    return sum;
}

static enum ht_err measure_nodes(const struct ht_plan *plan,
                                 const struct ht_stepper *stepper, double time,
                                 struct energy_list *list,
                                 struct ht_state *out) {
    struct ht_measure measure[MOST_QUANTITIES];
    list_state(plan, list);
    TRY(measure_list(plan, stepper, HT_PRIMARY, list, measure));
    for (int i = 0; i < list->count; i++) {
        int field = list->what[i].field;
        if (measure[i].first >= 0)
            return not_finite(plan, HT_PRIMARY, field, measure[i].first, time);
        const struct ht_quantity *what = &list->what[i];
        const double part = list->factor[i] * measure[i].sum;
        if (what->coef == 0 || what->beside) out->energy += part;
        if (what->coef != 0 && ht_layers_any(&plan->grid))
            out->steep += what->beside ? -part : part;
        if (what->coef != 0) continue;
        out->largest[field] = measure[i].largest;
        if (!(list->factor[i] > 0))
            out->slope += slope_factor(plan, field) * measure[i].sum;
    }
    return HT_OK;
}

static enum ht_err measure_content(const struct ht_plan *plan,
                                   const struct ht_stepper *stepper,
                                   double time, enum ht_subgrid subgrid,
                                   struct energy_list *list,
                                   struct ht_state *out) {
    struct ht_measure measure[MOST_QUANTITIES];
    list_content(plan, subgrid, list);
    TRY(measure_list(plan, stepper, subgrid, list, measure));
    for (int i = 0; i < list->count; i++) {
        if (measure[i].first >= 0)
            return not_finite(plan, subgrid, list->what[i].field,
                              measure[i].first, time);
        out->content += list->factor[i] * measure[i].sum;
    }
    return HT_OK;
}

enum ht_err ht_hermite_state_measure(const struct ht_plan *plan,
                                     const struct ht_stepper *stepper,
                                     double time, struct ht_state *out) {
    struct energy_list list = {.count = 0};
    *out = (struct ht_state){.energy = 0};
    TRY(HT_ALLOC(list.weights, (int64_t)MOST_QUANTITIES * HT_REDUCE_POINTS *
                                   ht_grid_coefs(&plan->grid)));
    enum ht_err err = measure_nodes(plan, stepper, time, &list, out);
    if (err == HT_OK)
        err = measure_content(plan, stepper, time, HT_PRIMARY, &list, out);
    /* In a one-level scheme the dual grid is no part of the state. */
    if (err == HT_OK && ht_problem_scheme(&plan->problem)->two_level)
        err = measure_content(plan, stepper, time, HT_DUAL, &list, out);
    free(list.weights);
    return err;
}

double ht_measure_factor(const struct ht_problem *problem,
                         const struct ht_quantity *what) {
    double volume = 1;
    for (int k = 0; k < problem->grid->dims; k++) volume *= problem->grid->h[k];
    bool uniform = problem->medium_degree < 0 && what->material >= 0;
    return uniform ? volume / problem->uniform[what->material] : volume;
}

bool ht_measure_half(const struct ht_grid *grid, enum ht_subgrid subgrid,
                     int axis, int side) {
    int64_t first, last;
    if (subgrid != HT_PRIMARY || axis >= grid->dims) return false;
    if (grid->wall[axis][side] == 0) return false;
    if (axis < 2) return true;
    ht_grid_own(grid, subgrid, &first, &last);
    return side == 0 ? first == 0 : last == ht_grid_planes(grid, subgrid);
}

void ht_measure_beside(const struct ht_grid *grid, enum ht_subgrid subgrid,
                       int axis, int64_t *begin, int64_t *end) {
    *begin = grid->layer[axis][0];
    *end = ht_grid_nodes(grid, subgrid, axis) - grid->layer[axis][1];
}

/* Of node m of an axis, as ht_measure_beside says. */
static double weight_beside(const struct ht_grid *grid, enum ht_subgrid subgrid,
                            int axis, int64_t m) {
    int64_t begin, end;
    ht_measure_beside(grid, subgrid, axis, &begin, &end);
    if (m < begin || m >= end) return 0;
    const bool face = (m == begin && grid->layer[axis][0] > 0) ||
                      (m == end - 1 && grid->layer[axis][1] > 0);
    return face && subgrid == HT_PRIMARY ? 0.5 : 1;
}

static double weight(const struct ht_grid *grid, enum ht_subgrid subgrid,
                     bool beside, int64_t node) {
    double weight = 1;
    for (int k = 0; k < 3; k++) {
        int64_t n = ht_grid_nodes(grid, subgrid, k), m = node % n;
        node /= n;
        if (m == 0 && ht_measure_half(grid, subgrid, k, 0)) weight /= 2;
        if (m == n - 1 && ht_measure_half(grid, subgrid, k, 1)) weight /= 2;
        if (beside) weight *= weight_beside(grid, subgrid, k, m);
    }
    return weight;
}

struct ht_measure ht_measure_plain(const struct ht_problem *problem,
                                   enum ht_subgrid subgrid,
                                   const struct ht_quantity *what,
                                   const double *u, const double *medium) {
    struct ht_measure m = {.first = -1};
    const int64_t nodes = ht_grid_total(problem->grid, subgrid);
    const int points = what->weights != NULL ? what->points : 1;
    const int coefs = what->weights != NULL ? ht_grid_coefs(problem->grid) : 1;
    const double one = 1, *weights = what->weights ? what->weights : &one;
    const double *from = u + (what->weights ? 0 : what->coef) * nodes;
    for (int64_t n = 0; n < nodes; n++) {
        double factor = weight(problem->grid, subgrid, what->beside, n),
               values = 0;
        double value[HT_REDUCE_POINTS] = {0};
        for (int i = 0; factor > 0 && i < coefs; i++) {
            double x = from[i * nodes + n];
            if (!isfinite(x)) {
                if (m.bad++ == 0) m.first = n;
                continue;
            }
            m.largest = fmax(m.largest, fabs(x));
            for (int q = 0; q < points; q++)
                value[q] += weights[q * coefs + i] * x;
        }
        for (int q = 0; q < points; q++) values += value[q] * value[q];
        m.sum += factor * values / (medium != NULL ? medium[n] : 1);
    }
    m.sum *= ht_measure_factor(problem, what);
    return m;
}

/* ---- data that no grid holds ---- */

struct hidden {
    const struct ht_plan *plan;
    double *material; /* of the planes of a chunk, of finite differences */
    double sum;
};

static bool hides(const struct ht_plan *plan,
                  const struct ht_energy_term *term) {
    return !term->gradient &&
           !ht_problem_stores(&plan->problem, HT_PRIMARY, term->field) &&
           !ht_problem_stores(&plan->problem, HT_DUAL, term->field) &&
           ht_solution_occurs(plan->solution, term->field);
}

/* The material of a term, by finite differences at half points along the
 * field's axis. */
static enum ht_err fill_material(const struct hidden *h,
                                 const struct ht_energy_term *term,
                                 int64_t first, int64_t last) {
    const struct ht_problem *p = &h->plan->problem;
    const struct ht_second_order *form = &h->plan->eq.system->second_order;
    const int64_t part = ht_grid_plane(p->grid, HT_PRIMARY) * (last - first);
    const bool density = term->material == form->inverse_density;
    const int what = density ? term->field - form->flux + 1 : 0;
    double value = term->material < 0 ? 1 : p->uniform[term->material];
    if (p->fd.fill != NULL && (!density || p->fd.density))
        return p->fd.fill(p->fd.medium, what, first, last, h->material);
    if (p->fd.order > 0 && density) value = p->fd.inverse_density;
    for (int64_t n = 0; n < part; n++) h->material[n] = value;
    return HT_OK;
}

static enum ht_err add_hidden(void *context, int64_t first, int64_t last,
                              const double *coefs) {
    struct hidden *h = context;
    const struct ht_plan *plan = h->plan;
    const int64_t plane = ht_grid_plane(&plan->grid, HT_PRIMARY);
    const int64_t part = plane * (last - first);
    for (int t = 0; t < plan->eq.nenergy; t++) {
        const struct ht_energy_term *term = &plan->eq.energy[t];
        const double *u =
            coefs + part * term->field * ht_grid_coefs(&plan->grid);
        if (!hides(plan, term)) continue;
        TRY(fill_material(h, term, first, last));
        for (int64_t n = 0; n < part; n++)
            h->sum +=
                weight(&plan->grid, HT_PRIMARY, false, first * plane + n) *
                u[n] * u[n] / (2 * h->material[n]);
    }
    return HT_OK;
}

enum ht_err ht_data_hidden(const struct ht_plan *plan, double *out) {
    struct hidden h = {.plan = plan};
    bool any = false;
    *out = 0;
    for (int t = 0; t < plan->eq.nenergy; t++)
        any = any || hides(plan, &plan->eq.energy[t]);
    if (!any) return HT_OK;
    TRY(HT_ALLOC(h.material,
                 ht_grid_plane(&plan->grid, HT_PRIMARY) * chunk_planes(plan)));
    enum ht_err err = each_chunk(plan, 0, add_hidden, &h);
    free(h.material);
    TRY(ht_comm_agree(plan->grid.slab.comm, err));
    TRY(ht_comm_sum(plan->grid.slab.comm, 1, &h.sum));
    for (int k = 0; k < plan->grid.dims; k++) h.sum *= plan->grid.h[k];
    *out = h.sum * plan->scale * plan->scale;
    return HT_OK;
}

struct error_sums {
    const struct ht_plan *plan;
    const double *const *nodal;
    int64_t begin;  /* first own plane of the nodal values */
    double both[2]; /* sums of squares of the differences, of the solution */
};

static enum ht_err add_chunk(void *context, int64_t first, int64_t last,
                             const double *coefs) {
    struct error_sums *s = context;
    int64_t plane = ht_grid_plane(&s->plan->grid, HT_PRIMARY);
    int64_t part = plane * (last - first);
    for (int f = 0; f < s->plan->eq.nfields; f++) {
        const double *exact = coefs + part * f * ht_grid_coefs(&s->plan->grid);
        for (int64_t n = 0; s->nodal[f] != NULL && n < part; n++) {
            double d = s->nodal[f][(first - s->begin) * plane + n] - exact[n];
            s->both[0] += d * d;
            s->both[1] += exact[n] * exact[n];
        }
    }
    return HT_OK;
}

enum ht_err ht_nodal_error(const struct ht_plan *plan,
                           const double *const *nodal, double time,
                           double *error) {
    struct error_sums sums = {.plan = plan, .nodal = nodal};
    int64_t end;
    ht_grid_own(&plan->grid, HT_PRIMARY, &sums.begin, &end);
    TRY(each_chunk(plan, plan->solution->exact ? time : 0, add_chunk, &sums));
    TRY(ht_comm_sum(plan->grid.slab.comm, 2, sums.both));
    *error = sqrt(sums.both[0] / (sums.both[1] > 0 ? sums.both[1] : 1));
    return HT_OK;
}
