/* Functions that ask the row of a problem's scheme, or of its discretisation, or the operations of
 * a stepper.
 */
#include <math.h>

#include "htwave/schedule.h"
#include "methods.h"
#include "sampler_private.h"

#define ASK(name, type, what, arguments, problem, call) \
    type ht_##what arguments {                          \
        return (problem)->scheme->does->what call;      \
    }
HT_EACH_ASKED(ASK, )

void ht_schedule_passes(const struct ht_problem *problem, struct ht_passes *out) {
    problem->scheme->does->schedule_passes(problem, out);
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
