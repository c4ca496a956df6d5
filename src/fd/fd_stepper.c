/* Time steps of finite differences (docs/developers/differences.md):
 *     d = d + dt^2 M u,   u = u + d,   M = L or L + dt^2/12 L^2.
 * The half step from the primary grid is the whole time step, the one from the dual grid nothing.
 * Where nothing fixes the mean of u (sides periodic or rigid), in single precision that of d is
 * kept every so many steps, and that of u beside the array, which holds u less `level`. */
#include "fd.h"

/* The window of a slab of finite differences, its arrays, and the medium in it. */

struct ht_fd_spec ht_fd_spec_of(const struct ht_problem *problem, bool fp64) {
    return (struct ht_fd_spec){.dims = problem->eq->dims,
                               .radius = problem->fd.order / 2,
                               .fp64 = fp64,
                               .density = problem->fd.density,
                               .wide = problem->fd.wide};
}

/* ---- the window ---- */

/* To either side lie ghosts or planes of a neighbour. */
static void make_axis(struct ht_fd_stepper *s, int axis) {
    const struct ht_grid *grid = s->problem.grid;
    struct ht_partition *p = &s->r.partition;
    struct ht_window *w = &p->window[HT_PRIMARY];
    const int64_t reach = ht_fd_reach(&s->engine.spec);
    const int64_t nodes =
        axis == 2 ? s->own.last - s->own.first : ht_grid_nodes(grid, HT_PRIMARY, axis);
    const struct ht_fd_row row = ht_fd_row(nodes, reach);
    int64_t beyond[2] = {0, 0};
    for (int side = 0; side < 2; side++) {
        const bool cut = axis == 2 && p->neighbour[side];
        const bool filled = axis < grid->dims && !cut && !ht_grid_closed(grid, axis, side);
        if (axis < grid->dims) beyond[side] = cut ? reach * p->depth : reach;
        s->sides[axis][side] = filled ? grid->wall[axis][side] : HT_FD_SIDE_NONE;
        s->ends.half[axis][side] = !cut && ht_measure_half(grid, HT_PRIMARY, axis, side);
        p->ghosts[HT_PRIMARY] = p->ghosts[HT_PRIMARY] || filled;
    }
    const int64_t begin = axis == 0 ? row.begin : beyond[0];
    s->box.begin[axis] = w->own.begin[axis] = w->held.begin[axis] = begin;
    s->box.end[axis] = w->own.end[axis] = w->held.end[axis] = begin + nodes;
    w->count[axis] = axis == 0 ? row.row : begin + nodes + beyond[1];
    w->origin[axis] = (axis == 2 ? s->own.first : 0) - begin;
    if (axis == 2 && p->neighbour[0]) w->held.begin[2] = 0;
    if (axis == 2 && p->neighbour[1]) w->held.end[2] = w->count[2];
}

static const struct ht_fd_kind *kind_of(const struct ht_problem *problem) {
    return problem->fd.pair == HT_PAIR_NONE ? &ht_fd_kind : &ht_pair_kind;
}

void ht_fd_stepper_plan(const struct ht_problem *problem, const struct ht_fd_engine *engine,
                        void *stepper) {
    const struct ht_grid *grid = problem->grid;
    struct ht_fd_stepper *out = stepper;
    out->kind = kind_of(problem);
    out->problem = *problem;
    out->engine = *engine;
    out->r.partition =
        (struct ht_partition){.cut = ht_grid_cut(grid), .depth = ht_halo_depth(problem)};
    out->own = ht_grid_own(grid, HT_PRIMARY);
    for (int side = 0; side < 2; side++)
        out->r.partition.neighbour[side] = ht_grid_neighbour(grid, side) >= 0;
    for (int k = 0; k < 3; k++) make_axis(out, k);
    const int64_t *count = out->r.partition.window[HT_PRIMARY].count;
    out->box.row = count[0];
    out->box.plane = count[0] * count[1];
    ht_fd_layers_plan(out);
}

/* ---- arrays ---- */

HT_ERR ht_fd_array_create(const struct ht_fd_engine *e, int64_t numbers, struct ht_buffer **out) {
    return ht_buffer_create_zeros(e->device, numbers * ht_real_size(e->spec.fp64), out);
}

void ht_fd_list_add(struct ht_fd_list *list, struct ht_buffer **at, int64_t numbers, unsigned use) {
    if (numbers > 0) list->row[list->count++] = (struct ht_fd_array){at, numbers, use};
}

