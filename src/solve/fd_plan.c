/* The plan of finite differences: medium at the points, and the largest stable
 * step. omega^2 is at most the largest sum of magnitudes of a row of L (any
 * norm of a matrix bounds its eigenvalues). With the weights w of the second
 * difference, or s of the staggered first one,
 *     max a  sum_k (sum_j |w_j|) / h_k^2        (uniform density)
 *     max_i K_i sum_k S / h_k^2 sum_j |s_j| (b_k(i + j) + b_k(i - j - 1)),
 *                                               S = 2 sum_j |s_j|
 * for every positive medium; sharp in a uniform one.
 */
#include <math.h>
#include <stdlib.h>

#include "fd.h"
#include "fd_plan.h"

static enum ht_err fill(const void *medium, int what, int64_t first,
                        int64_t last, double *out) {
    const struct ht_plan *plan = medium;
    return ht_fit_fill(plan->fit, what, first, last, out);
}

/* Planes of a fitted medium around the plane m of targets: the modulus, b_1 and
 * b_2 of m, b_3 of m - R .. m + R - 1 in turn. */
struct scan {
    const struct ht_plan *plan;
    struct ht_fd_weights weights;
    double first; /* S */
    int64_t plane, n1;
    double *values; /* (3 + 2 R) planes */
    struct ht_progress progress;
};

static double *plane_of(const struct scan *s, int number) {
    return s->values + number * s->plane;
}

static double *turn_of(const struct scan *s, int64_t m3) {
    const int64_t turns = 2 * (int64_t)s->weights.radius;
    return plane_of(s, 3 + (int)((m3 % turns + turns) % turns));
}

static enum ht_err fill_turn(const struct scan *s, int64_t m3) {
    const int64_t at = ht_fd_inside(&s->plan->grid, 3, 2, m3);
    int64_t begin, end;
    if (s->plan->grid.dims < 3) return HT_OK;
    ht_grid_own(&s->plan->grid, HT_PRIMARY, &begin, &end);
    ht_fit_count(s->plan->fit, m3 >= begin && m3 < end);
    TRY(ht_fit_fill(s->plan->fit, 3, at, at + 1, turn_of(s, m3)));
    ht_fit_count(s->plan->fit, true);
    return HT_OK;
}

/* b_k at m + j + 1/2 for a node of the plane. */
static double density_at(const struct scan *s, const int64_t m[3], int axis,
                         int64_t j) {
    const struct ht_grid *grid = &s->plan->grid;
    int64_t at[2] = {m[0], m[1]};
    if (axis == 2) return turn_of(s, m[2] + j)[at[1] * s->n1 + at[0]];
    at[axis] = ht_fd_inside(grid, axis + 1, axis, m[axis] + j);
    return plane_of(s, 1 + axis)[at[1] * s->n1 + at[0]];
}

/* The sum of magnitudes of the node's row of L. */
static double row_sum(const struct scan *s, const int64_t m[3]) {
    double sum = 0;
    for (int k = 0; k < s->plan->grid.dims; k++) {
        double fluxes = 0;
        for (int j = 0; j < s->weights.radius; j++)
            fluxes += fabs(s->weights.first[j]) *
                      (density_at(s, m, k, j) + density_at(s, m, k, -j - 1));
        sum += s->first * fluxes / (s->plan->grid.h[k] * s->plan->grid.h[k]);
    }
    return sum * plane_of(s, 0)[m[1] * s->n1 + m[0]];
}

static enum ht_err scan_plane(const struct scan *s, int64_t m3, double *most) {
    const struct ht_plan *plan = s->plan;
    TRY(ht_fit_fill(plan->fit, 0, m3, m3 + 1, plane_of(s, 0)));
    for (int k = 0; plan->problem.fd.density && k < 2 && k < plan->grid.dims;
         k++)
        TRY(ht_fit_fill(plan->fit, 1 + k, m3, m3 + 1, plane_of(s, 1 + k)));
    if (plan->problem.fd.density) TRY(fill_turn(s, m3 + s->weights.radius - 1));
    for (int64_t n = 0; n < s->plane; n++) {
        const int64_t m[3] = {n % s->n1, n / s->n1, m3};
        *most = fmax(*most, plan->problem.fd.density ? row_sum(s, m)
                                                     : plane_of(s, 0)[n]);
    }
    return HT_OK;
}

/* The largest row sum of own planes, or K where density is uniform. */
static enum ht_err scan_planes(struct scan *s, double *most) {
    int64_t begin, end;
    enum ht_err err = HT_OK;
    ht_grid_own(&s->plan->grid, HT_PRIMARY, &begin, &end);
    ht_progress_start(&s->progress, "medium", (double)(end - begin), "nodes",
                      (double)s->plane);
    for (int64_t j = -s->weights.radius;
         err == HT_OK && s->plan->problem.fd.density &&
         j < s->weights.radius - 1;
         j++)
        err = fill_turn(s, begin + j);
    for (int64_t m = begin; err == HT_OK && m < end; m++) {
        err = scan_plane(s, m, most);
        ht_progress_update(&s->progress, (double)(m + 1 - begin));
    }
    ht_progress_end(&s->progress);
    return err;
}

