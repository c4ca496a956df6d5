/* Reductions on the device: the program of cl/reduce.cl for one precision and layout, its scratch
 * memory, and its launches. Two kernels per reduction: many work-groups, then one that adds their
 * results. One transfer reads the results of all reductions.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "htwave/kernel.h"
#include "reduce_args.h"

/* A work-group sums at least LEAST nodes; there are at most MOST_GROUPS. */
enum { GROUP_SIZE = 128, LEAST = 2048, MOST_GROUPS = 1024 };

struct ht_reduction {
    struct ht_device *device;
    bool fp64, wide;
    int block, group_size;
    char *cache; /* NULL: none */
    struct ht_program *program;
    struct ht_kernel *nodes, *parts;
    struct ht_buffer *scratch, *results, *weights;
    int room;             /* items that fit in results */
    int64_t weights_room; /* bytes that fit in weights */
};

void ht_reduction_destroy(struct ht_reduction *r) {
    if (r == NULL) return;
    ht_kernel_destroy(r->nodes);
    ht_kernel_destroy(r->parts);
    ht_program_destroy(r->program);
    ht_buffer_destroy(r->scratch);
    ht_buffer_destroy(r->results);
    ht_buffer_destroy(r->weights);
    free(r->cache);
    free(r);
}

enum ht_err ht_reduction_create(struct ht_device *device, const struct ht_spec *spec, bool wide,
                                const char *cache, struct ht_reduction **out) {
    const struct ht_device_info *info = ht_device_info(device);
    struct ht_reduction *r = NULL;
    *out = NULL;
    TRY(HT_ALLOC(r, 1));
    r->device = device;
    r->fp64 = spec->fp64;
    r->wide = wide;
    r->block = spec->block;
    r->group_size = GROUP_SIZE;
    while (r->group_size > 1 && r->group_size > info->max_group) r->group_size /= 2;
    enum ht_err err = cache ? ht_text_copy(cache, &r->cache) : HT_OK;
    return HT_MADE(err, r, ht_reduction_destroy, out);
}

/* Size in bytes of struct ht_part (cl/reduce.cl). */
static int64_t part_bytes(const struct ht_reduction *r) {
    return r->wide ? 5 * 8 : 4 * 8;
}

enum ht_err ht_reduction_text(const struct ht_spec *spec, bool wide, int group_size,
                              struct ht_text *out) {
    ht_text_add(out,
                "#define HT_DOUBLE %d\n#define HT_BLOCK %d\n"
                "#define HT_REDUCE_WIDE %d\n#define HT_REDUCE_ITEMS %d\n",
                spec->fp64, spec->block, wide, group_size);
    TRY(ht_kernel_add_source("prelude.cl", out));
    TRY(ht_kernel_add_source("layout.h", out));
    TRY(ht_kernel_add_source("reduce_args.h", out));
    TRY(ht_kernel_add_source("reduce.cl", out));
    return ht_text_status(out);
}

static enum ht_err build(struct ht_reduction *r) {
    const struct ht_spec spec = {.fp64 = r->fp64, .block = r->block};
    struct ht_text text = {0};
    enum ht_err err = ht_reduction_text(&spec, r->wide, r->group_size, &text);
    if (err == HT_OK) err = ht_program_build(r->device, text.data, r->cache, &r->program);
    ht_text_free(&text);
    return err;
}

static enum ht_err prepare(struct ht_reduction *r, int count) {
    if (r->program == NULL) TRY(build(r));
    if (r->nodes == NULL) TRY(ht_kernel_create(r->program, "ht_reduce_nodes", &r->nodes));
    if (r->parts == NULL) TRY(ht_kernel_create(r->program, "ht_reduce_parts", &r->parts));
    if (r->scratch == NULL)
        TRY(ht_buffer_create(r->device, MOST_GROUPS * part_bytes(r), &r->scratch));
    if (count <= r->room) return HT_OK;
    ht_buffer_destroy(r->results);
    r->results = NULL;
    r->room = 0;
    TRY(ht_buffer_create(r->device, count * part_bytes(r), &r->results));
    r->room = count;
    return HT_OK;
}

static int coefs_of(const struct ht_reduce_item *item) {
    return item->weights != NULL ? item->coefs : 1;
}

static double weight_of(const struct ht_reduce_item *item, int coef, int point) {
    if (item->weights == NULL) return point == 0 ? 1 : 0;
    return point < item->points ? item->weights[point * item->coefs + coef] : 0;
}

static void add_weights(const struct ht_reduction *r, const struct ht_reduce_item *item,
                        unsigned char **to) {
    const size_t size = r->wide ? 8 : 4;
    for (int c = 0; c < coefs_of(item); c++)
        for (int q = 0; q < HT_REDUCE_POINTS; q++, *to += size) {
            double wide = weight_of(item, c, q);
            float single = (float)wide;
            memcpy(*to, r->wide ? (void *)&wide : (void *)&single, size);
        }
}

