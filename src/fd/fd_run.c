/* One field of finite differences in a run: the start, the energy (docs/developers/differences.md).
 *
 * The state at time 0 is u, and d = u(0) - u(-dt) by the series that the scheme itself sums, with r
 * = u_t: d = dt r - dt^2/2 M u + dt^3/6 L r. r comes from the initial data's first derivatives: a
 * solution of order 1. */
#include "fd.h"

/* out += dt^2 M u / divisor at the own nodes, M = L [+ dt^2/12 L^2]; w: scratch. Collective. */
static HT_ERR apply(struct ht_fd_stepper *s, double divisor, struct ht_buffer *out) {
    s->apply_divisor = divisor;
    s->apply_to = out;
    return ht_fd_run_sequence(s, HT_FD_MEASURE);
}

/* ---- the start ---- */

/* Values of coefficients that the threads may hold together. */
enum { COEFS = 1 << 26 };

struct start {
    const struct ht_plan *plan;
    struct ht_fd_stepper *fd;
    struct ht_grid grid; /* of order 1 */
    struct ht_medium medium;
    struct ht_solution *solution;
    int64_t parts;  /* of a block's planes, each for a thread */
    double **coefs; /* of each part: one x3 plane */
    int64_t block;  /* planes of each of these: */
    double *u, *r, *modulus;
    double *share[3], *flow[3]; /* for matched layers along an axis; else NULL */
    int64_t first, planes;      /* of the block */
    struct ht_pool pool;
};

static void end(struct start *s) {
    ht_solution_destroy(s->solution);
    ht_pool_free(&s->pool);
}

static HT_ERR prepare(const struct ht_plan *plan, struct start *s) {
    const int64_t plane = ht_grid_plane(&plan->grid, HT_PRIMARY);
    s->plan = plan;
    s->grid = plan->grid;
    s->grid.order = 1;
    s->medium = *plan->medium;
    s->medium.grid = &s->grid;
    s->block = ht_fd_block_planes(&plan->grid);
    const int64_t all = plane * ht_grid_coefs(&s->grid) * plan->eq.nfields;
    s->parts = ht_most(1, ht_least(COEFS / all, ht_least(ht_threads_count(), s->block)));
    TRY(ht_solution_create(plan->params, &s->medium, &s->solution));
    TRY(HT_TAKE(&s->pool, s->coefs, s->parts));
    for (int64_t w = 0; w < s->parts; w++) TRY(HT_TAKE(&s->pool, s->coefs[w], all));
    TRY(HT_TAKE(&s->pool, s->u, s->block * plane));
    TRY(HT_TAKE(&s->pool, s->r, s->block * plane));
    for (int k = 0; k < s->grid.dims; k++) {
        if (plan->problem.layers == NULL || plan->layers.type != HT_ABSORBING_CPML ||
            plan->grid.layer[k][0] + plan->grid.layer[k][1] == 0)
            continue;
        TRY(HT_TAKE(&s->pool, s->share[k], s->block * plane));
        TRY(HT_TAKE(&s->pool, s->flow[k], s->block * plane));
    }
    return HT_TAKE(&s->pool, s->modulus, s->block * plane);
}

bool ht_fd_held(const struct ht_grid *grid, int64_t m3, int64_t node) {
    const int64_t n1 = ht_grid_nodes(grid, HT_PRIMARY, 0);
    const int64_t m[3] = {node % n1, node / n1, m3};
    bool held = false;
    for (int k = 0; k < grid->dims; k++) held = held || ht_grid_held(grid, k, m[k]);
    return held;
}

/* u_t, but for the factor -K of -K div v, v = -s_k f_k. */
static void find_rate(const struct start *s, const double *coefs, double *rate) {
    const struct ht_second_order *form = &s->plan->eq.second_order;
    const int64_t plane = ht_grid_plane(&s->grid, HT_PRIMARY);
    const int64_t field = plane * ht_grid_coefs(&s->grid);
    if (form->rate >= 0) {
        memcpy(rate, coefs + form->rate * field, (size_t)plane * sizeof *rate);
        return;
    }
    memset(rate, 0, (size_t)plane * sizeof *rate);
    for (int k = 0; k < s->grid.dims; k++) {
        const double *slope = coefs + form->flux[k] * field + ((int64_t)1 << k) * plane;
        for (int64_t n = 0; n < plane; n++) rate[n] -= form->sign[k] * slope[n] / s->grid.h[k];
    }
}

/* For layers along an axis minus what v along the others has in u_t, but for K, and v at the half
 * points above the nodes; of a rate that is given nothing. */
