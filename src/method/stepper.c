/* The stepper on a device. Both grids live there, one buffer per field; the
 * medium's polynomials likewise, one buffer per material; of a grid cut into
 * slabs the planes that halo.h tells.
 */
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "layout.h"
#include "stepper_private.h"

static void stepper_destroy(void *self) {
    struct ht_device_stepper *t = self;
    if (t == NULL) return;
    ht_halo_destroy(t->halo);
    for (int mesh = 0; mesh < 2; mesh++) {
        for (int f = 0; f < HT_MAX_FIELDS; f++)
            ht_buffer_destroy(t->u[mesh][f]);
        for (int m = 0; m < HT_MAX_MATERIALS; m++)
            ht_buffer_destroy(t->medium[mesh][m]);
    }
    for (int f = 0; f < HT_MAX_FIELDS; f++) ht_buffer_destroy(t->poly[f]);
    ht_buffer_destroy(t->work);
    ht_buffer_destroy(t->scale);
    free(t);
}

/* The sources of a half step: all stored fields of the grid. */
static enum ht_err fill_ghosts(struct ht_device_stepper *t, enum ht_mesh mesh) {
    struct ht_buffer *u[HT_MAX_FIELDS];
    int fields = 0;
    for (int f = 0; f < t->problem.eq->nfields; f++)
        if (t->u[mesh][f] != NULL) u[fields++] = t->u[mesh][f];
    return ht_ghosts_fill(t->kernels.ghosts[mesh], &t->ghosts[mesh], u);
}

/* Planes [first, last) of the target's window. */
static enum ht_err launch_planes(struct ht_device_stepper *t, enum ht_mesh from,
                                 enum ht_step_part part, int64_t first,
                                 int64_t last) {
    enum ht_mesh to = from == HT_PRIMARY ? HT_DUAL : HT_PRIMARY;
    const struct ht_window *source = &t->window[from], *target = &t->window[to];
    struct ht_step_args args = {.src_row = (long)ht_window_row(source),
                                .src_plane = (long)ht_window_plane(source),
                                .src_nodes = (long)ht_window_nodes(source),
                                .dst_row = (long)ht_window_row(target),
                                .dst_plane = (long)ht_window_plane(target),
                                .dst_nodes = (long)ht_window_nodes(target),
                                .stages = t->problem.stages};
    int64_t shift[3], period[3];
    struct ht_step_buffers buffers = {
        .scale = t->scale, .work = t->work, .poly_planes = t->poly_planes};
    if (first >= last) return HT_OK;
    ht_window_shift(t->problem.grid, from, source, target, shift, period);
    for (int k = 0; k < 3; k++) {
        args.shift[k] = (long)shift[k];
        args.period[k] = (long)period[k];
        args.begin[k] = (long)target->own.begin[k];
        args.end[k] = (long)target->own.end[k];
    }
    args.begin[2] = (long)first;
    args.end[2] = (long)last;
    memcpy(buffers.src, t->u[from], sizeof buffers.src);
    memcpy(buffers.dst, t->u[to], sizeof buffers.dst);
    memcpy(buffers.poly, t->poly, sizeof buffers.poly);
    memcpy(buffers.medium, t->medium[to], sizeof buffers.medium);
    return ht_step_launch(t->kernels.step[from], part, &args, &buffers);
}

static enum ht_err stepper_half_step(void *self, enum ht_mesh from) {
    struct ht_device_stepper *t = self;
    enum ht_mesh to = from == HT_PRIMARY ? HT_DUAL : HT_PRIMARY;
    struct ht_halo_ranges r;
    if (t->halo != NULL) TRY(ht_halo_prepare(t->halo, from, &r));
    TRY(fill_ghosts(t, from));
    if (t->halo == NULL)
        return launch_planes(t, from, HT_PART_INTERIOR,
                             t->window[to].own.begin[2],
                             t->window[to].own.end[2]);
    for (int i = 0; i < 2; i++)
        TRY(launch_planes(t, from, HT_PART_BOUNDARY, r.boundary[i][0],
                          r.boundary[i][1]));
    if (r.sends) TRY(ht_halo_send(t->halo));
    return launch_planes(t, from, HT_PART_INTERIOR, r.interior[0],
                         r.interior[1]);
}

static enum ht_err stepper_finish(void *self) {
    struct ht_device_stepper *t = self;
    if (t->halo != NULL) TRY(ht_halo_finish(t->halo));
    return ht_device_finish(t->device);
}

