/* Partition, schedule and steps by schedules; see the headers. docs/developers/scaling.md, section
 * 8, proves that the planes suffice and that no message overwrites another. */
#include "runner.h"

/* ---- partition ---- */

static struct ht_box intersect(const struct ht_box *a, const struct ht_box *b) {
    struct ht_box box;
    for (int k = 0; k < 3; k++) {
        box.begin[k] = ht_most(a->begin[k], b->begin[k]);
        box.end[k] = ht_least(a->end[k], b->end[k]);
    }
    return box;
}

void ht_partition_free(struct ht_partition *partition) {
    for (int subgrid = 0; subgrid < 2; subgrid++) {
        free(partition->targets[subgrid]);
        partition->targets[subgrid] = NULL;
        partition->count[subgrid] = 0;
    }
}

/* Adds the targets of a box of cells; of their images by a period along x3, too, since held planes
 * may lie beyond the periodic seam. */
static void add_region(const struct ht_grid *grid, enum ht_subgrid subgrid,
                       const struct ht_region *from, int region, struct ht_partition *p) {
    const struct ht_box *cells = &from->cells;
    const struct ht_kernels *kernels = from->kernels;
    const bool whole = cells->begin[2] == 0 && cells->end[2] == grid->cells[2];
    const bool shares =
        kernels != NULL && ht_variant_poly_bytes(kernels->variant, &kernels->spec[0]) > 0;
    const int images = !whole && p->cut && ht_grid_periodic(grid, 2) ? 1 : 0;
    for (int image = -images; image <= images; image++) {
        struct ht_box box = p->window[subgrid].held;
        for (int k = 0; k < (whole ? 2 : 3); k++) {
            const int64_t nodes = ht_grid_nodes(grid, subgrid, k);
            const int64_t n = k < grid->dims ? grid->cells[k] : 1;
            const int64_t end = cells->end[k] == n ? nodes : cells->end[k];
            const int64_t shift = (k == 2 ? image * nodes : 0) - p->window[subgrid].origin[k];
            const int *later = subgrid == HT_PRIMARY ? from->later[k] : (const int[2]){0, 0};
            box.begin[k] = ht_most(box.begin[k], cells->begin[k] + shift + later[0]);
            box.end[k] = ht_least(box.end[k], end + shift + later[1]);
        }
        if (ht_box_nodes(&box) > 0)
            p->targets[subgrid][p->count[subgrid]++] =
                (struct ht_targets){.box = box, .region = region, .shares = shares};
    }
}

/* Of the same number of nodes those of the first region. */
static int by_nodes(const void *first, const void *second) {
    const struct ht_targets *a = first, *b = second;
    const int64_t more = ht_box_nodes(&a->box) - ht_box_nodes(&b->box);
    return more != 0 ? (more > 0) - (more < 0) : a->region - b->region;
}

static bool covers(const struct ht_partition *p, enum ht_subgrid subgrid) {
    int64_t nodes = 0, overlap = 0;
    for (int i = 0; i < p->count[subgrid]; i++) {
        nodes += ht_box_nodes(&p->targets[subgrid][i].box);
        for (int j = 0; j < i; j++) {
            const struct ht_box common =
                intersect(&p->targets[subgrid][i].box, &p->targets[subgrid][j].box);
            overlap += ht_box_nodes(&common);
        }
    }
    return overlap == 0 && nodes == ht_box_nodes(&p->window[subgrid].held);
}

static HT_ERR divide(const struct ht_problem *problem, enum ht_subgrid subgrid, int regions,
                     const struct ht_region *region, struct ht_partition *out) {
    const struct ht_window *w = &out->window[subgrid];
    out->window[subgrid] = ht_problem_window(problem, subgrid);
    out->ghosts[subgrid] = ht_window_nodes(w) > ht_box_nodes(&w->held);
    TRY(HT_ALLOC(out->targets[subgrid], 3 * (int64_t)regions));
    for (int r = 0; r < regions; r++) add_region(problem->grid, subgrid, &region[r], r, out);
    REQUIRE(covers(out, subgrid), HT_ERR_INTERNAL, "regions overlap or leave targets out");
    qsort(out->targets[subgrid], (size_t)out->count[subgrid], sizeof *out->targets[subgrid],
          by_nodes);
    return HT_OK;
}

