/* The plan: what parameters mean together. Refusals name key, value, rule and place; the time step
 * is stable, lands on the end, and the limits named in messages are the true ones. */

#include "io/scratch.h"
#include "must.h"
#include "options.h"

#include "htwave/plan.h"

enum { MESSAGE = 600 };

/* Parameters given as "key=value; key=value", and their plan. */
struct trial {
    struct ht_params *params;
    struct ht_plan *plan;
    enum ht_err err;
    char message[MESSAGE];
};

HT_PRINTF(2, 3) static struct trial begin_file(const char *file, const char *format, ...) {
    struct trial t = {0};
    TEST_TEXT(text, 600, format);
    t.err = test_params(file, ';', &t.params, "%s", text);
    if (t.err == HT_OK) t.err = ht_plan_create(t.params, NULL, &t.plan);
    snprintf(t.message, sizeof t.message, "%.590s", t.err ? ht_err_message() : "accepted");
    return t;
}
#define begin(...) begin_file(NULL, __VA_ARGS__)

static void end(struct trial *t) {
    ht_plan_destroy(t->plan);
    ht_params_destroy(t->params);
}

/* ---- refusals ---- */

static void refuse(const char *options, const char *text) {
    HT_ENDED(end) struct trial t = begin("%s", options);
    TEST_CHECK(t.err == HT_ERR_INPUT && t.plan == NULL && strstr(t.message, text) &&
                   strstr(t.message, "(command line"),
               "refused: %s", t.message);
}

static void test_refusals(void) {
    refuse("system=\"acustic\"", "system = \"acustic\": must be one of advection, acoustic");
    refuse("boundary.x2=[\"rigid\", \"soft\"]",
           "boundary.x2 = [\"rigid\", \"soft\"]: \"soft\" is no boundary of system acoustic; it "
           "has periodic, rigid, free");
    refuse("system=advection; boundary.x1=\"rigid\"",
           "\"rigid\" is no boundary of system advection; it has periodic");
    refuse("boundary.x3=[\"free\", \"periodic\"]",
           "boundary.x3 = [\"free\", \"periodic\"]: must be periodic on both sides");
    refuse("time.scheme=taylor; medium.fit=box",
           "medium.fit = \"box\": has no meaning with time.scheme = \"taylor\"");
    refuse("time.scheme=fd; grid.order=8; medium.degree=0",
           "medium.degree = 0: has no meaning with time.scheme = \"fd\"");
    refuse("time.scheme=fd; grid.order=5",
           "grid.order = 5: is the order in space of finite differences");
    refuse("grid.order=12", "grid.order = 12: is N of Hermite methods");
    refuse("time.scheme=fd; grid.order=16; grid.cells=[8,40,40]",
           "the stencil of order 16 reaches over 8 points, but x1 has 8 cells");
    refuse("time.scheme=fd; grid.order=8; time.cfl=0.85",
           "time.cfl = 0.85: unstable: with 2 stages at order 8");
    refuse("system=advection; time.scheme=fd; grid.order=8",
           "time.scheme = \"fd\": the fields of advection do not fall");
    refuse("grid.order=2; time.stages=16", "time.stages = 16: at most 15 (\"full\")");
    refuse("grid.cells=[8]; grid.order=3; time.stages=8", "at most 7");
    refuse("system=wave; time.scheme=taylor; grid.cells=[24]; grid.order=3; time.cfl=0.99",
           "at most 0.82 (");
    refuse("time.end=1e30", "time.end = 1e+30: needs");
    refuse("initial.type=plane; boundary.x1=\"rigid\"", "initial.type = \"plane\"");
}

/* The place is the line of the file, also when the key there is not the one that the rule is about.
 */
static void test_place(void) {
    char *directory = scratch_make("plan");
    if (directory == NULL) exit(1);
    char *path = scratch_path(directory, "run.cfg");
    const char *text = "grid = { cells = [8]; order = 3; };\n"
                       "time = {\n  stages = 3;\n  cfl = 0.8;\n};\n";
    if (ht_file_write(path, text, strlen(text)) != HT_OK) exit(1);
    HT_ENDED(end) struct trial t = begin_file(path, "%s", "");
    TEST_CHECK(t.err == HT_ERR_INPUT && strstr(t.message, ":4)") &&
                   strstr(t.message, "time.cfl = 0.8: unstable"),
               "file and line: %s", t.message);
    free(path);
    scratch_remove(directory);
}

