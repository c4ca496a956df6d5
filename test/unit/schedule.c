/* Schedules of half steps without a device: a rank that does as its tasks say, each plane carrying
 * the number of the version that it holds. All ranks do the same, so that what a neighbour sends is
 * what this rank would send.
 *
 * Half steps from a grid in any order and new data between them, over depths, neighbours, walls,
 * schemes and regions: every source plane that a task reads must be of the source's newest version;
 * by a scheme of two levels so must be the target that it adds to; every own target is computed
 * once and then damped by a sponge, by a scheme of two levels before it, too. Only steps are
 * branches, and those that may run side by side share nothing.
 */
#include "test.h"

#include "htwave/schedule.h"

enum { PLANES = 24, ROOM = 64, FIRST = 9, OWN = 7 };

struct rank {
    struct ht_problem problem;
    struct ht_grid grid;
    struct ht_partition p;
    struct ht_halo_state state;
    int version[2];     /* newest, per grid */
    int plane[2][ROOM]; /* version of each plane of the windows */
    int sent[2];        /* versions in the exchange under way */
    bool under_way;
    int64_t nodes_done;
    int damped[ROOM]; /* how often in the half step under way */
    int wrong;        /* reads of old planes, branches */
    struct ht_task_counts counts;
};

static enum ht_subgrid other(enum ht_subgrid subgrid) {
    return subgrid == HT_PRIMARY ? HT_DUAL : HT_PRIMARY;
}

/* A slab in the middle of a grid of 3 x 2 cells a plane, by hand: the rank has no communicator. */
static void make_slab(struct rank *r, int depth, bool two_level, bool wall) {
    struct ht_partition *p = &r->p;
    *r = (struct rank){.grid = {.dims = 3, .order = 1, .cells = {3, 2, PLANES}}};
    *p = (struct ht_partition){
        .cut = true, .neighbour = {true, !wall}, .depth = depth, .two_level = two_level};
    for (int subgrid = 0; subgrid < 2; subgrid++) {
        struct ht_window *w = &p->window[subgrid];
        const int64_t beyond = depth;
        *w =
            (struct ht_window){.count = {3, 2, OWN + 2 * beyond}, .origin = {0, 0, FIRST - beyond}};
        w->held = (struct ht_box){{0, 0, 0}, {3, 2, OWN + 2 * beyond}};
        w->own = (struct ht_box){{0, 0, beyond}, {3, 2, beyond + OWN}};
        for (int m = 0; m < ROOM; m++) r->plane[subgrid][m] = -1;
        for (int m = 0; m < OWN; m++) r->plane[subgrid][beyond + m] = 0;
    }
}

/* Two boxes along x1, of which the second is cut along x3. */
static bool make_regions(struct rank *r, int regions) {
    struct ht_partition *p = &r->p;
    for (int subgrid = 0; subgrid < 2; subgrid++) {
        const struct ht_box held = p->window[subgrid].held;
        if (HT_ALLOC(p->targets[subgrid], 3) != HT_OK) return false;
        for (int i = 0; i < regions; i++) {
            struct ht_targets *t = &p->targets[subgrid][p->count[subgrid]++];
            *t = (struct ht_targets){.box = held, .region = i, .shares = i != 1};
            if (regions > 1 && i == 0) t->box.end[0] = 1;
            if (i > 0) t->box.begin[0] = 1;
            if (i == 1 && regions > 2) t->box.end[2] = held.end[2] / 2;
            if (i == 2) t->box.begin[2] = held.end[2] / 2;
        }
    }
    return true;
}

/* ---- what tasks do ---- */

static void step(struct rank *r, const struct ht_task *task) {
    const enum ht_subgrid from = (enum ht_subgrid)task->pass;
    const enum ht_subgrid to = other(from);
    const struct ht_box *box = &task->targets.box;
    const struct ht_window *w = &r->p.window[to];
    const struct ht_window *s = &r->p.window[from];
    for (int64_t m = box->begin[2]; m < box->end[2]; m++) {
        /* dual m from primary m, m + 1; primary m from dual m - 1, m */
        const int64_t node = m + w->origin[2];
        int64_t low = node - (from == HT_DUAL) - s->origin[2];
        int64_t last = low + 1;
        if (!r->p.neighbour[1] && last >= s->own.end[2]) last = low;
        for (int64_t q = low; q <= last; q++)
            r->wrong += q < 0 || q >= s->count[2] || r->plane[from][q] != r->version[from];
        /* the old value: of this half step already where regions share m */
        r->wrong += r->p.two_level && r->plane[to][m] != r->version[to] &&
                    r->plane[to][m] != r->version[to] + 1;
        r->plane[to][m] = r->version[to] + 1;
        r->wrong += r->damped[m] != r->p.two_level;
        if (m >= w->own.begin[2] && m < w->own.end[2])
            r->nodes_done += (box->end[0] - box->begin[0]) * (box->end[1] - box->begin[1]);
    }
}