/* u, d, w, z, what layers have, a, and b where density varies. */
static void list_arrays(void *self, struct ht_fd_list *out) {
    struct ht_fd_stepper *s = self;
    struct ht_fd_layers *l = &s->layers;
    const int64_t numbers = ht_fd_numbers(s);
    ht_fd_list_add(out, &s->values[HT_FD_U], numbers, HT_FD_STATE);
    ht_fd_list_add(out, &s->values[HT_FD_D], numbers, HT_FD_STATE);
    ht_fd_list_add(out, &l->memory[HT_FD_HALVES], l->sides.memory, HT_FD_STATE | HT_FD_LAYER);
    ht_fd_list_add(out, &l->memory[HT_FD_NODES], l->sides.memory, HT_FD_STATE | HT_FD_LAYER);
    ht_fd_list_add(out, &l->memory[HT_FD_BEFORE], l->sides.memory, HT_FD_LAYER);
    ht_fd_list_add(out, &l->profile, l->sides.profiles, HT_FD_LAYER);
    ht_fd_list_add(out, &s->values[HT_FD_W], numbers, HT_FD_SCRATCH);
    ht_fd_list_add(out, &s->z, numbers, HT_FD_SCRATCH);
    ht_fd_list_add(out, &s->law.a, numbers, HT_FD_MEDIUM);
    for (int k = 0; s->engine.spec.density && k < s->engine.spec.dims; k++)
        ht_fd_list_add(out, &s->law.b[k], numbers, HT_FD_MEDIUM);
}

int64_t ht_fd_own_numbers(struct ht_fd_stepper *s, unsigned use) {
    struct ht_fd_list list = {.count = 0};
    int64_t numbers = 0;
    s->kind->list(s, &list);
    for (int i = 0; i < list.count; i++)
        if (use != 0 ? list.row[i].use & use : !(list.row[i].use & HT_FD_MEDIUM))
            numbers += list.row[i].numbers;
    return numbers;
}

static struct ht_buffer *find_array(const void *self, enum ht_subgrid subgrid,
                                    HT_UNUSED int field) {
    const struct ht_fd_stepper *s = self;
    return s->values[subgrid == HT_PRIMARY ? HT_FD_U : HT_FD_D];
}

static struct ht_buffer **find_sent(void *self, int array, int i) {
    struct ht_fd_stepper *s = self;
    return i == 0 && array < HT_FD_NAMES ? &s->values[array] : NULL;
}

/* The messages of a planned stepper. */
static void plan_halo(struct ht_fd_stepper *s, struct ht_halo *out) {
    struct ht_passes passes;
    struct ht_buffer **sent;
    for (int a = 0; a < HT_ARRAYS; a++)
        for (int i = 0; (sent = s->kind->sent(s, a, i)) != NULL; i++) {
            struct ht_halo_part *part = ht_halo_add(out, a, &s->r.partition.window[HT_PRIMARY]);
            part->format = ht_fd_format(&s->problem, s->engine.spec.fp64);
            if (s->engine.kernels != NULL) part->packer = s->engine.kernels->packer[0];
            part->u = sent;
        }
    for (int i = 0; i < HT_FD_SEQUENCES; i++) {
        s->kind->passes(&s->problem, i, &passes);
        ht_halo_plan(&s->problem, &passes, out);
    }
}

int64_t ht_fd_numbers(const struct ht_fd_stepper *s) {
    return ht_window_nodes(&s->r.partition.window[HT_PRIMARY]) + s->kind->beyond;
}

struct ht_budget ht_differences_stepper_budget(const struct ht_problem *problem,
                                               const struct ht_tuning *tuning,
                                               HT_UNUSED const struct ht_device_info *info) {
    const struct ht_fd_engine engine = {.spec = ht_fd_spec_of(problem, tuning->fp64)};
    const struct ht_fd_kind *kind = kind_of(problem);
    const int64_t word = ht_real_size(tuning->fp64);
    struct ht_pair_stepper memory = {.spares = 0};
    struct ht_fd_stepper *s = &memory.fd; /* of either kind */
    struct ht_halo halo = {.parts = 0};
    int64_t message = 0;
    kind->plan(problem, &engine, s);
    struct ht_budget b = {.state = word * ht_fd_own_numbers(s, 0),
                          .layers = word * ht_fd_own_numbers(s, HT_FD_LAYER),
                          .medium = word * ht_fd_own_numbers(s, HT_FD_MEDIUM)};
    for (int group = 0; group < 2; group++)
        if (ht_pair_faces_use(problem->fd.faces, group))
            b.medium += ht_pair_met_bytes(&memory.pair, group, tuning->fp64,
                                          problem->fd.faces->listed[group].count);
    if (problem->grid->dims == 3) {
        plan_halo(s, &halo);
        b.messages = ht_links_bytes(halo.link, &message);
        b.sent = ht_halo_sent(problem, &halo);
    }
    b.total = b.state + b.medium + b.messages;
    b.largest_buffer = ht_most(ht_fd_numbers(s) * word, message);
    return b;
}

enum { STEPS_BETWEEN_MEANS = 100 };
/* A mean is left in u whose square is less than this part of the mean square:
 * without it rounding would hardly be less. */
