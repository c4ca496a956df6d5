/* The plan of finite differences: the fitted medium, the largest stable step,
 * and what grids and slabs they need.
 */
#include <math.h>
#include <stdlib.h>

#include "fd.h"
#include "fd_plan.h"
#include "fd_surface.h"

static enum ht_err fill(const void *medium, int what, int64_t first,
                        int64_t last, double *out) {
    const struct ht_plan *plan = medium;
    return ht_fit_fill(plan->fit, what, first, last, out);
}

/* omega^2 at rate 1. */
static double symbol_of(const struct ht_plan *plan) {
    const struct ht_fd_weights w = ht_fd_weights(plan->problem.fd.order);
    const double pi = acos(-1.0), first = ht_fd_first_symbol(&w, pi);
    return plan->grid.dims * (plan->problem.fd.density
                                  ? first * first
                                  : ht_fd_second_symbol(&w, pi));
}

/* omega^2 <= rate^2 symbol_of: where the spacing is the same along all axes and
 * the medium is uniform, the rate is c / h. */
static enum ht_err find_rate(struct ht_plan *plan, double *rate) {
    const struct ht_second_order *form = &plan->eq.system->second_order;
    struct ht_fd_problem *fd = &plan->problem.fd;
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
    plan->problem.grid = &plan->grid;
    TRY(ht_fd_bound(&plan->problem, plan->fit, &most));
    *rate = sqrt(most / symbol_of(plan));
    return HT_OK;
}

enum ht_err ht_fd_plan_medium(struct ht_plan *plan) {
    plan->problem.fd = (struct ht_fd_problem){.order = plan->order};
    return find_rate(plan, &plan->fd_rate);
}

double ht_fd_plan_cfl(const struct ht_plan *plan, int stages) {
    return sqrt((stages > 1 ? 12 : 4) / symbol_of(plan));
}

enum ht_err ht_fd_check_order(const struct ht_plan *plan) {
    const struct ht_params *params = plan->params;
    if (plan->order % 2 != 0 || plan->order > 2 * HT_FD_RADIUS)
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
    const int depth = plan->params->parallel.halo_depth;
    if (thinnest < reach)
        return ht_params_error(
            plan->params, "grid.cells",
            "the stencil of order %d needs slabs of %d planes, but the "
            "thinnest of %d ranks has %lld: run fewer ranks or take a lower "
            "grid.order",
            plan->order, reach, ranks, (long long)thinnest);
    if (thinnest < ht_fd_planes_needed(reach, depth))
        return ht_params_error(plan->params, "parallel.halo_depth",
                               "needs slabs of %lld planes, but the thinnest "
                               "of %d ranks has %lld: at most %lld",
                               (long long)ht_fd_planes_needed(reach, depth),
                               ranks, (long long)thinnest,
                               (long long)(thinnest / reach));
    return HT_OK;
}

enum ht_err ht_fd_check_layer_slabs(const struct ht_plan *plan,
                                    const int64_t *start) {
    const struct ht_grid *grid = &plan->grid;
    const int64_t reach = plan->order / 2;
    const int ranks = ht_comm_size(grid->slab.comm);
    for (int side = 0; side < 2; side++) {
        const int64_t planes =
            side == 0 ? start[1] : start[ranks] - start[ranks - 1];
        const int64_t cells = grid->layer[2][side], needed = cells + reach;
        const bool alone =
            ranks == 1 || plan->params->absorbing.type == HT_ABSORBING_SPONGE;
        if (alone || cells == 0 || planes >= needed) continue;
        return ht_params_error(
            plan->params, "absorbing.cells",
            "the layer at the %s side of x3 belongs to one rank: with order "
            "%d its slab needs %lld planes, but has %lld of %d ranks",
            side == 0 ? "lower" : "upper", plan->order, (long long)needed,
            (long long)planes, ranks);
    }
    return HT_OK;
}

/* ---- sources ---- */

/* Points at which a wave along an axis errs by `most` over ten wavelengths. */
double ht_plan_needed_points(const struct ht_plan *plan) {
    if (plan->duhamel != NULL) return plan->duhamel->needed;
    const struct ht_fd_weights w = ht_fd_weights(plan->order);
    const double most = 0.1, wavelengths = 10, axis[3] = {1, 0, 0};
    double points = 3.5, widest = 0;
    for (int k = 0; k < plan->grid.dims; k++)
        widest = fmax(widest, plan->grid.h[k]);
    /* Where dispersion is removed steps count as if they were short. */
    const double dt =
        plan->problem.dt * (plan->problem.fd.undispersed ? 0.01 : 1);
    const double nu = plan->medium->speed_min * dt / widest;
    while (points < 1000 && ht_fd_error(&w, plan->problem.stages, axis, points,
                                        nu, wavelengths) > most)
        points += 0.1;
    return points;
}

static enum ht_err check_forms(const struct ht_plan *plan) {
    static const char *const names[] = {"radius", "tolerance"};
    char key[48];
    for (int i = 0; i < 2 * plan->params->shots.count; i++) {
        snprintf(key, sizeof key, "sources.%d.%s", i / 2 + 1, names[i % 2]);
        if (ht_params_is_set(plan->params, key))
            return ht_params_error(plan->params, key,
                                   "has no meaning with time.scheme = \"fd\": "
                                   "it is for Hermite methods");
    }
    return HT_OK;
}

enum ht_err ht_fd_check_shots(const struct ht_plan *plan) {
    const double carried = 2.1;
    TRY(check_forms(plan));
    if (plan->shots == NULL || !(plan->problem.dt > 0)) return HT_OK;
    TRY(ht_shots_warn_jumps(plan->shots));
    TRY(ht_fd_surface_check(plan));
    const double points = ht_plan_shot_points(plan);
    const double needed = ht_plan_needed_points(plan);
    if (points < carried)
        return ht_params_error(
            plan->params, "sources",
            "have frequencies up to %.3g, of which the grid has %.2g points "
            "per wavelength where waves travel at %.3g: it carries none with "
            "less than 2, and %.2g are needed",
            plan->shots->highest, points, plan->medium->speed_min, needed);
    if (points < needed)
        ht_warn("sources have frequencies up to %.3g, of which the grid has "
                "%.2g points per wavelength where waves travel at %.3g: order "
                "%d needs %.2g for errors below 10 %% over ten wavelengths",
                plan->shots->highest, points, plan->medium->speed_min,
                plan->order, needed);
    return HT_OK;
}
