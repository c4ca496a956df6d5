/* The stepper on a device. The device holds both grids, one buffer per field, and the medium's
 * polynomials, one buffer per material; of a grid divided into slabs the planes of
 * htwave/schedule.h. A half step runs its schedule. Data are moved between double precision in the
 * order [i][node] on the host and the device's precision, layout and window, a few planes of the
 * window at a time. */
#include "args.h"
#include "layout.h"
#include "src/solve/methods.h"
#include "src/solve/runner.h"
#include "tool_args.h"

/* Memory variables of the layer of an axis and side, on one rank. */
struct ht_layer_memory {
    struct ht_window window[2];            /* [subgrid]; no nodes: none here */
    int64_t first[2][3];                   /* as in ht_absorbing_window */
    struct ht_buffer *u[2][HT_MAX_FIELDS]; /* by number among the axis's */
};

enum ht_stepper_use {
    HT_USE_FIELD,
    HT_USE_LAYER,
    HT_USE_MEDIUM,
    HT_USE_INTERPOLANT,
    HT_USE_REST,
    HT_USES
};
struct ht_stepper_buffer {
    enum ht_stepper_use use;
    struct ht_buffer **at; /* in the stepper */
    int64_t bytes;
};

struct ht_device_stepper {
    struct ht_runner r;
    struct ht_problem problem;
    struct ht_spec spec;
    struct ht_equations full; /* with the memory variables of all layers */
    const struct ht_kernels
        *kernels; /* of the first region: these also fill ghosts, pack, reduce */
    int regions;
    struct ht_region region[HT_ABSORBING_BOXES];
    struct ht_layer_memory memory[3][2];                /* [axis][side] */
    struct ht_ghost_args layer_ghosts[3][2];            /* theirs on the dual grid */
    struct ht_buffer *profile[2][3][HT_LAYER_PROFILES]; /* [subgrid][axis] */
    struct ht_buffer *jets[2][3];                       /* of a sponge: [subgrid][axis], as in
                                                           cl/sponge.cl; NULL: not damped */
    struct ht_injection *injection;                     /* NULL: no sources */
    struct ht_buffer *u[2][HT_MAX_FIELDS];
    struct ht_buffer *stored[2][HT_MAX_FIELDS]; /* of these, without gaps */
    struct ht_buffer *medium[2][HT_MAX_MATERIALS];
    struct ht_buffer *poly[HT_MAX_FIELDS];
    struct ht_buffer *work;                      /* NULL: no variant needs it */
    struct ht_buffer *scale[HT_ABSORBING_BOXES]; /* [region] */
    int buffers;                                 /* all of these */
    struct ht_stepper_buffer buffer[10 * HT_MAX_FIELDS + 2 * HT_MAX_MATERIALS + 64];
    struct ht_ghost_args ghosts[2]; /* of each grid */
    int64_t poly_planes;
    int element_size, coefs, padded_coefs;
    int storage[HT_MAX_COEFS]; /* storage index of each coefficient */
};

/* ---- what it consists of ---- */

/* What needs no device. */
static HT_ERR plan(const struct ht_problem *p, const struct ht_tuning *tuning,
                   struct ht_device_stepper *t) {
    const unsigned axes = ht_absorbing_axes(p->layers);
    t->problem = *p;
    t->spec = ht_problem_spec(p, tuning, HT_PRIMARY);
    t->element_size = ht_real_size(t->spec.fp64);
    t->coefs = ht_grid_coefs(p->grid);
    t->padded_coefs = ht_storage_order(&t->spec, t->storage);
    for (enum ht_subgrid i = 0; i < 2; i++) t->r.partition.window[i] = ht_problem_window(p, i);
    for (int n = 0; n < 12; n++) {
        const int axis = n / 4, side = n / 2 % 2;
        struct ht_layer_memory *m = &t->memory[axis][side];
        if ((axes >> axis & 1u) && p->layers->side[axis][side].cells > 0)
            m->window[n % 2] =
                ht_absorbing_window(p, (enum ht_subgrid)(n % 2), axis, side, m->first[n % 2]);
    }
    return ht_equations_absorb(p->eq, axes, &t->full);
}

static void add_buffer(struct ht_device_stepper *t, enum ht_stepper_use use, struct ht_buffer **at,
                       int64_t values) {
    if (values > 0)
        t->buffer[t->buffers++] = (struct ht_stepper_buffer){use, at, values * t->element_size};
}

static int64_t field_values(const struct ht_device_stepper *t, const struct ht_window *window) {
    return HT_LAYOUT_SIZE(t->spec.block, t->padded_coefs, ht_window_nodes(window));
}

/* The buffers of absorbing layers, and of a sponge, on a grid. */
static void list_layers(struct ht_device_stepper *t, enum ht_subgrid subgrid) {
    const struct ht_problem *p = &t->problem;
    for (int k = 0; k < 3; k++) {
        const int64_t along = t->r.partition.window[subgrid].count[k];
        const int fields = ht_layer_fields(&t->full, k);
        HT_EACH_BY(n, struct ht_layer_memory, m, &t->memory[k][n / fields], 2 * fields) {
            add_buffer(t, HT_USE_LAYER, &m->u[subgrid][n % fields],
                       field_values(t, &m->window[subgrid]));
        }
        for (int n = 0; fields > 0 && n < HT_LAYER_PROFILES; n++)
            add_buffer(t, HT_USE_REST, &t->profile[subgrid][k][n],
                       along * (p->layers->profile_degree + 1));
        if (ht_sponge_damps(p, subgrid, k))
            add_buffer(t, HT_USE_LAYER, &t->jets[subgrid][k], along * (t->spec.order + 1));
    }
}

