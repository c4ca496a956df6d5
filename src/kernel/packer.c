/* Messages between slabs: the program of cl/pack.cl for one format, and its launches. */
#include "tool.h"
#include "tool_args.h"

enum { UNIT = 16 };
enum { PACK, UNPACK, SCALE }; /* entries */

struct packer {
    struct ht_tool tool;
    struct ht_pack_format format;
};

static bool is_scaled(const struct ht_pack_format *format) {
    return format->precision == HT_HALO_HALF;
}

/* Bytes of a value in a message. HT_HALO_SINGLE leaves single precision fields unchanged. */
static int value_bytes(const struct ht_pack_format *format) {
    if (format->precision == HT_HALO_HALF) return 2;
    return format->fp64 && format->precision == HT_HALO_SAME ? 8 : 4;
}

static int64_t padded(int64_t bytes) {
    return (bytes + UNIT - 1) / UNIT * UNIT;
}

int64_t ht_packer_bytes(const struct ht_pack_format *format, int64_t nodes) {
    int64_t padded_coefs = (int64_t)format->fields * format->padded_coefs;
    return padded(is_scaled(format) ? padded_coefs * 4 : 0) +
           padded(padded_coefs * nodes * value_bytes(format));
}

HT_ERR ht_packer_create(struct ht_device *device, const struct ht_pack_format *format,
                        struct ht_tool **out) {
    const struct ht_recipe recipe = {
        .what = "kernel of messages",
        .fp64 = format->fp64,
        .items = 128,
        .number = {{"BLOCK", format->block},
                   {"PACK_FIELDS", format->fields},
                   {"PACK_SCALED", is_scaled(format)},
                   {"PACK_BYTES", value_bytes(format)}},
        .each = {"EACH_PACKED", format->fields},
        .file = {"layout.h", "tool_args.h", "pack.cl"},
        .entry = {"ht_pack", "ht_unpack", is_scaled(format) ? "ht_pack_scale" : NULL},
        .now = true};
    const struct packer own = {.format = *format};
    return ht_tool_create(device, &recipe, &own, sizeof own, out);
}

/* Packs or unpacks, a block of coefficients at a time, or scales, one. */
static HT_ERR launch(struct ht_tool *tool, int entry, struct ht_buffer *const *u,
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
    const int64_t groups[3] = {entry == SCALE
                                   ? format->padded_coefs
                                   : ht_divide_up(format->block * nodes, tool->recipe.items),
                               format->fields, entry == SCALE ? 1 : blocks};
    REQUIRE(nodes <= INT32_MAX, HT_ERR_DEVICE,
            "a message of %lld nodes: kernels count up to %d; more ranks have smaller ones",
            (long long)nodes, INT32_MAX);
    for (int f = 0; f < format->fields; f++) list[2 + f].buffer = u[f];
    return ht_tool_launch(tool, HT_PART_INTERIOR, entry, groups, 2 + format->fields, list);
}

HT_ERR ht_packer_pack(struct ht_tool *tool, struct ht_buffer *const *u,
                      const struct ht_pack_range *range, struct ht_buffer *message) {
    if (is_scaled(&((struct packer *)tool)->format)) TRY(launch(tool, SCALE, u, range, message));
    return launch(tool, PACK, u, range, message);
}

HT_ERR ht_packer_unpack(struct ht_tool *tool, struct ht_buffer *const *u,
                        const struct ht_pack_range *range, struct ht_buffer *message) {
    return launch(tool, UNPACK, u, range, message);
}
