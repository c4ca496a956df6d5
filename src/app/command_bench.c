/* htwave bench: measures the device, runs the cases, writes the results. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "htwave/bench.h"
#include "htwave/comm.h"
#include "htwave/stop.h"
#include "htwave/tuning.h"

/* ---- flags ---- */

static enum ht_err read_real(const struct ht_args *args, const char *flag,
                             double least, double *out) {
    const char *text = ht_args_value(args, flag);
    if (text == NULL) return HT_OK;
    TRY(ht_args_real(flag, text, out));
    REQUIRE(*out >= least, HT_ERR_INPUT, "%s %s: must be at least %g", flag,
            text, least);
    return HT_OK;
}

static enum ht_err read_whole(const struct ht_args *args, const char *flag,
                              int *out) {
    double value = *out;
    const double most = 1 << 24;
    TRY(read_real(args, flag, 0, &value));
    REQUIRE(value == floor(value) && value <= most, HT_ERR_INPUT,
            "%s: must be a whole number up to %.0f", flag, most);
    *out = (int)value;
    return HT_OK;
}

static enum ht_err read_flags(const struct ht_args *args,
                              struct ht_bench *bench) {
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

static enum ht_err find_case(const char *name,
                             const struct ht_bench_case **out) {
    struct ht_text names = {0};
    *out = NULL;
    REQUIRE(ht_bench_case_gone(name) == NULL, HT_ERR_INPUT,
            "bench %s is no longer a case: use %s (scripts are installed in "
            "share/htwave/bench)",
            name, ht_bench_case_gone(name));
    for (int i = 0; i < ht_bench_case_count(); i++) {
        const struct ht_bench_case *c = ht_bench_case_at(i);
        if (strcmp(c->name, name) == 0) *out = c;
        ht_text_add(&names, "%s%s", i ? ", " : "", c->name);
    }
    enum ht_err err = ht_text_status(&names);
    if (err == HT_OK && *out == NULL)
        ht_err_set(HT_ERR_INPUT, "bench %s: no such case; must be among %s",
                   name, names.data);
    ht_text_free(&names);
    TRY(err);
    return *out != NULL ? HT_OK : HT_ERR_INPUT;
}

/* ---- the run ---- */

static enum ht_err measure_device(struct ht_bench *bench) {
    const struct ht_device_info *info = bench->info;
    TRY(ht_limits_measure(bench->device, false, bench->cache,
                          &bench->limits[0]));
    if (info->fp64)
        TRY(ht_limits_measure(bench->device, true, bench->cache,
                              &bench->limits[1]));
    ht_log("%s, %s, driver %s: copies %.4g GB/s, single %.4g GFMA/s, double "
           "%.4g GFMA/s%s",
           info->name, info->backend, info->driver,
           1e-9 *
               fmax(bench->limits[0].bytes_per_s, bench->limits[1].bytes_per_s),
           1e-9 * bench->limits[0].fma_per_s, 1e-9 * bench->limits[1].fma_per_s,
           ht_device_joules(bench->device) >= 0 ? "" : ", energy not reported");
    if (!info->gpu)
        ht_note("a CPU: small grids, single precision and low orders unless "
                "flags say otherwise, so that a case takes about a minute");
    return HT_OK;
}

static enum ht_err run_case(struct ht_bench *bench,
                            const struct ht_bench_case *c,
                            const struct ht_args *args) {
    int first = bench->count;
    if (ht_args_value(args, "--seconds") == NULL)
        bench->seconds = bench->info->gpu ? 600 : 60;
    TRY(c->plan(bench, c));
    TRY(ht_bench_measure(bench, first, bench->count));
    return c->finish != NULL ? c->finish(bench, first, bench->count) : HT_OK;
}

static enum ht_err run_cases(struct ht_bench *bench,
                             const struct ht_args *args) {
    const struct ht_bench_case *c = NULL;
    TRY(ht_file_make_directory(bench->directory));
    TRY(measure_device(bench));
    for (int i = 0; i < args->count || i == 0; i++) {
        TRY(find_case(args->count > 0 ? args->operand[i] : "rates", &c));
        TRY(run_case(bench, c, args));
    }
    REQUIRE(bench->count > 0, HT_ERR_INPUT,
            "bench: the flags exclude all rows");
    TRY(ht_bench_write(bench));
    if (bench->left_out > 0)
        ht_note("%d row%s left out by the time limit (--seconds %g)",
                bench->left_out, bench->left_out == 1 ? "" : "s",
                bench->seconds);
    ht_log("results in %s; tools/plot.py %s/*.csv draws them", bench->directory,
           bench->directory);
    REQUIRE(!bench->wrong, HT_ERR_DEVICE,
            "at least one program does not agree with the reference");
    REQUIRE(!ht_stop_wanted(), HT_ERR_INTERRUPTED, "interrupted");
    return HT_OK;
}

static enum ht_err list_cases(void) {
    struct ht_text text = {0};
    for (int i = 0; i < ht_bench_case_count(); i++)
        ht_text_add(&text, "%-14s %s\n", ht_bench_case_at(i)->name,
                    ht_bench_case_at(i)->help);
    enum ht_err err = ht_args_print(&text);
    ht_text_free(&text);
    return err;
}

static enum ht_err run(struct ht_bench *bench, const struct ht_args *args) {
    const struct ht_bench_case *c = NULL;
    for (int i = 0; i < args->count; i++) TRY(find_case(args->operand[i], &c));
    REQUIRE(ht_comm_size(args->comm) == 1, HT_ERR_INPUT,
            "bench runs in one process, not on %d ranks: run it without "
            "mpiexec; bench/scaling.py measures several",
            ht_comm_size(args->comm));
    TRY(ht_device_open(bench->sweep.backend, bench->sweep.device, 0,
                       &bench->device));
    bench->info = ht_device_info(bench->device);
    TRY(ht_cache_directory(bench->sweep.cache, &bench->cache));
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
