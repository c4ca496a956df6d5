/* The results of a benchmark: table, CSV and JSON. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "htwave/bench.h"

enum ht_err ht_bench_path(const struct ht_bench *bench, const char *name,
                          char **path) {
    struct ht_text text = {0};
    ht_text_add(&text, "%s/%s", bench->directory, name);
    enum ht_err err = ht_text_status(&text);
    if (err != HT_OK) ht_text_free(&text);
    *path = text.data;
    return err;
}

/* ---- the table ---- */

void ht_bench_print_row(const struct ht_bench_row *row, struct ht_text *text) {
    if (row == NULL) {
        ht_text_add(text,
                    "%-9s %-8s %-2s %-2s %-3s %-21s %-6s %-7s %6s %9s %10s "
                    "%10s %8s %7s %7s %9s %8s\n",
                    "system", "scheme", "d", "N", "q", "kernels", "prec.",
                    "layout", "side", "ms", "cells/s", "unknowns/s", "GFLOP/s",
                    "GB/s", "% limit", "nJ/cell", "check");
        return;
    }
    char joules[16] = "-";
    if (isfinite(row->joules))
        snprintf(joules, sizeof joules, "%.4g",
                 1e9 * row->joules / ht_bench_cells(row));
    ht_text_add(text,
                "%-9s %-8s %-2d %-2d %-3d %-21s %-6s %-7s %6lld %9.4g %10.4g "
                "%10.4g %8.4g %7.4g %7.2g %9s %8.2g\n",
                row->system->name, row->scheme->name, row->dims, row->order,
                row->stages, ht_bench_kernel(row), ht_bench_precision(row),
                row->density ? "density" : ht_bench_layout(row),
                (long long)row->side, 1e3 * row->seconds, ht_bench_rate(row),
                ht_bench_unknowns(row) * ht_bench_rate(row),
                ht_bench_gflops(row), ht_bench_gbytes(row), 100 * row->fraction,
                joules, row->verified);
}

/* ---- columns ---- */

struct value {
    const char *name;
    const char *text; /* NULL: a number */
    double number;    /* NaN: absent */
};
enum { COLUMNS = 35 };

static void add(struct value *list, int *n, struct value value) {
    if (*n < COLUMNS) list[(*n)++] = value;
}

/* Columns of a row for CSV and JSON. */
static int columns_of(const struct ht_bench_row *r, struct value *v) {
    double unknowns = ht_bench_unknowns(r);
    double rate = r->done ? ht_bench_rate(r) : NAN;
    int n = 0;
    add(v, &n, (struct value){"case", r->of->name, 0});
    add(v, &n, (struct value){"system", r->system->name, 0});
    add(v, &n, (struct value){"scheme", r->scheme->name, 0});
    add(v, &n, (struct value){"dimensions", NULL, r->dims});
    add(v, &n, (struct value){"order", NULL, r->order});
    add(v, &n, (struct value){"stages", NULL, r->stages});
    add(v, &n, (struct value){"variant", r->tuning.variant->name, 0});
    add(v, &n, (struct value){"kernels", ht_bench_kernel(r), 0});
    add(v, &n, (struct value){"precision", ht_bench_precision(r), 0});
    add(v, &n, (struct value){"medium", r->density ? "density" : "uniform", 0});
    add(v, &n, (struct value){"layout", ht_bench_layout(r), 0});
    add(v, &n, (struct value){"cells_per_group", NULL, r->shape.cells});
    add(v, &n, (struct value){"planes_per_group", NULL, r->shape.planes});
    add(v, &n, (struct value){"lanes", NULL, r->shape.group_size});
    add(v, &n, (struct value){"side", NULL, (double)r->side});
    add(v, &n, (struct value){"ms", NULL, r->done ? 1e3 * r->seconds : NAN});
    add(v, &n, (struct value){"ms_best", NULL, r->done ? 1e3 * r->best : NAN});
    add(v, &n, (struct value){"steps_timed", NULL, r->timed});
    add(v, &n, (struct value){"cell_half_steps_per_s", NULL, rate});
    add(v, &n, (struct value){"unknowns_per_s", NULL, unknowns * rate});
    add(v, &n, (struct value){"fma_per_cell", NULL, r->cost.fma});
    add(v, &n, (struct value){"bytes_per_cell", NULL, r->cost.bytes});
    add(v, &n, (struct value){"gflops", NULL, 2e-9 * r->cost.fma * rate});
    add(v, &n,
        (struct value){"gbytes_per_s", NULL, 1e-9 * r->cost.bytes * rate});
    add(v, &n,
        (struct value){"limit_fraction", NULL, r->done ? r->fraction : NAN});
    add(v, &n,
        (struct value){"joules_per_half_step", NULL,
                       r->done ? r->joules : NAN});
    add(v, &n,
        (struct value){"verified_ratio", NULL, r->done ? r->verified : NAN});
    add(v, &n,
        (struct value){"largest_cfl", NULL,
                       r->done ? ht_bench_largest_cfl(r) : NAN});
    add(v, &n, (struct value){"note", r->why, 0});
    return n;
}