/* ---- stability ---- */

static const char *const systems[] = {"advection", "acoustic"};
static const char *const cells[] = {"[4]", "[4, 4]", "[4, 4, 4]"};
static const char *const ones[] = {"[1.0]", "[1.0, 1.0]", "[1.0, 1.0, 1.0]"};

/* A box of 4^dims unit cells, all speeds 1. Zero data: the error of others would be computed for
 * each plan. */
static struct trial box(int system, int dims, int order, const char *more) {
    return begin("system=%s; grid.cells=%s; grid.upper=%s;grid.order=%d; medium.%s=%s; time.end=2; "
                 "initial.type=zero; time.scheme=taylor; %s",
                 systems[system], cells[dims - 1], cells[dims - 1], order,
                 system == 0 ? "velocity" : "c", system == 0 ? ones[dims - 1] : "1", more);
}

/* Whether a key is not refused with this limit. */
static bool passes(int system, int dims, int order, const char *more, const char *key,
                   const char *limit) {
    HT_ENDED(end) struct trial t = box(system, dims, order, more);
    return t.err != HT_ERR_INPUT || !strstr(t.message, key) || !strstr(t.message, limit);
}

/* At the limit of a number of stages a run is planned; beyond it, it is refused with that limit, as
 * a CFL number and as a step. Stages without any stable step are refused themselves. */
static bool limit_wrong(int system, int dims, int order, int stages) {
    enum ht_symbol symbol = ht_equations_make(ht_system_find(systems[system]), dims).symbol;
    const double limit = ht_stability_cfl(symbol, dims, order, stages);
    HT_ENDED(end)
    struct trial t = box(system, dims, order,
                         HT_KEY("time.stages=%d; time.cfl=%.2f", stages, limit > 0 ? limit : 0.01));
    if (limit <= 0) return t.err != HT_ERR_INPUT || !strstr(t.message, "time.stages");
    if (t.err != HT_OK || t.plan->problem.stages != stages || t.plan->cfl_limit != limit ||
        t.plan->cfl > limit * (1 + 1e-12))
        return true;
    return limit < 1 && (passes(system, dims, order,
                                HT_KEY("time.stages=%d; time.cfl=%.2f", stages, limit + 0.01),
                                "time.cfl", HT_KEY("at most %.2f", limit)) ||
                         passes(system, dims, order,
                                HT_KEY("time.stages=%d; time.step=%.3f", stages, limit + 0.001),
                                "time.step", HT_KEY("at most %.6g (cfl %.2f)", limit, limit)));
}

static void test_limits(void) {
    for (int system = 0; system < 2; system++)
        for (int dims = 1; dims <= 3; dims++) {
            int wrong = 0, cases = 0, most = dims == 3 ? 3 : HT_MAX_ORDER;
            for (int order = 1; order <= most; order++)
                for (int q = 1; q <= dims * (2 * order + 1); q++, cases++)
                    wrong += limit_wrong(system, dims, order, q);
            TEST_CHECK(wrong == 0, "%s %dD: %d of %d stages with a wrong limit", systems[system],
                       dims, wrong, cases);
        }
}

/* "least" is stable at the CFL number asked for, accurate to order 2N+1 in time, and never more
 * than "full". */
