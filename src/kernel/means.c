/* The mean of a field that leapfrog keeps: its weights, and the program of
 * cl/means.cl with its launches.
 */
#include "htwave/means.h"

#include <math.h>
#include <stdlib.h>

#include "blocks.h"
#include "htwave/kernel_sources.h"
#include "mean_args.h"

/* Groups of a plane: many where there is one plane only. */
enum { ITEMS = 128, FEW_GROUPS = 8, MANY_GROUPS = 512, ENTRIES = 3 };

/* ---- weights ---- */

/* Gauss's elimination with pivots: matrix[n][n + 1], the right side last, which
 * becomes the solution. */
static void eliminate(int n, double *matrix) {
    const int pitch = n + 1;
    for (int k = 0; k < n; k++) {
        int best = k;
        for (int i = k + 1; i < n; i++)
            if (fabs(matrix[i * pitch + k]) > fabs(matrix[best * pitch + k]))
                best = i;
        for (int j = 0; j <= n; j++) {
            const double swap = matrix[k * pitch + j];
            matrix[k * pitch + j] = matrix[best * pitch + j];
            matrix[best * pitch + j] = swap;
        }
        for (int i = 0; i < n; i++) {
            if (i == k) continue;
            const double factor = matrix[i * pitch + k] / matrix[k * pitch + k];
            for (int j = k; j <= n; j++)
                matrix[i * pitch + j] -= factor * matrix[k * pitch + j];
        }
    }
    for (int k = 0; k < n; k++) matrix[k * pitch + n] /= matrix[k * pitch + k];
}

/* Columns j of w (S - 2) = 0 but the first, with w[0] = 1, for the
 * coefficients even[0 .. n], of which the first is 0. */
static enum ht_err solve(int coefs, const double *sums, int n, const int *even,
                         double *weight) {
    double *matrix = NULL;
    TRY(HT_ALLOC(matrix, (int64_t)n * (n + 1) + 1));
    for (int j = 0; j < n; j++) {
        const int column = even[j + 1];
        for (int i = 0; i < n; i++)
            matrix[j * (n + 1) + i] =
                sums[even[i + 1] * coefs + column] - (i == j ? 2 : 0);
        matrix[j * (n + 1) + n] = -sums[column];
    }
    eliminate(n, matrix);
    for (int i = 0; i < n; i++) weight[even[i + 1]] = matrix[i * (n + 1) + n];
    free(matrix);
    return HT_OK;
}

enum ht_err ht_mean_weights(const struct ht_spec *spec, int field,
                            double weight[HT_MAX_COEFS]) {
    const int n1 = spec->order + 1, dims = spec->eq->dims;
    const int n2 = dims > 1 ? n1 : 1, n3 = dims > 2 ? n1 : 1;
    const int coefs = n1 * n2 * n3;
    int even[HT_MAX_COEFS], count = 0;
    double *sums = NULL;
    TRY(HT_ALLOC(sums, (int64_t)coefs * coefs));
    enum ht_err err = ht_blocks_sums(spec, field, sums);
    for (int i = 0; i < coefs; i++) {
        weight[i] = i == 0;
        if (i % n1 % 2 == 0 && i / n1 % n2 % 2 == 0 && i / (n1 * n2) % 2 == 0)
            even[count++] = i;
    }
    if (err == HT_OK) err = solve(coefs, sums, count - 1, even, weight);
    free(sums);
    return err;
}

struct ht_mean_form {
    int coefs;
    struct ht_buffer *at, *weights;
};

void ht_mean_form_destroy(struct ht_mean_form *form) {
    if (form == NULL) return;
    ht_buffer_destroy(form->at);
    ht_buffer_destroy(form->weights);
    free(form);
}

static enum ht_err upload(struct ht_device *device, int64_t bytes,
                          const void *data, struct ht_buffer **out) {
    const struct ht_span span = {.width = bytes, .pitch = bytes, .rows = 1};
    TRY(ht_buffer_create(device, bytes, out));
    return ht_buffer_write(*out, span, data);
}

/* The weights that are not zero, that of the first coefficient first, in the
 * widest type of the device. */
