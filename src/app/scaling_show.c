/* Tables and a picture of measured scaling. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "htwave/chart.h"
#include "scaling.h"

/* ---- words ---- */

static bool is_weak(const struct ht_scaling_row *row) {
    return strcmp(row->kind, "weak") == 0;
}

/* Rows that belong to one line of the picture. */
static bool one_line(const struct ht_scaling_row *a,
                     const struct ht_scaling_row *b) {
    bool weak = is_weak(a);
    double planes_a = weak ? a->planes / a->ranks : a->planes;
    double planes_b = weak ? b->planes / b->ranks : b->planes;
    return strcmp(a->kind, b->kind) == 0 && planes_a == planes_b &&
           ht_scaling_same(a, b);
}

/* ---- table ---- */

/* Of the column of transports, of which a row may name several. */
static int width_of(const struct ht_scaling *table) {
    int width = sizeof "staged" - 1;
    for (int i = 0; i < table->count; i++) {
        int length = (int)strlen(table->row[i].transport);
        if (length > width) width = length;
    }
    return width;
}

static void add_head(int width, struct ht_text *text) {
    ht_text_add(text,
                "%-6s %-8s %-8s %-6s %2s %5s %15s %5s %-*s %9s %9s %9s %9s "
                "%9s %6s %8s %10s\n",
                "kind", "system", "scheme", "prec.", "N", "ranks", "cells",
                "depth", width, "by", "ms/step", "interior", "boundary", "pack",
                "exposed", "eff.", "messages", "bytes/step");
}

static void add_row(const struct ht_scaling *table,
                    const struct ht_scaling_row *row, int width,
                    struct ht_text *text) {
    double efficiency = ht_scaling_efficiency(table, row);
    char cells[48], percent[16] = "-";
    snprintf(cells, sizeof cells, "%.0f^2 x %.0f", row->side, row->planes);
    if (isfinite(efficiency))
        snprintf(percent, sizeof percent, "%.1f%%", 100 * efficiency);
    ht_text_add(text,
                "%-6s %-8s %-8s %-6s %2.0f %5.0f %15s %5.0f %-*s %9.4g %9.4g "
                "%9.4g %9.4g %9.4g %6s %8.3g %10.4g\n",
                row->kind, row->system, row->scheme, row->precision, row->order,
                row->ranks, cells, row->depth, width, row->transport, row->ms,
                row->interior_ms, row->boundary_ms, row->pack_ms,
                row->exposed_ms, percent, row->messages, row->bytes);
}

/* What a slab sends by either method, for a row of several ranks. */
static enum ht_err add_sent(const struct ht_scaling_row *row,
                            struct ht_text *text) {
    const struct ht_system *system = ht_system_find(row->system);
    struct ht_sample sample;
    if (system == NULL || row->ranks == 1) return HT_OK;
    const struct ht_equations eq = ht_equations_make(system, 3);
    TRY(ht_scaling_sample(row, &eq, &sample));
    bool fp64 = strcmp(row->precision, "double") == 0;
    struct ht_sent here = ht_sent_here(&sample.problem, fp64);
    struct ht_sent dg = ht_sent_dg(&sample.problem, fp64);
    /* unit cells and speeds: dt is the step in crossings of a cell */
    double steps = sample.problem.dt / ht_dg_step((int)row->order);
    ht_text_add(text,
                "%s, %s, N = %.0f, %s, %.0f^2 cells, depth %.0f: a slab sends "
                "%.3g messages of %.4g bytes in all per step, counted;\n  "
                "nodal dG of degree %.0f: %.0f messages, %.4g bytes per step, "
                "and %.3g steps for one: %.3g times the bytes\n",
                row->system, row->scheme, row->order, row->precision, row->side,
                row->depth, here.messages, here.bytes, 2 * row->order + 1,
                dg.messages, dg.bytes, steps, dg.bytes * steps / here.bytes);
    return HT_OK;
}

static bool sent_before(const struct ht_scaling *table, int index) {
    const struct ht_scaling_row *row = &table->row[index];
    for (int i = 0; i < index; i++) {
        const struct ht_scaling_row *other = &table->row[i];
        if (other->ranks > 1 && ht_scaling_same(other, row) &&
            other->depth == row->depth && strcmp(other->halo, row->halo) == 0)
            return true;
    }
    return false;
}

