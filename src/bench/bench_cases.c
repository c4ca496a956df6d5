/* The table of cases. Table 1 is that of Vargas, Chan, Hagstrom and Warburton
 * (2016), on any device.
 */
#include <math.h>
#include <string.h>

#include "htwave/bench.h"

/* ---- rates ---- */

static enum ht_err plan_rates(struct ht_bench *bench,
                              const struct ht_bench_case *self) {
    return ht_bench_plan_sweep(bench, self, bench->info->gpu ? 5 : 3);
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
};

const char *ht_bench_case_gone(const char *name) {
    static const char *const gone[][2] = {
        {"absorbing", "python3 bench/absorbing.py"},
        {"accuracy", "python3 bench/accuracy.py"},
        {"fd", "bench rates --schemes fd"},
        {"interpolation", "python3 bench/figures.py interpolation"},
        {"media", "python3 bench/media.py"},
        {"q", "python3 bench/figures.py q"},
        {"roofline", "python3 bench/figures.py roofline"},
        {"scaling", "python3 bench/scaling.py"},
        {"stages", "python3 bench/figures.py stages"},
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
