/* Schedules without a device: a rank that does as its tasks say, each plane of each array carrying
 * the number of the version that it holds. All ranks do the same, so that what a neighbour sends is
 * what this rank would send.
 *
 * Passes of both methods in any order and new data between them, over depths, neighbours, walls,
 * schemes, reaches and regions: every plane that a task reads must be of its array's newest
 * version; every own target is computed once per pass, and gets the pass's other work in its order;
 * an exchange brings neither less nor more than by the formulas of docs/developers/differences.md,
 * and messages use their slots in turn. Only steps are branches, and those that may run side by
 * side share nothing. */
#include "must.h"

#include "htwave/schedule.h"
#include "src/fd/fd.h"

enum { ROOM = 200 };

struct rank {
    struct ht_problem problem;
    struct ht_grid grid;
    struct ht_equations eq;
    struct ht_partition p;
    struct ht_halo_state state;
    const struct ht_passes *passes;          /* under way */
    int version[HT_ARRAYS], sent[HT_ARRAYS]; /* newest; in the exchange under way */
    int plane[HT_ARRAYS][ROOM];              /* version of each plane */
    int works[ROOM];                         /* done in the pass, but steps */
    bool under_way;
    unsigned before[2]; /* directions of the last exchanges: bit 0 down, 1 up */
    int64_t nodes_done;
    int wrong; /* reads of old planes, branches .. */
    struct ht_task_counts counts;
};

/* A slab in the middle of a grid of 3 x 2 nodes a plane, by hand: the rank has no communicator. */
static void make_slab(struct rank *r, int depth, int64_t beyond, int64_t own, bool wall) {
    struct ht_partition *p = &r->p;
    *p = (struct ht_partition){.cut = true, .neighbour = {true, !wall}, .depth = depth};
    for (int subgrid = 0; subgrid < 2; subgrid++) {
        struct ht_window *w = &p->window[subgrid];
        *w = (struct ht_window){.count = {3, 2, own + 2 * beyond}};
        w->held = (struct ht_box){{0, 0, 0}, {3, 2, own + 2 * beyond}};
        w->own = (struct ht_box){{0, 0, beyond}, {3, 2, beyond + own}};
    }
    for (int a = 0; a < HT_ARRAYS; a++)
        for (int64_t m = 0; m < ROOM; m++)
            r->plane[a][m] = m >= beyond && m < beyond + own ? 0 : -1;
}

/* Two boxes along x1, of which the second is cut along x3. */
static void make_regions(struct rank *r, int regions) {
    struct ht_partition *p = &r->p;
    for (int subgrid = 0; subgrid < 2; subgrid++) {
        const struct ht_box held = p->window[subgrid].held;
        must(HT_ALLOC(p->targets[subgrid], 3));
        for (int i = 0; i < regions; i++) {
            struct ht_targets *t = &p->targets[subgrid][p->count[subgrid]++];
            *t = (struct ht_targets){.box = held, .region = i, .shares = i != 1};
            if (regions > 1 && i == 0) t->box.end[0] = 1;
            if (i > 0) t->box.begin[0] = 1;
            if (i == 1 && regions > 2) t->box.end[2] = held.end[2] / 2;
            if (i == 2) t->box.begin[2] = held.end[2] / 2;
        }
    }
}

/* A problem by Hermite methods with a sponge, of seven planes. */
static void make_hermite(struct rank *r, int depth, bool two_level, bool wall, int regions,
                         struct ht_layers *layers) {
    *r = (struct rank){.grid = {.dims = 3, .order = 1, .cells = {3, 2, 24}}};
    *layers = (struct ht_layers){.type = HT_ABSORBING_SPONGE};
    r->eq = ht_equations_make(ht_system_find("wave"), 3);
    r->problem = (struct ht_problem){.eq = &r->eq, .grid = &r->grid, .layers = layers};
    (void)ht_problem_set_scheme(&r->problem, ht_scheme_at(two_level ? HT_LEAPFROG : HT_TAYLOR));
    make_slab(r, depth, depth, 7, wall);
    make_regions(r, regions);
}

