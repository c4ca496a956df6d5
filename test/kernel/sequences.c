/* Time steps by a recorded sequence of launches against the same steps launched one by one: the
 * state is the same bit by bit, whatever the lengths of the batches, with new data and single half
 * steps between them, and the tasks are counted alike. Walls (ghosts), arrays that change names,
 * what layers remember, boxes of layers and regions, which run side by side, sponges; what cannot
 * be recorded falls back. A step that keeps a map is taken alone, and its kernels are timed too.
 *
 *     sequences [PART]        the cases whose options contain it
 *     sequences time OPTIONS  no test: milliseconds of a time step in either
 *                             way, to see what running side by side gains */
#include "../compiler.h"
#include "../open_device.h"
#include "../regions.h"
#include "planned.h"

#include "htwave/simulation.h"

enum { BATCHES = 6 };
/* The long ones go beyond the steps at which finite differences look at their mean. */
static const int batches[2][BATCHES] = {{1, 5, 2, 9, 6, 3}, {1, 5, 2, 61, 130, 3}};

struct test_case {
    const char *options;
    int regions; /* of the stepper by sequences; 0: as the options say */
    bool far;    /* long batches */
};
struct scene {
    struct planned of;
    const struct ht_plan *plan;
    struct ht_kernels kernels;
    struct ht_stepper stepper[2]; /* by sequences, by launches */
};

static enum ht_err open_scene(const struct test_case *c, struct ht_device *device,
                              struct scene *s) {
    struct ht_region region[MOST_REGIONS];
    *s = (struct scene){.plan = NULL};
    TRY(plan_make(&s->of, ';', "%s", c->options));
    s->plan = s->of.plan;
    const struct ht_problem *problem = &s->plan->problem;
    struct ht_tuning tuning = {.ptx = ht_device_info(device)->ptx,
                               .ptx_own = ht_device_info(device)->ptx_own,
                               .trim = true,
                               .block = 1};
    const struct ht_spec spec = ht_problem_spec(problem, &tuning, HT_PRIMARY);
    tuning.variant =
        ht_variant_find(s->of.params->device.variant, &spec, ht_device_info(device)->gpu);
    TRY(ht_kernels_create(problem, device, &tuning, &s->kernels));
    const struct ht_kernels *kernels = &s->kernels;
    TRY(ht_stepper_create(problem, device, kernels, &s->stepper[1]));
    if (c->regions == 0) return ht_stepper_create(problem, device, kernels, &s->stepper[0]);
    const int regions = cut_regions(&s->plan->grid, 3, c->regions, &kernels, 1, region);
    return ht_stepper_create_regions(problem, device, regions, region, &s->stepper[0]);
}

static void close_scene(struct scene *s) {
    for (int i = 0; i < 2; i++) ht_stepper_destroy(&s->stepper[i]);
    ht_kernels_destroy(&s->kernels);
    planned_end(&s->of);
}

/* Random data on both grids. */
static enum ht_err put(const struct scene *s, const struct ht_stepper *stepper, uint64_t seed) {
    const struct ht_grid *grid = &s->plan->grid;
    for (int i = 0; i < 2; i++) {
        const enum ht_subgrid at = ht_problem_nodes(&s->plan->problem, i ? HT_DUAL : HT_PRIMARY);
        const int64_t values = ht_grid_total(grid, at) * s->plan->eq.nfields * ht_grid_coefs(grid);
        HT_ARRAY(double, data, values);
        for (int64_t n = 0; n < values; n++)
            data[n] = 0.1 * ht_rng_uniform(seed + (uint64_t)i, (uint64_t)n);
        TRY(stepper->ops->put(stepper->self, i ? HT_DUAL : HT_PRIMARY, 0, ht_grid_planes(grid, at),
                              data));
    }
    return HT_OK;
}

static enum ht_err take(const struct ht_stepper *s, int steps, bool repeat) {
    if (repeat) return ht_stepper_advance(s, steps);
    for (int n = 0; n < steps; n++) {
        TRY(s->ops->half_step(s->self, HT_PRIMARY));
        TRY(s->ops->half_step(s->self, HT_DUAL));
    }
    return s->ops->finish(s->self);
}

