/* The expected error of a plan against the error of its run: plane waves along an axis in 1-D,
 * (1,1) in 2-D and (1,2,2) in 3-D, 1.5 to 6 cells per wavelength, 20 and 100 wavelengths.
 *
 * A row holds where the measured error lies in the bracket that the plan gives, or within a factor
 * of 3 of the value expected. */
#include "../compiler.h"
#include "differences.h"
#include "scene.h"

/* ---- rows ---- */

struct scheme {
    const char *name, *options;
};
static const struct scheme schemes[] = {
    {"acoustic-taylor", "system=acoustic"},
    {"wave-leapfrog", "system=wave time.scheme=leapfrog"},
    {"acoustic-leapfrog", "system=acoustic time.scheme=leapfrog"},
    {"advection", "system=advection"},
    {"wave-taylor", "system=wave time.scheme=taylor"},
};
enum { SCHEMES = 5, DIRECTIONS = 3 };

static const struct {
    const char *name;
    int dims, cycles[3];
} directions[DIRECTIONS] = {
    {"(1,0,0)", 1, {1, 0, 0}},
    {"(1,1,0)", 2, {1, 1, 0}},
    {"(1,2,2)", 3, {1, 2, 2}},
};

struct row {
    const struct scheme *scheme;
    int order, direction;
    double cells; /* per wavelength, about */
    int wavelengths;
    bool single;
    const char *variant;
};

struct outcome {
    int side;     /* cells along an axis */
    double cells; /* per wavelength */
    struct ht_expected expected;
    double measured;
};

static bool holds(const struct outcome *o) {
    double ratio = o->measured / o->expected.error;
    return (ratio > 1 / 3.0 && ratio < 3) ||
           (o->expected.low <= o->measured && o->measured <= o->expected.high);
}

/* The smallest cube, and cycles of the wave in it, within 10 %. */
static int find_box(const struct row *row, int *cycles) {
    const int *m = directions[row->direction].cycles;
    double length = sqrt(m[0] * m[0] + m[1] * m[1] + m[2] * m[2]);
    for (int n = 1;; n++)
        for (*cycles = 1; *cycles < n; ++*cycles)
            if (fabs(n / (*cycles * length) / row->cells - 1) < 0.1) return n;
}

static void describe(const struct row *row, char text[SCENE_TEXT], struct outcome *out) {
    const int *m = directions[row->direction].cycles;
    int dims = directions[row->direction].dims, cycles;
    double length = sqrt(m[0] * m[0] + m[1] * m[1] + m[2] * m[2]);
    int n = find_box(row, &cycles);
    out->side = n;
    out->cells = n / (cycles * length);
    snprintf(text, SCENE_TEXT,
             dims == 1   ? "%s grid.order=%d grid.cells=[%d] "
             : dims == 2 ? "%s grid.order=%d grid.cells=[%d,%d] "
                         : "%s grid.order=%d grid.cells=[%d,%d,%d] ",
             row->scheme->options, row->order, n, n, n);
    size_t used = strlen(text);
    snprintf(text + used, SCENE_TEXT - used,
             "initial.type=plane initial.phase=0.7 initial.cycles=[%d,%d,%d] time.end=%.17g "
             "device.precision=%s device.variant=%s ",
             cycles * m[0], cycles * m[1], cycles * m[2], row->wavelengths / (cycles * length),
             row->single ? "single" : "double", row->variant);
    used = strlen(text);
    if (strcmp(row->scheme->name, "advection") == 0)
        snprintf(text + used, SCENE_TEXT - used,
                 dims == 1   ? "medium.velocity=[%.17g]"
                 : dims == 2 ? "medium.velocity=[%.17g,%.17g]"
                             : "medium.velocity=[%.17g,%.17g,%.17g]",
                 m[0] / length, m[1] / length, m[2] / length);
}

static void run_row(struct scene *scene, const struct row *row, struct outcome *out) {
    char text[SCENE_TEXT];
    HT_ENDED(scene_close) struct scene_run run;
    describe(row, text, out);
    scene_open(scene, &run, "%s", text);
    out->measured = scene_finish(&run);
    out->expected = run.plan->expected;
}

static void judge(struct scene *scene, const struct row *row) {
    struct outcome o = {0};
    run_row(scene, row, &o);
    TEST_CHECK(holds(&o),
               "%s N=%d %s %s, %.3g cells per wavelength, %d wavelengths: error %.2e (%.2e "
               "expected, within 3, or %.1e to %.1e)",
               row->scheme->name, row->order, row->single ? "single" : "double",
               directions[row->direction].name, o.cells, row->wavelengths, o.measured,
               o.expected.error, o.expected.low, o.expected.high);
}

