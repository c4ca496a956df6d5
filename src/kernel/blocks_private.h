/* What the files of parity blocks share: blocks.c and, for each arithmetic of the entries,
 * blocks_double.c and blocks_long.c.
 */
#ifndef HTWAVE_KERNEL_BLOCKS_PRIVATE_H
#define HTWAVE_KERNEL_BLOCKS_PRIVATE_H

#include "blocks.h"

/* A field's parity as bits of the equations' axes. */
unsigned ht_blocks_parity(const struct ht_equations *eq, int field);
/* Whether a mask of fields has this one. */
bool ht_blocks_stores(unsigned mask, int field);

/* Rows and entries of blocks that have the room for them. */
HT_CHECKED enum ht_err ht_blocks_fill_double(const struct ht_spec *spec, struct ht_blocks *blocks);
HT_CHECKED enum ht_err ht_blocks_fill_long(const struct ht_spec *spec, struct ht_blocks *blocks);

#endif
