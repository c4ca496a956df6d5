/* Shapes and operator layouts of the variants that have one; see struct
 * ht_variant. */
#ifndef HTWAVE_PROPAGATOR_H
#define HTWAVE_PROPAGATOR_H

#include "htwave/kernel.h"

HT_CHECKED enum ht_err ht_propagator_shape(const struct ht_tuning *tuning,
                                           const struct ht_spec *spec,
                                           const struct ht_device_info *info,
                                           struct ht_shape *out);
HT_CHECKED enum ht_err ht_propagator_pack(const struct ht_blocks *blocks,
                                          const struct ht_spec *spec,
                                          const struct ht_shape *shape,
                                          struct ht_operator *out);

/* cl/propagator_lanes.cl. Is the operator short enough for literals? */
bool ht_propagator_lanes_short(const struct ht_spec *spec);
HT_CHECKED enum ht_err ht_propagator_lanes_shape(
    const struct ht_tuning *tuning, const struct ht_spec *spec,
    const struct ht_device_info *info, struct ht_shape *out);
HT_CHECKED enum ht_err ht_propagator_lanes_pack(const struct ht_blocks *blocks,
                                                const struct ht_spec *spec,
                                                const struct ht_shape *shape,
                                                struct ht_operator *out);

/* cl/propagator_tensor.cl. */
HT_CHECKED enum ht_err ht_propagator_tensor_shape(
    const struct ht_tuning *tuning, const struct ht_spec *spec,
    const struct ht_device_info *info, struct ht_shape *out);
HT_CHECKED enum ht_err ht_propagator_tensor_pack(const struct ht_blocks *blocks,
                                                 const struct ht_spec *spec,
                                                 const struct ht_shape *shape,
                                                 struct ht_operator *out);

/* cl/parity_chains.cl. Why it does not apply, or NULL. */
const char *ht_parity_chains_refuses(const struct ht_spec *spec);
HT_CHECKED enum ht_err ht_parity_chains_shape(const struct ht_tuning *tuning,
                                              const struct ht_spec *spec,
                                              const struct ht_device_info *info,
                                              struct ht_shape *out);

/* Cells and rows of groups with one lane per target, and their lanes. */
HT_CHECKED enum ht_err ht_target_lanes(const struct ht_tuning *tuning,
                                       const struct ht_device_info *info,
                                       int dims, struct ht_shape *out);

/* cl/separable.cl. Why it does not apply, or NULL. */
const char *ht_separable_refuses(const struct ht_spec *spec);
HT_CHECKED enum ht_err ht_separable_shape(const struct ht_tuning *tuning,
                                          const struct ht_spec *spec,
                                          const struct ht_device_info *info,
                                          struct ht_shape *out);
HT_CHECKED enum ht_err ht_separable_pack(const struct ht_blocks *blocks,
                                         const struct ht_spec *spec,
                                         const struct ht_shape *shape,
                                         struct ht_operator *out);

#endif
