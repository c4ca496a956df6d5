/* The window of a slab of finite differences, its arrays, and the medium in it.
 */
#include <stdlib.h>

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
    const struct ht_fd_slab *slab = &s->slab;
    if (axis >= s->problem.grid->dims) return 0;
    if (axis == 2 && slab->neighbour[side])
        return ht_fd_planes_needed(slab->reach, slab->depth);
    return slab->reach;
}

static void make_axis(struct ht_fd_stepper *s, int axis) {
    const struct ht_grid *grid = s->problem.grid;
    struct ht_fd_slab *slab = &s->slab;
    int64_t nodes = ht_grid_nodes(grid, HT_PRIMARY, axis);
    if (axis == 2) nodes = s->last - s->first;
    const struct ht_fd_row row = ht_fd_row(nodes, slab->reach);
    const int64_t begin = axis == 0 ? row.begin : nodes_beyond(s, axis, 0);
    s->box.begin[axis] = slab->own.begin[axis] = begin;
    s->box.end[axis] = slab->own.end[axis] = begin + nodes;
    s->count[axis] =
        axis == 0 ? row.row : begin + nodes + nodes_beyond(s, axis, 1);
    for (int side = 0; side < 2; side++) {
        const bool cut = axis == 2 && slab->neighbour[side];
        const bool filled = axis < grid->dims && !cut;
        s->sides[axis][side] =
            filled ? grid->wall[axis][side] : HT_FD_SIDE_NONE;
        s->ends.half[axis][side] =
            !cut && ht_measure_half(grid, HT_PRIMARY, axis, side);
        slab->ghosts = slab->ghosts || filled;
    }
}

void ht_fd_stepper_plan(const struct ht_problem *problem,
                        const struct ht_fd_spec *spec,
                        struct ht_fd_stepper *out) {
    const struct ht_grid *grid = problem->grid;
    out->problem = *problem;
    out->engine.spec = *spec;
    out->slab = ht_fd_slab_of(problem);
    ht_grid_own(grid, HT_PRIMARY, &out->first, &out->last);
    for (int side = 0; side < 2; side++)
        out->slab.neighbour[side] = ht_grid_neighbour(grid, side) >= 0;
    for (int k = 0; k < 3; k++) make_axis(out, k);
    out->box.row = out->count[0];
    out->box.plane = out->count[0] * out->count[1];
}

/* ---- arrays ---- */

/* u, d, w, z, a, and b where density varies: from this list they are counted,
 * created and destroyed. */
enum { STATE = 4, MOST_ARRAYS = 8 };
static int list_arrays(struct ht_fd_stepper *s,
                       struct ht_fd_array *list[MOST_ARRAYS]) {
    int count = 0;
    for (int a = 0; a < HT_FD_NAMES; a++) list[count++] = &s->values[a];
    list[count++] = &s->z;
    list[count++] = &s->law.a;
    for (int k = 0; s->engine.spec.density && k < s->engine.spec.dims; k++)
        list[count++] = &s->law.b[k];
    return count;
}

struct ht_budget
ht_differences_stepper_budget(const struct ht_problem *problem,
                              const struct ht_tuning *tuning,
                              const struct ht_device_info *info) {
    const struct ht_fd_spec spec = ht_fd_spec_of(problem, tuning->fp64);
    struct ht_fd_array *list[MOST_ARRAYS];
    struct ht_fd_stepper s = {.steps = 0};
    int64_t message;
    ht_fd_stepper_plan(problem, &spec, &s);
    const int64_t bytes = s.box.plane * s.count[2] * (spec.fp64 ? 8 : 4);
    const int arrays = list_arrays(&s, list);
    struct ht_budget b = {.state = STATE * bytes,
                          .medium = (arrays - STATE) * bytes,
                          .messages = ht_fd_halo_bytes(&s, &message)};
    (void)info;
    b.total = b.state + b.medium + b.messages;
    b.largest_buffer = bytes > message ? bytes : message;
    return b;
}

enum ht_err ht_fd_arrays_create(struct ht_fd_stepper *s) {
    struct ht_fd_array *list[MOST_ARRAYS];
    const int count = list_arrays(s, list);
    for (int i = 0; i < count; i++)
        TRY(s->engine.ops->create(&s->engine, s->box.plane * s->count[2],
                                  list[i]));
    return HT_OK;
}