/* Interpolants of as many planes as fit about an eighth of the device's memory, at least one. work:
 * one more buffer, and each of less than 2^31 values. */
static void list_interpolants(struct ht_device_stepper *t, int64_t per_target, bool work,
                              const struct ht_device_info *info) {
    const struct ht_problem *p = &t->problem;
    const struct ht_window *window = t->r.partition.window;
    const int64_t sources =
        ht_most(ht_problem_stored(p, HT_PRIMARY), ht_problem_stored(p, HT_DUAL));
    const int64_t per_plane =
        per_target * ht_most(ht_grid_plane(p->grid, HT_PRIMARY), ht_grid_plane(p->grid, HT_DUAL));
    int64_t room = ht_most(info->memory / 8 / (sources + work), 1);
    if (work) room = ht_least(room, (int64_t)INT32_MAX * t->element_size);
    t->poly_planes = ht_most(1, ht_least(room, info->max_buffer) / per_plane);
    t->poly_planes = ht_least(t->poly_planes, ht_most(window[0].count[2], window[1].count[2]));
    for (int f = 0; f < sources; f++)
        add_buffer(t, HT_USE_INTERPOLANT, &t->poly[f],
                   t->poly_planes * per_plane / t->element_size);
    if (work)
        add_buffer(t, HT_USE_INTERPOLANT, &t->work, t->poly_planes * per_plane / t->element_size);
}

/* By this list buffers are counted, created and destroyed. The halo owns those of messages. */
static void list_buffers(struct ht_device_stepper *t, int64_t per_target, bool work,
                         const struct ht_device_info *info) {
    const struct ht_problem *p = &t->problem;
    for (enum ht_subgrid i = 0; i < 2; i++) {
        const struct ht_window *window = &t->r.partition.window[i];
        HT_EACH_STORED(f, p, i) add_buffer(t, HT_USE_FIELD, &t->u[i][f], field_values(t, window));
        for (int m = 0; p->medium_degree >= 0 && m < p->eq->nmaterials; m++)
            add_buffer(t, HT_USE_MEDIUM, &t->medium[i][m],
                       ht_window_nodes(window) * p->medium_coefs);
        list_layers(t, i);
    }
    if (per_target > 0) list_interpolants(t, per_target, work, info);
    for (int r = 0; r < t->regions; r++) add_buffer(t, HT_USE_REST, &t->scale[r], HT_MAX_TERMS);
}

/* A grid's fields, and the memory variables of absorbing layers, of each axis and side as far as
 * they have nodes in its planes. kernels: NULL before there is a device. */
static void plan_halo(const struct ht_device_stepper *t, const struct ht_tuning *tuning,
                      const struct ht_kernels *kernels, struct ht_halo *out) {
    const struct ht_problem *p = &t->problem;
    struct ht_passes passes;
    for (enum ht_subgrid i = 0; i < 2; i++) {
        struct ht_halo_part *part = ht_halo_add(out, (int)i, &t->r.partition.window[i]);
        part->format = ht_problem_format(p, tuning, ht_problem_stored(p, i));
        part->u = t->stored[i];
        if (kernels != NULL) part->packer = kernels->packer[i];
        HT_EACH_BY(n, const struct ht_layer_memory, m, &t->memory[n / 2][n % 2], 6) {
            if (ht_window_nodes(&m->window[i]) == 0) continue;
            part = &out->part[out->parts++];
            *part = (struct ht_halo_part){
                .array = (int)i, .window = m->window[i], .first = m->first[i][2], .u = m->u[i]};
            part->format = ht_problem_format(p, tuning, ht_layer_fields(&t->full, n / 2));
            if (kernels != NULL) part->packer = kernels->layers->packer[n / 2];
        }
    }
    ht_schedule_passes(p, &passes);
    ht_halo_plan(p, &passes, out);
}

struct ht_budget ht_hermite_stepper_budget(const struct ht_problem *p,
                                           const struct ht_tuning *tuning,
                                           const struct ht_device_info *info) {
    struct ht_device_stepper t = {.regions = 1};
    struct ht_halo halo = {.parts = 0};
    struct ht_budget b = {0};
    int64_t sum[HT_USES] = {0}, message = 0;
    if (plan(p, tuning, &t) != HT_OK) return b;
    list_buffers(&t, ht_variant_poly_bytes(tuning->variant, &t.spec),
                 ht_variant_needs_work(tuning->variant), info);
    if (p->grid->dims == 3) {
        plan_halo(&t, tuning, NULL, &halo);
        b.messages = ht_links_bytes(halo.link, &message);
        b.sent = ht_halo_sent(p, &halo);
    }
    b.total = b.messages + ht_injection_bytes(p, &t.spec);
    b.largest_buffer = message;
    for (int i = 0; i < t.buffers; i++) {
        sum[t.buffer[i].use] += t.buffer[i].bytes;
        b.total += t.buffer[i].bytes;
        b.largest_buffer = ht_most(b.largest_buffer, t.buffer[i].bytes);
    }
    b.layers = sum[HT_USE_LAYER];
    b.state = sum[HT_USE_FIELD] + b.layers;
    b.medium = sum[HT_USE_MEDIUM];
    b.interpolants = sum[HT_USE_INTERPOLANT];
    b.poly_planes = t.poly_planes;
    return b;
}

