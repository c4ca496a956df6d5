/* The energies of a run, and the judgement of its state by them. */
#include "htwave/run.h"

static int64_t energy_next(HT_UNUSED void *context, const struct ht_run *run, int64_t from) {
    int64_t apart = run->plan->steps / 20 + 1;
    return (from + apart - 1) / apart * apart;
}

/* What takes a transfer of all coefficients only where it is asked for. */
static HT_ERR find_energy(const struct ht_view *view, const struct ht_state *state,
                          struct ht_energies *e) {
    const struct ht_run *run = view->run;
    const struct ht_invariant *invariant = run->plan->problem.scheme->invariant;
    const bool dear = invariant != NULL && invariant->physical != NULL;
    /* Where nothing adds or takes energy, that of p's rate is conserved, p's in proportion. */
    const bool keeps = run->plan->problem.layers == NULL && run->plan->shots == NULL;
    if (run->steps == 0) e->rate = state->energy;
    e->final = NAN;
    if (!dear || e->series != NULL || run->steps == 0 || view->last)
        TRY(ht_physical_energy(run->plan, &run->stepper, state, &e->final));
    if (run->steps == 0) {
        /* The field's own energy and that of data that are no part of the state. */
        double hidden;
        e->initial = e->final;
        if (state->of_rate && run->plan->eq.measured) {
            TRY(ht_data_hidden(run->plan, &hidden));
            e->initial = (state->held + hidden) / (run->plan->scale * run->plan->scale);
        }
    }
    if (state->of_rate && e->rate > 0 && keeps) e->final = e->initial * state->energy / e->rate;
    /* Its half steps are none of the run. */
    if (dear && run->kernels != NULL) (void)ht_kernels_seconds(run->kernels);
    return HT_OK;
}

static HT_ERR energy_look(void *context, const struct ht_view *view) {
    const struct ht_run *run = view->run;
    struct ht_energies *e = context;
    struct ht_state state;
    if (run->steps == e->looked) return HT_OK; /* before it ended, of a run that goes on */
    e->looked = run->steps;
    TRY(ht_state_measure(run->plan, &run->stepper, view->time, &state));
    if (ht_log_level_get() >= HT_LOG_VERBOSE)
        ht_log("step %lld: energy %.6g, largest %s %.3g", (long long)run->steps,
               state.energy / pow(run->plan->scale, 2), run->plan->eq.field[0].name,
               state.largest[0] / run->plan->scale);
    TRY(find_energy(view, &state, e));
    const struct ht_plan *plan = view->run->plan;
    if (e->series != NULL) {
        ht_plan_multiply(plan, true, HT_MAX_FIELDS, state.largest);
        TRY(HT_BY_FIRST(plan->grid.slab.comm,
                        ht_output_series(e->series, view->time, e->final, state.largest)));
    }
    /* Of the two grids of leapfrog a part of the energy is watched, which is known at once: the
     * whole is reported. */
    const struct ht_scheme *scheme = plan->problem.scheme;
    bool warned = e->watch.grows;
    TRY(ht_energy_watch(plan, view->time, &state, &e->watch));
    if (scheme->dissipates) e->rise = e->watch.rise;
    if (e->watch.grows && !warned)
        ht_warn("the energy has risen by %.2g %% by time %g, though this scheme can only lose it: "
                "the run grows; likely cause: %s",
                100 * e->watch.rise, view->time, ht_growth_cause(plan));
    return HT_OK;
}

static HT_ERR energy_archive(void *context, HT_UNUSED struct ht_run *run,
                             struct ht_archive *archive) {
    struct ht_energies *e = context;
    struct ht_energy_watch *w = &e->watch;
    double *const numbers[] = {
        &e->initial, &e->final,   &e->rate,  &e->rise, &w->first_energy, &w->first_content,
        &w->energy,  &w->content, &w->slope, &w->rise, &w->given,        &w->time,
        &w->brought, &w->largest, &w->began, &w->held, &w->driven};
    bool *const flags[] = {&w->grows, &w->rough, &w->began_rough, &w->looked, &w->partial};
    enum { NUMBERS = sizeof numbers / sizeof *numbers, FLAGS = sizeof flags / sizeof *flags };
    double all[NUMBERS + FLAGS];
    for (int i = 0; i < NUMBERS; i++) all[i] = *numbers[i];
    for (int i = 0; i < FLAGS; i++) all[NUMBERS + i] = *flags[i];
    ht_archive_numbers(archive, "energy", NUMBERS + FLAGS, all, false);
    for (int i = 0; i < NUMBERS; i++) *numbers[i] = all[i];
    for (int i = 0; i < FLAGS; i++) *flags[i] = all[NUMBERS + i] != 0;
    ht_archive_integer(archive, "energy_looked", &e->looked);
    return HT_OK;
}

