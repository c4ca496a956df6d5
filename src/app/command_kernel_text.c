/* htwave kernel-text: the program text that a run would hand to the device's
 * compiler, or that of every kind of kernel, for checks by other compilers.
 *
 * All (variant, system, dimension, order 1 and 3) are written; scheme,
 * precision, kind of medium and layout walk through their values beside them,
 * so that each pair of values meets without writing the whole product. With
 * --ptx they are those of an NVIDIA device of that architecture.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "htwave/fd_layers.h"
#include "htwave/rows.h"
#include "htwave/simulation.h"
#include "htwave/sponge.h"

/* A device that every variant fits on at these orders. */
static const struct ht_device_info any_device = {
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

/* The architecture that has PTX of its own (9.0a), with --ptx. */
enum { OWN = 90 };

/* Writes the text unless err says that it was not made; frees both. */
static enum ht_err write_text(enum ht_err err, struct ht_text *path,
                              struct ht_text *text) {
    if (err == HT_OK) err = ht_text_status(path);
    if (err == HT_OK) err = ht_file_write(path->data, text->data, text->length);
    ht_text_free(text);
    ht_text_free(path);
    return err;
}

static enum ht_err write_kind(const char *directory,
                              const struct ht_variant *variant,
                              const struct ht_scheme *scheme,
                              const struct ht_spec *spec) {
    static const char *const media[] = {"uniform", "constant", "linear",
                                        "degree2"};
    const struct ht_tuning tuning = {.variant = variant};
    const char *mark = ht_scheme_mark(scheme);
    struct ht_shape shape;
    struct ht_text text = {0}, path = {0};
    TRY(ht_variant_shape(&tuning, spec, &any_device, &shape));
    enum ht_err err = ht_kernel_text(variant, spec, &shape, &text);
    ht_text_add(&path, "%s/%s_%s%s%s_%dd_n%d_%s_%s_%s.cl", directory,
                variant->name, spec->eq->system->name, mark[0] ? "_" : "", mark,
                spec->eq->dims, spec->order, spec->fp64 ? "double" : "single",
                media[spec->medium_degree + 1],
                spec->block > 1 ? "blocked" : "tensor");
    return write_text(err, &path, &text);
}

/* Turns a spec to one of the schemes of two levels that step its equations,
 * which take turns, from the primary grid or from the dual one. The scheme, or
 * NULL: there is none. */
static const struct ht_scheme *add_level(int turn, enum ht_subgrid from,
                                         struct ht_spec *spec) {
    for (int s = 0; s < ht_scheme_count(); s++) {
        const struct ht_scheme *scheme =
            ht_scheme_at((turn + s) % ht_scheme_count());
        struct ht_form form;
        if (scheme->method != HT_HERMITE || !scheme->two_level ||
            scheme->form(spec->eq, &form) != NULL)
            continue;
        spec->old_sign = form.old_sign;
        spec->src = form.stored[from];
        spec->dst = form.stored[from == HT_PRIMARY];
        return scheme;
    }
    return NULL;
}

static bool possible(const struct ht_variant *variant,
                     const struct ht_spec *spec) {
    const struct ht_tuning tuning = {.variant = variant};
    struct ht_spec blocked = *spec; /* needs the most local memory */
    struct ht_shape shape;
    blocked.block = spec->fp64 ? 2 : 4;
    return ht_variant_refuses(variant, &blocked) == NULL &&
           ht_variant_shape(&tuning, &blocked, &any_device, &shape) == HT_OK;
}

/* turn counts the kinds; the options beside the main four follow from it. */
static enum ht_err write_turn(const char *directory, int ptx, int turn,
                              const struct ht_system *system, int dims,
                              int order) {
    static const int degrees[] = {-1, 0, 2};
    const struct ht_equations eq = ht_equations_make(system, dims);
    bool varies = system->nmaterials > 0 && system->material[0].varies;
    for (int v = 0; v < ht_variant_count(); v++) {
        struct ht_spec spec = {.eq = &eq,
                               .order = order,
                               .trim = true,
                               .ptx = ptx,
                               .ptx_own = ptx == OWN,
                               .sorted = ht_variant_at(v)->sorted};
        spec.fp64 = (spec.sorted ? turn / 2 : turn + v) % 2 != 0;
        spec.medium_degree = varies ? degrees[(turn / 2 + v) % 3] : -1;
        if (!possible(ht_variant_at(v), &spec)) spec.medium_degree = -1;
        if (!possible(ht_variant_at(v), &spec)) spec.fp64 = false;
        if (!possible(ht_variant_at(v), &spec)) continue;
        spec.block = (turn / 2 + turn + v / 2) % 2 && !spec.sorted ? 1
                     : spec.fp64                                   ? 2
                                                                   : 4;
        const struct ht_scheme *scheme = NULL;
        if ((turn + v) % 3 == 0)
            scheme = add_level(turn, turn % 2 ? HT_PRIMARY : HT_DUAL, &spec);
        if (scheme == NULL) scheme = ht_scheme_at(HT_TAYLOR);
        if (ht_variant_refuses(ht_variant_at(v), &spec) != NULL) continue;
        /* Those that store interpolants have one text of the series. */
        if (ht_variant_poly_bytes(ht_variant_at(v), &spec) > 0 &&
            (turn / 2 + v) % 2 != 0)
            continue;
        TRY(write_kind(directory, ht_variant_at(v), scheme, &spec));
    }
    return HT_OK;
}

/* Reductions know precision, layout and the type of their sums only. */
static enum ht_err write_reductions(const char *directory) {
    static const struct ht_spec specs[] = {
        {.fp64 = false, .block = 4},
        {.fp64 = false, .block = 1},
        {.fp64 = true, .block = 2},
    };
    enum ht_err err = HT_OK;
    for (int i = 0; err == HT_OK && i < 3; i++) {
        struct ht_text text = {0}, path = {0};
        ht_text_add(&path, "%s/reduce_%s_block%d.cl", directory,
                    specs[i].fp64 ? "double" : "single", specs[i].block);
        err = ht_reduction_text(&specs[i], i > 0, 128, &text);
        err = write_text(err, &path, &text);
    }
    return err;
}

/* Sources of finite differences know precision only. */
static enum ht_err write_injectors(const char *directory) {
    enum ht_err err = HT_OK;
    for (int fp64 = 0; err == HT_OK && fp64 < 2; fp64++) {
        struct ht_text text = {0}, path = {0};
        ht_text_add(&path, "%s/fd_inject_%s.cl", directory,
                    fp64 ? "double" : "single");
        err = ht_fd_injector_text(fp64, 128, &text);
        err = write_text(err, &path, &text);
    }
    return err;
}

/* Sources of Hermite methods know precision and layout only. */
static enum ht_err write_shape_injectors(const char *directory) {
    static const int blocks[2][2] = {{1, 4}, {1, 2}};
    enum ht_err err = HT_OK;
    for (int i = 0; err == HT_OK && i < 4; i++) {
        const int fp64 = i / 2, block = blocks[fp64][i % 2];
        struct ht_text text = {0}, path = {0};
        ht_text_add(&path, "%s/inject_%s_block%d.cl", directory,
                    fp64 ? "double" : "single", block);
        err = ht_injector_text(fp64, block, 128, &text);
        err = write_text(err, &path, &text);
    }
    return err;
}

/* Packers know precisions, layout and number of fields only. */
static enum ht_err write_packer(const char *directory,
                                const struct ht_pack_format *format) {
    static const char *const precision[] = {
        [HT_HALO_SAME] = "same",
        [HT_HALO_SINGLE] = "single",
        [HT_HALO_HALF] = "half",
    };
    struct ht_text text = {0}, path = {0};
    ht_text_add(&path, "%s/pack_%s_%s_block%d.cl", directory,
                format->fp64 ? "double" : "single",
                precision[format->precision], format->block);
    enum ht_err err = ht_packer_text(format, 128, &text);
    return write_text(err, &path, &text);
}

/* Single rounded to single is what it was. The number of fields takes turns. */
static enum ht_err write_packers(const char *directory) {
    int turn = 0;
    for (int fp64 = 0; fp64 < 2; fp64++)
        for (int p = HT_HALO_SAME; p <= HT_HALO_HALF; p++)
            for (int blocked = 0; blocked < 2; blocked++) {
                const struct ht_pack_format format = {
                    .fp64 = fp64 != 0,
                    .block = !blocked ? 1
                             : fp64   ? 2
                                      : 4,
                    .fields = 1 + turn++ % HT_MAX_FIELDS,
                    .precision = (enum ht_halo_precision)p};
                if (fp64 || p != HT_HALO_SINGLE)
                    TRY(write_packer(directory, &format));
            }
    return HT_OK;
}

/* Kernels of ghosts know precision, layout and the number of fields. */
static enum ht_err write_ghosts(const char *directory) {
    enum ht_err err = HT_OK;
    for (int i = 0; err == HT_OK && i < 4; i++) {
        const struct ht_spec spec = {.fp64 = i % 2 != 0,
                                     .block = i < 2   ? 1
                                              : i % 2 ? 2
                                                      : 4};
        struct ht_text text = {0}, path = {0};
        ht_text_add(&path, "%s/ghosts_%s_block%d.cl", directory,
                    spec.fp64 ? "double" : "single", spec.block);
        err = ht_ghosts_text(&spec, 1 + 3 * i, 8 * spec.block, 128, &text);
        err = write_text(err, &path, &text);
    }
    return err;
}

/* Finite differences; radius and precision take turns. */
static enum ht_err write_fd(const char *directory, int ptx, int turn) {
    static const int radii[] = {4, 1, 8, 2};
    const struct ht_fd_variant *variant =
        ht_fd_variant_at(turn % ht_fd_variant_count());
    const int kind = turn / ht_fd_variant_count();
    const struct ht_fd_spec spec = {.dims = 3 - kind / 4,
                                    .radius = radii[(kind + kind / 4) % 4],
                                    .fp64 = kind / 2 % 2 != 0,
                                    .density = kind % 2 != 0};
    struct ht_text text = {0}, path = {0};
    ht_text_add(&path, "%s/%s_%dd_order%d_%s%s.cl", directory, variant->name,
                spec.dims, 2 * spec.radius, spec.fp64 ? "double" : "single",
                spec.density ? "_density" : "");
    enum ht_err err = ht_fd_text(&spec, variant, NULL, ptx, &text);
    return write_text(err, &path, &text);
}

/* Their sums: precisions of values and of sums, on GPUs and on CPUs. */
static enum ht_err write_fd_sums(const char *directory) {
    enum ht_err err = HT_OK;
    for (int i = 0; err == HT_OK && i < 4; i++) {
        const bool fp64 = i == 3, wide = i > 0;
        struct ht_text text = {0}, path = {0};
        ht_text_add(&path, "%s/fd_sums_%s_%s_%s.cl", directory,
                    fp64 ? "double" : "single", wide ? "double" : "single",
                    i == 2 ? "cpu" : "gpu");
        err = ht_fd_reduction_text(fp64, wide, i == 2 ? 1 : 128, &text);
        err = write_text(err, &path, &text);
    }
    return err;
}

/* Receivers, in both precisions. */
static enum ht_err write_samplers(const char *directory) {
    enum ht_err err = HT_OK;
    for (int fp64 = 0; err == HT_OK && fp64 < 2; fp64++) {
        struct ht_text text = {0}, path = {0};
        ht_text_add(&path, "%s/fd_sample_%s.cl", directory,
                    fp64 ? "double" : "single");
        err = ht_fd_sampler_text(fp64, ht_point_nodes(8), 64, &text);
        err = write_text(err, &path, &text);
        if (err != HT_OK) break;
        const struct ht_rows_shape shape = {
            .fp64 = fp64, .block = fp64 ? 2 : 4, .coefs = 16, .nodes = 4};
        ht_text_add(&path, "%s/rows_%s.cl", directory,
                    fp64 ? "double" : "single");
        err = ht_rows_text(&shape, &text);
        err = write_text(err, &path, &text);
    }
    return err;
}

/* Absorbing layers of finite differences. */
static enum ht_err write_fd_layers(const char *directory) {
    enum ht_err err = HT_OK;
    for (int i = 0; err == HT_OK && i < 6; i++) {
        const struct ht_fd_spec spec = {.dims = 1 + i / 2,
                                        .radius = 4 - i / 2,
                                        .fp64 = i == 1 || i == 4,
                                        .density = i % 2 != 0};
        struct ht_text text = {0}, path = {0};
        ht_text_add(&path, "%s/fd_layers_%dd_order%d_%s%s.cl", directory,
                    spec.dims, 2 * spec.radius, spec.fp64 ? "double" : "single",
                    spec.density ? "_density" : "");
        err = ht_fd_layer_text(&spec, 128, false, &text);
        err = write_text(err, &path, &text);
    }
    return err;
}

/* Sponges of Hermite methods know precision, layout and order. */
static enum ht_err write_sponges(const char *directory) {
    enum ht_err err = HT_OK;
    for (int i = 0; err == HT_OK && i < 4; i++) {
        const bool fp64 = i % 2 != 0;
        const int block = i < 2 ? 1 : fp64 ? 2 : 4, coefs = 2 + i;
        struct ht_text text = {0}, path = {0};
        ht_text_add(&path, "%s/sponge_%s_block%d.cl", directory,
                    fp64 ? "double" : "single", block);
        err = ht_sponge_text(fp64, block, coefs, coefs * coefs, 128, &text);
        err = write_text(err, &path, &text);
    }
    return err;
}

/* Means of leapfrog, which single precision alone needs. */
static enum ht_err write_means(const char *directory) {
    enum ht_err err = HT_OK;
    for (int i = 0; err == HT_OK && i < 2; i++) {
        const int block = i == 0 ? 1 : 4;
        struct ht_text text = {0}, path = {0};
        ht_text_add(&path, "%s/means_block%d.cl", directory, block);
        err = ht_means_text(false, block, i == 0, 128, &text);
        err = write_text(err, &path, &text);
    }
    return err;
}

/* Corners of absorbing layers of Hermite methods. */
static enum ht_err write_layers(const char *directory, int ptx) {
    static const struct {
        const char *system;
        int degree;
        bool fp64;
    } kinds[] = {{"acoustic", 2, false}, {"wave", 3, true}};
    const struct ht_variant *variant =
        ht_variant_find("monolithic", NULL, true);
    const struct ht_tuning tuning = {.variant = variant};
    enum ht_err err = HT_OK;
    for (size_t i = 0; err == HT_OK && i < sizeof kinds / sizeof *kinds; i++) {
        const struct ht_equations base =
            ht_equations_make(ht_system_find(kinds[i].system), 3);
        struct ht_equations eq;
        struct ht_text text = {0}, path = {0};
        struct ht_shape shape;
        TRY(ht_equations_absorb(&base, 7, &eq));
        eq.profile_degree = kinds[i].degree;
        struct ht_spec spec = {.eq = &eq,
                               .order = 2,
                               .fp64 = kinds[i].fp64,
                               .block = kinds[i].fp64 ? 2 : 4,
                               .medium_degree = -1,
                               .ptx = ptx,
                               .ptx_own = ptx == OWN,
                               .stages = 4};
        TRY(ht_variant_shape(&tuning, &spec, &any_device, &shape));
        err = ht_kernel_text(variant, &spec, &shape, &text);
        ht_text_add(&path, "%s/%s_%s_3d_n%d_%s_layers.cl", directory,
                    variant->name, kinds[i].system, spec.order,
                    spec.fp64 ? "double" : "single");
        err = write_text(err, &path, &text);
    }
    return err;
}

static enum ht_err write_all(const char *directory, int ptx) {
    int turn = 0;
    TRY(ht_file_make_directory(directory));
    TRY(write_reductions(directory));
    TRY(write_injectors(directory));
    TRY(write_fd_layers(directory));
    TRY(write_sponges(directory));
    TRY(write_means(directory));
    TRY(write_layers(directory, ptx));
    TRY(write_shape_injectors(directory));
    TRY(write_packers(directory));
    TRY(write_ghosts(directory));
    for (int i = 0; i < 12 * ht_fd_variant_count(); i++)
        TRY(write_fd(directory, ptx, i));
    TRY(write_fd_sums(directory));
    TRY(write_samplers(directory));
    for (int s = 0; s < ht_system_count(); s++)
        for (int dims = 1; dims <= HT_MAX_DIMS; dims++)
            for (int order = 1; order <= 3; order += 2, turn++)
                TRY(write_turn(directory, ptx, turn, ht_system_at(s), dims,
                               order));
    return HT_OK;
}

static enum ht_err print_run(const struct ht_params *params, int ptx) {
    struct ht_simulation *sim = NULL;
    struct ht_text text = {0};
    TRY(ht_simulation_plan(params, NULL, &sim));
    enum ht_err err = HT_OK;
    if (sim->device == NULL)
        err = ht_err_set(HT_ERR_DEVICE, "no device, so no kernels: %s",
                         sim->no_device ? sim->no_device
                                        : "device.backend is \"oracle\"");
    if (err == HT_OK && ptx > 0) sim->kernels.spec[0].ptx = ptx;
    if (err == HT_OK)
        err = ht_kernel_text(sim->kernels.variant, &sim->kernels.spec[0],
                             &sim->kernels.shape[0], &text);
    if (err == HT_OK) err = ht_args_print(&text);
    ht_text_free(&text);
    ht_simulation_destroy(sim);
    return err;
}

/* 10 times the architecture; 0 without the flag. */
static enum ht_err read_ptx(const struct ht_args *args, int *out) {
    const char *text = ht_args_value(args, "--ptx");
    int count = 0, *list = NULL;
    *out = 0;
    if (text == NULL) return HT_OK;
    TRY(ht_args_integers("--ptx", text, 1, 999, &count, &list));
    *out = list[0];
    free(list);
    return HT_OK;
}

enum ht_err ht_command_kernel_text(const struct ht_args *args) {
    const char *directory = ht_args_value(args, "--all");
    struct ht_params *params = NULL;
    int ptx = 0;
    TRY(read_ptx(args, &ptx));
    if (directory != NULL) return write_all(directory, ptx);
    REQUIRE(args->count > 0, HT_ERR_INPUT,
            "kernel-text needs FILE or --all DIR");
    TRY(ht_params_read(args->operand[0], args->count - 1, args->operand + 1,
                       &params));
    enum ht_err err = print_run(params, ptx);
    ht_params_destroy(params);
    return err;
}
