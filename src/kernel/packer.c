/* Messages between slabs: the program of cl/pack.cl for one format, and its launches. */
#include "tool.h"
#include "tool_args.h"

enum { UNIT = 16 };
enum { PACK, UNPACK }; /* entries */

struct packer {
    struct ht_tool tool;
    struct ht_pack_format format;
};

int64_t ht_packer_bytes(const struct ht_pack_format *format, int64_t nodes) {
    const int64_t values = nodes * format->fields * format->padded_coefs;
    return ht_divide_up(values * ht_real_size(format->fp64), UNIT) * UNIT;
}

enum ht_err ht_packer_create(struct ht_device *device, const struct ht_pack_format *format,
                             struct ht_tool **out) {
    const struct ht_recipe recipe = {.what = "kernel of messages",
                                     .fp64 = format->fp64,
                                     .items = 128,
                                     .number = {{"BLOCK", format->block}},
                                     .each = {"EACH_PACKED", format->fields},
                                     .file = {"layout.h", "tool_args.h", "pack.cl"},
                                     .entry = {"ht_pack", "ht_unpack"},
                                     .now = true};
    TRY(ht_tool_create(device, &recipe, sizeof(struct packer), out));
    ((struct packer *)*out)->format = *format;
    return HT_OK;
}

/* Packs or unpacks a block of coefficients at a time. */
static enum ht_err launch(struct ht_tool *tool, int entry, struct ht_buffer *const *u,
                          const struct ht_pack_range *range, struct ht_buffer *message) {
    const struct ht_pack_format *format = &((struct packer *)tool)->format;
    const struct ht_window *window = range->window;
    const int64_t nodes = ht_box_nodes(&range->box), blocks = format->padded_coefs / format->block;
    const int64_t *begin = range->box.begin, *end = range->box.end;
    const struct ht_pack_args args = {
        .total = (long)ht_window_nodes(window),
        .row = (long)window->count[0],
        .plane = (long)ht_window_plane(window),
        .first = (long)ht_window_at(window, begin[0], begin[1], begin[2]),
        .count = {(long)(end[0] - begin[0]), (long)(end[1] - begin[1])},
        .nodes = (long)nodes,
        .at = (long)(range->at / UNIT),
        .blocks = (int)blocks};
    struct ht_arg list[2 + HT_MAX_FIELDS] = {{.value = &args, .size = sizeof args},
                                             {.buffer = message}};
    const int64_t groups[3] = {ht_divide_up(format->block * nodes, tool->recipe.items),
                               format->fields, blocks};
    REQUIRE(nodes <= INT32_MAX, HT_ERR_DEVICE,
            "a message of %lld nodes: kernels count up to %d; more ranks have smaller ones",
            (long long)nodes, INT32_MAX);
    for (int f = 0; f < format->fields; f++) list[2 + f].buffer = u[f];
    return ht_tool_launch(tool, HT_PART_INTERIOR, entry, groups, 2 + format->fields, list);
}

enum ht_err ht_packer_pack(struct ht_tool *tool, struct ht_buffer *const *u,
                           const struct ht_pack_range *range, struct ht_buffer *message) {
    return launch(tool, PACK, u, range, message);
}

enum ht_err ht_packer_unpack(struct ht_tool *tool, struct ht_buffer *const *u,
                             const struct ht_pack_range *range, struct ht_buffer *message) {
    return launch(tool, UNPACK, u, range, message);
}