/* New data before two of the batches, a step of two half steps before one. */
static enum ht_err run(const struct scene *s, const int *batch, bool repeat) {
    const struct ht_stepper *stepper = &s->stepper[repeat ? 0 : 1];
    for (int i = 0; i < BATCHES; i++) {
        if (i == 0 || i == 4) TRY(put(s, stepper, 7 + (uint64_t)i));
        if (i == 3) TRY(take(stepper, 1, false));
        TRY(take(stepper, batch[i], repeat));
    }
    return HT_OK;
}

static enum ht_err read(const struct scene *s, const struct ht_stepper *stepper, double **out) {
    const struct ht_grid *grid = &s->plan->grid;
    const int64_t values = ht_grid_total(grid, HT_PRIMARY) * ht_grid_coefs(grid);
    TRY(HT_ALLOC(*out, values * s->plan->eq.nfields));
    for (int f = 0; f < s->plan->eq.nfields; f++)
        if (ht_problem_stores(&s->plan->problem, HT_PRIMARY, f))
            TRY(stepper->ops->get(stepper->self, HT_PRIMARY, f, ht_grid_coefs(grid), 0,
                                  ht_grid_planes(grid, HT_PRIMARY), *out + f * values));
    return HT_OK;
}

static enum ht_err compare(const struct scene *s, int64_t *different, int64_t half_steps[2],
                           double *largest) {
    HT_FREED double *data = NULL, *other = NULL;
    const int64_t values = ht_grid_total(&s->plan->grid, HT_PRIMARY) *
                           ht_grid_coefs(&s->plan->grid) * s->plan->eq.nfields;
    for (int i = 0; i < 2; i++) {
        struct ht_traffic traffic;
        s->stepper[i].ops->traffic(s->stepper[i].self, &traffic);
        half_steps[i] = traffic.half_steps;
    }
    TRY(read(s, &s->stepper[0], &data));
    TRY(read(s, &s->stepper[1], &other));
    for (int64_t n = 0; n < values; n++) {
        *different += !(data[n] == other[n]);
        *largest = fmax(*largest, fabs(other[n]));
    }
    return HT_OK;
}

static void judge_case(struct ht_device *device, const struct test_case *c) {
    HT_ENDED(close_scene) struct scene s;
    int64_t different = 0, half_steps[2] = {0};
    double largest = 0, seconds[2] = {0};
    const int *batch = batches[c->far];
    int taken = 2;
    for (int i = 0; i < BATCHES; i++) taken += 2 * batch[i];
    enum ht_err err = open_scene(c, device, &s);
    for (int i = 0; i < 2 && err == HT_OK; i++) {
        err = run(&s, batch, i == 0);
        seconds[i] = ht_kernels_seconds(&s.kernels);
    }
    if (err == HT_OK) err = compare(&s, &different, half_steps, &largest);
    TEST_CHECK(err == HT_OK && different == 0 && isfinite(largest) && largest > 1e-6,
               "%s: %d values differ, largest %.3g %s", c->options, (int)different, largest,
               test_said(err));
    TEST_CHECK(half_steps[0] == half_steps[1] && half_steps[0] == taken,
               "half steps counted: %d and %d of %d", (int)half_steps[0], (int)half_steps[1],
               taken);
    TEST_CHECK(seconds[0] > 0 && seconds[1] > 0, "they took %.3g s on the device, %.3g s",
               seconds[0], seconds[1]);
}

