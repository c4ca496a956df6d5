/* Error over cost in a uniform, a smooth and a rough medium: a Gaussian pulse
 * of width 1.5 in a periodic box of sides 32, to time 14. In units of length,
 *     uniform   c = 2,
 *     smooth    c = 1.5 + 0.5 sin(pi x1/4) sin(pi x2/4) sin(pi x3/4),
 *     rough     random blocks, c from 1 to 2.5, sides of 0.5 to 4.
 * The error is that of p at the nodes that lie a unit apart, relative l2,
 * against finite differences on a fine grid. The reference's own error is
 * estimated from its difference to that of half as many points: a third of it
 * in the rough medium, where errors are of second order, else a 15th.
 *
 * The cost of a run is its steps times its cells times the device seconds,
 * joules and bytes of one step of a cell on the method's finest grid: coarse
 * grids are too small to load the device. On a CPU, which may have other work,
 * the least of three runs.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "htwave/observers.h"
#include "htwave/simulation.h"
#include "htwave/stop.h"
#include "media.h"

static bool is_rough(const char *medium) {
    return strcmp(medium, "rough") == 0;
}

/* ---- one run ---- */

struct trial {
    const struct ht_media_method *method;
    const char *path; /* of the input */
    int cells;        /* along each axis */
    double cfl;       /* 0: the default */
    bool fp64;
};

struct outcome {
    double *p; /* at nodes a unit apart, or all; to be freed */
    int64_t steps;
    double kernel_s, joules; /* NaN: not known, or too short a run */
    double bytes;            /* of a step of a cell, in memory */
    bool refused, grew, warned;
};

enum { LINES = 12, LINE = 160 };

static enum ht_err read_trial(const struct ht_media *all, const struct trial *t,
                              struct ht_params **out) {
    const struct ht_media_method *m = t->method;
    const struct ht_sweep *sweep = &all->bench->sweep;
    char text[LINES][LINE], *lines[LINES], cells[64];
    const char *formats[] = {"[%d]", "[%d,%d]", "[%d,%d,%d]"};
    int n = 0;
    snprintf(cells, sizeof cells, formats[all->dims - 1], t->cells, t->cells,
             t->cells);
    snprintf(text[n++], LINE, "system=%s", m->system);
    snprintf(text[n++], LINE, "grid.cells=%s", cells);
    snprintf(text[n++], LINE, "grid.order=%d", m->order);
    snprintf(text[n++], LINE, "time.scheme=%s", m->scheme->name);
    snprintf(text[n++], LINE, "device.precision=%s",
             t->fp64 ? "double" : "single");
    snprintf(text[n++], LINE, "device.backend=%s", sweep->backend);
    snprintf(text[n++], LINE, "device.select=%d", all->bench->info->index);
    if (m->terms > 0) snprintf(text[n++], LINE, "time.stages=%d", m->terms);
    if (m->fit != NULL) snprintf(text[n++], LINE, "medium.fit=%s", m->fit);
    if (t->cfl > 0) snprintf(text[n++], LINE, "time.cfl=%.17g", t->cfl);
    for (int i = 0; i < n; i++) lines[i] = text[i];
    return ht_params_read(t->path, n, lines, out);
}

/* Nodes along an axis of which one of `*apart` is kept. */
static int64_t kept_nodes(int cells, int *apart) {
    *apart = cells > HT_MEDIA_SIDE ? cells / HT_MEDIA_SIDE : 1;
    return cells / *apart;
}

static enum ht_err read_kept(const struct ht_simulation *sim, int cells,
                             double **out) {
    const struct ht_plan *plan = sim->plan;
    const struct ht_stepper *s = &sim->run.stepper;
    const int field = plan->eq.system->second_order.field;
    const int64_t plane = ht_grid_plane(&plan->grid, HT_PRIMARY);
    int apart, dims = plan->grid.dims;
    const int64_t n = kept_nodes(cells, &apart);
    const int64_t n2 = dims > 1 ? n : 1, n3 = dims > 2 ? n : 1;
    double *values = NULL;
    TRY(HT_ALLOC(values, plane));
    enum ht_err err = HT_ALLOC(*out, n * n2 * n3);
    for (int64_t m = 0; err == HT_OK && m < n3; m++) {
        err = s->ops->get(s->self, HT_PRIMARY, field, 1, m * apart,
                          m * apart + 1, values);
        for (int64_t i = 0; err == HT_OK && i < n * n2; i++)
            (*out)[m * n * n2 + i] =
                values[(i / n * cells + i % n) * (int64_t)apart];
    }
    free(values);
    return err;
}

