/* The sponge of Hermite methods on a device: the program of cl/sponge.cl for one precision, layout
 * and order, and its launches. */
#include "tool_args.h"

#include "tool.h"

struct sponge {
    struct ht_tool tool;
    int coefs, lines; /* coefs: N+1; lines: of coefficients along an axis */
};

/* Storage indices [axis][line][i] of the lines of coefficients. */
static HT_ERR upload_lines(struct sponge *sponge, const struct ht_spec *spec) {
    const int n = sponge->coefs, lines = sponge->lines, dims = spec->eq->dims;
    int storage[HT_MAX_COEFS];
    ht_storage_order(spec, storage);
    HT_ARRAY(int, at, ((int64_t)dims * lines * n));
    for (int k = 0, stride = 1; k < dims; k++, stride *= n)
        for (int line = 0; line < lines; line++)
            for (int i = 0; i < n; i++)
                at[(k * lines + line) * n + i] =
                    storage[line % stride + (line / stride * n + i) * stride];
    return ht_tool_store(&sponge->tool, (int64_t)dims * lines * n * (int64_t)sizeof *at, at,
                         &sponge->tool.buffer[0]);
}

HT_ERR ht_sponge_create(struct ht_device *device, const struct ht_spec *spec,
                        struct ht_tool **out) {
    const int coefs = spec->order + 1;
    const int lines = spec->eq->dims > 2 ? coefs * coefs : spec->eq->dims > 1 ? coefs : 1;
    const struct ht_recipe recipe = {
        .what = "kernel of a sponge",
        .fp64 = spec->fp64,
        .items = 128,
        .number = {{"BLOCK", spec->block}, {"SPONGE_N", coefs}, {"SPONGE_LINES", lines}},
        .file = {"layout.h", "tool_args.h", "sponge.cl"},
        .entry = {"ht_sponge"},
        .parts = true,
        .now = true};
    const struct sponge own = {.coefs = coefs, .lines = lines};
    TRY(ht_tool_create(device, &recipe, &own, sizeof own, out));
    return ht_tool_keep(upload_lines((struct sponge *)*out, spec), out);
}

HT_ERR ht_sponge_multiply(struct ht_tool *tool, enum ht_step_part part,
                          const struct ht_sponge_args *args, struct ht_buffer *jets,
                          struct ht_buffer *u) {
    const int64_t nodes = args->count[0] * args->count[1] * args->count[2];
    const int64_t groups[3] = {ht_divide_up(nodes, tool->recipe.items),
                               ((struct sponge *)tool)->lines, 1};
    if (nodes == 0) return HT_OK;
    return ht_tool_launch(
        tool, part, 0, groups,
        HT_ARGS(HT_VALUE(*args), HT_BUFFER(tool->buffer[0]), HT_BUFFER(jets), HT_BUFFER(u)));
}
