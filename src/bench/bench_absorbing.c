/* Absorbing sides as in Figures 7, 9 and 11 of Toivanen et al. (2011,
 * docs/absorbing.md): a cube of a uniform medium with layers on all sides, of
 * growing size with layers of 10 cells, then of one size with layers of growing
 * thickness; by finite differences and the Taylor scheme, in each organisation
 * that a scheme has. Layers are added to the cube: effective rates count its
 * cells, as in the paper, and the same cube between rigid walls is the measure.
 *
 * Each organisation and thickness is verified on a small cube: the layers must
 * take a pulse away, and values on the way must be those of the first
 * organisation within rounding. Timed states are random, without tiny numbers.
 */
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "htwave/energy.h"
#include "htwave/fd_kernel.h"
#include "htwave/simulation.h"
#include "htwave/stop.h"
#include "open_sides.h"

/* Cells along the axes of the cube that is verified; of a layer of the first
 * sweep; steps that are timed at most. */
enum { SMALL = 10, USUAL = 10, MOST = 201 };

struct trial {
    const struct ht_scheme *scheme;
    int order, inside, layer; /* layer 0: walls */
    const char *organisation;
    bool pulse; /* else zero */
};

/* ---- one simulation ---- */

enum { LINES = 32, LINE = 400 };
struct lines {
    int count;
    char text[LINES][LINE], *line[LINES];
};

HT_PRINTF(2, 3)
static void add_line(struct lines *l, const char *format, ...) {
    va_list args;
    if (l->count == LINES) return;
    va_start(args, format);
    vsnprintf(l->text[l->count], LINE, format, args);
    va_end(args);
    l->line[l->count] = l->text[l->count];
    l->count++;
}

/* "[x, x]" of as many axes. */
static void add_same(struct lines *l, const char *key, int dims, int value,
                     const char *point) {
    char list[64];
    int n = snprintf(list, sizeof list, "[%d%s", value, point);
    for (int k = 1; k < dims; k++)
        n += snprintf(list + n, sizeof list - (size_t)n, ",%d%s", value, point);
    add_line(l, "%s=%s]", key, list);
}

/* A pulse of the mean 0 in the middle, two cells wide. */
static void add_pulse(struct lines *l, const struct trial *t, int dims) {
    const double middle = 0.5 * t->inside + t->layer, width2 = 2.25;
    char r2[160] = "";
    int n = 0;
    for (int k = 1; k <= dims; k++)
        n += snprintf(r2 + n, sizeof r2 - (size_t)n, "%s(x%d-%g)^2",
                      k > 1 ? "+" : "", k, middle);
    add_line(l, "initial.type=expression");
    add_line(l, "initial.values.p=exp(-(%s)/%g)*(1-(%s)/%g)", r2, 2 * width2,
             r2, dims * width2);
}

static enum ht_err read_trial(const struct ht_open_sides *all,
                              const struct trial *t, struct ht_params **out) {
    const struct ht_sweep *sweep = &all->bench->sweep;
    const int cells = t->inside + 2 * t->layer;
    struct lines l = {.count = 0};
    add_line(&l, "system=acoustic");
    add_same(&l, "grid.cells", all->dims, cells, "");
    add_same(&l, "grid.upper", all->dims, cells, ".0");
    add_line(&l, "grid.order=%d", t->order);
    add_line(&l, "time.scheme=%s", t->scheme->name);
    add_line(&l, "time.end=1000");
    if (t->scheme->method == HT_FINITE_DIFFERENCES)
        add_line(&l, "time.stages=1"); /* as layers have */
    for (int k = 1; k <= all->dims; k++)
        add_line(&l, "boundary.x%d=%s", k, t->layer ? "absorbing" : "rigid");
    if (t->layer > 0) {
        add_line(&l, "absorbing.cells=%d", t->layer);
        add_line(&l, "absorbing.organisation=%s", t->organisation);
    }
    if (t->pulse) add_pulse(&l, t, all->dims);
    if (!t->pulse) add_line(&l, "initial.type=zero");
    add_line(&l, "device.precision=%s", all->fp64 ? "double" : "single");
    add_line(&l, "device.backend=%s", sweep->backend);
    add_line(&l, "device.select=%d", all->bench->info->index);
    add_line(&l, "device.cache=%s", sweep->cache);
    add_line(&l, "device.tune=never");
    /* The verification has compared with the reference. */
    add_line(&l, "device.selfcheck=%s", t->pulse ? "true" : "false");
    add_line(&l, "output.snapshots=false");
    add_line(&l, "output.pictures=false");
    return ht_params_read(NULL, l.count, l.line, out);
}

