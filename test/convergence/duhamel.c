/* Sources of Hermite methods against exact solutions, in double precision, sources and receivers
 * between nodes. Lengths are in cells, the speed is 1. */

#include "exact_shots.h"
#include "planned.h"

/* ---- traces ---- */

struct kind {
    const char *scheme;
    int order;
    double cfl;
    const char *more; /* keys of the source */
};

/* Of the source and of three wavelengths. */
static double expects(const struct ht_plan *plan, const struct exact *e, double way) {
    const struct ht_source_form *form = &plan->problem.duhamel->form[0];
    (void)e, (void)way;
    return form->error + 0.3 * form->travel;
}

static double trace_error(const struct exact *e, const struct kind *kind, double end,
                          double *expected) {
    char scheme[100];
    snprintf(scheme, sizeof scheme, "time={scheme=\"%s\";cfl=%g;} grid.order=%d", kind->scheme,
             kind->cfl, kind->order);
    return exact_error(e, e->dims > 1 ? "device" : test_judged(), scheme,
                       kind->more ? kind->more : "", end, expects, expected);
}

/* ---- volumes ---- */

/* r p obeys the equation in one dimension, with the source r g(r) s'(t). */
static double volume_at(const struct ht_shot *shot, double r, double time) {
    const double radius = shot->width, apart = radius / 50;
    double sum = 0;
    for (int i = -350; i <= 350; i++) {
        const double q = i * apart;
        sum += q * exp(-q * q / (2 * radius * radius)) * ht_shot_at(shot, time - fabs(r - q), 0);
    }
    return sum * apart / (2 * r * pow(2 * HT_PI * radius * radius, 1.5));
}

/* In three dimensions, periodic, cells of three lengths: the sum over images. */
static double images_at(const struct ht_shot *shot, const double x[3], const double size[3],
                        double time) {
    double sum = 0;
    for (int n = 0; n < 27; n++) {
        const int image[3] = {n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1};
        double square = 0;
        for (int k = 0; k < 3; k++) square += pow(x[k] - shot->first[k] - image[k] * size[k], 2);
        sum += volume_at(shot, sqrt(square), time);
    }
    return sum;
}

static void test_volume(void) {
    const double h[3] = {1, 0.8, 1.25}, size[3] = {18, 16, 20};
    const int64_t n[3] = {18, 20, 16};
    struct errors e = {0};
    struct trial t;
    record(
        &t, "device", 0,
        "grid={cells=[18,20,16];upper=[18.0,16.0,20.0];order=3;} time={scheme=\"taylor\";end=16;} "
        "device.precision=double receivers=({position=[9.0,8.0,10.0];}) "
        "sources=({type=\"volume\";position=[9.11,7.93,10.2];width=1.3;frequency=0.14;})");
    for (int64_t i = 1; i < t.nodal.steps; i++)
        for (int64_t m = 0; m < t.nodal.nodes; m += 89) {
            const int64_t at[3] = {m % n[0], m / n[0] % n[1], m / n[0] / n[1]};
            const double x[3] = {(double)at[0] * h[0], (double)at[1] * h[1], (double)at[2] * h[2]};
            const struct ht_plan *plan = t.sim->plan;
            errors_add(&e, t.nodal.value[i * t.nodal.nodes + m],
                       images_at(&plan->shots->shot[0], x, size, (double)i * plan->problem.dt));
        }
    finish(&t);
    TEST_BELOW(errors_l2(e), 3e-5, "volume in 3-D, cells of %g, %g, %g", h[0], h[1], h[2]);
}

/* ---- accuracy ---- */

/* So many cells per wavelength of a Ricker's peak, wavelengths away; sides are within the source's
 * reach. */
static struct exact make_exact(int dims, int wall, double cells, double far, bool force,
                               bool wave) {
    struct exact e = {.dims = dims,
                      .wall = wall,
                      .source = {3.37, 5.71, 4.18},
                      .density = wave ? 1 : 1.3,
                      .frequency = 1 / cells,
                      .force = force,
                      .wave = wave};
    for (int k = 0; k < 3; k++) {
        e.size[k] = k == 0 ? ceil((far + 1.5) * cells) + 3 : 11 + 2 * k;
        e.receiver[k] = e.source[k] + (k == 0 ? far * cells : 0.1 * cells + 0.29);
    }
    return e;
}

