/* What a wavelength costs: device seconds, joules and bytes per cubic
 * wavelength and period over the error after 10 and 100 wavelengths, of every
 * scheme, order and precision.
 *
 * For each error the cheapest grid by analysis (htwave/resolution.h) is run,
 * with plane waves in three directions, and then somewhat finer ones until the
 * runs reach it; what is reported is measured. The cost is that of the cells by
 * the rate of the same kernels on a large box.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "accuracy.h"
#include "htwave/fd.h"
#include "htwave/stop.h"
#include "htwave/threads.h"

double ht_accuracy_target(int index) {
    return pow(10, -2 - index);
}

/* ---- costs ---- */

struct ht_accuracy_cost ht_accuracy_cost(const struct ht_accuracy_method *m,
                                         const struct ht_accuracy_grid *grid) {
    const struct ht_bench_row *row = m->row;
    const double updates = 2 * pow(grid->asked.cells, 4) / grid->asked.cfl;
    return (struct ht_accuracy_cost){.seconds = updates / ht_bench_rate(row),
                                     .joules = updates * row->joules /
                                               ht_bench_cells(row),
                                     .bytes = updates * row->cost.bytes};
}

const struct ht_accuracy_grid *
ht_accuracy_cheapest(const struct ht_accuracy_method *method, int length,
                     double error) {
    const struct ht_accuracy_grid *best = NULL;
    double least = INFINITY;
    for (int i = 0; i < method->count; i++) {
        const struct ht_accuracy_grid *grid = &method->grid[i];
        const double seconds = ht_accuracy_cost(method, grid).seconds;
        if (!(grid->worst[length] <= error) || seconds >= least) continue;
        best = grid;
        least = seconds;
    }
    return best;
}

/* ---- grids by analysis ---- */

/* The first method of the same scheme and order, in either precision. */
static int find_twin(const struct ht_accuracy *a, int index) {
    const struct ht_bench_row *row = a->method[index].row;
    for (int i = 0; i < index; i++) {
        const struct ht_bench_row *other = a->method[i].row;
        if (other->system == row->system && other->scheme == row->scheme &&
            other->order == row->order && other->stages == row->stages)
            return i;
    }
    return index;
}

enum { GRIDS = HT_ACCURACY_LENGTHS * HT_ACCURACY_TARGETS };

static enum ht_err find_chunk(void *data, int64_t chunk, int worker) {
    struct ht_accuracy *a = data;
    const int index = (int)(chunk / GRIDS), grid = (int)(chunk % GRIDS);
    const int length = grid / HT_ACCURACY_TARGETS;
    const int target = grid % HT_ACCURACY_TARGETS;
    struct ht_accuracy_method *m = &a->method[index];
    const struct ht_equations eq = ht_equations_make(m->row->system, 3);
    const struct ht_carrier carrier = {.eq = &eq,
                                       .scheme = m->row->scheme,
                                       .order = m->row->order,
                                       .stages = m->row->stages,
                                       .contrast = 1};
    (void)worker;
    if (find_twin(a, index) != index) return HT_OK;
    return ht_resolution_find(&carrier, ht_accuracy_length[length],
                              ht_accuracy_target(target),
                              &m->asked[length][target]);
}

static enum ht_err find_all(struct ht_accuracy *a) {
    TRY(ht_threads_run((int64_t)a->count * GRIDS, find_chunk, a));
    for (int i = 0; i < a->count; i++)
        memcpy(a->method[i].asked, a->method[find_twin(a, i)].asked,
               sizeof a->method[i].asked);
    return HT_OK;
}

/* ---- runs ---- */

/* A grid that has run at least as far. */
static const struct ht_accuracy_grid *
find_grid(const struct ht_accuracy_method *m, const struct ht_resolution *asked,
          int lengths) {
    for (int i = 0; i < m->count; i++)
        if (m->grid[i].asked.cells == asked->cells &&
            m->grid[i].asked.cfl == asked->cfl && m->grid[i].lengths >= lengths)
            return &m->grid[i];
    return NULL;
}