static void destroy(void *self) {
    struct ht_device_stepper *t = self;
    ht_runner_free(&t->r);
    ht_injection_destroy(t->injection);
    for (int i = 0; i < t->buffers; i++) ht_buffer_destroy(*t->buffer[i].at);
    free(t);
}

/* ---- tasks ---- */

/* Node (m1, m2, m3) of the grid's window is node (m1, m2, m3) - first of this one. */
static struct ht_part_place place_of(const struct ht_window *w, const int64_t first[3]) {
    return (struct ht_part_place){.first = ht_window_at(w, first[0], first[1], first[2]),
                                  .row = w->count[0],
                                  .plane = ht_window_plane(w),
                                  .nodes = ht_window_nodes(w)};
}

/* Adds what the kernels of a region of layers get besides its fields, and turns the arguments to
 * the order of the kernel's axes. */
static void add_layers(const struct ht_device_stepper *t, const struct ht_region *region,
                       enum ht_subgrid from, struct ht_step_args *args,
                       struct ht_step_buffers *buffers) {
    const enum ht_subgrid to = from == HT_PRIMARY ? HT_DUAL : HT_PRIMARY;
    const struct ht_equations *eq = region->law != NULL ? region->law->eq : NULL;
    const struct ht_window *window = t->r.partition.window;
    int number[3] = {0}, profile[3] = {0}, layers = 0;
    if (eq == NULL) return;
    args->stages = t->problem.layers->stages;
    args->src_part[0] = place_of(&window[from], (int64_t[3]){0});
    args->dst_part[0] = place_of(&window[to], (int64_t[3]){0});
    for (int axis = 0; axis < 3; axis++) {
        if (ht_layer_fields(eq, axis) == 0) continue;
        const struct ht_layer_memory *m = &t->memory[axis][region->side[axis]];
        args->src_part[++layers] = place_of(&m->window[from], m->first[from]);
        args->dst_part[layers] = place_of(&m->window[to], m->first[to]);
    }
    for (int f = 0; f < eq->nfields; f++) {
        const int axis = ht_field_layer(eq, f);
        if (axis < 0) continue;
        const struct ht_layer_memory *m = &t->memory[axis][region->side[axis]];
        buffers->src[f] = m->u[from][number[axis]];
        buffers->dst[f] = m->u[to][number[axis]++];
    }
    for (int i = eq->nmaterials - eq->nprofiles; i < eq->nmaterials; i++) {
        const int axis = ht_material_layer(eq, i);
        buffers->medium[i] = t->profile[to][axis][profile[axis]++];
    }
}

/* Of a sponge: damps the planes of a task on the target grid of its half step, node by node, so
 * that the planes beyond a slab get what their owner computes. */
static HT_ERR run_damp(void *self, const struct ht_task *task) {
    struct ht_device_stepper *t = self;
    const enum ht_subgrid to = task->pass == HT_PRIMARY ? HT_DUAL : HT_PRIMARY;
    const struct ht_box *box = &task->targets.box;
    const struct ht_window *w = &t->r.partition.window[to];
    for (int axis = 0; axis < 3; axis++) {
        if (t->jets[to][axis] == NULL) continue;
        /* The nodes of the box in the layers of an axis. */
        const struct ht_layer *side = t->problem.layers->side[axis];
        const int64_t nodes = ht_grid_nodes(t->problem.grid, to, axis);
        const int64_t begin = box->begin[axis], end = box->end[axis];
        const int64_t low = ht_most(ht_least(side[0].cells - w->origin[axis], end) - begin, 0);
        const int64_t high = ht_most(nodes - side[1].cells - w->origin[axis], begin);
        struct ht_sponge_args args = {.row = w->count[0],
                                      .plane = ht_window_plane(w),
                                      .nodes = ht_window_nodes(w),
                                      .low = low,
                                      .skip = high - begin - low,
                                      .length = w->count[axis],
                                      .axis = axis};
        for (int k = 0; k < 3; k++) {
            args.begin[k] = box->begin[k];
            args.count[k] = box->end[k] - box->begin[k];
        }
        args.count[axis] = low + ht_most(end - high, 0);
        HT_EACH_STORED(f, &t->problem, to)
            TRY(ht_sponge_multiply(t->kernels->sponge, task->part, &args, t->jets[to][axis],
                                   t->u[to][f]));
    }
    return HT_OK;
}

/* Fills the ghosts of the sources of a half step, all stored fields of the grid, and those of what
 * layers remember beside them. */
static HT_ERR run_ghosts(void *self, const struct ht_task *task) {
    struct ht_device_stepper *t = self;
    ht_sequence_branch(t->r.device, 1);
    TRY(ht_ghosts_fill(t->kernels->ghosts[task->pass], &t->ghosts[task->pass],
                       t->stored[task->pass]));
    if (task->pass == HT_DUAL) {
        /* Each axis and side is a branch of its own, from this one on. */
        HT_EACH_BY(n, const struct ht_layer_memory, m, &t->memory[n / 2][n % 2], 6) {
            if (m->u[HT_DUAL][0] == NULL) continue;
            ht_sequence_branch(t->r.device, 2 + n);
            TRY(ht_ghosts_fill(t->kernels->layers->ghosts[n / 2], &t->layer_ghosts[n / 2][n % 2],
                               m->u[HT_DUAL]));
        }
    }
    ht_sequence_branch(t->r.device, 0);
    return HT_OK;
}

