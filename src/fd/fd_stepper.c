/* Time steps of finite differences (docs/differences.md):
 *     d = d + dt^2 M u,   u = u + d,   M = L or L + dt^2/12 L^2,
 * where d = u(t_n) - u(t_(n-1)): values near u's size are never subtracted, so that rounding does
 * not grow with the square of the number of steps. The half step from the primary grid is the whole
 * time step, the one from the dual grid nothing; backwards u = u - d is the latter and d = d - dt^2
 * M u the former.
 *
 * Where nothing fixes the mean of u (sides periodic or rigid), the sum of d / a stays the same but
 * for rounding, which would let u drift: in single precision what rounding added is taken out every
 * so many steps. There L of a constant is 0, too, so that the mean of u is no part of the steps: it
 * is kept beside the array, which holds u less `level`, lest rounding of each sum u + d be relative
 * to it.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fd.h"

enum { STEPS_BETWEEN_MEANS = 100 };
/* A mean is left in u whose square is less than this part of the mean square:
 * without it rounding would hardly be less. */
static const double SMALL_MEAN = 0.01;

struct ht_fd_law ht_fd_scaled(const struct ht_fd_law *law, double factor) {
    struct ht_fd_law out = *law;
    for (int k = 0; k < 3; k++) out.scale[k] *= factor;
    return out;
}

/* ---- tasks ---- */

static struct ht_fd_box box_of(const struct ht_fd_stepper *s, const struct ht_task *task) {
    struct ht_fd_box box = s->box;
    memcpy(box.begin, task->targets.box.begin, sizeof box.begin);
    memcpy(box.end, task->targets.box.end, sizeof box.end);
    return box;
}

/* What L is applied to in a pass. */
static struct ht_fd_array source_of(const struct ht_fd_stepper *s, const struct ht_task *task) {
    return s->values[ht_fd_source(s->slab.terms, (enum ht_fd_pass)task->pass)];
}

static enum ht_err run_ghosts(struct ht_fd_stepper *s, const struct ht_task *task) {
    const struct ht_fd_box box = box_of(s, task);
    return s->engine.ops->ghosts(&s->engine, &box, (const int(*)[2])s->sides, source_of(s, task));
}

/* out = out + factor dt^2 L of the pass's source. */
static enum ht_err add_operator(struct ht_fd_stepper *s, const struct ht_task *task, double factor,
                                struct ht_fd_array out) {
    const double dt = s->problem.dt;
    const struct ht_fd_law law = ht_fd_scaled(&s->law, factor * dt * dt);
    const struct ht_fd_box box = box_of(s, task);
    return s->engine.ops->update(&s->engine, task->part, &box, &law, source_of(s, task), out,
                                 s->values[HT_FD_U], (struct ht_fd_array){NULL, NULL});
}

/* The next u takes w's place where L is applied to u itself: before the first box of the pass the
 * two change names, as do those that layers remember. */
static void rename_once(struct ht_fd_stepper *s) {
    struct ht_fd_array *v = s->values;
    const struct ht_fd_array before = v[HT_FD_U];
    if (s->renamed) return;
    v[HT_FD_U] = v[HT_FD_W];
    v[HT_FD_W] = before;
    ht_fd_layers_turn(&s->layers);
    s->renamed = true;
}

static enum ht_err run_update(struct ht_fd_stepper *s, const struct ht_task *task) {
    const double dt = s->problem.dt;
    const struct ht_fd_law law = ht_fd_scaled(&s->law, dt * dt);
    const struct ht_fd_box targets = box_of(s, task);
    struct ht_fd_box box;
    const struct ht_fd_array *v = s->values;
    const bool in_place = s->slab.terms > 1;
    if (!in_place) rename_once(s);
    if (!ht_fd_layers_interior(s, &targets, &box)) return HT_OK;
    return s->engine.ops->update(&s->engine, task->part, &box, &law, v[HT_FD_W], v[HT_FD_D],
                                 v[in_place ? HT_FD_U : HT_FD_W], v[HT_FD_U]);
}

