/* htwave check: everything about a run that is known without running it, and its expected time,
 * which check_time.c measures. */
#include "app.h"
#include "htwave/survey.h"

static void add_receivers(const struct ht_simulation *sim, const struct ht_estimate *estimate,
                          struct ht_facts *f) {
    /* of the time of a step */
    const double step_s = estimate->seconds / (double)sim->plan->steps;
    const double share = estimate->sample_s / (estimate->sample_s + step_s);
    if (estimate->sampler_bytes > 0) {
        ht_fact(f, HT_INT("receivers_host_bytes", estimate->sampler_bytes),
                HT_NUM("receivers_time_share", share));
    }
    if (!(estimate->rate > 0) || !isfinite(share)) return;
    ht_say(f, "  receivers %s of the host's memory, %s a step: %.2g %% of its time\n",
           HT_BYTES(estimate->sampler_bytes), HT_SECONDS(estimate->sample_s), 100 * share);
}

/* For bench/grids.py, and of a slab between two others for the model of bench/scaling.py. */
static void add_counts(const struct ht_problem *p, bool fp64, struct ht_facts *f) {
    const struct ht_tuning tuning = {.fp64 = fp64, .trim = true, .block = fp64 ? 2 : 4};
    const struct ht_sent sent = ht_sent_here(p, fp64);
    struct ht_cost least = {0};
    struct ht_passes passes;
    ht_schedule_passes(p, &passes);
    for (int from = 0; from < 2; from++) {
        const struct ht_spec spec = ht_problem_spec(p, &tuning, (enum ht_subgrid)from);
        const struct ht_cost cost = ht_cost_minimum(&spec, spec.stages);
        least.bytes += 0.5 * cost.bytes;
        least.fma += 0.5 * cost.fma;
    }
    ht_fact(f, HT_NUM("least_bytes", least.bytes), HT_NUM("least_fma", least.fma));
    if (p->grid->dims < 3) return;
    ht_fact(f, HT_OPEN("slab", '{'), HT_INT("depth", ht_halo_depth(p)),
            HT_INT("passes", passes.count),
            HT_INT("planes_per_pass", passes.pass[0].reach[0] + passes.pass[0].reach[1]),
            HT_INT("planes_least", ht_planes_needed(&passes, ht_halo_depth(p))),
            HT_TEXT("halo_precision", HT_WORD(HALO_PRECISION, p->halo.precision)),
            HT_NUM("messages_per_step", sent.messages), HT_NUM("bytes_per_step", sent.bytes),
            HT_NUM("longest_bytes", sent.longest), HT_CLOSE('}'));
}

static enum ht_err check(struct ht_simulation *sim, const struct ht_args *args) {
    struct ht_estimate estimate;
    TRY(ht_run_check_wanted(sim));
    /* The nearest existing parent directory must be writable. */
    HT_FREED char *above = NULL;
    TRY(ht_disk_above(sim->params->output.directory, &above));
    REFUSE(ht_file_make_directory(above) != HT_OK, sim->params, "output.directory",
           "cannot be written: %s is not a directory, or not writable", above);
    if (sim->rank == 0) TRY(ht_disk_check(sim));
    if (sim->no_device == NULL) TRY(ht_simulation_compile(sim));
    TRY(ht_estimate_time(sim, &estimate));
    const char *model = ht_args_value(args, "--model");
    if (model != NULL)
        TRY(HT_BY_FIRST(sim->comm, ht_output_model(sim->params, sim->plan->medium, sim->plan->shots,
                                                   sim->plan->receivers, model)));
    ht_report_notes(sim);
    struct ht_facts f = ht_facts_open();
    const double share = estimate.layer_s / estimate.seconds, ratio = sim->selfcheck_ratio;
    ht_report_plan(sim, &f);
    ht_say(&f, "  disk      ");
    ht_disk_describe(sim, &f.text);
    ht_say(&f, "\n");
    const struct ht_survey *survey = sim->survey;
    const double rounds = survey ? ceil((double)survey->count / survey->groups) : 1;
    if (estimate.rate > 0 && survey != NULL)
        ht_say(&f, "  shots     %s of stepping for all %d\n", HT_SECONDS(rounds * estimate.seconds),
               survey->count);
    if (estimate.rate > 0)
        ht_say(&f, "  expected  %s of stepping, from %.3g cell half-steps/s on %s cells here%s\n",
               HT_SECONDS(estimate.seconds), estimate.rate,
               HT_EXTENTS(sim->plan->grid.dims, estimate.cells),
               sim->ranks > 1 ? " in each rank, without exchanges" : "");
    if (estimate.rate > 0 && estimate.layers_left_out)
        ht_say(&f, "  layers    as if they took no longer than other cells: too thick to be timed "
                   "on a small grid\n");
    if (estimate.rate > 0 && isfinite(share))
        ht_say(&f, "  layers    %.0f %% of the steps' time, %.3g cell half-steps/s there\n",
               100 * share, estimate.layer_rate);
    add_receivers(sim, &estimate, &f);
    if (estimate.rate > 0 && isfinite(ratio))
        ht_say(&f,
               "  kernels   agree with the reference: worst difference %.2g of what rounding "
               "explains\n",
               ratio);
    const int warned = ht_log_warnings();
    ht_say(&f, "%s%s\n",
           warned ? HT_KEY("can run, with %d warning%s", warned, warned > 1 ? "s" : "") : "fine",
           sim->no_device ? ", but no device is available" : "");
    ht_fact(&f, HT_NUM("output_bytes", sim->disk[0] + sim->disk[1] + sim->disk[2] + sim->disk[3]),
            HT_NUM("expected_s", rounds * estimate.seconds),
            HT_KNOWN("expected_cell_half_steps_per_s", estimate.rate),
            HT_NUM("absorbing_time_share", share), HT_NUM("selfcheck_ratio", ratio),
            HT_TEXT("no_device", sim->no_device), HT_INT("warnings", warned));
    add_counts(&sim->plan->problem, sim->params->device.precision == HT_DOUBLE, &f);
    ht_parallel_add_json(sim, NULL, &f.json);
    return ht_facts_print(&f, args->json);
}

enum ht_err ht_command_check(const struct ht_args *args) {
    HT_ENDED(ht_params_end) struct ht_params *params = NULL;
    REQUIRE(ht_args_value(args, "--machine") == NULL, HT_ERR_INPUT,
            "--machine: gone: python3 bench/scaling.py --model FILE predicts scaling");
    REQUIRE(ht_args_value(args, "--error") == NULL, HT_ERR_INPUT,
            "--error: gone: python3 bench/grids.py FILE --error E finds schemes and grids");
    TRY(ht_params_read(args->operand[0], args->count - 1, args->operand + 1, &params));
    HT_ENDED(ht_survey_end) struct ht_survey *survey = NULL;
    HT_ENDED(ht_simulation_end) struct ht_simulation *sim = NULL;
    if (params->survey.count > 0) {
        TRY(ht_survey_plan(params, args->comm, false, &survey));
        return ht_comm_agree(args->comm, check(survey->sim, args));
    }
    TRY(ht_simulation_plan(params, args->comm, &sim));
    return ht_comm_agree(args->comm, check(sim, args));
}
