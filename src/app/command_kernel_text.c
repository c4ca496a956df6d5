/* htwave kernel-text: the program text that a run would hand to the device's
 * compiler, or a few of every kernel, for checks by other compilers. With --ptx
 * they are those of an NVIDIA device of that architecture.
 */
#include <stdarg.h>
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

/* Writes a text, unless err says that it was not made, to the file of this name
 * with .cl behind it; frees the text. */
HT_PRINTF(4, 5)
static enum ht_err put(const char *directory, enum ht_err err,
                       struct ht_text *text, const char *format, ...) {
    char name[200];
    struct ht_text path = {0};
    va_list list;
    va_start(list, format);
    vsnprintf(name, sizeof name, format, list);
    va_end(list);
    ht_text_add(&path, "%s/%s.cl", directory, name);
    if (err == HT_OK) err = ht_text_status(&path);
    if (err == HT_OK) err = ht_file_write(path.data, text->data, text->length);
    ht_text_free(&path);
    ht_text_free(text);
    return err;
}

static const char *precision_of(bool fp64) {
    return fp64 ? "double" : "single";
}

/* What each variant is written for, where it applies. */
static const struct kind {
    const char *system, *scheme;
    int dims, order, degree;
    bool fp64, blocked;
} kinds[] = {
    {"acoustic", "taylor", 3, 2, -1, false, true},
    {"acoustic", "taylor", 3, 3, 0, true, false},
    {"acoustic", "leapfrog", 3, 3, -1, true, true},
    {"acoustic", "taylor", 2, 1, 2, false, false},
    {"wave", "leapfrog", 3, 4, -1, false, true},
    {"wave", "leapfrog", 2, 3, -1, true, false},
    {"wave", "taylor", 1, 1, -1, false, false},
    {"advection", "taylor", 3, 3, -1, false, true},
    {"advection", "taylor", 2, 2, -1, true, false},
};

static enum ht_err write_kind(const char *directory, int ptx,
                              const struct kind *kind,
                              const struct ht_variant *variant) {
    const struct ht_equations eq =
        ht_equations_make(ht_system_find(kind->system), kind->dims);
    const struct ht_tuning tuning = {.variant = variant};
    struct ht_text text = {0};
    struct ht_form form;
    struct ht_shape shape;
    struct ht_spec spec = {.eq = &eq,
                           .order = kind->order,
                           .medium_degree = kind->degree,
                           .fp64 = kind->fp64,
                           .trim = true,
                           .ptx = ptx,
                           .ptx_own = ptx == OWN,
                           .sorted = variant->sorted,
                           .stages = kind->dims * (2 * kind->order + 1),
                           .block = 1};
    if (ht_scheme_find(kind->scheme)->form(&eq, &form) != NULL) return HT_OK;
    spec.old_sign = form.old_sign;
    spec.src = form.stored[HT_PRIMARY];
    spec.dst = form.stored[HT_DUAL];
    if (kind->blocked || spec.sorted) spec.block = spec.fp64 ? 2 : 4;
    if (ht_variant_refuses(variant, &spec) != NULL) return HT_OK;
    /* Those that store interpolants have one text of the series. */
    if (ht_variant_poly_bytes(variant, &spec) > 0 && !kind->blocked)
        return HT_OK;
    TRY(ht_variant_shape(&tuning, &spec, &any_device, &shape));
    return put(directory, ht_kernel_text(variant, &spec, &shape, &text), &text,
               "%s_%s_%s_%dd_n%d_%s_degree%d", variant->name, kind->system,
               kind->scheme, kind->dims, kind->order, precision_of(kind->fp64),
               kind->degree);
}

/* Finite differences: uniform density and not, in each dimension. */
static enum ht_err write_fd(const char *directory, int ptx,
                            const struct ht_fd_variant *variant, int turn) {
    const struct ht_fd_spec spec = {.dims = 1 + turn / 2,
                                    .radius = 1 + 3 * turn % 8,
                                    .fp64 = turn / 2 == 1,
                                    .density = turn % 2 != 0};
    struct ht_text text = {0}, layers = {0};
    TRY(put(directory, ht_fd_text(&spec, variant, NULL, ptx, &text), &text,
            "%s_%dd_order%d_%s%s", variant->name, spec.dims, 2 * spec.radius,
            precision_of(spec.fp64), spec.density ? "_density" : ""));
    if (variant != ht_fd_variant_at(0)) return HT_OK;
    return put(directory, ht_fd_layer_text(&spec, 128, false, &layers), &layers,
               "fd_layers_%dd_order%d_%s%s", spec.dims, 2 * spec.radius,
               precision_of(spec.fp64), spec.density ? "_density" : "");
}

