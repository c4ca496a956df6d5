/* Sources of Hermite methods on a device: the program of cl/inject.cl for one precision and layout,
 * the lists and tables that it reads, its launches.
 */
#include "htwave/tool.h"

#include <stdlib.h>

#include "inject_args.h"

enum { LANES = 128 };

struct ht_injector {
    struct ht_device *device;
    struct ht_spec spec;
    int lanes;
    int storage[HT_MAX_COEFS], padded_coefs;
    char *cache; /* NULL: none */
    struct ht_program *program;
    struct ht_kernel *kernel;
};
struct ht_injected {
    struct ht_injector *injector;
    int fields, terms, columns, row_fields;
    int64_t row, table_values; /* row: values of one */
    struct ht_buffer *at, *begin, *wall, *column, *shape, *odd, *values, *table;
};

void ht_injector_destroy(struct ht_injector *injector) {
    if (injector == NULL) return;
    ht_kernel_destroy(injector->kernel);
    ht_program_destroy(injector->program);
    free(injector->cache);
    free(injector);
}

double ht_injector_seconds(struct ht_injector *injector) {
    return injector == NULL || injector->kernel == NULL ? 0 : ht_kernel_seconds(injector->kernel);
}

enum ht_err ht_injector_text(bool fp64, int block, int lanes, struct ht_text *out) {
    ht_text_add(out,
                "#define HT_DOUBLE %d\n#define HT_BLOCK %d\n"
                "#define HT_INJECT_ITEMS %d\n",
                fp64, block, lanes);
    TRY(ht_kernel_add_source("prelude.cl", out));
    TRY(ht_kernel_add_source("layout.h", out));
    TRY(ht_kernel_add_source("inject_args.h", out));
    TRY(ht_kernel_add_source("inject.cl", out));
    return ht_text_status(out);
}

enum ht_err ht_injector_create(struct ht_device *device, const struct ht_spec *spec,
                               const char *cache, struct ht_injector **out) {
    struct ht_injector *injector = NULL;
    *out = NULL;
    TRY(HT_ALLOC(injector, 1));
    injector->device = device;
    injector->spec = *spec;
    injector->padded_coefs = ht_storage_order(spec, injector->storage);
    injector->lanes = LANES;
    while (injector->lanes > ht_device_info(device)->max_group) injector->lanes /= 2;
    enum ht_err err = cache ? ht_text_copy(cache, &injector->cache) : HT_OK;
    return HT_MADE(err, injector, ht_injector_destroy, out);
}

static enum ht_err build(struct ht_injector *injector) {
    struct ht_text text = {0};
    if (injector->kernel != NULL) return HT_OK;
    enum ht_err err =
        ht_injector_text(injector->spec.fp64, injector->spec.block, injector->lanes, &text);
    if (err == HT_OK && injector->program == NULL)
        err = ht_program_build(injector->device, text.data, injector->cache, &injector->program);
    ht_text_free(&text);
    if (err != HT_OK) return ht_err_prefix(err, "kernel of sources");
    return ht_kernel_create(injector->program, "ht_inject", &injector->kernel);
}

/* ---- buffers ---- */

static int64_t values_of(const struct ht_inject_shapes *shapes, int coefs) {
    return shapes->count * shapes->fields * shapes->terms * coefs;
}

static int64_t row_of(const struct ht_inject_shapes *shapes, int row_fields) {
    return (int64_t)row_fields * shapes->columns * shapes->terms;
}

int64_t ht_injected_bytes(const struct ht_spec *spec, int64_t nodes, int64_t entries,
                          const struct ht_inject_shapes *shapes, int64_t rows, int row_fields) {
    int storage[HT_MAX_COEFS];
    const int coefs = ht_storage_order(spec, storage);
    const int64_t word = ht_real_size(spec->fp64), ints = 4;
    return nodes * (8 + 2 * ints) + ints + entries * 2 * ints +
           (int64_t)shapes->fields * coefs * ints +
           word * (values_of(shapes, coefs) + rows * row_of(shapes, row_fields));
}

static enum ht_err put(struct ht_injected *d, int64_t bytes, const void *data,
                       struct ht_buffer **out) {
    const struct ht_span span = {.width = bytes, .pitch = bytes, .rows = 1};
    TRY(ht_buffer_create(d->injector->device, bytes, out));
    return ht_buffer_write(*out, span, data);
}

static void set(bool fp64, void *to, int64_t at, double value) {
    if (fp64)
        ((double *)to)[at] = value;
    else
        ((float *)to)[at] = (float)value;
}

/* In storage order, with zeros in the gaps. */
static enum ht_err put_values(struct ht_injected *d, const struct ht_inject_shapes *shapes) {
    const struct ht_injector *injector = d->injector;
    const bool fp64 = injector->spec.fp64;
    const int64_t padded = injector->padded_coefs;
    const int64_t count = values_of(shapes, injector->padded_coefs);
    void *data = NULL;
    TRY(ht_mem_alloc((size_t)count, (size_t)ht_real_size(fp64), &data));
    for (int64_t row = 0; row < count / padded; row++)
        for (int i = 0; i < shapes->coefs; i++)
            set(fp64, data, row * padded + injector->storage[i],
                shapes->value[row * shapes->coefs + i]);
    const enum ht_err err = put(d, count * ht_real_size(fp64), data, &d->values);
    free(data);
    return err;
}

