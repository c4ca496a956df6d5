/* From parameters to a problem: grid, walls, medium, initial data, stages, time step, error. */
#include "plan_parts.h"
#include "src/solve/sampler_private.h"

/* What depends on sources and receivers. */
static void forget_experiment(struct ht_plan *plan) {
    ht_receivers_destroy(plan->receivers);
    ht_duhamel_destroy(plan->duhamel);
    ht_shots_destroy(plan->shots);
    plan->receivers = NULL;
    plan->problem.duhamel = plan->duhamel = NULL;
    plan->problem.shots = plan->shots = NULL;
}

void ht_plan_destroy(struct ht_plan *plan) {
    if (plan == NULL) return;
    forget_experiment(plan);
    ht_solution_destroy(plan->solution);
    ht_frame_destroy(plan->frame);
    ht_pair_faces_destroy(plan->faces);
    ht_medium_destroy(plan->medium);
    free(plan);
}

static HT_ERR find_system(struct ht_plan *plan) {
    const struct ht_params *params = plan->params;
    const struct ht_system *system = ht_system_find(params->system);
    if (system == NULL) {
        HT_FREED_TEXT struct ht_text names = {0};
        for (int i = 0; i < ht_system_count(); i++)
            ht_text_add(&names, "%s%s", i ? ", " : "", ht_system_at(i)->name);
        TRY(ht_text_status(&names));
        return ht_params_error(params, "system", "must be one of %s", names.data);
    }
    TRY(ht_system_check(system));
    REFUSE(params->grid.dims > ht_system_largest(system), params, "grid.cells",
           "%d axes, but the system %s has 1 to %d", params->grid.dims, system->name,
           ht_system_largest(system));
    plan->eq = ht_equations_make(system, params->grid.dims);
    return HT_OK;
}

static HT_ERR find_walls(struct ht_plan *plan) {
    const struct ht_system *system = plan->eq.system;
    bool absorbing[3][2] = {{false}};
    HT_FREED_TEXT struct ht_text names = {0};
    for (int n = 0; ht_wall_at(system, n) != NULL; n++)
        ht_text_add(&names, "%s%s", n > 0 ? ", " : "", ht_wall_at(system, n)->name);
    TRY(ht_text_status(&names));
    HT_EACH_BY(k, const int, wall, plan->grid.wall[k], plan->grid.dims) {
        const char *key = HT_KEY("boundary.x%d", k + 1);
        HT_EACH_BY(side, const char, name, plan->params->boundary.side[k][side], 2) {
            const struct ht_wall_kind *kind = ht_wall_find(system, name);
            REFUSE(kind == NULL, plan->params, key, "\"%s\" is no boundary of system %s; it has %s",
                   name, system->name, names.data);
            absorbing[k][side] = kind->layer;
            plan->grid.wall[k][side] = kind->factor;
        }
        REFUSE((wall[0] == 0) != (wall[1] == 0), plan->params, key,
               "must be periodic on both sides or on neither");
    }
    return ht_layers_place(plan->params, (const bool(*)[2])absorbing, &plan->grid);
}

static const struct ht_method *method(const struct ht_plan *plan) {
    return plan->problem.scheme->does;
}

int ht_plan_full_order(const struct ht_plan *plan) {
    if (plan->grid.order > 0) return 2 * plan->order + 1;
    return (int)ht_least(plan->order, 2L * plan->problem.stages);
}

static HT_ERR check_ranks(const struct ht_plan *plan) {
    const struct ht_grid *grid = &plan->grid;
    int ranks = ht_comm_size(grid->slab.comm);
    if (ranks == 1) return HT_OK;
    REFUSE(grid->dims < 3, plan->params, "grid.cells",
           "%d ranks, but only grids with x3 are divided into slabs: run this one without mpiexec",
           ranks);
    REFUSE(grid->cells[2] < ranks, plan->params, "grid.cells",
           "%d ranks for %lld planes of cells along x3: every rank needs one", ranks,
           (long long)grid->cells[2]);
    return HT_OK;
}

