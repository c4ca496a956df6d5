/* A run's values after some steps on a device, by steps alone. */
#pragma once

#include "htwave/plan.h"
#include "htwave/stepper.h"

static inline enum ht_err device_values(const struct ht_plan *plan, struct ht_device *device,
                                        const char *variant, bool fp64, int steps, double *out) {
    const struct ht_problem *problem = &plan->problem;
    struct ht_tuning tuning = {.fp64 = fp64, .block = 1};
    const struct ht_spec spec = ht_problem_spec(problem, &tuning, HT_PRIMARY);
    struct ht_kernels kernels = {0};
    struct ht_stepper stepper = {0};
    tuning.variant = ht_variant_find(variant, &spec, false);
    TRY(ht_kernels_create(problem, device, &tuning, &kernels));
    enum ht_err err = ht_stepper_create(problem, device, &kernels, &stepper);
    for (int i = 0; err == HT_OK && i < 2 * steps; i++)
        err = stepper.ops->half_step(stepper.self, i % 2 ? HT_DUAL : HT_PRIMARY);
    if (err == HT_OK)
        err = stepper.ops->get(stepper.self, HT_PRIMARY, 0, 1, 0,
                               ht_grid_planes(&plan->grid, HT_PRIMARY), out);
    ht_stepper_destroy(&stepper);
    ht_kernels_destroy(&kernels);
    return err;
}
