/* Plane waves from outside in systems of first order, by the plain engine in double precision and
 * once by kernels in single: what leaks out of an empty box, of all fields at their own places,
 * over the largest value of their kind; the fields inside against the exact wave, those of group 0
 * half a step earlier. A medium that varies and loses energy inside of the box alone changes no
 * leak before waves leave it. Lengths are in spacings along x1, the speed is 1. */
#include "errors.h"
#include "open_device.h"
#include "planned.h"

struct scene {
    struct planned of;
    struct ht_plan *plan;
    struct ht_pair pair;
    double amplitude[HT_MAX_FIELDS], *u;
    int64_t nodes;
};

/* Options separated by bars. */
static void read_scene(struct scene *s, int order, double points, const char *options) {
    double material[HT_MAX_MATERIALS];
    must(plan_make(&s->of, '|', "time.scheme=fd|%s|grid.order=%d|sources.1.frequency=%.17g",
                   options, order, 1 / (2.55 * points)));
    s->plan = s->of.plan;
    ht_problem_pair(&s->plan->problem, &s->pair);
    const struct ht_shot *shot = &s->plan->shots->shot[0];
    must(ht_medium_point(s->plan->medium, shot->first, material));
    ht_shot_fields(&s->plan->eq, shot, material, shot->direction, s->amplitude);
    s->nodes = ht_grid_total(&s->plan->grid, HT_PRIMARY);
    must(HT_ALLOC(s->u, s->nodes));
}

static void close_scene(struct scene *s) {
    planned_end(&s->of);
    free(s->u);
}

/* Of a field's value number `node`: its place, and whether that is in the box. */
static bool place(const struct scene *s, int field, int64_t node, double x[3]) {
    const struct ht_grid *grid = &s->plan->grid;
    const struct ht_shot *shot = &s->plan->shots->shot[0];
    bool in = true;
    for (int k = 0; k < grid->dims; k++) {
        const int64_t n = ht_grid_nodes(grid, HT_PRIMARY, k);
        const double half = s->pair.parity[field] >> k & 1u ? grid->h[k] / 2 : 0;
        x[k] = ht_grid_x(grid, HT_PRIMARY, k, node % n) + half;
        const bool open = shot->first[k] <= grid->lower[k] && shot->last[k] >= grid->upper[k];
        in = in && (open || (x[k] >= shot->first[k] - 1e-9 && x[k] <= shot->last[k] + 1e-9));
        node /= n;
    }
    return in;
}

/* The largest amplitude of a field's group. */
static double largest_of(const struct scene *s, int field) {
    double most = 0;
    for (int f = 0; f < s->pair.nfields; f++)
        if ((s->pair.group[0] >> f & 1u) == (s->pair.group[0] >> field & 1u))
            most = fmax(most, fabs(s->amplitude[f]));
    return most;
}

/* Largest leak, and errors inside, of a field after a step. */
static void judge(const struct scene *s, int field, double time, double *leak, struct errors *e) {
    const struct ht_shot *shot = &s->plan->shots->shot[0];
    const double scale = largest_of(s, field);
    if (s->pair.group[0] >> field & 1u) time -= s->plan->problem.dt / 2;
    for (int64_t n = 0; n < s->nodes; n++) {
        double x[3], xi = -shot->corner;
        const bool in = place(s, field, n, x);
        if (!in) *leak = fmax(*leak, fabs(s->u[n]) / scale);
        for (int k = 0; k < s->plan->grid.dims; k++) xi += shot->direction[k] * x[k];
        if (!in) continue;
        errors_add(e, s->u[n] / scale,
                   s->amplitude[field] / scale * ht_shot_at(shot, time - xi / shot->speed, 0));
    }
}

/* Steps to the time `end`, or the run's; every tenth one is looked at. */
static double run(struct scene *s, double end, double *error) {
    struct ht_stepper *stepper = &s->of.stepper;
    const int64_t planes = ht_grid_planes(&s->plan->grid, HT_PRIMARY);
    double leak = 0;
    struct errors e = {0};
    must(ht_start(s->plan, NULL, NULL, stepper));
    for (int64_t i = 1; i <= s->plan->steps; i++) {
        const double time = (double)i * s->plan->problem.dt;
        must(ht_stepper_advance(stepper, 1));
        if (time > end) break;
        for (int f = 0; f < s->pair.nfields && i % 10 == 0; f++) {
            must(stepper->ops->get(stepper->self, HT_PRIMARY, f, 1, 0, planes, s->u));
            judge(s, f, time, &leak, &e);
        }
    }
    *error = errors_l2(e);
    return leak;
}

/* The error of a frequency of which there are so many points per unit of length, on its way through
 * the box, along the worst axis. */
static double theory(const struct scene *s, double points) {
    const struct ht_plan *plan = s->plan;
    const struct ht_fd_weights w = ht_fd_weights(plan->order);
    const struct ht_shot *shot = &plan->shots->shot[0];
    double most = 0;
    for (int k = 0; k < plan->grid.dims; k++) {
        const double way[3] = {k == 0, k == 1, k == 2}, h = plan->grid.h[k];
        most = fmax(most, ht_fd_error(&w, 1, way, points * shot->speed / h,
                                      plan->problem.dt * shot->speed / h, shot->crossing / points));
    }
    return most;
}

