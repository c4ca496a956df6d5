/* Messages between slabs: the program of cl/pack.cl for one format, and its launches.
 */
#include <stdlib.h>

#include "htwave/kernel.h"
#include "pack_args.h"

enum { MOST_ITEMS = 128, UNIT = 16 };

struct ht_packer {
    struct ht_device *device;
    struct ht_pack_format format;
    int group_size; /* work-items per group */
    struct ht_program *program;
    struct ht_kernel *pack, *unpack;
    struct ht_kernel *scale; /* NULL: values are sent without scaling */
};

void ht_packer_destroy(struct ht_packer *packer) {
    if (packer == NULL) return;
    ht_kernel_destroy(packer->scale);
    ht_kernel_destroy(packer->pack);
    ht_kernel_destroy(packer->unpack);
    ht_program_destroy(packer->program);
    free(packer);
}

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

enum ht_err ht_packer_text(const struct ht_pack_format *format, int group_size,
                           struct ht_text *out) {
    static const char *const type[] = {[2] = "HT_HALF", [4] = "float", [8] = "double"};
    ht_text_add(out,
                "#define HT_DOUBLE %d\n#define HT_BLOCK %d\n"
                "#define HT_PACK_ITEMS %d\n#define HT_PACK_FIELDS %d\n"
                "#define HT_PACK_HALF %d\n#define HT_PACK_SCALED %d\n"
                "#define HT_EACH_PACKED(X)",
                format->fp64, format->block, group_size, format->fields,
                format->precision == HT_HALO_HALF, is_scaled(format));
    for (int f = 0; f < format->fields; f++) ht_text_add(out, " X(%d)", f);
    ht_text_add(out, "\n");
    TRY(ht_kernel_add_source("prelude.cl", out));
    ht_text_add(out, "typedef %s ht_packed;\n", type[value_bytes(format)]);
    TRY(ht_kernel_add_source("layout.h", out));
    TRY(ht_kernel_add_source("pack_args.h", out));
    TRY(ht_kernel_add_source("pack.cl", out));
    return ht_text_status(out);
}

static enum ht_err build(struct ht_packer *packer, const char *cache) {
    struct ht_text text = {0};
    enum ht_err err = ht_packer_text(&packer->format, packer->group_size, &text);
    if (err == HT_OK) err = ht_program_build(packer->device, text.data, cache, &packer->program);
    ht_text_free(&text);
    if (err == HT_OK) err = ht_kernel_create(packer->program, "ht_pack", &packer->pack);
    if (err == HT_OK) err = ht_kernel_create(packer->program, "ht_unpack", &packer->unpack);
    if (err == HT_OK && is_scaled(&packer->format))
        err = ht_kernel_create(packer->program, "ht_pack_scale", &packer->scale);
    return err;
}

enum ht_err ht_packer_create(struct ht_device *device, const struct ht_pack_format *format,
                             const char *cache, struct ht_packer **out) {
    struct ht_packer *packer = NULL;
    *out = NULL;
    TRY(HT_ALLOC(packer, 1));
    packer->device = device;
    packer->format = *format;
    packer->group_size = MOST_ITEMS;
    while (packer->group_size > 1 && packer->group_size > ht_device_info(device)->max_group)
        packer->group_size /= 2;
    enum ht_err err = build(packer, cache);
    return HT_MADE(err, packer, ht_packer_destroy, out);
}

static enum ht_err launch(struct ht_packer *packer, struct ht_kernel *kernel,
                          struct ht_buffer *const *u, const struct ht_pack_range *range,
                          struct ht_buffer *message, int64_t groups, int64_t blocks) {
    const struct ht_window *window = range->window;
    const int64_t nodes = ht_box_nodes(&range->box);
    const int64_t *begin = range->box.begin, *end = range->box.end;
    const struct ht_pack_args args = {
        .total = (long)ht_window_nodes(window),
        .row = (long)ht_window_row(window),
        .plane = (long)ht_window_plane(window),
        .first = (long)ht_window_at(window, begin[0], begin[1], begin[2]),
        .count = {(long)(end[0] - begin[0]), (long)(end[1] - begin[1])},
        .nodes = (long)nodes,
        .at = (long)(range->at / UNIT),
        .blocks = packer->format.padded_coefs / packer->format.block};
    struct ht_arg list[2 + HT_MAX_FIELDS] = {{.value = &args, .size = sizeof args},
                                             {.buffer = message}};
    REQUIRE(nodes <= INT32_MAX, HT_ERR_DEVICE,
            "a message of %lld nodes: kernels count up to %d; more ranks have "
            "smaller ones",
            (long long)nodes, INT32_MAX);
    const int64_t many[3] = {groups, packer->format.fields, blocks};
    for (int f = 0; f < packer->format.fields; f++) list[2 + f].buffer = u[f];
    return ht_kernel_launch(kernel, 2 + packer->format.fields, list, many, packer->group_size);
}

/* Packs or unpacks, a block of coefficients at a time. */
static enum ht_err move(struct ht_packer *packer, struct ht_kernel *kernel,
                        struct ht_buffer *const *u, const struct ht_pack_range *range,
                        struct ht_buffer *message) {
    const struct ht_pack_format *format = &packer->format;
    const int64_t values = format->block * ht_box_nodes(&range->box);
    return launch(packer, kernel, u, range, message, ht_divide_up(values, packer->group_size),
                  format->padded_coefs / format->block);
}

enum ht_err ht_packer_pack(struct ht_packer *packer, struct ht_buffer *const *u,
                           const struct ht_pack_range *range, struct ht_buffer *message) {
    if (packer->scale != NULL)
        TRY(launch(packer, packer->scale, u, range, message, packer->format.padded_coefs, 1));
    return move(packer, packer->pack, u, range, message);
}

enum ht_err ht_packer_unpack(struct ht_packer *packer, struct ht_buffer *const *u,
                             const struct ht_pack_range *range, struct ht_buffer *message) {
    return move(packer, packer->unpack, u, range, message);
}

double ht_packer_total(const struct ht_packer *packer) {
    double seconds = ht_kernel_total(packer->pack) + ht_kernel_total(packer->unpack);
    return packer->scale == NULL ? seconds : seconds + ht_kernel_total(packer->scale);
}