/* Device seconds that the kernels took for a part, whoever launched them. */
static double part_seconds(const struct ht_kernels *kernels,
                           enum ht_step_part part) {
    double seconds = ht_step_total(kernels->step[0], part);
    if (kernels->step[1] != kernels->step[0])
        seconds += ht_step_total(kernels->step[1], part);
    for (int mesh = 0; part == HT_PART_INTERIOR && mesh < 2; mesh++)
        seconds += ht_ghosts_total(kernels->ghosts[mesh]);
    return seconds;
}

static void stepper_traffic(void *self, struct ht_traffic *out) {
    struct ht_device_stepper *t = self;
    *out = (struct ht_traffic){0};
    if (t->halo != NULL) ht_halo_traffic(t->halo, out);
    out->interior_s =
        part_seconds(&t->kernels, HT_PART_INTERIOR) - t->before[0];
    out->boundary_s =
        part_seconds(&t->kernels, HT_PART_BOUNDARY) - t->before[1];
}

static const struct ht_stepper_ops stepper_ops = {
    .put = ht_stepper_put,
    .get = ht_stepper_get,
    .measure = ht_stepper_measure,
    .half_step = stepper_half_step,
    .finish = stepper_finish,
    .destroy = stepper_destroy,
    .traffic = stepper_traffic,
};

static int64_t window_nodes(const struct ht_problem *p, enum ht_mesh mesh) {
    const struct ht_window window = ht_problem_window(p, mesh);
    return ht_window_nodes(&window);
}

static int64_t field_bytes(const struct ht_problem *p, enum ht_mesh mesh,
                           const struct ht_spec *spec) {
    int place[HT_MAX_COEFS];
    return HT_LAYOUT_SIZE(spec->block, ht_place(spec, place),
                          window_nodes(p, mesh)) *
           (spec->fp64 ? 8 : 4);
}

static int64_t larger(int64_t a, int64_t b) {
    return a > b ? a : b;
}

/* Interpolants are kept for as many planes as fit about an eighth of the
 * device, at least one. */
static void add_interpolants(const struct ht_problem *p,
                             const struct ht_tuning *tuning, int64_t per_target,
                             const struct ht_device_info *info,
                             struct ht_budget *b) {
    int64_t planes = larger(ht_problem_window(p, HT_PRIMARY).count[2],
                            ht_problem_window(p, HT_DUAL).count[2]);
    int64_t per_plane = per_target * larger(ht_grid_plane(p->grid, HT_PRIMARY),
                                            ht_grid_plane(p->grid, HT_DUAL));
    bool work = ht_variant_needs_work(tuning->variant);
    int64_t buffers = work + larger(ht_problem_stored(p, HT_PRIMARY),
                                    ht_problem_stored(p, HT_DUAL));
    int64_t room = larger(info->memory / 8 / buffers, 1);
    int64_t most = INT32_MAX * (int64_t)(tuning->fp64 ? 8 : 4);
    if (work && room > most) room = most;
    if (room > info->max_buffer) room = info->max_buffer;
    b->poly_planes = larger(1, room / per_plane);
    if (b->poly_planes > planes) b->poly_planes = planes;
    b->interpolants = b->poly_planes * per_plane * buffers;
    b->largest_buffer = larger(b->largest_buffer, b->poly_planes * per_plane);
}

struct ht_budget ht_stepper_budget(const struct ht_problem *p,
                                   const struct ht_tuning *tuning,
                                   const struct ht_device_info *info) {
    const struct ht_spec spec = ht_problem_spec(p, tuning, HT_PRIMARY);
    struct ht_budget b = {0};
    int64_t per_target = ht_variant_poly_bytes(tuning->variant, &spec), message;
    for (int mesh = 0; mesh < 2; mesh++) {
        enum ht_mesh which = mesh == 0 ? HT_PRIMARY : HT_DUAL;
        int64_t field = field_bytes(p, which, &spec);
        int64_t material =
            window_nodes(p, which) * p->medium_coefs * (spec.fp64 ? 8 : 4);
        b.state += field * ht_problem_stored(p, which);
        b.medium += material * p->eq->nmaterials;
        b.largest_buffer = larger(b.largest_buffer, larger(field, material));
    }
    if (per_target > 0) add_interpolants(p, tuning, per_target, info, &b);
    b.messages = ht_halo_bytes(p, tuning, &message);
    b.largest_buffer = larger(b.largest_buffer, message);
    b.total = b.state + b.medium + b.interpolants + b.messages;
    return b;
}

