/* The cost of accuracy: device seconds per cubic wavelength and period over the
 * error after 100 wavelengths, for this method and for finite differences.
 *
 * This method: the error is the largest of runs of plane waves in three
 * directions, in both precisions; the cost is the rate of the same kernels on a
 * large box. Finite differences: the error is the largest of three directions
 * by von Neumann analysis, which is exact for plane waves; for each error the
 * best choice of points per wavelength and time step; the cost is the measured
 * rate of their kernels, and that of an ideal kernel with 12 bytes per point
 * and step.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "accuracy.h"
#include "htwave/fd_kernel.h"
#include "htwave/observers.h"
#include "htwave/oracle.h"
#include "htwave/params.h"
#include "htwave/start.h"
#include "htwave/stop.h"

enum { WAVELENGTHS = 100, DIRECTIONS = HT_ACCURACY_DIRECTIONS };

static enum ht_err add_curve(struct ht_accuracy *a,
                             struct ht_accuracy_curve **out) {
    if (a->count == a->room) {
        size_t room = 2 * (size_t)a->room + 32;
        struct ht_accuracy_curve *more =
            realloc(a->curve, room * sizeof *a->curve);
        REQUIRE(more != NULL, HT_ERR_MEMORY, "out of memory");
        a->curve = more;
        a->room = (int)room;
    }
    *out = &a->curve[a->count++];
    **out = (struct ht_accuracy_curve){0};
    return HT_OK;
}

/* ---- finite differences ---- */

static double fd_error(const struct ht_fd_weights *fd, int terms, double points,
                       double nu) {
    static const double direction[3][3] = {{1, 0, 0}, {1, 1, 0}, {1, 1, 1}};
    double worst = 0;
    for (int d = 0; d < 3; d++)
        worst = fmax(worst, ht_fd_error(fd, terms, direction[d], points, nu,
                                        WAVELENGTHS));
    return worst;
}

/* The fewest updates per cubic wavelength and period, points^4/nu, with at most
 * this error. from: for each number of points the first step that is not known
 * to be too long; errors must decrease from call to call. */
enum { FINER = 460, SMALLER = 460 }; /* to 200 points, to 1e-6 of nu */
static double fd_updates(const struct ht_fd_weights *fd, int terms,
                         double error, int from[FINER], double *chosen) {
    const double stable = 0.99 * ht_fd_stable(fd, terms, 3);
    double best = INFINITY;
    for (int i = 0; i < FINER; i++)
        for (; from[i] < SMALLER; from[i]++) {
            double points = 2.1 * pow(1.01, i);
            double nu = stable * pow(0.97, from[i]);
            double updates = pow(points, 4) / nu;
            if (updates >= best) break;
            if (fd_error(fd, terms, points, nu) > error) continue;
            best = updates;
            *chosen = points;
            break;
        }
    return best;
}

/* Number of errors, from 10^-0.5 to 10^-8. */
enum { ERRORS = 31 };
static double error_at(int n) {
    return pow(10, -0.5 - n * 0.25);
}

static void find_fd(const struct ht_fd_weights *fd, int terms, double rate,
                    struct ht_accuracy_curve *c) {
    int from[FINER] = {0};
    c->order = 2 * fd->radius;
    c->time_order = 2 * terms;
    for (int n = 0; n < ERRORS; n++) {
        double points = 0,
               updates = fd_updates(fd, terms, error_at(n), from, &points);
        if (!isfinite(updates)) break;
        c->point[c->count++] = (struct ht_accuracy_point){
            .seconds = updates / rate, .error = error_at(n), .points = points};
    }
}

/* One search for both curves: the measured and the ideal kernel. */
static enum ht_err add_fd(struct ht_accuracy *a, int order, int terms,
                          int64_t side) {
    const struct ht_bench *bench = a->bench;
    const struct ht_fd_weights fd = ht_fd_weights(order);
    const struct ht_fd_spec spec = {.dims = 3, .radius = fd.radius};
    const double bytes = 12;
    struct ht_accuracy_curve *c = NULL;
    double rate = 0;
    const struct ht_fd_variant *variant =
        ht_fd_variant_find("auto", bench->info->gpu);
    TRY(ht_fd_verify(bench->device, &spec, terms, variant->name, bench->cache));
    TRY(ht_fd_measure(bench->device, &spec, variant, NULL, terms, side,
                      bench->cache, &rate));
    double limit = bench->limits[0].bytes_per_s / bytes;
    ht_log("finite differences of order %d, %d in time: %.4g points/s, memory "
           "allows %.4g (verified)",
           order, 2 * terms, rate, limit);
    TRY(add_curve(a, &c));
    find_fd(&fd, terms, rate, c);
    TRY(add_curve(a, &c));
    *c = c[-1];
    c->best = true;
    for (int n = 0; n < c->count; n++) c->point[n].seconds *= rate / limit;
    return HT_OK;
}

/* ---- runs ---- */

enum { LINES = 20, LINE = 160 };
/* Near 0.9; the quotient of end and steps is exactly this number, since
 * programs contain the step. */
static const double cfl = 115.0 / 128;