HT_ERR ht_partition_make(const struct ht_problem *problem, int regions,
                         const struct ht_region *region, struct ht_partition *out) {
    *out =
        (struct ht_partition){.cut = ht_grid_cut(problem->grid), .depth = ht_halo_depth(problem)};
    for (int i = 0; i < 2; i++) out->neighbour[i] = ht_grid_neighbour(problem->grid, i) >= 0;
    enum ht_err err = divide(problem, HT_PRIMARY, regions, region, out);
    if (err == HT_OK) err = divide(problem, HT_DUAL, regions, region, out);
    if (err != HT_OK) ht_partition_free(out);
    return err;
}

/* ---- planes ---- */

void ht_pass_add(struct ht_pass *pass, enum ht_task_kind kind) {
    pass->work[pass->works++] = kind;
}

/* The pass after which as many passes with sources are done as an exchange serves. */
static int last_served(const struct ht_passes *passes, int depth, int index) {
    int left = passes->once ? 1 : depth;
    for (;; index++) {
        left -= passes->pass[index % passes->count].sources != 0;
        if (left == 0) return index;
    }
}

/* Planes of an array beyond a side that must be right before a pass. need: those after it. */
static int64_t needed_before(const struct ht_pass *pass, const struct ht_planes *need, int array,
                             int side) {
    int64_t targets = 0, planes = pass->writes >> array & 1u ? 0 : need->of[array][side];
    HT_EACH_BIT(a, pass->writes) targets = ht_most(targets, need->of[a][side]);
    if (pass->reads >> array & 1u) planes = ht_most(planes, targets);
    if (pass->sources >> array & 1u) planes = ht_most(planes, targets + pass->reach[side]);
    return planes;
}

/* From the last pass served, which has targets at own nodes only, back to the first: what a pass
 * writes must be right where a later one needs it. */
struct ht_planes ht_exchange_planes(const struct ht_passes *passes, int depth, int index) {
    struct ht_planes need = {{{0}}};
    for (int i = last_served(passes, depth, index); i >= index; i--) {
        const struct ht_planes after = need;
        for (int n = 0; n < 2 * HT_ARRAYS; n++)
            need.of[n / 2][n % 2] =
                needed_before(&passes->pass[i % passes->count], &after, n / 2, n % 2);
    }
    return need;
}

int64_t ht_planes_needed(const struct ht_passes *passes, int depth) {
    int64_t most = 0;
    for (int i = 0; i < passes->count; i++) {
        const struct ht_planes planes = ht_exchange_planes(passes, depth, i);
        for (int n = 0; n < 2 * HT_ARRAYS; n++) most = ht_most(most, planes.of[n / 2][n % 2]);
    }
    return most;
}

/* ---- what is up to date ---- */

void ht_halo_overwritten(struct ht_halo_state *state, int array) {
    state->valid.of[array][0] = state->valid.of[array][1] = 0;
    state->stale[array] = state->open;
}

/* Planes that the exchange did not bring count as out of date, even if they are not. So an exchange
 * in one direction is followed by at most one of the same. */
void ht_halo_received(struct ht_halo_state *state) {
    state->open = false;
    state->valid = state->coming;
    for (int a = 0; a < HT_ARRAYS; a++)
        if (state->stale[a]) ht_halo_overwritten(state, a);
}

/* Planes beyond a side that a pass can compute; negative: not even the own ones. */
static int64_t targets_beyond(const struct ht_pass *pass, const struct ht_halo_state *state,
                              int side) {
    int64_t planes = pass->writes == 0 ? 0 : INT64_MAX;
    const struct ht_planes *valid = &state->valid;
    HT_EACH_BIT(a, pass->reads) planes = ht_least(planes, valid->of[a][side]);
    HT_EACH_BIT(a, pass->sources) planes = ht_least(planes, valid->of[a][side] - pass->reach[side]);
    return planes;
}

static bool enough(const struct ht_partition *p, const struct ht_pass *pass,
                   const struct ht_halo_state *state) {
    return !p->cut || (targets_beyond(pass, state, 0) >= 0 && targets_beyond(pass, state, 1) >= 0);
}

