/* Finite differences on a device: the engine, and the kernels of a problem. */
#include "fd.h"

/* ---- kernels ---- */

static HT_ERR device_ghosts(struct ht_fd_engine *e, const struct ht_fd_box *box,
                            const int sides[3][2], struct ht_buffer *u) {
    return ht_fd_ghosts_fill(e->kernels->ghosts[0], box, sides, u);
}

static HT_ERR device_sums(struct ht_fd_engine *e, const struct ht_fd_part *part,
                          struct ht_buffer *x, struct ht_buffer *y, struct ht_buffer *a,
                          double level, struct ht_measure *out) {
    struct ht_sum_item item = {.x = x,
                               .y = y,
                               .a = a,
                               .level = level,
                               .weights = part->ends.weights,
                               .coefs = part->ends.count,
                               .points = 1,
                               .row = part->box.row,
                               .plane = part->box.plane};
    memcpy(item.box.begin, part->box.begin, sizeof item.box.begin);
    memcpy(item.box.end, part->box.end, sizeof item.box.end);
    memcpy(item.half, part->ends.half, sizeof item.half);
    return ht_sums_run(e->kernels->sums, 1, &item, true, out);
}

static HT_ERR device_inject(struct ht_fd_engine *e, struct ht_fd_injection *in, int64_t first,
                            int64_t last, int64_t row, struct ht_buffer *x, struct ht_buffer *y) {
    if (in->injected == NULL)
        TRY(ht_injected_create(e->kernels->injector, &in->list, &in->shapes, in->rows,
                               &in->injected));
    if (in->fresh) TRY(ht_injected_table(in->injected, in->table));
    in->fresh = false;
    return ht_inject(in->injected, first, last, row, 0, 0, x, y);
}

static HT_ERR device_correlate(struct ht_fd_engine *e, const struct ht_fd_products *of) {
    return ht_fd_products_add(e->products, of);
}

static HT_ERR device_work(struct ht_fd_engine *e, const struct ht_fd_work *w) {
    const struct ht_kernels *k = e->kernels;
    if (w->operation >= HT_FD_ABSORB) return ht_fd_layer_launch(k->fd_layers, w);
    /* A step may be taken with the layers. */
    return w->layers != NULL && ht_fd_layers_step(k->fd_layers) ? HT_OK : ht_fd_launch(k->fd, w);
}

static HT_ERR device_pair(struct ht_fd_engine *e, const struct ht_pair_task *t) {
    return ht_pair_pass(e->kernels->fd, t, &t->s->on);
}

static HT_ERR device_meet(HT_UNUSED struct ht_fd_engine *e, const struct ht_pair_task *t) {
    int64_t points[2], targets[2];
    ht_pair_meets_range(t, points, targets);
    return ht_pair_meet(t->s->met[t->group], t, points, targets, &t->s->on);
}

static HT_ERR device_meet_add(HT_UNUSED struct ht_fd_engine *e, const struct ht_pair_meet_sum *m) {
    const int64_t *first = m->s->meets[m->group].first[0];
    const struct ht_fd_box *box = &m->s->fd.box;
    return ht_pair_meet_add(m->s->met[m->group], box,
                            (const int64_t[2]){first[box->begin[2]], first[box->end[2]]}, m->y,
                            m->e, m->sum);
}

const struct ht_fd_engine_ops ht_fd_device_ops = {
    .ghosts = device_ghosts,
    .work = device_work,
    .sums = device_sums,
    .inject = device_inject,
    .take = ht_fd_shell_take,
    .put = ht_fd_shell_put,
    .correlate = device_correlate,
    .product = ht_pair_product_add,
    .copy = ht_fd_products_copy,
    .pair = device_pair,
    .meet = device_meet,
    .meet_add = device_meet_add,
};

/* ---- the kernels of a problem ---- */

static HT_ERR create_steps(const struct ht_problem *problem, struct ht_device *device,
                           const struct ht_fd_spec *spec, const struct ht_fd_shape *shape,
                           struct ht_kernels *k) {
    struct ht_pair pair;
    if (problem->fd.pair == HT_PAIR_NONE)
        return ht_fd_kernels_create(device, spec, k->variant, shape, &k->fd);
    ht_problem_pair(problem, &pair);
    const struct ht_pair_spec of = {
        .pair = &pair,
        .radius = spec->radius,
        .fp64 = spec->fp64,
        .constant = ht_problem_constant(problem),
        .staged = problem->stages > 1,
        .damping = ht_pair_damping_of(problem),
        .free = ht_grid_closes(problem->grid) ? ht_fd_closure(problem->fd.order, false).nodes : 0};
    for (int group = 0; group < 2; group++)
        if (ht_pair_faces_use(problem->fd.faces, group)) {
            TRY(ht_pair_meeting_create(device, &of, group, &k->meeting[group]));
            TRY(ht_tool_build(k->meeting[group]));
        }
    return ht_pair_kernels_create(device, &of, k->variant, shape, &k->fd);
}

enum ht_err ht_differences_kernels_create(const struct ht_problem *problem,
                                          struct ht_device *device, const struct ht_tuning *tuning,
                                          struct ht_kernels *out) {
    const struct ht_fd_spec spec = ht_fd_spec_of(problem, tuning->fp64);
    const struct ht_fd_shape shape = ht_fd_asked(tuning);
    const struct ht_pack_format format = ht_fd_format(problem, tuning->fp64);
    HT_ENDED(ht_kernels_destroy) struct ht_kernels k = {.fd = NULL};
    TRY(ht_kernels_plan(problem, ht_device_info(device), tuning, &k));
    TRY(create_steps(problem, device, &spec, &shape, &k));
    TRY(ht_sums_create(device, &k.spec[0], ht_device_info(device)->fp64,
                       ht_grid_closes(problem->grid), &k.sums));
    TRY(ht_fd_ghosts_create(device, &spec, &k.ghosts[0]));
    TRY(ht_injector_create(device, &k.spec[0], &k.injector));
    if (problem->layers != NULL && problem->fd.pair == HT_PAIR_NONE) {
        const struct ht_layer *side = problem->layers->side[0];
        const int64_t cells = ht_most(side[0].cells, side[1].cells);
        TRY(ht_fd_layer_kernels_create(device, &spec, tuning->variant, &shape, cells,
                                       &k.fd_layers));
    }
    if (ht_grid_cut(problem->grid)) TRY(ht_packer_create(device, &format, &k.packer[0]));
    *out = k;
    k = (struct ht_kernels){.fd = NULL};
    return HT_OK;
}