static HT_ERR run_step(void *self, const struct ht_task *task) {
    struct ht_device_stepper *t = self;
    const enum ht_subgrid from = (enum ht_subgrid)task->pass;
    const enum ht_subgrid to = from == HT_PRIMARY ? HT_DUAL : HT_PRIMARY;
    const struct ht_window *source = &t->r.partition.window[from];
    const struct ht_window *target = &t->r.partition.window[to];
    const struct ht_targets *targets = &task->targets;
    struct ht_step_args args = {.src_row = source->count[0],
                                .src_plane = ht_window_plane(source),
                                .src_nodes = ht_window_nodes(source),
                                .dst_row = target->count[0],
                                .dst_plane = ht_window_plane(target),
                                .dst_nodes = ht_window_nodes(target),
                                .stages = t->problem.stages};
    struct ht_step_buffers buffers = {
        .scale = t->scale[targets->region], .work = t->work, .poly_planes = t->poly_planes};
    ht_window_shift(t->problem.grid, from, source, target, args.shift, args.period);
    memcpy(args.begin, targets->box.begin, sizeof args.begin);
    memcpy(args.end, targets->box.end, sizeof args.end);
    memcpy(buffers.src, t->u[from], sizeof buffers.src);
    memcpy(buffers.dst, t->u[to], sizeof buffers.dst);
    memcpy(buffers.poly, t->poly, sizeof buffers.poly);
    memcpy(buffers.medium, t->medium[to], sizeof buffers.medium);
    add_layers(t, &t->region[targets->region], from, &args, &buffers);
    return ht_step_launch(t->region[targets->region].kernels->step[from], task->part, &args,
                          &buffers);
}

static HT_ERR run_inject(void *self, const struct ht_task *task) {
    struct ht_device_stepper *t = self;
    const enum ht_subgrid to = task->pass == HT_PRIMARY ? HT_DUAL : HT_PRIMARY;
    const struct ht_box *planes = &task->targets.box;
    return ht_injection_add(t->injection, to, planes->begin[2], planes->end[2],
                            ht_window_nodes(&t->r.partition.window[to]), t->u[to]);
}

static HT_ERR before(void *self, enum ht_subgrid from) {
    struct ht_device_stepper *t = self;
    return t->injection != NULL ? ht_injection_begin(t->injection, from) : HT_OK;
}

/* Every time step launches the same where nothing depends on time and no library launches. */
static int64_t alike(void *self, int64_t *period) {
    const struct ht_device_stepper *t = self;
    bool same = t->injection == NULL;
    *period = 1;
    for (int i = 0; i < t->regions; i++)
        same = same && !ht_variant_needs_work(t->region[i].kernels->variant);
    return same ? INT64_MAX : 0;
}

static struct ht_task_seconds seconds_of(const void *self) {
    const struct ht_device_stepper *t = self;
    struct ht_task_seconds sum = {.ghosts = 0};
    HT_EACH_BY(i, const struct ht_kernels, k, t->region[i].kernels, t->regions) {
        int first = 0; /* each step once */
        while (t->region[first].kernels->step[0] != k->step[0]) first++;
        for (int n = 0; first == i && n < 4; n++)
            if (n < 2 || k->step[1] != k->step[0])
                sum.part[n % 2] += ht_tool_total(k->step[n / 2], (enum ht_step_part)(n % 2));
    }
    for (int i = 0; i < 2; i++) {
        sum.ghosts += ht_tool_total(t->kernels->ghosts[i], HT_PART_INTERIOR);
        sum.part[i] += ht_tool_total(t->kernels->sponge, (enum ht_step_part)i);
    }
    sum.part[HT_PART_INTERIOR] += sum.ghosts;
    return sum;
}

static const struct ht_runner_ops runner_ops = {
    .task = {[HT_TASK_GHOSTS] = run_ghosts,
             [HT_TASK_STEP] = run_step,
             [HT_TASK_INJECT] = run_inject,
             [HT_TASK_LAYERS] = run_damp},
    .before = before,
    .alike = alike,
    .seconds = seconds_of,
};

/* ---- fields ---- */

/* Coefficients of planes [at, at + planes) of a window, between [i][own node] and the device's
 * layout of `padded` of them, by their storage indices (NULL: i). */
struct transfer {
    const struct ht_window *window;
    int64_t at, planes;
    int element_size, block, coefs, padded;
    const int *storage;
    const double *from; /* [i][node]; NULL: to is, from the device */
    double *to;
    void *device; /* as it has them */
};

