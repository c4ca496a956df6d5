/* Time steps of finite differences (docs/method.md, section 16):
 *     d = d + dt^2 M u,   u = u + d,   M = L or L + dt^2/12 L^2,
 * where d = u(t_n) - u(t_(n-1)): values near u's size are never subtracted, so
 * that rounding does not grow with the square of the number of steps. The half
 * step from the primary grid is the whole time step, the one from the dual grid
 * nothing; backwards u = u - d is the latter and d = d - dt^2 M u the former.
 *
 * Where nothing fixes the mean of u (sides periodic or rigid), the sum of d / a
 * stays the same but for rounding, which would let u drift: in single precision
 * what rounding added is taken out every so many steps.
 */
#include <math.h>
#include <stdlib.h>

#include "fd.h"
#include "htwave/oracle.h"

enum { STEPS_BETWEEN_MEANS = 100 };

struct ht_fd_spec ht_fd_spec_of(const struct ht_problem *problem, bool fp64) {
    return (struct ht_fd_spec){.dims = problem->eq->dims,
                               .radius = problem->fd.order / 2,
                               .fp64 = fp64,
                               .density = problem->fd.density};
}

/* ---- the window ---- */

static int64_t to_packs(int64_t nodes) {
    return (nodes + HT_FD_PACK - 1) / HT_FD_PACK * HT_FD_PACK;
}

static void make_window(struct ht_fd_stepper *s) {
    const struct ht_grid *grid = s->problem.grid;
    const int64_t reach = ht_fd_reach(&s->engine.spec);
    ht_grid_own(grid, HT_PRIMARY, &s->first, &s->last);
    for (int k = 0; k < 3; k++) {
        const bool used = k < grid->dims;
        int64_t nodes = ht_grid_nodes(grid, HT_PRIMARY, k);
        int64_t ghosts = used ? reach : 0;
        if (k == 2) nodes = s->last - s->first;
        if (k == 0) ghosts = to_packs(ghosts);
        s->box.begin[k] = ghosts;
        s->box.end[k] = ghosts + nodes;
        s->count[k] = ghosts + (k == 0 ? to_packs(nodes) : nodes) + ghosts;
        for (int side = 0; side < 2; side++) {
            s->sides[k][side] = used ? grid->wall[k][side] : HT_FD_SIDE_NONE;
            s->ends.half[k][side] = ht_measure_half(grid, HT_PRIMARY, k, side);
            if (k < 2 || ht_grid_neighbour(grid, side) < 0) continue;
            s->sides[k][side] = HT_FD_SIDE_NONE;
            s->ends.half[k][side] = false;
        }
    }
    s->box.row = s->count[0];
    s->box.plane = s->count[0] * s->count[1];
}

static int64_t window_nodes(const struct ht_fd_stepper *s) {
    return s->box.plane * s->count[2];
}

int64_t ht_fd_window_nodes(const struct ht_problem *problem) {
    struct ht_fd_stepper s = {.problem = *problem};
    s.engine.spec = ht_fd_spec_of(problem, false);
    make_window(&s);
    return window_nodes(&s);
}

