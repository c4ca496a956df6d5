/* Device, kernels and state of a run. Whatever follows from sizes is refused
 * before anything of that size is touched: a lower bound of the memory before
 * the plan visits the grid's nodes, the exact budget before compiling.
 */
#include "simulation.h"

#include "tuning.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the device ---- */

static double host_memory(void) {
    const double unknown = 1024.0 * 1024 * 1024 * 1024;
#ifdef _SC_PHYS_PAGES
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    if (pages > 0 && size > 0) return (double)pages * (double)size;
#endif
    return unknown;
}

static void use_oracle(struct ht_simulation *sim) {
    sim->oracle = true;
    sim->info = (struct ht_device_info){.name = "serial reference",
                                        .vendor = "htwave",
                                        .driver = "C11",
                                        .platform = "host",
                                        .backend = "oracle",
                                        .index = -1,
                                        .fp64 = true,
                                        .compute_units = 1};
    sim->info.memory = sim->info.max_buffer = (int64_t)host_memory();
}

/* That none is here becomes a failure when it is needed. */
static enum ht_err open_device(struct ht_simulation *sim) {
    const struct ht_params *params = sim->params;
    const char *backend = params->device.backend;
    if (strcmp(backend, "oracle") == 0) {
        use_oracle(sim);
        return HT_OK;
    }
    enum ht_err err =
        ht_device_open(backend, params->device.select, 0, &sim->device);
    if (err == HT_ERR_DEVICE)
        return ht_text_copy(ht_err_message(), &sim->no_device);
    TRY(err);
    sim->info = *ht_device_info(sim->device);
    return HT_OK;
}

/* A device asked for by name is a matter of the input. */
static enum ht_err need_device(const struct ht_simulation *sim) {
    if (sim->oracle || sim->device != NULL) return HT_OK;
    if (ht_params_is_set(sim->params, "device.select"))
        return ht_params_error(sim->params, "device.select", "%s",
                               sim->no_device);
    FAIL(HT_ERR_DEVICE, "%s", sim->no_device);
}

/* ---- memory ---- */

static enum ht_err refuse_memory(const struct ht_simulation *sim, double bytes,
                                 const char *advice) {
    char need[32], have[32];
    return ht_params_error(
        sim->params, "grid.cells", "needs %s of memory, %s has %s%s",
        ht_text_bytes(bytes, need), sim->info.name,
        ht_text_bytes((double)sim->info.memory, have), advice);
}

/* Both grids have at least as many nodes as there are cells. In floating
 * point: the product may exceed 64 bits. */
static enum ht_err check_cells(const struct ht_simulation *sim) {
    const struct ht_params *params = sim->params;
    const struct ht_system *system = ht_system_find(params->system);
    if (system == NULL || sim->info.memory <= 0) return HT_OK;
    struct ht_equations eq = ht_equations_make(system, params->grid.dims);
    bool fp64 = sim->oracle || strcmp(params->device.precision, "double") == 0;
    double bytes = 2.0 * eq.nfields * (fp64 ? 8 : 4);
    for (int k = 0; k < params->grid.dims; k++)
        bytes *= (double)params->grid.cells[k] * (params->grid.order + 1);
    if (bytes > (double)sim->info.memory)
        return refuse_memory(sim, bytes,
                             ": take fewer cells or a lower grid.order");
    return HT_OK;
}

/* What the half step from the primary grid computes. */
static struct ht_spec spec_of(const struct ht_simulation *sim) {
    return ht_problem_spec(&sim->plan->problem, &sim->tuning, HT_PRIMARY);
}

/* The variant that keeps the least between its kernels. */
static const struct ht_variant *leanest(const struct ht_simulation *sim) {
    const struct ht_spec spec = spec_of(sim);
    const struct ht_variant *best =
        ht_variant_find("auto", &spec, sim->info.gpu);
    for (int i = 0; i < ht_variant_count(); i++)
        if (ht_variant_refuses(ht_variant_at(i), &spec) == NULL &&
            ht_variant_poly_bytes(ht_variant_at(i), &spec) <
                ht_variant_poly_bytes(best, &spec))
            best = ht_variant_at(i);
    return best;
}

