/* htwave check: everything about a run that is known without running it, and its expected time,
 * from the compiled kernels on a small version of its grid. */
#include "app.h"
#include "htwave/survey.h"

/* ---- the expected time ---- */

struct estimate {
    int64_t cells[3]; /* of the small grid */
    double rate;      /* cell half-steps per second there, by all ranks together,
                         each rank on one such grid, outside of layers */
    /* What layers take beyond that: cells per second, once for each axis along which they are
     * damped; NaN: none, not known. */
    double damped_rate;
    bool layers_left_out; /* so thick that no small grid has them */
    double seconds;       /* of the run's steps; NaN: not known */
    double layer_s;       /* of these in layers; NaN: none, not known */
    double layer_rate;    /* cell half-steps per second there */
};

/* Steps are timed that take so long, but not more of them. */
static const double enough_s = 0.1;
static const int64_t longest = 1024;

/* Cell half-steps per second; the first steps warm up: some drivers compile at the first launch.
 * oracle: takes long, and compiles nothing. */
static HT_ERR find_rate(const struct ht_stepper *stepper, const struct ht_part *part, bool oracle,
                        double *rate) {
    double seconds = 0;
    int64_t steps = 1;
    for (int i = oracle; i < 2 || (seconds < enough_s && steps < longest); i++) {
        if (i > 1) steps *= 2;
        /* Else the values overflow in many steps. */
        TRY(ht_test_problem_fill(part, stepper));
        const double began = ht_clock();
        TRY(ht_stepper_advance(stepper, steps));
        seconds = ht_clock() - began;
    }
    const double cells = (double)ht_grid_total(&part->grid, HT_DUAL);
    *rate = seconds > 0 ? 2 * cells * (double)steps / seconds : 0;
    return HT_OK;
}

/* Cells in layers, once for each axis along which they are damped. */
static double damped_cells(const struct ht_grid *grid, const struct ht_layers *layers) {
    const double cells = (double)ht_grid_total(grid, HT_DUAL);
    double damped = 0;
    for (int k = 0; k < grid->dims; k++)
        damped += (double)(layers->side[k][0].cells + layers->side[k][1].cells) * cells /
                  (double)grid->cells[k];
    return damped;
}

/* The layers around as many cells along all axes as make at most `most` with them: a multiple of
 * 16, which groups of targets in a row divide, or 12, 8 or 4, and no more than the grid has. false:
 * even 4 are too many. */
static bool shrink_with_layers(const struct ht_problem *problem, double most,
                               struct ht_layers *layers, struct ht_part *out) {
    struct ht_box box = {{0}, {1, 1, 1}};
    double all = INFINITY;
    *layers = *problem->layers;
    for (int64_t inside = 4096; inside > 0 && all > most; inside -= inside > 16 ? 16 : 4) {
        all = 1;
        for (int k = 0; k < problem->grid->dims; k++) {
            const int64_t both = layers->side[k][0].cells + layers->side[k][1].cells;
            box.end[k] = ht_least(inside, problem->layers->cells[k] - both) + both;
            all *= (double)box.end[k];
        }
    }
    if (all > most) return false;
    memcpy(layers->cells, box.end, sizeof layers->cells);
    ht_problem_part(problem, &box, HT_SIDES_SAME, HT_MEDIUM_TEST, out);
    out->problem.layers = layers;
    for (int n = 0; n < 6; n++) out->grid.layer[n / 2][n % 2] = layers->side[n / 2][n % 2].cells;
    return true;
}

/* Of Hermite methods on a CPU, at least so many: a state of 1.25e7 numbers does not stay in its
 * caches, as those of runs do not. */
static double cells_beyond_caches(const struct ht_simulation *sim, double least) {
    const double numbers = 2.0 * sim->plan->problem.eq->nfields * ht_grid_coefs(&sim->plan->grid);
    return fmin(fmax(1.25e7 / numbers, least), 131072);
}

static double most_cells(const struct ht_simulation *sim) {
    const bool one = sim->plan->grid.order == 0; /* value per node */
    if (sim->oracle) return 8;
    if (sim->info.gpu) return one ? 1 << 24 : 262144;
    /* a launch takes as long as 1e4 points of fd */
    return one ? 1 << 18 : cells_beyond_caches(sim, 2048);
}