struct ht_observer ht_observe_energy(struct ht_energies *energies) {
    *energies = (struct ht_energies){.initial = NAN,
                                     .final = NAN,
                                     .rise = NAN,
                                     .rate = NAN,
                                     .looked = -1,
                                     .series = energies->series};
    return (struct ht_observer){.name = "energy",
                                .context = energies,
                                .judges = true,
                                .seconds = 5,
                                .next = energy_next,
                                .look = energy_look,
                                .archive = energy_archive};
}

/* The first step from which on sources do no work; INT64_MAX: nothing is conserved. */
static int64_t first_undriven(const struct ht_plan *plan) {
    if (plan->shots != NULL && !(ht_plan_undriven(plan) < plan->params->time.end)) return INT64_MAX;
    return (int64_t)ceil(ht_plan_undriven(plan) / plan->problem.dt);
}

static int64_t conserved_next(HT_UNUSED void *context, const struct ht_run *run, int64_t from) {
    const struct ht_plan *plan = run->plan;
    const int64_t first = ht_least(first_undriven(plan), plan->steps);
    return from <= first ? first : plan->steps;
}

/* Of leapfrog the physical energy counts: the form that it conserves has derivatives of order N +
 * 1, of which smooth waves have little, so that these of rounding dominate. */
static void warn_changed(const struct ht_plan *plan, const struct ht_conserved *c) {
    const double most = fmax(0.01, 2 * plan->expected.high);
    const struct ht_scheme *scheme = plan->problem.scheme;
    const double *energy = scheme->invariant->physical != NULL ? c->physical : c->energy;
    const double change = energy[1] / energy[0] - 1;
    if (plan->problem.layers != NULL || !(fabs(change) > most)) return;
    if (plan->params->initial.type == HT_DATA_RANDOM) return;
    ht_warn("the energy, which %s conserves, has changed by %.2g %%: likely cause: %swaves that "
            "the grid does not resolve; take %smore cells",
            scheme->title, 100 * change,
            ht_in_double(plan->params) ? "" : "rounding, which nothing damps, or ",
            ht_in_double(plan->params) ? "" : "device.precision = \"double\" or ");
}

static HT_ERR conserved_look(void *context, const struct ht_view *view) {
    const struct ht_run *run = view->run;
    struct ht_conserved *c = context;
    const struct ht_state state = {.energy = NAN};
    if (!ht_conserves_energy(run->plan) || run->steps < first_undriven(run->plan)) return HT_OK;
    TRY(ht_conserved_energy(run->plan, &run->stepper, &c->energy[1]));
    TRY(ht_physical_energy(run->plan, &run->stepper, &state, &c->physical[1]));
    if (isnan(c->energy[0])) {
        c->energy[0] = c->energy[1];
        c->physical[0] = c->physical[1];
    }
    if (view->last) warn_changed(run->plan, c);
    /* Its half steps are none of the run. */
    if (run->kernels != NULL) (void)ht_kernels_seconds(run->kernels);
    return HT_OK;
}

static HT_ERR conserved_archive(void *context, HT_UNUSED struct ht_run *run,
                                struct ht_archive *archive) {
    struct ht_conserved *c = context;
    ht_archive_numbers(archive, "conserved", 2, c->energy, false);
    ht_archive_numbers(archive, "conserved_physical", 2, c->physical, false);
    return HT_OK;
}

struct ht_observer ht_observe_conserved(struct ht_conserved *conserved) {
    *conserved = (struct ht_conserved){{NAN, NAN}, {NAN, NAN}};
    return (struct ht_observer){.name = "conserved energy",
                                .context = conserved,
                                .next = conserved_next,
                                .look = conserved_look,
                                .archive = conserved_archive};
}
