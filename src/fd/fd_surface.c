/* The surface of a plane wave's box; see the header.
 */
#include "fd_surface.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "htwave/shots.h"

/* ---- the surface ---- */

/* Second differences, where density varies two staggered first ones. */
static void set_arm(const struct ht_problem *problem,
                    struct ht_fd_surface *out) {
    const struct ht_fd_weights w = ht_fd_weights(problem->fd.order);
    if (!problem->fd.density) {
        out->reach = w.radius;
        for (int j = 1; j <= w.radius; j++) out->arm[j] = w.second[j];
        return;
    }
    out->reach = 2 * w.radius - 1;
    for (int i = 0; i < w.radius; i++)
        for (int j = 0; j < w.radius; j++) {
            const double product = w.first[i] * w.first[j];
            out->arm[i + j + 1] += product;
            out->arm[abs(i - j)] -= product;
        }
    out->arm[0] = 0;
}

static double background(const struct ht_problem *problem,
                         const struct ht_shot *shot, int material, double *out,
                         enum ht_err *err) {
    *out = 1;
    if (*err == HT_OK && material >= 0)
        *err = ht_medium_parameter(problem->shots->medium,
                                   problem->eq->system->material[material].name,
                                   shot->first, out);
    return *out;
}

/* Nodes inside: those of the whole axis where the box is the grid's. */
static void set_axis(const struct ht_shot *shot, int axis,
                     struct ht_fd_surface *out) {
    const struct ht_grid *grid = out->grid;
    const double h = grid->h[axis], close = 1e-9;
    const double low = (shot->first[axis] - grid->lower[axis]) / h;
    const double high = (shot->last[axis] - grid->lower[axis]) / h;
    out->upper[axis] = ht_grid_nodes(grid, HT_PRIMARY, axis) - 1;
    out->closed[axis] = low > close || high < (double)grid->cells[axis] - close;
    if (!out->closed[axis]) return;
    out->lower[axis] = (int64_t)ceil(low - close);
    out->upper[axis] = (int64_t)floor(high + close);
}

/* Columns for all nodes that the star reads across the surface. */
static void set_columns(struct ht_fd_surface *s) {
    double least = 0, most = 0, narrowest = INFINITY;
    for (int k = 0; k < 3 && k < s->grid->dims; k++) {
        const double h = s->grid->h[k], n = s->direction[k];
        const double low = s->grid->lower[k] + h * (double)s->lower[k];
        const double high = s->grid->lower[k] + h * (double)s->upper[k];
        narrowest = fmin(narrowest, h);
        least += fmin(n * (low - s->reach * h), n * (high + s->reach * h));
        most += fmax(n * (low - s->reach * h), n * (high + s->reach * h));
    }
    s->apart = narrowest / 2;
    s->first = least - 0.5 * HT_FD_SPLINE * s->apart;
    s->columns = (int)ceil((most - s->first) / s->apart) + HT_FD_SPLINE / 2 + 1;
}

enum ht_err ht_fd_surface_make(const struct ht_problem *problem,
                               const struct ht_shot *shot,
                               struct ht_fd_surface *out) {
    const struct ht_second_order *form = &problem->eq->system->second_order;
    enum ht_err err = HT_OK;
    double inverse_density;
    *out =
        (struct ht_fd_surface){.grid = problem->grid, .corner = shot->corner};
    memcpy(out->direction, shot->direction, sizeof out->direction);
    set_arm(problem, out);
    background(problem, shot, form->modulus, &out->modulus, &err);
    background(problem, shot, form->inverse_density, &inverse_density, &err);
    TRY(err);
    for (int k = 0; k < problem->grid->dims; k++) {
        const double h = problem->grid->h[k];
        out->rate[k] = out->modulus * inverse_density / (h * h);
        set_axis(shot, k, out);
    }
    set_columns(out);
    return HT_OK;
}

bool ht_fd_surface_holds(const struct ht_fd_surface *s, int axis, int64_t m) {
    return m >= s->lower[axis] && m <= s->upper[axis];
}

/* Whether the star of a node crosses a face normal to an axis. */
bool ht_fd_surface_crosses(const struct ht_fd_surface *s, const int64_t m[3],
                           int axis) {
    bool beside = s->closed[axis];
    for (int k = 0; k < 3; k++)
        beside = beside && (k == axis || ht_fd_surface_holds(s, k, m[k]));
    const int64_t low = m[axis] - s->lower[axis];
    const int64_t high = s->upper[axis] - m[axis];
    return beside && low >= -s->reach && high >= -s->reach &&
           (low < s->reach || high < s->reach);
}

/* ---- rules ---- */

static char *key_of(int group, const char *name, char key[64]) {
    snprintf(key, 64, "sources.%d.%s", group, name);
    return key;
}

/* The star must not leave the grid. */
static enum ht_err check_faces(const struct ht_plan *plan, int group, int axis,
                               const struct ht_fd_surface *s) {
    const int64_t last = ht_grid_nodes(s->grid, HT_PRIMARY, axis) - 1;
    const double h = s->grid->h[axis], lower = s->grid->lower[axis];
    char key[64];
    if (s->lower[axis] > s->upper[axis])
        return ht_params_error(plan->params, key_of(group, "to", key),
                               "no point of the grid is inside the box along "
                               "x%d",
                               axis + 1);
    if (s->lower[axis] < s->reach)
        return ht_params_error(plan->params, key_of(group, "from", key),
                               "the stencil reaches over %d points: x%d must "
                               "be above %.6g, or that of the grid's side on "
                               "both sides",
                               s->reach, axis + 1, lower + h * (s->reach - 1));
    if (s->upper[axis] + s->reach > last)
        return ht_params_error(plan->params, key_of(group, "to", key),
                               "the stencil reaches over %d points: x%d must "
                               "be below %.6g, or that of the grid's side on "
                               "both sides",
                               s->reach, axis + 1,
                               lower + h * (double)(last - s->reach + 1));
    return HT_OK;
}