/* A problem by finite differences, as thin as it may be. */
static void make_differences(struct rank *r, int depth, int terms, int radius, bool wall) {
    *r = (struct rank){.grid = {.dims = 3, .cells = {3, 2, 24}}};
    r->eq = ht_equations_make(ht_system_find("wave"), 3);
    r->problem = (struct ht_problem){
        .eq = &r->eq, .grid = &r->grid, .stages = terms, .fd = {.order = 2 * radius}};
    (void)ht_problem_set_scheme(&r->problem, ht_scheme_at(HT_DIFFERENCES));
    make_slab(r, depth, (int64_t)radius * depth, (int64_t)radius * depth, wall);
    make_regions(r, 1);
}

/* ---- what tasks do ---- */

static bool in(unsigned mask, int array) {
    return mask >> array & 1u;
}

static const struct ht_pass *pass_of(const struct rank *r, const struct ht_task *task) {
    const struct ht_pass *pass = r->passes->pass;
    while (pass->number != task->pass) pass++;
    return pass;
}

/* Works before a step of the pass, but for steps; or all. */
static int works_of(const struct ht_pass *pass, bool all) {
    int count = 0;
    for (int i = 0; i < pass->works; i++) {
        if (pass->work[i] == HT_TASK_STEP && !all) break;
        count += pass->work[i] != HT_TASK_STEP;
    }
    return count;
}

static void step(struct rank *r, const struct ht_task *task) {
    const struct ht_pass *pass = pass_of(r, task);
    const struct ht_box *box = &task->targets.box, *own = &r->p.window[0].own;
    for (int64_t m = box->begin[2]; m < box->end[2]; m++) {
        for (int a = 0; a < HT_ARRAYS; a++) {
            for (int64_t q = m - pass->reach[0]; in(pass->sources, a) && q <= m + pass->reach[1];
                 q++)
                r->wrong += (q < own->end[2] || r->p.neighbour[1]) &&
                            (q < 0 || q >= ROOM || r->plane[a][q] < r->version[a]);
            /* of this pass already where regions share m */
            r->wrong += in(pass->reads, a) && r->plane[a][m] != r->version[a] &&
                        !(in(pass->writes, a) && r->plane[a][m] == r->version[a] + 1);
            if (in(pass->writes, a)) r->plane[a][m] = r->version[a] + 1;
        }
        r->wrong += r->works[m] != works_of(pass, false);
        if (m >= own->begin[2] && m < own->end[2])
            r->nodes_done += (box->end[0] - box->begin[0]) * (box->end[1] - box->begin[1]);
    }
}

/* The pass whose results leave with a message: one under way, or about to begin where no own planes
 * of it leave here; NULL: none. */
static const struct ht_pass *sends(const struct rank *r, const struct ht_schedule *s, int i) {
    if (i + 1 < s->count && s->task[i + 1].kind == HT_TASK_RECEIVE) return NULL;
    while (i < s->count && s->task[i].kind != HT_TASK_STEP) i++;
    return i < s->count ? pass_of(r, &s->task[i]) : NULL;
}

/* The own planes that leave hold the newest version, and all of the pass's work. pass: under way;
 * NULL: none. */
static void send(struct rank *r, const struct ht_task *task, const struct ht_pass *pass) {
    const struct ht_box *own = &r->p.window[0].own;
    unsigned ways = 0;
    for (int n = 0; n < 2 * HT_ARRAYS; n++) {
        const int a = n / 2, side = n % 2;
        if (task->planes.of[a][1 - side] > 0) ways |= 1u << side;
        const bool written = pass != NULL && in(pass->writes, a);
        const int newest = r->version[a] + written;
        for (int64_t i = 0; r->p.neighbour[side] && i < task->planes.of[a][1 - side]; i++) {
            const int64_t m = side == 0 ? own->begin[2] + i : own->end[2] - 1 - i;
            r->wrong += r->plane[a][m] != newest;
            r->wrong += written && r->works[m] != works_of(pass, true);
        }
        r->sent[a] = newest;
    }
    /* Two slots suffice: not three messages in one direction without one back. */
    r->wrong += ways != 3 && ways == r->before[0] && ways == r->before[1];
    r->before[0] = r->before[1];
    r->before[1] = ways;
    r->wrong += r->under_way;
    r->under_way = true;
}

