/* Samplers: what is the same for all methods; see the header. */
#include "methods.h"
#include "sampler_private.h"

/* ---- initial values and factors of velocities ---- */

/* planes, values: room for those of the receivers along x3, and for a plane of all fields. */
static HT_ERR read_initial(const struct ht_plan *plan, const struct ht_receiver_group *group,
                           int field, struct ht_point_axis *planes, double *values, double *start) {
    /* The grid with the walls' signs of a field in place of those of p. */
    struct ht_grid grid = plan->grid;
    for (int k = 0; k < grid.dims; k++)
        for (int side = 0; side < 2; side++)
            if (grid.wall[k][side] != 0)
                grid.wall[k][side] = ht_wall_sign(&plan->eq, field, k, grid.wall[k][side]);
    const int64_t row = ht_grid_nodes(&grid, HT_PRIMARY, 0);
    const double *own = values + field * ht_grid_plane(&grid, HT_PRIMARY);
    for (int64_t i = 0; i < group->count; i++)
        ht_point_axis_read(&grid, 2, group->x[i][2], false, &planes[i]);
    for (int64_t m = 0; m < ht_grid_planes(&grid, HT_PRIMARY); m++) {
        bool filled = false;
        for (int64_t i = 0; i < group->count; i++)
            for (int n = 0; n < planes[i].count; n++) {
                struct ht_point_axis x[2];
                double sum = 0;
                if (planes[i].node[n] != m) continue;
                if (!filled) TRY(ht_solution_fill(plan->solution, HT_PRIMARY, 0, m, m + 1, values));
                filled = true;
                for (int k = 0; k < 2; k++)
                    ht_point_axis_read(&grid, k, group->x[i][k], false, &x[k]);
                for (int i2 = 0; i2 < x[1].count; i2++)
                    for (int i1 = 0; i1 < x[0].count; i1++)
                        sum += x[1].weight[i2] * x[0].weight[i1] *
                               own[x[1].node[i2] * row + x[0].node[i1]];
                start[i] += planes[i].weight[n] * sum;
            }
    }
    return HT_OK;
}

HT_ERR ht_integrals_find(const struct ht_plan *plan, const struct ht_receiver_group *group,
                         const struct ht_reading *reading, double *start, double *factor) {
    const struct ht_second_order *form = &plan->eq.second_order;
    const char *density = plan->eq.system->material[form->inverse_density].name;
    const int field = form->flux[reading->slope];
    for (int64_t i = 0; i < group->count; i++) {
        TRY(ht_medium_parameter(plan->medium, density, group->x[i], &factor[i]));
        factor[i] *= form->sign[reading->slope];
        start[i] = 0;
    }
    if (!ht_solution_occurs(plan->solution, field)) return HT_OK;
    HT_ARRAY(struct ht_point_axis, planes, group->count);
    HT_ARRAY(double, values, (plan->eq.nfields * ht_grid_plane(&plan->grid, HT_PRIMARY)));
    return read_initial(plan, group, field, planes, values, start);
}

/* Values of a ring, and its slots at most and at least. */
enum { RING_VALUES = 1 << 21, MOST_SLOTS = 1024, LEAST_SLOTS = 16 };

/* Samples of so many rows that a ring holds. */
static int64_t slots_of(int64_t rows) {
    return ht_most(ht_least(RING_VALUES / ht_most(rows, 1), MOST_SLOTS), LEAST_SLOTS);
}

struct ht_trace ht_trace_at(const struct ht_receivers *receivers, int64_t trace) {
    const struct ht_receiver_group *group = receivers->group;
    for (; trace >= group->count * group->readings; group++)
        trace -= group->count * group->readings;
    return (struct ht_trace){.x = group->x[trace % group->count],
                             .reading = group->reading[trace / group->count]};
}

/* ---- samples ---- */

