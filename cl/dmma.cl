/* Products of double precision on NVIDIA's tensor cores (PTX mma.sync m16n8k8, from architecture
 * 9.0 on), with the fragments of cl/tf32.cl. Whole: nothing is cut off. */
#if HT_DOUBLE
/* c += a b. */
#define HT_MULTIPLY(c, a, b0, b1)                                             \
    __asm__ volatile("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 "      \
                     "{%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"     \
                     : "+d"((c)[0]), "+d"((c)[1]), "+d"((c)[2]), "+d"((c)[3]) \
                     : "d"((a)[0]), "d"((a)[1]), "d"((a)[2]), "d"((a)[3]), "d"(b0), "d"(b1))
#endif
