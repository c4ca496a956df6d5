/* Steps by schedules; see the header. */
#include "runner.h"

#include <stdlib.h>
#include <string.h>

/* ---- passes ---- */

static enum ht_err run_task(struct ht_runner *r, const struct ht_task *task) {
    if (task->kind == HT_TASK_SEND) return ht_halo_send(r->halo, &task->planes);
    if (task->kind == HT_TASK_RECEIVE) return ht_halo_receive(r->halo, &task->planes);
    if (r->device != NULL && task->first) ht_sequence_branch(r->device, 0);
    if (r->device != NULL) ht_sequence_branch(r->device, task->branch);
    return r->ops->task[task->kind](r, task);
}

enum ht_err ht_runner_run(struct ht_runner *r, const struct ht_passes *passes, int first,
                          int last) {
    ht_schedule_make(&r->partition, passes, first, last, &r->state, &r->schedule);
    for (int i = 0; i < r->schedule.count; i++) TRY(run_task(r, &r->schedule.task[i]));
    if (r->device != NULL) ht_sequence_branch(r->device, 0);
    if (!r->recording) ht_schedule_count(&r->schedule, 1, &r->counts);
    return HT_OK;
}

enum ht_err ht_runner_complete(struct ht_runner *r) {
    if (!r->state.open) return HT_OK;
    TRY(ht_halo_receive(r->halo, &r->state.coming));
    ht_halo_received(&r->state);
    return HT_OK;
}

/* ---- steps ---- */

enum ht_err ht_runner_half_step(void *self, enum ht_subgrid from) {
    struct ht_runner *r = self;
    const struct ht_passes *passes = &r->passes;
    const int first = passes->half[from][0], last = passes->half[from][1];
    r->half_steps++;
    if (first == last) return HT_OK;
    TRY(r->ops->before(r, from));
    TRY(ht_runner_run(r, passes, first, last));
    if (last == passes->count) r->ops->after(r, 1);
    return HT_OK;
}

static enum ht_err record(struct ht_runner *r, int64_t period) {
    enum ht_err err = HT_OK;
    TRY(ht_sequence_begin(r->device));
    r->recording = true;
    for (int64_t n = 0; err == HT_OK && n < period; n++)
        err = ht_runner_run(r, &r->passes, 0, r->passes.count);
    r->recording = false;
    return ht_sequence_end(r->device, err, &r->sequence);
}

enum ht_err ht_runner_repeat(void *self, int64_t steps, int64_t *done) {
    struct ht_runner *r = self;
    const struct ht_passes *passes = &r->passes;
    int64_t period = 1;
    *done = 0;
    if (r->device == NULL || r->halo != NULL) return HT_OK;
    const int64_t alike = r->ops->alike(self, &period);
    const int64_t times = ht_least(steps, alike) / period;
    if (times == 0) return HT_OK;
    if (r->sequence == NULL) TRY(record(r, period));
    TRY(ht_sequence_run(r->sequence, times));
    *done = times * period;
    ht_schedule_make(&r->partition, passes, 0, passes->count, &r->state, &r->schedule);
    ht_schedule_count(&r->schedule, *done, &r->counts);
    r->half_steps += 2 * *done;
    r->ops->after(self, *done);
    return HT_OK;
}

enum ht_err ht_runner_finish(void *self) {
    struct ht_runner *r = self;
    TRY(ht_runner_complete(r));
    if (r->halo != NULL) TRY(ht_exchanger_finish(&r->halo->exchanger));
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
    if (r->halo != NULL) ht_halo_traffic(r->halo, out);
}

/* ---- making ---- */

static bool same_state(const struct ht_halo_state *a, const struct ht_halo_state *b) {
    return a->open == b->open && memcmp(&a->valid, &b->valid, sizeof a->valid) == 0 &&
           (!a->open || memcmp(&a->coming, &b->coming, sizeof a->coming) == 0);
}

/* Logs the schedules of a run until they repeat. An exchange serves at least one pass, so that
 * after it one of `depth` + 1 states comes again. */
static enum ht_err log_schedules(struct ht_runner *r) {
    const struct ht_passes *passes = &r->passes;
    const int most = 4 * (r->partition.depth + 1);
    struct ht_halo_state state = r->state, *seen = NULL;
    bool fresh = true;
    if (ht_log_level_get() < HT_LOG_VERBOSE) return HT_OK;
    TRY(HT_ALLOC(seen, most));
    for (int n = 0; n < most && fresh; n++) {
        seen[n] = state;
        for (int i = n % 2; i < n; i += 2) fresh = fresh && !same_state(&seen[i], &state);
        if (!fresh || passes->half[n % 2][0] == passes->half[n % 2][1]) continue;
        ht_schedule_make(&r->partition, passes, passes->half[n % 2][0], passes->half[n % 2][1],
                         &state, &r->schedule);
        const int from = n % 2;
        const bool whole = passes->half[from][1] - passes->half[from][0] == passes->count;
        struct ht_text text = {0};
        ht_schedule_add_text(&r->schedule, &text);
        if (ht_text_status(&text) == HT_OK)
            ht_log("%s: %s",
                   whole             ? "time step"
                   : from == HT_DUAL ? "half step from the dual grid"
                                     : "half step from the primary grid",
                   text.data);
        ht_text_free(&text);
    }
    free(seen);
    return HT_OK;
}

enum ht_err ht_runner_make(struct ht_runner *r, const struct ht_runner_ops *ops,
                           const struct ht_problem *problem, struct ht_device *device) {
    const int targets = (int)ht_most(r->partition.count[HT_PRIMARY], r->partition.count[HT_DUAL]);
    r->ops = ops;
    r->device = device;
    ht_schedule_passes(problem, &r->passes);
    r->since = ops->seconds(r);
    return HT_ALLOC(r->schedule.task, HT_MOST_TASKS(HT_PASSES, (int64_t)targets));
}

enum ht_err ht_runner_connect(struct ht_runner *r, const struct ht_problem *problem,
                              const struct ht_halo *planned) {
    struct ht_halo *halo = NULL;
    if (!r->partition.cut) return HT_OK;
    TRY(HT_ALLOC(halo, 1));
    *halo = *planned;
    enum ht_err err = ht_halo_open(halo, problem, r->device);
    if (err == HT_OK) err = log_schedules(r);
    if (err != HT_OK) {
        ht_halo_destroy(halo);
        return err;
    }
    r->halo = halo;
    return HT_OK;
}

void ht_runner_free(struct ht_runner *r) {
    ht_sequence_destroy(r->sequence);
    ht_halo_destroy(r->halo);
    ht_partition_free(&r->partition);
    free(r->schedule.task);
}
