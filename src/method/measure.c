/* Judging a state: finiteness, energy, error. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "htwave/method.h"

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

/* Calls use for chunks of own planes of the solution at a time. */
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
        if (ht_problem_stores(&plan->problem, HT_PRIMARY, f))
            TRY(stepper->ops->get(stepper->self, HT_PRIMARY, f, 1, first, last,
                                  nodal[f]));
    return HT_OK;
}

static void node_position(const struct ht_grid *grid, int64_t node,
                          double x[3]) {
    int64_t n1 = ht_grid_nodes(grid, HT_PRIMARY, 0);
    int64_t n2 = ht_grid_nodes(grid, HT_PRIMARY, 1);
    x[0] = ht_grid_x(grid, HT_PRIMARY, 0, node % n1);
    x[1] = ht_grid_x(grid, HT_PRIMARY, 1, node / n1 % n2);
    x[2] = ht_grid_x(grid, HT_PRIMARY, 2, node / (n1 * n2));
}

static const char *likely_cause(const struct ht_plan *plan) {
    if (plan->medium->uniform)
        return "the step is stable for this scheme, so the initial data or "
               "the device is to blame; try device.precision = \"double\"";
    if (plan->grid.order > 1)
        return "an unresolved medium: jumps of the impedance make orders above "
               "1 grow; take grid.order = 1, a smoother medium or more cells";
    return "a medium that the grid does not resolve; take more cells, "
           "medium.degree = 0 or a smaller time.cfl";
}

static enum ht_err not_finite(const struct ht_plan *plan, int field,
                              int64_t node, double time) {
    double x[3];
    node_position(&plan->grid, node, x);
    FAIL(HT_ERR_NOT_FINITE,
         "%s is not finite at (%g, %g, %g), time %g; likely cause: %s",
         plan->eq.field[field].name, x[0], x[1], x[2], time,
         likely_cause(plan));
}

/* What is measured of a state: the terms of the energy with their factors, and
 * nodal values, which every field stored on the primary grid has, for
 * themselves where no term holds them. */
enum { MOST_QUANTITIES = 4 * HT_MAX_FIELDS };
struct energy_list {
    struct ht_quantity what[MOST_QUANTITIES];
    double factor[MOST_QUANTITIES];
    int count;
};

static void add_quantity(struct energy_list *list, int field, int coef,
                         int material, double factor) {
    list->what[list->count] = (struct ht_quantity){
        .field = field, .coef = coef, .material = material};
    list->factor[list->count++] = factor;
}

/* The gradient's parts are the first scaled derivatives over h. */
static void list_term(const struct ht_grid *grid,
                      const struct ht_energy_term *term,
                      struct energy_list *list) {
    if (!term->gradient)
        add_quantity(list, term->field, 0, term->material, 0.5);
    for (int k = 0, i = 1; term->gradient && k < grid->dims;
         k++, i *= grid->order + 1)
        add_quantity(list, term->field, i, term->material,
                     0.5 / (grid->h[k] * grid->h[k]));
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
        if (!values) add_quantity(list, f, 0, -1, 0);
    }
}

/* Of the own planes to those of the whole grid. Where a rank has found bad
 * nodes the first is the lowest of all ranks; their number stays its own. */
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

enum ht_err ht_state_measure(const struct ht_plan *plan,
                             const struct ht_stepper *stepper, double time,
                             struct ht_state *out) {
    struct energy_list list;
    struct ht_measure measure[MOST_QUANTITIES];
    list_state(plan, &list);
    TRY(stepper->ops->measure(stepper->self, HT_PRIMARY, list.count, list.what,
                              measure));
    TRY(combine(plan->grid.slab.comm, list.count, measure));
    *out = (struct ht_state){.energy = 0};
    for (int i = 0; i < list.count; i++) {
        int field = list.what[i].field;
        if (measure[i].first >= 0)
            return not_finite(plan, field, measure[i].first, time);
        if (list.factor[i] > 0) out->energy += list.factor[i] * measure[i].sum;
        if (list.what[i].coef == 0) out->largest[field] = measure[i].largest;
    }
    return HT_OK;
}

enum ht_err ht_energy_check(const struct ht_plan *plan, double before,
                            double now, double time) {
    /* Quadrature of unresolved data errs by less; of second-order equations,
     * whose energy has gradients, and of leapfrog, of which a part is known,
     * noise on the grid may show little of it at first. */
    bool plain =
        plan->symbol == HT_SYMBOL_ADVECTION || plan->symbol == HT_SYMBOL_WAVE;
    const double growth = plain ? 100 : 1e4;
    if (!(before > 0) || now <= growth * before) return HT_OK;
    FAIL(
        HT_ERR_NOT_FINITE,
        "the energy has grown %.3g-fold by time %g: unstable; likely cause: %s",
        now / before, time, likely_cause(plan));
}

double ht_measure_factor(const struct ht_problem *problem,
                         const struct ht_quantity *what) {
    double volume = 1;
    for (int k = 0; k < problem->grid->dims; k++) volume *= problem->grid->h[k];
    bool uniform = problem->medium_degree < 0 && what->material >= 0;
    return uniform ? volume / problem->uniform[what->material] : volume;
}

bool ht_measure_half(const struct ht_grid *grid, enum ht_mesh mesh, int axis,
                     int side) {
    int64_t first, last;
    if (mesh != HT_PRIMARY || axis >= grid->dims) return false;
    if (grid->wall[axis][side] == 0) return false;
    if (axis < 2) return true;
    ht_grid_own(grid, mesh, &first, &last);
    return side == 0 ? first == 0 : last == ht_grid_planes(grid, mesh);
}

static double weight(const struct ht_grid *grid, enum ht_mesh mesh,
                     int64_t node) {
    double weight = 1;
    for (int k = 0; k < 3; k++) {
        int64_t n = ht_grid_nodes(grid, mesh, k), m = node % n;
        node /= n;
        if (m == 0 && ht_measure_half(grid, mesh, k, 0)) weight /= 2;
        if (m == n - 1 && ht_measure_half(grid, mesh, k, 1)) weight /= 2;
    }
    return weight;
}

struct ht_measure ht_measure_plain(const struct ht_problem *problem,
                                   enum ht_mesh mesh,
                                   const struct ht_quantity *what,
                                   const double *u, const double *medium) {
    struct ht_measure m = {.first = -1};
    for (int64_t n = 0; n < ht_grid_total(problem->grid, mesh); n++) {
        if (!isfinite(u[n])) {
            if (m.bad++ == 0) m.first = n;
            continue;
        }
        double divisor = medium != NULL ? medium[n] : 1;
        m.sum += weight(problem->grid, mesh, n) * u[n] * u[n] / divisor;
        m.largest = fmax(m.largest, fabs(u[n]));
    }
    m.sum *= ht_measure_factor(problem, what);
    return m;
}

struct error_sums {
    const struct ht_plan *plan;
    const double *const *nodal;
    int64_t begin;  /* own planes of the nodal values */
    double both[2]; /* of the differences, of the solution */
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