/* A rank sends only planes that it owns, which limits the depth. */
enum ht_err ht_hermite_plan_slabs(const struct ht_plan *plan, HT_UNUSED const int64_t *start,
                                  int64_t thinnest) {
    const int depth = plan->params->parallel.halo_depth;
    if ((depth + 1) / 2 <= thinnest) return HT_OK;
    return ht_params_error(
        plan->params, "parallel.halo_depth",
        "needs slabs of %d planes, but the thinnest of %d ranks has %lld: at most %lld",
        (depth + 1) / 2, ht_comm_size(plan->grid.slab.comm), (long long)thinnest,
        2 * (long long)thinnest);
}

static HT_ERR cut_slabs(struct ht_plan *plan) {
    struct ht_slab *slab = &plan->grid.slab;
    int ranks = ht_comm_size(slab->comm), rank = ht_comm_rank(slab->comm);
    if (ranks == 1) return HT_OK;
    HT_ARRAY(int64_t, start, ranks + 1);
    /* parts as equal as they can be */
    for (int r = 0; r <= ranks; r++)
        start[r] = (2 * plan->grid.cells[2] * r + ranks) / (2 * (int64_t)ranks);
    slab->first = start[rank];
    slab->last = start[rank + 1];
    int64_t thinnest = start[1];
    for (int r = 1; r < ranks; r++) thinnest = ht_least(thinnest, start[r + 1] - start[r]);
    return method(plan)->plan_slabs(plan, start, thinnest);
}

int ht_hermite_plan_stages(const struct ht_plan *plan) {
    return ht_scheme_full_stages(plan->problem.scheme, &plan->eq, plan->grid.order);
}

double ht_hermite_plan_limit(const struct ht_plan *plan, int stages) {
    return ht_scheme_cfl(plan->problem.scheme, &plan->eq, plan->grid.order, stages);
}

/* Operators and separable half steps in a uniform medium take the same time for any number of
 * stages; all stages are exact and proven stable. */
static HT_ERR choose_stages(struct ht_plan *plan) {
    const struct ht_params *params = plan->params;
    const struct ht_value *given = &params->time.stages;
    const int dims = plan->grid.dims, order = plan->grid.order;
    const int full = method(plan)->plan_stages(plan);
    const double cfl = params->time.step > 0 ? plan->rate * params->time.step : params->time.cfl;
    if (given->kind == HT_VALUE_NUMBERS) {
        REFUSE(given->number[0] > full && order == 0, params, "time.stages", "at most %d with %s",
               full,
               full > 1                       ? "time.scheme = \"fd\""
               : plan->problem.second != NULL ? "absorbing layers of type cpml; "
                                                "absorbing.type = \"sponge\" takes 2"
               : plan->eq.losses != 0         ? "losses of staggered fields"
               : plan->problem.layers != NULL ? "absorbing sides of staggered fields"
                                              : "sources of staggered fields");
        REFUSE(given->number[0] > full, params, "time.stages",
               "at most %d (\"full\") are taken at order %d in %d dimensions", full, order, dims);
        plan->problem.stages = (int)given->number[0];
    } else if (strcmp(given->text, "least") == 0 ||
               (strcmp(given->text, "auto") == 0 && !plan->medium->uniform && order > 0)) {
        plan->problem.stages = (int)ht_least(
            ht_scheme_least_stages(plan->problem.scheme, &plan->eq, order, cfl), full);
    } else {
        /* Two terms of a pair cost as much per time as one. */
        const bool one = plan->problem.early != 0 && strcmp(given->text, "full") != 0;
        plan->problem.stages = one ? 1 : full;
    }
    plan->cfl_limit = method(plan)->plan_limit(plan, plan->problem.stages);
    REFUSE(plan->cfl_limit <= 0, params, "time.stages",
           "no stable time step is known for %d stages at order %d in %d dimensions; \"full\" (%d) "
           "and \"least\" are always stable",
           plan->problem.stages, order, dims, full);
    return HT_OK;
}

