/* Products on NVIDIA's tensor cores (PTX mma.sync m16n8k8), which of single precision (tf32) read
 * the leading 11 bits of each factor and ignore the rest; of double precision, from architecture
 * 9.0 on, they cut nothing off. The fragments of the instruction give warp lane l
 *
 *     left side  rows l / 4, l / 4 + 8, k = l % 4, l % 4 + 4
 *     right side k = l % 4, l % 4 + 4, column l / 4
 *     result     rows l / 4, l / 4 + 8, columns 2 (l % 4), 2 (l % 4) + 1 */
/* c += a b. */
#if HT_DOUBLE
#define HT_MULTIPLY(c, a, b0, b1)                                             \
    __asm__ volatile("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 "      \
                     "{%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"     \
                     : "+d"((c)[0]), "+d"((c)[1]), "+d"((c)[2]), "+d"((c)[3]) \
                     : "d"((a)[0]), "d"((a)[1]), "d"((a)[2]), "d"((a)[3]), "d"(b0), "d"(b1))
#else
#define HT_LEFT(a)                                                             \
    "r"(HT_AS_UINT((a)[0])), "r"(HT_AS_UINT((a)[1])), "r"(HT_AS_UINT((a)[2])), \
        "r"(HT_AS_UINT((a)[3]))
#define HT_MULTIPLY(c, a, b0, b1)                                    \
    __asm__("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "    \
            "{%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"     \
            : "+f"((c)[0]), "+f"((c)[1]), "+f"((c)[2]), "+f"((c)[3]) \
            : HT_LEFT(a), "r"(HT_AS_UINT(b0)), "r"(HT_AS_UINT(b1)))
/* c = a b. */
#define HT_MULTIPLY_FIRST(c, a, b0, b1)                              \
    __asm__("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "    \
            "{%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},"                   \
            "{%10,%10,%10,%10};"                                     \
            : "=f"((c)[0]), "=f"((c)[1]), "=f"((c)[2]), "=f"((c)[3]) \
            : HT_LEFT(a), "r"(HT_AS_UINT(b0)), "r"(HT_AS_UINT(b1)), "f"(0.0f))
/* x rounded to its leading 11 bits; what is left, which has 12 bits and a sign, is exact.
 * Truncated, its rest would have 13 bits, all of the sign of x. */
HT_INLINE real ht_high(real x) {
#if HT_PTX >= 90
    unsigned y;
    __asm__("cvt.rn.tf32.f32 %0, %1;" : "=r"(y) : "f"(x));
    return HT_AS_FLOAT(y);
#else
    return HT_AS_FLOAT((HT_AS_UINT(x) + 0x1000u) & 0xffffe000u);
#endif
}
#endif
