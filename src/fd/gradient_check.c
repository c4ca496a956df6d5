/* Plans of which there is no gradient (htwave/gradient.h). */
#include "fd_gradient.h"

/* Spacings between the inner face of a layer and what stands outside. */
enum { APART = 4 };

/* A place, or the nodes [low, high] of what stands there along an axis, too near to a layer. */
static bool is_near(const struct ht_grid *grid, int axis, double x, int64_t low, int64_t high) {
    const double close = 1e-9, at = (x - grid->lower[axis]) / grid->h[axis];
    const int64_t *layer = grid->layer[axis];
    const int64_t end = grid->cells[axis] - layer[1];
    return (layer[0] > 0 && (at < (double)(layer[0] + APART) - close || low < layer[0])) ||
           (layer[1] > 0 && (at > (double)(end - APART) + close || high > end));
}

static HT_ERR refuse_near(const struct ht_plan *plan, const char *key, const char *what,
                          const double x[3], int axis) {
    const struct ht_grid *grid = &plan->grid;
    return ht_params_error(
        plan->params, key,
        "%s at %s: for a gradient they stand, with all nodes that they take, between the layers "
        "along x%d, which end at %.6g and %.6g, and %d spacings or more away: move it, or enlarge "
        "the box",
        what, HT_PLACED(grid, x), axis + 1, ht_layers_end(grid, axis, 0),
        ht_layers_end(grid, axis, 1), APART);
}

/* With the places of a field's values in place of nodes. */
static struct ht_grid grid_of(const struct ht_plan *plan, int field) {
    const bool pair = plan->problem.fd.pair != HT_PAIR_NONE;
    return ht_grid_places(&plan->grid, pair ? plan->eq.field[field].parity : 0);
}

static HT_ERR check_receivers(const struct ht_plan *plan) {
    HT_EACH_AT(n, const struct ht_receiver_group, group, plan->receivers->group,
               plan->receivers->count) {
        for (int64_t i = 0; i < group->count * group->readings; i++)
            for (int k = 0; k < plan->grid.dims; k++) {
                const struct ht_reading *reading = &group->reading[i / group->count];
                const struct ht_grid grid = grid_of(plan, reading->field);
                const double *x = group->x[i % group->count];
                struct ht_point_axis axis;
                ht_point_axis_read(&grid, k, x[k], reading->slope == k, &axis);
                if (axis.count > 0 &&
                    is_near(&grid, k, x[k], axis.node[0], axis.node[axis.count - 1]))
                    return refuse_near(plan, HT_KEY("receivers.%d", n + 1), "a receiver", x, k);
            }
    }
    return HT_OK;
}

/* The nodes of a shot, of a pair those of a drive. */
static HT_ERR check_nodes(const struct ht_plan *plan, int index, int drive) {
    const bool pair = plan->problem.fd.pair != HT_PAIR_NONE;
    const struct ht_grid grid = grid_of(plan, plan->shots->shot[index].drive[drive].field);
    HT_ENDED(ht_point_free) struct ht_point point = {.count = 0};
    double x[3];
    TRY(pair ? ht_shot_spread_drive(plan->shots, index, drive, &grid, NULL, &point)
             : ht_shot_spread(plan->shots, index, NULL, &point));
    for (int i = 0; i < point.count; i++)
        for (int k = 0; k < grid.dims; k++) {
            const int64_t *m = point.node[i].m, *layer = grid.layer[k];
            for (int j = 0; j < 3; j++) x[j] = ht_grid_x(&grid, HT_PRIMARY, j, m[j]);
            if (m[k] < layer[0] || m[k] + (grid.shift[k] > 0) > grid.cells[k] - layer[1])
                return refuse_near(plan, HT_KEY("sources.%d", plan->shots->shot[index].group),
                                   "a source's node", x, k);
        }
    return HT_OK;
}

static HT_ERR check_shot(const struct ht_plan *plan, int index) {
    const struct ht_shot *shot = &plan->shots->shot[index];
    const bool pair = plan->problem.fd.pair != HT_PAIR_NONE;
    double x[3];
    REFUSE(shot->type->outside != NULL, plan->params, HT_KEY("sources.%d.type", shot->group),
           "waves from outside have no gradient: take sources in the box");
    for (int i = 0; i < shot->points; i++) {
        ht_shot_position(shot, i, x);
        for (int k = 0; k < plan->grid.dims; k++)
            if (shot->varies[k] && is_near(&plan->grid, k, x[k], INT64_MAX, 0))
                return refuse_near(plan, HT_KEY("sources.%d", shot->group), "a source", x, k);
    }
    for (int d = 0; d < (pair ? shot->drives : 1); d++) TRY(check_nodes(plan, index, d));
    return HT_OK;
}

HT_ERR ht_gradient_check(const struct ht_plan *plan) {
    const struct ht_params *params = plan->params;
    REFUSE(!plan->problem.scheme->nodal, params, "time.scheme",
           "gradients are made by finite differences: take \"fd\"");
    REFUSE(plan->eq.second_order.rate >= 0, params, "system",
           "gradients are made for \"acoustic\", which with rho = 1 is the same equation");
    const bool pair = plan->problem.fd.pair != HT_PAIR_NONE;
    REFUSE(pair && params->gradient.field == HT_GRADIENT_REVERSE, params, "gradient.field",
           "the run backwards is made for \"acoustic\" alone: take \"auto\" or \"checkpoint\"");
    REFUSE(pair && plan->eq.losses != 0, params, plan->medium->loss_key,
           "gradients are of media that lose nothing: must be 0");
    REFUSE(!plan->solution->rest, params, "initial.type",
           "a gradient is that of a run which begins at rest: take \"zero\"");
    REFUSE(plan->shots == NULL, params, "sources", "a gradient needs some");
    REFUSE(plan->receivers == NULL, params, "receivers", "a gradient needs some");
    REFUSE(!(params->time.step > 0), params, "time.step",
           "must be given for a gradient: else the step changes with the model, and the misfit "
           "jumps; this model takes up to %.6g, models of higher speeds less: take %.3g",
           plan->problem.dt, 0.9 * plan->problem.dt);
    for (int i = 0; i < plan->shots->count; i++) TRY(check_shot(plan, i));
    return check_receivers(plan);
}
