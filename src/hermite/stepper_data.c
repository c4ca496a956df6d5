/* Transfers of the stepper's data. They convert between double precision in the order [i][node] on
 * the host and the device's precision, layout and window, a few planes of the window at a time. */
#include "layout.h"
#include "stepper_private.h"
#include "tool_args.h"

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
static enum ht_err convert_rows(void *data, int64_t first, int64_t last) {
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

static enum ht_err run(struct transfer *c, struct ht_buffer *buffer) {
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
static enum ht_err move_planes(const struct ht_device_stepper *t, const struct ht_window *window,
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

static enum ht_err put(void *self, enum ht_subgrid subgrid, int64_t first, int64_t last,
                       const double *coefs) {
    struct ht_device_stepper *t = self;
    const int64_t part = ht_grid_plane(t->problem.grid, subgrid) * (last - first);
    ht_halo_overwritten(&t->r.state, (int)subgrid);
    for (int f = 0; f < t->problem.eq->nfields; f++)
        if (t->u[subgrid][f] != NULL)
            TRY(move_planes(t, &t->r.partition.window[subgrid], t->u[subgrid][f], t->coefs, first,
                            last, coefs + (int64_t)f * t->coefs * part, NULL));
    return HT_OK;
}

static enum ht_err get(void *self, enum ht_subgrid subgrid, int field, int count, int64_t first,
                       int64_t last, double *out) {
    struct ht_device_stepper *t = self;
    REQUIRE(t->u[subgrid][field] != NULL, HT_ERR_INTERNAL, "%s is not stored on this grid",
            t->problem.eq->field[field].name);
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

static enum ht_err move_stored(void *context, bool load, int64_t first, int64_t last,
                               double *values) {
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
        for (int n = 0; t->layers != NULL && n < 6; n++)
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

static enum ht_err measure(void *self, enum ht_subgrid subgrid, int count,
                           const struct ht_quantity *what, struct ht_measure *out) {
    const int64_t room = (int64_t)MOST_STORED * HT_MEASURE_POINTS;
    struct ht_device_stepper *t = self;
    HT_ARRAY(struct ht_sum_item, items, count);
    HT_ARRAY(double, stored, (count * room));
    for (int i = 0; i < count; i++) {
        struct ht_sum_item *item = &items[i];
        item->x = t->u[subgrid][what[i].field];
        item->coef = t->storage[what[i].coef];
        if (what[i].weights != NULL) weigh_all(t, &what[i], stored + i * room, item);
        if (what[i].material >= 0) item->a = t->medium[subgrid][what[i].material];
        measure_own(t, subgrid, what[i].beside, item);
    }
    TRY(ht_sums_run(t->set[0].sums, count, items, out));
    for (int i = 0; i < count; i++) {
        out[i].sum *= ht_measure_factor(&t->problem, &what[i]);
        if (out[i].first >= 0) out[i].first = node_of(t, subgrid, &items[i], out[i].first);
    }
    return HT_OK;
}

enum ht_err ht_stepper_fill_medium(struct ht_device_stepper *t, enum ht_subgrid subgrid) {
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

const struct ht_stepper_ops ht_device_stepper_ops = {
    .put = put,
    .get = get,
    .measure = measure,
    .archive = archive_state,
    .half_step = ht_runner_half_step,
    .repeat = ht_runner_repeat,
    .finish = ht_runner_finish,
    .destroy = ht_device_stepper_destroy,
    .arrays = arrays,
    .traffic = ht_runner_traffic,
};