static void test_least(void) {
    for (int dims = 1; dims <= 3; dims++) {
        int wrong = 0, fewer = 0, cases = 0;
        for (int order = 1; order <= HT_MAX_ORDER; order++)
            for (int n = 1; n <= 20; n++, cases++) {
                const double cfl = 0.05 * n;
                const int full = dims * (2 * order + 1);
                HT_ENDED(end)
                struct trial t =
                    box(n % 2, dims, order, HT_KEY("time.stages=least; time.cfl=%.2f", cfl));
                int stages = t.err == HT_OK ? t.plan->problem.stages : 0;
                wrong += t.err != HT_OK || stages < 2 * order + 1 || stages > full ||
                         ht_stability_cfl(t.plan->eq.symbol, dims, order, stages) < cfl - 1e-9;
                fewer += stages < full;
            }
        TEST_CHECK(wrong == 0 && (fewer > 0 || dims == 1),
                   "%dD: \"least\" is wrong in %d of %d cases, saves stages in %d", dims, wrong,
                   cases, fewer);
    }
}

/* All stages in a uniform medium, the fewest stable ones where it varies. */
static void test_auto(void) {
    static const char *const media[] = {"", "medium.type=expression; medium.c=\"1+0.5*x1\"; "};
    const int expected[] = {14, ht_stability_stages(HT_SYMBOL_WAVE, 2, 3, 0.9)};
    for (int n = 0; n < 2; n++) {
        HT_ENDED(end)
        struct trial t =
            begin("%sgrid.cells=[4,4]; grid.order=3; time.cfl=0.9; time.scheme=taylor", media[n]);
        must(t.err);
        TEST_EQUAL(t.plan->problem.stages, expected[n], "stages by default, %s",
                   n ? "varying" : "uniform");
    }
    TEST_CHECK(expected[1] < 14, "those are fewer");
}

/* ---- the step ---- */

/* Whole steps fill the run; the step is as long as it may be: one step fewer would break the CFL
 * number or the longest step asked for. */
static void check_step(const char *options, double end_time, double longest) {
    HT_ENDED(end) struct trial t = begin("%s", options);
    must(t.err);
    double steps = (double)t.plan->steps, dt = t.plan->problem.dt;
    TEST_BELOW(fabs(steps * dt - end_time), DBL_EPSILON * end_time,
               "%s: %g steps of %.17g miss the end by", options, steps, dt);
    TEST_CHECK(dt <= longest * (1 + 1e-12) && (steps <= 1 || end_time / (steps - 1) > longest),
               "%s: step %.6g (bound %.6g), %.6g with one step fewer", options, dt, longest,
               steps > 1 ? end_time / (steps - 1) : INFINITY);
}

static void test_step(void) {
    check_step("grid.cells=[10]; time.end=1", 1, 0.09);
    check_step("grid.cells=[10]; time.end=0.9", 0.9, 0.09);
    check_step("grid.cells=[7, 9]; time.end=0.1; medium.c=3.0", 0.1, 0.9 / 3 / 9);
    check_step("grid.cells=[10]; time.end=1; time.step=0.03", 1, 0.03);
    check_step("grid.cells=[10]; time.end=1; time.step=0.1; time.scheme=taylor", 1, 0.1);
    check_step("grid.cells=[10]; time.end=1; time.step=5e-7", 1, 5e-7);
    check_step("grid.cells=[3]; time.end=1e6; time.cfl=0.1", 1e6, 0.1 / 3);
    check_step("grid.cells=[10]; time.end=1e-9", 1e-9, 0.09);
    /* Unequal cells: each axis has its own speed and size. */
    check_step("grid.cells=[8, 5]; grid.upper=[1.0, 2.0]; time.end=1", 1, 0.9 * 0.125);
    check_step("grid.cells=[8, 5]; grid.upper=[1.0, 2.0]; time.end=1;system=advection; "
               "medium.velocity=[1.0, -4.0]",
               1, 0.9 * 0.4 / 4);
    check_step(
        "grid.cells=[4, 5, 6]; grid.lower=[-1.0, 0.0, 2.0];grid.upper=[1.0, 1.0, 2.3]; time.end=1",
        1, 0.9 * 0.05);
}

/* The farthest that a multiple of `every` within the run is from a step. */
static double off_steps(const struct ht_plan *plan, double every) {
    double end_time = plan->params->time.end, worst = 0;
    for (int m = 0; m * every < end_time; m++) {
        double at = m * every / plan->problem.dt;
        worst = fmax(worst, fabs(at - round(at)) * plan->problem.dt);
    }
    return worst;
}

