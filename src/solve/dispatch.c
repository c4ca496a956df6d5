/* Functions that ask the row of a problem's scheme, or of its discretisation, or the operations of
 * a stepper; and what all compiled kernels of a problem have in common. */
#include "methods.h"
#include "sampler_private.h"

#define ASK(name, type, what, arguments, problem, call) \
    type ht_##what arguments {                          \
        return (problem)->scheme->does->what call;      \
    }
HT_EACH_ASKED(ASK, , )

void ht_schedule_passes(const struct ht_problem *problem, struct ht_passes *out) {
    problem->scheme->does->schedule_passes(problem, out);
}

HT_ERR ht_plan_shot_bytes(const struct ht_plan *plan, bool fp64, struct ht_shot_bytes *out) {
    *out = (struct ht_shot_bytes){0, 0};
    if (plan->problem.shots == NULL || !(plan->problem.dt > 0)) return HT_OK; /* no steps */
    return plan->problem.scheme->does->shot_bytes(plan, fp64, out);
}

bool ht_conserves_energy(const struct ht_plan *plan) {
    const struct ht_invariant *invariant = plan->problem.scheme->invariant;
    return invariant != NULL && invariant->known(plan);
}

HT_ERR ht_conserved_energy(const struct ht_plan *plan, const struct ht_stepper *stepper,
                           double *energy) {
    *energy = 0;
    TRY(plan->problem.scheme->invariant->measure(plan, stepper, energy));
    *energy /= plan->scale * plan->scale;
    return HT_OK;
}

bool ht_energy_measured(const struct ht_plan *plan) {
    return plan->eq.measured || plan->problem.early != 0;
}

HT_ERR ht_physical_energy(const struct ht_plan *plan, const struct ht_stepper *stepper,
                          const struct ht_state *state, double *energy) {
    const struct ht_invariant *invariant = plan->problem.scheme->invariant;
    *energy = NAN;
    if (!ht_energy_measured(plan) || state->of_rate) return HT_OK;
    if (invariant == NULL || invariant->physical == NULL) {
        *energy = state->energy / (plan->scale * plan->scale);
        return HT_OK;
    }
    if (!ht_conserves_energy(plan)) return HT_OK;
    *energy = 0;
    TRY(invariant->physical(plan, stepper, energy));
    *energy /= plan->scale * plan->scale;
    return HT_OK;
}

HT_ERR ht_stepper_advance(const struct ht_stepper *stepper, int64_t steps) {
    for (int64_t left = steps, done; left > 0; left -= done) {
        const int64_t most = stepper->sampler != NULL || stepper->follow != NULL ? 1 : left;
        done = 0;
        if (stepper->ops->repeat != NULL) TRY(stepper->ops->repeat(stepper->self, most, &done));
        if (done == 0) {
            TRY(stepper->ops->half_step(stepper->self, HT_PRIMARY));
            TRY(stepper->ops->half_step(stepper->self, HT_DUAL));
            done = 1;
        }
        if (stepper->sampler != NULL) TRY(ht_sampler_take(stepper->sampler));
        if (stepper->follow != NULL) TRY(stepper->follow(stepper->follower));
    }
    return stepper->ops->finish(stepper->self);
}

void ht_stepper_destroy(struct ht_stepper *stepper) {
    if (stepper->ops != NULL) stepper->ops->destroy(stepper->self);
    *stepper = (struct ht_stepper){0};
}

void ht_oracle_absolute(struct ht_stepper *oracle) {
    oracle->ops->absolute(oracle->self);
}

/* ---- kernels ---- */

/* HT_ERR_DEVICE if the nodes of this rank's slab exceed the variant's node indices. */
static HT_ERR check_nodes(const struct ht_problem *problem, const struct ht_variant *variant) {
    for (enum ht_subgrid i = 0; variant->counts32 && i < 2; i++) {
        const struct ht_window window = ht_problem_window(problem, i);
        const int64_t plane = ht_window_plane(&window);
        REQUIRE(plane <= INT32_MAX / 2 && window.count[2] <= INT32_MAX / plane, HT_ERR_DEVICE,
                "device.variant = \"%s\" uses 32-bit node indices, too few for this grid: use "
                "\"monolithic\"",
                variant->name);
    }
    return HT_OK;
}

HT_ERR ht_kernels_plan(const struct ht_problem *problem, const struct ht_device_info *info,
                       const struct ht_tuning *tuning, struct ht_kernels *out) {
    *out = (struct ht_kernels){.variant = tuning->variant};
    TRY(check_nodes(problem, tuning->variant));
    for (enum ht_subgrid i = 0; i < 2; i++) {
        out->spec[i] = ht_problem_spec(problem, tuning, i);
        TRY(ht_variant_shape(tuning, &out->spec[i], info, &out->shape[i]));
    }
    return HT_OK;
}

void ht_kernels_destroy(struct ht_kernels *kernels) {
    if (kernels == NULL) return;
    ht_tool_destroy(kernels->fd);
    ht_tool_destroy(kernels->fd_layers);
    if (kernels->step[1] != kernels->step[0]) ht_tool_destroy(kernels->step[1]);
    ht_tool_destroy(kernels->step[0]);
    ht_tool_destroy(kernels->sums);
    ht_tool_destroy(kernels->injector);
    struct ht_layer_kernels *layers = kernels->layers;
    for (int s = 0; layers != NULL && s < HT_LAYER_SETS; s++) ht_kernels_destroy(&layers->set[s]);
    for (int axis = 0; layers != NULL && axis < 3; axis++) {
        ht_tool_destroy(layers->ghosts[axis]);
        ht_tool_destroy(layers->packer[axis]);
    }
    free(layers);
    ht_tool_destroy(kernels->sponge);
    for (int subgrid = 0; subgrid < 2; subgrid++) {
        ht_tool_destroy(kernels->meeting[subgrid]);
        ht_tool_destroy(kernels->ghosts[subgrid]);
        ht_tool_destroy(kernels->packer[subgrid]);
    }
    *kernels = (struct ht_kernels){0};
}

void ht_kernels_add_seconds(struct ht_kernels *kernels, double seconds[2]) {
    struct ht_layer_kernels *layers = kernels->layers;
    struct ht_tool *const tools[] = {kernels->fd,        kernels->fd_layers, kernels->ghosts[0],
                                     kernels->ghosts[1], kernels->injector,  kernels->sponge,
                                     kernels->step[0],   kernels->step[1]};
    for (size_t i = 0; i < sizeof tools / sizeof *tools; i++)
        ht_tool_add_seconds(tools[i], seconds);
    for (int s = 0; layers != NULL && s < HT_LAYER_SETS; s++)
        ht_tool_add_seconds(layers->set[s].step[0], seconds);
    for (int axis = 0; layers != NULL && axis < 3; axis++)
        ht_tool_add_seconds(layers->ghosts[axis], seconds);
}

double ht_kernels_seconds(struct ht_kernels *kernels) {
    double seconds[2] = {0};
    ht_kernels_add_seconds(kernels, seconds);
    return seconds[0] + seconds[1];
}

bool ht_kernels_cached(const struct ht_kernels *kernels) {
    if (kernels->fd != NULL) return ht_tool_cached(kernels->fd);
    return ht_tool_cached(kernels->step[0]) && ht_tool_cached(kernels->step[1]);
}
