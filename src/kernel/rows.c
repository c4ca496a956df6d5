/* Host side of cl/rows.cl. */
#include "tool_args.h"

#include "tool.h"

enum { NODE, FROM, WEIGHT, RING }; /* buffers */

struct rows {
    struct ht_tool tool;
    struct ht_rows_shape shape;
};

int64_t ht_rows_bytes(const struct ht_rows_shape *shape) {
    const int64_t word = shape->fp64 ? 8 : 4;
    return shape->patterns * (4 * ht_rows_numbers(shape) + word * ht_rows_weights(shape)) +
           shape->rows * (16 + shape->slots * word);
}

static HT_ERR store(struct rows *r, const struct ht_rows_tables *t) {
    const struct ht_rows_shape *s = &r->shape;
    const struct ht_tool *tool = &r->tool;
    TRY(ht_tool_store(tool, 4 * s->patterns * ht_rows_numbers(s), t->node, &r->tool.buffer[NODE]));
    TRY(ht_tool_store(tool, s->rows * 16, t->from, &r->tool.buffer[FROM]));
    TRY(ht_tool_store_reals(tool, s->patterns * ht_rows_weights(s), t->weight,
                            &r->tool.buffer[WEIGHT]));
    return ht_tool_store_reals(tool, s->rows * s->slots, NULL, &r->tool.buffer[RING]);
}

enum { ITEMS = 64, TURN = 16 };

/* Partial sums of a row: few where it has few products. */
static int sums_of(const struct ht_rows_shape *shape) {
    return shape->coefs > 1 ? ITEMS : 16;
}

HT_ERR ht_rows_create(struct ht_device *device, const struct ht_rows_shape *shape,
                      const struct ht_rows_tables *tables, struct ht_tool **out) {
    const struct ht_device_info *info = ht_tool_info(device);
    const struct ht_recipe recipe = {.what = "kernel of receivers",
                                     .fp64 = shape->fp64,
                                     .items = !info->gpu || info->max_group < ITEMS ? 1 : ITEMS,
                                     .number = {{"BLOCK", shape->block},
                                                {"ROW_COEFS", shape->coefs},
                                                {"ROW_NODES", shape->nodes},
                                                {"ROW_LINES", shape->lines},
                                                {"ROW_ITEMS", sums_of(shape)},
                                                {"ROW_TURN", TURN}},
                                     .file = {"layout.h", "tool_args.h", "rows.cl"},
                                     .entry = {"ht_rows"},
                                     .now = true};
    const struct rows own = {.shape = *shape};
    TRY(ht_tool_create(device, &recipe, &own, sizeof own, out));
    return ht_tool_keep(store((struct rows *)*out, tables), out);
}

HT_ERR ht_rows_take(struct ht_tool *tool, int64_t first, int64_t last, struct ht_buffer *u,
                    int64_t nodes, int64_t slot) {
    const struct ht_rows_shape *shape = &((struct rows *)tool)->shape;
    const struct ht_rows_args args = {.first = (long)first,
                                      .last = (long)last,
                                      .rows = (long)shape->rows,
                                      .nodes = (long)nodes,
                                      .slot = (long)slot};
    const int64_t each = tool->recipe.items == 1 ? TURN : ITEMS / sums_of(shape);
    const int64_t groups[3] = {ht_divide_up(last - first, each), 1, 1};
    REQUIRE(slot < shape->slots, HT_ERR_INTERNAL,
            "receivers: sample %lld of %lld before they are read", (long long)slot + 1,
            (long long)shape->slots);
    return ht_tool_launch(tool, HT_PART_INTERIOR, 0, groups,
                          HT_ARGS(HT_VALUE(args), HT_BUFFER(tool->buffer[NODE]),
                                  HT_BUFFER(tool->buffer[FROM]), HT_BUFFER(tool->buffer[WEIGHT]),
                                  HT_BUFFER(u), HT_BUFFER(tool->buffer[RING])));
}

HT_ERR ht_rows_read(struct ht_tool *tool, int64_t slots, double *out) {
    const struct ht_rows_shape *shape = &((struct rows *)tool)->shape;
    return ht_buffer_read_reals(tool->buffer[RING], shape->fp64, 0, slots * shape->rows, out);
}
