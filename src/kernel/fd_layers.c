/* Absorbing layers of finite differences on a device: the program of cl/fd_layers.cl and its
 * launches.
 */
#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "fd_args.h"
#include "fd_layer_args.h"
#include "tool.h"
#include "variant.h"

/* Of a program that does no lines a group has WIDTH columns of DEPTH targets, LANES / WIDTH of each
 * at a time. Measured on an H200 (bench/NOTES.md). */
enum { LANES = 128, WIDTH = 32, DEPTH = 12 };
enum { CORRECT, START, UPDATE, SQUARES, DAMP }; /* entries */

struct layer_kernels {
    struct ht_tool tool;
    struct ht_fd_spec spec;
    struct ht_fd_weights weights, narrow; /* of L, of the layers */
    bool lines;
};

int64_t ht_fd_layer_limit(const struct ht_fd_spec *spec) {
    return INT_MAX / ht_real_size(spec->fp64);
}

int ht_fd_layer_radius(const struct ht_fd_spec *spec) {
    return spec->density || spec->radius <= 3 ? spec->radius : spec->radius - 1;
}

/* Of radius 2 and 3 the weights between those of both orders whose symbol at pi is that of the
 * second differences: below it everywhere. */
struct ht_fd_weights ht_fd_layer_weights(const struct ht_fd_spec *spec) {
    const struct ht_fd_weights whole = ht_fd_weights(2 * spec->radius);
    struct ht_fd_weights out = ht_fd_weights(2 * ht_fd_layer_radius(spec));
    if (spec->density || spec->radius == 1 || spec->radius > 3) return out;
    const struct ht_fd_weights below = ht_fd_weights(2 * spec->radius - 2);
    const double least = ht_fd_first_symbol(&below, HT_PI);
    const double part = (sqrt(ht_fd_second_symbol(&whole, HT_PI)) - least) /
                        (ht_fd_first_symbol(&whole, HT_PI) - least);
    for (int j = 0; j < out.radius; j++)
        out.first[j] = part * whole.first[j] + (1 - part) * (j < below.radius ? below.first[j] : 0);
    return out;
}

/* Of the columns of a group (cl/fd_layers.cl): how many, how deep. */
static int width_of(int lanes, bool lines) {
    return lines || lanes < WIDTH ? lanes : WIDTH;
}

static int depth_of(bool lines) {
    return lines ? 1 : DEPTH;
}

enum ht_err ht_fd_layer_kernels_create(struct ht_device *device, const struct ht_fd_spec *spec,
                                       struct ht_tool **out) {
    const bool lines = !ht_tool_info(device)->gpu;
    int lanes = LANES;
    while (lanes > ht_tool_info(device)->max_group) lanes /= 2;
    const struct ht_recipe recipe = {
        .what = "kernels of absorbing layers",
        .fp64 = spec->fp64,
        .items = lanes,
        .number = {{"DIMS", spec->dims},
                   {"FD_R", spec->radius},
                   {"FD_LAYER_R", ht_fd_layer_radius(spec)},
                   {"FD_DENSITY", spec->density},
                   {"FD_LAYER_LINES", lines},
                   {"FD_LAYER_WIDTH", width_of(lanes, lines)},
                   {"FD_LAYER_DEPTH", depth_of(lines)},
                   {"FD_PROFILES", HT_FD_PROFILES}},
        .file = {"fd_args.h", "fd_layer_args.h", "fd_common.cl", "fd_layers.cl"},
        .entry = {"ht_fd_layer_correct", "ht_fd_layer_start", "ht_fd_layer_update",
                  "ht_fd_layer_squares", "ht_fd_layer_damp"},
        .parts = true};
    struct layer_kernels *k = NULL;
    *out = NULL;
    TRY(ht_tool_create(device, &recipe, sizeof *k, &k));
    k->spec = *spec;
    k->weights = ht_fd_weights(2 * spec->radius);
    k->narrow = ht_fd_layer_weights(spec);
    k->lines = lines;
    const enum ht_err err = ht_tool_build(&k->tool);
    return HT_MADE(err, &k->tool, ht_tool_destroy, out);
}

/* ---- arguments ---- */

/* struct ht_fd_layer_coefs of cl/fd_layers.cl. */
enum { MOST_COEFS = 7 * HT_FD_RADIUS };
union coefs {
    float single[MOST_COEFS];
    double wide[MOST_COEFS];
};

/* With the buffers no more than the 1024 bytes that each device takes. */
_Static_assert(sizeof(struct ht_fd_layer_args) + 52 * sizeof(double) + 9 * sizeof(void *) <= 1024,
               "arguments of layers, density uniform");
_Static_assert(sizeof(struct ht_fd_layer_args) + 40 * sizeof(double) + 12 * sizeof(void *) <= 1024,
               "arguments of layers, density varies");

