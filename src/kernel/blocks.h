/* The half step in a uniform medium as 2^dims independent dense blocks.
 *
 * A source entry s = (field f, i) has the parity bits i_k mod 2 XOR those of
 * f, and so has a target entry. With u_s(v) at the vertices v of the cell
 * around a target (v_k = 0: left), block g = 0 .. 2^dims - 1 takes the sums
 *     S_g,s = sum_v u_s(v) prod over k with v_k = 0 of
 *             (-1)^(bit k of (g XOR parity(s)))
 * of all source entries to the target entries of parity g:
 *     new_r = sum_s entry[g][r][s] S_g,s.
 * The factor 2^-dims of the sums, and 2 where the spec keeps old values, are
 * in the entries. Derivation: docs/method.md, section 4.
 */
#ifndef HTWAVE_KERNEL_BLOCKS_H
#define HTWAVE_KERNEL_BLOCKS_H

#include "htwave/kernel.h"

struct ht_blocks {
    int dims, blocks; /* blocks = 2^dims */
    int sources;      /* source entries: slot * coefs + i */
    int *parity;      /* [source] */
    int rows[8];
    int *row[8];      /* target entry of a row: slot * coefs + i */
    double *entry[8]; /* [row][source] */
};

/* Rows of each block of a spec. */
void ht_blocks_rows(const struct ht_spec *spec, int rows[8]);
/* Slots number the fields of spec->src and spec->dst in order. Computed in
 * long double from eq, order, stages, scale, src, dst and keep; for systems to
 * which blocks apply. */
HT_CHECKED enum ht_err ht_blocks_create(const struct ht_spec *spec,
                                        struct ht_blocks **out);
void ht_blocks_destroy(struct ht_blocks *blocks); /* NULL allowed */
/* Do all terms respect the parities of the fields? (Not those of advection:
 * its waves travel one way.) */
bool ht_blocks_apply(const struct ht_equations *eq);
/* The same as ht_variant.refuses. */
const char *ht_blocks_refuse(const struct ht_spec *spec);
/* Number of a source or target entry among the storage indices of all slots. */
int ht_storage_entry(int entry, int coefs, int padded_coefs,
                     const int *storage);

#endif
