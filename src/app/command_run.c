/* htwave run: steps in batches short enough for progress and signals. At least
 * twenty times in all, and every few seconds, the state is judged where it is:
 * finite, and its energy not grown. Nodal values are read at the steps nearest
 * to the times of snapshots and pictures only.
 *
 * Several ranks take the same batches and looks: after each batch they tell
 * each other what rank 0 proposes and whether one of them is to stop.
 */
#include <math.h>
#include <stdlib.h>

#include "commands.h"
#include "htwave/energy.h"
#include "htwave/output.h"
#include "htwave/report.h"
#include "htwave/stop.h"

struct run {
    struct ht_simulation *sim;
    struct ht_output *output;
    double *nodal[HT_MAX_FIELDS];
    double *coefs; /* NULL unless output.coefficients */
    struct ht_progress progress;
    int64_t batch;    /* steps at a time */
    bool stop;        /* wanted by a signal to one of the ranks */
    double judged_at; /* by the clock */
    struct ht_energy_watch watch;
    struct ht_result result;
};

/* ---- when to look ---- */

/* The first step after `step` that is nearest to a multiple of `every`. */
static int64_t next_multiple(const struct ht_simulation *sim, double every,
                             int64_t step) {
    double dt = sim->plan->problem.dt, last = (double)sim->plan->steps;
    if (!(every > 0) || !(dt > 0)) return sim->plan->steps;
    double apart = every / dt;
    double multiple = ceil(((double)step + 0.5) / apart);
    int64_t next = llround(fmin(multiple * apart, last));
    return next > step ? next : step + 1;
}

static bool is_multiple(const struct ht_simulation *sim, double every,
                        int64_t step) {
    if (!(every > 0)) return false;
    return step == 0 || next_multiple(sim, every, step - 1) == step;
}

/* Time between pictures; 0: none but the last, which may be none, too. */
static double pictures_apart(const struct ht_simulation *sim) {
    const struct ht_params *params = sim->params;
    return ht_output_draws(params) ? params->output.picture.every : 0;
}

