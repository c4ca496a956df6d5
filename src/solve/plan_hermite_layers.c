/* The layers of absorbing sides of Hermite methods: what they take where the
 * input leaves it open, their limits, and the medium in them.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plan_layers.h"

enum { least_cells = 3 };

/* Stable in the Bloch analysis of test/unit/absorbing.c. */
static void usual_hermite(enum ht_absorbing_type type, int order,
                          struct ht_layer *layer) {
    const double cells = (double)layer->cells;
    const double thin = fmin(fmax((8 - cells) / 3, 0), 1);
    layer->alpha = 0;
    layer->sponge = 0;
    layer->degree = 2;
    layer->reflection = exp(-20.0 / 3); /* most = 10 c/L */
    if (type == HT_ABSORBING_SPONGE) return;
    layer->alpha = order < 4 ? 0.1 : 0.2;
    layer->sponge = 0.005 + thin * 0.045;
    layer->degree = order == 1 ? 3 : cells < 8 ? 4 : 5;
    layer->reflection = pow(10, -fmin(cells, 8));
}

/* Equations of second order reflect more from profiles that are constant about
 * a node, the more the steeper these are. */
static void usual_second_order(enum ht_absorbing_type type, int order,
                               struct ht_layer *layer) {
    usual_hermite(type, order, layer);
    if (type == HT_ABSORBING_SPONGE) return;
    layer->degree = 3;
    layer->reflection = 1e-3;
}

static bool is_first_order(const struct ht_plan *plan) {
    bool first = true;
    for (int t = 0; t < plan->eq.nterms; t++)
        first = first && plan->eq.term[t].derivative < 2;
    return first;
}

static bool by_taylor(const struct ht_plan *plan) {
    const struct ht_scheme *scheme = ht_problem_scheme(&plan->problem);
    return scheme->method == HT_HERMITE && !scheme->two_level;
}

/* sigma dt/2 at most: the real axis on which series of 6 stages and more are
 * stable has a length of 3.55 and more; alpha and the sponge need the rest. */
static const double most_damping = 3;

void ht_plan_limit_layers(struct ht_plan *plan) {
    const double step = plan->problem.dt / 2;
    const bool given = ht_params_is_set(plan->params, "absorbing.reflection");
    if (plan->problem.layers == NULL || !by_taylor(plan)) return;
    /* The series does not end in layers. */
    plan->layers.stages =
        ht_problem_scheme(&plan->problem)->full_stages(&plan->eq, plan->order) +
        4;
    if (step > 0 && ht_layers_cap(&plan->layers, most_damping / step) > 0 &&
        given)
        ht_note("absorbing.reflection: damping is limited to %g per half step, "
                "where the series is stable",
                most_damping);
}

static enum ht_err refuse_leapfrog(const struct ht_plan *plan) {
    char key[24];
    int axis = 0;
    while (plan->grid.layer[axis][0] + plan->grid.layer[axis][1] == 0) axis++;
    snprintf(key, sizeof key, "boundary.x%d", axis + 1);
    return ht_params_error(plan->params, key,
                           "time.scheme = \"%s\" has no absorbing sides: "
                           "\"taylor\" and \"fd\" have",
                           ht_problem_scheme(&plan->problem)->name);
}

static enum ht_err check_hermite(const struct ht_plan *plan,
                                 enum ht_absorbing_type type) {
    const struct ht_params *params = plan->params;
    const enum ht_organisation organisation = params->absorbing.organisation;
    if (!by_taylor(plan)) return refuse_leapfrog(plan);
    if (type == HT_ABSORBING_SPONGE)
        return ht_params_error(params, "absorbing.type",
                               "\"sponge\" is for time.scheme = \"fd\": "
                               "Hermite methods have \"cpml\"");
    if (organisation != HT_ORGANISATION_AUTO &&
        organisation != HT_ORGANISATION_REGIONS &&
        organisation != HT_ORGANISATION_OPERATORS)
        return ht_params_error(
            params, "absorbing.organisation",
            "Hermite methods have \"regions\" and \"operators\"");
    if (organisation == HT_ORGANISATION_OPERATORS && !plan->medium->uniform)
        return ht_params_error(
            params, "absorbing.organisation",
            "operators need a uniform medium: \"regions\" do not");
    for (int n = 0; n < 6; n++)
        if (plan->grid.layer[n / 2][n % 2] > 0 &&
            plan->grid.layer[n / 2][n % 2] < least_cells)
            return ht_params_error(params, "absorbing.cells",
                                   "thinner layers of Hermite methods than %d "
                                   "cells grow",
                                   least_cells);
    return HT_OK;
}

