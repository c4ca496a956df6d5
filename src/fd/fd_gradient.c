/* Gradients (docs/developers/gradients.md): an adjoint stepper beside the forward one, their sums
 * at the nodes, and the derivatives by the amplitudes of sources; the parts that those of one field
 * of second order alone have. */
#include "fd_gradient.h"
#include "src/solve/sampler_private.h"

/* Of a source's derivatives: of one field by the stage, too. */
static int kinds_of(const struct ht_gradient *g) {
    return g->plan->problem.stages > 1 ? HT_FD_BY : 1;
}

/* Passes of a step before the last one. */
static int first_passes(const struct ht_gradient *g) {
    return g->adjoint->r.passes.count - 1;
}

/* ---- sums ---- */

bool ht_gradient_has(const struct ht_gradient *g, enum ht_gradient_sum sum) {
    return g->ops->has(g, sum) || ht_pair_strains_sum(g, sum);
}

static bool field_has(const struct ht_gradient *g, enum ht_gradient_sum sum) {
    const struct ht_fd_spec *spec = &g->forward->engine.spec;
    return sum < HT_GRADIENT_INVERSE_DENSITY ||
           (spec->density && (int)sum - (int)HT_GRADIENT_INVERSE_DENSITY < spec->dims);
}

static double field_place(const struct ht_gradient *g, enum ht_gradient_sum sum, unsigned *parity) {
    const int up = (int)sum - (int)HT_GRADIENT_INVERSE_DENSITY;
    const double dt = g->plan->problem.dt;
    *parity = up >= 0 ? 1u << up : 0;
    return up >= 0 ? -(dt * dt / (g->plan->grid.h[up] * g->plan->grid.h[up])) : g->cross ? 1 : -1;
}

HT_ERR ht_gradient_get(struct ht_gradient *g, enum ht_gradient_sum sum, int64_t first, int64_t last,
                       double *out) {
    const double light = 1 / (g->plan->scale * g->plan->scale);
    struct ht_grid grid = g->plan->grid;
    unsigned parity = 0;
    REQUIRE(ht_gradient_has(g, sum), HT_ERR_INTERNAL, "sum %d is not made", (int)sum);
    TRY(ht_pair_strains_sum(g, sum)
            ? ht_pair_strains_read(g, sum, first, last, out)
            : ht_fd_move_planes(g->adjoint, g->sum[sum], first, last, NULL, out));
    if (sum == HT_GRADIENT_ILLUMINATION) {
        for (int64_t n = 0; n < ht_grid_plane(&grid, HT_PRIMARY) * (last - first); n++)
            out[n] *= light;
        return HT_OK;
    }
    const double factor = ht_grid_volume(&grid) / g->factor * g->ops->place(g, sum, &parity);
    grid = ht_grid_places(&grid, parity);
    for (int64_t m3 = first; m3 < last; m3++)
        for (int64_t m2 = 0; m2 < ht_grid_nodes(&grid, HT_PRIMARY, 1); m2++) {
            const double w2 = ht_grid_weight(&grid, 1, m2), w3 = ht_grid_weight(&grid, 2, m3);
            for (int64_t m1 = 0; m1 < ht_grid_nodes(&grid, HT_PRIMARY, 0); m1++)
                *out++ *= factor * (ht_grid_weight(&grid, 0, m1) * w2 * w3);
        }
    return HT_OK;
}

static HT_ERR field_correlate(struct ht_gradient *g) {
    struct ht_fd_stepper *f = g->forward, *a = g->adjoint;
    struct ht_fd_stepper *const both[] = {f, a};
    const int stages = first_passes(g);
    ht_fd_injections_step(f, f->injection); /* of the stage */
    TRY(ht_runner_run(&f->r, &f->r.passes, 0, stages));
    for (int i = 0; i < 2 && g->past->slopes; i++) {
        struct ht_fd_stepper *s = both[i];
        TRY(ht_runner_complete(&s->r));
        for (int array = HT_FD_U; array <= HT_FD_W; array += HT_FD_W - HT_FD_U)
            if (array == HT_FD_U || stages > 0)
                TRY(s->engine.ops->ghosts(&s->engine, &s->box, (const int(*)[2])s->sides,
                                          s->values[array]));
    }
    struct ht_fd_products c = {.box = ht_fd_part_open(a).box,
                               .e = a->values[HT_FD_D],
                               .d = f->values[HT_FD_D],
                               .q = a->values[HT_FD_U],
                               .o = stages > 0 ? a->values[HT_FD_W] : NULL,
                               .u = f->values[HT_FD_U],
                               .w = stages > 0 ? f->values[HT_FD_W] : NULL,
                               .compliance = g->sum[HT_GRADIENT_COMPLIANCE],
                               .light = g->sum[HT_GRADIENT_ILLUMINATION],
                               .sign = g->past->sign};
    for (int k = 0; k < 3; k++) c.slopes[k] = g->sum[HT_GRADIENT_INVERSE_DENSITY + k];
    if (g->cross) { /* what two terms add is 0 then */
        c.e = c.o = c.q;
        c.d = c.w = c.u;
        c.sign = 1;
    }
    return a->engine.ops->correlate(&a->engine, &c);
}