static void find_share(const struct start *s, int64_t at, int k, const double *coefs) {
    const struct ht_second_order *form = &s->plan->eq.second_order;
    const int64_t plane = ht_grid_plane(&s->grid, HT_PRIMARY);
    const int64_t field = plane * ht_grid_coefs(&s->grid);
    double *share = s->share[k] + at * plane, *flow = s->flow[k] + at * plane;
    if (form->rate >= 0) return; /* both stay 0 */
    const double *v = coefs + form->flux[k] * field;
    const double *slope = v + ((int64_t)1 << k) * plane;
    for (int64_t n = 0; n < plane; n++) {
        share[n] = -form->sign[k] * slope[n] / s->grid.h[k] - s->r[at * plane + n];
        flow[n] = -form->sign[k] * (v[n] + slope[n] / 2);
    }
}

static HT_ERR find_part(void *data, int64_t part) {
    const struct start *s = data;
    const int64_t end = ht_threads_first(s->planes, s->parts, part + 1);
    for (int64_t i = ht_threads_first(s->planes, s->parts, part); i < end; i++) {
        /* u and r of a plane of the block. */
        double *coefs = s->coefs[part];
        const int64_t plane = ht_grid_plane(&s->grid, HT_PRIMARY);
        const int64_t m = s->first + i;
        double *u = s->u + i * plane;
        TRY(ht_solution_fill(s->solution, HT_PRIMARY, 0, m, m + 1, coefs));
        ht_plan_multiply(s->plan, false, plane * ht_grid_coefs(&s->grid) * s->plan->eq.nfields,
                         coefs);
        find_rate(s, coefs, s->r + i * plane);
        for (int k = 0; k < s->grid.dims; k++)
            if (s->share[k] != NULL) find_share(s, i, k, coefs);
        coefs += s->plan->eq.second_order.field * plane * ht_grid_coefs(&s->grid);
        for (int64_t n = 0; n < plane; n++) u[n] = ht_fd_held(&s->grid, m, n) ? 0 : coefs[n];
    }
    return HT_OK;
}

static HT_ERR multiply_by_modulus(const struct start *s) {
    const struct ht_fd_problem *fd = &s->fd->problem.fd;
    const int64_t plane = ht_grid_plane(&s->grid, HT_PRIMARY);
    bool moves = false;
    for (int64_t n = 0; n < s->planes * plane && !moves; n++) moves = s->r[n] != 0;
    if (!moves || s->plan->eq.second_order.rate >= 0) return HT_OK;
    TRY(fd->fill(fd->medium, 0, s->first, s->first + s->planes, s->modulus));
    for (int64_t n = 0; n < s->planes * plane; n++) {
        s->r[n] *= -s->modulus[n];
        for (int k = 0; k < s->grid.dims; k++)
            if (s->share[k] != NULL) s->share[k][n] *= -s->modulus[n];
    }
    return HT_OK;
}

/* v becomes h v/(b dt). */
static HT_ERR divide_by_density(const struct start *s, int k) {
    const struct ht_fd_problem *fd = &s->plan->problem.fd;
    const int64_t plane = ht_grid_plane(&s->grid, HT_PRIMARY);
    const double dt = s->plan->problem.dt;
    if (fd->density) TRY(fd->fill(fd->medium, 1 + k, s->first, s->first + s->planes, s->modulus));
    for (int64_t n = 0; n < s->planes * plane; n++)
        s->flow[k][n] /= dt * (fd->density ? s->modulus[n] : fd->inverse_density) / s->grid.h[k];
    return HT_OK;
}

/* u, then dt r in the place of the increment, then what layers take. */
static HT_ERR put_block(struct start *s) {
    const int64_t plane = ht_grid_plane(&s->grid, HT_PRIMARY), last = s->first + s->planes;
    const double dt = s->plan->problem.dt;
    TRY(ht_threads_run(s->parts, find_part, s));
    TRY(multiply_by_modulus(s));
    for (int64_t n = 0; n < s->planes * plane; n++)
        s->r[n] = ht_fd_held(&s->grid, s->first + n / plane, n % plane) ? 0 : dt * s->r[n];
    TRY(ht_fd_move_planes(s->fd, s->fd->values[HT_FD_U], s->first, last, s->u, NULL));
    TRY(ht_fd_move_planes(s->fd, s->fd->values[HT_FD_D], s->first, last, s->r, NULL));
    for (int k = 0; k < s->grid.dims; k++) {
        if (s->share[k] == NULL) continue;
        TRY(divide_by_density(s, k));
        for (int64_t n = 0; n < s->planes * plane; n++) s->share[k][n] *= dt;
        for (int64_t at = 0; at < s->planes * plane; at += plane)
            TRY(ht_fd_layers_put(s->fd, k, s->first + at / plane, s->share[k] + at,
                                 s->flow[k] + at));
    }
    return HT_OK;
}