/* After run_update of the same box. */
static enum ht_err run_layers(struct ht_fd_stepper *s, const struct ht_task *task) {
    const double dt = s->problem.dt;
    const struct ht_fd_law law = ht_fd_scaled(&s->law, dt * dt);
    const struct ht_fd_box box = box_of(s, task);
    const struct ht_fd_array *v = s->values;
    return ht_fd_layers_step(s, task->part, &box, &law, v[HT_FD_W], v[HT_FD_D], v[HT_FD_U]);
}

static enum ht_err add_to_source(struct ht_fd_stepper *s, const struct ht_task *task,
                                 double divisor, struct ht_fd_array out) {
    const double dt = s->problem.dt;
    const struct ht_fd_law law = ht_fd_scaled(&s->law, dt * dt / divisor);
    const struct ht_fd_box box = box_of(s, task);
    return s->engine.ops->stage(&s->engine, task->part, &box, &law, source_of(s, task), out);
}

static enum ht_err run_step(struct ht_fd_stepper *s, const struct ht_task *task) {
    const struct ht_fd_box box = box_of(s, task);
    const struct ht_fd_array *v = s->values;
    switch ((enum ht_fd_pass)task->pass) {
    case HT_FD_STAGE:
        return add_to_source(s, task, 12, v[HT_FD_W]);
    case HT_FD_START:
        return add_to_source(s, task, 6, v[HT_FD_D]);
    case HT_FD_UPDATE:
        return run_update(s, task);
    case HT_FD_RETREAT:
        return s->engine.ops->advance(&s->engine, &box, -1, v[HT_FD_D], v[HT_FD_U]);
    case HT_FD_INCREMENT:
        return add_operator(s, task, -1, v[HT_FD_D]);
    default:
        return add_operator(s, task, s->apply_factor, s->apply_to);
    }
}

static enum ht_err run_inject(struct ht_fd_stepper *s, const struct ht_task *task) {
    const enum ht_fd_pass pass = (enum ht_fd_pass)task->pass;
    const struct ht_fd_array none = {NULL, NULL}, *v = s->values;
    return ht_fd_injection_add(s->injection, &s->engine, pass, s->at, task->targets.box.begin[2],
                               task->targets.box.end[2], v[pass == HT_FD_STAGE ? HT_FD_W : HT_FD_D],
                               pass == HT_FD_UPDATE ? v[HT_FD_U] : none);
}

static enum ht_err run_send(struct ht_fd_stepper *s, const struct ht_task *task) {
    return ht_fd_halo_send(s->halo, task->planes, s->values);
}

static enum ht_err run_receive(struct ht_fd_stepper *s, const struct ht_task *task) {
    return ht_fd_halo_receive(s->halo, task->planes, s->values);
}

typedef enum ht_err task_function(struct ht_fd_stepper *s, const struct ht_task *task);
static task_function *const run_task[HT_TASK_KINDS] = {
    [HT_TASK_RECEIVE] = run_receive, [HT_TASK_GHOSTS] = run_ghosts, [HT_TASK_STEP] = run_step,
    [HT_TASK_LAYERS] = run_layers,   [HT_TASK_INJECT] = run_inject, [HT_TASK_SEND] = run_send,
};

/* Runs the tasks of passes [first, last) of a sequence. */
static enum ht_err run_passes(struct ht_fd_stepper *s, enum ht_fd_sequence sequence, int first,
                              int last) {
    struct ht_task tasks[HT_FD_MOST_TASKS];
    struct ht_schedule schedule = {.task = tasks};
    ht_fd_schedule_make(&s->slab, sequence, first, last, &s->state, &schedule);
    s->renamed = false;
    for (int i = 0; i < schedule.count; i++) TRY(run_task[tasks[i].kind](s, &tasks[i]));
    ht_schedule_count(&schedule, 1, &s->counts);
    return HT_OK;
}

static int passes_of(const struct ht_fd_stepper *s, enum ht_fd_sequence sequence) {
    enum ht_fd_pass pass[HT_FD_MOST_PASSES];
    return ht_fd_sequence_passes(&s->slab, sequence, pass);
}

