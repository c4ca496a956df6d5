/* The forward run of one field backwards (docs/developers/gradients.md): time steps from u(n) and
 * -d(n+1), with the sources in reverse order, lead to u(n-1) and -d(n). Where sides absorb, only
 * nodes that layers do not change are stepped, the inner ones; around them lies a shell, as thick
 * as what steps read, whose u the forward run has recorded. A sponge changes no node beyond its
 * own, matched layers those in reach of their differences. */
#include <fcntl.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "fd_gradient.h"

/* ---- records ---- */

/* Records of a run: parts of one size that steps write in their order and that are taken back in
 * the reverse order. They pass through a ring of slots, of a device on the transfer queue, while it
 * computes. They are kept in memory of the host, some of them in a chunk, or in a file, of which
 * the chunks in use are in memory. */

/* Slots beside those in use; a chunk has so many bytes, unless one record has more, or there would
 * be fewer CHUNKS. */
enum { AHEAD = 3, CHUNK = 1 << 26, CHUNKS = 16 };

struct records_shape {
    int64_t bytes, count; /* of a record, a multiple of 16; of records, at least one */
    int64_t together;     /* records that are needed at a time, up to HT_FD_SHELL_RECORDS */
    int64_t slots;        /* of the ring */
    int64_t each, chunks; /* records of a chunk; chunks in memory at a time: of a file two beside
                             those in use */
    const char *folder;   /* of a file without a name; NULL: in memory */
    int rank;
};

struct chunk {
    struct ht_buffer *pinned;
    char *memory;          /* its own, or that of `pinned` */
    int64_t number;        /* of the chunk that it holds; -1: none */
    bool fresh;            /* not in the file */
    struct ht_event moved; /* the last transfer from it or to it, if there was one */
};

struct ht_fd_records {
    struct ht_device *device; /* NULL: plain */
    struct records_shape shape;
    struct chunk *chunk;
    int file; /* -1: none */
    char *path;
    struct ht_buffer *ring;
    int64_t low;            /* records from here on are in the ring, or were */
    struct ht_event *moved; /* [slot]: its last transfer, if there was one */
    struct ht_event worked; /* the work until a transfer */
};