/* ---- tasks ---- */

static struct ht_task *add_task(struct ht_schedule *s, enum ht_task_kind kind,
                                const struct ht_pass *pass) {
    struct ht_task *task = &s->task[s->count++];
    *task = (struct ht_task){.kind = kind, .pass = pass->number};
    return task;
}

/* Whole planes [first, last) of the window of a pass's targets. */
static struct ht_box planes_of(const struct ht_partition *p, const struct ht_pass *pass,
                               int64_t first, int64_t last) {
    struct ht_box box = p->window[pass->to].held;
    box.begin[2] = first;
    box.end[2] = last;
    return box;
}

/* Adds STEP tasks for planes of the targets, one per region. */
static void add_regions(const struct ht_partition *p, const struct ht_pass *pass,
                        enum ht_step_part part, const struct ht_box *planes,
                        struct ht_schedule *s) {
    HT_EACH(const struct ht_targets, targets, p->targets[pass->to], p->count[pass->to]) {
        const struct ht_box box = intersect(&targets->box, planes);
        if (ht_box_nodes(&box) == 0) continue;
        struct ht_task *task = add_task(s, HT_TASK_STEP, pass);
        task->branch = targets->shares ? 1 : 1 + s->count;
        task->part = part;
        task->targets = *targets;
        task->targets.box = box;
    }
}

/* Adds the pass's work on planes [first, last) of the targets. */
static void add_work(const struct ht_partition *p, const struct ht_pass *pass,
                     enum ht_step_part part, int64_t first, int64_t last, struct ht_schedule *s) {
    const struct ht_box planes = planes_of(p, pass, first, last);
    for (int i = 0; i < pass->works && first < last; i++) {
        if (pass->work[i] == HT_TASK_STEP) {
            add_regions(p, pass, part, &planes, s);
            continue;
        }
        struct ht_task *task = add_task(s, pass->work[i], pass);
        task->part = part;
        task->targets.box = planes;
    }
}

static void add_transfer(struct ht_schedule *s, enum ht_task_kind kind, const struct ht_pass *pass,
                         struct ht_halo_state *state) {
    add_task(s, kind, pass)->planes = state->coming;
    state->open = true;
    if (kind == HT_TASK_RECEIVE) ht_halo_received(state);
}

/* Adds the planes [first, last) of a pass: those that are sent down and up, SEND, then the
 * interior, which overlaps with the messages. What leaves at one end comes from the other. */
static void add_split(const struct ht_partition *p, const struct ht_pass *pass,
                      const struct ht_pass *next, int64_t first, int64_t last,
                      struct ht_halo_state *state, struct ht_schedule *s) {
    const struct ht_box *own = &p->window[pass->to].own;
    int64_t down = 0, up = 0, low = first, high = last;
    HT_EACH_BIT(a, pass->writes) {
        down = ht_most(down, state->coming.of[a][1]);
        up = ht_most(up, state->coming.of[a][0]);
    }
    if (p->neighbour[0] && down > 0) low = own->begin[2] + down;
    if (p->neighbour[1] && up > 0) high = ht_most(low, own->end[2] - up);
    add_work(p, pass, HT_PART_BOUNDARY, first, low, s);
    add_work(p, pass, HT_PART_BOUNDARY, high, last, s);
    add_transfer(s, HT_TASK_SEND, next, state);
    add_work(p, pass, HT_PART_INTERIOR, low, high, s);
}