/* A plane wave in a periodic box of cells of size 1, speed 1, so that all runs
 * of a method have the same step, operators and programs. */
struct wave {
    int64_t cells[3];
    int cycles[3];
    double points; /* cells per wavelength */
};

/* Cells and number of wavelengths (`turns`) of a side along which the wave
 * varies: the fewest such that the cells per wavelength are at most the wanted
 * ones and at most one percent fewer. */
static void choose_side(double points, double length, int *turns,
                        int64_t *cells) {
    enum { TURNS = 12 };
    const double near = 0.99, rounding = 1e-9;
    double closest = 0;
    for (int m = 1; m <= TURNS && closest < near; m++) {
        int64_t n = (int64_t)floor(points * length * m + rounding);
        double found = (double)n / (m * length * points);
        if (n < 3 || found <= closest) continue;
        closest = found;
        *turns = m;
        *cells = n;
    }
}

/* Axes along which the wave does not vary have three cells. */
static struct wave make_wave(int dims, const int direction[3], double points) {
    struct wave w = {.cells = {3, 3, 3}};
    double length = 0;
    int turns = 1;
    int64_t cells = 3;
    for (int k = 0; k < dims; k++) length += direction[k] * direction[k];
    length = sqrt(length);
    choose_side(points, length, &turns, &cells);
    w.points = (double)cells / (turns * length);
    for (int k = 0; k < dims; k++) {
        if (direction[k] != 0) w.cells[k] = cells;
        w.cycles[k] = turns * direction[k];
    }
    return w;
}

static const int directions[2][DIRECTIONS][3] = {
    {{1, 0, 0}, {1, 1, 0}, {1, 2, 0}}, {{1, 0, 0}, {1, 1, 0}, {1, 2, 2}}};
static const char *const direction_name[2][DIRECTIONS] = {
    {"(1,0)", "(1,1)", "(1,2)"}, {"(1,0,0)", "(1,1,0)", "(1,2,2)"}};

/* Appends key=[a,b] or key=[a,b,c], as integers or not. */
static void add_list(char text[LINE], const char *key, int dims,
                     const double value[3], bool whole) {
    int n = snprintf(text, LINE, "%s=[", key);
    for (int k = 0; k < dims; k++)
        n += snprintf(text + n, LINE - (size_t)n, whole ? "%s%.0f" : "%s%.17e",
                      k ? "," : "", value[k]);
    snprintf(text + n, LINE - (size_t)n, "]");
}

static int add_wave(const struct wave *w, int dims, char text[LINES][LINE]) {
    double cells[3] = {0}, cycles[3] = {0};
    const double steps = ceil(WAVELENGTHS * w->points / cfl);
    int n = 0;
    for (int k = 0; k < 3; k++) {
        cells[k] = (double)w->cells[k];
        cycles[k] = w->cycles[k];
    }
    snprintf(text[n++], LINE, "initial.type=plane");
    add_list(text[n++], "initial.cycles", dims, cycles, true);
    add_list(text[n++], "grid.cells", dims, cells, true);
    add_list(text[n++], "grid.upper", dims, cells, false);
    snprintf(text[n++], LINE, "time.step=%.17e", cfl);
    snprintf(text[n++], LINE, "time.end=%.17e", cfl * steps);
    return n;
}

static int add_method(const struct ht_bench_row *row, char text[LINES][LINE]) {
    int n = 0;
    snprintf(text[n++], LINE, "system=%s", row->system->name);
    snprintf(text[n++], LINE, "grid.order=%d", row->order);
    snprintf(text[n++], LINE, "time.stages=full");
    snprintf(text[n++], LINE, "time.scheme=%s", row->scheme->name);
    snprintf(text[n++], LINE, "device.precision=%s", ht_bench_precision(row));
    return n;
}

/* A method in one precision; the first run creates its kernels. */
struct runner {
    const struct ht_accuracy *a;
    const struct ht_bench_row *row;
    struct ht_kernels kernels;
    bool ready;
};

