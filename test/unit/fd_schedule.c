/* Schedules of finite differences without a device: a rank that does as its tasks say, each plane
 * of u, d and w carrying the number of the version that it holds. All ranks do the same, so that
 * what a neighbour sends is what this rank would send.
 *
 * Steps forwards and back, measures and new data in any order, over depths, terms, reaches and
 * walls: every plane that a task reads must be of the newest version, every own plane is computed
 * once per pass, and what an exchange brings is neither less nor more than the formulas of
 * docs/method.md.
 */
#include "test.h"

#include "htwave/schedule.h"

enum { ROOM = 200 };

struct rank {
    struct ht_fd_slab slab;
    struct ht_fd_halo_state state;
    int version[HT_FD_NAMES], sent[HT_FD_NAMES];
    int plane[HT_FD_NAMES][ROOM];
    bool under_way;
    int wrong;
    struct ht_task_counts counts;
};

/* A slab as thin as it may be, and with room for what it reads beyond. */
static void make_slab(struct rank *r, int depth, int terms, int64_t reach, bool wall) {
    const int64_t beyond = reach * depth;
    *r = (struct rank){.slab = {.neighbour = {true, !wall},
                                .ghosts = true,
                                .terms = terms,
                                .depth = depth,
                                .reach = reach}};
    r->slab.own = (struct ht_box){{0, 0, beyond}, {3, 2, 2 * beyond}};
    for (int a = 0; a < HT_FD_NAMES; a++)
        for (int64_t m = 0; m < ROOM; m++) r->plane[a][m] = m >= beyond && m < 2 * beyond ? 0 : -1;
}

/* ---- what tasks do ---- */

static const bool written[HT_FD_MOST_PASSES][HT_FD_NAMES] = {
    [HT_FD_STAGE] = {[HT_FD_W] = true},
    [HT_FD_UPDATE] = {[HT_FD_U] = true, [HT_FD_D] = true},
    [HT_FD_RETREAT] = {[HT_FD_U] = true},
    [HT_FD_INCREMENT] = {[HT_FD_D] = true},
    [HT_FD_START] = {[HT_FD_D] = true}};

static bool adds(int pass, int name) {
    return (pass == HT_FD_RETREAT && name == HT_FD_D) ||
           (pass != HT_FD_STAGE && pass != HT_FD_START && written[pass][name]);
}

static void step(struct rank *r, const struct ht_task *task, int64_t *done) {
    const struct ht_box *own = &r->slab.own;
    const int source = ht_fd_source(r->slab.terms, (enum ht_fd_pass)task->pass);
    const int64_t reach = r->slab.reach;
    for (int64_t m = task->targets.box.begin[2]; m < task->targets.box.end[2]; m++) {
        for (int64_t q = m - reach; source >= 0 && q <= m + reach; q++) {
            if (q >= own->end[2] && !r->slab.neighbour[1]) continue;
            r->wrong += q < 0 || q >= ROOM ||
                        r->plane[source][q] < r->version[source]; /* or of this pass */
        }
        for (int a = 0; a < HT_FD_NAMES; a++) {
            if (adds(task->pass, a)) r->wrong += r->plane[a][m] != r->version[a];
            if (written[task->pass][a]) r->plane[a][m] = r->version[a] + 1;
        }
        *done += m >= own->begin[2] && m < own->end[2];
    }
}

/* pass: in progress, whose results leave; -1: none. */
static void send(struct rank *r, const struct ht_task *task, int pass) {
    const struct ht_box *own = &r->slab.own;
    for (int a = 0; a < HT_FD_NAMES; a++) {
        const int newest = r->version[a] + (pass >= 0 && written[pass][a]);
        for (int64_t m = 0; m < task->planes[a]; m++) {
            r->wrong += r->plane[a][own->begin[2] + m] != newest;
            r->wrong += r->slab.neighbour[1] && r->plane[a][own->end[2] - 1 - m] != newest;
        }
        r->sent[a] = newest;
    }
    r->wrong += r->under_way;
    r->under_way = true;
}

