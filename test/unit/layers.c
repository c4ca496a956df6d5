/* Absorbing layers as the input asks for them: a side of no cells is the rigid wall behind it, bit
 * by bit, and the growth of a layer that is made to grow is found, with its side, before that of
 * the whole doubles what was there; the energy beside layers is that of walls, and long waves in
 * them are no growth. */

#include "open_device.h"
#include "options.h"
#include "test.h"

#include "htwave/energy.h"
#include "src/fd/fd.h"

enum { TEXT = 1024 };

struct scene {
    struct ht_params *params;
    struct ht_plan *plan;
    struct ht_stepper stepper;
};

/* "key=value; key=value" */
static enum ht_err open_scene(const char *options, struct scene *s) {
    *s = (struct scene){.plan = NULL};
    TRY(test_params(NULL, ';', &s->params, "%s", options));
    TRY(ht_plan_create(s->params, NULL, &s->plan));
    return ht_oracle_create(&s->plan->problem, &s->stepper);
}

static void close_scene(struct scene *s) {
    ht_stepper_destroy(&s->stepper);
    ht_plan_destroy(s->plan);
    ht_params_destroy(s->params);
}

typedef double value_at(const struct ht_grid *grid, const double x[3], int64_t n);

static double random_value(const struct ht_grid *grid, const double x[3], int64_t n) {
    (void)grid, (void)x;
    return ht_rng_uniform(9, (uint64_t)n);
}

/* Values at the nodes inside of the layers, at rest. */
static enum ht_err put(const struct scene *s, value_at *value) {
    const struct ht_grid *grid = &s->plan->grid;
    const int64_t n1 = ht_grid_nodes(grid, HT_PRIMARY, 0);
    const int64_t n2 = ht_grid_nodes(grid, HT_PRIMARY, 1);
    const int64_t nodes = ht_grid_total(grid, HT_PRIMARY);
    const int64_t values = nodes * s->plan->eq.nfields * ht_grid_coefs(grid);
    HT_FREED double *data = NULL;
    TRY(HT_ALLOC(data, values));
    enum ht_err err =
        s->stepper.ops->put(s->stepper.self, HT_DUAL, 0, ht_grid_planes(grid, HT_DUAL), data);
    for (int64_t n = 0; n < values; n++) {
        const double x[3] = {ht_grid_x(grid, HT_PRIMARY, 0, n % nodes % n1),
                             ht_grid_x(grid, HT_PRIMARY, 1, n % nodes / n1 % n2),
                             ht_grid_x(grid, HT_PRIMARY, 2, n % nodes / (n1 * n2))};
        int axis;
        data[n] = ht_layers_hold(grid, x, &axis) ? 0 : value(grid, x, n);
    }
    if (err == HT_OK)
        err = s->stepper.ops->put(s->stepper.self, HT_PRIMARY, 0, ht_grid_planes(grid, HT_PRIMARY),
                                  data);
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
        err = put(&s[i], random_value);
        if (err == HT_OK) err = step(&s[i], 30);
        if (err == HT_OK) err = HT_ALLOC(data[i], nodes * ht_grid_coefs(grid));
        if (err == HT_OK)
            err = s[i].stepper.ops->get(s[i].stepper.self, HT_PRIMARY, 0, ht_grid_coefs(grid), 0,
                                        ht_grid_planes(grid, HT_PRIMARY), data[i]);
    }
    for (int64_t n = 0; err == HT_OK && n < nodes * ht_grid_coefs(grid); n++)
        *different += !(data[0][n] == data[1][n]);
    for (int i = 0; i < 2; i++) free(data[i]);
    return err;
}

/* Two ways to say the same. */
static void test_same(const char *what, const char *common, const char *with, const char *without) {
    struct scene s[2] = {{.plan = NULL}, {.plan = NULL}};
    char options[TEXT];
    int64_t different = 0;
    enum ht_err err = HT_OK;
    for (int i = 0; i < 2 && err == HT_OK; i++) {
        snprintf(options, sizeof options, "%s; %s", common, i == 0 ? with : without);
        err = open_scene(options, &s[i]);
    }
    if (err == HT_OK) err = compare(s, &different);
    TEST_CHECK(err == HT_OK && different == 0 && s[0].plan->problem.dt == s[1].plan->problem.dt &&
                   s[0].plan->problem.stages == s[1].plan->problem.stages,
               "%s: %lld values differ %s", what, (long long)different, test_said(err));
    for (int i = 0; i < 2; i++) close_scene(&s[i]);
}

