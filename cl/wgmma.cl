/* Asynchronous products of single precision on the tensor cores of architecture 9.0a (PTX wgmma
 * m64nNk8, tf32), which read the leading 11 bits of each factor and ignore the rest. A warpgroup,
 * four warps that follow one another, does products of 64 rows; warp w of it has rows 16 w .. 16
 * w + 15, of which warp lane l holds
 *
 *     left side  rows l / 4, l / 4 + 8, k = l % 4, l % 4 + 4, in registers
 *     result     rows l / 4, l / 4 + 8, columns 2 (l % 4), 2 (l % 4) + 1 of each tile of 8
 *
 * The right side is in local memory, a tile in 256 bytes: [k / 4][column][k % 4]. */
#define HT_MOST_WIDE 4 /* tiles of a product */

/* Names tiles in local memory that follow one another from `at` on. */
typedef unsigned long ht_right;
#define HT_RIGHT_TILE (256 >> 4)
HT_INLINE ht_right ht_right_at(HT_LOCAL const void *at) {
    const ht_right next_k = 128 >> 4, next_tile = HT_RIGHT_TILE;
    return (HT_LOCAL_ADDRESS(at) >> 4) | next_k << 16 | next_tile << 32;
}

/* What a work-item has copied to local memory becomes visible to products by this and a barrier. */
#define HT_PUBLISH() __asm__ volatile("fence.proxy.async.shared::cta;" : : : "memory")
/* Before products whose registers the work-item has written. */
#define HT_PRODUCTS_BEGIN() __asm__ volatile("wgmma.fence.sync.aligned;" : : : "memory")
#define HT_PRODUCTS_COMMIT() __asm__ volatile("wgmma.commit_group.sync.aligned;" : : : "memory")
/* Returns when all but the n last commit groups are done. */
#define HT_PRODUCTS_WAIT(n)                              \
    __asm__ volatile("wgmma.wait_group.sync.aligned %0;" \
                     :                                   \
                     : "n"(n)                            \
                     : "memor"                           \
                       "y")
/* Reads of x stay behind the wait before this. */
#define HT_AWAITED(x) __asm__ volatile("" : "+f"(x) : : "memory")

/* d = a b (add "0") or d += a b (add "1") of `wide` tiles. */
#define HT_WGMMA(columns, results, left, right, add)                                     \
    "{.reg .pred p;\nsetp.ne.s32 p, " add ", 0;\n"                                       \
    "wgmma.mma_async.sync.aligned.m64n" columns "k8.f32.tf32.tf32 {" results "}, {" left \
    "}, " right ", p, 1, 1;}"
#define HT_TILE(d, n) "+f"((d)[n][0]), "+f"((d)[n][1]), "+f"((d)[n][2]), "+f"((d)[n][3])
#define HT_NAMES_1 "%0,%1,%2,%3"
#define HT_NAMES_2 HT_NAMES_1 ",%4,%5,%6,%7"
#define HT_NAMES_3 HT_NAMES_2 ",%8,%9,%10,%11"
#define HT_NAMES_4 HT_NAMES_3 ",%12,%13,%14,%15"
#define HT_WIDE_PRODUCT(wide, d, a, right, add)                                       \
    if ((wide) == 1)                                                                  \
        __asm__ volatile(HT_WGMMA("8", HT_NAMES_1, "%4,%5,%6,%7", "%8", add)          \
                         : HT_TILE(d, 0)                                              \
                         : HT_LEFT(a), "l"(right));                                   \
    else if ((wide) == 2)                                                             \
        __asm__ volatile(HT_WGMMA("16", HT_NAMES_2, "%8,%9,%10,%11", "%12", add)      \
                         : HT_TILE(d, 0), HT_TILE(d, 1)                               \
                         : HT_LEFT(a), "l"(right));                                   \
    else if ((wide) == 3)                                                             \
        __asm__ volatile(HT_WGMMA("24", HT_NAMES_3, "%12,%13,%14,%15", "%16", add)    \
                         : HT_TILE(d, 0), HT_TILE(d, 1), HT_TILE(d, 2)                \
                         : HT_LEFT(a), "l"(right));                                   \
    else                                                                              \
        __asm__ volatile(HT_WGMMA("32", HT_NAMES_4, "%16,%17,%18,%19", "%20", add)    \
                         : HT_TILE(d, 0), HT_TILE(d, 1), HT_TILE(d, 2), HT_TILE(d, 3) \
                         : HT_LEFT(a), "l"(right))
