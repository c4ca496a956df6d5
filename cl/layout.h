/* The order of a field's coefficients in its buffer, defined here only.
 *
 * A buffer holds coefficient i of node m at [i / block][m][i % block]. Block 1 is the tensor layout
 * (one array of nodes per coefficient); block 4 (float) or 2 (double) stores 16 bytes of a node
 * contiguously. The last block is padded. Read by the host's compiler and by the device's. */
#ifndef HTWAVE_LAYOUT_H
#define HTWAVE_LAYOUT_H

#define HT_LAYOUT_AT(block, i, node, nodes) \
    (((long)((i) / (block)) * (nodes) + (node)) * (block) + (i) % (block))
#define HT_LAYOUT_SIZE(block, coefs, nodes) \
    ((long)(((coefs) + (block)-1) / (block)) * (block) * (nodes))

#endif
