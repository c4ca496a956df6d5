/* Absorbing layers as the input asks for them: a side of no cells is the rigid
 * wall behind it, bit by bit, and the growth of a layer that is made to grow is
 * found, with its side, before that of the whole doubles what was there.
 */
#include <float.h>

#include "test.h"

#include "htwave/energy.h"
#include "htwave/oracle.h"
#include "src/solve/fd.h"

enum { MOST_OPTIONS = 20, TEXT = 1024 };

struct scene {
    struct ht_params *params;
    struct ht_plan *plan;
    struct ht_stepper stepper;
};

/* "key=value; key=value" */
static enum ht_err open_scene(const char *options, struct scene *s) {
    char text[TEXT], *list[MOST_OPTIONS];
    int count = 0;
    *s = (struct scene){.plan = NULL};
    snprintf(text, sizeof text, "%s", options);
    for (char *part = strtok(text, ";"); part && count < MOST_OPTIONS;
         part = strtok(NULL, ";")) {
        part += strspn(part, " ");
        if (*part) list[count++] = part;
    }
    TRY(ht_params_read(NULL, count, list, &s->params));
    TRY(ht_plan_create(s->params, NULL, &s->plan));
    return ht_oracle_create(&s->plan->problem, &s->stepper);
}

static void close_scene(struct scene *s) {
    ht_stepper_destroy(&s->stepper);
    ht_plan_destroy(s->plan);
    ht_params_destroy(s->params);
}

/* Random values at the nodes inside of the layers, at rest. */
static enum ht_err put(const struct scene *s) {
    const struct ht_grid *grid = &s->plan->grid;
    const int64_t n1 = ht_grid_nodes(grid, HT_PRIMARY, 0);
    const int64_t nodes = ht_grid_total(grid, HT_PRIMARY);
    const int64_t values = nodes * s->plan->eq.nfields * ht_grid_coefs(grid);
    double *data = NULL;
    TRY(HT_ALLOC(data, values));
    enum ht_err err = s->stepper.ops->put(s->stepper.self, HT_DUAL, 0,
                                          ht_grid_planes(grid, HT_DUAL), data);
    for (int64_t n = 0; n < values; n++) {
        const double x[3] = {
            ht_grid_x(grid, HT_PRIMARY, 0, n % nodes % n1),
            ht_grid_x(grid, HT_PRIMARY, 1,
                      n % nodes / n1 % ht_grid_nodes(grid, HT_PRIMARY, 1)),
            0};
        int axis;
        data[n] =
            ht_layers_hold(grid, x, &axis) ? 0 : ht_rng_uniform(9, (uint64_t)n);
    }
    if (err == HT_OK)
        err = s->stepper.ops->put(s->stepper.self, HT_PRIMARY, 0,
                                  ht_grid_planes(grid, HT_PRIMARY), data);
    free(data);
    return err;
}

static enum ht_err step(const struct scene *s, int steps) {
    for (int n = 0; n < steps; n++) {
        TRY(s->stepper.ops->half_step(s->stepper.self, HT_PRIMARY));
        TRY(s->stepper.ops->half_step(s->stepper.self, HT_DUAL));
    }
    return s->stepper.ops->finish(s->stepper.self);
}

/* ---- no cells ---- */

static enum ht_err compare(struct scene s[2], int64_t *different) {
    const struct ht_grid *grid = &s[0].plan->grid;
    const int64_t nodes = ht_grid_total(grid, HT_PRIMARY);
    double *data[2] = {NULL, NULL};
    enum ht_err err = HT_OK;
    for (int i = 0; i < 2 && err == HT_OK; i++) {
        err = put(&s[i]);
        if (err == HT_OK) err = step(&s[i], 30);
        if (err == HT_OK) err = HT_ALLOC(data[i], nodes * ht_grid_coefs(grid));
        if (err == HT_OK)
            err = s[i].stepper.ops->get(
                s[i].stepper.self, HT_PRIMARY, 0, ht_grid_coefs(grid), 0,
                ht_grid_planes(grid, HT_PRIMARY), data[i]);
    }
    for (int64_t n = 0; err == HT_OK && n < nodes * ht_grid_coefs(grid); n++)
        *different += !(data[0][n] == data[1][n]);
    for (int i = 0; i < 2; i++) free(data[i]);
    return err;
}