static const double SMALL_MEAN = 0.01;

struct ht_fd_operator ht_fd_scaled(const struct ht_fd_operator *law, double factor) {
    struct ht_fd_operator out = *law;
    for (int k = 0; k < 3; k++) out.scale[k] *= factor;
    return out;
}

/* ---- tasks ---- */

struct ht_fd_box ht_fd_task_box(const struct ht_fd_stepper *s, const struct ht_task *task) {
    struct ht_fd_box box = s->box;
    memcpy(box.begin, task->targets.box.begin, sizeof box.begin);
    memcpy(box.end, task->targets.box.end, sizeof box.end);
    return box;
}

/* What L is applied to in a pass. */
static enum ht_fd_name source_name(const struct ht_problem *problem, enum ht_fd_pass pass) {
    const bool staged = problem->stages > 1 || pass == HT_FD_START;
    return staged && pass != HT_FD_STAGE ? HT_FD_W : HT_FD_U;
}

static struct ht_buffer *source_of(const struct ht_fd_stepper *s, const struct ht_task *task) {
    return s->values[source_name(&s->problem, (enum ht_fd_pass)task->pass)];
}

static HT_ERR run_ghosts(void *self, const struct ht_task *task) {
    struct ht_fd_stepper *s = self;
    const struct ht_fd_box box = ht_fd_task_box(s, task);
    return s->engine.ops->ghosts(&s->engine, &box, (const int(*)[2])s->sides, source_of(s, task));
}

static HT_ERR run_update(struct ht_fd_stepper *s, struct ht_fd_work *w, bool first) {
    struct ht_buffer **v = s->values;
    const bool in_place = s->problem.stages > 1;
    if (!in_place && first) {
        /* The next u takes w's place where L is applied to u itself: before the first box of the
         * pass the two change names, as do those that layers remember. */
        ht_fd_swap(&v[HT_FD_U], &v[HT_FD_W]);
        ht_fd_swap(&s->layers.memory[HT_FD_BEFORE], &s->layers.memory[HT_FD_HALVES]);
    }
    w->u = v[HT_FD_W];
    w->d = v[HT_FD_D];
    w->p = v[in_place ? HT_FD_U : HT_FD_W];
    w->out = v[HT_FD_U];
    s->keep.level = s->level;
    if (s->keep.map != NULL) w->keep = &s->keep;
    if (s->layers.sides.count > 0 && !s->layers.sponge && !s->back) {
        w->layers = &s->layers;
        w->operation = HT_FD_ABSORB;
        TRY(s->engine.ops->work(&s->engine, w));
        w->operation = HT_FD_STEP;
    }
    return s->engine.ops->work(&s->engine, w);
}

/* A sponge, after run_update of the same box; matched layers come with that. */
static HT_ERR run_layers(void *self, const struct ht_task *task) {
    struct ht_fd_stepper *s = self;
    const struct ht_fd_work w = {.operation = HT_FD_ABSORB,
                                 .part = task->part,
                                 .box = ht_fd_task_box(s, task),
                                 .d = s->values[HT_FD_D],
                                 .out = s->values[HT_FD_U],
                                 .layers = &s->layers};
    return s->layers.sides.count == 0 ? HT_OK : s->engine.ops->work(&s->engine, &w);
}

/* What a step back computes of a box: nodes that layers do not change. */
static struct ht_fd_box inner_box(const struct ht_fd_stepper *s, enum ht_fd_pass pass,
                                  struct ht_fd_box box) {
    const struct ht_fd_box *inner = pass == HT_FD_STAGE ? &s->shell->wide : &s->shell->inner;
    for (int k = 0; k < 3; k++) {
        box.begin[k] = ht_most(box.begin[k], inner->begin[k]);
        box.end[k] = ht_least(box.end[k], inner->end[k]);
    }
    return box;
}

static HT_ERR run_step(void *self, const struct ht_task *task) {
    struct ht_fd_stepper *s = self;
    const enum ht_fd_pass pass = (enum ht_fd_pass)task->pass;
    const double divisor[] = {[HT_FD_STAGE] = 12,
                              [HT_FD_UPDATE] = 1,
                              [HT_FD_APPLY] = s->apply_divisor,
                              [HT_FD_START] = 6};
    const double dt = s->problem.dt;
    const bool adds = pass == HT_FD_STAGE || pass == HT_FD_START;
    struct ht_fd_work w = {.operation = adds ? HT_FD_ADD : HT_FD_STEP,
                           .part = task->part,
                           .box = ht_fd_task_box(s, task),
                           .law = ht_fd_scaled(&s->law, dt * dt / divisor[pass])};
    if (s->back) w.box = inner_box(s, pass, w.box);
    if (pass == HT_FD_UPDATE) return run_update(s, &w, task->first);
    w.u = source_of(s, task);
    if (adds)
        w.out = s->values[pass == HT_FD_STAGE ? HT_FD_W : HT_FD_D];
    else
        w.d = s->apply_to;
    return s->engine.ops->work(&s->engine, &w);
}