static enum ht_err take_grid(struct ht_accuracy_runner *r,
                             const struct ht_resolution *asked, int lengths,
                             struct ht_accuracy_method *m,
                             const struct ht_accuracy_grid **out) {
    const double patience = r->bench->info->gpu ? 1 : 0.5;
    struct ht_accuracy_grid grid = {.asked = *asked};
    *out = find_grid(m, asked, lengths);
    if (*out != NULL || m->count == HT_ACCURACY_GRIDS) return HT_OK;
    TRY(ht_accuracy_run(r, lengths, patience, &grid));
    if (grid.ways == 0 || ht_stop_wanted()) return HT_OK;
    m->grid[m->count] = grid;
    *out = &m->grid[m->count++];
    if (ht_log_level_get() >= HT_LOG_VERBOSE)
        ht_log("%s %s %d, %s: %.3g cells per wavelength, cfl %.3g: error %.2e "
               "(scheme %.2e)",
               r->row->system->name, r->row->scheme->name, r->row->order,
               ht_bench_precision(r->row), asked->cells, asked->cfl,
               (*out)->worst[lengths - 1], asked->error);
    return HT_OK;
}

/* Runs grids for an error from the one of the analysis on; *reached: one
 * reached it. Errors of rounding do not fall with finer grids. */
static enum ht_err reach(struct ht_accuracy_runner *r, int length, int target,
                         struct ht_accuracy_method *m, bool *reached) {
    enum { TRIES = 4 };
    const double finer = 1.04, rounding = 3;
    const double error = ht_accuracy_target(target);
    struct ht_resolution asked = m->asked[length][target];
    *reached = false;
    for (int i = 0; i < TRIES && asked.cells > 0; i++) {
        const struct ht_accuracy_grid *grid = NULL;
        TRY(take_grid(r, &asked, length + 1, m, &grid));
        if (grid == NULL) return HT_OK;
        *reached = grid->worst[length] <= error;
        if (*reached || !(grid->worst[length] < rounding * error)) return HT_OK;
        asked.cells *= finer;
    }
    return HT_OK;
}

static enum ht_err run_method(struct ht_accuracy_runner *r, double until,
                              struct ht_accuracy_method *m) {
    for (int length = HT_ACCURACY_LENGTHS - 1; length >= 0; length--) {
        bool reached = true;
        for (int t = 0; t < HT_ACCURACY_TARGETS && reached; t++) {
            m->cut |= ht_clock() > until;
            if (m->cut || ht_stop_wanted()) return HT_OK;
            TRY(reach(r, length, t, m, &reached));
        }
    }
    return HT_OK;
}

static enum ht_err add_method(struct ht_accuracy *a,
                              struct ht_accuracy_method *m, double until) {
    const struct ht_bench_row *row = m->row;
    struct ht_accuracy_runner runner = {
        .bench = a->bench, .row = row, .dims = a->dims};
    const double began = ht_clock();
    double least = INFINITY;
    enum ht_err err = run_method(&runner, until, m);
    ht_accuracy_end(&runner);
    TRY(err);
    for (int n = 0; n < m->count; n++)
        least = fmin(least, m->grid[n].worst[m->grid[n].lengths - 1]);
    ht_log("%s %s %d, %s: %d grids, least error %.2e, %.1f s%s",
           row->system->name, row->scheme->name, row->order,
           ht_bench_precision(row), m->count, least, ht_clock() - began,
           m->cut ? ", no time left" : "");
    a->cut += m->cut;
    return HT_OK;
}

/* Each method has its share of the remaining time. */
static enum ht_err add_all(struct ht_accuracy *a, int first, int last) {
    const struct ht_bench *bench = a->bench;
    const double end = bench->began + bench->seconds;
    TRY(HT_ALLOC(a->method, last - first));
    for (int i = first; i < last; i++)
        if (bench->row[i].done) a->method[a->count++].row = &bench->row[i];
    TRY(find_all(a));
    for (int i = 0; i < a->count && !ht_stop_wanted(); i++) {
        double now = ht_clock(), share = fmax(end - now, 0) / (a->count - i);
        TRY(add_method(a, &a->method[i], now + share));
    }
    return HT_OK;
}

