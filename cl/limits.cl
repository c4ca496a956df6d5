/* Upper limits of a device, measured: bandwidth by a copy, arithmetic by chains of multiply-adds.
 */
HT_KERNEL void ht_limit_copy(HT_INPUT(real) from, HT_OUTPUT(real) to) {
    const long group = HT_GROUP_1() * HT_LIMIT_ITEMS * HT_LIMIT_COPIES;
    real x[HT_LIMIT_COPIES];
    HT_UNROLLED(n, HT_LIMIT_COPIES) x[n] = from[group + n * HT_LIMIT_ITEMS + HT_ITEM()];
    HT_UNROLLED(n, HT_LIMIT_COPIES) to[group + n * HT_LIMIT_ITEMS + HT_ITEM()] = x[n];
}

/* Each work-item has several independent chains to hide latency. The multiplier is read from
 * memory, so that the compiler cannot fold it. Values stay near 1 because multiplier + addend is 1.
 */
HT_KERNEL void ht_limit_fma(HT_INPUT(real) from, HT_OUTPUT(vector) to) {
    const long i = HT_GROUP_1() * HT_LIMIT_FMA_ITEMS + HT_ITEM();
    const vector multiplier = from[0], addend = from[1];
    vector x[HT_LIMIT_CHAINS];
    HT_UNROLLED(n, HT_LIMIT_CHAINS) x[n] = (real)(HT_ITEM() + n);
    for (int turn = 0; turn < HT_LIMIT_TURNS; turn++)
        HT_UNROLLED(r, HT_LIMIT_ROUNDS)
            HT_UNROLLED(n, HT_LIMIT_CHAINS) x[n] = fma(x[n], multiplier, addend);
    vector sum = 0;
    HT_UNROLLED(n, HT_LIMIT_CHAINS) sum += x[n];
    to[i] = sum;
}
