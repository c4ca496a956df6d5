/* Device, kernels and state of a run. Everything that depends on sizes is refused before anything
 * of that size is touched: a lower bound of the memory before the plan scans the grid's nodes, the
 * exact budget before compiling.
 */

#include "memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the device ---- */

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
    sim->info.memory = sim->info.max_buffer = (int64_t)ht_memory_host();
}

static enum ht_err refuse_oracle(const struct ht_simulation *sim) {
    return ht_params_error(sim->params, "device.backend",
                           "the serial reference runs in one process, not on %d "
                           "ranks: run it without mpiexec or choose a device",
                           sim->ranks);
}

/* A missing device becomes a failure only when one is needed. */
static enum ht_err open_device(struct ht_simulation *sim) {
    const struct ht_params *params = sim->params;
    const char *backend = params->device.backend;
    if (strcmp(backend, "oracle") == 0) {
        if (sim->ranks > 1) return refuse_oracle(sim);
        use_oracle(sim);
        return HT_OK;
    }
    enum ht_err err = ht_ranks_open(sim->comm, backend, params->device.select, &sim->device);
    if (err == HT_ERR_DEVICE) return ht_text_copy(ht_err_message(), &sim->no_device);
    TRY(err);
    sim->info = *ht_device_info(sim->device);
    return HT_OK;
}

/* A device that was asked for by name is an error of the input. */
static enum ht_err need_device(const struct ht_simulation *sim) {
    if (sim->oracle || sim->device != NULL) return HT_OK;
    if (ht_params_is_set(sim->params, "device.select"))
        return ht_params_error(sim->params, "device.select", "%s", sim->no_device);
    FAIL(HT_ERR_DEVICE, "%s", sim->no_device);
}

/* Either all ranks have a device or none. */
static enum ht_err find_assignments(struct ht_simulation *sim) {
    TRY(ht_ranks_assignments(sim->comm, sim->device != NULL ? &sim->info : NULL, &sim->assignment));
    return ht_comm_agree(
        sim->comm, ht_ranks_devices(sim->ranks, sim->assignment) > 0 ? need_device(sim) : HT_OK);
}

bool ht_simulation_leads(const struct ht_simulation *sim) {
    return sim->ranks == 1 || sim->assignment[sim->rank].first == sim->rank;
}

/* ---- kernels ---- */

/* The spec of the half step from the primary grid. */
static struct ht_spec spec_of(const struct ht_simulation *sim) {
    return ht_problem_spec(&sim->plan->problem, &sim->tuning, HT_PRIMARY);
}

static enum ht_err refuse_variant(const struct ht_simulation *sim, const struct ht_spec *spec,
                                  const char *reason) {
    struct ht_text names = {0};
    ht_variant_list(spec, &names);
    enum ht_err err = ht_text_status(&names);
    if (err == HT_OK)
        err = ht_params_error(sim->params, "device.variant", "does not apply: %s; use %s", reason,
                              names.data);
    ht_text_free(&names);
    return err;
}

static bool is_named(const struct ht_simulation *sim) {
    return strcmp(sim->params->device.variant, "auto") != 0;
}

/* As much of a step as single precision allows, cut to two decimals. */
static enum ht_err refuse_noise(const struct ht_simulation *sim, const struct ht_spec *spec) {
    const struct ht_params *params = sim->params;
    const bool named = is_named(sim);
    struct ht_text names = {0};
    const double cfl = ht_plan_quiet_cfl(sim->plan);
    ht_variant_list(spec, &names);
    enum ht_err err = ht_text_status(&names);
    if (err == HT_OK)
        err = ht_params_error(params,
                              named                     ? "device.variant"
                              : params->time.step > 0.0 ? "time.step"
                                                        : "time.cfl",
                              "in single precision the rounding of %s grows at order %d in %d "
                              "dimensions with cfl %.2f: take a cfl of at most %.2f or "
                              "device.precision = \"double\"%s%s",
                              named ? "its series" : "series", spec->order, spec->eq->dims,
                              sim->plan->cfl, floor(100 * cfl) / 100,
                              names.length > 0 ? ", or variant " : "",
                              names.length > 0 ? names.data : "");
    ht_text_free(&names);
    return err;
}

