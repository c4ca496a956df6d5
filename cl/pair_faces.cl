/* Couplings of fields at different places (htwave/system.h, struct ht_pair), after a pass. At each
 * point of a list
 *
 *     g_r = sum over couplings of  D_rq w_q,   w_q = mean of the changes of q's points around, D_qq
 * = 1,
 *
 * both over the numbers of points around, 2^|X|; then a field at each node of another list takes
 * the sum of g_r of the points around it. Sums over points around are sums of pairs along x1, of
 * these along x2, of these along x3: a mirror image of the fields has a mirror image of them.
 * For gradients sums of products of such means, of two sets of values in place of changes. Lists
 * that the host writes:
 *
 *     HT_PAIR_MEET_SOURCES(X)   X(f): fields that are read
 *     HT_PAIR_MEET_ROWS(X)      X(i, f, part, apart): HT_PAIR_MEET_COUNT fields that meet; 1/2^|X|
 *     HT_PAIR_MEET_MEANS(X)     X(i, f, axis, up, apart, factor): terms of row i; apart: X
 *     HT_PAIR_MEET_COUPLINGS(X) X(i, j, n): number n of a point couples rows i and j
 *     HT_PAIR_KEPT_MEDIA(X)     X(m): coefficients that vary, for what follows
 *     HT_PAIR_KEPT(X)           X(i, q, part): what the medium remembers of row i (pair_losses.cl)
 *                               has this part of the row's change, as at rest
 *     HT_PAIR_KEPT_PRESSED      whether there are some of these:
 *     HT_PAIR_KEPT_PRESSURE(X)  X(i, q, part): of the rows' pressure so much more
 *     HT_PAIR_KEPT_BLOCK(X)     X(i, j, C): the coefficient of such rows */
struct ht_pair_meet_coefs {
    real c[HT_DIMS][HT_FD_R];
};

/* Of differences at the points around one; axis -1: of values. */
HT_INLINE real ht_pair_around(const struct ht_pair_meet_args *s, const struct ht_pair_meet_coefs *c,
                              const int axis, const int up, const int apart,
                              HT_GLOBAL const real *f) {
    const long stride = axis == 0 ? 1 : axis == 1 ? s->row : s->plane;
    const int below = apart & ~HT_PAIR_MEETS;
    real sum3 = 0;
    HT_UNROLL
    for (int i3 = 0; i3 <= (apart >> 2 & 1); i3++) {
        real sum2 = 0;
        HT_UNROLL
        for (int i2 = 0; i2 <= (apart >> 1 & 1); i2++) {
            real sum1 = 0;
            HT_UNROLL
            for (int i1 = 0; i1 <= (apart & 1); i1++) {
                HT_GLOBAL const real *at = f + (i3 - (below >> 2 & 1)) * s->plane +
                                           (i2 - (below >> 1 & 1)) * s->row + i1 - (below & 1);
                real d = 0;
                if (axis < 0) {
                    d = *at;
                } else {
                    HT_UNROLLED(j, HT_FD_R)
                        d = fma(c->c[axis][j], at[(up + j) * stride] - at[(up - 1 - j) * stride],
                                d);
                }
                sum1 += d;
            }
            sum2 += sum1;
        }
        sum3 += sum2;
    }
    return sum3;
}

#define HT_PAIR_MEET_PARAM(f) , HT_INPUT(real) f
#define HT_PAIR_MEET_BEGIN(i, f, part, apart) real w##i = 0, g##i = 0;
#define HT_PAIR_MEET_MEAN(i, f, axis, up, apart, factor) \
    w##i += (real)(factor)*ht_pair_around(&s, &c, axis, up, apart, f + node);
#define HT_PAIR_MEET_PART(i, f, part, apart) w##i *= (real)(part);
#define HT_PAIR_MEET_COUPLE(i, j, n)  \
    g##i = fma(value[n], w##j, g##i); \
    g##j = fma(value[n], w##i, g##j);
#define HT_PAIR_MEET_END(i, f, part, apart) g[i] = (real)(part)*g##i;

HT_TOOL_KERNEL ht_pair_meet(struct ht_pair_meet_args s, struct ht_pair_meet_coefs c,
                            HT_INPUT(long) at_all, HT_INPUT(real) values,
                            HT_OUTPUT(real) g_all HT_PAIR_MEET_SOURCES(HT_PAIR_MEET_PARAM)) {
    const long i = s.first + HT_GROUP_1() * HT_TOOL_ITEMS + HT_ITEM();
    if (i >= s.end) return;
    const long node = at_all[i];
    HT_GLOBAL const real *value = values + i * HT_PAIR_MEET_NUMBERS;
    HT_GLOBAL real *g = g_all + i * HT_PAIR_MEET_COUNT;
    HT_PAIR_MEET_ROWS(HT_PAIR_MEET_BEGIN)
    HT_PAIR_MEET_MEANS(HT_PAIR_MEET_MEAN)
    HT_PAIR_MEET_ROWS(HT_PAIR_MEET_PART)
    HT_PAIR_MEET_COUPLINGS(HT_PAIR_MEET_COUPLE)
    HT_PAIR_MEET_ROWS(HT_PAIR_MEET_END)
}

