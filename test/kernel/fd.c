/* The kernels of finite differences against the formulas in double precision, computed here: the
 * largest difference over the bound that rounding allows, 1 being the most. Nodes outside the box
 * stay as they were, and fast kernels give the bits of fd-plain, but for fd-march where density
 * varies. Every variant runs in each dimension, with uniform and with varying density, at one
 * radius of two, which together are all (HTWAVE_COVER=all: each at all radii and in both
 * precisions), for every size, with every kind of launch.
 *
 * Ghosts are judged exactly, for periods and walls of both signs.
 *
 * Arguments: "small": sizes that an interpreting simulator bears; then a part of the names of the
 * cases to run. */
#include "compiler.h"
#include "open_device.h"
#include "window.h"

enum { U, D, P, A, B, W = B + 3, FIELDS };

static bool small;
static const char *only;

struct fd_case {
    struct ht_fd_spec spec;
    const struct ht_variant *variant;
    struct ht_fd_shape shape;
    int64_t nodes[3];
    bool part; /* the box is a part of these nodes */
};

enum { VARIANTS = 3 };
static const char *const names[VARIANTS] = {"fd-march", "fd-vectors", "fd-plain"};

static const struct ht_variant *variant_named(const char *name) {
    return ht_variant_find(name, NULL, false);
}

/* As fd-plain's: all but fd-march where density varies. */
static bool same_bits(const struct fd_case *c) {
    return !c->spec.density || c->variant != variant_named("fd-march");
}

struct scene {
    struct ht_device *device;
    const struct fd_case *c;
    struct ht_fd_box box;
    int64_t nodes; /* of the window */
    double scale[3];
    double *value[FIELDS], *got[2];
    struct ht_buffer *buffer[FIELDS];
};

static int64_t round_up(int64_t n) {
    return (n + HT_FD_PACK - 1) / HT_FD_PACK * HT_FD_PACK;
}

/* The window has just the room that the header asks for. */
static void set_box(struct scene *s) {
    const int64_t reach = ht_fd_reach(&s->c->spec);
    int64_t count[3] = {1, 1, 1};
    for (int k = 0; k < 3; k++) {
        const bool there = k < s->c->spec.dims;
        const int64_t ghosts = !there ? 0 : k == 0 ? round_up(reach) : reach;
        const int64_t cut = there && s->c->part && s->c->nodes[k] > 4;
        s->box.begin[k] = ghosts + cut;
        s->box.end[k] = ghosts + (there ? s->c->nodes[k] : 1) - 2 * cut;
        if (there) count[k] = 2 * ghosts + s->c->nodes[k];
        if (k == 0) count[k] = 2 * ghosts + round_up(s->c->nodes[k]);
    }
    s->box.row = count[0];
    s->box.plane = count[0] * count[1];
    s->nodes = s->box.plane * count[2];
}

static enum ht_err read_all(const struct scene *s, int field, double *value) {
    return ht_buffer_read_reals(s->buffer[field], s->c->spec.fp64, 0, s->nodes, value);
}

static enum ht_err write_all(const struct scene *s, int field) {
    return ht_buffer_write_reals(s->buffer[field], s->c->spec.fp64, 0, s->nodes, s->value[field]);
}

/* Values of all fields, ghosts too: of u, d, p any, of a and b positive. */
static enum ht_err make_scene(struct scene *s) {
    set_box(s);
    for (int f = 0; f < FIELDS; f++) {
        TRY(HT_ALLOC(s->value[f], s->nodes));
        TRY(ht_buffer_create(s->device, s->nodes * ht_real_size(s->c->spec.fp64), &s->buffer[f]));
        for (int64_t i = 0; i < s->nodes; i++) {
            double x = ht_rng_uniform(3 + (uint64_t)f, (uint64_t)i);
            if (f == A || (f >= B && f < W)) x = 1 + x / 2;
            s->value[f][i] = s->c->spec.fp64 ? x : (double)(float)x;
        }
    }
    for (int i = 0; i < 2; i++) TRY(HT_ALLOC(s->got[i], s->nodes));
    for (int k = 0; k < 3; k++) s->scale[k] = 0.3 / (1 + k);
    return HT_OK;
}

