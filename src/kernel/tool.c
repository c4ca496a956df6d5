/* What all tools do: see tool.h. */
#include "tool.h"

const struct ht_device_info *ht_tool_info(const struct ht_device *device) {
    static const struct ht_device_info any = {.gpu = true, .fp64 = true, .max_group = 1024};
    return device != NULL ? ht_device_info(device) : &any;
}

static HT_ERR add_file(const char *name, struct ht_text *out) {
    for (int i = 0; ht_kernel_sources[i].name != NULL; i++)
        if (strcmp(ht_kernel_sources[i].name, name) == 0) {
            ht_text_add(out, "%s", ht_kernel_sources[i].text);
            return HT_OK;
        }
    FAIL(HT_ERR_INTERNAL, "no kernel file %s", name);
}

HT_ERR ht_recipe_write(const struct ht_recipe *r, struct ht_text *out) {
    ht_text_add(out, "#define HT_DOUBLE %d\n#define HT_TOOL_ITEMS %d\n", r->fp64, r->items);
    for (int i = 0; i < HT_RECIPE_NUMBERS && r->number[i].name != NULL; i++)
        ht_text_add(out, "#define HT_%s %d\n", r->number[i].name, r->number[i].value);
    if (r->each.name != NULL) ht_text_add(out, "#define HT_%s(X)", r->each.name);
    for (int i = 0; i < r->each.count; i++) ht_text_add(out, " X(%d)", i);
    ht_text_add(out, "\n");
    TRY(add_file("prelude.cl", out));
    if (r->definitions != NULL) ht_text_add(out, "%s", r->definitions);
    for (int i = 0; i < HT_MAX_FILES && r->file[i] != NULL; i++) TRY(add_file(r->file[i], out));
    return ht_text_status(out);
}

HT_ERR ht_tool_create(struct ht_device *device, const struct ht_recipe *recipe, const void *own,
                      size_t size, void *out) {
    struct ht_tool *tool = NULL;
    *(void **)out = NULL;
    TRY(ht_mem_alloc(1, size, &tool));
    memcpy(tool, own, size);
    *tool = (struct ht_tool){.device = device, .recipe = *recipe};
    while (tool->recipe.items > 1 && tool->recipe.items > ht_tool_info(device)->max_group)
        tool->recipe.items /= 2;
    enum ht_err err = ht_recipe_write(&tool->recipe, &tool->text);
    tool->recipe.definitions = NULL;
    if (err == HT_OK && device != NULL && recipe->fp64 && !ht_device_info(device)->fp64)
        err = ht_err_set(HT_ERR_DEVICE, "device.precision = \"double\": %s has no double precision",
                         ht_device_info(device)->name);
    if (err == HT_OK && recipe->now) err = ht_tool_build(tool);
    return HT_MADE(err, tool, ht_tool_destroy, (struct ht_tool **)out);
}

void ht_tool_destroy(struct ht_tool *tool) {
    if (tool == NULL) return;
    ht_tool_destroy(tool->next);
    for (int i = 0; i < 2 * HT_TOOL_ENTRIES; i++)
        ht_kernel_destroy(tool->kernel[i / HT_TOOL_ENTRIES][i % HT_TOOL_ENTRIES]);
    for (int i = 0; i < HT_TOOL_BUFFERS; i++) ht_buffer_destroy(tool->buffer[i]);
    ht_program_destroy(tool->program);
    ht_text_free(&tool->text);
    free(tool);
}

enum ht_err ht_tool_keep(enum ht_err err, struct ht_tool **tool) {
    if (err == HT_OK) return HT_OK;
    ht_tool_destroy(*tool);
    *tool = NULL;
    return err;
}

const char *ht_tool_text(const struct ht_tool *tool) {
    return tool->text.data;
}

HT_ERR ht_tool_build(struct ht_tool *tool) {
    const struct ht_recipe *r = &tool->recipe;
    if (tool->program != NULL || tool->device == NULL) return HT_OK;
    enum ht_err err = ht_program_build(tool->device, tool->text.data, &tool->program);
    for (int part = 0; part <= r->parts; part++)
        for (int i = 0; err == HT_OK && i < HT_TOOL_ENTRIES; i++)
            if (r->entry[i] != NULL)
                err = ht_kernel_create(tool->program, r->entry[i], &tool->kernel[part][i]);
    return err == HT_OK || r->what == NULL ? err : ht_err_prefix(err, "%s", r->what);
}

bool ht_tool_cached(const struct ht_tool *tool) {
    return ht_program_cached(tool->program) && (tool->next == NULL || ht_tool_cached(tool->next));
}

HT_ERR ht_tool_launch(struct ht_tool *tool, enum ht_step_part part, int entry,
                      const int64_t groups[3], int count, const struct ht_arg *args) {
    TRY(ht_tool_build(tool));
    return ht_kernel_launch(tool->kernel[tool->recipe.parts ? part : 0][entry], count, args, groups,
                            tool->recipe.items);
}

void ht_tool_add_seconds(struct ht_tool *tool, double seconds[2]) {
    for (; tool != NULL; tool = tool->next)
        for (int i = 0; i < 2 * HT_TOOL_ENTRIES; i++) {
            const int entry = i % HT_TOOL_ENTRIES;
            struct ht_kernel *kernel = tool->kernel[i / HT_TOOL_ENTRIES][entry];
            if (kernel != NULL) seconds[entry == 1] += ht_kernel_seconds(kernel);
        }
}

double ht_tool_total(const struct ht_tool *tool, enum ht_step_part part) {
    double seconds = 0;
    for (; tool != NULL; tool = tool->next)
        for (int i = 0; i < HT_TOOL_ENTRIES; i++)
            if (tool->kernel[part][i] != NULL) seconds += ht_kernel_total(tool->kernel[part][i]);
    return seconds;
}

/* ---- numbers ---- */

struct ht_arg ht_tool_reals(const struct ht_tool *tool, int count, double *values) {
    const size_t size = (size_t)ht_real_size(tool->recipe.fp64);
    for (int i = 0; !tool->recipe.fp64 && i < count; i++) {
        const float single = (float)values[i];
        memcpy((char *)values + size * (size_t)i, &single, size);
    }
    return (struct ht_arg){.value = values, .size = size * (size_t)count};
}

int ht_tool_buffers(unsigned numbers, struct ht_buffer *const *buffer, struct ht_arg *arg, int n) {
    HT_EACH_BIT(i, numbers) arg[n++] = (struct ht_arg){.buffer = buffer[i]};
    return n;
}

HT_ERR ht_tool_store(const struct ht_tool *tool, int64_t bytes, const void *data,
                     struct ht_buffer **out) {
    const struct ht_span span = {.width = bytes, .pitch = bytes, .rows = 1};
    if (tool->device == NULL) return HT_OK;
    TRY(ht_buffer_create(tool->device, bytes, out));
    return data != NULL ? ht_buffer_write(*out, span, data) : HT_OK;
}

HT_ERR ht_tool_store_reals(const struct ht_tool *tool, int64_t count, const double *values,
                           struct ht_buffer **out) {
    const bool fp64 = tool->recipe.fp64;
    if (tool->device == NULL) return HT_OK;
    if (values == NULL) return ht_buffer_create(tool->device, count * ht_real_size(fp64), out);
    return ht_buffer_create_reals(tool->device, fp64, count, values, out);
}
