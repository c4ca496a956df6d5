/* Sums over boxes of nodes on a device: what cl/sums.cl reads, its launches, and the sums of its
 * groups. One transfer reads the results of all items. */
#include "tool.h"
#include "tool_args.h"

/* Groups of a plane: many where there is one plane only. */
enum { LANES = 128, FEW_GROUPS = 8, MANY_GROUPS = 512, ENTRIES = 8 };
/* Places of the one work-item of a group on a CPU: vectors of doubles. */
enum { WIDTH = 16 };
enum { WEIGHTS, RESULTS }; /* buffers */

struct sums {
    struct ht_tool tool;
    bool wide, weighs; /* weighs: reads weights */
    int points;
    int64_t room[2]; /* bytes that the buffers hold */
};

HT_ERR ht_sums_create(struct ht_device *device, const struct ht_spec *spec, bool wide, bool closed,
                      struct ht_tool **out) {
    const bool differences = spec->differences > 0, gpu = ht_tool_info(device)->gpu;
    const int points = differences ? 1 : HT_MEASURE_POINTS;
    const struct ht_recipe recipe = {.what = "kernel of sums",
                                     .fp64 = spec->fp64,
                                     .items = gpu ? LANES : 1,
                                     .number = {{"BLOCK", differences ? 1 : spec->block},
                                                {"SUM_WIDE", wide},
                                                {"SUM_POINTS", points},
                                                {"SUM_CLOSED", closed},
                                                {"SUM_WIDTH", gpu ? 1 : WIDTH}},
                                     .file = {"layout.h", "tool_args.h", "sums.cl"},
                                     .entry = {"ht_sums"}};
    const struct sums own = {.wide = wide, .points = points, .weighs = closed || points > 1};
    return ht_tool_create(device, &recipe, &own, sizeof own, out);
}

static HT_ERR make_room(struct sums *r, int which, int64_t bytes) {
    struct ht_buffer **buffer = &r->tool.buffer[which];
    if (bytes <= r->room[which]) return HT_OK;
    ht_buffer_destroy(*buffer);
    *buffer = NULL;
    r->room[which] = 0;
    TRY(ht_buffer_create(r->tool.device, bytes, buffer));
    r->room[which] = bytes;
    return HT_OK;
}

static int coefs_of(const struct ht_sum_item *item) {
    return item->weights != NULL ? item->coefs : 1;
}

static struct ht_sum_args args_of(const struct ht_sum_item *item) {
    const int64_t *begin = item->box.begin, *end = item->box.end;
    struct ht_sum_args args = {.begin =
                                   (long)(begin[2] * item->plane + begin[1] * item->row + begin[0]),
                               .row = (long)item->row,
                               .plane = (long)item->plane,
                               .total = (long)item->total,
                               .coef = item->coef,
                               .coefs = coefs_of(item),
                               .divide = item->a != NULL};
    for (int k = 0; k < 3; k++) args.count[k] = (long)(end[k] - begin[k]);
    for (int i = 0; i < 6; i++) args.ends[i] = item->half[i / 2][i % 2];
    const int64_t pieces = args.count[1] * ht_divide_up(args.count[0], HT_SUM_PIECE);
    args.groups = (long)ht_least(pieces, args.count[2] > 1 ? FEW_GROUPS : MANY_GROUPS);
    return args;
}

/* Weights of coefficients at points, one item after the other. */
static HT_ERR send_weights(struct sums *r, int count, const struct ht_sum_item *items) {
    int64_t values = 0, at = 0;
    for (int i = 0; i < count; i++) values += (int64_t)coefs_of(&items[i]) * r->points;
    TRY(make_room(r, WEIGHTS, 8 * values));
    HT_ARRAY(double, data, values);
    HT_EACH(const struct ht_sum_item, item, items, count) {
        for (int c = 0; c < coefs_of(item); c++, at += r->points) {
            if (item->weights == NULL) data[at] = 1;
            for (int q = 0; item->weights != NULL && q < item->points; q++)
                data[at + q] = item->weights[q * item->coefs + c];
        }
    }
    return ht_buffer_write_reals(r->tool.buffer[WEIGHTS], r->wide, 0, values, data);
}

static HT_ERR launch(struct sums *r, const struct ht_sum_item *item,
                     const struct ht_sum_args *args) {
    const int64_t groups[3] = {args->groups, args->count[2], 1};
    const float single = (float)item->level;
    return ht_tool_launch(
        &r->tool, HT_PART_INTERIOR, 0, groups,
        HT_ARGS(HT_VALUE(*args), r->wide ? HT_VALUE(item->level) : HT_VALUE(single),
                HT_BUFFER(item->x), HT_BUFFER(item->y != NULL ? item->y : item->x),
                HT_BUFFER(item->a != NULL ? item->a : item->x),
                HT_BUFFER(r->tool.buffer[r->weighs ? WEIGHTS : RESULTS]),
                HT_BUFFER(r->tool.buffer[RESULTS])));
}

/* Adds the results of a plane's groups, in their order; before: nodes of planes below. */
static void add_groups(const struct ht_sum_args *args, int64_t plane, int64_t before,
                       const double *results, struct ht_measure *out) {
    for (int64_t g = 0; g < args->groups; g++) {
        const double *e = results + (args->slot + plane * args->groups + g) * ENTRIES;
        /* After an overflow the lower part is NaN. */
        out->sum += isfinite(e[1]) ? e[0] + e[1] : INFINITY;
        out->mean += e[2] + e[3];
        out->largest = fmax(out->largest, e[4]);
        out->bad += (int64_t)e[5];
        const int64_t node = before + (int64_t)e[6] * args->count[0] + (int64_t)e[7];
        if (e[6] >= 0 && (out->first < 0 || node < out->first)) out->first = node;
    }
}

HT_ERR ht_sums_run(struct ht_tool *sums, int count, const struct ht_sum_item *items, bool each,
                   struct ht_measure *out) {
    struct sums *r = (struct sums *)sums;
    int64_t values = 0, weights = 0;
    HT_ARRAY(struct ht_sum_args, args, count);
    for (int i = 0; i < count; i++) {
        args[i] = args_of(&items[i]);
        args[i].slot = (long)(values / ENTRIES);
        args[i].weights = (long)weights;
        weights += (int64_t)args[i].coefs * r->points;
        if (items[i].x != NULL) values += args[i].groups * args[i].count[2] * ENTRIES;
        for (int64_t m = 0; m < (each ? args[i].count[2] : 1); m++)
            out[i + m] = (struct ht_measure){.first = -1};
    }
    if (values == 0) return HT_OK;
    TRY(make_room(r, RESULTS, 8 * values));
    if (r->weighs) TRY(send_weights(r, count, items));
    for (int i = 0; i < count; i++)
        if (items[i].x != NULL) TRY(launch(r, &items[i], &args[i]));
    TRY(ht_device_finish(sums->device));
    HT_ARRAY(double, results, values);
    TRY(ht_buffer_read_reals(sums->buffer[RESULTS], r->wide, 0, values, results));
    for (int i = 0; i < count; i++)
        for (int64_t m = 0; items[i].x != NULL && m < args[i].count[2]; m++)
            add_groups(&args[i], m, each ? 0 : m * args[i].count[0] * args[i].count[1], results,
                       &out[each ? m : i]);
    return HT_OK;
}