static void free_scene(struct scene *s) {
    for (int f = 0; f < FIELDS; f++) {
        free(s->value[f]);
        ht_buffer_destroy(s->buffer[f]);
    }
    for (int i = 0; i < 2; i++) free(s->got[i]);
}

/* ---- the formulas ---- */

/* A value, and the sum of the magnitudes that it was made of. */
struct sum {
    double value, size;
};

static void add(struct sum *sum, double factor, struct sum x) {
    sum->value += factor * x.value;
    sum->size += fabs(factor) * x.size;
}

static struct sum value_at(const struct scene *s, int field, int64_t at) {
    const double x = s->value[field][at];
    return (struct sum){x, fabs(x)};
}

static struct sum flux_at(const struct scene *s, const struct ht_fd_weights *w, int axis,
                          int64_t at, int64_t stride) {
    struct sum sum = {0};
    for (int j = 0; j < w->radius; j++) {
        add(&sum, w->first[j], value_at(s, U, at + (j + 1) * stride));
        add(&sum, -w->first[j], value_at(s, U, at - j * stride));
    }
    const double b = s->value[B + axis][at];
    return (struct sum){b * sum.value, b * sum.size};
}

static struct sum operator_at(const struct scene *s, int64_t at) {
    const struct ht_fd_weights w = ht_fd_weights(2 * s->c->spec.radius);
    const int64_t stride[3] = {1, s->box.row, s->box.plane};
    struct sum sum = {0};
    for (int k = 0; k < 3 && k < s->c->spec.dims; k++) {
        const int64_t d = stride[k];
        for (int j = 0; s->c->spec.density && j < w.radius; j++) {
            const double c = s->scale[k] * w.first[j];
            add(&sum, c, flux_at(s, &w, k, at + j * d, d));
            add(&sum, -c, flux_at(s, &w, k, at - (j + 1) * d, d));
        }
        for (int j = 1; !s->c->spec.density && j <= w.radius; j++) {
            const double c = s->scale[k] * w.second[j];
            add(&sum, c, value_at(s, U, at + j * d));
            add(&sum, -2 * c, value_at(s, U, at));
            add(&sum, c, value_at(s, U, at - j * d));
        }
    }
    const double a = s->value[A][at];
    return (struct sum){a * sum.value, a * sum.size};
}

/* Roundings that a term passes through: its weight, the differences, one for each term added after
 * it, the factors a and b, the last sums. */
static double roundings(const struct scene *s) {
    const int r = s->c->spec.radius, dims = s->c->spec.dims;
    /* Sums that a march forms plane by plane have 2 R terms. */
    const int turns = same_bits(s->c) ? 1 : 2;
    const int sums = dims > turns ? dims : turns;
    return sums * r + (s->c->spec.density ? turns * r + 3 : 0) + 7;
}

/* ---- launches ---- */

enum { STAGE, OWN, IN_PLACE, APART, ALONE, KINDS };
static const char *const kind_name[KINDS] = {"stage", "update", "update in place", "update apart",
                                             "update of d"};

/* What field is written to beside d; -1: none. */
static int target_of(int kind) {
    return kind == IN_PLACE ? P : kind == ALONE ? -1 : W;
}

static enum ht_err launch(const struct scene *s, struct ht_tool *kernels, int kind) {
    struct ht_buffer *const *b = s->buffer;
    const struct ht_fd_work work = {.operation = kind == STAGE ? HT_FD_ADD : HT_FD_STEP,
                                    .part = HT_PART_BOUNDARY,
                                    .box = s->box,
                                    .law = {.a = b[A],
                                            .b = {b[B], b[B + 1], b[B + 2]},
                                            .scale = {s->scale[0], s->scale[1], s->scale[2]}},
                                    .u = b[U],
                                    .d = b[D],
                                    .p = kind == OWN ? b[U] : b[P],
                                    .out = kind == ALONE ? NULL : b[target_of(kind)]};
    return ht_fd_launch(kernels, &work);
}

