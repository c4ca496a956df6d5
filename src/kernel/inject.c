/* Sources on a device: the lists, shapes and amplitudes that cl/inject.cl reads, its launches. */
#include "tool_args.h"

#include "tool.h"

struct injector {
    struct ht_tool tool;
    int storage[HT_MAX_COEFS], padded_coefs;
};
enum { AT, BEGIN, WALL, COLUMN, SHAPE, ODD, VALUES, TABLE, BUFFERS };
struct ht_injected {
    struct injector *injector;
    struct ht_inject_shapes shapes; /* their numbers */
    int64_t rows;
    struct ht_buffer *buffer[BUFFERS];
};

/* Sources of finite differences have one value per node and entry. */
static int order_coefs(const struct ht_spec *spec, int storage[HT_MAX_COEFS]) {
    storage[0] = 0;
    return spec->differences > 0 ? 1 : ht_storage_order(spec, storage);
}

HT_ERR ht_injector_create(struct ht_device *device, const struct ht_spec *spec,
                          struct ht_tool **out) {
    const bool shaped = spec->differences == 0;
    const struct ht_recipe recipe = {
        .what = "kernel of sources",
        .fp64 = spec->fp64,
        .items = 128,
        .number = {{"BLOCK", shaped ? spec->block : 1}, {"INJECT_SHAPED", shaped}},
        .file = {"layout.h", "tool_args.h", "inject.cl"},
        .entry = {"ht_inject"}};
    struct injector own = {.padded_coefs = 0};
    own.padded_coefs = order_coefs(spec, own.storage);
    return ht_tool_create(device, &recipe, &own, sizeof own, out);
}

/* ---- buffers ---- */

static int64_t values_of(const struct ht_inject_shapes *shapes, int coefs) {
    return shapes->count * shapes->fields * shapes->terms * coefs;
}

static int64_t row_of(const struct ht_inject_shapes *shapes) {
    return (int64_t)shapes->columns * shapes->terms;
}

int64_t ht_injected_bytes(const struct ht_spec *spec, int64_t nodes, int64_t entries,
                          const struct ht_inject_shapes *shapes, int64_t rows) {
    int storage[HT_MAX_COEFS];
    const int coefs = order_coefs(spec, storage);
    const int64_t word = spec->fp64 ? 8 : 4, ints = 4;
    return nodes * (8 + 2 * ints) + ints + entries * 2 * ints +
           (int64_t)shapes->fields * coefs * ints +
           word * (values_of(shapes, coefs) + rows * row_of(shapes));
}

/* In storage order, with zeros in the gaps. */
static HT_ERR put_values(struct ht_injected *d, const struct ht_inject_shapes *shapes) {
    const struct injector *injector = d->injector;
    const int64_t padded = injector->padded_coefs, count = values_of(shapes, (int)padded);
    HT_ARRAY(double, values, count);
    for (int64_t row = 0; row < count / padded; row++)
        for (int i = 0; i < shapes->coefs; i++)
            values[row * padded + injector->storage[i]] = shapes->value[row * shapes->coefs + i];
    return ht_tool_store_reals(&injector->tool, count, values, &d->buffer[VALUES]);
}

static HT_ERR put_odd(struct ht_injected *d, const struct ht_inject_shapes *shapes) {
    const struct injector *injector = d->injector;
    const int padded = injector->padded_coefs;
    HT_ARRAY(int, odd, ((int64_t)shapes->fields * padded));
    for (int f = 0; f < shapes->fields; f++)
        for (int i = 0; i < shapes->coefs; i++)
            odd[f * padded + injector->storage[i]] = shapes->odd[f * shapes->coefs + i];
    return ht_tool_store(&injector->tool, (int64_t)shapes->fields * padded * 4, odd,
                         &d->buffer[ODD]);
}

static HT_ERR fill(struct ht_injected *d, const struct ht_inject_list *list,
                   const struct ht_inject_shapes *shapes) {
    const struct ht_tool *tool = &d->injector->tool;
    const int64_t entries = list->begin[list->count];
    TRY(ht_tool_store(tool, 8 * list->count, list->at, &d->buffer[AT]));
    TRY(ht_tool_store(tool, 4 * (list->count + 1), list->begin, &d->buffer[BEGIN]));
    TRY(ht_tool_store(tool, 4 * entries, list->column, &d->buffer[COLUMN]));
    TRY(ht_tool_store_reals(tool, d->rows * row_of(shapes), NULL, &d->buffer[TABLE]));
    if (list->shape == NULL)
        return ht_tool_store_reals(tool, entries, shapes->value, &d->buffer[VALUES]);
    TRY(ht_tool_store(tool, 4 * list->count, list->wall, &d->buffer[WALL]));
    TRY(ht_tool_store(tool, 4 * entries, list->shape, &d->buffer[SHAPE]));
    TRY(put_odd(d, shapes));
    return put_values(d, shapes);
}

void ht_injected_destroy(struct ht_injected *d) {
    if (d == NULL) return;
    for (int i = 0; i < BUFFERS; i++) ht_buffer_destroy(d->buffer[i]);
    free(d);
}

HT_ERR ht_injected_create(struct ht_tool *injector, const struct ht_inject_list *list,
                          const struct ht_inject_shapes *shapes, int64_t rows,
                          struct ht_injected **out) {
    struct ht_injected *d = NULL;
    *out = NULL;
    TRY(ht_tool_build(injector));
    TRY(HT_ALLOC(d, 1));
    d->injector = (struct injector *)injector;
    d->shapes = *shapes;
    d->rows = rows;
    const enum ht_err err = fill(d, list, shapes);
    return HT_MADE(err, d, ht_injected_destroy, out);
}

HT_ERR ht_injected_table(struct ht_injected *d, const double *values) {
    return ht_buffer_write_reals(d->buffer[TABLE], d->injector->tool.recipe.fp64, 0,
                                 d->rows * row_of(&d->shapes), values);
}

HT_ERR ht_inject(struct ht_injected *d, int64_t first, int64_t last, int64_t row, int field,
                 int64_t nodes, struct ht_buffer *u, struct ht_buffer *v) {
    struct injector *injector = d->injector;
    const struct ht_inject_shapes *shapes = &d->shapes;
    const int64_t coefs = injector->padded_coefs, size = shapes->terms * coefs;
    const struct ht_inject_args args = {.first = (long)first,
                                        .count = (long)(last - first),
                                        .nodes = (long)nodes,
                                        .row = (long)(row * row_of(shapes)),
                                        .size = (long)(shapes->fields * size),
                                        .field = (long)(field * size),
                                        .odd = (long)(field * coefs),
                                        .coefs = (int)coefs,
                                        .terms = shapes->terms,
                                        .both = v != NULL};
    const int64_t groups[3] = {ht_divide_up((last - first) * coefs, injector->tool.recipe.items), 1,
                               1};
    struct ht_arg arg[3 + BUFFERS] = {{.value = &args, .size = sizeof args}};
    for (int i = 0; i < BUFFERS; i++)
        arg[1 + i].buffer = d->buffer[i] != NULL ? d->buffer[i] : d->buffer[BEGIN];
    arg[1 + BUFFERS].buffer = u;
    arg[2 + BUFFERS].buffer = v != NULL ? v : u;
    if (first == last) return HT_OK;
    return ht_tool_launch(&injector->tool, HT_PART_INTERIOR, 0, groups, 3 + BUFFERS, arg);
}