/* The least number of equal parts of the run, at most `most`, such that `apart` is a multiple of
 * their length; 0: none. Times may differ by 1e-9 of it, since the input has decimal digits. */
static int64_t equal_parts(double end, double apart, double most) {
    const double close = 1e-9, largest = 1e6;
    if (!(apart > 0) || apart >= end) return 1; /* the start and the end */
    most = fmin(most, largest);
    for (int64_t parts = 1; (double)parts <= most; parts++) {
        double inside = apart / end * (double)parts;
        if (fabs(inside - round(inside)) <= close * inside) return parts;
    }
    return 0;
}

/* Number of steps such that all outputs, else the snapshots, fall on steps, if that needs at most 5
 * % more steps: the step is constant over the run, since kernels contain it as literals. */
static double meet_outputs(struct ht_plan *plan, double steps) {
    const struct ht_params *params = plan->params;
    const double dearest = 1.05;
    double end = params->time.end, most = floor(steps * dearest);
    int64_t snapshots = equal_parts(end, params->output.snapshots ? params->output.every : 0, most);
    double drawn = params->output.pictures ? ht_value_or(&params->output.picture.every, 0) : 0;
    int64_t pictures = equal_parts(end, drawn, most);
    int64_t common = snapshots;
    for (int64_t y = pictures, rest; y > 0; common = y, y = rest) rest = common % y;
    const int64_t parts[] = {common > 0 ? snapshots / common * pictures : 0, snapshots, pictures};
    for (int i = 0; i < 3; i++) {
        const double n = (double)parts[i], more = n > 0 ? ceil(steps / n) * n : 0;
        plan->snapshots_off = i == 2;
        plan->pictures_off = i == 1;
        if (more > 0 && more <= most) return more;
    }
    plan->pictures_off = true;
    return steps;
}

static const char same_unit[] = "have the medium's speeds and grid's lengths the same unit?";

/* most: of a CFL number that the input leaves open. */
static HT_ERR choose_step(struct ht_plan *plan, double most) {
    const double far = 100; /* from what is stable */
    char more[64] = "";
    const struct ht_params *params = plan->params;
    const int full = method(plan)->plan_stages(plan);
    double per_time = plan->rate, dt = params->time.step;
    double cfl = params->time.cfl;
    const double rounding = 1e-12; /* of dt and of the CFL number */
    const bool pairs = plan->problem.early != 0 && plan->problem.stages > 1;
    /* The default is the same for every system; full stages may allow less. */
    if (!ht_params_is_set(params, "time.cfl") &&
        (plan->grid.order == 0 || plan->problem.stages == full))
        cfl = fmin(pairs ? INFINITY : cfl, plan->problem.scheme->usual_part * plan->cfl_limit);
    if (!ht_params_is_set(params, "time.cfl")) cfl = fmin(cfl, most);
    if (plan->problem.stages < full)
        snprintf(more, sizeof more, "; time.stages = \"full\" allows %.3g",
                 method(plan)->plan_limit(plan, full));
    if (dt > 0) {
        REFUSE(dt * per_time > plan->cfl_limit * (1 + rounding), params, "time.step",
               "unstable: with %d stages at order %d at most %.6g (cfl %.2f)%s",
               plan->problem.stages, plan->order, plan->cfl_limit / per_time, plan->cfl_limit,
               dt * per_time > far * plan->cfl_limit ? HT_KEY("; %s", same_unit) : "");
    } else {
        REFUSE(cfl > plan->cfl_limit * (1 + rounding), params, "time.cfl",
               "unstable: with %d stages at order %d in %d dimensions at most %.2f%s",
               plan->problem.stages, plan->order, plan->grid.dims, plan->cfl_limit, more);
        dt = per_time > 0 ? cfl / per_time : params->time.end;
    }
    double steps = dt > 0 ? ceil(params->time.end / dt * (1 - rounding)) : 0;
    REFUSE(!(steps < 1e15), params, "time.end", "needs %.3g steps", steps);
    if (steps > 0) steps = meet_outputs(plan, steps);
    if (params->resume.from != NULL) steps = (double)params->resume.steps;
    plan->steps = (int64_t)steps;
    plan->problem.dt = steps > 0 ? params->time.end / steps : 0;
    plan->cfl = plan->rate * plan->problem.dt;
    REFUSE(steps > 0 && !(plan->problem.dt * plan->problem.dt >= DBL_MIN), params, "time.end",
           "makes steps of %.3g, whose square is no number: take another unit of time",
           plan->problem.dt);
    return HT_OK;
}