/* The own planes that leave hold the newest version; target: a grid whose half step is under way,
 * -1: none. */
static void send(struct rank *r, enum ht_subgrid from, int target) {
    for (int subgrid = 0; subgrid < 2; subgrid++) {
        const enum ht_subgrid which = subgrid ? HT_DUAL : HT_PRIMARY;
        const struct ht_extent e = ht_exchange_extent(&r->p, from, which);
        const struct ht_box *own = &r->p.window[subgrid].own;
        const int newest = r->version[subgrid] + (subgrid == target);
        const int damped = 1 + r->p.two_level;
        for (int64_t m = 0; r->p.neighbour[0] && m < e.above; m++)
            r->wrong += r->plane[subgrid][own->begin[2] + m] != newest ||
                        (subgrid == target && r->damped[own->begin[2] + m] != damped);
        for (int64_t m = 0; r->p.neighbour[1] && m < e.below; m++)
            r->wrong += r->plane[subgrid][own->end[2] - 1 - m] != newest ||
                        (subgrid == target && r->damped[own->end[2] - 1 - m] != damped);
        r->sent[subgrid] = newest;
    }
    r->wrong += r->under_way;
    r->under_way = true;
}

static void receive(struct rank *r, enum ht_subgrid from) {
    r->wrong += !r->under_way;
    r->under_way = false;
    for (int subgrid = 0; subgrid < 2; subgrid++) {
        const struct ht_extent e = ht_exchange_extent(&r->p, from, subgrid ? HT_DUAL : HT_PRIMARY);
        const struct ht_box *own = &r->p.window[subgrid].own;
        for (int64_t m = 1; r->p.neighbour[0] && m <= e.below; m++)
            r->plane[subgrid][own->begin[2] - m] = r->sent[subgrid];
        for (int64_t m = 0; r->p.neighbour[1] && m < e.above; m++)
            r->plane[subgrid][own->end[2] + m] = r->sent[subgrid];
    }
}

static bool disjoint(const struct ht_box *a, const struct ht_box *b) {
    bool apart = false;
    for (int k = 0; k < 3; k++)
        apart = apart || a->end[k] <= b->begin[k] || b->end[k] <= a->begin[k];
    return apart;
}

/* Steps in a row: those that share buffers are of one branch, the others of one each. */
static int wrong_branches(const struct ht_schedule *s) {
    int wrong = 0;
    for (int i = 0; i < s->count; i++) {
        const struct ht_task *a = &s->task[i];
        wrong += (a->branch > 0) != (a->kind == HT_TASK_STEP);
        for (int n = i - 1; n >= 0 && a->branch > 0; n--) {
            const struct ht_task *b = &s->task[n];
            if (b->branch == 0) break;
            wrong += !disjoint(&a->targets.box, &b->targets.box) ||
                     (a->branch == b->branch) != (a->targets.shares && b->targets.shares);
        }
    }
    return wrong;
}

static void half_step(struct rank *r, enum ht_subgrid from) {
    const enum ht_subgrid to = other(from);
    const struct ht_box *own = &r->p.window[to].own;
    memset(r->damped, 0, sizeof r->damped);
    static struct ht_task tasks[HT_MOST_TASKS(3)];
    struct ht_schedule s = {.task = tasks};
    ht_schedule_make(&r->p, from, &r->state, &s);
    r->nodes_done = 0;
    r->wrong += wrong_branches(&s);
    for (int i = 0; i < s.count; i++) {
        const struct ht_task *task = &s.task[i];
        if (task->kind == HT_TASK_STEP) step(r, task);
        for (int64_t m = task->targets.box.begin[2];
             task->kind == HT_TASK_LAYERS && m < task->targets.box.end[2]; m++)
            r->damped[m]++;
        if (task->kind == HT_TASK_RECEIVE) receive(r, (enum ht_subgrid)task->pass);
        if (task->kind == HT_TASK_SEND)
            send(r, (enum ht_subgrid)task->pass,
                 i + 1 < s.count && s.task[i + 1].kind == HT_TASK_RECEIVE ? -1 : (int)to);
    }
    r->wrong += r->nodes_done != ht_box_nodes(own);
    for (int64_t m = own->begin[2]; m < own->end[2]; m++)
        r->wrong += r->damped[m] != 1 + r->p.two_level;
    r->version[to]++;
    ht_schedule_count(&s, 1, &r->counts);
}

