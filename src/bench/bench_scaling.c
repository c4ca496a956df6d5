/* Weak and strong scaling with one number of ranks: all ranks compute steps of
 * their slabs together and time them by the clock. A shell loop over numbers of
 * ranks fills scaling.csv; each launch prints the whole table.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "htwave/bench.h"
#include "htwave/fd_kernel.h"
#include "htwave/fd_schedule.h"
#include "htwave/parallel.h"
#include "htwave/scaling.h"
#include "htwave/stop.h"

enum { BATCHES = 5 };

/* The measurements of this launch. */
struct work {
    struct ht_bench *bench;
    double began;
    int stored;   /* rows */
    bool stopped; /* by a signal to one of the ranks */
};

/* The current measurement. */
struct run {
    struct ht_bench *bench;
    const struct ht_bench_row *plan;
    struct ht_part test;
    struct ht_kernels kernels;
    struct ht_stepper stepper;
    struct ht_scaling_row row;
};

/* ---- the slab ---- */

static enum ht_err cut(struct ht_grid *grid, struct ht_comm *comm) {
    int ranks = ht_comm_size(comm), rank = ht_comm_rank(comm);
    double *weights = NULL;
    int64_t *start = NULL;
    enum ht_err err = HT_ALLOC(weights, ranks);
    if (err == HT_OK) err = HT_ALLOC(start, ranks + 1);
    for (int r = 0; err == HT_OK && r < ranks; r++) weights[r] = 1;
    if (err == HT_OK) {
        ht_slab_cut(grid->cells[2], ranks, weights, start);
        grid->slab =
            (struct ht_slab){.comm = comm, start[rank], start[rank + 1]};
    }
    free(weights);
    free(start);
    return err;
}

static enum ht_err start(struct run *run) {
    const struct ht_problem *p = &run->test.problem;
    struct ht_device *device = run->bench->device;
    TRY(ht_test_problem_verify(&run->test, device, &run->kernels,
                               &run->row.verified));
    REQUIRE(run->row.verified <= 1, HT_ERR_DEVICE,
            "differs from the reference by %.3g times what rounding explains",
            run->row.verified);
    TRY(ht_stepper_create(p, device, &run->kernels, &run->stepper));
    return ht_test_problem_fill(&run->test, &run->stepper);
}

/* ---- time ---- */

/* Seconds of a number of steps, from a common start until the last rank has
 * finished. */
static enum ht_err time_steps(const struct run *run, int64_t steps,
                              double *seconds) {
    struct ht_comm *comm = run->bench->comm;
    double nothing = 0;
    TRY(ht_comm_sum(comm, 1, &nothing));
    double began = ht_clock();
    TRY(ht_stepper_advance(&run->stepper, steps));
    *seconds = ht_clock() - began;
    return ht_comm_max(comm, 1, seconds);
}

/* A number of steps and the parts of their time. */
struct batch {
    double seconds;
    struct ht_traffic traffic;
};

static int ascending(const void *a, const void *b) {
    double x = ((const struct batch *)a)->seconds;
    double y = ((const struct batch *)b)->seconds;
    return (x > y) - (x < y);
}

static struct ht_traffic traffic_of(const struct run *run) {
    struct ht_traffic t;
    run->stepper.ops->traffic(run->stepper.self, &t);
    return t;
}

static enum ht_err time_batch(const struct run *run, int64_t steps,
                              struct batch *out) {
    const struct ht_traffic before = traffic_of(run);
    TRY(time_steps(run, steps, &out->seconds));
    out->traffic = traffic_of(run);
    out->traffic.interior_s -= before.interior_s;
    out->traffic.boundary_s -= before.boundary_s;
    out->traffic.pack_s -= before.pack_s;
    out->traffic.messages -= before.messages;
    out->traffic.bytes -= before.bytes;
    return HT_OK;
}

/* Means over the ranks, per step. The time outside kernels is exposed: waits
 * for messages and slower ranks, and launches. */
