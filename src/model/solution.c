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

struct dataset {
    char name[160];
    int rank;
    int64_t extent[8];
};

/* name with or without the ending _coefficients. */
static bool find(struct ht_h5 *file, struct dataset *set, const char *name) {
    for (int i = 0; i < 2; i++) {
        snprintf(set->name, sizeof set->name, i ? "%s" : "%s_coefficients", name);
        if (ht_h5_extent(file, set->name, &set->rank, set->extent) == HT_OK) return true;
    }
    return false;
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

/* From the nodes of the box to those of the grid: constant along normals in layers outside. */
static void spread(const struct ht_grid *grid, int64_t copies, const double *in, double *out) {
    const struct ht_grid box = ht_grid_inner(grid);
    const int64_t nodes = ht_grid_total(grid, HT_PRIMARY), side = grid->order + 1;
    for (int64_t i = 0; i < copies * nodes; i++) {
        int64_t left = i % nodes, power = i / nodes, from = 0, step = 1;
        bool flat = false;
        for (int k = 0; k < 3; k++, power /= side) {
            const int64_t n = ht_grid_nodes(&box, HT_PRIMARY, k),
                          all = ht_grid_nodes(grid, HT_PRIMARY, k);
            const int64_t m = left % all - grid->outer[k][0];
            const int64_t at = ht_least(ht_most(m, 0), n - 1);
            flat = flat || (m != at && power % side > 0);
            from += at * step;
            step *= n;
            left /= all;
        }
        out[i] = flat ? 0 : in[i / nodes * step + from];
    }
}

static enum ht_err read_field(struct ht_solution *solution, struct ht_h5 *file, int field,
                              const char *name) {
    struct ht_solution_data *data = solution->data;
    const struct ht_grid box = ht_grid_inner(solution->grid);
    const int dims = box.dims, coefs = ht_grid_coefs(&box);
    int64_t nodes[3];
    struct dataset set = {.rank = 0};
    REFUSE(!find(file, &set, name), data->params, "initial.file",
           "it has neither a dataset %s nor %s_coefficients for the field %s (runs to continue "
           "write all fields: output.fields)",
           name, name, solution->eq->field[field].name);
    const int64_t copies = leading(&box, &set);
    for (int k = 0; k < dims; k++) nodes[k] = ht_grid_nodes(&box, HT_PRIMARY, dims - 1 - k);
    REFUSE(copies != 1 && copies != coefs, data->params, "initial.file",
           "dataset %s is %s, the grid's nodes are %s (x1 last; for coefficients with %d of them "
           "per node in front)",
           set.name, HT_EXTENTS(set.rank, set.extent), HT_EXTENTS(dims, nodes), coefs);
    data->coefficients[field] = copies == coefs;
    solution->occurs |= 1u << field;
    const int64_t count = copies * ht_grid_total(&box, HT_PRIMARY);
    HT_ARRAY(double, values, count);
    TRY(ht_params_blame(data->params, "initial.file", ht_h5_read(file, set.name, count, values)));
    for (int64_t n = 0; n < count; n++)
        REFUSE(!isfinite(values[n]), data->params, "initial.file",
               "dataset %s holds a value that is not finite (number %lld)", set.name, (long long)n);
    TRY(HT_TAKE(&data->pool, data->values[field],
                copies * ht_grid_total(solution->grid, HT_PRIMARY)));
    spread(solution->grid, copies, values, data->values[field]);
    return HT_OK;
}

/* The fields that initial.values names, else all under their own names, of which a file that is no
 * snapshot may lack some: they are 0. */
static enum ht_err read_fields(struct ht_solution *solution, struct ht_h5 *file) {
    const struct ht_map *values = &solution->data->params->initial.values;
    for (int n = 0; n < values->count; n++) {
        int field;
        const char *name = values->name[n];
        TRY(ht_solution_find_field(solution, HT_KEY("initial.values.%s", name), name, &field));
        TRY(read_field(solution, file, field, values->text[n]));
    }
    const bool whole = ht_h5_get_number(file, "time", 1, &solution->snapshot) == HT_OK;
    if (!whole) solution->snapshot = 0;
    for (int f = 0; f < solution->eq->nfields && values->count == 0; f++) {
        const char *name = solution->eq->field[f].name;
        struct dataset set;
        const bool last = solution->occurs == 0 && f == solution->eq->nfields - 1;
        if (find(file, &set, name) || whole || last) TRY(read_field(solution, file, f, name));
    }
    return HT_OK;
}

/* Of a snapshot of another box. */
static void warn_box(struct ht_h5 *file, const struct ht_params *params) {
    double lower[3], h[3];
    const int dims = params->grid.dims;
    if (ht_h5_get_number(file, "lower", dims, lower) != HT_OK ||
        ht_h5_get_number(file, "spacing", dims, h) != HT_OK)
        return;
    for (int k = 0; k < dims; k++) {
        const double from = params->grid.lower[k];
        const double own = (params->grid.upper[k] - from) / (double)params->grid.cells[k];
        if (fmax(fabs(h[k] - own), fabs(lower[k] - from)) <= 1e-6 * own) continue;
        ht_warn("initial.file is of another box: its x%d begins at %g with cells of %g, the grid's "
                "at %g with %g",
                k + 1, lower[k], h[k], from, own);
        return;
    }
}

static enum ht_err prepare_file(struct ht_solution *solution) {
    const struct ht_params *params = solution->data->params;
    const char *path = params->initial.file;
    REFUSE(!ht_file_exists(path), params, "initial.file", "%s does not exist",
           HT_SHOWN_PLACE(path));
    HT_ENDED(ht_h5_end) struct ht_h5 *file = NULL;
    TRY(ht_params_blame(params, "initial.file", ht_h5_open(path, &file)));
    TRY(read_fields(solution, file));
    warn_box(file, params);
    /* stencil[i][s + P]: coefficient of xi^i in the Lagrange polynomial that is 1 at s and 0 at the
     * other integers from -P to P. */
    const struct ht_grid *grid = solution->grid;
    double **out = &solution->data->stencil;
    int p = reach(grid);
    TRY(HT_TAKE(&solution->data->pool, *out, (grid->order + 1) * width(grid)));
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

/* Planes of a field from nodal values. Derivatives are taken along x3, then x2, then x1. */

/* `lines` arrays, each of nodes along an axis that are `step` values apart, begin with `in`: the
 * derivative at nodes [first, last). Axes that do not exist are copied. */
static void differentiate(const struct ht_solution_range *range, int axis, int derivative,
                          int64_t lines, int64_t step, int64_t first, int64_t last,
                          const double *in, double *out) {
    const struct ht_grid *grid = range->solution->grid;
    const double *stencil = range->solution->data->stencil + (ptrdiff_t)derivative * width(grid);
    const int64_t all = ht_grid_nodes(grid, HT_PRIMARY, axis) * step;
    for (int64_t i = 0; i < lines * (last - first); i++, out += step) {
        const double *line = in + i / (last - first) * all;
        memset(out, 0, (size_t)step * sizeof *out);
        if (axis >= grid->dims) memcpy(out, line, (size_t)step * sizeof *out);
        for (int s = 0; axis < grid->dims && s < width(grid); s++) {
            int sign[2];
            const int64_t m = first + i % (last - first) + s - reach(grid);
            const int64_t from =
                ht_grid_source(grid, range->solution->eq, range->field, HT_PRIMARY, axis, m, sign);
            const double weight = sign[0] * stencil[s];
            for (int64_t n = 0; n < step; n++) out[n] += weight * line[from * step + n];
        }
    }
}

/* Planes and their derivatives along x3. */
static enum ht_err fill_file_planes(void *data, int64_t begin, int64_t end) {
    const struct ht_solution_range *range = data;
    const struct ht_grid *grid = range->solution->grid;
    const double *values = range->solution->data->values[range->field];
    const int side = grid->order + 1, side2 = grid->dims >= 2 ? side : 1;
    const int side3 = grid->dims >= 3 ? side : 1;
    const int64_t n1 = ht_grid_nodes(grid, HT_PRIMARY, 0), n2 = range->plane / n1;
    HT_ARRAY(double, third, 2 * range->plane);
    double *second = third + range->plane;
    for (int64_t part = begin; part < end; part++) {
        const int64_t plane = part / side3, m = range->first + plane;
        double *out = range->out + part % side3 * side2 * side * range->nodes;
        differentiate(range, 2, (int)(part % side3), 1, range->plane, m, m + 1, values, third);
        for (int i = 0; i < side2 * side; i++) {
            if (i % side == 0) differentiate(range, 1, i / side, 1, n1, 0, n2, third, second);
            differentiate(range, 0, i % side, n2, 1, 0, n1, second,
                          out + i * range->nodes + plane * range->plane);
        }
    }
    return HT_OK;
}

static enum ht_err fill_file(struct ht_solution_range *range) {
    const struct ht_solution_data *data = range->solution->data;
    const struct ht_grid *grid = range->solution->grid;
    const double *values = data->values[range->field];
    REFUSE(range->subgrid == HT_DUAL, data->params, "initial.type",
           "data from a file are known on the primary grid only");
    if (!data->coefficients[range->field])
        return ht_threads_share(
            (range->last - range->first) * (grid->dims >= 3 ? grid->order + 1 : 1),
            HT_SOLUTION_CHUNK / ht_most(1, range->plane), fill_file_planes, range);
    for (int i = 0; i < ht_grid_coefs(grid); i++)
        memcpy(range->out + i * range->nodes,
               values + i * ht_grid_total(grid, HT_PRIMARY) + range->first * range->plane,
               (size_t)range->nodes * sizeof *values);
    return HT_OK;
}

/* Every coefficient of total degree g is uniform in amplitude * [-1, 1) / 4^g:
 * their ratios are those of a wave with some four cells per wavelength. They depend on seed, grid,
 * node, field and coefficient only, so that any range of planes can be computed separately. */
static enum ht_err fill_random_rows(void *data, int64_t begin, int64_t end) {
    const struct ht_solution_range *range = data;
    const struct ht_params *params = range->solution->data->params;
    const uint64_t seed = (uint64_t)params->initial.seed;
    const int64_t coefs = ht_grid_coefs(range->solution->grid);
    const uint64_t rows = (uint64_t)range->solution->eq->nfields * (uint64_t)coefs;
    const int side = range->solution->grid->order + 1;
    const uint64_t first = (uint64_t)(range->first * range->plane);
    for (int64_t i = begin; i < end; i++) {
        const uint64_t row = (uint64_t)(range->field * coefs + i);
        const int64_t degree = i % side + i / side % side + i / side / side;
        const double scale = ldexp(params->initial.amplitude, -2 * (int)degree);
        for (int64_t node = 0; node < range->nodes; node++) {
            const uint64_t index = 2 * ((first + (uint64_t)node) * rows + row);
            range->out[i * range->nodes + node] =
                scale * ht_rng_uniform(seed, index + (range->subgrid == HT_DUAL));
        }
    }
    return HT_OK;
}

static enum ht_err fill_random(struct ht_solution_range *range) {
    return ht_threads_share(ht_grid_coefs(range->solution->grid),
                            HT_SOLUTION_CHUNK / ht_most(1, range->nodes), fill_random_rows, range);
}

static enum ht_err prepare_expression(struct ht_solution *solution) {
    struct ht_solution_data *data = solution->data;
    const struct ht_map *values = &data->params->initial.values;
    const int dims = solution->grid->dims;
    for (int n = 0; n < values->count; n++) {
        const char *name = values->name[n], *key = HT_KEY("initial.values.%s", name);
        int field;
        TRY(ht_solution_find_field(solution, key, name, &field));
        ht_expr_destroy(data->expr[field]);
        TRY(ht_params_blame(data->params, key, ht_expr_parse(values->text[n], &data->expr[field])));
        for (int k = dims; k < 3; k++)
            REFUSE(ht_expr_uses(data->expr[field], k), data->params, key,
                   "x%d is no axis of the grid, which has %d (grid.cells)", k + 1, dims);
        solution->occurs |= 1u << field;
    }
    return ht_jets_tensor(dims, solution->grid->order, &data->jets);
}

static enum ht_err fill_expression_nodes(void *data, int64_t begin, int64_t end) {
    const struct ht_solution_range *range = data;
    const struct ht_solution *solution = range->solution;
    const struct ht_solution_data *of = solution->data;
    const struct ht_grid *grid = solution->grid;
    HT_ARRAY(double, jet, of->jets->count);
    for (int64_t node = begin; node < end; node++) {
        double x[3], into[3];
        ht_grid_position(grid, range->subgrid, range->first * range->plane + node, x);
        TRY(ht_expr_jet(of->expr[range->field], of->jets, x, grid->h, jet));
        for (int i = 0; i < of->jets->count; i++) {
            REFUSE(!isfinite(jet[i]), of->params,
                   HT_KEY("initial.values.%s", solution->eq->field[range->field].name),
                   "%s not finite at x = (%g, %g, %g)%s", i ? "a derivative is" : "the value is",
                   x[0], x[1], x[2],
                   ht_grid_clamp(grid, x, into) ? ", in a layer around the box" : "");
            range->out[i * range->nodes + node] = jet[i];
        }
    }
    return HT_OK;
}

static enum ht_err fill_expression(struct ht_solution_range *range) {
    return ht_threads_share(range->nodes, HT_SOLUTION_CHUNK / 32, fill_expression_nodes, range);
}

static const struct ht_solution_type types[] = {
    [HT_DATA_GAUSSIAN] = {.prepare = ht_solution_prepare_gaussian,
                          .fill = ht_solution_fill_product},
    [HT_DATA_PLANE] = {.prepare = ht_solution_prepare_plane, .fill = ht_solution_fill_product},
    [HT_DATA_STANDING] = {.prepare = ht_solution_prepare_standing,
                          .fill = ht_solution_fill_product},
    [HT_DATA_RANDOM] = {.fill = fill_random, .occurs = ~0u},
    [HT_DATA_EXPRESSION] = {.prepare = prepare_expression, .fill = fill_expression},
    [HT_DATA_FILE] = {.prepare = prepare_file, .fill = fill_file},
    [HT_DATA_ZERO] = {.rest = true},
};

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

static enum ht_err prepare(struct ht_solution *solution) {
    struct ht_solution_data *data = solution->data;
    data->type = &types[data->params->initial.type];
    solution->occurs = data->type->occurs;
    solution->rest = data->type->rest;
    if (data->type->prepare) TRY(data->type->prepare(solution));
    for (int n = 0; n < 6; n++)
        REFUSE(solution->returns && solution->grid->outer[n / 2][n % 2] > 0, data->params,
               "initial.returns", "nothing returns where sides absorb: must be false");
    if (ht_layers_any(solution->grid) || solution->eq->losses != 0) solution->exact = false;
    /* A frequency of interest determines how fine the grid must be, unless the data are a single
     * wave. */
    const double frequency = data->params->initial.frequency, slow = data->medium->speed_min;
    for (int j = 0; j < solution->eq->dims; j++) {
        if (frequency > 0 && slow > 0 && !solution->single_wave)
            solution->wavenumber[j] = 2 * HT_PI * frequency / slow;
        const double theta = fabs(solution->wavenumber[j]) * solution->grid->h[j];
        solution->theta = fmax(solution->theta, theta);
    }
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
        for (int f = 0; f < HT_MAX_FIELDS; f++) ht_expr_destroy(data->expr[f]);
        ht_jets_destroy(data->jets);
        ht_pool_free(&data->pool);
        free(data);
    }
    free(solution);
}

enum ht_err ht_solution_fill(const struct ht_solution *solution, enum ht_subgrid subgrid,
                             double time, int64_t first, int64_t last, double *out) {
    const struct ht_grid *grid = solution->grid;
    REQUIRE(time == 0 || solution->exact || (time < 0 && solution->rest), HT_ERR_INTERNAL,
            "%s data are known at time 0 only, not at %g",
            HT_WORD(DATA, solution->data->params->initial.type), time);
    struct ht_solution_range range = {
        .solution = solution,
        .subgrid = subgrid,
        .time = time,
        .first = first,
        .last = last,
        .plane = ht_grid_plane(grid, subgrid),
        .nodes = ht_grid_plane(grid, subgrid) * (last - first),
        .out = out,
    };
    const int64_t size = ht_grid_coefs(grid) * range.nodes;
    memset(out, 0, (size_t)(size * solution->eq->nfields) * sizeof *out);
    for (; range.field < solution->eq->nfields; range.field++, range.out += size)
        if (solution->single_wave || ht_solution_occurs(solution, range.field))
            TRY(solution->data->type->fill(&range));
    return HT_OK;
}