static void put(struct rank *r, enum ht_subgrid subgrid) {
    const struct ht_box *own = &r->p.window[subgrid].own;
    r->version[subgrid]++;
    for (int64_t m = own->begin[2]; m < own->end[2]; m++)
        r->plane[subgrid][m] = r->version[subgrid];
    ht_halo_overwritten(&r->state, subgrid);
}

/* ---- cases ---- */

/* Half steps in turn, or from grids as the bits say, and new data now and then.
 */
static void run(int depth, bool two_level, bool wall, int regions, bool turns) {
    enum { HALVES = 200 };
    static struct rank r;
    make_slab(&r, depth, two_level, wall);
    r.p.damped[HT_PRIMARY] = r.p.damped[HT_DUAL] = true;
    const bool ok = make_regions(&r, regions);
    for (int n = 0; n < HALVES && ok; n++) {
        const uint64_t bits = ht_rng_bits(3, (uint64_t)n) >> 16;
        const int subgrid = turns ? n % 2 : (int)(bits & 1);
        half_step(&r, subgrid ? HT_DUAL : HT_PRIMARY);
        if (!turns && (bits >> 1 & 7) == 0) put(&r, bits >> 4 & 1 ? HT_DUAL : HT_PRIMARY);
    }
    ht_partition_free(&r.p);
    TEST_CHECK(ok && r.wrong == 0,
               "depth %d, %d level(s), %s, %d region(s), %s: %d faults in %d "
               "half steps",
               depth, 1 + two_level, wall ? "a wall" : "two neighbours", regions,
               turns ? "in turn" : "in any order", r.wrong, HALVES);
    if (!turns) return;
    /* one before the first half step, one after every depth-th */
    const int64_t sends = r.counts.tasks[HT_TASK_SEND];
    TEST_CHECK(sends == 1 + HALVES / depth, "depth %d: %lld exchanges (expected %d)", depth,
               (long long)sends, 1 + HALVES / depth);
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

static void judge_text(struct rank *r, enum ht_subgrid from, const char *wanted) {
    struct ht_task tasks[HT_MOST_TASKS(3)];
    struct ht_schedule s = {.task = tasks};
    struct ht_text text = {0};
    ht_schedule_make(&r->p, from, &r->state, &s);
    ht_schedule_add_text(&s, &text);
    TEST_CHECK(text.data != NULL && strcmp(text.data, wanted) == 0, "depth %d from %s: %s",
               r->p.depth, from == HT_DUAL ? "dual" : "primary", text.data);
    ht_text_free(&text);
}

/* Messages travel behind the interior; where a halo is deeper, every second half step exchanges
 * nothing. */
static void test_order(void) {
    static struct rank r;
    make_slab(&r, 1, false, false);
    r.p.window[0].count[1]++; /* ghosts of the primary grid */
    if (!make_regions(&r, 1)) return;
    judge_text(&r, HT_PRIMARY, "send, receive, ghosts, step boundary, send, step interior");
    judge_text(&r, HT_DUAL, "receive, step boundary, send, step interior");
    judge_text(&r, HT_PRIMARY, "receive, ghosts, step boundary, send, step interior");
    ht_partition_free(&r.p);
    make_slab(&r, 2, false, false);
    if (!make_regions(&r, 1)) return;
    judge_text(&r, HT_PRIMARY, "send, receive, step interior");
    judge_text(&r, HT_DUAL, "step boundary, step boundary, send, step interior");
    judge_text(&r, HT_PRIMARY, "receive, step interior");
    ht_partition_free(&r.p);
    make_slab(&r, 1, false, false);
    if (!make_regions(&r, 2)) return;
    r.p.cut = false;
    judge_text(&r, HT_DUAL, "step interior, step interior");
    ht_partition_free(&r.p);
}

int main(void) {
    test_order();
    test_partition();
    for (int depth = 1; depth <= 5; depth++)
        for (int i = 0; i < 8; i++) run(depth, i & 1, i & 2, 1 + (depth + i) % 3, i & 4);
    return test_end("schedule");
}