static void receive(struct rank *r, const int64_t *planes) {
    const struct ht_box *own = &r->slab.own;
    r->wrong += !r->under_way;
    r->under_way = false;
    for (int a = 0; a < HT_FD_NAMES; a++)
        for (int64_t m = 0; m < planes[a]; m++) {
            r->plane[a][own->begin[2] - 1 - m] = r->sent[a];
            if (r->slab.neighbour[1]) r->plane[a][own->end[2] + m] = r->sent[a];
        }
}

/* A pass is over where the next task is of another one. */
static void run(struct rank *r, enum ht_fd_sequence sequence, int first, int last) {
    struct ht_task tasks[HT_FD_MOST_TASKS];
    struct ht_schedule s = {.task = tasks};
    int64_t done = 0;
    int pass = -1;
    ht_fd_schedule_make(&r->slab, sequence, first, last, &r->state, &s);
    r->wrong += s.count > HT_FD_MOST_TASKS;
    for (int i = 0; i < s.count; i++) {
        const struct ht_task *task = &tasks[i];
        if (task->kind == HT_TASK_STEP) pass = task->pass;
        if (task->kind == HT_TASK_STEP) step(r, task, &done);
        if (task->kind == HT_TASK_SEND) send(r, task, pass);
        if (task->kind == HT_TASK_RECEIVE) receive(r, task->planes);
        bool over = pass >= 0;
        for (int j = i + 1; j < s.count; j++)
            over = over && (tasks[j].kind != HT_TASK_STEP || tasks[j].pass != pass);
        if (!over) continue;
        r->wrong += done != r->slab.own.end[2] - r->slab.own.begin[2];
        for (int a = 0; a < HT_FD_NAMES; a++) r->version[a] += written[pass][a];
        done = 0;
        pass = -1;
    }
    ht_schedule_count(&s, 1, &r->counts);
}

static void put(struct rank *r, enum ht_fd_name name) {
    const struct ht_box *own = &r->slab.own;
    r->version[name]++;
    for (int64_t m = own->begin[2]; m < own->end[2]; m++) r->plane[name][m] = r->version[name];
    ht_fd_halo_overwritten(&r->state, name);
}

static void finish(struct rank *r) {
    if (!r->state.open) return;
    receive(r, r->state.coming.of);
    ht_fd_halo_received(&r->state);
}

/* ---- cases ---- */

static void start(struct rank *r) {
    put(r, HT_FD_W);
    run(r, HT_FD_BEGIN, 0, 1);
}

static void any_order(int depth, int terms, int64_t reach, bool wall) {
    enum { MOVES = 300 };
    static struct rank r;
    make_slab(&r, depth, terms, reach, wall);
    for (int n = 0; n < MOVES; n++) {
        const uint64_t bits = ht_rng_bits(3, (uint64_t)n) >> 16;
        const int what = (int)(bits % 12);
        if (what < 4) run(&r, HT_FD_FORWARDS, 0, terms);
        if (what == 4 || what == 5) run(&r, HT_FD_BACKWARDS, 0, 1);
        if (what == 5 || what == 6) run(&r, HT_FD_BACKWARDS, 1, 1 + terms);
        if (what == 7) run(&r, HT_FD_MEASURE, 0, terms);
        if (what == 8) put(&r, HT_FD_U);
        if (what == 9) put(&r, HT_FD_D);
        if (what == 10) finish(&r);
        if (what == 11) start(&r);
    }
    TEST_CHECK(r.wrong == 0, "depth %d, %d term(s), reach %d, %s: %d faults in %d moves", depth,
               terms, (int)reach, wall ? "a wall" : "two neighbours", r.wrong, MOVES);
}