/* u, d, w, z, a, and b. */
int ht_fd_arrays(const struct ht_problem *problem) {
    return 5 + (problem->fd.density ? problem->eq->dims : 0);
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
 * x2; the modulus is 0 outside. */
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
    const int64_t begin = what == 0 ? s->box.begin[2] : 0;
    const int64_t end = what == 0 ? s->box.end[2] : s->count[2];
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

static enum ht_err fill_medium(struct ht_fd_stepper *s) {
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

struct ht_fd_law ht_fd_scaled(const struct ht_fd_law *law, double factor) {
    struct ht_fd_law out = *law;
    for (int k = 0; k < 3; k++) out.scale[k] *= factor;
    return out;
}

/* ---- steps ---- */

enum ht_err ht_fd_fill(struct ht_fd_stepper *s, struct ht_fd_array u) {
    if (s->halo != NULL) TRY(ht_fd_halo_exchange(s->halo, u));
    return s->engine.ops->ghosts(&s->engine, &s->box, (const int(*)[2])s->sides,
                                 u);
}

enum ht_err ht_fd_clear(struct ht_fd_stepper *s, struct ht_fd_array to) {
    return s->engine.ops->advance(&s->engine, &s->box, -1, to, to);
}

enum ht_err ht_fd_copy(struct ht_fd_stepper *s, struct ht_fd_array from,
                       struct ht_fd_array to) {
    TRY(ht_fd_clear(s, to));
    return s->engine.ops->advance(&s->engine, &s->box, 1, from, to);
}

/* What M is applied to: u, or by the second term of the series
 * w = u + dt^2/12 L u; with its ghosts. */
static enum ht_err prepare(struct ht_fd_stepper *s, struct ht_fd_array u,
                           struct ht_fd_array *out) {
    const double dt = s->problem.dt;
    TRY(ht_fd_fill(s, u));
    *out = u;
    if (s->problem.stages < 2) return HT_OK;
    const struct ht_fd_law law = ht_fd_scaled(&s->law, dt * dt / 12);
    TRY(s->engine.ops->stage(&s->engine, &s->box, &law, u, s->w));
    *out = s->w;
    return ht_fd_fill(s, s->w);
}

enum ht_err ht_fd_apply(struct ht_fd_stepper *s, double factor,
                        struct ht_fd_array u, struct ht_fd_array out) {
    const double dt = s->problem.dt;
    const struct ht_fd_law law = ht_fd_scaled(&s->law, factor * dt * dt);
    struct ht_fd_array source;
    TRY(prepare(s, u, &source));
    return s->engine.ops->update(&s->engine, &s->box, &law, source, out, u,
                                 (struct ht_fd_array){NULL, NULL});
}

static enum ht_err step_forward(struct ht_fd_stepper *s) {
    const double dt = s->problem.dt;
    const struct ht_fd_law law = ht_fd_scaled(&s->law, dt * dt);
    const bool in_place = s->problem.stages > 1;
    struct ht_fd_array source;
    TRY(prepare(s, s->u, &source));
    TRY(s->engine.ops->update(&s->engine, &s->box, &law, source, s->d, s->u,
                              in_place ? s->u : s->w));
    if (in_place) return HT_OK;
    const struct ht_fd_array before = s->u;
    s->u = s->w;
    s->w = before;
    return HT_OK;
}

/* Each rank has its planes among those of the grid: the others add 0, and all
 * are added in their order. */
static enum ht_err add_planes(struct ht_fd_stepper *s,
                              const struct ht_fd_sum *own,
                              struct ht_fd_sum *out) {
    const struct ht_grid *grid = s->problem.grid;
    struct ht_comm *comm = grid->slab.comm;
    const int64_t planes = ht_grid_planes(grid, HT_PRIMARY);
    double *sums = NULL, most[2] = {0, -INFINITY};
    *out = (struct ht_fd_sum){.first = -1};
    TRY(HT_ALLOC(sums, 3 * planes));
    for (int64_t m = s->first; m < s->last; m++) {
        const struct ht_fd_sum *sum = &own[m - s->first];
        sums[3 * m] = sum->product;
        sums[3 * m + 1] = sum->mean;
        sums[3 * m + 2] = (double)sum->bad;
        most[0] = fmax(most[0], sum->largest);
        if (sum->first >= 0)
            most[1] =
                fmax(most[1], -(double)(m * ht_grid_plane(grid, HT_PRIMARY) +
                                        sum->first));
    }
    enum ht_err err = ht_comm_sum(comm, (int)(3 * planes), sums);
    if (err == HT_OK) err = ht_comm_max(comm, 2, most);
    for (int64_t m = 0; m < planes; m++) {
        out->product += sums[3 * m];
        out->mean += sums[3 * m + 1];
        out->bad += (int64_t)sums[3 * m + 2];
    }
    out->largest = most[0];
    if (isfinite(most[1])) out->first = (int64_t)-most[1];
    free(sums);
    return err;
}

enum ht_err ht_fd_total(struct ht_fd_stepper *s, struct ht_fd_array x,
                        struct ht_fd_array y, struct ht_fd_sum *out) {
    struct ht_fd_sum *own = NULL;
    TRY(HT_ALLOC(own, s->last - s->first));
    enum ht_err err =
        s->engine.ops->sums(&s->engine, &s->box, &s->ends, x, y, s->law.a, own);
    if (err == HT_OK) err = add_planes(s, own, out);
    free(own);
    return err;
}

static enum ht_err keep_mean(struct ht_fd_stepper *s) {
    struct ht_fd_sum sum;
    if (!s->closed || s->since++ % STEPS_BETWEEN_MEANS != 0) return HT_OK;
    TRY(ht_fd_total(s, s->d, s->d, &sum));
    if (isnan(s->mean)) s->mean = sum.mean;
    if (!isfinite(sum.mean)) return HT_OK; /* the watch will find it */
    return s->engine.ops->shift(&s->engine, &s->box,
                                (s->mean - sum.mean) / s->mass, s->d);
}

static enum ht_err fd_half_step(void *self, enum ht_subgrid from) {
    struct ht_fd_stepper *s = self;
    if (from != HT_PRIMARY) return HT_OK;
    s->steps++;
    TRY(keep_mean(s));
    return step_forward(s);
}

static enum ht_err fd_half_step_back(void *self, enum ht_subgrid from) {
    struct ht_fd_stepper *s = self;
    if (from == HT_PRIMARY) return ht_fd_apply(s, -1, s->u, s->d);
    return s->engine.ops->advance(&s->engine, &s->box, -1, s->d, s->u);
}

static enum ht_err fd_finish(void *self) {
    struct ht_fd_stepper *s = self;
    if (s->halo != NULL) TRY(ht_fd_halo_finish(s->halo));
    return s->engine.ops->finish(&s->engine);
}

/* ---- data ---- */

static enum ht_err check_own(const struct ht_fd_stepper *s, int64_t first,
                             int64_t last) {
    REQUIRE(first >= s->first && last <= s->last, HT_ERR_INTERNAL,
            "planes %lld to %lld of a slab from %lld to %lld", (long long)first,
            (long long)last, (long long)s->first, (long long)s->last);
    return HT_OK;
}

static bool is_field(const struct ht_fd_stepper *s, int field) {
    return field == s->problem.eq->system->second_order.field;
}

/* Planes of the window between own nodes and a plain array, one at a time. */
static enum ht_err move_planes(struct ht_fd_stepper *s,
                               struct ht_fd_array array, int64_t first,
                               int64_t last, const double *from, double *to) {
    const struct ht_fd_engine_ops *ops = s->engine.ops;
    const int64_t n1 = s->box.end[0] - s->box.begin[0];
    const int64_t n2 = s->box.end[1] - s->box.begin[1];
    double *plane = NULL;
    TRY(HT_ALLOC(plane, s->box.plane));
    enum ht_err err = HT_OK;
    for (int64_t m = first; err == HT_OK && m < last; m++) {
        const int64_t at = (m - s->first + s->box.begin[2]) * s->box.plane;
        double *corner = plane + s->box.begin[1] * s->box.row + s->box.begin[0];
        if (to != NULL)
            err = ops->read(&s->engine, array, at, s->box.plane, plane);
        for (int64_t n = 0; err == HT_OK && n < n1 * n2; n++) {
            double *value = corner + n / n1 * s->box.row + n % n1;
            if (to != NULL) to[(m - first) * n1 * n2 + n] = *value;
            if (from != NULL) *value = from[(m - first) * n1 * n2 + n];
        }
        if (err == HT_OK && from != NULL)
            err = ops->write(&s->engine, array, at, s->box.plane, plane);
    }
    free(plane);
    return err;
}

static enum ht_err fd_put(void *self, enum ht_subgrid subgrid, int64_t first,
                          int64_t last, const double *coefs) {
    struct ht_fd_stepper *s = self;
    const int field = s->problem.eq->system->second_order.field;
    const int64_t part = ht_grid_plane(s->problem.grid, HT_PRIMARY);
    TRY(check_own(s, first, last));
    s->mean = NAN;
    s->since = 0;
    return move_planes(s, subgrid == HT_PRIMARY ? s->u : s->d, first, last,
                       coefs + field * part * (last - first), NULL);
}

static enum ht_err fd_get(void *self, enum ht_subgrid subgrid, int field,
                          int count, int64_t first, int64_t last, double *out) {
    struct ht_fd_stepper *s = self;
    TRY(check_own(s, first, last));
    REQUIRE(
        is_field(s, field) && count == 1, HT_ERR_INTERNAL,
        "finite differences hold values of %s only",
        s->problem.eq->field[s->problem.eq->system->second_order.field].name);
    return move_planes(s, subgrid == HT_PRIMARY ? s->u : s->d, first, last,
                       NULL, out);
}

static enum ht_err fd_measure(void *self, enum ht_subgrid subgrid, int count,
                              const struct ht_quantity *what,
                              struct ht_measure *out) {
    (void)self, (void)subgrid, (void)count, (void)what, (void)out;
    FAIL(HT_ERR_INTERNAL, "finite differences have measures of their own");
}

/* ---- making ---- */

enum { ARRAYS = 8 }; /* b last: see ht_fd_arrays */

static struct ht_fd_array *array_of(struct ht_fd_stepper *s, int i) {
    struct ht_fd_array *const arrays[ARRAYS] = {
        &s->u,     &s->d,        &s->w,        &s->z,
        &s->law.a, &s->law.b[0], &s->law.b[1], &s->law.b[2]};
    return arrays[i];
}

static void fd_destroy(void *self) {
    struct ht_fd_stepper *s = self;
    if (s == NULL) return;
    ht_fd_halo_destroy(s->halo);
    for (int i = 0; i < ARRAYS; i++) s->engine.ops->destroy(array_of(s, i));
    free(s);
}

static void fd_traffic(void *self, struct ht_traffic *out) {
    const struct ht_fd_stepper *s = self;
    *out = (struct ht_traffic){.half_steps = 2 * s->steps};
    if (s->engine.kernels != NULL)
        out->interior_s =
            ht_fd_kernels_total(s->engine.kernels, HT_PART_INTERIOR) -
            s->seconds_before;
    if (s->halo != NULL) ht_fd_halo_traffic(s->halo, out);
}

static const struct ht_stepper_ops fd_ops = {
    .put = fd_put,
    .get = fd_get,
    .measure = fd_measure,
    .half_step = fd_half_step,
    .half_step_back = fd_half_step_back,
    .finish = fd_finish,
    .destroy = fd_destroy,
    .traffic = fd_traffic,
};

static enum ht_err allocate(struct ht_fd_stepper *s) {
    for (int i = 0; i < ht_fd_arrays(&s->problem); i++)
        TRY(s->engine.ops->create(&s->engine, window_nodes(s), array_of(s, i)));
    return HT_OK;
}

/* The sum of 1/a, of which the mean of d is a part. */
static enum ht_err find_mass(struct ht_fd_stepper *s) {
    struct ht_fd_sum sum;
    s->closed = !s->engine.spec.fp64;
    s->mean = NAN;
    for (int k = 0; k < s->engine.spec.dims; k++)
        for (int side = 0; side < 2; side++)
            s->closed = s->closed && s->problem.grid->wall[k][side] >= 0;
    if (!s->closed) return HT_OK;
    TRY(s->engine.ops->shift(&s->engine, &s->box, 1, s->z));
    TRY(ht_fd_total(s, s->z, s->z, &sum));
    s->mass = sum.mean;
    return HT_OK;
}

static enum ht_err make(struct ht_fd_stepper *s) {
    const struct ht_grid *grid = s->problem.grid;
    if (s->engine.kernels != NULL)
        s->seconds_before =
            ht_fd_kernels_total(s->engine.kernels, HT_PART_INTERIOR);
    make_window(s);
    for (int k = 0; k < s->engine.spec.dims; k++)
        s->law.scale[k] =
            (s->engine.spec.density ? 1 : s->problem.fd.inverse_density) /
            (grid->h[k] * grid->h[k]);
    TRY(allocate(s));
    return fill_medium(s);
}

enum ht_err ht_fd_stepper_create(const struct ht_problem *problem,
                                 const struct ht_fd_engine *engine,
                                 struct ht_stepper *out) {
    struct ht_fd_stepper *s = NULL;
    TRY(HT_ALLOC(s, 1));
    s->problem = *problem;
    s->engine = *engine;
    enum ht_err err = ht_comm_agree(problem->grid->slab.comm, make(s));
    if (err == HT_OK) err = ht_fd_halo_create(s, &s->halo);
    if (err == HT_OK) err = find_mass(s);
    if (err != HT_OK) {
        fd_destroy(s);
        return err;
    }
    *out = (struct ht_stepper){.ops = &fd_ops, .self = s};
    return HT_OK;
}

struct ht_fd_stepper *ht_fd_stepper_of(const struct ht_stepper *stepper) {
    return stepper->ops == &fd_ops ? stepper->self : NULL;
}