/* On the host: of a stepper without a device. */
static HT_ERR take_plain(struct ht_sampler *s, int64_t slot) {
    const struct ht_stepper *stepper = s->stepper;
    const int nodes = s->shape.nodes, coefs = s->shape.coefs, values = coefs * nodes;
    for (int64_t i = 0; i < s->rows; i++) {
        const struct ht_sampler_row *row = &s->row[i];
        const int64_t all = ht_grid_plane(s->grid, row->subgrid);
        const int64_t *node = s->node + row->pattern * ht_rows_numbers(&s->shape);
        const double *value = s->value + row->pattern * ht_rows_weights(&s->shape);
        double sum = 0;
        if (i == 0 || row[-1].subgrid != row->subgrid || row[-1].field != row->field ||
            row[-1].plane != row->plane)
            TRY(stepper->ops->get(stepper->self, row->subgrid, row->field, coefs, row->plane,
                                  row->plane + 1, s->plane));
        for (int n = 0; n < values * s->shape.lines; n++) {
            const int of = n % values, line = n / values;
            sum += value[of] * value[values + line] *
                   s->plane[of / nodes * all + node[of % nodes] + node[nodes + line]];
        }
        s->ring[slot * s->rows + i] = sum;
    }
    return HT_OK;
}

/* False: there is no device. */
static bool find_arrays(const struct ht_sampler *s, struct ht_arrays *out) {
    const struct ht_stepper *stepper = s->stepper;
    if (stepper->ops->arrays == NULL) return false;
    stepper->ops->arrays(stepper->self, out);
    return out->device != NULL;
}

static HT_ERR take_device(struct ht_sampler *s, const struct ht_arrays *arrays, int64_t slot) {
    s->level[slot] = arrays->level;
    for (int64_t i = 0; i < s->rows; i = s->row[i].end) {
        const struct ht_sampler_row *row = &s->row[i];
        TRY(ht_rows_take(s->tool, i, row->end, arrays->u[row->subgrid][row->field],
                         ht_window_nodes(&arrays->window[row->subgrid]), slot));
    }
    return HT_OK;
}

HT_ERR ht_sampler_take(struct ht_sampler *s) {
    REQUIRE(s->taken < s->shape.slots, HT_ERR_INTERNAL,
            "receivers: more than %lld steps without reading their samples",
            (long long)s->shape.slots);
    struct ht_arrays arrays;
    const int64_t slot = s->taken++;
    return find_arrays(s, &arrays) ? take_device(s, &arrays, slot) : take_plain(s, slot);
}

/* A level adds to a row its weights' sum times that. */
static HT_ERR read_ring(struct ht_sampler *s) {
    if (s->tool != NULL) TRY(ht_rows_read(s->tool, s->taken, s->ring));
    for (int64_t n = 0; n < s->taken; n++)
        for (int64_t i = 0; s->level[n] != 0 && i < s->rows; i++)
            s->ring[n * s->rows + i] += s->level[n] * s->whole[s->row[i].pattern];
    return HT_OK;
}

/* Sums of all ranks' rows, which add zeros for planes of others: exact. */
static HT_ERR share_sums(struct ht_sampler *s, int64_t steps) {
    const int64_t most = 1 << 24, all = steps * s->all;
    memset(s->sums, 0, (size_t)all * sizeof *s->sums);
    for (int64_t n = 0; n < steps; n++)
        for (int64_t i = 0; i < s->rows; i++)
            s->sums[n * s->all + s->row[i].number] = s->ring[n * s->rows + i];
    for (int64_t at = 0; at < all; at += most)
        TRY(ht_comm_sum(s->grid->slab.comm, (int)ht_least(all - at, most), s->sums + at));
    return HT_OK;
}

/* Some values of all traces of all steps. */
static HT_ERR add_planes(void *data, int64_t begin, int64_t end) {
    const struct ht_sampler *s = data;
    const bool cut = s->sums != NULL;
    for (int64_t at = begin; at < end; at++) {
        const int64_t t = at % s->traces;
        const double *sums = (cut ? s->sums : s->ring) + at / s->traces * s->all;
        double value = 0;
        for (int64_t p = s->first[t]; p < s->first[t + 1]; p++)
            value += s->weight[p] * sums[cut ? p : s->place[p]];
        s->values[at] = value / s->scale;
    }
    return HT_OK;
}

HT_ERR ht_sampler_collect(struct ht_sampler *s, int64_t *steps, double *values) {
    TRY(ht_comm_agree(s->grid->slab.comm, read_ring(s)));
    *steps = s->taken;
    s->taken = 0;
    s->values = values;
    if (s->sums != NULL) TRY(share_sums(s, *steps));
    if (values == NULL) return HT_OK;
    return ht_threads_share(*steps * s->traces, 1 << 14, add_planes, s);
}

