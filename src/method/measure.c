/* Judging a state: nodal values, finiteness, energy, error. */
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
    int64_t most = ht_grid_planes(grid, HT_PRIMARY);
    return planes < 1 ? 1 : planes < most ? planes : most;
}

/* Calls use for chunks of planes of the solution at a time. */
static enum ht_err each_chunk(const struct ht_plan *plan, double time,
                              enum ht_err (*use)(void *context, int64_t first,
                                                 int64_t last,
                                                 const double *coefs),
                              void *context) {
    const struct ht_grid *grid = &plan->grid;
    int64_t planes = ht_grid_planes(grid, HT_PRIMARY);
    int64_t chunk = chunk_planes(plan);
    double *coefs = NULL;
    TRY(HT_ALLOC(coefs, ht_grid_plane(grid, HT_PRIMARY) * chunk *
                            ht_grid_coefs(grid) * plan->eq.nfields));
    enum ht_err err = HT_OK;
    for (int64_t first = 0; err == HT_OK && first < planes; first += chunk) {
        int64_t last = first + chunk < planes ? first + chunk : planes;
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
    for (int f = 0; f < plan->eq.nfields; f++)
        if (ht_problem_stores(&plan->problem, HT_PRIMARY, f))
            TRY(stepper->ops->get(stepper->self, HT_PRIMARY, f, 1, 0,
                                  ht_grid_planes(&plan->grid, HT_PRIMARY),
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

enum ht_err ht_nodal_check(const struct ht_plan *plan,
                           const double *const *nodal, double time) {
    int64_t nodes = ht_grid_total(&plan->grid, HT_PRIMARY);
    for (int f = 0; f < plan->eq.nfields; f++)
        for (int64_t n = 0; nodal[f] != NULL && n < nodes; n++) {
            if (isfinite(nodal[f][n])) continue;
            double x[3];
            node_position(&plan->grid, n, x);
            FAIL(HT_ERR_NOT_FINITE,
                 "%s is not finite at (%g, %g, %g), time %g; likely cause: %s",
                 plan->eq.field[f].name, x[0], x[1], x[2], time,
                 likely_cause(plan));
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

/* Cell volume of a node: half at each wall it lies on. */
static double weight(const struct ht_grid *grid, int64_t node) {
    double volume = 1;
    for (int k = 0; k < grid->dims; k++) {
        int64_t n = ht_grid_nodes(grid, HT_PRIMARY, k), m = node % n;
        node /= n;
        bool end = !ht_grid_periodic(grid, k) && (m == 0 || m == n - 1);
        volume *= grid->h[k] * (end ? 0.5 : 1);
    }
    return volume;
}

/* Half the weighted square of one energy term on a chunk of planes: values
 * [node], materials [material][a][node] or NULL. */
static double add_squares(const struct ht_plan *plan, int material,
                          const double *values, const double *materials,
                          const int64_t planes[2]) {
    int64_t plane = ht_grid_plane(&plan->grid, HT_PRIMARY);
    int64_t part = plane * (planes[1] - planes[0]);
    double sum = 0;
    for (int64_t n = 0; n < part; n++) {
        double m = 1;
        if (material >= 0)
            m = materials ? materials[(int64_t)material *
                                          plan->problem.medium_coefs * part +
                                      n]
                          : plan->problem.uniform[material];
        sum += 0.5 * weight(&plan->grid, planes[0] * plane + n) * values[n] *
               values[n] / m;
    }
    return sum;
}

/* Nodal derivatives of a field along all axes: the first scaled coefficients
 * over h. coefs has room for those up to the last one needed. */
static enum ht_err
add_gradient(const struct ht_plan *plan, const struct ht_stepper *stepper,
             const struct ht_energy_term *term, const double *materials,
             const int64_t planes[2], double *coefs, double *energy) {
    const struct ht_grid *grid = &plan->grid;
    int64_t part = ht_grid_plane(grid, HT_PRIMARY) * (planes[1] - planes[0]);
    int last = 1;
    for (int k = 1; k < grid->dims; k++) last *= grid->order + 1;
    TRY(stepper->ops->get(stepper->self, HT_PRIMARY, term->field, last + 1,
                          planes[0], planes[1], coefs));
    for (int k = 0, i = 1; k < grid->dims; k++, i *= grid->order + 1) {
        double *slope = coefs + i * part;
        for (int64_t n = 0; n < part; n++) slope[n] /= grid->h[k];
        *energy += add_squares(plan, term->material, slope, materials, planes);
    }
    return HT_OK;
}

/* All terms on planes [planes[0], planes[1]). */
static enum ht_err add_energy(const struct ht_plan *plan,
                              const struct ht_stepper *stepper,
                              const double *const *nodal,
                              const int64_t planes[2], double *scratch[2],
                              double *energy) {
    const struct ht_problem *p = &plan->problem;
    int64_t plane = ht_grid_plane(&plan->grid, HT_PRIMARY);
    if (scratch[0] != NULL)
        TRY(p->medium_fill(p->medium, HT_PRIMARY, planes[0], planes[1],
                           scratch[0]));
    for (int t = 0; t < plan->eq.nenergy; t++) {
        const struct ht_energy_term *term = &plan->eq.energy[t];
        if (nodal[term->field] == NULL) continue;
        if (term->gradient)
            TRY(add_gradient(plan, stepper, term, scratch[0], planes,
                             scratch[1], energy));
        else
            *energy += add_squares(plan, term->material,
                                   nodal[term->field] + planes[0] * plane,
                                   scratch[0], planes);
    }
    return HT_OK;
}

enum ht_err ht_nodal_energy(const struct ht_plan *plan,
                            const struct ht_stepper *stepper,
                            const double *const *nodal, double *energy) {
    const struct ht_grid *grid = &plan->grid;
    int64_t planes = ht_grid_planes(grid, HT_PRIMARY);
    int64_t chunk = chunk_planes(plan);
    int64_t room = ht_grid_plane(grid, HT_PRIMARY) * chunk;
    double *scratch[2] = {NULL, NULL}; /* materials, derivatives */
    enum ht_err err = HT_ALLOC(scratch[1], room * (ht_grid_coefs(grid) + 1));
    *energy = 0;
    if (err == HT_OK && plan->problem.medium_degree >= 0)
        err = HT_ALLOC(scratch[0],
                       room * plan->problem.medium_coefs * plan->eq.nmaterials);
    for (int64_t first = 0; err == HT_OK && first < planes; first += chunk) {
        int64_t last = first + chunk < planes ? first + chunk : planes;
        err = add_energy(plan, stepper, nodal, (const int64_t[2]){first, last},
                         scratch, energy);
    }
    free(scratch[0]);
    free(scratch[1]);
    return err;
}

struct error_sums {
    const struct ht_plan *plan;
    const double *const *nodal;
    double difference, reference;
};

static enum ht_err add_chunk(void *context, int64_t first, int64_t last,
                             const double *coefs) {
    struct error_sums *s = context;
    int64_t plane = ht_grid_plane(&s->plan->grid, HT_PRIMARY);
    int64_t part = plane * (last - first);
    for (int f = 0; f < s->plan->eq.nfields; f++) {
        const double *exact = coefs + part * f * ht_grid_coefs(&s->plan->grid);
        for (int64_t n = 0; s->nodal[f] != NULL && n < part; n++) {
            double d = s->nodal[f][first * plane + n] - exact[n];
            s->difference += d * d;
            s->reference += exact[n] * exact[n];
        }
    }
    return HT_OK;
}

enum ht_err ht_nodal_error(const struct ht_plan *plan,
                           const double *const *nodal, double time,
                           double *error) {
    struct error_sums sums = {.plan = plan, .nodal = nodal};
    TRY(each_chunk(plan, plan->solution->exact ? time : 0, add_chunk, &sums));
    *error = sqrt(sums.difference / (sums.reference > 0 ? sums.reference : 1));
    return HT_OK;
}
