/* Values at points of a finite-difference window on a device: the program of cl/fd_sample.cl, its
 * tables and its ring.
 */
#include <stdlib.h>

#include "fd_sample_args.h"
#include "htwave/fd_kernel.h"

enum { LANES = 64 };

struct ht_fd_sampler {
    struct ht_device *device;
    bool fp64;
    int points, lanes; /* nodes along an axis, at most */
    int64_t items, slots;
    struct ht_program *program;
    struct ht_kernel *kernel;
    struct ht_buffer *item, *node, *weight, *ring;
};

void ht_fd_sampler_destroy(struct ht_fd_sampler *s) {
    if (s == NULL) return;
    ht_kernel_destroy(s->kernel);
    ht_program_destroy(s->program);
    ht_buffer_destroy(s->item);
    ht_buffer_destroy(s->node);
    ht_buffer_destroy(s->weight);
    ht_buffer_destroy(s->ring);
    free(s);
}

enum ht_err ht_fd_sampler_text(bool fp64, int points, int lanes, struct ht_text *out) {
    ht_text_add(out,
                "#define HT_DOUBLE %d\n#define HT_FD_POINT %d\n"
                "#define HT_FD_ITEMS %d\n",
                fp64, points, lanes);
    TRY(ht_kernel_add_source("prelude.cl", out));
    TRY(ht_kernel_add_source("fd_sample_args.h", out));
    TRY(ht_kernel_add_source("fd_sample.cl", out));
    return ht_text_status(out);
}

/* Entries of a pattern in its tables: of weights, and of nodes. */
static int64_t weights_of(int points) {
    return 2 * (int64_t)points;
}

static int64_t ints_of(int points) {
    return 2 + 2 * (int64_t)points;
}

int64_t ht_fd_sampler_bytes(int points, int64_t patterns, int64_t items, int64_t slots, bool fp64) {
    const int64_t word = ht_real_size(fp64);
    return patterns * (ints_of(points) * 4 + weights_of(points) * word) +
           items * (8 + slots * word);
}

static enum ht_err build(struct ht_fd_sampler *s, const char *cache) {
    struct ht_text text = {0};
    s->lanes = LANES;
    while (s->lanes / 2 >= s->points && s->lanes > ht_device_info(s->device)->max_group)
        s->lanes /= 2;
    enum ht_err err = ht_fd_sampler_text(s->fp64, s->points, s->lanes, &text);
    if (err == HT_OK) err = ht_program_build(s->device, text.data, cache, &s->program);
    ht_text_free(&text);
    if (err != HT_OK) return ht_err_prefix(err, "kernel of receivers");
    return ht_kernel_create(s->program, "ht_fd_sample", &s->kernel);
}

static struct ht_span span_of(int64_t bytes) {
    return (struct ht_span){.width = bytes, .pitch = bytes, .rows = 1};
}

static enum ht_err store(struct ht_fd_sampler *s, const void *data, int64_t bytes,
                         struct ht_buffer **out) {
    TRY(ht_buffer_create(s->device, bytes, out));
    return ht_buffer_write(*out, span_of(bytes), data);
}

static enum ht_err store_items(struct ht_fd_sampler *s, const struct ht_fd_item *item) {
    int *table = NULL;
    TRY(HT_ALLOC(table, 2 * s->items));
    for (int64_t i = 0; i < s->items; i++) {
        table[2 * i] = (int)item[i].pattern;
        table[2 * i + 1] = (int)item[i].plane;
    }
    enum ht_err err = store(s, table, 2 * s->items * (int64_t)sizeof *table, &s->item);
    free(table);
    return err;
}

static enum ht_err store_nodes(struct ht_fd_sampler *s, int64_t patterns,
                               const struct ht_fd_pattern *pattern) {
    const int64_t ints = ints_of(s->points);
    int *table = NULL;
    TRY(HT_ALLOC(table, patterns * ints));
    for (int64_t p = 0; p < patterns; p++)
        for (int k = 0; k < 2; k++) {
            int *row = table + p * ints;
            row[k] = pattern[p].axis[k].count;
            for (int i = 0; i < row[k]; i++)
                row[2 + k * s->points + i] = (int)pattern[p].axis[k].node[i];
        }
    enum ht_err err = store(s, table, patterns * ints * (int64_t)sizeof *table, &s->node);
    free(table);
    return err;
}

