/* Time steps of first-order systems by a pair of groups of fields (htwave/system.h, struct
 * ht_pair): a += dt A b,   b += dt B a, two passes. The half step from the primary grid is the
 * whole time step, the one from the dual grid nothing.
 *
 * With two terms in time (docs/developers/differences.md) each pass takes w in the place of b, and
 * two passes before it leave in the arrays of rates y = dt A b and w = b + dt/24 B y. */
#include "fd.h"

/* ---- passes ---- */

/* Beside passes 0 and 1, which step a group; y and w of group g are SLOPE + g and STAGE + g,
 * START the w of the start (pair_run.c). */
enum { RATES = 2, QUARTER, HALF, SLOPE, STAGE = SLOPE + 2, START = STAGE + 2, KINDS };
static const struct {
    int group;
    enum ht_pair_work work;
    double factor;
} kinds[KINDS] = {
    [0] = {0, HT_PAIR_STEP, 1},
    [1] = {1, HT_PAIR_STEP, 1},
    [RATES] = {1, HT_PAIR_RATE, 1},
    [QUARTER] = {1, HT_PAIR_STEP, -0.25},
    [HALF] = {0, HT_PAIR_STEP, -0.5},
    [SLOPE] = {0, HT_PAIR_RATE, 1},
    [SLOPE + 1] = {1, HT_PAIR_RATE, 1},
    [STAGE] = {0, HT_PAIR_STAGE, 1 / 24.0},
    [STAGE + 1] = {1, HT_PAIR_STAGE, 1 / 24.0},
    [START] = {0, HT_PAIR_STAGE, -1 / 48.0},
};

/* Arrays of the schedule are the groups, and from RATED on their rates. */
enum { RATED = 2 };
static int source_of(const struct ht_problem *problem, int pass) {
    const int group = kinds[pass].group;
    return (group == 0) + (problem->stages < 2 || pass == SLOPE + group ? 0 : RATED);
}

static void make_passes(const struct ht_problem *problem, int sequence, struct ht_passes *out) {
    static const struct {
        int count, pass[HT_PASSES];
    } rows[] = {[HT_FD_FORWARDS] = {6, {SLOPE, STAGE + 1, 0, SLOPE + 1, STAGE, 1}},
                [HT_FD_MEASURE] = {3, {SLOPE + 1, STAGE, RATES}},
                [HT_FD_BEGIN] = {6, {SLOPE + 1, START, QUARTER, SLOPE, STAGE + 1, HALF}}};
    const bool injects = problem->shots != NULL && sequence == HT_FD_FORWARDS;
    struct ht_pair pair;
    ht_problem_pair(problem, &pair);
    *out = (struct ht_passes){.once = sequence != HT_FD_FORWARDS};
    for (int i = 0; i < rows[sequence].count; i++) {
        const int number = rows[sequence].pass[i], group = kinds[number].group;
        const int64_t reach = problem->fd.order / 2 + ht_pair_faces_use(problem->fd.faces, group);
        const int array = group + (kinds[number].work == HT_PAIR_STEP ? 0 : RATED);
        if (number >= SLOPE && problem->stages < 2) continue;
        struct ht_pass *pass = &out->pass[out->count++];
        *pass = (struct ht_pass){.number = number,
                                 .sources = 1u << source_of(problem, number),
                                 .reads = 1u << group,
                                 .writes = number == RATES ? 0 : 1u << array,
                                 .reach = {reach, reach}};
        if (number == SLOPE + group) pass->reads = 0;
        /* A source drives the mean of a field before and after: half of it comes before. */
        if (injects && ht_pair_loses(&pair, group)) ht_pass_add(pass, HT_TASK_INJECT);
        ht_pass_add(pass, HT_TASK_STEP);
        if (injects) ht_pass_add(pass, HT_TASK_INJECT);
    }
    out->half[HT_PRIMARY][1] = out->count;
}

/* ---- tasks ---- */