/* With the first record. It has no name: nothing of it remains, however the process ends. */
static HT_ERR open_file(struct ht_fd_records *r) {
    const int64_t bytes = r->shape.count * r->shape.bytes;
    char name[64];
    struct statvfs room;
    snprintf(name, sizeof name, "record-%d-%ld.part", r->shape.rank, (long)getpid());
    TRY(ht_file_path(r->shape.folder, name, &r->path));
    r->file = open(r->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    REQUIRE(r->file >= 0, HT_ERR_IO, "%s: %s", HT_SHOWN_PLACE(r->path), strerror(errno));
    (void)unlink(r->path);
    REQUIRE(fstatvfs(r->file, &room) != 0 ||
                (double)room.f_bavail * (double)room.f_frsize >= (double)bytes,
            HT_ERR_IO,
            "%s: the record of the forward run takes %s, the disk has %s: choose another "
            "output.directory, or gradient.field = \"checkpoint\"",
            HT_SHOWN_PLACE(r->path), HT_BYTES(bytes),
            HT_BYTES((double)room.f_bavail * (double)room.f_frsize));
    return HT_OK;
}

static HT_ERR move_file(const struct ht_fd_records *r, struct chunk *c, bool write) {
    const int64_t part = r->shape.each * r->shape.bytes;
    const int64_t end = ht_least(part, r->shape.count * r->shape.bytes - c->number * part);
    for (int64_t at = 0; at < end;) {
        const size_t most = (size_t)ht_least(end - at, 1 << 30);
        const off_t place = (off_t)(c->number * part + at);
        const ssize_t some = write ? pwrite(r->file, c->memory + at, most, place)
                                   : pread(r->file, c->memory + at, most, place);
        if (some < 0 && errno == EINTR) continue;
        REQUIRE(some > 0, HT_ERR_IO, "%s: the record of the forward run: %s",
                HT_SHOWN_PLACE(r->path), some < 0 ? strerror(errno) : "it ends early");
        at += some;
    }
    return HT_OK;
}

/* The chunk of a record, in memory; write: it will be written. */
static HT_ERR hold(struct ht_fd_records *r, int64_t i, bool write, struct chunk **out) {
    const int64_t number = i / r->shape.each, bytes = r->shape.each * r->shape.bytes;
    struct chunk *c = *out = &r->chunk[number % r->shape.chunks];
    if (r->shape.folder != NULL && r->file < 0) TRY(open_file(r));
    if (c->number != number) {
        const struct timespec pause = {.tv_nsec = 20000};
        bool done = c->number < 0 || c->moved.handle == NULL;
        if (c->memory == NULL && r->device == NULL) TRY(HT_ALLOC(c->memory, bytes));
        if (c->memory == NULL) {
            TRY(ht_pinned_create(r->device, bytes, &c->pinned));
            c->memory = (char *)c->pinned->host;
        }
        while (!done) {
            TRY(ht_event_done(&c->moved, &done));
            if (!done) (void)nanosleep(&pause, NULL);
        }
        if (c->number >= 0 && c->fresh && write) TRY(move_file(r, c, true));
        c->number = number;
        if (!write) TRY(move_file(r, c, false));
        c->fresh = false;
    }
    c->fresh = c->fresh || write;
    return HT_OK;
}

/* ---- the ring ---- */

/* Between the slot and the host, after the work that `worked` stands for. */
static HT_ERR transfer(struct ht_fd_records *r, int64_t i, bool write) {
    const int64_t slot = i % r->shape.slots, bytes = r->shape.bytes;
    const int64_t at = i % r->shape.each * bytes;
    struct chunk *c;
    TRY(hold(r, i, write, &c));
    if (r->device == NULL) {
        char *kept = c->memory + at, *in_ring = (char *)r->ring->host + slot * bytes;
        memcpy(write ? kept : in_ring, write ? in_ring : kept, (size_t)bytes);
        return HT_OK;
    }
    TRY(write ? ht_transfer(r->ring, slot * bytes, c->pinned, at, bytes)
              : ht_transfer(c->pinned, at, r->ring, slot * bytes, bytes));
    TRY(ht_event_record(r->device, &c->moved, HT_QUEUE_TRANSFER));
    return ht_event_record(r->device, &r->moved[slot], HT_QUEUE_TRANSFER);
}

/* The transfer queue waits for the work enqueued so far. */
static HT_ERR after_work(struct ht_fd_records *r) {
    if (r->device == NULL) return HT_OK;
    TRY(ht_event_record(r->device, &r->worked, HT_QUEUE_WORK));
    return ht_event_await(&r->worked, HT_QUEUE_TRANSFER);
}

/* Work enqueued behind it may write the record's slot, or finds what was moved there. */
static HT_ERR await_slot(const struct ht_fd_records *r, int64_t i) {
    const struct ht_event *moved = &r->moved[i % r->shape.slots];
    return moved->handle != NULL ? ht_event_await(moved, HT_QUEUE_WORK) : HT_OK;
}

/* Work enqueued behind it finds the records first .. last, at most `together` of them; both
 * decrease from call to call. */
static HT_ERR records_need(struct ht_fd_records *r, int64_t first, int64_t last) {
    const int64_t ahead = ht_most(last - r->shape.slots + 1, 0);
    r->low = ht_least(r->low, last + 1);
    if (r->low > ahead) TRY(after_work(r));
    while (r->low > ahead) TRY(transfer(r, --r->low, false));
    return await_slot(r, first);
}

/* ---- making ---- */

static void records_destroy(struct ht_fd_records *r) {
    if (r == NULL) return;
    if (r->device != NULL) { /* transfers may be in progress, after a reported failure, too */
        enum ht_err err = ht_event_record(r->device, &r->worked, HT_QUEUE_TRANSFER);
        if (err == HT_OK) err = ht_event_await(&r->worked, HT_QUEUE_WORK);
        if (err == HT_OK) err = ht_device_finish(r->device);
        (void)err;
    }
    for (int64_t i = 0; r->chunk != NULL && i < r->shape.chunks; i++) {
        ht_event_end(&r->chunk[i].moved);
        if (r->chunk[i].pinned == NULL) free(r->chunk[i].memory);
        ht_buffer_destroy(r->chunk[i].pinned);
    }
    for (int64_t i = 0; r->moved != NULL && i < r->shape.slots; i++) ht_event_end(&r->moved[i]);
    ht_event_end(&r->worked);
    ht_buffer_destroy(r->ring);
    if (r->file >= 0) close(r->file);
    free(r->moved);
    free(r->chunk);
    free(r->path);
    free(r);
}

static HT_ERR records_create(struct ht_device *device, const struct records_shape *shape,
                             struct ht_fd_records **out) {
    struct ht_fd_records *r = NULL;
    *out = NULL;
    TRY(HT_ALLOC(r, 1));
    r->device = device;
    r->shape = *shape;
    r->file = -1;
    enum ht_err err = HT_ALLOC(r->chunk, r->shape.chunks);
    for (int64_t i = 0; err == HT_OK && i < r->shape.chunks; i++) r->chunk[i].number = -1;
    if (err == HT_OK) err = HT_ALLOC(r->moved, r->shape.slots);
    if (err == HT_OK) err = ht_buffer_create(device, r->shape.slots * shape->bytes, &r->ring);
    return HT_MADE(err, r, records_destroy, out);
}

/* ---- the run backwards ---- */

/* A step between two that are recorded has the polynomial of the eight around it, where these
 * resolve the shortest period. The first and the last steps are all recorded. */
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

/* Own nodes of the shell of a side: `thick` nodes beyond the inner ones, along axes before k beside
 * these, along those behind it beside all outside the layers, so that each is in one box; also what
 * stages of two terms and the differences of gradients by density read beside edges. */
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

HT_ERR ht_fd_shell_plan(struct ht_fd_stepper *s, const struct ht_fd_shell_choice *choice,
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

static struct records_shape shape_of(const struct ht_fd_shell *shell) {
    const struct ht_fd_shell_choice *c = &shell->choice;
    struct records_shape shape = {.bytes = shell->form.bytes,
                                  .count = record_of(c, c->steps + 1),
                                  .together = c->every > 1 ? TOGETHER : 1,
                                  .folder = c->folder,
                                  .rank = ht_comm_rank(shell->s->problem.grid->slab.comm)};
    shape.slots = ht_least(shape.together + AHEAD, shape.count);
    shape.each =
        ht_least(ht_most(CHUNK / ht_most(shape.bytes, 1), 1), ht_divide_up(shape.count, CHUNKS));
    shape.chunks = ht_divide_up(shape.count, shape.each);
    if (c->folder != NULL)
        shape.chunks = ht_least(shape.chunks, ht_divide_up(shape.together, shape.each) + 2);
    return shape;
}

void ht_fd_shell_size(const struct ht_fd_shell *shell, struct ht_fd_shell_bytes *out) {
    const struct records_shape shape = shape_of(shell);
    *out = (struct ht_fd_shell_bytes){.host = shape.chunks * shape.each * shape.bytes,
                                      .device = shape.slots * shape.bytes,
                                      .records = shape.bytes * shape.count};
}

static HT_ERR make(struct ht_fd_stepper *s, const struct ht_fd_shell_choice *choice,
                   struct ht_fd_shell *shell) {
    struct ht_device *device = s->engine.device;
    TRY(ht_fd_shell_plan(s, choice, shell));
    const struct records_shape shape = shape_of(shell);
    if (shape.bytes == 0) return HT_OK;
    if (device != NULL)
        TRY(ht_fd_shell_kernels_create(device, shell->form.fp64, shell->form.coded, &shell->tool));
    TRY(records_create(device, &shape, &shell->records));
    shell->ring = shell->records->ring;
    return HT_OK;
}

void ht_fd_shell_destroy(struct ht_fd_shell *shell) {
    if (shell == NULL) return;
    ht_fd_shell_leave(shell);
    records_destroy(shell->records);
    ht_tool_destroy(shell->tool);
    free(shell);
}

/* ---- steps ---- */

static struct ht_pass *last_pass(struct ht_fd_stepper *s) {
    return &s->r.passes.pass[s->r.passes.count - 1];
}

/* The state after the step in progress; without a task that before the first one. */
enum ht_err ht_fd_shell_take_step(void *stepper, const struct ht_task *task) {
    struct ht_fd_stepper *s = stepper;
    struct ht_fd_shell *shell = s->shell;
    const int64_t step = s->at + (task != NULL);
    if (shell->records == NULL || !is_recorded(&shell->choice, step)) return HT_OK;
    struct ht_fd_records *r = shell->records;
    const int64_t i = record_of(&shell->choice, step);
    r->low = INT64_MAX;
    TRY(await_slot(r, i));
    TRY(s->engine.ops->take(shell->tool, &shell->form, s->values[HT_FD_U], s->level, shell->ring,
                            i % r->shape.slots));
    TRY(after_work(r));
    return transfer(r, i, true);
}

HT_ERR ht_fd_shell_record(struct ht_fd_shell *shell) {
    struct ht_fd_stepper *s = shell->s;
    REQUIRE(s->shell == NULL && s->at == 0, HT_ERR_INTERNAL,
            "a shell is recorded from step %lld on", (long long)s->at);
    shell->passes = s->r.passes;
    shell->depth = s->r.partition.depth;
    shell->closed = s->closed;
    last_pass(s)->records = true;
    s->shell = shell;
    return ht_fd_shell_take_step(s, NULL);
}

/* u of a step on planes of the window, and d = u - old. */
static HT_ERR put_planes(struct ht_fd_shell *shell, int64_t step, enum ht_step_part part,
                         const struct ht_fd_box *box, struct ht_buffer *old) {
    struct ht_fd_stepper *s = shell->s;
    struct ht_fd_shell_sum sum;
    if (shell->records == NULL) return HT_OK;
    find_sum(&shell->choice, step, &sum);
    for (int j = 0; j < sum.count; j++) sum.record[j] %= shell->records->shape.slots;
    return s->engine.ops->put(shell->tool, part, &shell->form, box->begin[2], box->end[2], &sum,
                              shell->ring, old, s->values[HT_FD_U], s->values[HT_FD_D]);
}

enum ht_err ht_fd_shell_put_step(void *stepper, const struct ht_task *task) {
    const struct ht_fd_stepper *s = stepper;
    const struct ht_fd_box box = ht_fd_task_box(s, task);
    REQUIRE(s->at > 0, HT_ERR_INTERNAL, "a step back from step 0");
    return put_planes(s->shell, s->at - 1, task->part, &box,
                      s->values[s->problem.stages > 1 ? HT_FD_U : HT_FD_W]);
}

/* What `put` reads; steps further back need no later records than this one may. At step 0 a stage
 * may still be computed, which reads none. */
HT_ERR ht_fd_shell_need(struct ht_fd_shell *shell, int64_t step) {
    const struct ht_fd_shell_choice *c = &shell->choice;
    const int64_t last = c->every > 1 ? ht_least(step + ENDS, c->steps) : step;
    struct ht_fd_shell_sum sum;
    if (shell->records == NULL || step < 0) return HT_OK;
    find_sum(c, step, &sum);
    return records_need(shell->records, sum.record[0], record_of(c, last));
}

/* Neighbours of a slab cannot put back what they compute beyond own planes: each pass exchanges. */
HT_ERR ht_fd_shell_back(struct ht_fd_shell *shell) {
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
    TRY(ht_fd_shell_need(shell, s->at));
    TRY(put_planes(shell, s->at, HT_PART_INTERIOR, &s->box, s->values[HT_FD_W]));
    /* Planes of the neighbours that the first pass reads. */
    if (!s->r.partition.cut) return HT_OK;
    s->r.state.coming = ht_exchange_planes(&s->r.passes, s->r.partition.depth, 0);
    s->r.state.open = true;
    TRY(ht_halo_send(&s->r.halo, &s->r.state.coming));
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

HT_ERR ht_fd_shell_create(struct ht_fd_stepper *s, const struct ht_fd_shell_choice *choice,
                          struct ht_fd_shell **out) {
    HT_CREATE(out, make(s, choice, *out), ht_fd_shell_destroy);
}

/* ---- of gradients ---- */

static HT_ERR begin(struct ht_fd_past *past) {
    struct ht_fd_shell *shell = (struct ht_fd_shell *)past;
    ht_fd_shell_leave(shell);
    return ht_fd_shell_record(shell);
}

/* The stage of the step back was made for the sums of n + 1. */
static HT_ERR show(struct ht_fd_past *past, int64_t n) {
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

HT_ERR ht_fd_reverse_create(const struct ht_fd_past *of, const struct ht_fd_shell_choice *choice,
                            struct ht_fd_past **out) {
    struct ht_fd_shell_bytes bytes;
    struct ht_fd_shell *shell = NULL;
    const enum ht_err err = ht_comm_agree(of->forward->problem.grid->slab.comm,
                                          ht_fd_shell_create(of->forward, choice, &shell));
    *out = NULL;
    if (err != HT_OK) ht_fd_shell_destroy(shell);
    TRY(err);
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
