/* The state at time 0 of finite differences: u, and d = u(0) - u(-dt) by the series that the scheme
 * itself sums, with r = u_t:
 *     d = dt r - dt^2/2 M u + dt^3/6 L r.
 * r comes from the initial data's first derivatives: a solution of order 1.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fd.h"
#include "src/solve/methods.h"

/* Values of coefficients that the threads may hold together. */
enum { COEFS = 1 << 26 };

struct start {
    const struct ht_plan *plan;
    struct ht_grid grid; /* of order 1 */
    struct ht_medium medium;
    struct ht_solution *solution;
    bool holds;     /* some wall holds u = 0 */
    int64_t parts;  /* of a block's planes, each for a thread */
    double **coefs; /* of each part: one x3 plane */
    double *values; /* of one plane, all fields */
    int64_t block;  /* planes of each of these: */
    double *u, *r, *modulus;
    double *share[3], *flow[3]; /* for matched layers along an axis; else NULL */
    int64_t first, planes;      /* of the block */
    bool *moves;                /* whether r of a plane needs the modulus */
};

static bool has_matched(const struct ht_plan *plan, int axis) {
    return plan->problem.layers != NULL && plan->layers.type == HT_ABSORBING_CPML &&
           plan->grid.layer[axis][0] + plan->grid.layer[axis][1] > 0;
}

static enum ht_err prepare(const struct ht_plan *plan, struct start *s) {
    const int64_t plane = ht_grid_plane(&plan->grid, HT_PRIMARY);
    s->plan = plan;
    s->grid = plan->grid;
    s->grid.order = 1;
    s->medium = *plan->medium;
    s->medium.grid = &s->grid;
    s->block = ht_fd_block_planes(&plan->grid);
    const int64_t all = plane * ht_grid_coefs(&s->grid) * plan->eq.nfields;
    s->parts = ht_most(1, ht_least(COEFS / all, ht_least(ht_threads_count(), s->block)));
    for (int k = 0; k < s->grid.dims; k++)
        for (int side = 0; side < 2; side++) s->holds = s->holds || s->grid.wall[k][side] < 0;
    TRY(ht_solution_create(plan->params, &s->medium, &s->solution));
    TRY(HT_ALLOC(s->coefs, s->parts));
    for (int64_t w = 0; w < s->parts; w++) TRY(HT_ALLOC(s->coefs[w], all));
    TRY(HT_ALLOC(s->values, plane * plan->eq.nfields));
    TRY(HT_ALLOC(s->u, s->block * plane));
    TRY(HT_ALLOC(s->r, s->block * plane));
    TRY(HT_ALLOC(s->moves, s->block));
    for (int k = 0; k < s->grid.dims; k++) {
        if (!has_matched(plan, k)) continue;
        TRY(HT_ALLOC(s->share[k], s->block * plane));
        TRY(HT_ALLOC(s->flow[k], s->block * plane));
    }
    return HT_ALLOC(s->modulus, s->block * plane);
}

bool ht_fd_held(const struct ht_grid *grid, int64_t m3, int64_t node) {
    const int64_t n1 = ht_grid_nodes(grid, HT_PRIMARY, 0);
    const int64_t m[3] = {node % n1, node / n1, m3};
    bool held = false;
    for (int k = 0; k < 3 && k < grid->dims; k++) {
        const int64_t last = ht_grid_nodes(grid, HT_PRIMARY, k) - 1;
        held =
            held || (m[k] == 0 && grid->wall[k][0] < 0) || (m[k] == last && grid->wall[k][1] < 0);
    }
    return held;
}

static bool held(const struct start *s, int64_t node, int64_t m3) {
    return s->holds && ht_fd_held(&s->grid, m3, node);
}

