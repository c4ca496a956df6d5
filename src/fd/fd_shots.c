/* Sources of finite differences (docs/developers/differences.md): the stage adds g dt^2/12 f(t_n),
 * the update the second difference of F, F'' = f, or dt^2 f_n where dispersion is removed from
 * traces (resampler.c). g is the delta spread over nodes, times the modulus there. Planes beyond
 * the slab take it, too, wherever a pass computes them. Receivers are the sources of adjoint runs
 * (docs/developers/gradients.md). */
#include "fd.h"
#include "src/solve/sampler_private.h"

/* Most values of a table: there are fewer rows of many columns. */
enum { TABLE = 1 << 22, LEAST_ROWS = 16 };

/* What making a list needs for a while. */
struct making {
    const struct ht_fd_stepper *stepper;
    struct ht_fd_injection *in;
    bool *wanted;           /* [plane of the grid] in the window */
    struct ht_columns grid; /* on these planes, by nodes of the grid */
    double *modulus;        /* of one plane */
    bool *wave;             /* [column] of a plane wave */
    double *sums;           /* [plane of the grid][2][column]: parts of whole, and of the
                               square of size; NULL: of receivers */
    struct ht_pool pool;    /* of these arrays */
};

/* ---- a plane ---- */

double ht_fd_weight(const struct ht_grid *grid, const int64_t m[3]) {
    double part = 1;
    for (int k = 0; k < 3; k++) part *= ht_grid_weight(grid, k, m[k]);
    return part;
}

/* The plane of the grid that is plane m3 of the window. */
static int64_t ht_fd_grid_plane(const struct ht_fd_stepper *s, int64_t m3) {
    const struct ht_grid *grid = s->problem.grid;
    const int64_t planes = ht_grid_planes(grid, HT_PRIMARY);
    const int64_t m = s->own.first + m3 - s->box.begin[2];
    const bool wraps = grid->dims > 2 && ht_grid_periodic(grid, 2);
    return wraps ? (m % planes + planes) % planes : m;
}

/* Of a plane of the window: its weights get the modulus, and are added to the sums over the grid if
 * it is an own one. */
static enum ht_err weigh_plane(struct making *making, int64_t m3) {
    const struct ht_fd_stepper *s = making->stepper;
    const struct ht_fd_injection *in = making->in;
    const struct ht_grid *grid = s->problem.grid;
    const int64_t plane = ht_fd_grid_plane(s, m3);
    const int columns = in->columns;
    const bool *wave = making->wave;
    double *modulus = making->modulus;
    double *sums = making->sums != NULL ? making->sums + plane * 2 * columns : NULL;
    if (in->plane[m3] == in->plane[m3 + 1]) return HT_OK;
    TRY(s->problem.fd.fill(s->problem.fd.medium, 0, plane, plane + 1, modulus));
    for (int64_t n = in->plane[m3]; n < in->plane[m3 + 1]; n++) {
        const int64_t at = in->list.at[n] - m3 * s->box.plane;
        const int64_t m[] = {at % s->box.row - s->box.begin[0], at / s->box.row - s->box.begin[1],
                             plane};
        const int64_t node = m[1] * ht_grid_nodes(grid, HT_PRIMARY, 0) + m[0];
        const double half = ht_fd_weight(grid, m);
        for (int e = in->list.begin[n]; e < in->list.begin[n + 1]; e++) {
            const int column = in->list.column[e];
            double *weight = &in->shapes.value[e];
            /* Plane waves have it. */
            if (!wave[column] && s->problem.eq->second_order.rate < 0) *weight *= modulus[node];
            const double part = half * *weight / modulus[node];
            if (sums == NULL || plane < s->own.first || plane >= s->own.last) continue;
            sums[column] += part;
            sums[columns + column] += part * *weight;
        }
    }
    return HT_OK;
}

/* ---- the list of the window ---- */