static void receive(struct rank *r, const struct ht_planes *planes) {
    const struct ht_box *own = &r->p.window[0].own;
    r->wrong += !r->under_way;
    r->under_way = false;
    for (int a = 0; a < HT_ARRAYS; a++) {
        for (int64_t i = 0; r->p.neighbour[0] && i < planes->of[a][0]; i++)
            r->plane[a][own->begin[2] - 1 - i] = r->sent[a];
        for (int64_t i = 0; r->p.neighbour[1] && i < planes->of[a][1]; i++)
            r->plane[a][own->end[2] + i] = r->sent[a];
    }
}

static bool disjoint(const struct ht_box *a, const struct ht_box *b) {
    bool apart = false;
    for (int k = 0; k < 3; k++)
        apart = apart || a->end[k] <= b->begin[k] || b->end[k] <= a->begin[k];
    return apart;
}

/* Steps in a row: those that share buffers are of one branch, the others of one each. The first one
 * of a pass says so. */
static int wrong_branches(const struct ht_schedule *s) {
    int wrong = 0, pass = -1;
    for (int i = 0; i < s->count; i++) {
        const struct ht_task *a = &s->task[i];
        const bool steps = a->kind == HT_TASK_STEP;
        wrong += (a->branch > 0) != steps || a->first != (steps && a->pass != pass);
        if (steps) pass = a->pass;
        for (int n = i - 1; n >= 0 && a->branch > 0; n--) {
            const struct ht_task *b = &s->task[n];
            if (b->branch == 0 || b->pass != a->pass) break;
            wrong += !disjoint(&a->targets.box, &b->targets.box) ||
                     (a->branch == b->branch) != (a->targets.shares && b->targets.shares);
        }
    }
    return wrong;
}

/* A pass is over where no later task of it works on a box. */
static bool is_over(const struct ht_schedule *s, int i, const struct ht_pass *pass) {
    for (int j = i + 1; j < s->count; j++)
        if (s->task[j].pass == pass->number && s->task[j].kind != HT_TASK_SEND &&
            s->task[j].kind != HT_TASK_RECEIVE)
            return false;
    return true;
}

static void end_pass(struct rank *r, const struct ht_pass *pass) {
    const struct ht_box *own = &r->p.window[0].own;
    r->wrong += r->nodes_done != ht_box_nodes(own);
    for (int64_t m = own->begin[2]; m < own->end[2]; m++)
        r->wrong += r->works[m] != works_of(pass, true);
    for (int a = 0; a < HT_ARRAYS; a++) r->version[a] += in(pass->writes, a);
    memset(r->works, 0, sizeof r->works);
    r->nodes_done = 0;
}

static void run(struct rank *r, const struct ht_passes *passes, int first, int last) {
    static struct ht_task tasks[HT_MOST_TASKS(HT_PASSES, 3)];
    struct ht_schedule s = {.task = tasks};
    const struct ht_pass *pass = NULL; /* under way */
    r->passes = passes;
    ht_schedule_make(&r->p, passes, first, last, &r->state, &s);
    r->wrong += s.count > (int)(sizeof tasks / sizeof *tasks) || wrong_branches(&s);
    for (int i = 0; i < s.count; i++) {
        const struct ht_task *task = &tasks[i];
        const bool works = task->kind == HT_TASK_LAYERS || task->kind == HT_TASK_INJECT;
        if (works || task->kind == HT_TASK_STEP) pass = pass_of(r, task);
        if (task->kind == HT_TASK_STEP) step(r, task);
        for (int64_t m = task->targets.box.begin[2]; works && m < task->targets.box.end[2]; m++)
            r->works[m]++;
        if (task->kind == HT_TASK_SEND) send(r, task, pass != NULL ? pass : sends(r, &s, i));
        if (task->kind == HT_TASK_RECEIVE) receive(r, &task->planes);
        if (pass == NULL || !is_over(&s, i, pass)) continue;
        end_pass(r, pass);
        pass = NULL;
    }
    ht_schedule_count(&s, 1, &r->counts);
}

static void put(struct rank *r, int array) {
    const struct ht_box *own = &r->p.window[0].own;
    r->version[array]++;
    for (int64_t m = own->begin[2]; m < own->end[2]; m++) r->plane[array][m] = r->version[array];
    ht_halo_overwritten(&r->state, array);
}

