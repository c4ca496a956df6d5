/* The forward run of one field backwards (docs/developers/gradients.md): time steps from u(n) and
 * -d(n+1), with the sources in reverse order, lead to u(n-1) and -d(n). Where sides absorb, only
 * nodes that layers do not change are stepped, the inner ones; around them lies a shell, as thick
 * as what steps read, whose u the forward run has recorded. A sponge changes no node beyond its
 * own, matched layers those in reach of their differences. */
#include "fd_gradient.h"

/* A step between two that are recorded has the polynomial of the eight around it, where these
 * resolve the shortest period. The first and the last steps, which have no eight around, are all
 * recorded. */
enum { AROUND = HT_FD_SHELL_RECORDS, ENDS = AROUND - 1, SHORTEST_PERIOD = 12 };
/* From the first to the last of the eight there are some of these, too. */
enum { TOGETHER = AROUND + ENDS / 2 };
static const double MIDDLE[AROUND] = {-5. / 2048,   49. / 2048,   -245. / 2048, 1225. / 2048,
                                      1225. / 2048, -245. / 2048, 49. / 2048,   -5. / 2048};

/* ---- which steps ---- */

static bool is_recorded(const struct ht_fd_shell_choice *c, int64_t step) {
    return step % c->every == 0 || step < ENDS || step > c->steps - ENDS;
}

/* The records of the steps before it. */
static int64_t record_of(const struct ht_fd_shell_choice *c, int64_t step) {
    const int64_t end = c->steps - ENDS + 1;
    if (c->every == 1) return step;
    const int64_t amid = ht_most(ht_least(step, end), ENDS) - 1;
    return ht_least(step, ENDS) + amid / c->every - (ENDS - 1) / c->every + ht_most(step - end, 0);
}

static void find_sum(const struct ht_fd_shell_choice *c, int64_t step,
                     struct ht_fd_shell_sum *out) {
    const bool whole = is_recorded(c, step);
    *out = (struct ht_fd_shell_sum){.count = whole ? 1 : AROUND, .weight = {1}};
    if (!whole) memcpy(out->weight, MIDDLE, sizeof MIDDLE);
    for (int j = 0; j < out->count; j++)
        out->record[j] = record_of(c, whole ? step : step - ENDS + (int64_t)2 * j);
}

/* ---- where ---- */

/* Nodes [begin, end) of an axis of the window that are `more` nodes or more beyond the layers, as
 * far as there are some. */
static void open_nodes(const struct ht_fd_stepper *s, int k, int64_t more, int64_t *begin,
                       int64_t *end) {
    const struct ht_layers *layers = s->problem.layers;
    const int64_t first = s->box.begin[k] - (k == 2 ? s->own.first : 0);
    const int64_t past = first + ht_grid_nodes(s->problem.grid, HT_PRIMARY, k);
    const bool has = layers != NULL && k < s->problem.grid->dims;
    const int64_t low = has ? layers->side[k][0].cells : 0;
    const int64_t high = has ? layers->side[k][1].cells : 0;
    *begin = low > 0 ? ht_most(first + low + more, first) : first;
    *end = high > 0 ? ht_least(past - high - more, past) : past;
}

/* Own nodes of the shell of a side: `thick` nodes beyond the inner ones, along axes before k
 * beside these, along those behind it beside all outside the layers, so that each node outside is
 * in one box; also what stages of two terms and the differences of gradients by density read
 * beside edges. */
static void add_side(struct ht_fd_shell *shell, int k, int side, int64_t thick, int64_t across) {
    const struct ht_fd_stepper *s = shell->s;
    struct ht_fd_box box = s->box;
    int64_t begin, end;
    for (int j = 0; j < 3; j++) {
        begin = shell->inner.begin[j];
        end = shell->inner.end[j];
        if (j > k) open_nodes(s, j, -across, &begin, &end);
        if (j == k) {
            const int64_t inner[2] = {begin, end};
            open_nodes(s, k, s->layers.sides.beyond - thick, &begin, &end);
            if (side == 0)
                end = inner[0];
            else
                begin = inner[1];
        }
        box.begin[j] = ht_most(box.begin[j], begin);
        box.end[j] = ht_least(box.end[j], end);
    }
    ht_fd_shell_add(&shell->form, &box);
}