HT_ERR ht_pair_ghosts(struct ht_pair_stepper *s, unsigned fields, const struct ht_fd_box *of,
                      bool edges, struct ht_buffer *const *array) {
    const int64_t reach = ht_fd_reach(&s->fd.engine.spec);
    HT_EACH_BIT(f, fields) {
        struct ht_fd_box box = *of;
        for (int k = edges ? s->pair.dims - 1 : 0; k >= 0; k--) {
            int sides[3][2];
            for (int i = 0; i < 6; i++)
                sides[i / 2][i % 2] =
                    !edges || i / 2 == k ? s->sides[f][i / 2][i % 2] : HT_FD_SIDE_NONE;
            TRY(s->fd.engine.ops->ghosts(&s->fd.engine, &box, (const int(*)[2])sides, array[f]));
            box.begin[k] -= reach;
            box.end[k] += reach;
        }
    }
    return HT_OK;
}

static HT_ERR run_ghosts(void *self, const struct ht_task *task) {
    struct ht_pair_stepper *s = self;
    const struct ht_fd_box box = ht_fd_task_box(&s->fd, task);
    const int group = kinds[task->pass].group;
    return ht_pair_ghosts(s, s->pair.group[1 - group], &box,
                          ht_pair_faces_use(s->fd.problem.fd.faces, group),
                          source_of(&s->fd.problem, task->pass) < RATED ? s->on.field : s->on.rate);
}

/* Steps alone have layers, which lie where nothing is coupled. The quarter step comes without
 * losses, which are of second order in it and may be stiff. */
static struct ht_pair_task task_of(struct ht_pair_stepper *s, const struct ht_task *task) {
    const int pass = task->pass;
    const double dt = kinds[pass].factor * s->fd.problem.dt;
    struct ht_pair_task t = {.s = s,
                             .work = kinds[pass].work,
                             .part = task->part,
                             .group = kinds[pass].group,
                             .box = ht_fd_task_box(&s->fd, task)};
    if (s->damping != HT_PAIR_UNDAMPED && pass < RATES) t.layers = &s->layers;
    s->on.lossy_dt = pass == QUARTER ? 0 : dt;
    t.keeps = pass != RATES && pass != QUARTER && ht_pair_loses(&s->pair, t.group);
    for (int k = 0; k < 3; k++) t.scale[k] = dt / s->fd.problem.grid->h[k];
    return t;
}

static HT_ERR run_step(void *self, const struct ht_task *task) {
    struct ht_pair_stepper *s = self, staged;
    struct ht_pair_task t = task_of(s, task);
    s->remembers = s->remembers || s->pair.npartners > 0 || t.layers != NULL;
    if (source_of(&s->fd.problem, task->pass) >= RATED) {
        staged = *s;
        HT_EACH_BIT(f, s->pair.group[1 - t.group]) staged.on.field[f] = s->on.rate[f];
        t.s = &staged;
    }
    TRY(s->fd.engine.ops->pair(&s->fd.engine, &t));
    return s->meets[t.group].points == 0 ? HT_OK : s->fd.engine.ops->meet(&s->fd.engine, &t);
}

static HT_ERR run_inject(void *self, const struct ht_task *task) {
    struct ht_pair_stepper *s = self;
    return ht_fd_inject(&s->fd, s->fd.injection, s->pair.group[kinds[task->pass].group],
                        task->targets.box.begin[2], task->targets.box.end[2], 0, s->on.field, NULL);
}

/* Layers and losses forget what steps have left. */
static HT_ERR forget(void *self) {
    struct ht_pair_stepper *s = self;
    for (int i = 0; s->remembers && i < s->pair.npartners; i++)
        TRY(ht_buffer_clear(s->on.partner[i]));
    for (int group = 0; s->remembers && s->layers.memory > 0 && group < 2; group++)
        TRY(ht_buffer_clear(s->on.memory[group]));
    s->remembers = false;
    return HT_OK;
}

static struct ht_buffer *find_array(const void *self, HT_UNUSED enum ht_subgrid subgrid,
                                    int field) {
    const struct ht_pair_stepper *s = self;
    return s->on.field[field];
}