/* The stage adds to w, others to d and u. */
static HT_ERR run_inject(void *self, const struct ht_task *task) {
    struct ht_fd_stepper *s = self;
    const bool stage = task->pass == HT_FD_STAGE, update = task->pass == HT_FD_UPDATE;
    return ht_fd_inject(s, s->injection, 1, task->targets.box.begin[2], task->targets.box.end[2],
                        stage ? HT_FD_BY_STAGE : HT_FD_BY_UPDATE,
                        &s->values[stage ? HT_FD_W : HT_FD_D], update ? s->values[HT_FD_U] : NULL);
}

/* ---- passes ---- */

enum { U = 1 << HT_FD_U, D = 1 << HT_FD_D, W = 1 << HT_FD_W };

void ht_fd_passes(const struct ht_problem *problem, int sequence, struct ht_passes *out) {
    static const enum ht_fd_pass last[] = {[HT_FD_FORWARDS] = HT_FD_UPDATE,
                                           [HT_FD_MEASURE] = HT_FD_APPLY,
                                           [HT_FD_BEGIN] = HT_FD_START};
    static const unsigned writes[] = {
        [HT_FD_STAGE] = W, [HT_FD_UPDATE] = U | D, [HT_FD_APPLY] = 0, [HT_FD_START] = D};
    const struct ht_fd_spec spec = ht_fd_spec_of(problem, true);
    const int64_t reach = ht_fd_reach(&spec);
    const bool again = sequence == HT_FD_FORWARDS;
    const bool sponge = problem->layers != NULL && problem->layers->type == HT_ABSORBING_SPONGE;
    *out = (struct ht_passes){.once = !again};
    for (int i = problem->stages == 1 || sequence == HT_FD_BEGIN; i < 2; i++) {
        const enum ht_fd_pass which = i == 0 ? HT_FD_STAGE : last[sequence];
        struct ht_pass *pass = &out->pass[out->count++];
        *pass = (struct ht_pass){.number = (int)which,
                                 .sources = 1u << source_name(problem, which),
                                 .reads = which == HT_FD_UPDATE ? U | D : 0,
                                 .writes = writes[which],
                                 .reach = {reach, reach}};
        ht_pass_add(pass, HT_TASK_STEP);
        if (sponge && which == HT_FD_UPDATE) ht_pass_add(pass, HT_TASK_LAYERS);
        if (problem->shots != NULL && again) ht_pass_add(pass, HT_TASK_INJECT);
    }
    out->half[HT_PRIMARY][1] = out->count;
}

void ht_differences_schedule_passes(const struct ht_problem *problem, struct ht_passes *out) {
    kind_of(problem)->passes(problem, HT_FD_FORWARDS, out);
}

HT_ERR ht_fd_run_sequence(struct ht_fd_stepper *s, int sequence) {
    struct ht_passes passes;
    s->kind->passes(&s->problem, sequence, &passes);
    return ht_runner_run(&s->r, &passes, 0, passes.count);
}

/* ---- steps ---- */

HT_ERR ht_fd_advance_own(struct ht_fd_stepper *s, double factor, struct ht_buffer *d,
                         struct ht_buffer *p) {
    const struct ht_fd_work w = {
        .operation = HT_FD_ADVANCE, .box = s->box, .factor = factor, .d = d, .p = p};
    return s->engine.ops->work(&s->engine, &w);
}

/* Each rank has its planes among those of the grid: the others add 0, and all are added in their
 * order. */
static HT_ERR add_planes(struct ht_fd_stepper *s, const struct ht_measure *own,
                         struct ht_measure *out) {
    const struct ht_grid *grid = s->problem.grid;
    struct ht_comm *comm = grid->slab.comm;
    const int64_t planes = ht_grid_planes(grid, HT_PRIMARY);
    double most[2] = {0, -INFINITY};
    *out = (struct ht_measure){.first = -1};
    HT_ARRAY(double, sums, 3 * planes);
    for (int64_t m = s->own.first; m < s->own.last; m++) {
        const struct ht_measure *sum = &own[m - s->own.first];
        sums[3 * m] = sum->sum;
        sums[3 * m + 1] = sum->mean;
        sums[3 * m + 2] = (double)sum->bad;
        most[0] = fmax(most[0], sum->largest);
        if (sum->first >= 0)
            most[1] = fmax(most[1], -(double)(m * ht_grid_plane(grid, HT_PRIMARY) + sum->first));
    }
    TRY(ht_comm_sum(comm, (int)(3 * planes), sums));
    TRY(ht_comm_max(comm, 2, most));
    for (int64_t m = 0; m < planes; m++) {
        out->sum += sums[3 * m];
        out->mean += sums[3 * m + 1];
        out->bad += (int64_t)sums[3 * m + 2];
    }
    out->largest = most[0];
    if (isfinite(most[1])) out->first = (int64_t)-most[1];
    return HT_OK;
}

