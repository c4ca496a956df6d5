/* Memory of a run and of its device, which several ranks may share: their needs together must fit.
 */
#include "memory.h"
#include "htwave/sampler.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

double ht_memory_host(void) {
    const double unknown = 1024.0 * 1024 * 1024 * 1024;
#ifdef _SC_PHYS_PAGES
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    if (pages > 0 && size > 0) return (double)pages * (double)size;
#endif
    return unknown;
}

/* Per trace, on rank 0: position, weights, nodes, a block of samples. */
enum { TRACE_BYTES = 1024 };

enum ht_err ht_memory_check_receivers(const struct ht_simulation *sim) {
    const struct ht_groups *groups = &sim->params->receivers;
    const struct ht_receivers_given *group = groups->group;
    double traces = 0;
    char need[32], have[32];
    for (int n = 0; n < groups->count; n++) {
        const int fields = group[n].fields.count;
        traces += (double)group[n].count * group[n].count2 * (fields > 0 ? fields : 1);
    }
    if (traces * TRACE_BYTES <= ht_memory_host()) return HT_OK;
    return ht_params_error(sim->params, "receivers",
                           "%.3g traces need %s of memory, the host has %s: "
                           "take fewer",
                           traces, ht_text_bytes(traces * TRACE_BYTES, need),
                           ht_text_bytes(ht_memory_host(), have));
}

/* Ranks whose needs are added up: those of one device. */
static bool shares_memory(const struct ht_simulation *sim, int rank) {
    return sim->assignment[rank].first == sim->assignment[sim->rank].first;
}

static int sharers(const struct ht_simulation *sim) {
    int count = 0;
    for (int r = 0; r < sim->ranks; r++) count += shares_memory(sim, r);
    return count;
}

static enum ht_err refuse_memory(const struct ht_simulation *sim, double bytes, double memory,
                                 const char *advice) {
    char need[32], have[32], whose[48] = "";
    ht_text_bytes(bytes, need);
    ht_text_bytes(memory, have);
    if (sharers(sim) > 1)
        snprintf(whose, sizeof whose, " for the %d ranks that use it", sharers(sim));
    return ht_params_error(sim->params, "grid.cells", "needs %s of memory%s, %s has %s%s", need,
                           whose, sim->info.name, have, advice);
}

static int bits_of(unsigned mask) {
    int count = 0;
    for (; mask != 0; mask &= mask - 1) count++;
    return count;
}

/* Values per cell of both grids. */
static double values_of(const struct ht_params *params, const struct ht_scheme *scheme,
                        const struct ht_equations *eq) {
    const int given = params->grid.order;
    const int order = given > 0 ? given : scheme->usual_order;
    struct ht_form form = {0};
    if (scheme->form(eq, &form) != NULL) return INFINITY;
    double values = bits_of(form.stored[0]) + bits_of(form.stored[1]);
    if (values == 0) values = 2 * eq->nfields;
    for (int k = 0; k < eq->dims && scheme->method == HT_HERMITE; k++) values *= order + 1;
    return values;
}

/* The least of the schemes that may be chosen. */
static double least_values(const struct ht_params *params, const struct ht_equations *eq) {
    double least = INFINITY;
    for (int s = 0; s < ht_scheme_count(); s++)
        if (params->time.scheme == HT_SCHEME_AUTO || s == (int)params->time.scheme)
            least = fmin(least, values_of(params, ht_scheme_at(s), eq));
    return isfinite(least) ? least : 0; /* refused later */
}

/* Both grids have at least as many nodes as there are cells, divided among the ranks. In floating
 * point: the product may exceed 64 bits. */
enum ht_err ht_memory_check_cells(const struct ht_simulation *sim) {
    const struct ht_params *params = sim->params;
    const struct ht_system *system = ht_system_find(params->system);
    if (system == NULL || sim->info.memory <= 0) return HT_OK;
    struct ht_equations eq = ht_equations_make(system, params->grid.dims);
    bool fp64 = sim->oracle || params->device.precision == HT_DOUBLE;
    const double memory = (double)sim->info.memory;
    double bytes = least_values(params, &eq) * ht_real_size(fp64) * sharers(sim) / sim->ranks;
    for (int k = 0; k < params->grid.dims; k++) bytes *= (double)params->grid.cells[k];
    if (bytes > memory)
        return refuse_memory(sim, bytes, memory, ": take fewer cells or a lower grid.order");
    return HT_OK;
}

/* The variant that needs the least memory between its kernels. */
static const struct ht_variant *leanest(const struct ht_simulation *sim) {
    const struct ht_spec spec = ht_problem_spec(&sim->plan->problem, &sim->tuning, HT_PRIMARY);
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
               ht_sampler_bytes(sim->plan, tuning.fp64) + of_shots;
    return b;
}

/* Replaces bytes by the sum over the ranks whose needs are added up. */
static enum ht_err sum_of_sharers(const struct ht_simulation *sim, int count, int64_t *bytes) {
    int64_t *all = NULL;
    if (sim->ranks == 1) return HT_OK;
    TRY(HT_ALLOC(all, count * sim->ranks));
    enum ht_err err = ht_comm_gather(sim->comm, bytes, (size_t)count * sizeof *bytes, all);
    for (int i = 0; err == HT_OK && i < count; i++) {
        bytes[i] = 0;
        for (int r = 0; r < sim->ranks; r++)
            if (shares_memory(sim, r)) bytes[i] += all[r * count + i];
    }
    free(all);
    return err;
}

