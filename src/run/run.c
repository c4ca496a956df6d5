/* The loop over the time steps. Ranks take the same batches and look at the same steps: after each
 * batch they exchange, in one call, what rank 0 decides and whether a signal came to one. */
#include "htwave/run.h"

struct loop {
    struct ht_run *run;
    int count;
    const struct ht_observer *observer;
    int begun;                          /* of the observers */
    int64_t next[HT_MAX_OBSERVERS];     /* step to look at */
    double looked_at[HT_MAX_OBSERVERS]; /* by the clock */
    int64_t batch;                      /* steps at a time */
    bool last;
    unsigned held; /* enum ht_need: values of this step */
    struct ht_progress progress;
    int64_t looks[HT_MAX_OBSERVERS];
    double seconds[HT_MAX_OBSERVERS];
    double *nodal[HT_MAX_FIELDS]; /* NULL: not stored, or not needed */
    double *coefs[HT_MAX_FIELDS]; /* side by side, in the memory of the first */
};

double ht_run_time(const struct ht_run *run) {
    double end = run->plan->params->time.end, steps = (double)run->plan->steps;
    if (run->steps == run->plan->steps) return end;
    return end * (double)run->steps / steps; /* 0.3, not its neighbour */
}

int64_t ht_run_multiple(const struct ht_run *run, double every, int64_t from) {
    double dt = run->plan->problem.dt, last = (double)run->plan->steps;
    if (!(every > 0) || !(dt > 0)) return run->plan->steps;
    double apart = every / dt;
    int64_t step = llround(fmin(ceil(((double)from - 0.5) / apart) * apart, last));
    return step > from ? step : from;
}

HT_ERR ht_run_advance(struct ht_run *run, int64_t steps) {
    double began = ht_clock();
    TRY(ht_stepper_advance(&run->stepper, steps));
    double seconds = ht_clock() - began;
    run->steps += steps;
    run->step_s += seconds;
    run->kernel_s += run->kernels != NULL ? ht_kernels_seconds(run->kernels) : seconds;
    return HT_OK;
}

static void ask_next(struct loop *l, int i, int64_t from) {
    const struct ht_observer *o = &l->observer[i];
    const int64_t next = o->next != NULL ? o->next(o->context, l->run, from)
                                         : ht_run_multiple(l->run, o->every, from);
    l->next[i] = next > from ? next : from;
    l->looked_at[i] = ht_clock();
}

static unsigned due_by_clock(const struct loop *l) {
    unsigned due = 0;
    for (int i = 0; i < l->count; i++)
        if (l->observer[i].seconds > 0 && ht_clock() > l->looked_at[i] + l->observer[i].seconds)
            due |= 1u << i;
    return due;
}

/* Those that look at this step, beside those whose time has come; with the judges if needed. */
static unsigned due_now(const struct loop *l, unsigned by_clock) {
    unsigned due = by_clock, judges = 0, needs = 0;
    for (int i = 0; i < l->count; i++) {
        if (l->last || l->next[i] <= l->run->steps) due |= 1u << i;
        if (l->observer[i].judges) judges |= 1u << i;
        if (due >> i & 1) needs |= l->observer[i].needs;
    }
    return needs & HT_NEED_JUDGED ? due | judges : due;
}

static HT_ERR look(struct loop *l, int i) {
    const struct ht_observer *o = &l->observer[i];
    double began = ht_clock();
    struct ht_view view = {.run = l->run, .time = ht_run_time(l->run), .last = l->last};
    const struct ht_plan *plan = l->run->plan;
    const unsigned missing = o->needs & ~l->held;
    if (missing & HT_NEED_NODAL) TRY(ht_fields_read(plan, &l->run->stepper, 1, l->nodal));
    if (missing & HT_NEED_COEFS)
        TRY(ht_fields_read(plan, &l->run->stepper, ht_grid_coefs(&plan->grid), l->coefs));
    l->held |= o->needs;
    if (o->needs & HT_NEED_NODAL) view.nodal = (const double *const *)l->nodal;
    if (o->needs & HT_NEED_COEFS) view.coefs = l->coefs[0];
    TRY(o->look(o->context, &view));
    l->looks[i]++;
    l->seconds[i] += ht_clock() - began;
    return HT_OK;
}

