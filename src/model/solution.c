/* Initial data and exact solutions: the table of initial.type and the code that all types share.
 * Node coefficients u_i = h^|i|/i! D^i u come from formulas, never from differences of values. */
#include "htwave/h5.h"
#include "solution_types.h"

/* Data from an HDF5 file, on the primary grid: per field either all coefficients,
 * [coefs][n3][n2][n1], or nodal values, [n3][n2][n1] (axes that do not exist may be left out or
 * have extent 1).
 *
 * Nodal values become coefficients by interpolation: through a node and its N + 1 neighbours on
 * either side goes, per axis, a polynomial of degree 2N + 2, whose scaled derivatives are taken at
 * the node,
 *     u_i = sum over s = -(N+1)..(N+1) of stencil[i][s] u(x + s h),
 * one degree more than a cell polynomial of the scheme has. Neighbours behind a wall are mirrored
 * with the wall's sign, behind a periodic seam they wrap. */

/* ---- the stencil ---- */

static int reach(const struct ht_grid *grid) {
    return grid->order + 1;
}

static int width(const struct ht_grid *grid) {
    return 2 * reach(grid) + 1;
}

/* The node that holds the values of node m of the primary grid, and their sign there. */
static int64_t neighbour(const struct ht_solution *solution, int field, int axis, int64_t m,
                         int *sign) {
    const struct ht_grid *grid = solution->grid;
    int64_t n = ht_grid_nodes(grid, HT_PRIMARY, axis);
    *sign = 1;
    if (m >= 0 && m < n) return m;
    if (ht_grid_periodic(grid, axis)) return (m % n + n) % n;
    while (m < 0 || m >= n) {
        int end = m < 0 ? 0 : 1;
        *sign *= ht_wall_sign(solution->eq, field, axis, grid->wall[axis][end]);
        m = end == 0 ? -m : 2 * (n - 1) - m;
    }
    return m;
}

/* ---- reading ---- */

struct dataset {
    char name[160];
    int rank;
    int64_t extent[8];
};

static enum ht_err find(struct ht_h5 *file, struct dataset *set, const char *name,
                        const char *suffix) {
    snprintf(set->name, sizeof set->name, "%s%s", name, suffix);
    return ht_h5_extent(file, set->name, &set->rank, set->extent);
}

/* Product of the extents before those of the existing axes, or 0 when the latter do not match the
 * grid. */
static int64_t leading(const struct ht_grid *grid, const struct dataset *set) {
    if (set->rank < grid->dims) return 0;
    int64_t product = 1;
    for (int k = 0; k < set->rank; k++) {
        int axis = set->rank - 1 - k;
        if (set->extent[k] < 1) return 0;
        if (set->extent[k] > INT64_MAX / 8 / product) return 0;
        if (axis >= grid->dims)
            product *= set->extent[k];
        else if (set->extent[k] != ht_grid_nodes(grid, HT_PRIMARY, axis))
            return 0;
    }
    return product;
}

static void list_extents(struct ht_text *text, int count, const int64_t *extent) {
    for (int k = 0; k < count; k++)
        ht_text_add(text, "%s%lld", k ? " x " : "", (long long)extent[k]);
}

static enum ht_err wrong_shape(const struct ht_solution *solution, const struct dataset *set) {
    const struct ht_grid *grid = solution->grid;
    HT_FREED_TEXT struct ht_text text = {0};
    int64_t nodes[3];
    for (int k = 0; k < grid->dims; k++)
        nodes[k] = ht_grid_nodes(grid, HT_PRIMARY, grid->dims - 1 - k);
    ht_text_add(&text, "dataset %s is ", set->name);
    list_extents(&text, set->rank, set->extent);
    ht_text_add(&text, ", the grid's nodes are ");
    list_extents(&text, grid->dims, nodes);
    ht_text_add(&text, " (x1 last; for coefficients with %d of them per node in front)",
                ht_grid_coefs(grid));
    TRY(ht_text_status(&text));
    return ht_params_error(solution->data->params, "initial.file", "%s", text.data);
}