/* ---- one run ---- */

/* What the organisations of a method were found to do in layers of a
 * thickness. */
enum { ORGANISATIONS = 16 };
struct verdict {
    bool has; /* the scheme has the organisation */
    double left, difference;
};
struct work {
    struct ht_open_sides *all;
    const struct ht_scheme *scheme;
    int order;
    int layer; /* of the verdicts; 0: none yet */
    struct verdict verdict[ORGANISATIONS];
    double *first; /* values of the first organisation */
    double walls;  /* seconds of a step between walls, of this cube */
};

/* What is done with a simulation that has started. */
typedef enum ht_err use(struct work *work, struct ht_simulation *sim,
                        const struct trial *t, void *out);

/* *refused: by the plan, whose message stays, or larger than --gib. Words of
 * the program about its plans are not those of the benchmark. */
static enum ht_err with(struct work *work, const struct trial *t, use *what,
                        void *out, bool *refused) {
    const enum ht_log_level level = ht_log_level_get();
    struct ht_params *params = NULL;
    struct ht_simulation *sim = NULL;
    TRY(read_trial(work->all, t, &params));
    if (level < HT_LOG_VERBOSE) ht_log_level_set(HT_LOG_SILENT);
    enum ht_err err = ht_simulation_plan(params, NULL, &sim);
    if (err == HT_OK &&
        (double)sim->budget.total > work->all->bench->gib * 0x1p30)
        err = ht_err_set(HT_ERR_INPUT, "larger than --gib");
    *refused = err == HT_ERR_INPUT;
    if (err == HT_OK) err = ht_simulation_compile(sim);
    if (err == HT_OK) err = ht_simulation_start(sim);
    if (err == HT_OK) err = what(work, sim, t, out);
    ht_log_level_set(level);
    ht_simulation_destroy(sim);
    ht_params_destroy(params);
    return *refused ? HT_OK : err;
}

/* ---- verification ---- */

static enum ht_err energy_of(const struct ht_simulation *sim, double *out) {
    struct ht_state state = {.energy = NAN};
    TRY(ht_state_measure(sim->plan, &sim->run.stepper, ht_run_time(&sim->run),
                         &state));
    *out = state.energy;
    return HT_OK;
}

/* The largest difference from the first organisation, of which these are the
 * values. A step rounds the values, at most 1, by some eight units, and what it
 * adds to them by as many of what it adds; such an error is a wave that does
 * not grow, so that errors of the steps add up. */
static enum ht_err compare(struct work *work, const struct ht_simulation *sim,
                           double *out) {
    const struct ht_plan *plan = sim->plan;
    const struct ht_stepper *s = &sim->run.stepper;
    const int64_t nodes = ht_grid_total(&plan->grid, HT_PRIMARY);
    const double steps = (double)sim->run.steps;
    const double unit = work->all->fp64 ? 0x1p-53 : 0x1p-24;
    double *values = NULL, most = 0;
    TRY(HT_ALLOC(values, nodes));
    enum ht_err err =
        s->ops->get(s->self, HT_PRIMARY, plan->eq.system->second_order.field, 1,
                    0, ht_grid_planes(&plan->grid, HT_PRIMARY), values);
    if (err == HT_OK && work->first == NULL) {
        work->first = values;
        *out = 0;
        return HT_OK;
    }
    for (int64_t n = 0; err == HT_OK && n < nodes; n++) {
        const double apart = fabs(values[n] - work->first[n]);
        most = isfinite(apart) ? fmax(most, apart) : INFINITY;
    }
    *out = most / (8 * unit * steps);
    free(values);
    return err;
}

/* Half way the pulse is in the layers; at the end it would have come back to
 * the middle. */
static enum ht_err judge(struct work *work, struct ht_simulation *sim,
                         const struct trial *t, void *out) {
    struct verdict *v = out;
    const double way = 0.5 * t->inside + t->layer;
    const int64_t half = (int64_t)ceil(way / sim->plan->problem.dt);
    double before, after;
    TRY(energy_of(sim, &before));
    TRY(ht_run_advance(&sim->run, half));
    TRY(compare(work, sim, &v->difference));
    TRY(ht_run_advance(&sim->run, half));
    TRY(energy_of(sim, &after));
    v->has = true;
    v->left = after / before;
    return HT_OK;
}

