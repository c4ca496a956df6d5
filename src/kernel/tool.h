/* A tool: a small program beside the half steps, its kernels and what they read on a device. A file
 * of src/kernel that needs one states the program as a recipe, keeps its numbers behind struct
 * ht_tool, which is its struct's first member, and launches kernels by number. */
#pragma once

#include "htwave/tool.h"

enum { HT_RECIPE_NUMBERS = 30, HT_TOOL_ENTRIES = 6, HT_TOOL_BUFFERS = 4 };

/* The program: numbers, cl/prelude.cl, definitions, files. Each list ends before its first NULL. */
struct ht_recipe {
    const char *what; /* for messages; NULL: the caller says it */
    bool fp64;        /* HT_DOUBLE */
    int items;        /* of a group, HT_TOOL_ITEMS: halved until the device has that many */
    struct ht_recipe_number {
        const char *name; /* HT_<name> */
        int value;
    } number[HT_RECIPE_NUMBERS];
    struct {
        const char *name; /* HT_<name>(X): X(0) .. X(count - 1) */
        int count;
    } each;
    const char *definitions; /* NULL: none; copied */
    const char *file[HT_MAX_FILES], *entry[HT_TOOL_ENTRIES];
    bool parts; /* each part of a step has an account of its own (ht_tool_total) */
    bool now;   /* compiled when it is made */
};

struct ht_tool {
    struct ht_device *device; /* NULL: text alone */
    struct ht_recipe recipe;  /* items: those of a group */
    struct ht_text text;
    struct ht_program *program;
    struct ht_kernel *kernel[2][HT_TOOL_ENTRIES]; /* [part] */
    struct ht_buffer *buffer[HT_TOOL_BUFFERS];    /* the file's; freed with the tool */
    struct ht_tool *next;                         /* counted and destroyed with it; NULL: none */
};

/* Facts of a device; of none those of a GPU that has everything. */
const struct ht_device_info *ht_tool_info(const struct ht_device *device);
/* Appends the program. */
HT_ERR ht_recipe_write(const struct ht_recipe *recipe, struct ht_text *out);
/* The program of a half step by a given operator, with definitions, which must outlive it. */
HT_ERR ht_step_recipe(const struct ht_variant *variant, const struct ht_spec *spec,
                      const struct ht_shape *shape, const struct ht_operator *op,
                      struct ht_text *definitions, struct ht_recipe *out);
/* A tool that has its text and is compiled now, by ht_tool_build or by the first launch. *out: a
 * copy of the file's struct of `size` bytes, whose first member, struct ht_tool, is filled. */
HT_ERR ht_tool_create(struct ht_device *device, const struct ht_recipe *recipe, const void *own,
                      size_t size, void *out);
/* The end of a function that fills such a tool: after an error it is destroyed; err. */
enum ht_err ht_tool_keep(enum ht_err err, struct ht_tool **tool);
HT_ERR ht_tool_launch(struct ht_tool *tool, enum ht_step_part part, int entry,
                      const int64_t groups[3], int count, const struct ht_arg *args);
/* The argument of `count` values in the tool's precision, to which they change in their place. */
struct ht_arg ht_tool_reals(const struct ht_tool *tool, int count, double *values);
#define HT_VALUE(x) ((struct ht_arg){.value = &(x), .size = sizeof(x)})
#define HT_BUFFER(b) ((struct ht_arg){.buffer = (b)})
/* The number of arguments, and them. */
#define HT_ARGS(...)                                                                           \
    (int)(sizeof((struct ht_arg[]){__VA_ARGS__}) / sizeof(struct ht_arg)), (struct ht_arg[]) { \
        __VA_ARGS__                                                                            \
    }
/* Buffers of these numbers (bits) become arguments from number n on; the next one's. */
int ht_tool_buffers(unsigned numbers, struct ht_buffer *const *buffer, struct ht_arg *arg, int n);
/* A buffer with these bytes, or these values in the tool's precision; NULL: undefined ones. Nothing
 * where there is no device. */
HT_ERR ht_tool_store(const struct ht_tool *tool, int64_t bytes, const void *data,
                     struct ht_buffer **out);
HT_ERR ht_tool_store_reals(const struct ht_tool *tool, int64_t count, const double *values,
                           struct ht_buffer **out);
