/* One number of ranks of weak and of strong scaling: each rank times steps of
 * its slab, all together by the clock. A shell loop over numbers of ranks fills
 * scaling.csv, which is shown whenever it has grown.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "parallel.h"
#include "scaling.h"
#include "stop.h"

enum { BATCHES = 5 };

/* What is being measured. */
struct run {
    struct ht_bench *bench;
    const struct ht_bench_row *plan;
    struct ht_sample sample;
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

/* Random data on the own planes: one plane, on each of them. */
static enum ht_err fill(const struct run *run, enum ht_mesh mesh) {
    const struct ht_problem *p = &run->sample.problem;
    int64_t first, last,
        count = ht_grid_plane(p->grid, mesh) * p->eq->nfields *
                ht_grid_coefs(p->grid);
    double *plane = NULL;
    TRY(HT_ALLOC(plane, count));
    for (int64_t n = 0; n < count; n++)
        plane[n] = ht_rng_uniform(11, (uint64_t)n);
    enum ht_err err = HT_OK;
    ht_grid_own(p->grid, mesh, &first, &last);
    for (int64_t m = first; err == HT_OK && m < last; m++)
        err = run->stepper.ops->put(run->stepper.self, mesh, m, m + 1, plane);
    free(plane);
    return err;
}

static enum ht_err start(struct run *run) {
    const struct ht_problem *p = &run->sample.problem;
    struct ht_device *device = run->bench->device;
    TRY(ht_sample_verify(&run->sample, device, &run->kernels,
                         &run->row.verified));
    REQUIRE(run->row.verified <= 1, HT_ERR_DEVICE,
            "differs from the reference by %.3g times what rounding explains",
            run->row.verified);
    TRY(ht_stepper_create(p, device, &run->kernels, &run->stepper));
    TRY(fill(run, HT_PRIMARY));
    return p->keep != 0 ? fill(run, HT_DUAL) : HT_OK;
}

/* ---- time ---- */

/* Seconds of so many steps, begun together, until the last rank has ended. */
static enum ht_err time_steps(const struct run *run, int64_t steps,
                              double *seconds) {
    struct ht_comm *comm = run->bench->comm;
    const struct ht_stepper *s = &run->stepper;
    double nothing = 0;
    TRY(ht_comm_sum(comm, 1, &nothing));
    double began = ht_clock();
    for (int64_t n = 0; n < steps; n++) {
        TRY(s->ops->half_step(s->self, HT_PRIMARY));
        TRY(s->ops->half_step(s->self, HT_DUAL));
    }
    TRY(s->ops->finish(s->self));
    *seconds = ht_clock() - began;
    return ht_comm_max(comm, 1, seconds);
}

/* So many steps, and what of their time is known. */
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

/* Means over the ranks, per step. What neither kernel of the device accounts
 * for is exposed: waits for messages and for slower ranks, and launches. */
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

/* The median of batches, after steps that warm up and tell how many steps a
 * batch takes: times are those of the slowest rank, so that all ranks take the
 * same batch. */
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
                {row->scheme, ht_bench_scheme(plan)},
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
    row->stages = run->sample.problem.stages;
    row->side = (double)run->sample.grid.cells[0];
    row->planes = (double)run->sample.grid.cells[2];
    row->ranks = ht_comm_size(bench->comm);
    row->depth = bench->halo.depth;
}

static enum ht_err measure_cut(struct run *run, const int64_t cells[3],
                               const struct ht_sample *plain,
                               const char *kind) {
    struct ht_bench *bench = run->bench;
    ht_sample_make(&plain->problem, cells, &run->sample);
    TRY(cut(&run->sample.grid, bench->comm));
    run->sample.problem.halo = bench->halo;
    describe(run, kind);
    TRY(ht_kernels_create(&run->sample.problem, bench->device,
                          &run->plan->tuning, bench->cache, &run->kernels));
    enum ht_err err = start(run);
    if (err == HT_OK) err = measure(run);
    /* before the stepper goes, which others may be waiting for */
    err = ht_comm_agree(bench->comm, err);
    ht_stepper_destroy(&run->stepper);
    ht_kernels_destroy(&run->kernels);
    return err;
}

/* The largest cube that a rank takes alone. */
static int64_t side_of(const struct ht_bench *bench,
                       const struct ht_bench_row *plan,
                       const struct ht_sample *plain) {
    const int64_t usual = bench->info->gpu ? 1024 : 24;
    return ht_sample_cells(&plain->problem, &plan->tuning,
                           bench->side > 0 ? bench->side : usual,
                           bench->gib * 0x1p30, INFINITY);
}

/* Weak scaling has a cube of cells per rank, strong scaling one in all; for one
 * rank they are the same measurement. */