static void plane_waves(struct scene *scene, int first, int last) {
    static const int orders[DIRECTIONS][2] = {{4, 1}, {3, 0}, {2, 0}};
    static const double cells[] = {1.5, 2.5};
    for (int n = 0; n < SCHEMES * DIRECTIONS * 2 * 2; n++) {
        int direction = n / 4 % DIRECTIONS, c = n % 2;
        struct row row = {&schemes[n / 4 / DIRECTIONS],
                          orders[direction][n / 2 % 2],
                          direction,
                          cells[c],
                          20,
                          false,
                          "vector"};
        if (row.order == 0 || (direction == 2 && c == 1)) continue;
        if (direction < first || direction > last) continue;
        /* programs of more dimensions take long to compile: of two and three schemes */
        if (n / 4 / DIRECTIONS > 3 - direction && direction > 0 && !test_all()) continue;
        judge(scene, &row);
        row.single = true;
        if (direction == 0) judge(scene, &row);
        row.cells = 6; /* rounding, nothing else */
        if (direction == 0 && row.order == 4 && c == 0) judge(scene, &row);
    }
}

/* What a plan expects, without a run. */
static bool plan_of(const char *text, struct ht_expected *out) {
    HT_ENDED(ht_params_end) struct ht_params *params = NULL;
    HT_ENDED(ht_plan_end) struct ht_plan *plan = NULL;
    enum ht_err err = scene_read(text, &params);
    if (err == HT_OK) err = ht_plan_create(params, NULL, &plan);
    *out = (struct ht_expected){0};
    if (err == HT_OK) *out = plan->expected;
    if (err != HT_OK) TEST_CHECK(false, "%s: %s", text, ht_err_message());
    return err == HT_OK;
}

/* Waves of the same length: `wave` by leapfrog, N = 4, 1.5 cells per wavelength; measured 6.3e-2
 * along an axis, 5.6e-4 along (1,2,2) after 20 of them. */
static void direction(void) {
    struct ht_expected axis, oblique;
    const char *text = "system=wave time.scheme=leapfrog grid.order=4 initial.type=plane";
    char both[2][SCENE_TEXT];
    snprintf(both[0], SCENE_TEXT,
             "%s grid.cells=[9,9,9] initial.cycles=[6,0,0] time.end=3.3333333333333333", text);
    snprintf(both[1], SCENE_TEXT,
             "%s grid.cells=[9,9,9] initial.cycles=[2,4,4] time.end=3.3333333333333333", text);
    if (plan_of(both[0], &axis) && plan_of(both[1], &oblique))
        TEST_BELOW(oblique.error, 0.03 * axis.error,
                   "expected along (1,2,2), against %.2e along an axis", axis.error);
}

/* A run that ends as it began: the error is within 3 of the one expected, or in the range, or, of
 * several pulses, in the range. */
static void returned(struct scene *scene, const char *what, bool range, const char *text) {
    HT_ENDED(scene_close) struct scene_run run;
    struct outcome o = {0};
    scene_open(scene, &run, "%s device.variant=vector", text);
    o.measured = scene_finish(&run);
    o.expected = run.plan->expected;
    const bool in_range = o.expected.low <= o.measured && o.measured <= o.expected.high;
    TEST_CHECK(range ? in_range : holds(&o),
               "%s, %s: error %.2e (%.2e expected%s, or %.1e to %.1e)", what, text, o.measured,
               o.expected.error, range ? "" : ", within 3", o.expected.low, o.expected.high);
}

#define ROUND "time.end=3 initial.returns=true "
#define BELL ROUND "initial.type=gaussian initial.width=0.1 initial.centre=[0.5,0.5] "
#define PULSES \
    ROUND      \
    "initial.pulses=({centre=[0.3];width=0.1;},{centre=[0.8];width=0.15;amplitude=-3.0;}) "

/* Pulses that are carried round, or two halves that meet. */
static void gaussians(struct scene *scene) {
    static const char *const bell[] = {
        BELL "system=advection grid.order=2 grid.cells=[20]",
        BELL "system=advection grid.order=4 grid.cells=[10]",
        BELL "system=acoustic grid.order=4 grid.cells=[20]",
        BELL "system=acoustic grid.order=1 grid.cells=[40]",
        BELL "system=wave time.scheme=leapfrog grid.order=2 grid.cells=[20]",
        BELL "system=advection grid.order=2 grid.cells=[14,14] medium.velocity=[1,1]"};
    for (int i = 0; i < 6; i++) returned(scene, "Gaussian", false, bell[i]);
    returned(scene, "two pulses", true, PULSES "system=advection grid.order=2 grid.cells=[20]");
    returned(scene, "two pulses", true, PULSES "system=acoustic grid.order=4 grid.cells=[20]");
}

/* Modes between walls: by leapfrog u goes as cos(omega t - phase), of which the error sees the real
 * part only. */