/* Without faces the sides must let the wave pass along them. */
static enum ht_err check_sides(const struct ht_plan *plan, int group, int axis,
                               const struct ht_fd_surface *s) {
    const int *wall = s->grid->wall[axis];
    char key[64];
    if (fabs(s->direction[axis]) <= 1e-12 && wall[0] >= 0 && wall[1] >= 0)
        return HT_OK;
    return ht_params_error(plan->params, key_of(group, "direction", key),
                           "the box is that of the grid along x%d: the wave "
                           "must be normal to x%d, and its sides rigid or "
                           "periodic",
                           axis + 1, axis + 1);
}

static enum ht_err check_box(const struct ht_plan *plan, int group,
                             const struct ht_fd_surface *s) {
    bool closed = false;
    char key[64];
    for (int k = 0; k < 3 && k < s->grid->dims; k++) {
        TRY(s->closed[k] ? check_faces(plan, group, k, s)
                         : check_sides(plan, group, k, s));
        closed = closed || s->closed[k];
    }
    if (closed) return HT_OK;
    return ht_params_error(plan->params, key_of(group, "from", key),
                           "the box is the whole grid: the wave cannot enter");
}

/* ---- the medium ---- */

static bool near_surface(const struct ht_fd_surface *s, const int64_t m[3]) {
    bool near = false;
    for (int k = 0; k < 3 && k < s->grid->dims; k++)
        near = near || ht_fd_surface_crosses(s, m, k);
    return near;
}

static enum ht_err refuse_medium(const struct ht_plan *plan, int group,
                                 const struct ht_fd_surface *s,
                                 const int64_t m[3], int what, double found,
                                 double wanted) {
    const struct ht_second_order *form = &plan->eq.system->second_order;
    const int material = what == 0 ? form->modulus : form->inverse_density;
    char key[64], place[96];
    int used = 0;
    for (int k = 0; k < 3 && k < plan->grid.dims; k++)
        used += snprintf(place + used, sizeof place - (size_t)used, "%s%.6g",
                         k ? ", " : "",
                         ht_grid_x(&plan->grid, HT_PRIMARY, k, m[k]));
    snprintf(key, sizeof key, "sources.%d", group);
    return ht_params_error(
        plan->params, key,
        "the medium varies at the surface of its box: %s is %.9g near (%s), "
        "%.9g at from; jumps must be %d spacings from it",
        plan->eq.system->material[material].name, found, place, wanted,
        s->reach + HT_FIT_REACH + 1);
}

/* One of K, b_1 .. on a plane of the grid. */
static enum ht_err check_plane(const struct ht_plan *plan, int group,
                               const struct ht_fd_surface *s, int what,
                               int64_t plane, const double *value) {
    const double close = 1e-9,
                 rate = s->rate[0] * s->grid->h[0] * s->grid->h[0];
    const double wanted = what == 0 ? s->modulus : rate / s->modulus;
    const int64_t n1 = ht_grid_nodes(s->grid, HT_PRIMARY, 0);
    const int64_t nodes = ht_grid_plane(s->grid, HT_PRIMARY);
    for (int64_t n = 0; n < nodes; n++) {
        const int64_t m[3] = {n % n1, n / n1, plane};
        if (fabs(value[n] - wanted) > close * wanted && near_surface(s, m))
            return refuse_medium(plan, group, s, m, what, value[n], wanted);
    }
    return HT_OK;
}

static enum ht_err check_medium(const struct ht_plan *plan, int group,
                                const struct ht_fd_surface *s) {
    const struct ht_fd_problem *fd = &plan->problem.fd;
    const int last = fd->density ? s->grid->dims : 0;
    int64_t begin, end;
    double *value = NULL;
    if (fd->fill == NULL) return HT_OK;
    ht_grid_own(s->grid, HT_PRIMARY, &begin, &end);
    if (s->grid->dims > 2) {
        begin = ht_most(begin, s->lower[2] - s->reach);
        end = ht_least(end, s->upper[2] + s->reach + 1);
    }
    TRY(HT_ALLOC(value, ht_grid_plane(s->grid, HT_PRIMARY)));
    enum ht_err err = HT_OK;
    for (int64_t m = begin; err == HT_OK && m < end; m++)
        for (int what = 0; err == HT_OK && what <= last; what++) {
            err = fd->fill(fd->medium, what, m, m + 1, value);
            if (err == HT_OK) err = check_plane(plan, group, s, what, m, value);
        }
    free(value);
    return err;
}

enum ht_err ht_fd_surface_check(const struct ht_plan *plan) {
    for (int i = 0; i < plan->shots->count; i++) {
        struct ht_fd_surface surface;
        if (plan->shots->shot[i].type != HT_SHOT_INCIDENT) continue;
        TRY(ht_fd_surface_make(&plan->problem, &plan->shots->shot[i],
                               &surface));
        TRY(check_box(plan, i + 1, &surface));
        TRY(check_medium(plan, i + 1, &surface));
    }
    return HT_OK;
}
