/* Local memory of fd-march (cl/fd_items.cl), in packs. This file is read by the host's compiler and
 * by the device's.
 *
 * A group takes `packs` packs of `rows` rows; around them lie `side` packs and `halo` rows. Where
 * density varies there are, beside a tile of values, one of fluxes along x2 and one of b1. There
 * are two of each. */
#ifndef HTWAVE_FD_SIZES_H
#define HTWAVE_FD_SIZES_H

/* Packs of `block` nodes that hold `nodes` nodes. */
#define HT_FD_PACKS_OF(nodes, block) (((nodes) + (block)-1) / (block))
#define HT_FD_TILE_OF(packs, rows, side, halo) (((packs) + 2 * (side)) * ((rows) + 2 * (halo)))
/* Rows of fluxes along x2, for differences of half width r. */
#define HT_FD_FLUX_ROWS_OF(dims, rows, r) ((dims) > 2 ? (rows) + 2 * (r)-1 : 0)
/* Of them a work-item computes so many, and reads as if all did. */
#define HT_FD_TURN_OF(dims, rows, r) ((HT_FD_FLUX_ROWS_OF(dims, rows, r) + (rows)-1) / (rows))
#define HT_FD_SPARE_OF(dims, rows, r) \
    (HT_FD_TURN_OF(dims, rows, r) * (rows)-HT_FD_FLUX_ROWS_OF(dims, rows, r))
#define HT_FD_BESIDE_OF(packs, rows, near) ((rows) * ((packs) + 2 * (near)))
/* Values and medium along the march, of each work-item. */
#define HT_FD_OWN_OF(dims, items) ((dims) > 1 ? 2 * (items) : 0)

#endif