static void judge(int dims, int wall, const struct kind *kind, double cells, double far,
                  const char *what, double bound) {
    const struct exact e = make_exact(dims, wall, cells, far, strstr(what, "force") != NULL,
                                      strstr(what, "wave") != NULL);
    const double error = trace_error(&e, kind, (far + 2.5) * cells, NULL);
    TEST_BELOW(error, bound, "%s, %s N = %d, %d-D, walls %d, %g cells%s", what, kind->scheme,
               kind->order, dims, wall, cells, kind->more ? ", tolerance 1e-9" : "");
}

/* At the usual tolerance. Waves of 2.55 times the peak's frequency have 1.6 to 2 cells; what is
 * left is the scheme's error over the distance. */
static void test_usual(void) {
    const struct kind third = {"taylor", 3, 0.9, NULL};
    const struct kind fifth = {"taylor", 5, 0.9, NULL};
    const struct kind level = {"leapfrog", 5, 0.9, NULL};
    const struct kind low = {"leapfrog", 3, 0.9, NULL};
    for (int wall = -1; wall <= 1; wall++) judge(1, wall, &third, 5, 6, "monopole", 1e-3);
    judge(1, FREE, &fifth, 4, 6, "force", 5e-4);
    judge(1, RIGID, &level, 4, 6, "monopole", 5e-4);
    judge(1, PERIODIC, &low, 5, 6, "wave", 5e-4);
    judge(1, RIGID, &third, 5, 6, "wave", 1e-3);
    judge(2, FREE, &third, 5, 6, "monopole", 2e-3);
    judge(2, RIGID, &level, 4, 4, "force", 5e-4);
    judge(3, FREE, &low, 5, 2, "wave", 2e-3);
    if (test_all()) judge(3, FREE, &third, 5, 2, "force", 5e-3);
}

/* N = 5, 4 cells per wavelength, 6 wavelengths away in three dimensions: on CPUs in a duct, whose
 * sides act as images; else in a box from whose sides no wave comes back, where traces have more of
 * high frequencies: no more than the plan expects (7.6e-4). */
static void test_far(void) {
    const struct kind kind = {"taylor", 5, 0.9, NULL};
    const double duct[2][3] = {{33, 7, 6}, {3.37, 2.17, 1.62}};
    const double open[2][3] = {{64, 48, 48}, {14.37, 23.71, 24.18}};
    const bool cpu = strcmp(test_select(), "cpu") == 0;
    struct exact e = make_exact(3, FREE, 4, 6, false, false);
    memcpy(e.size, cpu ? duct[0] : open[0], sizeof e.size);
    memcpy(e.source, cpu ? duct[1] : open[1], sizeof e.source);
    for (int k = 0; k < 3; k++) e.receiver[k] = e.source[k] + (k ? 0.69 : 24);
    double expected;
    const double error = trace_error(&e, &kind, 34, &expected);
    TEST_BELOW(error, cpu ? 5e-4 : expected,
               "monopole, taylor N = 5, 3-D, %s, 4 cells, 6 wavelengths", cpu ? "duct" : "open");
}

/* What the plan expects of a source, in two dimensions where traces are not the signal: no more
 * than it says is measured, with the scheme's part over three wavelengths; of wide ones at least a
 * third, since they leave nothing. */
