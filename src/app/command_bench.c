/* htwave bench: measures the device, runs the cases, writes the results. Table 1 is that of Vargas,
 * Chan, Hagstrom and Warburton (2016), on any device. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "commands.h"
#include "htwave/simulation.h"

/* ---- flags ---- */

static enum ht_err read_real(const struct ht_args *args, const char *flag, double least,
                             double *out) {
    const char *text = ht_args_value(args, flag);
    if (text == NULL) return HT_OK;
    TRY(ht_args_real(flag, text, out));
    REQUIRE(*out >= least, HT_ERR_INPUT, "%s %s: must be at least %g", flag, text, least);
    return HT_OK;
}

static enum ht_err read_whole(const struct ht_args *args, const char *flag, int *out) {
    double value = *out;
    const double most = 1 << 24;
    TRY(read_real(args, flag, 0, &value));
    REQUIRE(value == floor(value) && value <= most, HT_ERR_INPUT,
            "%s: must be a whole number up to %.0f", flag, most);
    *out = (int)value;
    return HT_OK;
}

static enum ht_err read_flags(const struct ht_args *args, struct ht_bench *bench) {
    const char *directory = ht_args_value(args, "--out");
    int side = 0;
    bench->directory = directory != NULL ? directory : "bench-out";
    bench->csv = ht_args_value(args, "--csv") != NULL;
    bench->json = args->json;
    bench->each = ht_args_value(args, "--each") != NULL;
    REQUIRE(!bench->csv || !bench->json, HT_ERR_INPUT,
            "--csv and --json both write to standard output: choose one");
    TRY(ht_sweep_read(args, true, &bench->sweep));
    TRY(read_whole(args, "--cells", &side));
    TRY(read_whole(args, "--group", &bench->cells));
    TRY(read_whole(args, "--rows", &bench->rows));
    TRY(read_whole(args, "--planes", &bench->planes));
    TRY(read_whole(args, "--stages", &bench->stages));
    TRY(read_real(args, "--gib", 0.001, &bench->gib));
    bench->side = side;
    return read_real(args, "--seconds", 0, &bench->seconds);
}

/* ---- cases ---- */

static const char *const cases[][2] = {
    {"rates", "variants x orders x precisions x systems (the default)"},
    {"table1", "advection on 150^3 cells, 200 steps, beside the paper's times"},
};
enum { CASES = sizeof cases / sizeof cases[0] };

static enum ht_err check_case(const char *name) {
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
        REQUIRE(
            strcmp(gone[i][0], name) != 0, HT_ERR_INPUT,
            "bench %s is no longer a case: use %s (scripts are installed in share/htwave/bench)",
            name, gone[i][1]);
    for (size_t i = 0; i < CASES; i++)
        if (strcmp(cases[i][0], name) == 0) return HT_OK;
    FAIL(HT_ERR_INPUT, "bench %s: no such case; must be among %s, %s", name, cases[0][0],
         cases[1][0]);
}

/* ---- table 1 ---- */

enum { TABLE_SIDE = 150, TABLE_STEPS = 200, TABLE_ORDERS = 3 };

