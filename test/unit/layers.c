/* Absorbing layers as the input asks for them: a side of no cells is the rigid wall behind it, bit
 * by bit, and the growth of a layer that is made to grow is found, with its side, before that of
 * the whole doubles what was there; the energy beside layers is that of walls, and long waves in
 * them are no growth. */

#include "open_device.h"
#include "planned.h"
#include "steps.h"

#include "htwave/energy.h"
#include "src/fd/fd.h"

/* "key=value; key=value" */
static void open_scene(const char *options, struct planned *s) {
    must(plan_make(s, ';', "%s", options));
    must(plan_oracle(s, false));
}

typedef double value_at(const struct ht_grid *grid, const double x[3], int64_t n);

static double random_value(const struct ht_grid *grid, const double x[3], int64_t n) {
    (void)grid, (void)x;
    return ht_rng_uniform(9, (uint64_t)n);
}

/* Values at the nodes inside of the layers, at rest. */
static void put(const struct planned *s, value_at *value) {
    const struct ht_grid *grid = &s->plan->grid;
    const struct ht_stepper_ops *ops = s->stepper.ops;
    const int64_t n1 = ht_grid_nodes(grid, HT_PRIMARY, 0);
    const int64_t n2 = ht_grid_nodes(grid, HT_PRIMARY, 1);
    const int64_t nodes = ht_grid_total(grid, HT_PRIMARY);
    const int64_t values = nodes * s->plan->eq.nfields * ht_grid_coefs(grid);
    HT_FREED double *data = NULL;
    must(HT_ALLOC(data, values));
    must(ops->put(s->stepper.self, HT_DUAL, 0, ht_grid_planes(grid, HT_DUAL), data));
    for (int64_t n = 0; n < values; n++) {
        const double x[3] = {ht_grid_x(grid, HT_PRIMARY, 0, n % nodes % n1),
                             ht_grid_x(grid, HT_PRIMARY, 1, n % nodes / n1 % n2),
                             ht_grid_x(grid, HT_PRIMARY, 2, n % nodes / (n1 * n2))};
        int axis;
        data[n] = ht_layers_hold(grid, x, &axis) ? 0 : value(grid, x, n);
    }
    must(ops->put(s->stepper.self, HT_PRIMARY, 0, ht_grid_planes(grid, HT_PRIMARY), data));
}

static struct ht_state measured(const struct planned *s) {
    struct ht_state state;
    must(ht_state_measure(s->plan, &s->stepper, 0, &state));
    return state;
}

/* ---- no cells ---- */

/* The first field after steps from random data; the caller frees it. */
static double *stepped(const char *common, const char *options, struct planned *s, int64_t *count) {
    double *data;
    must(plan_make(s, ';', "%s; %s", common, options));
    must(plan_oracle(s, false));
    const struct ht_grid *grid = &s->plan->grid;
    *count = ht_grid_total(grid, HT_PRIMARY) * ht_grid_coefs(grid);
    put(s, random_value);
    must(ht_stepper_advance(&s->stepper, 30));
    must(HT_ALLOC(data, *count));
    must(s->stepper.ops->get(s->stepper.self, HT_PRIMARY, 0, ht_grid_coefs(grid), 0,
                             ht_grid_planes(grid, HT_PRIMARY), data));
    return data;
}

/* Two ways to say the same. */
static void test_same(const char *what, const char *common, const char *with, const char *without) {
    HT_ENDED(planned_end) struct planned a, b;
    int64_t count[2], different = 0;
    HT_FREED double *x = stepped(common, with, &a, &count[0]);
    HT_FREED double *y = stepped(common, without, &b, &count[1]);
    for (int64_t n = 0; n < count[0] && count[0] == count[1]; n++) different += !(x[n] == y[n]);
    TEST_CHECK(different == 0 && count[0] == count[1] && a.plan->problem.dt == b.plan->problem.dt &&
                   a.plan->problem.stages == b.plan->problem.stages,
               "%s: %lld values differ", what, (long long)different);
}

/* ---- growth ---- */

#define GROWS                                                        \
    "time.scheme=fd; grid.cells=[30,26]; grid.order=4; time.end=1; " \
    "boundary.x1=[\"rigid\",\"absorbing\"]; boundary.x2=rigid; absorbing.place=inside"

/* From now on d grows in the layers. */
static void plant(const struct planned *s) {
    const struct ht_fd_layers *l = &ht_fd_stepper_of(&s->stepper)->layers;
    for (int i = 0; i < l->sides.count; i++)
        for (int64_t depth = 0; depth < l->sides.side[i].cells; depth++)
            l->profile->host[ht_fd_side_profile(&l->sides.side[i], HT_FD_PROFILES - 1, depth)] =
                1.05;
}

