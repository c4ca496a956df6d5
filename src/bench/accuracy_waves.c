/* Plane waves in periodic boxes of cells of size 1, speed 1, so that all runs
 * of a Hermite method have the same step, operators and programs. Their errors
 * are measured against the exact wave after 10 and 100 wavelengths of one run.
 */
#include <math.h>
#include <string.h>

#include "accuracy.h"
#include "htwave/observers.h"
#include "htwave/params.h"
#include "htwave/start.h"

enum { LINES = 20, LINE = 160, WAYS = HT_ACCURACY_WAYS };

const int ht_accuracy_length[HT_ACCURACY_LENGTHS] = {10, 100};

static const int ways[2][WAYS][3] = {{{1, 0, 0}, {1, 1, 0}, {1, 2, 0}},
                                     {{1, 0, 0}, {1, 1, 0}, {1, 2, 2}}};
const char *ht_accuracy_way(int dims, int way) {
    static const char *const name[2][WAYS] = {
        {"(1,0)", "(1,1)", "(1,2)"}, {"(1,0,0)", "(1,1,0)", "(1,2,2)"}};
    return name[dims == 3][way];
}

/* ---- a wave ---- */

struct wave {
    int64_t cells[3];
    int cycles[3];
    double points; /* cells per wavelength */
    double cfl;
};

/* Cells and number of wavelengths (`turns`) of a side along which the wave
 * varies: the fewest such that the cells per wavelength are at most the wanted
 * ones and at most one percent fewer. */
static void choose_side(double points, double length, int64_t least, int *turns,
                        int64_t *cells) {
    enum { TURNS = 24 };
    const double near = 0.99, rounding = 1e-9;
    double closest = 0;
    for (int m = 1; m <= TURNS && closest < near; m++) {
        int64_t n = (int64_t)floor(points * length * m + rounding);
        double found = (double)n / (m * length * points);
        if (n < least || found <= closest) continue;
        closest = found;
        *turns = m;
        *cells = n;
    }
}

static bool differences(const struct ht_bench_row *row) {
    return row->scheme->method == HT_FINITE_DIFFERENCES;
}

/* Axes along which the wave does not vary have three cells, or as many as a
 * stencil needs. */
static struct wave make_wave(const struct ht_accuracy_runner *r, int way,
                             const struct ht_resolution *asked) {
    const int *direction = ways[r->dims == 3][way];
    const int64_t least = differences(r->row) ? r->row->order / 2 + 1 : 3;
    struct wave w = {.cells = {least, least, least}, .cycles = {0}};
    double length = 0;
    int turns = 1;
    int64_t cells = least;
    for (int k = 0; k < 3; k++) length += direction[k] * direction[k];
    length = sqrt(length);
    choose_side(asked->cells, length, least, &turns, &cells);
    w.points = (double)cells / (turns * length);
    for (int k = 0; k < 3; k++) {
        if (direction[k] != 0) w.cells[k] = cells;
        w.cycles[k] = turns * direction[k];
    }
    /* The quotient of end and steps is exactly this number, since programs
     * of Hermite methods contain the step. */
    w.cfl = differences(r->row) ? asked->cfl : floor(asked->cfl * 128) / 128;
    return w;
}

/* Steps until the wave has travelled so far. */
static double steps_of(const struct wave *w, double wavelengths) {
    return ceil(wavelengths * w->points / w->cfl);
}

/* ---- its input ---- */

/* Appends key=[a,b] or key=[a,b,c], as integers or not. */
static void add_list(char text[LINE], const char *key, int dims,
                     const double value[3], bool whole) {
    int n = snprintf(text, LINE, "%s=[", key);
    for (int k = 0; k < dims; k++)
        n += snprintf(text + n, LINE - (size_t)n, whole ? "%s%.0f" : "%s%.17e",
                      k ? "," : "", value[k]);
    snprintf(text + n, LINE - (size_t)n, "]");
}

static int add_wave(const struct wave *w, int dims, double steps,
                    char text[LINES][LINE]) {
    double cells[3] = {0}, cycles[3] = {0};
    int n = 0;
    for (int k = 0; k < 3; k++) {
        cells[k] = (double)w->cells[k];
        cycles[k] = w->cycles[k];
    }
    snprintf(text[n++], LINE, "initial.type=plane");
    add_list(text[n++], "initial.cycles", dims, cycles, true);
    add_list(text[n++], "grid.cells", dims, cells, true);
    add_list(text[n++], "grid.upper", dims, cells, false);
    snprintf(text[n++], LINE, "time.step=%.17e", w->cfl);
    snprintf(text[n++], LINE, "time.end=%.17e", w->cfl * steps);
    return n;
}