static enum ht_err unknown_variant(const struct ht_simulation *sim) {
    const char *instead = ht_params_gone("device.variant", sim->params->device.variant);
    if (instead != NULL)
        return ht_params_error(sim->params, "device.variant", "no longer there; use %s", instead);
    struct ht_text names = {0};
    for (int i = 0; i < ht_variant_count(); i++)
        ht_text_add(&names, ", %s", ht_variant_at(i)->name);
    enum ht_err err = ht_text_status(&names);
    if (err == HT_OK)
        err = ht_params_error(sim->params, "device.variant",
                              "no such variant: must be one of auto%s", names.data);
    ht_text_free(&names);
    return err;
}

static enum ht_err check_variant(const struct ht_simulation *sim) {
    const struct ht_spec spec = spec_of(sim);
    const char *reason = ht_variant_refuses(sim->tuning.variant, &spec);
    struct ht_spec quiet = spec;
    quiet.noise = 0;
    if (reason != NULL && ht_variant_refuses(sim->tuning.variant, &quiet) == NULL)
        return refuse_noise(sim, &spec);
    if (reason == NULL) reason = ht_variant_lacks(sim->tuning.variant, &sim->info);
    return reason == NULL ? HT_OK : refuse_variant(sim, &spec, reason);
}

static enum ht_err choose_variant(struct ht_simulation *sim) {
    const struct ht_spec spec = spec_of(sim);
    sim->tuning.variant = ht_variant_choose(sim->params->device.variant, &spec, &sim->info);
    if (sim->tuning.variant == NULL)
        return is_named(sim) ? unknown_variant(sim) : refuse_noise(sim, &spec);
    return check_variant(sim);
}

static int choose_block(const struct ht_simulation *sim) {
    const enum ht_layout_choice layout = sim->params->device.layout;
    bool blocked = layout == HT_LAYOUT_AUTO ? sim->info.gpu : layout == HT_LAYOUT_BLOCKED;
    return !blocked ? 1 : sim->tuning.fp64 ? 2 : 4;
}

/* An error about the cells per group becomes one of the input, with its place.
 */
static enum ht_err choose_shape(struct ht_simulation *sim) {
    char rule[256];
    enum ht_err err = ht_kernels_plan(&sim->plan->problem, &sim->info, &sim->tuning, &sim->kernels);
    if (err != HT_ERR_INPUT) return err;
    const char *value = strstr(ht_err_message(), ": ");
    snprintf(rule, sizeof rule, "%s", value ? value + 2 : ht_err_message());
    return ht_params_error(sim->params, "device.cells_per_group", "%s", rule);
}

/* All ranks use the tuning of rank 0, or results and layouts would differ. */
static enum ht_err settle_kernels(struct ht_simulation *sim) {
    TRY(ht_tuning_share(sim));
    if (sim->rank > 0) TRY(check_variant(sim));
    return choose_shape(sim);
}

/* The tuning is complete without a device as well, for the budget. */
static enum ht_err choose_kernels(struct ht_simulation *sim) {
    const struct ht_params *params = sim->params;
    struct ht_tuning *tuning = &sim->tuning;
    tuning->ptx = sim->info.ptx;
    tuning->ptx_own = sim->info.ptx_own;
    tuning->fp64 = sim->oracle || params->device.precision == HT_DOUBLE;
    tuning->block = choose_block(sim);
    tuning->cells = params->device.cells_per_group;
    tuning->planes = params->device.planes_per_group;
    TRY(choose_variant(sim));
    /* Branches prevent a CPU from vectorising work-items; vector kernels use vectors anyway. */
    tuning->trim =
        sim->info.gpu || (tuning->variant != NULL && tuning->variant->made_for == HT_FOR_CPU);
    if (!sim->oracle && sim->device == NULL) return HT_OK;
    if (!sim->oracle) {
        if (sim->rank == 0) ht_tuning_recall(sim);
        return settle_kernels(sim);
    }
    tuning->block = 1;
    tuning->variant = NULL;
    return HT_OK;
}