static void test_expected(void) {
    static const struct {
        struct kind kind;
        double cells;
        bool force, wave, wide;
    } cases[] = {{{"taylor", 7, 0.9, "radius=1.25;"}, 3, false, false, true},
                 {{"leapfrog", 7, 0.9, "radius=1;"}, 3, true, false, true},
                 {{"taylor", 3, 0.9, "radius=0.5;"}, 5, true, false, false},
                 {{"taylor", 2, 0.9, NULL}, 5, false, false, false},
                 {{"leapfrog", 4, 0.9, NULL}, 6, true, false, false},
                 {{"leapfrog", 7, 0.9, NULL}, 2, false, true, true},
                 /* much as these are those before */
                 {{"taylor", 5, 0.9, "radius=1.5;"}, 4, false, false, true},
                 {{"leapfrog", 5, 0.9, "radius=1;"}, 4, true, false, false},
                 {{"taylor", 4, 0.9, NULL}, 6, true, false, false},
                 {{"leapfrog", 5, 0.9, NULL}, 3, false, true, false},
                 {{"leapfrog", 6, 0.9, NULL}, 3, false, true, false}};
    const size_t count = test_all() ? sizeof cases / sizeof *cases : 4;
    for (size_t i = 0; i < count; i++) {
        struct exact e = make_exact(2, RIGID, cases[i].cells, 3, cases[i].force, cases[i].wave);
        const struct kind *kind = &cases[i].kind;
        double expected;
        const double error = trace_error(&e, kind, 5.5 * cases[i].cells, &expected);
        TEST_CHECK(error < 1.1 * expected && (!cases[i].wide || error > expected / 3),
                   "%s N = %d, %g cells, %s %s: %.1e, expected %.1e", kind->scheme, kind->order,
                   cases[i].cells,
                   cases[i].wave    ? "wave"
                   : cases[i].force ? "force"
                                    : "monopole",
                   kind->more ? kind->more : "", error, expected);
    }
}

/* The Duhamel term itself has no error but the tolerance. */
static void test_exact(void) {
    const char *fine = "tolerance=1e-9;";
    const struct kind taylor = {"taylor", 7, 0.9, fine};
    const struct kind leapfrog = {"leapfrog", 7, 0.9, fine};
    const struct kind plane = {"leapfrog", 6, 0.9, fine};
    judge(1, FREE, &taylor, 10, 3, "monopole", 3e-8);
    judge(1, RIGID, &leapfrog, 8, 3, "monopole", 2e-8);
    judge(1, FREE, &leapfrog, 8, 3, "force", 2e-8);
    judge(1, PERIODIC, &leapfrog, 8, 3, "wave", 1e-8);
    judge(2, FREE, &plane, 10, 2, "wave", 1e-7);
}

/* Exact in time: shorter steps do not change the error of a source. */
static void test_steps(const char *scheme, int order) {
    double error[3];
    for (int i = 0; i < 3; i++) {
        const struct kind kind = {scheme, order, 0.9 / (1 << i), NULL};
        const struct exact e = make_exact(1, RIGID, 8, 3, false, false);
        error[i] = trace_error(&e, &kind, 40, NULL);
    }
    for (int i = 1; i < 3; i++)
        TEST_BELOW(error[i], fmax(2.5 * error[0], 3e-5),
                   "%s: steps of 1/%d of the first, whose error is %.1e", scheme, 1 << i, error[0]);
}

/* ---- traces against each other ---- */

enum { SAMPLES = 60 };

/* keys: of the grid; sources: the list. */
static void trace(const char *keys, const char *sources, const double to[2], double *out) {
    HT_ENDED(finish) struct trial t;
    int64_t extent[8];
    record(&t, "device", NONE,
           "%s time.end=40 device.precision=double sources=(%s) "
           "receivers=({name=\"r\";position=[%.17g,%.17g];})",
           keys, sources, to[0], to[1]);
    HT_FREED double *got = read_set(&t, "r/p", extent);
    memcpy(out, got + 1, (size_t)ht_least(extent[1] - 1, SAMPLES) * sizeof *out);
}

static const char corner[] =
    "grid.cells=[20,16] grid.upper=[20,16] boundary.x1=[\"free\",\"rigid\"] boundary.x2=\"rigid\" "
    "medium.rho=1.3 time.scheme=leapfrog grid.order=7 ";

/* A line is its points; a monopole on a free side is silent. */
static void test_lines(void) {
    const double to[2] = {11.3, 7.7};
    double line[SAMPLES] = {0}, points[SAMPLES] = {0}, silent[SAMPLES] = {0};
#define KEYS "{frequency=0.1;kind=\"force\";direction=[1.0,2.0];"
    trace(corner, KEYS "type=\"line\";from=[0.0,3.0];to=[18.0,16.0];count=3;}", to, line);
    trace(corner,
          KEYS "position=[0.0,3.0];}," KEYS "position=[9.0,9.5];}," KEYS "position=[18.0,16.0];}",
          to, points);
#undef KEYS
    TEST_BELOW(errors_most(errors_of(SAMPLES, line, points)), 1e-12, "a line and its points");
    trace(corner, "{position=[0.0,3.0];frequency=0.1;}", to, silent);
    for (int i = 0; i < SAMPLES; i++) points[i] += silent[i];
    TEST_BELOW(errors_most(errors_of(SAMPLES, points, line)), 1e-12, "a monopole on a free side");
}

