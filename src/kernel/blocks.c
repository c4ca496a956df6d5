/* Parity blocks (blocks.h): their sizes and masks, and the arithmetic of their entries.
 */
#include "blocks.h"
#include "counts.h"

#include <stdlib.h>
#include <string.h>

bool ht_blocks_apply(const struct ht_equations *eq) {
    for (int t = 0; t < eq->nterms; t++) {
        const struct ht_term *term = &eq->term[t];
        unsigned odd = term->derivative % 2 ? 1u << term->axis : 0;
        if (eq->field[term->row].parity != (eq->field[term->col].parity ^ odd)) return false;
    }
    return true;
}

bool ht_blocks_stores(unsigned mask, int field) {
    return mask == 0 || mask >> field & 1u;
}

void ht_blocks_rows(const struct ht_spec *spec, int rows[8]) {
    const struct ht_equations *eq = spec->eq;
    int evens = spec->order / 2 + 1, odds = (spec->order + 1) / 2;
    memset(rows, 0, 8 * sizeof rows[0]);
    for (int f = 0; f < eq->nfields; f++)
        for (unsigned g = 0; ht_blocks_stores(spec->dst, f) && g < 1u << eq->dims; g++) {
            int count = 1;
            for (int k = 0; k < eq->dims; k++)
                count *= (g ^ eq->field[f].parity) >> k & 1u ? odds : evens;
            rows[g] += count;
        }
}

/* Entries of single precision keep 24 bits: double precision suffices for them.
 */
static enum ht_err fill(const struct ht_spec *spec, struct ht_blocks *blocks) {
    blocks->dims = spec->eq->dims;
    blocks->blocks = 1 << blocks->dims;
    const struct ht_sizes z = ht_sizes_of(spec);
    const int coefs = z.n1 * z.n2 * z.n3;
    int source = 0;
    for (int f = 0; f < spec->eq->nfields; f++)
        if (ht_blocks_stores(spec->src, f)) blocks->sources += coefs;
    TRY(HT_ALLOC(blocks->parity, blocks->sources));
    for (int f = 0; f < spec->eq->nfields; f++)
        for (int i = 0; ht_blocks_stores(spec->src, f) && i < coefs; i++)
            blocks->parity[source++] =
                (int)((unsigned)ht_parity_of(&z, i) ^ spec->eq->field[f].parity);
    ht_blocks_rows(spec, blocks->rows);
    for (int g = 0; g < blocks->blocks; g++) {
        TRY(HT_ALLOC(blocks->row[g], blocks->rows[g]));
        TRY(HT_ALLOC(blocks->entry[g], (int64_t)blocks->rows[g] * blocks->sources));
    }
    return spec->fp64 ? ht_blocks_fill_long(spec, blocks) : ht_blocks_fill_double(spec, blocks);
}

enum ht_err ht_blocks_create(const struct ht_spec *spec, struct ht_blocks **out) {
    struct ht_blocks *blocks = NULL;
    *out = NULL;
    REQUIRE(ht_blocks_apply(spec->eq), HT_ERR_INTERNAL,
            "parity blocks of system %s, which has no parities", spec->eq->system->name);
    TRY(HT_ALLOC(blocks, 1));
    const enum ht_err err = fill(spec, blocks);
    return HT_MADE(err, blocks, ht_blocks_destroy, out);
}

void ht_blocks_destroy(struct ht_blocks *blocks) {
    if (blocks == NULL) return;
    free(blocks->parity);
    for (int g = 0; g < 8; g++) {
        free(blocks->row[g]);
        free(blocks->entry[g]);
    }
    free(blocks);
}

const char *ht_blocks_refuse(const struct ht_spec *spec) {
    return ht_blocks_apply(spec->eq) ? NULL : "the system has no parities";
}

int ht_storage_entry(int entry, int coefs, int padded_coefs, const int *storage) {
    return entry / coefs * padded_coefs + storage[entry % coefs];
}