static enum ht_err scan_medium(const struct ht_plan *plan, double *most) {
    struct scan s = {.plan = plan,
                     .weights = ht_fd_weights(plan->order),
                     .plane = ht_grid_plane(&plan->grid, HT_PRIMARY),
                     .n1 = ht_grid_nodes(&plan->grid, HT_PRIMARY, 0)};
    *most = 0;
    s.first = ht_fd_first_symbol(&s.weights, acos(-1.0));
    TRY(HT_ALLOC(s.values, (3 + 2 * (int64_t)s.weights.radius) * s.plane));
    enum ht_err err = scan_planes(&s, most);
    free(s.values);
    TRY(err);
    ht_fit_count(plan->fit, false);
    TRY(ht_fit_counts_share(plan->fit, plan->grid.slab.comm));
    return ht_comm_max(plan->grid.slab.comm, 1, most);
}

/* Uniform: the numbers of the medium. *rate: omega / sqrt(dims symbol), where
 * the spacing is the same along all axes c / h. */
static enum ht_err find_rate(struct ht_plan *plan, double *rate) {
    const struct ht_second_order *form = &plan->eq.system->second_order;
    struct ht_fd_problem *fd = &plan->problem.fd;
    const struct ht_fd_weights w = ht_fd_weights(plan->order);
    const double *constant = plan->medium->constant;
    double most = 0, sum = 0;
    for (int k = 0; k < plan->grid.dims; k++)
        sum += 1 / (plan->grid.h[k] * plan->grid.h[k] * plan->grid.dims);
    if (plan->medium->uniform) {
        fd->inverse_density =
            form->inverse_density >= 0 ? constant[form->inverse_density] : 1;
        *rate = sqrt(constant[form->modulus] * fd->inverse_density * sum);
        return HT_OK;
    }
    TRY(ht_fit_create(plan->medium, plan->params->medium.fit, &plan->fit));
    fd->density = !ht_fit_density_uniform(plan->fit, &fd->inverse_density);
    fd->fill = fill;
    fd->medium = plan;
    TRY(scan_medium(plan, &most));
    const double first = ht_fd_first_symbol(&w, acos(-1.0));
    *rate = fd->density ? sqrt(most / plan->grid.dims) / first
                        : sqrt(most * fd->inverse_density * sum);
    return HT_OK;
}

enum ht_err ht_fd_plan_medium(struct ht_plan *plan) {
    plan->problem.fd = (struct ht_fd_problem){.order = plan->order};
    return find_rate(plan, &plan->fd_rate);
}

double ht_fd_plan_cfl(const struct ht_plan *plan, int stages) {
    const struct ht_fd_problem *fd = &plan->problem.fd;
    const struct ht_fd_weights w = ht_fd_weights(fd->order);
    const double pi = acos(-1.0), first = ht_fd_first_symbol(&w, pi);
    const double symbol =
        fd->density ? first * first : ht_fd_second_symbol(&w, pi);
    return sqrt((stages > 1 ? 12 : 4) / (plan->grid.dims * symbol));
}

enum ht_err ht_fd_check_order(const struct ht_plan *plan) {
    const struct ht_params *params = plan->params;
    const int order = params->grid.order;
    if (order % 2 != 0 || order > 2 * HT_FD_RADIUS)
        return ht_params_error(params, "grid.order",
                               "is the order in space of finite differences "
                               "(time.scheme = \"fd\"): must be 2, 4 .. %d",
                               2 * HT_FD_RADIUS);
    return HT_OK;
}

/* Ghosts of a periodic axis or a wall are nodes of the same window. */
enum ht_err ht_fd_check_points(const struct ht_plan *plan) {
    const struct ht_fd_spec spec = {.dims = plan->grid.dims,
                                    .radius = plan->problem.fd.order / 2,
                                    .density = plan->problem.fd.density};
    const int reach = ht_fd_reach(&spec);
    for (int k = 0; k < plan->grid.dims; k++)
        if (plan->grid.cells[k] <= reach)
            return ht_params_error(
                plan->params, "grid.cells",
                "the stencil of order %d reaches over %d points, but x%d has "
                "%lld cells: more than that are needed, or a lower grid.order",
                plan->problem.fd.order, reach, k + 1,
                (long long)plan->grid.cells[k]);
    return HT_OK;
}

enum ht_err ht_fd_check_slabs(const struct ht_plan *plan, int ranks,
                              int64_t thinnest) {
    const struct ht_fd_spec widest = {
        .dims = plan->grid.dims, .radius = plan->order / 2, .density = true};
    const int reach = ht_fd_reach(&widest);
    if (plan->params->parallel.halo_depth > 1)
        return ht_params_error(plan->params, "parallel.halo_depth",
                               "finite differences exchange planes before each "
                               "pass: must be 1 with time.scheme = \"fd\"");
    if (thinnest < reach)
        return ht_params_error(
            plan->params, "grid.cells",
            "the stencil of order %d needs slabs of %d planes, but the "
            "thinnest of %d ranks has %lld: run fewer ranks or take a lower "
            "grid.order",
            plan->order, reach, ranks, (long long)thinnest);
    return HT_OK;
}
