/* The table of cases. Cases named after figures and tables repeat those of
 * Vargas, Chan, Hagstrom and Warburton (2016) on any device.
 */
#include <math.h>
#include <string.h>

#include "htwave/bench.h"

/* ---- rates, roofline ---- */

static enum ht_err plan_rates(struct ht_bench *bench,
                              const struct ht_bench_case *self) {
    return ht_bench_plan_sweep(bench, self, bench->info->gpu ? 5 : 3);
}

/* Plans rows of `like` and calls `change` for each; false removes the row. */
static enum ht_err plan_changed(struct ht_bench *bench,
                                const struct ht_bench_row *like, int most,
                                bool (*change)(struct ht_bench_row *row)) {
    int kept = bench->count, first = bench->count;
    TRY(ht_bench_plan_system(bench, like, most));
    for (int i = first; i < bench->count; i++) {
        struct ht_bench_row row = bench->row[i];
        if (change(&row)) bench->row[kept++] = row;
    }
    bench->count = kept;
    return HT_OK;
}

static bool has_two(const struct ht_bench_row *row) {
    return row->tuning.variant->stage[1].kind != HT_STAGE_NONE;
}

static bool first_of_two(struct ht_bench_row *row) {
    row->kernel = 0;
    return has_two(row);
}

static bool second_of_two(struct ht_bench_row *row) {
    row->kernel = 1;
    return has_two(row) &&
           row->tuning.variant->stage[0].kind == HT_STAGE_INTERPOLATE_ROLLED;
}

static bool one_of_one(struct ht_bench_row *row) {
    row->kernel = -1;
    return !has_two(row);
}

/* Whether a system is selected; by default those of the paper. */
static bool wants_system(const struct ht_bench *bench,
                         const struct ht_system *system) {
    if (bench->sweep.systems != NULL)
        return ht_args_listed(bench->sweep.systems, system->name);
    return strcmp(system->name, "advection") == 0;
}

/* Figure 5: interpolation, evolution and whole half steps separately. */
static enum ht_err plan_roofline(struct ht_bench *bench,
                                 const struct ht_bench_case *self) {
    for (int s = 0; s < ht_system_count(); s++) {
        const struct ht_bench_row like = {.of = self,
                                          .system = ht_system_at(s)};
        if (!wants_system(bench, like.system)) continue;
        TRY(plan_changed(bench, &like, 3, one_of_one));
        TRY(plan_changed(bench, &like, 3, first_of_two));
        TRY(plan_changed(bench, &like, 3, second_of_two));
    }
    return HT_OK;
}

/* ---- interpolation: figures 1 and 2 ---- */

/* Naive and rolled interpolation, the latter with the default and other numbers
 * of cells per group. */
static enum ht_err plan_interpolation(struct ht_bench *bench,
                                      const struct ht_bench_case *self) {
    static const int groups[] = {1, 2, 4, 8, 16};
    const int asked = bench->cells;
    const struct ht_bench_row like = {.of = self,
                                      .system = ht_system_find("advection")};
    TRY(plan_changed(bench, &like, 3, first_of_two));
    for (int g = 0; g < 5 && asked == 0; g++) {
        int first = bench->count, kept = first;
        bench->cells = groups[g];
        enum ht_err err = plan_changed(bench, &like, 3, first_of_two);
        bench->cells = asked;
        TRY(err);
        for (int i = first; i < bench->count; i++) {
            struct ht_bench_row row = bench->row[i];
            int64_t items =
                (int64_t)pow(2 * row.order + 2, row.dims > 1 ? 2 : 1);
            if (row.tuning.variant->stage[0].kind ==
                    HT_STAGE_INTERPOLATE_ROLLED &&
                items * groups[g] <= bench->info->max_group / 4)
                bench->row[kept++] = row;
        }
        bench->count = kept;
    }
    return HT_OK;
}

/* ---- stages: figures 3 and 4 ---- */

static bool taylor_kernel(struct ht_bench_row *row) {
    row->kernel = has_two(row) ? 1 : -1;
    return row->tuning.variant->pack == NULL &&
           (!has_two(row) || second_of_two(row));
}