/* name: of the dataset, or without its ending _coefficients. */
static enum ht_err read_field(struct ht_solution *solution, struct ht_h5 *file, int field,
                              const char *name) {
    struct ht_solution_data *data = solution->data;
    struct dataset set = {.rank = 0};
    REFUSE(find(file, &set, name, "_coefficients") != HT_OK && find(file, &set, name, "") != HT_OK,
           data->params, "initial.file",
           "it has neither a dataset %s nor %s_coefficients for the field %s (runs to continue "
           "write all fields: output.fields)",
           name, name, solution->eq->field[field].name);
    int64_t copies = leading(solution->grid, &set);
    int coefs = ht_grid_coefs(solution->grid);
    if (copies != 1 && copies != coefs) return wrong_shape(solution, &set);
    data->coefficients[field] = copies == coefs;
    int64_t count = copies * ht_grid_total(solution->grid, HT_PRIMARY);
    free(data->values[field]);
    data->values[field] = NULL;
    TRY(HT_ALLOC(data->values[field], count));
    TRY(ht_params_blame(data->params, "initial.file",
                        ht_h5_read(file, set.name, count, data->values[field])));
    for (int64_t n = 0; n < count; n++)
        REFUSE(!isfinite(data->values[field][n]), solution->data->params, "initial.file",
               "dataset %s holds a value that is not finite (number %lld)", set.name, (long long)n);
    return HT_OK;
}

/* The field of an entry of initial.values. */
static enum ht_err ht_solution_find_value(const struct ht_solution *solution, const char *name,
                                          int *field) {
    HT_FREED_TEXT struct ht_text key = {0};
    ht_text_add(&key, "initial.values.%s", name);
    TRY(ht_text_status(&key));
    return ht_solution_find_field(solution, key.data, name, field);
}

/* The fields that initial.values names, else all under their own names. */
static enum ht_err read_fields(struct ht_solution *solution, struct ht_h5 *file) {
    const struct ht_map *values = &solution->data->params->initial.values;
    for (int n = 0; n < values->count; n++) {
        int field;
        TRY(ht_solution_find_value(solution, values->name[n], &field));
        TRY(read_field(solution, file, field, values->text[n]));
    }
    for (int f = 0; f < solution->eq->nfields && values->count == 0; f++)
        TRY(read_field(solution, file, f, solution->eq->field[f].name));
    return HT_OK;
}

static enum ht_err prepare_file(struct ht_solution *solution) {
    const struct ht_params *params = solution->data->params;
    const char *path = params->initial.file;
    REFUSE(!ht_file_exists(path), params, "initial.file", "%s does not exist",
           HT_SHOWN_PLACE(path));
    struct ht_h5 *file;
    TRY(ht_params_blame(params, "initial.file", ht_h5_open(path, &file)));
    enum ht_err err = read_fields(solution, file);
    /* a file without the attribute holds no snapshot */
    if (err == HT_OK && ht_h5_get_number(file, "time", 1, &solution->snapshot) != HT_OK)
        solution->snapshot = 0;
    ht_h5_close(file);
    if (err != HT_OK) return err;
    /* stencil[i][s + P]: coefficient of xi^i in the Lagrange polynomial that is 1 at s and 0 at the
     * other integers from -P to P. */
    const struct ht_grid *grid = solution->grid;
    double **out = &solution->data->stencil;
    int p = reach(grid);
    TRY(HT_ALLOC(*out, (grid->order + 1) * width(grid)));
    for (int s = -p; s <= p; s++) {
        long double c[2 * HT_MAX_ORDER + 4] = {1};
        int degree = 0;
        for (int t = -p; t <= p; t++) {
            if (t == s) continue;
            /* times (xi - t)/(s - t), from the highest power down */
            degree++;
            for (int i = degree; i >= 0; i--) c[i] = ((i > 0 ? c[i - 1] : 0) - t * c[i]) / (s - t);
        }
        for (int i = 0; i <= grid->order; i++) (*out)[i * width(grid) + s + p] = (double)c[i];
    }
    return HT_OK;
}

/* ---- filling ---- */

/* One field, from nodal values. Derivatives are taken along x3, then x2, then x1, a plane at a
 * time. */
struct pass {
    const struct ht_solution *solution;
    int field, axis, derivative;
};

