/* Time steps of first-order systems by a pair of groups of fields (htwave/system.h, struct
 * ht_pair): a += dt A b,   b += dt B a, two passes. The half step from the primary grid is the
 * whole time step, the one from the dual grid nothing.
 */
#include <stdlib.h>
#include <string.h>

#include "fd.h"
#include "src/solve/methods.h"

/* ---- passes ---- */

/* Beside passes 0 and 1, which step a group: */
enum { RATES = 2, QUARTER, HALF };
enum sequence { FORWARDS, MEASURE, BEGIN, SEQUENCES };

static int group_of(int pass) {
    return pass == HALF ? 0 : pass == QUARTER || pass == RATES ? 1 : pass;
}

/* Arrays of the schedule are the groups. */
static void make_passes(const struct ht_problem *problem, enum sequence sequence,
                        struct ht_passes *out) {
    static const int rows[][3] = {
        [FORWARDS] = {2, 0, 1}, [MEASURE] = {1, RATES}, [BEGIN] = {2, QUARTER, HALF}};
    const bool injects = problem->shots != NULL && sequence == FORWARDS;
    struct ht_pair pair;
    ht_problem_pair(problem, &pair);
    *out = (struct ht_passes){.once = sequence != FORWARDS};
    for (int i = 0; i < rows[sequence][0]; i++) {
        const int number = rows[sequence][1 + i], group = group_of(number);
        const int64_t reach = problem->fd.order / 2 + ht_pair_faces_use(problem->fd.faces, group);
        struct ht_pass *pass = &out->pass[out->count++];
        *pass = (struct ht_pass){.number = number,
                                 .sources = 1u << (1 - group),
                                 .reads = 1u << group,
                                 .writes = number == RATES ? 0 : 1u << group,
                                 .reach = {reach, reach}};
        /* A source drives the mean of a field before and after: half of it comes before. */
        if (injects && ht_pair_loses(&pair, group)) ht_pass_add(pass, HT_TASK_INJECT);
        ht_pass_add(pass, HT_TASK_STEP);
        if (problem->layers != NULL && sequence == FORWARDS) ht_pass_add(pass, HT_TASK_LAYERS);
        if (injects) ht_pass_add(pass, HT_TASK_INJECT);
    }
    out->half[HT_PRIMARY][1] = out->count;
}

void ht_staggered_schedule_passes(const struct ht_problem *problem, struct ht_passes *out) {
    make_passes(problem, FORWARDS, out);
}

double ht_staggered_message_values(const struct ht_problem *problem, int array) {
    struct ht_pair pair;
    int fields = 0;
    ht_problem_pair(problem, &pair);
    for (int f = 0; array < 2 && f < pair.nfields; f++)
        if (pair.group[array] >> f & 1u) fields++;
    return (double)(fields * ht_grid_plane(problem->grid, HT_PRIMARY));
}

static enum ht_err run_sequence(struct ht_pair_stepper *s, enum sequence sequence) {
    struct ht_passes passes;
    make_passes(&s->fd.problem, sequence, &passes);
    return ht_runner_run(&s->fd.r, &passes, 0, passes.count);
}

enum ht_err ht_pair_begin(struct ht_pair_stepper *s) {
    return run_sequence(s, BEGIN);
}

enum ht_err ht_pair_rates(struct ht_pair_stepper *s) {
    return run_sequence(s, MEASURE);
}

/* ---- tasks ---- */

/* With those where ghosts of two axes, or of one and planes of a neighbour meet. */
static enum ht_err fill_edges(struct ht_pair_stepper *s, struct ht_fd_box box, int f) {
    const int64_t reach = ht_fd_reach(&s->fd.engine.spec);
    for (int k = s->pair.dims - 1; k >= 0; k--) {
        int sides[3][2];
        for (int i = 0; i < 6; i++)
            sides[i / 2][i % 2] = i / 2 == k ? s->sides[f][k][i % 2] : HT_FD_SIDE_NONE;
        TRY(s->fd.engine.ops->ghosts(&s->fd.engine, &box, (const int(*)[2])sides, s->field[f]));
        box.begin[k] -= reach;
        box.end[k] += reach;
    }
    return HT_OK;
}

