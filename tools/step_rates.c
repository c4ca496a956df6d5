/* Rates of the step kernels: for each system, order, variant and precision
 * the device time of a half step on a periodic box, warm, best and median of
 * several, from random data; every program timed is first verified against
 * the oracle. Prints a table and, with --csv, the same for machines.
 *
 *   step_rates [--device NAME] [--cells N] [--gib G] [--systems a,b]
 *              [--orders 1,2] [--variants a,b] [--precisions single,double]
 *              [--layouts tensor,blocked] [--group CELLS] [--csv]
 *
 * The box is cells^3 (default 192), smaller where the state of both grids
 * would exceed G GiB (default 24).
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "htwave/method.h"

struct choice {
    const char *device, *systems, *orders, *variants, *precisions, *layouts;
    int cells, group;
    double gib;
    bool csv;
};

struct timing {
    double seconds, best, verified;
    int64_t cells;
};

/* Is word an entry of the comma-separated list (NULL: everything is)? */
static bool listed(const char *list, const char *word) {
    size_t length = strlen(word);
    for (const char *at = list; at != NULL; at = strchr(at, ',')) {
        if (*at == ',') at++;
        if (strncmp(at, word, length) == 0 &&
            (at[length] == ',' || at[length] == '\0'))
            return true;
    }
    return list == NULL;
}

static struct ht_grid make_grid(int dims, int order, int64_t cells) {
    struct ht_grid grid = {.dims = dims, .order = order};
    for (int k = 0; k < 3; k++) {
        grid.cells[k] = k < dims ? cells : 1;
        grid.h[k] = 1;
        grid.upper[k] = (double)grid.cells[k];
    }
    return grid;
}

static struct ht_problem make_problem(const struct ht_spec *spec,
                                      const struct ht_grid *grid) {
    struct ht_problem p = {.eq = spec->eq, .grid = grid, .dt = 0.9};
    p.stages = grid->dims * (2 * grid->order + 1);
    p.medium_degree = -1;
    for (int m = 0; m < HT_MAX_MATERIALS; m++) p.uniform[m] = 1;
    return p;
}