/* Times of outputs fall on steps where that costs at most 5 % more steps:
 * least steps without outputs, steps taken, which outputs are off. */
static void check_outputs(const char *options, int64_t least, int64_t steps, bool snapshots_off,
                          bool pictures_off) {
    HT_ENDED(end) struct trial t = begin("%s", options);
    const struct ht_plan *plan = t.plan;
    must(t.err);
    const struct ht_params *params = t.params;
    double snapshots = off_steps(plan, params->output.every),
           pictures = off_steps(plan, ht_value_or(&params->output.picture.every, 0));
    TEST_CHECK(plan->steps == steps && (double)steps <= 1.05 * (double)least,
               "%s: %lld steps (expected %lld, at most 5 %% above %lld)", options,
               (long long)plan->steps, (long long)steps, (long long)least);
    /* as decimal numbers and quotients round */
    double bound = 1e-12;
    TEST_CHECK(plan->snapshots_off == snapshots_off && (snapshots <= bound) == !snapshots_off,
               "snapshots %.2e off steps (bound %.0e): %s", snapshots, bound,
               plan->snapshots_off ? "reported" : "not reported");
    TEST_CHECK(plan->pictures_off == pictures_off && (pictures <= bound) == !pictures_off,
               "pictures %.2e off steps (bound %.0e): %s", pictures, bound,
               plan->pictures_off ? "reported" : "not reported");
}

static void test_outputs(void) {
#define RUN "grid.cells=[40]; time.end=2; " /* 89 steps */
    check_outputs(RUN "output.every=0.5; output.picture.every=2", 89, 92, false, false);
    check_outputs(RUN "output.every=0.5; output.picture.every=0.25; time.step=0.0221", 91, 92,
                  false, true);
    check_outputs(RUN "output.every=0.5; output.picture.every=0.2", 89, 92, false, true);
    check_outputs(RUN "output.every=0.3; output.picture.every=0.5", 89, 92, true, false);
    check_outputs(RUN "output.every=0.3; output.picture.every=0.3", 89, 89, true, true);
    check_outputs("grid.cells=[400]; time.end=2; output.every=0.3; output.picture.every=0.5", 889,
                  900, false, false);
    check_outputs("grid.cells=[400]; time.end=2; output.every=0.31234567; "
                  "output.picture.every=0.1; time.scheme=leapfrog",
                  889, 900, true, false);
    check_outputs(RUN "output.every=0.001; output.picture.every=3", 89, 89, true, false);
#undef RUN
    HT_ENDED(end)
    struct trial t = begin("grid.cells=[40]; time.end=2; output.every=0.5; output.snapshots=false; "
                           "output.picture.every=1");
    must(t.err);
    TEST_CHECK(t.plan->steps == 90 && !t.plan->snapshots_off,
               "snapshots that are not written ask for nothing: %d steps", (int)t.plan->steps);
}

/* Nothing to do and nothing that moves are no errors. */
static void test_idle(void) {
    static const struct {
        const char *options;
        double dt;
    } rows[] = {{"grid.cells=[8]; time.end=0", 0},
                {"grid.cells=[8, 8]; system=advection;medium.velocity=[0.0, 0.0]; time.end=3", 3}};
    TEST_EACH(row, rows) {
        HT_ENDED(end) struct trial t = begin("%s", row->options);
        must(t.err);
        TEST_CHECK(t.plan->steps == (row->dt > 0) && t.plan->problem.dt == row->dt,
                   "%s: %d steps of %g", row->options, (int)t.plan->steps, t.plan->problem.dt);
    }
}