static enum ht_err print_table(const struct ht_scaling *table) {
    struct ht_text text = {0};
    enum ht_err err = HT_OK;
    const int width = width_of(table);
    add_head(width, &text);
    for (int i = 0; i < table->count; i++)
        add_row(table, &table->row[i], width, &text);
    for (int i = 0; err == HT_OK && i < table->count; i++)
        if (!sent_before(table, i)) err = add_sent(&table->row[i], &text);
    if (err == HT_OK) err = ht_args_print(&text);
    ht_text_free(&text);
    return err;
}

/* ---- picture ---- */

enum { LINES = 24, POINTS = 16, NAME = 128 };

struct lines {
    int count;
    struct ht_series series[LINES];
    double x[LINES][POINTS], y[LINES][POINTS];
    char name[LINES][NAME];
    const struct ht_scaling_row *of[LINES];
};

/* The line of a row with an efficiency, made when there is none; -1: there are
 * too many. */
static int line_of(struct lines *l, const struct ht_scaling_row *row) {
    int i = 0;
    while (i < l->count &&
           !(one_line(l->of[i], row) && l->of[i]->depth == row->depth &&
             strcmp(l->of[i]->halo, row->halo) == 0))
        i++;
    if (i == LINES) return -1;
    if (i < l->count) return i;
    l->of[i] = row;
    snprintf(l->name[i], NAME, "%.6s %.12s %.8s N = %.0f %.6s, %.0f^2",
             row->kind, row->system, row->scheme, row->order, row->precision,
             row->side);
    if (row->depth > 1)
        snprintf(l->name[i] + strlen(l->name[i]), NAME - strlen(l->name[i]),
                 ", depth %.0f", row->depth);
    l->series[i] = (struct ht_series){.name = l->name[i],
                                      .x = l->x[i],
                                      .y = l->y[i],
                                      .colour = i,
                                      .marker = HT_MARKER_DISC,
                                      .hollow = !is_weak(row),
                                      .line = true,
                                      .dashed = !is_weak(row)};
    return l->count++;
}

/* Points in the order of ranks, on the line of a row; a later one of as many
 * ranks replaces the earlier one. */
static void add_point(struct lines *l, const struct ht_scaling_row *row,
                      double ranks, double percent) {
    int line = line_of(l, row);
    if (line < 0) return;
    struct ht_series *s = &l->series[line];
    double *x = l->x[line], *y = l->y[line];
    int at = 0;
    while (at < s->count && x[at] < ranks) at++;
    if (at == s->count || x[at] != ranks) {
        if (s->count == POINTS) return;
        for (int i = s->count++; i > at; i--) {
            x[i] = x[i - 1];
            y[i] = y[i - 1];
        }
    }
    x[at] = ranks;
    y[at] = percent;
}

static enum ht_err draw(const struct ht_scaling *table, const char *directory) {
    struct lines *l = NULL;
    struct ht_text path = {0};
    TRY(HT_ALLOC(l, 1));
    for (int i = 0; i < table->count; i++) {
        const struct ht_scaling_row *row = &table->row[i];
        double efficiency = ht_scaling_efficiency(table, row);
        if (row->ranks == 1 || !isfinite(efficiency)) continue;
        add_point(l, row, 1, 100);
        add_point(l, row, row->ranks, 100 * efficiency);
    }
    const struct ht_chart chart = {
        .title = "Parallel efficiency",
        .subtitle = table->row[table->count - 1].device,
        .x = {.label = "ranks", .log = true},
        .y = {.label = "% of one rank's rate, per rank", .high = 110},
        .nseries = l->count,
        .series = l->series};
    ht_text_add(&path, "%s/scaling.png", directory);
    enum ht_err err = ht_text_status(&path);
    if (err == HT_OK && l->count > 0) err = ht_chart_write(&chart, path.data);
    ht_text_free(&path);
    free(l);
    return err;
}

enum ht_err ht_scaling_show(const struct ht_scaling *table,
                            const char *directory, bool print) {
    if (print) TRY(print_table(table));
    return draw(table, directory);
}