static enum ht_err run_ghosts(void *self, const struct ht_task *task) {
    struct ht_pair_stepper *s = self;
    const struct ht_fd_box box = ht_fd_task_box(&s->fd, task);
    const int group = group_of(task->pass);
    for (int f = 0; f < s->pair.nfields; f++)
        if (s->pair.group[1 - group] >> f & 1u)
            TRY(ht_pair_faces_use(s->fd.problem.fd.faces, group)
                    ? fill_edges(s, box, f)
                    : s->fd.engine.ops->ghosts(&s->fd.engine, &box, (const int(*)[2])s->sides[f],
                                               s->field[f]));
    return HT_OK;
}

/* The quarter step comes without losses, which are of second order in it and may be stiff. */
static struct ht_pair_task task_of(struct ht_pair_stepper *s, const struct ht_task *task) {
    static const double factors[] = {1, 1, [RATES] = 1, [QUARTER] = -0.25, [HALF] = -0.5};
    const int pass = task->pass;
    struct ht_pair_task t = {.s = s,
                             .work = pass == RATES ? HT_PAIR_RATE : HT_PAIR_STEP,
                             .part = task->part,
                             .group = group_of(pass),
                             .box = ht_fd_task_box(&s->fd, task)};
    s->lossy_dt = pass == QUARTER ? 0 : factors[pass] * s->fd.problem.dt;
    for (int k = 0; k < 3; k++)
        t.scale[k] = factors[pass] * s->fd.problem.dt / s->fd.problem.grid->h[k];
    return t;
}

static enum ht_err run_step(void *self, const struct ht_task *task) {
    struct ht_pair_stepper *s = self;
    const struct ht_pair_task t = task_of(s, task);
    s->remembers = s->remembers || s->pair.npartners > 0;
    TRY(s->fd.engine.ops->pair(&s->fd.engine, &t));
    return s->meets[t.group].points == 0 ? HT_OK : s->fd.engine.ops->meet(&s->fd.engine, &t);
}

/* After run_step of the same box. */
static enum ht_err run_layers(void *self, const struct ht_task *task) {
    struct ht_pair_stepper *s = self;
    const struct ht_pair_task t = task_of(s, task);
    s->remembers = true;
    return s->fd.engine.ops->damp(&s->fd.engine, &t);
}

static enum ht_err run_inject(void *self, const struct ht_task *task) {
    return ht_pair_injection_add(self, group_of(task->pass), task->targets.box.begin[2],
                                 task->targets.box.end[2]);
}

static enum ht_err before(void *self, enum ht_subgrid from) {
    (void)from;
    return ht_pair_injection_step(self);
}

static void after(void *self, int64_t steps) {
    struct ht_pair_stepper *s = self;
    s->fd.at += steps;
}

/* Nothing but sources depends on time. */
static int64_t alike(void *self, int64_t *period) {
    const struct ht_pair_stepper *s = self;
    *period = 1;
    return s->fd.problem.shots == NULL ? INT64_MAX : 0;
}

static struct ht_task_seconds seconds_of(const void *self) {
    const struct ht_pair_stepper *s = self;
    struct ht_task_seconds now = {.ghosts = 0};
    if (s->fd.engine.kernels == NULL) return now;
    now.ghosts = ht_tool_total(s->fd.engine.ghosts, HT_PART_INTERIOR);
    for (int part = 0; part < 2; part++) {
        now.part[part] = ht_tool_total(s->fd.engine.kernels, (enum ht_step_part)part);
        for (int group = 0; group < 2; group++)
            if (s->met[group] != NULL)
                now.part[part] +=
                    ht_tool_total(s->fd.engine.meeting[group], (enum ht_step_part)part);
    }
    now.part[HT_PART_INTERIOR] += now.ghosts;
    return now;
}

/* ---- data ---- */

static int64_t nodes_of(const struct ht_pair_stepper *s) {
    return ht_window_nodes(&s->fd.r.partition.window[HT_PRIMARY]) + HT_PAIR_BEYOND;
}

