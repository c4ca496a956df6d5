/* The window of a slab of finite differences, its arrays, and the medium in it.
 */
#include <stdlib.h>
#include <string.h>

#include "fd.h"

struct ht_fd_spec ht_fd_spec_of(const struct ht_problem *problem, bool fp64) {
    return (struct ht_fd_spec){.dims = problem->eq->dims,
                               .radius = problem->fd.order / 2,
                               .fp64 = fp64,
                               .density = problem->fd.density};
}

/* ---- the window ---- */

/* Ghosts, or planes of a neighbour, at one side of an axis. */
static int64_t nodes_beyond(const struct ht_fd_stepper *s, int axis, int side) {
    const struct ht_partition *p = &s->r.partition;
    const int64_t reach = ht_fd_reach(&s->engine.spec);
    if (axis >= s->problem.grid->dims) return 0;
    return axis == 2 && p->neighbour[side] ? reach * p->depth : reach;
}

static void make_axis(struct ht_fd_stepper *s, int axis) {
    const struct ht_grid *grid = s->problem.grid;
    struct ht_partition *p = &s->r.partition;
    struct ht_window *w = &p->window[HT_PRIMARY];
    int64_t nodes = ht_grid_nodes(grid, HT_PRIMARY, axis);
    if (axis == 2) nodes = s->last - s->first;
    const struct ht_fd_row row = ht_fd_row(nodes, ht_fd_reach(&s->engine.spec));
    const int64_t begin = axis == 0 ? row.begin : nodes_beyond(s, axis, 0);
    s->box.begin[axis] = w->own.begin[axis] = w->held.begin[axis] = begin;
    s->box.end[axis] = w->own.end[axis] = w->held.end[axis] = begin + nodes;
    w->count[axis] = axis == 0 ? row.row : begin + nodes + nodes_beyond(s, axis, 1);
    w->origin[axis] = (axis == 2 ? s->first : 0) - begin;
    if (axis == 2 && p->neighbour[0]) w->held.begin[2] = 0;
    if (axis == 2 && p->neighbour[1]) w->held.end[2] = w->count[2];
    for (int side = 0; side < 2; side++) {
        const bool cut = axis == 2 && p->neighbour[side];
        const bool filled = axis < grid->dims && !cut;
        s->sides[axis][side] = filled ? grid->wall[axis][side] : HT_FD_SIDE_NONE;
        s->ends.half[axis][side] = !cut && ht_measure_half(grid, HT_PRIMARY, axis, side);
        p->ghosts[HT_PRIMARY] = p->ghosts[HT_PRIMARY] || filled;
    }
}

void ht_fd_stepper_plan(const struct ht_problem *problem, const struct ht_fd_engine *engine,
                        struct ht_fd_stepper *out) {
    const struct ht_grid *grid = problem->grid;
    out->problem = *problem;
    out->engine = *engine;
    out->r.partition =
        (struct ht_partition){.cut = ht_grid_cut(grid), .depth = ht_halo_depth(problem)};
    ht_grid_own(grid, HT_PRIMARY, &out->first, &out->last);
    for (int side = 0; side < 2; side++)
        out->r.partition.neighbour[side] = ht_grid_neighbour(grid, side) >= 0;
    for (int k = 0; k < 3; k++) make_axis(out, k);
    const int64_t *count = out->r.partition.window[HT_PRIMARY].count;
    out->box.row = count[0];
    out->box.plane = count[0] * count[1];
    ht_fd_layers_plan(out);
}

/* ---- arrays ---- */

/* u, d, w, z, a, and b where density varies: from this list they are counted, created and
 * destroyed. */
enum { STATE = 4, MOST_ARRAYS = 8 };
static int list_arrays(struct ht_fd_stepper *s, struct ht_fd_array *list[MOST_ARRAYS]) {
    int count = 0;
    for (int a = 0; a < HT_FD_NAMES; a++) list[count++] = &s->values[a];
    list[count++] = &s->z;
    list[count++] = &s->law.a;
    for (int k = 0; s->engine.spec.density && k < s->engine.spec.dims; k++)
        list[count++] = &s->law.b[k];
    return count;
}