static void test(const char *name, int order, double points, double bound, const char *options) {
    HT_ENDED(close_scene) struct scene s;
    double error;
    read_scene(&s, order, points, options);
    must(plan_oracle(&s.of, false));
    const double leak = run(&s, INFINITY, &error);
    TEST_BELOW(leak, bound, "%s, order %d: leaks at %g points", name, order, points);
    TEST_BELOW(error, theory(&s, 1.5 * points), "%s, order %d: inside against the exact wave", name,
               order);
}

#define WAVE "sources=({ type = \"plane wave\"; frequency = 0.1; "
#define SQUARE "grid.cells=[34, 38]|grid.upper=[34.0, 31.0]|time.end=70.0|"
#define SKEW "from = [9.63, 9.2]; to = [24.4, 21.37]; direction = [-1.0, 0.6]; polarisation = "
#define CUBE "grid.cells=[24, 24, 25]|grid.upper=[24.0, 24.0, 21.0]|time.end=50.0|"
#define TURNED                                                                       \
    "from = [7.3, 8.0, 7.2]; to = [15.4, 16.0, 13.9]; direction = [0.5, 0.7, -1.0];" \
    " polarisation = "
#define MAXWELL "system=maxwell|medium.eps=1.25|medium.mu=0.8|"
#define ELASTIC "system=elastic|medium.rho=1.3|"

/* Losses and a face inside: nothing leaves the box before the wave has come to it. */
static void test_inside(void) {
    HT_ENDED(close_scene) struct scene s;
    double error;
    read_scene(
        &s, 4, 10,
        "system=maxwell|grid.cells=[60, 60]|grid.upper=[60.0, "
        "60.0]|time.end=60.0|medium.type=expression|medium.mu=1|medium.eps=\"1 + step(9 - (x1 - "
        "30)^2 - (x2 - 30)^2)\"|medium.sigma=\"0.1 * step(9 - (x1 - 30)^2 - (x2 - 30)^2)\"|" WAVE
        "from = [14.0, 14.0]; to = [46.0, 46.0]; direction = [1.0, 0.3]; polarisation = [0.0, "
        "1.0]; })");
    must(plan_oracle(&s.of, false));
    const double leak = run(&s, 26, &error);
    TEST_BELOW(leak, 1e-9, "a lossy disk inside: leaks until the wave has come to it");
}

/* The kernels in single precision. */
static void test_single(void) {
    struct ht_tuning tuning = {.fp64 = false, .block = 1};
    struct ht_kernels kernels = {0};
    struct ht_device *device = test_device_here();
    struct scene s;
    double error;
    if (device == NULL) return;
    read_scene(&s, 8, 8, MAXWELL SQUARE WAVE SKEW "[1.0, 1.0]; })");
    const struct ht_spec spec = ht_problem_spec(&s.plan->problem, &tuning, HT_PRIMARY);
    tuning.variant = ht_variant_find("fd-plain", &spec, false);
    must(ht_kernels_create(&s.plan->problem, device, &tuning, &kernels));
    must(ht_stepper_create(&s.plan->problem, device, &kernels, &s.of.stepper));
    const double leak = run(&s, INFINITY, &error);
    TEST_BELOW(leak, 1e-6, "single precision, order 8: leaks at 8 points");
    close_scene(&s);
    ht_kernels_destroy(&kernels);
    ht_device_close(device);
}

int main(void) {
    for (int order = 2; order <= 16; order += 2)
        test("TE, oblique", order, 10, 1e-10, MAXWELL SQUARE WAVE SKEW "[1.0, 1.0]; })");
    test("TE, along x1, between walls", 8, 8, 1e-10,
         MAXWELL SQUARE "boundary.x2=electric|" WAVE
                        "from = [9.63, 0.0]; to = [24.4, 31.0]; direction = [1.0, 0.0]; "
                        "polarisation = [0.0, 1.0]; })");
    test("1-D", 4, 8, 1e-10,
         MAXWELL "grid.cells=[60]|grid.upper=[60.0]|time.end=120.0|" WAVE
                 "from = [15.0]; to = [40.4]; direction = [-2.0]; })");
    test("P, oblique", 8, 8, 1e-10,
         ELASTIC SQUARE "medium.vp=1|medium.vs=0.5|" WAVE SKEW "[1.0, -0.6]; })");
    test("S, oblique", 6, 10, 1e-10,
         ELASTIC SQUARE "medium.vp=1.7|medium.vs=1|" WAVE SKEW "[1.0, 1.0]; })");
    test("light in 3-D", 8, 7, 1e-10, MAXWELL CUBE WAVE TURNED "[1.0, 1.0, 0.0]; })");
    test("S in 3-D", 4, 8, 1e-10,
         ELASTIC CUBE "medium.vp=1.7|medium.vs=1|" WAVE TURNED "[0.0, 1.0, 0.5]; })");
    test_inside();
    test_single();
    return test_end("outside");
}
