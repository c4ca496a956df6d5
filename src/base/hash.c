/* FNV-1a (Fowler, Noll, Vo; draft-eastlake-fnv): for every byte b
 *   h = (h xor b) * 0x100000001b3  mod 2^64.
 * Pieces may be hashed one after the other, the result being the next seed.
 */
#include "htwave/base.h"

uint64_t ht_hash(uint64_t seed, const void *data, size_t size) {
    const unsigned char *byte = data;
    uint64_t hash = seed;
    for (size_t i = 0; i < size; i++) hash = (hash ^ byte[i]) * 0x100000001b3ULL;
    return hash;
}