/* Columns for CSV: JSON has the device and the like once for all rows. */
static int csv_columns_of(const struct ht_bench *bench,
                          const struct ht_bench_row *r, struct value *v) {
    const struct ht_limits *limits = &bench->limits[r->tuning.fp64];
    const struct ht_device_info *info = bench->info;
    int n = columns_of(r, v);
    add(v, &n, (struct value){"limit_gflops", NULL, 2e-9 * limits->fma_per_s});
    add(v, &n,
        (struct value){"limit_gbytes_per_s", NULL, 1e-9 * limits->bytes_per_s});
    add(v, &n, (struct value){"device", info->name, 0});
    add(v, &n, (struct value){"backend", info->backend, 0});
    add(v, &n, (struct value){"driver", info->driver, 0});
    add(v, &n, (struct value){"version", HT_VERSION, 0});
    return n;
}

static void add_csv(const struct ht_bench *bench, struct ht_text *text) {
    struct value v[COLUMNS];
    for (int i = 0; i < bench->count; i++) {
        int n = csv_columns_of(bench, &bench->row[i], v);
        for (int k = 0; i == 0 && k < n; k++)
            ht_text_add(text, "%s%s", v[k].name, k + 1 < n ? "," : "\n");
        for (int k = 0; k < n; k++) {
            if (v[k].text != NULL && strpbrk(v[k].text, ",\"\n") != NULL)
                ht_text_add_json(text, v[k].text);
            else if (v[k].text != NULL)
                ht_text_add(text, "%s", v[k].text);
            else if (isfinite(v[k].number))
                ht_text_add(text, "%.9g", v[k].number);
            ht_text_add(text, "%s", k + 1 < n ? "," : "\n");
        }
    }
}

static void add_limits(const struct ht_bench *bench, struct ht_json *json) {
    const struct ht_limits *limits = bench->limits;
    ht_json_open(json, "limits", '{');
    ht_json_number(json, "copy_bytes_per_s",
                   fmax(limits[0].bytes_per_s, limits[1].bytes_per_s));
    ht_json_number(json, "fma_single_per_s", limits[0].fma_per_s);
    if (limits[1].fma_per_s > 0)
        ht_json_number(json, "fma_double_per_s", limits[1].fma_per_s);
    ht_json_close(json, '}');
}

static void add_json(const struct ht_bench *bench, struct ht_json *json) {
    const struct ht_device_info *info = bench->info;
    char date[32] = "";
    time_t now = time(NULL);
    struct tm utc;
    if (gmtime_r(&now, &utc) != NULL)
        strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", &utc);
    ht_json_open(json, NULL, '{');
    ht_json_string(json, "htwave", HT_VERSION);
    ht_json_string(json, "date", date);
    ht_json_string(json, "device", info->name);
    ht_json_string(json, "driver", info->driver);
    ht_json_string(json, "platform", info->platform);
    ht_json_string(json, "backend", info->backend);
    add_limits(bench, json);
    ht_json_integer(json, "left_out", bench->left_out);
    ht_json_open(json, "rows", '[');
    for (int i = 0; i < bench->count; i++) {
        struct value v[COLUMNS];
        int n = columns_of(&bench->row[i], v);
        ht_json_open(json, NULL, '{');
        for (int k = 0; k < n; k++)
            if (v[k].text == NULL)
                ht_json_number(json, v[k].name, v[k].number);
            else if (*v[k].text != '\0')
                ht_json_string(json, v[k].name, v[k].text);
        ht_json_close(json, '}');
    }
    ht_json_close(json, ']');
    ht_json_close(json, '}');
    ht_json_end(json);
}

static enum ht_err write_text(const struct ht_bench *bench, const char *name,
                              const struct ht_text *text) {
    char *path = NULL;
    TRY(ht_text_status(text));
    TRY(ht_bench_path(bench, name, &path));
    enum ht_err err = ht_file_write(path, text->data, text->length);
    free(path);
    return err;
}

enum ht_err ht_bench_write(const struct ht_bench *bench) {
    struct ht_text csv = {0};
    struct ht_json json = {0};
    if (bench->count > 0) add_csv(bench, &csv);
    add_json(bench, &json);
    enum ht_err err = write_text(bench, "bench.json", &json.text);
    if (err == HT_OK && bench->count > 0)
        err = write_text(bench, "bench.csv", &csv);
    if (err == HT_OK && bench->csv) err = ht_args_print(&csv);
    if (err == HT_OK && bench->json) err = ht_args_print(&json.text);
    ht_text_free(&csv);
    ht_text_free(&json.text);
    return err;
}
