/* Error over cost in a uniform, a smooth and a rough medium, and in those of
 * input files. The built-in ones: a Gaussian pulse of width 1.5 in a periodic
 * box of sides 32, to time 14. In units of length,
 *     uniform   c = 2,
 *     smooth    c = 1.5 + 0.5 sin(pi x1/4) sin(pi x2/4) sin(pi x3/4),
 *     rough     random blocks, c from 1 to 2.5, sides of 0.5 to 4.
 * The error is that of p at the nodes of the unit grid (media.h), relative l2,
 * against finite differences on a fine grid. The reference's own error is
 * estimated from its difference to that of half as many points: a third of it
 * where media may jump, since errors are of second order there, else a 15th.
 *
 * The cost of a run is its steps times its cells times the device seconds,
 * joules and bytes of one step of a cell on the method's finest grid: coarse
 * grids are too small to load the device. On a CPU, which may have other work,
 * the least of three runs, unless one takes long.
 *
 * All methods are run on their first grid, then on their second one, so that
 * the time limit leaves out the finest grids, not the last methods.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "htwave/observers.h"
#include "htwave/simulation.h"
#include "htwave/stop.h"
#include "media.h"

static bool out_of_time(const struct ht_bench *bench) {
    return ht_clock() - bench->began > bench->seconds;
}

/* ---- one run ---- */

struct trial {
    const struct ht_media_medium *medium;
    const struct ht_media_method *method;
    int quarters; /* of the unit grid's cells */
    double cfl;   /* 0: the default */
    bool fp64;
};

/* A field at nodes of a grid of so many cells along x1. */
struct values {
    double *p; /* to be freed */
    int64_t cells, nodes[3];
};

struct outcome {
    struct values kept; /* on the unit grid, or on its own if that is coarser */
    int64_t steps;
    double cells;            /* of the grid, all */
    double kernel_s, joules; /* NaN: not known, or too short a run */
    double bytes;            /* of a step of a cell, in memory */
    bool refused, grew, warned;
};

/* What a user's file may say otherwise for runs of its own: other grids need
 * other steps, and all methods are to be at their best. */
static const char *const usual[] = {
    "time.cfl=0.9",
    "time.step=0",
    "time.stages=auto",
    "time.dispersion=auto",
    "medium.fit=auto",
    "receivers=()",
    "output.snapshots=false",
    "output.pictures=false",
    "output.series=false",
    "device.variant=auto",
    "device.layout=auto",
    "device.cells_per_group=0",
    "device.planes_per_group=0",
    "device.tune=never",
    "device.selfcheck=false",
};
enum { USUAL = sizeof usual / sizeof usual[0], LINES = USUAL + 12, LINE = 160 };

static void add_cells(const struct trial *t, char *line, size_t size) {
    const struct ht_media_medium *medium = t->medium;
    int length = snprintf(line, size, "grid.cells=[");
    for (int k = 0; k < medium->dims; k++)
        length += snprintf(line + length, size - (size_t)length, "%s%lld",
                           k > 0 ? "," : "",
                           (long long)(medium->unit[k] * t->quarters / 4));
    snprintf(line + length, size - (size_t)length, "]");
}

/* The file's keys, then what is usual, then the trial's. */
static enum ht_err read_trial(const struct ht_media *all, const struct trial *t,
                              struct ht_params **out) {
    const struct ht_media_method *m = t->method;
    const struct ht_sweep *sweep = &all->bench->sweep;
    char text[LINES][LINE], *lines[LINES];
    int n = 0;
    for (; n < USUAL; n++) snprintf(text[n], LINE, "%s", usual[n]);
    add_cells(t, text[n++], LINE);
    snprintf(text[n++], LINE, "grid.order=%d", m->order);
    snprintf(text[n++], LINE, "time.scheme=%s", m->scheme->name);
    snprintf(text[n++], LINE, "device.precision=%s",
             t->fp64 ? "double" : "single");
    snprintf(text[n++], LINE, "device.backend=%s", sweep->backend);
    snprintf(text[n++], LINE, "device.select=%d", all->bench->info->index);
    if (m->system != NULL) snprintf(text[n++], LINE, "system=%s", m->system);
    if (m->terms > 0) snprintf(text[n++], LINE, "time.stages=%d", m->terms);
    if (m->fit != NULL) snprintf(text[n++], LINE, "medium.fit=%s", m->fit);
    if (t->cfl > 0) snprintf(text[n++], LINE, "time.cfl=%.17g", t->cfl);
    for (int i = 0; i < n; i++) lines[i] = text[i];
    return ht_params_read(t->medium->path, n, lines, out);
}

