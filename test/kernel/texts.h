/* Program texts for other compilers: some of each row of the table of kernels, with precision, kind
 * of medium, layout, system, dimension and scheme taking turns, and of each small kernel; half of
 * them unless all are asked for (test_all). */
#pragma once

#include "test.h"

#include "htwave/simulation.h"

enum { TEXTS_TURNS = 6, TEXTS_OWN = 90 }; /* 9.0a has PTX of its own */

/* Those of three dimensions and two, of both precisions, with a medium of either kind. */
static bool texts_turn(int turn) {
    return test_all() || turn == 0 || turn == 1 || turn == 4;
}

struct texts {
    int ptx; /* 10 times the architecture of an NVIDIA device; 0: OpenCL */
    /* Of a row: its name comes first. */
    void (*use)(const struct texts *texts, const char *name, const char *text);
    const char *directory; /* of the user */
    int count;
};

/* A device that every row fits on at these orders. */
static const struct ht_device_info texts_device = {
    .name = "any",
    .backend = "opencl",
    .gpu = true,
    .fp64 = true,
    .memory = (int64_t)1 << 34,
    .max_buffer = (int64_t)1 << 32,
    .local_memory = (int64_t)48 * 1024,
    .open_memory = (int64_t)227 * 1024,
    .max_group = 1024,
    .compute_units = 16,
};

HT_PRINTF(4, 5)
static void texts_give(struct texts *t, enum ht_err err, struct ht_text *text, const char *format,
                       ...) {
    TEST_TEXT(name, 128, format);
    t->count++;
    if (err == HT_OK)
        t->use(t, name, text->data);
    else
        TEST_CHECK(false, "%s: %s", name, ht_err_message());
    ht_text_free(text);
}

/* The text of a tool, which is destroyed. */
HT_PRINTF(4, 5)
static void texts_tool(struct texts *t, enum ht_err err, struct ht_tool **tool, const char *format,
                       ...) {
    struct ht_text text = {0};
    TEST_TEXT(name, 128, format);
    if (err == HT_OK) ht_text_add(&text, "%s", ht_tool_text(*tool));
    texts_give(t, err, &text, "%s", name);
    ht_tool_destroy(*tool);
    *tool = NULL;
}

/* The form of a scheme of two levels that steps the equations, if any. */
static void texts_two_levels(struct ht_spec *spec) {
    for (int s = 0; s < ht_scheme_count(); s++) {
        const struct ht_scheme *scheme = ht_scheme_at(s);
        struct ht_form form;
        if (scheme->nodal || !scheme->two_level || scheme->form(spec->eq, &form) != NULL) continue;
        spec->old_sign = form.old_sign;
        spec->src = form.stored[HT_DUAL];
        spec->dst = form.stored[HT_PRIMARY];
    }
}

/* Whether a row has the text; *shape then. */
static bool texts_possible(const struct ht_variant *variant, const struct ht_spec *spec,
                           struct ht_shape *shape) {
    const struct ht_tuning tuning = {.variant = variant};
    return ht_variant_refuses(variant, spec) == NULL &&
           ht_variant_shape(&tuning, spec, &texts_device, shape) == HT_OK;
}

/* What takes turns and the row has not is given up: the kind of medium, then double precision. */
static bool texts_settle(const struct ht_variant *variant, int turn, struct ht_spec *spec,
                         struct ht_shape *shape) {
    for (int less = 0; less < 3; less++) {
        if (less > 0) spec->medium_degree = -1;
        if (less > 1) spec->fp64 = false;
        spec->block = turn == 2 && !spec->sorted ? 1 : spec->fp64 ? 2 : 4;
        if (texts_possible(variant, spec, shape)) return true;
    }
    return false;
}

/* One of the texts of a row; of the systems from `turn` on the first that the row steps. */
static void texts_row(struct texts *t, const struct ht_variant *variant, int turn) {
    static const int degrees[] = {-1, 0, 2};
    for (int s = 0; s < ht_system_count(); s++) {
        const struct ht_equations eq =
            ht_equations_make(ht_system_at((turn + s) % ht_system_count()), 3 - turn % 3);
        struct ht_spec spec = {.eq = &eq,
                               .order = turn < 3 ? 3 : 1,
                               .trim = true,
                               .ptx = t->ptx,
                               .ptx_own = t->ptx == TEXTS_OWN,
                               .sorted = variant->sorted,
                               .fp64 = turn % 2 != 0,
                               .medium_degree = degrees[(turn / 2) % 3]};
        struct ht_shape shape;
        struct ht_text text = {0};
        spec.stages = ht_scheme_full_stages(ht_scheme_at(HT_TAYLOR), &eq, spec.order);
        if (turn % 3 == 0) texts_two_levels(&spec);
        if (!texts_settle(variant, turn, &spec, &shape)) continue;
        enum ht_err err = ht_kernel_text(variant, &spec, &shape, &text);
        texts_give(t, err, &text, "%s_%s_%dd_n%d_%d", variant->name, eq.system->name, eq.dims,
                   spec.order, turn);
        return;
    }
}