/* with: sides that absorb, of which some have no cells; without: walls. */
static void test_none(const char *what, const char *common, const char *with,
                      const char *without) {
    struct scene s[2] = {{.plan = NULL}, {.plan = NULL}};
    char options[TEXT];
    int64_t different = 0;
    enum ht_err err = HT_OK;
    for (int i = 0; i < 2 && err == HT_OK; i++) {
        snprintf(options, sizeof options, "%s; %s", common,
                 i == 0 ? with : without);
        err = open_scene(options, &s[i]);
    }
    if (err == HT_OK) err = compare(s, &different);
    TEST_CHECK(err == HT_OK && different == 0 &&
                   s[0].plan->problem.dt == s[1].plan->problem.dt &&
                   s[0].plan->problem.stages == s[1].plan->problem.stages,
               "%s: a side of no cells is a wall, %lld values differ %s", what,
               (long long)different, err ? ht_err_message() : "");
    for (int i = 0; i < 2; i++) close_scene(&s[i]);
}

/* ---- growth ---- */

#define GROWS                                                        \
    "time.scheme=fd; grid.cells=[30,26]; grid.order=4; time.end=1; " \
    "boundary.x1=[\"rigid\",\"absorbing\"]; boundary.x2=rigid"

/* Looks at the state every so many steps until the watch ends the run: the
 * steps until then, or all. */
static enum ht_err watch(const struct scene *s, int every, int steps,
                         int *taken) {
    struct ht_energy_watch energies = {.grows = false};
    TRY(put(s));
    for (*taken = 0;; *taken += every) {
        struct ht_state state;
        const double time = *taken * s->plan->problem.dt;
        TRY(ht_state_measure(s->plan, &s->stepper, time, &state));
        TRY(ht_energy_watch(s->plan, time, &state, &energies));
        if (*taken >= steps) return HT_OK;
        TRY(step(s, every));
    }
}

/* First differences as wide as the operator's make a layer of uniform density
 * grow (docs/absorbing.md). */
static void test_growth(bool planted) {
    enum { STEPS = 6000, EVERY = 50 };
    struct scene s;
    int taken = 0;
    enum ht_err err = open_scene(GROWS, &s);
    struct ht_fd_stepper *fd =
        err == HT_OK ? ht_fd_stepper_of(&s.stepper) : NULL;
    if (planted && fd != NULL)
        fd->layers.sides.beyond = fd->layers.radius = fd->engine.spec.radius;
    if (err == HT_OK) err = watch(&s, EVERY, STEPS, &taken);
    if (planted)
        TEST_CHECK(err == HT_ERR_NOT_FINITE && taken < STEPS &&
                       strstr(ht_err_message(), "upper side of x1") &&
                       strstr(ht_err_message(), "time.cfl"),
                   "a layer that grows ends the run after %d steps: %s", taken,
                   err ? ht_err_message() : "");
    else
        TEST_CHECK(err == HT_OK && taken == STEPS,
                   "%d steps with a layer that does not grow %s", taken,
                   err ? ht_err_message() : "");
    close_scene(&s);
}

int main(void) {
    test_none("fd",
              "time.scheme=fd; grid.cells=[20,18]; grid.order=6; "
              "time.end=1; boundary.x2=rigid",
              "boundary.x1=absorbing; absorbing.cells=0", "boundary.x1=rigid");
    test_none("fd, layers at other sides",
              "time.scheme=fd; grid.cells=[20,18]; grid.order=8; time.end=1; "
              "boundary.x2=[\"absorbing\",\"free\"]",
              "boundary.x1=absorbing; absorbing.cells=[0,4]",
              "boundary.x1=rigid; absorbing.cells=4");
    test_none("taylor",
              "time.scheme=taylor; grid.cells=[8,7]; grid.order=2; time.end=1; "
              "boundary.x2=rigid",
              "boundary.x1=[\"absorbing\",\"free\"]; absorbing.cells=0",
              "boundary.x1=[\"rigid\",\"free\"]");
    test_growth(true);
    test_growth(false);
    return test_end("layers");
}