/* Completes an exchange in progress. */
static enum ht_err complete_exchange(struct ht_fd_stepper *s) {
    if (!s->state.open) return HT_OK;
    TRY(ht_fd_halo_receive(s->halo, s->state.coming.of, s->values));
    ht_fd_halo_received(&s->state);
    return HT_OK;
}

/* ---- steps ---- */

enum ht_err ht_fd_clear(struct ht_fd_stepper *s, struct ht_fd_array to) {
    return s->engine.ops->advance(&s->engine, &s->box, -1, to, to);
}

enum ht_err ht_fd_start(struct ht_fd_stepper *s) {
    const struct ht_fd_array *v = s->values;
    TRY(ht_fd_clear(s, v[HT_FD_W]));
    TRY(s->engine.ops->advance(&s->engine, &s->box, 1, v[HT_FD_D], v[HT_FD_W]));
    ht_fd_halo_overwritten(&s->state, HT_FD_W);
    TRY(run_passes(s, HT_FD_BEGIN, 0, 1));
    return ht_fd_apply(s, -0.5, v[HT_FD_D]);
}

enum ht_err ht_fd_apply(struct ht_fd_stepper *s, double factor, struct ht_fd_array out) {
    s->apply_factor = factor;
    s->apply_to = out;
    return run_passes(s, HT_FD_MEASURE, 0, passes_of(s, HT_FD_MEASURE));
}

/* Each rank has its planes among those of the grid: the others add 0, and all are added in their
 * order. */
static enum ht_err add_planes(struct ht_fd_stepper *s, const struct ht_fd_sum *own,
                              struct ht_fd_sum *out) {
    const struct ht_grid *grid = s->problem.grid;
    struct ht_comm *comm = grid->slab.comm;
    const int64_t planes = ht_grid_planes(grid, HT_PRIMARY);
    double *sums = NULL, most[2] = {0, -INFINITY};
    *out = (struct ht_fd_sum){.first = -1};
    TRY(HT_ALLOC(sums, 3 * planes));
    for (int64_t m = s->first; m < s->last; m++) {
        const struct ht_fd_sum *sum = &own[m - s->first];
        sums[3 * m] = sum->product;
        sums[3 * m + 1] = sum->mean;
        sums[3 * m + 2] = (double)sum->bad;
        most[0] = fmax(most[0], sum->largest);
        if (sum->first >= 0)
            most[1] = fmax(most[1], -(double)(m * ht_grid_plane(grid, HT_PRIMARY) + sum->first));
    }
    enum ht_err err = ht_comm_sum(comm, (int)(3 * planes), sums);
    if (err == HT_OK) err = ht_comm_max(comm, 2, most);
    for (int64_t m = 0; m < planes; m++) {
        out->product += sums[3 * m];
        out->mean += sums[3 * m + 1];
        out->bad += (int64_t)sums[3 * m + 2];
    }
    out->largest = most[0];
    if (isfinite(most[1])) out->first = (int64_t)-most[1];
    free(sums);
    return err;
}

enum ht_err ht_fd_part_total(struct ht_fd_stepper *s, const struct ht_fd_box *part,
                             const struct ht_fd_ends *ends, struct ht_fd_array x,
                             struct ht_fd_array y, double level, struct ht_fd_sum *out) {
    struct ht_fd_sum *own = NULL;
    bool some = true;
    TRY(HT_ALLOC(own, s->last - s->first));
    for (int64_t m = 0; m < s->last - s->first; m++) own[m].first = -1;
    for (int k = 0; k < 3; k++) some = some && part->begin[k] < part->end[k];
    enum ht_err err = some ? s->engine.ops->sums(&s->engine, part, ends, x, y, s->law.a, level,
                                                 own + part->begin[2] - s->box.begin[2])
                           : HT_OK;
    if (err == HT_OK) err = add_planes(s, own, out);
    free(own);
    return err;
}

enum ht_err ht_fd_total(struct ht_fd_stepper *s, struct ht_fd_array x, struct ht_fd_array y,
                        double level, struct ht_fd_sum *out) {
    return ht_fd_part_total(s, &s->box, &s->ends, x, y, level, out);
}

