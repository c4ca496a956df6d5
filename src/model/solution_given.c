/* Data given node by node: zero, random coefficients, expressions. */
#include "solution_types.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- zero ---- */

static enum ht_err prepare_zero(struct ht_solution *solution) {
    (void)solution;
    return HT_OK;
}

static enum ht_err fill_zero(const struct ht_solution *solution,
                             const struct ht_solution_range *range,
                             double *out) {
    int64_t count = (int64_t)solution->eq->nfields *
                    ht_grid_coefs(solution->grid) * range->nodes;
    memset(out, 0, (size_t)count * sizeof *out);
    return HT_OK;
}

/* ---- random ---- */

/* Every coefficient of total degree g is uniform in amplitude * [-1, 1) / 4^g:
 * their ratios are those of a wave with some four cells per wavelength. They
 * depend on seed, grid, node, field and coefficient only, so that any range of
 * planes can be computed separately. */
static enum ht_err fill_random(const struct ht_solution *solution,
                               const struct ht_solution_range *range,
                               double *out) {
    const struct ht_params *params = solution->data->params;
    uint64_t seed = (uint64_t)params->initial.seed;
    int coefs = ht_grid_coefs(solution->grid);
    int rows = solution->eq->nfields * coefs;
    int side = solution->grid->order + 1;
    uint64_t first = (uint64_t)(range->first * range->plane);
    for (int row = 0; row < rows; row++) {
        int i = row % coefs;
        int degree = i % side + i / side % side + i / side / side;
        double scale = ldexp(params->initial.amplitude, -2 * degree);
        for (int64_t node = 0; node < range->nodes; node++) {
            uint64_t index = (first + (uint64_t)node) * (uint64_t)rows;
            index = 2 * (index + (uint64_t)row) + (range->subgrid == HT_DUAL);
            *out++ = scale * ht_rng_uniform(seed, index);
        }
    }
    return HT_OK;
}

/* ---- expression ---- */

static enum ht_err blame(const struct ht_params *params, const char *field,
                         const char *rule) {
    struct ht_text key = {0};
    ht_text_add(&key, "initial.values.%s", field);
    enum ht_err err = ht_text_status(&key);
    if (err == HT_OK) err = ht_params_error(params, key.data, "%s", rule);
    ht_text_free(&key);
    return err;
}

static enum ht_err parse(struct ht_solution *solution, const char *name,
                         const char *text) {
    struct ht_solution_data *data = solution->data;
    int field;
    TRY(ht_solution_find_value(solution, name, &field));
    ht_expr_destroy(data->expr[field]);
    enum ht_err err = ht_expr_parse(text, &data->expr[field]);
    if (err == HT_ERR_INPUT) return blame(data->params, name, ht_err_message());
    TRY(err);
    for (int k = solution->grid->dims; k < 3; k++) {
        char rule[80];
        if (!ht_expr_uses(data->expr[field], k)) continue;
        snprintf(rule, sizeof rule,
                 "x%d is no axis of the grid, which has %d (grid.cells)", k + 1,
                 solution->grid->dims);
        return blame(data->params, name, rule);
    }
    return HT_OK;
}

static enum ht_err prepare_expression(struct ht_solution *solution) {
    struct ht_solution_data *data = solution->data;
    const struct ht_map *values = &data->params->initial.values;
    for (int n = 0; n < values->count; n++)
        TRY(parse(solution, values->name[n], values->text[n]));
    if (solution->grid->dims == 1)
        TRY(ht_jets_tensor(1, solution->grid->order + 1, &data->longer));
    return ht_jets_tensor(solution->grid->dims, solution->grid->order,
                          &data->jets);
}

/* All coefficients of a field at a point, those of jets. */
static enum ht_err fill_node(const struct ht_solution *solution, int field,
                             const struct ht_jets *jets, const double x[3],
                             double *jet) {
    const struct ht_solution_data *data = solution->data;
    TRY(ht_expr_jet(data->expr[field], jets, x, solution->grid->h, jet));
    for (int i = 0; i < jets->count; i++) {
        if (isfinite(jet[i])) continue;
        char rule[160];
        snprintf(rule, sizeof rule, "%s not finite at x = (%g, %g, %g)",
                 i ? "a derivative is" : "the value is", x[0], x[1], x[2]);
        return blame(data->params, solution->eq->field[field].name, rule);
    }
    return HT_OK;
}

static enum ht_err fill_field(const struct ht_solution *solution,
                              const struct ht_solution_range *range, int field,
                              double *jet, double *out) {
    const struct ht_grid *grid = solution->grid;
    int64_t n1 = ht_grid_nodes(grid, range->subgrid, 0);
    int coefs = solution->data->jets->count;
    if (!solution->data->expr[field]) {
        memset(out, 0, (size_t)(coefs * range->nodes) * sizeof *out);
        return HT_OK;
    }
    for (int64_t node = 0; node < range->nodes; node++) {
        int64_t m[3] = {node % n1, node % range->plane / n1,
                        range->first + node / range->plane};
        double x[3];
        for (int j = 0; j < 3; j++)
            x[j] = ht_grid_x(grid, range->subgrid, j, m[j]);
        TRY(fill_node(solution, field, solution->data->jets, x, jet));
        for (int i = 0; i < coefs; i++) out[i * range->nodes + node] = jet[i];
    }
    return HT_OK;
}

static enum ht_err fill_expression(const struct ht_solution *solution,
                                   const struct ht_solution_range *range,
                                   double *out) {
    int64_t size = solution->data->jets->count * range->nodes;
    double *jet;
    TRY(HT_ALLOC(jet, solution->data->jets->count));
    enum ht_err err = HT_OK;
    for (int f = 0; f < solution->eq->nfields && err == HT_OK; f++)
        err = fill_field(solution, range, f, jet, out + f * size);
    free(jet);
    return err;
}

static bool expression_occurs(const struct ht_solution *solution, int field) {
    return solution->data->expr[field] != NULL;
}

/* In one dimension. */
static enum ht_err expression_initial(const struct ht_solution *solution,
                                      int field, double x, int count,
                                      double *jet) {
    const struct ht_solution_data *data = solution->data;
    bool longer = count > data->jets->count;
    memset(jet, 0, (size_t)count * sizeof *jet);
    if (!data->expr[field]) return HT_OK;
    return fill_node(solution, field, longer ? data->longer : data->jets,
                     (const double[3]){x}, jet);
}

static bool zero_occurs(const struct ht_solution *solution, int field) {
    (void)solution, (void)field;
    return false;
}

static enum ht_err prepare_rest(struct ht_solution *solution) {
    solution->rest = true;
    return prepare_zero(solution);
}

const struct ht_solution_type ht_solution_zero = {
    .name = "zero",
    .prepare = prepare_rest,
    .fill = fill_zero,
    .occurs = zero_occurs,
};
const struct ht_solution_type ht_solution_random = {
    .name = "random",
    .prepare = prepare_zero,
    .fill = fill_random,
};
const struct ht_solution_type ht_solution_expression = {
    .name = "expression",
    .prepare = prepare_expression,
    .fill = fill_expression,
    .initial = expression_initial,
    .occurs = expression_occurs,
};