static const struct test_case cases[] = {
    {"system=acoustic; grid.cells=[9,7]; grid.order=1; time.scheme=taylor; boundary.x1=rigid; "
     "boundary.x2=[\"free\",\"rigid\"]",
     0, false},
    {"system=advection; grid.cells=[9,7]; grid.order=1; medium.velocity=[1,1]; "
     "device.variant=separable",
     0, false},
    {"system=wave; grid.cells=[5,6]; grid.order=1; time.scheme=leapfrog", 0, false},
    {"system=wave; grid.cells=[24,23]; grid.order=1; time.scheme=taylor; boundary.x1=absorbing; "
     "absorbing.type=sponge",
     0, false},
    {"system=acoustic; grid.cells=[8,7]; grid.order=1; time.scheme=taylor; boundary.x1=absorbing; "
     "boundary.x2=absorbing; absorbing.cells=3; device.variant=two-rolled",
     0, false},
    {"system=acoustic; grid.cells=[9,5]; grid.order=1; time.scheme=taylor; "
     "device.variant=two-rolled",
     4, false},
    {"system=wave; grid.cells=[9,7,5]; grid.order=1; time.scheme=leapfrog; boundary.x1=rigid",
     MOST_REGIONS, false},
    {"time.scheme=fd; grid.cells=[30,26]; grid.order=4; time.dispersion=keep", 0, true},
    {"time.scheme=fd; grid.cells=[30,26]; grid.order=4; boundary.x1=rigid; boundary.x2=rigid; "
     "time.stages=1; time.dispersion=remove",
     0, true},
    {"time.scheme=fd; grid.cells=[30,26]; grid.order=4; boundary.x1=absorbing; boundary.x2=rigid",
     0, false},
    {"time.scheme=fd; grid.cells=[11,7,9]; grid.order=4; time.stages=2; boundary.x2=rigid; "
     "device.variant=fd-march",
     0, false},
};
/* For GPUs, of which some run branches side by side: too long for a CPU. */
static const struct test_case long_cases[] = {
    {"system=acoustic; grid.cells=[16,15,14]; grid.order=2; time.scheme=taylor; "
     "boundary.x1=absorbing; boundary.x2=absorbing; boundary.x3=absorbing; absorbing.cells=4",
     0, false},
    {"system=acoustic; grid.cells=[12,13,11]; grid.order=1; time.scheme=taylor; "
     "boundary.x1=absorbing; boundary.x2=absorbing; boundary.x3=absorbing; absorbing.cells=3; "
     "device.variant=two-rolled",
     0, false},
    {"system=acoustic; grid.cells=[40,14,16]; grid.order=2; time.scheme=taylor; "
     "device.variant=two-rolled",
     MOST_REGIONS, false},
};

/* After steps of a sequence one that keeps a map, which of one stage is all that is launched of
 * kernels.fd. */
static enum ht_err keep_one(struct scene *s, const struct ht_fd_keep *keep, double *seconds) {
    const struct ht_stepper *stepper = &s->stepper[0];
    double before[2] = {0}, after[2] = {0};
    TRY(put(s, stepper, 3));
    TRY(take(stepper, 6, true));
    ht_tool_add_seconds(s->kernels.fd, before);
    TRY(stepper->ops->keep(stepper->self, 1u << HT_MAP_MAXIMUM, keep));
    TRY(take(stepper, 1, true));
    ht_tool_add_seconds(s->kernels.fd, after);
    *seconds = after[0] + after[1];
    return HT_OK;
}

static void judge_kept(struct ht_device *device, const char *options) {
    enum { ROOM = 1 << 14 };
    const struct test_case c = {.options = options};
    HT_ENDED(close_scene) struct scene s;
    struct ht_fd_keep keep = {.rate = 1, .steepest = 1};
    double kept[ROOM] = {0}, seconds = 0;
    int nodes = 0;
    enum ht_err err = open_scene(&c, device, &s);
    if (err == HT_OK) err = ht_buffer_create_zeros(device, sizeof kept, &keep.map);
    if (err == HT_OK) err = keep_one(&s, &keep, &seconds);
    if (err == HT_OK) err = ht_buffer_read_reals(keep.map, false, 0, ROOM, kept);
    for (int n = 0; n < ROOM; n++) nodes += kept[n] > 0;
    TEST_CHECK(err == HT_OK && nodes > 100 && seconds > 0,
               "%s: a step keeps a map of %d nodes in %.3g s %s", options, nodes, seconds,
               test_said(err));
    ht_buffer_destroy(keep.map);
}

int main(int argc, char **argv) {
    struct ht_device *device = test_device_here();
    if (device == NULL) return test_end("sequences");
    test_optimise(false);
    const bool gpu = ht_device_info(device)->gpu;
    const size_t count = sizeof cases / sizeof *cases;
    const size_t more = gpu ? sizeof long_cases / sizeof *cases : 0;
    for (size_t i = 0; i < count + more; i++) {
        const struct test_case *c = i < count ? &cases[i] : &long_cases[i - count];
        if (argc < 2 || strstr(c->options, argv[1]) != NULL) judge_case(device, c);
    }
    judge_kept(device, "time.scheme=fd; grid.cells=[30,26]; grid.order=4; time.stages=1");
    judge_kept(device, "time.scheme=fd; grid.cells=[30,26]; grid.order=4; time.stages=2");
    ht_device_close(device);
    return test_end("sequences");
}