/* ---- all derivatives ---- */

enum { STEPS = 12 };

/* A room in three dimensions, narrower than the sources reach; or flat. */
struct room {
    const char *cells, *upper, *sources;
};
static const struct room room = {
    "grid.cells=[7, 6, 8]", "grid.upper=[7.0, 6.0, 8.0]",
    "sources=({ position = [0.4, 0.3, 7.7]; frequency = 0.15; radius = 0.5; }, { type = \"line\"; "
    "from = [3.0, 2.2, 0.0]; to = [6.0, 5.7, 7.0]; count = 3; frequency = 0.1; signal = \"burst\"; "
    "cycles = 1.0; radius = 0.5; }, { kind = \"force\"; position = [4.1, 3.7, 6.2]; direction = "
    "[1.0, 0.5, -2.0]; frequency = 0.2; signal = \"burst\"; cycles = 1.0; radius = 0.5; }, { type "
    "= \"volume\"; position = [4.1, 3.7, 0.3]; width = 1.1; frequency = 0.1; signal = \"burst\"; "
    "cycles = 1.0; })"};
static const struct room flat = {
    "grid.cells=[7, 6]", "grid.upper=[7.0, 6.0]",
    "sources=({ position = [0.4, 0.3]; frequency = 0.15; }, { kind = \"force\"; position = [4.1, "
    "3.7]; direction = [1.0, 0.5]; frequency = 0.2; signal = \"burst\"; cycles = 1.0; }, { type = "
    "\"plane\"; axis = \"x2\"; at = 5.7; kind = \"force\"; direction = [0.0, 1.0]; frequency = "
    "0.2; })"};
static const struct room scalar = {
    "grid.cells=[7, 6]", "grid.upper=[7.0, 6.0]",
    "sources=({ position = [0.4, 0.3]; frequency = 0.15; }, { type = \"line\"; from = [3.0, 2.2]; "
    "to = [6.0, 5.7]; count = 3; frequency = 0.2; signal = \"burst\"; cycles = 1.0; })"};

/* From rest. */
static void half_steps(const struct ht_plan *plan, const struct ht_stepper *s, int steps) {
    for (int which = 0; which < 2; which++) {
        const enum ht_subgrid grid = which ? HT_DUAL : HT_PRIMARY;
        HT_FREED double *zero = NULL;
        must(HT_ALLOC(zero, ht_grid_total(&plan->grid, grid) * ht_grid_coefs(&plan->grid) *
                                plan->eq.nfields));
        must(s->ops->put(s->self, grid, 0, ht_grid_planes(&plan->grid, grid), zero));
    }
    must(ht_stepper_advance(s, steps));
}

/* Largest difference of all derivatives of a grid, over the largest. */
static double differ(const struct ht_plan *plan, enum ht_subgrid which, const struct ht_stepper *a,
                     const struct ht_stepper *b) {
    const int coefs = ht_grid_coefs(&plan->grid);
    const int64_t planes = ht_grid_planes(&plan->grid, which);
    const int64_t values = ht_grid_total(&plan->grid, which) * coefs;
    HT_FREED double *u = NULL, *v = NULL;
    struct errors e = {0};
    must(HT_ALLOC(u, values));
    must(HT_ALLOC(v, values));
    for (int f = 0; f < plan->eq.nfields; f++) {
        if (!ht_problem_stores(&plan->problem, which, f)) continue;
        must(a->ops->get(a->self, which, f, coefs, 0, planes, u));
        must(b->ops->get(b->self, which, f, coefs, 0, planes, v));
        for (int64_t i = 0; i < values; i++) errors_add(&e, u[i], v[i]);
    }
    return errors_most(e);
}