/* What the layer at a side has of a group: all ranks name it, those without its planes as empty. */
static void archive_layer(struct ht_pair_stepper *s, struct ht_archive *archive, int axis, int side,
                          int group) {
    const struct ht_grid *grid = s->fd.problem.grid;
    const int i = 2 * axis + side;
    const int64_t cells = s->fd.problem.layers->side[axis][side].cells;
    const int64_t origin = s->fd.own.first - s->fd.box.begin[2];
    struct ht_fd_stored of = {.engine = &s->fd.engine,
                              .array = s->on.memory[group],
                              .groups = ht_pair_slots(&s->pair, s->damping, 0, axis),
                              .planes = ht_grid_planes(grid, HT_PRIMARY),
                              .plane = 1,
                              .first = s->layers.layer[i].begin[2] + origin,
                              .last = s->layers.layer[i].end[2] + origin,
                              .base = s->layers.layer[i].memory};
    char name[32];
    if (cells == 0) return;
    for (int k = 0; k < 2; k++) {
        const int64_t nodes = ht_grid_nodes(grid, HT_PRIMARY, k);
        /* with the half point of the last node before an upper layer */
        of.plane *= k == axis ? ht_least(cells + side, nodes) : nodes;
    }
    of.apart = (of.last - of.first) * of.plane;
    snprintf(name, sizeof name, "memory%d%d_%d", axis + 1, side, group);
    ht_fd_archive_memory(archive, name, &of);
}

static void archive(void *self, struct ht_archive *archive) {
    struct ht_pair_stepper *s = self;
    char name[48];
    for (int f = 0; f < s->pair.nfields; f++)
        ht_fd_archive_nodes(&s->fd, archive, s->fd.problem.eq->field[f].name, s->on.field[f]);
    for (int i = 0; i < s->pair.npartners; i++) {
        snprintf(name, sizeof name, "partner%d", i);
        ht_fd_archive_nodes(&s->fd, archive, name, s->on.partner[i]);
    }
    const bool remembers = s->damping == HT_PAIR_MATCHED || s->damping == HT_PAIR_MIXED;
    for (int n = 0; remembers && n < 12; n++) archive_layer(s, archive, n / 4, n / 2 % 2, n % 2);
    ht_archive_flag(archive, "remembers", &s->remembers);
    ht_archive_integer(archive, "at", &s->fd.at);
}

/* ---- memory ---- */

/* Fields, what layers have, partners, spares but beside another stepper, coefficients that vary. */
static void list_arrays(void *self, struct ht_fd_list *out) {
    struct ht_pair_stepper *s = self;
    const int64_t numbers = ht_fd_numbers(&s->fd);
    const int64_t more = s->damping != HT_PAIR_UNDAMPED ? HT_PAIR_BEYOND : 0;
    for (int f = 0; f < s->pair.nfields; f++)
        ht_fd_list_add(out, &s->on.field[f], numbers, HT_FD_STATE);
    for (int group = 0; group < 2; group++)
        ht_fd_list_add(out, &s->on.memory[group], s->layers.memory + more,
                       HT_FD_STATE | HT_FD_LAYER);
    ht_fd_list_add(out, &s->on.profile, s->layers.profiles + more, HT_FD_LAYER);
    for (int i = 0; i < s->pair.npartners; i++)
        ht_fd_list_add(out, &s->on.partner[i], numbers, HT_FD_SCRATCH);
    for (int i = 0; s->fd.beside == NULL && i < s->spares; i++)
        ht_fd_list_add(out, &s->spare[i], numbers, HT_FD_SCRATCH);
    for (int c = 0; c < s->pair.ncoefficients; c++)
        if (!(s->constant >> c & 1u))
            ht_fd_list_add(out, &s->on.coefficient[c], numbers, HT_FD_MEDIUM);
}

static struct ht_buffer **find_sent(void *self, int array, int i) {
    struct ht_pair_stepper *s = self;
    if (array >= RATED && s->fd.problem.stages < 2) return NULL;
    HT_EACH_BIT(f, s->pair.group[array % RATED])
        if (i-- == 0) return array < RATED ? &s->on.field[f] : &s->on.rate[f];
    return NULL;
}

/* Numbers of the spares that rates and solutions take, or, once they have memory, the arrays. */
static void share_spares(struct ht_pair_stepper *s) {
    int rates = 0, solved[2] = {0, 0};
    HT_EACH_BIT(f, s->pair.group[1]) s->on.rate[f] = s->spare[rates++];
    solved[1] = rates;
    HT_EACH_BIT(f, s->fd.problem.stages > 1 ? s->pair.group[0] : 0)
        s->on.rate[f] = s->spare[rates++];
    HT_EACH_BIT(f, s->coupled) s->on.solved[f] = s->spare[solved[s->pair.group[1] >> f & 1u]++];
    s->spares = (int)ht_most(ht_most(solved[0], solved[1]), rates);
}