/* What knows precision alone, on a GPU. */
static enum ht_err write_precision(const char *directory, bool fp64) {
    const char *name = precision_of(fp64);
    struct ht_text inject = {0}, sample = {0}, sums = {0};
    TRY(put(directory, ht_fd_injector_text(fp64, 128, &inject), &inject,
            "fd_inject_%s", name));
    TRY(put(directory, ht_fd_sampler_text(fp64, ht_point_nodes(8), 64, &sample),
            &sample, "fd_sample_%s", name));
    return put(directory, ht_fd_reduction_text(fp64, fp64, 128, &sums), &sums,
               "fd_sums_%s", name);
}

/* What knows precision and layout. */
static enum ht_err write_layout(const char *directory, bool fp64, int block) {
    const struct ht_spec spec = {.fp64 = fp64, .block = block};
    const char *name = precision_of(fp64);
    const int items = 128, coefs = 4;
    struct ht_text reduce = {0}, inject = {0}, sponge = {0}, ghosts = {0};
    struct ht_text means = {0}, rows = {0};
    const struct ht_rows_shape shape = {
        .fp64 = fp64, .block = block, .coefs = 16, .nodes = 4};
    TRY(put(directory, ht_reduction_text(&spec, block > 1, items, &reduce),
            &reduce, "reduce_%s_block%d", name, block));
    TRY(put(directory, ht_injector_text(fp64, block, items, &inject), &inject,
            "inject_%s_block%d", name, block));
    TRY(put(directory,
            ht_sponge_text(fp64, block, coefs, coefs * coefs, items, &sponge),
            &sponge, "sponge_%s_block%d", name, block));
    TRY(put(directory,
            ht_ghosts_text(&spec, 1 + block, 8 * block, items, &ghosts),
            &ghosts, "ghosts_%s_block%d", name, block));
    TRY(put(directory, ht_means_text(fp64, block, block == 1, items, &means),
            &means, "means_%s_block%d", name, block));
    TRY(put(directory, ht_rows_text(&shape, &rows), &rows, "rows_%s_block%d",
            name, block));
    for (int p = HT_HALO_SAME; p <= HT_HALO_HALF; p++) {
        const struct ht_pack_format format = {.fp64 = fp64,
                                              .block = block,
                                              .fields = 1 + p,
                                              .precision =
                                                  (enum ht_halo_precision)p};
        struct ht_text pack = {0};
        TRY(put(directory, ht_packer_text(&format, items, &pack), &pack,
                "pack_%s_to%d_block%d", name, p, block));
    }
    return HT_OK;
}

/* A corner of absorbing layers of Hermite methods. */
static enum ht_err write_layers(const char *directory, const char *system,
                                bool fp64) {
    const struct ht_equations base =
        ht_equations_make(ht_system_find(system), 3);
    const struct ht_tuning tuning = {
        .variant = ht_variant_find("monolithic", NULL, true)};
    struct ht_equations eq;
    struct ht_text text = {0};
    struct ht_shape shape;
    TRY(ht_equations_absorb(&base, 7, &eq));
    eq.profile_degree = 2;
    const struct ht_spec spec = {.eq = &eq,
                                 .order = 2,
                                 .fp64 = fp64,
                                 .block = fp64 ? 2 : 4,
                                 .medium_degree = -1,
                                 .stages = 4};
    TRY(ht_variant_shape(&tuning, &spec, &any_device, &shape));
    return put(directory, ht_kernel_text(tuning.variant, &spec, &shape, &text),
               &text, "%s_%s_%s_layers", tuning.variant->name, system,
               precision_of(fp64));
}

static enum ht_err write_all(const char *directory, int ptx) {
    TRY(ht_file_make_directory(directory));
    for (int v = 0; v < ht_variant_count(); v++)
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
            TRY(write_kind(directory, ptx, &kinds[k], ht_variant_at(v)));
    for (int i = 0; i < 6 * ht_fd_variant_count(); i++)
        TRY(write_fd(directory, ptx, ht_fd_variant_at(i / 6), i % 6));
    for (int fp64 = 0; fp64 < 2; fp64++) {
        TRY(write_precision(directory, fp64 != 0));
        TRY(write_layout(directory, fp64 != 0, 1));
        TRY(write_layout(directory, fp64 != 0, fp64 ? 2 : 4));
        TRY(write_layers(directory, fp64 ? "wave" : "acoustic", fp64 != 0));
    }
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