/* Adds the derivative along the axis of rows of `step` values. in: the plane, or all planes when
 * axis is 2; out: one plane, position m along the axis. */
static void differentiate(const struct pass *pass, int64_t m, int64_t step, const double *in,
                          double *out) {
    const struct ht_grid *grid = pass->solution->grid;
    const double *stencil =
        pass->solution->data->stencil + (size_t)(pass->derivative * width(grid));
    memset(out, 0, (size_t)step * sizeof *out);
    for (int s = 0; s < width(grid); s++) {
        int sign;
        int64_t from =
            neighbour(pass->solution, pass->field, pass->axis, m + s - reach(grid), &sign);
        double weight = sign * stencil[s];
        for (int64_t n = 0; n < step; n++) out[n] += weight * in[from * step + n];
    }
}

/* Along x1 or x2: every line of a plane. */
static void differentiate_plane(const struct pass *pass, const double *in, double *out) {
    const struct ht_grid *grid = pass->solution->grid;
    int64_t n1 = ht_grid_nodes(grid, HT_PRIMARY, 0);
    int64_t n2 = ht_grid_nodes(grid, HT_PRIMARY, 1);
    if (pass->axis == 1) {
        for (int64_t m = 0; m < n2; m++) differentiate(pass, m, n1, in, out + m * n1);
        return;
    }
    for (int64_t row = 0; row < n2; row++)
        for (int64_t m = 0; m < n1; m++)
            differentiate(pass, m, 1, in + row * n1, out + row * n1 + m);
}

/* The planes of derivative i3 = pass.derivative in `third`: all (i1, i2). */
static void fill_plane(struct pass pass, const double *third, double *second, int64_t stride,
                       double *out) {
    const struct ht_grid *grid = pass.solution->grid;
    int side = grid->order + 1;
    size_t plane = (size_t)ht_grid_plane(grid, HT_PRIMARY);
    for (int i2 = 0; i2 < (grid->dims >= 2 ? side : 1); i2++) {
        pass.axis = 1;
        pass.derivative = i2;
        if (grid->dims >= 2)
            differentiate_plane(&pass, third, second);
        else
            memcpy(second, third, plane * sizeof *second);
        pass.axis = 0;
        for (int i1 = 0; i1 < side; i1++) {
            pass.derivative = i1;
            differentiate_plane(&pass, second, out);
            out += stride;
        }
    }
}

/* What threads fill in: of a file planes and their derivatives along x3. */
struct job {
    const struct ht_solution *solution;
    const struct ht_solution_range *range;
    int field, derivatives;
    double *out;
};

static enum ht_err fill_parts(void *data, int64_t begin, int64_t end) {
    const struct job *job = data;
    HT_ARRAY(double, buffer, 2 * job->range->plane);
    for (int64_t part = begin; part < end; part++) {
        const struct ht_solution_range *range = job->range;
        const struct ht_grid *grid = job->solution->grid;
        const double *values = job->solution->data->values[job->field];
        const int i3 = (int)(part % job->derivatives);
        const int64_t plane = part / job->derivatives, side = grid->order + 1;
        const int64_t slab = (grid->dims >= 2 ? side : 1) * side * range->nodes;
        struct pass pass = {job->solution, job->field, 2, i3};
        if (grid->dims >= 3)
            differentiate(&pass, range->first + plane, range->plane, values, buffer);
        else
            memcpy(buffer, values, (size_t)range->plane * sizeof *buffer);
        fill_plane(pass, buffer, buffer + range->plane, range->nodes,
                   job->out + i3 * slab + plane * range->plane);
    }
    return HT_OK;
}