static enum ht_err take_batch(struct run *run, const struct batch *batch,
                              double steps) {
    struct ht_comm *comm = run->bench->comm;
    struct ht_scaling_row *row = &run->row;
    const struct ht_traffic *t = &batch->traffic;
    double mean[] = {t->interior_s, t->boundary_s, t->pack_s,
                     (double)t->messages, (double)t->bytes};
    TRY(ht_comm_sum(comm, 5, mean));
    for (int i = 0; i < 5; i++) mean[i] /= steps * ht_comm_size(comm);
    row->ms = 1e3 * batch->seconds / steps;
    row->interior_ms = 1e3 * mean[0];
    row->boundary_ms = 1e3 * mean[1];
    row->pack_ms = 1e3 * mean[2];
    row->messages = mean[3];
    row->bytes = mean[4];
    row->exposed_ms =
        fmax(0, row->ms - row->interior_ms - row->boundary_ms - row->pack_ms);
    TRY(ht_parallel_transport(comm, t, row->transport));
    if (*row->transport == '\0')
        snprintf(row->transport, sizeof row->transport, "none");
    return HT_OK;
}

/* Measures the median of several batches. The warm-up steps determine the steps
 * of a batch; rank 0 decides, since ranks wait for each other in every half
 * step. Times are those of the slowest rank, so all ranks choose the same
 * batch. */
static enum ht_err measure(struct run *run) {
    const bool gpu = run->bench->info->gpu;
    const double enough_s = gpu ? 0.2 : 0.3;
    double seconds = 0;
    struct batch batch[BATCHES];
    TRY(time_steps(run, gpu ? 4 : 1, &seconds));
    TRY(time_steps(run, 1, &seconds));
    const int64_t depth = run->bench->halo.depth; /* whole cycles only */
    int64_t steps =
        depth * (1 + (int64_t)(enough_s / fmax(seconds, 1e-6)) / depth);
    TRY(ht_comm_broadcast(run->bench->comm, &steps, sizeof steps));
    for (int i = 0; i < BATCHES; i++) TRY(time_batch(run, steps, &batch[i]));
    qsort(batch, BATCHES, sizeof *batch, ascending);
    return take_batch(run, &batch[BATCHES / 2], (double)steps);
}

/* ---- one row ---- */

static const char *halo_name(enum ht_halo_precision precision) {
    return precision == HT_HALO_SINGLE ? "single"
           : precision == HT_HALO_HALF ? "half"
                                       : "same";
}

static void describe(struct run *run, const char *kind) {
    const struct ht_bench_row *plan = run->plan;
    const struct ht_bench *bench = run->bench;
    struct ht_scaling_row *row = &run->row;
    const struct {
        char *to;
        const char *from;
    } word[] = {{row->kind, kind},
                {row->system, plan->system->name},
                {row->scheme, plan->scheme->name},
                {row->precision, ht_bench_precision(plan)},
                {row->variant, plan->tuning.variant->name},
                {row->layout, ht_bench_layout(plan)},
                {row->halo, halo_name(bench->halo.precision)},
                {row->device, bench->info->name},
                {row->backend, bench->info->backend},
                {row->driver, bench->info->driver},
                {row->version, HT_VERSION}};
    for (size_t i = 0; i < sizeof word / sizeof word[0]; i++)
        snprintf(word[i].to, HT_SCALING_WORD, "%s", word[i].from);
    row->order = plan->order;
    row->stages = run->test.problem.stages;
    row->side = (double)run->test.grid.cells[0];
    row->planes = (double)run->test.grid.cells[2];
    row->ranks = ht_comm_size(bench->comm);
    row->depth = bench->halo.depth;
}

static enum ht_err measure_cut(struct run *run, const int64_t cells[3],
                               const struct ht_part *plain, const char *kind) {
    struct ht_bench *bench = run->bench;
    ht_test_problem(&plain->problem, cells, &run->test);
    TRY(cut(&run->test.grid, bench->comm));
    run->test.problem.halo = bench->halo;
    describe(run, kind);
    TRY(ht_kernels_create(&run->test.problem, bench->device, &run->plan->tuning,
                          bench->cache, &run->kernels));
    enum ht_err err = start(run);
    if (err == HT_OK) err = measure(run);
    /* before the stepper is destroyed, since neighbours may wait for it */
    err = ht_comm_agree(bench->comm, err);
    ht_stepper_destroy(&run->stepper);
    ht_kernels_destroy(&run->kernels);
    return err;
}

/* ---- the file, written by rank 0 ---- */

static enum ht_err read_file(const struct ht_bench *bench, char **path,
                             struct ht_scaling *table) {
    TRY(ht_bench_path(bench, "scaling.csv", path));
    return ht_scaling_read(*path, table);
}

