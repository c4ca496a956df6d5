/* The plan of finite differences: medium at the points, and the largest stable
 * step. With weights w of the second derivative or s of the staggered first one
 *     omega^2 <= max a  sum_k (sum_j |w_j|) / h_k^2        (uniform density)
 *     omega^2 <= max K max 1/rho  sum_k (2 sum_j |s_j|)^2 / h_k^2
 * since |<u, L u>| is at most that many times <u, u> for every positive medium;
 * sharp in a uniform one.
 */
#include <math.h>
#include <stdlib.h>

#include "fd_plan.h"

static enum ht_err fill(const void *medium, int what, int64_t first,
                        int64_t last, double *out) {
    /* Filling counts values that were cut. */
    struct ht_fit *fit = (struct ht_fit *)(uintptr_t)medium;
    return ht_fit_fill(fit, what, first, last, out);
}

/* All own planes once, for their largest values. */
static enum ht_err scan(struct ht_plan *plan, int what,
                        struct ht_progress *progress, int64_t *done) {
    const int64_t plane = ht_grid_plane(&plan->grid, HT_PRIMARY);
    int64_t begin, end;
    double *values = NULL;
    ht_grid_own(&plan->grid, HT_PRIMARY, &begin, &end);
    TRY(HT_ALLOC(values, plane));
    enum ht_err err = HT_OK;
    for (int64_t m = begin; err == HT_OK && m < end; m++) {
        err = ht_fit_fill(plan->fit, what, m, m + 1, values);
        ht_progress_update(progress, (double)++*done);
    }
    free(values);
    return err;
}

static enum ht_err scan_all(struct ht_plan *plan) {
    const int64_t planes = ht_grid_planes(&plan->grid, HT_PRIMARY);
    const int last = plan->problem.fd.density ? plan->grid.dims : 0;
    struct ht_progress progress;
    int64_t done = 0;
    enum ht_err err = HT_OK;
    ht_progress_start(&progress, "medium", (double)(planes * (last + 1)),
                      "nodes", (double)ht_grid_plane(&plan->grid, HT_PRIMARY));
    for (int what = 0; err == HT_OK && what <= last; what++)
        err = scan(plan, what, &progress, &done);
    ht_progress_end(&progress);
    return err;
}

/* Uniform: the numbers of the medium. Else the fit's, which overshoots. */
static enum ht_err find_largest(struct ht_plan *plan, double *speed) {
    const struct ht_second_order *form = &plan->eq.system->second_order;
    struct ht_fd_problem *fd = &plan->problem.fd;
    const double *constant = plan->medium->constant;
    if (plan->medium->uniform) {
        fd->inverse_density =
            form->inverse_density >= 0 ? constant[form->inverse_density] : 1;
        *speed = sqrt(constant[form->modulus] * fd->inverse_density);
        return HT_OK;
    }
    TRY(ht_fit_create(plan->medium, plan->params->medium.fit, &plan->fit));
    fd->density = !ht_fit_density_uniform(plan->fit, &fd->inverse_density);
    fd->fill = fill;
    fd->medium = plan->fit;
    TRY(scan_all(plan));
    const struct ht_fit_counts counts = ht_fit_counts(plan->fit);
    *speed = sqrt(counts.most[0] *
                  (fd->density ? counts.most[1] : fd->inverse_density));
    return ht_comm_max(plan->grid.slab.comm, 1, speed);
}

enum ht_err ht_fd_plan_medium(struct ht_plan *plan) {
    struct ht_fd_problem *fd = &plan->problem.fd;
    double speed = 0, sum = 0;
    *fd = (struct ht_fd_problem){.order = plan->params->grid.order};
    TRY(find_largest(plan, &speed));
    for (int k = 0; k < plan->grid.dims; k++)
        sum += 1 / (plan->grid.h[k] * plan->grid.h[k]);
    plan->fd_rate = speed * sqrt(sum / plan->grid.dims);
    return HT_OK;
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
        if (plan->grid.cells[k] < reach)
            return ht_params_error(
                plan->params, "grid.cells",
                "the stencil of order %d reaches over %d points, but x%d has "
                "%lld cells: take more cells or a lower grid.order",
                plan->problem.fd.order, reach, k + 1,
                (long long)plan->grid.cells[k]);
    return HT_OK;
}
