/* The stepper on a device. The device holds both grids, one buffer per field, and the medium's
 * polynomials, one buffer per material; of a grid divided into slabs the planes of
 * htwave/schedule.h. A half step runs its schedule. */
#include "args.h"
#include "layout.h"
#include "src/solve/methods.h"
#include "stepper_private.h"
#include "tool_args.h"

/* The stepper's part for absorbing layers: memory variables in parts of the windows
 * (ht_absorbing_window), profiles along each axis. */

static int64_t field_bytes(const struct ht_spec *spec, const struct ht_window *window) {
    int storage[HT_MAX_COEFS];
    return HT_LAYOUT_SIZE(spec->block, ht_storage_order(spec, storage), ht_window_nodes(window)) *
           ht_real_size(spec->fp64);
}

/* Device bytes of the memory variables and profiles on this rank. */
static int64_t ht_stepper_layer_bytes(const struct ht_problem *p, const struct ht_spec *spec) {
    const unsigned axes = ht_absorbing_axes(p->layers);
    struct ht_layer_memory memory[3][2] = {{{.first = {{0}}}}};
    struct ht_equations eq;
    int64_t bytes = 0;
    if (axes == 0 || ht_equations_absorb(p->eq, axes, &eq) != HT_OK) return 0;
    ht_layer_windows(p, memory);
    for (int n = 0; n < 12; n++)
        bytes += ht_layer_fields(&eq, n / 4) *
                 field_bytes(spec, &memory[n / 4][n / 2 % 2].window[n % 2]);
    return bytes;
}

/* ---- making ---- */

static enum ht_err make_memory(struct ht_device_stepper *t, int axis, int side) {
    struct ht_layer_memory *m = &t->memory[axis][side];
    const int fields = ht_layer_fields(&t->layers->full, axis);
    for (int i = 0; i < 2; i++) {
        if (ht_window_nodes(&m->window[i]) == 0) continue;
        for (int f = 0; f < fields; f++)
            TRY(ht_buffer_create_zeros(t->r.device, field_bytes(&t->spec, &m->window[i]),
                                       &m->u[i][f]));
    }
    if (ht_window_nodes(&m->window[HT_DUAL]) == 0) return HT_OK;
    return ht_window_ghosts(t->problem.grid, &m->window[HT_DUAL], &t->layer_ghosts[axis][side]);
}

/* The profiles of an axis at the indices of a window, [index][degree]. */
static enum ht_err make_profiles(struct ht_device_stepper *t, enum ht_subgrid subgrid, int axis) {
    const struct ht_window *w = &t->r.partition.window[subgrid];
    const int coefs = t->problem.layers->profile_degree + 1;
    const int64_t count = w->count[axis] * coefs;
    HT_ARRAY(double, values, (HT_LAYER_PROFILES * count));
    for (int64_t m = 0; m < count; m++) {
        const int64_t node = w->origin[axis] + m / coefs;
        double at[HT_LAYER_PROFILES][HT_PROFILE_DEGREE + 1];
        ht_absorbing_profiles(t->problem.layers, axis, ht_absorbing_at(subgrid, node), at);
        for (int i = 0; i < HT_LAYER_PROFILES; i++) values[i * count + m] = at[i][m % coefs];
    }
    for (int i = 0; i < HT_LAYER_PROFILES; i++)
        TRY(ht_buffer_create_reals(t->r.device, t->spec.fp64, count, values + i * count,
                                   &t->profile[subgrid][axis][i]));
    return HT_OK;
}

/* ---- a step ---- */

static struct ht_part_place place_of(const struct ht_layer_memory *m, enum ht_subgrid subgrid) {
    const struct ht_window *w = &m->window[subgrid];
    const int64_t *first = m->first[subgrid];
    return (struct ht_part_place){.first = (long)ht_window_at(w, first[0], first[1], first[2]),
                                  .row = (long)ht_window_row(w),
                                  .plane = (long)ht_window_plane(w),
                                  .nodes = (long)ht_window_nodes(w)};
}

static struct ht_part_place whole_window(const struct ht_device_stepper *t,
                                         enum ht_subgrid subgrid) {
    const struct ht_window *w = &t->r.partition.window[subgrid];
    return (struct ht_part_place){.row = (long)ht_window_row(w),
                                  .plane = (long)ht_window_plane(w),
                                  .nodes = (long)ht_window_nodes(w)};
}