enum ht_err ht_fd_list_columns(const struct ht_fd_stepper *s, int64_t begin, int64_t end,
                               const struct ht_columns *from, struct ht_fd_injection *in) {
    const struct ht_grid *grid = s->problem.grid;
    const int columns = in->columns;
    const int64_t n1 = ht_grid_nodes(grid, HT_PRIMARY, 0);
    const int64_t nodes = ht_grid_plane(grid, HT_PRIMARY);
    const int64_t planes = ht_grid_planes(grid, HT_PRIMARY);
    HT_ENDED(ht_columns_free) struct ht_columns window = {.count = 0};
    in->shapes = (struct ht_inject_shapes){.fields = 1, .terms = 1, .coefs = 1, .columns = columns};
    in->rows = ht_least(HT_FD_INJECTION_ROWS, TABLE / ht_most(columns, 1) / 2 * 2);
    in->rows = ht_most(in->rows, LEAST_ROWS);
    TRY(HT_TAKE(&in->pool, in->table, in->rows * columns));
    for (int64_t i = 0; i < from->count; i++) {
        struct ht_column_entry entry = from->entry[i];
        const int64_t at = entry.at % nodes;
        const int64_t later = entry.at / nodes - ht_fd_grid_plane(s, begin);
        for (int64_t m3 = begin + (later + planes) % planes; m3 < end; m3 += planes) {
            entry.at = m3 * s->box.plane + (at / n1 + s->box.begin[1]) * s->box.row + at % n1 +
                       s->box.begin[0];
            TRY(ht_columns_add(&window, entry));
        }
    }
    return ht_columns_list(&window, s->r.partition.window[HT_PRIMARY].count[2], s->box.plane,
                           &in->pool, &in->list, &in->plane, &in->shapes.value);
}

void ht_fd_target_planes(const struct ht_fd_stepper *s, int64_t *begin, int64_t *end,
                         bool *wanted) {
    *begin = s->r.partition.neighbour[0] ? 0 : s->box.begin[2];
    *end = s->r.partition.neighbour[1] ? s->r.partition.window[HT_PRIMARY].count[2] : s->box.end[2];
    for (int64_t m3 = *begin; m3 < *end; m3++) wanted[ht_fd_grid_plane(s, m3)] = true;
}

/* At least |C u| where |u| is at most 1, in the norm of the energy; twice, as the stage adds at
 * most 12 times its twelfth. Faces add up per axis. */
static double size_of(const struct ht_fd_incidence *in, double modulus) {
    const struct ht_fd_surface *s = &in->surface;
    const int reach = s->star.count;
    double sum = 0, volume = 1, all = 1, wide[3];
    for (int k = 0; k < 3 && k < s->grid->dims; k++) {
        const int64_t nodes = (s->upper[k] - s->lower[k]) / 2 + 1;
        wide[k] = (double)nodes;
        volume *= s->grid->h[k];
        all *= wide[k];
    }
    for (int k = 0; k < 3 && k < s->grid->dims; k++) {
        const double face = all / wide[k];
        double square = 0;
        for (int layer = 0; s->closed[k] && layer < reach; layer++) {
            double row = 0;
            for (int j = layer; j < reach; j++) row += fabs(s->star.weight[j]);
            square += 4 * face * row * row; /* two faces of two sides */
        }
        sum += pow(s->shot->speed / s->grid->h[k], 2) * sqrt(square * volume / modulus);
    }
    return 2 * sum;
}

static enum ht_err add_nodes(struct making *m, int column, const struct ht_point *point) {
    const struct ht_grid *grid = m->stepper->problem.grid;
    const int64_t plane = ht_grid_plane(grid, HT_PRIMARY), row = ht_grid_nodes(grid, HT_PRIMARY, 0);
    for (const struct ht_point_node *n = point->node; n < point->node + point->count; n++)
        if (m->wanted[n->m[2]])
            TRY(ht_columns_add(
                &m->grid, (struct ht_column_entry){.at = n->m[2] * plane + n->m[1] * row + n->m[0],
                                                   .column = column,
                                                   .weight = n->weight}));
    return HT_OK;
}

