/* The half step in a uniform medium as 2^dims independent dense blocks.
 *
 * A source or target entry s = (field f, coefficient i) has the parity bits i_k mod 2 XOR those of
 * f. With u_s(v) at the vertices v of the cell around a target (v_k = 0: lower side), block g = 0
 * .. 2^dims - 1 maps the sums
 *     S_g,s = sum_v u_s(v) prod over k with v_k = 0 of
 *             (-1)^(bit k of (g XOR parity(s)))
 * of all source entries to the target entries of parity g:
 *     new_r = sum_s entry[g][r][s] S_g,s.
 * The entries include the factor 2^-dims of the sums, and the factor 2 of leapfrog. Derivation:
 * docs/developers/method.md, section 4. */
#pragma once

#include "htwave/kernel.h"

struct ht_blocks {
    int dims, blocks; /* blocks = 2^dims */
    int sources;      /* source entries: slot * coefs + i */
    int *parity;      /* [source] */
    int rows[8];
    int *row[8];      /* target entry of a row: slot * coefs + i */
    double *entry[8]; /* [row][source] */
};

/* Rows of each block of a spec; of all of them, of each padded to whole tiles. */
void ht_blocks_rows(const struct ht_spec *spec, int rows[8]);
int ht_blocks_padded(const int rows[8], int tile);
/* Rows of a tile, a multiple of `step`, at most `most`: multiply-adds of padded rows, and reads of
 * sums that a tile's rows share: least for padded rows * (1 + reads / tile). */
int ht_blocks_tile(const int rows[8], int step, int most, double reads);
/* These one after the other: the target entry of each, -1 of padding, and its entries, NULL;
 * first[g]: the first one of block g, and of none. */
void ht_blocks_pad(const struct ht_blocks *blocks, int tile, int first[9], int *target,
                   const double **entry);
/* Slots number the fields of spec->src and spec->dst in order. Computed in long double from eq,
 * order, stages, scale, src, dst and old_sign. The system must satisfy ht_blocks_apply. */
HT_ERR ht_blocks_create(const struct ht_spec *spec, struct ht_blocks **out);
void ht_blocks_destroy(struct ht_blocks *blocks); /* NULL allowed */
/* In single precision: rounds the entries to sums of two numbers of 11 bits so that their errors
 * cancel for resolved waves. */
HT_ERR ht_blocks_round(const struct ht_spec *spec, struct ht_blocks *blocks);
/* A number rounded to the 11 bits that tensor cores read of single precision; of entries of
 * ht_blocks_round the rest has as many. */
double ht_first_half(double value);
/* Whether all terms respect the parities of the fields. (Those of advection do not, since its waves
 * travel in one direction only.) */
bool ht_blocks_apply(const struct ht_equations *eq);
/* slot * padded_coefs + storage index, from a source or target entry slot * coefs + i. storage: of
 * ht_storage_order. */
int ht_storage_entry(int entry, int coefs, int padded_coefs, const int *storage);

/* Coefficients of a field that belong to block g. */
int ht_blocks_class(const struct ht_spec *spec, int field, unsigned g);

/* Rows and entries of blocks that have the room for them, in double or long double. */
HT_ERR ht_blocks_fill_double(const struct ht_spec *spec, struct ht_blocks *blocks);
HT_ERR ht_blocks_fill_long(const struct ht_spec *spec, struct ht_blocks *blocks);