enum ht_err ht_differences_start(const struct ht_plan *plan, HT_UNUSED struct ht_device *device,
                                 HT_UNUSED const struct ht_tuning *tuning,
                                 const struct ht_stepper *stepper) {
    struct ht_fd_stepper *fd = ht_fd_stepper_of(stepper);
    TRY(ht_fd_rest(fd));
    if (plan->solution->rest) return HT_OK;
    struct ht_buffer *const *v = fd->values;
    HT_ENDED(end) struct start s = {.plan = plan, .fd = fd};
    struct ht_progress progress;
    const struct ht_range own = ht_grid_own(&plan->grid, HT_PRIMARY);
    TRY(prepare(plan, &s));
    ht_progress_start(&progress, "initial data", (double)(own.last - own.first), "nodes",
                      (double)ht_grid_plane(&plan->grid, HT_PRIMARY));
    enum ht_err err = HT_OK;
    for (s.first = own.first; err == HT_OK && s.first < own.last; s.first += s.block) {
        s.planes = ht_least(s.block, own.last - s.first);
        err = put_block(&s);
        ht_progress_update(&progress, (double)(s.first + s.planes - own.first));
    }
    ht_progress_end(&progress);
    TRY(err);
    /* From u and dt r in place of d the d of the start. */
    TRY(ht_fd_advance_own(fd, -1, v[HT_FD_W], v[HT_FD_W]));
    TRY(ht_fd_advance_own(fd, 1, v[HT_FD_D], v[HT_FD_W]));
    ht_halo_overwritten(&fd->r.state, HT_FD_W);
    TRY(ht_fd_run_sequence(fd, HT_FD_BEGIN));
    return apply(fd, -2, v[HT_FD_D]);
}

/* z = dt^2 M u, with the sums of u and z. */
static HT_ERR apply_alone(struct ht_fd_stepper *s, struct ht_measure *u) {
    TRY(ht_fd_advance_own(s, -1, s->z, s->z));
    TRY(apply(s, 1, s->z));
    return ht_fd_total(s, NULL, s->values[HT_FD_U], s->z, u);
}

/* ---- with layers ---- */

/* The nodes of the layer at a side remain, or else those of none there. */
static void cut_part(const struct ht_fd_stepper *s, int k, int side, bool inside,
                     struct ht_fd_part *part) {
    const int64_t cells = s->problem.layers->side[k][side].cells;
    const int64_t first = s->box.begin[k] - (k == 2 ? s->own.first : 0);
    const bool below = inside == (side == 0);
    const int64_t at = side == 0 ? first + cells : first + s->problem.grid->cells[k] + 1 - cells;
    if (below)
        part->box.end[k] = ht_least(part->box.end[k], at);
    else
        part->box.begin[k] = ht_most(part->box.begin[k], at);
    part->ends.half[k][below ? 1 : 0] = false;
}

bool ht_fd_part_layer(const struct ht_fd_stepper *s, int n, struct ht_fd_part *out) {
    *out = (struct ht_fd_part){s->box, s->ends};
    if (s->problem.layers == NULL || s->problem.layers->side[n / 2][n % 2].cells == 0) return false;
    cut_part(s, n / 2, n % 2, true, out);
    return true;
}

struct ht_fd_part ht_fd_part_open(const struct ht_fd_stepper *s) {
    struct ht_fd_part part = {s->box, s->ends}, layer;
    for (int n = 0; n < 6; n++)
        if (ht_fd_part_layer(s, n, &layer)) cut_part(s, n / 2, n % 2, false, &part);
    return part;
}

/* Of a node outside of layers all its energy counts, as differences, so that parts have one; inside
 * only that of u's rate: gradients there are as steep as the layer is thin, however long the waves.
 * In layers of its sides, too. */
static HT_ERR find_open(struct ht_fd_stepper *s, struct ht_state *out, struct ht_measure *u) {
    const double dt = s->problem.dt;
    const struct ht_fd_work slope = {.operation = HT_FD_SQUARES,
                                     .box = s->box,
                                     .law = ht_fd_scaled(&s->law, dt * dt),
                                     .u = s->values[HT_FD_U],
                                     .out = s->z};
    struct ht_buffer *const d = s->values[HT_FD_D];
    const struct ht_fd_part inner = ht_fd_part_open(s);
    struct ht_fd_part layer;
    struct ht_measure dz, dd, slopes, rate, sum;
    double half = 1 / (2 * dt * dt);
    for (int k = 0; k < s->engine.spec.dims; k++) half *= s->problem.grid->h[k];
    TRY(apply_alone(s, u)); /* and u's ghosts */
    TRY(ht_fd_total(s, &inner, d, s->z, &dz));
    TRY(ht_fd_total(s, &inner, d, d, &dd));
    TRY(s->engine.ops->work(&s->engine, &slope));
    TRY(ht_fd_total(s, &inner, s->z, s->z, &slopes));
    TRY(ht_fd_total(s, NULL, d, d, &rate));
    out->energy = half * (dd.sum + dz.sum + slopes.mean + (rate.sum - dd.sum));
    for (int n = 0; n < 6; n++) {
        if (!ht_fd_part_layer(s, n, &layer)) continue;
        TRY(ht_fd_total(s, &layer, d, d, &sum));
        out->layer[n / 2][n % 2] = half * sum.sum;
    }
    return HT_OK;
}