static void finish(struct rank *r) {
    if (!r->state.open) return;
    receive(r, &r->state.coming);
    ht_halo_received(&r->state);
}

/* ---- cases ---- */

/* Half steps in turn, or from grids as the bits say, and new data now and then. */
static void half_steps(int depth, bool two_level, bool wall, int regions, bool turns) {
    enum { HALVES = 200 };
    static struct rank r;
    struct ht_layers layers;
    struct ht_passes passes;
    make_hermite(&r, depth, two_level, wall, regions, &layers);
    ht_schedule_passes(&r.problem, &passes);
    for (int n = 0; n < HALVES; n++) {
        const uint64_t bits = ht_rng_bits(3, (uint64_t)n) >> 16;
        const int from = turns ? n % 2 : (int)(bits & 1);
        run(&r, &passes, passes.half[from][0], passes.half[from][1]);
        if (!turns && (bits >> 1 & 7) == 0) put(&r, (int)(bits >> 4 & 1));
    }
    ht_partition_free(&r.p);
    TEST_CHECK(r.wrong == 0,
               "depth %d, %d level(s), %s, %d region(s), %s: %d faults in %d half steps", depth,
               1 + two_level, wall ? "a wall" : "two neighbours", regions,
               turns ? "in turn" : "in any order", r.wrong, HALVES);
    if (!turns) return;
    /* one before the first half step, one after every depth-th */
    const int exchanges = 1 + HALVES / depth;
    TEST_EQUAL(r.counts.tasks[HT_TASK_SEND], exchanges, "depth %d: exchanges", depth);
}

static void make_sequences(const struct rank *r, struct ht_passes out[HT_FD_SEQUENCES]) {
    for (int i = 0; i < HT_FD_SEQUENCES; i++) ht_fd_passes(&r->problem, i, &out[i]);
}

static void any_order(int depth, int terms, int radius, bool wall) {
    enum { MOVES = 300 };
    static struct rank r;
    struct ht_passes all[HT_FD_SEQUENCES];
    make_differences(&r, depth, terms, radius, wall);
    make_sequences(&r, all);
    for (int n = 0; n < MOVES; n++) {
        const uint64_t bits = ht_rng_bits(3, (uint64_t)n) >> 16;
        const int what = (int)(bits % 12);
        if (what < 6) run(&r, &all[HT_FD_FORWARDS], 0, terms);
        if (what == 6 || what == 7) run(&r, &all[HT_FD_MEASURE], 0, terms);
        if (what == 8) put(&r, HT_FD_U);
        if (what == 9) put(&r, HT_FD_D);
        if (what == 10) finish(&r);
        if (what == 11) put(&r, HT_FD_W);
        if (what == 11) run(&r, &all[HT_FD_BEGIN], 0, 1);
    }
    ht_partition_free(&r.p);
    TEST_CHECK(r.wrong == 0, "depth %d, %d term(s), reach %d, %s: %d faults in %d moves", depth,
               terms, radius, wall ? "a wall" : "two neighbours", r.wrong, MOVES);
}

static void in_turn(int depth, int terms) {
    enum { STEPS = 60 };
    static struct rank r;
    struct ht_passes all[HT_FD_SEQUENCES];
    make_differences(&r, depth, terms, 3, false);
    make_sequences(&r, all);
    for (int n = 0; n < STEPS; n++) run(&r, &all[HT_FD_FORWARDS], 0, terms);
    const int64_t sends = r.counts.tasks[HT_TASK_SEND];
    const int64_t wanted = 1 + terms * STEPS / depth;
    ht_partition_free(&r.p);
    TEST_CHECK(r.wrong == 0 && sends == wanted,
               "depth %d, %d term(s) in turn: %lld exchanges (expected %lld), %d faults", depth,
               terms, (long long)sends, (long long)wanted, r.wrong);
}

/* ---- planes ---- */

