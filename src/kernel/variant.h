/* The rows of the table of variants and their shared functions. Each row is defined in the file of
 * its variant. */
#pragma once

#include "counts.h"
#include "htwave/fd_kernel.h"

extern const struct ht_variant ht_variant_fd_march, ht_variant_fd_vectors, ht_variant_fd_plain;
/* Work of half a time step of finite differences per node; bytes count values. */
struct ht_cost ht_cost_differences(const struct ht_variant *variant, const struct ht_spec *spec,
                                   int kernel);
/* Nodes of a box along an axis; whether it has none; its arguments (cl/fd_args.h). */
struct ht_fd_args;
int64_t ht_fd_extent(const struct ht_fd_box *box, int64_t axis);
bool ht_fd_empty(const struct ht_fd_box *box);
struct ht_fd_args ht_fd_args_of(const struct ht_fd_box *box);
/* The program of a variant of finite differences. */
HT_ERR ht_fd_variant_text(const struct ht_variant *variant, const struct ht_spec *spec,
                          const struct ht_shape *shape, struct ht_text *out);
/* columns.c, separable.c, propagator*.c */
extern const struct ht_variant ht_variant_monolithic, ht_variant_two_rolled, ht_variant_two_naive,
    ht_variant_gemm, ht_variant_separable, ht_variant_vector, ht_variant_propagator,
    ht_variant_propagator_lanes, ht_variant_propagator_local, ht_variant_propagator_planes,
    ht_variant_propagator_tensor, ht_variant_propagator_warpgroup;

/* What rows of dense parity blocks for GPUs have in common. */
#define HT_BLOCKS_ON_GPU                                                       \
    .uniform = true, .blocks = true, .made_for = HT_FOR_GPU, .counts32 = true, \
    .cost = ht_cost_operator

/* Whether one of the variant's kernels is of this kind. */
bool ht_variant_has(const struct ht_variant *variant, enum ht_stage_kind kind);

/* Bytes of local memory that a kernel may use. */
int64_t ht_local_limit(const struct ht_device_info *info);
/* The same for kernels with vectors of targets, on a CPU, where local memory is in the cache. */
int64_t ht_vector_limit(const struct ht_device_info *info);
/* Nodes of a tile around `rows` rows of targets, with rows padded to pitch. */
int64_t ht_tile_nodes(int dims, int pitch, int rows);

/* Cells, rows and group size of variants with one work-item per target. */
HT_ERR ht_target_group(const struct ht_tuning *tuning, const struct ht_device_info *info, int dims,
                       struct ht_shape *out);

/* ---- counted work, as ht_variant.cost ---- */
/* The Taylor series in stages, by the kinds of the variant's kernels. */
struct ht_cost ht_cost_series(const struct ht_variant *variant, const struct ht_spec *spec,
                              int kernel);
/* An operator as dense parity blocks, or as one matrix per axis. */
struct ht_cost ht_cost_operator(const struct ht_variant *variant, const struct ht_spec *spec,
                                int kernel);