/* ---- derivatives by the sources' amplitudes ---- */

enum { PIECE = 1024 };

HT_ERR ht_fd_list_nodes(const struct ht_gradient *g, int field, const struct ht_point *point,
                        struct ht_sampler *out) {
    const int64_t n1 = ht_grid_nodes(&g->plan->grid, HT_PRIMARY, 0);
    for (int i = 0, end; i < point->count; i = end) {
        struct ht_sampler_row row = {
            .field = field, .plane = point->node[i].m[2], .pattern = out->shape.patterns};
        int64_t *node;
        double *value;
        bool own;
        TRY(ht_sampler_pattern(out, &node, &value));
        for (end = i;
             end < point->count && point->node[end].m[2] == row.plane && end - i < out->shape.nodes;
             end++) {
            *node++ = point->node[end].m[1] * n1 + point->node[end].m[0];
            *value++ = point->node[end].weight;
        }
        TRY(ht_sampler_add(out, &row, 1, &own));
        out->shape.patterns += own;
    }
    return HT_OK;
}

static HT_ERR field_list(const struct ht_gradient *g, int group, struct ht_sampler *out) {
    const struct ht_grid *grid = &g->plan->grid;
    HT_ENDED(ht_point_free) struct ht_point point = {.count = 0};
    TRY(ht_shot_spread(g->adjoint->problem.shots, group, NULL, &point));
    for (int i = 0; i < point.count; i++)
        point.node[i].weight *= ht_grid_volume(grid) * ht_fd_weight(grid, point.node[i].m);
    return ht_fd_list_nodes(g, g->plan->eq.second_order.field, &point, out);
}

static HT_ERR list_groups(const void *gradient, struct ht_sampler *out) {
    const struct ht_gradient *g = gradient;
    for (int i = 0; i < g->adjoint->problem.shots->count; i++) {
        TRY(g->ops->list(g, i, out));
        out->first[i + 1] = out->all;
    }
    return HT_OK;
}

/* The adjoint stepper has the stage's array in place of u while its samples are taken, and again
 * that of u. */
static void swap_stage(struct ht_gradient *g, int kind) {
    struct ht_buffer **v = g->adjoint->values;
    if (kind == HT_FD_BY_STAGE) ht_fd_swap(&v[HT_FD_U], &v[HT_FD_W]);
}

static void forget_sources(struct ht_gradient *g) {
    for (int i = 0; i < HT_FD_BY; i++) {
        ht_sampler_destroy(g->sampler[i]);
        g->sampler[i] = NULL;
        free(g->amplitude[i]);
        g->amplitude[i] = NULL;
    }
}

static HT_ERR aim_sources(struct ht_gradient *g) {
    const struct ht_shots *shots = g->forward->problem.shots;
    const struct ht_sampler_of of = {.grid = &g->plan->grid,
                                     .traces = shots->count,
                                     .scale = 1,
                                     .shape = {.coefs = 1, .nodes = PIECE, .lines = 1},
                                     .list = list_groups,
                                     .context = g};
    for (int i = 0; i < kinds_of(g); i++) {
        TRY(ht_sampler_make(&of, g->strains != NULL ? &g->read : &g->handle, &g->sampler[i]));
        TRY(HT_ALLOC(g->amplitude[i], g->steps * shots->count));
    }
    return HT_OK;
}

/* Samples that are taken belong to q(N), q(N - 1) .. */
static HT_ERR take_sources(struct ht_gradient *g, bool last) {
    const int groups = g->forward->problem.shots->count;
    for (int i = 0; i < kinds_of(g); i++) {
        swap_stage(g, i);
        const enum ht_err err = ht_sampler_take(g->sampler[i]);
        swap_stage(g, i);
        TRY(err);
        const int64_t most = ht_sampler_period(g->sampler[i]);
        if (!last && g->sampler[i]->taken < most) continue;
        int64_t steps;
        HT_ARRAY(double, values, most *groups);
        TRY(ht_sampler_collect(g->sampler[i], &steps, values));
        for (int64_t n = 0; n < steps; n++) {
            double *to = g->amplitude[i] + (g->steps - 1 - g->taken[i]++) * groups;
            for (int j = 0; j < groups; j++) to[j] = values[n * groups + j] / g->larger;
        }
    }
    return HT_OK;
}