static void judge_planes(struct rank *r, int depth, int sequence, int index,
                         const int64_t wanted[3]) {
    struct ht_passes passes;
    ht_fd_passes(&r->problem, sequence, &passes);
    const struct ht_planes p = ht_exchange_planes(&passes, depth, index);
    bool right = true;
    for (int a = 0; a < HT_FD_NAMES; a++)
        right = right && p.of[a][0] == wanted[a] && p.of[a][1] == wanted[a];
    TEST_CHECK(right, "depth %d, %d term(s), sequence %d, pass %d: %d %d %d planes of u, d, w",
               depth, r->problem.stages, (int)sequence, index, (int)p.of[HT_FD_U][0],
               (int)p.of[HT_FD_D][0], (int)p.of[HT_FD_W][0]);
}

/* k applications of reach r: k r planes of what the first one is applied to, and of what it adds to
 * as many as it computes. */
static void test_planes(void) {
    for (int k = 1; k <= 5; k++) {
        static struct rank r;
        struct ht_passes passes;
        const int64_t m = 3, all = k * m, less = all - m;
        const int64_t two = k > 2 ? all - 2 * m : 0;
        make_differences(&r, k, 1, (int)m, false);
        judge_planes(&r, k, HT_FD_FORWARDS, 0, (int64_t[]){all, less, 0});
        judge_planes(&r, k, HT_FD_MEASURE, 0, (int64_t[]){m, 0, 0});
        r.problem.stages = 2;
        judge_planes(&r, k, HT_FD_FORWARDS, 0, (int64_t[]){all, two, 0});
        judge_planes(&r, k, HT_FD_FORWARDS, 1, (int64_t[]){less, less, all});
        judge_planes(&r, k, HT_FD_BEGIN, 0, (int64_t[]){0, 0, m});
        ht_schedule_passes(&r.problem, &passes);
        TEST_CHECK(ht_planes_needed(&passes, k) == all, "depth %d: %d planes", k, (int)all);
        ht_partition_free(&r.p);
    }
}

/* ---- regions ---- */

/* Regions with kernels share buffers: theirs are of a variant of two. */
static void judge_regions(const char *what, const struct ht_problem *problem, int regions,
                          const struct ht_region *region, bool good) {
    struct ht_partition p;
    enum ht_err err = ht_partition_make(problem, regions, region, &p);
    TEST_CHECK((err == HT_OK) == good, "%s: %s", what, err == HT_OK ? "taken" : ht_err_message());
    if (err != HT_OK) return;
    int64_t sum = 0, own = 0, most = 0;
    bool ascend = true, shared = true;
    for (int subgrid = 0; subgrid < 2; subgrid++) {
        own += ht_box_nodes(&p.window[subgrid].own);
        for (int i = 0; i < p.count[subgrid]; i++) {
            const int64_t nodes = ht_box_nodes(&p.targets[subgrid][i].box);
            sum += nodes;
            ascend = ascend && (i == 0 || nodes >= most);
            most = nodes;
            shared = shared && p.targets[subgrid][i].shares ==
                                   (region[p.targets[subgrid][i].region].kernels != NULL);
        }
    }
    TEST_CHECK(sum == own && ascend && shared, "%s: %lld targets of %lld%s%s", what, (long long)sum,
               (long long)own, ascend ? "" : ", not those of few nodes first",
               shared ? "" : ", of kernels that share others' buffers");
    ht_partition_free(&p);
}

static void test_partition(void) {
    struct ht_grid grid = {.dims = 2, .order = 1, .cells = {5, 4, 1}};
    struct ht_equations eq = ht_equations_make(ht_system_find("wave"), 2);
    struct ht_problem problem = {.eq = &eq, .grid = &grid, .scheme = ht_scheme_at(HT_TAYLOR)};
    struct ht_region r[3] = {{.cells = {{0, 0, 0}, {2, 4, 1}}},
                             {.cells = {{2, 0, 0}, {5, 1, 1}}},
                             {.cells = {{2, 1, 0}, {5, 4, 1}}}};
    judge_regions("three regions, periodic", &problem, 3, r, true);
    const struct ht_kernels two = {.variant = ht_variant_find("two-rolled", NULL, false),
                                   .spec[0] = {.eq = &eq, .order = 1, .src = 1, .dst = 1}};
    r[0].kernels = r[2].kernels = &two;
    judge_regions("two of them by two kernels", &problem, 3, r, true);
    for (int side = 0; side < 2; side++) grid.wall[0][side] = 1;
    judge_regions("three regions, walls along x1", &problem, 3, r, true);
    judge_regions("one of them left out", &problem, 2, r, false);
    r[1].cells.end[1] = 2;
    judge_regions("two of them overlap", &problem, 3, r, false);
}