static struct ht_budget budget_of(const struct ht_simulation *sim,
                                  const struct ht_variant *variant) {
    struct ht_tuning tuning = sim->tuning;
    tuning.variant = variant;
    struct ht_budget b =
        ht_stepper_budget(&sim->plan->problem, &tuning, &sim->info);
    b.total += ht_start_bytes(sim->plan, &tuning, &sim->info);
    return b;
}

static enum ht_err check_budget(const struct ht_simulation *sim) {
    const struct ht_budget *b = &sim->budget;
    char need[32], have[32], advice[160];
    const struct ht_variant *lean = leanest(sim);
    struct ht_budget least = budget_of(sim, lean);
    snprintf(advice, sizeof advice,
             ": take fewer cells or a lower grid.order%s",
             sim->tuning.fp64 && !sim->oracle
                 ? ", or device.precision = \"single\", which needs half"
                 : "");
    if (b->total > sim->info.memory && least.total <= sim->info.memory)
        snprintf(advice, sizeof advice,
                 ": device.variant = \"%s\" needs only %s", lean->name,
                 ht_text_bytes((double)least.total, need));
    if (b->total > sim->info.memory)
        return refuse_memory(sim, (double)b->total, advice);
    if (b->largest_buffer > sim->info.max_buffer)
        return ht_params_error(
            sim->params, "grid.cells",
            "needs a buffer of %s, %s allows %s at once: take fewer cells or "
            "a lower grid.order",
            ht_text_bytes((double)b->largest_buffer, need), sim->info.name,
            ht_text_bytes((double)sim->info.max_buffer, have));
    return HT_OK;
}

/* ---- kernels ---- */

static enum ht_err refuse_variant(const struct ht_simulation *sim,
                                  const struct ht_spec *spec,
                                  const char *reason) {
    struct ht_text names = {0};
    ht_variant_list(spec, &names);
    enum ht_err err = ht_text_status(&names);
    if (err == HT_OK)
        err =
            ht_params_error(sim->params, "device.variant",
                            "does not apply: %s; take %s", reason, names.data);
    ht_text_free(&names);
    return err;
}

static enum ht_err unknown_variant(const struct ht_simulation *sim) {
    struct ht_text names = {0};
    for (int i = 0; i < ht_variant_count(); i++)
        ht_text_add(&names, ", %s", ht_variant_at(i)->name);
    enum ht_err err = ht_text_status(&names);
    if (err == HT_OK)
        err = ht_params_error(sim->params, "device.variant",
                              "no such variant: must be one of auto%s",
                              names.data);
    ht_text_free(&names);
    return err;
}

static enum ht_err choose_variant(struct ht_simulation *sim) {
    const struct ht_spec spec = spec_of(sim);
    sim->tuning.variant =
        ht_variant_find(sim->params->device.variant, &spec, sim->info.gpu);
    if (sim->tuning.variant == NULL) return unknown_variant(sim);
    const char *reason = ht_variant_refuses(sim->tuning.variant, &spec);
    if (reason == NULL)
        reason = ht_variant_lacks(sim->tuning.variant, &sim->info);
    return reason == NULL ? HT_OK : refuse_variant(sim, &spec, reason);
}

static int choose_block(const struct ht_simulation *sim) {
    const char *layout = sim->params->device.layout;
    bool blocked = strcmp(layout, "auto") == 0 ? sim->info.gpu
                                               : strcmp(layout, "blocked") == 0;
    return !blocked ? 1 : sim->tuning.fp64 ? 2 : 4;
}

/* A refusal of the cells per group is one of the input's, with its place. */
static enum ht_err choose_shape(struct ht_simulation *sim) {
    char rule[256];
    enum ht_err err = ht_kernels_plan(&sim->plan->problem, &sim->info,
                                      &sim->tuning, &sim->kernels);
    if (err != HT_ERR_INPUT) return err;
    const char *value = strstr(ht_err_message(), ": ");
    snprintf(rule, sizeof rule, "%s", value ? value + 2 : ht_err_message());
    return ht_params_error(sim->params, "device.cells_per_group", "%s", rule);
}

