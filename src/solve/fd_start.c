/* The state at time 0 of finite differences: u, and d = u(0) - u(-dt) by the
 * series that the scheme itself sums, with r = u_t:
 *     d = dt r - dt^2/2 M u + dt^3/6 L r.
 * r comes from the initial data's first derivatives: a solution of order 1.
 */
#include <math.h>
#include <stdlib.h>

#include "fd.h"
#include "methods.h"

struct start {
    const struct ht_plan *plan;
    struct ht_grid grid; /* of order 1 */
    struct ht_medium medium;
    struct ht_solution *solution;
    double *coefs, *values, *modulus; /* of one x3 plane */
};

static enum ht_err prepare(const struct ht_plan *plan, struct start *s) {
    const int64_t plane = ht_grid_plane(&plan->grid, HT_PRIMARY);
    s->plan = plan;
    s->grid = plan->grid;
    s->grid.order = 1;
    s->medium = *plan->medium;
    s->medium.grid = &s->grid;
    TRY(ht_solution_create(plan->params, &s->medium, &s->solution));
    TRY(HT_ALLOC(s->coefs, plane * ht_grid_coefs(&s->grid) * plan->eq.nfields));
    TRY(HT_ALLOC(s->values, plane * plan->eq.nfields));
    return HT_ALLOC(s->modulus, plane);
}

static void release(struct start *s) {
    ht_solution_destroy(s->solution);
    free(s->coefs);
    free(s->values);
    free(s->modulus);
}

/* Coefficient i of a field at the nodes of the plane. */
static const double *coefficient(const struct start *s, int field, int i) {
    return s->coefs + (field * ht_grid_coefs(&s->grid) + i) *
                          ht_grid_plane(&s->grid, HT_PRIMARY);
}

static double rate(const struct start *s, int64_t node) {
    const struct ht_second_order *form = &s->plan->eq.system->second_order;
    double sum = 0;
    if (form->rate >= 0) return coefficient(s, form->rate, 0)[node];
    for (int k = 0; k < s->grid.dims; k++)
        sum += coefficient(s, form->flux + k, 1 << k)[node] / s->grid.h[k];
    return -s->modulus[node] * sum;
}

/* Is a node on a wall that holds u = 0? Data that do not meet it would stay. */
static bool held(const struct start *s, int64_t node, int64_t m3) {
    int64_t n1 = ht_grid_nodes(&s->grid, HT_PRIMARY, 0);
    const int64_t m[3] = {node % n1, node / n1, m3};
    bool held = false;
    for (int k = 0; k < 3 && k < s->grid.dims; k++) {
        int64_t last = ht_grid_nodes(&s->grid, HT_PRIMARY, k) - 1;
        held = held || (m[k] == 0 && s->grid.wall[k][0] < 0) ||
               (m[k] == last && s->grid.wall[k][1] < 0);
    }
    return held;
}

static enum ht_err fill_modulus(const struct start *s, int64_t m) {
    const struct ht_problem *p = &s->plan->problem;
    const int64_t plane = ht_grid_plane(&s->grid, HT_PRIMARY);
    if (p->fd.fill != NULL)
        return p->fd.fill(p->fd.medium, 0, m, m + 1, s->modulus);
    for (int64_t n = 0; n < plane; n++)
        s->modulus[n] = p->uniform[p->eq->system->second_order.modulus];
    return HT_OK;
}

/* u, then dt r in the place of the increment. */
static enum ht_err put_plane(const struct start *s, int64_t m,
                             const struct ht_stepper *stepper) {
    const int64_t plane = ht_grid_plane(&s->grid, HT_PRIMARY);
    const int field = s->plan->eq.system->second_order.field;
    const double dt = s->plan->problem.dt;
    double *values = s->values + field * plane;
    TRY(ht_solution_fill(s->solution, HT_PRIMARY, 0, m, m + 1, s->coefs));
    TRY(fill_modulus(s, m));
    for (int64_t n = 0; n < plane; n++)
        values[n] = held(s, n, m) ? 0 : coefficient(s, field, 0)[n];
    TRY(stepper->ops->put(stepper->self, HT_PRIMARY, m, m + 1, s->values));
    for (int64_t n = 0; n < plane; n++)
        values[n] = held(s, n, m) ? 0 : dt * rate(s, n);
    return stepper->ops->put(stepper->self, HT_DUAL, m, m + 1, s->values);
}

static enum ht_err put_data(const struct ht_plan *plan,
                            const struct ht_stepper *stepper) {
    struct start s = {.plan = plan};
    struct ht_progress progress;
    int64_t begin, end;
    ht_grid_own(&plan->grid, HT_PRIMARY, &begin, &end);
    enum ht_err err = prepare(plan, &s);
    ht_progress_start(&progress, "initial data", (double)(end - begin), "nodes",
                      (double)ht_grid_plane(&plan->grid, HT_PRIMARY));
    for (int64_t m = begin; err == HT_OK && m < end; m++) {
        err = put_plane(&s, m, stepper);
        ht_progress_update(&progress, (double)(m + 1 - begin));
    }
    ht_progress_end(&progress);
    release(&s);
    return err;
}

enum ht_err ht_differences_start(const struct ht_plan *plan,
                                 struct ht_device *device,
                                 const struct ht_tuning *tuning,
                                 const char *cache,
                                 const struct ht_stepper *stepper) {
    (void)device, (void)tuning, (void)cache;
    TRY(put_data(plan, stepper));
    return ht_fd_start(ht_fd_stepper_of(stepper));
}

int64_t ht_differences_start_bytes(const struct ht_plan *plan,
                                   const struct ht_tuning *tuning,
                                   const struct ht_device_info *info) {
    (void)plan, (void)tuning, (void)info;
    return 0;
}