enum ht_err ht_fd_reading(const struct ht_grid *grid, const struct ht_trace *trace, int64_t plane,
                          struct ht_point *out, double *whole) {
    struct ht_point_axis axis[3];
    *whole = 1 / ht_grid_volume(grid);
    for (int k = 0; k < 3; k++) {
        double sum = 0;
        ht_point_axis_read(grid, k, trace->x[k], trace->reading.slope == k, &axis[k]);
        for (int i = 0; i < axis[k].count; i++) {
            sum += axis[k].weight[i];
            axis[k].weight[i] /= grid->h[k] * ht_grid_weight(grid, k, axis[k].node[i]);
        }
        *whole *= sum;
    }
    TRY(HT_ALLOC(out->node, (int64_t)axis[0].count * axis[1].count * axis[2].count));
    for (int i3 = 0; i3 < axis[2].count; i3++)
        for (int i2 = 0; i2 < axis[1].count && (plane < 0 || axis[2].node[i3] == plane); i2++)
            for (int i1 = 0; i1 < axis[0].count; i1++)
                out->node[out->count++] = (struct ht_point_node){
                    {axis[0].node[i1], axis[1].node[i2], axis[2].node[i3]},
                    axis[2].weight[i3] * axis[1].weight[i2] * axis[0].weight[i1]};
    return HT_OK;
}

static enum ht_err add_sources(struct making *m) {
    const struct ht_fd_injection *in = m->in;
    const struct ht_grid *grid = m->stepper->problem.grid;
    for (int i = 0; i < in->shots->count; i++) {
        HT_ENDED(ht_point_free) struct ht_point point = {.count = 0};
        TRY(ht_shot_spread(in->shots, i, m->wanted, &point));
        TRY(add_nodes(m, in->column[i], &point));
    }
    for (int64_t p = 0; p < ht_grid_planes(grid, HT_PRIMARY); p++)
        for (int i = 0; m->wanted[p] && i < in->shots->count; i++) {
            const double speed = in->shots->shot[i].speed;
            struct ht_fd_crossing crossing[3];
            if (in->incident[i] == NULL) continue;
            for (int k = 0; k < grid->dims; k++) /* C u_i: of L along each axis */
                crossing[k] = (struct ht_fd_crossing){k, pow(speed / grid->h[k], 2)};
            TRY(ht_fd_incidence_entries(in->incident[i], 0, grid->dims, crossing, p, in->column[i],
                                        &m->grid));
        }
    return HT_OK;
}

/* Each rank has its own planes; added in their order. Collective. */
static enum ht_err share_sums(struct making *m) {
    const struct ht_grid *grid = m->stepper->problem.grid;
    struct ht_fd_injection *in = m->in;
    const int shots = in->shots->count, columns = in->columns;
    const int64_t planes = ht_grid_planes(grid, HT_PRIMARY);
    const double volume = ht_grid_volume(grid);
    TRY(ht_comm_sum(grid->slab.comm, (int)(planes * 2 * columns), m->sums));
    for (int64_t p = 0; p < planes; p++) {
        const double *sums = m->sums + p * 2 * columns;
        for (int c = 0; c < columns; c++) in->whole[c] += sums[c];
        for (int i = 0; i < shots; i++) in->size[i] += volume * sums[columns + in->column[i]];
    }
    for (int i = 0; i < shots; i++) {
        const struct ht_fd_incidence *wave = in->incident[i];
        in->size[i] = wave == NULL
                          ? sqrt(in->size[i])
                          : size_of(wave, wave->surface.material[in->eq->second_order.modulus]);
    }
    return HT_OK;
}

enum ht_err ht_fd_remove_dispersion(struct ht_fd_injection *in, bool later) {
    TRY(HT_TAKE(&in->pool, in->undispersed, in->shots->count));
    in->signals = in->shots->count;
    for (int i = 0; i < in->shots->count; i++) {
        const struct ht_shot *shot = &in->shots->shot[i];
        TRY(ht_fd_undispersed(shot, in->eq != NULL ? ht_shot_order(in->eq, shot) : 0, in->dt, later,
                              &in->undispersed[i].count, &in->undispersed[i].f));
    }
    return HT_OK;
}

