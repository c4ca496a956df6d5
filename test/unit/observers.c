/* The library's observers, on runs of the serial reference: what they find is what the measures of
 * the state give when called directly; outputs are at their steps; bad states are refused before
 * they are written. */
#include <sys/stat.h>

#include "../io/scratch.h"
#include "planned.h"
#include "redirect.h"

#include "htwave/h5.h"
#include "htwave/run.h"
#include "src/io/files.h"

struct trial {
    struct planned of;
    const struct ht_params *params;
    const struct ht_plan *plan;
    struct ht_output *output;
    struct ht_run run;
    struct ht_energies energies;
    struct ht_conserved conserved;
    double error;
    enum ht_err err; /* of the run */
};

/* text: pairs key=value, one per space. first: an observer before all others; NULL: none. */
static void run_trial(const char *directory, const char *text, const struct ht_observer *first,
                      struct trial *t) {
    const char *more = ht_picture_cairo() == NULL ? "output.pictures=false" : "";
    *t = (struct trial){.err = HT_OK};
    must(plan_make(&t->of, ' ', "output.directory=\"%s\" %s %s", directory, text, more));
    must(plan_oracle(&t->of, true));
    t->params = t->of.params;
    t->run.plan = t->plan = t->of.plan;
    t->run.stepper = t->of.stepper;
    must(ht_output_create(t->params, t->plan->medium, t->plan->problem.stored[HT_PRIMARY],
                          &t->output));
    struct ht_observer o[8];
    struct ht_recording recording = {.output = t->output};
    int count = 0;
    if (first != NULL) o[count++] = *first;
    o[count++] = ht_observe_energy(&t->energies);
    o[count++] = ht_observe_conserved(&t->conserved);
    o[count++] = ht_observe_error(t->plan, &t->error);
    o[count++] = ht_observe_snapshots(t->params, t->output);
    o[count++] = ht_observe_pictures(t->params, t->output);
    o[count++] = ht_observe_receivers(&recording);
    t->err = ht_run_execute(&t->run, count, o);
}

static void close_trial(struct trial *t) {
    ht_output_destroy(t->output);
    planned_end(&t->of);
}

/* ---- what is found ---- */

/* Of the state at the end, by the measures themselves. */
static void measure(const struct trial *t, struct ht_state *state, double *conserved,
                    double *error) {
    HT_ENDED(ht_pool_free) struct ht_pool pool = {0};
    double *nodal[HT_MAX_FIELDS] = {NULL}, end = t->params->time.end;
    const int64_t nodes = ht_grid_total(&t->plan->grid, HT_PRIMARY);
    *conserved = NAN;
    must(ht_state_measure(t->plan, &t->run.stepper, end, state));
    if (ht_conserves_energy(t->plan))
        must(ht_conserved_energy(t->plan, &t->run.stepper, conserved));
    for (int f = 0; f < t->plan->eq.nfields; f++)
        if (ht_problem_stores(&t->plan->problem, HT_PRIMARY, f))
            must(HT_TAKE(&pool, nodal[f], nodes));
    must(ht_fields_read(t->plan, &t->run.stepper, 1, nodal));
    must(ht_nodal_error(t->plan, (const double *const *)nodal, end, error));
}

#define PLANE                                                   \
    "grid.cells=[8,6] grid.order=2 time.end=2.3 time.step=0.1 " \
    "initial.type=plane initial.cycles=[1,0] output.every=0.3 " \
    "output.picture.every=0.5 "

static void test_taylor(const char *directory) {
    HT_ENDED(close_trial) struct trial t;
    struct ht_state state = {.energy = NAN};
    double conserved = NAN, error = NAN;
    run_trial(directory, PLANE "time.scheme=taylor", NULL, &t);
    must(t.err);
    measure(&t, &state, &conserved, &error);
    TEST_BELOW(fabs(t.energies.initial - 0.5), 1e-12, "energy at the start, off 1/2 by");
    TEST_CHECK(t.energies.final == state.energy && t.energies.rise >= 0 &&
                   t.energies.final < t.energies.initial,
               "energy at the end: %.17g (measured: %.17g), rise %g", t.energies.final,
               state.energy, t.energies.rise);
    TEST_CHECK(t.error == error && error > 0, "error: %g (measured: %g)", t.error, error);
    TEST_CHECK(isnan(t.conserved.energy[0]) && isnan(t.conserved.energy[1]),
               "no conserved energy: %g, %g", t.conserved.energy[0], t.conserved.energy[1]);
}

