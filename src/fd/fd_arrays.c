/* Arrays of steppers: filled from the medium, moved from and to planes, in checkpoints. */
#include "fd.h"

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

HT_ERR ht_fd_fill_planes(const struct ht_problem *problem, int what, unsigned parity, int64_t first,
                         int64_t last, double *out) {
    const struct ht_grid *grid = problem->grid;
    const struct ht_fd_problem *fd = &problem->fd;
    const int64_t plane = ht_grid_plane(grid, HT_PRIMARY);
    int64_t run, step;
    for (int64_t m = first; m < last; m += run, out += run * plane) {
        run = find_run(grid, parity, m, last - m, &step);
        const int64_t low = ht_fd_inside(grid, parity, 2, step > 0 ? m : m + run - 1);
        TRY(fd->fill(fd->medium, what, low, low + run, out));
        for (int64_t j = 0; step < 0 && j < run / 2; j++)
            for (int64_t n = 0; n < plane; n++) {
                double *a = out + j * plane + n, *b = out + (run - 1 - j) * plane + n;
                const double value = *a;
                *a = *b;
                *b = value;
            }
    }
    return HT_OK;
}

/* Values of planes of the grid, and of the window. */
struct planes {
    const struct ht_fd_stepper *s;
    unsigned parity;
    int64_t count;
    int64_t first; /* number in the grid of the first one */
    double *from, *to;
    double *factor[3]; /* of nodes of an axis; NULL: 1 */
};

/* A plane of the grid's values into one of the window, continued along x1 and x2. */
static HT_ERR continue_plane(void *data, int64_t plane) {
    const struct planes *p = data;
    const struct ht_fd_stepper *s = p->s;
    const struct ht_grid *grid = s->problem.grid;
    const int64_t n1 = ht_grid_nodes(grid, HT_PRIMARY, 0);
    const int64_t begin = s->box.begin[0], end = s->box.end[0];
    /* The last of values between nodes lies behind a wall. */
    const int64_t last = p->parity == 0 ? end : end - 1;
    const int64_t *count = s->r.partition.window[HT_PRIMARY].count;
    const double *from = p->from + plane * ht_grid_plane(grid, HT_PRIMARY);
    double *to = p->to + plane * s->box.plane;
    const int64_t m3 = ht_fd_inside(grid, p->parity, 2, p->first + plane);
    for (int64_t m2 = 0; m2 < count[1]; m2++, to += s->box.row) {
        const int64_t m = ht_fd_inside(grid, p->parity, 1, m2 - s->box.begin[1]);
        const double *row = from + n1 * m;
        memcpy(to + begin, row, (size_t)(end - begin) * sizeof *to);
        for (int64_t m1 = 0; p->factor[0] != NULL && m1 < n1; m1++)
            to[begin + m1] *= p->factor[0][m1] * (p->factor[1][m] * p->factor[2][m3]);
        for (int64_t m1 = 0; m1 < count[0]; m1 = m1 + 1 == begin ? last : m1 + 1)
            to[m1] = row[ht_fd_inside(grid, p->parity, 0, m1 - begin)];
    }
    return HT_OK;
}

/* The factors of matched layers at the nodes of each axis, one after the other, which are in a
 * (cl/fd_layers.cl). False: there are none. */
static bool find_factors(const struct ht_problem *problem, double *out) {
    const struct ht_layers *layers = problem->layers;
    if (layers == NULL || problem->fd.pair != HT_PAIR_NONE || layers->type == HT_ABSORBING_SPONGE)
        return false;
    for (int k = 0; k < 3; k++)
        for (int64_t m = 0; m < ht_grid_nodes(problem->grid, HT_PRIMARY, k); m++)
            *out++ = ht_layers_factor(layers, k, (double)m, problem->dt);
    return true;
}

HT_ERR ht_fd_fill_arrays(struct ht_fd_stepper *s, int first, int last, unsigned parity,
                         struct ht_buffer *const *to) {
    const struct ht_grid *grid = s->problem.grid;
    const int64_t planes = s->r.partition.window[HT_PRIMARY].count[2];
    struct planes p = {
        .s = s, .parity = parity, .count = ht_least(ht_fd_block_planes(grid), planes)};
    HT_ARRAY(double, grid_values, (p.count * ht_grid_plane(grid, HT_PRIMARY)));
    HT_ARRAY(double, window_values, p.count * s->box.plane);
    int64_t nodes[3], all = 0;
    for (int k = 0; k < 3; k++) all += nodes[k] = ht_grid_nodes(grid, HT_PRIMARY, k);
    HT_ARRAY(double, factors, all);
    if (first == 0 && find_factors(&s->problem, factors))
        for (int k = 0; k < 3; k++) p.factor[k] = k == 0 ? factors : p.factor[k - 1] + nodes[k - 1];
    p.from = grid_values;
    p.to = window_values;
    for (int64_t m3 = 0; m3 < planes; m3 += p.count) {
        const int64_t some = ht_least(p.count, planes - m3);
        const int64_t at = p.first = s->own.first + m3 - s->box.begin[2];
        for (int what = first; what < last; what++) {
            TRY(ht_fd_fill_planes(&s->problem, what, parity, at, at + some, p.from));
            TRY(ht_threads_run(some, continue_plane, &p));
            TRY(ht_buffer_write_reals(to[what - first], s->engine.spec.fp64, m3 * s->box.plane,
                                      some * s->box.plane, p.to));
        }
    }
    return HT_OK;
}

