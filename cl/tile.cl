/* The source nodes around a tile of targets, in local memory.
 *
 * A work-group computes HT_CELLS x HT_ROWS targets of an x3 plane and marches along x3; HT_PARTS
 * consecutive work-groups along x1 share the same targets. The targets need HT_TILE_1 x HT_TILE_2
 * source nodes in each of HT_TILE_3 planes (bottom, top):
 *
 *     o---o---o---o---o    o  source nodes, HT_TILE_1 = HT_CELLS + 1 per row
 *     | x | x | x | x |    x  targets, HT_CELLS = 4, HT_ROWS = 2
 *     o---o---o---o---o
 *     | x | x | x | x |
 *     o---o---o---o---o
 *
 * A chunk is HT_CHUNK blocks of coefficients. The source nodes of a chunk are copied ahead of use
 * into one of HT_STAGES stages of local memory,
 *     data[stage][plane][row][block of the chunk][node],
 * with rows padded to HT_PITCH nodes to avoid bank conflicts. Work-item l copies the nodes number
 * l, l + HT_TOOL_ITEMS, ... of the tile. */
#define HT_TILE_1 (HT_CELLS + 1)
#define HT_TILE_2 (HT_DIMS > 1 ? HT_ROWS + 1 : 1)
#define HT_TILE_3 (HT_DIMS > 2 ? 2 : 1)
#define HT_TILE_NODES (HT_TILE_1 * HT_TILE_2 * HT_TILE_3)
#define HT_COPIES ((HT_TILE_NODES + HT_TOOL_ITEMS - 1) / HT_TOOL_ITEMS)
#define HT_STAGE_SIZE (HT_TILE_2 * HT_TILE_3 * HT_CHUNK * HT_PITCH)

/* The tile of a work-group and the nodes that a work-item copies. The host ensures that 2 * node
 * fits int. */
struct ht_tile {
    long m1, m2; /* first target */
    /* 2 * (index in its plane) + (1: top plane) */
    int node[HT_COPIES];
    int to[HT_COPIES]; /* in a stage */
};
/* Without branches copies cost less: work-items that are left over copy the last node, too, which
 * only asynchronous copies may. */
#define HT_TILE_ALL (HT_PTX >= 80)
HT_INLINE void ht_tile_begin(const struct ht_step_args *a, const int item, struct ht_tile *tile) {
    tile->m1 = a->begin[0] + HT_GROUP_1() / HT_PARTS * HT_CELLS;
    tile->m2 = a->begin[1] + HT_GROUP_2() * HT_ROWS;
    HT_UNROLLED(i, HT_COPIES) {
        const int own = i * HT_TOOL_ITEMS + item;
        const int n = own < HT_TILE_NODES ? own : HT_TILE_NODES - 1;
        const int c1 = n % HT_TILE_1, c2 = n / HT_TILE_1 % HT_TILE_2;
        const int top = n / (HT_TILE_1 * HT_TILE_2);
        tile->to[i] = n / HT_TILE_1 * HT_CHUNK * HT_PITCH + c1;
        /* nodes beyond the last target are copied but not used: clamp */
        long q1 = tile->m1 + c1, q2 = tile->m2 + c2;
        q1 = (q1 < a->end[0] ? q1 : a->end[0]) + a->shift[0];
        q2 = (q2 < a->end[1] ? q2 : a->end[1]) + a->shift[1];
        tile->node[i] = (int)(ht_source_row(a, q2, 0) + ht_closed(a, 0, q1)) * 2 + (top & 1);
    }
}

/* The node that a work-item copies as number i of its own. bottom, top: the first nodes of both
 * source planes. */
HT_INLINE int ht_tile_node(const struct ht_tile *tile, const int i, const int bottom,
                           const int top) {
    const int node = tile->node[i];
    return (node & 1 ? top : bottom) + (node >> 1);
}

/* Starts to copy a chunk of the tile; beyond the last block that one, for which the operator has
 * zeros. A chunk within a field steps from block to block. bottom, top: as above. */
HT_INLINE void ht_tile_copy(const struct ht_step_args *a, const int item,
                            const struct ht_tile *tile, const int chunk, const int bottom,
                            const int top, HT_LOCAL ht_pack *data HT_EACH_SRC(HT_SRC_PARAM)) {
    const int own = chunk * HT_CHUNK; /* first block */
    HT_GLOBAL const ht_pack *from = (HT_GLOBAL const ht_pack *)src0;
    long nodes = 0;
    int node[HT_COPIES];
    HT_UNROLLED(b, HT_CHUNK) {
        const int block = own + b < HT_BLOCKS ? own + b : HT_BLOCKS - 1;
        if (b % HT_STEPS == 0) {
            const int field = block / HT_FIELD_BLOCKS;
            HT_CHOOSE_SRC
            nodes = a->src_nodes;
            from = (HT_GLOBAL const ht_pack *)chosen + block % HT_FIELD_BLOCKS * nodes;
            HT_UNROLLED(i, HT_COPIES) node[i] = ht_tile_node(tile, i, bottom, top);
        } else if (HT_BLOCKS % HT_CHUNK == 0 || own + b < HT_BLOCKS) {
            from += nodes;
        }
        HT_UNROLLED(i, HT_COPIES)
            if (HT_TILE_ALL || i * HT_TOOL_ITEMS + item < HT_TILE_NODES)
                ht_copy(data + tile->to[i] + b * HT_PITCH, from + node[i]);
    }
}
