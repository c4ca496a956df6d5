#include "htwave/simulation.h"

#include <math.h>
#include <string.h>

static const double search_s = 5;

struct ht_tune_choice ht_tuning_choice(const struct ht_simulation *sim) {
    const struct ht_params *params = sim->params;
    struct ht_tune_choice choice = {0};
    if (strcmp(params->device.variant, "auto") != 0) choice.variant = sim->tuning.variant;
    if (params->device.layout != HT_LAYOUT_AUTO) choice.block = sim->tuning.block;
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
    struct ht_tuning tuning = tuned->tuning;
    tuning.fp64 = sim->tuning.fp64;
    if (params->device.cells_per_group > 0) tuning.cells = params->device.cells_per_group;
    if (params->device.planes_per_group > 0) tuning.planes = params->device.planes_per_group;
    sim->tuning = tuning;
    sim->tuned = true;
}

void ht_tuning_recall(struct ht_simulation *sim) {
    const struct ht_tune_choice choice = ht_tuning_choice(sim);
    char name[HT_TUNE_CLASS];
    struct ht_tuned tuned;
    struct ht_kernels plan;
    if (is_closed(sim)) return;
    ht_tune_class(&sim->plan->problem, sim->tuning.fp64, &choice, name);
    if (!ht_tuning_load(sim->cache, &sim->info, name, &tuned)) return;
    tuned.tuning.fp64 = sim->tuning.fp64;
    tuned.tuning.ptx = sim->info.ptx;
    tuned.tuning.ptx_own = sim->info.ptx_own;
    /* The stored line may have been edited: it must be valid for this problem.
     */
    if (ht_kernels_plan(&sim->plan->problem, &sim->info, &tuned.tuning, &plan) == HT_OK)
        adopt(sim, &tuned);
}

enum ht_err ht_tuning_share(struct ht_simulation *sim) {
    struct {
        char variant[48];
        int block, trim, cells, rows, planes, tuned;
    } of;
    struct ht_tuning *t = &sim->tuning;
    const struct ht_spec spec = ht_problem_spec(&sim->plan->problem, t, HT_PRIMARY);
    if (sim->ranks == 1) return HT_OK;
    memset(&of, 0, sizeof of);
    snprintf(of.variant, sizeof of.variant, "%s", t->variant->name);
    of.block = t->block;
    of.trim = t->trim;
    of.cells = t->cells;
    of.rows = t->rows;
    of.planes = t->planes;
    of.tuned = sim->tuned;
    TRY(ht_comm_broadcast(sim->comm, &of, sizeof of));
    t->variant = ht_variant_find(of.variant, &spec, sim->info.gpu);
    t->block = of.block;
    t->trim = of.trim != 0;
    t->cells = of.cells;
    t->rows = of.rows;
    t->planes = of.planes;
    sim->tuned = of.tuned != 0;
    return HT_OK;
}

/* Assumes a tenth of the device's limit. */
static double expected_seconds(const struct ht_simulation *sim) {
    const double fraction = 0.1;
    const struct ht_limits *limits = &sim->limits;
    const struct ht_spec spec = ht_problem_spec(&sim->plan->problem, &sim->tuning, HT_PRIMARY);
    struct ht_cost least = ht_cost_minimum(&spec, sim->plan->problem.stages);
    if (!(limits->bytes_per_s > 0 && limits->fma_per_s > 0)) return 0;
    return 2.0 * (double)sim->plan->steps * ht_simulation_cells(sim) *
           fmax(least.bytes / limits->bytes_per_s, least.fma / limits->fma_per_s) / fraction;
}

bool ht_tuning_wanted(struct ht_simulation *sim) {
    const double worthwhile = 3; /* times the search */
    if (is_closed(sim)) return false;
    if (sim->params->device.tune == HT_TUNE_ALWAYS) return true;
    if (sim->tuned || !sim->info.gpu || sim->cache == NULL) return false;
    ht_simulation_measure(sim);
    return expected_seconds(sim) > worthwhile * search_s;
}

void ht_tuning_search(struct ht_simulation *sim) {
    const struct ht_tune_choice choice = ht_tuning_choice(sim);
    const struct ht_tune_effort effort = {.seconds = search_s, .cache = sim->cache};
    const struct ht_problem *problem = &sim->plan->problem;
    char name[HT_TUNE_CLASS];
    struct ht_tuned tuned;
    ht_log("timing kernels for up to %.0f s: the first run of this kind on "
           "this device (device.tune = \"never\" turns this off)",
           search_s);
    if (ht_tune(problem, sim->device, sim->tuning.fp64, &choice, &effort, &tuned) != HT_OK) {
        ht_note("the built-in rules choose the kernels: %s", ht_err_message());
        return;
    }
    ht_tune_class(problem, tuned.tuning.fp64, &choice, name);
    if (sim->cache != NULL && ht_tuning_store(sim->cache, &sim->info, name, &tuned) != HT_OK)
        ht_note("the result of the timing is not stored: %s", ht_err_message());
    adopt(sim, &tuned);
}
