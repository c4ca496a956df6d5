/* One pass of a staggered first-order system (htwave/system.h, struct ht_pair): the fields of a
 * group change by differences of the fields of the other group,
 *
 *     f_row += sum over terms of  factor C (sum_j c_j (f_col(above) - f_col(below))),
 *
 * in the order of the terms; c has dt/h. Every kernel adds in this order, so that all give the same
 * bits, and a mirror image of the fields changes to a mirror image. The host writes the lists, each
 * entry X(..) once:
 *
 *     HT_PAIR_SOURCES(X)      X(f): fields that are read
 *     HT_PAIR_TARGETS(X)      X(f): fields that change
 *     HT_PAIR_PARTNERS(X)     X(q): what losses remember (pair_losses.cl), or, where
 *                             HT_PAIR_STAGED, X(bf): what ht_pair_stage adds to f's change
 *     HT_PAIR_MEDIA(X)        X(m): coefficients that vary
 *     HT_PAIR_DIFFERENCES(X)  X(d, f, axis, up): each once
 *     HT_PAIR_TERMS(V, N)     V(f, m, d, factor): varying, N(f, number, d, factor): constant
 *     HT_PAIR_COUPLED_ROWS(X) X(i, f): HT_PAIR_COUPLED fields whose rows share coefficients
 *     HT_PAIR_COUPLINGS(V, N) V(i, j, m), N(i, j, number): the coefficient of rows i and j
 *
 * Index order: [m3][m2][m1] of a window, the same for all fields. */
struct ht_pair_coefs {
    real c[HT_DIMS][HT_FD_R];
    real number[HT_PAIR_NUMBERS];
#if HT_PAIR_FREE
    real scale[HT_DIMS];  /* dt/h */
    int wall[HT_DIMS][2]; /* nodes on free sides; far off: there is none */
    int rows, radius;     /* HT_PAIR_FREE, HT_FD_R */
#endif
};

#define HT_PAIR_READ_PARAM(f) , HT_INPUT(real) f
#define HT_PAIR_WRITE_PARAM(f) , HT_OUTPUT(real) f
#define HT_PAIR_ARG(f) , f
#define HT_PAIR_PARAMS                   \
    HT_PAIR_SOURCES(HT_PAIR_READ_PARAM)  \
    HT_PAIR_MEDIA(HT_PAIR_READ_PARAM)    \
    HT_PAIR_TARGETS(HT_PAIR_WRITE_PARAM) \
    HT_PAIR_PARTNERS(HT_PAIR_WRITE_PARAM)
#define HT_PAIR_ARGS             \
    HT_PAIR_SOURCES(HT_PAIR_ARG) \
    HT_PAIR_MEDIA(HT_PAIR_ARG) HT_PAIR_TARGETS(HT_PAIR_ARG) HT_PAIR_PARTNERS(HT_PAIR_ARG)

/* What is done at a time: a node, or HT_WIDTH nodes of a row, on CPUs everywhere (pair_vectors.cl),
 * on GPUs in a pass (pair_plain.cl). */
#if HT_PAIR_VECTORS
typedef vector ht_pair_value;
#define HT_PAIR_LOAD(p) HT_GLOBAL_VECTOR(p)
#else
typedef real ht_pair_value;
#define HT_PAIR_LOAD(p) (*(p))
#define HT_PAIR_STORE(p, set, value) *(p) = (set ? 0 : *(p)) + (value)
#endif

#if HT_PAIR_FREE
HT_INLINE int ht_pair_index(const int axis, const long at, const long row, const long plane);
HT_INLINE int ht_pair_ends(const struct ht_pair_coefs *c, const int axis, const int up, const int m,
                           HT_GLOBAL const real *f, const long stride, real *out);
#endif

/* At node `at`, of rows and planes of so many nodes. */
HT_INLINE ht_pair_value ht_pair_difference(const struct ht_pair_coefs *c, const int axis,
                                           const int up, HT_GLOBAL const real *f, const long at,
                                           const long row, const long plane) {
    const long stride = axis == 0 ? 1 : axis == 1 ? row : plane;
    ht_pair_value sum = 0;
    f += at;
#if HT_PAIR_FREE
    if (ht_pair_ends(c, axis, up, ht_pair_index(axis, at, row, plane), f, stride, &sum)) return sum;
#endif
    HT_UNROLLED(j, HT_FD_R)
        sum =
            fma((ht_pair_value)c->c[axis][j],
                HT_PAIR_LOAD(f + (up + j) * stride) - HT_PAIR_LOAD(f + (up - 1 - j) * stride), sum);
    return sum;
}

/* In a function with s, c, at, and the fields. */
#define HT_PAIR_DIFFERENCE(d, f, axis, up) \
    ht_pair_value d = ht_pair_difference(c, axis, up, f, at, s->row, s->plane);
#define HT_PAIR_START(f) ht_pair_value sum_##f = 0;
#define HT_PAIR_VARYING(f, m, d, factor) \
    sum_##f = fma((real)(factor)*HT_PAIR_LOAD(m + at), d, sum_##f);
#define HT_PAIR_CONSTANT(f, n, d, factor) \
    sum_##f = fma((ht_pair_value)((real)(factor)*c->number[n]), d, sum_##f);
#if !HT_PAIR_FREE || HT_PAIR_COUPLED == 0
#define HT_PAIR_RELEASE(row, plane)
#endif
/* The changes sum_f of all targets. */
#define HT_PAIR_CHANGES                     \
    HT_PAIR_DIFFERENCES(HT_PAIR_DIFFERENCE) \
    HT_PAIR_TARGETS(HT_PAIR_START)          \
    HT_PAIR_TERMS(HT_PAIR_VARYING, HT_PAIR_CONSTANT) HT_PAIR_RELEASE(s->row, s->plane)
/* What losses make of the changes, of a whole step or of further ones: pair_losses.cl. */
#define HT_PAIR_LOSE(step, row, plane)
/* set 1: the changes themselves, 2: added to other arrays than the targets. */
#if HT_PAIR_STAGED
#define HT_PAIR_ADD(f) \
    HT_PAIR_STORE(f + at, set, sum_##f + (set > 1 ? HT_PAIR_LOAD(b##f + at) : (ht_pair_value)0));
#else
#define HT_PAIR_ADD(f) HT_PAIR_STORE(f + at, set, sum_##f);
#endif
