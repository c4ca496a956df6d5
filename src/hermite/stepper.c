/* The stepper on a device. The device holds both grids, one buffer per field, and the medium's
 * polynomials, one buffer per material; of a grid divided into slabs the planes of
 * htwave/schedule.h. A half step runs its schedule. */
#include "args.h"
#include "layout.h"
#include "src/solve/methods.h"
#include "stepper_private.h"
#include "tool_args.h"

/* ---- what it consists of ---- */

/* What needs no device. */
static enum ht_err plan(const struct ht_problem *p, const struct ht_tuning *tuning,
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
        for (int n = 0; n < 2 * fields; n++) {
            struct ht_layer_memory *m = &t->memory[k][n / fields];
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

/* From this list the buffers are counted, created and destroyed. The halo owns those of messages.
 */
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
        for (int n = 0; n < 6; n++) {
            const struct ht_layer_memory *m = &t->memory[n / 2][n % 2];
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
    if (ht_grid_cut(p->grid)) {
        plan_halo(&t, tuning, NULL, &halo);
        b.messages = ht_links_bytes(halo.link, &message);
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

void ht_device_stepper_destroy(void *self) {
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
static enum ht_err run_damp(void *self, const struct ht_task *task) {
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
        for (int f = 0; f < t->problem.eq->nfields; f++)
            if (t->u[to][f] != NULL)
                TRY(ht_sponge_multiply(t->sponge, task->part, &args, t->jets[to][axis],
                                       t->u[to][f]));
    }
    return HT_OK;
}

/* Fills the ghosts of the sources of a half step, all stored fields of the grid, and those of what
 * layers remember beside them. */
static enum ht_err run_ghosts(void *self, const struct ht_task *task) {
    struct ht_device_stepper *t = self;
    ht_sequence_branch(t->r.device, 1);
    TRY(ht_ghosts_fill(t->set[0].ghosts[task->pass], &t->ghosts[task->pass],
                       t->stored[task->pass]));
    if (task->pass == HT_DUAL) {
        /* Each axis and side is a branch of its own, from this one on. */
        for (int n = 0; n < 6; n++) {
            const struct ht_layer_memory *m = &t->memory[n / 2][n % 2];
            if (m->u[HT_DUAL][0] == NULL) continue;
            ht_sequence_branch(t->r.device, 2 + n);
            TRY(ht_ghosts_fill(t->layers->ghosts[n / 2], &t->layer_ghosts[n / 2][n % 2],
                               m->u[HT_DUAL]));
        }
    }
    ht_sequence_branch(t->r.device, 0);
    return HT_OK;
}

static enum ht_err run_step(void *self, const struct ht_task *task) {
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
    return ht_step_launch(t->set[t->set_of[targets->region]].step[from], task->part, &args,
                          &buffers);
}

static enum ht_err run_inject(void *self, const struct ht_task *task) {
    struct ht_device_stepper *t = self;
    const enum ht_subgrid to = task->pass == HT_PRIMARY ? HT_DUAL : HT_PRIMARY;
    const struct ht_box *planes = &task->targets.box;
    return ht_injection_add(t->injection, to, planes->begin[2], planes->end[2],
                            ht_window_nodes(&t->r.partition.window[to]), t->u[to]);
}

static enum ht_err before(void *self, enum ht_subgrid from) {
    struct ht_device_stepper *t = self;
    return t->injection != NULL ? ht_injection_begin(t->injection, from) : HT_OK;
}

/* Every time step launches the same where nothing depends on time and no library launches. */
static int64_t alike(void *self, int64_t *period) {
    const struct ht_device_stepper *t = self;
    bool same = t->injection == NULL;
    *period = 1;
    for (int i = 0; i < t->sets; i++) same = same && !ht_variant_needs_work(t->set[i].variant);
    return same ? INT64_MAX : 0;
}

void ht_hermite_schedule_passes(const struct ht_problem *problem, struct ht_passes *out) {
    const bool two_level = problem->scheme->two_level;
    *out = (struct ht_passes){.count = 2, .half = {{0, 1}, {1, 2}}};
    for (int i = 0; i < 2; i++) {
        const enum ht_subgrid from = i ? HT_DUAL : HT_PRIMARY, to = i ? HT_PRIMARY : HT_DUAL;
        const bool damped = ht_sponge_rate(problem, to) > 0;
        struct ht_pass *pass = &out->pass[i];
        /* Dual plane m lies between the primary planes m and m + 1. */
        *pass = (struct ht_pass){.number = i,
                                 .from = from,
                                 .to = to,
                                 .sources = 1u << from,
                                 .reads = two_level ? 1u << to : 0,
                                 .writes = 1u << to,
                                 .reach = {from == HT_DUAL, from == HT_PRIMARY}};
        if (damped && two_level) ht_pass_add(pass, HT_TASK_LAYERS);
        ht_pass_add(pass, HT_TASK_STEP);
        if (problem->duhamel != NULL) ht_pass_add(pass, HT_TASK_INJECT);
        if (damped) ht_pass_add(pass, HT_TASK_LAYERS);
    }
}

/* The stored fields at a plane's nodes, and memory variables in layers along x1 and x2, which have
 * nodes from the inner face or, on the dual grid, one before it. Layers along x3 are taken not to
 * reach the cut. */
double ht_hermite_message_values(const struct ht_problem *p, int array) {
    const enum ht_subgrid of = (enum ht_subgrid)array;
    const unsigned axes = ht_absorbing_axes(p->layers);
    if (array > 1) return 0;
    const double plane = (double)ht_grid_plane(p->grid, of);
    double values = plane * ht_problem_stored(p, of);
    struct ht_equations eq;
    if (axes == 0 || ht_equations_absorb(p->eq, axes, &eq) != HT_OK) return values;
    for (int n = 0; n < 4; n++) {
        const int axis = n / 2;
        const int64_t cells = p->layers->side[axis][n % 2].cells;
        if (cells > 0)
            values += ht_layer_fields(&eq, axis) * (double)(cells + 1) * plane /
                      (double)ht_grid_nodes(p->grid, of, axis);
    }
    return values;
}

static struct ht_task_seconds seconds_of(const void *self) {
    const struct ht_device_stepper *t = self;
    struct ht_task_seconds sum = {.ghosts = 0};
    for (int i = 0; i < t->sets; i++) {
        const struct ht_kernels *k = &t->set[i];
        for (int n = 0; n < 4; n++)
            if (n < 2 || k->step[1] != k->step[0])
                sum.part[n % 2] += ht_step_total(k->step[n / 2], (enum ht_step_part)(n % 2));
    }
    for (int i = 0; i < 2; i++) {
        sum.ghosts += ht_tool_total(t->set[0].ghosts[i], HT_PART_INTERIOR);
        sum.part[i] += ht_tool_total(t->sponge, (enum ht_step_part)i);
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

/* ---- making ---- */

static struct ht_tuning tuning_of(const struct ht_spec *spec, const struct ht_variant *variant) {
    return (struct ht_tuning){.variant = variant,
                              .fp64 = spec->fp64,
                              .trim = spec->trim,
                              .sorted = spec->sorted,
                              .block = spec->block};
}

/* The spec of a region's law, in the stepper's layout. */
static struct ht_spec spec_of(const struct ht_device_stepper *t, const struct ht_law *law) {
    const struct ht_problem p = ht_problem_with_law(&t->problem, law);
    const struct ht_tuning tuning = tuning_of(&t->spec, NULL);
    return ht_problem_spec(&p, &tuning, HT_PRIMARY);
}

/* Adds its kernels to the sets if they are new. */
static void add_region(struct ht_device_stepper *t, const struct ht_region *region) {
    int i = 0;
    while (i < t->sets && t->set[i].step[0] != region->kernels->step[0]) i++;
    if (i == t->sets) t->set[t->sets++] = *region->kernels;
    t->set_of[t->regions] = i;
    t->region[t->regions++] = *region;
}

/* Creates all buffers that the variants of the sets of kernels need. */
static enum ht_err create_buffers(struct ht_device_stepper *t) {
    int64_t per_target = 0;
    bool work = false, leaves = false;
    for (int i = 0; i < t->sets; i++) {
        const struct ht_variant *variant = t->set[i].variant;
        per_target = ht_most(per_target, ht_variant_poly_bytes(variant, &t->set[i].spec[0]));
        work = work || ht_variant_needs_work(variant);
        leaves = leaves || !variant->sorted;
    }
    list_buffers(t, per_target, work, ht_device_info(t->r.device));
    /* Gaps of the sorted order are cleared: variants that also read the plain order do not write
     * them, but other variants and the reductions read them. */
    const bool gaps = leaves && t->spec.sorted && t->padded_coefs > t->coefs;
    for (int i = 0; i < t->buffers; i++) {
        const struct ht_stepper_buffer *b = &t->buffer[i];
        const bool zeros = b->use == HT_USE_LAYER || (b->use == HT_USE_FIELD && gaps);
        TRY((zeros ? ht_buffer_create_zeros : ht_buffer_create)(t->r.device, b->bytes, b->at));
    }
    for (int i = 0; i < 2; i++)
        for (int f = 0, n = 0; f < t->problem.eq->nfields; f++)
            if (t->u[i][f] != NULL) t->stored[i][n++] = t->u[i][f];
    for (int r = 0; r < t->regions; r++) {
        const struct ht_spec law = spec_of(t, t->region[r].law);
        TRY(ht_buffer_write_reals(t->scale[r], t->spec.fp64, 0, law.eq->nterms, law.scale));
    }
    return HT_OK;
}

/* The profiles of layers along an axis at the indices of a window, [index][degree]. */
static enum ht_err fill_profiles(struct ht_device_stepper *t, enum ht_subgrid subgrid, int axis) {
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
static enum ht_err fill_jets(struct ht_device_stepper *t, enum ht_subgrid subgrid, int axis) {
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

static enum ht_err make(struct ht_device_stepper *t, struct ht_device *device, int regions,
                        const struct ht_region *region) {
    TRY(ht_partition_make(&t->problem, regions, region, &t->r.partition));
    for (int r = 0; r < regions; r++) add_region(t, &region[r]);
    TRY(ht_runner_make(&t->r, &runner_ops, &t->problem, device));
    TRY(create_buffers(t));
    for (int n = 0; n < 6; n++) {
        const enum ht_subgrid i = (enum ht_subgrid)(n % 2);
        if (t->profile[i][n / 2][0] != NULL) TRY(fill_profiles(t, i, n / 2));
        if (t->jets[i][n / 2] != NULL) TRY(fill_jets(t, i, n / 2));
        struct ht_layer_memory *m = &t->memory[n / 2][n % 2];
        if (m->u[HT_DUAL][0] != NULL)
            TRY(ht_window_ghosts(t->problem.grid, &m->window[HT_DUAL],
                                 &t->layer_ghosts[n / 2][n % 2]));
    }
    TRY(ht_injection_create(&t->problem, t->r.partition.window, &t->injection));
    if (t->injection != NULL) TRY(ht_injection_upload(t->injection, region[0].kernels->injector));
    for (enum ht_subgrid i = 0; i < 2; i++) {
        TRY(ht_window_ghosts(t->problem.grid, &t->r.partition.window[i], &t->ghosts[i]));
        TRY(ht_stepper_fill_medium(t, i));
    }
    return HT_OK;
}

enum ht_err ht_stepper_create_regions(const struct ht_problem *problem, struct ht_device *device,
                                      int regions, const struct ht_region *region,
                                      struct ht_stepper *out) {
    const struct ht_kernels *kernels = region[0].kernels;
    const struct ht_tuning tuning = tuning_of(&kernels->spec[0], kernels->variant);
    struct ht_device_stepper *t = NULL;
    TRY(HT_ALLOC(t, 1));
    t->layers = kernels->layers;
    t->sponge = kernels->sponge;
    enum ht_err err = plan(problem, &tuning, t);
    if (err == HT_OK) err = make(t, device, regions, region);
    err = ht_comm_agree(problem->grid->slab.comm, err);
    if (err == HT_OK && ht_grid_cut(problem->grid)) {
        struct ht_halo halo = {.parts = 0};
        plan_halo(t, &tuning, kernels, &halo);
        err = ht_runner_connect(&t->r, problem, &halo);
    }
    if (err == HT_OK)
        *out = (struct ht_stepper){.ops = &ht_device_stepper_ops, .self = t};
    else
        ht_device_stepper_destroy(t);
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
