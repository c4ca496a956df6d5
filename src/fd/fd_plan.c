/* The plan of finite differences: the fitted medium, the largest stable step, and what grids and
 * slabs they need; their steppers and samplers. */
#include "fd.h"
#include "src/solve/sampler_private.h"

/* Of a density that is a number everywhere, too, where a gradient is by it: second differences in
 * place of fluxes would be another scheme. */
static bool is_density(const struct ht_plan *plan) {
    const struct ht_medium *medium = plan->medium;
    const int material = plan->eq.second_order.inverse_density;
    if (material < 0 || !(medium->constant_materials >> material & 1u)) return material >= 0;
    return plan->params->gradient.wanted && plan->params->gradient.image == HT_IMAGE_GRADIENT &&
           ht_medium_decides(medium, &plan->params->gradient.parameters, material);
}

/* omega^2 <= rate^2 symbol_of: where the spacing is the same along all axes and the medium is
 * uniform, the rate is c / h. */
static HT_ERR find_rate(struct ht_plan *plan) {
    const struct ht_second_order *form = &plan->eq.second_order;
    struct ht_fd_problem *fd = &plan->problem.fd;
    const double *constant = plan->medium->constant;
    const bool density = is_density(plan);
    double most = 0, sum = 0;
    for (int k = 0; k < plan->grid.dims; k++)
        sum += 1 / (plan->grid.h[k] * plan->grid.h[k] * plan->grid.dims);
    if (plan->medium->uniform && !density) {
        fd->inverse_density = form->inverse_density >= 0 ? constant[form->inverse_density] : 1;
        plan->rate = sqrt(constant[form->modulus] * fd->inverse_density * sum);
        return HT_OK;
    }
    TRY(ht_frame_create(plan->medium, NULL, plan->params->medium.fit, &plan->frame));
    fd->density = density;
    fd->inverse_density = 1;
    if (form->inverse_density >= 0 && !fd->density) {
        double material[HT_MAX_MATERIALS];
        TRY(ht_medium_point(plan->medium, plan->grid.lower, material));
        fd->inverse_density = material[form->inverse_density];
    }
    fd->fill = ht_fd_fill_frame;
    fd->medium = plan;
    plan->problem.grid = &plan->grid;
    TRY(ht_fd_bound(&plan->problem, plan->frame, &most));
    /* omega^2 at rate 1. */
    const struct ht_fd_weights w = ht_fd_weights(plan->problem.fd.order);
    plan->rate =
        sqrt(most / (plan->grid.dims * ht_fd_symbol(&w, plan->problem.fd.density, acos(-1.0))));
    return HT_OK;
}

/* Ghosts of a periodic axis or a wall are nodes of the same window. */
HT_ERR ht_fd_check_points(const struct ht_plan *plan) {
    const struct ht_fd_spec spec = ht_fd_spec_of(&plan->problem, true);
    const int reach = ht_fd_reach(&spec);
    for (int k = 0; k < plan->grid.dims; k++)
        REFUSE(plan->grid.cells[k] <= reach, plan->params, "grid.cells",
               "the stencil of order %d reaches over %d points, but x%d has %lld cells: more than "
               "that are needed, or a lower grid.order",
               plan->problem.fd.order, reach, k + 1, (long long)plan->grid.cells[k]);
    return HT_OK;
}

/* The fit visits every point. */
enum ht_err ht_differences_plan_medium(struct ht_plan *plan) {
    TRY(ht_medium_scan(plan->medium, true));
    plan->problem.fd = (struct ht_fd_problem){.order = plan->order};
    TRY(find_rate(plan));
    return ht_fd_check_points(plan);
}

/* Layers take one term in time: with two the fastest waves would grow
 * (docs/developers/absorbing.md). */
int ht_differences_plan_stages(const struct ht_plan *plan) {
    return plan->problem.layers != NULL && plan->layers.type == HT_ABSORBING_CPML ? 1 : 2;
}

double ht_differences_plan_limit(const struct ht_plan *plan, int stages) {
    const struct ht_fd_weights w = ht_fd_weights(plan->problem.fd.order);
    return ht_fd_stable(&w, plan->problem.fd.density, stages, plan->grid.dims);
}

/* The first and the last slab hold the layers at the ends of x3, and closures, which no other rank
 * computes ahead. */