/* Planes beyond the slab are shifted as their owners do. */
static enum ht_err shift(struct ht_fd_stepper *s, enum ht_fd_name name, double by) {
    struct ht_fd_box box = s->box;
    if (s->slab.neighbour[0]) box.begin[2] -= s->state.valid.of[name];
    if (s->slab.neighbour[1]) box.end[2] += s->state.valid.of[name];
    return s->engine.ops->shift(&s->engine, &box, by, s->values[name]);
}

/* The mean of u, where it matters, becomes a part of its level. */
static enum ht_err lower(struct ht_fd_stepper *s) {
    const struct ht_fd_array u = s->values[HT_FD_U];
    struct ht_fd_sum sum;
    TRY(ht_fd_total(s, u, u, 0, &sum));
    const double mean = (float)(sum.mean / s->mass);
    /* Data that are not finite are for the watch to find. */
    if (!(mean * mean * s->mass > SMALL_MEAN * sum.product) || !isfinite(sum.product) ||
        sum.bad > 0)
        return HT_OK;
    s->level += mean;
    return shift(s, HT_FD_U, -mean);
}

static enum ht_err keep_mean(struct ht_fd_stepper *s) {
    struct ht_fd_sum sum;
    const struct ht_fd_array d = s->values[HT_FD_D];
    if (!s->closed || s->since++ % STEPS_BETWEEN_MEANS != 0) return HT_OK;
    TRY(complete_exchange(s));
    TRY(lower(s));
    TRY(ht_fd_total(s, d, d, 0, &sum));
    if (isnan(s->mean)) s->mean = sum.mean;
    if (!isfinite(sum.mean)) return HT_OK; /* the watch will find it */
    return shift(s, HT_FD_D, (s->mean - sum.mean) / s->mass);
}

/* The amplitudes of step s->at, and the mean that they add. */
static enum ht_err find_amplitudes(struct ht_fd_stepper *s, bool back) {
    double mean;
    if (s->injection == NULL) return HT_OK;
    TRY(ht_fd_injection_step(s->injection, &s->engine, s->at, back, &mean));
    s->mean += back ? -mean : mean;
    return HT_OK;
}

static enum ht_err fd_half_step(void *self, enum ht_subgrid from) {
    struct ht_fd_stepper *s = self;
    if (from != HT_PRIMARY) return HT_OK;
    s->steps++;
    TRY(keep_mean(s));
    TRY(find_amplitudes(s, false));
    TRY(run_passes(s, HT_FD_FORWARDS, 0, passes_of(s, HT_FD_FORWARDS)));
    s->layers.start = false;
    s->at++;
    return HT_OK;
}

/* ---- time steps that repeat ---- */

/* Steps from now on of which each launches the same as the one `period` steps before it: nothing
 * depends on time or on other ranks. */
static int64_t steps_alike(const struct ht_fd_stepper *s) {
    const int64_t since = s->since % STEPS_BETWEEN_MEANS;
    if (s->engine.device == NULL || s->halo != NULL || s->injection != NULL ||
        (s->slab.layers && s->layers.start))
        return 0;
    if (!s->closed) return INT64_MAX;
    return since == 0 ? 0 : STEPS_BETWEEN_MEANS - since;
}

/* Where L is applied to u itself, u and w change names in each step. */
static int64_t period(const struct ht_fd_stepper *s) {
    return s->slab.terms > 1 ? 1 : 2;
}

static enum ht_err record(struct ht_fd_stepper *s) {
    const struct ht_task_counts counts = s->counts;
    const int last = passes_of(s, HT_FD_FORWARDS);
    enum ht_err err = HT_OK;
    s->sequence_u = s->values[HT_FD_U].buffer;
    TRY(ht_sequence_begin(s->engine.device));
    for (int64_t n = 0; err == HT_OK && n < period(s); n++)
        err = run_passes(s, HT_FD_FORWARDS, 0, last);
    s->counts = counts;
    TRY(ht_sequence_end(s->engine.device, err, &s->sequence));
    REQUIRE(s->values[HT_FD_U].buffer == s->sequence_u, HT_ERR_INTERNAL,
            "a recorded sequence of %lld steps moves u", (long long)period(s));
    return HT_OK;
}

