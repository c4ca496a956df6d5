/* htwave check: everything about a run that is known without running it, and its expected time,
 * which check_time.c measures. */
#include <unistd.h>

#include "app.h"

static void add_receivers(const struct ht_simulation *sim, const struct ht_estimate *estimate,
                          struct ht_facts *f) {
    /* of the time of a step */
    const double step_s = estimate->seconds / (double)sim->plan->steps;
    const double share = estimate->sample_s / (estimate->sample_s + step_s);
    if (estimate->sampler_bytes > 0) {
        ht_fact(f, integer, "receivers_host_bytes", estimate->sampler_bytes);
        ht_fact(f, number, "receivers_time_share", share);
    }
    if (!(estimate->rate > 0) || !isfinite(share)) return;
    ht_say(f, "  receivers %s of the host's memory, %s a step: %.2g %% of its time\n",
           HT_BYTES(estimate->sampler_bytes), HT_SECONDS(estimate->sample_s), 100 * share);
}

static enum ht_err write_model(const struct ht_simulation *sim, const char *directory) {
    const struct ht_plan *plan = sim->plan;
    if (directory == NULL) return HT_OK;
    enum ht_err err = HT_OK;
    if (sim->rank == 0)
        err = ht_output_model(sim->params, plan->medium, plan->shots, plan->receivers, directory);
    return ht_comm_agree(sim->comm, err);
}

/* ---- a slab between two others, for the model of bench/scaling.py ---- */

static void add_slab(const struct ht_problem *p, bool fp64, struct ht_facts *f) {
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
    ht_fact(f, open, "slab", '{');
    ht_fact(f, integer, "depth", ht_halo_depth(p));
    ht_fact(f, integer, "passes", passes.count);
    ht_fact(f, integer, "planes_per_pass", passes.pass[0].reach[0] + passes.pass[0].reach[1]);
    ht_fact(f, integer, "planes_least", ht_planes_needed(&passes, ht_halo_depth(p)));
    ht_fact(f, string, "halo_precision", HT_WORD(HALO_PRECISION, p->halo.precision));
    ht_fact(f, number, "messages_per_step", sent.messages);
    ht_fact(f, number, "bytes_per_step", sent.bytes);
    ht_fact(f, number, "longest_bytes", sent.longest);
    ht_fact(f, number, "least_bytes", least.bytes);
    ht_fact(f, number, "least_fma", least.fma);
    ht_fact(f, close, '}');
}

static enum ht_err check(struct ht_simulation *sim, const struct ht_args *args) {
    struct ht_estimate estimate;
    TRY(ht_output_check(sim->params, sim->plan->medium, sim->plan->problem.stored[HT_PRIMARY]));
    TRY(ht_output_check_traces(sim->params, sim->plan->receivers));
    /* The nearest existing parent directory must be writable. */
    HT_FREED char *above = NULL;
    TRY(ht_disk_above(sim->params->output.directory, &above));
    REFUSE(access(above, W_OK | X_OK) != 0, sim->params, "output.directory",
           "cannot be written: %s is not a directory, or not writable", above);
    if (sim->rank == 0) TRY(ht_disk_check(sim->plan));
    if (sim->no_device == NULL) TRY(ht_simulation_compile(sim));
    TRY(ht_estimate_time(sim, &estimate));
    TRY(write_model(sim, ht_args_value(args, "--model")));
    ht_report_notes(sim);
    struct ht_facts f = ht_facts_open();
    ht_report_plan(sim, &f);
    ht_say(&f, "  disk      ");
    ht_disk_describe(sim->plan, &f.text);
    ht_say(&f, "\n");
    ht_fact(&f, number, "output_bytes", ht_disk_need(sim->plan).total);
    ht_fact(&f, number, "expected_s", estimate.seconds);
    if (estimate.rate > 0) {
        ht_fact(&f, number, "expected_cell_half_steps_per_s", estimate.rate);
        ht_say(&f, "  expected  %s of stepping, from %.3g cell half-steps/s on %s cells here%s\n",
               HT_SECONDS(estimate.seconds), estimate.rate,
               HT_EXTENTS(sim->plan->grid.dims, estimate.cells),
               sim->ranks > 1 ? " in each rank, without exchanges" : "");
    }
    const double share = estimate.layer_s / estimate.seconds;
    ht_fact(&f, number, "absorbing_time_share", share);
    if (estimate.rate > 0) {
        if (estimate.layers_left_out)
            ht_say(&f,
                   "  layers    as if they took no longer than other cells: too thick to be timed "
                   "on a small grid\n");
        if (isfinite(share))
            ht_say(&f, "  layers    %.0f %% of the steps' time, %.3g cell half-steps/s there\n",
                   100 * share, estimate.layer_rate);
    }
    add_receivers(sim, &estimate, &f);
    ht_fact(&f, number, "selfcheck_ratio", sim->selfcheck_ratio);
    if (estimate.rate > 0 && isfinite(sim->selfcheck_ratio))
        ht_say(&f,
               "  kernels   agree with the reference: worst difference %.2g of what rounding "
               "explains\n",
               sim->selfcheck_ratio);
    ht_say(&f, "%s\n", sim->no_device ? "fine, but no device is available" : "fine");
    ht_fact(&f, string, "no_device", sim->no_device);
    if (sim->plan->grid.dims == 3)
        add_slab(&sim->plan->problem, sim->params->device.precision == HT_DOUBLE, &f);
    ht_parallel_add_json(sim, NULL, &f.json);
    return ht_facts_print(&f, args->json);
}

enum ht_err ht_command_check(const struct ht_args *args) {
    HT_ENDED(ht_params_end) struct ht_params *params = NULL;
    REQUIRE(ht_args_value(args, "--machine") == NULL, HT_ERR_INPUT,
            "--machine: gone: python3 bench/scaling.py --model FILE predicts scaling");
    REQUIRE(ht_args_value(args, "--model") == NULL || ht_args_value(args, "--error") == NULL,
            HT_ERR_INPUT, "--model: not with --error");
    REQUIRE(ht_args_value(args, "--wavelengths") == NULL || ht_args_value(args, "--error") != NULL,
            HT_ERR_INPUT, "--wavelengths: needs --error");
    TRY(ht_params_read(args->operand[0], args->count - 1, args->operand + 1, &params));
    if (ht_args_value(args, "--error") != NULL) return ht_check_error(args, params);
    HT_ENDED(ht_simulation_end) struct ht_simulation *sim = NULL;
    TRY(ht_simulation_plan(params, args->comm, &sim));
    return ht_comm_agree(args->comm, check(sim, args));
}
