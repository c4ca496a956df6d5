/* The table of discretisations. Rows of schemes point to it. */
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

const struct ht_method ht_method_hermite = HT_METHOD_ROW(hermite);
const struct ht_method ht_method_differences = HT_METHOD_ROW(differences);