int64_t ht_sampler_period(const struct ht_sampler *s) {
    return s->shape.slots;
}

double ht_sampler_seconds(const struct ht_sampler *s) {
    return ht_tool_total(s->tool, HT_PART_INTERIOR);
}

int64_t ht_sampler_bytes(const struct ht_plan *plan, bool fp64) {
    struct ht_rows_shape shape = {.fp64 = fp64};
    if (plan->receivers == NULL) return 0;
    plan->problem.scheme->does->sampler_shape(plan, &shape);
    shape.slots = slots_of(shape.rows);
    return ht_rows_bytes(&shape);
}

/* ---- making ---- */

HT_ERR ht_sampler_pattern(struct ht_sampler *s, int64_t **node, double **value) {
    const int64_t nodes = ht_rows_numbers(&s->shape), values = ht_rows_weights(&s->shape);
    const int64_t at = s->shape.patterns;
    TRY(HT_GROW(s->node, (at + 1) * nodes, s->room[2]));
    TRY(HT_GROW(s->value, (at + 1) * values, s->room[3]));
    *node = memset(s->node + at * nodes, 0, (size_t)nodes * sizeof **node);
    *value = memset(s->value + at * values, 0, (size_t)values * sizeof **value);
    (*value)[values - s->shape.lines] = 1;
    return HT_OK;
}

HT_ERR ht_sampler_add(struct ht_sampler *s, const struct ht_sampler_row *row, double weight,
                      bool *own) {
    const struct ht_range planes = ht_grid_own(s->grid, row->subgrid);
    *own = row->plane >= planes.first && row->plane < planes.last;
    TRY(HT_GROW(s->weight, s->all + 1, s->room[0]));
    TRY(HT_GROW(s->row, s->rows + 1, s->room[1]));
    if (*own) {
        s->row[s->rows] = *row;
        s->row[s->rows++].number = s->all;
    }
    s->weight[s->all++] = weight;
    return HT_OK;
}

void ht_sampler_destroy(struct ht_sampler *s) {
    if (s == NULL) return;
    if (s->stepper->sampler == s) s->stepper->sampler = NULL;
    ht_tool_destroy(s->tool);
    ht_pool_free(&s->pool);
    free(s->weight);
    free(s->row);
    free(s->node);
    free(s->value);
    free(s);
}