/* What a list of groups needs, `list` its key, in words `what`. */
static enum ht_err refuse_list(const struct ht_simulation *sim, const char *list, const char *what,
                               int64_t bytes, int64_t all, double memory) {
    char need[32], total[32], have[32];
    return ht_params_error(sim->params, list,
                           "%s need %s on the device; with them the run needs %s, %s has %s: "
                           "take fewer",
                           what, ht_text_bytes((double)bytes, need),
                           ht_text_bytes((double)all, total), sim->info.name,
                           ht_text_bytes(memory, have));
}

/* Refuses the receivers, or the sources, without which the run fits. */
static enum ht_err check_lists(const struct ht_simulation *sim, int64_t bytes, int64_t of_shots,
                               double memory) {
    const int64_t of_receivers = ht_sampler_bytes(sim->plan, sim->tuning.fp64 || sim->oracle);
    char traces[40];
    if ((double)bytes <= memory) return HT_OK;
    if ((double)(bytes - of_receivers * sharers(sim)) <= memory) {
        snprintf(traces, sizeof traces, "%lld traces", (long long)sim->plan->receivers->traces);
        return refuse_list(sim, "receivers", traces, of_receivers, bytes, memory);
    }
    if ((double)(bytes - of_shots * sharers(sim)) <= memory)
        return refuse_list(sim, "sources", "they", of_shots, bytes, memory);
    return HT_OK;
}

static enum ht_err check_host(const struct ht_simulation *sim, const struct ht_shot_bytes *shots) {
    char need[32], have[32];
    if ((double)shots->host <= ht_memory_host()) return HT_OK;
    return ht_params_error(sim->params, "sources",
                           "need %s of memory, the host has %s: take fewer, "
                           "smaller or shorter ones",
                           ht_text_bytes((double)shots->host, need),
                           ht_text_bytes(ht_memory_host(), have));
}

static enum ht_err check_budget(const struct ht_simulation *sim, int64_t of_shots) {
    const struct ht_budget *b = &sim->budget;
    char need[32], have[32], advice[160];
    const struct ht_variant *lean = leanest(sim);
    int64_t bytes[2] = {b->total, budget_of(sim, lean, of_shots).total};
    const double memory = (double)sim->info.memory;
    TRY(sum_of_sharers(sim, 2, bytes));
    snprintf(advice, sizeof advice, ": take fewer cells or a lower grid.order%s",
             sim->tuning.fp64 && !sim->oracle
                 ? ", or device.precision = \"single\", which needs half"
                 : "");
    if ((double)bytes[0] > memory && (double)bytes[1] <= memory)
        snprintf(advice, sizeof advice, ": device.variant = \"%s\" needs only %s", lean->name,
                 ht_text_bytes((double)bytes[1], need));
    TRY(check_lists(sim, bytes[0], of_shots, memory));
    if ((double)bytes[0] > memory) return refuse_memory(sim, (double)bytes[0], memory, advice);
    if (b->largest_buffer > sim->info.max_buffer)
        return ht_params_error(sim->params, "grid.cells",
                               "needs a buffer of %s, %s allows %s at once: take fewer cells or "
                               "a lower grid.order",
                               ht_text_bytes((double)b->largest_buffer, need), sim->info.name,
                               ht_text_bytes((double)sim->info.max_buffer, have));
    return HT_OK;
}

/* Rank 0 keeps the traces of all steps where dispersion is removed. */
static enum ht_err check_history(const struct ht_simulation *sim) {
    const struct ht_plan *plan = sim->plan;
    char need[32], have[32];
    if (sim->rank > 0 || plan->receivers == NULL || !ht_resampling_of(plan).whole) return HT_OK;
    const double steps = (double)(plan->steps + ht_resampling_beyond(plan));
    const double bytes = 8 * steps * (double)plan->receivers->traces;
    if (bytes <= ht_memory_host()) return HT_OK;
    return ht_params_error(sim->params, "receivers",
                           "%lld traces of %.0f steps need %s of memory where "
                           "time.dispersion is removed, the host has %s: take "
                           "fewer, or \"keep\" it",
                           (long long)plan->receivers->traces, steps, ht_text_bytes(bytes, need),
                           ht_text_bytes(ht_memory_host(), have));
}

enum ht_err ht_memory_check_budget(struct ht_simulation *sim) {
    const struct ht_variant *variant = sim->tuning.variant;
    struct ht_shot_bytes shots;
    TRY(ht_plan_shot_bytes(sim->plan, sim->tuning.fp64 || sim->oracle, &shots));
    TRY(ht_comm_agree(sim->comm, check_host(sim, &shots)));
    TRY(ht_comm_agree(sim->comm, check_history(sim)));
    sim->budget = budget_of(sim, variant != NULL ? variant : leanest(sim), shots.device);
    if (sim->device == NULL && !sim->oracle) return HT_OK;
    return check_budget(sim, shots.device);
}
