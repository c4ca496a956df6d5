/* Vectors of HT_WIDTH reals, in these very words, that lie wherever a real may. */
#if HT_WIDTH == 1
typedef real vector;
#else
typedef HT_VECTOR(HT_WIDTH) vector;
#endif
typedef vector HT_LOOSE loose;
#define HT_GLOBAL_VECTOR(p) (*(HT_GLOBAL const loose *)(p))
#define HT_LOCAL_VECTOR(p) (*(HT_LOCAL const loose *)(p))

/* In a function with s, struct ht_fd_args: the rows (i2, i3) of a group, which goes from plane to
 * plane along x3, in two dimensions from row to row. */
#define HT_EACH_ROW(i2, i3)                                       \
    long first2 = s->begin[1], end2 = s->end[1];                  \
    long first3 = s->begin[2], end3 = s->end[2];                  \
    if (HT_DIMS > 2) {                                            \
        first2 += HT_GROUP_2() * s->rows;                         \
        if (end2 > first2 + s->rows) end2 = first2 + s->rows;     \
        first3 += HT_GROUP_3() * s->planes;                       \
        if (end3 > first3 + s->planes) end3 = first3 + s->planes; \
    } else if (HT_DIMS > 1) {                                     \
        first2 += HT_GROUP_3() * s->planes;                       \
        if (end2 > first2 + s->planes) end2 = first2 + s->planes; \
    }                                                             \
    for (long i3 = first3; i3 < end3; i3++)                       \
        for (long i2 = first2; i2 < end2; i2++)
