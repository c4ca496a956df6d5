/* Partition and schedule; see the header. docs/scaling.md, section 8, proves that the planes
 * suffice and that no message overwrites another.
 */
#include "htwave/schedule.h"

#include <stdlib.h>

static enum ht_subgrid other(enum ht_subgrid subgrid) {
    return subgrid == HT_PRIMARY ? HT_DUAL : HT_PRIMARY;
}

/* ---- time steps ---- */

/* ---- partition ---- */

static struct ht_box intersect(const struct ht_box *a, const struct ht_box *b) {
    struct ht_box box;
    for (int k = 0; k < 3; k++) {
        box.begin[k] = ht_most(a->begin[k], b->begin[k]);
        box.end[k] = ht_least(a->end[k], b->end[k]);
    }
    return box;
}

void ht_partition_slab(const struct ht_problem *problem, struct ht_partition *out) {
    *out = (struct ht_partition){.cut = ht_grid_cut(problem->grid),
                                 .depth = ht_halo_depth(problem),
                                 .sources = problem->duhamel != NULL,
                                 .two_level = problem->scheme->two_level};
    for (int i = 0; i < 2; i++) {
        out->window[i] = ht_problem_window(problem, i ? HT_DUAL : HT_PRIMARY);
        out->neighbour[i] = ht_grid_neighbour(problem->grid, i) >= 0;
        out->damped[i] = ht_sponge_rate(problem, i ? HT_DUAL : HT_PRIMARY) > 0;
    }
}

void ht_partition_free(struct ht_partition *partition) {
    for (int subgrid = 0; subgrid < 2; subgrid++) {
        free(partition->targets[subgrid]);
        partition->targets[subgrid] = NULL;
        partition->count[subgrid] = 0;
    }
}

/* The targets of a box of cells, shifted by `image` periods along x3, since held planes may lie
 * beyond the periodic seam. */
static struct ht_box targets_of(const struct ht_grid *grid, enum ht_subgrid subgrid,
                                const struct ht_window *window, const struct ht_region *region,
                                int image) {
    const struct ht_box *cells = &region->cells;
    struct ht_box box;
    for (int k = 0; k < 3; k++) {
        int64_t nodes = ht_grid_nodes(grid, subgrid, k);
        int64_t n = k < grid->dims ? grid->cells[k] : 1;
        int64_t shift = (k == 2 ? image * nodes : 0) - window->origin[k];
        int64_t end = cells->end[k] == n ? nodes : cells->end[k];
        box.begin[k] = cells->begin[k] + shift;
        box.end[k] = end + shift;
        if (subgrid == HT_PRIMARY) box.begin[k] += region->later[k][0];
        if (subgrid == HT_PRIMARY) box.end[k] += region->later[k][1];
    }
    if (cells->begin[2] == 0 && cells->end[2] == grid->cells[2]) {
        box.begin[2] = window->held.begin[2];
        box.end[2] = window->held.end[2];
    }
    return intersect(&box, &window->held);
}

