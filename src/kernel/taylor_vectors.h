/* Shape of cl/taylor_vectors.cl; see struct ht_variant. */
#ifndef HTWAVE_TAYLOR_VECTORS_H
#define HTWAVE_TAYLOR_VECTORS_H

#include "htwave/kernel.h"

/* Lanes of a vector of targets: those of the tuning, else 64 bytes on a CPU and
 * one target on a GPU. HT_ERR_INPUT when the tuning asks for what is no vector.
 */
HT_CHECKED enum ht_err ht_vector_cells(const struct ht_tuning *tuning,
                                       const struct ht_spec *spec,
                                       const struct ht_device_info *info,
                                       int *cells);
HT_CHECKED enum ht_err ht_taylor_vectors_shape(
    const struct ht_tuning *tuning, const struct ht_spec *spec,
    const struct ht_device_info *info, struct ht_shape *out);

#endif