static enum ht_err fill(const struct ht_solution *solution, const struct ht_solution_range *range,
                        double *out) {
    const struct ht_solution_data *data = solution->data;
    REFUSE(range->subgrid == HT_DUAL, data->params, "initial.type",
           "data from a file are known on the primary grid only");
    int64_t size = ht_grid_coefs(solution->grid) * range->nodes;
    for (int f = 0; f < solution->eq->nfields; f++, out += size) {
        if (!data->values[f])
            memset(out, 0, (size_t)size * sizeof *out);
        else if (data->coefficients[f]) {
            int64_t total = ht_grid_total(solution->grid, HT_PRIMARY);
            const double *values = solution->data->values[f] + range->first * range->plane;
            for (int i = 0; i < ht_grid_coefs(solution->grid); i++)
                memcpy(out + i * range->nodes, values + i * total,
                       (size_t)range->nodes * sizeof *out);
        } else {
            const struct ht_grid *grid = solution->grid;
            struct job job = {.solution = solution,
                              .range = range,
                              .field = f,
                              .derivatives = grid->dims >= 3 ? grid->order + 1 : 1};
            job.out = out;
            TRY(ht_threads_share((range->last - range->first) * job.derivatives,
                                 HT_SOLUTION_CHUNK / ht_most(1, range->plane), fill_parts, &job));
        }
    }
    return HT_OK;
}

static bool file_occurs(const struct ht_solution *solution, int field) {
    return solution->data->values[field] != NULL;
}

const struct ht_solution_type ht_solution_file = {
    .name = "file",
    .prepare = prepare_file,
    .fill = fill,
    .occurs = file_occurs,
};

/* Data given node by node: zero, random coefficients, expressions. */

/* ---- zero ---- */

static enum ht_err prepare_zero(struct ht_solution *solution) {
    solution->rest = solution->data->type == &ht_solution_zero;
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

static enum ht_err fill_random_rows(void *data, int64_t begin, int64_t end) {
    const struct job *job = data;
    for (int64_t row = begin; row < end; row++)
        fill_random_row(job->solution, job->range, (int)row, job->out + row * job->range->nodes);
    return HT_OK;
}

static enum ht_err fill_random(const struct ht_solution *solution,
                               const struct ht_solution_range *range, double *out) {
    struct job job = {.solution = solution, .range = range};
    job.out = out;
    return ht_threads_share((int64_t)solution->eq->nfields * ht_grid_coefs(solution->grid),
                            HT_SOLUTION_CHUNK / ht_most(1, range->nodes), fill_random_rows, &job);
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

static enum ht_err fill_expression_nodes(void *data, int64_t begin, int64_t end) {
    const struct job *job = data;
    const struct ht_solution *solution = job->solution;
    const struct ht_solution_range *range = job->range;
    const struct ht_grid *grid = solution->grid;
    const int64_t n1 = ht_grid_nodes(grid, range->subgrid, 0);
    const int coefs = solution->data->jets->count;
    HT_ARRAY(double, jet, coefs);
    for (int64_t node = begin; node < end; node++) {
        int64_t m[3] = {node % n1, node % range->plane / n1, range->first + node / range->plane};
        double x[3];
        for (int j = 0; j < 3; j++) x[j] = ht_grid_x(grid, range->subgrid, j, m[j]);
        TRY(fill_node(solution, job->field, x, jet));
        for (int i = 0; i < coefs; i++) job->out[i * range->nodes + node] = jet[i];
    }
    return HT_OK;
}

static enum ht_err fill_expression(const struct ht_solution *solution,
                                   const struct ht_solution_range *range, double *out) {
    const int coefs = solution->data->jets->count;
    const int64_t size = coefs * range->nodes;
    struct job job = {.solution = solution, .range = range};
    job.out = out;
    for (; job.field < solution->eq->nfields; job.field++, job.out += size)
        if (solution->data->expr[job.field] != NULL)
            TRY(ht_threads_share(range->nodes, HT_SOLUTION_CHUNK / 32, fill_expression_nodes,
                                 &job));
        else
            memset(job.out, 0, (size_t)size * sizeof *out);
    return HT_OK;
}

static bool expression_occurs(const struct ht_solution *solution, int field) {
    return solution->data->expr[field] != NULL;
}

static bool zero_occurs(HT_UNUSED const struct ht_solution *solution, HT_UNUSED int field) {
    return false;
}

const struct ht_solution_type ht_solution_zero = {
    .name = "zero",
    .prepare = prepare_zero,
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
                           "no field \"%s\" in %s in %d dimension%s; the fields are %s", name,
                           eq->system->name, eq->dims, eq->dims > 1 ? "s" : "", list.data);
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
    if (ht_layers_any(solution->grid) || solution->eq->losses != 0) solution->exact = false;
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