/* The planes that the pass needs are there. next: number of the pass after it. */
static void add_pass(const struct ht_partition *p, const struct ht_passes *passes,
                     const struct ht_pass *pass, int next, struct ht_halo_state *state,
                     struct ht_schedule *s) {
    const struct ht_box *own = &p->window[pass->to].own;
    int64_t beyond[2] = {0, 0};
    for (int side = 0; side < 2; side++) {
        if (p->cut) beyond[side] = targets_beyond(pass, state, side);
        HT_EACH_BIT(a, pass->writes) state->valid.of[a][side] = beyond[side];
        if (!p->neighbour[side]) beyond[side] = 0;
    }
    const int64_t first = own->begin[2] - beyond[0], last = own->end[2] + beyond[1];
    if (p->ghosts[pass->from] && pass->sources != 0)
        add_task(s, HT_TASK_GHOSTS, pass)->targets.box = planes_of(p, pass, first, last);
    const int before = s->count;
    if (enough(p, &passes->pass[next], state)) {
        add_work(p, pass, HT_PART_INTERIOR, first, last, s);
    } else {
        state->coming = ht_exchange_planes(passes, p->depth, next);
        add_split(p, pass, &passes->pass[next], first, last, state, s);
    }
    if (pass->records) add_task(s, HT_TASK_RECORD, pass);
    for (int i = before; i < s->count; i++) {
        s->task[i].first = s->task[i].kind == HT_TASK_STEP;
        if (s->task[i].first) break;
    }
}

void ht_schedule_make(const struct ht_partition *p, const struct ht_passes *passes, int first,
                      int last, struct ht_halo_state *state, struct ht_schedule *out) {
    out->count = 0;
    for (int i = first; i < last; i++) {
        const struct ht_pass *pass = &passes->pass[i];
        if (state->open) add_transfer(out, HT_TASK_RECEIVE, pass, state);
        if (!enough(p, pass, state)) {
            state->coming = ht_exchange_planes(passes, p->depth, i);
            add_transfer(out, HT_TASK_SEND, pass, state);
            add_transfer(out, HT_TASK_RECEIVE, pass, state);
        }
        add_pass(p, passes, pass, (i + 1) % passes->count, state, out);
    }
}

void ht_schedule_add_text(const struct ht_schedule *schedule, struct ht_text *out) {
#define HT_TASK_WORD(constant, name) name,
    static const char *const names[] = {HT_EACH_TASK_KIND(HT_TASK_WORD)};
    static const char *const parts[] = {
        [HT_PART_INTERIOR] = " interior", [HT_PART_BOUNDARY] = " boundary"};
    HT_EACH_AT(i, const struct ht_task, task, schedule->task, schedule->count)
        ht_text_add(out, "%s%s%s", i > 0 ? ", " : "", names[task->kind],
                    task->kind == HT_TASK_STEP ? parts[task->part] : "");
}

void ht_schedule_count(const struct ht_schedule *schedule, int64_t times,
                       struct ht_task_counts *sum) {
    HT_EACH(const struct ht_task, task, schedule->task, schedule->count) {
        sum->tasks[task->kind] += times;
        if (task->kind != HT_TASK_STEP) continue;
        sum->launches[task->part] += times;
        sum->nodes[task->part] += times * ht_box_nodes(&task->targets.box);
    }
}

static HT_ERR run_task(struct ht_runner *r, const struct ht_task *task) {
    if (task->kind == HT_TASK_SEND) return ht_halo_send(&r->halo, &task->planes);
    if (task->kind == HT_TASK_RECEIVE) return ht_halo_receive(&r->halo);
    if (r->device != NULL && task->first) ht_sequence_branch(r->device, 0);
    if (r->device != NULL) ht_sequence_branch(r->device, task->branch);
    return r->ops->task[task->kind](r, task);
}

HT_ERR ht_runner_run(struct ht_runner *r, const struct ht_passes *passes, int first, int last) {
    ht_schedule_make(&r->partition, passes, first, last, &r->state, &r->schedule);
    for (int i = 0; i < r->schedule.count; i++) TRY(run_task(r, &r->schedule.task[i]));
    if (r->device != NULL) ht_sequence_branch(r->device, 0);
    if (!r->recording) ht_schedule_count(&r->schedule, 1, &r->counts);
    return HT_OK;
}

HT_ERR ht_runner_complete(struct ht_runner *r) {
    if (!r->state.open) return HT_OK;
    TRY(ht_halo_receive(&r->halo));
    ht_halo_received(&r->state);
    return HT_OK;
}

/* ---- steps ---- */

/* An exchange serves at least one pass, so that the schedules of so many half steps of each kind
 * are all that there are. */
