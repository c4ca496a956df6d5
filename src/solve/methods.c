/* The table of discretisations, and the functions that look them up. */
#include "methods.h"

#define HT_METHOD_ROW(name)                                       \
    {                                                             \
        .kernels_plan = ht_##name##_kernels_plan,                 \
        .kernels_create = ht_##name##_kernels_create,             \
        .stepper_create = ht_##name##_stepper_create,             \
        .stepper_budget = ht_##name##_stepper_budget,             \
        .oracle_create = ht_##name##_oracle_create,               \
        .oracle_roundings = ht_##name##_oracle_roundings,         \
        .shrink = ht_##name##_shrink, .start = ht_##name##_start, \
        .start_bytes = ht_##name##_start_bytes,                   \
        .state_measure = ht_##name##_state_measure,               \
        .sampler_make = ht_##name##_sampler_make,                 \
        .sampler_bytes = ht_##name##_sampler_bytes,               \
    }

const struct ht_method *ht_method_of(const struct ht_problem *problem) {
    static const struct ht_method rows[] = {
        [HT_HERMITE] = HT_METHOD_ROW(hermite),
        [HT_FINITE_DIFFERENCES] = HT_METHOD_ROW(differences),
    };
    return &rows[ht_problem_scheme(problem)->method];
}

enum ht_err ht_kernels_plan(const struct ht_problem *problem,
                            const struct ht_device_info *info,
                            const struct ht_tuning *tuning,
                            struct ht_kernels *out) {
    return ht_method_of(problem)->kernels_plan(problem, info, tuning, out);
}

enum ht_err ht_kernels_create(const struct ht_problem *problem,
                              struct ht_device *device,
                              const struct ht_tuning *tuning, const char *cache,
                              struct ht_kernels *out) {
    return ht_method_of(problem)->kernels_create(problem, device, tuning, cache,
                                                 out);
}

enum ht_err ht_stepper_create(const struct ht_problem *problem,
                              struct ht_device *device,
                              const struct ht_kernels *kernels,
                              struct ht_stepper *out) {
    return ht_method_of(problem)->stepper_create(problem, device, kernels, out);
}

struct ht_budget ht_stepper_budget(const struct ht_problem *problem,
                                   const struct ht_tuning *tuning,
                                   const struct ht_device_info *info) {
    return ht_method_of(problem)->stepper_budget(problem, tuning, info);
}

enum ht_err ht_oracle_create(const struct ht_problem *problem,
                             struct ht_stepper *out) {
    return ht_method_of(problem)->oracle_create(problem, out);
}

double ht_oracle_roundings(const struct ht_problem *problem) {
    return ht_method_of(problem)->oracle_roundings(problem);
}

enum ht_err ht_start(const struct ht_plan *plan, struct ht_device *device,
                     const struct ht_tuning *tuning, const char *cache,
                     const struct ht_stepper *stepper) {
    return ht_method_of(&plan->problem)
        ->start(plan, device, tuning, cache, stepper);
}

int64_t ht_start_bytes(const struct ht_plan *plan,
                       const struct ht_tuning *tuning,
                       const struct ht_device_info *info) {
    return ht_method_of(&plan->problem)->start_bytes(plan, tuning, info);
}

enum ht_err ht_state_measure(const struct ht_plan *plan,
                             const struct ht_stepper *stepper, double time,
                             struct ht_state *out) {
    return ht_method_of(&plan->problem)
        ->state_measure(plan, stepper, time, out);
}
