/* SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014). Its
 * state is an arithmetic sequence, so the value at an index is computed without the ones before it:
 *    z = seed + (index + 1) * gamma,  gamma = 2^64 / golden ratio (odd),
 *    value = mix(z), a bijection of 64 bits.
 */
#include "htwave/base.h"

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