static void modes(struct scene *scene) {
    static const char *const end[] = {"0.9", "6.49", "7.1"};
    char text[SCENE_TEXT];
    for (int i = 0; i < 6; i++) {
        snprintf(text, sizeof text,
                 "system=%s grid.order=2 time.end=%s grid.cells=[5] boundary.x1=rigid "
                 "initial.type=standing initial.modes=[3]",
                 i % 2 ? "acoustic" : "wave time.scheme=leapfrog", end[i / 2]);
        returned(scene, "mode", false, text);
    }
}

/* What is said where no wave is known, and of media that vary. */
static void statements(void) {
    struct ht_expected e;
    if (plan_of("grid.cells=[20,20] grid.order=3 initial.type=expression "
                "initial.values.p=\"exp(-x1^2)\" initial.frequency=5 time.end=2",
                &e))
        TEST_CHECK(0 < e.low && e.low < e.high && e.error <= e.high && !e.varies,
                   "a frequency: %.2e, from %.2e in the best direction to %.2e in the worst",
                   e.error, e.low, e.high);
    if (plan_of("grid.cells=[20] initial.pulses=({centre=[0.4];},{centre=[0.6];amplitude=-1.0;}) "
                "time.end=1",
                &e))
        TEST_CHECK(e.error == 0, "opposite pulses that overlap: %.2e, none expected", e.error);
    if (plan_of("grid.cells=[20] initial.type=gaussian time.scheme=taylor medium.type=expression "
                "medium.c=\"1+0.2*x1\" time.end=1",
                &e))
        TEST_CHECK(e.error > 0 && e.varies && !e.jumps,
                   "a smooth medium: %.2e, varies, does not jump", e.error);
    if (plan_of("grid.cells=[20] initial.type=gaussian time.scheme=taylor medium.type=layers "
                "medium.axis=x1 medium.interfaces=[0.5] medium.c=[1,2] time.end=1",
                &e))
        TEST_CHECK(e.error > 0 && e.varies && e.jumps, "layers: %.2e, of the smooth parts",
                   e.error);
}

/* ---- finite differences ---- */

#define SMOOTH "medium.type=expression medium.c=1+0.3*sin(2*pi*x1)*cos(2*pi*x2) "

/* The difference of a run's values from those on a grid four times as fine. */
static double against_finer(const struct fd_run *run, const struct fd_run *fine) {
    HT_FREED double *a = fd_values(run, HT_PRIMARY), *b = fd_values(fine, HT_PRIMARY);
    const int64_t *n = run->sim->plan->grid.cells;
    struct errors e = {0};
    for (int64_t i = 0; i < run->nodes; i++)
        errors_add(&e, a[i], b[4 * (i / n[0]) * 4 * n[0] + 4 * (i % n[0])]);
    return errors_l2(e);
}

/* Periodic, in double precision. The highest expected error is no less than the error, and no more
 * than 30 times as large, so that it says something: it takes the slowest speed everywhere, a
 * margin of 8, and phase errors that this box of length 1 hides in part. */
static void judge_smooth(const char *text, const char *medium) {
    struct fd_run run, fine;
    fd_open(&run, "%s %s grid.cells=[40,40] time.end=1.7 device.backend=%s", text, medium,
            test_numbers());
    fd_open(&fine, "%s %s grid.cells=[160,160] time.end=1.7 device.backend=%s", text, medium,
            test_numbers());
    const struct ht_expected e = run.sim->plan->expected;
    fd_advance(&run, run.sim->plan->steps);
    fd_advance(&fine, fine.sim->plan->steps);
    const double error = against_finer(&run, &fine);
    TEST_BELOW(error, e.high, "fd, %s: error (bound: the highest expected)", text);
    TEST_BELOW(e.high, 30 * error, "fd, %s: highest expected error", text);
    TEST_CHECK(e.varies == (*medium != 0) && !e.jumps && !e.limited, "fd, %s: a %s medium", text,
               *medium ? "smooth" : "uniform");
    fd_close(&run);
    fd_close(&fine);
}

static void test_differences(void) {
    judge_smooth("grid.order=8 initial.type=gaussian initial.width=0.06", "");
    judge_smooth("grid.order=8 initial.type=gaussian initial.width=0.06", SMOOTH);
    judge_smooth("grid.order=8 time.stages=1 initial.type=gaussian initial.width=0.08", SMOOTH);
    judge_smooth("grid.order=8 initial.type=gaussian initial.width=0.08",
                 SMOOTH "medium.rho=1+0.3*cos(2*pi*x1)");
}

int main(void) {
    struct scene scene;
    if (!scene_start_plain(&scene)) return test_end("expected");
    direction();
    statements();
    test_differences();
    plane_waves(&scene, 1, 2);
    test_optimise(false); /* many programs of one dimension */
    plane_waves(&scene, 0, 0);
    gaussians(&scene);
    modes(&scene);
    return test_end("expected");
}