/* ---- the order of tasks ---- */

static void judge_text(struct rank *r, const struct ht_passes *passes, int first, int last,
                       const char *wanted) {
    struct ht_task tasks[HT_MOST_TASKS(HT_PASSES, 3)];
    struct ht_schedule s = {.task = tasks};
    HT_ENDED(ht_text_free) struct ht_text text = {0};
    ht_schedule_make(&r->p, passes, first, last, &r->state, &s);
    ht_schedule_add_text(&s, &text);
    TEST_CHECK(text.data != NULL && strcmp(text.data, wanted) == 0, "depth %d, passes %d to %d: %s",
               r->p.depth, first, last, text.data);
}

/* Messages travel behind the interior; where a halo is deeper, every second half step exchanges
 * nothing. */
static void test_half_steps(void) {
    static struct rank r;
    struct ht_layers layers;
    struct ht_passes passes;
    make_hermite(&r, 1, false, false, 1, &layers);
    r.problem.layers = NULL;
    ht_schedule_passes(&r.problem, &passes);
    r.p.ghosts[HT_PRIMARY] = true;
    judge_text(&r, &passes, 0, 1, "send, receive, ghosts, step boundary, send, step interior");
    judge_text(&r, &passes, 1, 2, "receive, step boundary, send, step interior");
    judge_text(&r, &passes, 0, 1, "receive, ghosts, step boundary, send, step interior");
    ht_partition_free(&r.p);
    make_hermite(&r, 2, false, false, 1, &layers);
    judge_text(&r, &passes, 0, 1, "send, receive, step interior");
    judge_text(&r, &passes, 1, 2, "step boundary, step boundary, send, step interior");
    judge_text(&r, &passes, 0, 1, "receive, step interior");
    ht_partition_free(&r.p);
    make_hermite(&r, 1, false, false, 2, &layers);
    r.p.cut = false;
    judge_text(&r, &passes, 1, 2, "step interior, step interior");
    ht_partition_free(&r.p);
}

static void test_passes(void) {
    static struct rank r;
    struct ht_passes passes;
    make_differences(&r, 1, 1, 2, true);
    ht_schedule_passes(&r.problem, &passes);
    r.p.ghosts[HT_PRIMARY] = true;
    r.p.window[0].own.end[2] += 4;
    judge_text(&r, &passes, 0, 1, "send, receive, ghosts, step boundary, send, step interior");
    judge_text(&r, &passes, 0, 1, "receive, ghosts, step boundary, send, step interior");
    ht_partition_free(&r.p);
    make_differences(&r, 2, 2, 1, false);
    ht_schedule_passes(&r.problem, &passes);
    r.p.ghosts[HT_PRIMARY] = true;
    r.p.window[0].own.end[2] += 4;
    r.p.targets[0][0].box.end[2] += 4;
    judge_text(&r, &passes, 0, 2,
               "send, receive, ghosts, step interior, ghosts, step boundary, step boundary, send, "
               "step interior");
    judge_text(&r, &passes, 0, 2,
               "receive, ghosts, step interior, ghosts, step boundary, step boundary, send, step "
               "interior");
    r.p.cut = r.p.neighbour[0] = r.p.neighbour[1] = r.p.ghosts[HT_PRIMARY] = false;
    r.state = (struct ht_halo_state){.open = false};
    judge_text(&r, &passes, 0, 2, "step interior, step interior");
    ht_partition_free(&r.p);
}

int main(void) {
    test_planes();
    test_half_steps();
    test_passes();
    test_partition();
    for (int depth = 1; depth <= 5; depth++)
        for (int i = 0; i < 8; i++) {
            const int terms = 1 + (i & 1);
            half_steps(depth, i & 1, i & 2, 1 + (depth + i) % 3, i & 4);
            any_order(depth, terms, 1 + (i & 2) * 3, i & 4);
            if (i < 2) in_turn(depth, terms);
        }
    return test_end("schedule");
}