static enum ht_err forget(struct ht_pair_stepper *s, const double *zeros, int64_t most) {
    struct ht_fd_engine *e = &s->fd.engine;
    for (int i = 0; i < s->pair.npartners + 2; i++) {
        const bool layers = i >= s->pair.npartners;
        const struct ht_fd_array to = layers ? s->memory[i - s->pair.npartners] : s->partner[i];
        const int64_t total = layers ? s->layers.memory : nodes_of(s);
        for (int64_t at = 0; at < total; at += most)
            TRY(e->ops->write(e, to, at, ht_least(most, total - at), zeros));
    }
    return HT_OK;
}

enum ht_err ht_pair_forget(struct ht_pair_stepper *s) {
    const int64_t most = 1 << 16;
    double *zeros = NULL;
    if (!s->remembers) return HT_OK;
    TRY(HT_ALLOC(zeros, most));
    const enum ht_err err = forget(s, zeros, most);
    free(zeros);
    s->remembers = err != HT_OK;
    return err;
}

static enum ht_err put(void *self, enum ht_subgrid subgrid, int64_t first, int64_t last,
                       const double *values) {
    struct ht_pair_stepper *s = self;
    const int64_t part = ht_grid_plane(s->fd.problem.grid, HT_PRIMARY) * (last - first);
    (void)subgrid;
    TRY(ht_fd_check_own(&s->fd, first, last));
    TRY(ht_pair_forget(s));
    s->fd.at = 0;
    for (int group = 0; group < 2; group++) ht_halo_overwritten(&s->fd.r.state, group);
    for (int f = 0; f < s->pair.nfields; f++)
        TRY(ht_fd_move_planes(&s->fd, s->field[f], first, last, values + f * part, NULL));
    return HT_OK;
}

static enum ht_err get(void *self, enum ht_subgrid subgrid, int field, int count, int64_t first,
                       int64_t last, double *out) {
    struct ht_pair_stepper *s = self;
    (void)subgrid;
    TRY(ht_fd_check_own(&s->fd, first, last));
    REQUIRE(count == 1, HT_ERR_INTERNAL, "finite differences hold values only");
    return ht_fd_move_planes(&s->fd, s->field[field], first, last, NULL, out);
}

static void arrays(const void *self, struct ht_arrays *out) {
    static const int first = 0;
    const struct ht_pair_stepper *s = self;
    *out = (struct ht_arrays){.device = s->fd.engine.device,
                              .fp64 = s->fd.engine.spec.fp64,
                              .block = 1,
                              .coefs = 1,
                              .storage = &first,
                              .window = s->fd.r.partition.window};
    for (int f = 0; f < s->pair.nfields; f++) out->u[HT_PRIMARY][f] = s->field[f].buffer;
}

/* ---- memory ---- */

/* Fields, partners, spares, coefficients that vary: from this list they are counted, created and
 * destroyed.
 */
enum { MOST_ARRAYS = 4 * HT_MAX_FIELDS + HT_MAX_TERMS };
static int list_arrays(struct ht_pair_stepper *s, struct ht_fd_array *list[MOST_ARRAYS]) {
    int count = 0;
    for (int f = 0; f < s->pair.nfields; f++) list[count++] = &s->field[f];
    for (int i = 0; i < s->pair.npartners; i++) list[count++] = &s->partner[i];
    for (int i = 0; i < s->spares; i++) list[count++] = &s->spare[i];
    for (int c = 0; c < s->pair.ncoefficients; c++)
        if (!(s->constant >> c & 1u)) list[count++] = &s->coefficient[c];
    return count;
}

/* Numbers of the spares that rates and solutions take, or, once they have memory, the arrays. */
static void share_spares(struct ht_pair_stepper *s) {
    int rates = 0, solved[2] = {0, 0};
    for (int f = 0; f < s->pair.nfields; f++)
        if (s->pair.group[1] >> f & 1u) s->rate[f] = s->spare[rates++];
    solved[1] = rates;
    for (int f = 0; f < s->pair.nfields; f++)
        if (s->coupled >> f & 1u) s->solved[f] = s->spare[solved[s->pair.group[1] >> f & 1u]++];
    s->spares = (int)ht_most(solved[0], solved[1]);
}

