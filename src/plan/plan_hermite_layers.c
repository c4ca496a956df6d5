/* The layers of absorbing sides of Hermite methods: what they take where the
 * input leaves it open, their limits, and the medium in them.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "htwave/absorbing.h"
#include "plan_layers.h"

/* Thinner ones grow (docs/absorbing.md). */
enum { least_cells = 3, least_sponge = 4, least_leapfrog = 6 };

/* Stable in the Bloch analysis of test/unit/absorbing.c, as are the others. */
static void usual_sponge(enum ht_absorbing_type type, int order,
                         struct ht_layer *layer) {
    (void)type;
    (void)order;
    layer->alpha = 0;
    layer->sponge = 0;
    layer->degree = 2;
    /* most = S c/L: the best where four cells are a wavelength */
    const double most = fmin(1 + 0.75 * (double)layer->cells, 14);
    layer->reflection = exp(-2 * most / (layer->degree + 1));
}

/* Damping that varies about a node may grow as fast as waves are resolved, and
 * needs little of the sponge, which is what reflects most where it is weak. */
static void usual_first(enum ht_absorbing_type type, int order,
                        struct ht_layer *layer) {
    const double cells = (double)layer->cells;
    (void)type;
    layer->alpha = order < 4 ? 0.1 : 0.2;
    layer->sponge = cells < 4 ? 0.05 : 0.0005;
    layer->degree = 4;
    layer->reflection = cells < 4 ? 3e-4 : pow(10, -fmin(3 + cells / 2, 6));
}

/* From N = 2 and 4 cells on steeper, with next to no sponge; from 8 cells on
 * long waves are absorbed, too, at which thinner layers grow. */
static void usual_second(enum ht_absorbing_type type, int order,
                         struct ht_layer *layer) {
    const double half = (double)layer->cells / 2;
    const bool weak = order == 1 || layer->cells < 4;
    const bool thick = order > 1 && layer->cells >= 8;
    (void)type;
    layer->alpha = thick ? 0.03 : 0.1;
    layer->sponge = weak ? 0.001 : thick ? 0.00003 : 0.0001;
    layer->degree = weak || layer->cells < 6 ? 3 : 4;
    layer->reflection = pow(10, -(weak    ? fmin(1 + half, 5)
                                  : thick ? 6.5
                                          : 2 + half));
}

static bool matched(const struct ht_plan *plan) {
    return plan->problem.layers != NULL && plan->problem.fd.order == 0 &&
           plan->layers.type == HT_ABSORBING_CPML;
}

/* sigma dt/2 at most: the real axis on which series of 6 stages and more are
 * stable has a length of 3.55 and more; alpha and the sponge need the rest. */
static const double most_damping = 3;
/* Of a sponge, which grows in thin layers where it is stronger. */
static const double most_sponge = 0.9;

void ht_plan_limit_layers(struct ht_plan *plan) {
    const struct ht_scheme *scheme = ht_problem_scheme(&plan->problem);
    const double step = plan->problem.dt / 2;
    const double most = matched(plan) ? most_damping : most_sponge;
    const bool given = ht_params_is_set(plan->params, "absorbing.reflection");
    if (plan->problem.layers == NULL || scheme->method != HT_HERMITE) return;
    /* The series does not end in layers. */
    if (matched(plan))
        plan->layers.stages = scheme->full_stages(&plan->eq, plan->order) + 4;
    if (step > 0 && ht_layers_cap(&plan->layers, most / step) > 0 && given)
        ht_note("absorbing.reflection: damping is limited to %g per half step, "
                "where it is stable",
                most);
}

static enum ht_err check_thickness(const struct ht_plan *plan, int least) {
    for (int n = 0; n < 6; n++)
        if (plan->grid.layer[n / 2][n % 2] > 0 &&
            plan->grid.layer[n / 2][n % 2] < least)
            return ht_params_error(plan->params, "absorbing.cells",
                                   "thinner layers of time.scheme = \"%s\" "
                                   "than %d cells grow",
                                   ht_problem_scheme(&plan->problem)->name,
                                   least);
    return HT_OK;
}