static enum ht_err make_columns(const struct ht_problem *problem, struct ht_fd_injection *in) {
    TRY(HT_TAKE(&in->pool, in->incident, in->shots->count));
    TRY(HT_TAKE(&in->pool, in->column, in->shots->count + 1));
    for (int i = 0; i < in->shots->count; i++) {
        const struct ht_shot *shot = &in->shots->shot[i];
        const bool wave = shot->type->outside != NULL;
        if (wave) TRY(ht_fd_incidence_create(problem, shot, &in->incident[i]));
        in->column[i + 1] = in->column[i] + (wave ? in->incident[i]->surface.columns : 1);
    }
    in->columns = in->column[in->shots->count];
    return HT_OK;
}

void ht_fd_injection_destroy(struct ht_fd_injection *in) {
    if (in == NULL) return;
    ht_injected_destroy(in->injected);
    for (int i = 0; i < in->signals; i++) free(in->undispersed[i].f);
    for (int i = 0; in->incident != NULL && i < in->shots->count; i++)
        ht_fd_incidence_destroy(in->incident[i]);
    ht_pool_free(&in->pool);
    free(in);
}

/* ---- making ---- */

static enum ht_err make_list(struct making *m, const struct ht_receivers *receivers) {
    const struct ht_fd_stepper *s = m->stepper;
    const struct ht_grid *grid = s->problem.grid;
    struct ht_fd_injection *in = m->in;
    const int64_t planes = ht_grid_planes(grid, HT_PRIMARY);
    int64_t begin, end;
    TRY(HT_TAKE(&in->pool, in->whole, in->columns));
    TRY(HT_TAKE(&in->pool, in->push, HT_FD_INJECTION_ROWS / 2));
    TRY(HT_TAKE(&m->pool, m->wanted, planes));
    TRY(HT_TAKE(&m->pool, m->modulus, ht_grid_plane(grid, HT_PRIMARY)));
    TRY(HT_TAKE(&m->pool, m->wave, in->columns));
    ht_fd_target_planes(s, &begin, &end, m->wanted);
    if (in->shots != NULL) {
        TRY(HT_TAKE(&in->pool, in->size, in->shots->count));
        TRY(HT_TAKE(&m->pool, m->sums, planes * 2 * in->columns));
        for (int i = 0; i < in->shots->count; i++)
            for (int c = in->column[i]; c < in->column[i + 1]; c++)
                m->wave[c] = in->incident[i] != NULL;
        TRY(add_sources(m));
    }
    for (int t = 0; in->shots == NULL && t < in->columns; t++) {
        const struct ht_trace trace = ht_trace_at(receivers, t);
        HT_ENDED(ht_point_free) struct ht_point point = {.count = 0};
        TRY(ht_fd_reading(grid, &trace, -1, &point, &in->whole[t]));
        TRY(add_nodes(m, t, &point));
    }
    TRY(ht_fd_list_columns(s, begin, end, &m->grid, in));
    for (int64_t m3 = begin; m3 < end; m3++) TRY(weigh_plane(m, m3));
    return in->shots != NULL ? share_sums(m) : HT_OK;
}

enum ht_err ht_fd_injection_create(const struct ht_fd_stepper *s,
                                   const struct ht_receivers *receivers,
                                   struct ht_fd_injection **out) {
    struct ht_fd_injection *in = NULL;
    enum ht_err err = HT_OK;
    *out = NULL;
    REQUIRE(receivers == NULL || receivers->traces < INT32_MAX, HT_ERR_MEMORY,
            "receivers: more than %d traces", INT32_MAX);
    if (receivers == NULL && (s->problem.shots == NULL || !(s->problem.dt > 0))) return HT_OK;
    TRY(HT_ALLOC(in, 1));
    struct making m = {.stepper = s, .in = in};
    in->dt = s->problem.dt;
    in->terms = s->problem.stages;
    if (receivers != NULL) {
        in->columns = (int)receivers->traces;
    } else {
        in->shots = s->problem.shots;
        in->eq = s->problem.eq;
        err = make_columns(&s->problem, in);
    }
    if (err == HT_OK) err = make_list(&m, receivers);
    ht_columns_free(&m.grid);
    ht_pool_free(&m.pool);
    if (err == HT_OK && in->shots != NULL && s->problem.fd.undispersed)
        err = ht_fd_remove_dispersion(in, false);
    return HT_MADE(err, in, ht_fd_injection_destroy, out);
}

