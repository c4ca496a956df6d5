/* The rows of the table of variants, and what several of them share. A row
 * stands in the file of its variant.
 */
#ifndef HTWAVE_KERNEL_VARIANT_H
#define HTWAVE_KERNEL_VARIANT_H

#include "counts.h"

/* columns.c: a lane for each column of a cell's coefficients. */
extern const struct ht_variant ht_variant_chains, ht_variant_monolithic,
    ht_variant_two_rolled, ht_variant_two_naive, ht_variant_gemm;
extern const struct ht_variant ht_variant_separable;         /* separable.c */
extern const struct ht_variant ht_variant_propagator;        /* propagator.c */
extern const struct ht_variant ht_variant_propagator_lanes;  /* .._lanes.c */
extern const struct ht_variant ht_variant_propagator_tensor; /* .._tensor.c */
extern const struct ht_variant ht_variant_vector;        /* taylor_vectors.c */
extern const struct ht_variant ht_variant_parity_chains; /* parity_chains.c */

/* Is one of the variant's kernels of that kind? */
bool ht_variant_has(const struct ht_variant *variant, enum ht_stage_kind kind);

/* Bytes of local memory that a kernel may take. */
int64_t ht_local_limit(const struct ht_device_info *info);
/* The same of kernels with vectors, on a CPU, where local memory is a part of
 * the cache. */
int64_t ht_vector_limit(const struct ht_device_info *info);
/* HT_ERR_DEVICE: with so many cells (0: whatever their number) the order needs
 * more than that limit. */
HT_CHECKED enum ht_err ht_local_too_little(const struct ht_spec *spec,
                                           const struct ht_device_info *info,
                                           int cells, int64_t limit);

/* Fields of a mask of stored ones; 0: all. */
int ht_slots(unsigned mask, int fields);
/* Nodes of a tile around rows of targets, a row of it padded to pitch. */
int64_t ht_tile_nodes(int dims, int pitch, int rows);

/* Cells and rows of groups with one lane per target, and their lanes. */
HT_CHECKED enum ht_err ht_target_group(const struct ht_tuning *tuning,
                                       const struct ht_device_info *info,
                                       int dims, struct ht_shape *out);
/* Lanes of a vector of targets: those of the tuning, else 64 bytes on a CPU and
 * one target on a GPU. HT_ERR_INPUT when the tuning asks for what is no vector.
 */
HT_CHECKED enum ht_err ht_vector_cells(const struct ht_tuning *tuning,
                                       const struct ht_spec *spec,
                                       const struct ht_device_info *info,
                                       int *cells);

/* ---- counted work, as ht_variant.cost ---- */
/* The Taylor series in stages, by the kinds of the variant's kernels; chains:
 * two scalar chains instead of all fields. */
struct ht_cost ht_cost_series(const struct ht_variant *variant,
                              const struct ht_spec *spec, int kernel);
struct ht_cost ht_cost_chains(const struct ht_variant *variant,
                              const struct ht_spec *spec, int kernel);
/* An operator as its dense matrix; or one per axis. */
struct ht_cost ht_cost_dense(const struct ht_variant *variant,
                             const struct ht_spec *spec, int kernel);
struct ht_cost ht_cost_separable(const struct ht_variant *variant,
                                 const struct ht_spec *spec, int kernel);

#endif
