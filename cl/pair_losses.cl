/* Losses of pairs at a point, by the trapezoidal rule of src/fd/pair_losses.c: from the changes
 * sum_f of a pass those with losses, and what the medium remembers. Lists beside those of
 * cl/pair.cl; a coefficient is HT_PAIR_AT(m) or HT_PAIR_NUMBER(n), flow n is that of a loss:
 *
 *     HT_PAIR_LOSSY(X)       X(f): fields that lose
 *     HT_PAIR_CONDUCTS(X)    X(f, strength)
 *     HT_PAIR_RELAXES(X)     X(n, P, strength, rate, unrelaxed), 1: the rate is that of a part of
 *                            the unrelaxed modulus
 *     HT_PAIR_OSCILLATES(X)  X(n, P, J, strength, frequency, rate)
 *     HT_PAIR_STREAMS(X)     X(n, J, strength, rate): the same at frequency 0
 *     HT_PAIR_FLOWS(X)       X(n, f): all of these
 *     HT_PAIR_PRESSED(X)     X(i, n, f): coupled fields of number i; their pressure has the
 *                            coefficients HT_PAIR_BULK, HT_PAIR_BULK_RATE
 *
 * Of a flow, q = a (before + k/2 mean of f), f takes - k q. whole 0: of a further change alone,
 * without fields, which adds to what is remembered. */
#define HT_PAIR_AT(m) HT_PAIR_LOAD(m + at)
#define HT_PAIR_NUMBER(n) ((ht_pair_value)c->number[n])
#define HT_PAIR_BEFORE(p) (whole ? HT_PAIR_LOAD(p + at) : (ht_pair_value)0)

#define HT_PAIR_LOSS(f)                                                                     \
    ht_pair_value slower_##f = 0, lost_##f = 0, rest_##f = 2 * HT_PAIR_BEFORE(f) + sum_##f, \
                  mean_##f;
#define HT_PAIR_CONDUCT(f, strength)           \
    {                                          \
        const ht_pair_value k = dt * strength; \
        slower_##f += k / 2;                   \
        lost_##f += k;                         \
    }
#define HT_PAIR_RELAX(n, p, strength, rate, unrelaxed)                                   \
    const ht_pair_value k_##n = strength, u_##n = dt * rate, p_##n = HT_PAIR_BEFORE(p);  \
    const ht_pair_value a_##n = 2 * u_##n / (1 + unrelaxed * k_##n * k_##n + u_##n / 2); \
    const ht_pair_value before_##n = -p_##n / 2;
#define HT_PAIR_OSCILLATE(n, p, j, strength, frequency, rate)                 \
    const ht_pair_value k_##n = dt * strength, w_##n = dt * frequency;        \
    const ht_pair_value p_##n = HT_PAIR_BEFORE(p), j_##n = HT_PAIR_BEFORE(j); \
    const ht_pair_value a_##n = 1 / (1 + dt * rate / 2 + w_##n * w_##n / 4);  \
    const ht_pair_value before_##n = j_##n - w_##n / 2 * p_##n;
#define HT_PAIR_STREAM(n, j, strength, rate)                              \
    const ht_pair_value k_##n = dt * strength, j_##n = HT_PAIR_BEFORE(j); \
    const ht_pair_value a_##n = 1 / (1 + dt * rate / 2), before_##n = j_##n;
#define HT_PAIR_SLOW(n, f)                   \
    slower_##f += a_##n * k_##n * k_##n / 4; \
    rest_##f -= k_##n * a_##n * before_##n;
#define HT_PAIR_MEAN(f)                         \
    mean_##f = rest_##f / (2 + 2 * slower_##f); \
    sum_##f -= lost_##f * mean_##f;
#define HT_PAIR_FLOW(n, f)                                             \
    ht_pair_value q_##n = a_##n * (before_##n + k_##n / 2 * mean_##f); \
    sum_##f -= k_##n * q_##n;
