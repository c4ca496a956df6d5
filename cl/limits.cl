/* What the device can do at most: a copy and a chain of multiply-adds. */
HT_KERNEL void ht_limit_copy(HT_GLOBAL const real *HT_RESTRICT from,
                             HT_GLOBAL real *HT_RESTRICT to) {
    const long group = HT_GROUP_1() * HT_LIMIT_LANES * HT_LIMIT_COPIES;
    real x[HT_LIMIT_COPIES];
    HT_UNROLL
    for (int n = 0; n < HT_LIMIT_COPIES; n++)
        x[n] = from[group + n * HT_LIMIT_LANES + HT_LANE()];
    HT_UNROLL
    for (int n = 0; n < HT_LIMIT_COPIES; n++)
        to[group + n * HT_LIMIT_LANES + HT_LANE()] = x[n];
}

#if HT_WIDTH == 1
typedef real ht_lane;
#else
typedef HT_VECTOR(HT_WIDTH) ht_lane; /* as the kernels for CPUs */
#endif

/* Independent chains per lane hide the latency of each. The multiplier comes
 * from memory, so that nothing is known at compile time; values stay near 1
 * because multiplier + addend is 1. */
HT_KERNEL void ht_limit_fma(HT_GLOBAL const real *HT_RESTRICT from,
                            HT_GLOBAL ht_lane *HT_RESTRICT to) {
    const long i = HT_GROUP_1() * HT_LIMIT_FMA_LANES + HT_LANE();
    const ht_lane multiplier = from[0], addend = from[1];
    ht_lane x[HT_LIMIT_CHAINS];
    HT_UNROLL
    for (int n = 0; n < HT_LIMIT_CHAINS; n++) x[n] = (real)(HT_LANE() + n);
    for (int turn = 0; turn < HT_LIMIT_TURNS; turn++) {
        HT_UNROLL
        for (int r = 0; r < HT_LIMIT_ROUNDS; r++) {
            HT_UNROLL
            for (int n = 0; n < HT_LIMIT_CHAINS; n++)
                x[n] = fma(x[n], multiplier, addend);
        }
    }
    ht_lane sum = 0;
    HT_UNROLL
    for (int n = 0; n < HT_LIMIT_CHAINS; n++) sum += x[n];
    to[i] = sum;
}