static void count_steps(struct ht_fd_stepper *s, int64_t steps) {
    struct ht_task tasks[HT_FD_MOST_TASKS];
    struct ht_schedule schedule = {.task = tasks};
    struct ht_fd_halo_state state = s->state;
    ht_fd_schedule_make(&s->slab, HT_FD_FORWARDS, 0, passes_of(s, HT_FD_FORWARDS), &state,
                        &schedule);
    ht_schedule_count(&schedule, steps, &s->counts);
    s->steps += steps;
    s->at += steps;
    s->since += steps;
}

static enum ht_err fd_repeat(void *self, int64_t steps, int64_t *done) {
    struct ht_fd_stepper *s = self;
    const int64_t times = ht_least(steps, steps_alike(s)) / period(s);
    *done = 0;
    if (times == 0) return HT_OK;
    if (s->sequence == NULL) TRY(record(s));
    if (s->values[HT_FD_U].buffer != s->sequence_u) return HT_OK;
    TRY(ht_sequence_run(s->sequence, times));
    *done = times * period(s);
    count_steps(s, *done);
    return HT_OK;
}

static enum ht_err fd_half_step_back(void *self, enum ht_subgrid from) {
    struct ht_fd_stepper *s = self;
    REQUIRE(!s->slab.layers, HT_ERR_INTERNAL, "absorbing layers: no steps back in time");
    if (from == HT_DUAL) return run_passes(s, HT_FD_BACKWARDS, 0, 1);
    s->at--;
    TRY(find_amplitudes(s, true));
    return run_passes(s, HT_FD_BACKWARDS, 1, passes_of(s, HT_FD_BACKWARDS));
}

static enum ht_err fd_finish(void *self) {
    struct ht_fd_stepper *s = self;
    TRY(complete_exchange(s));
    if (s->halo != NULL) TRY(ht_fd_halo_finish(s->halo));
    return s->engine.ops->finish(&s->engine);
}

/* ---- data ---- */

static enum ht_err check_own(const struct ht_fd_stepper *s, int64_t first, int64_t last) {
    REQUIRE(first >= s->first && last <= s->last, HT_ERR_INTERNAL,
            "planes %lld to %lld of a slab from %lld to %lld", (long long)first, (long long)last,
            (long long)s->first, (long long)s->last);
    return HT_OK;
}

static bool is_field(const struct ht_fd_stepper *s, int field) {
    return field == s->problem.eq->second_order.field;
}

/* Planes of the window between own nodes and a plain array, one at a time. */
static enum ht_err move_planes(struct ht_fd_stepper *s, struct ht_fd_array array, int64_t first,
                               int64_t last, const double *from, double *to) {
    const struct ht_fd_engine_ops *ops = s->engine.ops;
    const int64_t n1 = s->box.end[0] - s->box.begin[0];
    const int64_t n2 = s->box.end[1] - s->box.begin[1];
    const size_t bytes = (size_t)n1 * sizeof *to;
    double *plane = NULL;
    TRY(HT_ALLOC(plane, s->box.plane));
    enum ht_err err = HT_OK;
    for (int64_t m = first; err == HT_OK && m < last; m++) {
        const int64_t at = (m - s->first + s->box.begin[2]) * s->box.plane;
        double *corner = plane + s->box.begin[1] * s->box.row + s->box.begin[0];
        if (to != NULL) err = ops->read(&s->engine, array, at, s->box.plane, plane);
        for (int64_t m2 = 0; err == HT_OK && m2 < n2; m2++) {
            const int64_t row = ((m - first) * n2 + m2) * n1;
            double *values = corner + m2 * s->box.row;
            if (to != NULL) memcpy(to + row, values, bytes);
            if (from != NULL) memcpy(values, from + row, bytes);
        }
        if (err == HT_OK && from != NULL)
            err = ops->write(&s->engine, array, at, s->box.plane, plane);
    }
    free(plane);
    return err;
}

static enum ht_fd_name name_of(enum ht_subgrid subgrid) {
    return subgrid == HT_PRIMARY ? HT_FD_U : HT_FD_D;
}