/* Rows along x1 of all coefficients. */
static HT_ERR convert_rows(void *data, int64_t first, int64_t last) {
    const struct transfer *c = data;
    const struct ht_box *own = &c->window->own;
    const int64_t room = c->planes * ht_window_plane(c->window);
    const int64_t length = own->end[0] - own->begin[0], per_plane = own->end[1] - own->begin[1];
    for (int i = 0; i < c->coefs; i++) {
        const int index = c->storage != NULL ? c->storage[i] : i;
        int64_t host = (i * c->planes * per_plane + first) * length;
        for (int64_t row = first; row < last; row++) {
            const int64_t at = ht_window_at(c->window, own->begin[0],
                                            own->begin[1] + row % per_plane, row / per_plane);
            for (int64_t n = at; n < at + length; n++, host++) {
                const int64_t there = HT_LAYOUT_AT(c->block, index, n, room);
                if (c->from != NULL && c->element_size == 8)
                    ((double *)c->device)[there] = c->from[host];
                else if (c->from != NULL)
                    ((float *)c->device)[there] = (float)c->from[host];
                else
                    c->to[host] = c->element_size == 8 ? ((const double *)c->device)[there]
                                                       : (double)((const float *)c->device)[there];
            }
        }
    }
    return HT_OK;
}

static HT_ERR run(struct transfer *c, struct ht_buffer *buffer) {
    const int64_t least = 1 << 14; /* values of a thread */
    const struct ht_box *own = &c->window->own;
    const int64_t unit = (int64_t)c->block * c->element_size;
    const int64_t plane = ht_window_plane(c->window) * unit;
    /* Rows of one coefficient block each. */
    const struct ht_span span = {.offset = c->at * plane,
                                 .width = c->planes * plane,
                                 .pitch = ht_window_nodes(c->window) * unit,
                                 .rows = ht_divide_up(c->padded, c->block)};
    HT_FREED void *data = NULL;
    TRY(ht_mem_alloc((size_t)(span.rows * span.width), 1, &data));
    c->device = data;
    if (c->to != NULL) TRY(ht_buffer_read(buffer, span, data));
    TRY(ht_threads_share(c->planes * (own->end[1] - own->begin[1]),
                         least / ht_most(1, (own->end[0] - own->begin[0]) * c->coefs), convert_rows,
                         c));
    return c->from != NULL ? ht_buffer_write(buffer, span, data) : HT_OK;
}

/* Planes [first, last) of a grid's buffer from all coefficients, or the first `count` of them to
 * those; from or to is NULL. */
static HT_ERR move_planes(const struct ht_device_stepper *t, const struct ht_window *window,
                          struct ht_buffer *buffer, int count, int64_t first, int64_t last,
                          /* NOLINTNEXTLINE(readability-non-const-parameter): for threads */
                          const double *from, double *to) {
    struct transfer c = {.window = window,
                         .at = first - window->origin[2],
                         .planes = last - first,
                         .element_size = t->element_size,
                         .block = t->spec.block,
                         .coefs = count,
                         .padded = from != NULL ? t->padded_coefs : 0,
                         .storage = t->storage,
                         .from = from,
                         .to = to};
    for (int i = 0; i < count; i++) /* of those that are read */
        if (t->storage[i] >= c.padded) c.padded = t->storage[i] + 1;
    return run(&c, buffer);
}

static HT_ERR put(void *self, enum ht_subgrid subgrid, int64_t first, int64_t last,
                  const double *coefs) {
    struct ht_device_stepper *t = self;
    const int64_t part = ht_grid_plane(t->problem.grid, subgrid) * (last - first);
    ht_halo_overwritten(&t->r.state, (int)subgrid);
    HT_EACH_STORED(f, &t->problem, subgrid)
        TRY(move_planes(t, &t->r.partition.window[subgrid], t->u[subgrid][f], t->coefs, first, last,
                        coefs + (int64_t)f * t->coefs * part, NULL));
    return HT_OK;
}

static HT_ERR get(void *self, enum ht_subgrid subgrid, int field, int count, int64_t first,
                  int64_t last, double *out) {
    struct ht_device_stepper *t = self;
    return move_planes(t, &t->r.partition.window[subgrid], t->u[subgrid][field], count, first, last,
                       NULL, out);
}

/* ---- checkpoints ---- */

/* A buffer of all coefficients in a window of a grid, NULL: the rank has none of it; and the part
 * of the grid that all ranks have of it, with its first x3 plane. */
struct stored {
    const struct ht_device_stepper *t;
    const struct ht_window *window;
    struct ht_buffer *buffer;
    int64_t nodes[3], base;
};

static HT_ERR move_stored(void *context, bool load, int64_t first, int64_t last, double *values) {
    const struct stored *s = context;
    return move_planes(s->t, s->window, s->buffer, s->t->coefs, s->base + first, s->base + last,
                       load ? values : NULL, load ? NULL : values);
}

static void archive_buffer(struct ht_archive *archive, const char *name, struct stored *s) {
    const struct ht_box *own = &s->window->own;
    const int64_t above = s->window->origin[2] - s->base;
    struct ht_archive_array array = {.name = name,
                                     .single = !s->t->spec.fp64,
                                     .groups = s->t->coefs,
                                     .planes = s->nodes[2],
                                     .plane = s->nodes[0] * s->nodes[1],
                                     .move = move_stored,
                                     .context = s};
    if (s->buffer != NULL) {
        array.first = above + own->begin[2];
        array.last = above + own->end[2];
    }
    ht_archive_array(archive, &array);
}

