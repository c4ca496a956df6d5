/* What the variants on tensor cores share (propagator_tensor.c): parity blocks in tiles of 8
 * results, distributed to parts, and the operator in the order of a kernel.
 */
#pragma once

#include "blocks.h"
#include "counts.h"

/* Blocks of source entries that a kernel takes at a time: one for each l % 4 of warp lanes l. */
enum { HT_TENSOR_CHUNK = 4 };

/* Division of the parity blocks into tiles and their distribution to parts. */
struct ht_tensor_cut {
    int parts, blocks;      /* blocks of a part */
    int tiles[8], first[8]; /* of each block of a part */
    int all;                /* tiles of a part */
};

/* The operator in local memory: resident if it fits, else whole chunks, else k steps at a time
 * (cl/propagator_planes.cl: never). */
struct ht_tensor_shape {
    struct ht_tensor_cut cut;
    /* chunks: of source entries; steps: of the operator copied at a time */
    int chunks, pairs, steps;
    bool resident;
    int infos;
    int stages;          /* chunks in local memory, one of them in use */
    int64_t data_bytes;  /* their source nodes */
    int64_t local_bytes; /* these, the operator and infos */
};

/* The fewest parts, a power of two, with at most most_tiles tiles each. */
int ht_tensor_parts(const struct ht_spec *spec, int most_tiles);
/* depth: x3 planes of targets at a time. limit: of local memory. */
struct ht_tensor_shape ht_tensor_shape_of(const struct ht_spec *spec, int depth, int parts,
                                          int cells, int rows, int64_t limit);
/* The order of an operator's values. */
struct ht_tensor_order {
    int depth;   /* as above */
    bool halves; /* in two halves, as cl/propagator_warpgroup.cl has it */
};
/* As ht_variant.pack. */
HT_CHECKED enum ht_err ht_tensor_pack(const struct ht_blocks *blocks, const struct ht_spec *spec,
                                      const struct ht_tensor_order *order,
                                      const struct ht_shape *shape, struct ht_operator *out);