static enum ht_err upload_weights(struct ht_device *device,
                                  const struct ht_spec *spec, int field,
                                  struct ht_mean_form *form) {
    double weight[HT_MAX_COEFS] = {0}, wide[HT_MAX_COEFS];
    float single[HT_MAX_COEFS];
    int storage[HT_MAX_COEFS], at[HT_MAX_COEFS], coefs = 1, n = 0;
    TRY(ht_mean_weights(spec, field, weight));
    ht_storage_order(spec, storage);
    for (int k = 0; k < spec->eq->dims; k++) coefs *= spec->order + 1;
    for (int i = 0; i < coefs; i++) {
        if (weight[i] == 0) continue;
        at[n] = storage[i];
        wide[n] = weight[i];
        single[n++] = (float)weight[i];
    }
    form->coefs = n;
    TRY(upload(device, n * (int64_t)sizeof *at, at, &form->at));
    return ht_device_info(device)->fp64
               ? upload(device, n * (int64_t)sizeof *wide, wide, &form->weights)
               : upload(device, n * (int64_t)sizeof *single, single,
                        &form->weights);
}

enum ht_err ht_mean_form_create(struct ht_device *device,
                                const struct ht_spec *spec, int field,
                                struct ht_mean_form **out) {
    struct ht_mean_form *form = NULL;
    *out = NULL;
    TRY(HT_ALLOC(form, 1));
    const enum ht_err err = upload_weights(device, spec, field, form);
    if (err != HT_OK) {
        ht_mean_form_destroy(form);
        return err;
    }
    *out = form;
    return HT_OK;
}

/* ---- program ---- */

struct ht_means {
    struct ht_device *device;
    bool fp64, wide;
    int block, items;
    char *cache; /* NULL: none */
    struct ht_program *program;
    struct ht_kernel *sums, *shift;
    struct ht_buffer *results;
    int64_t room; /* groups that the results hold */
};

void ht_means_destroy(struct ht_means *means) {
    if (means == NULL) return;
    ht_kernel_destroy(means->sums);
    ht_kernel_destroy(means->shift);
    ht_program_destroy(means->program);
    ht_buffer_destroy(means->results);
    free(means->cache);
    free(means);
}

double ht_means_seconds(struct ht_means *means) {
    double seconds = 0;
    if (means == NULL) return 0;
    if (means->sums != NULL) seconds += ht_kernel_seconds(means->sums);
    if (means->shift != NULL) seconds += ht_kernel_seconds(means->shift);
    return seconds;
}

enum ht_err ht_means_text(bool fp64, int block, bool wide, int items,
                          struct ht_text *out) {
    ht_text_add(out,
                "#define HT_DOUBLE %d\n#define HT_BLOCK %d\n"
                "#define HT_MEAN_WIDE %d\n#define HT_MEAN_ITEMS %d\n",
                fp64, block, wide, items);
    TRY(ht_kernel_add_source("prelude.cl", out));
    TRY(ht_kernel_add_source("layout.h", out));
    TRY(ht_kernel_add_source("mean_args.h", out));
    TRY(ht_kernel_add_source("means.cl", out));
    return ht_text_status(out);
}

enum ht_err ht_means_create(struct ht_device *device,
                            const struct ht_spec *spec, const char *cache,
                            struct ht_means **out) {
    const struct ht_device_info *info = ht_device_info(device);
    struct ht_means *means = NULL;
    *out = NULL;
    TRY(HT_ALLOC(means, 1));
    means->device = device;
    means->fp64 = spec->fp64;
    means->block = spec->block;
    means->wide = info->fp64;
    means->items = info->gpu ? ITEMS : 1;
    while (means->items > 1 && means->items > info->max_group)
        means->items /= 2;
    enum ht_err err = cache ? ht_text_copy(cache, &means->cache) : HT_OK;
    if (err != HT_OK) {
        ht_means_destroy(means);
        return err;
    }
    *out = means;
    return HT_OK;
}

static enum ht_err build(struct ht_means *means) {
    struct ht_text text = {0};
    if (means->shift != NULL) return HT_OK;
    enum ht_err err = ht_means_text(means->fp64, means->block, means->wide,
                                    means->items, &text);
    if (err == HT_OK && means->program == NULL)
        err = ht_program_build(means->device, text.data, means->cache,
                               &means->program);
    ht_text_free(&text);
    if (err != HT_OK) return ht_err_prefix(err, "kernel of means");
    if (means->sums == NULL)
        TRY(ht_kernel_create(means->program, "ht_mean_sums", &means->sums));
    return ht_kernel_create(means->program, "ht_mean_shift", &means->shift);
}