enum ht_err ht_fd_shell_plan(struct ht_fd_stepper *s, const struct ht_fd_shell_choice *choice,
                             struct ht_fd_shell *out) {
    const int64_t reach = ht_fd_reach(&s->engine.spec), stages = s->problem.stages;
    *out = (struct ht_fd_shell){.s = s, .choice = *choice, .inner = s->box, .wide = s->box};
    struct ht_fd_shell_choice *c = &out->choice;
    const struct ht_shots *shots = s->problem.shots;
    const bool slow = shots != NULL && shots->highest * s->problem.dt * SHORTEST_PERIOD <= 1;
    if (c->every == 0) c->every = slow && !s->engine.spec.fp64 ? 2 : 1;
    if (c->steps < (int64_t)4 * ENDS) c->every = 1;
    out->form.fp64 = s->engine.spec.fp64;
    out->form.coded = c->bits == 16 || (c->bits < 0 && !s->engine.spec.fp64);
    for (int k = 0; k < 3; k++) {
        const int64_t beyond = s->layers.sides.beyond;
        open_nodes(s, k, beyond, &out->inner.begin[k], &out->inner.end[k]);
        open_nodes(s, k, beyond - reach, &out->wide.begin[k], &out->wide.end[k]);
        REQUIRE(
            out->inner.begin[k] < out->inner.end[k], HT_ERR_INPUT,
            "gradient.field = \"reverse\": no node along x%d is %lld nodes or more away from the "
            "absorbing layers: fewer absorbing.cells, or \"checkpoint\"",
            k + 1, (long long)beyond);
    }
    const int64_t slopes = s->engine.spec.density ? s->engine.spec.radius - 1 : 0;
    for (int n = 0; n < 2 * s->engine.spec.dims; n++)
        add_side(out, n / 2, n % 2, reach * stages, ht_most(reach * (stages - 1), slopes));
    return HT_OK;
}

/* ---- memory ---- */

static struct ht_fd_records_shape shape_of(const struct ht_fd_shell *shell) {
    const struct ht_fd_shell_choice *c = &shell->choice;
    return (struct ht_fd_records_shape){.bytes = shell->form.bytes,
                                        .count = record_of(c, c->steps + 1),
                                        .together = c->every > 1 ? TOGETHER : 1,
                                        .folder = c->folder,
                                        .rank = ht_comm_rank(shell->s->problem.grid->slab.comm)};
}

void ht_fd_shell_size(const struct ht_fd_shell *shell, struct ht_fd_shell_bytes *out) {
    const struct ht_fd_records_shape shape = shape_of(shell);
    *out = (struct ht_fd_shell_bytes){.records = shape.bytes * shape.count};
    if (shape.bytes > 0) ht_fd_records_size(&shape, &out->host, &out->device);
}

static enum ht_err make(struct ht_fd_shell *shell) {
    const struct ht_fd_records_shape shape = shape_of(shell);
    struct ht_device *device = shell->s->engine.device;
    if (shape.bytes == 0) return HT_OK;
    if (device != NULL)
        TRY(ht_fd_shell_kernels_create(device, shell->form.fp64, shell->form.coded, &shell->tool));
    return ht_fd_records_create(device, &shape, &shell->records);
}

void ht_fd_shell_destroy(struct ht_fd_shell *shell) {
    if (shell == NULL) return;
    ht_fd_shell_leave(shell);
    ht_fd_records_destroy(shell->records);
    ht_tool_destroy(shell->tool);
    free(shell);
}

/* ---- steps ---- */

static struct ht_pass *last_pass(struct ht_fd_stepper *s) {
    return &s->r.passes.pass[s->r.passes.count - 1];
}

static enum ht_err take_step(struct ht_fd_shell *shell) {
    struct ht_fd_stepper *s = shell->s;
    /* of the state after the step in progress */
    const int64_t step = s->at + (s->shell != NULL);
    if (shell->records == NULL || !is_recorded(&shell->choice, step)) return HT_OK;
    return s->engine.ops->take(&s->engine, shell, record_of(&shell->choice, step),
                               s->values[HT_FD_U], s->level);
}

enum ht_err ht_fd_shell_record(struct ht_fd_shell *shell) {
    struct ht_fd_stepper *s = shell->s;
    REQUIRE(s->shell == NULL && s->at == 0, HT_ERR_INTERNAL,
            "a shell is recorded from step %lld on", (long long)s->at);
    TRY(take_step(shell));
    shell->passes = s->r.passes;
    shell->depth = s->r.partition.depth;
    shell->closed = s->closed;
    last_pass(s)->records = true;
    s->shell = shell;
    return HT_OK;
}

/* u of a step on planes of the window, and d = u - old. */
static enum ht_err put_planes(struct ht_fd_shell *shell, int64_t step, enum ht_step_part part,
                              const struct ht_fd_box *box, struct ht_buffer *old) {
    struct ht_fd_stepper *s = shell->s;
    struct ht_fd_shell_sum sum;
    if (shell->records == NULL) return HT_OK;
    find_sum(&shell->choice, step, &sum);
    return s->engine.ops->put(&s->engine, shell, part, box->begin[2], box->end[2], &sum, old,
                              s->values[HT_FD_U], s->values[HT_FD_D]);
}

static enum ht_err put_step(struct ht_fd_shell *shell, const struct ht_task *task) {
    const struct ht_fd_stepper *s = shell->s;
    const struct ht_fd_box box = ht_fd_task_box(s, task);
    const bool in_place = s->problem.stages > 1;
    REQUIRE(s->at > 0, HT_ERR_INTERNAL, "a step back from step 0");
    return put_planes(shell, s->at - 1, task->part, &box, s->values[in_place ? HT_FD_U : HT_FD_W]);
}