static HT_ERR find_plain(struct ht_simulation *sim, double most, struct estimate *out) {
    /* The reference takes minutes for all stages at N = 8 in 3-D; its time is as their number. */
    const int few = 4;
    struct ht_part part;
    HT_ENDED(ht_stepper_destroy) struct ht_stepper stepper = {0};
    /* The same problem on at most `most` cells, in the grid's proportions. */
    const struct ht_grid *grid = &sim->plan->grid;
    double factor = pow(fmin(1, most / ht_simulation_cells(sim)), 1.0 / grid->dims);
    struct ht_box box = {{0}, {0}};
    for (int k = 0; k < grid->dims; k++)
        box.end[k] = (int64_t)fmax(2, floor((double)grid->cells[k] * factor));
    ht_problem_part(&sim->plan->problem, &box, HT_SIDES_SAME, HT_MEDIUM_TEST, &part);
    if (sim->oracle && part.problem.stages > few) part.problem.stages = few;
    TRY(ht_simulation_stepper(sim, &part.problem, &stepper));
    TRY(find_rate(&stepper, &part, sim->oracle, &out->rate));
    memcpy(out->cells, part.grid.cells, sizeof out->cells);
    out->rate *= (double)part.problem.stages / sim->plan->problem.stages;
    return HT_OK;
}

static HT_ERR measure(struct ht_simulation *sim, struct estimate *out) {
    const struct ht_problem *problem = &sim->plan->problem;
    const bool layers = problem->layers != NULL && !sim->oracle;
    const double most = most_cells(sim), least = 32768;
    /* With layers, in three dimensions enough for these and some cells inside. */
    const double with_layers = sim->info.gpu               ? 2 * most
                               : problem->grid->order == 0 ? 16 * most
                               : sim->plan->grid.dims == 3 ? least
                                                           : cells_beyond_caches(sim, least);
    struct ht_layers kept;
    struct ht_part part;
    HT_ENDED(ht_stepper_destroy) struct ht_stepper stepper = {0};
    double all = 0;
    const bool fits = layers && shrink_with_layers(problem, with_layers, &kept, &part);
    out->layers_left_out = layers && !fits;
    TRY(find_plain(sim, most, out));
    if (!fits) return HT_OK;
    /* What layers add to the time of all cells. */
    TRY(ht_simulation_stepper(sim, &part.problem, &stepper));
    TRY(find_rate(&stepper, &part, false, &all));
    const double cells = (double)ht_grid_total(&part.grid, HT_DUAL);
    const double more = 2 * cells / all - 2 * cells / out->rate;
    out->damped_rate = damped_cells(&part.grid, part.problem.layers) / fmax(more, 0);
    return HT_OK;
}

/* Rates of all ranks together. */
static HT_ERR estimate_time(struct ht_simulation *sim, struct estimate *out) {
    *out = (struct estimate){.damped_rate = NAN, .seconds = NAN, .layer_s = NAN};
    if (sim->no_device != NULL) return HT_OK;
    TRY(ht_comm_agree(sim->comm, measure(sim, out)));
    TRY(ht_comm_sum(sim->comm, 1, &out->rate));
    TRY(ht_comm_sum(sim->comm, 1, &out->damped_rate));
    const struct ht_plan *plan = sim->plan;
    const double steps = (double)plan->steps, cells = ht_simulation_cells(sim);
    double inner = 1; /* outside of layers */
    for (int k = 0; k < plan->grid.dims; k++)
        inner *= (double)(plan->grid.cells[k] - plan->layers.side[k][0].cells -
                          plan->layers.side[k][1].cells);
    const double damped = 2 * steps * (cells - inner);
    const double more = steps * damped_cells(&plan->grid, &plan->layers) / out->damped_rate;
    if (!(out->rate > 0)) return HT_OK;
    out->seconds = 2 * cells * steps / out->rate;
    if (out->damped_rate > 0) {
        out->layer_s = more + damped / out->rate;
        out->seconds += more;
    }
    out->layer_rate = damped / out->layer_s;
    return HT_OK;
}

/* Seconds of a run's steps; NaN: not known. For check_error.c; collective. */
HT_ERR ht_check_seconds(struct ht_simulation *sim, double *seconds) {
    struct estimate estimate;
    TRY(estimate_time(sim, &estimate));
    *seconds = estimate.seconds;
    return HT_OK;
}

/* ---- what is said ---- */

/* Initial data that files of single precision cannot hold are refused as a run refuses them: of
 * files, and of grids on which they take no time. */