static void test_leapfrog(const char *directory) {
    HT_ENDED(close_trial) struct trial t;
    struct ht_state state = {.energy = NAN};
    double conserved = NAN, error = NAN;
    run_trial(directory, PLANE "time.scheme=leapfrog initial.cycles=[1,1]", NULL, &t);
    must(t.err);
    measure(&t, &state, &conserved, &error);
    TEST_CHECK(t.conserved.energy[1] == conserved && t.conserved.energy[0] > 0,
               "conserved energy: %g, %g (measured: %g)", t.conserved.energy[0],
               t.conserved.energy[1], conserved);
    TEST_BELOW(fabs(t.conserved.energy[1] / t.conserved.energy[0] - 1), 1e-12,
               "conserved energy, changed by");
    /* theta = 0.44; N = 2 lacks 5/12 theta^4 of 1/cos(theta)^2: what the node's derivatives lack of
     * the series */
    TEST_BELOW(fabs(t.energies.initial - 0.5), 8e-3, "physical energy at the start, off 1/2 by");
    TEST_BELOW(fabs(t.energies.final / t.energies.initial - 1), 1e-3,
               "physical energy, changed by");
    TEST_CHECK(isnan(t.energies.rise), "no rise: %g", t.energies.rise);
    TEST_CHECK(t.error == error && error > 0, "error: %g (measured: %g)", t.error, error);
}

/* int p^2/(2 K) of a pulse at the start, the same number by every scheme. */
static void test_energies(const char *directory) {
    const double exact = acos(-1.0) * 0.09 / (2 * 2.0 * 1.5 * 1.5);
    static const char *const scheme[] = {"taylor", "leapfrog", "fd"};
    for (int i = 0; i < 3; i++) {
        char text[400];
        HT_ENDED(close_trial) struct trial t;
        snprintf(text, sizeof text,
                 "grid.cells=[40,40] grid.upper=[4.0,4.0] boundary.x1=rigid boundary.x2=free "
                 "medium.c=1.5 medium.rho=2.0 initial.centre=[2.0,2.0] initial.width=0.3 "
                 "time.end=0.2 output.snapshots=false output.pictures=false time.scheme=%s",
                 scheme[i]);
        run_trial(directory, text, NULL, &t);
        TEST_BELOW(fabs(t.energies.initial / exact - 1), 1e-3, "%s: energy at the start, off %g by",
                   scheme[i], exact);
        TEST_BELOW(fabs(t.energies.final / exact - 1), 1e-3, "%s: energy at the end, off by",
                   scheme[i]);
    }
}

/* ---- outputs ---- */

/* Files of the directory whose names begin so. */
static int count_files(const char *directory, const char *format) {
    int count = 0;
    for (bool found = true; found; count += found) {
        char name[32];
        snprintf(name, sizeof name, format, count);
        HT_FREED char *path = scratch_path(directory, name);
        found = ht_file_exists(path);
    }
    return count;
}

/* Times of fields.xdmf, in tenths. */
static void list_times(const char *directory, char text[256]) {
    static const char key[] = "<Time Value=\"";
    HT_FREED char *path = scratch_path(directory, "fields.xdmf"), *data = NULL;
    size_t size;
    int used = 0;
    text[0] = '\0';
    if (ht_file_read(path, &data, &size) == HT_OK)
        for (char *at = data; (at = strstr(at, key)) != NULL && used < 200;)
            used += snprintf(text + used, 256 - (size_t)used, "%s%.4g", used ? " " : "",
                             10 * strtod(at += sizeof key - 1, NULL));
}

static void test_outputs(const char *directory) {
    char times[256];
    HT_ENDED(close_trial) struct trial t;
    run_trial(directory, PLANE "output.coefficients=true", NULL, &t);
    list_times(directory, times);
    int snapshots = count_files(directory, "fields_%06d.h5"),
        pictures = count_files(directory, "wave_%04d.png"),
        expected = ht_output_draws(t.params) ? 6 : 0;
    TEST_CHECK(t.err == HT_OK && snapshots == 9 && strcmp(times, "0 3 6 9 12 15 18 21 23") == 0,
               "%d snapshots with coefficients at steps %s", snapshots, times);
    TEST_CHECK(pictures == expected, "%d pictures at 0, 0.5, 1, 1.5, 2 and the end (expected %d)",
               pictures, expected);
    close_trial(&t);
    run_trial(directory, PLANE "output.snapshots=false output.pictures=false", NULL, &t);
    snapshots = count_files(directory, "fields_%06d.h5");
    pictures = count_files(directory, "wave_%04d.png");
    TEST_CHECK(t.err == HT_OK && snapshots + pictures == 0, "both off: %d snapshots, %d pictures",
               snapshots, pictures);
}

/* ---- bad states ---- */