/* ---- absorbing layers ---- */

/* Where they lie in a slab's window, their profiles and what they remember
 * (docs/developers/absorbing.md). A layer changes a node by what it remembers of this node alone:
 * ranks share it as they share the nodes. */

enum ht_pair_damping ht_pair_damping_of(const struct ht_problem *problem) {
    if (problem->layers == NULL) return HT_PAIR_UNDAMPED;
    if (problem->layers->type == HT_ABSORBING_SPONGE) return HT_PAIR_SPONGE;
    return problem->layers->mix > 0 ? HT_PAIR_MIXED : HT_PAIR_MATCHED;
}

/* Nodes of the whole grid whose own point or half point above is damped; index in the window. A
 * sponge remembers nothing: it has the neighbours' planes, too. */
static void plan_layer(struct ht_pair_stepper *s, int axis, int side) {
    struct ht_pair_layers *all = &s->layers;
    const int i = 2 * axis + side;
    const int64_t cells = s->fd.problem.layers->side[axis][side].cells;
    const int64_t first = s->fd.box.begin[axis] - (axis == 2 ? s->fd.own.first : 0);
    const int64_t far = first + s->fd.problem.grid->cells[axis];
    int64_t nodes = 1;
    if (cells == 0) return;
    memcpy(all->layer[i].begin, s->fd.box.begin, sizeof s->fd.box.begin);
    memcpy(all->layer[i].end, s->fd.box.end, sizeof s->fd.box.end);
    int64_t *begin = &all->layer[i].begin[axis], *end = &all->layer[i].end[axis];
    const bool sponge = s->damping == HT_PAIR_SPONGE;
    const int64_t low = side == 0 ? first : far - cells;
    const int64_t high = side == 0 ? first + cells : far + 1;
    *begin = sponge ? low : ht_least(ht_most(low, *begin), *end);
    *end = sponge ? high : ht_most(ht_least(high, *end), *begin);
    for (int k = 0; k < 3; k++) nodes *= all->layer[i].end[k] - all->layer[i].begin[k];
    all->layer[i].memory = all->memory;
    all->layer[i].profile = all->profiles;
    /* Of group 0: the other one has the same differences, transposed. */
    all->memory += ht_pair_slots(&s->pair, s->damping, 0, axis) * nodes;
    all->profiles += (int64_t)2 * ht_pair_profiles(s->damping) * (*end - *begin);
}

/* b and a of cl/pair_layers.cl, `apart` numbers from each other. */
static void set_filter(double sigma, double alpha, double dt, int64_t apart, double *out) {
    out[0] = exp(-(sigma + alpha) * dt);
    out[apart] = sigma > 0 ? sigma * (out[0] - 1) / (sigma + alpha) : 0;
}

/* What cl/pair_layers.cl has of the points of a layer, then of those half a spacing up. */
static void fill_profile(const struct ht_pair_stepper *s, int i, double *out) {
    const int axis = i / 2, numbers = ht_pair_profiles(s->damping);
    const int64_t begin = s->layers.layer[i].begin[axis];
    const int64_t apart = s->layers.layer[i].end[axis] - begin;
    const int64_t first = s->fd.box.begin[axis] - (axis == 2 ? s->fd.own.first : 0);
    const double dt = s->fd.problem.dt;
    for (int64_t n = 0; n < 2 * apart; n++) {
        const double at = (double)(begin + n % apart - first) + (n < apart ? 0 : 0.5);
        const struct ht_stretch stretch = ht_layers_stretch(s->fd.problem.layers, axis, at);
        double *to = out + n / apart * numbers * apart + n % apart;
        if (s->damping == HT_PAIR_SPONGE) {
            to[0] = exp(-stretch.sigma * dt);
            continue;
        }
        to[(numbers - 1) * apart] = exp(-stretch.loss * dt);
        set_filter(stretch.sigma, stretch.alpha, dt, apart, to);
        if (s->damping == HT_PAIR_MIXED)
            set_filter(stretch.mixed, stretch.alpha, dt, apart, to + 2 * apart);
    }
}