#define HT_PAIR_KEEP_RELAXED(n, p, strength, rate, unrelaxed) \
    HT_PAIR_STORE(p + at, whole, p_##n + q_##n);
#define HT_PAIR_KEEP_OSCILLATION(n, p, j, strength, frequency, rate) \
    HT_PAIR_STORE(p + at, whole, p_##n + w_##n * q_##n);             \
    HT_PAIR_STORE(j + at, whole, 2 * q_##n - j_##n);
#define HT_PAIR_KEEP_STREAM(n, j, strength, rate) HT_PAIR_STORE(j + at, whole, 2 * q_##n - j_##n);

/* On free sides, where C has another pressure, it relaxes as shear does. */
#if HT_PAIR_FREE
#define HT_PAIR_UNPRESSED(row, plane)                                          \
    for (int axis = 0; axis < HT_DIMS; axis++) {                               \
        const int m = ht_pair_index(axis, at, row, plane);                     \
        if (m == c->wall[axis][0] || m == c->wall[axis][1]) after = taken = 0; \
    }
#else
#define HT_PAIR_UNPRESSED(row, plane)
#endif

/* The pressure of coupled fields, the part C 1 (1 f)/(1 C 1), relaxes by itself: it has taken what
 * each field takes by its own strength. */
#if HT_PAIR_PRESSURE
#define HT_PAIR_SHARE(i, j, m)        \
    share[i] += HT_PAIR_LOAD(m + at); \
    if (i != j) share[j] += HT_PAIR_LOAD(m + at);
#define HT_PAIR_SHARE_NUMBER(i, j, n) \
    share[i] += c->number[n];         \
    if (i != j) share[j] += c->number[n];
#define HT_PAIR_PRESS(i, n, f)     \
    pressure += HT_PAIR_BEFORE(f); \
    change += sum_##f;             \
    kept += p_##n;
#define HT_PAIR_PRESSES                                                              \
    ht_pair_value pressure = 0, change = 0, kept = 0, after = 0, taken = 0, all = 0; \
    ht_pair_value share[HT_PAIR_COUPLED];                                            \
    HT_PAIR_PRESSED(HT_PAIR_PRESS)
#define HT_PAIR_PRESSED_TAKES(i, n, f) \
    after += sum_##f;                  \
    taken += q_##n;                    \
    all += share[i];
#define HT_PAIR_PRESSED_ADD(i, n, f) \
    sum_##f += share[i] * after;     \
    q_##n += share[i] * taken;
#define HT_PAIR_PRESSURE_RELAXES(row, plane)                                  \
    {                                                                         \
        const ht_pair_value k = HT_PAIR_BULK, u = dt * HT_PAIR_BULK_RATE;     \
        const ht_pair_value a = 2 * u / (1 + k * k + u / 2);                  \
        const ht_pair_value mean =                                            \
            (2 * pressure + change + k * a * kept / 2) / (2 + a * k * k / 2); \
        const ht_pair_value q = a * (k * mean - kept) / 2;                    \
        HT_UNROLLED(i, HT_PAIR_COUPLED) share[i] = 0;                         \
        HT_PAIR_COUPLINGS(HT_PAIR_SHARE, HT_PAIR_SHARE_NUMBER)                \
        HT_PAIR_PRESSED(HT_PAIR_PRESSED_TAKES)                                \
        after = (change - k * q - after) / all;                               \
        taken = (q - taken) / all;                                            \
        HT_PAIR_UNPRESSED(row, plane)                                         \
        HT_PAIR_PRESSED(HT_PAIR_PRESSED_ADD)                                  \
    }
#else
#define HT_PAIR_PRESSES
#define HT_PAIR_PRESSURE_RELAXES(row, plane)
#endif

#undef HT_PAIR_LOSE
#define HT_PAIR_LOSE(step, row, plane)               \
    {                                                \
        const int whole = step;                      \
        const real dt = c->number[HT_PAIR_LOSSY_DT]; \
        HT_PAIR_LOSSY(HT_PAIR_LOSS)                  \
        HT_PAIR_CONDUCTS(HT_PAIR_CONDUCT)            \
        HT_PAIR_RELAXES(HT_PAIR_RELAX)               \
        HT_PAIR_OSCILLATES(HT_PAIR_OSCILLATE)        \
        HT_PAIR_STREAMS(HT_PAIR_STREAM)              \
        HT_PAIR_FLOWS(HT_PAIR_SLOW)                  \
        HT_PAIR_PRESSES                              \
        HT_PAIR_LOSSY(HT_PAIR_MEAN)                  \
        HT_PAIR_FLOWS(HT_PAIR_FLOW)                  \
        HT_PAIR_PRESSURE_RELAXES(row, plane)         \
        HT_PAIR_RELAXES(HT_PAIR_KEEP_RELAXED)        \
        HT_PAIR_OSCILLATES(HT_PAIR_KEEP_OSCILLATION) \
        HT_PAIR_STREAMS(HT_PAIR_KEEP_STREAM)         \
    }