/* Spoils the state at a step, context. */
static enum ht_err spoil_look(void *context, const struct ht_view *view) {
    const struct ht_run *run = view->run;
    const struct ht_grid *grid = &run->plan->grid;
    HT_FREED double *plane = NULL;
    if (run->steps != *(const int64_t *)context) return HT_OK;
    const int64_t count =
        ht_grid_plane(grid, HT_PRIMARY) * ht_grid_coefs(grid) * run->plan->eq.nfields;
    TRY(HT_ALLOC(plane, count));
    for (int64_t i = 0; i < count; i++) plane[i] = NAN;
    return run->stepper.ops->put(run->stepper.self, HT_PRIMARY, 0, 1, plane);
}

static int64_t spoil_next(void *context, const struct ht_run *run, int64_t from) {
    (void)context, (void)run;
    return from;
}

/* The energy watch looks at even steps, at others because of an output. */
static void test_spoilt(const char *directory, const char *text, int64_t refused, int expected) {
    int64_t step = 3;
    const struct ht_observer spoil = {
        .name = "spoil", .context = &step, .next = spoil_next, .look = spoil_look};
    HT_ENDED(close_trial) struct trial t;
    run_trial(directory, text, &spoil, &t);
    int written =
        count_files(directory, "fields_%06d.h5") + count_files(directory, "wave_%04d.png");
    if (!t.params->output.snapshots && !ht_output_draws(t.params))
        TEST_SKIP("this htwave was built without cairo");
    else
        TEST_CHECK(t.err == HT_ERR_NOT_FINITE && t.run.steps == refused && written == expected,
                   "%s: spoilt at step %lld, refused at %lld (expected %lld), %d files before "
                   "(expected %d)",
                   text + sizeof PLANE - 1, (long long)step, (long long)t.run.steps,
                   (long long)refused, written, expected);
}

/* ---- failures ---- */

static enum ht_err fail_look(void *context, const struct ht_view *view) {
    if (view->run->steps != *(const int64_t *)context) return HT_OK;
    FAIL(HT_ERR_DEVICE, "the device is lost");
}

/* What receivers hold in memory is written when something else fails. */
static void test_failure(const char *directory) {
    int64_t step = 3, extent[8] = {0};
    double p[4] = {NAN, NAN, NAN, NAN};
    int rank = 0;
    const struct ht_observer fails = {
        .name = "fails", .context = &step, .next = spoil_next, .look = fail_look};
    HT_ENDED(close_trial) struct trial t;
    struct ht_h5 *file = NULL;
    HT_FREED char *path = scratch_path(directory, "traces.h5");
    run_trial(directory,
              PLANE "output.snapshots=false output.pictures=false receivers=({position=[0,0];})",
              &fails, &t);
    TEST_CHECK(t.err == HT_ERR_DEVICE && t.run.steps == step &&
                   strcmp(ht_err_message(), "the device is lost") == 0,
               "a failure at step %d: %s", (int)t.run.steps, ht_err_message());
    enum ht_err err = ht_h5_open(path, &file);
    if (!err) err = ht_h5_extent(file, "receivers-1/p", &rank, extent);
    if (!err && extent[1] == 4) err = ht_h5_read(file, "receivers-1/p", 4, p);
    TEST_CHECK(!err && rank == 2 && extent[1] == 4 && p[0] == 1 &&
                   fabs(p[3] - cos(0.6 * HT_PI)) < 1e-3,
               "the traces have the samples until then: %d (4), %g, %g, %g", (int)extent[1], p[0],
               p[1], p[3]);
    ht_h5_close(file);
}

/* Where the second picture should be stands a folder. */
static enum ht_err block_look(void *context, const struct ht_view *view) {
    (void)view;
    if (mkdir(context, 0700) == 0 || errno == EEXIST) return HT_OK;
    FAIL(HT_ERR_IO, "mkdir");
}

static void test_lost_picture(const char *directory) {
    HT_FREED char *path = scratch_path(directory, "wave_0001.png"),
                  *last = scratch_path(directory, "wave_0005.png");
    const struct ht_observer blocks = {
        .name = "blocks", .context = path, .next = spoil_next, .look = block_look};
    struct trial t;
    run_trial(directory, PLANE, &blocks, &t);
    if (ht_output_draws(t.params))
        TEST_CHECK(t.err == HT_OK && count_files(directory, "wave_%04d.png") == 6 &&
                       strcmp(t.output->last_picture, last) == 0,
                   "a picture that cannot be written ends no run: %s", ht_err_message());
    else
        TEST_SKIP("this htwave was built without cairo");
    close_trial(&t);
    rmdir(path);
}