/* The tuning is complete without a device as well, for a budget. */
static enum ht_err choose_kernels(struct ht_simulation *sim) {
    const struct ht_params *params = sim->params;
    struct ht_tuning *tuning = &sim->tuning;
    tuning->ptx = sim->info.ptx;
    tuning->fp64 = strcmp(params->device.precision, "double") == 0;
    tuning->block = choose_block(sim);
    tuning->cells = params->device.cells_per_group;
    tuning->planes = params->device.planes_per_group;
    TRY(choose_variant(sim));
    /* Branches keep a CPU from joining lanes; vector kernels have them joined
     * already. */
    tuning->trim = sim->info.gpu || (tuning->variant != NULL &&
                                     tuning->variant->made_for == HT_FOR_CPU);
    if (!sim->oracle && sim->device == NULL) return HT_OK;
    if (!sim->oracle) {
        ht_tuning_recall(sim);
        return choose_shape(sim);
    }
    tuning->fp64 = true;
    tuning->block = 1;
    tuning->variant = NULL;
    return HT_OK;
}

enum ht_err ht_cache_directory(const char *given, char **out) {
    const char *base = getenv("XDG_CACHE_HOME"), *below = "/htwave";
    struct ht_text path = {0};
    *out = NULL;
    if (strcmp(given, "none") == 0) return HT_OK;
    if (strcmp(given, "auto") != 0) return ht_text_copy(given, out);
    if (base == NULL || base[0] != '/') {
        base = getenv("HOME");
        below = "/.cache/htwave";
    }
    if (base == NULL || *base == '\0') return HT_OK;
    ht_text_add(&path, "%s%s", base, below);
    enum ht_err err = ht_text_status(&path);
    if (err != HT_OK)
        ht_text_free(&path);
    else
        *out = path.data;
    return err;
}

/* ---- plan ---- */

static enum ht_err make_plan(struct ht_simulation *sim) {
    TRY(open_device(sim));
    TRY(check_cells(sim));
    TRY(ht_plan_create(sim->params, NULL, &sim->plan));
    TRY(ht_cache_directory(sim->params->device.cache, &sim->cache));
    TRY(choose_kernels(sim));
    const struct ht_variant *variant = sim->tuning.variant;
    sim->budget = budget_of(sim, variant ? variant : leanest(sim));
    if (sim->device == NULL && !sim->oracle) return HT_OK;
    return check_budget(sim);
}

enum ht_err ht_simulation_tune(struct ht_simulation *sim) {
    double began = ht_clock();
    if (sim->device == NULL || !ht_tuning_wanted(sim)) return HT_OK;
    ht_tuning_search(sim);
    sim->tune_s = ht_clock() - began;
    TRY(choose_shape(sim));
    sim->budget = budget_of(sim, sim->tuning.variant);
    return check_budget(sim);
}

enum ht_err ht_simulation_plan(const struct ht_params *params,
                               struct ht_simulation **out) {
    struct ht_simulation *sim = NULL;
    *out = NULL;
    TRY(HT_ALLOC(sim, 1));
    sim->params = params;
    sim->selfcheck_ratio = NAN;
    enum ht_err err = make_plan(sim);
    if (err != HT_OK) {
        ht_simulation_destroy(sim);
        return err;
    }
    *out = sim;
    return HT_OK;
}

void ht_simulation_destroy(struct ht_simulation *sim) {
    if (sim == NULL) return;
    ht_stepper_destroy(&sim->stepper);
    ht_kernels_destroy(&sim->kernels);
    ht_device_close(sim->device);
    ht_plan_destroy(sim->plan);
    free(sim->no_device);
    free(sim->cache);
    free(sim);
}

/* ---- on the device ---- */

enum ht_err ht_simulation_compile(struct ht_simulation *sim) {
    double began = ht_clock();
    TRY(need_device(sim));
    if (sim->oracle) return HT_OK;
    TRY(ht_kernels_create(&sim->plan->problem, sim->device, &sim->tuning,
                          sim->cache, &sim->kernels));
    sim->compile_s = ht_clock() - began;
    if (!sim->params->device.selfcheck) return HT_OK;
    began = ht_clock();
    TRY(ht_selfcheck(&sim->plan->problem, sim->device, &sim->kernels,
                     &sim->selfcheck_ratio));
    (void)ht_kernels_seconds(&sim->kernels); /* not of the run */
    sim->selfcheck_s = ht_clock() - began;
    return HT_OK;
}