/* What the layer at a side remembers on a grid. */
static void archive_memory(struct ht_device_stepper *t, struct ht_archive *archive,
                           enum ht_subgrid subgrid, int axis, int side) {
    const struct ht_layer_memory *m = &t->memory[axis][side];
    const int64_t cells = t->problem.layers->side[axis][side].cells;
    struct stored s = {.t = t, .window = &m->window[subgrid]};
    if (cells == 0) return;
    for (int k = 0; k < 3; k++) s.nodes[k] = ht_grid_nodes(t->problem.grid, subgrid, k);
    const int64_t length = ht_least(cells + 1, s.nodes[axis]);
    if (axis == 2 && side == 1) s.base = s.nodes[2] - length;
    s.nodes[axis] = length;
    for (int f = 0; f < ht_layer_fields(&t->full, axis); f++) {
        char name[48];
        snprintf(name, sizeof name, "memory%d%d_%d_%s", axis + 1, side, f,
                 subgrid == HT_PRIMARY ? "primary" : "dual");
        s.buffer = m->u[subgrid][f];
        archive_buffer(archive, name, &s);
    }
}

static void archive_state(void *self, struct ht_archive *archive) {
    struct ht_device_stepper *t = self;
    const struct ht_equations *eq = t->problem.eq;
    for (enum ht_subgrid i = 0; i < (t->problem.scheme->two_level ? 2 : 1); i++) {
        struct stored s = {.t = t, .window = &t->r.partition.window[i]};
        for (int k = 0; k < 3; k++) s.nodes[k] = ht_grid_nodes(t->problem.grid, i, k);
        for (int f = 0; f < eq->nfields; f++) {
            char name[48];
            s.buffer = t->u[i][f];
            snprintf(name, sizeof name, "%s0_%s", eq->field[f].name, i ? "dual" : "primary");
            if (s.buffer != NULL) archive_buffer(archive, name, &s);
        }
        for (int n = 0; t->kernels->layers != NULL && n < 6; n++)
            archive_memory(t, archive, i, n / 2, n % 2);
        if (ht_archive_loads(archive)) ht_halo_overwritten(&t->r.state, (int)i);
    }
    if (t->injection != NULL) ht_archive_integer(archive, "injected", &t->injection->steps);
}

/* Sets the item's nodes to the own nodes of a grid, `beside` absorbing layers; ends at a
 * neighbour's slab are no walls. None is left: no values. */
static void measure_own(const struct ht_device_stepper *t, enum ht_subgrid subgrid, bool beside,
                        struct ht_sum_item *item) {
    const struct ht_grid *grid = t->problem.grid;
    const struct ht_window *window = &t->r.partition.window[subgrid];
    item->row = window->count[0];
    item->plane = ht_window_plane(window);
    item->total = ht_window_nodes(window);
    item->box = window->own;
    for (int k = 0; k < 3; k++) {
        int64_t inner[2];
        ht_measure_beside(grid, subgrid, k, &inner[0], &inner[1]);
        for (int side = 0; side < 2; side++) {
            int64_t *end = side == 0 ? &item->box.begin[k] : &item->box.end[k];
            const int64_t face = inner[side] - window->origin[k];
            item->half[k][side] = ht_measure_half(grid, subgrid, k, side) &&
                                  !(k == 2 && ht_grid_neighbour(grid, side) >= 0);
            if (!beside || grid->layer[k][side] == 0 || (side == 0 ? face < *end : face > *end))
                continue;
            *end = face;
            item->half[k][side] = subgrid == HT_PRIMARY;
        }
        if (item->box.end[k] <= item->box.begin[k]) item->x = NULL;
    }
}

/* Each of the 8 classes of the sorted order may leave a gap. */
enum { MOST_STORED = HT_MAX_COEFS + 8 };

/* The weights in storage order; gaps, which hold zeros, have the weight 0. */
static void weigh_all(const struct ht_device_stepper *t, const struct ht_quantity *what,
                      double *stored, struct ht_sum_item *item) {
    const int coefs = ht_grid_coefs(t->problem.grid);
    for (int i = 0; i < coefs; i++)
        if (t->storage[i] >= item->coefs) item->coefs = t->storage[i] + 1;
    for (int q = 0; q < what->points; q++)
        for (int i = 0; i < coefs; i++)
            stored[q * item->coefs + t->storage[i]] = what->weights[q * coefs + i];
    item->coef = 0;
    item->points = what->points;
    item->weights = stored;
}

/* Node n of an item as one of the grid. */
static int64_t node_of(const struct ht_device_stepper *t, enum ht_subgrid subgrid,
                       const struct ht_sum_item *item, int64_t n) {
    int64_t node = 0, stride = 1;
    for (int k = 0; k < 3; k++) {
        const int64_t nodes = item->box.end[k] - item->box.begin[k];
        node +=
            stride * (t->r.partition.window[subgrid].origin[k] + item->box.begin[k] + n % nodes);
        stride *= ht_grid_nodes(t->problem.grid, subgrid, k);
        n /= nodes;
    }
    return node;
}

static HT_ERR measure(void *self, enum ht_subgrid subgrid, int count,
                      const struct ht_quantity *what, struct ht_measure *out) {
    const int64_t room = (int64_t)MOST_STORED * HT_MEASURE_POINTS;
    struct ht_device_stepper *t = self;
    HT_ARRAY(struct ht_sum_item, items, count);
    HT_ARRAY(double, stored, (count * room));
    HT_EACH_AT(i, struct ht_sum_item, item, items, count) {
        item->x = t->u[subgrid][what[i].field];
        item->coef = t->storage[what[i].coef];
        if (what[i].weights != NULL) weigh_all(t, &what[i], stored + i * room, item);
        if (what[i].material >= 0) item->a = t->medium[subgrid][what[i].material];
        measure_own(t, subgrid, what[i].beside, item);
    }
    TRY(ht_sums_run(t->kernels->sums, count, items, false, out));
    for (int i = 0; i < count; i++) {
        out[i].sum *= ht_measure_factor(&t->problem, &what[i]);
        if (out[i].first >= 0) out[i].first = node_of(t, subgrid, &items[i], out[i].first);
    }
    return HT_OK;
}

