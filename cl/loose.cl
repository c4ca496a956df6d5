/* Vectors of HT_WIDTH reals, in these very words, that lie wherever a real may. */
#if HT_WIDTH == 1
typedef real vector;
#else
typedef HT_VECTOR(HT_WIDTH) vector;
#endif
typedef vector HT_LOOSE loose;
#define HT_GLOBAL_VECTOR(p) (*(HT_GLOBAL const loose *)(p))
#define HT_LOCAL_VECTOR(p) (*(HT_LOCAL const loose *)(p))
