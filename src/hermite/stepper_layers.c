/* The stepper's part for absorbing layers: memory variables in parts of the windows
 * (ht_absorbing_window), profiles along each axis.
 */
#include <stdlib.h>

#include "args.h"
#include "layout.h"
#include "stepper_private.h"
#include "tool_args.h"

static int64_t field_bytes(const struct ht_spec *spec, const struct ht_window *window) {
    int storage[HT_MAX_COEFS];
    return HT_LAYOUT_SIZE(spec->block, ht_storage_order(spec, storage), ht_window_nodes(window)) *
           ht_real_size(spec->fp64);
}

int64_t ht_stepper_layer_bytes(const struct ht_problem *p, const struct ht_spec *spec) {
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

static enum ht_err create_zeros(const struct ht_device_stepper *t, int64_t bytes,
                                struct ht_buffer **out) {
    const struct ht_span span = {.width = bytes, .pitch = bytes, .rows = 1};
    HT_FREED void *zeros = NULL;
    TRY(ht_mem_alloc((size_t)bytes, 1, &zeros));
    TRY(ht_buffer_create(t->r.device, bytes, out));
    return ht_buffer_write(*out, span, zeros);
}

static enum ht_err make_memory(struct ht_device_stepper *t, int axis, int side) {
    struct ht_layer_memory *m = &t->memory[axis][side];
    const int fields = ht_layer_fields(&t->layers->full, axis);
    for (int i = 0; i < 2; i++) {
        if (ht_window_nodes(&m->window[i]) == 0) continue;
        for (int f = 0; f < fields; f++)
            TRY(create_zeros(t, field_bytes(&t->spec, &m->window[i]), &m->u[i][f]));
    }
    if (ht_window_nodes(&m->window[HT_DUAL]) == 0) return HT_OK;
    return ht_window_ghosts(t->problem.grid, &m->window[HT_DUAL], &t->layer_ghosts[axis][side]);
}

/* The profiles of an axis at the indices of a window, [index][degree]. */
static enum ht_err make_profiles(struct ht_device_stepper *t, enum ht_subgrid subgrid, int axis) {
    const struct ht_window *w = &t->r.partition.window[subgrid];
    const int coefs = t->problem.layers->profile_degree + 1;
    const int64_t count = w->count[axis] * coefs;
    HT_FREED double *values = NULL;
    TRY(HT_ALLOC(values, HT_LAYER_PROFILES * count));
    for (int64_t m = 0; m < count; m++) {
        const int64_t node = w->origin[axis] + m / coefs;
        double at[HT_LAYER_PROFILES][HT_PROFILE_DEGREE + 1];
        ht_absorbing_profiles(t->problem.layers, axis, ht_absorbing_at(subgrid, node), at);
        for (int i = 0; i < HT_LAYER_PROFILES; i++) values[i * count + m] = at[i][m % coefs];
    }
    for (int i = 0; i < HT_LAYER_PROFILES; i++) {
        struct ht_buffer **to = &t->profile[subgrid][axis][i];
        TRY(ht_buffer_create(t->r.device, count * t->element_size, to));
        TRY(ht_buffer_write_reals(*to, t->spec.fp64, 0, count, values + i * count));
    }
    return HT_OK;
}

enum ht_err ht_stepper_make_layers(struct ht_device_stepper *t) {
    const unsigned axes = ht_absorbing_axes(t->problem.layers);
    ht_layer_windows(&t->problem, t->memory);
    for (int axis = 0; axis < 3; axis++) {
        if ((axes >> axis & 1u) == 0) continue;
        for (int side = 0; side < 2; side++) TRY(make_memory(t, axis, side));
        for (int subgrid = 0; subgrid < 2; subgrid++)
            TRY(make_profiles(t, subgrid ? HT_DUAL : HT_PRIMARY, axis));
    }
    return HT_OK;
}

void ht_stepper_free_layers(struct ht_device_stepper *t) {
    for (int n = 0; n < 12; n++) {
        struct ht_layer_memory *m = &t->memory[n / 4][n / 2 % 2];
        for (int f = 0; f < HT_MAX_FIELDS; f++) ht_buffer_destroy(m->u[n % 2][f]);
    }
    for (int n = 0; n < 6; n++)
        for (int i = 0; i < HT_LAYER_PROFILES; i++) ht_buffer_destroy(t->profile[n % 2][n / 2][i]);
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

void ht_stepper_add_layers(const struct ht_device_stepper *t, const struct ht_region *region,
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

enum ht_err ht_stepper_layer_ghosts(const struct ht_device_stepper *t, int branch) {
    for (int n = 0; n < 6; n++) {
        const struct ht_layer_memory *m = &t->memory[n / 2][n % 2];
        if (m->u[HT_DUAL][0] == NULL) continue;
        ht_sequence_branch(t->r.device, branch + n);
        TRY(ht_ghosts_fill(t->layers->ghosts[n / 2], &t->layer_ghosts[n / 2][n % 2],
                           m->u[HT_DUAL]));
    }
    return HT_OK;
}

/* ---- sponge ---- */

/* The stepper's part for a sponge: the polynomials of its damping along each axis, and the products
 * with them. They are done node by node, so that the planes beyond a slab get what their owner
 * computes.
 */

static int64_t jet_values(const struct ht_problem *p, enum ht_subgrid subgrid, int axis) {
    const struct ht_window window = ht_problem_window(p, subgrid);
    return (p->grid->order + 1) * window.count[axis];
}

int64_t ht_stepper_sponge_bytes(const struct ht_problem *p, bool fp64) {
    int64_t values = 0;
    for (int n = 0; n < 6; n++) {
        const enum ht_subgrid subgrid = n % 2 ? HT_DUAL : HT_PRIMARY;
        if (ht_sponge_damps(p, subgrid, n / 2)) values += jet_values(p, subgrid, n / 2);
    }
    return values * ht_real_size(fp64);
}

/* ---- making ---- */

/* [coefficient][index in the window]; 1 behind walls, where nothing is damped.
 */
static enum ht_err make_jets(struct ht_device_stepper *t, enum ht_subgrid subgrid, int axis) {
    const struct ht_window *w = &t->r.partition.window[subgrid];
    const int64_t values = jet_values(&t->problem, subgrid, axis);
    const int64_t length = w->count[axis];
    struct ht_buffer **to = &t->jets[subgrid][axis];
    HT_FREED double *wide = NULL;
    TRY(HT_ALLOC(wide, values));
    for (int64_t m = 0; m < length; m++) {
        double jets[HT_MAX_ORDER + 1] = {1};
        if (m >= w->held.begin[axis] && m < w->held.end[axis])
            ht_sponge_jets(&t->problem, subgrid, axis, w->origin[axis] + m, jets);
        for (int i = 0; i <= t->spec.order; i++) wide[i * length + m] = jets[i];
    }
    TRY(ht_buffer_create(t->r.device, values * t->element_size, to));
    return ht_buffer_write_reals(*to, t->spec.fp64, 0, values, wide);
}

enum ht_err ht_stepper_make_sponge(struct ht_device_stepper *t) {
    for (int n = 0; n < 6; n++) {
        const enum ht_subgrid subgrid = n % 2 ? HT_DUAL : HT_PRIMARY;
        if (!ht_sponge_damps(&t->problem, subgrid, n / 2)) continue;
        REQUIRE(t->sponge != NULL, HT_ERR_INTERNAL, "no kernel of a sponge");
        TRY(make_jets(t, subgrid, n / 2));
    }
    return HT_OK;
}

void ht_stepper_free_sponge(struct ht_device_stepper *t) {
    for (int n = 0; n < 6; n++) ht_buffer_destroy(t->jets[n % 2][n / 2]);
}

/* ---- a half step ---- */

/* The nodes of a box in the layers of an axis. */
static struct ht_sponge_args args_of(const struct ht_device_stepper *t, enum ht_subgrid subgrid,
                                     int axis, const struct ht_box *box) {
    const struct ht_window *w = &t->r.partition.window[subgrid];
    const struct ht_layer *side = t->problem.layers->side[axis];
    const int64_t nodes = ht_grid_nodes(t->problem.grid, subgrid, axis);
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
    return args;
}

enum ht_err ht_stepper_damp(void *self, const struct ht_task *task) {
    struct ht_device_stepper *t = self;
    const enum ht_subgrid to = task->pass == HT_PRIMARY ? HT_DUAL : HT_PRIMARY;
    for (int axis = 0; axis < 3; axis++) {
        if (t->jets[to][axis] == NULL) continue;
        const struct ht_sponge_args args = args_of(t, to, axis, &task->targets.box);
        for (int f = 0; f < t->problem.eq->nfields; f++)
            if (t->u[to][f] != NULL)
                TRY(ht_sponge_multiply(t->sponge, task->part, &args, t->jets[to][axis],
                                       t->u[to][f]));
    }
    return HT_OK;
}