struct ht_budget ht_differences_stepper_budget(const struct ht_problem *problem,
                                               const struct ht_tuning *tuning,
                                               const struct ht_device_info *info) {
    const struct ht_fd_spec spec = ht_fd_spec_of(problem, tuning->fp64);
    const struct ht_fd_engine engine = {.spec = spec};
    struct ht_fd_array *list[MOST_ARRAYS];
    struct ht_fd_stepper s = {.at = 0};
    struct ht_halo halo = {.parts = 0};
    int64_t message = 0;
    ht_fd_stepper_plan(problem, &engine, &s);
    const int64_t bytes =
        ht_window_nodes(&s.r.partition.window[HT_PRIMARY]) * ht_real_size(spec.fp64);
    const int arrays = list_arrays(&s, list);
    const int64_t layers = ht_fd_layers_words(&s) * ht_real_size(spec.fp64);
    struct ht_budget b = {
        .state = STATE * bytes + layers, .layers = layers, .medium = (arrays - STATE) * bytes};
    (void)info;
    if (ht_grid_cut(problem->grid)) {
        ht_fd_plan_halo(&s, &halo);
        b.messages = ht_links_bytes(halo.exchanger.link, &message);
    }
    b.total = b.state + b.medium + b.messages;
    b.largest_buffer = bytes > message ? bytes : message;
    return b;
}

enum ht_err ht_fd_arrays_create(struct ht_fd_stepper *s) {
    struct ht_fd_array *list[MOST_ARRAYS];
    const int count = list_arrays(s, list);
    for (int i = 0; i < count; i++)
        TRY(s->engine.ops->create(&s->engine, ht_window_nodes(&s->r.partition.window[HT_PRIMARY]),
                                  list[i]));
    return ht_fd_layers_create(s);
}

void ht_fd_arrays_destroy(struct ht_fd_stepper *s) {
    struct ht_fd_array *list[MOST_ARRAYS];
    for (int i = list_arrays(s, list) - 1; i >= 0; i--) s->engine.ops->destroy(list[i]);
    ht_fd_layers_destroy(s);
}

/* ---- the medium ---- */

int64_t ht_fd_inside(const struct ht_grid *grid, unsigned parity, int axis, int64_t m) {
    const int64_t n = ht_grid_nodes(grid, HT_PRIMARY, axis);
    const int64_t half = parity >> axis & 1u;
    const bool wraps = axis < grid->dims && ht_grid_periodic(grid, axis);
    const int64_t period = wraps ? n : 2 * (n - 1);
    if (axis >= grid->dims) return 0;
    m = (m % period + period) % period;
    return wraps || m < n - half ? m : period - m - half;
}

int64_t ht_fd_block_planes(const struct ht_grid *grid) {
    enum { MOST = 32, LEAST = 4, VALUES = 1 << 23 };
    const int64_t some = VALUES / ht_grid_plane(grid, HT_PRIMARY);
    return ht_least(ht_most(some, LEAST), MOST);
}

static void exchange_planes(int64_t plane, double *a, double *b) {
    for (int64_t n = 0; n < plane; n++) {
        const double value = a[n];
        a[n] = b[n];
        b[n] = value;
    }
}

/* Planes from m on, at most `count`, whose images in the grid are neighbours; *step: the direction
 * from one to the next. */
static int64_t find_run(const struct ht_grid *grid, unsigned parity, int64_t m, int64_t count,
                        int64_t *step) {
    int64_t run = 1;
    for (*step = 1; run < count; run++) {
        const int64_t one =
            ht_fd_inside(grid, parity, 2, m + run) - ht_fd_inside(grid, parity, 2, m + run - 1);
        if (run == 1 && one == -1) *step = -1;
        if (one != *step) break;
    }
    return run;
}

enum ht_err ht_fd_fill_planes(const struct ht_problem *problem, int what, unsigned parity,
                              int64_t first, int64_t last, double *out) {
    const struct ht_grid *grid = problem->grid;
    const struct ht_fd_problem *fd = &problem->fd;
    const int64_t plane = ht_grid_plane(grid, HT_PRIMARY);
    int64_t run, step;
    for (int64_t m = first; m < last; m += run, out += run * plane) {
        run = find_run(grid, parity, m, last - m, &step);
        const int64_t low = ht_fd_inside(grid, parity, 2, step > 0 ? m : m + run - 1);
        TRY(fd->fill(fd->medium, what, low, low + run, out));
        for (int64_t j = 0; step < 0 && j < run / 2; j++)
            exchange_planes(plane, out + j * plane, out + (run - 1 - j) * plane);
    }
    return HT_OK;
}

