/* Absorbing layers of finite differences on a device: the program of
 * cl/fd_layers.cl and its launches.
 */
#include "htwave/fd_layers.h"

#include <limits.h>
#include <stdlib.h>

#include "fd_args.h"
#include "fd_layer_args.h"
#include "fd_private.h"
#include "htwave/kernel_sources.h"

enum { LANES = 128 };
enum { FLUX, CORRECT, UPDATE, DAMP, ENTRIES };

struct ht_fd_layer_kernels {
    struct ht_fd_spec spec;
    struct ht_fd_weights weights, narrow; /* of L, of the layers */
    int lanes;
    struct ht_program *program;
    struct ht_kernel *kernel[2][ENTRIES]; /* [part], an account each */
};

int ht_fd_layer_radius(const struct ht_fd_spec *spec) {
    return spec->density || spec->radius == 1 ? spec->radius : spec->radius - 1;
}

void ht_fd_layer_kernels_destroy(struct ht_fd_layer_kernels *k) {
    if (k == NULL) return;
    for (int i = 0; i < 2 * ENTRIES; i++)
        ht_kernel_destroy(k->kernel[i / ENTRIES][i % ENTRIES]);
    ht_program_destroy(k->program);
    free(k);
}

double ht_fd_layer_seconds(struct ht_fd_layer_kernels *k) {
    double seconds = 0;
    for (int i = 0; k != NULL && i < 2 * ENTRIES; i++)
        seconds += ht_kernel_seconds(k->kernel[i / ENTRIES][i % ENTRIES]);
    return seconds;
}

double ht_fd_layer_total(const struct ht_fd_layer_kernels *k,
                         enum ht_step_part part) {
    double seconds = 0;
    for (int i = 0; k != NULL && i < ENTRIES; i++)
        seconds += ht_kernel_total(k->kernel[part][i]);
    return seconds;
}

enum ht_err ht_fd_layer_text(const struct ht_fd_spec *spec, int lanes,
                             struct ht_text *out) {
    const struct {
        const char *name;
        int value;
    } numbers[] = {
        {"DOUBLE", spec->fp64},        {"DIMS", spec->dims},
        {"FD_R", spec->radius},        {"FD_LAYER_R", ht_fd_layer_radius(spec)},
        {"FD_DENSITY", spec->density}, {"FD_ROW_ITEMS", lanes},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        ht_text_add(out, "#define HT_%s (%d)\n", numbers[i].name,
                    numbers[i].value);
    TRY(ht_kernel_add_source("prelude.cl", out));
    TRY(ht_kernel_add_source("fd_args.h", out));
    TRY(ht_kernel_add_source("fd_layer_args.h", out));
    TRY(ht_kernel_add_source("fd_common.cl", out));
    TRY(ht_kernel_add_source("fd_layers.cl", out));
    return ht_text_status(out);
}

static enum ht_err build(struct ht_fd_layer_kernels *k,
                         struct ht_device *device, const char *cache) {
    static const char *const entry[ENTRIES] = {
        "ht_fd_layer_flux", "ht_fd_layer_correct", "ht_fd_layer_update",
        "ht_fd_layer_damp"};
    struct ht_text text = {0};
    enum ht_err err = ht_fd_layer_text(&k->spec, k->lanes, &text);
    if (err == HT_OK)
        err = ht_program_build(device, text.data, cache, &k->program);
    ht_text_free(&text);
    for (int i = 0; err == HT_OK && i < 2 * ENTRIES; i++)
        err = ht_kernel_create(k->program, entry[i % ENTRIES],
                               &k->kernel[i / ENTRIES][i % ENTRIES]);
    return err;
}

enum ht_err ht_fd_layer_kernels_create(struct ht_device *device,
                                       const struct ht_fd_spec *spec,
                                       const char *cache,
                                       struct ht_fd_layer_kernels **out) {
    struct ht_fd_layer_kernels *k = NULL;
    *out = NULL;
    TRY(HT_ALLOC(k, 1));
    k->spec = *spec;
    k->weights = ht_fd_weights(2 * spec->radius);
    k->narrow = ht_fd_weights(2 * ht_fd_layer_radius(spec));
    k->lanes = LANES;
    while (k->lanes > ht_device_info(device)->max_group) k->lanes /= 2;
    const enum ht_err err = build(k, device, cache);
    if (err != HT_OK) {
        ht_fd_layer_kernels_destroy(k);
        return ht_err_prefix(err, "kernels of absorbing layers");
    }
    *out = k;
    return HT_OK;
}

/* ---- arguments ---- */

/* struct ht_fd_layer_coefs of cl/fd_layers.cl. */
enum { MOST_COEFS = 9 * HT_FD_RADIUS };
union coefs {
    float single[MOST_COEFS];
    double wide[MOST_COEFS];
};

static void put(const struct ht_fd_layer_kernels *k, int *count, double value,
                union coefs *out) {
    if (k->spec.fp64)
        out->wide[(*count)++] = value;
    else
        out->single[(*count)++] = (float)value;
}

/* The number of bytes. */
static size_t set_coefs(const struct ht_fd_layer_kernels *k,
                        const double scale[3], union coefs *out) {
    const int narrow = k->narrow.radius;
    int count = 0;
    for (int i = 0; i < ht_fd_coef_rows(&k->spec); i++)
        for (int j = 0; j < k->spec.radius; j++)
            put(k, &count, ht_fd_coef(&k->spec, &k->weights, scale, i, j), out);
    for (int j = 0; j < narrow; j++) put(k, &count, k->narrow.first[j], out);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < narrow; j++)
            put(k, &count, i < k->spec.dims ? scale[i] * k->narrow.first[j] : 0,
                out);
    return (size_t)count * (k->spec.fp64 ? sizeof(double) : sizeof(float));
}