/* Variants that read the plain order too write no zeros into the gaps of a
 * sorted one, which others and the reductions read. */
static enum ht_err allocate_fields(struct ht_device_stepper *t,
                                   enum ht_mesh mesh) {
    const struct ht_problem *p = &t->problem;
    bool gaps = t->spec.sorted && t->places > t->coefs &&
                t->kernels.variant->layouts != HT_READS_SORTED;
    for (int f = 0; f < p->eq->nfields; f++) {
        if (!ht_problem_stores(p, mesh, f)) continue;
        TRY(ht_buffer_create(t->device, field_bytes(p, mesh, &t->spec),
                             &t->u[mesh][f]));
        if (gaps) TRY(ht_stepper_clear(t, mesh, f));
    }
    return HT_OK;
}

static enum ht_err allocate(struct ht_device_stepper *t,
                            const struct ht_tuning *tuning) {
    const struct ht_problem *p = &t->problem;
    struct ht_budget budget =
        ht_stepper_budget(p, tuning, ht_device_info(t->device));
    int sources = (int)larger(ht_problem_stored(p, HT_PRIMARY),
                              ht_problem_stored(p, HT_DUAL));
    t->word = t->spec.fp64 ? 8 : 4;
    t->coefs = ht_grid_coefs(p->grid);
    t->places = ht_place(&t->spec, t->place);
    t->window[HT_PRIMARY] = ht_problem_window(p, HT_PRIMARY);
    t->window[HT_DUAL] = ht_problem_window(p, HT_DUAL);
    t->poly_planes = budget.poly_planes;
    bool work = ht_variant_needs_work(tuning->variant);
    int64_t per_buffer = budget.interpolants / (sources + work);
    TRY(allocate_fields(t, HT_PRIMARY));
    TRY(allocate_fields(t, HT_DUAL));
    for (int f = 0; f < sources && budget.interpolants > 0; f++)
        TRY(ht_buffer_create(t->device, per_buffer, &t->poly[f]));
    if (work) TRY(ht_buffer_create(t->device, per_buffer, &t->work));
    TRY(ht_stepper_make_scale(t));
    for (int mesh = 0; mesh < 2; mesh++)
        TRY(ht_window_ghosts(p->grid, &t->window[mesh], &t->ghosts[mesh]));
    TRY(ht_stepper_make_medium(t, HT_PRIMARY));
    return ht_stepper_make_medium(t, HT_DUAL);
}

/* The operator that a variant has baked in must be that of the problem. */
static bool operator_differs(const struct ht_spec *baked,
                             const struct ht_spec *wanted) {
    bool differs = baked->stages != wanted->stages;
    for (int t = 0; t < wanted->eq->nterms; t++)
        differs = differs || baked->scale[t] != wanted->scale[t];
    return differs;
}

enum ht_err ht_stepper_create(const struct ht_problem *problem,
                              struct ht_device *device,
                              const struct ht_kernels *kernels,
                              struct ht_stepper *out) {
    const struct ht_spec *spec = &kernels->spec[0];
    const struct ht_tuning tuning = {.variant = kernels->variant,
                                     .fp64 = spec->fp64,
                                     .trim = spec->trim,
                                     .sorted = spec->sorted,
                                     .block = spec->block};
    struct ht_device_stepper *t = NULL;
    const struct ht_spec wanted = ht_problem_spec(problem, &tuning, HT_PRIMARY);
    REQUIRE(kernels->variant->pack == NULL || !operator_differs(spec, &wanted),
            HT_ERR_INTERNAL, "kernels of another step or medium");
    TRY(HT_ALLOC(t, 1));
    t->problem = *problem;
    t->spec = wanted;
    t->device = device;
    t->kernels = *kernels;
    t->before[0] = part_seconds(kernels, HT_PART_INTERIOR);
    t->before[1] = part_seconds(kernels, HT_PART_BOUNDARY);
    enum ht_err err = allocate(t, &tuning);
    if (ht_grid_cut(problem->grid)) {
        err = ht_comm_agree(problem->grid->slab.comm, err);
        if (err == HT_OK)
            err = ht_halo_create(problem, device, kernels, t->u, &t->halo);
    }
    if (err != HT_OK) {
        stepper_destroy(t);
        return err;
    }
    *out = (struct ht_stepper){.ops = &stepper_ops, .self = t};
    return HT_OK;
}