/* The array holds u itself again: all ranks put data together. */
static enum ht_err raise_level(struct ht_fd_stepper *s) {
    const double level = s->level;
    s->level = 0;
    return level != 0 ? shift(s, HT_FD_U, level) : HT_OK;
}

static enum ht_err fd_put(void *self, enum ht_subgrid subgrid, int64_t first, int64_t last,
                          const double *coefs) {
    struct ht_fd_stepper *s = self;
    const int field = s->problem.eq->second_order.field;
    const int64_t part = ht_grid_plane(s->problem.grid, HT_PRIMARY);
    TRY(check_own(s, first, last));
    if (subgrid == HT_PRIMARY) TRY(raise_level(s));
    s->mean = NAN;
    s->since = s->at = 0;
    TRY(ht_fd_layers_clear(s));
    ht_fd_halo_overwritten(&s->state, name_of(subgrid));
    return move_planes(s, s->values[name_of(subgrid)], first, last,
                       coefs + field * part * (last - first), NULL);
}

static enum ht_err fd_get(void *self, enum ht_subgrid subgrid, int field, int count, int64_t first,
                          int64_t last, double *out) {
    struct ht_fd_stepper *s = self;
    TRY(check_own(s, first, last));
    REQUIRE(is_field(s, field) && count == 1, HT_ERR_INTERNAL,
            "finite differences hold values of %s only",
            s->problem.eq->field[s->problem.eq->second_order.field].name);
    TRY(move_planes(s, s->values[name_of(subgrid)], first, last, NULL, out));
    const int64_t plane = ht_grid_plane(s->problem.grid, HT_PRIMARY);
    for (int64_t n = 0; subgrid == HT_PRIMARY && n < plane * (last - first); n++)
        out[n] += s->level;
    return HT_OK;
}

static enum ht_err fd_measure(void *self, enum ht_subgrid subgrid, int count,
                              const struct ht_quantity *what, struct ht_measure *out) {
    (void)self, (void)subgrid, (void)count, (void)what, (void)out;
    FAIL(HT_ERR_INTERNAL, "finite differences have measures of their own");
}

/* ---- making ---- */

static void fd_destroy(void *self) {
    struct ht_fd_stepper *s = self;
    if (s == NULL) return;
    ht_sequence_destroy(s->sequence);
    ht_fd_halo_destroy(s->halo);
    ht_fd_injection_destroy(s->injection);
    ht_fd_arrays_destroy(s);
    free(s);
}

/* Of the kernels since they were made, which may serve other steppers, too. */
static struct ht_fd_seconds seconds_of(const struct ht_fd_stepper *s) {
    struct ht_fd_seconds now = {.ghosts = 0};
    if (s->engine.kernels == NULL) return now;
    now.ghosts = ht_fd_kernels_ghosts(s->engine.kernels);
    for (int part = 0; part < 2; part++)
        now.part[part] = ht_fd_kernels_total(s->engine.kernels, (enum ht_step_part)part) +
                         ht_fd_layer_total(s->engine.layers, (enum ht_step_part)part);
    return now;
}

static void fd_traffic(void *self, struct ht_traffic *out) {
    const struct ht_fd_stepper *s = self;
    const struct ht_fd_seconds now = seconds_of(s), *before = &s->before;
    *out = (struct ht_traffic){
        .half_steps = 2 * s->steps,
        .exchanges = s->counts.tasks[HT_TASK_SEND],
        .interior_s = now.part[HT_PART_INTERIOR] - before->part[HT_PART_INTERIOR],
        .boundary_s = now.part[HT_PART_BOUNDARY] - before->part[HT_PART_BOUNDARY],
        .ghosts_s = now.ghosts - before->ghosts};
    if (s->halo != NULL) ht_fd_halo_traffic(s->halo, out);
}

static void fd_absolute(void *self) {
    struct ht_fd_stepper *s = self;
    s->engine.absolute = true;
}

static const struct ht_stepper_ops fd_ops = {
    .put = fd_put,
    .get = fd_get,
    .measure = fd_measure,
    .half_step = fd_half_step,
    .repeat = fd_repeat,
    .half_step_back = fd_half_step_back,
    .absolute = fd_absolute,
    .finish = fd_finish,
    .destroy = fd_destroy,
    .traffic = fd_traffic,
};