/* A corner of absorbing layers of Hermite methods. */
static void texts_layers(struct texts *t, const char *system, bool fp64) {
    const struct ht_variant *variant = ht_variant_find("monolithic", NULL, true);
    const struct ht_equations base = ht_equations_make(ht_system_find(system), 3);
    struct ht_equations eq;
    struct ht_shape shape;
    struct ht_text text = {0};
    enum ht_err err = ht_equations_absorb(&base, 7, &eq);
    eq.profile_degree = fp64 ? 3 : 2;
    const struct ht_spec spec = {.eq = &eq,
                                 .order = test_all() ? 2 : 1,
                                 .fp64 = fp64,
                                 .block = fp64 ? 2 : 4,
                                 .medium_degree = -1,
                                 .ptx = t->ptx,
                                 .stages = 4};
    TEST_CHECK(texts_possible(variant, &spec, &shape), "layers, %s", system);
    if (err == HT_OK) err = ht_kernel_text(variant, &spec, &shape, &text);
    texts_give(t, err, &text, "layers_%s", system);
}

static void texts_fd(struct texts *t, const struct ht_variant *variant, int turn) {
    const int radii[] = {test_all() ? 2 : 1, 1, 8, 3};
    const struct ht_fd_spec spec = {.dims = 3 - turn / 2,
                                    .radius = radii[turn],
                                    .fp64 = turn / 2 != 0,
                                    .density = turn % 2 != 0};
    const struct ht_equations eq = ht_equations_make(ht_system_find("acoustic"), spec.dims);
    const struct ht_spec of = {.eq = &eq,
                               .differences = 2 * spec.radius,
                               .fp64 = spec.fp64,
                               .density = spec.density,
                               .ptx = t->ptx};
    struct ht_text text = {0};
    struct ht_tool *tool = NULL;
    enum ht_err err = ht_kernel_text(variant, &of, &(struct ht_shape){0}, &text);
    texts_give(t, err, &text, "%s_%d", variant->name, turn);
    if (strcmp(variant->name, "fd-plain") != 0) return;
    err = ht_fd_layer_kernels_create(NULL, &spec, variant, NULL, 8, &tool);
    texts_tool(t, err, &tool, "fd_layers_%d", turn);
    err = ht_fd_shell_kernels_create(NULL, spec.fp64, !spec.fp64, &tool);
    texts_tool(t, err, &tool, "fd_shell_%d", turn);
}

/* Couplings of the group that changes first. */
static void texts_meeting(struct texts *t, const char *system, int dims, bool fp64) {
    const struct ht_equations eq = ht_equations_make(ht_system_find(system), dims);
    struct ht_tool *tool = NULL;
    struct ht_pair pair;
    TEST_CHECK(ht_pair_make(&eq, HT_PAIR_APART, &pair) == NULL, "%s: a pair", system);
    const struct ht_pair_spec spec = {.pair = &pair, .radius = 1 + dims, .fp64 = fp64};
    const enum ht_err err = ht_pair_meeting_create(NULL, &spec, 0, &tool);
    texts_tool(t, err, &tool, "faces_%s", system);
}

