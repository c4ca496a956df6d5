/* The stepper's part for operators of absorbing layers: one for each depth of
 * a face, for each pair of depths of an edge. They depend on the problem's
 * profiles, not on the kernels. Depths count from the outer wall, so that the
 * sides of an axis whose layers are the same share theirs: their profiles are
 * mirror images in every bit, and kernels mirror what varies about a node.
 */
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "stepper_private.h"

/* Nodes of a layer along its axis. */
static int64_t depths(const struct ht_layers *layers, enum ht_subgrid subgrid,
                      int axis, int side) {
    return layers->side[axis][side].cells + (subgrid == HT_PRIMARY);
}

/* The axes of the layers of a region; 0: not computed by operators. */
static unsigned operator_axes(const struct ht_device_stepper *t,
                              const struct ht_region *region) {
    unsigned axes = 0;
    if (region->law == NULL || region->law->eq == NULL ||
        !ht_spec_operators(region->kernels->variant, &region->kernels->spec[0]))
        return 0;
    for (int k = 0; k < t->problem.eq->dims; k++)
        if (ht_equations_layer(region->law->eq, k)) axes |= 1u << k;
    return axes;
}

static unsigned side_bits(const struct ht_region *region, unsigned axes) {
    unsigned bits = 0;
    for (int k = 0; k < 3; k++)
        if (axes >> k & 1u) bits |= (unsigned)region->side[k] << k;
    return bits;
}

/* Numbers of operators along the kernel's axes, and in all. */
static int64_t counts_along(const struct ht_device_stepper *t,
                            const struct ht_region *region, unsigned axes,
                            enum ht_subgrid to, int64_t count[3]) {
    for (int k = 0; k < 3; k++) {
        const int axis = ht_spec_axis(&region->kernels->spec[0], k);
        count[k] = axes >> axis & 1u
                       ? depths(t->problem.layers, to, axis, region->side[axis])
                       : 1;
    }
    return count[0] * count[1] * count[2];
}

/* ---- making ---- */

struct list {
    int count;
    struct ht_factors *factors;
};

/* Multiplies the factors of terms by the profiles of an axis at a depth, for
 * the upper side those of its mirror image. */
static void add_profiles(const struct ht_device_stepper *t,
                         const struct ht_equations *eq, enum ht_subgrid to,
                         int axis, int side, int64_t depth,
                         struct ht_factors *factors) {
    const double above = ht_absorbing_at(to, depth);
    double profile[HT_LAYER_PROFILES][HT_PROFILE_DEGREE + 1];
    int first = eq->nmaterials - eq->nprofiles;
    while (eq->profile_axis[first] != axis) first++;
    ht_absorbing_profiles(
        t->problem.layers, axis,
        side == 0 ? above : (double)t->problem.layers->cells[axis] - above,
        profile);
    for (int i = 0; side == 1 && i < HT_LAYER_PROFILES; i++)
        for (int a = 1; a <= HT_PROFILE_DEGREE; a += 2)
            profile[i][a] = 0 - profile[i][a]; /* no negative zeros */
    for (int n = 0; n < eq->nterms; n++) {
        if (ht_material_layer(eq, eq->term[n].material) != axis) continue;
        const double *p = profile[eq->term[n].material - first];
        for (int a = 1; a <= eq->profile_degree; a++)
            factors->rise[n][a - 1] = p[a] * factors->scale[n];
        factors->scale[n] *= p[0];
    }
}

/* Appends the factors of a region's operators for a grid of targets; *first:
 * the number of the first, or that of an earlier region with the same ones. */
static enum ht_err add_region(const struct ht_device_stepper *t,
                              const struct ht_region *region, unsigned axes,
                              const struct ht_spec *spec, enum ht_subgrid to,
                              struct list *list, int64_t *first) {
    int64_t count[3];
    struct ht_factors *more;
    const int64_t all = counts_along(t, region, axes, to, count);
    TRY(HT_ALLOC(more, list->count + all));
    if (list->count > 0)
        memcpy(more, list->factors, (size_t)list->count * sizeof *more);
    free(list->factors);
    list->factors = more;
    for (int64_t n = 0; n < all; n++) {
        const int64_t depth[3] = {n / (count[1] * count[2]),
                                  n / count[2] % count[1], n % count[2]};
        struct ht_factors *factors = &more[list->count + n];
        memcpy(factors->scale, spec->scale, sizeof spec->scale);
        for (int k = 0; k < 3; k++) {
            const int axis = ht_spec_axis(spec, k);
            if (axes >> axis & 1u)
                add_profiles(t, spec->eq, to, axis, region->side[axis],
                             depth[k], factors);
        }
    }
    for (*first = 0; *first + all <= list->count; ++*first)
        if (memcmp(&more[*first], &more[list->count],
                   (size_t)all * sizeof *more) == 0)
            return HT_OK;
    *first = list->count;
    list->count += (int)all;
    return HT_OK;
}