/* Speeds of one unit and a box of another take very many steps, or waves longer than the box. */
static void warn_units(const struct ht_plan *plan) {
    const double many = 1e6;
    double longest = 0;
    for (int k = 0; k < plan->grid.dims; k++)
        longest = fmax(longest, plan->params->grid.upper[k] - plan->params->grid.lower[k]);
    const double highest = plan->shots ? plan->shots->highest : plan->params->initial.frequency;
    if ((double)plan->steps > many)
        ht_warn("%lld steps, in which waves at %.4g go %.3g times along the box: %s",
                (long long)plan->steps, plan->medium->fastest,
                plan->medium->fastest * plan->params->time.end / longest, same_unit);
    else if (highest > 0 && plan->medium->speed_min > longest * highest)
        ht_warn(
            "the shortest waves, of frequency %.4g at speed %.4g, are %.3g times as long as the "
            "box: %s",
            highest, plan->medium->speed_min, plan->medium->speed_min / highest / longest,
            same_unit);
}

/* How far the series amplifies rounding: nowhere too far below N = 5 (noise 0.7), which count as 0,
 * and in double precision (0.02 at N = 8), both of advection along (1,1,1) at cfl 1. Where the
 * medium varies, all kernels of Hermite methods sum the series, and steps that the input leaves
 * open are short enough for that. */
static HT_ERR limit_rounding(struct ht_plan *plan) {
    const struct ht_params *params = plan->params;
    double *amplification = &plan->problem.amplification;
    const double *speed = plan->medium->speed;
    if (ht_in_double(params)) return HT_OK;
    *amplification = ht_series_amplification(&plan->problem, speed);
    if (plan->medium->uniform || ht_params_is_set(params, "time.cfl") || params->time.step > 0 ||
        !ht_series_grows(&plan->problem))
        return HT_OK;
    TRY(choose_step(plan, ht_plan_quiet_cfl(plan)));
    *amplification = ht_series_amplification(&plan->problem, speed);
    return HT_OK;
}

static HT_ERR choose_order(struct ht_plan *plan) {
    const struct ht_scheme *scheme = plan->problem.scheme;
    plan->grid.order = ht_scheme_degree(scheme, plan->order);
    if (plan->grid.order == 0) plan->grid.point_nodes = ht_point_nodes(plan->order);
    if (plan->order % scheme->order_step == 0 && plan->order <= scheme->most_order) return HT_OK;
    return ht_params_error(plan->params, "grid.order",
                           "is %s (time.scheme = \"%s\"%s%s): must be %s%d", scheme->order_of,
                           scheme->name, plan->chosen_by[0] != '\0' ? ", " : "", plan->chosen_by,
                           scheme->order_step > 1 ? "2, 4 .. " : "1 to ", scheme->most_order);
}