static struct ht_fd_layer layer_of(const struct ht_fd_side *side) {
    struct ht_fd_layer layer = {.axis = side->axis,
                                .way = side->side == 0 ? 1 : -1,
                                .cells = (long)side->cells,
                                .wall = (long)side->wall,
                                .offset = (long)side->offset,
                                .profile = (long)side->profile};
    for (int k = 0; k < 3; k++) layer.pitch[k] = (long)side->pitch[k];
    return layer;
}

static int64_t extent(const struct ht_fd_box *box, int axis) {
    return box->end[axis] - box->begin[axis];
}

/* What all launches have in common. */
struct launch {
    struct ht_fd_layer_args args;
    union coefs coefs;
    int count;
    struct ht_arg arg[14];
};

static void add_buffer(struct launch *l, struct ht_buffer *buffer) {
    l->arg[l->count++] = (struct ht_arg){.buffer = buffer};
}

static void begin(const struct ht_fd_box *box, int sides,
                  const struct ht_fd_side *const *side, struct launch *l) {
    *l = (struct launch){.args = {.row = (long)box->row,
                                  .plane = (long)box->plane,
                                  .layers = sides}};
    for (int i = 0; i < 3; i++) {
        l->args.begin[i] = (long)box->begin[i];
        l->args.end[i] = (long)box->end[i];
    }
    for (int i = 0; i < sides; i++) l->args.layer[i] = layer_of(side[i]);
    l->arg[l->count++] =
        (struct ht_arg){.value = &l->args, .size = sizeof l->args};
}

static void add_coefs(const struct ht_fd_layer_kernels *k,
                      const struct ht_fd_operator *op, struct launch *l) {
    const size_t bytes = set_coefs(k, op->scale, &l->coefs);
    l->arg[l->count++] = (struct ht_arg){.value = &l->coefs, .size = bytes};
}

static void add_density(const struct ht_fd_layer_kernels *k,
                        const struct ht_fd_operator *op, struct launch *l) {
    for (int i = 0; k->spec.density && i < 3; i++)
        add_buffer(l, i < k->spec.dims ? op->b[i] : op->a);
}

static enum ht_err run(struct ht_fd_layer_kernels *k, enum ht_step_part part,
                       int entry, const struct ht_fd_box *box,
                       const struct launch *l) {
    const int64_t plane = extent(box, 0) * extent(box, 1);
    const int64_t groups[3] = {ht_divide_up(plane, k->lanes), 1,
                               extent(box, 2)};
    if (extent(box, 0) <= 0 || extent(box, 1) <= 0 || extent(box, 2) <= 0)
        return HT_OK;
    return ht_kernel_launch(k->kernel[part][entry], l->count, l->arg, groups,
                            k->lanes);
}

/* ---- launches ---- */

enum ht_err
ht_fd_layer_flux(struct ht_fd_layer_kernels *k, const struct ht_fd_box *box,
                 const struct ht_fd_side *side, const struct ht_fd_operator *op,
                 const struct ht_fd_memory *memory, struct ht_buffer *u) {
    struct launch l;
    begin(box, 1, &side, &l);
    add_coefs(k, op, &l);
    add_buffer(&l, memory->profile);
    add_buffer(&l, u);
    add_density(k, op, &l);
    add_buffer(&l, memory->v);
    add_buffer(&l, memory->q);
    return run(k, HT_PART_INTERIOR, FLUX, box, &l);
}

static enum ht_err step(struct ht_fd_layer_kernels *k, enum ht_step_part part,
                        int entry, const struct ht_fd_box *box, int sides,
                        const struct ht_fd_side *const *side,
                        const struct ht_fd_operator *op,
                        const struct ht_fd_memory *memory, struct ht_buffer *u,
                        struct ht_buffer *d, struct ht_buffer *out) {
    struct launch l;
    begin(box, sides, side, &l);
    add_coefs(k, op, &l);
    add_buffer(&l, memory->profile);
    add_buffer(&l, memory->q);
    add_buffer(&l, memory->flow);
    add_buffer(&l, memory->rest);
    add_buffer(&l, u);
    add_buffer(&l, op->a);
    add_density(k, op, &l);
    add_buffer(&l, d);
    add_buffer(&l, out);
    return run(k, part, entry, box, &l);
}

enum ht_err
ht_fd_layer_correct(struct ht_fd_layer_kernels *k, enum ht_step_part part,
                    const struct ht_fd_box *box, const struct ht_fd_side *side,
                    const struct ht_fd_operator *op,
                    const struct ht_fd_memory *memory, struct ht_buffer *u,
                    struct ht_buffer *d, struct ht_buffer *out) {
    return step(k, part, CORRECT, box, 1, &side, op, memory, u, d, out);
}

enum ht_err ht_fd_layer_update(struct ht_fd_layer_kernels *k,
                               enum ht_step_part part,
                               const struct ht_fd_box *box, int sides,
                               const struct ht_fd_side *const *side,
                               const struct ht_fd_operator *op,
                               const struct ht_fd_memory *memory,
                               struct ht_buffer *u, struct ht_buffer *d,
                               struct ht_buffer *out) {
    return step(k, part, UPDATE, box, sides, side, op, memory, u, d, out);
}

enum ht_err ht_fd_layer_damp(struct ht_fd_layer_kernels *k,
                             enum ht_step_part part,
                             const struct ht_fd_box *box,
                             const struct ht_fd_side *side,
                             struct ht_buffer *profile, struct ht_buffer *u,
                             struct ht_buffer *d) {
    struct launch l;
    begin(box, 1, &side, &l);
    add_buffer(&l, profile);
    add_buffer(&l, u);
    add_buffer(&l, d);
    return run(k, part, DAMP, box, &l);
}