static HT_ERR check_data(struct ht_simulation *sim) {
    const bool few = ht_grid_total(&sim->plan->grid, HT_PRIMARY) <= 1 << 20;
    const bool judged = sim->survey == NULL && (few || sim->params->initial.type == HT_DATA_FILE);
    return judged ? ht_plan_choose_scale(sim->plan) : HT_OK;
}

/* Of a slab between two others, for the model of bench/scaling.py. */
static void add_slab(const struct ht_simulation *sim, struct ht_facts *f) {
    const struct ht_problem *p = &sim->plan->problem;
    const bool fp64 = sim->params->device.precision == HT_DOUBLE;
    const struct ht_tuning tuning = {.fp64 = fp64, .trim = true, .block = fp64 ? 2 : 4};
    const struct ht_sent sent = sim->budget.sent;
    struct ht_cost least = {0};
    struct ht_passes passes;
    ht_schedule_passes(p, &passes);
    for (int from = 0; from < 2; from++) {
        const struct ht_spec spec = ht_problem_spec(p, &tuning, (enum ht_subgrid)from);
        const struct ht_cost cost = ht_cost_minimum(&spec, spec.stages);
        least.bytes += 0.5 * cost.bytes;
        least.fma += 0.5 * cost.fma;
    }
    ht_fact(f, HT_OPEN("slab", '{'), HT_INT("depth", ht_halo_depth(p)),
            HT_INT("passes", passes.count),
            HT_INT("planes_per_pass", passes.pass[0].reach[0] + passes.pass[0].reach[1]),
            HT_INT("planes_least", ht_planes_needed(&passes, ht_halo_depth(p))),
            HT_TEXT("halo_precision", HT_WORD(HALO_PRECISION, p->halo.precision)),
            HT_NUM("messages_per_step", sent.messages), HT_NUM("bytes_per_step", sent.bytes),
            HT_NUM("longest_bytes", sent.longest), HT_NUM("least_bytes", least.bytes),
            HT_NUM("least_fma", least.fma), HT_CLOSE('}'));
}

static HT_ERR check(struct ht_simulation *sim, const struct ht_args *args) {
    struct estimate estimate;
    TRY(ht_run_check_wanted(sim));
    if (sim->rank == 0) TRY(ht_disk_check(sim));
    if (sim->no_device == NULL) TRY(ht_simulation_compile(sim));
    TRY(estimate_time(sim, &estimate));
    const char *model = ht_args_value(args, "--model");
    if (model != NULL)
        TRY(HT_BY_FIRST(sim->comm, ht_output_model(sim->params, sim->plan->medium, sim->plan->shots,
                                                   sim->plan->receivers, model)));
    ht_report_notes(sim);
    TRY(check_data(sim));
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
    if (estimate.rate > 0 && isfinite(ratio))
        ht_say(&f,
               "  kernels   agree with the reference: worst difference %.2g of what rounding "
               "explains\n",
               ratio);
    const int warned = ht_log_warnings();
    ht_say(&f, "%s%s\n",
           warned ? HT_KEY("can run, with %d warning%s", warned, warned > 1 ? "s" : "") : "fine",
           sim->no_device ? ", but no device is available" : "");
    ht_fact(&f, HT_NUM("output_bytes", ht_disk_sum(sim)),
            HT_NUM("expected_s", rounds * estimate.seconds),
            HT_KNOWN("expected_cell_half_steps_per_s", estimate.rate),
            HT_NUM("absorbing_time_share", share), HT_NUM("selfcheck_ratio", ratio),
            HT_TEXT("no_device", sim->no_device), HT_INT("warnings", warned));
    if (sim->plan->grid.dims == 3) add_slab(sim, &f);
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
    HT_ENDED(ht_survey_end) struct ht_survey *survey = NULL;
    HT_ENDED(ht_simulation_end) struct ht_simulation *sim = NULL;
    TRY(HT_BY_FIRST(args->comm,
                    ht_params_blame(params, "output.directory",
                                    ht_file_check_directory(params->output.directory))));
    if (params->survey.count > 0) {
        TRY(ht_survey_plan(params, args->comm, false, &survey));
        return ht_comm_agree(args->comm, check(survey->sim, args));
    }
    TRY(ht_simulation_plan(params, args->comm, NULL, &sim));
    return ht_comm_agree(args->comm, check(sim, args));
}
