/* What a wavelength costs: device seconds per cubic wavelength and period
 * against the error after 100 wavelengths, of this method and of finite
 * differences.
 *
 * This method: error of real runs of plane waves in single precision, along
 * an axis and along the diagonal, the worse of both; cost from the best rate
 * measured for the order in that precision on a large box. Finite
 * differences: error by von Neumann analysis, which is exact for plane waves,
 * the worst of three directions; for each error the best choice of points per
 * wavelength and time step; cost from the measured rate of a plain kernel, and
 * from a kernel that could not be better, 12 bytes per point and step.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "htwave/finite_differences.h"
#include "htwave/params.h"
#include "simulation.h"
#include "stop.h"

enum { WAVELENGTHS = 100, ERRORS = 26, GRIDS = 10, BASES = 4, CURVES = 64 };

struct curve {
    char name[HT_BENCH_NAME];
    int order; /* N of htwave; of finite differences in space */
    int count;
    double error[ERRORS], seconds[ERRORS];
    double points[ERRORS]; /* cells or points per wavelength */
    bool best;             /* cost by the memory's limit, not measured */
};

struct accuracy {
    struct ht_bench *bench;
    int dims;            /* of the runs */
    const char *variant; /* of the runs: errors do not depend on it */
    int count;
    struct curve curve[CURVES];
};

/* ---- finite differences ---- */

static double fd_error(const struct ht_fd *fd, double points, double nu) {
    static const double direction[3][3] = {{1, 0, 0}, {1, 1, 0}, {1, 1, 1}};
    double worst = 0;
    for (int d = 0; d < 3; d++)
        worst =
            fmax(worst, ht_fd_error(fd, direction[d], points, nu, WAVELENGTHS));
    return worst;
}

/* The fewest updates per cubic wavelength and period, points^4/nu, with an
 * error up to that. */
static double fd_updates(const struct ht_fd *fd, double error, double *chosen) {
    enum { FINER = 460, SMALLER = 230 }; /* to 200 points, to 1e-3 of nu */
    const double stable = 0.99 * ht_fd_stable(fd, 3);
    double best = INFINITY;
    for (int i = 0; i < FINER; i++)
        for (int k = 0; k < SMALLER; k++) {
            double points = 2.1 * pow(1.01, i), nu = stable * pow(0.97, k);
            double updates = pow(points, 4) / nu;
            if (updates >= best) break;
            if (fd_error(fd, points, nu) > error) continue;
            best = updates;
            *chosen = points;
        }
    return best;
}

static double error_at(int n) {
    return pow(10, -0.5 - n * 0.2);
}

/* One search for both curves: measured, and the best imaginable. */
static enum ht_err add_fd(struct accuracy *a, int order, int time_order,
                          int64_t side) {
    const struct ht_fd fd = ht_fd_make(order, time_order);
    const double bytes = 12;
    struct ht_bench *bench = a->bench;
    double rate = 0, worst = INFINITY;
    TRY(ht_fd_measure(bench->device, &fd, side, bench->cache, &rate, &worst));
    REQUIRE(worst <= 1, HT_ERR_DEVICE,
            "finite differences of order %d differ from their formulas by "
            "%.3g times what rounding explains",
            order, worst);
    double limit = bench->limits[0].bytes_per_s / bytes;
    ht_log("finite differences of order %d, %d in time: %.4g points/s, memory "
           "allows %.4g (verified, %.2g)",
           order, time_order, rate, limit, worst);
    struct curve *measured = &a->curve[a->count++];
    struct curve *ideal = &a->curve[a->count++];
    *measured = (struct curve){.order = order};
    snprintf(measured->name, HT_BENCH_NAME, "FD %d, %d in time", order,
             time_order);
    for (int n = 0; n < ERRORS; n++) {
        double points = 0, updates = fd_updates(&fd, error_at(n), &points);
        if (!isfinite(updates)) break;
        measured->error[n] = error_at(n);
        measured->points[n] = points;
        measured->seconds[n] = updates / rate;
        measured->count++;
    }
    *ideal = *measured;
    ideal->best = true;
    for (int n = 0; n < ideal->count; n++) ideal->seconds[n] *= rate / limit;
    snprintf(ideal->name, HT_BENCH_NAME, "FD %d, %d in time, 12 B/point", order,
             time_order);
    return HT_OK;
}

/* ---- runs ---- */

enum { LINES = 16, LINE = 96 };

static enum ht_err final_error(struct ht_simulation *sim, double *error) {
    double *nodal[HT_MAX_FIELDS] = {NULL};
    const double *const *values = (const double *const *)nodal;
    enum ht_err err = ht_simulation_nodal(sim, nodal);
    if (err == HT_OK) err = ht_nodal_read(sim->plan, &sim->stepper, nodal);
    if (err == HT_OK)
        err = ht_nodal_error(sim->plan, values, sim->params->time.end, error);
    for (int f = 0; f < HT_MAX_FIELDS; f++) free(nodal[f]);
    return err;
}