/* ---- amplitudes ---- */

void ht_fd_amplitudes(const struct ht_fd_injection *in, const struct ht_shot *shot,
                      const struct ht_fd_signal *undispersed, double t, double *stage,
                      double *update) {
    const int order = ht_shot_order(in->eq, shot);
    const double dt = in->dt;
    *stage = *update = 0;
    if (undispersed != NULL) {
        const int64_t n = llround(t / dt);
        if (n >= 0 && n < undispersed->count) *update = dt * dt * undispersed->f[n];
        return;
    }
    if (!ht_shot_acts(shot, t - dt, t + dt)) return;
    *stage = dt * dt / 12 * ht_shot_at(shot, t, order);
    *update = ht_shot_at(shot, t + dt, order - 2) - 2 * ht_shot_at(shot, t, order - 2) +
              ht_shot_at(shot, t - dt, order - 2);
}

/* The norm of what a step adds is no more than that of the update and, as dt^2 L is at most 12 in
 * it, 12 times that of the stage. */
static double shot_rows(const struct ht_fd_injection *in, int64_t step, double *stage,
                        double *update) {
    double push = 0;
    for (int i = 0; i < in->shots->count; i++) {
        double *first = &stage[in->column[i]], *second = &update[in->column[i]];
        if (in->incident[i] != NULL) {
            const double square = in->dt * in->dt;
            double largest = 0;
            ht_fd_incidence_row(in->incident[i], HT_FD_INCIDENT_U, step, square / 12, first);
            ht_fd_incidence_row(in->incident[i], HT_FD_INCIDENT_W, step, square, second);
            for (int c = 0; c < in->incident[i]->surface.columns; c++)
                largest = fmax(largest, fmax(12 * fabs(first[c]), fabs(second[c])));
            push += in->size[i] * largest;
            continue;
        }
        ht_fd_amplitudes(in, &in->shots->shot[i],
                         in->undispersed != NULL ? &in->undispersed[i] : NULL,
                         (double)step * in->dt, first, second);
        push += in->size[i] * (fabs(*second) + (in->terms > 1 ? 12 * fabs(*first) : 0));
    }
    return push;
}

/* Of an adjoint run, from the last step's values back; nothing counts the norm. */
static double given_rows(const struct ht_fd_injection *in, int64_t step, double *update) {
    const int64_t at = in->steps - 1 - step;
    double largest = 0;
    for (int c = 0; c < in->columns; c++) {
        update[c] = at >= 0 ? in->factor * in->given[at * in->columns + c] : 0;
        largest = fmax(largest, fabs(update[c]));
    }
    return largest;
}

enum ht_err ht_fd_injection_step(struct ht_fd_injection *in, struct ht_fd_engine *engine,
                                 int64_t step, double *mean) {
    *mean = 0;
    if (step < in->first || step >= in->last) {
        /* Also of steps that are taken backwards. */
        in->first = step - step % (in->rows / 2);
        in->last = in->first + in->rows / 2;
        for (int64_t n = in->first; n < in->last; n++) {
            double *stage = in->table + 2 * (n - in->first) * in->columns;
            double *update = stage + in->columns;
            in->push[n - in->first] =
                in->shots != NULL ? shot_rows(in, n, stage, update) : given_rows(in, n, update);
        }
        TRY(engine->ops->amplitudes(engine, in));
    }
    const double *row = in->table + (2 * (step - in->first) + 1) * in->columns;
    for (int i = 0; i < in->columns; i++) *mean += in->whole[i] * row[i];
    in->driven += in->push[step - in->first];
    return HT_OK;
}
