/* The combinations that bench and tune loop over, selected by common flags. */
#pragma once

#include "htwave/args.h"
#include "htwave/problem.h"

enum { HT_SWEEP_ORDERS = 16, HT_SWEEP_DIMS = 3 };

/* Flags of a command's table that ht_sweep_read understands. */
#define HT_SWEEP_FLAGS                                                                          \
    {"--systems", "LIST", "of equations, as acoustic,advection"},                               \
        {"--dims", "LIST", "dimensions, as 2,3"},                                               \
        {"--orders", "LIST", "N, as 1,2,3; of fd the order in space"},                          \
        {"--schemes", "LIST", "taylor,leapfrog; bench: fd, too"},                               \
        {"--precisions", "LIST", "single,double"}, {"--variants", "LIST", "of kernels"},        \
        {"--layouts", "LIST", "tensor,blocked"}, {"--backend", "NAME", "auto, cuda or opencl"}, \
        {"--device", "NAME", "number, gpu, cpu or a part of its name"}, {                       \
        "--cache", "DIR", "of compiled kernels; auto, or none"                                  \
    }

/* Lists are separated by commas; NULL: all. */
struct ht_sweep {
    const char *systems, *schemes, *precisions, *variants, *layouts, *backend, *device, *cache;
    int norders, orders[HT_SWEEP_ORDERS]; /* none given: 0 */
    int ndims, dims[HT_SWEEP_DIMS];       /* none given: 3 */
    bool dims_given;
    bool differences; /* schemes of finite differences, too */
};
/* Refuses unknown names and numbers out of range. differences: as above. */
HT_CHECKED enum ht_err ht_sweep_read(const struct ht_args *args, bool differences,
                                     struct ht_sweep *out);
/* Whether a layout with coefficient blocks of this length (1, and 4 or 2 by precision) is selected;
 * likewise a scheme and a precision. */
bool ht_sweep_block(const struct ht_sweep *sweep, int block);
bool ht_sweep_scheme(const struct ht_sweep *sweep, const struct ht_scheme *scheme);
bool ht_sweep_precision(const struct ht_sweep *sweep, bool fp64);