static int by_plane(const void *a, const void *b) {
    const struct ht_sampler_row *x = a, *y = b;
    if (x->subgrid != y->subgrid) return x->subgrid < y->subgrid ? -1 : 1;
    if (x->field != y->field) return x->field < y->field ? -1 : 1;
    if (x->plane != y->plane) return x->plane < y->plane ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

static HT_ERR make_tool(struct ht_sampler *s) {
    struct ht_rows_shape shape = s->shape;
    HT_ENDED(ht_pool_free) struct ht_pool pool = {NULL};
    struct ht_rows_tables tables;
    struct ht_arrays arrays;
    if (s->rows == 0 || !find_arrays(s, &arrays)) return HT_OK;
    shape.fp64 = arrays.fp64;
    shape.block = arrays.block;
    shape.coefs = arrays.coefs;
    const int64_t numbers = ht_rows_numbers(&shape), weights = ht_rows_weights(&shape);
    TRY(HT_TAKE(&pool, tables.node, shape.patterns * numbers));
    TRY(HT_TAKE(&pool, tables.weight, shape.patterns * weights));
    TRY(HT_TAKE(&pool, tables.from, shape.rows));
    /* Nodes count from the first of the row's plane; weights are by storage index. */
    const int nodes = shape.nodes, values = s->shape.coefs * nodes;
    for (int64_t i = 0; i < s->rows; i++) {
        const struct ht_sampler_row *row = &s->row[i];
        const struct ht_window *w = &arrays.window[row->subgrid];
        const int64_t n1 = ht_grid_nodes(s->grid, row->subgrid, 0), p = row->pattern;
        const double *value = s->value + p * ht_rows_weights(&s->shape);
        double *weight = tables.weight + p * weights;
        tables.from[i][0] = p;
        tables.from[i][1] =
            ht_window_at(w, w->own.begin[0], w->own.begin[1], row->plane - w->origin[2]);
        for (int64_t n = p * numbers; n < (p + 1) * numbers; n++)
            tables.node[n] = (int)ht_window_at(w, s->node[n] % n1, s->node[n] / n1, 0);
        for (int n = 0; n < values; n++)
            weight[arrays.storage[n / nodes] * nodes + n % nodes] = value[n];
        memcpy(weight + weights - shape.lines, value + values,
               (size_t)shape.lines * sizeof *weight);
    }
    return ht_rows_create(arrays.device, &shape, &tables, &s->tool);
}

static HT_ERR make(const struct ht_sampler_of *of, struct ht_sampler *s) {
    s->grid = of->grid;
    s->scale = of->scale;
    s->traces = of->traces;
    TRY(HT_TAKE(&s->pool, s->first, s->traces + 1));
    s->shape = of->shape;
    s->shape.patterns = 0;
    TRY(of->list(of->context, s));
    if (s->rows > 0) qsort(s->row, (size_t)s->rows, sizeof *s->row, by_plane);
    for (int64_t i = s->rows - 1; i >= 0; i--) {
        struct ht_sampler_row *row = &s->row[i];
        const bool last =
            i == s->rows - 1 || row->subgrid != row[1].subgrid || row->field != row[1].field;
        row->end = last ? i + 1 : row[1].end;
    }
    s->shape.rows = s->rows;
    s->shape.slots = slots_of(s->all);
    TRY(HT_TAKE(&s->pool, s->level, s->shape.slots));
    TRY(HT_TAKE(&s->pool, s->ring, s->shape.slots * s->rows));
    if (ht_grid_cut(s->grid)) TRY(HT_TAKE(&s->pool, s->sums, s->shape.slots * s->all));
    TRY(HT_TAKE(&s->pool, s->whole, s->shape.patterns));
    for (int64_t p = 0; p < s->shape.patterns; p++) {
        const double *value = s->value + p * ht_rows_weights(&s->shape);
        double lines = 0;
        for (int n = 0; n < s->shape.lines; n++)
            lines += value[s->shape.coefs * s->shape.nodes + n];
        for (int n = 0; n < s->shape.nodes; n++) s->whole[p] += lines * value[n];
    }
    TRY(HT_TAKE(&s->pool, s->place, s->all));
    for (int64_t i = 0; i < s->rows; i++) s->place[s->row[i].number] = i;
    TRY(HT_TAKE(&s->pool, s->plane, s->shape.coefs * ht_grid_plane(s->grid, HT_PRIMARY)));
    return make_tool(s);
}

HT_ERR ht_sampler_make(const struct ht_sampler_of *of, struct ht_stepper *stepper,
                       struct ht_sampler **out) {
    struct ht_sampler *s = NULL;
    *out = NULL;
    enum ht_err err = HT_ALLOC(s, 1);
    if (err == HT_OK) s->stepper = stepper;
    if (err == HT_OK) err = make(of, s);
    err = ht_comm_agree(of->grid->slab.comm, err);
    return HT_MADE(err, s, ht_sampler_destroy, out);
}

static HT_ERR list_traces(const void *plan, struct ht_sampler *out) {
    const struct ht_plan *of = plan;
    return of->problem.scheme->does->sampler_list(of, out);
}

HT_ERR ht_sampler_create(const struct ht_plan *plan, struct ht_stepper *stepper,
                         struct ht_sampler **out) {
    const struct ht_resampling need = ht_resampling_of(plan);
    struct ht_sampler_of of = {.grid = &plan->grid,
                               .traces = plan->receivers->traces * need.per_step * need.derivatives,
                               .scale = plan->scale,
                               .list = list_traces,
                               .context = plan};
    plan->problem.scheme->does->sampler_shape(plan, &of.shape);
    TRY(ht_sampler_make(&of, stepper, out));
    stepper->sampler = *out;
    const enum ht_err err = ht_comm_agree(plan->grid.slab.comm, ht_sampler_take(*out));
    return HT_MADE(err, *out, ht_sampler_destroy, out);
}