enum ht_err ht_hermite_plan_medium(struct ht_plan *plan) {
    TRY(ht_medium_scan(plan->medium, false));
    for (int k = 0; k < plan->grid.dims; k++)
        plan->rate = fmax(plan->rate, plan->medium->speed[k] / plan->grid.h[k]);
    if (!plan->medium->vanishes) return HT_OK;
    return ht_params_error(plan->params, "time.scheme",
                           "Hermite methods (\"%s\") need materials that are positive, but \"%s\" "
                           "has 0 somewhere (a fluid): that is for finite differences",
                           plan->problem.scheme->name, plan->eq.system->name);
}

enum ht_err ht_hermite_plan_shots(struct ht_plan *plan) {
    TRY(ht_duhamel_create(plan, &plan->duhamel));
    plan->problem.duhamel = plan->duhamel;
    return HT_OK;
}

static HT_ERR make_receivers(struct ht_plan *plan) {
    const struct ht_params *params = plan->params;
    const struct ht_receivers_of of = {
        .eq = &plan->eq,
        .grid = &plan->grid,
        .held = plan->problem.stored[HT_PRIMARY],
        .second = plan->problem.second,
        .half_early = plan->problem.early,
        .dt = plan->problem.dt,
        .steps = plan->steps,
        .frequency =
            fmax(params->initial.frequency, plan->shots != NULL ? plan->shots->highest : 0)};
    return ht_receivers_create(params, &of, &plan->receivers);
}

/* The field of finite differences begins with the rate 0, or one group of a pair with 0. */
static bool begins_at_rest(const struct ht_plan *plan) {
    const struct ht_second_order *form = plan->problem.second;
    const unsigned all = (1u << plan->eq.nfields) - 1;
    const unsigned moving = form != NULL ? all & ~(1u << form->field) : plan->problem.early;
    bool moves = false;
    HT_EACH_BIT(f, moving) moves = moves || ht_solution_occurs(plan->solution, f);
    return !moves;
}

/* A snapshot of finite differences lacks the rate of p; that of others is its first differences. */
static HT_ERR check_snapshot(const struct ht_plan *plan) {
    if (plan->grid.order > 0 || !(plan->solution->snapshot > 0)) return HT_OK;
    return ht_params_error(plan->params, "initial.file",
                           "is a snapshot of a run at time %g, which finite differences do not "
                           "continue: it lacks the field's rate; run from time 0, or continue with "
                           "time.scheme = \"taylor\" from a snapshot of all fields of that scheme",
                           plan->solution->snapshot);
}

/* Removed where it can be and there are traces: of what begins with a rate it cannot be,
 * resampler.c; waves from outside are made for the scheme's own dispersion. */
static HT_ERR choose_dispersion(struct ht_plan *plan) {
    const enum ht_dispersion given = plan->params->time.dispersion;
    const bool can = plan->grid.order == 0 && plan->problem.stages == 1;
    bool rest = can && begins_at_rest(plan);
    HT_EACH_SHOT(shot, plan->shots) rest = rest && !shot->type->outside;
    plan->problem.fd.undispersed =
        rest && (given == HT_DISPERSION_REMOVE ||
                 (given == HT_DISPERSION_AUTO && plan->params->receivers.count > 0));
    if (rest || given != HT_DISPERSION_REMOVE) return HT_OK;
    return ht_params_error(
        plan->params, "time.dispersion", "%s",
        can ? "is removed from runs that begin at rest, without plane waves from outside"
            : "is removed from finite differences with one term in time: needs time.scheme = "
              "\"fd\" and time.stages = 1");
}

/* ---- receivers whose traces err by more than what is said of the run ---- */

struct nearest {
    double error, distance, from; /* distance: cells; from: radii */
    int shot, order;
    double x[3];
};

