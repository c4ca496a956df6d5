/* What depends on sizes is refused before anything of that size is touched: a lower bound of the
 * memory before the plan scans the grid's nodes, the exact budget before compiling. */
#include "htwave/maps.h"
#include "htwave/sampler.h"
#include "htwave/survey.h"

#include <unistd.h>

static double host_memory(void) {
#ifdef _SC_PHYS_PAGES
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    if (pages > 0 && size > 0) return (double)pages * (double)size;
#endif
    return 1024.0 * 1024 * 1024 * 1024; /* unknown */
}

/* A missing device becomes a failure only when one is needed. */
static HT_ERR open_device(struct ht_simulation *sim) {
    const struct ht_params *params = sim->params;
    const char *backend = params->device.backend;
    if (strcmp(backend, "oracle") == 0) {
        REFUSE(sim->ranks > 1, sim->params, "device.backend",
               "the serial reference runs in one process, not on %d ranks: run it "
               "without mpiexec or choose a device",
               sim->ranks);
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
        return HT_OK;
    }
    enum ht_err err =
        ht_ranks_open(ht_comm_whole(sim->comm), backend, params->device.select, &sim->device);
    if (err == HT_ERR_DEVICE) return ht_text_copy(ht_err_message(), &sim->no_device);
    TRY(err);
    ht_device_limit(sim->device, params->device.limits.local_memory, params->device.limits.group,
                    params->device.limits.fp64);
    sim->info = *ht_device_info(sim->device);
    return HT_OK;
}

/* A device that was asked for by name is an error of the input. */
static HT_ERR need_device(const struct ht_simulation *sim) {
    if (sim->oracle || sim->device != NULL) return HT_OK;
    REFUSE(strcmp(sim->params->device.select, "none") == 0, sim->params, "device.select",
           "is for `htwave check`: what computes needs a device, or device.backend = \"oracle\"");
    REFUSE(ht_params_is_set(sim->params, "device.select"), sim->params, "device.select", "%s",
           sim->no_device);
    FAIL(HT_ERR_DEVICE, "%s", sim->no_device);
}

bool ht_simulation_leads(const struct ht_simulation *sim) {
    return sim->ranks == 1 || sim->assignment[sim->rank].first == sim->rank;
}

static struct ht_spec spec_of(const struct ht_simulation *sim) {
    return ht_problem_spec(&sim->plan->problem, &sim->tuning, HT_PRIMARY);
}

static bool is_named(const struct ht_simulation *sim) {
    return strcmp(sim->params->device.variant, "auto") != 0;
}

/* ---- stored and new tuning ---- */

static const double search_s = 5;

struct ht_tune_choice ht_tuning_choice(const struct ht_simulation *sim) {
    struct ht_tune_choice choice = {0};
    if (is_named(sim)) choice.variant = sim->tuning.variant;
    if (sim->params->device.layout != HT_LAYOUT_AUTO) choice.block = sim->tuning.block;
    return choice;
}

/* Nothing to choose, or not wanted. */
static bool is_closed(const struct ht_simulation *sim) {
    const struct ht_tune_choice choice = ht_tuning_choice(sim);
    return sim->params->device.tune == HT_TUNE_NEVER ||
           (choice.variant != NULL && choice.block != 0);
}

/* Shape values that the input gives are not changed. */
static void adopt(struct ht_simulation *sim, const struct ht_tuned *tuned) {
    const struct ht_params *params = sim->params;
    struct ht_tuning *tuning = &sim->tuning;
    *tuning = tuned->tuning;
    if (params->device.cells_per_group > 0) tuning->cells = params->device.cells_per_group;
    if (params->device.planes_per_group > 0) tuning->planes = params->device.planes_per_group;
    sim->tuned = true;
}

static void recall_tuning(struct ht_simulation *sim) {
    const struct ht_tune_choice choice = ht_tuning_choice(sim);
    char name[HT_TUNE_CLASS];
    struct ht_tuned tuned;
    struct ht_kernels plan;
    if (is_closed(sim)) return;
    ht_tune_class(&sim->plan->problem, sim->tuning.fp64, &choice, name);
    if (!ht_tuning_load(sim->device, name, &tuned)) return;
    tuned.tuning.fp64 = sim->tuning.fp64;
    tuned.tuning.ptx = sim->info.ptx;
    tuned.tuning.ptx_own = sim->info.ptx_own;
    /* It must be valid for this grid and for limits that the input gives. */
    if (ht_kernels_plan(&sim->plan->problem, &sim->info, &tuned.tuning, &plan) == HT_OK)
        adopt(sim, &tuned);
}