/* ---- growth ---- */

#define GROWS                                                        \
    "time.scheme=fd; grid.cells=[30,26]; grid.order=4; time.end=1; " \
    "boundary.x1=[\"rigid\",\"absorbing\"]; boundary.x2=rigid; absorbing.place=inside"

/* From now on d grows in the layers. */
static void plant(const struct scene *s) {
    const struct ht_fd_layers *l = &ht_fd_stepper_of(&s->stepper)->layers;
    for (int i = 0; i < l->sides.count; i++)
        for (int64_t depth = 0; depth < l->sides.side[i].cells; depth++)
            l->profile.host[ht_fd_side_profile(&l->sides.side[i], HT_FD_PROFILES - 1, depth)] =
                1.05;
}

/* Looks at the state every so many steps until the watch ends the run: the steps until then, or
 * all. */
static enum ht_err watch(const struct scene *s, int every, int steps, bool planted, int *taken) {
    struct ht_energy_watch energies = {.grows = false};
    TRY(put(s, random_value));
    for (*taken = 0;; *taken += every) {
        struct ht_state state;
        const double time = *taken * s->plan->problem.dt;
        TRY(ht_state_measure(s->plan, &s->stepper, time, &state));
        TRY(ht_energy_watch(s->plan, time, &state, &energies));
        if (*taken >= steps) return HT_OK;
        if (planted && *taken == steps / 2) plant(s);
        TRY(step(s, every));
    }
}

static void test_growth(bool planted) {
    enum { STEPS = 3000, EVERY = 50 };
    HT_ENDED(close_scene) struct scene s;
    int taken = 0;
    enum ht_err err = open_scene(GROWS, &s);
    if (err == HT_OK) err = watch(&s, EVERY, STEPS, planted, &taken);
    if (planted)
        TEST_CHECK(err == HT_ERR_NOT_FINITE && taken < STEPS &&
                       strstr(ht_err_message(), "upper side of x1") &&
                       strstr(ht_err_message(), "time.cfl"),
                   "a layer that grows ends the run after %d steps: %s", taken, test_said(err));
    else
        TEST_CHECK(err == HT_OK && taken == STEPS, "%d steps with a layer that does not grow %s",
                   taken, test_said(err));
}

/* ---- energy ---- */

static double square(double x) {
    return x * x;
}

/* Random values three cells around the middle. */
static double in_the_middle(const struct ht_grid *grid, const double x[3], int64_t n) {
    double far = 0;
    for (int k = 0; k < 3 && k < grid->dims; k++)
        far = fmax(far, fabs(x[k] - 0.5 * (grid->lower[k] + grid->upper[k])) / grid->h[k]);
    return far < 3.5 ? ht_rng_uniform(9, (uint64_t)n) : 0;
}

/* Until waves reach the layers, the energy that is measured beside them is what walls would
 * conserve. */
static void test_energy(const char *options) {
    enum { STEPS = 4 };
    const double bound = 1e-13; /* a few hundred sums of doubles */
    struct ht_state before = {.energy = NAN}, after = {.energy = NAN};
    HT_ENDED(close_scene) struct scene s;
    enum ht_err err = open_scene(options, &s);
    if (err == HT_OK) err = put(&s, in_the_middle);
    if (err == HT_OK) err = ht_state_measure(s.plan, &s.stepper, 0, &before);
    if (err == HT_OK) err = step(&s, STEPS);
    if (err == HT_OK) err = ht_state_measure(s.plan, &s.stepper, 0, &after);
    const double error = fabs(after.energy / before.energy - 1);
    TEST_CHECK(err == HT_OK && error <= bound && after.layer[0][0] == 0,
               "%s: energy %.6g inside of layers, that of walls to %.1e of %.0e %s", options,
               after.energy, error, bound, test_said(err));
}