/* Values of planes of the grid, and of the window. */
struct planes {
    const struct ht_fd_stepper *s;
    unsigned parity;
    int64_t count;
    double *from, *to;
};

static void continue_ends(const struct ht_fd_stepper *s, unsigned parity, const double *from,
                          int64_t first, int64_t last, double *to) {
    const struct ht_grid *grid = s->problem.grid;
    for (int64_t m1 = first; m1 < last; m1++)
        to[m1] = from[ht_fd_inside(grid, parity, 0, m1 - s->box.begin[0])];
}

/* A row of the grid's values into one of the window, continued along x1. */
static void continue_row(const struct ht_fd_stepper *s, unsigned parity, const double *from,
                         double *to) {
    const int64_t begin = s->box.begin[0], end = s->box.end[0];
    memcpy(to + begin, from, (size_t)(end - begin) * sizeof *to);
    continue_ends(s, parity, from, 0, begin, to);
    /* The last of values between nodes lies behind a wall. */
    continue_ends(s, parity, from, parity == 0 ? end : end - 1,
                  s->r.partition.window[HT_PRIMARY].count[0], to);
}

/* A plane of the grid's values into one of the window, continued along x1 and x2. */
static enum ht_err continue_plane(void *data, int64_t plane, int worker) {
    const struct planes *p = data;
    const struct ht_fd_stepper *s = p->s;
    const struct ht_grid *grid = s->problem.grid;
    const int64_t n1 = ht_grid_nodes(grid, HT_PRIMARY, 0);
    const double *from = p->from + plane * ht_grid_plane(grid, HT_PRIMARY);
    double *to = p->to + plane * s->box.plane;
    (void)worker;
    for (int64_t m2 = 0; m2 < s->r.partition.window[HT_PRIMARY].count[1]; m2++, to += s->box.row) {
        const int64_t at = ht_fd_inside(grid, p->parity, 1, m2 - s->box.begin[1]);
        continue_row(s, p->parity, from + at * n1, to);
    }
    return HT_OK;
}

enum ht_err ht_fd_fill_arrays(struct ht_fd_stepper *s, int first, int last, unsigned parity,
                              const struct ht_fd_array *to) {
    const struct ht_grid *grid = s->problem.grid;
    const int64_t planes = s->r.partition.window[HT_PRIMARY].count[2];
    struct planes p = {
        .s = s, .parity = parity, .count = ht_least(ht_fd_block_planes(grid), planes)};
    enum ht_err err = HT_ALLOC(p.from, p.count * ht_grid_plane(grid, HT_PRIMARY));
    if (err == HT_OK) err = HT_ALLOC(p.to, p.count * s->box.plane);
    for (int64_t m3 = 0; err == HT_OK && m3 < planes; m3 += p.count) {
        const int64_t some = ht_least(p.count, planes - m3);
        const int64_t at = s->first + m3 - s->box.begin[2];
        for (int what = first; err == HT_OK && what < last; what++) {
            err = ht_fd_fill_planes(&s->problem, what, parity, at, at + some, p.from);
            if (err == HT_OK) err = ht_threads_run(some, continue_plane, &p);
            if (err == HT_OK)
                err = s->engine.ops->write(&s->engine, to[what - first], m3 * s->box.plane,
                                           some * s->box.plane, p.to);
        }
    }
    free(p.from);
    free(p.to);
    return err;
}

static enum ht_err fill_uniform(const void *medium, int what, int64_t first, int64_t last,
                                double *out) {
    const struct ht_problem *p = medium;
    const int64_t nodes = ht_grid_plane(p->grid, HT_PRIMARY) * (last - first);
    const int modulus = p->eq->second_order.modulus;
    for (int64_t n = 0; n < nodes; n++)
        out[n] = what == 0 ? p->uniform[modulus] : p->fd.inverse_density;
    return HT_OK;
}

enum ht_err ht_fd_fill_medium(struct ht_fd_stepper *s) {
    if (s->problem.fd.fill == NULL) {
        s->problem.fd.fill = fill_uniform;
        s->problem.fd.medium = &s->problem;
    }
    TRY(ht_fd_fill_arrays(s, 0, 1, 0, &s->law.a));
    for (int k = 0; s->engine.spec.density && k < s->engine.spec.dims; k++)
        TRY(ht_fd_fill_arrays(s, 1 + k, 2 + k, 1u << k, &s->law.b[k]));
    return HT_OK;
}
