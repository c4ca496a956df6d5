/* The kernel of cl/tensor.cl by products of warps (PTX mma.sync m16n8k8; cl/tf32.cl has the
 * fragments), of one x3 plane at a time or of two.
 *
 * Single precision needs three products of the halves x = high + low, each of 11 bits (tf32): low
 * high, high low, high high (docs/developers/method.md). As tensor cores truncate their sums, those
 * of a unit start from zero together, small ones first, and their result is added to the others by
 * a rounded addition. */
#define HT_UNITS (HT_CHUNKS * HT_CHUNK_UNITS)
#define HT_CHUNK_OF(unit) ((unit)*HT_UNIT / HT_PAIRS)
#define HT_UNIT_PACKS (HT_UNIT * HT_TILES * 64 / HT_BLOCK)
#define HT_OP_PACKS ((HT_RESIDENT ? HT_UNITS : HT_STAGES) * HT_UNIT_PACKS)
#define HT_OP_SIZE (HT_UNITS * HT_UNIT_PACKS * HT_BLOCK)

/* Source nodes are copied so many chunks ahead of use, by the units of a chunk in equal shares, the
 * operator as many units ahead; HT_AHEAD <= HT_CHUNKS, and 1 where a chunk has two units. */
#define HT_AHEAD (HT_STAGES - 1)
#define HT_STAGE_AFTER(stage, n)                 \
    (HT_STAGES == 2              ? (stage) ^ (n) \
     : (stage) + (n) < HT_STAGES ? (stage) + (n) \
                                 : (stage) + (n)-HT_STAGES)
#define HT_OP_STAGE(unit, stage) (HT_CHUNK_UNITS > 1 ? (unit) % HT_CHUNK_UNITS : (stage))
#define HT_COPY_OPERATOR(unit, to)                      \
    if (!HT_RESIDENT)                                   \
        ht_operator_copy(item, unit, HT_UNIT_PACKS, op, \
                         table + HT_OP_STAGE(unit, to) * HT_UNIT_PACKS);
#define HT_COPY_NODES(unit, to)                                  \
    ht_chunk_copy(&a, &copies, (unit)*HT_UNIT_BLOCKS,            \
                  data + (to)*HT_STAGE_SIZE +                    \
                      (unit) % HT_CHUNK_UNITS * HT_UNIT_BLOCKS * \
                          HT_PITCH HT_EACH_SRC(HT_SRC_ARG));
/* The first units of the next planes follow the last one. */
#define HT_WRAPPED(unit) ((unit) < HT_UNITS ? (unit) : (unit)-HT_UNITS)

/* Blocks whose products are interleaved, so that at least four products are in flight between two
 * that add to the same results. */
#define HT_TOGETHER (HT_MOST_TILES >= 4 ? 1 : HT_MOST_TILES >= 2 ? 2 : HT_MIN_4(HT_PART_BLOCKS))
#define HT_MIN_4(n) ((n) < 4 ? (n) : 4)

/* acc += products of a unit. left[j][g]: fragment of k step j, block g. */
HT_INLINE void ht_products(const int lane, real left[HT_UNIT][HT_PART_BLOCKS][4],
                           HT_LOCAL const ht_pair *op, real acc[HT_TILES][4]) {
#if HT_DOUBLE
#define HT_PRODUCT                                             \
    const ht_pair right = op[at + (j * HT_TILES + tile) * 32]; \
    HT_MULTIPLY(acc[tile], left[j][g], right.x, right.y);      \
    (void)own;
    int at = lane; /* unknown: else each tile has a register for its place */
    HT_RECOMPUTE(at);
    HT_EACH_STEP
    HT_EACH_TILE(0, HT_PART_BLOCKS, HT_PRODUCT)
#else
    HT_UNROLL
    for (int g0 = 0; g0 < HT_PART_BLOCKS; g0 += HT_TOGETHER) {
        real high[HT_UNIT][HT_TOGETHER][4], low[HT_UNIT][HT_TOGETHER][4];
        real right[HT_UNIT][HT_TOGETHER * HT_MOST_TILES][4];
        real part[HT_TOGETHER * HT_MOST_TILES][4];
        HT_EACH_STEP {
            HT_UNROLL
            for (int g = 0; g < HT_TOGETHER && g0 + g < HT_PART_BLOCKS; g++)
                HT_UNROLLED(i, 4) {
                    high[j][g][i] = ht_high(left[j][g0 + g][i]);
                    low[j][g][i] = left[j][g0 + g][i] - high[j][g][i];
                }
        }
#define HT_READ_RIGHT                                               \
    HT_EACH_STEP {                                                  \
        const ht_pair both = op[(j * HT_TILES + tile) * 32 + lane]; \
        right[j][own][0] = ht_high(both.x);                         \
        right[j][own][1] = ht_high(both.y);                         \
        right[j][own][2] = both.x - right[j][own][0];               \
        right[j][own][3] = both.y - right[j][own][1];               \
    }
#define HT_FIRST HT_MULTIPLY_FIRST(part[own], low[0][g - g0], right[0][own][0], right[0][own][1]);
#define HT_LOW_HIGH HT_MULTIPLY(part[own], low[1][g - g0], right[1][own][0], right[1][own][1]);
#define HT_HIGH_LOW HT_MULTIPLY(part[own], high[j][g - g0], right[j][own][2], right[j][own][3]);
#define HT_HIGH_HIGH HT_MULTIPLY(part[own], high[j][g - g0], right[j][own][0], right[j][own][1]);
#define HT_ADD_PART \
    HT_UNROLLED(i, 4) acc[tile][i] += part[own][i];
        HT_EACH_TILE(g0, g0 + HT_TOGETHER, HT_READ_RIGHT)
        HT_EACH_TILE(g0, g0 + HT_TOGETHER, HT_FIRST)
#if HT_UNIT > 1
        HT_EACH_TILE(g0, g0 + HT_TOGETHER, HT_LOW_HIGH)
#endif
        HT_EACH_STEP{HT_EACH_TILE(g0, g0 + HT_TOGETHER, HT_HIGH_LOW)} HT_EACH_STEP{HT_EACH_TILE(
            g0, g0 + HT_TOGETHER, HT_HIGH_HIGH)} HT_EACH_TILE(g0, g0 + HT_TOGETHER, HT_ADD_PART)
    }
#endif
}