/* Checks before measuring that results can be stored. */
static enum ht_err prepare_file(const struct ht_bench *bench) {
    struct ht_scaling table = {0};
    char *path = NULL;
    if (ht_comm_rank(bench->comm) > 0) return HT_OK;
    TRY(ht_file_make_directory(bench->directory));
    enum ht_err err = read_file(bench, &path, &table);
    ht_scaling_free(&table);
    free(path);
    return err;
}

/* Stores a row at once, so that a later failure does not lose it. */
static enum ht_err store_row(struct work *work,
                             const struct ht_scaling_row *row) {
    struct ht_scaling table = {0};
    char *path = NULL;
    work->stored++;
    if (ht_comm_rank(work->bench->comm) > 0) return HT_OK;
    enum ht_err err = read_file(work->bench, &path, &table);
    if (err == HT_OK) err = ht_scaling_add(&table, row);
    if (err == HT_OK) err = ht_scaling_write(path, &table);
    ht_scaling_free(&table);
    free(path);
    return err;
}

static enum ht_err show_table(const struct ht_bench *bench,
                              const struct ht_scaling *table) {
    struct ht_text text = {0};
    struct ht_json json = {0};
    if (!bench->csv && !bench->json) {
        TRY(ht_scaling_show(table));
        ht_log("tools/plot.py %s/scaling.csv draws the efficiencies",
               bench->directory);
        return HT_OK;
    }
    ht_scaling_csv(table, &text);
    ht_json_open(&json, NULL, '{');
    ht_scaling_json(table, &json);
    ht_json_close(&json, '}');
    ht_json_end(&json);
    return ht_json_or_text(&json, &text, bench->json);
}

static enum ht_err show_file(const struct ht_bench *bench) {
    struct ht_scaling table = {0};
    char *path = NULL;
    if (ht_comm_rank(bench->comm) > 0) return HT_OK;
    enum ht_err err = read_file(bench, &path, &table);
    if (err == HT_OK && table.count == 0)
        err = ht_err_set(HT_ERR_INPUT, "%s: no rows of scaling", path);
    if (err == HT_OK) err = show_table(bench, &table);
    ht_scaling_free(&table);
    free(path);
    return err;
}

/* ---- one plan ---- */

/* Agrees on whether to stop: after a signal to one of the ranks, or if no time
 * is left by rank 0's clock. */
static enum ht_err confer(struct work *work, bool *over) {
    const struct ht_bench *bench = work->bench;
    const bool leads = ht_comm_rank(bench->comm) == 0;
    double votes[] = {ht_stop_wanted(),
                      leads && ht_clock() - work->began > bench->seconds};
    TRY(ht_comm_max(bench->comm, 2, votes));
    work->stopped = votes[0] > 0;
    *over = work->stopped || votes[1] > 0;
    return HT_OK;
}

/* Planes that a slab of a row must have. */
static int64_t thinnest(const struct ht_bench *bench,
                        const struct ht_bench_row *plan) {
    const struct ht_fd_spec fd = {.dims = 3, .radius = plan->order / 2};
    if (plan->scheme->method == HT_FINITE_DIFFERENCES)
        return ht_fd_planes_needed(ht_fd_reach(&fd), bench->halo.depth);
    return (bench->halo.depth + 1) / 2;
}

static enum ht_err measure_kind(struct work *work,
                                const struct ht_bench_row *plan,
                                const struct ht_part *plain, bool strong) {
    struct run run = {.bench = work->bench, .plan = plan};
    const int ranks = ht_comm_size(run.bench->comm);
    const int64_t side = plan->side;
    const int64_t cells[3] = {side, side, strong ? side : side * ranks};
    bool over = false;
    if (cells[2] / ranks < thinnest(run.bench, plan)) {
        ht_note("scaling: %d ranks are too many for strong scaling of %lld "
                "planes",
                ranks, (long long)cells[2]);
        return HT_OK;
    }
    TRY(confer(work, &over));
    if (over) {
        run.bench->left_out++;
        return HT_OK;
    }
    TRY(measure_cut(&run, cells, plain, strong ? "strong" : "weak"));
    TRY(store_row(work, &run.row));
    if (ranks > 1) return HT_OK;
    snprintf(run.row.kind, sizeof run.row.kind, "strong");
    return store_row(work, &run.row);
}