/* What knows little more than precision and layout; of Hermite methods, of finite differences. */
static void texts_small(struct texts *t, bool fp64, int block) {
    const struct ht_equations eq = ht_equations_make(ht_system_find("acoustic"), 3);
    struct ht_tool *tool = NULL;
    for (int p = HT_HALO_SAME; p <= HT_HALO_HALF; p++) {
        const struct ht_pack_format format = {
            .fp64 = fp64, .block = block, .fields = 1 + p, .precision = (enum ht_halo_precision)p};
        if (!fp64 && p == HT_HALO_SINGLE) continue;
        enum ht_err err = ht_packer_create(NULL, &format, &tool);
        texts_tool(t, err, &tool, "pack%d_%d_%d", p, fp64, block);
    }
    for (int differences = 0; differences <= 8; differences += 8) {
        const struct ht_spec spec = {
            .eq = &eq, .order = 2, .fp64 = fp64, .block = block, .differences = differences};
        const struct ht_rows_shape rows = {.fp64 = fp64,
                                           .block = differences ? 1 : block,
                                           .coefs = differences ? 1 : 16,
                                           .nodes = differences ? 10 : 4,
                                           .lines = differences ? 10 : 1};
        const struct ht_rows_tables tables = {.node = NULL};
        const bool wide = fp64 || block > 1;
        if (differences > 0 && block > 1) return;
        enum ht_err err = ht_sums_create(NULL, &spec, wide, false, &tool);
        texts_tool(t, err, &tool, "sums%d_%d_%d", differences, fp64, block);
        err = ht_injector_create(NULL, &spec, &tool);
        texts_tool(t, err, &tool, "inject%d_%d_%d", differences, fp64, block);
        err = ht_ghosts_create(NULL, &spec, &tool);
        texts_tool(t, err, &tool, "ghosts%d_%d_%d", differences, fp64, block);
        err = ht_rows_create(NULL, &rows, &tables, &tool);
        texts_tool(t, err, &tool, "rows%d_%d_%d", differences, fp64, block);
        if (differences > 0) return;
        err = ht_sponge_create(NULL, &spec, &tool);
        texts_tool(t, err, &tool, "sponge_%d_%d", fp64, block);
    }
}

/* With layers, losses (bit k: number k), and free sides (rows): programs that follow each other. A
 * radius is a number of terms, all alike, each of which takes a compiler its time: more than one
 * where fields are few. */
static void texts_pair(struct texts *t, const char *system, int dims, const char *row, bool fp64,
                       unsigned losses, int free) {
    static const char mark[] = "#define HT_DOUBLE";
    struct ht_equations eq = ht_equations_make(ht_system_find(system), dims);
    const int radius = test_all() ? 4 : eq.nfields > 3 ? 1 : 2;
    struct ht_pair pair;
    HT_ENDED(ht_text_free) struct ht_text all = {0};
    eq.losses = losses & ((1u << eq.system->nlosses) - 1);
    ht_pair_make(&eq, fp64 ? HT_PAIR_TOGETHER : HT_PAIR_APART, &pair);
    const struct ht_pair_spec spec = {
        .pair = &pair, .radius = radius, .fp64 = fp64, .damping = HT_PAIR_MIXED, .free = free};
    const enum ht_err err =
        ht_pair_text(&spec, ht_variant_find(row, NULL, false), NULL, t->ptx, &all);
    int number = 0;
    for (const char *at = all.data, *next; err == HT_OK && at != NULL; at = next) {
        struct ht_text one = {0};
        next = strstr(at + 1, mark);
        ht_text_add(&one, "%.*s", next != NULL ? (int)(next - at) : (int)strlen(at), at);
        texts_give(t, ht_text_status(&one), &one, "%s_%d_%d", system, fp64, number++);
    }
    TEST_CHECK(number == (free > 0 ? 4 : 2), "programs of %s: %d", system, number);
}

static inline void texts_each(struct texts *t) {
    const unsigned all = ~0u;
    const int most = test_all() ? 3 : 2;
    texts_pair(t, "elastic", 3, "fd-plain", false, all, 6);
    texts_pair(t, "elastic", most, "fd-plain", true, 0, 6);
    texts_pair(t, "maxwell", most, test_all() ? "fd-vectors" : "fd-plain", false, all, 0);
    texts_pair(t, "maxwell_tm", 2, test_all() ? "fd-plain" : "fd-vectors", false,
               test_all() ? all : 1, 0);
    for (int v = 0; v < ht_variant_count(); v++)
        for (int turn = 0; turn < TEXTS_TURNS; turn++)
            if (texts_turn(turn)) texts_row(t, ht_variant_at(v), turn);
    texts_layers(t, "acoustic", false);
    texts_layers(t, "wave", true);
    for (int v = 0; v < ht_variant_count(); v++)
        for (int turn = 0; turn < 4 && ht_variant_at(v)->differences; turn += test_all() ? 1 : 3)
            texts_fd(t, ht_variant_at(v), turn);
    texts_meeting(t, "elastic", 3, false);
    texts_meeting(t, "maxwell_tm", 2, true);
    texts_small(t, false, 4);
    texts_small(t, true, 1);
    if (!test_all()) return;
    texts_small(t, false, 1);
    texts_small(t, true, 2);
}