#define HT_PAIR_MEET_TARGET(i, f, part, apart) , HT_GLOBAL real *f
#define HT_PAIR_MEET_CHOOSE(i, f, part, apart) \
    if (row == i) u = f;

struct ht_pair_kept {
    real number[HT_PAIR_KEPT_NUMBERS];
};
#define HT_PAIR_KEPT_MEDIUM(m) , HT_INPUT(real) m
#define HT_PAIR_KEPT_PARTNER(i, q, part) , HT_GLOBAL real *q
#define HT_PAIR_KEPT_OVER(strength, frequency) ((strength) > 0 ? (strength) / (frequency) : 0)
#define HT_PAIR_KEEP(i, q, part) \
    if (row == i) q[at] = fma(part, sum[0], q[at]);
#define HT_PAIR_PRESS(i, q, part) \
    if (row == i) presses = 1;
#define HT_PAIR_PRESSES(i, q, part) change += near[i];
#define HT_PAIR_KEPT_SHARE(i, j, C) \
    all += i == j ? C : 2 * C;      \
    share += row == i || row == j ? C : 0;
#define HT_PAIR_KEEP_PRESSURE(i, q, part) \
    if (row == i) q[at] = fma((part)*share / all, change, q[at]);

HT_TOOL_KERNEL ht_pair_part(struct ht_pair_meet_args s, HT_INPUT(long) to, HT_INPUT(int) from,
                            HT_INPUT(real) g HT_PAIR_MEET_ROWS(HT_PAIR_MEET_TARGET),
                            struct ht_pair_kept c HT_PAIR_KEPT_MEDIA(HT_PAIR_KEPT_MEDIUM)
                                HT_PAIR_KEPT(HT_PAIR_KEPT_PARTNER)) {
    const long i = s.first + HT_GROUP_1() * HT_TOOL_ITEMS + HT_ITEM();
    if (i >= s.end) return;
    const int row = (int)(to[i] % HT_PAIR_MEET_COUNT);
    HT_GLOBAL real *u = 0;
    real sum[HT_PAIR_CORNERS];
    HT_UNROLLED(j, HT_PAIR_CORNERS) {
        const long point = from[i * HT_PAIR_CORNERS + j];
        sum[j] = point < 0 ? 0 : g[point * HT_PAIR_MEET_COUNT + row];
    }
    HT_UNROLL
    for (int w = 1; w < HT_PAIR_CORNERS; w *= 2)
        for (int j = 0; j < HT_PAIR_CORNERS; j += 2 * w) sum[j] += sum[j + w];
    HT_PAIR_MEET_ROWS(HT_PAIR_MEET_CHOOSE)
    const long at = to[i] / HT_PAIR_MEET_COUNT;
    u[at] += sum[0];
    if (!s.keeps) return;
    HT_PAIR_KEPT(HT_PAIR_KEEP)
#if HT_PAIR_KEPT_PRESSED
    int presses = 0;
    HT_PAIR_KEPT_PRESSURE(HT_PAIR_PRESS)
    if (!presses) return;
    HT_GLOBAL const real *near = g + from[i * HT_PAIR_CORNERS] * (long)HT_PAIR_MEET_COUNT;
    real change = 0, share = 0, all = 0;
    HT_PAIR_KEPT_PRESSURE(HT_PAIR_PRESSES)
    HT_PAIR_KEPT_BLOCK(HT_PAIR_KEPT_SHARE)
    HT_PAIR_KEPT_PRESSURE(HT_PAIR_KEEP_PRESSURE)
#endif
}

#define HT_PAIR_MEET_VALUES(i, f, part, apart) , HT_INPUT(real) y##i, HT_INPUT(real) e##i
#define HT_PAIR_MEET_TAKE(i, f, part, apart)                                         \
    const real w##i = (real)(part)*ht_pair_around(&s, 0, -1, 0, apart, y##i + node); \
    const real g##i = (real)(part)*ht_pair_around(&s, 0, -1, 0, apart, e##i + node);
#define HT_PAIR_MEET_MULTIPLY(i, j, n) sum[n] = fma(w##i, g##j, fma(w##j, g##i, sum[n]));

HT_TOOL_KERNEL ht_pair_meet_add(struct ht_pair_meet_args s, HT_INPUT(long) at_all,
                                HT_GLOBAL real *sums HT_PAIR_MEET_ROWS(HT_PAIR_MEET_VALUES)) {
    const long i = s.first + HT_GROUP_1() * HT_TOOL_ITEMS + HT_ITEM();
    if (i >= s.end) return;
    const long node = at_all[i];
    HT_GLOBAL real *sum = sums + i * HT_PAIR_MEET_NUMBERS;
    HT_PAIR_MEET_ROWS(HT_PAIR_MEET_TAKE)
    HT_PAIR_MEET_COUPLINGS(HT_PAIR_MEET_MULTIPLY)
}