enum ht_err ht_plan_make_hermite_layers(struct ht_plan *plan) {
    TRY(check_hermite(plan, plan->params->absorbing.type));
    TRY(ht_layers_make(
        plan->params, &plan->grid, plan->medium->speed, HT_ABSORBING_CPML,
        plan->order, is_first_order(plan) ? usual_hermite : usual_second_order,
        &plan->layers));
    plan->problem.fd.organisation = plan->params->absorbing.organisation;
    plan->problem.layers = &plan->layers;
    return HT_OK;
}

/* ---- what they are expected to reflect ---- */

/* Measured (docs/absorbing.md): layers of at least so many cells, N = 1..4, dB.
 */
struct measured {
    int64_t cells;
    double db[4];
};
static const struct measured first_order[] = {
    {3, {-43, -44, -44, -42}},   {4, {-49, -49, -48, -46}},
    {6, {-61, -64, -62, -60}},   {8, {-78, -90, -70, -63}},
    {12, {-94, -102, -85, -74}}, {16, {-104, -110, -98, -82}}};
static const struct measured second_order[] = {
    {3, {-29, -28, -27, -27}},  {4, {-34, -34, -34, -34}},
    {6, {-47, -47, -44, -46}},  {8, {-58, -58, -50, -50}},
    {12, {-62, -56, -58, -54}}, {16, {-65, -63, -62, -59}}};
enum { ROWS = sizeof first_order / sizeof *first_order };

/* Of the usual profiles; with another R no less than that. */
double ht_plan_layer_point_reflection(const struct ht_plan *plan) {
    const struct measured *rows =
        is_first_order(plan) ? first_order : second_order;
    const struct ht_params *params = plan->params;
    double most = NAN;
    if (plan->problem.layers == NULL || !by_taylor(plan) || plan->order > 4 ||
        params->absorbing.degree.kind == HT_VALUE_NUMBERS ||
        params->absorbing.alpha.kind == HT_VALUE_NUMBERS ||
        params->absorbing.sponge.kind == HT_VALUE_NUMBERS)
        return NAN;
    for (int n = 0; n < 6; n++) {
        const struct ht_layer *layer = &plan->layers.side[n / 2][n % 2];
        int row = ROWS - 1;
        if (layer->cells == 0) continue;
        while (rows[row].cells > layer->cells) row--;
        most = fmax(most, rows[row].db[plan->order - 1]);
        if (params->absorbing.reflection.kind == HT_VALUE_NUMBERS)
            most = fmax(most, 20 * log10(layer->reflection));
    }
    return most;
}

/* ---- the medium in layers of Hermite methods ---- */

/* The values at nodes in layers along x1 and x2 become those of the nearest
 * node in none. */
static void continue_plane(const struct ht_grid *grid, enum ht_subgrid subgrid,
                           double *plane) {
    const bool dual = subgrid == HT_DUAL;
    const int64_t n1 = ht_grid_nodes(grid, subgrid, 0);
    const int64_t n2 = ht_grid_nodes(grid, subgrid, 1);
    for (int64_t n = 0; n < n1 * n2; n++) {
        const int64_t m1 = ht_layers_inside(grid, 0, dual, n % n1);
        const int64_t m2 = ht_layers_inside(grid, 1, dual, n / n1);
        if (m2 * n1 + m1 != n) plane[n] = plane[m2 * n1 + m1];
    }
}

/* Planes in layers along x3 come from the nearest in none. Polynomials keep
 * their other coefficients, which layers do not use. */
static enum ht_err fill_continued(const void *context, enum ht_subgrid subgrid,
                                  int64_t first, int64_t last, double *out) {
    const struct ht_plan *plan = context;
    const struct ht_grid *grid = &plan->grid;
    const int64_t nodes = ht_grid_plane(grid, subgrid), planes = last - first;
    const int64_t rows =
        (int64_t)plan->eq.nmaterials * plan->problem.medium_coefs;
    double *plane = NULL;
    TRY(ht_medium_fill(plan->medium, subgrid, first, last, out));
    TRY(HT_ALLOC(plane, rows * nodes));
    enum ht_err err = HT_OK;
    for (int64_t m = first, held = -1; err == HT_OK && m < last; m++) {
        const int64_t from = ht_layers_inside(grid, 2, subgrid == HT_DUAL, m);
        if (from != m && from != held)
            err = ht_medium_fill(plan->medium, subgrid, from, from + 1, plane);
        if (from != m) held = from;
        for (int64_t r = 0; err == HT_OK && r < rows; r++) {
            double *to = out + (r * planes + m - first) * nodes;
            if (from != m)
                memcpy(to, plane + r * nodes, (size_t)nodes * sizeof *to);
            continue_plane(grid, subgrid, to);
        }
    }
    free(plane);
    return err;
}

void ht_plan_continue_medium(struct ht_plan *plan) {
    if (plan->problem.layers == NULL || !by_taylor(plan)) return;
    plan->problem.medium_fill = fill_continued;
    plan->problem.medium = plan;
}