static void method_name(const struct work *work, char buffer[40]) {
    const bool fd = work->scheme->method == HT_FINITE_DIFFERENCES;
    snprintf(buffer, 40, "%s, %s %d", work->scheme->name,
             fd ? "order" : "N =", work->order);
}

/* Between walls all energy stays; without the layer of one side a sixth of it
 * would, in three dimensions: a tenth of that. */
static const double most_left = 1.0 / 60;

static enum ht_err verify(struct work *work, int layer) {
    int found = 0;
    char name[40];
    if (layer == work->layer) return HT_OK;
    free(work->first);
    work->first = NULL;
    work->layer = layer;
    method_name(work, name);
    for (int i = 0; i < ORGANISATIONS; i++) {
        const char *word = ht_organisation_word((enum ht_organisation)i);
        const struct trial t = {work->scheme, work->order, SMALL,
                                layer,        word,        true};
        struct verdict *v = &work->verdict[i];
        bool refused = true;
        *v = (struct verdict){.has = false};
        if (i == HT_ORGANISATION_AUTO || *word == '\0') continue;
        TRY(with(work, &t, judge, v, &refused));
        found += v->has;
        if (!v->has || (v->left <= most_left && v->difference <= 1)) continue;
        ht_warn("absorbing, %s, %s, %d cells: %.2g of the energy stays (at "
                "most %.2g), differs from the first organisation by %.2g of "
                "what rounding explains",
                name, word, layer, v->left, most_left, v->difference);
        work->all->bench->wrong = true;
    }
    if (found == 0) ht_warn("absorbing, %s: %s", name, ht_err_message());
    return HT_OK;
}

/* ---- time ---- */

/* Of random data, as of other cases: tiny numbers would slow a CPU down. */
static enum ht_err time_steps(struct work *work, struct ht_simulation *sim,
                              const struct trial *t, void *out) {
    const bool gpu = work->all->bench->info->gpu;
    const double enough_s = gpu ? 0.1 : 0.3;
    const int warm = gpu ? 2 : 1, least = gpu ? 7 : 3;
    const struct ht_part part = {.problem = sim->plan->problem};
    struct ht_open_row *row = out;
    double seconds[MOST], began = 0, energy;
    int count = 0;
    TRY(ht_test_problem_fill(&part, &sim->run.stepper));
    TRY(ht_run_advance(&sim->run, warm));
    for (began = ht_clock();
         count < MOST && (count < least || ht_clock() - began < enough_s);
         count++) {
        const double before = sim->run.kernel_s;
        TRY(ht_run_advance(&sim->run, 1));
        seconds[count] = sim->run.kernel_s - before;
    }
    row->seconds = ht_median(count, seconds);
    row->bytes = t->layer > 0 ? (double)sim->budget.layers : 0;
    return energy_of(sim, &energy); /* finite */
}

/* Whether no measurement may begin; counts it. */
static bool over(struct ht_bench *bench) {
    const bool late = ht_clock() - bench->began > bench->seconds;
    if (late) bench->left_out++;
    return late || ht_stop_wanted();
}

/* organisation < 0: between walls, layer 0 then. */
static enum ht_err add_row(struct work *work, const char *sweep,
                           int organisation, int inside, int layer) {
    struct ht_open_sides *all = work->all;
    const struct verdict none = {.left = NAN, .difference = NAN};
    const struct verdict *v =
        organisation < 0 ? &none : &work->verdict[organisation];
    const char *word =
        organisation < 0
            ? "walls"
            : ht_organisation_word((enum ht_organisation)organisation);
    const struct trial t = {work->scheme, work->order, inside,
                            layer,        word,        false};
    struct ht_open_row row = {.sweep = sweep,
                              .scheme = work->scheme,
                              .order = work->order,
                              .organisation = word,
                              .inside = inside,
                              .layer = layer,
                              .left = v->left,
                              .difference = v->difference};
    bool refused = false;
    if (all->count == HT_OPEN_ROWS || over(all->bench)) return HT_OK;
    TRY(with(work, &t, time_steps, &row, &refused));
    if (refused) {
        ht_note("absorbing, %d cells along an axis and layers of %d: %s",
                inside, layer, ht_err_message());
        return HT_OK;
    }
    if (organisation < 0) work->walls = row.seconds;
    row.walls = work->walls;
    all->row[all->count++] = row;
    return HT_OK;
}

