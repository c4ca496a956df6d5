/* The state at time 0 (docs/developers/method.md, section 13). Where a backward half step makes the
 * dual grid's fields, its one-step error is of the order of the scheme; it is done in layers of x3
 * planes of cells to save memory, each a small problem between two planes of nodes. A dual node
 * depends only on the corners of its cell, so neither the layers nor the ranks' slabs change the
 * result; the plane of nodes above a slab is computed twice. */
#include "src/solve/methods.h"

/* ---- data from formulas ---- */

enum { CHUNK = 1 << 21 }; /* values: 16 MiB */

/* On a wall one parity of a field's coefficients must vanish. A one-level half step makes these
 * coefficients zero. A two-level half step adds to them, so initial data that violate the wall's
 * condition would act as a permanent source. coefs: of planes [first, last), [row][node], rows of
 * fields and coefficients. */
static void clear_walls(const struct ht_plan *plan, int64_t first, int64_t last, double *coefs) {
    const struct ht_grid *grid = &plan->grid;
    const int count = ht_grid_coefs(grid), m = grid->order + 1;
    const int64_t part = ht_grid_plane(grid, HT_PRIMARY) * (last - first);
    for (int row = 0; row < plan->eq.nfields * count; row++, coefs += part) {
        int64_t stride = 1; /* of nodes along the axis */
        for (int k = 0, power = 1; k < grid->dims; k++, power *= m) {
            const int64_t nodes = ht_grid_nodes(grid, HT_PRIMARY, k);
            const int64_t low = k == 2 ? first : 0, high = k == 2 ? last : nodes;
            for (int side = 0; side < 2; side++) {
                const int factor = grid->wall[k][side];
                const int64_t end = side ? nodes - 1 : 0;
                if (factor == 0 || end < low || end >= high ||
                    ht_wall_sign(&plan->eq, row / count, k, factor) ==
                        (row % count / power % m % 2 ? -1 : 1))
                    continue;
                for (int64_t n = (end - low) * stride; n < part; n += (high - low) * stride)
                    memset(coefs + n, 0, (size_t)stride * sizeof *coefs);
            }
            stride *= nodes;
        }
    }
}

/* Planes [first, last) of the state at a time, which are those from `to` on of a stepper. */
static HT_ERR put_planes(const struct ht_plan *plan, enum ht_subgrid subgrid, double time,
                         int64_t first, int64_t last, double *coefs,
                         const struct ht_stepper *stepper, int64_t to) {
    const int64_t nodes = ht_grid_plane(&plan->grid, subgrid) * (last - first);
    TRY(ht_solution_fill(plan->solution, subgrid, time, first, last, coefs));
    ht_plan_multiply(plan, false, nodes * ht_grid_coefs(&plan->grid) * plan->eq.nfields, coefs);
    if (subgrid == HT_PRIMARY && plan->problem.scheme->two_level)
        clear_walls(plan, first, last, coefs);
    return stepper->ops->put(stepper->self, subgrid, to, to + last - first, coefs);
}

/* Writes the solution at a time to the own planes of a grid. */
static HT_ERR put_solution(const struct ht_plan *plan, enum ht_subgrid subgrid, double time,
                           const struct ht_stepper *stepper) {
    const struct ht_grid *grid = &plan->grid;
    const int64_t chunk = ht_plan_chunk(plan, subgrid, CHUNK);
    const struct ht_range slab = ht_grid_own(grid, subgrid);
    HT_ARRAY(double, coefs,
             ht_grid_plane(grid, subgrid) * chunk * ht_grid_coefs(grid) * plan->eq.nfields);
    HT_ENDED(ht_progress_end) struct ht_progress progress;
    ht_progress_start(&progress, "initial data", (double)(slab.last - slab.first), "nodes",
                      (double)ht_grid_plane(grid, subgrid));
    for (int64_t first = slab.first; first < slab.last; first += chunk) {
        const int64_t last = ht_least(first + chunk, slab.last);
        TRY(put_planes(plan, subgrid, time, first, last, coefs, stepper, first));
        ht_progress_update(&progress, (double)(last - slab.first));
    }
    return HT_OK;
}

/* ---- half a step back ---- */

/* Planes [first, last) of cells along x3 as a separate problem. The half step from the primary grid
 * reads only nodes of these cells, so the kinds of its sides do not matter. Without a third axis it
 * is the whole problem. */
static void make_layer(const struct ht_plan *plan, int64_t first, int64_t last,
                       struct ht_part *part) {
    const struct ht_scheme *starter = plan->problem.scheme->starter;
    const int64_t *cells = plan->grid.cells;
    const struct ht_box box = {.begin = {0, 0, first}, .end = {cells[0], cells[1], last}};
    ht_problem_part(&plan->problem, &box, HT_SIDES_MIRROR, HT_MEDIUM_OWN, part);
    (void)ht_problem_set_scheme(&part->problem, starter);
    part->problem.dt = -plan->problem.dt;
    part->problem.stages = ht_scheme_full_stages(starter, &plan->eq, plan->grid.order);
    part->problem.amplification = 0; /* nothing grows in one half step */
}

/* Number of x3 planes of cells per layer: all fields of both grids in some 64 MiB, at least one. */
static int64_t layer_planes(const struct ht_plan *plan) {
    const struct ht_range own = ht_grid_own(&plan->grid, HT_DUAL);
    return ht_most(1, ht_least(ht_plan_chunk(plan, HT_PRIMARY, CHUNK) / 2, own.last - own.first));
}

