/* Plans that have no gradient; see ht_gradient_check. */
#include "fd_gradient.h"

/* Nodes about a place that stand for it, to either side. */
enum { REACH = 4 };

/* The axis along which the nodes of a place reach into a layer; -1: none. varies: along other
 * axes a source is a plane that passes through the layers. */
static int near_layer(const struct ht_grid *grid, const double x[3], const bool varies[3]) {
    const double close = 1e-9;
    for (int k = 0; k < grid->dims; k++) {
        if (!varies[k]) continue;
        const double at = (x[k] - grid->lower[k]) / grid->h[k];
        const double far = (double)grid->cells[k] - at;
        if (grid->layer[k][0] > 0 && at < (double)(grid->layer[k][0] + REACH) - close) return k;
        if (grid->layer[k][1] > 0 && far < (double)(grid->layer[k][1] + REACH) - close) return k;
    }
    return -1;
}

static enum ht_err refuse_near(const struct ht_plan *plan, const char *key, const double x[3],
                               int axis) {
    const struct ht_grid *grid = &plan->grid;
    const double h = REACH * grid->h[axis];
    const bool layer[2] = {grid->layer[axis][0] > 0, grid->layer[axis][1] > 0};
    return ht_params_error(plan->params, key,
                           "%s: a gradient needs %d spacings between it and an absorbing layer; "
                           "along x%d %g to %g are possible",
                           HT_PLACED(grid, x), REACH, axis + 1,
                           layer[0] ? ht_layers_end(grid, axis, 0) + h : grid->lower[axis],
                           layer[1] ? ht_layers_end(grid, axis, 1) - h : grid->upper[axis]);
}

static enum ht_err check_shots(const struct ht_plan *plan) {
    const struct ht_shots *shots = plan->shots;
    for (int i = 0; i < shots->count; i++) {
        const struct ht_shot *shot = &shots->shot[i];
        REFUSE(shot->type->outside, plan->params, HT_KEY("sources.%d.type", i + 1),
               "a wave from outside has no gradient: take sources in the box");
        for (int j = 0; j < shot->points; j++) {
            double x[3];
            ht_shot_position(shot, j, x);
            const int axis = near_layer(&plan->grid, x, shot->varies);
            if (axis >= 0) return refuse_near(plan, HT_KEY("sources.%d.position", i + 1), x, axis);
        }
    }
    return HT_OK;
}

static enum ht_err check_receivers(const struct ht_plan *plan) {
    const bool all[3] = {true, true, true};
    for (int n = 0; n < plan->receivers->count; n++) {
        const struct ht_receiver_group *group = &plan->receivers->group[n];
        for (int64_t i = 0; i < group->count; i++) {
            const int axis = near_layer(&plan->grid, group->x[i], all);
            if (axis >= 0)
                return refuse_near(plan, HT_KEY("receivers.%d", n + 1), group->x[i], axis);
        }
    }
    return HT_OK;
}

enum ht_err ht_gradient_check(const struct ht_plan *plan) {
    const struct ht_params *params = plan->params;
    const struct ht_problem *problem = &plan->problem;
    REFUSE(!problem->scheme->nodal, params, "time.scheme", "a gradient needs \"fd\", not \"%s\"",
           problem->scheme->name);
    REFUSE(problem->fd.pair != HT_PAIR_NONE, params, "system",
           "\"%s\" has no gradient: must be acoustic or wave", plan->eq.system->name);
    REFUSE(plan->shots == NULL, params, "sources", "there are none: a gradient needs shots");
    REFUSE(plan->receivers == NULL, params, "receivers", "there are none: a gradient needs traces");
    REFUSE(params->initial.type != HT_DATA_ZERO, params, "initial.type",
           "a gradient begins at rest: must be zero");
    REFUSE(!(params->time.step > 0), params, "time.step",
           "must be given, or the step changes with the model and the misfit jumps; this model "
           "allows %g: take %.2g, below that of the fastest model",
           problem->dt, 0.9 * problem->dt);
    TRY(check_shots(plan));
    return check_receivers(plan);
}