/* The members that need no memory. */
static void plan(const struct ht_problem *problem, const struct ht_fd_engine *engine,
                 struct ht_pair_stepper *s) {
    const struct ht_equations *eq = problem->eq;
    ht_fd_stepper_plan(problem, engine, &s->fd);
    ht_problem_pair(problem, &s->pair);
    s->coupled = ht_pair_coupled(&s->pair);
    s->constant = ht_problem_constant(problem);
    for (int c = 0; c < s->pair.ncoefficients; c++) {
        const struct ht_pair_coefficient *of = &s->pair.coefficient[c];
        s->number[c] = problem->medium_degree >= 0 ? problem->fd.number[c]
                       : of->material < 0          ? 1
                                                   : problem->uniform[of->material];
        if (of->loss && problem->medium_degree < 0)
            s->number[c] =
                ht_pair_value(of, s->number[c], of->own < 0 ? 1 : problem->uniform[of->own]);
    }
    for (int n = 0; n < 6 * eq->nfields; n++) {
        const int f = n / 6, k = n / 2 % 3, side = n % 2, factor = s->fd.sides[k][side];
        int *out = &s->sides[f][k][side];
        *out = factor;
        if (factor == 0 || factor == HT_FD_SIDE_NONE) continue;
        *out = ht_wall_sign(eq, f, k, factor);
        if (s->pair.parity[f] >> k & 1u) *out += HT_FD_SIDE_HALF;
    }
    share_spares(s);
    ht_pair_surface_plan(s);
    ht_pair_layers_plan(s);
}

static void plan_halo(struct ht_pair_stepper *s, struct ht_halo *out) {
    struct ht_passes passes[SEQUENCES];
    const struct ht_passes *list[SEQUENCES];
    for (int group = 0; group < 2; group++)
        for (int f = 0; f < s->pair.nfields; f++) {
            if (!(s->pair.group[group] >> f & 1u)) continue;
            struct ht_halo_part *part =
                ht_halo_add(out, group, &s->fd.r.partition.window[HT_PRIMARY]);
            part->format = ht_fd_format(&s->fd.problem, s->fd.engine.spec.fp64);
            part->packer = s->fd.engine.packer;
            part->u = &s->field[f].buffer;
        }
    for (int i = 0; i < SEQUENCES; i++) {
        make_passes(&s->fd.problem, (enum sequence)i, &passes[i]);
        list[i] = &passes[i];
    }
    ht_halo_plan(&s->fd.problem, SEQUENCES, list, out);
}

struct ht_budget ht_staggered_stepper_budget(const struct ht_problem *problem,
                                             const struct ht_tuning *tuning,
                                             const struct ht_device_info *info) {
    const struct ht_fd_engine engine = {.spec = ht_fd_spec_of(problem, tuning->fp64)};
    struct ht_fd_array *list[MOST_ARRAYS];
    struct ht_pair_stepper s = {.spares = 0};
    struct ht_halo halo = {.parts = 0};
    int64_t message = 0;
    (void)info;
    plan(problem, &engine, &s);
    const int64_t bytes = nodes_of(&s) * ht_real_size(tuning->fp64);
    const int count = list_arrays(&s, list), state = s.pair.nfields + s.pair.npartners + s.spares;
    const int64_t layers = ht_pair_layers_words(&s) * ht_real_size(tuning->fp64);
    struct ht_budget b = {
        .state = state * bytes + layers, .layers = layers, .medium = (count - state) * bytes};
    for (int group = 0; group < 2; group++)
        if (ht_pair_faces_use(problem->fd.faces, group))
            b.medium += ht_pair_met_bytes(&s.pair, group, tuning->fp64,
                                          problem->fd.faces->listed[group].count);
    if (ht_grid_cut(problem->grid)) {
        plan_halo(&s, &halo);
        b.messages = ht_links_bytes(halo.link, &message);
    }
    b.total = b.state + b.medium + b.messages;
    b.largest_buffer = ht_most(bytes, message);
    return b;
}

/* ---- making ---- */