static void judge_point(const struct ht_plan *plan, const struct ht_source_point *point,
                        const double x[3], struct nearest *worst) {
    const struct ht_source_form *form = &plan->duhamel->form[point->shot];
    const double apart = 0.05, end = 12;
    double square = 0, error = 0;
    if (plan->shots->shot[point->shot].width > 0) return;
    for (int k = 0; k < plan->grid.dims; k++) {
        if (!ht_source_reaches(&plan->problem, point, k, x[k])) return;
        if (ht_source_varies(form, k)) square += pow((x[k] - point->x[k]) / plan->grid.h[k], 2);
    }
    /* The part of the Gaussian beyond the distance, by magnitude: there the source acts on both
     * sides. It is less further away. */
    const double distance = sqrt(square), from = distance / form->radius;
    if (form->order == worst->order && from > worst->from + 2 * apart) return;
    for (int n = 0; from < end && n < (int)ceil((end - from) / apart - 0.5); n++) {
        long double value;
        ht_flat_derivatives(form->order, from + (n + 0.5) * apart, 1, &value);
        error += apart * fabs((double)value);
    }
    if (error <= worst->error) return;
    *worst = (struct nearest){.error = error,
                              .distance = distance,
                              .from = from,
                              .shot = point->shot,
                              .order = form->order,
                              .x = {x[0], x[1], x[2]}};
}

static void warn_near(const struct ht_plan *plan) {
    struct nearest worst = {.error = 0};
    for (int64_t t = 0; t < plan->receivers->traces; t++) {
        const struct ht_trace trace = ht_trace_at(plan->receivers, t);
        for (int64_t i = 0; i < plan->duhamel->points; i++)
            judge_point(plan, &plan->duhamel->point[i], trace.x, &worst);
    }
    if (worst.error <= fmax(0.01, plan->duhamel->form[worst.shot].error)) return;
    ht_warn(
        "receivers: the one at %s is %.2g cells from sources.%d, whose Gaussian of radius %g is no "
        "point there: up to %.2g %% of it lie further away; take more cells, or another place",
        HT_PLACED(&plan->grid, worst.x), worst.distance, plan->shots->shot[worst.shot].group,
        plan->duhamel->form[worst.shot].radius, 100 * worst.error);
}

/* Values between nodes on both sides of a box's surface are of no field. */
static bool beside(const struct ht_plan *plan, const struct ht_shot *shot, const double x[3]) {
    const int reach = plan->grid.point_nodes / 2;
    bool near = false;
    for (int k = 0; k < plan->grid.dims; k++) {
        const double h = reach * plan->grid.h[k], close = 1e-9 * plan->grid.h[k];
        if (shot->first[k] <= plan->grid.lower[k] + close &&
            shot->last[k] >= plan->grid.upper[k] - close)
            continue; /* the box is as long as the grid */
        if (x[k] < shot->first[k] - h || x[k] > shot->last[k] + h) return false;
        near = near || fabs(x[k] - shot->first[k]) < h || fabs(x[k] - shot->last[k]) < h;
    }
    return near;
}

static void warn_beside(const struct ht_plan *plan) {
    const int reach = plan->grid.point_nodes / 2;
    for (int64_t t = 0; t < plan->receivers->traces; t++)
        HT_EACH_SHOT(shot, plan->shots) {
            const struct ht_trace trace = ht_trace_at(plan->receivers, t);
            if (!shot->type->outside || !beside(plan, shot, trace.x)) continue;
            ht_warn("receivers: the one at %s takes values from both sides of the surface of the "
                    "box of sources.%d, where fields jump: move it %g or more away",
                    HT_PLACED(&plan->grid, trace.x), shot->group,
                    reach * ht_grid_widest(&plan->grid));
            return;
        }
}

