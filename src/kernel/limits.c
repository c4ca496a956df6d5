/* Measures a device's copy bandwidth and multiply-add rate, the limits that the summary's
 * limit_fraction refers to (roofline model). Best of several launches; takes a few tens of
 * milliseconds on a GPU, a fraction of a second on a CPU. */
#include "tool.h"

/* A work-item copies COPIES values, all loads before the stores. */
enum { GROUP_SIZE = 128, COPIES = 8, CHAINS = 12, ROUNDS = 64, REPEATS = 5 };

enum { COPY, FMA }; /* entries */
enum { FROM, TO };  /* buffers */

struct bench {
    struct ht_tool tool;
    int element_size;
    /* Multiply-adds: values per work-item, work-items per group, and how often a work-item repeats
     * all rounds. */
    int width, group_size, turns;
    int parts; /* one of so many parts of the values */
    int64_t values;
};

/* Best rate of several launches, until they have taken long enough; each does `work`. */
static enum ht_err best(struct bench *b, int entry, int64_t groups, int group_size, double work,
                        double *rate) {
    struct ht_kernel *kernel = b->tool.kernel[HT_PART_INTERIOR][entry];
    const struct ht_arg args[2] = {{.buffer = b->tool.buffer[FROM]},
                                   {.buffer = b->tool.buffer[TO]}};
    const int64_t range[3] = {groups, 1, 1};
    const double enough = 0.05;
    double spent = 0;
    *rate = 0;
    for (int r = 0; r < REPEATS && spent < enough; r++) {
        TRY(ht_kernel_launch(kernel, 2, args, range, group_size));
        TRY(ht_device_finish(b->tool.device));
        double seconds = ht_kernel_seconds(kernel);
        if (seconds > 0) *rate = fmax(*rate, work / seconds);
        spent += seconds;
    }
    return HT_OK;
}

static enum ht_err measure(struct bench *b, struct ht_limits *out) {
    const int64_t per_group = (int64_t)GROUP_SIZE * COPIES;
    double values = (double)b->values;
    TRY(ht_tool_build(&b->tool));
    const double multiplier = 0.999;
    const double pair[2] = {multiplier, 1 - multiplier};
    int64_t bytes = b->values * b->element_size;
    TRY(ht_buffer_create(b->tool.device, bytes, &b->tool.buffer[FROM]));
    TRY(ht_buffer_create(b->tool.device, bytes, &b->tool.buffer[TO]));
    TRY(ht_buffer_write_reals(b->tool.buffer[FROM], b->element_size == 8, 0, 2, pair));
    TRY(best(b, COPY, b->values / per_group, GROUP_SIZE, 2 * values * b->element_size,
             &out->bytes_per_s));
    int64_t groups = b->values / b->width / b->group_size / b->turns / b->parts;
    double done = (double)groups * b->group_size * b->width * b->turns;
    return best(b, FMA, groups, b->group_size, CHAINS * ROUNDS * done, &out->fma_per_s);
}

enum ht_err ht_limits_measure(struct ht_device *device, bool fp64, struct ht_limits *out) {
    const struct ht_device_info *info = ht_device_info(device);
    const int64_t per_group = (int64_t)GROUP_SIZE * COPIES;
    const int element_size = fp64 ? 8 : 4, width = info->gpu ? 1 : 64 / element_size;
    const int group_size = info->gpu ? GROUP_SIZE : 1, turns = info->gpu ? 1 : GROUP_SIZE;
    const struct ht_recipe recipe = {.what = "kernels of limits",
                                     .fp64 = fp64,
                                     .number = {{"LIMIT_ITEMS", GROUP_SIZE},
                                                {"LIMIT_COPIES", COPIES},
                                                {"LIMIT_CHAINS", CHAINS},
                                                {"LIMIT_ROUNDS", ROUNDS},
                                                {"WIDTH", width},
                                                {"LIMIT_FMA_ITEMS", group_size},
                                                {"LIMIT_TURNS", turns}},
                                     .file = {"limits.cl"},
                                     .entry = {[COPY] = "ht_limit_copy", [FMA] = "ht_limit_fma"}};
    /* Much larger than the caches of a GPU; small enough to be quick on a CPU. */
    const int64_t bytes = ht_least((int64_t)1 << (info->gpu ? 29 : 25), info->memory / 16);
    struct bench *b = NULL;
    TRY(ht_tool_create(device, &recipe, sizeof *b, &b));
    b->element_size = element_size;
    b->width = width;
    b->group_size = group_size;
    b->turns = turns;
    b->parts = info->gpu ? 1 : 16;
    b->values = bytes / element_size / per_group * per_group;
    enum ht_err err = measure(b, out);
    ht_tool_destroy(&b->tool);
    return err;
}