/* Weak scaling has a cube of cells per rank, strong scaling one cube for all
 * ranks; for one rank they are the same measurement. */
static enum ht_err measure_plan(struct work *work,
                                const struct ht_bench_row *plan) {
    const struct ht_equations eq = ht_equations_make(plan->system, plan->dims);
    struct ht_part plain;
    ht_test_problem_plain(&eq, plan->order, plan->stages, plan->scheme, &plain);
    TRY(measure_kind(work, plan, &plain, false));
    if (ht_comm_size(work->bench->comm) == 1) return HT_OK;
    return measure_kind(work, plan, &plain, true);
}

/* ---- plans ---- */

/* Side of the largest cube for one rank. */
static int64_t side_of(const struct ht_bench *bench,
                       const struct ht_bench_row *plan) {
    const struct ht_equations eq = ht_equations_make(plan->system, plan->dims);
    const bool fd = plan->scheme->method == HT_FINITE_DIFFERENCES;
    const int64_t usual = bench->info->gpu ? 1024 : fd ? 128 : 24;
    struct ht_part plain;
    ht_test_problem_plain(&eq, plan->order, plan->stages, plan->scheme, &plain);
    return ht_test_problem_cells(&plain.problem, &plan->tuning,
                                 bench->side > 0 ? bench->side : usual,
                                 bench->gib * 0x1p30, INFINITY);
}

/* The rows of one scheme, whose orders mean the same. */
static enum ht_err plan_scheme(struct ht_bench *bench,
                               const struct ht_scheme *scheme) {
    struct ht_sweep *sweep = &bench->sweep;
    const int given = sweep->norders;
    TRY(ht_bench_check_scheme(bench, scheme));
    sweep->schemes = scheme->name;
    if (given == 0) {
        sweep->norders = 1;
        sweep->orders[0] = scheme->usual_order;
    }
    enum ht_err err = ht_bench_plan_sweep(bench, NULL, 0);
    sweep->norders = given;
    return err;
}

/* Three-dimensional rows of the sweep, by default acoustic, Taylor, the usual
 * order, single precision, each with the variant that runs use. */
static enum ht_err plan_rows(struct ht_bench *bench) {
    struct ht_sweep *sweep = &bench->sweep;
    const struct ht_sweep saved = *sweep;
    if (sweep->systems == NULL) sweep->systems = "acoustic";
    if (sweep->schemes == NULL) sweep->schemes = ht_scheme_word(HT_TAYLOR);
    if (sweep->precisions == NULL) sweep->precisions = "single";
    sweep->ndims = 1;
    sweep->dims[0] = 3;
    bench->usual = true;
    const char *const schemes = sweep->schemes;
    enum ht_err err = HT_OK;
    for (int i = 0; err == HT_OK && i < ht_scheme_count(); i++)
        if (ht_args_listed(schemes, ht_scheme_at(i)->name))
            err = plan_scheme(bench, ht_scheme_at(i));
    bench->usual = false;
    *sweep = saved;
    return err;
}

/* The measurements that a rank has planned; they depend on its device. */
struct choice {
    char device[128], first[96]; /* of the plans */
    bool gpu;
    int count;
    uint64_t plans;
};

static void describe_choice(const struct ht_bench *bench, int first,
                            struct choice *out) {
    memset(out, 0, sizeof *out);
    out->gpu = bench->info->gpu;
    out->count = bench->count - first;
    out->plans = HT_HASH_SEED;
    snprintf(out->device, sizeof out->device, "%s", bench->info->name);
    for (int i = first; i < bench->count; i++) {
        const struct ht_bench_row *row = &bench->row[i];
        const char *variant = row->tuning.variant->name;
        const int64_t numbers[] = {row->side, row->order,
                                   ht_scheme_index(row->scheme),
                                   row->tuning.fp64, row->tuning.block};
        out->plans = ht_hash(out->plans, numbers, sizeof numbers);
        out->plans = ht_hash(out->plans, variant, strlen(variant) + 1);
        if (i == first)
            snprintf(out->first, sizeof out->first,
                     " from %lld^3 cells by %s, %s, %s on",
                     (long long)row->side, variant, ht_bench_layout(row),
                     ht_bench_precision(row));
    }
}

