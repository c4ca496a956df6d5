/* The stepper on a device. Both grids live there, one buffer per field; the
 * medium's polynomials likewise, one buffer per material; of a grid cut into
 * slabs the planes that halo.h tells. Transfers convert between double in the
 * order [i][node] on the host and the device's precision and layout, a few
 * planes at a time.
 */
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "halo.h"
#include "layout.h"

struct device_stepper {
    struct ht_problem problem;
    struct ht_spec spec;
    struct ht_device *device;
    struct ht_kernels kernels;
    struct ht_held held[2]; /* planes of each mesh */
    struct ht_halo *halo;   /* NULL: the grid is not cut */
    struct ht_buffer *u[2][HT_MAX_FIELDS];
    struct ht_buffer *medium[2][HT_MAX_MATERIALS];
    struct ht_buffer *poly[HT_MAX_FIELDS];
    struct ht_buffer *work; /* NULL: the variant needs none */
    struct ht_buffer *scale;
    int64_t poly_planes;
    double before[2]; /* seconds that the kernels took for others */
    int word, coefs, places;
    int place[HT_MAX_COEFS]; /* of each coefficient */
};

static void stepper_destroy(void *self) {
    struct device_stepper *t = self;
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

static void to_device(int word, int64_t count, const double *from, void *to) {
    if (word == 8) {
        memcpy(to, from, (size_t)count * sizeof *from);
        return;
    }
    float *single = to;
    for (int64_t i = 0; i < count; i++) single[i] = (float)from[i];
}

static double from_device(int word, const void *from, int64_t i) {
    return word == 8 ? ((const double *)from)[i]
                     : (double)((const float *)from)[i];
}

static int64_t held_total(const struct ht_problem *problem, enum ht_mesh mesh) {
    return ht_halo_held(problem, mesh).count *
           ht_grid_plane(problem->grid, mesh);
}

/* Rows of one coefficient block each, for planes [first, last) of the whole
 * grid: the part of a field's buffer that holds the first `count` places of
 * those planes. */
static struct ht_span block_span(const struct device_stepper *t,
                                 enum ht_mesh mesh, int count, int64_t first,
                                 int64_t last) {
    const struct ht_grid *grid = t->problem.grid;
    int64_t unit = (int64_t)t->spec.block * t->word;
    int64_t plane = ht_grid_plane(grid, mesh);
    return (struct ht_span){
        .offset = (first - t->held[mesh].first) * plane * unit,
        .width = (last - first) * plane * unit,
        .pitch = t->held[mesh].count * plane * unit,
        .rows = (count + t->spec.block - 1) / t->spec.block,
    };
}

static enum ht_err check_own(const struct device_stepper *t, enum ht_mesh mesh,
                             int64_t first, int64_t last) {
    int64_t own_first, own_last;
    ht_grid_own(t->problem.grid, mesh, &own_first, &own_last);
    REQUIRE(first >= own_first && last <= own_last, HT_ERR_INTERNAL,
            "planes %lld to %lld of a slab from %lld to %lld", (long long)first,
            (long long)last, (long long)own_first, (long long)own_last);
    return HT_OK;
}

static enum ht_err stepper_put(void *self, enum ht_mesh mesh, int64_t first,
                               int64_t last, const double *coefs) {
    struct device_stepper *t = self;
    struct ht_span span = block_span(t, mesh, t->places, first, last);
    int64_t part = ht_grid_plane(t->problem.grid, mesh) * (last - first);
    int block = t->spec.block;
    double *packed = NULL;
    void *data = NULL;
    TRY(check_own(t, mesh, first, last));
    if (t->halo != NULL) ht_halo_forget(t->halo, mesh);
    TRY(HT_ALLOC(packed, span.rows * part * block));
    enum ht_err err = ht_mem_alloc((size_t)(span.rows * span.width), 1, &data);
    for (int f = 0; err == HT_OK && f < t->problem.eq->nfields; f++) {
        if (t->u[mesh][f] == NULL) continue;
        for (int i = 0; i < t->coefs; i++)
            for (int64_t n = 0; n < part; n++)
                packed[HT_LAYOUT_AT(block, t->place[i], n, part)] =
                    coefs[(f * t->coefs + i) * part + n];
        to_device(t->word, span.rows * part * block, packed, data);
        err = ht_buffer_write(t->u[mesh][f], span, data);
    }
    free(data);
    free(packed);
    return err;
}

static enum ht_err stepper_get(void *self, enum ht_mesh mesh, int field,
                               int count, int64_t first, int64_t last,
                               double *out) {
    struct device_stepper *t = self;
    int places = 0; /* up to that of the last of them */
    for (int i = 0; i < count; i++)
        if (t->place[i] >= places) places = t->place[i] + 1;
    struct ht_span span = block_span(t, mesh, places, first, last);
    int64_t part = ht_grid_plane(t->problem.grid, mesh) * (last - first);
    void *data = NULL;
    TRY(check_own(t, mesh, first, last));
    REQUIRE(t->u[mesh][field] != NULL, HT_ERR_INTERNAL,
            "%s is not stored on this grid", t->problem.eq->field[field].name);
    TRY(ht_mem_alloc((size_t)(span.rows * span.width), 1, &data));
    enum ht_err err = ht_buffer_read(t->u[mesh][field], span, data);
    for (int i = 0; err == HT_OK && i < count; i++)
        for (int64_t n = 0; n < part; n++)
            out[i * part + n] =
                from_device(t->word, data,
                            HT_LAYOUT_AT(t->spec.block, t->place[i], n, part));
    free(data);
    return err;
}

/* Own nodes of a mesh; ends that are a neighbour's are no walls. */
static void measure_own(const struct device_stepper *t, enum ht_mesh mesh,
                        struct ht_reduce_item *item) {
    const struct ht_grid *grid = t->problem.grid;
    const struct ht_held *held = &t->held[mesh];
    for (int k = 0; k < 3; k++) {
        item->nodes[k] = ht_grid_nodes(grid, mesh, k);
        for (int side = 0; side < 2; side++)
            item->half[k][side] = ht_measure_half(grid, mesh, k, side);
    }
    if (t->halo == NULL) return;
    item->nodes[2] = held->own_count;
    item->begin = held->own * ht_grid_plane(grid, mesh);
    item->total = held_total(&t->problem, mesh);
    for (int side = 0; side < 2; side++)
        if (ht_grid_neighbour(grid, side) >= 0) item->half[2][side] = false;
}

static enum ht_err stepper_measure(void *self, enum ht_mesh mesh, int count,
                                   const struct ht_quantity *what,
                                   struct ht_measure *out) {
    struct device_stepper *t = self;
    int64_t before = (t->held[mesh].first + t->held[mesh].own) *
                     ht_grid_plane(t->problem.grid, mesh);
    struct ht_reduce_item *items = NULL;
    TRY(HT_ALLOC(items, count));
    for (int i = 0; i < count; i++) {
        struct ht_reduce_item *item = &items[i];
        item->u = t->u[mesh][what[i].field];
        item->coef = t->place[what[i].coef];
        if (what[i].material >= 0)
            item->medium = t->medium[mesh][what[i].material];
        measure_own(t, mesh, item);
    }
    enum ht_err err = ht_reduction_run(t->kernels.reduction, count, items, out);
    for (int i = 0; err == HT_OK && i < count; i++) {
        out[i].sum *= ht_measure_factor(&t->problem, &what[i]);
        if (out[i].first >= 0) out[i].first += before;
    }
    free(items);
    return err;
}

/* Planes [first, last) of the target's buffers. */
static enum ht_err launch_planes(struct device_stepper *t, enum ht_mesh from,
                                 enum ht_step_part part, int64_t first,
                                 int64_t last) {
    enum ht_mesh to = from == HT_PRIMARY ? HT_DUAL : HT_PRIMARY;
    const struct ht_grid *grid = t->problem.grid;
    struct ht_step_args args = {.first = (long)first,
                                .last = (long)last,
                                .shift = from == HT_PRIMARY ? 0 : -1,
                                .stages = t->problem.stages};
    struct ht_step_buffers buffers = {
        .scale = t->scale, .work = t->work, .poly_planes = t->poly_planes};
    if (first >= last) return HT_OK;
    for (int k = 0; k < 3; k++) {
        args.src[k] = (long)ht_grid_nodes(grid, from, k);
        args.dst[k] = (long)ht_grid_nodes(grid, to, k);
        for (int side = 0; side < 2; side++)
            args.wall[2 * k + side] = grid->wall[k][side];
    }
    args.src[2] = (long)t->held[from].count;
    args.dst[2] = (long)t->held[to].count;
    memcpy(buffers.src, t->u[from], sizeof buffers.src);
    memcpy(buffers.dst, t->u[to], sizeof buffers.dst);
    memcpy(buffers.poly, t->poly, sizeof buffers.poly);
    memcpy(buffers.medium, t->medium[to], sizeof buffers.medium);
    return ht_step_launch(t->kernels.step[from], part, &args, &buffers);
}

static enum ht_err stepper_half_step(void *self, enum ht_mesh from) {
    struct device_stepper *t = self;
    enum ht_mesh to = from == HT_PRIMARY ? HT_DUAL : HT_PRIMARY;
    struct ht_halo_ranges r;
    if (t->halo == NULL)
        return launch_planes(t, from, HT_PART_INTERIOR, 0, t->held[to].count);
    TRY(ht_halo_prepare(t->halo, from, &r));
    for (int i = 0; i < 2; i++)
        TRY(launch_planes(t, from, HT_PART_BOUNDARY, r.boundary[i][0],
                          r.boundary[i][1]));
    if (r.sends) TRY(ht_halo_send(t->halo));
    return launch_planes(t, from, HT_PART_INTERIOR, r.interior[0],
                         r.interior[1]);
}

static enum ht_err stepper_finish(void *self) {
    struct device_stepper *t = self;
    if (t->halo != NULL) TRY(ht_halo_finish(t->halo));
    return ht_device_finish(t->device);
}

/* Device seconds that the kernels took for a part, whoever launched them. */
static double part_seconds(const struct ht_kernels *kernels,
                           enum ht_step_part part) {
    double seconds = ht_step_total(kernels->step[0], part);
    if (kernels->step[1] != kernels->step[0])
        seconds += ht_step_total(kernels->step[1], part);
    return seconds;
}

static void stepper_traffic(void *self, struct ht_traffic *out) {
    struct device_stepper *t = self;
    *out = (struct ht_traffic){0};
    if (t->halo != NULL) ht_halo_traffic(t->halo, out);
    out->interior_s =
        part_seconds(&t->kernels, HT_PART_INTERIOR) - t->before[0];
    out->boundary_s =
        part_seconds(&t->kernels, HT_PART_BOUNDARY) - t->before[1];
}

static const struct ht_stepper_ops stepper_ops = {
    .put = stepper_put,
    .get = stepper_get,
    .measure = stepper_measure,
    .half_step = stepper_half_step,
    .finish = stepper_finish,
    .destroy = stepper_destroy,
    .traffic = stepper_traffic,
};

/* scale[term] of cl/evolve.cl; the same for both half steps. */
static enum ht_err make_scale(struct device_stepper *t) {
    double converted[HT_MAX_TERMS];
    int64_t bytes = (int64_t)t->spec.eq->nterms * t->word;
    to_device(t->word, t->spec.eq->nterms, t->spec.scale, converted);
    TRY(ht_buffer_create(t->device, bytes, &t->scale));
    return ht_buffer_write(
        t->scale, (struct ht_span){.width = bytes, .pitch = bytes, .rows = 1},
        converted);
}

/* Planes [at, at + count) of the buffers of all materials, which do not cross
 * the periodic seam; values and data are scratch. */
static enum ht_err upload_medium(struct device_stepper *t, enum ht_mesh mesh,
                                 int64_t at, int64_t count, double *values,
                                 void *data) {
    const struct ht_problem *p = &t->problem;
    int64_t plane = ht_grid_plane(p->grid, mesh), part = plane * count;
    int64_t planes = ht_grid_planes(p->grid, mesh);
    int64_t first = (t->held[mesh].first + at + planes) % planes;
    struct ht_span span = {.offset = at * plane * t->word,
                           .width = part * t->word,
                           .pitch = t->held[mesh].count * plane * t->word,
                           .rows = p->medium_coefs};
    TRY(p->medium_fill(p->medium, mesh, first, first + count, values));
    for (int m = 0; m < p->eq->nmaterials; m++) {
        to_device(t->word, part * p->medium_coefs,
                  values + m * part * p->medium_coefs, data);
        TRY(ht_buffer_write(t->medium[mesh][m], span, data));
    }
    return HT_OK;
}

/* Planes that fit about 64 MiB of host memory at `values` doubles a node. */
static int64_t planes_at_once(const struct device_stepper *t, enum ht_mesh mesh,
                              int64_t values) {
    int64_t per_plane = ht_grid_plane(t->problem.grid, mesh) * values * 8;
    int64_t planes = ((int64_t)1 << 26) / (per_plane > 0 ? per_plane : 1);
    int64_t most = t->held[mesh].count;
    return planes < 1 ? 1 : planes < most ? planes : most;
}

/* Planes from `at` on, `most` at most, up to the end of the buffer or to the
 * periodic seam. */
static int64_t planes_from(const struct device_stepper *t, enum ht_mesh mesh,
                           int64_t at, int64_t most) {
    int64_t planes = ht_grid_planes(t->problem.grid, mesh);
    int64_t first = (t->held[mesh].first + at + planes) % planes;
    int64_t count = t->held[mesh].count - at;
    if (count > most) count = most;
    return count < planes - first ? count : planes - first;
}

static enum ht_err make_medium(struct device_stepper *t, enum ht_mesh mesh) {
    const struct ht_problem *p = &t->problem;
    if (p->medium_degree < 0) return HT_OK;
    int64_t nodes = held_total(p, mesh);
    int64_t chunk =
        planes_at_once(t, mesh, (int64_t)p->eq->nmaterials * p->medium_coefs);
    int64_t room = ht_grid_plane(p->grid, mesh) * chunk * p->medium_coefs;
    double *values = NULL, *data = NULL;
    for (int m = 0; m < p->eq->nmaterials; m++)
        TRY(ht_buffer_create(t->device, nodes * p->medium_coefs * t->word,
                             &t->medium[mesh][m]));
    TRY(HT_ALLOC(values, room * p->eq->nmaterials));
    enum ht_err err = HT_ALLOC(data, room);
    for (int64_t at = 0, count; err == HT_OK && at < t->held[mesh].count;
         at += count) {
        count = planes_from(t, mesh, at, chunk);
        err = upload_medium(t, mesh, at, count, values, data);
    }
    free(data);
    free(values);
    return err;
}

static int64_t field_bytes(const struct ht_problem *p, enum ht_mesh mesh,
                           const struct ht_spec *spec) {
    int place[HT_MAX_COEFS];
    return HT_LAYOUT_SIZE(spec->block, ht_place(spec, place),
                          held_total(p, mesh)) *
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
    int64_t planes = larger(ht_halo_held(p, HT_PRIMARY).count,
                            ht_halo_held(p, HT_DUAL).count);
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
            held_total(p, which) * p->medium_coefs * (spec.fp64 ? 8 : 4);
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

static enum ht_err allocate_fields(struct device_stepper *t,
                                   enum ht_mesh mesh) {
    const struct ht_problem *p = &t->problem;
    for (int f = 0; f < p->eq->nfields; f++)
        if (ht_problem_stores(p, mesh, f))
            TRY(ht_buffer_create(t->device, field_bytes(p, mesh, &t->spec),
                                 &t->u[mesh][f]));
    return HT_OK;
}

static enum ht_err allocate(struct device_stepper *t,
                            const struct ht_tuning *tuning) {
    const struct ht_problem *p = &t->problem;
    struct ht_budget budget =
        ht_stepper_budget(p, tuning, ht_device_info(t->device));
    int sources = (int)larger(ht_problem_stored(p, HT_PRIMARY),
                              ht_problem_stored(p, HT_DUAL));
    t->word = t->spec.fp64 ? 8 : 4;
    t->coefs = ht_grid_coefs(p->grid);
    t->places = ht_place(&t->spec, t->place);
    t->held[HT_PRIMARY] = ht_halo_held(p, HT_PRIMARY);
    t->held[HT_DUAL] = ht_halo_held(p, HT_DUAL);
    t->poly_planes = budget.poly_planes;
    bool work = ht_variant_needs_work(tuning->variant);
    int64_t per_buffer = budget.interpolants / (sources + work);
    TRY(allocate_fields(t, HT_PRIMARY));
    TRY(allocate_fields(t, HT_DUAL));
    for (int f = 0; f < sources && budget.interpolants > 0; f++)
        TRY(ht_buffer_create(t->device, per_buffer, &t->poly[f]));
    if (work) TRY(ht_buffer_create(t->device, per_buffer, &t->work));
    TRY(make_scale(t));
    TRY(make_medium(t, HT_PRIMARY));
    return make_medium(t, HT_DUAL);
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
                                     .block = spec->block};
    struct device_stepper *t = NULL;
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