static void put(const struct layer_kernels *k, int *count, double value, union coefs *out) {
    if (k->spec.fp64)
        out->wide[(*count)++] = value;
    else
        out->single[(*count)++] = (float)value;
}

static struct ht_fd_layer layer_of(const struct layer_kernels *k, const struct ht_fd_box *box,
                                   const struct ht_fd_side *side) {
    const int64_t along[3] = {1, box->row, box->plane};
    const int way = side->side == 0 ? 1 : -1, axis = side->axis;
    const int bytes = ht_real_size(k->spec.fp64);
    struct ht_fd_layer layer = {.offset = (long)side->offset,
                                .pitch = (int)side->pitch[axis] * bytes,
                                .axis = axis,
                                .way = way,
                                .inward = (int)along[axis] * way * bytes,
                                .cells = (int)side->cells,
                                .wall = (int)side->wall,
                                .profile = (int)side->profile};
    for (int i = 0; i < k->spec.dims; i++)
        if (i != axis) layer.step[i] = (int)side->pitch[i];
    return layer;
}

/* ---- zones ---- */

void ht_fd_layer_zones(const struct ht_fd_box *box, const struct ht_fd_sides *sides,
                       struct ht_fd_zones *out) {
    *out = (struct ht_fd_zones){.cut = {{0}}};
    for (int k = 0; k < 3; k++) {
        /* Parts of one axis. */
        const int64_t begin = box->begin[k], end = box->end[k];
        int64_t *cut = out->cut[k];
        cut[0] = cut[1] = begin;
        cut[2] = cut[3] = end;
        for (int i = 0; i < sides->count; i++) {
            const struct ht_fd_side *side = &sides->side[i];
            const int64_t reach = side->cells + sides->beyond;
            if (side->axis != k) continue;
            if (side->side == 0)
                cut[1] = ht_most(ht_least(side->wall + reach, end), begin);
            else
                cut[2] = ht_least(ht_most(side->wall - reach + 1, begin), end);
        }
        if (cut[1] > cut[2]) { /* both change what lies between */
            const int64_t low = cut[2];
            cut[2] = cut[1];
            cut[1] = low;
        }
        for (int n = 0; n < 3 * sides->count; n++) {
            const struct ht_fd_side *side = &sides->side[n / 3];
            const int64_t reach = side->cells + sides->beyond;
            const bool inside = side->side == 0 ? cut[n % 3] < side->wall + reach
                                                : cut[n % 3 + 1] - 1 > side->wall - reach;
            if (side->axis == k && inside) out->layers[k][n % 3] |= 1u << (n / 3);
        }
    }
}

/* ---- launches ---- */

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

static void begin(const struct layer_kernels *k, const struct ht_fd_box *box,
                  const struct ht_fd_sides *sides, bool everywhere, bool lines, struct launch *l) {
    *l = (struct launch){
        .args = {.row = (int)box->row, .plane = k->spec.dims > 2 ? (int)box->plane : 0}};
    /* Zones of a launch, and the groups of each: of those in layers, or all. */
    struct ht_fd_zones zones;
    ht_fd_layer_zones(box, sides, &zones);
    for (int n = 0; n < 3; n++)
        for (int i = 0; i < 4; i++) l->args.cut[n][i] = (int)zones.cut[n][i];
    for (int n = 0; n < 9; n++)
        l->args.layers[n / 3] |= (int)(zones.layers[n / 3][n % 3] << 8 * (n % 3));
    for (int n = 0; n < HT_FD_ZONES; n++) {
        /* Zone n of a launch: whether it is done by lines, and its groups. */
        const int at[3] = {n % 3, n / 3 % 3, n / 9};
        int64_t count[3];
        unsigned layers = 0;
        int axis = -1;
        for (int i = 0; i < 3; i++) {
            const unsigned here = zones.layers[i][at[i]];
            count[i] = zones.cut[i][at[i] + 1] - zones.cut[i][at[i]];
            if (here != 0) axis = i;
            layers |= here;
        }
        const bool one = layers != 0 && (layers & (layers - 1)) == 0;
        const bool none = count[0] * count[1] * count[2] == 0 || (layers == 0 && !everywhere);
        if (lines && one) {
            l->args.lines |= 1 << n;
            count[axis] = 1;
        }
        const int deep = zones.layers[1][at[1]] != 0 && zones.layers[2][at[2]] == 0 ? 1 : 2;
        l->args.first[n + 1] = l->args.first[n];
        if (!none)
            l->args.first[n + 1] += (int)(ht_divide_up(count[0] * count[3 - deep],
                                                       width_of(k->tool.recipe.items, k->lines)) *
                                          ht_divide_up(count[deep], depth_of(k->lines)));
    }
    for (int i = 0; i < sides->count; i++) l->args.layer[i] = layer_of(k, box, &sides->side[i]);
    l->arg[l->count++] = (struct ht_arg){.value = &l->args, .size = sizeof l->args};
}

