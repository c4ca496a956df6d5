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
                             const struct ht_solution_range *range, double *out) {
    int64_t count = (int64_t)solution->eq->nfields * ht_grid_coefs(solution->grid) * range->nodes;
    memset(out, 0, (size_t)count * sizeof *out);
    return HT_OK;
}

/* ---- random ---- */

/* Every coefficient of total degree g is uniform in amplitude * [-1, 1) / 4^g:
 * their ratios are those of a wave with some four cells per wavelength. They depend on seed, grid,
 * node, field and coefficient only, so that any range of planes can be computed separately. */
static void fill_random_row(const struct ht_solution *solution,
                            const struct ht_solution_range *range, int row, double *out) {
    const struct ht_params *params = solution->data->params;
    const uint64_t seed = (uint64_t)params->initial.seed;
    const int coefs = ht_grid_coefs(solution->grid);
    const uint64_t rows = (uint64_t)solution->eq->nfields * (uint64_t)coefs;
    const int side = solution->grid->order + 1, i = row % coefs;
    const int degree = i % side + i / side % side + i / side / side;
    const double scale = ldexp(params->initial.amplitude, -2 * degree);
    const uint64_t first = (uint64_t)(range->first * range->plane);
    for (int64_t node = 0; node < range->nodes; node++) {
        uint64_t index = (first + (uint64_t)node) * rows;
        index = 2 * (index + (uint64_t)row) + (range->subgrid == HT_DUAL);
        out[node] = scale * ht_rng_uniform(seed, index);
    }
}

/* What threads fill in. */
struct job {
    const struct ht_solution *solution;
    const struct ht_solution_range *range;
    int field; /* of expressions */
    int64_t chunks;
    double *out;
};

static int64_t rows_of(const struct ht_solution *solution) {
    return (int64_t)solution->eq->nfields * ht_grid_coefs(solution->grid);
}

static enum ht_err fill_random_chunk(void *data, int64_t chunk, int worker) {
    const struct job *job = data;
    const int64_t rows = rows_of(job->solution);
    const int64_t end = ht_threads_first(rows, job->chunks, chunk + 1);
    (void)worker;
    for (int64_t row = ht_threads_first(rows, job->chunks, chunk); row < end; row++)
        fill_random_row(job->solution, job->range, (int)row, job->out + row * job->range->nodes);
    return HT_OK;
}

static enum ht_err fill_random(const struct ht_solution *solution,
                               const struct ht_solution_range *range, double *out) {
    struct job job = {.solution = solution, .range = range};
    job.out = out;
    job.chunks = ht_threads_chunks(rows_of(solution), HT_SOLUTION_CHUNK / ht_most(1, range->nodes));
    return ht_threads_run(job.chunks, fill_random_chunk, &job);
}

/* ---- expression ---- */

static enum ht_err blame(const struct ht_params *params, const char *field, const char *rule) {
    HT_FREED_TEXT struct ht_text key = {0};
    ht_text_add(&key, "initial.values.%s", field);
    TRY(ht_text_status(&key));
    return ht_params_error(params, key.data, "%s", rule);
}

static enum ht_err parse(struct ht_solution *solution, const char *name, const char *text) {
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
        snprintf(rule, sizeof rule, "x%d is no axis of the grid, which has %d (grid.cells)", k + 1,
                 solution->grid->dims);
        return blame(data->params, name, rule);
    }
    return HT_OK;
}

static enum ht_err prepare_expression(struct ht_solution *solution) {
    struct ht_solution_data *data = solution->data;
    const struct ht_map *values = &data->params->initial.values;
    for (int n = 0; n < values->count; n++) TRY(parse(solution, values->name[n], values->text[n]));
    return ht_jets_tensor(solution->grid->dims, solution->grid->order, &data->jets);
}

/* All coefficients of a field at a point. */
static enum ht_err fill_node(const struct ht_solution *solution, int field, const double x[3],
                             double *jet) {
    const struct ht_solution_data *data = solution->data;
    TRY(ht_expr_jet(data->expr[field], data->jets, x, solution->grid->h, jet));
    for (int i = 0; i < data->jets->count; i++) {
        if (isfinite(jet[i])) continue;
        char rule[160];
        snprintf(rule, sizeof rule, "%s not finite at x = (%g, %g, %g)",
                 i ? "a derivative is" : "the value is", x[0], x[1], x[2]);
        return blame(data->params, solution->eq->field[field].name, rule);
    }
    return HT_OK;
}

static enum ht_err fill_nodes(const struct job *job, int64_t begin, int64_t end, double *jet) {
    const struct ht_solution *solution = job->solution;
    const struct ht_solution_range *range = job->range;
    const struct ht_grid *grid = solution->grid;
    const int64_t n1 = ht_grid_nodes(grid, range->subgrid, 0);
    const int coefs = solution->data->jets->count;
    for (int64_t node = begin; node < end; node++) {
        int64_t m[3] = {node % n1, node % range->plane / n1, range->first + node / range->plane};
        double x[3];
        for (int j = 0; j < 3; j++) x[j] = ht_grid_x(grid, range->subgrid, j, m[j]);
        TRY(fill_node(solution, job->field, x, jet));
        for (int i = 0; i < coefs; i++) job->out[i * range->nodes + node] = jet[i];
    }
    return HT_OK;
}

static enum ht_err fill_chunk(void *data, int64_t chunk, int worker) {
    const struct job *job = data;
    const int64_t nodes = job->range->nodes;
    double *jet;
    (void)worker;
    TRY(HT_ALLOC(jet, job->solution->data->jets->count));
    const enum ht_err err = fill_nodes(job, ht_threads_first(nodes, job->chunks, chunk),
                                       ht_threads_first(nodes, job->chunks, chunk + 1), jet);
    free(jet);
    return err;
}

static enum ht_err fill_expression(const struct ht_solution *solution,
                                   const struct ht_solution_range *range, double *out) {
    const int coefs = solution->data->jets->count;
    const int64_t size = coefs * range->nodes;
    struct job job = {.solution = solution, .range = range};
    job.out = out;
    job.chunks = ht_threads_chunks(range->nodes, HT_SOLUTION_CHUNK / 32);
    for (; job.field < solution->eq->nfields; job.field++, job.out += size)
        if (solution->data->expr[job.field] != NULL)
            TRY(ht_threads_run(job.chunks, fill_chunk, &job));
        else
            memset(job.out, 0, (size_t)size * sizeof *out);
    return HT_OK;
}

static bool expression_occurs(const struct ht_solution *solution, int field) {
    return solution->data->expr[field] != NULL;
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
    .occurs = expression_occurs,
};
