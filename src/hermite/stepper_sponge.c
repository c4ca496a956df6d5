/* The stepper's part for a sponge: the polynomials of its damping along each
 * axis, and the products with them. They are done node by node, so that the
 * planes beyond a slab get what their owner computes.
 */
#include <stdlib.h>

#include "htwave/absorbing.h"
#include "sponge_args.h"
#include "stepper_private.h"

static int64_t jet_values(const struct ht_problem *p, enum ht_subgrid subgrid,
                          int axis) {
    const struct ht_window window = ht_problem_window(p, subgrid);
    return (p->grid->order + 1) * window.count[axis];
}

int64_t ht_stepper_sponge_bytes(const struct ht_problem *p, bool fp64) {
    int64_t values = 0;
    for (int n = 0; n < 6; n++) {
        const enum ht_subgrid subgrid = n % 2 ? HT_DUAL : HT_PRIMARY;
        if (ht_sponge_damps(p, subgrid, n / 2))
            values += jet_values(p, subgrid, n / 2);
    }
    return values * (fp64 ? 8 : 4);
}

/* ---- making ---- */

/* [coefficient][index in the window]; 1 behind walls, where nothing is damped.
 */
static enum ht_err make_jets(struct ht_device_stepper *t,
                             enum ht_subgrid subgrid, int axis) {
    const struct ht_window *w = &t->partition.window[subgrid];
    const int64_t values = jet_values(&t->problem, subgrid, axis);
    const int64_t bytes = values * t->element_size, length = w->count[axis];
    const struct ht_span span = {.width = bytes, .pitch = bytes, .rows = 1};
    struct ht_buffer **to = &t->jets[subgrid][axis];
    double *wide = NULL;
    float *single = NULL;
    TRY(HT_ALLOC(wide, values));
    enum ht_err err = HT_ALLOC(single, values);
    for (int64_t m = 0; err == HT_OK && m < length; m++) {
        double jets[HT_MAX_ORDER + 1] = {1};
        if (m >= w->held.begin[axis] && m < w->held.end[axis])
            ht_sponge_jets(&t->problem, subgrid, axis, w->origin[axis] + m,
                           jets);
        for (int i = 0; i <= t->spec.order; i++) {
            wide[i * length + m] = jets[i];
            single[i * length + m] = (float)jets[i];
        }
    }
    if (err == HT_OK) err = ht_buffer_create(t->device, bytes, to);
    if (err == HT_OK)
        err = ht_buffer_write(*to, span, t->spec.fp64 ? (void *)wide : single);
    free(single);
    free(wide);
    return err;
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
static struct ht_sponge_args args_of(const struct ht_device_stepper *t,
                                     enum ht_subgrid subgrid, int axis,
                                     const struct ht_box *box) {
    const struct ht_window *w = &t->partition.window[subgrid];
    const struct ht_layer *side = t->problem.layers->side[axis];
    const int64_t nodes = ht_grid_nodes(t->problem.grid, subgrid, axis);
    const int64_t begin = box->begin[axis], end = box->end[axis];
    const int64_t low =
        ht_most(ht_least(side[0].cells - w->origin[axis], end) - begin, 0);
    const int64_t high =
        ht_most(nodes - side[1].cells - w->origin[axis], begin);
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

enum ht_err ht_stepper_damp(struct ht_device_stepper *t,
                            const struct ht_task *task) {
    const enum ht_subgrid to = task->pass == HT_PRIMARY ? HT_DUAL : HT_PRIMARY;
    for (int axis = 0; axis < 3; axis++) {
        if (t->jets[to][axis] == NULL) continue;
        const struct ht_sponge_args args =
            args_of(t, to, axis, &task->targets.box);
        for (int f = 0; f < t->problem.eq->nfields; f++)
            if (t->u[to][f] != NULL)
                TRY(ht_sponge_multiply(t->sponge, task->part, &args,
                                       t->jets[to][axis], t->u[to][f]));
    }
    return HT_OK;
}
