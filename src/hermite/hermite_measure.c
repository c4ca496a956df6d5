/* Measures of a state of Hermite methods: finiteness, energy. */
#include <math.h>
#include <stdlib.h>

#include "src/solve/methods.h"
#include "tool_args.h"

static enum ht_err not_finite(const struct ht_plan *plan, enum ht_subgrid subgrid, int field,
                              int64_t node, double time) {
    double x[3];
    int64_t n1 = ht_grid_nodes(&plan->grid, subgrid, 0);
    int64_t n2 = ht_grid_nodes(&plan->grid, subgrid, 1);
    x[0] = ht_grid_x(&plan->grid, subgrid, 0, node % n1);
    x[1] = ht_grid_x(&plan->grid, subgrid, 1, node / n1 % n2);
    x[2] = ht_grid_x(&plan->grid, subgrid, 2, node / (n1 * n2));
    if (time == 0)
        FAIL(HT_ERR_NOT_FINITE,
             "%s is not finite at (%g, %g, %g), time 0: the initial data are not, or their "
             "derivatives",
             plan->eq.field[field].name, x[0], x[1], x[2]);
    FAIL(HT_ERR_NOT_FINITE, "%s is not finite at (%g, %g, %g), time %g; likely cause: %s",
         plan->eq.field[field].name, x[0], x[1], x[2], time, ht_growth_cause(plan));
}

/* The quantities measured of a state. On the primary grid: the terms of the energy with their
 * factors, and the nodal values of every stored field that is in no term. On all grids of the
 * scheme's state: the terms again from the nodes' Taylor polynomials. */
enum { MOST_QUANTITIES = 4 * HT_MAX_FIELDS };
struct energy_list {
    struct ht_quantity what[MOST_QUANTITIES];
    double factor[MOST_QUANTITIES];
    int count;
    double *weights; /* of the polynomials, [quantity][point][coefficient] */
};

/* Gradients count beside absorbing layers only: in these they are as steep as the layer is thin,
 * however long the waves. */
static void add_quantity(struct energy_list *list, int field, int coef, int material, bool beside,
                         double factor) {
    list->what[list->count] =
        (struct ht_quantity){.field = field, .coef = coef, .material = material, .beside = beside};
    list->factor[list->count++] = factor;
}

/* xi^power; if scale > 0, its derivative times scale. */
static double monomial(double xi, int power, double scale) {
    if (!(scale > 0)) return pow(xi, power);
    return power > 0 ? scale * power * pow(xi, power - 1) : 0;
}

static void list_state(const struct ht_plan *plan, struct energy_list *list) {
    list->count = 0;
    for (int f = 0; f < plan->eq.nfields; f++) {
        bool values = false;
        if (!ht_problem_stores(&plan->problem, HT_PRIMARY, f)) continue;
        for (int t = 0; t < plan->eq.nenergy; t++) {
            const struct ht_energy_term *term = &plan->eq.energy[t];
            if (term->field != f || term->other != f) continue;
            /* The components of the gradient are the first scaled derivatives over h. */
            if (!term->gradient) add_quantity(list, term->field, 0, term->material, false, 0.5);
            for (int k = 0, i = 1; term->gradient && k < plan->grid.dims;
                 k++, i *= plan->grid.order + 1) {
                const double factor = 0.5 / (plan->grid.h[k] * plan->grid.h[k]);
                add_quantity(list, term->field, i, term->material, true, factor);
                if (ht_layers_any(&plan->grid)) /* all of them, for ht_state.steep */
                    add_quantity(list, term->field, i, term->material, false, factor);
            }
            values = values || !term->gradient;
        }
        if (!values) add_quantity(list, f, 0, -1, false, 0);
    }
}

static void add_points(const struct ht_grid *grid, const struct ht_energy_term *term, int axis,
                       struct energy_list *list) {
    const int points = 1 << grid->dims;
    double *weights =
        list->weights + (int64_t)list->count * HT_MEASURE_POINTS * ht_grid_coefs(grid);
    /* Weights that evaluate a node's Taylor polynomial, or its derivative along an axis (-1: none),
     * at the points (-+1/4, -+1/4, -+1/4) h about the node. The points have distances of h/2, so
     * the mean square is exact for waves of more than one cell per wavelength. */
    const int n = grid->order + 1, coefs = ht_grid_coefs(grid);
    for (int q = 0; q < 1 << grid->dims; q++)
        for (int c = 0; c < coefs; c++) {
            const int i[3] = {c % n, c / n % n, c / (n * n)};
            double value = 1;
            for (int k = 0; k < 3; k++)
                value *= monomial(q >> k & 1 ? 0.25 : -0.25, i[k], k == axis ? 1 / grid->h[k] : 0);
            weights[q * coefs + c] = value;
        }
    add_quantity(list, term->field, 0, term->material, axis >= 0, 0.5 / points);
    list->what[list->count - 1].weights = weights;
    list->what[list->count - 1].points = points;
}