void ht_fd_arrays_destroy(struct ht_fd_stepper *s) {
    struct ht_fd_array *list[MOST_ARRAYS];
    for (int i = list_arrays(s, list) - 1; i >= 0; i--)
        s->engine.ops->destroy(list[i]);
}

/* ---- the medium ---- */

int64_t ht_fd_inside(const struct ht_grid *grid, int what, int axis,
                     int64_t m) {
    const int64_t n = ht_grid_nodes(grid, HT_PRIMARY, axis);
    const bool half = what == axis + 1;
    if (axis >= grid->dims) return 0;
    if (ht_grid_periodic(grid, axis)) return (m % n + n) % n;
    const int64_t last = 2 * (n - 1) - (half ? 1 : 0);
    if (m < 0) m = -m - (half ? 1 : 0);
    if (m > last - m) m = last - m;
    return m < 0 ? 0 : m;
}

/* A plane of the grid's values into one of the window, continued along x1 and
 * x2; the modulus is 0 outside of the planes of this slab and its neighbours.
 */
static void continue_plane(const struct ht_fd_stepper *s, int what,
                           const double *from, double *to) {
    const struct ht_grid *grid = s->problem.grid;
    const int64_t n1 = ht_grid_nodes(grid, HT_PRIMARY, 0);
    for (int64_t m2 = 0; m2 < s->count[1]; m2++)
        for (int64_t m1 = 0; m1 < s->count[0]; m1++) {
            const int64_t g1 = m1 - s->box.begin[0], g2 = m2 - s->box.begin[1];
            const bool own = m1 >= s->box.begin[0] && m1 < s->box.end[0] &&
                             m2 >= s->box.begin[1] && m2 < s->box.end[1];
            to[m2 * s->box.row + m1] =
                what == 0 && !own ? 0
                                  : from[ht_fd_inside(grid, what, 1, g2) * n1 +
                                         ht_fd_inside(grid, what, 0, g1)];
        }
}

static enum ht_err fill_planes(struct ht_fd_stepper *s, int what,
                               struct ht_fd_array to, double *grid_plane,
                               double *plane) {
    const struct ht_fd_problem *fd = &s->problem.fd;
    const bool modulus = what == 0;
    const bool *neighbour = s->slab.neighbour;
    const int64_t begin = modulus && !neighbour[0] ? s->box.begin[2] : 0;
    const int64_t end = modulus && !neighbour[1] ? s->box.end[2] : s->count[2];
    for (int64_t m3 = begin; m3 < end; m3++) {
        const int64_t at = ht_fd_inside(s->problem.grid, what, 2,
                                        s->first + m3 - s->box.begin[2]);
        TRY(fd->fill(fd->medium, what, at, at + 1, grid_plane));
        continue_plane(s, what, grid_plane, plane);
        TRY(s->engine.ops->write(&s->engine, to, m3 * s->box.plane,
                                 s->box.plane, plane));
    }
    return HT_OK;
}

static enum ht_err fill_uniform(const void *medium, int what, int64_t first,
                                int64_t last, double *out) {
    const struct ht_problem *p = medium;
    const int64_t nodes = ht_grid_plane(p->grid, HT_PRIMARY) * (last - first);
    const int modulus = p->eq->system->second_order.modulus;
    for (int64_t n = 0; n < nodes; n++)
        out[n] = what == 0 ? p->uniform[modulus] : p->fd.inverse_density;
    return HT_OK;
}

enum ht_err ht_fd_fill_medium(struct ht_fd_stepper *s) {
    double *grid_plane = NULL, *plane = NULL;
    if (s->problem.fd.fill == NULL) {
        s->problem.fd.fill = fill_uniform;
        s->problem.fd.medium = &s->problem;
    }
    enum ht_err err =
        HT_ALLOC(grid_plane, ht_grid_plane(s->problem.grid, HT_PRIMARY));
    if (err == HT_OK) err = HT_ALLOC(plane, s->box.plane);
    if (err == HT_OK) err = fill_planes(s, 0, s->law.a, grid_plane, plane);
    for (int k = 0; err == HT_OK && k < s->engine.spec.dims; k++)
        if (s->engine.spec.density)
            err = fill_planes(s, 1 + k, s->law.b[k], grid_plane, plane);
    free(grid_plane);
    free(plane);
    return err;
}