static HT_ERR check_end_slabs(const struct ht_plan *plan, const int64_t *start) {
    const struct ht_grid *grid = &plan->grid;
    const struct ht_params *params = plan->params;
    const int64_t reach = plan->order / 2;
    const int64_t closed =
        ht_fd_closure(plan->order, false).nodes + reach * params->parallel.halo_depth;
    const int ranks = ht_comm_size(grid->slab.comm);
    for (int side = 0; side < 2; side++) {
        const int64_t planes = side == 0 ? start[1] : start[ranks] - start[ranks - 1];
        const int64_t cells = grid->layer[2][side], needed = cells + reach;
        const bool matched = cells > 0 && params->absorbing.type != HT_ABSORBING_SPONGE;
        const char *end = side == 0 ? "lower" : "upper";
        REFUSE(matched && planes < needed, params, ht_layers_key(params),
               "the layer at the %s side of x3 belongs to one rank: with order %d its slab needs "
               "%lld planes, but has %lld of %d ranks",
               end, plan->order, (long long)needed, (long long)planes, ranks);
        REFUSE(ranks > 1 && ht_grid_closed(grid, 2, side) && planes < closed, params, "boundary.x3",
               "with order %d and halo_depth %d the slab at the %s side needs %lld planes, but has "
               "%lld of %d ranks",
               plan->order, params->parallel.halo_depth, end, (long long)closed, (long long)planes,
               ranks);
    }
    return HT_OK;
}

/* Ranks send own planes before each pass, as many as the stencil reaches where density varies. */
enum ht_err ht_differences_plan_slabs(const struct ht_plan *plan, const int64_t *start,
                                      int64_t thinnest) {
    const int reach = plan->order - 1, ranks = ht_comm_size(plan->grid.slab.comm);
    const int depth = plan->params->parallel.halo_depth;
    TRY(check_end_slabs(plan, start));
    REFUSE(thinnest < reach, plan->params, "grid.cells",
           "the stencil of order %d needs slabs of %d planes, but the thinnest of %d ranks has "
           "%lld: run fewer ranks or take a lower grid.order",
           plan->order, reach, ranks, (long long)thinnest);
    REFUSE(thinnest < (int64_t)reach * depth, plan->params, "parallel.halo_depth",
           "needs slabs of %lld planes, but the thinnest of %d ranks has %lld: at most %lld",
           (long long)reach * depth, ranks, (long long)thinnest, (long long)(thinnest / reach));
    return HT_OK;
}

/* ---- sources ---- */

/* Points at which a wave along an axis errs by `most` over ten wavelengths. */
double ht_plan_needed_points(const struct ht_plan *plan) {
    if (plan->duhamel != NULL) return plan->duhamel->needed;
    const struct ht_fd_weights w = ht_fd_weights(plan->order);
    const double most = 0.1, wavelengths = 10, axis[3] = {1, 0, 0};
    double points = 3.5;
    /* Where dispersion is removed steps count as if they were short. */
    const double dt = plan->problem.dt * (plan->problem.fd.undispersed ? 0.01 : 1);
    const double nu = plan->medium->slowest * dt / ht_grid_widest(&plan->grid);
    while (points < 1000 &&
           ht_fd_error(&w, plan->problem.stages, axis, points, nu, wavelengths) > most)
        points += 0.1;
    return points;
}

enum ht_err ht_differences_plan_shots(struct ht_plan *plan) {
    const double carried = 2.1;
    static const char *const names[] = {"radius", "tolerance"};
    for (int i = 0; i < 2 * plan->params->shots.count; i++) {
        const char *key = HT_KEY("sources.%d.%s", i / 2 + 1, names[i % 2]);
        REFUSE(ht_params_is_set(plan->params, key), plan->params, key,
               "has no meaning with time.scheme = \"fd\": it is for Hermite methods");
    }
    if (plan->shots == NULL || !(plan->problem.dt > 0)) return HT_OK;
    TRY(ht_shots_warn_jumps(plan->shots));
    TRY(ht_fd_surface_check(plan));
    const double points = ht_plan_shot_points(plan);
    const double needed = ht_plan_needed_points(plan);
    REFUSE(points < carried, plan->params, "sources",
           "have frequencies up to %.3g, of which the grid has %.2g points per wavelength where "
           "waves travel at %.3g: it carries none with less than 2, and %.2g are needed",
           plan->shots->highest, points, plan->medium->slowest, needed);
    if (points < needed)
        ht_warn("sources have frequencies up to %.3g, of which the grid has %.2g points per "
                "wavelength where waves travel at %.3g: order %d needs %.2g for errors below 10 %% "
                "over ten wavelengths",
                plan->shots->highest, points, plan->medium->slowest, plan->order, needed);
    return HT_OK;
}

