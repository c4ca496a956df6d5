/* Maps (output.maps): what a run keeps of a field at the nodes of a box: extremes, means, waves. */
#pragma once

#include "htwave/stepper.h"

/* A group of them. */
struct ht_field_map {
    char name[HT_GROUP_NAME];
    int field;
    /* Nodes of the primary grid: from one on each stride-th, so many along each axis; the planes of
     * them that this rank has, perhaps none. */
    int64_t from[3], stride, count[3];
    struct ht_range own;
    struct ht_map_shape shape;
    double frequency[HT_MAP_WAVES];
    int64_t first, every; /* the steps that are taken */
    double early;         /* time by which values of a step are earlier than it */
    /* Parts of the largest value that extremes lack at most: of the shortest waves of the sources,
     * and of a pulse of all of them; NaN: not known. */
    double lacks, of_pulse;
    double moved;          /* bytes for each step and node of the grid, about */
    double rate, steepest; /* of struct ht_fd_keep, if shape.window > 0 */
};
/* Group n of the input, from 0, by a variant's kernels (NULL: not known); refuses what the grid or
 * the scheme has not. */
HT_ERR ht_map_find(const struct ht_plan *plan, const struct ht_variant *variant, bool fp64, int n,
                   struct ht_field_map *out);
/* Of all groups, which are right: on the device, or in files, for which no variant counts. */
int64_t ht_maps_bytes(const struct ht_plan *plan, const struct ht_variant *variant, bool fp64,
                      bool written);
/* Compiles what steps need that keep one of the maps themselves. */
HT_ERR ht_maps_compile(const struct ht_plan *plan, const struct ht_tuning *tuning,
                       struct ht_kernels *kernels);
/* map_NAME.h5 and pictures of its datasets; slots: [slot][own node], which become what datasets
 * hold. Collective. */
HT_ERR ht_map_write(const struct ht_plan *plan, const struct ht_field_map *map, int64_t samples,
                    double time, double *slots);
