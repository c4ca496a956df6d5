/* Copies that run beside the arithmetic, 16 bytes of a node at a time. On
 * NVIDIA devices these are asynchronous (PTX cp.async, architecture 8.0 and
 * later); elsewhere plain copies, for which the barrier that every use needs
 * anyway is enough.
 */
#if HT_BLOCK == 1
typedef real ht_pack;
#elif HT_BLOCK == 2
typedef HT_VECTOR(2) ht_pack;
#else
typedef HT_VECTOR(4) ht_pack;
#endif

HT_INLINE void ht_unpack(const ht_pack x, real v[HT_BLOCK]) {
#if HT_BLOCK == 1
    v[0] = x;
#else
    v[0] = x.x;
    v[1] = x.y;
#if HT_BLOCK == 4
    v[2] = x.z;
    v[3] = x.w;
#endif
#endif
}

HT_INLINE ht_pack ht_packed(const real v[HT_BLOCK]) {
    ht_pack x;
#if HT_BLOCK == 1
    x = v[0];
#else
    x.x = v[0];
    x.y = v[1];
#if HT_BLOCK == 4
    x.z = v[2];
    x.w = v[3];
#endif
#endif
    return x;
}

#if HT_PTX >= 80
/* The data arrives at the latest when HT_COPY_WAIT(n) returns with at most n
 * groups committed after it; a barrier then shows it to the other lanes. */
HT_INLINE void ht_copy(HT_LOCAL ht_pack *to, HT_GLOBAL const ht_pack *from) {
#if HT_BLOCK * (HT_DOUBLE + 1) == 4
    __asm__ volatile("cp.async.cg.shared.global [%0], [%1], 16;"
                     :
                     : "r"(HT_LOCAL_ADDRESS(to)), "l"(from)
                     : "memory");
#else
    __asm__ volatile("cp.async.ca.shared.global [%0], [%1], %2;"
                     :
                     : "r"(HT_LOCAL_ADDRESS(to)), "l"(from),
                       "n"(HT_BLOCK * (HT_DOUBLE + 1) * 4)
                     : "memory");
#endif
}
#define HT_COPY_COMMIT() \
    __asm__ volatile("cp.async.commit_group;" : : : "memory")
#define HT_COPY_WAIT(n) \
    __asm__ volatile("cp.async.wait_group %0;" : : "n"(n) : "memory")
#else
HT_INLINE void ht_copy(HT_LOCAL ht_pack *to, HT_GLOBAL const ht_pack *from) {
    *to = *from;
}
#define HT_COPY_COMMIT()
#define HT_COPY_WAIT(n)
#endif