/* A run that is looked at every so many steps until the watch ends it. */
struct watched {
    int taken;
    double most, last; /* energy, of the first one */
    bool grows;
};

static enum ht_err watch(const struct planned *s, int every, int steps, bool planted,
                         struct watched *w) {
    struct ht_energy_watch energies = {.grows = false};
    double first = NAN;
    *w = (struct watched){.most = 0};
    for (;; w->taken += every) {
        struct ht_state state;
        const double time = w->taken * s->plan->problem.dt;
        must(ht_state_measure(s->plan, &s->stepper, time, &state));
        if (w->taken == 0) first = state.energy;
        w->last = state.energy / first;
        w->most = fmax(w->most, w->last);
        TRY(ht_energy_watch(s->plan, time, &state, &energies));
        w->grows = energies.grows;
        if (w->taken >= steps) return HT_OK;
        if (planted && w->taken == steps / 2) plant(s);
        must(ht_stepper_advance(&s->stepper, every));
    }
}

static void test_growth(bool planted) {
    enum { STEPS = 3000, EVERY = 50 };
    HT_ENDED(planned_end) struct planned s;
    struct watched w;
    open_scene(GROWS, &s);
    put(&s, random_value);
    enum ht_err err = watch(&s, EVERY, STEPS, planted, &w);
    if (planted)
        TEST_CHECK(err == HT_ERR_NOT_FINITE && w.taken < STEPS &&
                       strstr(ht_err_message(), "upper side of x1") &&
                       strstr(ht_err_message(), "time.cfl"),
                   "a layer that grows ends the run after %d steps: %s", w.taken, test_said(err));
    else
        TEST_CHECK(err == HT_OK && w.taken == STEPS, "%d steps with a layer that does not grow %s",
                   w.taken, test_said(err));
}

/* ---- energy ---- */

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
    HT_ENDED(planned_end) struct planned s;
    open_scene(options, &s);
    put(&s, in_the_middle);
    const struct ht_state before = measured(&s);
    must(ht_stepper_advance(&s.stepper, STEPS));
    const struct ht_state after = measured(&s);
    TEST_EQUAL(after.layer[0][0], 0, "%s: energy of layers", options);
    /* a few hundred sums of doubles */
    TEST_BELOW(fabs(after.energy / before.energy - 1), 1e-13,
               "energy %.6g inside of layers, off that of walls by", after.energy);
}

/* On a device as by plain loops, while waves are in the layers. */
static void test_device(const char *options, struct ht_device *device) {
    enum { STEPS = 20 };
    const double bound = 64 * STEPS * DBL_EPSILON;
    struct ht_state state[2];
    HT_ENDED(planned_end) struct planned s;
    HT_ENDED(ht_kernels_destroy) struct ht_kernels kernels = {0};
    open_scene(options, &s);
    const struct ht_problem *problem = &s.plan->problem;
    make_kernels(problem, device, true, &kernels);
    for (int i = 0; i < 2; i++) {
        struct planned on = s;
        if (i > 0) must(ht_stepper_create(problem, device, &kernels, &on.stepper));
        put(&on, random_value);
        must(ht_stepper_advance(&on.stepper, STEPS));
        state[i] = measured(&on);
        if (i > 0) ht_stepper_destroy(&on.stepper);
    }
    double worst = fabs(state[1].energy / state[0].energy - 1);
    for (int i = 0; i < 2 * s.plan->eq.dims; i++)
        worst = fmax(worst, fabs(state[1].layer[i / 2][i % 2] - state[0].layer[i / 2][i % 2]) /
                                state[0].energy);
    TEST_CHECK(worst <= bound && state[0].layer[0][1] > 0,
               "%s: energies on the device differ by %.1e of %.1e", options, worst, bound);
}

static double pulse_cells; /* width */

static double pulse(const struct ht_grid *grid, const double x[3], int64_t n) {
    double far = 0;
    (void)n;
    for (int k = 0; k < 3 && k < grid->dims; k++)
        far += pow((x[k] - 0.5 * (grid->lower[k] + grid->upper[k])) / grid->h[k], 2);
    return exp(-far / pow(pulse_cells, 2));
}

/* In layers waves that are long against them have gradients as steep as the layer: they must not
 * count as energy that has grown. It may rise by what the interior's energy and that of the rate
 * alone differ by at the inner face, of second order in dt: less than 1 % of waves of ten cells. */
