/* Schedule of finite differences; see the header. docs/differences.md, proves that the planes
 * suffice.
 */
#include "htwave/schedule.h"

#include <string.h>

struct ht_fd_slab ht_fd_slab_of(const struct ht_problem *problem) {
    const struct ht_fd_spec spec = {
        .dims = problem->eq->dims, .radius = problem->fd.order / 2, .density = problem->fd.density};
    return (struct ht_fd_slab){.sources = problem->shots != NULL,
                               .terms = problem->stages,
                               .depth = problem->halo.depth > 0 ? problem->halo.depth : 1,
                               .reach = ht_fd_reach(&spec)};
}

/* ---- passes ---- */

enum { NONE = -1 };
enum { U = 1 << HT_FD_U, D = 1 << HT_FD_D, W = 1 << HT_FD_W };

/* Arrays of a pass: L is applied to `source`; `reads` and `writes` are masks of those that it reads
 * and writes at its targets. */
struct pass {
    int source;
    unsigned reads, writes;
};

static const struct pass passes[HT_FD_MOST_PASSES] = {
    [HT_FD_STAGE] = {HT_FD_U, 0, W},    [HT_FD_UPDATE] = {HT_FD_W, U | D, U | D},
    [HT_FD_RETREAT] = {NONE, U | D, U}, [HT_FD_INCREMENT] = {HT_FD_W, D, D},
    [HT_FD_APPLY] = {HT_FD_W, 0, 0},    [HT_FD_START] = {HT_FD_W, 0, D}};

int ht_fd_source(int terms, enum ht_fd_pass pass) {
    const int source = passes[pass].source;
    const bool staged = terms > 1 || pass == HT_FD_START;
    return source == HT_FD_W && !staged ? HT_FD_U : source;
}

static struct pass pass_of(const struct ht_fd_slab *slab, enum ht_fd_pass which) {
    struct pass pass = passes[which];
    pass.source = ht_fd_source(slab->terms, which);
    return pass;
}

int ht_fd_sequence_passes(const struct ht_fd_slab *slab, enum ht_fd_sequence sequence,
                          enum ht_fd_pass out[HT_FD_MOST_PASSES]) {
    static const struct {
        int count;
        enum ht_fd_pass pass[3];
    } rows[] = {[HT_FD_FORWARDS] = {2, {HT_FD_STAGE, HT_FD_UPDATE}},
                [HT_FD_BACKWARDS] = {3, {HT_FD_RETREAT, HT_FD_STAGE, HT_FD_INCREMENT}},
                [HT_FD_MEASURE] = {2, {HT_FD_STAGE, HT_FD_APPLY}},
                [HT_FD_BEGIN] = {1, {HT_FD_START}}};
    int count = 0;
    for (int i = 0; i < rows[sequence].count; i++)
        if (rows[sequence].pass[i] != HT_FD_STAGE || slab->terms > 1)
            out[count++] = rows[sequence].pass[i];
    return count;
}

static bool writes(const struct pass *pass, int name) {
    return pass->writes >> name & 1u;
}

static bool reads(const struct pass *pass, int name) {
    return pass->reads >> name & 1u;
}

/* ---- planes ---- */

static bool is_cut(const struct ht_fd_slab *slab) {
    return slab->neighbour[0] || slab->neighbour[1];
}

/* The pass after which as many applications of L are done as an exchange serves. */
static int last_served(const struct ht_fd_slab *slab, enum ht_fd_sequence sequence, int index,
                       const enum ht_fd_pass *pass, int count) {
    const bool again = sequence <= HT_FD_BACKWARDS;
    int left = again ? slab->depth : 1;
    for (;; index++) {
        left -= pass_of(slab, pass[index % count]).source != NONE;
        if (left == 0) return index;
    }
}

/* From the last pass served, which has targets at own nodes only, back to the first: what a pass
 * writes must be right where a later one needs it. */
