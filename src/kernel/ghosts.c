/* The kernel that fills ghosts, for one precision, layout and number of fields: cl/ghosts.cl. */
#include "counts.h"
#include "tool.h"
#include "tool_args.h"

enum { BLOCKS = 8 };

struct ghosts {
    struct ht_tool tool;
    int fields, blocks; /* blocks: of coefficients */
};

/* Parity, [field][storage index]. */
static HT_ERR upload_bits(struct ghosts *g, const struct ht_spec *spec, int padded_coefs) {
    int storage[HT_MAX_COEFS];
    HT_ARRAY(int, bits, ((int64_t)g->fields * padded_coefs));
    const struct ht_sizes z = ht_sizes_of(spec);
    ht_storage_order(spec, storage);
    for (int f = 0; f < g->fields; f++)
        for (int i = 0; i < z.coefs; i++)
            bits[f * padded_coefs + storage[i]] =
                (int)spec->eq->field[z.source_field[f]].parity ^ ht_parity_of(&z, i);
    return ht_tool_store(&g->tool, (int64_t)g->fields * padded_coefs * (int64_t)sizeof *bits, bits,
                         &g->tool.buffer[0]);
}

HT_ERR ht_ghosts_create(struct ht_device *device, const struct ht_spec *spec,
                        struct ht_tool **out) {
    int storage[HT_MAX_COEFS];
    const int fields = ht_sizes_of(spec).sources, coefs = ht_storage_order(spec, storage);
    const struct ht_recipe recipe = {.what = "kernel of ghosts",
                                     .fp64 = spec->fp64,
                                     .items = 128,
                                     .number = {{"BLOCK", spec->block}, {"GHOST_BLOCKS", BLOCKS}},
                                     .each = {"EACH_GHOST_FIELD", fields},
                                     .file = {"packs.cl", "tool_args.h", "ghosts.cl"},
                                     .entry = {"ht_fill_ghosts"}};
    const struct ghosts own = {.fields = fields, .blocks = coefs / spec->block};
    TRY(ht_tool_create(device, &recipe, &own, sizeof own, out));
    return ht_tool_keep(upload_bits((struct ghosts *)*out, spec, coefs), out);
}

HT_ERR ht_ghosts_fill(struct ht_tool *tool, const struct ht_ghost_args *args,
                      struct ht_buffer *const *u) {
    const struct ghosts *g = (struct ghosts *)tool;
    const int64_t groups[3] = {ht_divide_up(args->ghosts, tool->recipe.items),
                               ht_divide_up(g->blocks, BLOCKS), g->fields};
    struct ht_ghost_args own = *args;
    struct ht_arg arg[2 + HT_MAX_FIELDS] = {{.value = &own, .size = sizeof own},
                                            {.buffer = tool->buffer[0]}};
    if (own.ghosts == 0) return HT_OK;
    own.blocks = g->blocks;
    for (int f = 0; f < g->fields; f++) arg[2 + f].buffer = u[f];
    return ht_tool_launch(tool, HT_PART_INTERIOR, 0, groups, 2 + g->fields, arg);
}
