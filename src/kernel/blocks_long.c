/* Entries of parity blocks of double precision. */
typedef long double ht_entry;
enum { LANES = 1 }; /* no processor has vectors of them */
#include "blocks_rows.h"

HT_ERR ht_blocks_fill_long(const struct ht_spec *spec, struct ht_blocks *blocks) {
    return fill_blocks(spec, blocks);
}