/* Writes the weights of all items to the device, one after the other, in the type of the sums. */
static enum ht_err send_weights(struct ht_reduction *r, int count,
                                const struct ht_reduce_item *items) {
    int64_t bytes = 0;
    unsigned char *data = NULL;
    for (int i = 0; i < count; i++)
        bytes += (int64_t)coefs_of(&items[i]) * HT_REDUCE_POINTS * (r->wide ? 8 : 4);
    if (bytes > r->weights_room) {
        ht_buffer_destroy(r->weights);
        r->weights = NULL;
        r->weights_room = 0;
        TRY(ht_buffer_create(r->device, bytes, &r->weights));
        r->weights_room = bytes;
    }
    TRY(HT_ALLOC(data, bytes));
    unsigned char *to = data;
    for (int i = 0; i < count; i++) add_weights(r, &items[i], &to);
    struct ht_span span = {.width = bytes, .pitch = bytes, .rows = 1};
    enum ht_err err = ht_buffer_write(r->weights, span, data);
    free(data);
    return err;
}

static enum ht_err launch(struct ht_reduction *r, int slot, int64_t weights,
                          const struct ht_reduce_item *item) {
    struct ht_reduce_args args = {.slot = slot,
                                  .weights = (long)weights,
                                  .coef = item->coef,
                                  .coefs = coefs_of(item),
                                  .divide = item->medium != NULL};
    int64_t total = 1;
    for (int k = 0; k < 3; k++) {
        args.nodes[k] = (long)item->nodes[k];
        total *= item->nodes[k];
        for (int side = 0; side < 2; side++) args.ends[2 * k + side] = item->half[k][side];
    }
    args.row = args.nodes[0];
    args.plane = args.nodes[0] * args.nodes[1];
    args.total = (long)total;
    if (item->window != NULL) {
        const struct ht_window *w = item->window;
        const int64_t *begin = item->box.begin;
        args.row = (long)ht_window_row(w);
        args.plane = (long)ht_window_plane(w);
        args.total = (long)ht_window_nodes(w);
        args.begin = (long)ht_window_at(w, begin[0], begin[1], begin[2]);
    }
    int64_t per_group = (total + MOST_GROUPS - 1) / MOST_GROUPS;
    if (per_group < LEAST) per_group = LEAST;
    args.per_group = (long)per_group;
    args.groups = (long)((total + per_group - 1) / per_group);
    const struct ht_arg by_value = {.value = &args, .size = sizeof args};
    const struct ht_arg first[5] = {by_value,
                                    {.buffer = item->u},
                                    {.buffer = item->medium ? item->medium : item->u},
                                    {.buffer = r->weights},
                                    {.buffer = r->scratch}};
    const struct ht_arg second[3] = {by_value, {.buffer = r->scratch}, {.buffer = r->results}};
    const int64_t many[3] = {args.groups, 1, 1}, one[3] = {1, 1, 1};
    TRY(ht_kernel_launch(r->nodes, 5, first, many, r->group_size));
    return ht_kernel_launch(r->parts, 3, second, one, r->group_size);
}

/* Reads a struct ht_part in the device's representation. */
static struct ht_measure decode(const struct ht_reduction *r, const unsigned char *part) {
    int64_t counts[2];
    double value[3];
    memcpy(counts, part, sizeof counts);
    for (size_t i = 0; i < 3; i++) {
        float single;
        memcpy(&single, part + sizeof counts + i * sizeof single, sizeof single);
        value[i] = (double)single;
        if (r->wide) memcpy(&value[i], part + sizeof counts + i * sizeof value[i], sizeof value[i]);
    }
    return (struct ht_measure){/* After an overflow the lower part is NaN. */
                               .sum = isfinite(value[1]) ? value[0] + value[1] : INFINITY,
                               .largest = value[2],
                               .bad = counts[0],
                               .first = counts[0] > 0 ? counts[1] : -1};
}

enum ht_err ht_reduction_run(struct ht_reduction *r, int count, const struct ht_reduce_item *items,
                             struct ht_measure *out) {
    struct ht_span span = {
        .width = count * part_bytes(r), .pitch = count * part_bytes(r), .rows = 1};
    unsigned char *data = NULL;
    int64_t weights = 0;
    TRY(prepare(r, count));
    TRY(send_weights(r, count, items));
    for (int i = 0; i < count; i++) {
        if (items[i].u != NULL) TRY(launch(r, i, weights, &items[i]));
        weights += (int64_t)coefs_of(&items[i]) * HT_REDUCE_POINTS;
    }
    TRY(ht_device_finish(r->device));
    TRY(HT_ALLOC(data, span.width));
    enum ht_err err = ht_buffer_read(r->results, span, data);
    for (int i = 0; err == HT_OK && i < count; i++)
        out[i] =
            items[i].u ? decode(r, data + i * part_bytes(r)) : (struct ht_measure){.first = -1};
    free(data);
    return err;
}