static HT_ERR fill_profiles(struct ht_pair_stepper *s) {
    const struct ht_pair_layers *all = &s->layers;
    if (all->profiles == 0) return HT_OK;
    HT_ARRAY(double, profile, all->profiles);
    for (int i = 0; i < 6; i++) fill_profile(s, i, profile + all->layer[i].profile);
    return ht_buffer_write_reals(s->on.profile, s->fd.engine.spec.fp64, 0, all->profiles, profile);
}

/* ---- making ---- */

/* The members that need no memory. */
static void plan(const struct ht_problem *problem, const struct ht_fd_engine *engine, void *out) {
    struct ht_pair_stepper *s = out;
    const struct ht_equations *eq = problem->eq;
    ht_fd_stepper_plan(problem, engine, &s->fd);
    ht_problem_pair(problem, &s->pair);
    s->coupled = ht_pair_coupled(&s->pair);
    s->constant = ht_problem_constant(problem);
    HT_EACH_AT(c, const struct ht_pair_coefficient, of, s->pair.coefficient,
               s->pair.ncoefficients) {
        s->on.number[c] = problem->medium_degree >= 0 ? problem->fd.number[c]
                          : of->material < 0          ? 1
                                                      : problem->uniform[of->material];
        if (of->loss && problem->medium_degree < 0)
            s->on.number[c] =
                ht_pair_value(of, s->on.number[c], of->own < 0 ? 1 : problem->uniform[of->own]);
    }
    for (int n = 0; n < 6 * eq->nfields; n++) {
        const int f = n / 6, k = n / 2 % 3, side = n % 2, factor = s->fd.sides[k][side];
        int *kind = &s->sides[f][k][side];
        *kind = factor;
        if (factor == 0 || factor == HT_FD_SIDE_NONE) continue;
        *kind = ht_wall_sign(eq, f, k, factor);
        if (s->pair.parity[f] >> k & 1u) *kind += HT_FD_SIDE_HALF;
    }
    share_spares(s);
    ht_pair_surface_plan(s);
    s->damping = ht_pair_damping_of(&s->fd.problem);
    for (int i = 0; i < 6 && s->damping != HT_PAIR_UNDAMPED; i++) plan_layer(s, i / 2, i % 2);
}

static void release(void *self) {
    struct ht_pair_stepper *s = self;
    for (int group = 0; group < 2; group++) {
        ht_pair_meets_free(&s->meets[group]);
        ht_pair_met_destroy(s->met[group]);
    }
}

static HT_ERR fill_rest(void *self) {
    struct ht_pair_stepper *s = self;
    share_spares(s);
    const struct ht_pair_coefficient *of = s->pair.coefficient;
    for (int first = 0, end; s->fd.beside == NULL && first < s->pair.ncoefficients; first = end) {
        end = first + 1;
        if (s->constant >> first & 1u) continue;
        while (end < s->pair.ncoefficients && of[end].parity == of[first].parity &&
               !(s->constant >> end & 1u))
            end++; /* neighbours of one parity together */
        TRY(ht_fd_fill_arrays(&s->fd, first, end, of[first].parity, &s->on.coefficient[first]));
    }
    TRY(fill_profiles(s));
    for (int group = 0; group < 2; group++) {
        TRY(ht_pair_meets_make(s, group, &s->meets[group]));
        if (s->meets[group].points > 0 && s->fd.engine.device != NULL)
            TRY(ht_pair_met_create(s->fd.engine.kernels->meeting[group], &s->meets[group],
                                   &s->met[group]));
    }
    return HT_OK;
}

const struct ht_fd_kind ht_pair_kind = {
    .size = sizeof(struct ht_pair_stepper),
    .task =
        {[HT_TASK_GHOSTS] = run_ghosts, [HT_TASK_STEP] = run_step, [HT_TASK_INJECT] = run_inject},
    .archive = archive,
    .plan = plan,
    .passes = make_passes,
    .beyond = HT_PAIR_BEYOND,
    .list = list_arrays,
    .sent = find_sent,
    .array = find_array,
    .forget = forget,
    .fill = fill_rest,
    .release = release,
};