static int64_t least(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/* The next step at which to look. */
static int64_t next_look(const struct ht_simulation *sim) {
    const struct ht_params *params = sim->params;
    int64_t step = sim->steps, apart = sim->plan->steps / 20 + 1;
    int64_t next = least((step / apart + 1) * apart, sim->plan->steps);
    next = least(next, next_multiple(sim, params->output.every, step));
    return least(next, next_multiple(sim, pictures_apart(sim), step));
}

/* ---- looking ---- */

static enum ht_err read_coefficients(const struct run *r) {
    const struct ht_simulation *sim = r->sim;
    const struct ht_grid *grid = &sim->plan->grid;
    int count = ht_grid_coefs(grid);
    int64_t values = count * ht_grid_own_total(grid, HT_PRIMARY), first, last;
    ht_grid_own(grid, HT_PRIMARY, &first, &last);
    for (int f = 0; f < sim->plan->eq.nfields; f++)
        if (r->nodal[f] != NULL)
            TRY(sim->stepper.ops->get(sim->stepper.self, HT_PRIMARY, f, count,
                                      first, last, r->coefs + f * values));
    return HT_OK;
}

static enum ht_err write_outputs(struct run *r, bool last) {
    const struct ht_simulation *sim = r->sim;
    const double *const *nodal = (const double *const *)r->nodal;
    int64_t step = sim->steps;
    double time = ht_simulation_time(sim, step);
    if (last || is_multiple(sim, sim->params->output.every, step)) {
        if (r->coefs != NULL) TRY(read_coefficients(r));
        TRY(ht_output_snapshot(r->output, time, step, nodal, r->coefs));
    }
    if (last || is_multiple(sim, pictures_apart(sim), step))
        TRY(ht_output_picture(r->output, time, nodal));
    return HT_OK;
}

/* By a scheme of two levels only a part of the energy is known at the primary
 * grid's times: it is watched, but not reported. */
static enum ht_err judge_energy(struct run *r, const struct ht_state *state,
                                double time) {
    const struct ht_plan *plan = r->sim->plan;
    const struct ht_scheme *scheme = ht_problem_scheme(&plan->problem);
    struct ht_result *result = &r->result;
    bool warned = r->watch.grows;
    if (!plan->eq.system->energy.conserved) return HT_OK;
    if (!scheme->two_level) {
        if (r->sim->steps == 0) result->energy_initial = state->energy;
        result->energy_final = state->energy;
    }
    TRY(ht_energy_watch(plan, time, state, &r->watch));
    if (scheme->dissipates) result->energy_rise = r->watch.rise;
    result->energy_grows = r->watch.grows;
    if (r->watch.grows && !warned)
        ht_warn("the energy has risen by %.2g %% by time %g, though this "
                "scheme can only lose it: the run grows; likely cause: %s",
                100 * r->watch.rise, time, ht_growth_cause(plan));
    return HT_OK;
}

/* Finite, and not growing. */
static enum ht_err judge(struct run *r) {
    const struct ht_simulation *sim = r->sim;
    const struct ht_plan *plan = sim->plan;
    double time = ht_simulation_time(sim, sim->steps);
    struct ht_state state;
    TRY(ht_state_measure(plan, &sim->stepper, time, &state));
    r->judged_at = ht_clock();
    if (ht_log_level_get() >= HT_LOG_VERBOSE)
        ht_log("step %lld: energy %.6g, largest %s %.3g", (long long)sim->steps,
               state.energy, plan->eq.field[0].name, state.largest[0]);
    return judge_energy(r, &state, time);
}

/* At the start and at the end. */
static enum ht_err find_conserved(struct run *r) {
    double *now = &r->result.conserved_final;
    if (!ht_conserves_energy(r->sim->plan)) return HT_OK;
    TRY(ht_conserved_energy(r->sim->plan, &r->sim->stepper, now));
    if (!r->sim->oracle) (void)ht_kernels_seconds(&r->sim->kernels);
    if (r->sim->steps == 0) r->result.conserved_initial = *now;
    return HT_OK;
}

static enum ht_err find_error(struct run *r) {
    const struct ht_simulation *sim = r->sim;
    const struct ht_plan *plan = sim->plan;
    bool returned = plan->solution->returns && sim->steps == plan->steps;
    if (!plan->solution->exact && !returned) return HT_OK;
    return ht_nodal_error(plan, (const double *const *)r->nodal,
                          ht_simulation_time(sim, sim->steps),
                          &r->result.error);
}

/* Whether anything but the judgement needs the nodal values. */
static bool values_wanted(const struct run *r, bool last) {
    const struct ht_params *params = r->sim->params;
    return last || is_multiple(r->sim, params->output.every, r->sim->steps) ||
           is_multiple(r->sim, pictures_apart(r->sim), r->sim->steps);
}

static enum ht_err look(struct run *r) {
    double began = ht_clock();
    bool last = r->sim->steps == r->sim->plan->steps || r->stop;
    TRY(judge(r));
    if (last || r->sim->steps == 0) TRY(find_conserved(r));
    if (values_wanted(r, last)) {
        TRY(ht_nodal_read(r->sim->plan, &r->sim->stepper, r->nodal));
        if (last) TRY(find_error(r));
        TRY(write_outputs(r, last));
    }
    r->result.output_s += ht_clock() - began;
    r->result.interrupted = last && r->sim->steps < r->sim->plan->steps;
    return HT_OK;
}

/* ---- stepping ---- */

/* Agrees on what is to happen next; *due, the judgement, is rank 0's to say,
 * like the batch. */
static enum ht_err confer(struct run *r, bool *due) {
    bool leads = r->sim->rank == 0;
    double said[] = {ht_stop_wanted(), leads ? (double)r->batch : 0,
                     leads && *due};
    TRY(ht_comm_max(r->sim->comm, 3, said));
    r->stop = said[0] > 0;
    r->batch = (int64_t)said[1];
    *due = said[2] > 0;
    return HT_OK;
}

/* Steps that take about as long as wanted, from what `steps` took. */
static void adjust_batch(struct run *r, int64_t steps, double seconds) {
    const double wanted_s = 0.2, growth = 2;
    double ratio = wanted_s / fmax(seconds, 1e-6);
    double next = (double)steps * fmin(ratio, growth);
    /* A batch cut short by the target says little about longer ones. */
    if (steps == r->batch || ratio < 1) r->batch = next < 1 ? 1 : (int64_t)next;
}

static enum ht_err advance_to(struct run *r, int64_t target) {
    const double unjudged_s = 5;
    while (r->sim->steps < target && !r->stop) {
        int64_t steps = least(r->batch, target - r->sim->steps);
        double began = ht_clock();
        TRY(ht_simulation_advance(r->sim, steps));
        adjust_batch(r, steps, ht_clock() - began);
        ht_progress_update(&r->progress, (double)r->sim->steps);
        bool due = ht_clock() - r->judged_at > unjudged_s;
        TRY(confer(r, &due));
        if (due) TRY(judge(r));
    }
    return HT_OK;
}

static enum ht_err step_all(struct run *r) {
    struct ht_simulation *sim = r->sim;
    bool due = true;
    TRY(confer(r, &due));
    TRY(look(r));
    while (sim->steps < sim->plan->steps && !r->result.interrupted) {
        TRY(advance_to(r, next_look(sim)));
        TRY(look(r));
    }
    return HT_OK;
}

static enum ht_err loop(struct run *r) {
    double per_step = 2 * ht_simulation_cells(r->sim);
    ht_progress_start(&r->progress, "run", (double)r->sim->plan->steps,
                      "cell half-steps", per_step);
    enum ht_err err = step_all(r);
    ht_progress_end(&r->progress);
    return err;
}

/* ---- before and after ---- */

static void say_banner(const struct ht_simulation *sim) {
    struct ht_text text = {0};
    ht_report_banner(sim, &text);
    if (text.length > 0) text.data[text.length - 1] = '\0';
    if (ht_text_status(&text) == HT_OK) ht_log("%s", text.data);
    ht_text_free(&text);
    ht_report_notes(sim);
}

static enum ht_err prepare(struct run *r) {
    struct ht_simulation *sim = r->sim;
    const struct ht_grid *grid = &sim->plan->grid;
    TRY(ht_simulation_tune(sim));
    if (sim->no_device == NULL) say_banner(sim);
    TRY(ht_simulation_compile(sim));
    if (ht_log_level_get() >= HT_LOG_VERBOSE && isfinite(sim->selfcheck_ratio))
        ht_log("self-check: worst difference is %.3g of its bound, in %.2f s",
               sim->selfcheck_ratio, sim->selfcheck_s);
    ht_simulation_measure(sim);
    TRY(ht_simulation_start(sim));
    TRY(ht_simulation_nodal(sim, r->nodal));
    if (sim->params->output.coefficients && sim->params->output.snapshots)
        TRY(HT_ALLOC(r->coefs, ht_grid_own_total(grid, HT_PRIMARY) *
                                   ht_grid_coefs(grid) *
                                   sim->plan->eq.nfields));
    return HT_OK;
}

static enum ht_err finish(struct run *r, double began,
                          const struct ht_args *args) {
    struct ht_json json = {0};
    struct ht_text text = {0};
    r->result.directory = r->sim->params->output.directory;
    r->result.picture = ht_output_last_picture(r->output);
    r->result.xdmf = ht_output_xdmf(r->output);
    r->result.wall_s = ht_clock() - began;
    TRY(ht_parallel_gather(r->sim, &r->result.parallel));
    ht_report_summary_json(r->sim, &r->result, &json);
    ht_report_summary(r->sim, &r->result, &text);
    if (text.length > 0) text.data[text.length - 1] = '\0';
    enum ht_err err = ht_text_status(&json.text);
    if (err == HT_OK) err = ht_text_status(&text);
    if (err == HT_OK) err = ht_output_summary(r->output, json.text.data);
    if (err == HT_OK) ht_log("%s", text.data);
    if (err == HT_OK && args->json) err = ht_args_print(&json.text);
    ht_text_free(&json.text);
    ht_text_free(&text);
    return err;
}

/* What would be refused once the kernels are ready. */
static enum ht_err check_output(const struct ht_simulation *sim) {
    TRY(ht_output_check(sim->params, sim->plan->medium,
                        sim->plan->problem.stored[HT_PRIMARY]));
    return sim->rank == 0 ? ht_output_idle(sim->params) : HT_OK;
}

static enum ht_err simulate(struct run *r, const struct ht_params *params,
                            const struct ht_args *args) {
    double began = ht_clock();
    TRY(ht_simulation_plan(params, args->comm, &r->sim));
    TRY(ht_comm_agree(args->comm, check_output(r->sim)));
    TRY(prepare(r));
    ht_stop_watch();
    enum ht_err err =
        ht_output_create(params, r->sim->plan->medium,
                         r->sim->plan->problem.stored[HT_PRIMARY], &r->output);
    if (err == HT_OK) err = loop(r);
    if (err == HT_OK) err = finish(r, began, args);
    ht_stop_unwatch();
    TRY(err);
    REQUIRE(!r->result.interrupted, HT_ERR_INTERRUPTED,
            "interrupted at step %lld of %lld", (long long)r->sim->steps,
            (long long)r->sim->plan->steps);
    return HT_OK;
}

enum ht_err ht_command_run(const struct ht_args *args) {
    struct ht_params *params = NULL;
    struct run r = {.batch = 1,
                    .result = {.energy_initial = NAN,
                               .energy_final = NAN,
                               .energy_rise = NAN,
                               .conserved_initial = NAN,
                               .conserved_final = NAN,
                               .error = NAN}};
    TRY(ht_params_read(args->operand[0], args->count - 1, args->operand + 1,
                       &params));
    enum ht_err err = ht_comm_agree(args->comm, simulate(&r, params, args));
    ht_output_destroy(r.output);
    for (int f = 0; f < HT_MAX_FIELDS; f++) free(r.nodal[f]);
    free(r.coefs);
    ht_simulation_destroy(r.sim);
    ht_params_destroy(params);
    return err;
}