/* By the variant's count; a step is two half steps. */
static double bytes_of(const struct ht_simulation *sim) {
    const struct ht_spec spec =
        ht_problem_spec(&sim->plan->problem, &sim->tuning, HT_PRIMARY);
    return 2 * ht_variant_cost(sim->tuning.variant, &spec, -1).bytes;
}

static enum ht_err take_steps(struct ht_simulation *sim, const struct trial *t,
                              struct outcome *out) {
    const double enough_s = 0.5; /* the counter is updated every 0.1 s */
    struct ht_energies energies = {.series = NULL};
    const struct ht_observer energy = ht_observe_energy(&energies);
    TRY(ht_simulation_compile(sim));
    TRY(ht_simulation_start(sim));
    enum ht_err err = ht_run_execute(&sim->run, 1, &energy);
    out->grew = err == HT_ERR_NOT_FINITE;
    out->warned = energies.watch.grows;
    out->steps = sim->run.steps;
    out->kernel_s = sim->run.kernel_s;
    out->bytes = bytes_of(sim);
    if (out->kernel_s >= enough_s) out->joules = ht_simulation_joules(sim);
    return out->grew      ? HT_OK
           : err == HT_OK ? read_kept(sim, t->cells, &out->p)
                          : err;
}

/* Words of the program about its plans are not those of the benchmark. */
static enum ht_err run(const struct ht_media *all, const struct trial *t,
                       struct outcome *out) {
    const enum ht_log_level level = ht_log_level_get();
    struct ht_params *params = NULL;
    struct ht_simulation *sim = NULL;
    *out = (struct outcome){.joules = NAN};
    TRY(read_trial(all, t, &params));
    if (level < HT_LOG_VERBOSE) ht_log_level_set(HT_LOG_SILENT);
    enum ht_err err = ht_simulation_plan(params, NULL, &sim);
    out->refused = err == HT_ERR_INPUT;
    if (err == HT_OK) err = take_steps(sim, t, out);
    ht_log_level_set(level);
    ht_simulation_destroy(sim);
    ht_params_destroy(params);
    return out->refused ? HT_OK : err;
}

/* ---- the reference ---- */

/* Of values on n^dims and on N^dims nodes, n a part of N: the relative l2
 * difference. */
static double difference(int dims, int64_t n, const double *a, int64_t all,
                         const double *b) {
    const int64_t apart = all / n, n2 = dims > 1 ? n : 1, n3 = dims > 2 ? n : 1;
    double sum = 0, whole = 0;
    if (a == NULL || b == NULL) return NAN;
    for (int64_t i = 0; i < n * n2 * n3; i++) {
        const int64_t at[3] = {i % n, i / n % n2, i / (n * n2)};
        const double exact = b[((at[2] * all + at[1]) * all + at[0]) * apart];
        sum += (a[i] - exact) * (a[i] - exact);
        whole += exact * exact;
    }
    return sqrt(sum / whole);
}

/* Cells per unit: what ends within half a minute or so. */
static int reference_points(const struct ht_media *all, bool rough) {
    if (all->dims < 3) return rough ? 24 : 12;
    if (all->bench->info->gpu) return rough ? 16 : 8;
    return rough ? 8 : 4;
}