HT_ERR ht_fd_fill_frame(const void *medium, int what, int64_t first, int64_t last, double *out) {
    const struct ht_plan *plan = medium;
    return ht_frame_fill(plan->frame, what, first, last, out);
}

HT_ERR ht_fd_fill_numbers(const void *medium, int what, int64_t first, int64_t last, double *out) {
    const struct ht_problem *p = medium;
    for (int64_t n = 0; n < (last - first) * ht_grid_plane(p->grid, HT_PRIMARY); n++)
        out[n] = p->fd.number[what];
    return HT_OK;
}

/* ---- planes ---- */

/* Some planes at a time. */
HT_ERR ht_fd_move_planes(struct ht_fd_stepper *s, struct ht_buffer *array, int64_t first,
                         int64_t last, const double *from, double *to) {
    const bool fp64 = s->engine.spec.fp64;
    const struct ht_fd_box *box = &s->box;
    const int64_t n1 = box->end[0] - box->begin[0], n2 = box->end[1] - box->begin[1];
    const int64_t most = ht_most(ht_least((1 << 20) / box->plane, last - first), 1);
    HT_ARRAY(double, window, most * box->plane);
    for (int64_t m = first; m < last; m += most) {
        const int64_t planes = ht_least(most, last - m), moved = (m - first) * n2 * n1;
        const int64_t at = (m - s->own.first + box->begin[2]) * box->plane;
        if (to != NULL) TRY(ht_buffer_read_reals(array, fp64, at, planes * box->plane, window));
        for (int64_t row = 0; row < planes * n2; row++) {
            double *values = window + row / n2 * box->plane +
                             (box->begin[1] + row % n2) * box->row + box->begin[0];
            const int64_t place = moved + row * n1;
            if (to != NULL) memcpy(to + place, values, (size_t)n1 * sizeof *to);
            if (from != NULL) memcpy(values, from + place, (size_t)n1 * sizeof *to);
        }
        if (from != NULL) TRY(ht_buffer_write_reals(array, fp64, at, planes * box->plane, window));
    }
    return HT_OK;
}

/* ---- checkpoints ---- */

static HT_ERR move_stored(void *context, bool load, int64_t first, int64_t last, double *values) {
    const struct ht_fd_stored *of = context;
    const bool fp64 = of->engine->spec.fp64;
    if (of->nodes != NULL)
        return ht_fd_move_planes(of->nodes, of->array, first, last, load ? values : NULL,
                                 load ? NULL : values);
    for (int64_t g = 0; g < of->groups; g++) {
        const int64_t count = (last - first) * of->plane, at = of->base + g * of->apart;
        double *part = values + g * count;
        const int64_t from = at + (first - of->first) * of->plane;
        TRY((load ? ht_buffer_write_reals(of->array, fp64, from, count, part)
                  : ht_buffer_read_reals(of->array, fp64, from, count, part)));
    }
    return HT_OK;
}

void ht_fd_archive_memory(struct ht_archive *archive, const char *name, struct ht_fd_stored *of) {
    const struct ht_archive_array array = {.name = name,
                                           .single = !of->engine->spec.fp64,
                                           .groups = of->groups,
                                           .planes = of->planes,
                                           .plane = of->plane,
                                           .first = of->first,
                                           .last = of->last,
                                           .move = move_stored,
                                           .context = of};
    ht_archive_array(archive, &array);
}

void ht_fd_archive_nodes(struct ht_fd_stepper *s, struct ht_archive *archive, const char *name,
                         struct ht_buffer *values) {
    struct ht_fd_stored of = {.engine = &s->engine,
                              .nodes = s,
                              .array = values,
                              .groups = 1,
                              .planes = ht_grid_planes(s->problem.grid, HT_PRIMARY),
                              .plane = ht_grid_plane(s->problem.grid, HT_PRIMARY),
                              .first = s->own.first,
                              .last = s->own.last};
    ht_fd_archive_memory(archive, name, &of);
}