/* got: d and the target, afterwards. */
static enum ht_err run(struct scene *s, struct ht_tool *kernels, int kind, double *const got[2]) {
    const int target = target_of(kind);
    for (int f = 0; f < FIELDS; f++) TRY(write_all(s, f));
    TRY(launch(s, kernels, kind));
    TRY(ht_device_finish(s->device));
    TRY(read_all(s, D, got[0]));
    return target < 0 ? HT_OK : read_all(s, target, got[1]);
}

static bool inside(const struct scene *s, int64_t i) {
    return in_box(&s->box, i);
}

/* Differences over their bounds; infinite where a node outside changed. */
static double compare(const struct scene *s, int kind, double *const got[2]) {
    const double most = roundings(s) * unit_of(s->c->spec.fp64);
    const int target = target_of(kind);
    double worst = 0;
    for (int64_t i = 0; i < s->nodes; i++) {
        struct sum d = value_at(s, D, i), out = {0};
        if (target >= 0) out = value_at(s, target, i);
        if (inside(s, i)) {
            const struct sum r = operator_at(s, i);
            if (kind != STAGE) add(&d, 1, r);
            out = value_at(s, kind == STAGE || kind == OWN ? U : P, i);
            add(&out, 1, kind == STAGE ? r : d);
        }
        double ratio = fabs(got[0][i] - d.value) / (most * d.size);
        if (!inside(s, i) || kind == STAGE) ratio = got[0][i] == d.value ? 0 : INFINITY;
        worst = worse_ratio(worst, ratio);
        if (target < 0) continue;
        ratio = fabs(got[1][i] - out.value) / (most * out.size);
        if (!inside(s, i)) ratio = got[1][i] == out.value ? 0 : INFINITY;
        worst = worse_ratio(worst, ratio);
    }
    return worst;
}

static int64_t count_unequal(const struct scene *s, int kind, double *const got[2],
                             double *const other[2]) {
    int64_t count = 0;
    for (int i = 0; i < (target_of(kind) < 0 ? 1 : 2); i++)
        for (int64_t n = 0; n < s->nodes; n++) count += got[i][n] != other[i][n];
    return count;
}

struct verdict {
    double worst[KINDS];
    int64_t unequal;
};

/* plain: NULL for the plain kernels themselves. */
static void judge(struct scene *s, struct ht_tool *kernels, struct ht_tool *plain,
                  struct verdict *v) {
    HT_FREED double *room;
    must(HT_ALLOC(room, 2 * s->nodes));
    double *const other[2] = {room, room + s->nodes};
    for (int kind = 0; kind < KINDS; kind++) {
        must(run(s, kernels, kind, s->got));
        v->worst[kind] = compare(s, kind, s->got);
        if (plain == NULL) continue;
        must(run(s, plain, kind, other));
        v->unequal += count_unequal(s, kind, s->got, other);
    }
}

static void run_case(struct ht_device *device, const struct fd_case *c) {
    const struct ht_variant *plain = variant_named("fd-plain");
    struct ht_tool *kernels[2] = {NULL, NULL};
    struct verdict v = {.unequal = 0};
    char name[160];
    snprintf(name, sizeof name, "%s %dD order %d %s%s, %d x %d x %d%s%s", c->variant->name,
             c->spec.dims, 2 * c->spec.radius, ht_real_name(c->spec.fp64),
             c->spec.density ? " density" : "", (int)c->nodes[0], (int)c->nodes[1],
             (int)c->nodes[2], c->part ? " part" : "", c->shape.packs ? " shaped" : "");
    if (only != NULL && strstr(name, only) == NULL) return;
    HT_ENDED(free_scene) struct scene s = {.device = device, .c = c};
    must(make_scene(&s));
    must(ht_fd_kernels_create(device, &c->spec, c->variant, &c->shape, &kernels[0]));
    if (c->variant != plain && same_bits(c))
        must(ht_fd_kernels_create(device, &c->spec, plain, NULL, &kernels[1]));
    judge(&s, kernels[0], kernels[1], &v);
    for (int i = 0; i < 2; i++) ht_tool_destroy(kernels[i]);
    for (int kind = 0; kind < KINDS; kind++)
        TEST_BELOW(v.worst[kind], 1.0, "%s, %s", name, kind_name[kind]);
    TEST_EQUAL(v.unequal, 0, "%s: values unlike fd-plain's", name);
}