static HT_ERR put_layer(const struct ht_plan *plan, const struct ht_part *part,
                        const struct ht_stepper *stepper, double *coefs) {
    for (int64_t m = 0; m < ht_grid_planes(&part->grid, HT_PRIMARY); m++) {
        const int64_t at = (part->cells.begin[2] + m) % ht_grid_planes(&plan->grid, HT_PRIMARY);
        TRY(put_planes(plan, HT_PRIMARY, 0, at, at + 1, coefs, stepper, m));
    }
    return HT_OK;
}

/* Copies the dual planes of a layer from its stepper to the run's. */
static HT_ERR move_dual(const struct ht_part *part, const struct ht_stepper *from, double *coefs,
                        const struct ht_stepper *to) {
    const int count = ht_grid_coefs(&part->grid);
    const int64_t values = ht_grid_plane(&part->grid, HT_DUAL) * count;
    for (int64_t m = 0; m < ht_grid_planes(&part->grid, HT_DUAL); m++) {
        const int64_t at = part->cells.begin[2] + m;
        for (int f = 0; f < part->problem.eq->nfields; f++)
            TRY(from->ops->get(from->self, HT_DUAL, f, count, m, m + 1, coefs + f * values));
        TRY(to->ops->put(to->self, HT_DUAL, at, at + 1, coefs));
    }
    return HT_OK;
}

static HT_ERR do_layer(const struct ht_plan *plan, const struct ht_part *part,
                       struct ht_device *device, const struct ht_kernels *kernels,
                       const struct ht_stepper *out) {
    const struct ht_grid *grid = &plan->grid;
    HT_ENDED(ht_stepper_destroy) struct ht_stepper stepper = {0};
    TRY(device != NULL ? ht_stepper_create(&part->problem, device, kernels, &stepper)
                       : ht_oracle_create(&part->problem, &stepper));
    HT_ARRAY(double, coefs,
             ht_grid_plane(grid, HT_PRIMARY) * ht_grid_coefs(grid) * plan->eq.nfields);
    TRY(put_layer(plan, part, &stepper, coefs));
    TRY(stepper.ops->half_step(stepper.self, HT_PRIMARY));
    TRY(stepper.ops->finish(stepper.self));
    return move_dual(part, &stepper, coefs, out);
}

/* Tuning of the layers. The run's variant may not apply to all fields, or only to the run's own
 * step; a small device may have no groups for the usual one. */
static struct ht_tuning start_tuning(const struct ht_part *part, const struct ht_tuning *tuning,
                                     const struct ht_device_info *info) {
    struct ht_tuning out = *tuning;
    const struct ht_spec spec = ht_problem_spec(&part->problem, tuning, HT_PRIMARY);
    out.variant = ht_variant_find("monolithic", &spec, false);
    out.cells = out.rows = out.planes = 0;
    struct ht_kernels plan;
    if (info->max_group > 0 && ht_kernels_plan(&part->problem, info, &out, &plan) != HT_OK)
        out.variant = ht_variant_choose("auto", &spec, info);
    return out;
}

static HT_ERR step_back(const struct ht_plan *plan, struct ht_device *device,
                        const struct ht_tuning *tuning, const struct ht_stepper *stepper) {
    const int64_t chunk = layer_planes(plan);
    HT_ENDED(ht_kernels_destroy) struct ht_kernels kernels = {0};
    HT_ENDED(ht_progress_end) struct ht_progress progress = {.what = NULL};
    struct ht_part part;
    const struct ht_range planes = ht_grid_own(&plan->grid, HT_DUAL);
    make_layer(plan, planes.first, planes.first + chunk, &part);
    if (device != NULL) {
        const struct ht_tuning own = start_tuning(&part, tuning, ht_device_info(device));
        TRY(ht_kernels_create(&part.problem, device, &own, &kernels));
    }
    ht_progress_start(&progress, "half a step back", (double)(planes.last - planes.first), "cells",
                      (double)ht_grid_plane(&plan->grid, HT_DUAL));
    for (int64_t first = planes.first; first < planes.last; first += chunk) {
        const int64_t last = ht_least(first + chunk, planes.last);
        make_layer(plan, first, last, &part);
        TRY(do_layer(plan, &part, device, &kernels, stepper));
        ht_progress_update(&progress, (double)(last - planes.first));
    }
    return HT_OK;
}

static bool steps_back(const struct ht_plan *plan) {
    return plan->problem.scheme->starter != NULL && plan->steps > 0 && !plan->solution->exact &&
           !plan->solution->rest;
}

int64_t ht_start_bytes(const struct ht_plan *plan, const struct ht_tuning *tuning,
                       const struct ht_device_info *info) {
    struct ht_part part;
    if (!steps_back(plan)) return 0;
    make_layer(plan, 0, layer_planes(plan), &part);
    const struct ht_tuning own = start_tuning(&part, tuning, info);
    return ht_stepper_budget(&part.problem, &own, info).total;
}

enum ht_err ht_hermite_start(const struct ht_plan *plan, struct ht_device *device,
                             const struct ht_tuning *tuning, const struct ht_stepper *stepper) {
    TRY(put_solution(plan, HT_PRIMARY, 0, stepper));
    if (!plan->problem.scheme->two_level || plan->steps == 0) return HT_OK;
    if (!steps_back(plan)) return put_solution(plan, HT_DUAL, -plan->problem.dt / 2, stepper);
    return step_back(plan, device, tuning, stepper);
}