/* Of a shot's energy the part above what the sinc carries, as an amplitude. */
static void warn_between(const struct ht_plan *plan) {
    const struct ht_resampling of = ht_resampling_of(plan);
    const double most = 0.01, carried = 2.4;
    const double highest = carried * of.per_step / (2 * HT_PI * plan->problem.dt);
    HT_EACH_SHOT(shot, plan->shots) {
        double energy[HT_SIGNAL_BANDS], above = 0;
        ht_shot_bands(&plan->eq, shot, energy);
        for (int b = 0; b < HT_SIGNAL_BANDS; b++)
            if (ht_shot_band(shot, b) > highest) above += energy[b];
        if (!of.sinc || sqrt(above) <= most) continue;
        ht_warn("receivers: samples between steps of %.3g carry frequencies up to %.3g, beyond "
                "which sources.%d has %.2g %% of its amplitude: take \"every\" = \"step\", or a "
                "smaller time.cfl",
                plan->problem.dt, highest, shot->group, 100 * sqrt(above));
        return;
    }
}

HT_ERR ht_plan_quality(const struct ht_plan *plan, struct ht_quality_band *out) {
    const bool attenuates =
        plan->medium->losses != 0 && plan->eq.system->loss->kind == HT_LOSS_ATTENUATES;
    *out = (struct ht_quality_band){.group = 0};
    HT_EACH_SHOT(shot, attenuates ? plan->shots : NULL) {
        double energy[HT_SIGNAL_BANDS], mean = 0, at;
        ht_shot_bands(&plan->eq, shot, energy);
        for (int b = 0; b < HT_SIGNAL_BANDS; b++) mean += energy[b] * ht_shot_band(shot, b);
        TRY(ht_medium_parameter(plan->medium, "q_frequency", shot->first, &at));
        if (mean > 0 &&
            (out->group == 0 || fabs(log(at / mean)) > fabs(log(out->frequency / out->mean))))
            *out = (struct ht_quality_band){.frequency = at, .mean = mean, .group = shot->group};
    }
    return HT_OK;
}

/* One relaxation has the quality factor within half an octave of its frequency. */
static HT_ERR warn_quality(const struct ht_plan *plan) {
    struct ht_quality_band band;
    TRY(ht_plan_quality(plan, &band));
    if (band.group > 0 && fabs(log2(band.frequency / band.mean)) > 0.5)
        ht_warn("medium.q_frequency is %.4g at sources.%d, whose waves are of %.3g in the mean: "
                "quality factors hold within half an octave of q_frequency alone",
                band.frequency, band.group, band.mean);
    return HT_OK;
}

static HT_ERR make_experiment(struct ht_plan *plan, const struct ht_shots *before) {
    TRY(ht_shots_create(plan->params, plan->medium, before, &plan->shots));
    plan->problem.shots = plan->shots;
    TRY(choose_dispersion(plan));
    TRY(method(plan)->plan_shots(plan));
    TRY(ht_plan_weigh_shots(plan));
    TRY(make_receivers(plan));
    ht_plan_warn_layers(plan);
    TRY(warn_quality(plan));
    if (plan->receivers == NULL || plan->shots == NULL) return HT_OK;
    if (plan->duhamel != NULL) warn_near(plan);
    warn_beside(plan);
    warn_between(plan);
    return HT_OK;
}

HT_ERR ht_plan_aim(struct ht_plan *plan, const struct ht_params *params) {
    HT_ENDED(ht_shots_end) struct ht_shots *before = plan->shots;
    plan->shots = NULL;
    forget_experiment(plan);
    plan->params = params;
    plan->scale = 1;
    return ht_comm_agree(plan->grid.slab.comm, make_experiment(plan, before));
}

