/* htwave check: everything about a run that is known without running it. The
 * expected time comes from the compiled kernels on a small version of the grid,
 * since the fraction of the device's limits that they reach can only be
 * measured.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "commands.h"
#include "htwave/observers.h"
#include "htwave/predict.h"
#include "htwave/rate.h"
#include "htwave/report.h"
#include "htwave/sampler.h"

/* ---- outputs ---- */

/* The nearest existing parent directory must be writable. */
static enum ht_err check_directory(const struct ht_params *params) {
    char *path = NULL, *slash = NULL;
    TRY(ht_text_copy(params->output.directory, &path));
    while (!ht_file_exists(path) && (slash = strrchr(path, '/')) != NULL)
        slash[slash == path ? 1 : 0] = '\0';
    const char *above = ht_file_exists(path) ? path : ".";
    bool good = access(above, W_OK | X_OK) == 0;
    enum ht_err err = HT_OK;
    if (!good)
        err =
            ht_params_error(params, "output.directory",
                            "cannot be written: %s is not a directory, or not "
                            "writable",
                            above);
    free(path);
    return err;
}

/* ---- expected time ---- */

/* The same problem on at most `most` cells, in the grid's proportions. */
static void shrink(const struct ht_simulation *sim, double most,
                   struct ht_part *out) {
    const struct ht_grid *grid = &sim->plan->grid;
    double factor =
        pow(fmin(1, most / ht_simulation_cells(sim)), 1.0 / grid->dims);
    struct ht_box box = {{0}, {0}};
    for (int k = 0; k < grid->dims; k++)
        box.end[k] = (int64_t)fmax(2, floor((double)grid->cells[k] * factor));
    ht_problem_part(&sim->plan->problem, &box, HT_SIDES_SAME, HT_MEDIUM_TEST,
                    out);
}

/* Seconds of `steps` time steps. */
static enum ht_err time_steps(const struct ht_stepper *stepper,
                              const struct ht_part *part, int64_t steps,
                              double *seconds) {
    /* Else the values overflow in many steps. */
    TRY(ht_test_problem_fill(part, stepper));
    double began = ht_clock();
    TRY(ht_stepper_advance(stepper, steps));
    *seconds = ht_clock() - began;
    return HT_OK;
}

/* Cell half-steps per second. oracle: takes long, and compiles nothing. */
static enum ht_err find_rate(const struct ht_stepper *stepper,
                             const struct ht_part *part, bool oracle,
                             double *rate) {
    const double enough_s = 0.1;
    const int64_t longest = 1024;
    double seconds = 0, cells = (double)ht_grid_total(&part->grid, HT_DUAL);
    int64_t steps = 1;
    TRY(time_steps(stepper, part, 1, &seconds));
    /* That has warmed up: some drivers compile at the first launch. */
    if (!oracle) TRY(time_steps(stepper, part, 1, &seconds));
    while (seconds < enough_s && steps < longest) {
        steps *= 2;
        TRY(time_steps(stepper, part, steps, &seconds));
    }
    *rate = seconds > 0 ? 2 * cells * (double)steps / seconds : 0;
    return HT_OK;
}

/* ---- absorbing layers ---- */

/* Cells outside of layers. */
static double inner_cells(const struct ht_grid *grid,
                          const struct ht_layers *layers) {
    double cells = 1;
    for (int k = 0; k < grid->dims; k++)
        cells *= (double)(grid->cells[k] - layers->side[k][0].cells -
                          layers->side[k][1].cells);
    return cells;
}

/* The part with the plan's layers, around at least a few cells. */
static void shrink_with_layers(const struct ht_simulation *sim, double most,
                               struct ht_layers *layers, struct ht_part *out) {
    const struct ht_problem *problem = &sim->plan->problem;
    const int64_t least = 4;
    struct ht_box box;
    shrink(sim, most, out);
    box = out->cells;
    *layers = *problem->layers;
    for (int k = 0; k < sim->plan->grid.dims; k++) {
        const struct ht_layer *side = layers->side[k];
        box.end[k] = ht_most(box.end[k], side[0].cells + side[1].cells + least);
        layers->cells[k] = box.end[k] =
            ht_least(box.end[k], sim->plan->grid.cells[k]);
    }
    ht_problem_part(problem, &box, HT_SIDES_SAME, HT_MEDIUM_TEST, out);
    out->problem.layers = layers;
    memcpy(out->grid.layer, sim->plan->grid.layer, sizeof out->grid.layer);
}

/* What the time of a half step with layers is above that of the cells outside
 * of them at the rate without layers: launches included. Layers are not faster
 * than other cells. Thick ones in many dimensions, whose part would be a large
 * grid, are not timed. */