/* Whether this rank has nodes in all layers of a region. */
static bool is_here(const struct ht_device_stepper *t,
                    const struct ht_region *region, unsigned axes) {
    bool here = true;
    for (int k = 0; k < 3; k++) {
        if ((axes >> k & 1u) == 0) continue;
        const struct ht_window *w = t->memory[k][region->side[k]].window;
        here =
            here &&
            ht_window_nodes(&w[HT_PRIMARY]) + ht_window_nodes(&w[HT_DUAL]) > 0;
    }
    return here;
}

/* Those of all regions whose layers have these axes. */
static enum ht_err make_set(struct ht_device_stepper *t, unsigned axes,
                            struct list *list) {
    struct ht_layer_operators *o = &t->operators[axes];
    const struct ht_kernels *kernels = NULL;
    struct ht_spec spec = {0};
    for (int r = 0; r < t->regions; r++) {
        const struct ht_region *region = &t->region[r];
        if (operator_axes(t, region) != axes || !is_here(t, region, axes))
            continue;
        const struct ht_problem p =
            ht_problem_with_law(&t->problem, region->law);
        const struct ht_tuning tuning = {.fp64 = t->spec.fp64};
        kernels = region->kernels;
        spec = kernels->spec[0];
        spec.stages = t->problem.layers->stages;
        memcpy(spec.scale, ht_problem_spec(&p, &tuning, HT_PRIMARY).scale,
               sizeof spec.scale);
        for (int i = 0; i < 2; i++)
            TRY(add_region(t, region, axes, &spec, i ? HT_DUAL : HT_PRIMARY,
                           list, &o->first[side_bits(region, axes)][i]));
    }
    if (kernels == NULL) return HT_OK;
    return ht_operators_create(t->device, kernels->variant, &spec,
                               &kernels->shape[0], list->count, list->factors,
                               &o->values, &o->buffer);
}

enum ht_err ht_stepper_make_operators(struct ht_device_stepper *t) {
    enum ht_err err = HT_OK;
    for (unsigned axes = 1; err == HT_OK && axes < HT_LAYER_SETS; axes++) {
        struct list list = {0};
        err = make_set(t, axes, &list);
        free(list.factors);
    }
    return err;
}

void ht_stepper_free_operators(struct ht_device_stepper *t) {
    for (int s = 0; s < HT_LAYER_SETS; s++)
        ht_buffer_destroy(t->operators[s].buffer);
}

/* ---- a step ---- */

static void turn(const struct ht_spec *spec, long value[3]) {
    const long old[3] = {value[0], value[1], value[2]};
    for (int k = 0; k < 3; k++) value[k] = old[ht_spec_axis(spec, k)];
}

static void turn_part(const struct ht_spec *spec, struct ht_part_place *p) {
    long stride[3] = {p->cell, p->row, p->plane};
    turn(spec, stride);
    p->cell = stride[0];
    p->row = stride[1];
    p->plane = stride[2];
}

static void turn_args(const struct ht_spec *spec, struct ht_step_args *args) {
    turn(spec, args->begin);
    turn(spec, args->end);
    turn(spec, args->shift);
    turn(spec, args->period);
    for (int i = 0; i < 4; i++) {
        turn_part(spec, &args->src_part[i]);
        turn_part(spec, &args->dst_part[i]);
    }
}

void ht_stepper_add_operators(const struct ht_device_stepper *t,
                              const struct ht_region *region,
                              enum ht_subgrid to, struct ht_step_args *args,
                              struct ht_step_buffers *buffers) {
    const unsigned axes = operator_axes(t, region);
    const struct ht_layer_operators *o = &t->operators[axes];
    const struct ht_spec *spec = &region->kernels->spec[0];
    if (axes == 0) return;
    int64_t count[3], step[3] = {0}, stride = 1;
    int64_t number = o->first[side_bits(region, axes)][to];
    (void)counts_along(t, region, axes, to, count);
    for (int k = 2; k >= 0; stride *= count[k--]) {
        const int axis = ht_spec_axis(spec, k);
        const int64_t origin = t->partition.window[to].origin[axis];
        if ((axes >> axis & 1u) == 0) continue;
        const int64_t last = ht_grid_nodes(t->problem.grid, to, axis) - 1;
        step[k] = region->side[axis] == 0 ? stride : -stride;
        number += stride * (region->side[axis] == 0 ? origin : last - origin);
    }
    args->op_first = (long)(number * o->values);
    args->op_cell = (long)(step[0] * o->values);
    args->op_row = (long)(step[1] * o->values);
    args->op_plane = (long)(step[2] * o->values);
    args->op_mirror = (int)ht_spec_turned(spec, side_bits(region, axes));
    buffers->operators = o->buffer;
    turn_args(spec, args);
}