enum ht_err ht_cache_directory(const char *given, char **out) {
    const char *base = getenv("XDG_CACHE_HOME"), *below = "/htwave";
    *out = NULL;
    if (strcmp(given, "none") == 0) return HT_OK;
    if (strcmp(given, "auto") != 0) return ht_text_copy(given, out);
    if (base == NULL || base[0] != '/') {
        base = getenv("HOME");
        below = "/.cache/htwave";
    }
    if (base == NULL || *base == '\0') return HT_OK;
    return ht_text_print(out, "%s%s", base, below);
}

/* ---- plan ---- */

static enum ht_err gather_planes(struct ht_simulation *sim) {
    int64_t first, last, own;
    ht_grid_own(&sim->plan->grid, HT_DUAL, &first, &last);
    own = last - first;
    if (sim->planes == NULL) TRY(HT_ALLOC(sim->planes, sim->ranks));
    return ht_comm_gather(sim->comm, &own, sizeof own, sim->planes);
}

static enum ht_err make_plan(struct ht_simulation *sim) {
    TRY(ht_ranks_check_params(sim->comm, sim->params));
    TRY(open_device(sim));
    TRY(find_assignments(sim));
    TRY(ht_memory_check_cells(sim));
    TRY(ht_memory_check_receivers(sim));
    TRY(ht_plan_create(sim->params, sim->comm, &sim->plan));
    TRY(gather_planes(sim));
    TRY(ht_cache_directory(sim->params->device.cache, &sim->cache));
    TRY(choose_kernels(sim));
    return ht_memory_check_budget(sim);
}

enum ht_err ht_simulation_tune(struct ht_simulation *sim) {
    double began = ht_clock();
    bool wanted = sim->rank == 0 && sim->device != NULL;
    wanted = wanted && ht_tuning_wanted(sim);
    TRY(ht_comm_broadcast(sim->comm, &wanted, sizeof wanted));
    if (!wanted) return HT_OK;
    if (sim->rank == 0) ht_tuning_search(sim);
    TRY(settle_kernels(sim));
    sim->tune_s = ht_clock() - began;
    return ht_memory_check_budget(sim);
}

enum ht_err ht_simulation_plan(const struct ht_params *params, struct ht_comm *comm,
                               struct ht_simulation **out) {
    struct ht_simulation *sim = NULL;
    *out = NULL;
    TRY(HT_ALLOC(sim, 1));
    sim->params = params;
    sim->comm = comm;
    sim->rank = ht_comm_rank(comm);
    sim->ranks = ht_comm_size(comm);
    sim->selfcheck_ratio = NAN;
    enum ht_err err = make_plan(sim);
    return HT_MADE(err, sim, ht_simulation_destroy, out);
}

void ht_simulation_destroy(struct ht_simulation *sim) {
    if (sim == NULL) return;
    ht_stepper_destroy(&sim->run.stepper);
    ht_kernels_destroy(&sim->kernels);
    ht_device_close(sim->device);
    ht_plan_destroy(sim->plan);
    free(sim->assignment);
    free(sim->planes);
    free(sim->no_device);
    free(sim->cache);
    free(sim);
}

/* ---- on the device ---- */