static enum ht_err put_odd(struct ht_injected *d, const struct ht_inject_shapes *shapes) {
    const struct ht_injector *injector = d->injector;
    const int padded = injector->padded_coefs;
    int *odd = NULL;
    TRY(HT_ALLOC(odd, (int64_t)shapes->fields * padded));
    for (int f = 0; f < shapes->fields; f++)
        for (int i = 0; i < shapes->coefs; i++)
            odd[f * padded + injector->storage[i]] = shapes->odd[f * shapes->coefs + i];
    const enum ht_err err = put(d, (int64_t)shapes->fields * padded * 4, odd, &d->odd);
    free(odd);
    return err;
}

static enum ht_err fill(struct ht_injected *d, const struct ht_inject_list *list,
                        const struct ht_inject_shapes *shapes) {
    const int64_t entries = list->begin[list->count];
    const int64_t word = ht_real_size(d->injector->spec.fp64);
    TRY(put(d, 8 * list->count, list->at, &d->at));
    TRY(put(d, 4 * (list->count + 1), list->begin, &d->begin));
    TRY(put(d, 4 * list->count, list->wall, &d->wall));
    TRY(put(d, 4 * entries, list->column, &d->column));
    TRY(put(d, 4 * entries, list->shape, &d->shape));
    TRY(put_odd(d, shapes));
    TRY(put_values(d, shapes));
    return ht_buffer_create(d->injector->device, word * d->table_values, &d->table);
}

void ht_injected_destroy(struct ht_injected *d) {
    if (d == NULL) return;
    ht_buffer_destroy(d->at);
    ht_buffer_destroy(d->begin);
    ht_buffer_destroy(d->wall);
    ht_buffer_destroy(d->column);
    ht_buffer_destroy(d->shape);
    ht_buffer_destroy(d->odd);
    ht_buffer_destroy(d->values);
    ht_buffer_destroy(d->table);
    free(d);
}

enum ht_err ht_injected_create(struct ht_injector *injector, const struct ht_inject_list *list,
                               const struct ht_inject_shapes *shapes, int64_t rows, int row_fields,
                               struct ht_injected **out) {
    struct ht_injected *d = NULL;
    *out = NULL;
    TRY(build(injector));
    TRY(HT_ALLOC(d, 1));
    d->injector = injector;
    d->fields = shapes->fields;
    d->terms = shapes->terms;
    d->columns = shapes->columns;
    d->row_fields = row_fields;
    d->row = row_of(shapes, row_fields);
    d->table_values = rows * d->row;
    const enum ht_err err = fill(d, list, shapes);
    return HT_MADE(err, d, ht_injected_destroy, out);
}

enum ht_err ht_injected_table(struct ht_injected *d, const double *values) {
    const bool fp64 = d->injector->spec.fp64;
    const int64_t bytes = d->table_values * ht_real_size(fp64);
    const struct ht_span span = {.width = bytes, .pitch = bytes, .rows = 1};
    void *data = NULL;
    if (fp64) return ht_buffer_write(d->table, span, values);
    TRY(ht_mem_alloc((size_t)d->table_values, 4, &data));
    for (int64_t i = 0; i < d->table_values; i++) set(false, data, i, values[i]);
    const enum ht_err err = ht_buffer_write(d->table, span, data);
    free(data);
    return err;
}

/* ---- launch ---- */

enum ht_err ht_inject(struct ht_injected *d, int64_t first, int64_t last, int64_t row, int field,
                      int64_t nodes, struct ht_buffer *u) {
    const struct ht_injector *injector = d->injector;
    const int64_t coefs = injector->padded_coefs, terms = d->terms;
    const struct ht_inject_args args = {
        .first = (long)first,
        .count = (long)(last - first),
        .nodes = (long)nodes,
        .row = (long)(row * d->row + (int64_t)(field % d->row_fields) * d->columns * terms),
        .size = (long)(d->fields * terms * coefs),
        .field = (long)(field * terms * coefs),
        .odd = (long)(field * coefs),
        .coefs = (int)coefs,
        .terms = d->terms};
    const int64_t groups[3] = {ht_divide_up((last - first) * coefs, injector->lanes), 1, 1};
    const struct ht_arg arg[] = {{.value = &args, .size = sizeof args},
                                 {.buffer = d->at},
                                 {.buffer = d->begin},
                                 {.buffer = d->wall},
                                 {.buffer = d->column},
                                 {.buffer = d->shape},
                                 {.buffer = d->odd},
                                 {.buffer = d->values},
                                 {.buffer = d->table},
                                 {.buffer = u}};
    if (first == last) return HT_OK;
    return ht_kernel_launch(injector->kernel, 10, arg, groups, injector->lanes);
}