static enum ht_err find_layer_rate(struct ht_simulation *sim, double most,
                                   double rate, double *out) {
    struct ht_layers layers;
    struct ht_part part;
    struct ht_stepper stepper = {0};
    double all = 0;
    shrink_with_layers(sim, most, &layers, &part);
    if ((double)ht_grid_total(&part.grid, HT_DUAL) > 16 * most) return HT_OK;
    TRY(ht_simulation_stepper(sim, &part.problem, &stepper));
    enum ht_err err = find_rate(&stepper, &part, false, &all);
    ht_stepper_destroy(&stepper);
    TRY(err);
    const double cells = (double)ht_grid_total(&part.grid, HT_DUAL);
    const double inside = inner_cells(&part.grid, &layers);
    *out = (cells - inside) /
           fmax(cells / all - inside / rate, (cells - inside) / rate);
    return HT_OK;
}

/* ---- receivers ---- */

/* The plan's receivers in the part's box, at the same places of it. */
static enum ht_err squeeze(const struct ht_plan *plan,
                           const struct ht_part *part,
                           struct ht_receivers *out) {
    *out = *plan->receivers;
    TRY(HT_ALLOC(out->group, out->count));
    memcpy(out->group, plan->receivers->group,
           (size_t)out->count * sizeof *out->group);
    for (int n = 0; n < out->count; n++) out->group[n].x = NULL;
    for (int n = 0; n < out->count; n++) {
        const struct ht_receiver_group *group = &plan->receivers->group[n];
        double(*x)[3] = NULL;
        TRY(HT_ALLOC(x, group->count));
        out->group[n].x = x;
        for (int64_t i = 0; i < group->count; i++)
            for (int k = 0; k < plan->grid.dims; k++)
                x[i][k] = part->grid.lower[k] +
                          (group->x[i][k] - plan->grid.lower[k]) *
                              (double)part->grid.cells[k] /
                              (double)plan->grid.cells[k];
    }
    return HT_OK;
}

/* Seconds of the samples of a step: of their kernels and of the reads. */
static enum ht_err time_samples(const struct ht_stepper *stepper,
                                struct ht_sampler *sampler, double *seconds) {
    const int64_t steps = ht_least(ht_sampler_period(sampler), 64);
    int64_t taken;
    TRY(ht_sampler_collect(sampler, &taken, NULL)); /* that of the start */
    TRY(ht_stepper_advance(stepper, steps));        /* warms up */
    TRY(ht_sampler_collect(sampler, &taken, NULL));
    const double before = ht_sampler_seconds(sampler);
    TRY(ht_stepper_advance(stepper, steps));
    const double kernels = ht_sampler_seconds(sampler) - before;
    const double began = ht_clock();
    TRY(ht_sampler_collect(sampler, &taken, NULL));
    *seconds = (kernels + ht_clock() - began) / (double)steps;
    return HT_OK;
}

/* By finite differences, whose samples do not depend on the grid's size; by one
 * rank, which has all of them. */
static enum ht_err estimate_receivers(const struct ht_simulation *sim,
                                      const struct ht_part *part,
                                      const struct ht_stepper *stepper,
                                      struct ht_estimate *out) {
    struct ht_plan plan = *sim->plan;
    struct ht_receivers receivers = {.count = 0};
    struct ht_sampler *sampler = NULL;
    if (plan.receivers == NULL || plan.problem.fd.order == 0 ||
        sim->ranks > 1 || sim->oracle)
        return HT_OK;
    enum ht_err err = squeeze(&plan, part, &receivers);
    plan.grid = part->grid;
    plan.problem = part->problem;
    plan.receivers = &receivers;
    if (err == HT_OK)
        err = ht_sampler_create(&plan, stepper, sim->cache, &sampler);
    if (err == HT_OK) err = time_samples(stepper, sampler, &out->sample_s);
    if (err == HT_OK)
        out->sampler_bytes =
            ht_recorder_bytes(&plan, ht_sampler_period(sampler));
    ht_sampler_destroy(sampler);
    for (int n = 0; receivers.group != NULL && n < receivers.count; n++)
        free(receivers.group[n].x);
    free(receivers.group);
    return err;
}