HT_ERR ht_gradient_push(const struct ht_gradient *g, int group, const struct ht_shot *shot,
                        double *out) {
    const struct ht_problem *problem = &g->forward->problem;
    const int field = shot->drive[0].field;
    struct ht_fd_signal steps = {.f = NULL};
    const struct ht_fd_signal *of = problem->fd.undispersed ? &steps : NULL;
    double sum = 0, part[HT_FD_BY];
    if (of != NULL) TRY(ht_fd_find_signal(g->forward, shot, field, &steps));
    for (int64_t n = 0; n < g->steps; n++) {
        ht_fd_amplitudes(g->forward, shot, field, of, n, part);
        for (int i = 0; i < HT_FD_BY && g->amplitude[i] != NULL; i++)
            sum += part[i] * g->amplitude[i][n * problem->shots->count + group];
    }
    *out = sum / g->plan->scale;
    free(steps.f);
    return HT_OK;
}

struct by_signal {
    const struct ht_gradient *g;
    int group;
    double *out; /* [sample] */
};

static HT_ERR find_sample(void *data, int64_t sample) {
    const struct by_signal *by = data;
    struct ht_shot shot = by->g->forward->problem.shots->shot[by->group];
    TRY(ht_signal_unit(shot.signal, sample, &shot.signal));
    const enum ht_err err = ht_gradient_push(by->g, by->group, &shot, &by->out[sample]);
    ht_signal_destroy(shot.signal);
    return err;
}

HT_ERR ht_gradient_signal(const struct ht_gradient *g, int group, double *out) {
    struct by_signal by = {.g = g, .group = group};
    by.out = out;
    return ht_threads_run(g->forward->problem.shots->shot[group].signal->samples, find_sample, &by);
}

/* ---- the adjoint run ---- */

/* The largest value becomes about 1, so that no precision is left on either side of it. */
static HT_ERR prepare(struct ht_gradient *g, const double *amplitude) {
    double largest = 0;
    for (int64_t i = 0; i < (g->steps + 1) * g->traces; i++) {
        REQUIRE(isfinite(amplitude[i]), HT_ERR_NOT_FINITE,
                "the derivative of the misfit by traces is not finite");
        largest = fmax(largest, fabs(amplitude[i]));
    }
    g->larger = largest > 0 ? ldexp(1, -ilogb(largest)) : 1;
    g->factor = g->larger * g->plan->scale;
    ht_fd_injections_give(g->adjoint->injection, amplitude, g->steps + 1, g->larger);
    for (int i = 0; i < HT_FD_BY; i++) g->taken[i] = 0;
    for (int i = 0; i < HT_GRADIENT_SUMS; i++)
        if (g->ops->has(g, (enum ht_gradient_sum)i)) TRY(ht_buffer_clear(g->sum[i]));
    TRY(ht_pair_strains_begin(g, amplitude));
    return ht_fd_rest(g->adjoint);
}

enum { BETWEEN = 16 }; /* steps between questions whether to end */

/* Of adjoint step N - n + 1 the last pass, then the others of the next one. */
static HT_ERR run(struct ht_gradient *g) {
    struct ht_runner *r = &g->adjoint->r;
    const int last = first_passes(g);
    TRY(r->ops->before(r, HT_PRIMARY));
    TRY(ht_runner_run(r, &r->passes, 0, last));
    TRY(ht_pair_strains_pass(g, 0));
    for (int64_t n = g->steps; n > 0; n--) {
        REQUIRE(n % BETWEEN != 0 || !ht_stop_wanted(), HT_ERR_INTERRUPTED,
                "interrupted in the adjoint run, before step %lld of %lld",
                (long long)(g->steps - n + 1), (long long)g->steps);
        TRY(ht_runner_run(r, &r->passes, last, last + 1));
        TRY(ht_pair_strains_pass(g, 1));
        r->ops->after(r, 1);
        TRY(r->ops->before(r, HT_PRIMARY));
        TRY(ht_runner_run(r, &r->passes, 0, last));
        TRY(ht_pair_strains_pass(g, 0));
        TRY(take_sources(g, n == 1));
        TRY(g->past->ops->show(g->past, n));
        TRY(g->ops->correlate(g));
        TRY(ht_runner_complete(&g->forward->r));
    }
    TRY(ht_runner_finish(r));
    /* What the stage's amplitude adds to w, the update brings to u: 12 (o - q). */
    double *stage = g->amplitude[HT_FD_BY_STAGE];
    for (int64_t i = 0; stage != NULL && i < g->steps * g->forward->problem.shots->count; i++)
        stage[i] = 12 * (stage[i] - g->amplitude[HT_FD_BY_UPDATE][i]);
    return g->ops->finish != NULL ? g->ops->finish(g) : HT_OK;
}

