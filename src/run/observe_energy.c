/* The energies of a run, and the judgement of its state by them. */
#include <math.h>

#include "htwave/observers.h"

/* ---- watch ---- */

static enum ht_err energy_begin(void *context, const struct ht_run *run) {
    struct ht_energies *e = context;
    (void)run;
    *e = (struct ht_energies){
        .initial = NAN, .final = NAN, .rise = NAN, .series = e->series};
    return HT_OK;
}

static int64_t energy_next(void *context, const struct ht_run *run,
                           int64_t from) {
    int64_t apart = run->plan->steps / 20 + 1;
    (void)context;
    return (from + apart - 1) / apart * apart;
}

/* By a scheme of two levels only a part of the energy is known at the primary
 * grid's times: that part is watched, but not reported. */
static enum ht_err judge_energy(const struct ht_view *view,
                                const struct ht_state *state,
                                struct ht_energies *e) {
    const struct ht_plan *plan = view->run->plan;
    const struct ht_scheme *scheme = ht_problem_scheme(&plan->problem);
    bool warned = e->watch.grows;
    if (!plan->eq.system->energy.conserved) return HT_OK;
    if (!scheme->two_level) {
        if (view->run->steps == 0) e->initial = state->energy;
        e->final = state->energy;
    }
    TRY(ht_energy_watch(plan, view->time, state, &e->watch));
    if (scheme->dissipates) e->rise = e->watch.rise;
    if (e->watch.grows && !warned)
        ht_warn("the energy has risen by %.2g %% by time %g, though this "
                "scheme can only lose it: the run grows; likely cause: %s",
                100 * e->watch.rise, view->time, ht_growth_cause(plan));
    return HT_OK;
}

static enum ht_err add_row(const struct ht_view *view,
                           const struct ht_state *state,
                           const struct ht_energies *e) {
    const struct ht_plan *plan = view->run->plan;
    const struct ht_scheme *scheme = ht_problem_scheme(&plan->problem);
    /* Finite differences measure the energy that they conserve. */
    const bool known =
        plan->eq.system->energy.conserved &&
        (!scheme->two_level || scheme->method == HT_FINITE_DIFFERENCES);
    struct ht_comm *comm = plan->grid.slab.comm;
    enum ht_err err = HT_OK;
    if (e->series == NULL) return HT_OK;
    if (ht_comm_rank(comm) == 0)
        err = ht_output_series(e->series, view->time,
                               known ? state->energy : NAN, state->largest);
    return ht_comm_agree(comm, err);
}

static enum ht_err energy_look(void *context, const struct ht_view *view) {
    const struct ht_run *run = view->run;
    struct ht_state state;
    TRY(ht_state_measure(run->plan, &run->stepper, view->time, &state));
    if (ht_log_level_get() >= HT_LOG_VERBOSE)
        ht_log("step %lld: energy %.6g, largest %s %.3g", (long long)run->steps,
               state.energy, run->plan->eq.field[0].name, state.largest[0]);
    TRY(add_row(view, &state, context));
    return judge_energy(view, &state, context);
}

struct ht_observer ht_observe_energy(struct ht_energies *energies) {
    return (struct ht_observer){.name = "energy",
                                .context = energies,
                                .judges = true,
                                .seconds = 5,
                                .begin = energy_begin,
                                .next = energy_next,
                                .look = energy_look};
}

/* ---- conserved energy ---- */

static enum ht_err conserved_begin(void *context, const struct ht_run *run) {
    double *energy = context;
    (void)run;
    energy[0] = energy[1] = NAN;
    return HT_OK;
}

/* Sources do work to the end: nothing is conserved. */
static bool driven_to_end(const struct ht_plan *plan) {
    return plan->shots != NULL &&
           !(ht_plan_undriven(plan) < plan->params->time.end);
}

/* The first step from which on sources do no work. */
static int64_t first_undriven(const struct ht_plan *plan) {
    if (driven_to_end(plan)) return plan->steps;
    return (int64_t)ceil(ht_plan_undriven(plan) / plan->problem.dt);
}

static int64_t conserved_next(void *context, const struct ht_run *run,
                              int64_t from) {
    const struct ht_plan *plan = run->plan;
    const int64_t first = first_undriven(plan);
    (void)context;
    return from <= first ? first : plan->steps;
}

static enum ht_err conserved_look(void *context, const struct ht_view *view) {
    const struct ht_run *run = view->run;
    double *energy = context;
    if (!ht_conserves_energy(run->plan)) return HT_OK;
    if (driven_to_end(run->plan)) return HT_OK;
    if (run->steps < first_undriven(run->plan)) return HT_OK;
    TRY(ht_conserved_energy(run->plan, &run->stepper, &energy[1]));
    if (isnan(energy[0])) energy[0] = energy[1];
    /* Its half steps are none of the run. */
    if (run->kernels != NULL) (void)ht_kernels_seconds(run->kernels);
    return HT_OK;
}

struct ht_observer ht_observe_conserved(double energy[2]) {
    return (struct ht_observer){.name = "conserved energy",
                                .context = energy,
                                .begin = conserved_begin,
                                .next = conserved_next,
                                .look = conserved_look};
}