/* u_t, but for the factor -K of -K div v, v = -s_k f_k: whether there is such a sum. */
static bool find_rate(const struct start *s, const double *coefs, double *rate) {
    const struct ht_second_order *form = &s->plan->eq.second_order;
    const int64_t plane = ht_grid_plane(&s->grid, HT_PRIMARY);
    const int64_t field = plane * ht_grid_coefs(&s->grid);
    bool moves = false;
    if (form->rate >= 0) {
        memcpy(rate, coefs + form->rate * field, (size_t)plane * sizeof *rate);
        return false;
    }
    memset(rate, 0, (size_t)plane * sizeof *rate);
    for (int k = 0; k < s->grid.dims; k++) {
        const double *slope = coefs + form->flux[k] * field + ((int64_t)1 << k) * plane;
        for (int64_t n = 0; n < plane; n++) rate[n] -= form->sign[k] * slope[n] / s->grid.h[k];
    }
    for (int64_t n = 0; n < plane && !moves; n++) moves = rate[n] != 0;
    return moves;
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

static enum ht_err find_part(void *data, int64_t part, int worker) {
    const struct start *s = data;
    const int64_t end = ht_threads_first(s->planes, s->parts, part + 1);
    (void)worker;
    for (int64_t i = ht_threads_first(s->planes, s->parts, part); i < end; i++) {
        /* u and r of a plane of the block. */
        double *coefs = s->coefs[part];
        const int64_t plane = ht_grid_plane(&s->grid, HT_PRIMARY);
        const int64_t m = s->first + i;
        const int field = s->plan->eq.second_order.field;
        double *u = s->u + i * plane;
        TRY(ht_solution_fill(s->solution, HT_PRIMARY, 0, m, m + 1, coefs));
        ht_plan_multiply(s->plan, false, plane * ht_grid_coefs(&s->grid) * s->plan->eq.nfields,
                         coefs);
        s->moves[i] = find_rate(s, coefs, s->r + i * plane);
        for (int k = 0; k < s->grid.dims; k++)
            if (s->share[k] != NULL) find_share(s, i, k, coefs);
        coefs += field * plane * ht_grid_coefs(&s->grid);
        for (int64_t n = 0; n < plane; n++) u[n] = held(s, n, m) ? 0 : coefs[n];
    }
    return HT_OK;
}

static enum ht_err multiply_by_modulus(const struct start *s) {
    const struct ht_problem *p = &s->plan->problem;
    const int64_t plane = ht_grid_plane(&s->grid, HT_PRIMARY);
    const double uniform = p->uniform[p->eq->second_order.modulus];
    bool moves = false;
    for (int64_t i = 0; i < s->planes; i++) moves = moves || s->moves[i];
    if (!moves) return HT_OK;
    if (p->fd.fill != NULL)
        TRY(p->fd.fill(p->fd.medium, 0, s->first, s->first + s->planes, s->modulus));
    for (int64_t n = 0; n < s->planes * plane; n++) {
        const double factor = p->fd.fill != NULL ? -s->modulus[n] : -uniform;
        s->r[n] *= factor;
        for (int k = 0; k < s->grid.dims; k++)
            if (s->share[k] != NULL) s->share[k][n] *= factor;
    }
    return HT_OK;
}

/* v becomes h v/(b dt). */
static enum ht_err divide_by_density(const struct start *s, int k) {
    const struct ht_fd_problem *fd = &s->plan->problem.fd;
    const int64_t plane = ht_grid_plane(&s->grid, HT_PRIMARY);
    const double dt = s->plan->problem.dt;
    if (s->flow[k] == NULL) return HT_OK;
    if (fd->density) TRY(fd->fill(fd->medium, 1 + k, s->first, s->first + s->planes, s->modulus));
    for (int64_t n = 0; n < s->planes * plane; n++)
        s->flow[k][n] /= dt * (fd->density ? s->modulus[n] : fd->inverse_density) / s->grid.h[k];
    return HT_OK;
}

static enum ht_err put_block(struct start *s, const struct ht_stepper *stepper) {
    TRY(ht_threads_run(s->parts, find_part, s));
    TRY(multiply_by_modulus(s));
    for (int k = 0; k < s->grid.dims; k++) TRY(divide_by_density(s, k));
    for (int64_t i = 0; i < s->planes; i++) {
        /* u, then dt r in the place of the increment, then what layers take. */
        const int64_t plane = ht_grid_plane(&s->grid, HT_PRIMARY);
        const int64_t m = s->first + i;
        const double dt = s->plan->problem.dt, *r = s->r + i * plane;
        double *values = s->values + s->plan->eq.second_order.field * plane;
        memcpy(values, s->u + i * plane, (size_t)plane * sizeof *values);
        TRY(stepper->ops->put(stepper->self, HT_PRIMARY, m, m + 1, s->values));
        for (int64_t n = 0; n < plane; n++) values[n] = held(s, n, m) ? 0 : dt * r[n];
        TRY(stepper->ops->put(stepper->self, HT_DUAL, m, m + 1, s->values));
        for (int k = 0; k < s->grid.dims; k++) {
            if (s->share[k] == NULL) continue;
            for (int64_t n = 0; n < plane; n++) s->share[k][i * plane + n] *= dt;
            TRY(ht_fd_layers_put(ht_fd_stepper_of(stepper), k, m, s->share[k] + i * plane,
                                 s->flow[k] + i * plane));
        }
    }
    return HT_OK;
}

enum ht_err ht_differences_start(const struct ht_plan *plan, struct ht_device *device,
                                 const struct ht_tuning *tuning, const struct ht_stepper *stepper) {
    (void)device, (void)tuning;
    struct start s = {.plan = plan};
    struct ht_progress progress;
    int64_t begin, end;
    ht_grid_own(&plan->grid, HT_PRIMARY, &begin, &end);
    enum ht_err err = prepare(plan, &s);
    ht_progress_start(&progress, "initial data", (double)(end - begin), "nodes",
                      (double)ht_grid_plane(&plan->grid, HT_PRIMARY));
    for (s.first = begin; err == HT_OK && s.first < end; s.first += s.block) {
        s.planes = ht_least(s.block, end - s.first);
        err = put_block(&s, stepper);
        ht_progress_update(&progress, (double)(s.first + s.planes - begin));
    }
    ht_progress_end(&progress);
    ht_solution_destroy(s.solution);
    for (int64_t w = 0; s.coefs != NULL && w < s.parts; w++) free(s.coefs[w]);
    free(s.coefs);
    free(s.values);
    free(s.u);
    free(s.r);
    free(s.moves);
    free(s.modulus);
    for (int k = 0; k < 3; k++) {
        free(s.share[k]);
        free(s.flow[k]);
    }
    TRY(err);
    return ht_fd_start(ht_fd_stepper_of(stepper));
}

int64_t ht_differences_start_bytes(const struct ht_plan *plan, const struct ht_tuning *tuning,
                                   const struct ht_device_info *info) {
    (void)plan, (void)tuning, (void)info;
    return 0;
}
