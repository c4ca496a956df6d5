#include "htwave/base.h"

/* FNV-1a (Fowler, Noll, Vo; draft-eastlake-fnv): for every byte b
 *   h = (h xor b) * 0x100000001b3  mod 2^64.
 * Pieces may be hashed one after the other, the result being the next seed.
 */
uint64_t ht_hash(uint64_t seed, const void *data, size_t size) {
    const unsigned char *byte = data;
    uint64_t hash = seed;
    for (size_t i = 0; i < size; i++) hash = (hash ^ byte[i]) * 0x100000001b3ULL;
    return hash;
}

/* SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014). Its
 * state is an arithmetic sequence, so the value at an index is computed without the ones before it:
 *    z = seed + (index + 1) * gamma,  gamma = 2^64 / golden ratio (odd),
 *    value = mix(z), a bijection of 64 bits.
 */
uint64_t ht_rng_bits(uint64_t seed, uint64_t index) {
    uint64_t z = seed + (index + 1) * 0x9e3779b97f4a7c15ULL;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
}

double ht_rng_uniform(uint64_t seed, uint64_t index) {
    /* 53 bits: k / 2^52 - 1 is exact, so the values are equally spaced. */
    return (double)(ht_rng_bits(seed, index) >> 11) * 0x1p-52 - 1.0;
}
