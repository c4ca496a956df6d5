/* Copies that run beside the arithmetic, 16 bytes of a node at a time. On
 * NVIDIA devices these are asynchronous (PTX cp.async, architecture 8.0 and
 * later); elsewhere plain copies, for which the barrier that every use needs
 * anyway is enough.
 */
/* Reads of local memory stay before or after this place: where registers are
 * short, the compiler would else begin too many of them at once. All lanes of a
 * warp are here. */
#if HT_PTX >= 70
#define HT_KEEP_ORDER() __asm__ volatile("bar.warp.sync -1;" : : : "memory")
#else
#define HT_KEEP_ORDER()
#endif

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
