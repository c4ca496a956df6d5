/* Entries of parity blocks of single precision. */
typedef double ht_entry;
enum { LANES = 8 };
#include "blocks_rows.h"

HT_ERR ht_blocks_fill_double(const struct ht_spec *spec, struct ht_blocks *blocks) {
    return fill_blocks(spec, blocks);
}