/* ---- cases ---- */

enum { SIZES = 4 };

static const int64_t sizes[SIZES][3][3] = {
    /* fewer than a tile, not whole packs */
    {{3, 1, 1}, {5, 3, 1}, {6, 3, 2}},
    /* more than one tile, rows that are no multiple of packs or vectors */
    {{1031, 1, 1}, {289, 41, 1}, {77, 19, 13}},
    /* whole tiles */
    {{1024, 1, 1}, {256, 32, 1}, {64, 16, 16}},
    /* few long rows; several segments */
    {{2051, 1, 1}, {530, 5, 1}, {270, 5, 9}},
};
static const int64_t small_sizes[SIZES][3][3] = {
    {{3, 1, 1}, {5, 3, 1}, {6, 3, 2}},
    {{37, 1, 1}, {35, 5, 1}, {35, 5, 3}},
    {{32, 1, 1}, {32, 4, 1}, {32, 4, 2}},
    {{18, 1, 1}, {17, 7, 1}, {17, 3, 5}},
};

/* Compilers take long, so for each dimension and kind of density there are two radii: one with the
 * shape that is chosen, one with a shape that was asked for; a variant takes one of them. */
static const int radii[3][2][2] = {{{1, 6}, {7, 8}}, {{2, 8}, {1, 6}}, {{4, 7}, {3, 5}}};

/* Each variant whose turn it is, all of check-all, at each size: every other time a part of the
 * window. */
static void run_spec(struct ht_device *device, const struct ht_fd_spec *spec, bool shaped,
                     int turn) {
    const struct ht_fd_shape some = {.packs = 8, .rows = 3, .planes = 4};
    if (spec->fp64 && !ht_device_info(device)->fp64) return;
    for (int v = 0; v < VARIANTS; v++)
        for (int n = 0; n < SIZES; n++) {
            const struct ht_variant *variant = variant_named(names[v]);
            if (!small && !test_all() && (v + turn) % 2 != 0) continue;
            struct fd_case c = {
                .spec = *spec, .variant = variant, .part = (n + spec->radius) % 2 != 0};
            if (shaped) c.shape = some;
            memcpy(c.nodes, (small ? small_sizes : sizes)[n][spec->dims - 1], sizeof c.nodes);
            if (!small || n == (v + spec->radius) % SIZES) run_case(device, &c);
        }
}

/* Kind k: (dimension, density). */
static struct ht_fd_spec kind_spec(int k, int radius, bool fp64) {
    return (struct ht_fd_spec){
        .dims = 1 + k / 2, .radius = radius, .fp64 = fp64, .density = k % 2 != 0};
}

static void run_all(struct ht_device *device, int k) {
    for (int i = 0; i < 4 * HT_FD_RADIUS; i++) {
        const struct ht_fd_spec spec = kind_spec(k, 1 + i / 4, i % 2 != 0);
        run_spec(device, &spec, i / 2 % 2 != 0, 0);
    }
}