/* Measures a list of quantities over a grid on all ranks. */
static enum ht_err measure_list(const struct ht_plan *plan, const struct ht_stepper *stepper,
                                enum ht_subgrid subgrid, const struct energy_list *list,
                                struct ht_measure *measure) {
    TRY(stepper->ops->measure(stepper->self, subgrid, list->count, list->what, measure));
    /* Combines the measures of all ranks' own planes. The first bad node becomes the lowest of all
     * ranks; the number of bad values stays that of the rank. */
    double sum[MOST_QUANTITIES], most[2 * MOST_QUANTITIES];
    double *largest = most, *lowest = most + list->count; /* lowest: negative */
    for (int i = 0; i < list->count; i++) {
        sum[i] = measure[i].sum;
        largest[i] = measure[i].largest;
        lowest[i] = measure[i].bad > 0 ? -(double)measure[i].first : -INFINITY;
    }
    TRY(ht_comm_sum(plan->grid.slab.comm, list->count, sum));
    TRY(ht_comm_max(plan->grid.slab.comm, 2 * list->count, most));
    for (int i = 0; i < list->count; i++) {
        measure[i].sum = sum[i];
        measure[i].largest = largest[i];
        measure[i].first = isfinite(lowest[i]) ? (int64_t)-lowest[i] : -1;
    }
    return HT_OK;
}

/* Factor of the squares of a field whose gradient is in the energy. */
static double slope_factor(const struct ht_plan *plan, int field) {
    double sum = 0;
    for (int t = 0; t < plan->eq.nenergy; t++)
        for (int k = 0; k < plan->grid.dims; k++)
            if (plan->eq.energy[t].field == field && plan->eq.energy[t].gradient)
                sum += 0.5 / (plan->grid.h[k] * plan->grid.h[k]);
    return sum;
}

static enum ht_err measure_nodes(const struct ht_plan *plan, const struct ht_stepper *stepper,
                                 double time, struct energy_list *list, struct ht_state *out) {
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
        if (!(list->factor[i] > 0)) out->slope += slope_factor(plan, field) * measure[i].sum;
    }
    return HT_OK;
}

static enum ht_err measure_content(const struct ht_plan *plan, const struct ht_stepper *stepper,
                                   double time, enum ht_subgrid subgrid, struct energy_list *list,
                                   struct ht_state *out) {
    struct ht_measure measure[MOST_QUANTITIES];
    /* Adds the terms of the energy on a grid from the polynomials to the list. */
    list->count = 0;
    for (int t = 0; t < plan->eq.nenergy; t++) {
        const struct ht_energy_term *term = &plan->eq.energy[t];
        if (!ht_problem_stores(&plan->problem, subgrid, term->field)) continue;
        if (term->other != term->field) continue;
        if (!term->gradient) add_points(&plan->grid, term, -1, list);
        for (int k = 0; term->gradient && k < plan->grid.dims; k++)
            add_points(&plan->grid, term, k, list);
    }
    TRY(measure_list(plan, stepper, subgrid, list, measure));
    for (int i = 0; i < list->count; i++) {
        if (measure[i].first >= 0)
            return not_finite(plan, subgrid, list->what[i].field, measure[i].first, time);
        out->content += list->factor[i] * measure[i].sum;
    }
    return HT_OK;
}

enum ht_err ht_hermite_state_measure(const struct ht_plan *plan, const struct ht_stepper *stepper,
                                     double time, struct ht_state *out) {
    struct energy_list list = {.count = 0};
    *out = (struct ht_state){.energy = 0};
    TRY(HT_ALLOC(list.weights,
                 (int64_t)MOST_QUANTITIES * HT_MEASURE_POINTS * ht_grid_coefs(&plan->grid)));
    enum ht_err err = measure_nodes(plan, stepper, time, &list, out);
    if (err == HT_OK) err = measure_content(plan, stepper, time, HT_PRIMARY, &list, out);
    /* In a one-level scheme the dual grid is no part of the state. */
    if (err == HT_OK && plan->problem.scheme->two_level)
        err = measure_content(plan, stepper, time, HT_DUAL, &list, out);
    free(list.weights);
    return err;
}

const char *ht_hermite_growth_cause(const struct ht_plan *plan) {
    if (plan->problem.layers != NULL)
        return plan->layers.type == HT_ABSORBING_SPONGE
                   ? "waves grow in the absorbing layers; take a larger absorbing.reflection or "
                     "another absorbing.cells"
                   : "waves grow in the absorbing layers; take another absorbing.cells or "
                     "time.scheme = \"fd\"";
    if (plan->medium->uniform)
        return "the step is stable for this scheme, so the grid does not resolve the initial data, "
               "or rounding or the device is to blame; try more cells or device.precision = "
               "\"double\"";
    return "the medium: Hermite methods are not proven stable where it varies, and grow where it "
           "jumps or is not resolved, at every order; smooth it over six cells or more, with "
           "medium.degree at its default, or take a lower grid.order or time.cfl";
}