static void destroy(void *self) {
    struct ht_pair_stepper *s = self;
    struct ht_fd_array *list[MOST_ARRAYS];
    if (s == NULL) return;
    ht_runner_free(&s->fd.r);
    ht_pair_injection_destroy(s);
    for (int i = list_arrays(s, list) - 1; i >= 0; i--) s->fd.engine.ops->destroy(list[i]);
    ht_pair_layers_destroy(s);
    for (int group = 0; group < 2; group++) {
        ht_pair_meets_free(&s->meets[group]);
        ht_pair_met_destroy(s->met[group]);
    }
    free(s);
}

static const struct ht_runner_ops runner_ops = {
    .task = {[HT_TASK_GHOSTS] = run_ghosts,
             [HT_TASK_STEP] = run_step,
             [HT_TASK_LAYERS] = run_layers,
             [HT_TASK_INJECT] = run_inject},
    .before = before,
    .after = after,
    .alike = alike,
    .seconds = seconds_of,
};

static const struct ht_stepper_ops pair_ops = {
    .put = put,
    .get = get,
    .measure = ht_fd_no_measure,
    .half_step = ht_runner_half_step,
    .repeat = ht_runner_repeat,
    .absolute = ht_fd_absolute,
    .finish = ht_runner_finish,
    .destroy = destroy,
    .arrays = arrays,
    .traffic = ht_runner_traffic,
};

/* Neighbours of one parity together. */
static enum ht_err fill_coefficients(struct ht_pair_stepper *s) {
    const struct ht_pair_coefficient *of = s->pair.coefficient;
    for (int first = 0, end; first < s->pair.ncoefficients; first = end) {
        end = first + 1;
        if (s->constant >> first & 1u) continue;
        while (end < s->pair.ncoefficients && of[end].parity == of[first].parity &&
               !(s->constant >> end & 1u))
            end++;
        TRY(ht_fd_fill_arrays(&s->fd, first, end, of[first].parity, &s->coefficient[first]));
    }
    return HT_OK;
}

static enum ht_err make(struct ht_pair_stepper *s) {
    struct ht_fd_array *list[MOST_ARRAYS];
    struct ht_partition *p = &s->fd.r.partition;
    TRY(HT_ALLOC(p->targets[HT_PRIMARY], 1));
    p->targets[HT_PRIMARY][0].box = p->window[HT_PRIMARY].held;
    p->count[HT_PRIMARY] = 1;
    TRY(ht_runner_make(&s->fd.r, &runner_ops, &s->fd.problem, s->fd.engine.device));
    const int count = list_arrays(s, list);
    for (int i = 0; i < count; i++)
        TRY(s->fd.engine.ops->create(&s->fd.engine, nodes_of(s), list[i]));
    share_spares(s);
    TRY(fill_coefficients(s));
    TRY(ht_pair_layers_create(s));
    for (int group = 0; group < 2; group++) {
        TRY(ht_pair_meets_make(s, group, &s->meets[group]));
        if (s->meets[group].points > 0 && s->fd.engine.device != NULL)
            TRY(ht_pair_met_create(s->fd.engine.meeting[group], &s->meets[group], &s->met[group]));
    }
    return ht_pair_injection_create(s);
}

enum ht_err ht_pair_stepper_create(const struct ht_problem *problem,
                                   const struct ht_fd_engine *engine, struct ht_stepper *out) {
    struct ht_pair_stepper *s = NULL;
    struct ht_halo halo = {.parts = 0};
    TRY(HT_ALLOC(s, 1));
    plan(problem, engine, s);
    enum ht_err err = ht_comm_agree(problem->grid->slab.comm, make(s));
    if (s->fd.r.partition.cut) plan_halo(s, &halo);
    if (err == HT_OK) err = ht_runner_connect(&s->fd.r, problem, &halo);
    if (err != HT_OK) {
        destroy(s);
        return err;
    }
    *out = (struct ht_stepper){.ops = &pair_ops, .self = s};
    return HT_OK;
}

struct ht_pair_stepper *ht_pair_stepper_of(const struct ht_stepper *stepper) {
    return stepper->ops == &pair_ops ? stepper->self : NULL;
}