static int add_method(const struct ht_bench_row *row, char text[LINES][LINE]) {
    int n = 0;
    snprintf(text[n++], LINE, "system=%s", row->system->name);
    snprintf(text[n++], LINE, "grid.order=%d", row->order);
    if (differences(row))
        snprintf(text[n++], LINE, "time.stages=%d", row->stages);
    else
        snprintf(text[n++], LINE, "time.stages=full");
    snprintf(text[n++], LINE, "time.scheme=%s", row->scheme->name);
    snprintf(text[n++], LINE, "device.precision=%s", ht_bench_precision(row));
    return n;
}

/* ---- the run ---- */

struct samples {
    int64_t step[HT_ACCURACY_LENGTHS];
    int count, taken;
    double *error;
};

static int64_t next_sample(void *context, const struct ht_run *run,
                           int64_t from) {
    const struct samples *s = context;
    (void)from;
    return s->taken < s->count ? s->step[s->taken] : run->plan->steps;
}

static enum ht_err take_sample(void *context, const struct ht_view *view) {
    struct samples *s = context;
    if (s->taken == s->count || view->run->steps != s->step[s->taken])
        return HT_OK;
    return ht_nodal_error(view->run->plan, view->nodal, view->time,
                          &s->error[s->taken++]);
}

static enum ht_err run_plan(struct ht_accuracy_runner *r,
                            const struct ht_plan *plan,
                            struct samples *samples) {
    const struct ht_bench *bench = r->bench;
    const struct ht_tuning *tuning = &r->row->tuning;
    const struct ht_observer observer = {.name = "error",
                                         .context = samples,
                                         .needs = HT_NEED_NODAL,
                                         .next = next_sample,
                                         .look = take_sample};
    struct ht_run run = {.plan = plan, .kernels = &r->kernels};
    if (!r->ready)
        TRY(ht_kernels_create(&plan->problem, bench->device, tuning,
                              bench->cache, &r->kernels));
    r->ready = true;
    TRY(ht_stepper_create(&plan->problem, bench->device, &r->kernels,
                          &run.stepper));
    enum ht_err err =
        ht_start(plan, bench->device, tuning, bench->cache, &run.stepper);
    if (err == HT_OK) err = ht_run_execute(&run, 1, &observer);
    ht_stepper_destroy(&run.stepper);
    return err;
}

static enum ht_err run_wave(struct ht_accuracy_runner *r, const struct wave *w,
                            int way, struct ht_accuracy_grid *grid) {
    char text[LINES][LINE], *lines[LINES];
    struct samples samples = {.count = grid->lengths,
                              .error = grid->error[way]};
    struct ht_params *params = NULL;
    struct ht_plan *plan = NULL;
    for (int i = 0; i < HT_ACCURACY_LENGTHS; i++)
        samples.step[i] = (int64_t)steps_of(w, ht_accuracy_length[i]);
    int n = add_method(r->row, text);
    n +=
        add_wave(w, r->dims, (double)samples.step[grid->lengths - 1], text + n);
    for (int i = 0; i < n; i++) lines[i] = text[i];
    TRY(ht_params_read(NULL, n, lines, &params));
    enum ht_err err = ht_plan_create(params, NULL, &plan);
    if (err == HT_OK) grid->expected[way] = plan->expected.error;
    if (err == HT_OK) err = run_plan(r, plan, &samples);
    ht_plan_destroy(plan);
    ht_params_destroy(params);
    return err;
}

/* Seconds on the device at the row's rate, small grids not being faster than
 * launches. */
static double seconds_of(const struct ht_accuracy_runner *r,
                         const struct wave *w, int lengths) {
    const double launch_s = 4e-6;
    double cells = 1;
    for (int k = 0; k < r->dims; k++) cells *= (double)w->cells[k];
    return 2 * steps_of(w, ht_accuracy_length[lengths - 1]) *
           fmax(launch_s, cells / ht_bench_rate(r->row));
}

enum ht_err ht_accuracy_run(struct ht_accuracy_runner *runner, int lengths,
                            double patience, struct ht_accuracy_grid *grid) {
    grid->lengths = lengths;
    for (int i = 0; i < HT_ACCURACY_LENGTHS; i++) grid->worst[i] = NAN;
    for (int way = 0; way < WAYS; way++) {
        const struct wave w = make_wave(runner, way, &grid->asked);
        if (seconds_of(runner, &w, lengths) > patience) break;
        grid->cells[way] = w.points;
        TRY(run_wave(runner, &w, way, grid));
        grid->ways = way + 1;
        for (int i = 0; i < lengths; i++)
            grid->worst[i] = fmax(
                way ? grid->worst[i] : 0,
                isfinite(grid->error[way][i]) ? grid->error[way][i] : INFINITY);
    }
    return HT_OK;
}

void ht_accuracy_end(struct ht_accuracy_runner *runner) {
    if (runner->ready) ht_kernels_destroy(&runner->kernels);
}