static enum ht_err run(char *const *lines, int count, double *error) {
    struct ht_params *params = NULL;
    struct ht_simulation *sim = NULL;
    TRY(ht_params_read(NULL, count, lines, &params));
    enum ht_err err = ht_simulation_plan(params, NULL, &sim);
    if (err == HT_OK) err = ht_simulation_compile(sim);
    if (err == HT_OK) err = ht_simulation_start(sim);
    if (err == HT_OK) err = ht_simulation_advance(sim, sim->plan->steps);
    if (err == HT_OK) err = final_error(sim, error);
    ht_simulation_destroy(sim);
    ht_params_destroy(params);
    return err;
}

/* A wave of length and period 1: along the diagonal one in a box of side
 * sqrt(d); along an axis four in a row of cells of the same size or a little
 * coarser. */
static enum ht_err run_wave(const struct accuracy *a,
                            const struct ht_bench_row *row, int cells,
                            bool diagonal, double *error) {
    const struct ht_bench *bench = a->bench;
    char text[LINES][LINE], *lines[LINES];
    const int rest = 3;
    double points = cells / sqrt(a->dims), side = sqrt(a->dims);
    int along = diagonal ? cells : (int)floor(4 * points);
    int across = diagonal ? cells : rest;
    double h = diagonal ? side / cells : 4.0 / along;
    int n = 0;
    snprintf(text[n++], LINE, "system=%s", row->system->name);
    snprintf(text[n++], LINE, "grid.order=%d", row->order);
    snprintf(text[n++], LINE,
             a->dims == 3 ? "grid.cells=[%d,%d,%d]" : "grid.cells=[%d,%d]",
             along, across, across);
    snprintf(text[n++], LINE,
             a->dims == 3 ? "grid.upper=[%.17g,%.17g,%.17g]"
                          : "grid.upper=[%.17g,%.17g]",
             along * h, across * h, across * h);
    snprintf(text[n++], LINE, "time.end=%d.0", WAVELENGTHS);
    snprintf(text[n++], LINE, "time.stages=full");
    snprintf(text[n++], LINE, "time.scheme=%s", ht_bench_scheme(row));
    snprintf(text[n++], LINE, "initial.type=plane");
    snprintf(text[n++], LINE, "initial.cycles=%s",
             diagonal       ? a->dims == 3 ? "[1,1,1]" : "[1,1]"
             : a->dims == 3 ? "[4,0,0]"
                            : "[4,0]");
    snprintf(text[n++], LINE, "device.precision=single");
    snprintf(text[n++], LINE, "device.select=\"%d\"", bench->info->index);
    snprintf(text[n++], LINE, "device.variant=\"%s\"", a->variant);
    snprintf(text[n++], LINE, "device.tune=never");
    snprintf(text[n++], LINE, "device.selfcheck=false");
    for (int i = 0; i < n; i++) lines[i] = text[i];
    return run(lines, n, error);
}

/* Grids until rounding, which finer ones only add to, or time ends it. */
static enum ht_err add_runs(struct accuracy *a, const struct ht_bench_row *row,
                            double until) {
    static const int cells[GRIDS] = {3, 4, 5, 6, 7, 8, 10, 12, 16, 20};
    const double useless = 1, small = 1e-3;
    double before = INFINITY;
    const double cfl = 0.9;
    struct curve *c = &a->curve[a->count++];
    *c = (struct curve){.order = row->order};
    snprintf(c->name, HT_BENCH_NAME, "%s %s N = %d", row->system->name,
             ht_bench_scheme(row), row->order);
    for (int g = 0; g < GRIDS && !ht_stop_wanted(); g++) {
        double error[2] = {0}, points = cells[g] / sqrt(a->dims);
        if (ht_clock() > until) break;
        for (int d = 0; d < 2; d++)
            TRY(run_wave(a, row, cells[g], d == 0, &error[d]));
        double worse = fmax(error[0], error[1]);
        double seconds = pow(points, 3) * 2 * points / cfl / ht_bench_rate(row);
        ht_log("%s: %.3g cells per wavelength: error %.2e, %.3g s", c->name,
               points, worse, seconds);
        if (worse > useless) continue;
        if (before < small && worse > before) break;
        before = worse;
        c->error[c->count] = worse;
        c->points[c->count] = points;
        c->seconds[c->count++] = seconds;
    }
    if (c->count == 0) {
        ht_note("%s: no useful grid, or no time left (--seconds)", c->name);
        a->count--;
    }
    return HT_OK;
}

/* The row with the best rate of a system and an order. */
static const struct ht_bench_row *fastest(const struct ht_bench *bench,
                                          const struct ht_bench_row *like,
                                          int first, int last) {
    const struct ht_bench_row *best = NULL;
    for (int i = first; i < last; i++) {
        const struct ht_bench_row *row = &bench->row[i];
        if (row->done && row->system == like->system &&
            row->leapfrog == like->leapfrog && row->order == like->order &&
            (best == NULL || ht_bench_rate(row) > ht_bench_rate(best)))
            best = row;
    }
    return best;
}

