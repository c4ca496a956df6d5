/* The expected time of a run, from the compiled kernels on a small version of its grid. */
#include "app.h"
#include "htwave/gather.h"

/* Steps are timed that take so long, but not more of them. */
static const double enough_s = 0.1;
static const int64_t longest = 1024;

/* Seconds of `steps` time steps. */
static enum ht_err time_steps(const struct ht_stepper *stepper, const struct ht_part *part,
                              int64_t steps, double *seconds) {
    /* Else the values overflow in many steps. */
    TRY(ht_test_problem_fill(part, stepper));
    double began = ht_clock();
    TRY(ht_stepper_advance(stepper, steps));
    *seconds = ht_clock() - began;
    return HT_OK;
}

/* Cell half-steps per second. oracle: takes long, and compiles nothing. */
static enum ht_err find_rate(const struct ht_stepper *stepper, const struct ht_part *part,
                             bool oracle, double *rate) {
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
    const struct ht_grid *grid = problem->grid;
    struct ht_box box = {{0}, {1, 1, 1}};
    double all = INFINITY;
    *layers = *problem->layers;
    for (int64_t inside = 4096; inside > 0 && all > most; inside -= inside > 16 ? 16 : 4) {
        all = 1;
        for (int k = 0; k < grid->dims; k++) {
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

/* The plan's receivers in the part's box, at the same places of it. */
static enum ht_err squeeze(const struct ht_plan *plan, const struct ht_grid *grid,
                           struct ht_pool *pool, struct ht_receivers *out) {
    *out = *plan->receivers;
    TRY(HT_TAKE(pool, out->group, out->count));
    for (int n = 0; n < out->count; n++) {
        const struct ht_receiver_group *group = &plan->receivers->group[n];
        double(*x)[3] = NULL;
        TRY(HT_TAKE(pool, x, group->count));
        out->group[n] = *group;
        out->group[n].x = x;
        for (int64_t i = 0; i < group->count; i++)
            for (int k = 0; k < plan->grid.dims; k++)
                x[i][k] = grid->lower[k] + (group->x[i][k] - plan->grid.lower[k]) *
                                               (double)grid->cells[k] / (double)plan->grid.cells[k];
    }
    return HT_OK;
}

/* Seconds of the samples of a step: of their kernels and of the reads. */
static enum ht_err time_samples(const struct ht_stepper *stepper, struct ht_sampler *sampler,
                                double *seconds) {
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

static void end_sampler(struct ht_sampler **sampler) {
    ht_sampler_destroy(*sampler);
}

/* Samples do not depend on the grid's size. By one rank, which has all of them. With what makes
 * samples of all steps. */
static enum ht_err estimate_receivers(const struct ht_simulation *sim, const struct ht_part *part,
                                      struct ht_stepper *stepper, struct ht_estimate *out) {
    struct ht_plan plan = *sim->plan;
    struct ht_receivers receivers;
    HT_ENDED(ht_pool_free) struct ht_pool pool = {0};
    HT_ENDED(end_sampler) struct ht_sampler *sampler = NULL;
    double whole = 0;
    if (plan.receivers == NULL || sim->ranks > 1 || sim->oracle) return HT_OK;
    TRY(squeeze(&plan, &part->grid, &pool, &receivers));
    plan.grid = part->grid;
    plan.problem = part->problem;
    plan.receivers = &receivers;
    TRY(ht_sampler_create(&plan, stepper, &sampler));
    TRY(time_samples(stepper, sampler, &out->sample_s));
    TRY(ht_gather_time(sim->plan, &whole));
    out->sample_s += whole / (double)ht_most(sim->plan->steps, 1);
    out->sampler_bytes = ht_gather_bytes(&plan, ht_sampler_period(sampler));
    return HT_OK;
}

/* Of Hermite methods on a CPU, at least so many: a state of 1.25e7 numbers does not stay in its
 * caches, as those of runs do not. */
static double cells_beyond_caches(const struct ht_simulation *sim, double least) {
    const double numbers = 2.0 * sim->plan->problem.eq->nfields * ht_grid_coefs(&sim->plan->grid);
    return fmin(fmax(1.25e7 / numbers, least), 131072);
}

static double most_cells(const struct ht_simulation *sim) {
    const bool fd = sim->plan->problem.scheme->nodal;
    if (sim->oracle) return 8;
    if (sim->info.gpu) return fd ? 1 << 24 : 262144;
    /* a launch takes as long as 1e4 points of fd */
    return fd ? 1 << 18 : cells_beyond_caches(sim, 2048);
}

/* Without layers. */
static enum ht_err find_plain(struct ht_simulation *sim, double most, struct ht_estimate *out) {
    /* The reference takes minutes for all stages at N = 8 in 3-D; its time is proportional to their
     * number. */
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
    TRY(estimate_receivers(sim, &part, &stepper, out));
    memcpy(out->cells, part.grid.cells, sizeof out->cells);
    out->rate *= (double)part.problem.stages / sim->plan->problem.stages;
    return HT_OK;
}

static enum ht_err measure(struct ht_simulation *sim, struct ht_estimate *out) {
    const struct ht_problem *problem = &sim->plan->problem;
    const bool layers = problem->layers != NULL && !sim->oracle;
    const double most = most_cells(sim), least = 32768;
    /* With layers, in three dimensions enough for these and some cells inside. */
    const double with_layers = sim->info.gpu               ? 2 * most
                               : problem->scheme->nodal    ? 16 * most
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
enum ht_err ht_estimate_time(struct ht_simulation *sim, struct ht_estimate *out) {
    *out =
        (struct ht_estimate){.damped_rate = NAN, .sample_s = NAN, .seconds = NAN, .layer_s = NAN};
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