/* Rows of an order with numbers of stages from `fewest` to all. */
static enum ht_err plan_stage_counts(struct ht_bench *bench,
                                     struct ht_bench_row like, int fewest,
                                     bool (*change)(struct ht_bench_row *row)) {
    enum { STEPS = 6 };
    const struct ht_sweep saved = bench->sweep;
    const struct ht_scheme *scheme = ht_scheme_at(HT_TAYLOR);
    const struct ht_equations eq =
        ht_equations_make(like.system, saved.dims[0]);
    int full = scheme->full_stages(&eq, like.order);
    enum ht_err err = HT_OK;
    bench->sweep.schemes = scheme->name;
    bench->sweep.ndims = bench->sweep.norders = 1;
    bench->sweep.orders[0] = like.order;
    for (int k = 0; err == HT_OK && k < STEPS; k++) {
        int stages_now = fewest + (full - fewest) * k / (STEPS - 1);
        if (k > 0 && stages_now == like.stages) continue;
        like.stages = stages_now;
        err = plan_changed(bench, &like, like.order, change);
    }
    bench->sweep = saved;
    return err;
}

static enum ht_err plan_stages(struct ht_bench *bench,
                               const struct ht_bench_case *self) {
    const struct ht_sweep *sweep = &bench->sweep;
    int orders = sweep->norders > 0 ? sweep->norders : 3;
    for (int s = 0; s < ht_system_count(); s++)
        for (int n = 0; n < orders; n++) {
            const struct ht_bench_row like = {
                .of = self,
                .system = ht_system_at(s),
                .order = sweep->norders > 0 ? sweep->orders[n] : n + 1};
            if (wants_system(bench, like.system))
                TRY(plan_stage_counts(bench, like, 2, taylor_kernel));
        }
    return HT_OK;
}

/* ---- q: fewer stages, smaller steps ---- */

/* Device nanoseconds per cell for the time in which a wave crosses a cell, at
 * the largest stable step. */
static double crossing_ns(const struct ht_bench_row *row) {
    return 2e9 / (ht_bench_largest_cfl(row) * ht_bench_rate(row));
}

static bool taylor_only(struct ht_bench_row *row) {
    row->kernel = -1;
    return row->tuning.variant->pack == NULL && !has_two(row) &&
           ht_bench_largest_cfl(row) > 0;
}

static enum ht_err plan_q(struct ht_bench *bench,
                          const struct ht_bench_case *self) {
    const struct ht_sweep *sweep = &bench->sweep;
    int orders = sweep->norders > 0 ? sweep->norders : 3;
    for (int s = 0; s < ht_system_count(); s++)
        for (int n = 0; n < orders; n++) {
            struct ht_bench_row like = {.of = self, .system = ht_system_at(s)};
            like.order = sweep->norders > 0 ? sweep->orders[n] : n + 1;
            if (ht_args_listed(sweep->systems, like.system->name))
                TRY(plan_stage_counts(bench, like, 2 * like.order + 1,
                                      taylor_only));
        }
    return HT_OK;
}

static enum ht_err finish_q(struct ht_bench *bench, int first, int last) {
    struct ht_text text = {0};
    ht_text_add(&text, "%-10s %-12s %-6s %2s %6s %6s %14s\n", "system",
                "kernels", "prec.", "N", "stages", "cfl", "ns to cross");
    for (int i = first; i < last; i++) {
        const struct ht_bench_row *row = &bench->row[i];
        if (row->done)
            ht_text_add(&text, "%-10s %-12s %-6s %2d %6d %6.3f %14.4g\n",
                        row->system->name, ht_bench_kernel(row),
                        ht_bench_precision(row), row->order, row->stages,
                        ht_bench_largest_cfl(row), crossing_ns(row));
    }
    enum ht_err err = HT_OK;
    if (!bench->csv && !bench->json) err = ht_args_print(&text);
    ht_text_free(&text);
    return err;
}

/* ---- table 1 ---- */

enum { TABLE_SIDE = 150, TABLE_STEPS = 200, TABLE_ORDERS = 3 };

