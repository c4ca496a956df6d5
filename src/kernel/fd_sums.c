/* Sums over a finite-difference window on a device: the program of cl/fd_sums.cl for one precision,
 * and its launches.
 */
#include <math.h>
#include <stdlib.h>

#include "fd_sum_args.h"
#include "htwave/fd_kernel.h"

/* Groups of a plane: many where there is one plane only. */
enum { LANES = 128, FEW_GROUPS = 8, MANY_GROUPS = 512, ENTRIES = 8 };
/* Places of the one work-item of a group on a CPU: vectors of doubles. */
enum { WIDTH = 16 };

struct ht_fd_reduction {
    struct ht_device *device;
    bool fp64, wide;
    int lanes;
    char *cache; /* NULL: none */
    struct ht_program *program;
    struct ht_kernel *sums, *shift;
    struct ht_buffer *results;
    int64_t room; /* groups that they hold */
};

void ht_fd_reduction_destroy(struct ht_fd_reduction *r) {
    if (r == NULL) return;
    ht_kernel_destroy(r->sums);
    ht_kernel_destroy(r->shift);
    ht_program_destroy(r->program);
    ht_buffer_destroy(r->results);
    free(r->cache);
    free(r);
}

enum ht_err ht_fd_reduction_text(bool fp64, bool wide, int lanes, struct ht_text *out) {
    ht_text_add(out,
                "#define HT_DOUBLE %d\n#define HT_FD_WIDE %d\n"
                "#define HT_FD_ITEMS %d\n#define HT_FD_WIDTH %d\n",
                fp64, wide, lanes, lanes > 1 ? 1 : WIDTH);
    TRY(ht_kernel_add_source("prelude.cl", out));
    TRY(ht_kernel_add_source("fd_sum_args.h", out));
    TRY(ht_kernel_add_source("fd_sums.cl", out));
    return ht_text_status(out);
}

enum ht_err ht_fd_reduction_create(struct ht_device *device, bool fp64, const char *cache,
                                   struct ht_fd_reduction **out) {
    struct ht_fd_reduction *r = NULL;
    *out = NULL;
    TRY(HT_ALLOC(r, 1));
    r->device = device;
    r->fp64 = fp64;
    r->wide = ht_device_info(device)->fp64;
    r->lanes = ht_device_info(device)->gpu ? LANES : 1;
    while (r->lanes > 1 && r->lanes > ht_device_info(device)->max_group) r->lanes /= 2;
    enum ht_err err = cache ? ht_text_copy(cache, &r->cache) : HT_OK;
    return HT_MADE(err, r, ht_fd_reduction_destroy, out);
}

static enum ht_err build(struct ht_fd_reduction *r) {
    struct ht_text text = {0};
    if (r->shift != NULL) return HT_OK;
    enum ht_err err = ht_fd_reduction_text(r->fp64, r->wide, r->lanes, &text);
    if (err == HT_OK && r->program == NULL)
        err = ht_program_build(r->device, text.data, r->cache, &r->program);
    ht_text_free(&text);
    if (err != HT_OK) return ht_err_prefix(err, "kernel of sums");
    if (r->sums == NULL) TRY(ht_kernel_create(r->program, "ht_fd_sums", &r->sums));
    return ht_kernel_create(r->program, "ht_fd_shift", &r->shift);
}

static enum ht_err make_room(struct ht_fd_reduction *r, int64_t groups) {
    if (groups <= r->room) return HT_OK;
    ht_buffer_destroy(r->results);
    r->results = NULL;
    r->room = 0;
    TRY(ht_buffer_create(r->device, groups * ENTRIES * 8, &r->results));
    r->room = groups;
    return HT_OK;
}

static struct ht_fd_sum_args args_of(const struct ht_fd_box *box, bool three) {
    struct ht_fd_sum_args args = {.row = (long)box->row, .plane = (long)box->plane};
    args.begin = (long)(box->begin[2] * box->plane + box->begin[1] * box->row + box->begin[0]);
    for (int k = 0; k < 3; k++) args.count[k] = (long)(box->end[k] - box->begin[k]);
    const long most = three ? FEW_GROUPS : MANY_GROUPS;
    args.groups = args.count[1] < most ? args.count[1] : most;
    return args;
}

enum ht_err ht_fd_shift(struct ht_fd_reduction *r, const struct ht_fd_box *box, double shift,
                        struct ht_buffer *x) {
    const struct ht_fd_sum_args args = args_of(box, true);
    const float single = (float)shift;
    const int64_t groups[3] = {args.groups, args.count[2], 1};
    TRY(build(r));
    const struct ht_arg arg[] = {{.value = &args, .size = sizeof args},
                                 {.value = r->fp64 ? (const void *)&shift : (const void *)&single,
                                  .size = r->fp64 ? sizeof shift : sizeof single},
                                 {.buffer = x}};
    return ht_kernel_launch(r->shift, 3, arg, groups, r->lanes);
}

static double entry(const struct ht_fd_reduction *r, const void *data, int64_t i) {
    return r->wide ? ((const double *)data)[i] : (double)((const float *)data)[i];
}

/* The results of a plane's groups, in their order. */
static void add_groups(const struct ht_fd_reduction *r, const void *data,
                       const struct ht_fd_sum_args *args, int64_t plane, struct ht_fd_sum *out) {
    *out = (struct ht_fd_sum){.first = -1};
    for (int64_t g = 0; g < args->groups; g++) {
        const int64_t at = (plane * args->groups + g) * ENTRIES;
        double e[ENTRIES];
        for (int i = 0; i < ENTRIES; i++) e[i] = entry(r, data, at + i);
        out->product += e[0] + e[1];
        out->mean += e[2] + e[3];
        out->largest = fmax(out->largest, e[4]);
        out->bad += (int64_t)e[5];
        const int64_t node = (int64_t)e[6] * args->count[0] + (int64_t)e[7];
        if (e[6] >= 0 && (out->first < 0 || node < out->first)) out->first = node;
    }
}

enum ht_err ht_fd_sum(struct ht_fd_reduction *r, const struct ht_fd_box *box, const bool half[3][2],
                      struct ht_buffer *x, struct ht_buffer *y, struct ht_buffer *a, double level,
                      bool three, struct ht_fd_sum *out) {
    struct ht_fd_sum_args args = args_of(box, three);
    const int64_t groups[3] = {args.groups, args.count[2], 1};
    const int64_t count = args.groups * args.count[2];
    const int64_t bytes = count * ENTRIES * (r->wide ? 8 : 4);
    const struct ht_span span = {.width = bytes, .pitch = bytes, .rows = 1};
    const float single = (float)level;
    double *data = NULL;
    for (int i = 0; i < 6; i++) args.ends[i] = half[i / 2][i % 2];
    TRY(build(r));
    TRY(make_room(r, count));
    const struct ht_arg arg[] = {{.value = &args, .size = sizeof args},
                                 {.value = r->wide ? (const void *)&level : (const void *)&single,
                                  .size = r->wide ? sizeof level : sizeof single},
                                 {.buffer = x},
                                 {.buffer = y},
                                 {.buffer = a},
                                 {.buffer = r->results}};
    TRY(ht_kernel_launch(r->sums, 6, arg, groups, r->lanes));
    TRY(ht_device_finish(r->device));
    TRY(HT_ALLOC(data, count * ENTRIES));
    enum ht_err err = ht_buffer_read(r->results, span, data);
    for (int64_t m = 0; err == HT_OK && m < args.count[2]; m++)
        add_groups(r, data, &args, m, &out[m]);
    free(data);
    return err;
}