static enum ht_err plan_table1(struct ht_bench *bench) {
    const bool gpu = bench->info->gpu;
    const struct ht_sweep saved = bench->sweep;
    const struct ht_bench_row like = {.of = "table1",
                                      .system = ht_system_find("advection"),
                                      .kernel = -1,
                                      .side = gpu ? TABLE_SIDE : 0,
                                      .steps = gpu ? TABLE_STEPS : 0};
    if (!gpu)
        ht_note(
            "table 1 on smaller grids and fewer steps; times are scaled to %d^3 cells and %d steps",
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

static void add_times(const char *name, const double *seconds, struct ht_text *text) {
    ht_text_add(text, "%-26s", name);
    for (int n = 0; n < TABLE_ORDERS; n++)
        if (isfinite(seconds[n]))
            ht_text_add(text, " %8.3g", seconds[n]);
        else
            ht_text_add(text, " %8s", "-");
    ht_text_add(text, "\n");
}

static enum ht_err print_table1(struct ht_bench *bench, int first, int last) {
    struct ht_text text = {0};
    ht_text_add(&text,
                "advection, 150^3 cells, 200 steps, single precision: seconds\n%-26s %8s %8s %8s\n",
                "", "N = 1", "N = 2", "N = 3");
    for (int v = 0; v < ht_variant_count(); v++) {
        double seconds[TABLE_ORDERS] = {NAN, NAN, NAN};
        bool any = false;
        for (int i = first; i < last; i++) {
            const struct ht_bench_row *row = &bench->row[i];
            if (!row->done || row->tuning.variant != ht_variant_at(v) || row->order > TABLE_ORDERS)
                continue;
            seconds[row->order - 1] = table_seconds(row);
            any = true;
        }
        if (any) add_times(ht_variant_at(v)->name, seconds, &text);
    }
    ht_text_add(&text, "%-26s %8.2f %8.2f %8.2f\n", "GTX 980, monolithic", 2.09, 13.77, 36.17);
    ht_text_add(&text, "%-26s %8.2f %8.2f %8.2f\n", "GTX 980, two kernels", 2.42, 13.77, 37.23);
    enum ht_err err = HT_OK;
    if (!bench->csv && !bench->json) err = ht_args_print(&text);
    ht_text_free(&text);
    return err;
}

/* ---- the run ---- */

static enum ht_err measure_device(struct ht_bench *bench) {
    const struct ht_device_info *info = bench->info;
    TRY(ht_limits_measure(bench->device, false, &bench->limits[0]));
    if (info->fp64) TRY(ht_limits_measure(bench->device, true, &bench->limits[1]));
    ht_log("%s, %s, driver %s: copies %.4g GB/s, single %.4g GFMA/s, double %.4g GFMA/s%s",
           info->name, info->backend, info->driver,
           1e-9 * fmax(bench->limits[0].bytes_per_s, bench->limits[1].bytes_per_s),
           1e-9 * bench->limits[0].fma_per_s, 1e-9 * bench->limits[1].fma_per_s,
           ht_device_joules(bench->device) >= 0 ? "" : ", energy not reported");
    if (!info->gpu)
        ht_note("a CPU: small grids, single precision and low orders unless flags say otherwise, "
                "so that a case takes about a minute");
    return HT_OK;
}

static enum ht_err run_case(struct ht_bench *bench, const char *name, const struct ht_args *args) {
    const int first = bench->count, most = bench->info->gpu ? 5 : 3;
    const bool table1 = strcmp(name, "table1") == 0;
    if (ht_args_value(args, "--seconds") == NULL) bench->seconds = bench->info->gpu ? 600 : 60;
    TRY(table1 ? plan_table1(bench) : ht_bench_plan_sweep(bench, name, most));
    TRY(ht_bench_measure(bench, first, bench->count));
    return table1 ? print_table1(bench, first, bench->count) : HT_OK;
}

static enum ht_err run_cases(struct ht_bench *bench, const struct ht_args *args) {
    TRY(ht_file_make_directory(bench->directory));
    TRY(measure_device(bench));
    for (int i = 0; i < args->count || i == 0; i++)
        TRY(run_case(bench, args->count > 0 ? args->operand[i] : "rates", args));
    REQUIRE(bench->count > 0, HT_ERR_INPUT, "bench: the flags exclude all rows");
    TRY(ht_bench_write(bench));
    if (bench->left_out > 0)
        ht_note("%d row%s left out by the time limit (--seconds %g)", bench->left_out,
                bench->left_out == 1 ? "" : "s", bench->seconds);
    ht_log("results in %s; tools/plot.py %s/*.csv draws them", bench->directory, bench->directory);
    REQUIRE(!bench->wrong, HT_ERR_DEVICE, "at least one program does not agree with the reference");
    REQUIRE(!ht_stop_wanted(), HT_ERR_INTERRUPTED, "interrupted");
    return HT_OK;
}

static enum ht_err list_cases(void) {
    struct ht_text text = {0};
    for (size_t i = 0; i < CASES; i++) ht_text_add(&text, "%-14s %s\n", cases[i][0], cases[i][1]);
    enum ht_err err = ht_args_print(&text);
    ht_text_free(&text);
    return err;
}

static enum ht_err run(struct ht_bench *bench, const struct ht_args *args) {
    for (int i = 0; i < args->count; i++) TRY(check_case(args->operand[i]));
    REQUIRE(ht_comm_size(args->comm) == 1, HT_ERR_INPUT,
            "bench runs in one process, not on %d ranks: run it without mpiexec; bench/scaling.py "
            "measures several",
            ht_comm_size(args->comm));
    TRY(ht_device_open(bench->sweep.backend, bench->sweep.device, 0, &bench->device));
    bench->info = ht_device_info(bench->device);
    TRY(ht_cache_directory(bench->sweep.cache, &bench->cache));
    ht_device_cache(bench->device, bench->cache);
    return run_cases(bench, args);
}

enum ht_err ht_command_bench(const struct ht_args *args) {
    struct ht_bench bench = {.gib = 6};
    if (ht_args_value(args, "--cases") != NULL) return list_cases();
    TRY(read_flags(args, &bench));
    ht_stop_watch();
    enum ht_err err = ht_comm_agree(args->comm, run(&bench, args));
    ht_stop_unwatch();
    ht_device_close(bench.device);
    free(bench.row);
    free(bench.cache);
    return err;
}