static HT_ERR fill_medium(struct ht_device_stepper *t, enum ht_subgrid subgrid) {
    const struct ht_problem *p = &t->problem;
    const struct ht_window *window = &t->r.partition.window[subgrid];
    const int64_t begin = window->held.begin[2], end = window->held.end[2];
    const int64_t all = ht_grid_planes(p->grid, subgrid);
    const int64_t node_values = (int64_t)p->eq->nmaterials * p->medium_coefs;
    if (p->medium_degree < 0) return HT_OK;
    /* Planes that fit about 64 MiB of host memory. */
    const int64_t planes = (1 << 23) / (ht_grid_plane(p->grid, subgrid) * node_values);
    const int64_t chunk = ht_most(1, ht_least(planes, end - begin));
    HT_ARRAY(double, values, ht_grid_plane(p->grid, subgrid) * chunk * node_values);
    HT_ENDED(ht_progress_end) struct ht_progress progress;
    ht_progress_start(&progress, "medium", (double)(end - begin), "nodes",
                      (double)ht_grid_plane(p->grid, subgrid));
    for (int64_t at = begin, count; at < end; at += count) {
        /* not across the periodic seam */
        const int64_t first = (window->origin[2] + at + all) % all;
        count = ht_least(ht_least(end - at, chunk), all - first);
        TRY(p->medium_fill(p->medium, subgrid, first, first + count, values));
        struct transfer c = {.window = window,
                             .at = at,
                             .planes = count,
                             .element_size = t->element_size,
                             .block = 1,
                             .coefs = p->medium_coefs,
                             .padded = p->medium_coefs,
                             .from = values};
        for (int m = 0; m < p->eq->nmaterials; m++) {
            TRY(run(&c, t->medium[subgrid][m]));
            c.from += p->medium_coefs * ht_grid_plane(p->grid, subgrid) * count;
        }
        ht_progress_update(&progress, (double)(at + count - begin));
    }
    return HT_OK;
}

static void arrays(const void *self, struct ht_arrays *out) {
    const struct ht_device_stepper *t = self;
    *out = (struct ht_arrays){.device = t->r.device,
                              .fp64 = t->spec.fp64,
                              .block = t->spec.block,
                              .coefs = t->padded_coefs,
                              .storage = t->storage,
                              .window = t->r.partition.window};
    memcpy(out->u, t->u, sizeof out->u);
}

static const struct ht_stepper_ops stepper_ops = {
    .put = put,
    .get = get,
    .measure = measure,
    .archive = archive_state,
    .half_step = ht_runner_half_step,
    .repeat = ht_runner_repeat,
    .finish = ht_runner_finish,
    .destroy = destroy,
    .arrays = arrays,
    .traffic = ht_runner_traffic,
};

/* ---- making ---- */

static struct ht_tuning tuning_of(const struct ht_spec *spec, const struct ht_variant *variant) {
    return (struct ht_tuning){.variant = variant,
                              .fp64 = spec->fp64,
                              .trim = spec->trim,
                              .sorted = spec->sorted,
                              .block = spec->block};
}

static HT_ERR create_buffers(struct ht_device_stepper *t) {
    int64_t per_target = 0;
    bool work = false, leaves = false;
    HT_EACH_BY(i, const struct ht_kernels, k, t->region[i].kernels, t->regions) {
        const struct ht_variant *variant = k->variant;
        per_target = ht_most(per_target, ht_variant_poly_bytes(variant, &k->spec[0]));
        work = work || ht_variant_needs_work(variant);
        leaves = leaves || !variant->sorted;
    }
    list_buffers(t, per_target, work, ht_device_info(t->r.device));
    /* Gaps of the sorted order are cleared: variants that also read the plain order do not write
     * them, but other variants and the reductions read them. */
    const bool gaps = leaves && t->spec.sorted && t->padded_coefs > t->coefs;
    HT_EACH(const struct ht_stepper_buffer, b, t->buffer, t->buffers) {
        const bool zeros = b->use == HT_USE_LAYER || (b->use == HT_USE_FIELD && gaps);
        TRY((zeros ? ht_buffer_create_zeros : ht_buffer_create)(t->r.device, b->bytes, b->at));
    }
    for (enum ht_subgrid i = 0; i < 2; i++) {
        int n = 0;
        HT_EACH_STORED(f, &t->problem, i) t->stored[i][n++] = t->u[i][f];
    }
    for (int r = 0; r < t->regions; r++) {
        const struct ht_problem p = ht_problem_with_law(&t->problem, t->region[r].law);
        const struct ht_tuning tuning = tuning_of(&t->spec, NULL);
        const struct ht_spec law = ht_problem_spec(&p, &tuning, HT_PRIMARY);
        TRY(ht_buffer_write_reals(t->scale[r], t->spec.fp64, 0, law.eq->nterms, law.scale));
    }
    return HT_OK;
}