/* What is in layers at the start counts as a whole. */
static HT_ERR find_state(struct ht_fd_stepper *s, struct ht_state *out, struct ht_measure *u) {
    struct ht_buffer *const d = s->values[HT_FD_D];
    const double dt = s->problem.dt;
    struct ht_measure dz, dd;
    *out = (struct ht_state){.energy = 0};
    if (s->problem.layers != NULL && s->at > 0) return find_open(s, out, u);
    TRY(apply_alone(s, u));
    TRY(ht_fd_total(s, NULL, d, s->z, &dz));
    TRY(ht_fd_total(s, NULL, d, d, &dd));
    out->energy = ht_grid_volume(s->problem.grid) / (2 * dt * dt) * (dd.sum - u->sum + dz.sum);
    return HT_OK;
}

/* Without a mass there is no energy: before the first step of none. */
static bool known(const struct ht_plan *plan) {
    return plan->problem.dt > 0;
}

static HT_ERR measure(HT_UNUSED const struct ht_plan *plan, const struct ht_stepper *stepper,
                      double *energy) {
    struct ht_pair_stepper *pair = ht_pair_stepper_of(stepper);
    struct ht_measure sums;
    struct ht_state state = {.energy = 0};
    TRY(pair != NULL ? ht_pair_find_energy(pair, 0, &state)
                     : find_state(ht_fd_stepper_of(stepper), &state, &sums));
    *energy = state.energy;
    return HT_OK;
}

const struct ht_invariant ht_fd_energy = {.known = known, .measure = measure};

enum ht_err ht_differences_state_measure(const struct ht_plan *plan,
                                         const struct ht_stepper *stepper, double time,
                                         struct ht_state *out) {
    struct ht_fd_stepper *s = ht_fd_stepper_of(stepper);
    struct ht_measure sums;
    *out = (struct ht_state){.energy = 0};
    if (known(plan))
        TRY(find_state(s, out, &sums));
    else
        TRY(ht_fd_total(s, NULL, s->values[HT_FD_U], s->values[HT_FD_U], &sums));
    if (sums.bad > 0) return ht_fd_not_finite(s, plan->eq.second_order.field, time, &sums);
    if (known(plan)) {
        /* Of the field itself, and of what the energy's terms round by: each value of dt^2 M u by
         * some units of u. */
        const double unit = s->engine.spec.fp64 ? DBL_EPSILON : FLT_EPSILON;
        struct ht_buffer *const u = s->values[HT_FD_U];
        struct ht_measure squares;
        TRY(ht_fd_total(s, NULL, u, u, &squares));
        out->held = squares.sum / 2;
        for (int k = 0; k < s->engine.spec.dims; k++) out->held *= s->problem.grid->h[k];
        out->rounding = 16 * unit * out->held / pow(s->problem.dt, 2);
    }
    if (known(plan) && s->injection[0] != NULL) {
        /* The root of E grows in a step by at most |S| / (dt sqrt(2 k)), where S is what the
         * sources add to d, since a step's work is <S, u(t+dt) - u(t-dt)>/(2 dt^2), and |d|^2/dt^2
         * <= 2 E/k with k = 1 - dt^2 max(-M)/4; with two terms dt^2 M is -z + z^2/12, at least -3.
         */
        const double part = plan->cfl / plan->cfl_limit;
        const double k = plan->problem.stages > 1 ? 0.25 : 1 - part * part;
        out->driven = s->injection[0]->driven / (s->problem.dt * sqrt(2 * k));
    }
    out->of_rate = plan->eq.first_order;
    out->partial = plan->problem.layers != NULL && time <= 0;
    out->content = out->energy;
    out->largest[plan->eq.second_order.field] = sums.largest;
    return HT_OK;
}

const char *ht_differences_growth_cause(const struct ht_plan *plan) {
    if (plan->problem.layers == NULL)
        return "the largest stable step was estimated too long for this medium, or the device "
               "computes wrongly; take a smaller time.cfl";
    if (plan->layers.type == HT_ABSORBING_SPONGE)
        return "the largest stable step was estimated too long for this medium; take a smaller "
               "time.cfl";
    return "waves grow in the absorbing layers, or the largest stable step was estimated too long "
           "for this medium; take a smaller time.cfl or absorbing.type = \"sponge\"";
}