static enum ht_err compare_choices(int ranks, const struct choice *all) {
    for (int r = 1; r < ranks; r++)
        REQUIRE(all[r].gpu == all->gpu && all[r].count == all->count &&
                    all[r].plans == all->plans,
                HT_ERR_INPUT,
                "bench scaling: rank %d has another kind of device or other "
                "problems than rank 0: the %s %s, %d%s, not the %s %s, %d%s; "
                "see --device and --backend",
                r, all[r].gpu ? "GPU" : "CPU", all[r].device, all[r].count,
                all[r].first, all->gpu ? "GPU" : "CPU", all->device, all->count,
                all->first);
    return HT_OK;
}

/* All ranks must have the same plans: with different grids or numbers of steps
 * they would wait for each other forever. */
static enum ht_err agree_on_plans(const struct ht_bench *bench, int first) {
    struct choice own, *all = NULL;
    describe_choice(bench, first, &own);
    TRY(HT_ALLOC(all, ht_comm_size(bench->comm)));
    enum ht_err err = ht_comm_gather(bench->comm, &own, sizeof own, all);
    if (err == HT_OK) err = compare_choices(ht_comm_size(bench->comm), all);
    free(all);
    return err;
}

static enum ht_err check_planes(const struct ht_bench *bench,
                                const struct ht_bench_row *row) {
    const int64_t planes = thinnest(bench, row);
    int64_t most = 0; /* depth */
    const struct ht_fd_spec fd = {.dims = 3, .radius = row->order / 2};
    if (row->scheme->method == HT_FINITE_DIFFERENCES) {
        most = row->side / ht_fd_reach(&fd);
        REQUIRE(row->side > ht_fd_reach(&fd), HT_ERR_INPUT,
                "--cells %lld: the stencil of order %d needs more than %d",
                (long long)row->side, row->order, ht_fd_reach(&fd));
    } else {
        most = 2 * row->side;
    }
    REQUIRE(row->side >= planes, HT_ERR_INPUT,
            "--halo-depth %d: needs slabs of %lld planes, but the cube of a "
            "rank has %lld: at most %lld",
            bench->halo.depth, (long long)planes, (long long)row->side,
            (long long)most);
    return HT_OK;
}

static enum ht_err plan_all(struct ht_bench *bench, int first) {
    TRY(plan_rows(bench));
    for (int i = first; i < bench->count; i++)
        bench->row[i].side = side_of(bench, &bench->row[i]);
    TRY(agree_on_plans(bench, first));
    REQUIRE(bench->count > first, HT_ERR_INPUT,
            "scaling: the flags exclude all measurements");
    for (int i = first; i < bench->count; i++)
        TRY(check_planes(bench, &bench->row[i]));
    return HT_OK;
}

/* ---- the case ---- */

static enum ht_err measure_all(struct work *work, int first) {
    struct ht_bench *bench = work->bench;
    bool over = false;
    TRY(plan_all(bench, first));
    TRY(ht_comm_agree(bench->comm, prepare_file(bench)));
    work->began = ht_clock();
    for (int i = first; i < bench->count; i++)
        TRY(measure_plan(work, &bench->row[i]));
    TRY(confer(work, &over));
    if (bench->left_out > 0 && !work->stopped)
        ht_note("scaling: %d measurement%s skipped: no time left "
                "(--seconds %g)",
                bench->left_out, bench->left_out == 1 ? "" : "s",
                bench->seconds);
    return HT_OK;
}

enum ht_err ht_bench_scaling(struct ht_bench *bench, int first, int last) {
    struct work work = {.bench = bench};
    enum ht_err err = bench->show ? HT_OK : measure_all(&work, first);
    bench->count = last; /* these are no rows of bench.csv */
    /* a signal may be the reason: it also ends PoCL's compiler */
    if (err != HT_OK && err != HT_ERR_ELSEWHERE && ht_stop_wanted())
        return ht_err_prefix(HT_ERR_INTERRUPTED, "interrupted");
    TRY(err);
    if (!work.stopped || work.stored > 0) TRY(show_file(bench));
    REQUIRE(!work.stopped, HT_ERR_INTERRUPTED,
            "interrupted: %d row%s added to %s/scaling.csv", work.stored,
            work.stored == 1 ? "" : "s", bench->directory);
    return HT_OK;
}
