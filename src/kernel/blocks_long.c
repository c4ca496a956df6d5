/* Entries of parity blocks of double precision, and sums over all nodes. */
typedef long double ht_entry;
enum { LANES = 1 }; /* no processor has vectors of them */
#include "blocks_rows.h"

enum ht_err ht_blocks_fill_long(const struct ht_spec *spec,
                                struct ht_blocks *blocks) {
    return fill_blocks(spec, blocks);
}

/* A source is a vertex of 2^dims targets; sums with minus signs vanish. */
enum ht_err ht_blocks_sums(const struct ht_spec *spec, int field, double *out) {
    struct builder b = {0};
    const enum ht_err err = builder_init(&b, spec);
    const int coefs = b.coefs, corners = 1 << spec->eq->dims;
    for (int i = 0; err == HT_OK && i < coefs; i++) {
        int index[3];
        double *row = out + (int64_t)i * coefs;
        const bool odd = split(&b, i, index) != 0;
        memset(row, 0, (size_t)coefs * sizeof *row);
        if (odd) continue;
        evolve(&b, field, 1, &i, ht_blocks_parity(spec->eq, field));
        interpolate(&b, field, 0, 1, &row);
        for (int j = 0; j < coefs; j++)
            row[j] = split(&b, j, index) != 0 ? 0 : corners * row[j];
    }
    builder_free(&b);
    return err;
}