static enum ht_err measure(struct ht_simulation *sim, struct ht_estimate *out) {
    /* The reference takes minutes for all stages at N = 8 in 3-D; its time is
     * proportional to their number. */
    const int few = 4;
    const bool fd = sim->plan->problem.fd.order > 0;
    const double most = sim->oracle      ? 8
                        : !sim->info.gpu ? 2048
                        : fd             ? 1 << 24
                                         : 262144;
    struct ht_part part;
    struct ht_stepper stepper = {0};
    shrink(sim, most, &part);
    if (sim->oracle && part.problem.stages > few) part.problem.stages = few;
    TRY(ht_simulation_stepper(sim, &part.problem, &stepper));
    enum ht_err err = find_rate(&stepper, &part, sim->oracle, &out->rate);
    if (err == HT_OK) err = estimate_receivers(sim, &part, &stepper, out);
    ht_stepper_destroy(&stepper);
    if (err == HT_OK && sim->plan->problem.layers != NULL && !sim->oracle)
        err = find_layer_rate(sim, most, out->rate, &out->layer_rate);
    TRY(err);
    memcpy(out->cells, part.grid.cells, sizeof out->cells);
    out->rate *= (double)part.problem.stages / sim->plan->problem.stages;
    return HT_OK;
}

/* Rates of all ranks together. */
enum ht_err ht_estimate_time(struct ht_simulation *sim,
                             struct ht_estimate *out) {
    *out = (struct ht_estimate){.layer_rate = NAN, .sample_s = NAN};
    TRY(ht_comm_agree(sim->comm, measure(sim, out)));
    double rate[2] = {out->rate, out->layer_rate};
    TRY(ht_comm_sum(sim->comm, 2, rate));
    out->rate = rate[0];
    out->layer_rate = rate[1];
    return HT_OK;
}

/* ---- report ---- */

static double half_steps(const struct ht_simulation *sim, double cells) {
    return 2 * cells * (double)sim->plan->steps;
}

/* Of all steps in the layers; 0: there are none, or it is not known. */
static double layer_seconds(const struct ht_simulation *sim,
                            const struct ht_estimate *estimate) {
    const struct ht_plan *plan = sim->plan;
    if (!(estimate->layer_rate > 0)) return 0;
    return half_steps(sim, ht_simulation_cells(sim) -
                               inner_cells(&plan->grid, &plan->layers)) /
           estimate->layer_rate;
}

double ht_estimate_seconds(const struct ht_simulation *sim,
                           const struct ht_estimate *estimate) {
    const struct ht_plan *plan = sim->plan;
    const double layers = layer_seconds(sim, estimate);
    if (!(estimate->rate > 0)) return NAN;
    return layers +
           half_steps(sim, layers > 0 ? inner_cells(&plan->grid, &plan->layers)
                                      : ht_simulation_cells(sim)) /
               estimate->rate;
}

/* Of the time of a step; NaN: not known. */
static double layer_share(const struct ht_simulation *sim,
                          const struct ht_estimate *estimate) {
    const double layers = layer_seconds(sim, estimate);
    return layers > 0 ? layers / ht_estimate_seconds(sim, estimate) : NAN;
}

/* Of the time of a step. */
static double sample_share(const struct ht_simulation *sim,
                           const struct ht_estimate *estimate) {
    const double step_s =
        ht_estimate_seconds(sim, estimate) / (double)sim->plan->steps;
    return estimate->sample_s / (estimate->sample_s + step_s);
}

static void add_receivers(const struct ht_simulation *sim,
                          const struct ht_estimate *estimate,
                          struct ht_text *text) {
    char bytes[32], time[32];
    if (!isfinite(sample_share(sim, estimate))) return;
    ht_text_add(text,
                "  receivers %s of the host's memory, %s a step: %.2g %% of "
                "its time\n",
                ht_text_bytes((double)estimate->sampler_bytes, bytes),
                ht_text_seconds(estimate->sample_s, time),
                100 * sample_share(sim, estimate));
}

static void add_estimate(const struct ht_simulation *sim,
                         const struct ht_estimate *estimate,
                         struct ht_text *text) {
    char time[32];
    if (!(estimate->rate > 0)) return;
    ht_text_add(text,
                "  expected  %s of stepping, from %.3g cell half-steps/s "
                "on ",
                ht_text_seconds(ht_estimate_seconds(sim, estimate), time),
                estimate->rate);
    for (int k = 0; k < sim->plan->grid.dims; k++)
        ht_text_add(text, "%s%lld", k ? " x " : "",
                    (long long)estimate->cells[k]);
    ht_text_add(text, " cells here%s\n",
                sim->ranks > 1 ? " in each rank, without exchanges" : "");
    if (isfinite(layer_share(sim, estimate)))
        ht_text_add(text,
                    "  layers    %.2g %% of the steps' time, from %.3g cell "
                    "half-steps/s in layers here\n",
                    100 * layer_share(sim, estimate), estimate->layer_rate);
    add_receivers(sim, estimate, text);
    if (isfinite(sim->selfcheck_ratio))
        ht_text_add(text,
                    "  kernels   agree with the reference: worst difference "
                    "%.2g of what rounding explains\n",
                    sim->selfcheck_ratio);
}

