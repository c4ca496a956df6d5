/* Host side of cl/maps.cl. */
#include "tool.h"
#include "tool_args.h"

struct mapper {
    struct ht_tool tool;
    struct ht_map_shape shape;
};

int ht_map_slots(const struct ht_map_shape *shape) {
    int slots = 2 * shape->waves;
    HT_EACH_BIT(kind, shape->what) slots += kind < HT_MAP_KINDS;
    return slots;
}

HT_ERR ht_mapper_create(struct ht_device *device, const struct ht_map_shape *shape,
                        struct ht_tool **out) {
    const struct ht_recipe recipe = {.what = "kernel of maps",
                                     .fp64 = shape->fp64,
                                     .items = ht_tool_info(device)->gpu ? 128 : 1,
                                     .number = {{"BLOCK", shape->block},
                                                {"MAP_WHAT", (int)shape->what},
                                                {"MAP_WAVES", shape->waves}},
                                     .file = {"layout.h", "tool_args.h", "maps.cl"},
                                     .entry = {"ht_maps"},
                                     .now = true};
    const struct mapper own = {.shape = *shape};
    TRY(ht_tool_create(device, &recipe, &own, sizeof own, out));
    const int64_t numbers = ht_most(ht_most(1, shape->window), ht_map_slots(shape) * shape->nodes);
    return ht_tool_keep(ht_tool_store_reals(*out, numbers, NULL, &(*out)->buffer[0]), out);
}

HT_ERR ht_mapper_take(struct ht_tool *mapper, const struct ht_window *window, int64_t from,
                      int64_t stride, const int64_t count[3], struct ht_buffer *u, bool begins,
                      double level, double time, const double *turn) {
    const struct ht_map_shape *shape = &((struct mapper *)mapper)->shape;
    double reals[3 + 2 * HT_MAP_WAVES] = {level, time};
    const bool whole = shape->window > 0;
    struct ht_map_args args = {.begin = (long)from,
                               .stride = (long)stride,
                               .row = (long)(stride * window->count[0]),
                               .plane = (long)(stride * window->count[0] * window->count[1]),
                               .nodes = (long)ht_window_nodes(window),
                               .count = {(long)count[0], (long)count[1]},
                               .total = (long)shape->nodes,
                               .begins = begins};
    args.to = whole ? args.begin : 0;
    args.to_row = whole ? args.row : args.count[0];
    args.to_plane = whole ? args.plane : args.count[0] * args.count[1];
    memcpy(reals + 2, turn, (size_t)(2 * shape->waves) * sizeof *turn);
    const int64_t pieces = ht_divide_up(count[0], HT_SUM_PIECE);
    const int64_t groups[3] = {pieces * count[1], count[2], 1};
    return ht_tool_launch(mapper, HT_PART_INTERIOR, 0, groups,
                          HT_ARGS(HT_VALUE(args),
                                  ht_tool_reals(mapper, 3 + 2 * shape->waves, reals), HT_BUFFER(u),
                                  HT_BUFFER(mapper->buffer[0])));
}

struct ht_buffer *ht_mapper_buffer(const struct ht_tool *mapper) {
    return mapper->buffer[0];
}

HT_ERR ht_mapper_move(struct ht_tool *mapper, bool load, int64_t first, int64_t count,
                      double *values) {
    const bool fp64 = mapper->recipe.fp64;
    return load ? ht_buffer_write_reals(mapper->buffer[0], fp64, first, count, values)
                : ht_buffer_read_reals(mapper->buffer[0], fp64, first, count, values);
}