enum { SPEEDS = 9 };

/* The error to expect of finite differences. They change a wave's frequency only, omega to Omega
 * (docs/developers/differences.md), so that it errs by 2 sin((Omega - omega) t/2): exact where the
 * medium is uniform.
 *
 * Where it varies, a wave of frequency omega takes the wavelengths of every speed, and turns:
 * |Omega - omega| is at most the largest over the speeds between the least and the largest and over
 * axes, edges and corners of the grid. In a smooth medium that bounds the phase error. */

/* (Omega - omega)/omega of a wave; INFINITY: it is not carried. */
static double shift_of(const struct ht_plan *plan, const struct ht_fd_weights *w, double speed,
                       const double k[3]) {
    const bool pair = plan->problem.fd.pair != HT_PAIR_NONE;
    const int terms = plan->problem.stages > 1 && pair ? HT_FD_PAIR : plan->problem.stages;
    double x = 0, square = 0;
    for (int j = 0; j < plan->grid.dims; j++) {
        const double h = plan->grid.h[j], theta = k[j] * h;
        const double nu = speed * plan->problem.dt / h;
        x += nu * nu * ht_fd_symbol(w, plan->problem.fd.density || pair, theta);
        square += k[j] * k[j];
    }
    return ht_fd_turn(terms, x) / (speed * sqrt(square) * plan->problem.dt) - 1;
}

/* The largest magnitude over directions with the same wavelength. */
static double worst_shift(const struct ht_plan *plan, const struct ht_fd_weights *w, double speed,
                          double length) {
    double worst = 0;
    for (int axes = 1; axes < 1 << plan->grid.dims; axes++) {
        const int used = (axes & 1) + (axes >> 1 & 1) + (axes >> 2 & 1);
        double k[3];
        for (int j = 0; j < 3; j++) k[j] = (axes >> j & 1) * length / sqrt(used);
        worst = fmax(worst, fabs(shift_of(plan, w, speed, k)));
    }
    return worst;
}

/* In a uniform medium that of the wave's kind, such as shear. */
static double speed_of(const struct ht_plan *plan, const double k[3]) {
    const struct ht_medium *medium = plan->medium;
    double real[HT_MAX_FIELDS] = {0}, imaginary[HT_MAX_FIELDS] = {0}, omega;
    if (!medium->uniform || plan->problem.fd.pair == HT_PAIR_NONE ||
        !ht_equations_plane(&plan->eq, medium->constant, k, plan->params->initial.wave, real,
                            imaginary, &omega))
        return medium->speed_min;
    return fabs(omega) / sqrt(k[0] * k[0] + k[1] * k[1] + k[2] * k[2]);
}

enum ht_err ht_differences_wave_error(const struct ht_plan *plan, const double k[3], double *out) {
    const struct ht_fd_weights w = ht_fd_weights(plan->order);
    const double least = speed_of(plan, k);
    const double length = sqrt(k[0] * k[0] + k[1] * k[1] + k[2] * k[2]);
    double fastest = least, shift = 0;
    for (int j = 0; j < plan->grid.dims; j++) fastest = fmax(fastest, plan->medium->speed[j]);
    if (plan->medium->uniform) shift = fabs(shift_of(plan, &w, least, k));
    for (int i = 0; i < SPEEDS && !plan->medium->uniform; i++) {
        const double speed = least * pow(fastest / least, i / (SPEEDS - 1.0));
        shift = fmax(shift, worst_shift(plan, &w, speed, length * least / speed));
    }
    const double phase = shift * least * length * plan->problem.dt * (double)plan->steps;
    *out = ht_fd_phase_error(phase);
    return HT_OK;
}

/* ---- steppers and samplers ---- */

enum ht_err ht_differences_stepper_create(const struct ht_problem *problem,
                                          struct ht_device *device,
                                          const struct ht_kernels *kernels,
                                          struct ht_stepper *out) {
    const struct ht_fd_engine engine = {.ops = &ht_fd_device_ops,
                                        .spec = ht_fd_spec_of(problem, kernels->spec[0].fp64),
                                        .device = device,
                                        .kernels = kernels};
    return ht_fd_stepper_create(problem, &engine, NULL, out);
}