/* ---- launches ---- */

static struct ht_mean_args args_of(const struct ht_mean_form *form,
                                   const struct ht_mean_part *part) {
    const struct ht_window *w = part->window;
    const int64_t *begin = part->box.begin;
    struct ht_mean_args args = {
        .begin = (long)ht_window_at(w, begin[0], begin[1], begin[2]),
        .row = (long)ht_window_row(w),
        .plane = (long)ht_window_plane(w),
        .nodes = (long)ht_window_nodes(w),
        .coefs = form->coefs};
    for (int k = 0; k < 3; k++) {
        args.count[k] = (long)(part->box.end[k] - begin[k]);
        for (int side = 0; side < 2; side++)
            args.ends[2 * k + side] = part->half[k][side];
    }
    return args;
}

static double entry(const struct ht_means *means, const void *data, int64_t i) {
    return means->wide ? ((const double *)data)[i]
                       : (double)((const float *)data)[i];
}

/* The results of each plane's groups, in their order. */
static enum ht_err read_sums(const struct ht_means *means, int64_t planes,
                             int64_t groups, struct ht_mean_sum *out) {
    const int64_t bytes = planes * groups * ENTRIES * (means->wide ? 8 : 4);
    const struct ht_span span = {.width = bytes, .pitch = bytes, .rows = 1};
    void *data = NULL;
    TRY(ht_mem_alloc((size_t)bytes, 1, &data));
    enum ht_err err = ht_device_finish(means->device);
    if (err == HT_OK) err = ht_buffer_read(means->results, span, data);
    for (int64_t m = 0; err == HT_OK && m < planes; m++) {
        out[m] = (struct ht_mean_sum){0};
        for (int64_t g = m * groups; g < (m + 1) * groups; g++) {
            out[m].sum += entry(means, data, ENTRIES * g) +
                          entry(means, data, ENTRIES * g + 1);
            out[m].magnitudes += entry(means, data, ENTRIES * g + 2);
        }
    }
    free(data);
    return err;
}

enum ht_err ht_means_sums(struct ht_means *means,
                          const struct ht_mean_form *form,
                          const struct ht_mean_part *part, struct ht_buffer *u,
                          struct ht_mean_sum *out) {
    struct ht_mean_args args = args_of(form, part);
    const bool three = part->window->count[2] > 1;
    args.groups =
        (long)ht_least(args.count[1], three ? FEW_GROUPS : MANY_GROUPS);
    const int64_t all = args.groups * args.count[2];
    const int64_t groups[3] = {args.groups, args.count[2], 1};
    TRY(build(means));
    if (all > means->room) {
        ht_buffer_destroy(means->results);
        means->results = NULL;
        means->room = 0;
        TRY(ht_buffer_create(means->device, all * ENTRIES * 8,
                             &means->results));
        means->room = all;
    }
    const struct ht_arg arg[] = {{.value = &args, .size = sizeof args},
                                 {.buffer = form->at},
                                 {.buffer = form->weights},
                                 {.buffer = u},
                                 {.buffer = means->results}};
    TRY(ht_kernel_launch(means->sums, 5, arg, groups, means->items));
    return read_sums(means, args.count[2], args.groups, out);
}

enum ht_err ht_means_shift(struct ht_means *means,
                           const struct ht_mean_form *form,
                           const struct ht_window *window, double by,
                           struct ht_buffer *u) {
    const struct ht_mean_args args = {.nodes = (long)ht_window_nodes(window)};
    const float single = (float)by;
    const int64_t groups[3] = {ht_divide_up(args.nodes, means->items), 1, 1};
    const struct ht_arg arg[] = {
        {.value = &args, .size = sizeof args},
        {.value = means->fp64 ? (const void *)&by : (const void *)&single,
         .size = means->fp64 ? sizeof by : sizeof single},
        {.buffer = form->at},
        {.buffer = u}};
    TRY(build(means));
    return ht_kernel_launch(means->shift, 4, arg, groups, means->items);
}
