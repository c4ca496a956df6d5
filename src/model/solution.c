/* Initial data and exact solutions: the table of initial.type and the code that all types share.
 * Node coefficients u_i = h^|i|/i! D^i u come from formulas, never from differences of values.
 */
#include "solution_types.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct ht_solution_type *const types[] = {
    &ht_solution_gaussian,   &ht_solution_plane, &ht_solution_standing, &ht_solution_random,
    &ht_solution_expression, &ht_solution_file,  &ht_solution_zero,
};
enum { NTYPES = sizeof types / sizeof types[0] };

enum ht_err ht_solution_find_field(const struct ht_solution *solution, const char *key,
                                   const char *name, int *field) {
    const struct ht_equations *eq = solution->eq;
    *field = ht_equations_field(eq, name);
    if (*field >= 0) return HT_OK;
    HT_FREED_TEXT struct ht_text list = {0};
    for (int f = 0; f < eq->nfields; f++)
        ht_text_add(&list, "%s%s", f ? " " : "", eq->field[f].name);
    TRY(ht_text_status(&list));
    return ht_params_error(solution->data->params, key,
                           "no field \"%s\" in %s in %d dimension%s; the "
                           "fields are %s",
                           name, eq->system->name, eq->dims, eq->dims > 1 ? "s" : "", list.data);
}

enum ht_err ht_solution_find_value(const struct ht_solution *solution, const char *name,
                                   int *field) {
    HT_FREED_TEXT struct ht_text key = {0};
    ht_text_add(&key, "initial.values.%s", name);
    TRY(ht_text_status(&key));
    return ht_solution_find_field(solution, key.data, name, field);
}

static enum ht_err find_type(const struct ht_params *params, const struct ht_solution_type **out) {
    const char *known[NTYPES];
    for (int n = 0; n < NTYPES; n++) {
        known[n] = types[n]->name;
        *out = types[n];
        if (strcmp(params->initial.type, known[n]) == 0) return HT_OK;
    }
    const char *near = ht_text_nearest(params->initial.type, known, NTYPES);
    return ht_params_error(params, "initial.type", "unknown type of initial data%s%s",
                           near ? ", nearest is " : "", near ? near : "");
}

/* A frequency of interest determines how fine the grid must be, unless the data are a single wave.
 */
static void resolve(struct ht_solution *solution) {
    const struct ht_solution_data *data = solution->data;
    double frequency = data->params->initial.frequency;
    solution->single_wave = data->type == &ht_solution_plane || data->type == &ht_solution_standing;
    bool known = frequency > 0 && data->medium->speed_min > 0;
    for (int j = 0; j < solution->eq->dims; j++) {
        if (known && !solution->single_wave)
            solution->wavenumber[j] = 2 * HT_PI * frequency / data->medium->speed_min;
        double theta = fabs(solution->wavenumber[j]) * solution->grid->h[j];
        solution->theta = fmax(solution->theta, theta);
    }
}

static enum ht_err prepare(struct ht_solution *solution) {
    struct ht_solution_data *data = solution->data;
    TRY(find_type(data->params, &data->type));
    TRY(data->type->prepare(solution));
    if (ht_layers_any(solution->grid)) solution->exact = false;
    resolve(solution);
    return HT_OK;
}

enum ht_err ht_solution_create(const struct ht_params *params, const struct ht_medium *medium,
                               struct ht_solution **out) {
    *out = NULL;
    struct ht_solution *solution;
    TRY(HT_ALLOC(solution, 1));
    solution->eq = medium->eq;
    solution->grid = medium->grid;
    solution->returns = params->initial.returns && params->time.end > 0;
    enum ht_err err = HT_ALLOC(solution->data, 1);
    if (err == HT_OK) {
        solution->data->params = params;
        solution->data->medium = medium;
        solution->data->parts = 1;
        err = prepare(solution);
    }
    return HT_MADE(err, solution, ht_solution_destroy, out);
}

void ht_solution_destroy(struct ht_solution *solution) {
    if (!solution) return;
    struct ht_solution_data *data = solution->data;
    if (data) {
        for (int f = 0; f < HT_MAX_FIELDS; f++) {
            ht_expr_destroy(data->expr[f]);
            free(data->values[f]);
        }
        ht_jets_destroy(data->jets);
        free(data->stencil);
        free(data->pulse);
        free(data);
    }
    free(solution);
}

bool ht_solution_occurs(const struct ht_solution *solution, int field) {
    const struct ht_solution_type *type = solution->data->type;
    return type->occurs == NULL || type->occurs(solution, field);
}

enum ht_err ht_solution_fill(const struct ht_solution *solution, enum ht_subgrid subgrid,
                             double time, int64_t first, int64_t last, double *out) {
    const struct ht_grid *grid = solution->grid;
    REQUIRE(time == 0 || solution->exact || (time < 0 && solution->rest), HT_ERR_INTERNAL,
            "%s data are known at time 0 only, not at %g", solution->data->type->name, time);
    REQUIRE(first >= 0 && first <= last && last <= ht_grid_planes(grid, subgrid), HT_ERR_INTERNAL,
            "planes %lld to %lld of %lld", (long long)first, (long long)last,
            (long long)ht_grid_planes(grid, subgrid));
    struct ht_solution_range range = {
        .subgrid = subgrid,
        .time = time,
        .first = first,
        .last = last,
        .plane = ht_grid_plane(grid, subgrid),
        .nodes = ht_grid_plane(grid, subgrid) * (last - first),
    };
    return solution->data->type->fill(solution, &range, out);
}