/* Layers that are made for a speed do not depend on the medium. */
static void test_layer_speed(void) {
    double most[2][2];
    for (int given = 0; given < 2; given++)
        for (int faster = 0; faster < 2; faster++) {
            HT_ENDED(end)
            struct trial t =
                begin("system=acoustic; grid.cells=[40]; boundary.x1=absorbing; time.scheme=fd; "
                      "medium.c=%d; absorbing.speed=%s",
                      1 + faster, given ? "1.5" : "auto");
            must(t.err);
            most[given][faster] = t.plan->layers.side[0][0].most;
        }
    TEST_CHECK(most[1][0] == most[1][1] && most[0][1] == 2 * most[0][0] &&
                   most[1][0] == 1.5 * most[0][0],
               "absorbing.speed: damping %g, %g; auto: %g, %g", most[1][0], most[1][1], most[0][0],
               most[0][1]);
}

/* Damping is limited to what is stable for the step, whatever is wished for. */
static void test_damping(void) {
    static const struct {
        const char *options;
        double most;
    } rows[] = {{"time.scheme=taylor", 3}, {"time.scheme=leapfrog; absorbing.type=sponge", 0.9}};
    TEST_EACH(row, rows) {
        HT_ENDED(end)
        struct trial t =
            begin("system=acoustic; grid.cells=[20]; grid.order=3; boundary.x1=absorbing; "
                  "absorbing.cells=6; absorbing.reflection=1e-14; %s",
                  row->options);
        must(t.err);
        const struct ht_layer *layer = &t.plan->layers.side[0][1];
        const double off = layer->most * t.plan->problem.dt / 2 / row->most - 1;
        TEST_BELOW(fabs(off), 4 * DBL_EPSILON, "%s: damping per half step off its limit %g",
                   row->options, row->most);
        TEST_CHECK(layer->reflection > 1e-14, "%s: reflection %g in place of 1e-14", row->options,
                   layer->reflection);
    }
}

/* A file of a signal is read once, as long as its group has the same signal: written with other
 * values in between, it is seen by a group that has another delay no more, by a new plan it is. */
static void test_signals(void) {
    static const char options[] = "system=acoustic; grid.cells=[200]; time.end=1; time.scheme=fd; "
                                  "sources.1={ position=[0.5] signal=\"file\" file=\"%s\" };"
                                  "sources.2={ position=[0.2] signal=\"%s\" %s };%s";
    static const char *const texts[] = {"0 0\n.1 1\n.2 2\n.3 0\n", "0 0\n.1 1\n.2 7\n.3 0\n"};
    char *directory = scratch_make("plan");
    if (directory == NULL) exit(1);
    char *path = scratch_path(directory, "s.txt"), *same = scratch_path(directory, "s.txt");
    must(ht_file_write(path, texts[0], strlen(texts[0])));
    HT_ENDED(end) struct trial t = begin(options, path, "ricker", "frequency=2.0", "");
    HT_ENDED(end)
    struct trial file =
        begin(options, same, "file", HT_KEY("file=\"%s\"", path), "sources.1.delay=0.5");
    must(t.err);
    must(file.err);
    must(ht_file_write(path, texts[1], strlen(texts[1])));
    must(ht_plan_aim(t.plan, file.params));
    const struct ht_shot *shot = t.plan->shots->shot;
    TEST_CHECK(fabs(shot[0].signal->largest / 2 - 1) < 0.1 && shot[0].delay == 0.5 &&
                   shot[1].signal == shot[0].signal,
               "largest %g of 2, and %g", shot[0].signal->largest, shot[1].signal->largest);
    HT_ENDED(end) struct trial again = begin(options, path, "ricker", "frequency=2.0", "");
    must(again.err);
    must(ht_plan_aim(t.plan, again.params));
    TEST_CHECK(fabs(t.plan->shots->shot[0].signal->largest / 2 - 1) < 0.1 &&
                   t.plan->shots->shot[1].signal->samples == 0 &&
                   again.plan->shots->shot[0].signal->largest > 6,
               "largest %g of 2, of a new plan %g of 7", t.plan->shots->shot[0].signal->largest,
               again.plan->shots->shot[0].signal->largest);
    free(path);
    free(same);
    scratch_remove(directory);
}

int main(void) {
    test_refusals();
    test_signals();
    test_place();
    test_limits();
    test_least();
    test_auto();
    test_step();
    test_outputs();
    test_idle();
    test_damping();
    test_layer_speed();
    return test_end("plan");
}