struct ht_fd_planes ht_fd_exchange(const struct ht_fd_slab *slab, enum ht_fd_sequence sequence,
                                   int index) {
    enum ht_fd_pass pass[HT_FD_MOST_PASSES];
    const int count = ht_fd_sequence_passes(slab, sequence, pass);
    struct ht_fd_planes need = {{0}};
    for (int i = last_served(slab, sequence, index, pass, count); i >= index; i--) {
        const struct pass p = pass_of(slab, pass[i % count]);
        int64_t targets = 0;
        for (int a = 0; a < HT_FD_NAMES; a++)
            if (writes(&p, a)) targets = ht_most(targets, need.of[a]);
        for (int a = 0; a < HT_FD_NAMES; a++) {
            if (writes(&p, a)) need.of[a] = 0;
            if (reads(&p, a)) need.of[a] = ht_most(need.of[a], targets);
            if (p.source == a) need.of[a] = ht_most(need.of[a], targets + slab->reach);
        }
    }
    return need;
}

int64_t ht_fd_planes_needed(int64_t reach, int depth) {
    return reach * depth;
}

struct ht_sent ht_fd_sent(const struct ht_fd_slab *slab, double array_bytes) {
    /* With an even depth, or one term, all exchanges are before the same pass.
     */
    const int kinds = slab->depth % slab->terms == 0 ? 1 : slab->terms;
    const double per_step = (double)slab->terms / slab->depth;
    double planes = 0;
    for (int kind = 0; kind < kinds; kind++) {
        const struct ht_fd_planes p = ht_fd_exchange(slab, HT_FD_FORWARDS, kind);
        for (int a = 0; a < HT_FD_NAMES; a++) planes += (double)p.of[a] / kinds;
    }
    return (struct ht_sent){2 * per_step, 2 * per_step * planes * array_bytes};
}

void ht_fd_halo_overwritten(struct ht_fd_halo_state *state, enum ht_fd_name name) {
    state->valid.of[name] = 0;
    state->stale[name] = state->open;
}

void ht_fd_halo_received(struct ht_fd_halo_state *state) {
    state->open = false;
    for (int a = 0; a < HT_FD_NAMES; a++) {
        if (!state->stale[a]) state->valid.of[a] = ht_most(state->valid.of[a], state->coming.of[a]);
        state->stale[a] = false;
    }
}

/* Planes beyond the slab that a pass can compute; negative: not even the own ones. */
static int64_t targets_beyond(const struct ht_fd_slab *slab, const struct ht_fd_halo_state *state,
                              const struct pass *pass) {
    int64_t planes = pass->writes == 0 ? 0 : INT64_MAX;
    for (int a = 0; a < HT_FD_NAMES; a++) {
        if (reads(pass, a)) planes = ht_least(planes, state->valid.of[a]);
        if (pass->source == a) planes = ht_least(planes, state->valid.of[a] - slab->reach);
    }
    return planes;
}

/* ---- tasks ---- */

static struct ht_task *add_task(struct ht_schedule *s, enum ht_task_kind kind,
                                enum ht_fd_pass pass) {
    struct ht_task *task = &s->task[s->count++];
    *task = (struct ht_task){.kind = kind, .pass = (int)pass};
    return task;
}

static void add_transfer(struct ht_schedule *s, enum ht_task_kind kind, enum ht_fd_pass pass,
                         const struct ht_fd_planes *planes) {
    struct ht_task *task = add_task(s, kind, pass);
    memcpy(task->planes, planes->of, sizeof planes->of);
}

/* Adds a task on planes [first, last) of the window, if there are any. */
static void add_box(const struct ht_fd_slab *slab, struct ht_schedule *s, enum ht_task_kind kind,
                    enum ht_fd_pass pass, enum ht_step_part part, int64_t first, int64_t last) {
    if (first >= last) return;
    struct ht_task *task = add_task(s, kind, pass);
    task->part = part;
    task->targets.box = slab->own;
    task->targets.box.begin[2] = first;
    task->targets.box.end[2] = last;
}

/* The pass on planes [first, last), the layers and the sources there. */
static void add_step(const struct ht_fd_slab *slab, struct ht_schedule *s, enum ht_fd_pass pass,
                     enum ht_step_part part, int64_t first, int64_t last) {
    add_box(slab, s, HT_TASK_STEP, pass, part, first, last);
    if (slab->layers && pass == HT_FD_UPDATE)
        add_box(slab, s, HT_TASK_LAYERS, pass, part, first, last);
    if (slab->sources && pass != HT_FD_RETREAT)
        add_box(slab, s, HT_TASK_INJECT, pass, part, first, last);
}