/* Adds what the kernels of a region of layers get besides its fields, and turns the arguments to
 * the order of the kernel's axes. */
static void ht_stepper_add_layers(const struct ht_device_stepper *t, const struct ht_region *region,
                                  enum ht_subgrid from, struct ht_step_args *args,
                                  struct ht_step_buffers *buffers) {
    const enum ht_subgrid to = from == HT_PRIMARY ? HT_DUAL : HT_PRIMARY;
    const struct ht_equations *eq = region->law != NULL ? region->law->eq : NULL;
    int number[3] = {0}, profile[3] = {0}, layers = 0;
    if (eq == NULL) return;
    args->stages = t->problem.layers->stages;
    args->src_part[0] = whole_window(t, from);
    args->dst_part[0] = whole_window(t, to);
    for (int axis = 0; axis < 3; axis++) {
        if (!ht_equations_layer(eq, axis)) continue;
        const struct ht_layer_memory *m = &t->memory[axis][region->side[axis]];
        args->src_part[++layers] = place_of(m, from);
        args->dst_part[layers] = place_of(m, to);
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

/* ---- sponge ---- */

/* The stepper's part for a sponge: the polynomials of its damping along each axis, and the products
 * with them. They are done node by node, so that the planes beyond a slab get what their owner
 * computes. */

static int64_t jet_values(const struct ht_problem *p, enum ht_subgrid subgrid, int axis) {
    const struct ht_window window = ht_problem_window(p, subgrid);
    return (p->grid->order + 1) * window.count[axis];
}

/* ---- making ---- */

/* [coefficient][index in the window]; 1 behind walls, where nothing is damped. */
static enum ht_err make_jets(struct ht_device_stepper *t, enum ht_subgrid subgrid, int axis) {
    const struct ht_window *w = &t->r.partition.window[subgrid];
    const int64_t values = jet_values(&t->problem, subgrid, axis);
    const int64_t length = w->count[axis];
    HT_ARRAY(double, wide, values);
    for (int64_t m = 0; m < length; m++) {
        double jets[HT_MAX_ORDER + 1] = {1};
        if (m >= w->held.begin[axis] && m < w->held.end[axis])
            ht_sponge_jets(&t->problem, subgrid, axis, w->origin[axis] + m, jets);
        for (int i = 0; i <= t->spec.order; i++) wide[i * length + m] = jets[i];
    }
    return ht_buffer_create_reals(t->r.device, t->spec.fp64, values, wide, &t->jets[subgrid][axis]);
}

/* ---- a half step ---- */

/* Damps the planes of a task on the target grid of its half step. */
static enum ht_err ht_stepper_damp(void *self, const struct ht_task *task) {
    struct ht_device_stepper *t = self;
    const enum ht_subgrid to = task->pass == HT_PRIMARY ? HT_DUAL : HT_PRIMARY;
    for (int axis = 0; axis < 3; axis++) {
        if (t->jets[to][axis] == NULL) continue;
        /* The nodes of a box in the layers of an axis. */
        const struct ht_box *box = &task->targets.box;
        const struct ht_window *w = &t->r.partition.window[to];
        const struct ht_layer *side = t->problem.layers->side[axis];
        const int64_t nodes = ht_grid_nodes(t->problem.grid, to, axis);
        const int64_t begin = box->begin[axis], end = box->end[axis];
        const int64_t low = ht_most(ht_least(side[0].cells - w->origin[axis], end) - begin, 0);
        const int64_t high = ht_most(nodes - side[1].cells - w->origin[axis], begin);
        struct ht_sponge_args args = {.row = (long)ht_window_row(w),
                                      .plane = (long)ht_window_plane(w),
                                      .nodes = (long)ht_window_nodes(w),
                                      .low = (long)low,
                                      .skip = (long)(high - begin - low),
                                      .length = (long)w->count[axis],
                                      .axis = axis};
        for (int k = 0; k < 3; k++) {
            args.begin[k] = (long)box->begin[k];
            args.count[k] = (long)(box->end[k] - box->begin[k]);
        }
        args.count[axis] = (long)(low + ht_most(end - high, 0));
        for (int f = 0; f < t->problem.eq->nfields; f++)
            if (t->u[to][f] != NULL)
                TRY(ht_sponge_multiply(t->sponge, task->part, &args, t->jets[to][axis],
                                       t->u[to][f]));
    }
    return HT_OK;
}

/* The buffers of the stepper on a device as one list, from which the budget is counted and the
 * buffers are created. The halo owns the message buffers. */

enum use { FIELD, MEDIUM, INTERPOLANT, WORK };

struct item {
    enum use use;
    enum ht_subgrid subgrid;
    int index; /* of the field, material, interpolant */
    int64_t bytes;
};
struct list {
    int count;
    struct item item[3 * HT_MAX_FIELDS + 2 * HT_MAX_MATERIALS + 1];
    int64_t scale_bytes; /* of a region, of any law */
    int64_t poly_planes;
};

static int64_t larger(int64_t a, int64_t b) {
    return a > b ? a : b;
}

static void add_item(struct list *list, enum use use, int subgrid, int index, int64_t bytes) {
    list->item[list->count++] = (struct item){use, subgrid ? HT_DUAL : HT_PRIMARY, index, bytes};
}

static void list_buffers(const struct ht_problem *p, const struct ht_spec *spec, int64_t per_target,
                         bool work, const struct ht_device_info *info, struct list *list) {
    *list = (struct list){0};
    for (int subgrid = 0; subgrid < 2; subgrid++) {
        const enum ht_subgrid which = subgrid ? HT_DUAL : HT_PRIMARY;
        const struct ht_window window = ht_problem_window(p, which);
        const int64_t nodes = ht_window_nodes(&window), element_size = ht_real_size(spec->fp64);
        int storage[HT_MAX_COEFS];
        int64_t field =
            HT_LAYOUT_SIZE(spec->block, ht_storage_order(spec, storage), nodes) * element_size;
        for (int f = 0; f < p->eq->nfields; f++)
            if (ht_problem_stores(p, which, f)) add_item(list, FIELD, subgrid, f, field);
        for (int m = 0; p->medium_degree >= 0 && m < p->eq->nmaterials; m++)
            add_item(list, MEDIUM, subgrid, m, nodes * p->medium_coefs * element_size);
    }
    if (per_target > 0) {
        /* Interpolants of as many planes as fit about an eighth of the device's memory, at least
         * one. work: one more buffer, and each of less than 2^31 values. */
        int64_t planes = larger(ht_problem_window(p, HT_PRIMARY).count[2],
                                ht_problem_window(p, HT_DUAL).count[2]);
        int64_t per_plane = per_target * larger(ht_grid_plane(p->grid, HT_PRIMARY),
                                                ht_grid_plane(p->grid, HT_DUAL));
        int sources = (int)larger(ht_problem_stored(p, HT_PRIMARY), ht_problem_stored(p, HT_DUAL));
        int64_t room = larger(info->memory / 8 / (sources + work), 1);
        int64_t most = INT32_MAX * (int64_t)ht_real_size(spec->fp64);
        if (work && room > most) room = most;
        if (room > info->max_buffer) room = info->max_buffer;
        list->poly_planes = larger(1, room / per_plane);
        if (list->poly_planes > planes) list->poly_planes = planes;
        for (int f = 0; f < sources; f++)
            add_item(list, INTERPOLANT, 0, f, list->poly_planes * per_plane);
        if (work) add_item(list, WORK, 0, 0, list->poly_planes * per_plane);
    }
    list->scale_bytes = HT_MAX_TERMS * (int64_t)ht_real_size(spec->fp64);
}

/* ---- what is exchanged ---- */

/* A grid's fields, and the memory variables of absorbing layers, of each axis and side as far as
 * they have nodes in its planes. t, kernels: NULL before there is a device. */
static enum ht_err plan_halo(const struct ht_problem *p, const struct ht_tuning *tuning,
                             struct ht_device_stepper *t, const struct ht_kernels *kernels,
                             struct ht_halo *out) {
    struct ht_layer_memory memory[3][2] = {{{.first = {{0}}}}};
    struct ht_layer_memory(*of)[2] = t != NULL ? t->memory : memory;
    struct ht_equations eq;
    struct ht_passes passes;
    TRY(ht_equations_absorb(p->eq, ht_absorbing_axes(p->layers), &eq));
    ht_layer_windows(p, memory);
    for (int i = 0; i < 2; i++) {
        const struct ht_window window = ht_problem_window(p, i ? HT_DUAL : HT_PRIMARY);
        struct ht_halo_part *part = ht_halo_add(out, i, &window);
        part->format = ht_problem_format(p, tuning, i ? HT_DUAL : HT_PRIMARY);
        if (t != NULL) part->u = t->stored[i];
        if (t != NULL) part->packer = kernels->packer[i];
        for (int n = 0; n < 6; n++) {
            const struct ht_layer_memory *m = &of[n / 2][n % 2];
            if (ht_window_nodes(&m->window[i]) == 0) continue;
            part = &out->part[out->parts++];
            *part = (struct ht_halo_part){
                .array = i, .window = m->window[i], .first = m->first[i][2], .u = m->u[i]};
            part->format = ht_layer_format(p, tuning, ht_layer_fields(&eq, n / 2));
            if (t != NULL) part->packer = kernels->layers->packer[n / 2];
        }
    }
    ht_schedule_passes(p, &passes);
    ht_halo_plan(p, 1, (const struct ht_passes *const[]){&passes}, out);
    return HT_OK;
}

static int64_t message_bytes(const struct ht_problem *p, const struct ht_tuning *tuning,
                             int64_t *largest) {
    struct ht_halo halo = {.parts = 0};
    *largest = 0;
    if (!ht_grid_cut(p->grid) || plan_halo(p, tuning, NULL, NULL, &halo) != HT_OK) return 0;
    return ht_links_bytes(halo.link, largest);
}

struct ht_budget ht_hermite_stepper_budget(const struct ht_problem *p,
                                           const struct ht_tuning *tuning,
                                           const struct ht_device_info *info) {
    const struct ht_spec spec = ht_problem_spec(p, tuning, HT_PRIMARY);
    struct ht_budget b = {0};
    struct list list;
    int64_t message;
    list_buffers(p, &spec, ht_variant_poly_bytes(tuning->variant, &spec),
                 ht_variant_needs_work(tuning->variant), info, &list);
    for (int i = 0; i < list.count; i++) {
        const struct item *item = &list.item[i];
        if (item->use == FIELD) b.state += item->bytes;
        if (item->use == MEDIUM) b.medium += item->bytes;
        if (item->use == INTERPOLANT || item->use == WORK) b.interpolants += item->bytes;
        b.largest_buffer = larger(b.largest_buffer, item->bytes);
        b.total += item->bytes;
    }
    b.total += list.scale_bytes + ht_injection_bytes(p, &spec);
    b.poly_planes = list.poly_planes;
    b.messages = message_bytes(p, tuning, &message);
    b.largest_buffer = larger(b.largest_buffer, message);
    b.total += b.messages;
    /* Device bytes of the polynomials of a sponge on this rank. */
    int64_t values = 0;
    for (int n = 0; n < 6; n++) {
        const enum ht_subgrid subgrid = n % 2 ? HT_DUAL : HT_PRIMARY;
        if (ht_sponge_damps(p, subgrid, n / 2)) values += jet_values(p, subgrid, n / 2);
    }
    b.layers = ht_stepper_layer_bytes(p, &spec) + (values * ht_real_size(spec.fp64));
    b.state += b.layers;
    b.total += b.layers;
    return b;
}

static struct ht_buffer **buffer_of(struct ht_device_stepper *t, const struct item *item) {
    switch (item->use) {
    case FIELD:
        return &t->u[item->subgrid][item->index];
    case MEDIUM:
        return &t->medium[item->subgrid][item->index];
    case INTERPOLANT:
        return &t->poly[item->index];
    default:
        return &t->work;
    }
}

/* Whether the gaps of the sorted order must be cleared: variants that also read the plain order do
 * not write them, but other variants and the reductions read them. */
static bool leaves_gaps(const struct ht_device_stepper *t) {
    bool leaves = false;
    for (int i = 0; i < t->sets; i++) leaves = leaves || !t->set[i].variant->sorted;
    return leaves && t->spec.sorted && t->padded_coefs > t->coefs;
}

static void stepper_destroy(void *self) {
    struct ht_device_stepper *t = self;
    if (t == NULL) return;
    ht_runner_free(&t->r);
    ht_injection_destroy(t->injection);
    for (int subgrid = 0; subgrid < 2; subgrid++) {
        for (int f = 0; f < HT_MAX_FIELDS; f++) ht_buffer_destroy(t->u[subgrid][f]);
        for (int m = 0; m < HT_MAX_MATERIALS; m++) ht_buffer_destroy(t->medium[subgrid][m]);
    }
    for (int f = 0; f < HT_MAX_FIELDS; f++) ht_buffer_destroy(t->poly[f]);
    ht_buffer_destroy(t->work);
    for (int n = 0; n < 12; n++) {
        struct ht_layer_memory *m = &t->memory[n / 4][n / 2 % 2];
        for (int f = 0; f < HT_MAX_FIELDS; f++) ht_buffer_destroy(m->u[n % 2][f]);
    }
    for (int n = 0; n < 6; n++)
        for (int i = 0; i < HT_LAYER_PROFILES; i++) ht_buffer_destroy(t->profile[n % 2][n / 2][i]);
    for (int n = 0; n < 6; n++) ht_buffer_destroy(t->jets[n % 2][n / 2]);
    free(t->region);
    for (int r = 0; t->scale != NULL && r < t->regions; r++) ht_buffer_destroy(t->scale[r]);
    free(t->scale);
    free(t->set);
    free(t->set_of);
    free(t);
}

/* ---- tasks ---- */

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
    enum ht_subgrid from = (enum ht_subgrid)task->pass;
    enum ht_subgrid to = from == HT_PRIMARY ? HT_DUAL : HT_PRIMARY;
    const struct ht_window *source = &t->r.partition.window[from];
    const struct ht_window *target = &t->r.partition.window[to];
    const struct ht_targets *targets = &task->targets;
    struct ht_step_args args = {.src_row = (long)ht_window_row(source),
                                .src_plane = (long)ht_window_plane(source),
                                .src_nodes = (long)ht_window_nodes(source),
                                .dst_row = (long)ht_window_row(target),
                                .dst_plane = (long)ht_window_plane(target),
                                .dst_nodes = (long)ht_window_nodes(target),
                                .stages = t->problem.stages};
    int64_t shift[3], period[3];
    struct ht_step_buffers buffers = {
        .scale = t->scale[targets->region], .work = t->work, .poly_planes = t->poly_planes};
    ht_window_shift(t->problem.grid, from, source, target, shift, period);
    for (int k = 0; k < 3; k++) {
        args.shift[k] = (long)shift[k];
        args.period[k] = (long)period[k];
        args.begin[k] = (long)targets->box.begin[k];
        args.end[k] = (long)targets->box.end[k];
    }
    memcpy(buffers.src, t->u[from], sizeof buffers.src);
    memcpy(buffers.dst, t->u[to], sizeof buffers.dst);
    memcpy(buffers.poly, t->poly, sizeof buffers.poly);
    memcpy(buffers.medium, t->medium[to], sizeof buffers.medium);
    ht_stepper_add_layers(t, &t->region[targets->region], from, &args, &buffers);
    const int set = t->set_of[targets->region];
    return ht_step_launch(t->set[set].step[from], task->part, &args, &buffers);
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

/* ---- timers ---- */

static struct ht_task_seconds seconds_of(const void *self) {
    const struct ht_device_stepper *t = self;
    struct ht_task_seconds sum = {.ghosts = 0};
    for (int i = 0; i < t->sets; i++) {
        const struct ht_kernels *k = &t->set[i];
        for (int n = 0; n < 4; n++)
            if (n < 2 || k->step[1] != k->step[0])
                sum.part[n % 2] += ht_step_total(k->step[n / 2], (enum ht_step_part)(n % 2));
    }
    for (int subgrid = 0; subgrid < 2; subgrid++)
        sum.ghosts += ht_tool_total(t->set[0].ghosts[subgrid], HT_PART_INTERIOR);
    for (int i = 0; i < 2; i++) sum.part[i] += ht_tool_total(t->sponge, (enum ht_step_part)i);
    sum.part[HT_PART_INTERIOR] += sum.ghosts;
    return sum;
}

static const struct ht_runner_ops runner_ops = {
    .task = {[HT_TASK_GHOSTS] = run_ghosts,
             [HT_TASK_STEP] = run_step,
             [HT_TASK_INJECT] = run_inject,
             [HT_TASK_LAYERS] = ht_stepper_damp},
    .before = before,
    .alike = alike,
    .seconds = seconds_of,
};
static void stepper_arrays(const void *self, struct ht_arrays *out) {
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
    .put = ht_stepper_put,
    .get = ht_stepper_get,
    .measure = ht_stepper_measure,
    .archive = ht_stepper_archive,
    .half_step = ht_runner_half_step,
    .repeat = ht_runner_repeat,
    .finish = ht_runner_finish,
    .destroy = stepper_destroy,
    .arrays = stepper_arrays,
    .traffic = ht_runner_traffic,
};

/* ---- making ---- */

/* Whether the operator that a program contains differs from the problem's. */
static bool operator_differs(const struct ht_spec *baked, const struct ht_spec *wanted) {
    bool differs = baked->stages != wanted->stages;
    for (int t = 0; t < wanted->eq->nterms; t++)
        differs = differs || baked->scale[t] != wanted->scale[t];
    return differs;
}

/* The spec of a region's law, in the stepper's layout. */
static struct ht_spec spec_of(const struct ht_device_stepper *t, const struct ht_law *law) {
    const struct ht_problem p = ht_problem_with_law(&t->problem, law);
    const struct ht_tuning tuning = {.fp64 = t->spec.fp64,
                                     .trim = t->spec.trim,
                                     .sorted = t->spec.sorted,
                                     .block = t->spec.block};
    return ht_problem_spec(&p, &tuning, HT_PRIMARY);
}

static enum ht_err add_regions(struct ht_device_stepper *t, struct ht_device *device, int regions,
                               const struct ht_region *region) {
    t->regions = regions;
    TRY(HT_ALLOC(t->region, regions));
    memcpy(t->region, region, (size_t)regions * sizeof *region);
    TRY(ht_partition_make(&t->problem, regions, region, &t->r.partition));
    TRY(HT_ALLOC(t->set, regions));
    TRY(HT_ALLOC(t->set_of, regions));
    TRY(HT_ALLOC(t->scale, regions));
    for (int r = 0; r < regions; r++) {
        /* The medium's values at the nodes are the first of its polynomials' coefficients, of
         * whatever degree. */
        const int degree = t->problem.medium_degree;
        REQUIRE(region[r].law == NULL || region[r].law->medium_degree == degree ||
                    region[r].law->medium_degree < 0 ||
                    (region[r].law->medium_degree == 0 && degree > 0),
                HT_ERR_INTERNAL, "a law of degree %d in a medium of degree %d",
                region[r].law->medium_degree, degree);
        const struct ht_spec law = spec_of(t, region[r].law);
        /* *out: the number of a set of kernels, which is added if it is new. */
        const struct ht_kernels *kernels = region[r].kernels;
        int i = 0;
        /* law: the spec of a region. */
        const struct ht_spec *spec = &kernels->spec[0];
        REQUIRE(spec->medium_degree == law.medium_degree &&
                    (kernels->variant->pack == NULL || !operator_differs(spec, &law)),
                HT_ERR_INTERNAL, "kernels of another step or medium");
        REQUIRE(spec->fp64 == t->spec.fp64 && spec->block == t->spec.block &&
                    spec->sorted == t->spec.sorted && spec->order == t->spec.order,
                HT_ERR_INTERNAL, "kernels of another precision, layout or order");
        while (i < t->sets && t->set[i].step[0] != kernels->step[0]) i++;
        if (i == t->sets) t->set[t->sets++] = *kernels;
        t->set_of[r] = i;
    }
    return ht_runner_make(&t->r, &runner_ops, &t->problem, device);
}

static enum ht_err make_injection(struct ht_device_stepper *t, const struct ht_kernels *kernels) {
    if (t->problem.duhamel == NULL) return HT_OK;
    REQUIRE(kernels->injector, HT_ERR_INTERNAL, "no kernel of sources");
    TRY(ht_injection_create(&t->problem, t->r.partition.window, &t->injection));
    return ht_injection_upload(t->injection, kernels->injector);
}

static enum ht_err make_parts(struct ht_device_stepper *t, struct ht_device *device, int regions,
                              const struct ht_region *region) {
    t->element_size = ht_real_size(t->spec.fp64);
    t->coefs = ht_grid_coefs(t->problem.grid);
    t->padded_coefs = ht_storage_order(&t->spec, t->storage);
    TRY(add_regions(t, device, regions, region));
    /* Creates all buffers that the variants of the sets of kernels need. */
    int64_t per_target = 0;
    int stored[2] = {0, 0};
    struct list list;
    bool work = false;
    for (int i = 0; i < t->sets; i++) {
        const struct ht_variant *variant = t->set[i].variant;
        per_target = larger(per_target, ht_variant_poly_bytes(variant, &t->set[i].spec[0]));
        work = work || ht_variant_needs_work(variant);
    }
    list_buffers(&t->problem, &t->spec, per_target, work, ht_device_info(t->r.device), &list);
    t->poly_planes = list.poly_planes;
    for (int i = 0; i < list.count; i++) {
        const struct item *item = &list.item[i];
        const bool zeros = item->use == FIELD && leaves_gaps(t);
        TRY((zeros ? ht_buffer_create_zeros : ht_buffer_create)(t->r.device, item->bytes,
                                                                buffer_of(t, item)));
        if (item->use == FIELD)
            t->stored[item->subgrid][stored[item->subgrid]++] = *buffer_of(t, item);
    }
    for (int r = 0; r < t->regions; r++)
        TRY(ht_buffer_create(t->r.device, list.scale_bytes, &t->scale[r]));
    /* Creates them, all zero; nothing without layers. */
    const unsigned axes = ht_absorbing_axes(t->problem.layers);
    ht_layer_windows(&t->problem, t->memory);
    for (int axis = 0; axis < 3; axis++) {
        if ((axes >> axis & 1u) == 0) continue;
        for (int side = 0; side < 2; side++) TRY(make_memory(t, axis, side));
        for (int subgrid = 0; subgrid < 2; subgrid++)
            TRY(make_profiles(t, subgrid ? HT_DUAL : HT_PRIMARY, axis));
    }
    /* Creates them; nothing without a sponge. */
    for (int n = 0; n < 6; n++) {
        const enum ht_subgrid subgrid = n % 2 ? HT_DUAL : HT_PRIMARY;
        if (!ht_sponge_damps(&t->problem, subgrid, n / 2)) continue;
        REQUIRE(t->sponge != NULL, HT_ERR_INTERNAL, "no kernel of a sponge");
        TRY(make_jets(t, subgrid, n / 2));
    }
    for (int r = 0; r < regions; r++) {
        const struct ht_spec law = spec_of(t, region[r].law);
        TRY(ht_buffer_write_reals(t->scale[r], t->spec.fp64, 0, law.eq->nterms, law.scale));
    }
    TRY(make_injection(t, region[0].kernels));
    for (int subgrid = 0; subgrid < 2; subgrid++) {
        TRY(ht_window_ghosts(t->problem.grid, &t->r.partition.window[subgrid],
                             &t->ghosts[subgrid]));
        TRY(ht_stepper_fill_medium(t, subgrid ? HT_DUAL : HT_PRIMARY));
    }
    return HT_OK;
}

enum ht_err ht_stepper_create_regions(const struct ht_problem *problem, struct ht_device *device,
                                      int regions, const struct ht_region *region,
                                      struct ht_stepper *out) {
    const struct ht_kernels *kernels = region[0].kernels;
    const struct ht_spec *spec = &kernels->spec[0];
    const struct ht_tuning tuning = {.variant = kernels->variant,
                                     .fp64 = spec->fp64,
                                     .trim = spec->trim,
                                     .sorted = spec->sorted,
                                     .block = spec->block};
    struct ht_device_stepper *t = NULL;
    TRY(HT_ALLOC(t, 1));
    t->problem = *problem;
    t->spec = ht_problem_spec(problem, &tuning, HT_PRIMARY);
    t->layers = kernels->layers;
    t->sponge = ht_sponge_rate(problem, HT_PRIMARY) > 0 ? kernels->sponge : NULL;
    enum ht_err err = make_parts(t, device, regions, region);
    if (ht_grid_cut(problem->grid)) {
        struct ht_halo halo = {.parts = 0};
        err = ht_comm_agree(problem->grid->slab.comm, err);
        if (err == HT_OK) err = plan_halo(problem, &tuning, t, kernels, &halo);
        if (err == HT_OK) err = ht_runner_connect(&t->r, problem, &halo);
    }
    if (err != HT_OK) {
        stepper_destroy(t);
        return err;
    }
    *out = (struct ht_stepper){.ops = &stepper_ops, .self = t};
    return HT_OK;
}

enum ht_err ht_hermite_stepper_create(const struct ht_problem *problem, struct ht_device *device,
                                      const struct ht_kernels *kernels, struct ht_stepper *out) {
    struct ht_region region[HT_ABSORBING_BOXES] = {{.kernels = kernels}};
    int regions = 1;
    for (int k = 0; k < 3; k++) region[0].cells.end[k] = problem->grid->cells[k];
    if (ht_absorbing_axes(problem->layers) != 0)
        regions = ht_layer_regions(problem, kernels, region);
    return ht_stepper_create_regions(problem, device, regions, region, out);
}