static void add_coefs(const struct layer_kernels *k, const struct ht_fd_operator *op,
                      struct launch *l) {
    /* The number of bytes. */
    const int narrow = k->narrow.radius;
    int count = 0;
    for (int i = 0; i < ht_fd_coef_rows(&k->spec); i++)
        for (int j = 0; j < k->spec.radius; j++)
            put(k, &count, ht_fd_coef(&k->spec, &k->weights, op->scale, i, j), &l->coefs);
    for (int i = 0; !k->spec.density && i <= k->spec.dims; i++)
        for (int j = 0; j < narrow; j++)
            put(k, &count, (i > 0 ? op->scale[i - 1] : 1) * k->narrow.first[j], &l->coefs);
    const size_t bytes = (size_t)count * (k->spec.fp64 ? sizeof(double) : sizeof(float));
    l->arg[l->count++] = (struct ht_arg){.value = &l->coefs, .size = bytes};
}

static void add_density(const struct layer_kernels *k, const struct ht_fd_operator *op,
                        struct launch *l) {
    for (int i = 0; k->spec.density && i < 3; i++)
        add_buffer(l, i < k->spec.dims ? op->b[i] : op->a);
}

static enum ht_err run(struct layer_kernels *k, enum ht_step_part part, int entry,
                       const struct launch *l) {
    const int64_t groups[3] = {l->args.first[HT_FD_ZONES], 1, 1};
    if (groups[0] == 0) return HT_OK;
    return ht_tool_launch(&k->tool, part, entry, groups, l->count, l->arg);
}

static enum ht_err step(struct layer_kernels *k, enum ht_step_part part, int entry,
                        const struct ht_fd_operator *op, const struct ht_fd_memory *memory,
                        struct ht_buffer *u, struct ht_buffer *d, struct ht_buffer *out,
                        struct launch *l) {
    add_coefs(k, op, l);
    add_buffer(l, memory->profile);
    add_buffer(l, memory->before);
    add_buffer(l, memory->halves);
    add_buffer(l, memory->nodes);
    add_buffer(l, u);
    add_buffer(l, op->a);
    add_density(k, op, l);
    add_buffer(l, d);
    add_buffer(l, out);
    return run(k, part, entry, l);
}

enum ht_err ht_fd_layer_correct(struct ht_tool *tool, enum ht_step_part part,
                                const struct ht_fd_box *box, const struct ht_fd_sides *sides,
                                const struct ht_fd_operator *op, const struct ht_fd_memory *memory,
                                struct ht_buffer *u, struct ht_buffer *d, struct ht_buffer *out) {
    struct layer_kernels *k = (struct layer_kernels *)tool;
    struct launch l;
    begin(k, box, sides, false, k->lines && !memory->start, &l);
    return step(k, part, memory->start ? START : CORRECT, op, memory, u, d, out, &l);
}

enum ht_err ht_fd_layer_update(struct ht_tool *tool, enum ht_step_part part,
                               const struct ht_fd_box *box, const struct ht_fd_sides *sides,
                               bool everywhere, const struct ht_fd_operator *op,
                               const struct ht_fd_memory *memory, struct ht_buffer *u,
                               struct ht_buffer *d, struct ht_buffer *out) {
    struct layer_kernels *k = (struct layer_kernels *)tool;
    struct launch l;
    begin(k, box, sides, everywhere, k->lines, &l);
    return step(k, part, UPDATE, op, memory, u, d, out, &l);
}

enum ht_err ht_fd_layer_squares(struct ht_tool *tool, const struct ht_fd_box *box,
                                const struct ht_fd_operator *op, struct ht_buffer *u,
                                struct ht_buffer *z) {
    const struct ht_fd_sides none = {.count = 0};
    struct layer_kernels *k = (struct layer_kernels *)tool;
    struct launch l;
    begin(k, box, &none, true, false, &l);
    add_coefs(k, op, &l);
    add_buffer(&l, u);
    add_buffer(&l, op->a);
    add_density(k, op, &l);
    add_buffer(&l, z);
    return run(k, HT_PART_INTERIOR, SQUARES, &l);
}

enum ht_err ht_fd_layer_damp(struct ht_tool *tool, enum ht_step_part part,
                             const struct ht_fd_box *box, const struct ht_fd_sides *sides,
                             struct ht_buffer *profile, struct ht_buffer *u, struct ht_buffer *d) {
    struct layer_kernels *k = (struct layer_kernels *)tool;
    struct launch l;
    begin(k, box, sides, false, false, &l);
    add_buffer(&l, profile);
    add_buffer(&l, u);
    add_buffer(&l, d);
    return run(k, part, DAMP, &l);
}
