/* Sources of finite differences on a device: the program of cl/fd_inject.cl for one precision, the
 * lists and the table that it reads, its launches.
 */
#include <stdlib.h>

#include "fd_inject_args.h"
#include "htwave/fd_kernel.h"

enum { LANES = 128 };

struct ht_fd_injector {
    struct ht_device *device;
    bool fp64;
    int lanes;
    char *cache; /* NULL: none */
    struct ht_program *program;
    struct ht_kernel *kernel;
};
struct ht_fd_injected {
    struct ht_fd_injector *injector;
    struct ht_buffer *at, *begin, *column, *weight, *table;
};

void ht_fd_injector_destroy(struct ht_fd_injector *injector) {
    if (injector == NULL) return;
    ht_kernel_destroy(injector->kernel);
    ht_program_destroy(injector->program);
    free(injector->cache);
    free(injector);
}

double ht_fd_injector_seconds(struct ht_fd_injector *injector) {
    return injector->kernel == NULL ? 0 : ht_kernel_seconds(injector->kernel);
}

enum ht_err ht_fd_injector_text(bool fp64, int lanes, struct ht_text *out) {
    ht_text_add(out, "#define HT_DOUBLE %d\n#define HT_FD_ITEMS %d\n", fp64, lanes);
    TRY(ht_kernel_add_source("prelude.cl", out));
    TRY(ht_kernel_add_source("fd_inject_args.h", out));
    TRY(ht_kernel_add_source("fd_inject.cl", out));
    return ht_text_status(out);
}

enum ht_err ht_fd_injector_create(struct ht_device *device, bool fp64, const char *cache,
                                  struct ht_fd_injector **out) {
    struct ht_fd_injector *injector = NULL;
    *out = NULL;
    TRY(HT_ALLOC(injector, 1));
    injector->device = device;
    injector->fp64 = fp64;
    injector->lanes = LANES;
    while (injector->lanes > ht_device_info(device)->max_group) injector->lanes /= 2;
    enum ht_err err = cache ? ht_text_copy(cache, &injector->cache) : HT_OK;
    return HT_MADE(err, injector, ht_fd_injector_destroy, out);
}

static enum ht_err build(struct ht_fd_injector *injector) {
    struct ht_text text = {0};
    if (injector->kernel != NULL) return HT_OK;
    enum ht_err err = ht_fd_injector_text(injector->fp64, injector->lanes, &text);
    if (err == HT_OK && injector->program == NULL)
        err = ht_program_build(injector->device, text.data, injector->cache, &injector->program);
    ht_text_free(&text);
    if (err != HT_OK) return ht_err_prefix(err, "kernel of sources");
    return ht_kernel_create(injector->program, "ht_fd_inject", &injector->kernel);
}

/* ---- buffers ---- */

static enum ht_err put(struct ht_buffer *buffer, const void *data, int64_t bytes) {
    const struct ht_span span = {.width = bytes, .pitch = bytes, .rows = 1};
    return ht_buffer_write(buffer, span, data);
}

static enum ht_err put_reals(const struct ht_fd_injector *injector, struct ht_buffer *buffer,
                             const double *values, int64_t count) {
    float *single = NULL;
    if (injector->fp64) return put(buffer, values, 8 * count);
    TRY(HT_ALLOC(single, count));
    for (int64_t i = 0; i < count; i++) single[i] = (float)values[i];
    const enum ht_err err = put(buffer, single, 4 * count);
    free(single);
    return err;
}

static enum ht_err create(struct ht_fd_injector *injector, int64_t bytes, struct ht_buffer **out) {
    return ht_buffer_create(injector->device, bytes, out);
}

static enum ht_err fill(struct ht_fd_injected *d, const struct ht_fd_injected_nodes *list,
                        int64_t table) {
    struct ht_fd_injector *injector = d->injector;
    const int64_t word = ht_real_size(injector->fp64);
    const int64_t entries = list->begin[list->count];
    TRY(create(injector, 8 * list->count, &d->at));
    TRY(create(injector, 4 * (list->count + 1), &d->begin));
    TRY(create(injector, 4 * entries, &d->column));
    TRY(create(injector, word * entries, &d->weight));
    TRY(create(injector, word * table, &d->table));
    TRY(put(d->at, list->at, 8 * list->count));
    TRY(put(d->begin, list->begin, 4 * (list->count + 1)));
    TRY(put(d->column, list->column, 4 * entries));
    return put_reals(injector, d->weight, list->weight, entries);
}

void ht_fd_injected_destroy(struct ht_fd_injected *d) {
    if (d == NULL) return;
    ht_buffer_destroy(d->at);
    ht_buffer_destroy(d->begin);
    ht_buffer_destroy(d->column);
    ht_buffer_destroy(d->weight);
    ht_buffer_destroy(d->table);
    free(d);
}

enum ht_err ht_fd_injected_create(struct ht_fd_injector *injector,
                                  const struct ht_fd_injected_nodes *list, int64_t table,
                                  struct ht_fd_injected **out) {
    struct ht_fd_injected *d = NULL;
    *out = NULL;
    TRY(build(injector));
    TRY(HT_ALLOC(d, 1));
    d->injector = injector;
    const enum ht_err err = fill(d, list, table);
    return HT_MADE(err, d, ht_fd_injected_destroy, out);
}

enum ht_err ht_fd_injected_table(struct ht_fd_injected *d, int64_t count, const double *values) {
    return put_reals(d->injector, d->table, values, count);
}

/* ---- launch ---- */

enum ht_err ht_fd_inject(struct ht_fd_injected *d, int64_t first, int64_t last, int64_t row,
                         double sign, struct ht_buffer *x, struct ht_buffer *y) {
    struct ht_fd_injector *injector = d->injector;
    const struct ht_fd_inject_args args = {
        .first = (long)first, .count = (long)(last - first), .row = (long)row, .both = y != NULL};
    const float single = (float)sign;
    const int64_t groups[3] = {(last - first + injector->lanes - 1) / injector->lanes, 1, 1};
    const struct ht_arg arg[] = {
        {.value = &args, .size = sizeof args},
        {.value = injector->fp64 ? (const void *)&sign : (const void *)&single,
         .size = injector->fp64 ? sizeof sign : sizeof single},
        {.buffer = d->at},
        {.buffer = d->begin},
        {.buffer = d->column},
        {.buffer = d->weight},
        {.buffer = d->table},
        {.buffer = x},
        {.buffer = y != NULL ? y : x}};
    if (first == last) return HT_OK;
    return ht_kernel_launch(injector->kernel, 9, arg, groups, injector->lanes);
}
