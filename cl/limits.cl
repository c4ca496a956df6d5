/* What the device can do at most: a copy and a chain of multiply-adds. */
HT_KERNEL void ht_limit_copy(HT_GLOBAL const real *HT_RESTRICT from,
                             HT_GLOBAL real *HT_RESTRICT to) {
    const long i = HT_GROUP_1() * HT_LIMIT_LANES + HT_LANE();
    to[i] = from[i];
}

/* 16 independent chains per lane hide the latency of each. The multiplier
 * comes from memory, so that nothing is known at compile time; values stay
 * near 1 because multiplier + addend is 1. */
HT_KERNEL void ht_limit_fma(HT_GLOBAL const real *HT_RESTRICT from,
                            HT_GLOBAL real *HT_RESTRICT to, int rounds) {
    const long i = HT_GROUP_1() * HT_LIMIT_LANES + HT_LANE();
    const real multiplier = from[0], addend = from[1];
    real x[16];
    HT_UNROLL
    for (int n = 0; n < 16; n++) x[n] = (real)(i + n) * (real)0.001;
    for (int r = 0; r < rounds; r++) {
        HT_UNROLL
        for (int n = 0; n < 16; n++) x[n] = fma(x[n], multiplier, addend);
    }
    real sum = 0;
    HT_UNROLL
    for (int n = 0; n < 16; n++) sum += x[n];
    to[i] = sum;
}