static enum ht_err report(const struct ht_simulation *sim,
                          const struct ht_estimate *estimate, bool as_json) {
    struct ht_json json = {0};
    struct ht_text text = {0};
    ht_json_open(&json, NULL, '{');
    ht_report_plan_json(sim, &json);
    ht_json_number(&json, "selfcheck_ratio", sim->selfcheck_ratio);
    ht_json_number(&json, "expected_s", ht_estimate_seconds(sim, estimate));
    if (estimate->rate > 0)
        ht_json_number(&json, "expected_cell_half_steps_per_s", estimate->rate);
    ht_json_number(&json, "absorbing_time_share", layer_share(sim, estimate));
    if (estimate->sampler_bytes > 0) {
        ht_json_integer(&json, "receivers_host_bytes", estimate->sampler_bytes);
        ht_json_number(&json, "receivers_time_share",
                       sample_share(sim, estimate));
    }
    ht_json_string(&json, "no_device", sim->no_device);
    ht_parallel_add_json(sim, NULL, &json);
    ht_json_close(&json, '}');
    ht_json_end(&json);
    ht_report_banner(sim, &text);
    add_estimate(sim, estimate, &text);
    ht_text_add(&text, "%s\n",
                sim->no_device ? "fine, but no device is available" : "fine");
    return ht_json_or_text(&json, &text, as_json);
}

/* ---- the model ---- */

static enum ht_err write_model(const struct ht_simulation *sim,
                               const char *directory) {
    const struct ht_plan *plan = sim->plan;
    if (directory == NULL) return HT_OK;
    enum ht_err err = HT_OK;
    if (sim->rank == 0)
        err = ht_output_model(sim->params, plan->medium, plan->shots,
                              plan->receivers, directory);
    return ht_comm_agree(sim->comm, err);
}

static enum ht_err check(struct ht_simulation *sim,
                         const struct ht_args *args) {
    struct ht_estimate estimate = {
        .rate = 0, .layer_rate = NAN, .sample_s = NAN};
    TRY(ht_output_check(sim->params, sim->plan->medium,
                        sim->plan->problem.stored[HT_PRIMARY]));
    TRY(ht_output_check_traces(sim->params, sim->plan->receivers));
    TRY(check_directory(sim->params));
    if (sim->no_device == NULL) {
        TRY(ht_simulation_compile(sim));
        TRY(ht_estimate_time(sim, &estimate));
    }
    TRY(write_model(sim, ht_args_value(args, "--model")));
    ht_report_notes(sim);
    return report(sim, &estimate, args->json);
}

static enum ht_err check_here(const struct ht_args *args,
                              const struct ht_params *params) {
    struct ht_simulation *sim = NULL;
    TRY(ht_simulation_plan(params, args->comm, &sim));
    enum ht_err err = ht_comm_agree(args->comm, check(sim, args));
    ht_simulation_destroy(sim);
    return err;
}

static enum ht_err check_flags(const struct ht_args *args) {
    static const char *const of_machine[] = {"--gpus", "--rate", "--measured"};
    for (int i = 0; i < 3; i++)
        REQUIRE(ht_args_value(args, of_machine[i]) == NULL ||
                    ht_args_value(args, "--machine") != NULL,
                HT_ERR_INPUT, "%s: needs --machine", of_machine[i]);
    const char *const modes[] = {"--model", "--machine", "--error"};
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < i; k++)
            REQUIRE(ht_args_value(args, modes[i]) == NULL ||
                        ht_args_value(args, modes[k]) == NULL,
                    HT_ERR_INPUT, "%s: not with %s", modes[k], modes[i]);
    REQUIRE(ht_args_value(args, "--wavelengths") == NULL ||
                ht_args_value(args, "--error") != NULL,
            HT_ERR_INPUT, "--wavelengths: needs --error");
    return HT_OK;
}

enum ht_err ht_command_check(const struct ht_args *args) {
    struct ht_params *params = NULL;
    TRY(check_flags(args));
    TRY(ht_params_read(args->operand[0], args->count - 1, args->operand + 1,
                       &params));
    enum ht_err err = HT_OK;
    if (ht_args_value(args, "--machine") != NULL)
        err = ht_predict_run(args, params);
    else if (ht_args_value(args, "--error") != NULL)
        err = ht_check_error(args, params);
    else
        err = check_here(args, params);
    ht_params_destroy(params);
    return err;
}