/* What is optimised, the first and smaller radius of each kind, comes first (test_optimise). */
static void run_cases(struct ht_device *device) {
    const char *cover = getenv("HTWAVE_COVER");
    const bool all = cover != NULL && strcmp(cover, "all") == 0;
    for (int k = 0; k < 6 && all; k++) run_all(device, k);
    for (int i = 0; i < (small ? 1 : 2) && !all; i++) {
        test_optimise(i == 0 || ht_device_info(device)->gpu);
        for (int k = 0; k < 6; k++) {
            const int radius = small ? 1 + k % 3 : radii[k / 2][k % 2][i];
            const struct ht_fd_spec spec = kind_spec(k, radius, (i + k) % 2 == 0);
            run_spec(device, &spec, small || i > 0, i + k / 2);
        }
    }
}

/* ---- ghosts and advance ---- */

/* Node whose image is the ghost `way` nodes beyond the end at edge. */
static int64_t source_of(int side, int64_t edge, int64_t way, int64_t period) {
    if (side == 0) return edge + way + (way > 0 ? -period : period);
    return edge - way - (side > HT_FD_SIDE_NONE);
}

static int sign_of(int side) {
    return (side > HT_FD_SIDE_NONE ? side - HT_FD_SIDE_HALF : side) < 0 ? -1 : 1;
}

static void expect_ghosts(const struct scene *s, const int sides[3][2], double *value) {
    const int reach = ht_fd_reach(&s->c->spec);
    const int64_t stride[3] = {1, s->box.row, s->box.plane};
    for (int64_t i = 0; i < s->nodes; i++) {
        if (!inside(s, i)) continue;
        const int64_t m[3] = {i % s->box.row, i / s->box.row % (s->box.plane / s->box.row),
                              i / s->box.plane};
        for (int k = 0; k < s->c->spec.dims; k++)
            for (int side = 0; side < 2; side++) {
                const int64_t begin = s->box.begin[k], end = s->box.end[k];
                const int64_t edge = side ? end - 1 : begin;
                if (m[k] != edge || sides[k][side] == HT_FD_SIDE_NONE) continue;
                for (int n = 1; n <= reach; n++) {
                    const int64_t way = side ? n : -n;
                    const int64_t from = source_of(sides[k][side], edge, way, end - begin);
                    value[i + way * stride[k]] =
                        sign_of(sides[k][side]) * s->value[U][i + (from - edge) * stride[k]];
                }
            }
    }
}

static void run_ghosts(struct scene *s, const int sides[3][2], int64_t *wrong, double *worst) {
    struct ht_tool *kernels = NULL, *ghosts = NULL;
    const double factor = -0.7;
    must(make_scene(s));
    memcpy(s->got[0], s->value[U], (size_t)s->nodes * sizeof *s->got[0]);
    expect_ghosts(s, sides, s->got[0]);
    must(ht_fd_kernels_create(s->device, &s->c->spec, s->c->variant, NULL, &kernels));
    must(ht_fd_ghosts_create(s->device, &s->c->spec, &ghosts));
    for (int f = 0; f < A; f++) must(write_all(s, f));
    must(ht_fd_ghosts_fill(ghosts, &s->box, sides, s->buffer[U]));
    const struct ht_fd_work advance = {.operation = HT_FD_ADVANCE,
                                       .box = s->box,
                                       .d = s->buffer[D],
                                       .p = s->buffer[P],
                                       .factor = factor};
    must(ht_fd_launch(kernels, &advance));
    must(ht_device_finish(s->device));
    must(read_all(s, U, s->got[1]));
    for (int64_t i = 0; i < s->nodes; i++) *wrong += s->got[0][i] != s->got[1][i];
    must(read_all(s, P, s->got[1]));
    for (int64_t i = 0; i < s->nodes; i++) {
        const double d = inside(s, i) ? factor * s->value[D][i] : 0;
        const double p = s->value[P][i], bound = fabs(d) + fabs(p);
        double ratio = fabs(s->got[1][i] - (p + d)) / (2 * unit_of(s->c->spec.fp64) * bound);
        if (!inside(s, i)) ratio = s->got[1][i] == p ? 0 : INFINITY;
        *worst = fmax(*worst, ratio);
    }
    ht_tool_destroy(ghosts);
    ht_tool_destroy(kernels);
}