static HT_ERR take_steps(struct loop *l) {
    for (;;) {
        /* The ranks agree on the next batch, on the observers that look now, and on the end. */
        const struct ht_plan *plan = l->run->plan;
        TRY(ht_comm_look_out(plan->grid.slab.comm));
        bool leads = ht_comm_rank(plan->grid.slab.comm) == 0;
        double shared[] = {ht_stop_wanted(), leads ? (double)l->batch : 0,
                           leads ? (double)due_by_clock(l) : 0};
        TRY(ht_comm_max(plan->grid.slab.comm, 3, shared));
        l->last = shared[0] > 0 || l->run->steps == plan->steps;
        l->run->interrupted = l->last && l->run->steps < plan->steps;
        l->batch = (int64_t)shared[1];
        const unsigned due = due_now(l, (unsigned)shared[2]);
        l->held = 0;
        if (l->run->title != NULL) ht_progress_update(&l->progress, (double)l->run->steps);
        HT_EACH_BIT(i, due) {
            TRY(look(l, i));
            ask_next(l, i, l->run->steps + 1);
        }
        if (l->last) return HT_OK;
        int64_t target = l->run->plan->steps;
        for (int i = 0; i < l->count; i++) target = ht_least(target, l->next[i]);
        int64_t steps = ht_least(l->batch, target - l->run->steps);
        double began = ht_clock();
        TRY(ht_run_advance(l->run, steps));
        /* Steps that take about as long as wanted, from what `steps` took. */
        const double wanted_s = 0.2, growth = 2;
        double ratio = wanted_s / fmax(ht_clock() - began, 1e-6);
        double next = (double)steps * fmin(ratio, growth);
        /* A batch cut short by the next look says little about longer ones. */
        if (steps == l->batch || ratio < 1) l->batch = next < 1 ? 1 : (int64_t)next;
    }
}

/* After a failure what the observers hold is written: by a last look where a judge has refused the
 * state, which all ranks do alike. Its failures are warnings: the first message is the run's. */
static void save_all(struct loop *l, enum ht_err failure) {
    HT_FREED char *message = NULL;
    l->last = true;
    l->run->refused = failure == HT_ERR_NOT_FINITE;
    l->held = 0;
    if (ht_text_copy(ht_err_message(), &message) != HT_OK) return;
    HT_EACH_AT(i, const struct ht_observer, o, l->observer, l->count) {
        enum ht_err err = HT_OK;
        if (l->run->refused && o->keeps) err = look(l, i);
        if (!l->run->refused && o->save != NULL) err = o->save(o->context, l->run);
        if (err != HT_OK) ht_warn("%s: %s", o->name, ht_err_message());
    }
    ht_err_set(failure, "%s", message);
}

/* Before the first step: a lack of memory must not end the run at its last. */
static HT_ERR allocate(struct loop *l) {
    const struct ht_plan *plan = l->run->plan;
    const int64_t nodes = ht_grid_own_total(&plan->grid, HT_PRIMARY);
    unsigned needs = 0;
    for (int i = 0; i < l->count; i++) needs |= l->observer[i].needs;
    for (int f = 0; needs & HT_NEED_NODAL && f < plan->eq.nfields; f++)
        if (ht_problem_stores(&plan->problem, HT_PRIMARY, f)) TRY(HT_ALLOC(l->nodal[f], nodes));
    if ((needs & HT_NEED_COEFS) == 0) return HT_OK;
    const struct ht_grid inner = ht_grid_inner(&plan->grid);
    const int64_t values = ht_grid_own_total(&inner, HT_PRIMARY) * ht_grid_coefs(&plan->grid);
    TRY(HT_ALLOC(l->coefs[0], nodes * ht_grid_coefs(&plan->grid) * plan->eq.nfields));
    for (int f = 1; f < plan->eq.nfields; f++) l->coefs[f] = l->coefs[0] + f * values;
    return HT_OK;
}