static enum ht_err run_plan(struct runner *r, const struct ht_plan *plan,
                            double *error) {
    const struct ht_bench *bench = r->a->bench;
    const struct ht_tuning *tuning = &r->row->tuning;
    const struct ht_observer observer = ht_observe_error(plan, error);
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

/* Runs one wave. A run with a useless expected error is skipped, and *error is
 * infinite. */
static enum ht_err run(struct runner *r, const struct wave *w, double *error,
                       double *expected) {
    const double useless = 10;
    char text[LINES][LINE], *lines[LINES];
    struct ht_params *params = NULL;
    struct ht_plan *plan = NULL;
    int n = add_method(r->row, text);
    n += add_wave(w, r->a->dims, text + n);
    for (int i = 0; i < n; i++) lines[i] = text[i];
    TRY(ht_params_read(NULL, n, lines, &params));
    enum ht_err err = ht_plan_create(params, NULL, &plan);
    *error = INFINITY;
    if (err == HT_OK) *expected = plan->expected.error;
    if (err == HT_OK && *expected < useless) err = run_plan(r, plan, error);
    ht_plan_destroy(plan);
    ht_params_destroy(params);
    return err;
}

/* Runs all directions; after the first one without an error the others are
 * skipped. */
static enum ht_err run_point(struct runner *r, double points,
                             struct ht_accuracy_point *out) {
    const int dims = r->a->dims;
    for (int d = 0; d < DIRECTIONS && isfinite(out->error); d++) {
        const struct wave w = make_wave(dims, directions[dims == 3][d], points);
        out->along[d].points = w.points;
        TRY(run(r, &w, &out->along[d].error, &out->along[d].expected));
        out->error = fmax(out->error, out->along[d].error);
        out->directions = d + 1;
    }
    return HT_OK;
}

/* Coarse to fine, in thirds of a cell per wavelength. */
static const int thirds[] = {4,  5,  6,  7,  8,  9,  10, 11, 12, 14, 16,
                             18, 21, 24, 27, 30, 36, 42, 48, 60, 75, 90};
enum { GRIDS = sizeof thirds / sizeof thirds[0] };

static enum ht_err cut(struct ht_accuracy_curve *c) {
    c->cut = true;
    return HT_OK;
}

/* Refines the grid until the error is due to rounding, or no time is left. */
static enum ht_err add_points(struct runner *r, double until,
                              struct ht_accuracy_curve *c) {
    const double useless = 1, small = 1e-2, enough = 1e-9;
    double least = INFINITY;
    int worse = 0; /* consecutive grids with a larger error */
    for (int g = 0; g < GRIDS && worse < 2 && least > enough; g++) {
        struct ht_accuracy_point p = {.points = thirds[g] / 3.0};
        if (ht_clock() > until) return cut(c);
        TRY(run_point(r, p.points, &p));
        if (ht_stop_wanted()) break; /* its runs may not have ended */
        if (!(p.error < useless)) continue;
        p.seconds =
            pow(p.points, 3) * 2 * p.points / cfl / ht_bench_rate(c->row);
        if (ht_log_level_get() >= HT_LOG_VERBOSE)
            ht_log("%s %s N = %d, %s: %.3g cells per wavelength: error %.2e, "
                   "%.3g s",
                   c->row->system->name, c->row->scheme->name, c->order,
                   ht_bench_precision(c->row), p.points, p.error, p.seconds);
        worse = least < small && p.error > least ? worse + 1 : 0;
        least = fmin(least, p.error);
        c->point[c->count++] = p;
    }
    return HT_OK;
}

static enum ht_err add_runs(struct ht_accuracy *a,
                            const struct ht_bench_row *row, double until) {
    struct runner runner = {.a = a, .row = row};
    struct ht_accuracy_curve *c = NULL;
    TRY(add_curve(a, &c));
    c->row = row;
    c->order = row->order;
    double began = ht_clock(), least = INFINITY;
    enum ht_err err = add_points(&runner, until, c);
    if (runner.ready) ht_kernels_destroy(&runner.kernels);
    TRY(err);
    for (int n = 0; n < c->count; n++) least = fmin(least, c->point[n].error);
    ht_log("%s %s N = %d, %s: %d grids, least error %.2e, %.1f s%s",
           row->system->name, row->scheme->name, row->order,
           ht_bench_precision(row), c->count, least, ht_clock() - began,
           c->cut ? ", no time left" : "");
    a->cut += c->cut;
    if (c->count == 0) a->count--;
    return HT_OK;
}

/* ---- all curves ---- */

static enum ht_err add_baselines(struct ht_accuracy *a) {
    const int64_t side = a->bench->info->gpu ? 512 : 96;
    for (int order = 8; order <= 16; order += 8) {
        TRY(add_fd(a, order, 1, side));
        TRY(add_fd(a, order, 2, side));
    }
    return HT_OK;
}

/* Each row has its share of the remaining time. */
static enum ht_err add_all(struct ht_accuracy *a, int first, int last) {
    const struct ht_bench *bench = a->bench;
    const double end = bench->began + bench->seconds;
    TRY(add_baselines(a));
    for (int i = first; i < last && !ht_stop_wanted(); i++) {
        const struct ht_bench_row *row = &bench->row[i];
        double now = ht_clock(), share = fmax(end - now, 0) / (last - i);
        if (row->done && row->system->plane != NULL)
            TRY(add_runs(a, row, now + share));
    }
    return HT_OK;
}

enum ht_err ht_bench_accuracy(struct ht_bench *bench, int first, int last) {
    struct ht_accuracy a = {.bench = bench, .dims = bench->info->gpu ? 3 : 2};
    for (int d = 0; d < DIRECTIONS; d++)
        a.direction[d] = direction_name[a.dims == 3][d];
    if (a.dims == 2)
        ht_note("plane waves in two dimensions: a CPU would take long for "
                "three");
    enum ht_err err = add_all(&a, first, last);
    if (a.cut > 0)
        ht_note("%d curve%s incomplete: no time left (--seconds %g)", a.cut,
                a.cut == 1 ? "" : "s", bench->seconds);
    if (err == HT_OK) err = ht_accuracy_show(&a);
    free(a.curve);
    return err;
}
