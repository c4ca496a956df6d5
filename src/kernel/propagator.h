/* Shape and operator layout of cl/propagator.cl; see struct ht_variant. */
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

#endif