HT_TOOL_KERNEL ht_propagator_tensor(HT_STEP_PARAMS(op)) {
    HT_LOCAL_ARRAY(ht_pack, data, HT_STAGES * HT_STAGE_SIZE);
    HT_LOCAL_ARRAY(ht_pack, table, HT_OP_PACKS);
    HT_LOCAL_ARRAY(long, where, HT_TILES * 4);
    HT_LOCAL_ARRAY(unsigned char, parities, HT_INFO_PARITIES);
    HT_TENSOR_BEGIN
    for (int unit = 0; HT_RESIDENT && unit < HT_UNITS; unit++)
        ht_operator_copy(item, unit, HT_UNIT_PACKS, op, table + unit * HT_UNIT_PACKS);
    ht_copies_at(&a, begin, end, &copies);
    for (int chunk = 0; chunk < HT_AHEAD; chunk++) {
        HT_COPY_OPERATOR(chunk, chunk)
        HT_UNROLLED(i, HT_CHUNK_UNITS) {
            HT_COPY_NODES(chunk * HT_CHUNK_UNITS + i, chunk)
        }
        HT_COPY_COMMIT();
    }
    int stage = 0; /* buffer of the next unit's chunk */
    for (long m3 = begin; m3 < end; m3 += HT_DEPTH) {
        int node[2], inside[2];
        ht_targets_at(&a, m1, m2, m3, end, node, inside);
        HT_RESULTS_BEGIN
        HT_ROLLED
        for (int unit = 0; unit < HT_UNITS; unit++) {
            real left[HT_UNIT][HT_PART_BLOCKS][4];
            const int from = stage, to = HT_STAGE_AFTER(from, HT_AHEAD);
            const int next = unit + HT_AHEAD, nodes = unit + HT_AHEAD * HT_CHUNK_UNITS;
            HT_LOCAL const ht_pack *at =
                data + from * HT_STAGE_SIZE + (row * HT_CHUNK + t) * HT_PITCH + first1;
            HT_LOCAL const ht_pack *right =
                table + (HT_RESIDENT ? unit : HT_OP_STAGE(unit, from)) * HT_UNIT_PACKS;
            HT_COPY_WAIT(HT_AHEAD - 1);
            HT_BARRIER();
            if ((unit + 1) % HT_CHUNK_UNITS == 0) stage = HT_STAGE_AFTER(stage, 1);
            if (nodes == HT_UNITS) ht_copies_at(&a, m3 + HT_DEPTH, end, &copies);
            HT_COPY_OPERATOR(HT_WRAPPED(next), to)
            if (HT_DEPTH > 1 || nodes < HT_UNITS || m3 + 1 < end) {
                HT_COPY_NODES(HT_WRAPPED(nodes), to)
            }
            HT_COPY_COMMIT();
            HT_EACH_STEP {
                const int pair = HT_PAIR_OF(unit * HT_UNIT % HT_PAIRS + j);
                ht_left_side((HT_LOCAL const ht_pair *)at + pair,
                             parities[(HT_CHUNK_OF(unit) * 4 + t) * HT_PAIRS + pair], part,
                             left[j]);
            }
            ht_products(item % 32, left, (HT_LOCAL const ht_pair *)right, acc);
            /* else NVRTC takes the pragma of a last loop of one turn for that of this loop, and
             * unrolls it */
            HT_RECOMPUTE(stage);
        }
        HT_EACH_RESULT(HT_STORE_RESULT)
    }
}