static enum ht_err measure_device(struct scene *s, struct ht_device *device, int steps,
                                  struct ht_state *state) {
    struct ht_tuning tuning = {.fp64 = true, .block = 1};
    const struct ht_spec spec = ht_problem_spec(&s->plan->problem, &tuning, HT_PRIMARY);
    HT_ENDED(ht_kernels_destroy) struct ht_kernels kernels = {0};
    struct scene on = *s;
    tuning.variant = ht_variant_find("auto", &spec, ht_device_info(device)->gpu);
    TRY(ht_kernels_create(&s->plan->problem, device, &tuning, &kernels));
    enum ht_err err = ht_stepper_create(&s->plan->problem, device, &kernels, &on.stepper);
    if (err == HT_OK) err = put(&on, random_value);
    if (err == HT_OK) err = step(&on, steps);
    if (err == HT_OK) err = ht_state_measure(s->plan, &on.stepper, 0, state);
    ht_stepper_destroy(&on.stepper);
    return err;
}

/* On a device as by plain loops, while waves are in the layers. */
static void test_device(const char *options, struct ht_device *device) {
    enum { STEPS = 20 };
    const double bound = 64 * STEPS * DBL_EPSILON;
    struct ht_state state[2] = {{.energy = NAN}, {.energy = NAN}};
    HT_ENDED(close_scene) struct scene s;
    enum ht_err err = open_scene(options, &s);
    if (err == HT_OK) err = put(&s, random_value);
    if (err == HT_OK) err = step(&s, STEPS);
    if (err == HT_OK) err = ht_state_measure(s.plan, &s.stepper, 0, &state[0]);
    if (err == HT_OK) err = measure_device(&s, device, STEPS, &state[1]);
    double worst = fabs(state[1].energy / state[0].energy - 1);
    for (int k = 0; k < s.plan->eq.dims; k++)
        for (int side = 0; side < 2; side++)
            worst = fmax(worst,
                         fabs(state[1].layer[k][side] - state[0].layer[k][side]) / state[0].energy);
    TEST_CHECK(err == HT_OK && worst <= bound && state[0].layer[0][1] > 0,
               "%s: energies on the device differ by %.1e of %.1e %s", options, worst, bound,
               test_said(err));
}

static double pulse_cells; /* width */

static double pulse(const struct ht_grid *grid, const double x[3], int64_t n) {
    double far = 0;
    (void)n;
    for (int k = 0; k < 3 && k < grid->dims; k++)
        far += square((x[k] - 0.5 * (grid->lower[k] + grid->upper[k])) / grid->h[k]);
    return exp(-far / square(pulse_cells));
}

/* In layers waves that are long against them have gradients as steep as the layer: they must not
 * count as energy that has grown. It may rise by what the interior's energy and that of the rate
 * alone differ by at the inner face, of second order in dt: less than 1 % of waves of ten cells. */
static void test_long_waves(const char *options, double width, int steps) {
    struct ht_energy_watch energies = {.grows = false};
    double first = NAN, most = 0, last = NAN;
    HT_ENDED(close_scene) struct scene s;
    enum ht_err err = open_scene(options, &s);
    pulse_cells = width;
    if (err == HT_OK) err = put(&s, pulse);
    for (int taken = 0; err == HT_OK && taken <= steps; taken += 10) {
        struct ht_state state;
        const double time = taken * s.plan->problem.dt;
        err = ht_state_measure(s.plan, &s.stepper, time, &state);
        if (err == HT_OK) err = ht_energy_watch(s.plan, time, &state, &energies);
        if (taken == 0) first = state.energy;
        most = fmax(most, state.energy / first);
        last = state.energy / first;
        if (err == HT_OK) err = step(&s, 10);
    }
    TEST_CHECK(err == HT_OK && most <= 1.01 && last < 0.5,
               "%s: a pulse %g cells wide has at most %.4f of its energy, %.1e after %d steps %s",
               options, width, most, last, steps, test_said(err));
}

/* Data that reach into layers leave, as those of the interior do: with memories of 0 a rest of them
 * would stay, or grow. */