/* One plane of random data, put on every plane. */
static enum ht_err fill(const struct ht_problem *p,
                        const struct ht_stepper *stepper) {
    int64_t count = ht_grid_plane(p->grid, HT_PRIMARY) * p->eq->nfields *
                    ht_grid_coefs(p->grid);
    double *plane = NULL;
    enum ht_err err = HT_ALLOC(plane, count);
    for (int64_t n = 0; err == HT_OK && n < count; n++)
        plane[n] = ht_rng_uniform(11, (uint64_t)n);
    for (int64_t m = 0; err == HT_OK && m < ht_grid_planes(p->grid, HT_PRIMARY);
         m++)
        err = stepper->ops->put(stepper->self, HT_PRIMARY, m, m + 1, plane);
    free(plane);
    return err;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static enum ht_err time_steps(const struct ht_stepper *stepper,
                              struct ht_kernels *kernels, struct timing *out) {
    enum { WARM = 2, TIMED = 7 };
    double seconds[TIMED];
    for (int n = -WARM; n < TIMED; n++) {
        TRY(stepper->ops->half_step(stepper->self, HT_PRIMARY));
        TRY(stepper->ops->half_step(stepper->self, HT_DUAL));
        TRY(stepper->ops->finish(stepper->self));
        double both = ht_kernels_seconds(kernels);
        if (n >= 0) seconds[n] = both / 2;
    }
    qsort(seconds, TIMED, sizeof seconds[0], ascending);
    out->seconds = seconds[TIMED / 2];
    out->best = seconds[0];
    return HT_OK;
}

static enum ht_err verify(struct ht_device *device,
                          const struct ht_kernels *kernels, double *ratio) {
    const struct ht_spec *spec = &kernels->spec[0];
    struct ht_grid grid = make_grid(spec->eq->dims, spec->order, 3);
    struct ht_problem p = make_problem(spec, &grid);
    if (spec->order > 3 && !kernels->variant->blocks) p.stages = 6;
    return ht_verify_kernels(&p, device, kernels, ratio);
}

static enum ht_err measure(struct ht_device *device,
                           const struct ht_variant *variant,
                           const struct ht_spec *spec,
                           const struct choice *choice, struct timing *out) {
    const struct ht_tuning tuning = {.variant = variant,
                                     .fp64 = spec->fp64,
                                     .trim = spec->trim,
                                     .block = spec->block,
                                     .cells = choice->group};
    struct ht_kernels kernels;
    struct ht_stepper stepper = {0};
    int64_t cells = choice->cells;
    int word = spec->fp64 ? 8 : 4;
    double per_cell =
        2.0 * spec->eq->nfields * word * pow(spec->order + 1, spec->eq->dims);
    while (per_cell * pow((double)cells, spec->eq->dims) >
               choice->gib * 1073741824.0 &&
           cells > 8)
        cells -= 8;
    struct ht_grid grid = make_grid(spec->eq->dims, spec->order, cells);
    struct ht_problem problem = make_problem(spec, &grid);
    out->cells = cells;
    TRY(ht_kernels_create(&problem, device, &tuning, NULL, &kernels));
    enum ht_err err = verify(device, &kernels, &out->verified);
    if (err == HT_OK)
        err = ht_stepper_create(&problem, device, &kernels, &stepper);
    if (err == HT_OK) err = fill(&problem, &stepper);
    if (err == HT_OK) (void)ht_kernels_seconds(&kernels);
    if (err == HT_OK) err = time_steps(&stepper, &kernels, out);
    ht_stepper_destroy(&stepper);
    ht_kernels_destroy(&kernels);
    return err;
}

static void report(const struct ht_variant *variant, const struct ht_spec *spec,
                   const struct choice *choice, const struct timing *t,
                   const struct ht_limits *limits) {
    struct ht_cost cost =
        ht_cost_minimum(spec, spec->eq->dims * (2 * spec->order + 1));
    double targets = pow((double)t->cells, spec->eq->dims);
    double least =
        fmax(cost.bytes / limits->bytes_per_s, cost.fma / limits->fma_per_s);
    double unknowns = spec->eq->nfields * pow(spec->order + 1, spec->eq->dims);
    const char *format =
        choice->csv ? "%s,%d,%s,%s,%s,%lld,%.4f,%.5g,%.4g,%.4f,%.3g\n"
                    : "%-10s %d %-11s %-6s %-7s %4lld^3 %9.3f ms  %9.4g "
                      "cells/s %9.3g unknowns/s  %5.1f %% of limit  check "
                      "%.2g\n";
    printf(format, spec->eq->system->name, spec->order, variant->name,
           spec->fp64 ? "double" : "single",
           spec->block > 1 ? "blocked" : "tensor", (long long)t->cells,
           t->seconds * 1e3, targets / t->seconds,
           targets * unknowns / t->seconds,
           (choice->csv ? 1 : 100) * targets * least / t->seconds, t->verified);
    fflush(stdout);
}

static void run_spec(struct ht_device *device, struct ht_spec *spec,
                     const struct choice *choice,
                     const struct ht_limits limits[2]) {
    for (int v = 0; v < ht_variant_count(); v++) {
        const struct ht_variant *variant = ht_variant_at(v);
        struct timing t = {0};
        if (!listed(choice->variants, variant->name) ||
            ht_variant_refuses(variant, spec) != NULL)
            continue;
        if (measure(device, variant, spec, choice, &t) != HT_OK)
            printf("%s N=%d %s: %s\n", spec->eq->system->name, spec->order,
                   variant->name, ht_err_message());
        else
            report(variant, spec, choice, &t, &limits[spec->fp64]);
    }
}

static void run_all(struct ht_device *device, const struct choice *choice) {
    struct ht_limits limits[2] = {{0}};
    int precisions = ht_device_info(device)->fp64 ? 2 : 1;
    for (int fp64 = 0; fp64 < precisions; fp64++) {
        if (ht_limits_measure(device, fp64, NULL, &limits[fp64]) != HT_OK)
            printf("limits: %s\n", ht_err_message());
        printf("# %s, %s: copy %.0f GB/s, %.3f TFMA/s\n",
               ht_device_info(device)->name, fp64 ? "double" : "single",
               limits[fp64].bytes_per_s * 1e-9, limits[fp64].fma_per_s * 1e-12);
    }
    for (int s = 0; s < ht_system_count(); s++)
        for (int order = 1; order <= HT_MAX_ORDER; order++)
            for (int n = 0; n < 4; n++) {
                const struct ht_system *system = ht_system_at(s);
                struct ht_equations eq = ht_equations_make(system, 3);
                struct ht_spec spec = {.eq = &eq,
                                       .order = order,
                                       .fp64 = n % 2,
                                       .medium_degree = -1,
                                       .trim = true};
                char number[8];
                snprintf(number, sizeof number, "%d", order);
                spec.block = n / 2 == 0 ? 1 : spec.fp64 ? 2 : 4;
                if (listed(choice->systems, system->name) &&
                    listed(choice->orders, number) &&
                    listed(choice->precisions,
                           spec.fp64 ? "double" : "single") &&
                    listed(choice->layouts, n / 2 ? "blocked" : "tensor"))
                    run_spec(device, &spec, choice, limits);
            }
}

static struct choice parse(int argc, char **argv) {
    struct choice c = {.device = "auto",
                       .orders = "1,2,3,4,5",
                       .layouts = "blocked",
                       .cells = 192,
                       .gib = 24};
    const struct {
        const char *name, **text;
    } texts[] = {{"--device", &c.device},         {"--systems", &c.systems},
                 {"--orders", &c.orders},         {"--variants", &c.variants},
                 {"--precisions", &c.precisions}, {"--layouts", &c.layouts}};
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(argv[i], "--csv") == 0) c.csv = true;
        if (strcmp(argv[i], "--cells") == 0)
            c.cells = (int)strtol(value, NULL, 10);
        if (strcmp(argv[i], "--group") == 0)
            c.group = (int)strtol(value, NULL, 10);
        if (strcmp(argv[i], "--gib") == 0) c.gib = strtod(value, NULL);
        for (size_t t = 0; t < sizeof texts / sizeof texts[0]; t++)
            if (strcmp(argv[i], texts[t].name) == 0) *texts[t].text = value;
    }
    return c;
}

int main(int argc, char **argv) {
    struct choice choice = parse(argc, argv);
    struct ht_device *device = NULL;
    if (ht_device_open("auto", choice.device, &device) != HT_OK) {
        fprintf(stderr, "%s\n", ht_err_message());
        return 1;
    }
    run_all(device, &choice);
    ht_device_close(device);
    return 0;
}
