/* htwave run: prepares the simulation, takes its steps with the observers below and reports. */
#include "app.h"

struct run {
    struct ht_simulation *sim;
    struct ht_output *output;
    struct ht_result result;
};

static void end_run(struct run *r) {
    ht_output_destroy(r->output);
    ht_simulation_destroy(r->sim);
}

/* ht_log writes the last newline. */
static enum ht_err log_text(const struct ht_text *text) {
    TRY(ht_text_status(text));
    ht_log("%.*s", (int)text->length - 1, text->data);
    return HT_OK;
}

/* Energies judge each state before the observers below them use it. */
static enum ht_err take_steps(struct run *r) {
    const struct ht_plan *plan = r->sim->plan;
    struct ht_progress progress;
    struct ht_checkpoints checkpoints = {.output = r->output};
    r->result.energy.series = r->output;
    struct ht_recording recording = {.output = r->output};
    TRY(ht_comm_agree(plan->grid.slab.comm,
                      ht_output_mark(r->output, plan->shots, plan->receivers)));
    const struct ht_observer observers[] = {
        ht_observe_progress(&progress),
        ht_observe_energy(&r->result.energy),
        ht_observe_checkpoints(plan->params, &checkpoints),
        ht_observe_conserved(&r->result.conserved),
        ht_observe_error(plan, &r->result.error),
        ht_observe_snapshots(plan->params, r->output),
        ht_observe_pictures(plan->params, r->output),
        ht_observe_receivers(&recording),
    };
    const int count = sizeof observers / sizeof observers[0];
    checkpoints.of = (struct ht_run_parts){.count = count, .observer = observers};
    r->sim->run.from = plan->params->resume.from;
    return ht_run_execute(&r->sim->run, count, observers);
}

static enum ht_err finish(struct run *r, double began, const struct ht_args *args) {
    HT_ENDED(ht_facts_free) struct ht_facts facts = ht_facts_open();
    struct ht_json *json = &facts.json;
    r->result.wall_s = ht_clock() - began;
    TRY(ht_parallel_gather(r->sim, &r->result.parallel));
    ht_report_plan(r->sim, &facts);
    ht_text_free(&facts.text); /* said before the run */
    ht_report_result(r->sim, &r->result, r->output, &facts);
    ht_json_add(json, HT_CLOSE('}'));
    TRY(ht_text_status(&json->text));
    TRY(ht_output_summary(r->output, json->text.data));
    TRY(log_text(&facts.text));
    return args->json ? ht_args_print(&json->text) : HT_OK;
}

/* What would be refused once the kernels are ready. */
static enum ht_err check_output(const struct ht_simulation *sim) {
    TRY(ht_output_check(sim->params, sim->plan->medium, sim->plan->problem.stored[HT_PRIMARY]));
    TRY(ht_output_check_traces(sim->params, sim->plan->receivers));
    if (sim->rank > 0) return HT_OK;
    TRY(ht_output_idle(sim->params));
    return ht_disk_check(sim->plan);
}

static enum ht_err simulate(struct run *r, const struct ht_params *params,
                            const struct ht_args *args) {
    double began = ht_clock();
    TRY(ht_simulation_plan(params, args->comm, &r->sim));
    TRY(ht_comm_agree(args->comm, check_output(r->sim)));
    TRY(ht_simulation_tune(r->sim));
    if (r->sim->no_device == NULL) {
        HT_ENDED(ht_facts_free) struct ht_facts facts = {.text = {0}};
        ht_report_plan(r->sim, &facts);
        TRY(log_text(&facts.text));
        ht_report_notes(r->sim);
    }
    TRY(ht_simulation_compile(r->sim));
    if (ht_log_level_get() >= HT_LOG_VERBOSE && isfinite(r->sim->selfcheck_ratio))
        ht_log("self-check: worst difference is %.3g of its bound, in %.2f s",
               r->sim->selfcheck_ratio, r->sim->selfcheck_s);
    ht_simulation_measure(r->sim);
    TRY(ht_simulation_start(r->sim));
    const struct ht_plan *plan = r->sim->plan;
    ht_stop_watch();
    enum ht_err err =
        ht_output_create(params, plan->medium, plan->problem.stored[HT_PRIMARY], &r->output);
    if (err == HT_OK && plan->problem.fd.pair != HT_PAIR_NONE) {
        struct ht_pair pair;
        ht_problem_pair(&plan->problem, &pair);
        ht_output_stagger(r->output, &pair, plan->problem.dt);
    }
    if (err == HT_OK) err = take_steps(r);
    if (err == HT_OK) err = finish(r, began, args);
    ht_stop_unwatch();
    TRY(err);
    const bool goes_on = ht_checkpoints_wanted(params);
    REQUIRE(!r->sim->run.interrupted, HT_ERR_INTERRUPTED, "interrupted at step %lld of %lld%s%s%s",
            (long long)r->sim->run.steps, (long long)plan->steps,
            goes_on ? "; `htwave continue " : "", goes_on ? params->output.directory : "",
            goes_on ? "` goes on from there" : "");
    return HT_OK;
}

enum ht_err ht_run_input(const struct ht_params *params, const struct ht_args *args) {
    HT_ENDED(end_run) struct run r = {.sim = NULL};
    return ht_comm_agree(args->comm, simulate(&r, params, args));
}

enum ht_err ht_command_run(const struct ht_args *args) {
    HT_ENDED(ht_params_end) struct ht_params *params = NULL;
    TRY(ht_params_read(args->operand[0], args->count - 1, args->operand + 1, &params));
    return ht_run_input(params, args);
}