static enum ht_err make_reference(struct ht_media *all, const char *medium,
                                  const char *path, double **out) {
    const bool rough = is_rough(medium);
    const int points = reference_points(all, rough);
    struct ht_media_method m = {.medium = medium,
                                .system = "acoustic",
                                .scheme = ht_scheme_find("fd"),
                                .order = rough ? 8 : 16,
                                .terms = 2};
    struct ht_media_reference *r = &all->reference[all->references++];
    struct outcome coarse, fine;
    struct trial t = {.method = &m,
                      .path = path,
                      .cells = HT_MEDIA_SIDE * points / 2,
                      .cfl = rough ? 0 : 0.3,
                      .fp64 = all->bench->info->fp64};
    const double began = ht_clock();
    TRY(run(all, &t, &coarse));
    t.cells *= 2;
    enum ht_err err = run(all, &t, &fine);
    if (err == HT_OK && (coarse.p == NULL || fine.p == NULL))
        err = ht_err_set(HT_ERR_INTERNAL,
                         "bench media: no reference for the %s medium", medium);
    *out = fine.p;
    *r = (struct ht_media_reference){
        .medium = medium, .order = m.order, .points = points, .fp64 = t.fp64};
    if (err == HT_OK)
        r->error = difference(all->dims, HT_MEDIA_SIDE, coarse.p, HT_MEDIA_SIDE,
                              fine.p) /
                   (rough ? 3 : 15);
    free(coarse.p);
    TRY(err);
    ht_log("%s medium: reference of order %d at %d points per unit, own error "
           "about %.1e, %.1f s",
           medium, m.order, points, r->error, ht_clock() - began);
    return HT_OK;
}

/* ---- curves ---- */

/* Cells along each axis, coarse to fine. */
static const int sides[] = {16, 32, 64, 96, 128, 192, 256};
enum { SIDES = sizeof sides / sizeof sides[0] };

/* Where a method starts and how far it goes. */
static bool takes(const struct ht_media *all, const struct ht_media_method *m,
                  int cells) {
    const bool fd = m->terms > 0;
    const int most = all->dims < 3 || all->bench->info->gpu ? 256 : 96;
    if (fd) return cells >= 64 && cells <= most;
    return cells <=
           (strcmp(m->medium, "uniform") == 0 || m->order < 2 ? 128 : 96);
}

static void note_point(const struct ht_media *all, const struct trial *t,
                       const struct outcome *o, const double *exact,
                       struct ht_media_method *m) {
    int apart;
    const int64_t n = kept_nodes(t->cells, &apart);
    struct ht_media_curve *c = &m->curve;
    m->warned |= o->warned;
    m->grew += o->grew;
    if (o->grew) return;
    c->point[c->count++] = (struct ht_media_point){
        .points = (double)t->cells / HT_MEDIA_SIDE,
        .error = difference(all->dims, n, o->p, HT_MEDIA_SIDE, exact),
        .updates = (double)o->steps * pow(t->cells, all->dims)};
}

/* Of a step of a cell. */
struct rate {
    double seconds, joules, bytes;
};

/* The least seconds so far; energy of a run that was long enough. */
static void note_rate(const struct ht_media *all, const struct trial *t,
                      const struct outcome *o, struct rate *least) {
    const double updates = (double)o->steps * pow(t->cells, all->dims);
    if (o->steps == 0) return;
    least->seconds = fmin(least->seconds, o->kernel_s / updates);
    least->bytes = o->bytes;
    if (isfinite(o->joules)) least->joules = o->joules / updates;
}

static enum ht_err repeat(const struct ht_media *all, const struct trial *t,
                          struct rate *least) {
    const int more = all->bench->info->gpu ? 0 : 2;
    for (int i = 0; i < more && !ht_stop_wanted(); i++) {
        struct outcome o;
        TRY(run(all, t, &o));
        note_rate(all, t, &o, least);
        free(o.p);
    }
    return HT_OK;
}

/* All grids; *t, *rate: of the finest one. */
static enum ht_err add_grids(const struct ht_media *all, const double *exact,
                             struct ht_media_method *m, struct trial *t,
                             struct rate *rate) {
    for (int i = 0; i < SIDES && !ht_stop_wanted(); i++) {
        struct outcome o;
        if (!takes(all, m, sides[i])) continue;
        t->cells = sides[i];
        TRY(run(all, t, &o));
        if (o.refused) {
            snprintf(m->why, sizeof m->why, "%s", ht_err_message());
            return HT_OK;
        }
        /* An interrupted run has not come to its end. */
        if (!ht_stop_wanted()) note_point(all, t, &o, exact, m);
        free(o.p);
        *rate = (struct rate){.seconds = INFINITY, .joules = NAN, .bytes = NAN};
        note_rate(all, t, &o, rate);
    }
    return repeat(all, t, rate);
}