static enum ht_err check_leapfrog(const struct ht_plan *plan) {
    const struct ht_params *params = plan->params;
    const bool one_field =
        plan->problem.stored[HT_PRIMARY] == plan->problem.stored[HT_DUAL];
    if (params->absorbing.type != HT_ABSORBING_SPONGE)
        return ht_params_error(params, "absorbing.type",
                               "time.scheme = \"leapfrog\" has no perfectly "
                               "matched layers: give \"sponge\", or "
                               "time.scheme = \"taylor\" or \"fd\"");
    TRY(check_thickness(plan, least_leapfrog));
    if (one_field ? plan->order % 2 == 1 : plan->order > 1) return HT_OK;
    return ht_params_error(params, "grid.order",
                           "sponges of system = \"%s\" grow by leapfrog at "
                           "%s: take %s",
                           plan->eq.system->name,
                           one_field ? "even orders" : "order 1",
                           one_field ? "an odd one" : "2 or more");
}

/* Of the damping about a node. Equations of second order have derivatives of
 * psi, too, and so those of the damping; with N = 1 nothing is gained. */
static int profile_degree(const struct ht_plan *plan) {
    const bool first = ht_equations_first_order(&plan->eq);
    if (plan->params->absorbing.type == HT_ABSORBING_SPONGE) return 0;
    return first || plan->order == 1 ? 2 : HT_PROFILE_DEGREE;
}

static ht_layer_usual *usual_of(const struct ht_plan *plan) {
    if (plan->params->absorbing.type == HT_ABSORBING_SPONGE)
        return usual_sponge;
    return ht_equations_first_order(&plan->eq) ? usual_first : usual_second;
}

static enum ht_err check_hermite(const struct ht_plan *plan) {
    const struct ht_params *params = plan->params;
    const enum ht_organisation organisation = params->absorbing.organisation;
    const bool sponge = params->absorbing.type == HT_ABSORBING_SPONGE;
    if (ht_problem_scheme(&plan->problem)->two_level) TRY(check_leapfrog(plan));
    if (sponge) TRY(check_thickness(plan, least_sponge));
    if (sponge) return ht_plan_check_sponge(params);
    if (organisation != HT_ORGANISATION_AUTO &&
        organisation != HT_ORGANISATION_REGIONS)
        return ht_params_error(params, "absorbing.organisation",
                               "Hermite methods have \"regions\"");
    return check_thickness(plan, least_cells);
}

enum ht_err ht_plan_make_hermite_layers(struct ht_plan *plan) {
    const bool sponge = plan->params->absorbing.type == HT_ABSORBING_SPONGE;
    TRY(check_hermite(plan));
    TRY(ht_layers_make(plan->params, &plan->grid, plan->medium->speed,
                       sponge ? HT_ABSORBING_SPONGE : HT_ABSORBING_CPML,
                       plan->order, usual_of(plan), &plan->layers));
    plan->layers.profile_degree = profile_degree(plan);
    plan->problem.fd.organisation = HT_ORGANISATION_REGIONS;
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
    {3, {-41, -41, -41, -41}},      {4, {-67, -85, -86, -80}},
    {6, {-89, -100, -98, -94}},     {8, {-103, -109, -107, -96}},
    {12, {-115, -118, -119, -104}}, {16, {-121, -123, -123, -117}}};
static const struct measured second_order[] = {
    {3, {-39, -40, -41, -41}},     {4, {-54, -68, -67, -65}},
    {6, {-69, -86, -88, -85}},     {8, {-79, -109, -106, -101}},
    {12, {-97, -127, -123, -119}}, {16, {-104, -135, -135, -131}}};
enum { ROWS = sizeof first_order / sizeof *first_order };

static const struct measured *rows_of(const struct ht_plan *plan) {
    return ht_equations_first_order(&plan->eq) ? first_order : second_order;
}

/* Of the usual profiles; with another R no less than that. */
double ht_plan_layer_point_reflection(const struct ht_plan *plan) {
    const struct measured *rows = rows_of(plan);
    const struct ht_params *params = plan->params;
    double most = NAN;
    if (!matched(plan) || plan->order > 4 ||
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

void ht_plan_sponge_reflection(const struct ht_plan *plan, double whole[3],
                               double half[3]) {
    const double cosine[3] = {1, sqrt(0.75), 0.5};
    for (int i = 0; i < 3; i++) whole[i] = half[i] = -INFINITY;
    for (int n = 0; n < 6; n++)
        for (int i = 0; i < 3 && plan->layers.side[n / 2][n % 2].cells; i++) {
            whole[i] =
                fmax(whole[i], ht_sponge_reflection(&plan->problem, n / 2,
                                                    n % 2, 1, cosine[i]));
            half[i] = fmax(half[i], ht_sponge_reflection(&plan->problem, n / 2,
                                                         n % 2, 2, cosine[i]));
        }
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
    if (!matched(plan)) return;
    plan->problem.medium_fill = fill_continued;
    plan->problem.medium = plan;
}