static void add_region(const struct ht_grid *grid, enum ht_subgrid subgrid,
                       const struct ht_region *from, int region, struct ht_partition *p) {
    const struct ht_box *cells = &from->cells;
    const bool whole = cells->begin[2] == 0 && cells->end[2] == grid->cells[2];
    const struct ht_kernels *kernels = from->kernels;
    const bool shares =
        kernels != NULL && ht_variant_poly_bytes(kernels->variant, &kernels->spec[0]) > 0;
    const int images = !whole && p->cut && ht_grid_periodic(grid, 2) ? 1 : 0;
    for (int image = -images; image <= images; image++) {
        const struct ht_box box = targets_of(grid, subgrid, &p->window[subgrid], from, image);
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

static enum ht_err divide(const struct ht_problem *problem, int regions,
                          const struct ht_region *region, struct ht_partition *out) {
    for (int subgrid = 0; subgrid < 2; subgrid++) {
        const enum ht_subgrid which = subgrid ? HT_DUAL : HT_PRIMARY;
        TRY(HT_ALLOC(out->targets[subgrid], 3 * (int64_t)regions));
        for (int r = 0; r < regions; r++) add_region(problem->grid, which, &region[r], r, out);
        REQUIRE(covers(out, which), HT_ERR_INTERNAL, "regions overlap or leave targets out");
        qsort(out->targets[subgrid], (size_t)out->count[subgrid], sizeof *out->targets[subgrid],
              by_nodes);
    }
    return HT_OK;
}

enum ht_err ht_partition_make(const struct ht_problem *problem, int regions,
                              const struct ht_region *region, struct ht_partition *out) {
    ht_partition_slab(problem, out);
    enum ht_err err = divide(problem, regions, region, out);
    if (err != HT_OK) ht_partition_free(out);
    return err;
}

/* ---- what is up to date ---- */

struct ht_extent ht_exchange_extent(const struct ht_partition *p, enum ht_subgrid from,
                                    enum ht_subgrid subgrid) {
    return (struct ht_extent){ht_halo_planes(p->depth, from, subgrid, p->two_level, 0),
                              ht_halo_planes(p->depth, from, subgrid, p->two_level, 1)};
}

void ht_halo_overwritten(struct ht_halo_state *state, enum ht_subgrid subgrid) {
    state->valid[subgrid] = (struct ht_extent){0, 0};
    state->stale[subgrid] = state->open;
}

/* Planes that the exchange did not bring count as out of date, even if they are not. So an exchange
 * is followed by at most one of the same kind. */
void ht_halo_received(const struct ht_partition *p, struct ht_halo_state *state) {
    state->open = false;
    for (int subgrid = 0; subgrid < 2; subgrid++) {
        state->valid[subgrid] = ht_exchange_extent(p, state->next, subgrid ? HT_DUAL : HT_PRIMARY);
        if (state->stale[subgrid]) state->valid[subgrid] = (struct ht_extent){0, 0};
        state->stale[subgrid] = false;
    }
}

static bool enough(const struct ht_halo_state *state, enum ht_subgrid from) {
    return from == HT_PRIMARY ? state->valid[from].above > 0 : state->valid[from].below > 0;
}

/* Planes beyond the slab that a half step can compute. */
static struct ht_extent reach(const struct ht_partition *p, const struct ht_halo_state *state,
                              enum ht_subgrid from) {
    struct ht_extent e = state->valid[from], kept = state->valid[other(from)];
    if (from == HT_PRIMARY)
        e.above--;
    else
        e.below--;
    if (p->two_level) {
        e.below = ht_least(e.below, kept.below);
        e.above = ht_least(e.above, kept.above);
    }
    return e;
}

/* ---- tasks ---- */

static const char *task_name(enum ht_task_kind kind) {
#define HT_TASK_WORD(constant, name) name,
    static const char *const names[] = {HT_EACH_TASK_KIND(HT_TASK_WORD)};
    return names[kind];
}

static void add_task(struct ht_schedule *s, enum ht_task_kind kind, enum ht_subgrid subgrid) {
    s->task[s->count++] = (struct ht_task){.kind = kind, .pass = (int)subgrid};
}

/* Adds a task for whole planes of the targets. */
static void add_planes(struct ht_schedule *s, enum ht_task_kind kind, enum ht_subgrid from,
                       enum ht_step_part part, const struct ht_box *planes) {
    add_task(s, kind, from);
    s->task[s->count - 1].part = part;
    s->task[s->count - 1].targets = (struct ht_targets){.box = *planes};
}

/* Adds STEP tasks for planes [first, last) of the target's window, one per region, and the sources
 * and the sponge there. */
static void add_steps(const struct ht_partition *p, enum ht_subgrid from, enum ht_step_part part,
                      int64_t first, int64_t last, struct ht_schedule *s) {
    const enum ht_subgrid to = other(from);
    struct ht_box planes = p->window[to].held;
    planes.begin[2] = first;
    planes.end[2] = last;
    if (first >= last) return;
    if (p->damped[to] && p->two_level) add_planes(s, HT_TASK_LAYERS, from, part, &planes);
    for (int i = 0; i < p->count[to]; i++) {
        const struct ht_targets *targets = &p->targets[to][i];
        const struct ht_box box = intersect(&targets->box, &planes);
        if (ht_box_nodes(&box) == 0) continue;
        add_task(s, HT_TASK_STEP, from);
        struct ht_task *task = &s->task[s->count - 1];
        task->branch = targets->shares ? 1 : 1 + s->count;
        task->part = part;
        task->targets = *targets;
        task->targets.box = box;
    }
    if (p->sources) add_planes(s, HT_TASK_INJECT, from, part, &planes);
    if (p->damped[to]) add_planes(s, HT_TASK_LAYERS, from, part, &planes);
}

/* Adds the boundary planes that are sent down and up, SEND, then the interior, which overlaps with
 * the messages. */
static void add_split(const struct ht_partition *p, enum ht_subgrid from, struct ht_schedule *s) {
    const enum ht_subgrid to = other(from);
    const struct ht_box *own = &p->window[to].own;
    const struct ht_extent e = ht_exchange_extent(p, to, to);
    int64_t first = own->begin[2], last = own->end[2];
    int64_t low = first + (p->neighbour[0] ? e.above : 0);
    int64_t high = ht_most(low, last - (p->neighbour[1] ? e.below : 0));
    add_steps(p, from, HT_PART_BOUNDARY, first, low, s);
    add_steps(p, from, HT_PART_BOUNDARY, high, last, s);
    add_task(s, HT_TASK_SEND, to);
    add_steps(p, from, HT_PART_INTERIOR, low, high, s);
}

static void add_half_step(const struct ht_partition *p, enum ht_subgrid from,
                          struct ht_halo_state *state, struct ht_schedule *s) {
    const enum ht_subgrid to = other(from);
    const struct ht_window *source = &p->window[from];
    const struct ht_box *own = &p->window[to].own;
    if (ht_window_nodes(source) > ht_box_nodes(&source->held)) add_task(s, HT_TASK_GHOSTS, from);
    if (!p->cut) {
        add_steps(p, from, HT_PART_INTERIOR, own->begin[2], own->end[2], s);
        return;
    }
    const struct ht_extent e = state->valid[to] = reach(p, state, from);
    if (enough(state, to)) {
        add_steps(p, from, HT_PART_INTERIOR, own->begin[2] - (p->neighbour[0] ? e.below : 0),
                  own->end[2] + (p->neighbour[1] ? e.above : 0), s);
        return;
    }
    state->valid[to] = (struct ht_extent){0, 0};
    state->open = true;
    state->next = to;
    add_split(p, from, s);
}

void ht_schedule_make(const struct ht_partition *p, enum ht_subgrid from,
                      struct ht_halo_state *state, struct ht_schedule *out) {
    out->count = 0;
    if (state->open) {
        add_task(out, HT_TASK_RECEIVE, state->next);
        ht_halo_received(p, state);
    }
    if (p->cut && !enough(state, from)) {
        add_task(out, HT_TASK_SEND, from);
        add_task(out, HT_TASK_RECEIVE, from);
        state->next = from;
        ht_halo_received(p, state);
    }
    add_half_step(p, from, state, out);
}

void ht_schedule_add_text(const struct ht_schedule *schedule, struct ht_text *out) {
    static const char *const parts[] = {
        [HT_PART_INTERIOR] = " interior", [HT_PART_BOUNDARY] = " boundary"};
    for (int i = 0; i < schedule->count; i++) {
        const struct ht_task *task = &schedule->task[i];
        ht_text_add(out, "%s%s%s", i > 0 ? ", " : "", task_name(task->kind),
                    task->kind == HT_TASK_STEP ? parts[task->part] : "");
    }
}

void ht_schedule_count(const struct ht_schedule *schedule, int64_t times,
                       struct ht_task_counts *sum) {
    for (int i = 0; i < schedule->count; i++) {
        const struct ht_task *task = &schedule->task[i];
        sum->tasks[task->kind] += times;
        if (task->kind != HT_TASK_STEP) continue;
        sum->launches[task->part] += times;
        sum->nodes[task->part] += times * ht_box_nodes(&task->targets.box);
    }
}

/* Along x3 dual node m lies between the primary nodes m and m + 1. A half step from the primary
 * grid reads one plane beyond the slab's upper end, a half step from the dual grid one plane beyond
 * its lower end. So k half steps read ceil(k/2) planes beyond the end that the first half step
 * crosses, and floor(k/2) beyond the other end. The target planes of the first half step extend one
 * plane less beyond the end that it crosses. */
int ht_halo_planes(int depth, enum ht_subgrid from, enum ht_subgrid of, bool two_level, int side) {
    bool ahead = side == (from == HT_PRIMARY ? 1 : 0);
    int reach = ahead ? (depth + 1) / 2 : depth / 2;
    if (of == from) return reach;
    return two_level ? reach - ahead : 0;
}