static enum ht_err compile(struct ht_simulation *sim) {
    double began = ht_clock();
    TRY(need_device(sim));
    if (sim->oracle) return HT_OK;
    TRY(ht_kernels_create(&sim->plan->problem, sim->device, &sim->tuning, sim->cache,
                          &sim->kernels));
    sim->compile_s = ht_clock() - began;
    if (!sim->params->device.selfcheck) return HT_OK;
    began = ht_clock();
    TRY(ht_selfcheck(&sim->plan->problem, sim->device, &sim->kernels, &sim->selfcheck_ratio));
    (void)ht_kernels_seconds(&sim->kernels); /* of the self-check, not of the
                                              * run */
    sim->selfcheck_s = ht_clock() - began;
    return HT_OK;
}

enum ht_err ht_simulation_compile(struct ht_simulation *sim) {
    return ht_comm_agree(sim->comm, compile(sim));
}

void ht_simulation_measure(struct ht_simulation *sim) {
    double began = ht_clock();
    if (sim->device == NULL || sim->limits.fma_per_s > 0) return;
    if (!ht_simulation_leads(sim)) return;
    if (ht_limits_measure(sim->device, sim->tuning.fp64, sim->cache, &sim->limits) != HT_OK) {
        sim->limits = (struct ht_limits){0};
        ht_note("the device's limits are not known: %s", ht_err_message());
    }
    sim->measure_s = ht_clock() - began;
}

enum ht_err ht_simulation_stepper(struct ht_simulation *sim, const struct ht_problem *problem,
                                  struct ht_stepper *out) {
    if (sim->oracle) return ht_oracle_create(problem, out);
    return ht_stepper_create(problem, sim->device, &sim->kernels, out);
}

enum ht_err ht_simulation_start(struct ht_simulation *sim) {
    double began = ht_clock();
    sim->run = (struct ht_run){.plan = sim->plan, .kernels = sim->oracle ? NULL : &sim->kernels};
    TRY(ht_plan_choose_scale(sim->plan));
    TRY(ht_simulation_stepper(sim, &sim->plan->problem, &sim->run.stepper));
    TRY(ht_start(sim->plan, sim->device, &sim->tuning, sim->cache, &sim->run.stepper));
    sim->joules_before = sim->device != NULL ? ht_device_joules(sim->device) : -1;
    sim->start_s = ht_clock() - began;
    return HT_OK;
}

/* ---- numbers ---- */

double ht_simulation_cells(const struct ht_simulation *sim) {
    return (double)ht_grid_total(&sim->plan->grid, HT_DUAL);
}

double ht_simulation_unknowns(const struct ht_simulation *sim) {
    const struct ht_grid *grid = &sim->plan->grid;
    return (double)ht_grid_total(grid, HT_PRIMARY) * ht_grid_coefs(grid) *
           ht_problem_stored(&sim->plan->problem, HT_PRIMARY);
}

double ht_simulation_joules(const struct ht_simulation *sim) {
    if (sim->device == NULL || sim->joules_before < 0) return NAN;
    double now = ht_device_joules(sim->device);
    return now >= sim->joules_before ? now - sim->joules_before : NAN;
}

double ht_simulation_limit(const struct ht_simulation *sim) {
    const struct ht_limits *limits = &sim->limits;
    double seconds = 0; /* of a cell, the mean of both half steps */
    if (sim->oracle || !(limits->bytes_per_s > 0 && limits->fma_per_s > 0)) return NAN;
    for (int from = 0; from < 2; from++) {
        struct ht_cost least = ht_cost_minimum(&sim->kernels.spec[from], sim->plan->problem.stages);
        seconds += 0.5 * fmax(least.bytes / limits->bytes_per_s, least.fma / limits->fma_per_s);
    }
    return 1 / seconds;
}

const char *ht_simulation_precision(const struct ht_simulation *sim) {
    return sim->tuning.fp64 ? "double" : "single";
}

const char *ht_simulation_layout(const struct ht_simulation *sim) {
    if (sim->tuning.variant != NULL && sim->tuning.variant->sorted) return "sorted";
    return sim->tuning.block > 1 ? "blocked" : "tensor";
}
