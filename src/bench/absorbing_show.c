/* The results of the case absorbing: a file of all rows and tables in Markdown.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "open_sides.h"

static double cells_of(const struct ht_open_sides *all, int side) {
    return pow(side, all->dims);
}

double ht_open_share(const struct ht_open_sides *all,
                     const struct ht_open_row *row) {
    return cells_of(all, row->inside + 2 * row->layer) /
           cells_of(all, row->inside);
}

/* Cells per second, those of layers included. */
static double rate_of(const struct ht_open_sides *all,
                      const struct ht_open_row *row) {
    return cells_of(all, row->inside + 2 * row->layer) / row->seconds;
}

static double effective(const struct ht_open_sides *all,
                        const struct ht_open_row *row) {
    return cells_of(all, row->inside) / row->seconds;
}

/* ---- the file ---- */

/* Nothing where a number is not known. */
static void add_number(double value, struct ht_text *text) {
    if (isfinite(value))
        ht_text_add(text, ",%.6g", value);
    else
        ht_text_add(text, ",");
}

static enum ht_err write_csv(const struct ht_open_sides *all) {
    const struct ht_device_info *info = all->bench->info;
    struct ht_text text = {0};
    char *path = NULL;
    ht_text_add(&text, "sweep,scheme,order,organisation,precision,dimensions,"
                       "domain,layer,ms,cells_per_s,effective_cells_per_s,"
                       "time_ratio,cells_ratio,layer_bytes,energy_left,"
                       "verified_ratio,device,backend,driver,version\n");
    for (int i = 0; i < all->count; i++) {
        const struct ht_open_row *row = &all->row[i];
        ht_text_add(&text, "%s,%s,%d,%s,%s,%d,%d,%d", row->sweep,
                    row->scheme->name, row->order, row->organisation,
                    all->fp64 ? "double" : "single", all->dims, row->inside,
                    row->layer);
        add_number(1e3 * row->seconds, &text);
        add_number(rate_of(all, row), &text);
        add_number(effective(all, row), &text);
        add_number(row->seconds / row->walls, &text);
        add_number(ht_open_share(all, row), &text);
        add_number(row->bytes, &text);
        add_number(row->left, &text);
        add_number(row->difference, &text);
        ht_text_add(&text, ",\"%s\",%s,\"%s\",%s\n", info->name, info->backend,
                    info->driver, HT_VERSION);
    }
    enum ht_err err = ht_text_status(&text);
    if (err == HT_OK) err = ht_bench_path(all->bench, "absorbing.csv", &path);
    if (err == HT_OK) err = ht_file_write(path, text.data, text.length);
    free(path);
    ht_text_free(&text);
    return err;
}

/* ---- tables ---- */

static void add_head(const struct ht_open_sides *all,
                     const struct ht_open_row *row, struct ht_text *text) {
    const bool fd = row->scheme->method == HT_FINITE_DIFFERENCES;
    ht_text_add(
        text,
        "**%s, %s %d**, %d-D, %s precision, %s: %s\n\n| cells inside | layer | "
        "organisation | ms per step | Mcells/s | effective | time over walls | "
        "cells over walls | of layers | energy left |\n|---|---|---|---|---|"
        "---|---|---|---|---|\n",
        row->scheme->name, fd ? "order" : "N =", row->order, all->dims,
        all->fp64 ? "double" : "single", all->bench->info->name,
        strcmp(row->sweep, "domain") == 0 ? "growing domain"
                                          : "growing thickness");
}

static void add_row(const struct ht_open_sides *all,
                    const struct ht_open_row *row, struct ht_text *text) {
    const double ratio = row->seconds / row->walls;
    char bytes[32];
    ht_text_add(text, "| %d^%d | %d | %s | %.4g | %.4g | %.4g |", row->inside,
                all->dims, row->layer, row->organisation, 1e3 * row->seconds,
                1e-6 * rate_of(all, row), 1e-6 * effective(all, row));
    if (row->layer == 0) {
        ht_text_add(text, " | | | |\n");
        return;
    }
    if (isfinite(ratio))
        ht_text_add(text, " %.3g |", ratio);
    else
        ht_text_add(text, " |");
    ht_text_add(text, " %.3g | %s | %.1e |\n", ht_open_share(all, row),
                ht_text_bytes(row->bytes, bytes), row->left);
}

static bool same_table(const struct ht_open_row *a,
                       const struct ht_open_row *b) {
    return strcmp(a->sweep, b->sweep) == 0 && a->scheme == b->scheme &&
           a->order == b->order;
}

static enum ht_err write_tables(const struct ht_open_sides *all,
                                struct ht_text *text) {
    char *path = NULL;
    for (int i = 0; i < all->count; i++) {
        const struct ht_open_row *row = &all->row[i];
        if (i == 0 || !same_table(row - 1, row)) {
            ht_text_add(text, i > 0 ? "\n" : "");
            add_head(all, row, text);
        }
        add_row(all, row, text);
    }
    TRY(ht_text_status(text));
    TRY(ht_bench_path(all->bench, "absorbing.md", &path));
    enum ht_err err = ht_file_write(path, text->data, text->length);
    free(path);
    return err;
}

enum ht_err ht_open_show(const struct ht_open_sides *all) {
    struct ht_text text = {0};
    enum ht_err err = write_csv(all);
    if (err == HT_OK) err = write_tables(all, &text);
    if (err == HT_OK && !all->bench->csv && !all->bench->json)
        err = ht_args_print(&text);
    ht_text_free(&text);
    return err;
}