/* The profiles of layers along an axis at the indices of a window, [index][degree]. */
static HT_ERR fill_profiles(struct ht_device_stepper *t, enum ht_subgrid subgrid, int axis) {
    const struct ht_window *w = &t->r.partition.window[subgrid];
    const int coefs = t->problem.layers->profile_degree + 1;
    const int64_t count = w->count[axis] * coefs;
    HT_ARRAY(double, values, (HT_LAYER_PROFILES * count));
    for (int64_t m = 0; m < count; m++) {
        double at[HT_LAYER_PROFILES][HT_PROFILE_DEGREE + 1];
        ht_absorbing_profiles(t->problem.layers, axis,
                              ht_absorbing_at(subgrid, w->origin[axis] + m / coefs), at);
        for (int i = 0; i < HT_LAYER_PROFILES; i++) values[i * count + m] = at[i][m % coefs];
    }
    for (int i = 0; i < HT_LAYER_PROFILES; i++)
        TRY(ht_buffer_write_reals(t->profile[subgrid][axis][i], t->spec.fp64, 0, count,
                                  values + i * count));
    return HT_OK;
}

/* The polynomials of a sponge's damping along an axis, [coefficient][index in the window]; 1 behind
 * walls, where nothing is damped. */
static HT_ERR fill_jets(struct ht_device_stepper *t, enum ht_subgrid subgrid, int axis) {
    const struct ht_window *w = &t->r.partition.window[subgrid];
    const int64_t length = w->count[axis], values = length * (t->spec.order + 1);
    HT_ARRAY(double, wide, values);
    for (int64_t m = 0; m < length; m++) {
        double jets[HT_MAX_ORDER + 1] = {1};
        if (m >= w->held.begin[axis] && m < w->held.end[axis])
            ht_sponge_jets(&t->problem, subgrid, axis, w->origin[axis] + m, jets);
        for (int i = 0; i <= t->spec.order; i++) wide[i * length + m] = jets[i];
    }
    return ht_buffer_write_reals(t->jets[subgrid][axis], t->spec.fp64, 0, values, wide);
}

static HT_ERR make(struct ht_device_stepper *t, struct ht_device *device, int regions,
                   const struct ht_region *region) {
    TRY(ht_partition_make(&t->problem, regions, region, &t->r.partition));
    t->regions = regions;
    memcpy(t->region, region, (size_t)regions * sizeof *region);
    TRY(ht_runner_make(&t->r, &runner_ops, &t->problem, device));
    TRY(create_buffers(t));
    HT_EACH_BY(n, struct ht_layer_memory, m, &t->memory[n / 2][n % 2], 6) {
        const enum ht_subgrid i = (enum ht_subgrid)(n % 2);
        if (t->profile[i][n / 2][0] != NULL) TRY(fill_profiles(t, i, n / 2));
        if (t->jets[i][n / 2] != NULL) TRY(fill_jets(t, i, n / 2));
        if (m->u[HT_DUAL][0] != NULL)
            TRY(ht_window_ghosts(t->problem.grid, &m->window[HT_DUAL],
                                 &t->layer_ghosts[n / 2][n % 2]));
    }
    TRY(ht_injection_create(&t->problem, t->r.partition.window, t->kernels->injector,
                            &t->injection));
    for (enum ht_subgrid i = 0; i < 2; i++) {
        TRY(ht_window_ghosts(t->problem.grid, &t->r.partition.window[i], &t->ghosts[i]));
        TRY(fill_medium(t, i));
    }
    return HT_OK;
}

HT_ERR ht_stepper_create_regions(const struct ht_problem *problem, struct ht_device *device,
                                 int regions, const struct ht_region *region,
                                 struct ht_stepper *out) {
    const struct ht_kernels *kernels = region[0].kernels;
    const struct ht_tuning tuning = tuning_of(&kernels->spec[0], kernels->variant);
    struct ht_device_stepper *t = NULL;
    TRY(HT_ALLOC(t, 1));
    t->kernels = kernels;
    enum ht_err err = plan(problem, &tuning, t);
    if (err == HT_OK) err = make(t, device, regions, region);
    err = ht_comm_agree(problem->grid->slab.comm, err);
    if (err == HT_OK && ht_grid_cut(problem->grid)) {
        struct ht_halo halo = {.parts = 0};
        plan_halo(t, &tuning, kernels, &halo);
        err = ht_runner_connect(&t->r, problem, &halo);
    }
    if (err == HT_OK)
        *out = (struct ht_stepper){.ops = &stepper_ops, .self = t};
    else
        destroy(t);
    return err;
}

/* Of a grid with layers the regions are its boxes. */
enum ht_err ht_hermite_stepper_create(const struct ht_problem *problem, struct ht_device *device,
                                      const struct ht_kernels *kernels, struct ht_stepper *out) {
    struct ht_region region[HT_ABSORBING_BOXES] = {{.kernels = kernels}};
    const bool divided = ht_absorbing_axes(problem->layers) != 0;
    int regions = 1;
    memcpy(region[0].cells.end, problem->grid->cells, sizeof region[0].cells.end);
    if (divided) regions = ht_absorbing_boxes(problem->grid, problem->layers, region);
    for (int i = 0; i < regions; i++) {
        const unsigned axes = region[i].axes;
        if (axes != 0) region[i].law = &kernels->layers->law[axes];
        region[i].kernels = axes != 0 ? &kernels->layers->set[axes] : kernels;
    }
    return ht_stepper_create_regions(problem, device, regions, region, out);
}