/* Lines of a text that begin so; it is freed. */
static int count_lines(char *data, const char *begin) {
    int count = data == NULL ? -1 : 0;
    for (char *line = data ? strtok(data, "\n") : NULL; line; line = strtok(NULL, "\n"))
        count += strncmp(line, begin, strlen(begin)) == 0;
    free(data);
    return count;
}

#define LAYERS                                                        \
    "grid.cells=[24] grid.upper=[24.0] grid.order=3 "                 \
    "time.scheme=taylor "                                             \
    "medium.type=layers medium.axis=x1 medium.interfaces=[8.0,16.0] " \
    "medium.c=[1.5,2.0,1.5] medium.rho=[1.0,1.8,1.0] "                \
    "initial.type=gaussian initial.centre=[4.3] initial.width=1.2 "   \
    "output.every=0.0 output.pictures=false "

/* Runs with what is said in a file of the directory; times: lines that begin so. */
static void run_aloud(const char *directory, const char *options, const struct ht_observer *first,
                      const char *begin, struct trial *t, int *times) {
    HT_FREED char *path = scratch_path(directory, "messages");
    const int saved = begin_stderr(path);
    run_trial(directory, options, first, t);
    *times = count_lines(end_stderr(path, saved), begin);
}

static void test_growth(const char *directory) {
    HT_ENDED(close_trial) struct trial t;
    int warnings;
    run_aloud(directory, LAYERS "time.end=400.0", NULL, "warning: the energy has risen", &t,
              &warnings);
    TEST_CHECK(t.err == HT_ERR_NOT_FINITE && t.run.steps < t.plan->steps &&
                   strstr(ht_err_message(), "the energy has grown") != NULL,
               "energy that grows ends the run after %lld of %lld steps: %s",
               (long long)t.run.steps, (long long)t.plan->steps, ht_err_message());
    TEST_CHECK(t.energies.watch.grows && warnings == 1, "%d warning of the first rise", warnings);
}

/* ---- energy that is conserved ---- */

static int64_t halfway(void *context, const struct ht_run *run, int64_t from) {
    (void)context;
    return from <= run->plan->steps / 2 ? run->plan->steps / 2 : run->plan->steps;
}

/* Multiplies u of both grids by *context. */
static enum ht_err spoil(void *context, const struct ht_view *view) {
    const struct ht_stepper *s = &view->run->stepper;
    const struct ht_plan *plan = view->run->plan;
    const double factor = *(const double *)context;
    const int coefs = ht_grid_coefs(&plan->grid);
    for (int i = 0; i < 2 && !view->last; i++) {
        const enum ht_subgrid subgrid = i ? HT_DUAL : HT_PRIMARY;
        const int64_t planes = ht_grid_planes(&plan->grid, subgrid);
        const int64_t count = ht_grid_total(&plan->grid, subgrid) * coefs;
        double *u = NULL;
        TRY(HT_ALLOC(u, count * plan->eq.nfields));
        enum ht_err err = s->ops->get(s->self, subgrid, 0, coefs, 0, planes, u);
        for (int64_t n = 0; n < count; n++) u[n] *= factor;
        if (err == HT_OK) err = s->ops->put(s->self, subgrid, 0, planes, u);
        free(u);
        TRY(err);
    }
    return HT_OK;
}

static void test_changed(const char *directory) {
    for (int i = 0; i < 2; i++) {
        double factor = i ? 1.02 : 1;
        const struct ht_observer o = {
            .name = "spoil", .context = &factor, .next = halfway, .look = spoil};
        HT_ENDED(close_trial) struct trial t;
        int warnings;
        run_aloud(directory,
                  "system=wave grid.cells=[8] grid.order=3 time.end=2.3 time.scheme=leapfrog "
                  "initial.type=plane output.pictures=false device.precision=double",
                  &o, "warning: the energy, which leapfrog conserves, has", &t, &warnings);
        TEST_CHECK(t.err == HT_OK && warnings == i,
                   "amplitudes times %g amid a run: %d warning of the energy", factor, warnings);
    }
}

int main(void) {
    char *directory = scratch_make("observers");
    if (directory == NULL) return 1;
    ht_log_level_set(HT_LOG_QUIET);
    test_taylor(directory);
    test_energies(directory);
    test_leapfrog(directory);
    test_outputs(directory);
    test_spoilt(directory, PLANE "output.pictures=false", 3, 1);
    test_spoilt(directory, PLANE "output.snapshots=false output.picture.every=0.3", 3, 1);
    test_spoilt(directory, PLANE "output.pictures=false output.every=0.0", 4, 0);
    test_failure(directory);
    test_lost_picture(directory);
    test_growth(directory);
    test_changed(directory);
    scratch_remove(directory);
    return test_end("observers");
}