/* In three dimensions by N = 1, as compiling takes long. */
static void open_room(const struct room *r, const char *scheme, const char *system,
                      struct planned *out) {
    const bool cube = r == &room;
    must(plan_make(out, '|',
                   "%s|%s|%s|time.scheme=%s|system=%s|grid.order=%d|time.end=30.0|"
                   "boundary.x1=\"rigid\"|boundary.x2=[\"free\", \"rigid\"]%s",
                   r->cells, r->upper, r->sources, scheme, system, cube ? 1 : 2,
                   cube ? "|boundary.x3=[\"rigid\", \"free\"]" : ""));
    must(plan_oracle(out, false));
    half_steps(out->plan, &out->stepper, STEPS);
}

/* On the rigid sides along x1 the slopes of the first field, of any size elsewhere, stay 0 to the
 * last bit: leapfrog would keep what is not. */
static void test_sides(const struct ht_plan *plan, const struct ht_stepper *stepper) {
    const int64_t nodes = ht_grid_total(&plan->grid, HT_PRIMARY);
    const int64_t n1 = ht_grid_nodes(&plan->grid, HT_PRIMARY, 0);
    double *u = NULL, most = 0, inside = 0;
    must(HT_ALLOC(u, 2 * nodes));
    must(stepper->ops->get(stepper->self, HT_PRIMARY, 0, 2, 0,
                           ht_grid_planes(&plan->grid, HT_PRIMARY), u));
    for (int64_t i = 0; i < nodes; i++) {
        const bool side = i % n1 == 0 || i % n1 == n1 - 1;
        const double slope = fabs(u[nodes + i]);
        most = fmax(most, side ? slope : 0);
        inside = fmax(inside, slope);
    }
    free(u);
    TEST_CHECK(most == 0 && inside > 0, "leapfrog %s: slopes of %g on rigid sides, %g inside",
               plan->eq.system->name, most, inside);
}

/* A half step rounds an output as ht_oracle_roundings counts; errors of different half steps add up
 * at most. */
static void test_kernel(struct ht_device *device, const struct ht_plan *plan,
                        const struct ht_stepper *oracle, bool fp64, int block, bool sorted) {
    struct ht_tuning tuning = {.fp64 = fp64, .block = block, .sorted = sorted};
    HT_ENDED(ht_kernels_destroy) struct ht_kernels kernels = {0};
    HT_ENDED(ht_stepper_destroy) struct ht_stepper stepper = {0};
    const double bound =
        2 * STEPS * ht_oracle_roundings(&plan->problem) * ldexp(1, fp64 ? -53 : -24);
    tuning.variant = ht_variant_find("monolithic", NULL, false);
    must(ht_kernels_create(&plan->problem, device, &tuning, &kernels));
    must(ht_stepper_create(&plan->problem, device, &kernels, &stepper));
    half_steps(plan, &stepper, STEPS);
    for (int which = 0; which < 2; which++)
        TEST_BELOW(differ(plan, which ? HT_DUAL : HT_PRIMARY, &stepper, oracle), bound,
                   "%s %s, %s precision, block %d: kernel of sources", plan->problem.scheme->name,
                   plan->eq.system->name, fp64 ? "double" : "single", block);
    if (plan->problem.old_sign != 0) test_sides(plan, &stepper);
}

static void test_scheme(struct ht_device *device, const char *name, const struct room *r, int block,
                        bool sorted) {
    HT_ENDED(planned_end) struct planned of;
    open_room(r, name, r == &scalar ? "wave" : "acoustic", &of);
    if (device != NULL && (block != 2 || ht_device_info(device)->fp64))
        test_kernel(device, of.plan, &of.stepper, block == 2, block, sorted);
}

int main(void) {
    struct ht_device *device = NULL;
    const bool here = test_open_device(&device) == HT_OK;
    if (!here) TEST_SKIP("no device: %s", ht_err_message());
    /* double precision has blocks of 2 here */
    test_scheme(device, "taylor", &room, 2, false);
    test_scheme(device, "taylor", &scalar, 4, true);
    test_scheme(device, "leapfrog", &flat, 1, false);
    test_scheme(device, "leapfrog", &scalar, 2, false);
    const bool fp64 = here && ht_device_info(device)->fp64;
    ht_device_close(device);
    if (fp64) {
        test_exact();
        test_steps("taylor", 5);
        test_steps("leapfrog", 5);
        test_lines();
        test_volume();
        test_usual();
        test_expected();
        if (test_all()) test_far();
    }
    return test_end("duhamel");
}