HT_ERR ht_fd_total(struct ht_fd_stepper *s, const struct ht_fd_part *part, struct ht_buffer *x,
                   struct ht_buffer *y, struct ht_measure *out) {
    const struct ht_fd_part all = {s->box, s->ends}, *of = part != NULL ? part : &all;
    bool some = true;
    HT_ARRAY(struct ht_measure, own, s->own.last - s->own.first);
    for (int64_t m = 0; m < s->own.last - s->own.first; m++) own[m].first = -1;
    for (int k = 0; k < 3; k++) some = some && of->box.begin[k] < of->box.end[k];
    TRY(some ? s->engine.ops->sums(&s->engine, of, x, y, s->law.a, s->level,
                                   own + of->box.begin[2] - s->box.begin[2])
             : HT_OK);
    return add_planes(s, own, out);
}

HT_ERR ht_fd_not_finite(const struct ht_fd_stepper *s, int field, double time,
                        const struct ht_measure *sums) {
    const struct ht_grid *grid = s->problem.grid;
    double x[3];
    ht_grid_position(grid, HT_PRIMARY, ht_most(sums->first, 0), x);
    FAIL(HT_ERR_NOT_FINITE, "%s is not finite at %s, time %g", s->problem.eq->field[field].name,
         HT_PLACED(grid, x), time);
}

/* Planes beyond the slab are shifted as their owners do. */
static HT_ERR shift(struct ht_fd_stepper *s, enum ht_fd_name name, double by) {
    struct ht_fd_work w = {
        .operation = HT_FD_ADVANCE, .box = s->box, .factor = by, .p = s->values[name]};
    if (s->r.partition.neighbour[0]) w.box.begin[2] -= s->r.state.valid.of[name][0];
    if (s->r.partition.neighbour[1]) w.box.end[2] += s->r.state.valid.of[name][1];
    return s->engine.ops->work(&s->engine, &w);
}

/* The mean of u, where it matters, becomes a part of its level. */
static HT_ERR lower(struct ht_fd_stepper *s) {
    struct ht_buffer *const u = s->values[HT_FD_U];
    struct ht_measure sum;
    TRY(ht_fd_total(s, NULL, u, u, &sum));
    const double mean = (float)(sum.mean / s->mass);
    /* Data that are not finite are for the watch to find. */
    if (!(mean * mean * s->mass > SMALL_MEAN * sum.sum) || !isfinite(sum.sum) || sum.bad > 0)
        return HT_OK;
    s->level += mean;
    return shift(s, HT_FD_U, -mean);
}

static HT_ERR keep_mean(struct ht_fd_stepper *s) {
    struct ht_measure sum;
    struct ht_buffer *const d = s->values[HT_FD_D];
    if (!s->closed || s->since % STEPS_BETWEEN_MEANS != 0) return HT_OK;
    TRY(ht_runner_complete(&s->r));
    TRY(lower(s));
    TRY(ht_fd_total(s, NULL, d, d, &sum));
    if (isnan(s->mean)) s->mean = sum.mean;
    if (!isfinite(sum.mean)) return HT_OK; /* the watch will find it */
    return shift(s, HT_FD_D, (s->mean - sum.mean) / s->mass);
}

static HT_ERR before(void *self, HT_UNUSED enum ht_subgrid from) {
    struct ht_fd_stepper *s = self;
    struct ht_fd_injection *in = s->injection[0];
    TRY(keep_mean(s));
    if (s->back) TRY(ht_fd_shell_need(s->shell, s->at - 1));
    ht_fd_injections_step(s, s->injection);
    if (in == NULL || in->whole == NULL) return HT_OK;
    /* What it adds to the sum of d / a. */
    const double *row = in->table + in->each * (s->at - in->first) * in->columns;
    double mean = 0;
    for (int i = 0; i < in->columns; i++) mean += in->whole[i] * row[i];
    s->mean += mean;
    in->driven += in->push[s->at - in->first];
    return HT_OK;
}

static void after(void *self, int64_t steps) {
    struct ht_fd_stepper *s = self;
    s->layers.start = false;
    s->keep.map = NULL;
    s->trails = true;
    s->at += s->back ? -steps : steps;
    s->since += steps;
}

/* Nothing but sources depends on time. Where L is applied to u itself, u and w change names in each
 * step. */