enum ht_err ht_bench_accuracy(struct ht_bench *bench, int first, int last) {
    struct ht_accuracy a = {.bench = bench, .dims = bench->info->gpu ? 3 : 2};
    if (a.dims == 2)
        ht_note("plane waves in two dimensions: a CPU would take long for "
                "three");
    enum ht_err err = add_all(&a, first, last);
    if (a.cut > 0)
        ht_note("%d method%s incomplete: no time left (--seconds %g)", a.cut,
                a.cut == 1 ? "" : "s", bench->seconds);
    if (err == HT_OK) err = ht_accuracy_show(&a);
    free(a.method);
    return err;
}

/* ---- rows ---- */

/* What is run where no orders are given: N = 1 needs too many cells. */
static bool usual_order(int order, bool fd, bool gpu) {
    if (fd) return order == 4 || order == 8 || order == 16;
    return order >= 2 && order <= (gpu ? 7 : 4);
}

/* Orders of the scheme among those that are asked for. */
static void choose_orders(const struct ht_sweep *asked, bool fd, bool gpu,
                          struct ht_sweep *out) {
    const int given = asked->norders, most = 2 * HT_FD_RADIUS;
    out->norders = 0;
    for (int n = 0; n < (given > 0 ? given : most); n++) {
        const int order = given > 0 ? asked->orders[n] : n + 1;
        const bool has = fd ? order % 2 == 0 : order <= HT_MAX_ORDER;
        if (has && (given > 0 || usual_order(order, fd, gpu)))
            out->orders[out->norders++] = order;
    }
}

static enum ht_err plan_scheme(struct ht_bench *bench,
                               const struct ht_bench_case *self,
                               const struct ht_system *system,
                               const struct ht_scheme *scheme,
                               const struct ht_sweep *asked) {
    const bool fd = scheme->method == HT_FINITE_DIFFERENCES;
    const bool gpu = bench->info->gpu;
    struct ht_bench_row like = {
        .of = self, .system = system, .kernel = -1, .brief = true};
    choose_orders(asked, fd, gpu, &bench->sweep);
    bench->sweep.schemes = scheme->name;
    if (bench->sweep.norders == 0) return HT_OK;
    if (fd && gpu && bench->side == 0) like.side = 512;
    for (like.stages = fd ? 1 : 0; like.stages <= (fd ? 2 : 0); like.stages++)
        TRY(ht_bench_plan_system(bench, &like, 0));
    return HT_OK;
}

/* Finite differences step one field of either system: once. */
static bool wanted(const struct ht_sweep *asked, const struct ht_system *system,
                   const struct ht_scheme *scheme, bool planned) {
    const bool fd = scheme->method == HT_FINITE_DIFFERENCES;
    return !system->translates && system->plane != NULL && !(fd && planned) &&
           ht_args_listed(asked->systems, system->name) &&
           ht_args_listed(asked->schemes, scheme->name);
}

/* Rates of the variants that runs use, in both precisions, with all stages. */
enum ht_err ht_bench_plan_accuracy(struct ht_bench *bench,
                                   const struct ht_bench_case *self) {
    const struct ht_sweep saved = bench->sweep;
    const int stages = bench->stages;
    bool planned = false;
    enum ht_err err = HT_OK;
    bench->stages = 0;
    bench->sweep.differences = true;
    if (saved.precisions == NULL) bench->sweep.precisions = "single,double";
    bench->sweep.ndims = 1;
    bench->sweep.dims[0] = 3;
    bench->usual = true;
    for (int s = 0; s < ht_system_count(); s++)
        for (int i = 0; err == HT_OK && i < ht_scheme_count(); i++) {
            const struct ht_scheme *scheme = ht_scheme_at(i);
            if (!wanted(&saved, ht_system_at(s), scheme, planned)) continue;
            err = plan_scheme(bench, self, ht_system_at(s), scheme, &saved);
            planned |= scheme->method == HT_FINITE_DIFFERENCES;
        }
    bench->usual = false;
    bench->stages = stages;
    bench->sweep = saved;
    return err;
}