static enum ht_err plan_table1(struct ht_bench *bench,
                               const struct ht_bench_case *self) {
    const bool gpu = bench->info->gpu;
    const struct ht_sweep saved = bench->sweep;
    const struct ht_bench_row like = {.of = self,
                                      .system = ht_system_find("advection"),
                                      .kernel = -1,
                                      .side = gpu ? TABLE_SIDE : 0,
                                      .steps = gpu ? TABLE_STEPS : 0};
    if (!gpu)
        ht_note("table 1 on smaller grids and fewer steps; times are scaled to "
                "%d^3 cells and %d steps",
                TABLE_SIDE, TABLE_STEPS);
    bench->sweep.precisions = "single";
    bench->sweep.ndims = 1;
    bench->sweep.dims[0] = 3;
    enum ht_err err = ht_bench_plan_system(bench, &like, TABLE_ORDERS);
    bench->sweep = saved;
    return err;
}

/* Device seconds of 200 steps on 150^3 cells, measured or scaled. */
static double table_seconds(const struct ht_bench_row *row) {
    double scale = pow((double)TABLE_SIDE / (double)row->side, 3);
    if (row->steps == TABLE_STEPS) return row->total * scale;
    return 2 * TABLE_STEPS * row->seconds * scale;
}

static void add_times(const char *name, const double *seconds,
                      struct ht_text *text) {
    ht_text_add(text, "%-26s", name);
    for (int n = 0; n < TABLE_ORDERS; n++)
        if (isfinite(seconds[n]))
            ht_text_add(text, " %8.3g", seconds[n]);
        else
            ht_text_add(text, " %8s", "-");
    ht_text_add(text, "\n");
}

static enum ht_err finish_table1(struct ht_bench *bench, int first, int last) {
    struct ht_text text = {0};
    ht_text_add(&text,
                "advection, 150^3 cells, 200 steps, single precision: "
                "seconds\n%-26s %8s %8s %8s\n",
                "", "N = 1", "N = 2", "N = 3");
    for (int v = 0; v < ht_variant_count(); v++) {
        double seconds[TABLE_ORDERS] = {NAN, NAN, NAN};
        bool any = false;
        for (int i = first; i < last; i++) {
            const struct ht_bench_row *row = &bench->row[i];
            if (!row->done || row->tuning.variant != ht_variant_at(v) ||
                row->order > TABLE_ORDERS)
                continue;
            seconds[row->order - 1] = table_seconds(row);
            any = true;
        }
        if (any) add_times(ht_variant_at(v)->name, seconds, &text);
    }
    ht_text_add(&text, "%-26s %8.2f %8.2f %8.2f\n", "GTX 980, monolithic", 2.09,
                13.77, 36.17);
    ht_text_add(&text, "%-26s %8.2f %8.2f %8.2f\n", "GTX 980, two kernels",
                2.42, 13.77, 37.23);
    enum ht_err err = HT_OK;
    if (!bench->csv && !bench->json) err = ht_args_print(&text);
    ht_text_free(&text);
    return err;
}

static const struct ht_bench_case cases[] = {
    {"rates", "variants x orders x precisions x systems (the default)",
     plan_rates, NULL},
    {"table1", "advection on 150^3 cells, 200 steps, beside the paper's times",
     plan_table1, finish_table1},
    {"interpolation", "naive against rolled interpolation (figures 1 and 2)",
     plan_interpolation, NULL},
    {"stages", "stages against performance (figures 3 and 4)", plan_stages,
     NULL},
    {"roofline", "single kernels under the device's limits (figure 5)",
     plan_roofline, NULL},
    {"q", "fewer stages and smaller steps against all stages", plan_q,
     finish_q},
};

const char *ht_bench_case_gone(const char *name) {
    static const char *const gone[][2] = {
        {"absorbing", "python3 bench/absorbing.py"},
        {"accuracy", "python3 bench/accuracy.py"},
        {"fd", "bench rates --schemes fd"},
        {"media", "python3 bench/media.py"},
        {"scaling", "python3 bench/scaling.py"},
    };
    for (size_t i = 0; i < sizeof gone / sizeof gone[0]; i++)
        if (strcmp(gone[i][0], name) == 0) return gone[i][1];
    return NULL;
}

int ht_bench_case_count(void) {
    return (int)(sizeof cases / sizeof cases[0]);
}

const struct ht_bench_case *ht_bench_case_at(int index) {
    return &cases[index];
}