static enum ht_err measure_plan(struct ht_bench *bench,
                                const struct ht_bench_row *plan,
                                struct ht_scaling *out) {
    const struct ht_equations eq = ht_equations_make(plan->system, plan->dims);
    const int ranks = ht_comm_size(bench->comm);
    struct ht_sample plain;
    struct ht_scaling_row weak = {.ranks = 0};
    ht_sample_plain(&eq, plan->order, plan->stages, plan->leapfrog, &plain);
    int64_t side = side_of(bench, plan, &plain);
    for (int strong = 0; strong < 2; strong++) {
        struct run run = {.bench = bench, .plan = plan};
        const int64_t cells[3] = {side, side, strong ? side : side * ranks};
        if (strong && ranks == 1) {
            run.row = weak;
            snprintf(run.row.kind, sizeof run.row.kind, "strong");
        } else if (cells[2] / ranks < (bench->halo.depth + 1) / 2) {
            ht_note("scaling: %d ranks are too many for strong scaling of %lld "
                    "planes",
                    ranks, (long long)cells[2]);
            continue;
        } else {
            TRY(measure_cut(&run, cells, &plain, strong ? "strong" : "weak"));
        }
        if (!strong) weak = run.row;
        TRY(ht_scaling_add(out, &run.row));
    }
    return HT_OK;
}

/* ---- the case ---- */

/* Three-dimensional rows of the sweep, by default acoustic, Taylor, N = 3,
 * single precision, each with the variant that runs take. */
static enum ht_err plan_rows(struct ht_bench *bench) {
    struct ht_sweep *sweep = &bench->sweep;
    const struct ht_sweep saved = *sweep;
    if (sweep->systems == NULL) sweep->systems = "acoustic";
    if (sweep->schemes == NULL) sweep->schemes = "taylor";
    if (sweep->precisions == NULL) sweep->precisions = "single";
    if (sweep->norders == 0) {
        sweep->norders = 1;
        sweep->orders[0] = 3;
    }
    sweep->ndims = 1;
    sweep->dims[0] = 3;
    bench->usual = true;
    enum ht_err err = ht_bench_plan_sweep(bench, NULL, 0);
    bench->usual = false;
    *sweep = saved;
    return err;
}

static enum ht_err measure_all(struct ht_bench *bench, int first,
                               struct ht_scaling *out) {
    REQUIRE(bench->count > first, HT_ERR_INPUT,
            "scaling: nothing to measure is left by the flags");
    for (int i = first; i < bench->count; i++)
        TRY(measure_plan(bench, &bench->row[i], out));
    return HT_OK;
}

/* All that the file holds. */
static enum ht_err show(const struct ht_bench *bench,
                        const struct ht_scaling *table) {
    struct ht_text text = {0};
    struct ht_json json = {0};
    if (!bench->csv && !bench->json)
        return ht_scaling_show(table, bench->directory, true);
    ht_scaling_csv(table, &text);
    ht_json_open(&json, NULL, '{');
    ht_scaling_json(table, &json);
    ht_json_close(&json, '}');
    ht_json_end(&json);
    TRY(ht_json_or_text(&json, &text, bench->json));
    return ht_scaling_show(table, bench->directory, false);
}

/* One rank for all. */
static enum ht_err keep(const struct ht_bench *bench,
                        const struct ht_scaling *fresh) {
    struct ht_scaling table = {0};
    char *path = NULL;
    if (ht_comm_rank(bench->comm) > 0) return HT_OK;
    if (!bench->show) TRY(ht_file_make_directory(bench->directory));
    TRY(ht_bench_path(bench, "scaling.csv", &path));
    enum ht_err err = ht_scaling_read(path, &table);
    for (int i = 0; err == HT_OK && i < fresh->count; i++)
        err = ht_scaling_add(&table, &fresh->row[i]);
    if (err == HT_OK && fresh->count > 0) err = ht_scaling_write(path, &table);
    if (err == HT_OK && table.count == 0)
        err = ht_err_set(HT_ERR_INPUT, "%s: no rows of scaling", path);
    if (err == HT_OK) err = show(bench, &table);
    ht_scaling_free(&table);
    free(path);
    return err;
}

enum ht_err ht_bench_scaling(struct ht_bench *bench, int first, int last) {
    struct ht_scaling fresh = {0};
    enum ht_err err = bench->show ? HT_OK : plan_rows(bench);
    if (err == HT_OK && !bench->show) err = measure_all(bench, first, &fresh);
    bench->count = last; /* these are no rows of bench.csv */
    if (err == HT_OK) err = keep(bench, &fresh);
    ht_scaling_free(&fresh);
    return err;
}