void ht_run_stepped(const struct ht_plan *plan, char out[HT_STEPPED]) {
    ht_text_format(out, HT_STEPPED, "%s of", plan->problem.scheme->name);
    for (int f = 0; f < plan->eq.nfields; f++)
        if (ht_problem_stores(&plan->problem, HT_PRIMARY, f))
            ht_text_append(out, HT_STEPPED, " %s", plan->eq.field[f].name);
}

enum ht_err ht_run_archive(void *context, struct ht_archive *archive) {
    const struct ht_run_parts *of = context;
    struct ht_run *run = of->run;
    double format = HT_ARCHIVE_FORMAT, all = (double)run->plan->steps;
    double end = run->plan->params->time.end;
    char stepped[HT_STEPPED];
    ht_run_stepped(run->plan, stepped);
    ht_archive_number(archive, "format", &format);
    ht_archive_text(archive, "version", HT_VERSION);
    ht_archive_text(archive, "physics", run->physics);
    ht_archive_text(archive, "stepped", stepped);
    ht_archive_number(archive, "all_steps", &all);
    ht_archive_number(archive, "end", &end);
    ht_archive_integer(archive, "steps", &run->steps);
    ht_archive_number(archive, "step_seconds", &run->step_s);
    ht_archive_number(archive, "kernel_seconds", &run->kernel_s);
    run->stepper.ops->archive(run->stepper.self, archive);
    TRY(ht_comm_agree(run->plan->grid.slab.comm, ht_archive_status(archive)));
    HT_EACH(const struct ht_observer, o, of->observer, of->count) {
        const enum ht_err err = o->archive != NULL ? o->archive(o->context, run, archive) : HT_OK;
        TRY(ht_comm_agree(run->plan->grid.slab.comm, err));
    }
    return HT_OK;
}

static HT_ERR begin_all(struct loop *l) {
    struct ht_run_parts parts = {l->run, l->count, l->observer};
    TRY(allocate(l));
    HT_EACH(const struct ht_observer, o, l->observer, l->count) {
        l->begun++;
        if (o->begin != NULL) TRY(o->begin(o->context, l->run));
    }
    if (l->run->from != NULL)
        TRY(ht_archive_load(l->run->plan->grid.slab.comm, l->run->from, ht_run_archive, &parts));
    const struct ht_plan *plan = l->run->plan;
    ht_progress_start(&l->progress, l->run->title, (double)plan->steps, "cell half-steps",
                      2 * (double)ht_grid_total(&plan->grid, HT_DUAL));
    l->progress.begun = (double)l->run->steps;
    for (int i = 0; i < l->count; i++) ask_next(l, i, l->run->steps);
    return HT_OK;
}

HT_ERR ht_run_execute(struct ht_run *run, int count, const struct ht_observer *observer) {
    struct loop l = {.run = run, .count = count, .observer = observer, .batch = 1};
    enum ht_err err = begin_all(&l);
    if (err == HT_OK) {
        err = take_steps(&l);
        if (err != HT_OK) save_all(&l, err);
    }
    while (l.begun > 0) {
        const struct ht_observer *o = &l.observer[--l.begun];
        if (o->end != NULL) o->end(o->context);
        l.run->look_s += l.seconds[l.begun];
        if (ht_log_level_get() >= HT_LOG_VERBOSE)
            ht_log("%s: %lld looks in %.3g s", o->name, (long long)l.looks[l.begun],
                   l.seconds[l.begun]);
    }
    ht_progress_end(&l.progress);
    for (int f = 0; f < HT_MAX_FIELDS; f++) free(l.nodal[f]);
    free(l.coefs[0]);
    return err;
}