void ht_simulation_measure(struct ht_simulation *sim) {
    double began = ht_clock();
    if (sim->device == NULL || sim->limits.fma_per_s > 0) return;
    if (ht_limits_measure(sim->device, sim->tuning.fp64, sim->cache,
                          &sim->limits) != HT_OK) {
        sim->limits = (struct ht_limits){0};
        ht_note("the device's limits are not known: %s", ht_err_message());
    }
    sim->measure_s = ht_clock() - began;
}

enum ht_err ht_simulation_stepper(struct ht_simulation *sim,
                                  const struct ht_problem *problem,
                                  struct ht_stepper *out) {
    if (sim->oracle) return ht_oracle_create(problem, out);
    return ht_stepper_create(problem, sim->device, &sim->kernels, out);
}

enum ht_err ht_simulation_start(struct ht_simulation *sim) {
    double began = ht_clock();
    TRY(ht_simulation_stepper(sim, &sim->plan->problem, &sim->stepper));
    TRY(ht_start(sim->plan, sim->device, &sim->tuning, sim->cache,
                 &sim->stepper));
    sim->joules_before =
        sim->device != NULL ? ht_device_joules(sim->device) : -1;
    sim->start_s = ht_clock() - began;
    return HT_OK;
}

enum ht_err ht_simulation_advance(struct ht_simulation *sim, int64_t steps) {
    const struct ht_stepper *s = &sim->stepper;
    double began = ht_clock();
    for (int64_t n = 0; n < steps; n++) {
        TRY(s->ops->half_step(s->self, HT_PRIMARY));
        TRY(s->ops->half_step(s->self, HT_DUAL));
    }
    TRY(s->ops->finish(s->self));
    sim->steps += steps;
    sim->kernel_s +=
        sim->oracle ? ht_clock() - began : ht_kernels_seconds(&sim->kernels);
    return HT_OK;
}

/* ---- numbers ---- */

double ht_simulation_time(const struct ht_simulation *sim, int64_t step) {
    if (step == sim->plan->steps) return sim->params->time.end;
    return (double)step * sim->plan->problem.dt;
}

double ht_simulation_cells(const struct ht_simulation *sim) {
    const struct ht_grid *grid = &sim->plan->grid;
    return (double)grid->cells[0] * (double)grid->cells[1] *
           (double)grid->cells[2];
}

double ht_simulation_unknowns(const struct ht_simulation *sim) {
    const struct ht_grid *grid = &sim->plan->grid;
    return (double)ht_grid_total(grid, HT_PRIMARY) * ht_grid_coefs(grid) *
           ht_problem_stored(&sim->plan->problem, HT_PRIMARY);
}

enum ht_err ht_simulation_nodal(const struct ht_simulation *sim,
                                double *nodal[HT_MAX_FIELDS]) {
    int64_t nodes = ht_grid_total(&sim->plan->grid, HT_PRIMARY);
    for (int f = 0; f < sim->plan->eq.nfields; f++)
        if (ht_problem_stores(&sim->plan->problem, HT_PRIMARY, f))
            TRY(HT_ALLOC(nodal[f], nodes));
    return HT_OK;
}

double ht_simulation_joules(const struct ht_simulation *sim) {
    if (sim->device == NULL || sim->joules_before < 0) return NAN;
    double now = ht_device_joules(sim->device);
    return now >= sim->joules_before ? now - sim->joules_before : NAN;
}

const char *ht_simulation_precision(const struct ht_simulation *sim) {
    return sim->tuning.fp64 ? "double" : "single";
}

const char *ht_simulation_layout(const struct ht_simulation *sim) {
    if (sim->tuning.variant != NULL && sim->tuning.variant->sorted)
        return "sorted";
    return sim->tuning.block > 1 ? "blocked" : "tensor";
}
