/* The one place that knows how a field's coefficients lie in its buffer.
 *
 * A buffer holds coefficient i of node m at [i / block][m][i % block]:
 * block 1 is the tensor layout (one plane of nodes per coefficient), block 4
 * (float) or 2 (double) keeps 16 bytes of one node together. The last block
 * is padded. Read by the host's compiler and by the device's.
 */
#ifndef HTWAVE_LAYOUT_H
#define HTWAVE_LAYOUT_H

#define HT_LAYOUT_AT(block, i, node, nodes) \
    (((long)((i) / (block)) * (nodes) + (node)) * (block) + (i) % (block))
#define HT_LAYOUT_SIZE(block, coefs, nodes) \
    ((long)(((coefs) + (block)-1) / (block)) * (block) * (nodes))

#endif