static enum ht_err store_weights(struct ht_fd_sampler *s, int64_t patterns,
                                 const struct ht_fd_pattern *pattern) {
    const int64_t weights = weights_of(s->points), entries = patterns * weights;
    double *wide = NULL;
    float *narrow = NULL;
    enum ht_err err = HT_ALLOC(wide, entries);
    if (err == HT_OK) err = HT_ALLOC(narrow, entries);
    for (int64_t i = 0; err == HT_OK && i < entries; i++) {
        const struct ht_point_axis *axis = &pattern[i / weights].axis[i / s->points % 2];
        const int at = (int)(i % s->points);
        wide[i] = at < axis->count ? axis->weight[at] : 0;
        narrow[i] = (float)wide[i];
    }
    if (err == HT_OK)
        err = store(s, s->fp64 ? (const void *)wide : (const void *)narrow,
                    entries * ht_real_size(s->fp64), &s->weight);
    free(narrow);
    free(wide);
    return err;
}

enum ht_err ht_fd_sampler_create(struct ht_device *device, bool fp64, const char *cache,
                                 int64_t patterns, const struct ht_fd_pattern *pattern,
                                 int64_t items, const struct ht_fd_item *item, int64_t slots,
                                 struct ht_fd_sampler **out) {
    struct ht_fd_sampler *s = NULL;
    *out = NULL;
    TRY(HT_ALLOC(s, 1));
    s->device = device;
    s->fp64 = fp64;
    s->items = items;
    s->slots = slots;
    s->points = 1;
    for (int64_t p = 0; p < patterns; p++)
        for (int k = 0; k < 2; k++) s->points = (int)ht_most(s->points, pattern[p].axis[k].count);
    enum ht_err err = build(s, cache);
    if (err == HT_OK) err = store_items(s, item);
    if (err == HT_OK) err = store_nodes(s, patterns, pattern);
    if (err == HT_OK) err = store_weights(s, patterns, pattern);
    if (err == HT_OK) err = ht_buffer_create(device, items * slots * ht_real_size(fp64), &s->ring);
    return HT_MADE(err, s, ht_fd_sampler_destroy, out);
}

enum ht_err ht_fd_sampler_take(struct ht_fd_sampler *s, int64_t row, int64_t plane,
                               struct ht_buffer *u, int64_t slot) {
    const struct ht_fd_sample_args args = {
        .row = (long)row, .plane = (long)plane, .items = (long)s->items, .slot = (long)slot};
    const int64_t each = s->lanes / s->points;
    const int64_t groups[3] = {(s->items + each - 1) / each, 1, 1};
    const struct ht_arg arg[] = {{.value = &args, .size = sizeof args},
                                 {.buffer = s->item},
                                 {.buffer = s->node},
                                 {.buffer = s->weight},
                                 {.buffer = u},
                                 {.buffer = s->ring}};
    REQUIRE(slot < s->slots, HT_ERR_INTERNAL, "receivers: sample %lld of %lld before they are read",
            (long long)slot + 1, (long long)s->slots);
    return ht_kernel_launch(s->kernel, 6, arg, groups, s->lanes);
}

enum ht_err ht_fd_sampler_read(struct ht_fd_sampler *s, int64_t slots, double *out) {
    const int64_t values = slots * s->items;
    float *single = NULL;
    if (!s->fp64) TRY(HT_ALLOC(single, values));
    enum ht_err err = ht_buffer_read(s->ring, span_of(values * ht_real_size(s->fp64)),
                                     s->fp64 ? (void *)out : (void *)single);
    for (int64_t i = 0; err == HT_OK && single != NULL && i < values; i++) out[i] = single[i];
    free(single);
    return err;
}

double ht_fd_sampler_seconds(const struct ht_fd_sampler *s) {
    return ht_kernel_total(s->kernel);
}