static void test_ghosts(struct ht_device *device) {
    const int none = HT_FD_SIDE_NONE, half = HT_FD_SIDE_HALF;
    const int sides[][3][2] = {
        {{0, 0}, {0, 0}, {0, 0}},
        {{1, -1}, {-1, -1}, {1, 1}},
        {{half - 1, half + 1}, {half + 1, half - 1}, {none, half - 1}},
        {{0, 0}, {-1, 1}, {none, none}},
        {{-1, 1}, {0, 0}, {none, -1}},
    };
    for (int n = 0; n < (test_all() ? 12 : 7); n++) {
        const struct fd_case c = {.spec = {.dims = 1 + n % 3,
                                           .radius = 1 + n * 3 % (small ? 2 : 8),
                                           .fp64 = n % 2 && ht_device_info(device)->fp64,
                                           .density = n / 6 == 1},
                                  .variant = variant_named("fd-plain"),
                                  .nodes = {18 + n, small ? 6 : 17, small ? 5 : 19}};
        HT_ENDED(free_scene) struct scene s = {.device = device, .c = &c};
        int64_t wrong = 0;
        double worst = 0;
        const int set = n % 5;
        run_ghosts(&s, sides[set], &wrong, &worst);
        TEST_EQUAL(wrong, 0, "ghosts %dD reach %d, sides %d: values wrong", c.spec.dims,
                   ht_fd_reach(&c.spec), set);
        TEST_BELOW(worst, 1.0, "advance %dD %s", c.spec.dims, c.spec.fp64 ? "double" : "single");
    }
}

/* Of a constant, exactly nothing. */
static void test_constant(struct ht_device *device) {
    for (int v = 0; v < VARIANTS; v++) {
        const struct fd_case c = {.spec = {.dims = 3, .radius = v + 2},
                                  .variant = variant_named(names[v]),
                                  .nodes = {21, 6, 5}};
        HT_ENDED(free_scene) struct scene s = {.device = device, .c = &c};
        struct ht_tool *kernels = NULL;
        int64_t wrong = 0;
        must(make_scene(&s));
        for (int64_t i = 0; i < s.nodes; i++) s.value[U][i] = (double)1.1f;
        must(ht_fd_kernels_create(device, &c.spec, c.variant, NULL, &kernels));
        must(run(&s, kernels, OWN, s.got));
        for (int64_t i = 0; i < s.nodes; i++) wrong += s.got[0][i] != s.value[D][i];
        TEST_EQUAL(wrong, 0, "%s of a constant: increments changed", c.variant->name);
        ht_tool_destroy(kernels);
    }
}

/* ---- shells ---- */

/* Boxes of a window: one thinner than a block, one of several blocks a plane. */
enum { N1 = 40, N2 = 9, N3 = 6, SHELL_NODES = N1 * N2 * N3, SLOTS = 3 };
static const struct ht_fd_box shell_box[2] = {{N1, (int64_t)N1 *N2, {2, 1, 1}, {5, 8, 5}},
                                              {N1, (int64_t)N1 *N2, {6, 2, 0}, {39, 7, 6}}};

struct shell {
    struct ht_fd_shell_form form;
    struct ht_tool *tool;
    struct ht_buffer *ring, *u, *d;
    double *value, *got[2];
};

static enum ht_err make_shell(struct ht_device *device, struct shell *s) {
    for (int i = 0; i < 2; i++) ht_fd_shell_add(&s->form, &shell_box[i]);
    TRY(HT_ALLOC(s->value, SHELL_NODES));
    for (int i = 0; i < 2; i++) TRY(HT_ALLOC(s->got[i], SHELL_NODES));
    for (int64_t n = 0; n < SHELL_NODES; n++)
        s->value[n] = (double)(float)ht_rng_uniform(5, (uint64_t)n);
    TRY(ht_fd_shell_kernels_create(device, s->form.fp64, s->form.coded, &s->tool));
    TRY(ht_buffer_create(device, SLOTS * s->form.bytes, &s->ring));
    TRY(ht_buffer_create_reals(device, s->form.fp64, SHELL_NODES, s->value, &s->u));
    return ht_buffer_create_reals(device, s->form.fp64, SHELL_NODES, s->value, &s->d);
}

