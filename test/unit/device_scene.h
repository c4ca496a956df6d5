/* A device and small programs on it, for the tests of the device layer. The texts begin with
 * cl/prelude.cl, so that every back end takes them. */
#pragma once

#include "must.h"
#include "open_device.h"

#include "htwave/kernel.h"

HT_ENDS(ht_buffer)
HT_ENDS(ht_kernel)
HT_ENDS(ht_program)

enum { GROUP_SIZE = 16, VALUES = 64 };

/* The prelude followed by body, owned by the caller. */
static inline char *program_text(const char *body) {
    struct ht_text text = {0};
    ht_text_add(&text, "#define HT_DOUBLE 0\n");
    for (int i = 0; ht_kernel_sources[i].name != NULL; i++)
        if (strcmp(ht_kernel_sources[i].name, "prelude.cl") == 0)
            ht_text_add(&text, "%s", ht_kernel_sources[i].text);
    ht_text_add(&text, "%s", body);
    if (ht_text_status(&text) != HT_OK) exit(1);
    return text.data;
}

/* A program with one kernel, x[i] += step + `more`. */
static inline char *adding_text(int more) {
    char body[256];
    snprintf(body, sizeof body,
             "HT_KERNEL void ht_add(HT_GLOBAL float *x, float step) {\n"
             "    x[HT_GROUP_1() * %d + HT_ITEM()] += step + %d.0f;\n}\n",
             (int)GROUP_SIZE, more);
    return program_text(body);
}

static inline struct ht_span whole(int64_t bytes) {
    return (struct ht_span){.width = bytes, .pitch = bytes, .rows = 1};
}

/* Launches `count` times ht_add(x, 0.5) on VALUES values. */
static inline enum ht_err launch_add(struct ht_kernel *kernel, struct ht_buffer *x, int count) {
    const float step = 0.5f;
    const struct ht_arg args[2] = {{.buffer = x}, {.value = &step, .size = sizeof step}};
    const int64_t groups[3] = {VALUES / GROUP_SIZE, 1, 1};
    for (int i = 0; i < count; i++) TRY(ht_kernel_launch(kernel, 2, args, groups, GROUP_SIZE));
    return HT_OK;
}

/* What one launch of a program of adding_text adds to x[VALUES - 1]; NaN when a step of the way
 * fails. */
static inline double added_by(struct ht_device *device, struct ht_program *program) {
    HT_ENDED(ht_kernel_end) struct ht_kernel *kernel = NULL;
    HT_ENDED(ht_buffer_end) struct ht_buffer *x = NULL;
    float values[VALUES] = {0};
    enum ht_err err = ht_kernel_create(program, "ht_add", &kernel);
    if (err == HT_OK) err = ht_buffer_create(device, sizeof values, &x);
    if (err == HT_OK) err = ht_buffer_write(x, whole(sizeof values), values);
    if (err == HT_OK) err = launch_add(kernel, x, 1);
    if (err == HT_OK) err = ht_device_finish(device);
    if (err == HT_OK) err = ht_buffer_read(x, whole(sizeof values), values);
    return err == HT_OK ? (double)values[VALUES - 1] : (double)NAN;
}