static void test_long_waves(const char *options, double width, int steps) {
    HT_ENDED(planned_end) struct planned s;
    struct watched w;
    open_scene(options, &s);
    pulse_cells = width;
    put(&s, pulse);
    const enum ht_err err = watch(&s, 10, steps, false, &w);
    TEST_CHECK(err == HT_OK && w.most <= 1.01 && w.last < 0.5,
               "%s: a pulse %g cells wide has at most %.4f of its energy, %.1e after %d steps %s",
               options, width, w.most, w.last, steps, test_said(err));
}

/* Data that reach into layers leave, as those of the interior do: with memories of 0 a rest of them
 * would stay, or grow. */
static void test_rest(const char *data) {
    const double time = 300;
    double worst = 0, values[61];
    HT_ENDED(planned_end) struct planned s;
    must(plan_make(&s, ';',
                   "time.scheme=fd; grid.cells=[60]; grid.upper=[60.0]; grid.order=8; "
                   "boundary.x1=absorbing; absorbing.place=inside; time.end=1; %s",
                   data));
    must(plan_oracle(&s, true));
    must(ht_stepper_advance(&s.stepper, (int)(time / s.plan->problem.dt)));
    must(s.stepper.ops->get(s.stepper.self, HT_PRIMARY, 0, 1, 0, 1, values));
    for (int i = 0; i <= 60; i++) worst = test_worse(worst, fabs(values[i]));
    /* alpha lets half of the data's area times alpha/c through, 5e-3 or more */
    TEST_BELOW(worst, 4e-3, "%s: the largest p at time %g", data, time);
}

/* `wave` by Taylor series, and as many steps as a wave takes to cross the box twice and a half. */
static int open_hermite(double width, int cells, int order, const char *more, struct planned *s) {
    must(plan_make(s, ';',
                   "system=wave; time.scheme=taylor; grid.cells=[%d]; grid.upper=[%d.0]; "
                   "grid.order=%d; boundary.x1=absorbing; time.end=1; initial.width=%.17g; "
                   "initial.centre=[%g]; %s",
                   cells, cells, order, width, 0.5 * cells, more));
    must(plan_oracle(s, true));
    return (int)(2.5 * (double)s->plan->grid.cells[0] / s->plan->problem.dt);
}

/* Hermite methods: short and long waves (2 to 31 cells) are no growth. The nodal energy of the
 * shortest varies by some tenths of a percent. */
static void test_hermite(double width, int cells, int order, const char *more) {
    HT_ENDED(planned_end) struct planned s;
    struct watched w;
    const int steps = open_hermite(width, cells, order, more, &s);
    const enum ht_err err = watch(&s, steps / 40 + 1, steps, false, &w);
    TEST_CHECK(err == HT_OK && w.most <= 1.01 && w.last < 0.5 && !w.grows,
               "wave by Taylor series, N = %d, %.0f cells per wavelength %s: at most %.4f of its "
               "energy, %.1e after %d steps %s",
               order, s.plan->cells_per_wavelength, more, w.most, w.last, w.taken, test_said(err));
}

/* A layer whose sponge drives the waves in it is found before they have twice the energy that they
 * came with. */
static void test_hermite_growth(void) {
    HT_ENDED(planned_end) struct planned s;
    struct watched w;
    const int steps = open_hermite(3, 40, 2, "", &s);
    s.plan->layers.side[0][1].sponge = -0.05;
    const enum ht_err err = watch(&s, steps / 40 + 1, steps, false, &w);
    TEST_CHECK(err == HT_ERR_NOT_FINITE && w.most < 2 &&
                   strstr(ht_err_message(), "grow in the absorbing layers"),
               "planted layer of wave that grows: at most %.3g of the first energy, %d steps: %s",
               w.most, w.taken, test_said(err));
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
    struct ht_device *device = test_device_here();
    if (device != NULL)
        test_device("time.scheme=fd; grid.cells=[16,13]; grid.order=6; time.end=1; "
                    "boundary.x1=absorbing; boundary.x2=free; absorbing.cells=6",
                    device);
    ht_device_close(device);
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
    for (int i = 0; i < 3; i++)
        test_hermite((double[]){1, 3, 15}[i], (int[]){40, 40, 60}[i], (int[]){1, 2, 3}[i], "");
    test_hermite(3, 60, 3, "absorbing.type=sponge; absorbing.cells=16");
    test_hermite_growth();
    test_long_waves("time.scheme=fd; grid.cells=[300]; grid.order=8; time.end=1; "
                    "boundary.x1=absorbing; absorbing.type=sponge; absorbing.cells=32",
                    15, 600);
    return test_end("layers");
}