/* u + 0.25 into slots 0 and 2; planes [first, last) get 0.5 of one and 2 of the other. */
static enum ht_err run_shell(struct shell *s, int64_t first, int64_t last) {
    const struct ht_fd_shell_sum sum = {2, {0.5, 2}, {2, 0}};
    TRY(ht_fd_shell_take(s->tool, &s->form, s->u, 0.25, s->ring, 0));
    TRY(ht_fd_shell_take(s->tool, &s->form, s->u, 0.25, s->ring, 2));
    TRY(ht_fd_shell_put(s->tool, HT_PART_INTERIOR, &s->form, first, last, &sum, s->ring, s->u, s->u,
                        s->d));
    TRY(ht_buffer_read_reals(s->u, s->form.fp64, 0, SHELL_NODES, s->got[0]));
    return ht_buffer_read_reals(s->d, s->form.fp64, 0, SHELL_NODES, s->got[1]);
}

/* Values of at most 1.25, times 2.5: by whole numbers of up to half a unit each, and roundings. */
static void test_shell(struct ht_device *device, bool fp64, bool coded) {
    const double unit = fp64 ? DBL_EPSILON : (double)FLT_EPSILON;
    const double most = 2.5 * 1.25 * (coded ? 1 / 65534.0 : 0) + 8 * unit;
    struct shell s = {.form = {.fp64 = fp64, .coded = coded}};
    double worst[2] = {0, 0};
    int64_t wrong = 0;
    enum ht_err err = make_shell(device, &s);
    if (err == HT_OK) err = run_shell(&s, 1, 4);
    for (int64_t n = 0; err == HT_OK && n < SHELL_NODES; n++) {
        const int64_t m[3] = {n % N1, n / N1 % N2, n / N1 / N2};
        bool in = false;
        for (int i = 0; i < 2; i++) {
            bool inside = m[2] >= 1 && m[2] < 4;
            for (int k = 0; k < 3; k++)
                inside = inside && m[k] >= shell_box[i].begin[k] && m[k] < shell_box[i].end[k];
            in = in || inside;
        }
        const double put = 2.5 * (s.value[n] + 0.25);
        if (!in) wrong += s.got[0][n] != s.value[n] || s.got[1][n] != s.value[n];
        if (in) worst[0] = fmax(worst[0], fabs(s.got[0][n] - put));
        if (in) worst[1] = fmax(worst[1], fabs(s.got[1][n] - (put - s.value[n])));
    }
    TEST_CHECK(err == HT_OK && wrong == 0 && worst[0] <= most && worst[1] <= most,
               "shell, %s%s: u by %.2g, d by %.2g of %.2g, %lld values beyond changed %s",
               ht_real_name(fp64), coded ? ", 16 bits" : "", worst[0], worst[1], most,
               (long long)wrong, test_said(err));
    struct ht_buffer *const buffers[] = {s.ring, s.u, s.d};
    for (int i = 0; i < 3; i++) ht_buffer_destroy(buffers[i]);
    ht_tool_destroy(s.tool);
    free(s.value);
    for (int i = 0; i < 2; i++) free(s.got[i]);
}

static void judge_all(struct ht_device *device) {
    run_cases(device);
    test_ghosts(device);
    for (int fp64 = 0; fp64 <= ht_device_info(device)->fp64; fp64++)
        test_shell(device, fp64, !fp64);
    if (test_all()) test_shell(device, false, false);
    test_constant(device);
}

int main(int argc, char **argv) {
    small = argc > 1 && strcmp(argv[1], "small") == 0;
    only = argc > 2 ? argv[2] : NULL;
    return test_on_device("kernel/fd", judge_all);
}
