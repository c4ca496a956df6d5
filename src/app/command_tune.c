/* htwave tune: the fastest kernels for the problem of FILE, or for classes of
 * problems, found by timing and kept for the runs to come.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "htwave/params.h"
#include "json.h"
#include "sweep.h"
#include "tuning.h"

struct tune {
    const struct ht_args *args;
    struct ht_device *device;
    const char *cache; /* NULL: nothing is kept */
    double seconds;    /* per class */
    struct ht_json json;
    int classes, trials;
};

static const char *layout_of(const struct ht_tuning *tuning) {
    return tuning->block > 1 ? "blocked" : "tensor";
}

static void add_tuning(struct ht_json *json, const struct ht_tuning *t) {
    ht_json_string(json, "variant", t->variant->name);
    ht_json_string(json, "layout", layout_of(t));
    ht_json_integer(json, "cells_per_group", t->cells);
    ht_json_integer(json, "rows_per_group", t->rows);
    ht_json_integer(json, "planes_per_group", t->planes);
    ht_json_bool(json, "trim", t->trim);
}

/* "chains blocked 2 cells trimmed"; numbers that were chosen are left out. */
static void describe(const struct ht_tuning *t, struct ht_text *text) {
    ht_text_add(text, "%-12s %-8s", t->variant->name, layout_of(t));
    if (t->cells > 0) ht_text_add(text, " cells %d", t->cells);
    if (t->rows > 0) ht_text_add(text, " rows %d", t->rows);
    if (t->planes > 0) ht_text_add(text, " planes %d", t->planes);
    ht_text_add(text, "%s", t->trim ? " trimmed" : "");
}

static void report(void *context, const struct ht_trial *trial) {
    struct tune *tune = context;
    struct ht_text text = {0};
    tune->trials++;
    describe(&trial->tuning, &text);
    if (ht_text_status(&text) == HT_OK && isfinite(trial->seconds))
        ht_log("  %-44s %10.4g cell half-steps/s", text.data,
               (double)trial->cells / trial->seconds);
    else if (ht_text_status(&text) == HT_OK)
        ht_log("  %-44s left out: %.120s", text.data, trial->why);
    ht_text_free(&text);
    ht_json_open(&tune->json, NULL, '{');
    add_tuning(&tune->json, &trial->tuning);
    ht_json_number(&tune->json, "cell_half_steps_per_s",
                   (double)trial->cells / trial->seconds);
    ht_json_close(&tune->json, '}');
}

static enum ht_err tune_class(struct tune *tune,
                              const struct ht_problem *problem, bool fp64,
                              const struct ht_tune_choice *choice) {
    const struct ht_tune_effort effort = {.seconds = tune->seconds,
                                          .cache = tune->cache,
                                          .report = report,
                                          .context = tune};
    char name[HT_TUNE_CLASS];
    struct ht_tuned best;
    struct ht_text text = {0};
    ht_tune_class(problem, fp64, choice, name);
    ht_log("%s", name);
    tune->classes++;
    ht_json_open(&tune->json, NULL, '{');
    ht_json_string(&tune->json, "class", name);
    ht_json_open(&tune->json, "trials", '[');
    TRY(ht_tune(problem, tune->device, fp64, choice, &effort, &best));
    ht_json_close(&tune->json, ']');
    add_tuning(&tune->json, &best.tuning);
    ht_json_number(&tune->json, "cell_half_steps_per_s", best.rate);
    ht_json_close(&tune->json, '}');
    describe(&best.tuning, &text);
    enum ht_err err = ht_text_status(&text);
    if (err == HT_OK) ht_log("best: %s", text.data);
    ht_text_free(&text);
    if (err != HT_OK || tune->cache == NULL) return err;
    return ht_tuning_store(tune->cache, ht_device_info(tune->device), name,
                           &best);
}

/* ---- a file ---- */

static enum ht_err tune_file(struct tune *tune, struct ht_params *params) {
    struct ht_simulation *sim = NULL;
    TRY(ht_simulation_plan(params, NULL, &sim));
    enum ht_err err = HT_OK;
    if (sim->device == NULL)
        err = ht_err_set(HT_ERR_DEVICE, "no device, so nothing to tune: %s",
                         sim->no_device ? sim->no_device
                                        : "device.backend is \"oracle\"");
    if (err == HT_OK) {
        const struct ht_tune_choice choice = ht_tuning_choice(sim);
        tune->device = sim->device;
        tune->cache = sim->cache;
        err = tune_class(tune, &sim->plan->problem, sim->tuning.fp64, &choice);
    }
    ht_simulation_destroy(sim);
    return err;
}