static int64_t alike(void *self, int64_t *period) {
    struct ht_fd_stepper *s = self;
    const int64_t since = s->since % STEPS_BETWEEN_MEANS;
    const bool in_place = s->problem.stages > 1 || s->problem.fd.pair != HT_PAIR_NONE;
    if (s->problem.shots != NULL || s->shell != NULL || s->keep.map != NULL ||
        (s->problem.layers != NULL && s->layers.start))
        return 0;
    *period = in_place ? 1 : 2;
    const int64_t steps = !s->closed ? INT64_MAX : since == 0 ? 0 : STEPS_BETWEEN_MEANS - since;
    if (s->r.sequence == NULL && steps >= *period) s->sequence_u = s->values[HT_FD_U];
    return s->values[HT_FD_U] == s->sequence_u ? steps : 0;
}

HT_ERR ht_fd_reverse(struct ht_fd_stepper *s) {
    struct ht_buffer **v = s->values;
    TRY(ht_runner_complete(&s->r));
    if (s->problem.layers != NULL && s->level != 0) TRY(shift(s, HT_FD_U, s->level));
    if (s->problem.layers != NULL) s->level = 0;
    TRY(ht_fd_advance_own(s, -2, v[HT_FD_D], v[HT_FD_D]));
    TRY(ht_fd_advance_own(s, -1, v[HT_FD_W], v[HT_FD_W]));
    TRY(ht_fd_advance_own(s, 1, v[HT_FD_U], v[HT_FD_W]));
    TRY(ht_fd_advance_own(s, 1, v[HT_FD_D], v[HT_FD_W]));
    ht_fd_swap(&v[HT_FD_U], &v[HT_FD_W]);
    for (int a = 0; a < HT_FD_NAMES; a++) ht_halo_overwritten(&s->r.state, a);
    s->mean = -s->mean;
    s->back = true;
    s->at--;
    return HT_OK;
}

/* ---- data ---- */

/* Data come, of all ranks together: u's array holds u itself again. */
static HT_ERR begin(struct ht_fd_stepper *s) {
    const double level = s->level;
    s->level = 0;
    s->mean = NAN;
    s->trails = false;
    s->since = s->at = 0;
    TRY(level != 0 ? shift(s, HT_FD_U, level) : HT_OK);
    return s->kind->forget(s);
}

HT_ERR ht_fd_rest(struct ht_fd_stepper *s) {
    struct ht_buffer **sent;
    s->level = 0;
    TRY(begin(s));
    for (int a = 0; a < HT_ARRAYS; a++) {
        for (int i = 0; (sent = s->kind->sent(s, a, i)) != NULL; i++) TRY(ht_buffer_clear(*sent));
        ht_halo_overwritten(&s->r.state, a);
    }
    return HT_OK;
}

static HT_ERR put(void *self, enum ht_subgrid subgrid, int64_t first, int64_t last,
                  const double *coefs) {
    struct ht_fd_stepper *s = self;
    const int64_t part = ht_grid_plane(s->problem.grid, HT_PRIMARY) * (last - first);
    const unsigned fields = ht_problem_fields(&s->problem, HT_PRIMARY);
    TRY(begin(s));
    for (int a = 0; a < 2; a++) ht_halo_overwritten(&s->r.state, a);
    HT_EACH_BIT(f, fields)
        TRY(ht_fd_move_planes(s, s->kind->array(s, subgrid, f), first, last, coefs + f * part,
                              NULL));
    return HT_OK;
}

static HT_ERR get(void *self, enum ht_subgrid subgrid, int field, HT_UNUSED int count,
                  int64_t first, int64_t last, double *out) {
    struct ht_fd_stepper *s = self;
    const int64_t values = ht_grid_plane(s->problem.grid, HT_PRIMARY) * (last - first);
    TRY(ht_fd_move_planes(s, s->kind->array(s, subgrid, field), first, last, NULL, out));
    for (int64_t n = 0; subgrid == HT_PRIMARY && s->level != 0 && n < values; n++)
        out[n] += s->level;
    return HT_OK;
}

/* ---- checkpoints ---- */

/* u and w change names from step to step, but only u counts between them. */
static void fd_archive(void *self, struct ht_archive *archive) {
    struct ht_fd_stepper *s = self;
    ht_fd_archive_nodes(s, archive, "u", s->values[HT_FD_U]);
    ht_fd_archive_nodes(s, archive, "d", s->values[HT_FD_D]);
    ht_archive_number(archive, "level", &s->level);
    ht_archive_number(archive, "mean", &s->mean);
    ht_archive_integer(archive, "since", &s->since);
    ht_archive_integer(archive, "at", &s->at);
    if (s->injection[0] != NULL) ht_archive_number(archive, "driven", &s->injection[0]->driven);
    ht_fd_layers_archive(s, archive);
}

static void archive_all(void *self, struct ht_archive *archive) {
    struct ht_fd_stepper *s = self;
    s->kind->archive(s, archive);
    s->trails = false;
    for (int a = 0; a < HT_ARRAYS && ht_archive_loads(archive); a++)
        ht_halo_overwritten(&s->r.state, a);
}