static void warn_every(const struct ht_params *params) {
    const struct ht_map_given *map = params->output.maps.group;
    const double end = params->time.end;
    const struct {
        const char *key, *then;
        double every;
    } row[] = {
        {"output.every", "the last state alone is written", params->output.every},
        {"output.picture.every", "none is drawn of the times between",
         params->output.pictures ? ht_value_or(&params->output.picture.every, 0) : 0},
        {"output.checkpoint.every", "none is written", params->output.checkpoint.every},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        if (row[i].every > end && end > 0)
            ht_warn("%s = %g is above time.end = %g: %s", row[i].key, row[i].every, end,
                    row[i].then);
    for (int n = 0; n < params->output.maps.count; n++) {
        const double every = ht_value_or(&map[n].every, 0);
        if (every > end - map[n].start && end > map[n].start)
            ht_warn(
                "output.maps.%d.every = %g is above what time.end leaves, %g: the map is of one "
                "sample, at time %g",
                n + 1, every, end - map[n].start, map[n].start);
        for (int w = 0; w < map[n].frequencies.count; w++) {
            const double periods = map[n].frequencies.number[w] * (end - map[n].start);
            if (periods < 1)
                ht_warn("output.maps.%d.frequencies: %g has %.2g of a period until time.end = %g, "
                        "too little for a Fourier transform",
                        n + 1, map[n].frequencies.number[w], periods, end);
        }
    }
}

static HT_ERR make(struct ht_plan *plan) {
    TRY(find_system(plan));
    const struct ht_params *params = plan->params;
    struct ht_grid *grid = &plan->grid;
    grid->dims = params->grid.dims;
    for (int k = 0; k < 3; k++) {
        bool exists = k < grid->dims;
        grid->cells[k] = exists ? params->grid.cells[k] : 1;
        grid->lower[k] = params->grid.lower[k];
        grid->upper[k] = params->grid.upper[k];
        grid->h[k] = exists ? (grid->upper[k] - grid->lower[k]) / (double)grid->cells[k] : 1;
    }
    TRY(find_walls(plan));
    TRY(check_ranks(plan));
    TRY(ht_medium_read(plan->params, &plan->eq, &plan->grid, &plan->medium));
    TRY(ht_plan_choose_scheme(plan));
    TRY(choose_order(plan));
    TRY(cut_slabs(plan));
    plan->problem.halo = (struct ht_halo_choice){.depth = plan->params->parallel.halo_depth,
                                                 .precision = plan->params->parallel.halo_precision,
                                                 .transport = plan->params->parallel.transport};
    TRY(method(plan)->plan_medium(plan));
    if (ht_layers_any(&plan->grid)) TRY(method(plan)->plan_layers(plan));
    struct ht_problem *problem = &plan->problem;
    const struct ht_medium *medium = plan->medium;
    problem->grid = &plan->grid;
    problem->medium_degree = medium->uniform ? -1 : medium->degree;
    problem->medium_coefs = medium->uniform ? 0 : medium->coefs;
    problem->constant = medium->constant_materials;
    memcpy(problem->uniform, medium->constant, sizeof problem->uniform);
    problem->medium = medium;
    problem->medium_fill = NULL;
    TRY(choose_stages(plan));
    TRY(choose_step(plan, INFINITY));
    TRY(limit_rounding(plan));
    ht_plan_limit_layers(plan);
    if (!plan->medium->uniform) plan->problem.medium_fill = ht_medium_fill;
    if (!plan->medium->uniform) ht_plan_continue_medium(plan);
    TRY(ht_solution_create(plan->params, plan->medium, &plan->solution));
    TRY(check_snapshot(plan));
    TRY(make_experiment(plan, NULL));
    warn_units(plan);
    warn_every(params);
    return ht_expect(plan);
}

/* Collective calls inside end on all ranks after a failure: all reach the caller's agreement. */
HT_ERR ht_plan_create(const struct ht_params *params, struct ht_comm *comm, struct ht_plan **out) {
    struct ht_plan *plan = NULL;
    enum ht_err err = HT_ALLOC(plan, 1);
    if (err == HT_OK) {
        plan->params = params;
        plan->scale = 1;
        plan->grid.slab.comm = comm;
        ht_threads_set(params->device.threads > 0 ? params->device.threads : ht_comm_cores(comm));
        err = make(plan);
    }
    err = ht_comm_agree(comm, err);
    return HT_MADE(err, plan, ht_plan_destroy, out);
}
