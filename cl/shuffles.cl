/* Values of the work-items of a warp for each other, where items [32 n, 32 n +
 * 32) of a group are a warp. HT_NEIGHBOUR(exchange, number, value, item, by) is
 * the value of this number that item + by has; beyond the warp it is any value
 * of the group. By PTX it is a shuffle of registers. Elsewhere HT_PUBLISH puts
 * the values into local memory before, exchange[number][item], between two
 * barriers (HT_EXCHANGE_BARRIER), a warp's barrier is that of the group, and
 * loops with exchanges stay loops, for the compilers' sake.
 */
#if HT_PTX >= 70
#define HT_SHUFFLES 1
#define HT_UNROLL_SHUFFLES HT_UNROLL
#if HT_DOUBLE
#define HT_SHUFFLE(way, clamp, to, from, by)                     \
    __asm__("{.reg .b32 l, h; mov.b64 {l, h}, %1;\n\t"           \
            "shfl.sync." way ".b32 l, l, %2, " clamp ", -1;\n\t" \
            "shfl.sync." way ".b32 h, h, %2, " clamp ", -1;\n\t" \
            "mov.b64 %0, {l, h};}"                               \
            : "=d"(to)                                           \
            : "d"(from), "r"(by))
#else
#define HT_SHUFFLE(way, clamp, to, from, by)                   \
    __asm__("shfl.sync." way ".b32 %0, %1, %2, " clamp ", -1;" \
            : "=f"(to)                                         \
            : "f"(from), "r"(by))
#endif
HT_INLINE real ht_shuffle(const real value, const int by) {
    real out;
    if (by > 0)
        HT_SHUFFLE("down", "31", out, value, by);
    else
        HT_SHUFFLE("up", "0", out, value, -by);
    return out;
}
#define HT_NEIGHBOUR(exchange, number, value, item, by) ht_shuffle(value, by)
#define HT_PUBLISH(exchange, number, value, item)
#define HT_EXCHANGE_BARRIER()
#define HT_WARP_BARRIER() HT_KEEP_ORDER()
#else
#define HT_SHUFFLES 0
#define HT_UNROLL_SHUFFLES HT_ROLLED
HT_INLINE int ht_neighbour(const int item, const int by) {
    const int to = item + by;
    return to >= 0 && to < HT_GROUP_ITEMS ? to : item;
}
#define HT_NEIGHBOUR(exchange, number, value, item, by) \
    (exchange)[(number)*HT_GROUP_ITEMS + ht_neighbour(item, by)]
#define HT_PUBLISH(exchange, number, value, item) \
    (exchange)[(number)*HT_GROUP_ITEMS + (item)] = (value)
#define HT_EXCHANGE_BARRIER() HT_BARRIER()
#define HT_WARP_BARRIER() HT_BARRIER()
#endif
