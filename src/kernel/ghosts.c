/* The kernel that fills ghosts: the program of cl/ghosts.cl for one precision, layout and number of
 * fields, and its launches.
 */
#include <stdlib.h>

#include "counts.h"
#include "ghost_args.h"

enum { MOST_ITEMS = 128, BLOCKS = 8 };

struct ht_ghosts {
    struct ht_device *device;
    struct ht_spec spec;
    int fields, padded_coefs, group_size;
    char *cache; /* NULL: none */
    struct ht_program *program;
    struct ht_kernel *fill;
    struct ht_buffer *bits; /* parity, [field][storage index] */
};

void ht_ghosts_destroy(struct ht_ghosts *g) {
    if (g == NULL) return;
    ht_kernel_destroy(g->fill);
    ht_program_destroy(g->program);
    ht_buffer_destroy(g->bits);
    free(g->cache);
    free(g);
}

enum ht_err ht_ghosts_text(const struct ht_spec *spec, int fields, int padded_coefs, int group_size,
                           struct ht_text *out) {
    ht_text_add(out,
                "#define HT_DOUBLE %d\n#define HT_BLOCK %d\n"
                "#define HT_GHOST_ITEMS %d\n#define HT_GHOST_BLOCKS %d\n"
                "#define HT_GHOST_COEFS %d\n"
                "#define HT_EACH_GHOST_FIELD(X)",
                spec->fp64, spec->block, group_size, BLOCKS, padded_coefs);
    for (int f = 0; f < fields; f++) ht_text_add(out, " X(%d)", f);
    ht_text_add(out, "\n");
    TRY(ht_kernel_add_source("prelude.cl", out));
    TRY(ht_kernel_add_source("packs.cl", out));
    TRY(ht_kernel_add_source("ghost_args.h", out));
    TRY(ht_kernel_add_source("ghosts.cl", out));
    return ht_text_status(out);
}

enum ht_err ht_ghosts_create(struct ht_device *device, const struct ht_spec *spec,
                             const char *cache, struct ht_ghosts **out) {
    struct ht_ghosts *g = NULL;
    int storage[HT_MAX_COEFS];
    *out = NULL;
    TRY(HT_ALLOC(g, 1));
    g->device = device;
    g->spec = *spec;
    g->fields = ht_sizes_of(spec).sources;
    g->padded_coefs = ht_storage_order(spec, storage);
    g->group_size = MOST_ITEMS;
    while (g->group_size > 1 && g->group_size > ht_device_info(device)->max_group)
        g->group_size /= 2;
    enum ht_err err = cache ? ht_text_copy(cache, &g->cache) : HT_OK;
    return HT_MADE(err, g, ht_ghosts_destroy, out);
}

static enum ht_err upload_bits(struct ht_ghosts *g) {
    const struct ht_sizes z = ht_sizes_of(&g->spec);
    int storage[HT_MAX_COEFS], *bits = NULL;
    int64_t bytes = (int64_t)g->fields * g->padded_coefs * (int64_t)sizeof *bits;
    struct ht_span span = {.width = bytes, .pitch = bytes, .rows = 1};
    ht_storage_order(&g->spec, storage);
    TRY(HT_ALLOC(bits, (int64_t)g->fields * g->padded_coefs));
    for (int f = 0; f < g->fields; f++)
        for (int i = 0; i < z.n1 * z.n2 * z.n3; i++)
            bits[f * g->padded_coefs + storage[i]] =
                (int)g->spec.eq->field[z.source_field[f]].parity ^ ht_parity_of(&z, i);
    enum ht_err err = ht_buffer_create(g->device, bytes, &g->bits);
    if (err == HT_OK) err = ht_buffer_write(g->bits, span, bits);
    free(bits);
    return err;
}

enum ht_err ht_ghosts_build(struct ht_ghosts *g) {
    struct ht_text text = {0};
    if (g->fill != NULL) return HT_OK;
    enum ht_err err = ht_ghosts_text(&g->spec, g->fields, g->padded_coefs, g->group_size, &text);
    if (err == HT_OK && g->program == NULL)
        err = ht_program_build(g->device, text.data, g->cache, &g->program);
    ht_text_free(&text);
    if (err == HT_OK && g->bits == NULL) err = upload_bits(g);
    if (err != HT_OK) return ht_err_prefix(err, "kernel of ghosts");
    return ht_kernel_create(g->program, "ht_fill_ghosts", &g->fill);
}

enum ht_err ht_ghosts_fill(struct ht_ghosts *g, const struct ht_ghost_args *args,
                           struct ht_buffer *const *u) {
    const int64_t blocks = g->padded_coefs / g->spec.block;
    const int64_t groups[3] = {(args->ghosts + g->group_size - 1) / g->group_size,
                               (blocks + BLOCKS - 1) / BLOCKS, g->fields};
    struct ht_arg arg[2 + HT_MAX_FIELDS] = {{.value = args, .size = sizeof *args}};
    if (args->ghosts == 0) return HT_OK;
    TRY(ht_ghosts_build(g));
    arg[1].buffer = g->bits;
    for (int f = 0; f < g->fields; f++) arg[2 + f].buffer = u[f];
    return ht_kernel_launch(g->fill, 2 + g->fields, arg, groups, g->group_size);
}

double ht_ghosts_seconds(struct ht_ghosts *g) {
    return g != NULL && g->fill != NULL ? ht_kernel_seconds(g->fill) : 0;
}

double ht_ghosts_total(const struct ht_ghosts *g) {
    return g != NULL && g->fill != NULL ? ht_kernel_total(g->fill) : 0;
}
