/* Sizes that follow from a spec: the host's counterpart of the macros in cl/common.cl. */
#pragma once

#include "htwave/kernel.h"

struct ht_sizes {
    int n1, n2, n3; /* derivatives per axis: N+1, or 1 beyond dims */
    int t1, t2, t3; /* coefficients per axis: 2N+2, or 1 */
    int coefs;      /* n1 n2 n3: of a field at a node, without gaps */
    int cube;       /* t1 t2 t3 */
    int fields, materials;
    int sources, targets; /* fields stored on the source, the target grid */
    int source_field[HT_MAX_FIELDS], target_field[HT_MAX_FIELDS];
    int exchanged;           /* fields of which terms take other n1 or n2 */
    int groups;              /* pairs (row, material) among the terms without profiles */
    int medium_coefs;        /* of a cell polynomial; 0 unless degree > 0 */
    int slot[HT_MAX_FIELDS]; /* exchange slot of a field, or -1 */
    int exchanged_field[HT_MAX_FIELDS];
    int group[HT_MAX_TERMS]; /* group of a term; -1: none */
    int group_row[HT_MAX_TERMS], group_material[HT_MAX_TERMS];
};

struct ht_sizes ht_sizes_of(const struct ht_spec *spec);
/* Largest difference from k of the degrees by which k applications of L lower (ht_needed of
 * cl/limits.cl): first-order systems lower the degree by one each, the pair (u, u_t) of a
 * second-order equation alternately by 0 and 2. */
int ht_spec_slack(const struct ht_spec *spec, const struct ht_sizes *z);
/* Parity class of coefficient i: bit k is i_k mod 2. */
int ht_parity_of(const struct ht_sizes *z, int i);

/* Appends the table HT_TABLE const real ht_<name>[count]. */
void ht_text_table(struct ht_text *out, const char *name, const double *values, int count,
                   bool fp64);
/* The same of integers. */
void ht_text_ints(struct ht_text *out, const char *name, const int *values, int count);