/* ---- sweeps ---- */

static enum ht_err add_organisations(struct work *work, const char *sweep,
                                     int inside, int layer) {
    if (over(work->all->bench)) return HT_OK;
    TRY(verify(work, layer));
    for (int i = 0; i < ORGANISATIONS; i++)
        if (work->verdict[i].has) TRY(add_row(work, sweep, i, inside, layer));
    return HT_OK;
}

/* Cells along the axes of cubes, and as many cells in fewer dimensions. */
enum { DOMAINS = 5, FIXED = 2 };
static const int domains[2][2][DOMAINS] = {
    {{8, 12, 16}, {16, 32, 48}},                   /* CPU: Taylor, fd */
    {{32, 64, 96, 128}, {64, 128, 192, 256, 384}}, /* GPU */
};

static int domain_of(const struct work *work, int i) {
    const struct ht_bench *bench = work->all->bench;
    const bool fd = work->scheme->method == HT_FINITE_DIFFERENCES;
    const double base = domains[bench->info->gpu][fd][i];
    if (bench->side > 0) return i == FIXED ? (int)bench->side : 0;
    return 8 * (int)lround(pow(base, 3.0 / work->all->dims) / 8);
}

static enum ht_err add_sweeps(struct work *work) {
    static const int layers[] = {4, 8, 12, 16, 24};
    double fixed_walls = NAN;
    for (int i = 0; i < DOMAINS; i++) {
        const int inside = domain_of(work, i);
        work->walls = NAN;
        if (inside == 0) continue;
        TRY(add_row(work, "domain", -1, inside, 0));
        TRY(add_organisations(work, "domain", inside, USUAL));
        if (i == FIXED) fixed_walls = work->walls;
    }
    work->walls = fixed_walls;
    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++)
        TRY(add_organisations(work, "thickness", domain_of(work, FIXED),
                              layers[i]));
    return HT_OK;
}

static enum ht_err add_method(struct ht_open_sides *all,
                              const struct ht_scheme *scheme, int order) {
    struct work work = {.all = all, .scheme = scheme, .order = order};
    const int before = all->count;
    const double began = ht_clock();
    char name[40];
    if (ht_stop_wanted()) return HT_OK;
    enum ht_err err = add_sweeps(&work);
    free(work.first);
    method_name(&work, name);
    if (err == HT_OK)
        ht_log("absorbing, %s: %d rows, %.1f s", name, all->count - before,
               ht_clock() - began);
    return err;
}

static enum ht_err add_scheme(struct ht_open_sides *all,
                              const struct ht_scheme *scheme) {
    const struct ht_sweep *sweep = &all->bench->sweep;
    const bool fd = scheme->method == HT_FINITE_DIFFERENCES;
    static const int usual[2][2] = {{2, 3}, {8}};
    const bool given = sweep->norders > 0;
    const int count = given ? sweep->norders : fd ? 1 : 2;
    const int *order = given ? sweep->orders : usual[fd];
    if (!ht_sweep_scheme(sweep, scheme)) return HT_OK;
    TRY(ht_bench_check_scheme(all->bench, scheme));
    for (int n = 0; n < count; n++) TRY(add_method(all, scheme, order[n]));
    return HT_OK;
}

enum ht_err ht_bench_absorbing(struct ht_bench *bench, int first, int last) {
    const struct ht_sweep *sweep = &bench->sweep;
    struct ht_open_sides *all = NULL;
    (void)first; /* it has no rows */
    (void)last;
    TRY(HT_ALLOC(all, 1));
    all->bench = bench;
    all->dims = sweep->dims_given ? sweep->dims[0] : bench->info->gpu ? 3 : 2;
    all->fp64 = sweep->precisions != NULL && ht_sweep_precision(sweep, true);
    /* the order of docs/absorbing.md */
    enum ht_err err = add_scheme(all, ht_scheme_at(HT_DIFFERENCES));
    if (err == HT_OK) err = add_scheme(all, ht_scheme_at(HT_TAYLOR));
    if (err == HT_OK) err = ht_open_show(all);
    free(all);
    return err;
}