/* Between walls the last node lies on the wall, and is one of every grid; a
 * periodic axis ends before its first node. */
static void find_kept(const struct ht_grid *grid, int apart,
                      struct values *out) {
    out->cells = grid->cells[0] / apart;
    for (int k = 0; k < 3; k++) {
        const bool wall = k < grid->dims && !ht_grid_periodic(grid, k);
        out->nodes[k] =
            k < grid->dims ? grid->cells[k] / apart + (wall ? 1 : 0) : 1;
    }
}

/* One of `apart` nodes along each axis. */
static enum ht_err read_kept(const struct ht_simulation *sim, int apart,
                             struct values *out) {
    const struct ht_plan *plan = sim->plan;
    const struct ht_stepper *s = &sim->run.stepper;
    const int field = plan->eq.system->second_order.field;
    const int64_t row = ht_grid_nodes(&plan->grid, HT_PRIMARY, 0);
    double *plane = NULL;
    find_kept(&plan->grid, apart, out);
    const int64_t n = out->nodes[0], count = n * out->nodes[1];
    TRY(HT_ALLOC(plane, ht_grid_plane(&plan->grid, HT_PRIMARY)));
    enum ht_err err = HT_ALLOC(out->p, count * out->nodes[2]);
    for (int64_t m = 0; err == HT_OK && m < out->nodes[2]; m++) {
        err = s->ops->get(s->self, HT_PRIMARY, field, 1, m * apart,
                          m * apart + 1, plane);
        for (int64_t i = 0; err == HT_OK && i < count; i++)
            out->p[m * count + i] = plane[(i / n * row + i % n) * apart];
    }
    free(plane);
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
    out->cells = 1;
    for (int k = 0; k < sim->plan->grid.dims; k++)
        out->cells *= (double)sim->plan->grid.cells[k];
    if (out->kernel_s >= enough_s) out->joules = ht_simulation_joules(sim);
    if (out->grew) return HT_OK;
    TRY(err);
    return read_kept(sim, t->quarters > 4 ? t->quarters / 4 : 1, &out->kept);
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

/* Of values at nodes that are part of those of b: the relative l2
 * difference. */
static double difference(const struct values *a, const struct values *b) {
    double sum = 0, whole = 0;
    if (a->p == NULL || b->p == NULL) return NAN;
    const int64_t apart = b->cells / a->cells, *n = a->nodes;
    for (int64_t i = 0; i < n[0] * n[1] * n[2]; i++) {
        const int64_t at[3] = {i % n[0], i / n[0] % n[1], i / (n[0] * n[1])};
        const int64_t line = at[2] * apart * b->nodes[1] + at[1] * apart;
        const double exact = b->p[line * b->nodes[0] + at[0] * apart];
        sum += (a->p[i] - exact) * (a->p[i] - exact);
        whole += exact * exact;
    }
    return sqrt(sum / whole);
}

/* Multiple of the unit grid: what ends within half a minute or so. Of a file
 * four times its cells, on a CPU three times. */
static int reference_grid(const struct ht_media *all,
                          const struct ht_media_medium *medium) {
    const bool gpu = all->bench->info->gpu;
    if (medium->file) return gpu ? 8 : 6;
    if (medium->dims < 3) return medium->jumps ? 24 : 12;
    return (gpu ? 8 : 4) * (medium->jumps ? 2 : 1);
}

/* The reference and one of half as many points; no values where time is out. A
 * plan that is refused is the user's error. */
static enum ht_err run_reference(const struct ht_media *all, struct trial *t,
                                 struct outcome *coarse, struct outcome *fine) {
    const int quarters = t->quarters;
    *coarse = *fine = (struct outcome){.steps = 0};
    for (int i = 0; i < 2 && !out_of_time(all->bench); i++) {
        struct outcome *o = i == 0 ? coarse : fine;
        t->quarters = i == 0 ? quarters / 2 : quarters;
        TRY(run(all, t, o));
        if (o->refused) return HT_ERR_INPUT;
        REQUIRE(o->kept.p != NULL, HT_ERR_INTERNAL,
                "bench media: no reference for the medium %s", t->medium->name);
    }
    return HT_OK;
}

static enum ht_err make_reference(const struct ht_media *all,
                                  struct ht_media_medium *medium,
                                  struct values *out) {
    const bool jumps = medium->jumps;
    const int grid = reference_grid(all, medium);
    const struct ht_media_method m = {.system =
                                          medium->file ? NULL : "acoustic",
                                      .scheme = ht_scheme_find("fd"),
                                      .order = jumps ? 8 : 16,
                                      .terms = 2};
    struct outcome coarse, fine;
    struct trial t = {.medium = medium,
                      .method = &m,
                      .quarters = 4 * grid,
                      .cfl = jumps ? 0 : 0.3,
                      .fp64 = all->bench->info->fp64};
    const double began = ht_clock();
    enum ht_err err = run_reference(all, &t, &coarse, &fine);
    *out = fine.kept;
    medium->reference = (struct ht_media_reference){
        .known = err == HT_OK && fine.kept.p != NULL && !ht_stop_wanted(),
        .order = m.order,
        .points = grid * medium->points,
        .fp64 = t.fp64,
        .error = difference(&coarse.kept, &fine.kept) / (jumps ? 3 : 15)};
    free(coarse.kept.p);
    TRY(err);
    if (medium->reference.known)
        ht_log("%s medium: reference of order %d at %g %s, own error about "
               "%.1e, %.1f s",
               medium->name, m.order, medium->reference.points,
               medium->file ? "times the file's cells" : "points per unit",
               medium->reference.error, ht_clock() - began);
    return HT_OK;
}

/* ---- curves ---- */

/* Quarters of the unit grid, coarse to fine. */
static const int grids[] = {1, 2, 4, 8, 12, 16, 24, 32};
enum { GRIDS = sizeof grids / sizeof grids[0] };

/* Where a method starts and how far it goes: of a file finite differences from
 * 1/2 to 2 times its cells, Hermite methods from 1/8 to 1/2, N = 1 to 1. */
static bool takes(const struct ht_media *all,
                  const struct ht_media_medium *medium,
                  const struct ht_media_method *m, int quarters) {
    const bool small = medium->dims > 2 && !all->bench->info->gpu;
    for (int k = 0; k < medium->dims; k++)
        if (medium->unit[k] * quarters % 4 != 0) return false;
    if (m->terms > 0)
        return quarters >= (medium->file ? 4 : 8) &&
               quarters <= (small          ? 12
                            : medium->file ? 16
                                           : 32);
    if (medium->file) return quarters <= (m->order < 2 ? 8 : 4);
    return quarters >= 2 &&
           quarters <= (medium->uniform || m->order < 2 ? 16 : 12);
}

static void note_point(const struct trial *t, const struct outcome *o,
                       const struct values *exact, struct ht_media_method *m) {
    struct ht_media_curve *c = &m->curve;
    m->warned |= o->warned;
    m->grew += o->grew;
    if (o->grew) return;
    c->point[c->count++] =
        (struct ht_media_point){.points = t->medium->points * t->quarters / 4,
                                .error = difference(&o->kept, exact),
                                .updates = (double)o->steps * o->cells};
}

/* The least seconds so far; energy of a run that was long enough. */
static void note_rate(const struct outcome *o, struct ht_media_rate *least) {
    const double updates = (double)o->steps * o->cells;
    if (o->steps == 0) return;
    least->seconds = fmin(least->seconds, o->kernel_s / updates);
    least->bytes = o->bytes;
    if (isfinite(o->joules)) least->joules = o->joules / updates;
}

static void note_refusal(const struct ht_media_medium *medium,
                         struct ht_media_method *m) {
    char name[64];
    ht_media_name(m, name, sizeof name);
    if (m->refused++ > 0) return;
    snprintf(m->why, sizeof m->why, "%s", ht_err_message());
    ht_log("%s medium, %s: refused: %s", medium->name, name, m->why);
}

/* A grid after coarser ones, whose rate is that of the method then. */
static enum ht_err add_grid(struct ht_media *all,
                            const struct ht_media_medium *medium,
                            const struct values *exact, int quarters,
                            struct ht_media_method *m) {
    const struct trial t = {
        .medium = medium, .method = m, .quarters = quarters, .fp64 = all->fp64};
    struct outcome o;
    if (ht_stop_wanted()) return HT_OK;
    if (!medium->reference.known || out_of_time(all->bench)) {
        all->bench->left_out++;
        return HT_OK;
    }
    TRY(run(all, &t, &o));
    if (o.refused) {
        note_refusal(medium, m);
        return HT_OK;
    }
    /* An interrupted run has not come to its end. */
    if (!ht_stop_wanted()) note_point(&t, &o, exact, m);
    free(o.kept.p);
    m->finest = quarters;
    m->rate = (struct ht_media_rate){
        .seconds = INFINITY, .joules = NAN, .bytes = NAN};
    note_rate(&o, &m->rate);
    return HT_OK;
}

/* Of its run on the finest grid that did not grow. */
static double kernel_seconds(const struct ht_media_method *m) {
    const struct ht_media_curve *c = &m->curve;
    return c->count > 0 ? c->point[c->count - 1].updates * m->rate.seconds : 0;
}

/* Runs on the finest grid again. Other work disturbs long ones less. */
static enum ht_err repeat(const struct ht_media *all,
                          const struct ht_media_medium *medium,
                          struct ht_media_method *m) {
    const double long_s = 5;
    const struct trial t = {.medium = medium,
                            .method = m,
                            .quarters = m->finest,
                            .fp64 = all->fp64};
    const bool again =
        !all->bench->info->gpu && m->finest > 0 && kernel_seconds(m) < long_s;
    const int more = again ? 2 : 0;
    for (int i = 0; i < more && !ht_stop_wanted() && !out_of_time(all->bench);
         i++) {
        struct outcome o;
        TRY(run(all, &t, &o));
        note_rate(&o, &m->rate);
        free(o.kept.p);
    }
    for (int n = 0; n < m->curve.count; n++) {
        struct ht_media_point *point = &m->curve.point[n];
        point->seconds = point->updates * m->rate.seconds;
        point->joules = point->updates * m->rate.joules;
        point->bytes = point->updates * m->rate.bytes;
    }
    return HT_OK;
}

/* The grid of a method after n others; 0: there is none. */
static int grid_at(const struct ht_media *all,
                   const struct ht_media_medium *medium,
                   const struct ht_media_method *m, int n) {
    for (int g = 0; g < GRIDS; g++)
        if (takes(all, medium, m, grids[g]) && n-- == 0) return grids[g];
    return 0;
}

static enum ht_err add_grids(struct ht_media *all,
                             struct ht_media_medium *medium,
                             const struct values *exact) {
    for (int n = 0; n < GRIDS; n++) {
        const double began = ht_clock();
        int count = 0;
        for (int i = 0; i < medium->count; i++) {
            struct ht_media_method *m = &medium->method[i];
            const int quarters = grid_at(all, medium, m, n);
            if (quarters == 0) continue;
            TRY(add_grid(all, medium, exact, quarters, m));
            count += m->finest == quarters;
        }
        if (count > 0)
            ht_log("%s medium, grid %d of the methods: %d run%s, %.1f s",
                   medium->name, n + 1, count, count > 1 ? "s" : "",
                   ht_clock() - began);
    }
    for (int i = 0; i < medium->count; i++)
        TRY(repeat(all, medium, &medium->method[i]));
    return HT_OK;
}

/* ---- methods ---- */

static void plan_method(struct ht_media_medium *medium,
                        const struct ht_media_method *method) {
    if (medium->count < HT_MEDIA_METHODS)
        medium->method[medium->count++] = *method;
}

static void plan_differences(struct ht_media_medium *medium) {
    struct ht_media_method m = {.system = medium->file ? NULL : "acoustic",
                                .scheme = ht_scheme_find("fd")};
    for (m.order = 4; m.order <= 16; m.order *= 2)
        for (m.terms = 1; m.terms <= 2; m.terms++) plan_method(medium, &m);
    m.order = 8;
    m.terms = 2;
    for (int i = 0; medium->jumps && i < 2; i++) {
        m.fit = i ? "point" : "box";
        plan_method(medium, &m);
    }
}

static void plan_hermite(const struct ht_media *all,
                         struct ht_media_medium *medium) {
    const struct ht_sweep *sweep = &all->bench->sweep;
    static const int orders[] = {1, 2, 3, 5};
    const int count = sweep->norders > 0 ? sweep->norders : 4;
    for (int s = HT_TAYLOR; s <= HT_LEAPFROG; s++)
        for (int n = 0; n < count; n++) {
            const struct ht_media_method m = {
                .system = medium->file       ? NULL
                          : s == HT_LEAPFROG ? "wave"
                                             : "acoustic",
                .scheme = ht_scheme_at(s),
                .order = sweep->norders > 0 ? sweep->orders[n] : orders[n]};
            /* Programs for media that vary at N = 5 take long to compile. */
            const bool wanted =
                medium->uniform || m.order < 5 || sweep->norders > 0;
            if (wanted && ht_sweep_scheme(sweep, m.scheme))
                plan_method(medium, &m);
        }
}

/* ---- media ---- */

static void set_built_in(const struct ht_media *all,
                         struct ht_media_medium *medium) {
    const struct ht_bench *bench = all->bench;
    medium->dims = bench->sweep.dims_given ? bench->sweep.dims[0]
                   : bench->info->gpu      ? 3
                                           : 2;
    medium->points = 1;
    for (int k = 0; k < 3; k++)
        medium->unit[k] = k < medium->dims ? HT_MEDIA_SIDE : 1;
}

static enum ht_err add_medium(struct ht_media *all,
                              struct ht_media_medium *medium) {
    struct values exact = {.p = NULL};
    enum ht_err err = HT_OK;
    if (!medium->file) {
        set_built_in(all, medium);
        err = ht_media_write(all->bench, medium);
    }
    plan_differences(medium);
    plan_hermite(all, medium);
    if (err == HT_OK) err = make_reference(all, medium, &exact);
    if (err == HT_OK) err = add_grids(all, medium, &exact);
    free(exact.p);
    return err;
}

enum ht_err ht_bench_media(struct ht_bench *bench, int first, int last) {
    struct ht_media *all = NULL;
    (void)first; /* it has no rows */
    (void)last;
    enum ht_err err = ht_media_list(bench->media, &all);
    if (err == HT_OK) {
        all->bench = bench;
        all->fp64 = bench->sweep.precisions != NULL &&
                    ht_sweep_precision(&bench->sweep, true);
    }
    for (int i = 0; err == HT_OK && i < all->count && !ht_stop_wanted(); i++)
        err = add_medium(all, &all->medium[i]);
    if (err == HT_OK) err = ht_media_show(all);
    ht_media_free(all);
    return err;
}