/* On a device: what `put` reads; steps further back need no later records than this one may. */
static enum ht_err need(struct ht_fd_shell *shell, int64_t step) {
    const struct ht_fd_shell_choice *c = &shell->choice;
    const int64_t last = c->every > 1 ? ht_least(step + ENDS, c->steps) : step;
    struct ht_fd_shell_sum sum;
    if (shell->records == NULL || shell->s->engine.device == NULL) return HT_OK;
    find_sum(c, step, &sum);
    return ht_fd_records_need(shell->records, sum.record[0], record_of(c, last));
}

/* At step 0 a stage may still be asked for. */
static enum ht_err need_next(struct ht_fd_shell *shell) {
    return shell->s->at > 0 ? need(shell, shell->s->at - 1) : HT_OK;
}

/* Neighbours of a slab cannot put back what they compute beyond their own planes: an exchange for
 * each pass. */
enum ht_err ht_fd_shell_back(struct ht_fd_shell *shell) {
    struct ht_fd_stepper *s = shell->s;
    struct ht_pass *pass = last_pass(s);
    const struct ht_pass all = *pass;
    REQUIRE(s->shell == shell && s->at == shell->choice.steps, HT_ERR_INTERNAL,
            "a run of %lld steps goes back after step %lld", (long long)shell->choice.steps,
            (long long)s->at);
    TRY(ht_fd_reverse(s));
    s->r.partition.depth = 1;
    s->closed = s->closed && s->problem.layers == NULL;
    pass->records = false;
    pass->works = 0;
    for (int i = 0; i < all.works; i++)
        if (all.work[i] != HT_TASK_LAYERS) ht_pass_add(pass, all.work[i]);
    ht_pass_add(pass, HT_TASK_RESTORE);
    TRY(need(shell, s->at));
    TRY(put_planes(shell, s->at, HT_PART_INTERIOR, &s->box, s->values[HT_FD_W]));
    /* Planes of the neighbours that the first pass reads. */
    if (s->r.halo == NULL) return HT_OK;
    s->r.state.coming = ht_exchange_planes(&s->r.passes, s->r.partition.depth, 0);
    s->r.state.open = true;
    TRY(ht_halo_send(s->r.halo, &s->r.state.coming));
    return ht_runner_complete(&s->r);
}

void ht_fd_shell_leave(struct ht_fd_shell *shell) {
    struct ht_fd_stepper *s = shell->s;
    if (s->shell != shell) return;
    s->shell = NULL;
    s->back = false;
    s->r.passes = shell->passes;
    s->r.partition.depth = shell->depth;
    s->closed = shell->closed;
}

enum ht_err ht_fd_shell_create(struct ht_fd_stepper *s, const struct ht_fd_shell_choice *choice,
                               struct ht_fd_shell **out) {
    struct ht_fd_shell *shell = NULL;
    *out = NULL;
    TRY(HT_ALLOC(shell, 1));
    enum ht_err err = ht_fd_shell_plan(s, choice, shell);
    shell->take = take_step;
    shell->put = put_step;
    shell->need = need_next;
    if (err == HT_OK) err = make(shell);
    return HT_MADE(err, shell, ht_fd_shell_destroy, out);
}

/* ---- of gradients ---- */

static enum ht_err begin(struct ht_fd_past *past) {
    struct ht_fd_shell *shell = (struct ht_fd_shell *)past;
    ht_fd_shell_leave(shell);
    return ht_fd_shell_record(shell);
}

/* The stage of the step back was made for the sums of n + 1. */
static enum ht_err show(struct ht_fd_past *past, int64_t n) {
    struct ht_runner *r = &past->forward->r;
    if (n == past->steps) return ht_fd_shell_back((struct ht_fd_shell *)past);
    TRY(r->ops->before(r, HT_PRIMARY));
    TRY(ht_runner_run(r, &r->passes, r->passes.count - 1, r->passes.count));
    r->ops->after(r, 1);
    return HT_OK;
}

static void end(struct ht_fd_past *past) {
    ht_fd_shell_leave((struct ht_fd_shell *)past);
}

static void destroy(struct ht_fd_past *past) {
    ht_fd_shell_destroy((struct ht_fd_shell *)past);
}

static const struct ht_fd_past_ops ops = {
    .begin = begin, .show = show, .end = end, .destroy = destroy};

enum ht_err ht_fd_reverse_create(const struct ht_fd_past *of,
                                 const struct ht_fd_shell_choice *choice, struct ht_fd_past **out) {
    struct ht_fd_shell_bytes bytes;
    struct ht_fd_shell *shell = NULL;
    enum ht_err err = ht_fd_shell_create(of->forward, choice, &shell);
    err = ht_comm_agree(of->forward->problem.grid->slab.comm, err);
    *out = NULL;
    if (shell == NULL || err != HT_OK) {
        ht_fd_shell_destroy(shell);
        return err;
    }
    ht_fd_shell_size(shell, &bytes);
    shell->past = *of;
    shell->past.ops = &ops;
    shell->past.sign = -1;
    shell->past.facts = (struct ht_gradient_facts){.field = HT_GRADIENT_REVERSE,
                                                   .segments = 1,
                                                   .field_bytes = bytes.device,
                                                   .host = bytes.host,
                                                   .file = choice->folder ? bytes.records : 0};
    *out = &shell->past;
    return HT_OK;
}