enum ht_err ht_differences_oracle_create(const struct ht_problem *problem, struct ht_stepper *out) {
    const struct ht_fd_engine engine = {.ops = &ht_fd_plain_ops,
                                        .spec = ht_fd_spec_of(problem, true),
                                        .weights = ht_fd_weights(problem->fd.order)};
    return ht_fd_stepper_create(problem, &engine, NULL, out);
}

/* Receivers take values by the polynomials of htwave/grid.h. The nodes of a point are a product of
 * lists per axis. A row is the sum over those in one x3 plane; the weight of the plane comes in on
 * the host. */
void ht_differences_sampler_shape(const struct ht_plan *plan, struct ht_rows_shape *out) {
    int points = plan->grid.point_nodes;
    for (int64_t t = 0; t < plan->receivers->traces && points == plan->grid.point_nodes; t++)
        points += ht_trace_at(plan->receivers, t).reading.slope >= 0;
    out->coefs = 1;
    out->nodes = points;
    out->lines = plan->grid.dims > 1 ? points : 1;
    out->patterns = plan->receivers->traces;
    out->rows = out->patterns * (plan->grid.dims > 2 ? points : 1);
}

enum ht_err ht_differences_sampler_list(const struct ht_plan *plan, struct ht_sampler *out) {
    for (int64_t t = 0; t < out->traces; t++) {
        const struct ht_trace trace = ht_trace_at(plan->receivers, t);
        const unsigned parity = plan->eq.field[trace.reading.field].parity;
        const struct ht_grid grid =
            ht_grid_places(out->grid, plan->problem.early != 0 ? parity : 0);
        struct ht_sampler_row row = {.field = trace.reading.field, .pattern = out->shape.patterns};
        const int64_t n1 = ht_grid_nodes(out->grid, HT_PRIMARY, 0);
        struct ht_point_axis axis[3];
        bool any = false, own;
        int64_t *node;
        double *value;
        for (int k = 0; k < 3; k++)
            ht_point_axis_read(&grid, k, trace.x[k], trace.reading.slope == k, &axis[k]);
        TRY(ht_sampler_pattern(out, &node, &value));
        for (int k = 0; k < 2; k++)
            for (int i = 0; i < (k == 0 ? out->shape.nodes : out->shape.lines); i++) {
                *node++ = (k == 0 ? 1 : n1) * axis[k].node[i];
                *value++ = axis[k].weight[i];
            }
        for (int i = 0; i < axis[2].count; i++) {
            row.plane = axis[2].node[i];
            TRY(ht_sampler_add(out, &row, axis[2].weight[i], &own));
            any = any || own;
        }
        out->shape.patterns += any;
        out->first[t + 1] = out->all;
    }
    return HT_OK;
}

enum ht_err ht_differences_shot_bytes(const struct ht_plan *plan, bool fp64,
                                      struct ht_shot_bytes *out) {
    const struct ht_problem *problem = &plan->problem;
    const struct ht_fd_engine engine = {.spec = ht_fd_spec_of(problem, fp64)};
    const int64_t word = ht_real_size(fp64);
    const bool pair = problem->fd.pair != HT_PAIR_NONE;
    struct ht_fd_stepper s = {.at = 0};
    ht_fd_stepper_plan(problem, &engine, &s);
    const int64_t planes =
        pair ? ht_grid_planes(&plan->grid, HT_PRIMARY) : s.r.partition.window[HT_PRIMARY].count[2];
    HT_EACH_AT(i, const struct ht_shot, shot, problem->shots->shot, problem->shots->count) {
        const int64_t drives = pair ? shot->drives : 1;
        const int64_t more = ht_shot_most_nodes(problem->shots, i, planes) * drives;
        struct ht_fd_incidence_most most = {drives, more, more, 0};
        if (shot->type->outside) TRY(ht_fd_incidence_count(problem, shot, planes, &most));
        const int64_t table = HT_FD_INJECTION_ROWS * most.columns;
        out->device += 12 * most.nodes + (4 + word) * most.entries + word * table;
        out->host += most.host + 12 * most.nodes + 8 * table +
                     (12 + 2 * (int64_t)sizeof(struct ht_column_entry)) * most.entries;
    }
    return HT_OK;
}