HT_ERR ht_gradient_run(struct ht_gradient *g, const double *amplitude) {
    TRY(prepare(g, amplitude));
    const enum ht_err err = run(g);
    if (g->past->ops->end != NULL) g->past->ops->end(g->past);
    return err == HT_OK ? ht_runner_finish(g->forward) : err;
}

HT_ERR ht_gradient_aim(struct ht_gradient *g, const struct ht_receivers *receivers) {
    const struct ht_fd_driven readings = {.receivers = receivers};
    struct ht_fd_stepper *a = g->adjoint;
    REQUIRE(g->forward->problem.shots != NULL, HT_ERR_INTERNAL, "a gradient without sources");
    ht_fd_sources_destroy(a);
    forget_sources(g);
    a->problem.shots = g->forward->problem.shots;
    g->traces = (int)receivers->traces;
    enum ht_err err = g->ops->aim != NULL ? g->ops->aim(g, receivers) : HT_OK;
    if (err == HT_OK) err = ht_fd_injections_create(a, &readings, a->injection);
    TRY(ht_comm_agree(g->plan->grid.slab.comm, err));
    TRY(aim_sources(g));
    return ht_comm_agree(g->plan->grid.slab.comm, g->past->ops->begin(g->past));
}

HT_ERR ht_gradient_look(struct ht_gradient *g, int64_t step) {
    return g->past->ops->look != NULL ? g->past->ops->look(g->past, step) : HT_OK;
}

/* ---- making ---- */

/* Bytes of this rank: of the adjoint stepper and the sums. */
static int64_t bytes_beside(const struct ht_gradient *g) {
    struct ht_fd_stepper *s = g->adjoint;
    int arrays = 0;
    for (int i = 0; i < HT_GRADIENT_SUMS; i++) arrays += g->ops->has(g, (enum ht_gradient_sum)i);
    return ht_real_size(s->engine.spec.fp64) *
           (arrays * ht_fd_numbers(s) + ht_fd_own_numbers(s, 0) + ht_pair_strains_numbers(g));
}

/* Bytes of the device and of the host for the forward field, the least of all ranks: as given, or
 * of what is left a part, since the run needs some more. Ranks share the host of a machine. */
static HT_ERR find_room(const struct ht_gradient *g, const struct ht_gradient_choice *choice,
                        double room[2]) {
    struct ht_fd_stepper *s = g->forward;
    struct ht_comm *comm = s->problem.grid->slab.comm, *whole = ht_comm_whole(comm);
    const double most = 0.8, used = 2 * (double)bytes_beside(g);
    int sharers = 0;
    for (int r = 0; r < ht_comm_size(whole); r++) sharers += ht_comm_same_machine(whole, r);
    room[0] = choice->memory > 0 ? -(double)choice->memory : -INFINITY;
    if (choice->memory <= 0 && s->engine.device != NULL)
        room[0] = -most * fmax((double)ht_device_info(s->engine.device)->memory - used, 0);
    room[1] = choice->host > 0 ? -(double)choice->host : -most * ht_mem_free() / sharers;
    TRY(ht_comm_max(comm, 2, room));
    for (int i = 0; i < 2; i++) room[i] = -room[i];
    return HT_OK;
}

/* What is stored needs no second run of steps; it is not to fill a device that is shared. What is
 * recorded takes one more, and little memory; states take as much, and copies of all nodes. A file
 * is slower than these. */