static enum ht_err add_method(struct ht_media *all, const char *path,
                              const double *exact,
                              const struct ht_media_method *method) {
    struct ht_media_method *m = &all->method[all->count++];
    struct trial t = {.method = m, .path = path, .fp64 = all->fp64};
    struct rate rate = {NAN, NAN, NAN};
    const double began = ht_clock();
    char name[64];
    *m = *method;
    if (began - all->bench->began > all->bench->seconds) {
        all->bench->left_out++;
        all->count--;
        return HT_OK;
    }
    TRY(add_grids(all, exact, m, &t, &rate));
    for (int n = 0; n < m->curve.count; n++) {
        struct ht_media_point *point = &m->curve.point[n];
        point->seconds = point->updates * rate.seconds;
        point->joules = point->updates * rate.joules;
        point->bytes = point->updates * rate.bytes;
    }
    ht_media_name(m, name, sizeof name);
    ht_log("%s medium, %s: %d grids, %.1f s%s%s", m->medium, name,
           m->curve.count, ht_clock() - began, m->why[0] ? ", refused" : "",
           m->grew ? ", runs grew" : "");
    return HT_OK;
}

static enum ht_err add_hermite(struct ht_media *all, const char *medium,
                               const char *path, const double *exact) {
    const struct ht_sweep *sweep = &all->bench->sweep;
    static const int usual[] = {1, 2, 3, 5};
    const int count = sweep->norders > 0 ? sweep->norders : 4;
    for (int s = HT_TAYLOR; s <= HT_LEAPFROG; s++)
        for (int n = 0; n < count; n++) {
            const struct ht_media_method m = {
                .medium = medium,
                .system = s == HT_LEAPFROG ? "wave" : "acoustic",
                .scheme = ht_scheme_at(s),
                .order = sweep->norders > 0 ? sweep->orders[n] : usual[n]};
            /* Programs for media that vary at N = 5 take long to compile. */
            bool wanted = strcmp(medium, "uniform") == 0 || m.order < 5 ||
                          sweep->norders > 0;
            if (wanted && ht_sweep_scheme(sweep, m.scheme) &&
                all->count < HT_MEDIA_METHODS)
                TRY(add_method(all, path, exact, &m));
        }
    return HT_OK;
}

static enum ht_err add_differences(struct ht_media *all, const char *medium,
                                   const char *path, const double *exact) {
    struct ht_media_method m = {
        .medium = medium, .system = "acoustic", .scheme = ht_scheme_find("fd")};
    for (m.order = 4; m.order <= 16; m.order *= 2)
        for (m.terms = 1; m.terms <= 2; m.terms++)
            TRY(add_method(all, path, exact, &m));
    m.order = 8;
    m.terms = 2;
    for (int i = 0; is_rough(medium) && i < 2; i++) {
        m.fit = i ? "point" : "box";
        TRY(add_method(all, path, exact, &m));
    }
    return HT_OK;
}

static enum ht_err add_medium(struct ht_media *all, const char *medium) {
    char *path = NULL;
    double *exact = NULL;
    enum ht_err err = ht_media_write(all->bench, medium, all->dims, &path);
    if (err == HT_OK) err = make_reference(all, medium, path, &exact);
    if (err == HT_OK) err = add_differences(all, medium, path, exact);
    if (err == HT_OK) err = add_hermite(all, medium, path, exact);
    free(exact);
    free(path);
    return err;
}

static const char *const names[HT_MEDIA_MEDIA] = {"uniform", "smooth", "rough"};

enum ht_err ht_bench_media_check(const char *list) {
    return ht_args_names("--media", list, HT_MEDIA_MEDIA, names);
}

enum ht_err ht_bench_media(struct ht_bench *bench, int first, int last) {
    const struct ht_sweep *sweep = &bench->sweep;
    struct ht_media *all = NULL;
    (void)first; /* it has no rows */
    (void)last;
    TRY(HT_ALLOC(all, 1));
    all->bench = bench;
    all->dims = sweep->dims_given ? sweep->dims[0] : bench->info->gpu ? 3 : 2;
    all->fp64 = sweep->precisions != NULL && ht_sweep_precision(sweep, true);
    enum ht_err err = HT_OK;
    for (int i = 0; err == HT_OK && i < HT_MEDIA_MEDIA; i++)
        if (ht_args_listed(bench->media, names[i]) && !ht_stop_wanted())
            err = add_medium(all, names[i]);
    if (err == HT_OK) err = ht_media_show(all);
    free(all);
    return err;
}
