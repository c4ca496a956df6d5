/* htwave run: prepares the simulation, takes its steps with the observers below and reports. */
#include "app.h"
#include "htwave/maps.h"

/* ht_log writes the last newline. */
static enum ht_err log_text(const struct ht_text *text) {
    TRY(ht_text_status(text));
    ht_log("%.*s", (int)text->length - 1, text->data);
    return HT_OK;
}

/* Energies judge each state before the observers below them use it. */
enum ht_err ht_run_observed(struct ht_simulation *sim, struct ht_output *output,
                            struct ht_result *result) {
    const struct ht_plan *plan = sim->plan;
    struct ht_progress progress;
    struct ht_checkpoints checkpoints = {.output = output};
    result->energy.series = output;
    struct ht_recording recording = {.output = output};
    struct ht_maps maps;
    TRY(ht_comm_agree(plan->grid.slab.comm, ht_output_mark(output, plan->shots, plan->receivers)));
    const struct ht_observer observers[] = {
        ht_observe_progress(&progress),
        ht_observe_energy(&result->energy),
        ht_observe_checkpoints(plan->params, &checkpoints),
        ht_observe_conserved(&result->conserved),
        ht_observe_error(plan, &result->error),
        ht_observe_snapshots(plan->params, output),
        ht_observe_pictures(plan->params, output),
        ht_observe_maps(&maps),
        ht_observe_receivers(&recording),
    };
    const int count = sizeof observers / sizeof observers[0];
    checkpoints.of = (struct ht_run_parts){.count = count, .observer = observers};
    sim->run.from = plan->params->resume.from;
    return ht_run_execute(&sim->run, count, observers);
}

static enum ht_err finish(struct ht_simulation *sim, struct ht_output *output, double began,
                          struct ht_result *result, const struct ht_args *args) {
    HT_ENDED(ht_facts_free) struct ht_facts facts = ht_facts_open();
    struct ht_json *json = &facts.json;
    result->wall_s = ht_clock() - began;
    TRY(ht_parallel_gather(sim, &result->parallel));
    ht_report_plan(sim, &facts);
    ht_text_free(&facts.text); /* said before the run */
    ht_report_result(sim, result, output, &facts);
    ht_json_add(json, HT_CLOSE('}'));
    TRY(ht_text_status(&json->text));
    TRY(ht_output_summary(output, json->text.data));
    if (args == NULL) return HT_OK;
    TRY(log_text(&facts.text));
    return args->json ? ht_args_print(&json->text) : HT_OK;
}

enum ht_err ht_run_started(struct ht_simulation *sim, double began, const struct ht_args *args) {
    const struct ht_plan *plan = sim->plan;
    const struct ht_params *params = plan->params;
    struct ht_result result = {.wall_s = 0};
    HT_ENDED(ht_output_end) struct ht_output *output = NULL;
    TRY(ht_output_create(params, plan->medium, plan->problem.stored[HT_PRIMARY], &output));
    if (plan->problem.fd.pair != HT_PAIR_NONE) {
        struct ht_pair pair;
        ht_problem_pair(&plan->problem, &pair);
        ht_output_stagger(output, &pair, plan->problem.dt);
    }
    TRY(ht_run_observed(sim, output, &result));
    TRY(finish(sim, output, began, &result, args));
    const bool goes_on = args != NULL && ht_checkpoints_wanted(params); /* no shot does */
    REQUIRE(!sim->run.interrupted, HT_ERR_INTERRUPTED, "interrupted at step %lld of %lld%s%s%s",
            (long long)sim->run.steps, (long long)plan->steps, goes_on ? "; `htwave continue " : "",
            goes_on ? params->output.directory : "", goes_on ? "` goes on from there" : "");
    return HT_OK;
}

/* Outputs that the plan cannot have. */
enum ht_err ht_run_check_wanted(const struct ht_simulation *sim) {
    TRY(ht_output_check(sim->params, sim->plan->medium, sim->plan->problem.stored[HT_PRIMARY]));
    TRY(ht_output_check_traces(sim->params, sim->plan->receivers));
    struct ht_field_map map;
    for (int n = 0; n < sim->params->output.maps.count; n++)
        TRY(ht_map_find(sim->plan, sim->tuning.variant, sim->tuning.fp64, n, &map));
    return HT_OK;
}

/* What would be refused once the kernels are ready. */
enum ht_err ht_run_check_output(const struct ht_simulation *sim) {
    TRY(ht_run_check_wanted(sim));
    if (sim->rank > 0) return HT_OK;
    TRY(ht_output_idle(sim->params));
    return ht_disk_check(sim);
}

enum ht_err ht_run_ready(struct ht_simulation *sim) {
    TRY(ht_simulation_tune(sim));
    if (sim->no_device == NULL) {
        HT_ENDED(ht_facts_free) struct ht_facts facts = {.text = {0}};
        ht_report_plan(sim, &facts);
        TRY(log_text(&facts.text));
        ht_report_notes(sim);
    }
    TRY(ht_simulation_compile(sim));
    if (ht_log_level_get() >= HT_LOG_VERBOSE && isfinite(sim->selfcheck_ratio))
        ht_log("self-check: worst difference is %.3g of its bound, in %.2f s", sim->selfcheck_ratio,
               sim->selfcheck_s);
    ht_simulation_measure(sim);
    return HT_OK;
}

static enum ht_err simulate(struct ht_simulation **sim, const struct ht_params *params,
                            const struct ht_args *args) {
    const double began = ht_clock();
    TRY(ht_simulation_plan(params, args->comm, sim));
    TRY(ht_comm_agree(args->comm, ht_run_check_output(*sim)));
    TRY(ht_run_ready(*sim));
    TRY(ht_simulation_start(*sim));
    return HT_STOPPABLE(ht_run_started(*sim, began, args));
}

enum ht_err ht_run_input(const struct ht_params *params, const struct ht_args *args) {
    HT_ENDED(ht_simulation_end) struct ht_simulation *sim = NULL;
    if (params->survey.count > 0) return ht_run_shots(params, args, false);
    return ht_comm_agree(args->comm, simulate(&sim, params, args));
}

enum ht_err ht_command_run(const struct ht_args *args) {
    HT_ENDED(ht_params_end) struct ht_params *params = NULL;
    TRY(ht_params_read(args->operand[0], args->count - 1, args->operand + 1, &params));
    return ht_run_input(params, args);
}