static void log_schedule(const struct ht_runner *r, enum ht_subgrid from) {
    if (!r->partition.cut || (r->half_steps - 1) / 2 > r->partition.depth) return;
    if (ht_log_level_get() < HT_LOG_VERBOSE) return;
    HT_FREED_TEXT struct ht_text text = {0};
    ht_schedule_add_text(&r->schedule, &text);
    if (ht_text_status(&text) == HT_OK)
        ht_log("from the %s grid: %s", from == HT_DUAL ? "dual" : "primary", text.data);
}

HT_ERR ht_runner_half_step(void *self, enum ht_subgrid from) {
    struct ht_runner *r = self;
    const struct ht_passes *passes = &r->passes;
    const int first = passes->half[from][0], last = passes->half[from][1];
    r->half_steps++;
    if (first == last) return HT_OK;
    TRY(r->ops->before(r, from));
    TRY(ht_runner_run(r, passes, first, last));
    log_schedule(r, from);
    if (last == passes->count && r->ops->after != NULL) r->ops->after(r, 1);
    return HT_OK;
}

HT_ERR ht_runner_repeat(void *self, int64_t steps, int64_t *done) {
    struct ht_runner *r = self;
    const struct ht_passes *passes = &r->passes;
    int64_t period = 1;
    *done = 0;
    if (r->device == NULL || r->partition.cut) return HT_OK;
    const int64_t alike = r->ops->alike(self, &period);
    const int64_t times = ht_least(steps, alike) / period;
    if (times == 0) return HT_OK;
    if (r->sequence == NULL) {
        enum ht_err err = HT_OK;
        TRY(ht_sequence_begin(r->device));
        r->recording = true;
        for (int64_t n = 0; err == HT_OK && n < period; n++)
            err = ht_runner_run(r, &r->passes, 0, r->passes.count);
        r->recording = false;
        TRY(ht_sequence_end(r->device, err, &r->sequence));
    }
    TRY(ht_sequence_run(r->sequence, times));
    *done = times * period;
    ht_schedule_make(&r->partition, passes, 0, passes->count, &r->state, &r->schedule);
    ht_schedule_count(&r->schedule, *done, &r->counts);
    r->half_steps += 2 * *done;
    if (r->ops->after != NULL) r->ops->after(self, *done);
    return HT_OK;
}

HT_ERR ht_runner_finish(void *self) {
    struct ht_runner *r = self;
    TRY(ht_runner_complete(r));
    if (r->partition.cut) TRY(ht_halo_finish(&r->halo));
    return r->device != NULL ? ht_device_finish(r->device) : HT_OK;
}

void ht_runner_traffic(void *self, struct ht_traffic *out) {
    const struct ht_runner *r = self;
    const struct ht_task_seconds now = r->ops->seconds(self), *since = &r->since;
    *out = (struct ht_traffic){
        .half_steps = r->half_steps,
        .exchanges = r->counts.tasks[HT_TASK_SEND],
        .interior_s = now.part[HT_PART_INTERIOR] - since->part[HT_PART_INTERIOR],
        .boundary_s = now.part[HT_PART_BOUNDARY] - since->part[HT_PART_BOUNDARY],
        .ghosts_s = now.ghosts - since->ghosts};
    if (r->partition.cut) ht_halo_traffic(&r->halo, out);
}

/* ---- making ---- */

HT_ERR ht_runner_make(struct ht_runner *r, const struct ht_runner_ops *ops,
                      const struct ht_problem *problem, struct ht_device *device) {
    const int targets = (int)ht_most(r->partition.count[HT_PRIMARY], r->partition.count[HT_DUAL]);
    r->ops = ops;
    r->device = device;
    ht_schedule_passes(problem, &r->passes);
    r->since = ops->seconds(r);
    return HT_ALLOC(r->schedule.task, HT_MOST_TASKS(HT_PASSES, (int64_t)targets));
}

HT_ERR ht_runner_connect(struct ht_runner *r, const struct ht_problem *problem,
                         const struct ht_halo *planned) {
    if (!r->partition.cut) return HT_OK;
    r->halo = *planned;
    return ht_links_create(r->halo.comm, r->device, problem->halo.transport, r->halo.link);
}

void ht_runner_free(struct ht_runner *r) {
    ht_sequence_destroy(r->sequence);
    ht_links_destroy(r->halo.link);
    ht_partition_free(&r->partition);
    free(r->schedule.task);
}
