/* The sponge of Hermite methods on a device: the program of cl/sponge.cl for one precision, layout
 * and order, and its launches.
 */
#include "htwave/tool.h"

#include <stdlib.h>

#include "counts.h"
#include "sponge_args.h"

enum { MOST_ITEMS = 128 };

struct ht_sponge {
    int coefs, lines, items; /* coefs: N+1 */
    struct ht_program *program;
    struct ht_kernel *kernel[2]; /* [part], an account each */
    struct ht_buffer *at;
};

void ht_sponge_destroy(struct ht_sponge *sponge) {
    if (sponge == NULL) return;
    for (int i = 0; i < 2; i++) ht_kernel_destroy(sponge->kernel[i]);
    ht_program_destroy(sponge->program);
    ht_buffer_destroy(sponge->at);
    free(sponge);
}

double ht_sponge_seconds(struct ht_sponge *sponge) {
    double seconds = 0;
    for (int i = 0; sponge != NULL && i < 2; i++) seconds += ht_kernel_seconds(sponge->kernel[i]);
    return seconds;
}

double ht_sponge_total(const struct ht_sponge *sponge, enum ht_step_part part) {
    return sponge == NULL ? 0 : ht_kernel_total(sponge->kernel[part]);
}

enum ht_err ht_sponge_text(bool fp64, int block, int coefs, int lines, int items,
                           struct ht_text *out) {
    ht_text_add(out,
                "#define HT_DOUBLE %d\n#define HT_BLOCK %d\n"
                "#define HT_SPONGE_N %d\n#define HT_SPONGE_LINES %d\n"
                "#define HT_SPONGE_ITEMS %d\n",
                fp64, block, coefs, lines, items);
    TRY(ht_kernel_add_source("prelude.cl", out));
    TRY(ht_kernel_add_source("layout.h", out));
    TRY(ht_kernel_add_source("sponge_args.h", out));
    TRY(ht_kernel_add_source("sponge.cl", out));
    return ht_text_status(out);
}

/* Storage indices [axis][line][i] of the lines of coefficients. */
static enum ht_err upload_lines(struct ht_sponge *sponge, struct ht_device *device,
                                const struct ht_spec *spec) {
    const int n = sponge->coefs, lines = sponge->lines, dims = spec->eq->dims;
    const int64_t bytes = (int64_t)dims * lines * n * (int64_t)sizeof(int);
    const struct ht_span span = {.width = bytes, .pitch = bytes, .rows = 1};
    int storage[HT_MAX_COEFS], *at = NULL;
    ht_storage_order(spec, storage);
    TRY(HT_ALLOC(at, (int64_t)dims * lines * n));
    for (int k = 0, stride = 1; k < dims; k++, stride *= n)
        for (int line = 0; line < lines; line++)
            for (int i = 0; i < n; i++)
                at[(k * lines + line) * n + i] =
                    storage[line % stride + (line / stride * n + i) * stride];
    enum ht_err err = ht_buffer_create(device, bytes, &sponge->at);
    if (err == HT_OK) err = ht_buffer_write(sponge->at, span, at);
    free(at);
    return err;
}

static enum ht_err build(struct ht_sponge *sponge, struct ht_device *device,
                         const struct ht_spec *spec, const char *cache) {
    struct ht_text text = {0};
    enum ht_err err =
        ht_sponge_text(spec->fp64, spec->block, sponge->coefs, sponge->lines, sponge->items, &text);
    if (err == HT_OK) err = ht_program_build(device, text.data, cache, &sponge->program);
    ht_text_free(&text);
    for (int i = 0; err == HT_OK && i < 2; i++)
        err = ht_kernel_create(sponge->program, "ht_sponge", &sponge->kernel[i]);
    return err == HT_OK ? upload_lines(sponge, device, spec)
                        : ht_err_prefix(err, "kernel of a sponge");
}

enum ht_err ht_sponge_create(struct ht_device *device, const struct ht_spec *spec,
                             const char *cache, struct ht_sponge **out) {
    struct ht_sponge *sponge = NULL;
    *out = NULL;
    TRY(HT_ALLOC(sponge, 1));
    sponge->coefs = spec->order + 1;
    sponge->lines = 1;
    for (int k = 1; k < spec->eq->dims; k++) sponge->lines *= sponge->coefs;
    sponge->items = MOST_ITEMS;
    while (sponge->items > ht_device_info(device)->max_group) sponge->items /= 2;
    const enum ht_err err = build(sponge, device, spec, cache);
    return HT_MADE(err, sponge, ht_sponge_destroy, out);
}

enum ht_err ht_sponge_multiply(struct ht_sponge *sponge, enum ht_step_part part,
                               const struct ht_sponge_args *args, struct ht_buffer *jets,
                               struct ht_buffer *u) {
    const int64_t nodes = args->count[0] * args->count[1] * args->count[2];
    const int64_t groups[3] = {ht_divide_up(nodes, sponge->items), sponge->lines, 1};
    const struct ht_arg arg[] = {{.value = args, .size = sizeof *args},
                                 {.buffer = sponge->at},
                                 {.buffer = jets},
                                 {.buffer = u}};
    if (nodes == 0) return HT_OK;
    return ht_kernel_launch(sponge->kernel[part], 4, arg, groups, sponge->items);
}