/* ---- making ---- */

static HT_ERR aim(void *self, const struct ht_problem *problem) {
    struct ht_fd_stepper *s = self;
    ht_fd_sources_destroy(s);
    s->problem.shots = problem != NULL ? problem->shots : NULL;
    if (problem == NULL) return HT_OK;
    s->problem.fd.undispersed = problem->fd.undispersed;
    return ht_fd_sources_create(s);
}

void ht_fd_destroy(void *self) {
    struct ht_fd_stepper *s = self;
    struct ht_fd_list list = {.count = 0};
    ht_runner_free(&s->r);
    s->kind->list(s, &list);
    for (int i = 0; i < list.count; i++)
        if (s->beside == NULL || !(list.row[i].use & HT_FD_MEDIUM))
            ht_buffer_destroy(*list.row[i].at);
    ht_fd_sources_destroy(s);
    if (s->kind->release != NULL) s->kind->release(s);
    free(s);
}

static struct ht_task_seconds seconds(const void *self) {
    const struct ht_fd_stepper *s = self;
    const struct ht_kernels *k = s->engine.kernels;
    struct ht_task_seconds now = {.ghosts = 0};
    if (k == NULL) return now;
    struct ht_tool *const tools[] = {k->fd, k->fd_layers, k->meeting[0], k->meeting[1]};
    now.ghosts = ht_tool_total(k->ghosts[0], HT_PART_INTERIOR);
    for (int part = 0; part < 2; part++)
        for (int i = 0; i < 4; i++)
            now.part[part] += ht_tool_total(tools[i], (enum ht_step_part)part);
    now.part[HT_PART_INTERIOR] += now.ghosts;
    return now;
}

static void absolute(void *self) {
    struct ht_fd_stepper *s = self;
    s->engine.absolute = true;
}

static void arrays(const void *self, struct ht_arrays *out) {
    static const int first = 0;
    const struct ht_fd_stepper *s = self;
    const unsigned fields = ht_problem_fields(&s->problem, HT_PRIMARY);
    *out = (struct ht_arrays){.device = s->engine.device,
                              .fp64 = s->engine.spec.fp64,
                              .block = 1,
                              .coefs = 1,
                              .storage = &first,
                              .window = s->r.partition.window,
                              .level = s->level,
                              .variant =
                                  s->engine.kernels != NULL ? s->engine.kernels->variant : NULL};
    HT_EACH_BIT(f, fields) out->u[HT_PRIMARY][f] = s->kind->array(s, HT_PRIMARY, f);
}

static HT_ERR keep(void *self, unsigned what, const struct ht_fd_keep *keep) {
    struct ht_fd_stepper *s = self;
    const bool open = s->problem.layers != NULL && !s->layers.sponge;
    struct ht_buffer *const *v = s->values;
    TRY(ht_fd_keeper_build(s->engine.kernels->fd, what, open));
    s->keep = *keep;
    if (!open || s->trails) return HT_OK;
    TRY(ht_buffer_clear(v[HT_FD_W]));
    TRY(ht_fd_advance_own(s, 1, v[HT_FD_U], v[HT_FD_W]));
    TRY(ht_fd_advance_own(s, -1, v[HT_FD_D], v[HT_FD_W]));
    return HT_OK;
}

/* The sum of 1/a, of which the mean of d is a part. */
static HT_ERR find_mass(struct ht_fd_stepper *s) {
    struct ht_measure sum;
    s->closed = !s->engine.spec.fp64 && !s->layers.sponge;
    s->mean = NAN;
    for (int k = 0; k < s->engine.spec.dims; k++)
        for (int side = 0; side < 2; side++)
            s->closed = s->closed && s->problem.grid->wall[k][side] >= 0;
    if (!s->closed) return HT_OK;
    TRY(ht_fd_advance_own(s, 1, NULL, s->z));
    TRY(ht_fd_total(s, NULL, s->z, s->z, &sum));
    s->mass = sum.mean;
    return HT_OK;
}

struct ht_pack_format ht_fd_format(const struct ht_problem *problem, bool fp64) {
    return (struct ht_pack_format){.fp64 = fp64,
                                   .block = 1,
                                   .fields = 1,
                                   .padded_coefs = 1,
                                   .precision = problem->halo.precision};
}

