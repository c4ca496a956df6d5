/* Functions that ask the row of a problem's scheme, or of its discretisation, or the operations of
 * a stepper.
 */
#include <math.h>

#include "htwave/schedule.h"
#include "methods.h"
#include "sampler_private.h"

enum ht_err ht_kernels_plan(const struct ht_problem *problem, const struct ht_device_info *info,
                            const struct ht_tuning *tuning, struct ht_kernels *out) {
    return problem->scheme->does->kernels_plan(problem, info, tuning, out);
}

enum ht_err ht_kernels_create(const struct ht_problem *problem, struct ht_device *device,
                              const struct ht_tuning *tuning, struct ht_kernels *out) {
    return problem->scheme->does->kernels_create(problem, device, tuning, out);
}

void ht_schedule_passes(const struct ht_problem *problem, struct ht_passes *out) {
    problem->scheme->does->schedule_passes(problem, out);
}

double ht_message_values(const struct ht_problem *problem, int array) {
    return problem->scheme->does->message_values(problem, array);
}

enum ht_err ht_stepper_create(const struct ht_problem *problem, struct ht_device *device,
                              const struct ht_kernels *kernels, struct ht_stepper *out) {
    return problem->scheme->does->stepper_create(problem, device, kernels, out);
}

struct ht_budget ht_stepper_budget(const struct ht_problem *problem, const struct ht_tuning *tuning,
                                   const struct ht_device_info *info) {
    return problem->scheme->does->stepper_budget(problem, tuning, info);
}

enum ht_err ht_oracle_create(const struct ht_problem *problem, struct ht_stepper *out) {
    return problem->scheme->does->oracle_create(problem, out);
}

double ht_oracle_roundings(const struct ht_problem *problem) {
    return problem->scheme->does->oracle_roundings(problem);
}

enum ht_err ht_start(const struct ht_plan *plan, struct ht_device *device,
                     const struct ht_tuning *tuning, const struct ht_stepper *stepper) {
    return plan->problem.scheme->does->start(plan, device, tuning, stepper);
}

int64_t ht_start_bytes(const struct ht_plan *plan, const struct ht_tuning *tuning,
                       const struct ht_device_info *info) {
    return plan->problem.scheme->does->start_bytes(plan, tuning, info);
}

enum ht_err ht_state_measure(const struct ht_plan *plan, const struct ht_stepper *stepper,
                             double time, struct ht_state *out) {
    return plan->problem.scheme->does->state_measure(plan, stepper, time, out);
}

enum ht_err ht_plan_shot_bytes(const struct ht_plan *plan, bool fp64, struct ht_shot_bytes *out) {
    *out = (struct ht_shot_bytes){0, 0};
    if (plan->problem.shots == NULL || !(plan->problem.dt > 0)) return HT_OK; /* no steps */
    return plan->problem.scheme->does->shot_bytes(plan, fp64, out);
}

bool ht_conserves_energy(const struct ht_plan *plan) {
    const struct ht_scheme *scheme = plan->problem.scheme;
    return scheme->invariant != NULL && scheme->invariant->known(plan);
}

enum ht_err ht_conserved_energy(const struct ht_plan *plan, const struct ht_stepper *stepper,
                                double *energy) {
    const struct ht_scheme *scheme = plan->problem.scheme;
    *energy = 0;
    REQUIRE(scheme->invariant != NULL, HT_ERR_INTERNAL, "%s has no conserved energy", scheme->name);
    TRY(scheme->invariant->measure(plan, stepper, energy));
    *energy /= plan->scale * plan->scale;
    return HT_OK;
}

const char *ht_growth_cause(const struct ht_plan *plan) {
    return plan->problem.scheme->does->growth_cause(plan);
}

enum ht_err ht_physical_energy(const struct ht_plan *plan, const struct ht_stepper *stepper,
                               const struct ht_state *state, double *energy) {
    const struct ht_scheme *scheme = plan->problem.scheme;
    *energy = NAN;
    if (!ht_equations_measured(&plan->eq) || state->of_rate) return HT_OK;
    if (scheme->invariant == NULL || scheme->invariant->physical == NULL) {
        *energy = state->energy / (plan->scale * plan->scale);
        return HT_OK;
    }
    if (!ht_conserves_energy(plan)) return HT_OK;
    *energy = 0;
    TRY(scheme->invariant->physical(plan, stepper, energy));
    *energy /= plan->scale * plan->scale;
    return HT_OK;
}

enum ht_err ht_stepper_advance(const struct ht_stepper *stepper, int64_t steps) {
    for (int64_t left = steps, done; left > 0; left -= done) {
        const int64_t most = stepper->sampler != NULL ? 1 : left;
        done = 0;
        if (stepper->ops->repeat != NULL) TRY(stepper->ops->repeat(stepper->self, most, &done));
        if (done == 0) {
            TRY(stepper->ops->half_step(stepper->self, HT_PRIMARY));
            TRY(stepper->ops->half_step(stepper->self, HT_DUAL));
            done = 1;
        }
        if (stepper->sampler != NULL) TRY(ht_sampler_take(stepper->sampler));
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
