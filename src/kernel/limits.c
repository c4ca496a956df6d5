/* Measures a device's copy bandwidth and multiply-add rate, the limits that the summary's
 * limit_fraction refers to (roofline model). Best of several launches; takes a few tens of
 * milliseconds on a GPU, a fraction of a second on a CPU.
 */
#include <math.h>

#include "htwave/kernel.h"

/* A work-item copies COPIES values, all loads before the stores. */
enum { GROUP_SIZE = 128, COPIES = 8, CHAINS = 12, ROUNDS = 64, REPEATS = 5 };

struct bench {
    struct ht_device *device;
    struct ht_buffer *from, *to;
    struct ht_program *program;
    struct ht_kernel *copy, *fma;
    int element_size;
    /* Multiply-adds: values per work-item, work-items per group, and how often a work-item repeats
     * all rounds. */
    int width, group_size, turns;
    int parts; /* one of so many parts of the values */
    int64_t values;
};

static void end(struct bench *b) {
    ht_kernel_destroy(b->copy);
    ht_kernel_destroy(b->fma);
    ht_program_destroy(b->program);
    ht_buffer_destroy(b->from);
    ht_buffer_destroy(b->to);
}

static enum ht_err build(struct bench *b, const char *cache) {
    struct ht_text text = {0};
    ht_text_add(&text,
                "#define HT_DOUBLE %d\n#define HT_LIMIT_ITEMS %d\n"
                "#define HT_LIMIT_COPIES %d\n#define HT_LIMIT_CHAINS %d\n"
                "#define HT_LIMIT_ROUNDS %d\n#define HT_WIDTH %d\n"
                "#define HT_LIMIT_FMA_ITEMS %d\n#define HT_LIMIT_TURNS %d\n",
                b->element_size == 8, GROUP_SIZE, COPIES, CHAINS, ROUNDS, b->width, b->group_size,
                b->turns);
    enum ht_err err = ht_kernel_add_source("prelude.cl", &text);
    if (err == HT_OK) err = ht_kernel_add_source("limits.cl", &text);
    if (err == HT_OK) err = ht_text_status(&text);
    if (err == HT_OK) err = ht_program_build(b->device, text.data, cache, &b->program);
    ht_text_free(&text);
    return err;
}

static enum ht_err fill(struct bench *b) {
    const double multiplier = 0.999;
    const double pair64[2] = {multiplier, 1 - multiplier};
    const float pair32[2] = {(float)pair64[0], (float)pair64[1]};
    int64_t bytes = b->values * b->element_size;
    TRY(ht_buffer_create(b->device, bytes, &b->from));
    TRY(ht_buffer_create(b->device, bytes, &b->to));
    const int64_t width = 2 * (int64_t)b->element_size;
    struct ht_span two = {.width = width, .pitch = width, .rows = 1};
    return ht_buffer_write(b->from, two, b->element_size == 8 ? (const void *)pair64 : pair32);
}

/* Best rate of several launches, until they have taken long enough; each does `work`. */
static enum ht_err best(struct bench *b, struct ht_kernel *kernel, int64_t groups, int group_size,
                        double work, double *rate) {
    const struct ht_arg args[2] = {{.buffer = b->from}, {.buffer = b->to}};
    const int64_t range[3] = {groups, 1, 1};
    const double enough = 0.05;
    double spent = 0;
    *rate = 0;
    for (int r = 0; r < REPEATS && spent < enough; r++) {
        TRY(ht_kernel_launch(kernel, 2, args, range, group_size));
        TRY(ht_device_finish(b->device));
        double seconds = ht_kernel_seconds(kernel);
        if (seconds > 0) *rate = fmax(*rate, work / seconds);
        spent += seconds;
    }
    return HT_OK;
}

static enum ht_err measure(struct bench *b, const char *cache, struct ht_limits *out) {
    const int64_t per_group = (int64_t)GROUP_SIZE * COPIES;
    double values = (double)b->values;
    TRY(build(b, cache));
    TRY(ht_kernel_create(b->program, "ht_limit_copy", &b->copy));
    TRY(ht_kernel_create(b->program, "ht_limit_fma", &b->fma));
    TRY(fill(b));
    TRY(best(b, b->copy, b->values / per_group, GROUP_SIZE, 2 * values * b->element_size,
             &out->bytes_per_s));
    int64_t groups = b->values / b->width / b->group_size / b->turns / b->parts;
    double done = (double)groups * b->group_size * b->width * b->turns;
    return best(b, b->fma, groups, b->group_size, CHAINS * ROUNDS * done, &out->fma_per_s);
}

enum ht_err ht_limits_measure(struct ht_device *device, bool fp64, const char *cache,
                              struct ht_limits *out) {
    const struct ht_device_info *info = ht_device_info(device);
    /* Much larger than the caches of a GPU; small enough to be quick on a CPU. */
    int64_t bytes = info->gpu ? (int64_t)1 << 29 : (int64_t)1 << 25;
    const int64_t per_group = (int64_t)GROUP_SIZE * COPIES;
    struct bench b = {.device = device, .element_size = ht_real_size(fp64)};
    b.width = info->gpu ? 1 : 64 / b.element_size;
    b.group_size = info->gpu ? GROUP_SIZE : 1;
    b.turns = info->gpu ? 1 : GROUP_SIZE;
    b.parts = info->gpu ? 1 : 16;
    if (bytes > info->memory / 16) bytes = info->memory / 16;
    b.values = bytes / b.element_size / per_group * per_group;
    enum ht_err err = measure(&b, cache, out);
    end(&b);
    return err;
}