static HT_ERR share_tuning(struct ht_simulation *sim) {
    struct {
        char variant[48];
        struct ht_tuning tuning;
        bool tuned;
    } of;
    struct ht_tuning *t = &sim->tuning;
    const struct ht_spec spec = spec_of(sim);
    if (sim->ranks == 1) return HT_OK;
    memset(&of, 0, sizeof of);
    snprintf(of.variant, sizeof of.variant, "%s", t->variant->name);
    of.tuning = *t;
    of.tuned = sim->tuned;
    TRY(ht_comm_broadcast(sim->comm, &of, sizeof of));
    of.tuning.variant = ht_variant_find(of.variant, &spec, sim->info.gpu);
    of.tuning.ptx = t->ptx;
    of.tuning.ptx_own = t->ptx_own;
    *t = of.tuning;
    sim->tuned = of.tuned;
    return HT_OK;
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

/* Where the run takes several times as long as the search, at a tenth of the device's limit. */
static bool wants_tuning(struct ht_simulation *sim) {
    const double worthwhile = 3, fraction = 0.1;
    if (is_closed(sim)) return false;
    if (sim->params->device.tune == HT_TUNE_ALWAYS) return true;
    if (sim->tuned || !sim->info.gpu || sim->cache == NULL) return false;
    ht_simulation_measure(sim);
    return 2.0 * (double)sim->plan->steps * ht_simulation_cells(sim) >
           worthwhile * search_s * fraction * ht_simulation_limit(sim);
}

static void search_tuning(struct ht_simulation *sim) {
    const struct ht_tune_choice choice = ht_tuning_choice(sim);
    const struct ht_tune_effort effort = {.seconds = search_s};
    const struct ht_problem *problem = &sim->plan->problem;
    char name[HT_TUNE_CLASS];
    struct ht_tuned tuned;
    ht_log("timing kernels for up to %.0f s: the first run of this kind on this device "
           "(device.tune = \"never\" turns this off)",
           search_s);
    if (ht_tune(problem, sim->device, sim->tuning.fp64, &choice, &effort, &tuned) != HT_OK) {
        ht_note("the built-in rules choose the kernels: %s", ht_err_message());
        return;
    }
    ht_tune_class(problem, tuned.tuning.fp64, &choice, name);
    if (sim->cache != NULL && !ht_tuning_store(sim->device, name, &tuned))
        ht_note("the result of the timing is not stored: %s", ht_err_message());
    adopt(sim, &tuned);
}

/* ---- kernels ---- */

/* As much of a step as single precision allows, cut to two decimals. */
static HT_ERR refuse_noise(const struct ht_simulation *sim, const struct ht_spec *spec) {
    const bool named = is_named(sim);
    HT_FREED_TEXT struct ht_text names = {0};
    const double cfl = ht_plan_quiet_cfl(sim->plan);
    ht_variant_list(spec, &names);
    TRY(ht_text_status(&names));
    return ht_params_error(
        sim->params,
        named                          ? "device.variant"
        : sim->params->time.step > 0.0 ? "time.step"
                                       : "time.cfl",
        "in single precision the rounding of %s grows at order %d in %d dimensions with cfl "
        "%.2f: take a cfl of at most %.2f or device.precision = \"double\"%s%s",
        named ? "its series" : "series", spec->order, spec->eq->dims, sim->plan->cfl,
        floor(100 * cfl) / 100, names.length > 0 ? ", or variant " : "",
        names.length > 0 ? names.data : "");
}

static HT_ERR unknown_variant(const struct ht_simulation *sim) {
    const char *instead = ht_params_gone("device.variant", sim->params->device.variant);
    REFUSE(instead != NULL, sim->params, "device.variant", "no longer there; use %s", instead);
    HT_FREED_TEXT struct ht_text names = {0};
    for (int i = 0; i < ht_variant_count(); i++)
        ht_text_add(&names, ", %s", ht_variant_at(i)->name);
    TRY(ht_text_status(&names));
    return ht_params_error(sim->params, "device.variant", "no such variant: must be one of auto%s",
                           names.data);
}

static HT_ERR check_variant(const struct ht_simulation *sim) {
    const struct ht_spec spec = spec_of(sim);
    const char *reason = ht_variant_refuses(sim->tuning.variant, &spec);
    struct ht_spec quiet = spec;
    quiet.noise = 0;
    if (reason != NULL && ht_variant_refuses(sim->tuning.variant, &quiet) == NULL)
        return refuse_noise(sim, &spec);
    if (reason == NULL) reason = ht_variant_lacks(sim->tuning.variant, &sim->info);
    if (reason == NULL) return HT_OK;
    HT_FREED_TEXT struct ht_text names = {0};
    ht_variant_list(&spec, &names);
    TRY(ht_text_status(&names));
    return ht_params_error(sim->params, "device.variant", "does not apply: %s; use %s", reason,
                           names.data);
}

static HT_ERR choose_variant(struct ht_simulation *sim) {
    const struct ht_spec spec = spec_of(sim);
    sim->tuning.variant = ht_variant_choose(sim->params->device.variant, &spec, &sim->info);
    if (sim->tuning.variant == NULL)
        return is_named(sim) ? unknown_variant(sim) : refuse_noise(sim, &spec);
    return check_variant(sim);
}

/* All ranks use the tuning of rank 0, or results and layouts would differ. */
static HT_ERR settle_kernels(struct ht_simulation *sim) {
    TRY(share_tuning(sim));
    if (sim->rank > 0) TRY(check_variant(sim));
    const int given = sim->params->device.cells_per_group;
    TRY(ht_params_blame(
        sim->params, "device.cells_per_group",
        ht_kernels_plan(&sim->plan->problem, &sim->info, &sim->tuning, &sim->kernels)));
    REFUSE(given > 0 && sim->kernels.shape[0].cells == 0, sim->params, "device.cells_per_group",
           "has no meaning for variant \"%s\", which has no such groups: leave it out",
           sim->tuning.variant->name);
    return HT_OK;
}

HT_ERR ht_cache_directory(const char *given, char **out) {
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

/* ---- memory, which several ranks may share: their needs together must fit ---- */

/* What a list of groups needs of the host's memory. */
static HT_ERR check_host(const struct ht_simulation *sim, const char *list, double bytes,
                         const char *what, const char *where, const char *advice) {
    if (bytes <= host_memory()) return HT_OK;
    return ht_params_error(sim->params, list,
                           "%sneed %s of memory%s, the host has %s: take fewer%s", what,
                           HT_BYTES(bytes), where, HT_BYTES(host_memory()), advice);
}

/* Ranks whose needs are added up: those of one device. */
static bool shares_memory(const struct ht_simulation *sim, int rank) {
    const struct ht_assignment *of = sim->everyone;
    return of[rank].first == of[ht_comm_rank(ht_comm_whole(sim->comm))].first;
}

static int sharers(const struct ht_simulation *sim) {
    int count = 0;
    for (int r = 0; r < ht_comm_size(ht_comm_whole(sim->comm)); r++) count += shares_memory(sim, r);
    return count;
}

static HT_ERR refuse_memory(struct ht_simulation *sim, double bytes, double memory,
                            const char *advice) {
    char whose[48] = "";
    sim->too_large = sim->survey != NULL && sim->survey->narrows;
    if (sim->too_large) return HT_OK;
    if (sharers(sim) > 1)
        snprintf(whose, sizeof whose, " for the %d ranks that use it", sharers(sim));
    return ht_params_error(sim->params, "grid.cells", "needs %s of memory%s, %s has %s%s",
                           HT_BYTES(bytes), whose, sim->info.name, HT_BYTES(memory), advice);
}

/* Values per cell of both grids. */
static double values_of(const struct ht_params *params, const struct ht_scheme *scheme,
                        const struct ht_equations *eq) {
    const int order = params->grid.order > 0 ? params->grid.order : scheme->usual_order;
    struct ht_form form = {0};
    if (scheme->form(eq, &form) != NULL) return INFINITY;
    double values = 0;
    for (int grid = 0; grid < 2; grid++)
        HT_EACH_BIT(f, form.stored[grid]) values++;
    if (values == 0) values = 2 * eq->nfields;
    for (int k = 0; k < eq->dims; k++) values *= ht_scheme_degree(scheme, order) + 1;
    return values;
}

/* Both grids have at least as many nodes as there are cells, divided among the ranks. In floating
 * point: the product may exceed 64 bits. */
static HT_ERR check_cells(struct ht_simulation *sim) {
    const struct ht_params *params = sim->params;
    const struct ht_system *system = ht_system_find(params->system);
    if (system == NULL || sim->info.memory <= 0) return HT_OK;
    struct ht_equations eq = ht_equations_make(system, params->grid.dims);
    const double memory = (double)sim->info.memory;
    /* The least of the schemes that may be chosen. */
    double least = INFINITY;
    for (int s = 0; s < ht_scheme_count(); s++)
        if (params->time.scheme == HT_SCHEME_AUTO || s == (int)params->time.scheme)
            least = fmin(least, values_of(params, ht_scheme_at(s), &eq));
    double bytes = (isfinite(least) ? least : 0) * ht_real_size(ht_in_double(params)) *
                   sharers(sim) / sim->ranks;
    for (int k = 0; k < params->grid.dims; k++) bytes *= (double)params->grid.cells[k];
    if (bytes > memory)
        return refuse_memory(sim, bytes, memory, ": take fewer cells or a lower grid.order");
    return HT_OK;
}

/* The variant that needs the least memory between its kernels. */
static const struct ht_variant *leanest(const struct ht_simulation *sim) {
    const struct ht_spec spec = spec_of(sim);
    const struct ht_variant *best = ht_variant_choose("auto", &spec, &sim->info);
    if (best == NULL) best = sim->tuning.variant; /* which was named */
    for (int i = 0; i < ht_variant_count(); i++)
        if (ht_variant_refuses(ht_variant_at(i), &spec) == NULL &&
            ht_variant_poly_bytes(ht_variant_at(i), &spec) < ht_variant_poly_bytes(best, &spec))
            best = ht_variant_at(i);
    return best;
}

static struct ht_budget budget_of(const struct ht_simulation *sim, const struct ht_variant *variant,
                                  int64_t of_shots) {
    struct ht_tuning tuning = sim->tuning;
    tuning.variant = variant;
    struct ht_budget b = ht_stepper_budget(&sim->plan->problem, &tuning, &sim->info);
    b.total += ht_start_bytes(sim->plan, &tuning, &sim->info) +
               ht_sampler_bytes(sim->plan, tuning.fp64) +
               ht_maps_bytes(sim->plan, variant, tuning.fp64, false) + of_shots;
    return b;
}

/* Refuses the receivers, or the sources, without which the run fits. */
static HT_ERR check_lists(const struct ht_simulation *sim, int64_t bytes, int64_t of_shots,
                          double memory) {
    const struct ht_receivers *receivers = sim->plan->receivers;
    const struct {
        const char *key, *what;
        int64_t bytes;
    } list[] = {{"receivers", HT_KEY("%lld traces", receivers ? (long long)receivers->traces : 0),
                 ht_sampler_bytes(sim->plan, sim->tuning.fp64)},
                {"output.maps", "they",
                 ht_maps_bytes(sim->plan, sim->tuning.variant, sim->tuning.fp64, false)},
                {"sources", "they", of_shots}};
    for (int i = 0; (double)bytes > memory && i < 3; i++)
        REFUSE((double)(bytes - list[i].bytes * sharers(sim)) <= memory, sim->params, list[i].key,
               "%s need %s on the device; with them the run needs %s, %s has %s: take fewer",
               list[i].what, HT_BYTES(list[i].bytes), HT_BYTES(bytes), sim->info.name,
               HT_BYTES(memory));
    return HT_OK;
}

/* Rank 0 keeps the traces of all steps where dispersion is removed. */
static HT_ERR check_history(const struct ht_simulation *sim) {
    const struct ht_plan *plan = sim->plan;
    if (plan->receivers == NULL || !ht_resampling_of(plan).whole) return HT_OK;
    const double steps = (double)(ht_resampling_last(plan));
    const double traces = (double)plan->receivers->traces;
    return check_host(sim, "receivers", 8 * steps * traces,
                      HT_KEY("%.0f traces of %.0f steps ", traces, steps),
                      " where time.dispersion is removed", ", or \"keep\" it");
}

static HT_ERR check_shot_memory(struct ht_simulation *sim) {
    const struct ht_variant *variant = sim->tuning.variant;
    struct ht_shot_bytes shots;
    TRY(ht_plan_shot_bytes(sim->plan, sim->tuning.fp64, &shots));
    TRY(ht_comm_agree(sim->comm, check_host(sim, "sources", (double)shots.host, "", "",
                                            ", smaller or shorter ones")));
    TRY(HT_BY_FIRST(sim->comm, check_history(sim)));
    sim->budget = budget_of(sim, variant != NULL ? variant : leanest(sim), shots.device);
    if (sim->device == NULL && !sim->oracle) return HT_OK;
    const struct ht_budget *b = &sim->budget;
    char advice[160];
    const struct ht_variant *lean = leanest(sim);
    int64_t bytes[2] = {b->total, budget_of(sim, lean, shots.device).total};
    const double memory = (double)sim->info.memory;
    /* Replaces bytes by the sum over the ranks whose needs are added up. */
    struct ht_comm *whole = ht_comm_whole(sim->comm);
    HT_ARRAY(int64_t, all, 2 * ht_comm_size(whole));
    TRY(ht_comm_gather(whole, bytes, (size_t)2 * sizeof *bytes, all));
    for (int i = 0; i < 2; i++) {
        bytes[i] = 0;
        for (int r = 0; r < ht_comm_size(whole); r++)
            if (shares_memory(sim, r)) bytes[i] += all[r * 2 + i];
    }
    snprintf(advice, sizeof advice, ": take fewer cells or a lower grid.order%s",
             sim->tuning.fp64 && !sim->oracle
                 ? ", or device.precision = \"single\", which needs half"
                 : "");
    if ((double)bytes[0] > memory && (double)bytes[1] <= memory)
        snprintf(advice, sizeof advice, ": device.variant = \"%s\" needs only %s", lean->name,
                 HT_BYTES(bytes[1]));
    TRY(check_lists(sim, bytes[0], shots.device, memory));
    if ((double)bytes[0] > memory) return refuse_memory(sim, (double)bytes[0], memory, advice);
    REFUSE(b->largest_buffer > sim->info.max_buffer, sim->params, "grid.cells",
           "needs a buffer of %s, %s allows %s at once: take fewer cells or a lower grid.order",
           HT_BYTES(b->largest_buffer), sim->info.name, HT_BYTES(sim->info.max_buffer));
    return HT_OK;
}

/* Of a survey the largest shot's memory, and the disk of all. */
static HT_ERR check_memory(struct ht_simulation *sim) {
    const int shots = sim->survey != NULL ? sim->survey->count : 0;
    struct ht_budget most = {.total = 0};
    double part[HT_DISK_PARTS];
    if (shots == 0) {
        ht_disk_need(sim->plan, sim->disk);
        return check_shot_memory(sim);
    }
    memset(sim->disk, 0, sizeof sim->disk);
    for (int i = 0; i < shots; i++) {
        TRY(ht_survey_aim_plan(sim->survey, i));
        TRY(ht_survey_blame(sim->survey, i, check_shot_memory(sim)));
        if (sim->budget.total > most.total) most = sim->budget;
        ht_disk_need(sim->plan, part);
        for (int k = 0; k < HT_DISK_PARTS; k++) sim->disk[k] += part[k];
    }
    sim->budget = most;
    return ht_survey_aim_plan(sim->survey, -1);
}

/* All that depends on the medium. */
static HT_ERR plan_problem(struct ht_simulation *sim) {
    TRY(ht_plan_create(sim->params, sim->comm, &sim->plan));
    const struct ht_range slab = ht_grid_own(&sim->plan->grid, HT_DUAL);
    const int64_t own = slab.last - slab.first;
    TRY(ht_comm_gather(sim->comm, &own, sizeof own, sim->planes));
    /* The tuning is complete without a device as well, for the budget. */
    const struct ht_params *params = sim->params;
    struct ht_tuning *tuning = &sim->tuning;
    const bool fp64 = sim->oracle || params->device.precision == HT_DOUBLE;
    *tuning =
        (struct ht_tuning){.fp64 = fp64,
                           .ptx = sim->info.ptx,
                           .ptx_own = sim->info.ptx_own,
                           .block = ht_layout_block(params->device.layout, sim->info.gpu, fp64),
                           .cells = params->device.cells_per_group,
                           .planes = params->device.planes_per_group};
    TRY(choose_variant(sim));
    /* Branches prevent a CPU from vectorising work-items; vector kernels use vectors anyway. */
    tuning->trim =
        sim->info.gpu || (tuning->variant != NULL && tuning->variant->made_for == HT_FOR_CPU);
    if (!sim->oracle && sim->device == NULL) return HT_OK;
    if (!sim->oracle) {
        if (sim->rank == 0) recall_tuning(sim);
        return settle_kernels(sim);
    }
    tuning->block = 1;
    tuning->variant = NULL;
    return HT_OK;
}

static HT_ERR make_plan(struct ht_simulation *sim) {
    TRY(ht_ranks_check_params(sim->comm, sim->params));
    TRY(open_device(sim));
    /* Either all ranks have a device or none. */
    TRY(ht_ranks_assignments(sim->comm, sim->device != NULL ? &sim->info : NULL, &sim->assignment));
    struct ht_comm *whole = ht_comm_whole(sim->comm);
    TRY(ht_ranks_assignments(whole, sim->device != NULL ? &sim->info : NULL, &sim->everyone));
    const char *select = sim->params->device.select;
    const bool none = strcmp(select, "none") == 0; /* to check without one */
    const bool asked =
        !none && (strcmp(select, "auto") != 0 || strcmp(sim->params->device.backend, "auto") != 0);
    TRY(ht_comm_agree(sim->comm, asked || ht_ranks_devices(ht_comm_size(whole), sim->everyone) > 0
                                     ? need_device(sim)
                                     : HT_OK));
    TRY(check_cells(sim));
    if (sim->too_large) return HT_OK;
    const struct ht_groups *groups = &sim->params->receivers;
    const struct ht_receivers_given *group = groups->group;
    const double trace = 1024; /* bytes: position, weights, nodes, a block of samples */
    double traces = 0;
    for (int n = 0; n < groups->count; n++) {
        const int fields = group[n].fields.count;
        traces += (double)group[n].count * group[n].count2 * (fields > 0 ? fields : 1);
    }
    TRY(check_host(sim, "receivers", traces * trace, HT_KEY("%.3g traces ", traces), "", ""));
    TRY(HT_ALLOC(sim->planes, sim->ranks));
    TRY(ht_cache_directory(sim->params->device.cache, &sim->cache));
    if (sim->device != NULL && sim->cache != NULL && ht_simulation_leads(sim) &&
        ht_params_is_set(sim->params, "device.cache") &&
        ht_params_blame(sim->params, "device.cache", ht_file_check_directory(sim->cache)) != HT_OK)
        ht_warn("%s: compiled kernels are not kept", ht_err_message());
    if (sim->device != NULL) ht_device_cache(sim->device, sim->cache);
    TRY(plan_problem(sim));
    return check_memory(sim);
}

static void forget_plan(struct ht_simulation *sim) {
    if (sim->survey != NULL) {
        sim->params = sim->survey->params;
        sim->survey->at = -1;
    }
    ht_stepper_destroy(&sim->run.stepper);
    ht_kernels_destroy(&sim->kernels);
    ht_plan_destroy(sim->plan);
    sim->plan = NULL;
}

HT_ERR ht_simulation_replan(struct ht_simulation *sim) {
    forget_plan(sim);
    TRY(plan_problem(sim));
    TRY(need_device(sim));
    if (sim->oracle) return HT_OK;
    return ht_kernels_create(&sim->plan->problem, sim->device, &sim->tuning, &sim->kernels);
}

HT_ERR ht_simulation_tune(struct ht_simulation *sim) {
    double began = ht_clock();
    bool wanted = sim->rank == 0 && sim->device != NULL && wants_tuning(sim);
    TRY(ht_comm_broadcast(sim->comm, &wanted, sizeof wanted));
    if (!wanted) return HT_OK;
    if (sim->rank == 0) search_tuning(sim);
    TRY(settle_kernels(sim));
    sim->tune_s = ht_clock() - began;
    return check_memory(sim);
}

HT_ERR ht_simulation_plan(const struct ht_params *params, struct ht_comm *comm,
                          struct ht_survey *survey, struct ht_simulation **out) {
    const struct ht_simulation begun = {.params = params,
                                        .survey = survey,
                                        .comm = comm,
                                        .rank = ht_comm_rank(comm),
                                        .ranks = ht_comm_size(comm),
                                        .selfcheck_ratio = NAN};
    ht_comm_be_patient(comm, params->parallel.patience);
    HT_CREATE(out, (**out = begun, make_plan(*out)), ht_simulation_destroy);
}

void ht_simulation_destroy(struct ht_simulation *sim) {
    if (sim == NULL) return;
    forget_plan(sim);
    ht_device_close(sim->device);
    free(sim->assignment);
    free(sim->everyone);
    free(sim->planes);
    free(sim->no_device);
    free(sim->cache);
    free(sim);
}

static HT_ERR compile(struct ht_simulation *sim) {
    double began = ht_clock();
    TRY(need_device(sim));
    if (sim->oracle) return HT_OK;
    TRY(ht_kernels_create(&sim->plan->problem, sim->device, &sim->tuning, &sim->kernels));
    TRY(ht_maps_compile(sim->plan, &sim->tuning, &sim->kernels));
    sim->compile_s = ht_clock() - began;
    if (!sim->params->device.selfcheck) return HT_OK;
    began = ht_clock();
    TRY(ht_selfcheck(&sim->plan->problem, sim->device, &sim->kernels, &sim->selfcheck_ratio));
    (void)ht_kernels_seconds(&sim->kernels); /* of the self-check */
    sim->selfcheck_s = ht_clock() - began;
    return HT_OK;
}

/* Of the ranks that share a device one compiles, and the others find its programs in a cache. */
HT_ERR ht_simulation_compile(struct ht_simulation *sim) {
    const bool first = sim->device == NULL || ht_simulation_leads(sim);
    TRY(ht_comm_agree(sim->comm, first ? compile(sim) : HT_OK));
    return ht_comm_agree(sim->comm, first ? HT_OK : compile(sim));
}

void ht_simulation_measure(struct ht_simulation *sim) {
    double began = ht_clock();
    if (sim->device == NULL || sim->limits.fma_per_s > 0 || !ht_simulation_leads(sim)) return;
    if (ht_limits_measure(sim->device, sim->tuning.fp64, false, &sim->limits) != HT_OK) {
        sim->limits = (struct ht_limits){0};
        ht_note("the device's limits are not known: %s", ht_err_message());
    }
    sim->measure_s = ht_clock() - began;
}

HT_ERR ht_simulation_stepper(struct ht_simulation *sim, const struct ht_problem *problem,
                             struct ht_stepper *out) {
    if (sim->oracle) return ht_oracle_create(problem, out);
    return ht_stepper_create(problem, sim->device, &sim->kernels, out);
}

HT_ERR ht_simulation_start(struct ht_simulation *sim) {
    double began = ht_clock();
    const struct ht_stepper old = sim->run.stepper;
    const struct ht_problem *problem = &sim->plan->problem;
    sim->run = (struct ht_run){
        .plan = sim->plan, .stepper = old, .kernels = sim->oracle ? NULL : &sim->kernels};
    TRY(ht_plan_choose_scale(sim->plan));
    if (old.ops == NULL)
        TRY(ht_simulation_stepper(sim, problem, &sim->run.stepper));
    else
        TRY(ht_comm_agree(sim->comm, old.ops->aim(old.self, problem)));
    TRY(ht_start(sim->plan, sim->device, &sim->tuning, &sim->run.stepper));
    sim->joules_before = sim->device != NULL ? ht_device_joules(sim->device) : -1;
    sim->start_s = ht_clock() - began;
    return HT_OK;
}