static HT_ERR make_past(struct ht_gradient *g, const struct ht_gradient_choice *choice,
                        const struct ht_fd_past *past) {
    const double part = 0.25;
    struct ht_fd_shell_choice shell = {.steps = g->steps,
                                       .bits = choice->bits == 0                   ? -1
                                               : choice->bits == HT_GRADIENT_WHOLE ? 0
                                                                                   : choice->bits,
                                       .every = choice->every};
    enum ht_gradient_field field = choice->field;
    double room[2], bytes[2], records;
    TRY(find_room(g, choice, room));
    TRY(ht_fd_kept_bytes(past, bytes));
    /* What records take of the host or a file, the most of all ranks; infinite: there are none. */
    struct ht_fd_shell planned;
    struct ht_fd_shell_bytes taken = {0};
    const bool none = g->plan->problem.fd.pair != HT_PAIR_NONE ||
                      ht_fd_shell_plan(g->forward, &shell, &planned) != HT_OK;
    if (!none) ht_fd_shell_size(&planned, &taken);
    records = none ? INFINITY : (double)taken.host;
    TRY(ht_comm_max(g->forward->problem.grid->slab.comm, 1, &records));
    const bool fits = records <= room[1], automatic = field == HT_GRADIENT_AUTO;
    if (automatic)
        field = bytes[0] * (double)g->steps <= part * room[0] ? HT_GRADIENT_STORE
                : fits                                        ? HT_GRADIENT_REVERSE
                                                              : HT_GRADIENT_CHECKPOINT;
    if (field != HT_GRADIENT_REVERSE) {
        const enum ht_err err =
            ht_fd_kept_create(past, field == HT_GRADIENT_STORE, room[0], &g->past);
        if (err == HT_OK || !automatic || choice->folder == NULL || isinf(records)) return err;
    }
    REQUIRE(fits || choice->folder != NULL || isinf(records), HT_ERR_MEMORY,
            "gradient.field = \"reverse\": the record of the forward run takes %s of the host's "
            "memory, where %s may be taken: take more ranks, or \"checkpoint\"",
            HT_BYTES(records), HT_BYTES(room[1]));
    if (!fits) shell.folder = choice->folder;
    return ht_fd_reverse_create(past, &shell, &g->past);
}

static HT_ERR field_make(struct ht_gradient *g, struct ht_fd_past *past) {
    const struct ht_fd_engine *e = &g->forward->engine;
    const int terms = g->plan->problem.stages;
    past->values = g->cross || terms > 1 || e->spec.density ? 1u << HT_FD_U : 0;
    past->increments = 1u << HT_FD_D;
    past->slopes = !g->cross && e->spec.density;
    if (e->device == NULL) return HT_OK;
    return ht_fd_products_create(e->device, &e->spec, terms, 0, &g->products);
}

static const struct ht_fd_gradient_ops field_gradient = {.has = field_has,
                                                         .make = field_make,
                                                         .list = field_list,
                                                         .correlate = field_correlate,
                                                         .place = field_place};

static HT_ERR make(struct ht_gradient *g, const struct ht_gradient_choice *choice) {
    struct ht_fd_stepper *f = g->forward;
    struct ht_fd_past past = {.forward = f, .steps = g->steps};
    TRY(g->ops->make(g, &past));
    f->engine.products = g->products;
    TRY(ht_fd_stepper_create(&f->problem, &f->engine, f, &g->handle));
    g->adjoint = g->handle.self;
    if (g->cross) f->closed = g->adjoint->closed = false; /* arrays hold u itself */
    for (int i = 0; i < HT_GRADIENT_SUMS; i++)
        if (g->ops->has(g, (enum ht_gradient_sum)i))
            TRY(ht_fd_array_create(&f->engine, ht_fd_numbers(f), &g->sum[i]));
    TRY(ht_pair_strains_create(g));
    return make_past(g, choice, &past);
}

HT_ERR ht_gradient_create(const struct ht_plan *plan, const struct ht_stepper *forward,
                          const struct ht_gradient_choice *choice, struct ht_gradient **out) {
    struct ht_gradient *g = NULL;
    *out = NULL;
    enum ht_err err = HT_ALLOC(g, 1);
    if (err == HT_OK) {
        g->plan = plan;
        g->cross = choice->image == HT_IMAGE_CROSS;
        g->ops = plan->problem.fd.pair == HT_PAIR_NONE ? &field_gradient : &ht_pair_gradient;
        g->forward = forward->self;
        g->steps = ht_resampling_last(plan);
        err = make(g, choice);
    }
    err = ht_comm_agree(plan->grid.slab.comm, err);
    return HT_MADE(err, g, ht_gradient_destroy, out);
}

void ht_gradient_destroy(struct ht_gradient *g) {
    if (g == NULL) return;
    if (g->past != NULL) g->past->ops->destroy(g->past);
    forget_sources(g);
    for (int i = 0; i < HT_GRADIENT_SUMS; i++) ht_buffer_destroy(g->sum[i]);
    ht_fd_injections_destroy(g->removed);
    ht_pair_strains_destroy(g);
    ht_stepper_destroy(&g->handle);
    g->forward->engine.products = NULL;
    ht_tool_destroy(g->products);
    ht_tool_destroy(g->block);
    free(g);
}

void ht_gradient_facts(const struct ht_gradient *g, struct ht_gradient_facts *out) {
    *out = g->past->facts;
    out->device = out->field_bytes + bytes_beside(g);
}
