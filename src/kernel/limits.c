/* Measures a device's copy bandwidth and multiply-add rate, the limits that the summary's
 * limit_fraction refers to (roofline model). Best of several launches; takes a few tens of
 * milliseconds on a GPU, a fraction of a second on a CPU, and is kept. */
#include "tool.h"

/* A work-item copies COPIES values, all loads before the stores. */
enum { GROUP_SIZE = 128, COPIES = 8, CHAINS = 12, ROUNDS = 64, REPEATS = 5 };

enum { COPY, FMA }; /* entries */
enum { FROM, TO };  /* buffers */

/* Best rate of several launches, until they have taken long enough; each does `work`. */
static HT_ERR best(struct ht_tool *tool, int entry, int64_t groups, int group_size, double work,
                   double *rate) {
    struct ht_kernel *kernel = tool->kernel[HT_PART_INTERIOR][entry];
    const struct ht_arg args[2] = {{.buffer = tool->buffer[FROM]}, {.buffer = tool->buffer[TO]}};
    const int64_t range[3] = {groups, 1, 1};
    const double enough = 0.05;
    double spent = 0;
    *rate = 0;
    for (int r = 0; r < REPEATS && spent < enough; r++) {
        TRY(ht_kernel_launch(kernel, 2, args, range, group_size));
        TRY(ht_device_finish(tool->device));
        double seconds = ht_kernel_seconds(kernel);
        if (seconds > 0) *rate = fmax(*rate, work / seconds);
        spent += seconds;
    }
    return HT_OK;
}

/* Multiply-adds: values per work-item, work-items per group, how often all rounds are repeated. */
struct work {
    int width, items, turns;
};

static HT_ERR measure(struct ht_tool *tool, const struct work *by, struct ht_limits *out) {
    const struct ht_device_info *info = ht_device_info(tool->device);
    const int bytes = ht_real_size(tool->recipe.fp64), per_group = GROUP_SIZE * COPIES;
    /* Much larger than the caches of a GPU; small enough to be quick on a CPU. */
    const int64_t room = ht_least((int64_t)1 << (info->gpu ? 29 : 25), info->memory / 16);
    const int64_t copied = room / bytes / per_group;
    const double multiplier = 0.999, pair[2] = {multiplier, 1 - multiplier};
    TRY(ht_tool_build(tool));
    for (int i = 0; i < 2; i++)
        TRY(ht_tool_store_reals(tool, copied * per_group, NULL, &tool->buffer[i]));
    TRY(ht_buffer_write_reals(tool->buffer[FROM], tool->recipe.fp64, 0, 2, pair));
    TRY(best(tool, COPY, copied, GROUP_SIZE, 2.0 * (double)(copied * per_group) * bytes,
             &out->bytes_per_s));
    /* one of so many parts of the values */
    const int64_t of_group = (int64_t)by->width * by->items * by->turns;
    const int64_t groups = copied * per_group / of_group / (info->gpu ? 1 : 16);
    return best(tool, FMA, groups, by->items, CHAINS * ROUNDS * (double)(groups * of_group),
                &out->fma_per_s);
}

HT_ERR ht_limits_measure(struct ht_device *device, bool fp64, bool anew, struct ht_limits *out) {
    const struct ht_device_info *info = ht_device_info(device);
    const char *name = HT_KEY("limits of %d units, %s", info->compute_units, ht_real_name(fp64));
    if (!anew && ht_device_recall(device, name, out, sizeof *out)) return HT_OK;
    const struct work by = {.width = info->gpu ? 1 : 64 / ht_real_size(fp64),
                            .items = info->gpu ? GROUP_SIZE : 1,
                            .turns = info->gpu ? 1 : GROUP_SIZE};
    const struct ht_recipe recipe = {.what = "kernels of limits",
                                     .fp64 = fp64,
                                     .number = {{"LIMIT_ITEMS", GROUP_SIZE},
                                                {"LIMIT_COPIES", COPIES},
                                                {"LIMIT_CHAINS", CHAINS},
                                                {"LIMIT_ROUNDS", ROUNDS},
                                                {"WIDTH", by.width},
                                                {"LIMIT_FMA_ITEMS", by.items},
                                                {"LIMIT_TURNS", by.turns}},
                                     .file = {"loose.cl", "limits.cl"},
                                     .entry = {[COPY] = "ht_limit_copy", [FMA] = "ht_limit_fma"}};
    struct ht_tool *tool = NULL;
    TRY(ht_tool_create(device, &recipe, &(struct ht_tool){.device = NULL}, sizeof *tool, &tool));
    const enum ht_err err = measure(tool, &by, out);
    ht_tool_destroy(tool);
    if (err == HT_OK) ht_device_remember(device, name, out, sizeof *out);
    return err;
}
