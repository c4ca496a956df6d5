/* Copies from global to local memory that overlap with arithmetic, one pack (16 bytes of a node) at
 * a time. On NVIDIA devices from architecture 8.0 on they are asynchronous (PTX cp.async);
 * elsewhere they are plain copies, which the barrier before every use completes. */

/* The compiler must not move reads of local memory across HT_KEEP_ORDER: it would start too many of
 * them at once and run out of registers. All lanes of a warp must reach it. */
#if HT_PTX >= 70
#define HT_KEEP_ORDER() __asm__ volatile("bar.warp.sync -1;" : : : "memory")
/* The compiler must not carry what follows from an int x past this point. */
#define HT_RECOMPUTE(x) __asm__ volatile("" : "+r"(x))
#else
#define HT_KEEP_ORDER()
#define HT_RECOMPUTE(x)
#endif

#if HT_PTX >= 80
/* The data of a commit group has arrived when HT_COPY_WAIT(n) returns and at most n groups were
 * committed after it. A barrier then makes it visible to the other work-items. */
HT_INLINE void ht_copy(HT_LOCAL ht_pack *to, HT_GLOBAL const ht_pack *from) {
#if HT_BLOCK * (HT_DOUBLE + 1) == 4
    __asm__ volatile("cp.async.cg.shared.global [%0], [%1], 16;"
                     :
                     : "r"(HT_LOCAL_ADDRESS(to)), "l"(from)
                     : "memory");
#else
    __asm__ volatile("cp.async.ca.shared.global [%0], [%1], %2;"
                     :
                     : "r"(HT_LOCAL_ADDRESS(to)), "l"(from), "n"(HT_BLOCK * (HT_DOUBLE + 1) * 4)
                     : "memory");
#endif
}
#define HT_COPY_COMMIT() __asm__ volatile("cp.async.commit_group;" : : : "memory")
#define HT_COPY_WAIT(n) __asm__ volatile("cp.async.wait_group %0;" : : "n"(n) : "memory")
#else
HT_INLINE void ht_copy(HT_LOCAL ht_pack *to, HT_GLOBAL const ht_pack *from) {
    *to = *from;
}
#define HT_COPY_COMMIT()
#define HT_COPY_WAIT(n)
#endif
