/* The compiled half steps of a problem on a device. */
#ifndef HTWAVE_KERNELS_H
#define HTWAVE_KERNELS_H

#include "htwave/fd_layers.h"
#include "htwave/inject.h"
#include "htwave/problem.h"
#include "htwave/sponge.h"

struct ht_layer_kernels;

/* [0] from the primary grid, [1] from the dual grid; if these do not differ, both entries are the
 * same step. */
struct ht_kernels {
    /* Of finite differences, which have no others. */
    struct ht_fd_kernels *fd;
    struct ht_fd_reduction *fd_reduction;
    struct ht_fd_injector *fd_injector;
    struct ht_fd_layer_kernels *fd_layers; /* NULL: no side absorbs */
    const struct ht_variant *variant;
    struct ht_spec spec[2];
    struct ht_shape shape[2];
    struct ht_step *step[2];     /* NULL: not compiled */
    struct ht_ghosts *ghosts[2]; /* [subgrid]: as the source of a half step */
    struct ht_reduction *reduction;
    struct ht_injector *injector;    /* NULL: no sources */
    struct ht_packer *packer[2];     /* [subgrid]; NULL: the grid is one slab */
    struct ht_layer_kernels *layers; /* NULL: no perfectly matched layers */
    struct ht_sponge *sponge;        /* NULL: none */
};

/* Of perfectly matched layers: of the boxes where the layers of the same axes overlap, one set
 * each, beside those of the interior (src/hermite/ layer_kernels.h). */
enum { HT_LAYER_SETS = 8 }; /* by the mask of axes; 0: the interior, none */
struct ht_layer_kernels {
    struct ht_equations full; /* with the memory variables of all axes */
    struct ht_equations eq[HT_LAYER_SETS];
    struct ht_law law[HT_LAYER_SETS];
    struct ht_kernels set[HT_LAYER_SETS];
    /* Of an axis's memory variables: ghosts on the dual grid, messages (NULL:
     * the grid is one slab). */
    struct ht_ghosts *ghosts[3];
    struct ht_packer *packer[3];
};

/* Sets all members except the compiled steps; fails as ht_variant_shape does. The problem's
 * equations must outlive the kernels. */
HT_CHECKED enum ht_err ht_kernels_plan(const struct ht_problem *problem,
                                       const struct ht_device_info *info,
                                       const struct ht_tuning *tuning, struct ht_kernels *out);
/* HT_ERR_DEVICE if the nodes of this rank's slab exceed the variant's node indices. A part of
 * ht_kernels_plan, for slabs that have changed since. */
HT_CHECKED enum ht_err ht_kernels_check_nodes(const struct ht_problem *problem,
                                              const struct ht_variant *variant);
/* Plans and compiles. cache: directory of compiled programs, NULL: none. */
HT_CHECKED enum ht_err ht_kernels_create(const struct ht_problem *problem, struct ht_device *device,
                                         const struct ht_tuning *tuning, const char *cache,
                                         struct ht_kernels *out);
void ht_kernels_destroy(struct ht_kernels *kernels); /* NULL allowed */
/* Adds the device seconds since the last call: of the first kernel of the variant and the ghosts,
 * of the second kernel. */
void ht_kernels_add_seconds(struct ht_kernels *kernels, double seconds[2]);
/* Device seconds of all kernels since the last call. */
double ht_kernels_seconds(struct ht_kernels *kernels);
bool ht_kernels_cached(const struct ht_kernels *kernels);

#endif