static enum ht_err add_all(struct accuracy *a, int first, int last) {
    const bool gpu = a->bench->info->gpu;
    const double until = ht_clock() + a->bench->seconds;
    const int64_t side = gpu ? 512 : 96;
    for (int order = 8; order <= 16; order += 8) {
        TRY(add_fd(a, order, 2, side));
        TRY(add_fd(a, order, 4, side));
    }
    for (int i = first; i < last; i++) {
        const struct ht_bench_row *row = &a->bench->row[i];
        if (a->count < CURVES && row->done && row->system->plane != NULL &&
            row == fastest(a->bench, row, first, last))
            TRY(add_runs(a, row, until));
    }
    return HT_OK;
}

/* ---- what comes out ---- */

static enum ht_err write_csv(const struct accuracy *a) {
    struct ht_text text = {0};
    char *path = NULL;
    ht_text_add(&text, "method,points_per_wavelength,error,"
                       "seconds_per_cubic_wavelength_and_period\n");
    for (int i = 0; i < a->count; i++)
        for (int n = 0; n < a->curve[i].count; n++)
            ht_text_add(&text, "\"%s\",%.6g,%.6g,%.6g\n", a->curve[i].name,
                        a->curve[i].points[n], a->curve[i].error[n],
                        a->curve[i].seconds[n]);
    enum ht_err err = ht_text_status(&text);
    if (err == HT_OK) err = ht_bench_path(a->bench, "accuracy.csv", &path);
    if (err == HT_OK) err = ht_file_write(path, text.data, text.length);
    free(path);
    ht_text_free(&text);
    return err;
}

static enum ht_err draw(const struct accuracy *a) {
    struct ht_series series[CURVES];
    char subtitle[200], *path = NULL;
    int colour = 0;
    for (int i = 0; i < a->count; i++) {
        const struct curve *c = &a->curve[i];
        bool fd = i < 2 * BASES;
        series[i] =
            (struct ht_series){.name = c->name,
                               .count = c->count,
                               .x = c->error,
                               .y = c->seconds,
                               .colour = c->best ? colour - 1 : colour,
                               .marker = fd ? HT_MARKER_NONE : HT_MARKER_DISC,
                               .line = true,
                               .dashed = c->best};
        if (!c->best) colour++;
    }
    snprintf(subtitle, sizeof subtitle,
             "%.60s; errors of htwave from %d-D runs; dashed: 12 bytes per "
             "point and step",
             a->bench->info->name, a->dims);
    const struct ht_chart chart = {
        .title = "Device seconds per cubic wavelength and period",
        .subtitle = subtitle,
        .x = {.label = "relative error after 100 wavelengths", .log = true},
        .y = {.label = "seconds", .log = true},
        .nseries = a->count,
        .series = series};
    TRY(ht_bench_path(a->bench, "accuracy.png", &path));
    enum ht_err err = ht_chart_write(&chart, path);
    free(path);
    return err;
}

/* Seconds at an error, between the points of a curve; NaN outside. */
static double seconds_at(const struct curve *c, double error) {
    for (int n = 0; n + 1 < c->count; n++) {
        double a = c->error[n], b = c->error[n + 1];
        if (error > a || error < b) continue;
        double part = a > b ? log(a / error) / log(a / b) : 0;
        return c->seconds[n] * pow(c->seconds[n + 1] / c->seconds[n], part);
    }
    return NAN;
}

static enum ht_err print_table(const struct accuracy *a) {
    struct ht_text text = {0};
    ht_text_add(&text,
                "seconds per cubic wavelength and period at an error "
                "after 100 wavelengths of\n%-32s %9s %9s %9s %9s\n",
                "", "1e-2", "1e-3", "1e-4", "1e-5");
    for (int i = 0; i < a->count; i++) {
        ht_text_add(&text, "%-32s", a->curve[i].name);
        for (int decade = -2; decade >= -5; decade--) {
            double seconds = seconds_at(&a->curve[i], pow(10, decade));
            if (isfinite(seconds))
                ht_text_add(&text, " %9.2g", seconds);
            else
                ht_text_add(&text, " %9s", "-");
        }
        ht_text_add(&text, "\n");
    }
    enum ht_err err = ht_args_print(&text);
    ht_text_free(&text);
    return err;
}

/* The first variant whose text does not depend on the step: compiled once. */
static const char *plain_variant(void) {
    int v = 0;
    while (v + 1 < ht_variant_count() &&
           (ht_variant_at(v)->pack != NULL ||
            ht_variant_at(v)->medium == HT_UNIFORM))
        v++;
    return ht_variant_at(v)->name;
}

enum ht_err ht_bench_accuracy(struct ht_bench *bench, int first, int last) {
    struct accuracy *a = NULL;
    TRY(HT_ALLOC(a, 1));
    a->bench = bench;
    a->dims = bench->info->gpu ? 3 : 2;
    a->variant = plain_variant();
    if (a->dims == 2)
        ht_note("plane waves in two dimensions: a CPU would take long for "
                "three");
    enum ht_err err = add_all(a, first, last);
    if (err == HT_OK) err = write_csv(a);
    if (err == HT_OK) err = draw(a);
    if (err == HT_OK && !bench->csv && !bench->json) err = print_table(a);
    free(a);
    return err;
}