static void in_turn(int depth, int terms, bool back) {
    enum { STEPS = 60 };
    static struct rank r;
    make_slab(&r, depth, terms, 3, false);
    for (int n = 0; n < STEPS; n++)
        run(&r, back ? HT_FD_BACKWARDS : HT_FD_FORWARDS, 0, terms + back);
    const int64_t sends = r.counts.tasks[HT_TASK_SEND];
    /* The last one of steps back comes with the next retreat. */
    const int64_t wanted = 1 + terms * STEPS / depth - (back && terms * STEPS % depth == 0);
    TEST_CHECK(r.wrong == 0 && sends == wanted,
               "depth %d, %d term(s) %s: %lld exchanges (expected %lld), %d "
               "faults",
               depth, terms, back ? "back" : "in turn", (long long)sends, (long long)wanted,
               r.wrong);
}

static void judge_planes(const struct rank *r, enum ht_fd_sequence sequence, int index,
                         const int64_t wanted[3]) {
    const struct ht_fd_planes p = ht_fd_exchange(&r->slab, sequence, index);
    TEST_CHECK(memcmp(p.of, wanted, sizeof p.of) == 0,
               "depth %d, %d term(s), sequence %d, pass %d: %d %d %d planes of "
               "u, d, w",
               r->slab.depth, r->slab.terms, (int)sequence, index, (int)p.of[HT_FD_U],
               (int)p.of[HT_FD_D], (int)p.of[HT_FD_W]);
}

/* k applications of reach r: k r planes of what the first one is applied to, and of what it adds to
 * as many as it computes. */
static void test_planes(void) {
    for (int k = 1; k <= 5; k++) {
        static struct rank r;
        const int64_t m = 3, all = k * m, less = all - m;
        const int64_t two = k > 2 ? all - 2 * m : 0;
        make_slab(&r, k, 1, m, false);
        judge_planes(&r, HT_FD_FORWARDS, 0, (int64_t[]){all, less, 0});
        judge_planes(&r, HT_FD_MEASURE, 0, (int64_t[]){m, 0, 0});
        make_slab(&r, k, 2, m, false);
        judge_planes(&r, HT_FD_FORWARDS, 0, (int64_t[]){all, two, 0});
        judge_planes(&r, HT_FD_FORWARDS, 1, (int64_t[]){less, less, all});
        judge_planes(&r, HT_FD_BEGIN, 0, (int64_t[]){0, 0, m});
        TEST_CHECK(ht_fd_planes_needed(m, k) == all, "depth %d: %d planes", k, (int)all);
    }
}

/* ---- the order of tasks ---- */

static void judge_text(struct rank *r, const char *wanted) {
    struct ht_task tasks[HT_FD_MOST_TASKS];
    struct ht_schedule s = {.task = tasks};
    struct ht_text text = {0};
    ht_fd_schedule_make(&r->slab, HT_FD_FORWARDS, 0, r->slab.terms, &r->state, &s);
    ht_schedule_add_text(&s, &text);
    TEST_CHECK(text.data != NULL && strcmp(text.data, wanted) == 0, "depth %d, %d term(s): %s",
               r->slab.depth, r->slab.terms, text.data);
    ht_text_free(&text);
}

static void test_order(void) {
    static struct rank r;
    make_slab(&r, 1, 1, 2, true);
    r.slab.own.end[2] += 4;
    judge_text(&r, "send, receive, ghosts, step boundary, send, step interior");
    judge_text(&r, "receive, ghosts, step boundary, send, step interior");
    make_slab(&r, 2, 2, 1, false);
    r.slab.own.end[2] += 4;
    judge_text(&r, "send, receive, ghosts, step interior, ghosts, step "
                   "boundary, step boundary, send, step interior");
    judge_text(&r, "receive, ghosts, step interior, ghosts, step boundary, "
                   "step boundary, send, step interior");
    r.slab.neighbour[0] = r.slab.neighbour[1] = false;
    r.slab.ghosts = false;
    r.state = (struct ht_fd_halo_state){.open = false};
    judge_text(&r, "step interior, step interior");
}

int main(void) {
    test_planes();
    test_order();
    for (int depth = 1; depth <= 5; depth++)
        for (int i = 0; i < 8; i++) {
            const int terms = 1 + (i & 1);
            any_order(depth, terms, 1 + (i & 2) * 3, i & 4);
            if (i < 4) in_turn(depth, terms, i & 2);
        }
    return test_end("fd_schedule");
}