/* ---- classes ---- */

/* As `htwave run` plans it by default: the fewest stable stages at cfl 0.9;
 * a grid that fills a device. */
static enum ht_err tune_plain(struct tune *tune, const struct ht_equations *eq,
                              int order, bool leapfrog, bool fp64) {
    static const int64_t side[] = {1 << 18, 512, 64};
    const struct ht_tune_choice choice = {0};
    const int64_t n = side[eq->dims - 1], cells[3] = {n, n, n};
    struct ht_sample plain, sample;
    int stages = ht_stability_stages(ht_sample_symbol(eq, leapfrog), eq->dims,
                                     order, 0.9);
    ht_sample_plain(eq, order, stages, leapfrog, &plain);
    ht_sample_make(&plain.problem, cells, &sample);
    return tune_class(tune, &sample.problem, fp64, &choice);
}

/* All schemes, orders and precisions of a system. */
static enum ht_err tune_system(struct tune *tune, const struct ht_sweep *sweep,
                               const struct ht_equations *eq) {
    bool fp64 = ht_device_info(tune->device)->fp64;
    for (int scheme = 0; scheme < (eq->leapfrog.keep != 0 ? 2 : 1); scheme++)
        for (int n = 0; n < sweep->norders; n++)
            for (int p = 0; p < (fp64 ? 2 : 1); p++)
                if (ht_sweep_scheme(sweep, scheme != 0) &&
                    ht_sweep_precision(sweep, p != 0))
                    TRY(tune_plain(tune, eq, sweep->orders[n], scheme != 0,
                                   p != 0));
    return HT_OK;
}

static enum ht_err tune_all(struct tune *tune, struct ht_sweep *sweep) {
    const int orders[] = {1, 2, 3, 4, 5};
    if (sweep->norders == 0) {
        sweep->norders = 5;
        memcpy(sweep->orders, orders, sizeof orders);
    }
    for (int s = 0; s < ht_system_count(); s++) {
        const struct ht_system *system = ht_system_at(s);
        if (!ht_args_listed(sweep->systems, system->name)) continue;
        for (int d = 0; d < sweep->ndims; d++) {
            const struct ht_equations eq =
                ht_equations_make(system, sweep->dims[d]);
            TRY(tune_system(tune, sweep, &eq));
        }
    }
    return HT_OK;
}

static enum ht_err tune_classes(struct tune *tune) {
    struct ht_sweep sweep;
    char *cache = NULL;
    TRY(ht_sweep_read(tune->args, &sweep));
    TRY(ht_device_open(sweep.backend, sweep.device, 0, &tune->device));
    enum ht_err err = ht_cache_directory(sweep.cache, &cache);
    tune->cache = cache;
    if (err == HT_OK) err = tune_all(tune, &sweep);
    ht_device_close(tune->device);
    free(cache);
    return err;
}

enum ht_err ht_command_tune(const struct ht_args *args) {
    struct tune tune = {.args = args, .seconds = 60};
    const char *seconds = ht_args_value(args, "--seconds");
    struct ht_params *params = NULL;
    if (seconds != NULL) TRY(ht_args_real("--seconds", seconds, &tune.seconds));
    REQUIRE(tune.seconds >= 0, HT_ERR_INPUT, "--seconds %s: must be at least 0",
            seconds);
    if (args->count > 0)
        TRY(ht_params_read(args->operand[0], args->count - 1, args->operand + 1,
                           &params));
    ht_json_open(&tune.json, NULL, '{');
    ht_json_open(&tune.json, "classes", '[');
    enum ht_err err =
        params != NULL ? tune_file(&tune, params) : tune_classes(&tune);
    ht_json_close(&tune.json, ']');
    ht_json_close(&tune.json, '}');
    ht_json_end(&tune.json);
    if (err == HT_OK)
        ht_log("%d timings for %d class%s of problems", tune.trials,
               tune.classes, tune.classes == 1 ? "" : "es");
    if (err == HT_OK && args->json) err = ht_args_print(&tune.json.text);
    ht_text_free(&tune.json.text);
    ht_params_destroy(params);
    return err;
}