static void test_rest(const char *data) {
    /* alpha lets half of the data's area times alpha/c through, 5e-3 or more */
    const double most = 4e-3, time = 300;
    double worst = INFINITY, values[61];
    char options[TEXT];
    HT_ENDED(close_scene) struct scene s;
    snprintf(options, sizeof options,
             "time.scheme=fd; grid.cells=[60]; grid.upper=[60.0]; grid.order=8; "
             "boundary.x1=absorbing; absorbing.place=inside; time.end=1; %s",
             data);
    enum ht_err err = open_scene(options, &s);
    if (err == HT_OK) err = ht_start(s.plan, NULL, NULL, &s.stepper);
    if (err == HT_OK) err = step(&s, (int)(time / s.plan->problem.dt));
    if (err == HT_OK) err = s.stepper.ops->get(s.stepper.self, HT_PRIMARY, 0, 1, 0, 1, values);
    for (int i = 0; err == HT_OK && i <= 60; i++) worst = fmax(i > 0 ? worst : 0, fabs(values[i]));
    TEST_CHECK(err == HT_OK && worst < most,
               "%s: p is %.1e of the largest at time %g (bound %g) %s", data, worst, time, most,
               test_said(err));
}

/* `wave` by Taylor series. */
static enum ht_err open_hermite(double width, int cells, int order, const char *more,
                                struct scene *s) {
    char options[TEXT];
    snprintf(options, sizeof options,
             "system=wave; time.scheme=taylor; grid.cells=[%d]; grid.upper=[%d.0]; grid.order=%d; "
             "boundary.x1=absorbing; time.end=1; initial.width=%.17g; initial.centre=[%g]; %s",
             cells, cells, order, width, 0.5 * cells, more);
    TRY(open_scene(options, s));
    return ht_start(s->plan, NULL, NULL, &s->stepper);
}

/* Steps until a wave has crossed the box twice and a half, or the watch ends the run; *most: of the
 * first energy. */
static enum ht_err watch_hermite(const struct scene *s, int *taken, double *most, double *last,
                                 bool *grows) {
    const int steps = (int)(2.5 * (double)s->plan->grid.cells[0] / s->plan->problem.dt);
    const int every = steps / 40 + 1;
    struct ht_energy_watch energies = {.grows = false};
    double first = 0;
    for (*most = *taken = 0;; *taken += every) {
        struct ht_state state;
        const double time = *taken * s->plan->problem.dt;
        TRY(ht_state_measure(s->plan, &s->stepper, time, &state));
        if (*taken == 0) first = state.energy;
        *last = state.energy / first;
        *most = fmax(*most, *last);
        TRY(ht_energy_watch(s->plan, time, &state, &energies));
        *grows = energies.grows;
        if (*taken >= steps) return HT_OK;
        TRY(step(s, every));
    }
}

/* Hermite methods: short and long waves (2 to 31 cells) are no growth. The nodal energy of the
 * shortest varies by some tenths of a percent. */
static void test_hermite(double width, int cells, int order, const char *more) {
    HT_ENDED(close_scene) struct scene s;
    double most = NAN, last = NAN;
    bool grows = true;
    int taken = 0;
    enum ht_err err = open_hermite(width, cells, order, more, &s);
    if (err == HT_OK) err = watch_hermite(&s, &taken, &most, &last, &grows);
    TEST_CHECK(err == HT_OK && most <= 1.01 && last < 0.5 && !grows,
               "wave by Taylor series, N = %d, %.0f cells per wavelength %s: at most %.4f of its "
               "energy, %.1e after %d steps %s",
               order, err ? (double)NAN : s.plan->cells_per_wavelength, more, most, last, taken,
               test_said(err));
}

/* A layer whose sponge drives the waves in it is found before they have twice the energy that they
 * came with. */
static void test_hermite_growth(void) {
    HT_ENDED(close_scene) struct scene s;
    double most = NAN, last = NAN;
    bool grows = false;
    int taken = 0;
    enum ht_err err = open_hermite(3, 40, 2, "", &s);
    if (err == HT_OK) s.plan->layers.side[0][1].sponge = -0.05;
    if (err == HT_OK) err = watch_hermite(&s, &taken, &most, &last, &grows);
    TEST_CHECK(err == HT_ERR_NOT_FINITE && most < 2 &&
                   strstr(ht_err_message(), "grow in the absorbing layers"),
               "planted layer of wave that grows: at most %.3g of the first energy, %d steps: %s",
               most, taken, test_said(err));
}