/* Adds the planes that are sent, SEND, then the interior. first, last: planes of all targets. */
static void add_split(const struct ht_fd_slab *slab, struct ht_schedule *s, enum ht_fd_pass which,
                      enum ht_fd_pass next, const struct ht_fd_planes *sent, int64_t first,
                      int64_t last) {
    const struct pass pass = pass_of(slab, which);
    int64_t leaving = 0;
    for (int a = 0; a < HT_FD_NAMES; a++)
        if (writes(&pass, a)) leaving = ht_most(leaving, sent->of[a]);
    const int64_t low = slab->neighbour[0] && leaving > 0 ? slab->own.begin[2] + leaving : first;
    const int64_t high =
        slab->neighbour[1] && leaving > 0 ? ht_most(low, slab->own.end[2] - leaving) : last;
    add_step(slab, s, which, HT_PART_BOUNDARY, first, low);
    add_step(slab, s, which, HT_PART_BOUNDARY, high, last);
    add_transfer(s, HT_TASK_SEND, next, sent);
    add_step(slab, s, which, HT_PART_INTERIOR, low, high);
}

/* The planes that the pass needs are there. next: pass number of the sequence after this one. */
static void add_pass(const struct ht_fd_slab *slab, enum ht_fd_sequence sequence,
                     enum ht_fd_pass which, enum ht_fd_pass next, int next_index,
                     struct ht_fd_halo_state *state, struct ht_schedule *s) {
    const struct pass pass = pass_of(slab, which), after = pass_of(slab, next);
    const int64_t beyond = is_cut(slab) ? targets_beyond(slab, state, &pass) : 0;
    const int64_t first = slab->own.begin[2] - (slab->neighbour[0] ? beyond : 0);
    const int64_t last = slab->own.end[2] + (slab->neighbour[1] ? beyond : 0);
    if (slab->ghosts && pass.source != NONE)
        add_box(slab, s, HT_TASK_GHOSTS, which, HT_PART_INTERIOR, first, last);
    for (int a = 0; a < HT_FD_NAMES; a++)
        if (writes(&pass, a)) state->valid.of[a] = beyond;
    if (!is_cut(slab) || targets_beyond(slab, state, &after) >= 0) {
        add_step(slab, s, which, HT_PART_INTERIOR, first, last);
        return;
    }
    state->coming = ht_fd_exchange(slab, sequence, next_index);
    state->open = true;
    add_split(slab, s, which, next, &state->coming, first, last);
}

static void add_receive(struct ht_fd_halo_state *state, enum ht_fd_pass pass,
                        struct ht_schedule *s) {
    add_transfer(s, HT_TASK_RECEIVE, pass, &state->coming);
    ht_fd_halo_received(state);
}

/* Sources act in steps only. */
void ht_fd_schedule_make(const struct ht_fd_slab *whole, enum ht_fd_sequence sequence, int first,
                         int last, struct ht_fd_halo_state *state, struct ht_schedule *out) {
    struct ht_fd_slab used = *whole;
    const struct ht_fd_slab *slab = &used;
    enum ht_fd_pass pass[HT_FD_MOST_PASSES] = {HT_FD_STAGE};
    const int count = ht_fd_sequence_passes(slab, sequence, pass);
    used.sources = whole->sources && sequence <= HT_FD_BACKWARDS;
    out->count = 0;
    for (int i = first; i < last; i++) {
        const struct pass p = pass_of(slab, pass[i]);
        const int next = i + 1 < count ? i + 1 : 0;
        if (state->open) add_receive(state, pass[i], out);
        if (is_cut(slab) && targets_beyond(slab, state, &p) < 0) {
            state->coming = ht_fd_exchange(slab, sequence, i);
            add_transfer(out, HT_TASK_SEND, pass[i], &state->coming);
            add_receive(state, pass[i], out);
        }
        add_pass(slab, sequence, pass[i], pass[next], next, state, out);
    }
}