static HT_ERR fill_rest(void *self) {
    struct ht_fd_stepper *s = self;
    for (int k = 0; k < s->engine.spec.dims; k++)
        s->law.scale[k] = (s->engine.spec.density ? 1 : s->problem.fd.inverse_density) /
                          (s->problem.grid->h[k] * s->problem.grid->h[k]);
    TRY(ht_fd_layers_create(s));
    if (s->beside != NULL) return HT_OK;
    if (s->problem.fd.fill == NULL) {
        double *number = s->problem.fd.number;
        number[0] = s->problem.uniform[s->problem.eq->second_order.modulus];
        for (int k = 0; k < 3; k++) number[1 + k] = s->problem.fd.inverse_density;
        s->problem.fd.fill = ht_fd_fill_numbers;
        s->problem.fd.medium = &s->problem;
    }
    TRY(ht_fd_fill_arrays(s, 0, 1, 0, &s->law.a));
    for (int k = 0; s->engine.spec.density && k < s->engine.spec.dims; k++)
        TRY(ht_fd_fill_arrays(s, 1 + k, 2 + k, 1u << k, &s->law.b[k]));
    return HT_OK;
}

const struct ht_fd_kind ht_fd_kind = {
    .size = sizeof(struct ht_fd_stepper),
    .task = {[HT_TASK_GHOSTS] = run_ghosts,
             [HT_TASK_STEP] = run_step,
             [HT_TASK_LAYERS] = run_layers,
             [HT_TASK_INJECT] = run_inject,
             [HT_TASK_RESTORE] = ht_fd_shell_put_step,
             [HT_TASK_RECORD] = ht_fd_shell_take_step},
    .archive = fd_archive,
    .plan = ht_fd_stepper_plan,
    .passes = ht_fd_passes,
    .list = list_arrays,
    .sent = find_sent,
    .array = find_array,
    .forget = ht_fd_layers_clear,
    .fill = fill_rest,
};

const struct ht_stepper_ops ht_fd_ops = {.put = put,
                                         .get = get,
                                         .archive = archive_all,
                                         .arrays = arrays,
                                         .keep = keep,
                                         .aim = aim,
                                         .absolute = absolute,
                                         .destroy = ht_fd_destroy,
                                         .half_step = ht_runner_half_step,
                                         .repeat = ht_runner_repeat,
                                         .finish = ht_runner_finish,
                                         .traffic = ht_runner_traffic};

static HT_ERR make(struct ht_fd_stepper *s) {
    struct ht_partition *p = &s->r.partition;
    struct ht_fd_list list = {.count = 0}, medium = {.count = 0};
    TRY(HT_ALLOC(p->targets[HT_PRIMARY], 1));
    p->targets[HT_PRIMARY][0].box = p->window[HT_PRIMARY].held;
    p->count[HT_PRIMARY] = 1;
    s->runs = (struct ht_runner_ops){
        .before = before, .after = after, .alike = alike, .seconds = seconds};
    memcpy(s->runs.task, s->kind->task, sizeof s->runs.task);
    TRY(ht_runner_make(&s->r, &s->runs, &s->problem, s->engine.device));
    s->kind->list(s, &list);
    if (s->beside != NULL) s->kind->list(s->beside, &medium);
    for (int i = 0; i < list.count; i++)
        if (s->beside == NULL || !(list.row[i].use & HT_FD_MEDIUM))
            TRY(ht_fd_array_create(&s->engine, list.row[i].numbers, list.row[i].at));
        else
            *list.row[i].at = *medium.row[medium.count - list.count + i].at;
    TRY(s->kind->fill(s));
    return s->beside != NULL ? HT_OK : ht_fd_sources_create(s);
}

HT_ERR ht_fd_stepper_create(const struct ht_problem *problem, const struct ht_fd_engine *engine,
                            struct ht_fd_stepper *beside, struct ht_stepper *out) {
    const struct ht_fd_kind *kind = kind_of(problem);
    struct ht_fd_stepper *s = NULL;
    struct ht_halo halo = {.parts = 0};
    TRY(ht_mem_alloc(1, kind->size, &s));
    kind->plan(problem, engine, s);
    s->beside = beside;
    enum ht_err err = ht_comm_agree(problem->grid->slab.comm, make(s));
    if (s->r.partition.cut) plan_halo(s, &halo);
    for (int side = 0; side < 2; side++) halo.link[side].channel = beside != NULL;
    if (err == HT_OK) err = ht_runner_connect(&s->r, problem, &halo);
    if (err == HT_OK && kind == &ht_fd_kind) err = find_mass(s);
    if (err == HT_OK)
        *out = (struct ht_stepper){.ops = &ht_fd_ops, .self = s};
    else
        ht_fd_destroy(s);
    return err;
}

struct ht_fd_stepper *ht_fd_stepper_of(const struct ht_stepper *stepper) {
    return stepper->ops == &ht_fd_ops ? stepper->self : NULL;
}

struct ht_pair_stepper *ht_pair_stepper_of(const struct ht_stepper *stepper) {
    struct ht_fd_stepper *s = ht_fd_stepper_of(stepper);
    return s != NULL && s->kind == &ht_pair_kind ? (void *)s : NULL;
}