/* Sides that absorb by no cells are sides without layers. */
static void test_without_cells(void) {
    test_same("fd, a side of no cells is a wall",
              "time.scheme=fd; grid.cells=[20,18]; grid.order=6; time.end=1; boundary.x2=rigid",
              "boundary.x1=absorbing; absorbing.cells=0", "boundary.x1=rigid");
    test_same("fd, one of no cells beside others",
              "time.scheme=fd; grid.cells=[20,18]; grid.order=8; time.end=1; "
              "boundary.x2=[\"absorbing\",\"free\"]",
              "boundary.x1=absorbing; absorbing.cells=[0,6]",
              "boundary.x1=rigid; absorbing.cells=6");
    test_same("taylor, a side of no cells is a wall",
              "time.scheme=taylor; grid.cells=[8,7]; grid.order=2; time.end=1; boundary.x2=rigid",
              "boundary.x1=[\"absorbing\",\"free\"]; absorbing.cells=0",
              "boundary.x1=[\"rigid\",\"free\"]");
}

/* Around the box they are what they are inside of a larger one, whose medium does not change
 * beyond; the formula of the former has no value there. */
static void test_around(void) {
    test_same("fd, layers around the box",
              "time.scheme=fd; grid.order=4; time.end=1; boundary.x1=absorbing; boundary.x2=rigid; "
              "medium.type=expression; medium.fit=point; initial.type=zero",
              "absorbing.width=5.5; grid.cells=[16,14]; grid.upper=[16.0,14.0]; "
              "medium.c=1+0.1*sqrt(x1)+0.1*sqrt(16-x1)",
              "absorbing.cells=6; absorbing.place=inside; grid.cells=[28,14]; "
              "grid.lower=[-6.0,0.0]; grid.upper=[22.0,14.0]; "
              "medium.c=1+0.1*sqrt(min(max(x1,0),16))+0.1*sqrt(16-min(max(x1,0),16))");
}

static void test_devices(void) {
    struct ht_device *device = test_device_here();
    if (device == NULL) return;
    test_device("time.scheme=fd; grid.cells=[16,13]; grid.order=6; time.end=1; "
                "boundary.x1=absorbing; boundary.x2=free; absorbing.cells=6",
                device);
    ht_device_close(device);
}

static void test_hermites(void) {
    for (int i = 0; i < 3; i++)
        test_hermite((double[]){1, 3, 15}[i], (int[]){40, 40, 60}[i], (int[]){1, 2, 3}[i], "");
    test_hermite(3, 60, 3, "absorbing.type=sponge; absorbing.cells=16");
    test_hermite_growth();
}

int main(void) {
    test_without_cells();
    test_around();
    test_growth(true);
    test_growth(false);
    test_energy("time.scheme=fd; grid.cells=[46,44]; grid.order=6; time.end=1; "
                "boundary.x1=absorbing; boundary.x2=absorbing; absorbing.cells=6");
    test_energy(
        "time.scheme=fd; grid.cells=[46,44]; grid.order=4; time.end=1; boundary.x1=absorbing; "
        "absorbing.cells=6; boundary.x2=rigid; medium.type=expression; "
        "medium.c=1+0.3*sin(9*x1+5*x2); medium.rho=1+0.5*cos(7*x1)");
    test_devices();
    for (int i = 0; i < 2; i++)
        test_long_waves(
            "time.scheme=fd; grid.cells=[300]; grid.order=8; time.end=1; boundary.x1=absorbing",
            (double[]){5, 80}[i], 600);
    test_long_waves(
        "time.scheme=fd; grid.cells=[120,130]; grid.order=4; time.end=1; boundary.x1=absorbing; "
        "boundary.x2=absorbing; medium.type=expression; medium.c=1+0.5*x1; medium.rho=1+x2",
        15, 400);
    test_rest("initial.centre=[8.0]; initial.width=3.0");
    test_rest("initial.centre=[54.0]; initial.width=3.0");
    test_rest("initial.type=expression; initial.values.v1=\"exp(-((x1-10)/3)^2)\"");
    test_hermites();
    test_long_waves("time.scheme=fd; grid.cells=[300]; grid.order=8; time.end=1; "
                    "boundary.x1=absorbing; absorbing.type=sponge; absorbing.cells=32",
                    15, 600);
    return test_end("layers");
}