/* The sum of 1/a, of which the mean of d is a part. */
static enum ht_err find_mass(struct ht_fd_stepper *s) {
    struct ht_fd_sum sum;
    s->closed = !s->engine.spec.fp64 && !s->layers.sponge;
    s->mean = NAN;
    for (int k = 0; k < s->engine.spec.dims; k++)
        for (int side = 0; side < 2; side++)
            s->closed = s->closed && s->problem.grid->wall[k][side] >= 0;
    if (!s->closed) return HT_OK;
    TRY(s->engine.ops->shift(&s->engine, &s->box, 1, s->z));
    TRY(ht_fd_total(s, s->z, s->z, 0, &sum));
    s->mass = sum.mean;
    return HT_OK;
}

static bool same_state(const struct ht_fd_halo_state *a, const struct ht_fd_halo_state *b) {
    bool same = a->open == b->open;
    for (int i = 0; i < HT_FD_NAMES; i++)
        same = same && a->valid.of[i] == b->valid.of[i] &&
               (!a->open || a->coming.of[i] == b->coming.of[i]);
    return same;
}

static void log_step(const struct ht_schedule *schedule) {
    struct ht_text text = {0};
    ht_schedule_add_text(schedule, &text);
    if (ht_text_status(&text) == HT_OK) ht_log("time step: %s", text.data);
    ht_text_free(&text);
}

/* Logs the schedules of a run's steps until they repeat. An exchange serves at least half a step,
 * so that after it one of `depth` + 1 states comes again. */
static enum ht_err log_schedules(const struct ht_fd_stepper *s) {
    struct ht_task tasks[HT_FD_MOST_TASKS];
    struct ht_schedule schedule = {.task = tasks};
    struct ht_fd_halo_state state = s->state, *seen = NULL;
    bool fresh = true;
    if (s->halo == NULL || ht_log_level_get() < HT_LOG_VERBOSE) return HT_OK;
    const int most = 2 * s->slab.depth + 2;
    TRY(HT_ALLOC(seen, most));
    for (int n = 0; n < most && fresh; n++) {
        seen[n] = state;
        ht_fd_schedule_make(&s->slab, HT_FD_FORWARDS, 0, passes_of(s, HT_FD_FORWARDS), &state,
                            &schedule);
        log_step(&schedule);
        for (int i = 0; i <= n; i++) fresh = fresh && !same_state(&state, &seen[i]);
    }
    free(seen);
    return HT_OK;
}

static enum ht_err make(struct ht_fd_stepper *s) {
    const struct ht_grid *grid = s->problem.grid;
    s->before = seconds_of(s);
    for (int k = 0; k < s->engine.spec.dims; k++)
        s->law.scale[k] = (s->engine.spec.density ? 1 : s->problem.fd.inverse_density) /
                          (grid->h[k] * grid->h[k]);
    TRY(ht_fd_arrays_create(s));
    TRY(ht_fd_fill_medium(s));
    return ht_fd_injection_create(s, &s->injection);
}

enum ht_err ht_fd_stepper_create(const struct ht_problem *problem,
                                 const struct ht_fd_engine *engine, struct ht_stepper *out) {
    struct ht_fd_stepper *s = NULL;
    TRY(HT_ALLOC(s, 1));
    s->engine = *engine;
    ht_fd_stepper_plan(problem, engine, s);
    enum ht_err err = ht_comm_agree(problem->grid->slab.comm, make(s));
    if (err == HT_OK) err = ht_fd_halo_create(s, &s->halo);
    if (err == HT_OK) err = find_mass(s);
    if (err == HT_OK) err = log_schedules(s);
    if (err != HT_OK) {
        fd_destroy(s);
        return err;
    }
    *out = (struct ht_stepper){.ops = &fd_ops, .self = s};
    return HT_OK;
}

struct ht_fd_stepper *ht_fd_stepper_of(const struct ht_stepper *stepper) {
    return stepper->ops == &fd_ops ? stepper->self : NULL;
}
