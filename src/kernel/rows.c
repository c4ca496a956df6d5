/* Host side of cl/rows.cl. */
#include "htwave/tool.h"

#include <stdlib.h>

#include "rows_args.h"

enum { ITEMS = 64 };

struct ht_rows {
    struct ht_rows_shape shape;
    struct ht_program *program;
    struct ht_kernel *kernel;
    struct ht_buffer *node, *weight, *ring;
};

void ht_rows_destroy(struct ht_rows *r) {
    if (r == NULL) return;
    ht_kernel_destroy(r->kernel);
    ht_program_destroy(r->program);
    ht_buffer_destroy(r->node);
    ht_buffer_destroy(r->weight);
    ht_buffer_destroy(r->ring);
    free(r);
}

static int word_of(const struct ht_rows_shape *shape) {
    return ht_real_size(shape->fp64);
}

int64_t ht_rows_bytes(const struct ht_rows_shape *shape) {
    const int64_t word = word_of(shape), nodes = shape->nodes;
    return shape->rows * (nodes * (8 + shape->coefs * word) + shape->slots * word);
}

enum ht_err ht_rows_text(const struct ht_rows_shape *shape, struct ht_text *out) {
    ht_text_add(out,
                "#define HT_DOUBLE %d\n#define HT_BLOCK %d\n"
                "#define HT_ROW_COEFS %d\n#define HT_ROW_NODES %d\n"
                "#define HT_ROW_ITEMS %d\n",
                shape->fp64, shape->block, shape->coefs, shape->nodes, ITEMS);
    TRY(ht_kernel_add_source("prelude.cl", out));
    TRY(ht_kernel_add_source("layout.h", out));
    TRY(ht_kernel_add_source("rows_args.h", out));
    TRY(ht_kernel_add_source("rows.cl", out));
    return ht_text_status(out);
}

static enum ht_err build(struct ht_rows *r, struct ht_device *device, const char *cache) {
    struct ht_text text = {0};
    enum ht_err err = ht_rows_text(&r->shape, &text);
    if (err == HT_OK) err = ht_program_build(device, text.data, cache, &r->program);
    ht_text_free(&text);
    if (err != HT_OK) return ht_err_prefix(err, "kernel of receivers");
    return ht_kernel_create(r->program, "ht_rows", &r->kernel);
}

static struct ht_span span_of(int64_t bytes) {
    return (struct ht_span){.width = bytes, .pitch = bytes, .rows = 1};
}

static enum ht_err store(struct ht_device *device, const void *data, int64_t bytes,
                         struct ht_buffer **out) {
    TRY(ht_buffer_create(device, bytes, out));
    return ht_buffer_write(*out, span_of(bytes), data);
}

static enum ht_err store_weights(struct ht_rows *r, struct ht_device *device,
                                 const double *weight) {
    const int64_t values = r->shape.rows * r->shape.nodes * r->shape.coefs;
    float *single = NULL;
    if (r->shape.fp64) return store(device, weight, values * (int64_t)sizeof *weight, &r->weight);
    TRY(HT_ALLOC(single, values));
    for (int64_t i = 0; i < values; i++) single[i] = (float)weight[i];
    enum ht_err err = store(device, single, values * (int64_t)sizeof *single, &r->weight);
    free(single);
    return err;
}

enum ht_err ht_rows_create(struct ht_device *device, const struct ht_rows_shape *shape,
                           const char *cache, const int64_t *node, const double *weight,
                           struct ht_rows **out) {
    struct ht_rows *r = NULL;
    *out = NULL;
    TRY(HT_ALLOC(r, 1));
    r->shape = *shape;
    enum ht_err err = build(r, device, cache);
    if (err == HT_OK)
        err = store(device, node, shape->rows * shape->nodes * (int64_t)sizeof *node, &r->node);
    if (err == HT_OK) err = store_weights(r, device, weight);
    if (err == HT_OK)
        err = ht_buffer_create(device, shape->rows * shape->slots * word_of(shape), &r->ring);
    return HT_MADE(err, r, ht_rows_destroy, out);
}

enum ht_err ht_rows_take(struct ht_rows *r, int64_t first, int64_t last, struct ht_buffer *u,
                         int64_t nodes, int64_t slot) {
    const struct ht_rows_args args = {.first = (long)first,
                                      .rows = (long)r->shape.rows,
                                      .nodes = (long)nodes,
                                      .slot = (long)slot};
    const int64_t groups[3] = {last - first, 1, 1};
    const struct ht_arg arg[] = {{.value = &args, .size = sizeof args},
                                 {.buffer = r->node},
                                 {.buffer = r->weight},
                                 {.buffer = u},
                                 {.buffer = r->ring}};
    return ht_kernel_launch(r->kernel, 5, arg, groups, ITEMS);
}

enum ht_err ht_rows_read(struct ht_rows *r, int64_t slots, double *out) {
    const int64_t values = slots * r->shape.rows;
    float *single = NULL;
    if (!r->shape.fp64) TRY(HT_ALLOC(single, values));
    enum ht_err err = ht_buffer_read(r->ring, span_of(values * word_of(&r->shape)),
                                     r->shape.fp64 ? (void *)out : (void *)single);
    for (int64_t i = 0; err == HT_OK && single != NULL && i < values; i++) out[i] = single[i];
    free(single);
    return err;
}

double ht_rows_seconds(const struct ht_rows *r) {
    return ht_kernel_total(r->kernel);
}
