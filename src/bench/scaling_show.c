/* The table of measured scaling. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "htwave/args.h"
#include "htwave/scaling.h"

/* Width of the column of transports; a row may name several. */
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
                "%-6s %-8s %-8s %-6s %5s %5s %15s %5s %-*s %9s %9s %9s %9s "
                "%9s %6s %8s %10s\n",
                "kind", "system", "scheme", "prec.", "order", "ranks", "cells",
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
                "%-6s %-8s %-8s %-6s %5.0f %5.0f %15s %5.0f %-*s %9.4g %9.4g "
                "%9.4g %9.4g %9.4g %6s %8.3g %10.4g\n",
                row->kind, row->system, row->scheme, row->precision, row->order,
                row->ranks, cells, row->depth, width, row->transport, row->ms,
                row->interior_ms, row->boundary_ms, row->pack_ms,
                row->exposed_ms, percent, row->messages, row->bytes);
}

/* Beside the messages of a slab those of dG with the same cells. */
static void add_dg(const struct ht_scaling_row *row, const struct ht_part *test,
                   const struct ht_sent *here, struct ht_text *text) {
    const struct ht_sent dg =
        ht_sent_dg(&test->problem, strcmp(row->precision, "double") == 0);
    /* with unit cells and speeds dt is the step in crossings of a cell */
    const double steps = test->problem.dt / ht_dg_step((int)row->order);
    ht_text_add(text,
                ";\n  nodal dG of degree %.0f: %.0f messages, %.4g bytes per "
                "step, and %.3g steps for one: %.3g times the bytes",
                2 * row->order + 1, dg.messages, dg.bytes, steps,
                dg.bytes * steps / here->bytes);
}

/* Messages of a slab, for a row of several ranks. */
static enum ht_err add_sent(const struct ht_scaling_row *row,
                            struct ht_text *text) {
    const struct ht_system *system = ht_system_find(row->system);
    struct ht_part test;
    if (system == NULL || row->ranks == 1) return HT_OK;
    const struct ht_equations eq = ht_equations_make(system, 3);
    TRY(ht_scaling_problem(row, &eq, &test));
    bool fp64 = strcmp(row->precision, "double") == 0;
    const bool fd = test.problem.fd.order > 0;
    const struct ht_sent here = ht_sent_here(&test.problem, fp64);
    ht_text_add(text, "%s, %s, %s %.0f", row->system, row->scheme,
                fd ? "order" : "N =", row->order);
    if (fd)
        ht_text_add(text, ", %.0f term%s", row->stages,
                    row->stages > 1 ? "s" : "");
    ht_text_add(text,
                ", %s, %.0f^2 cells, depth %.0f: a slab sends %.3g messages of "
                "%.4g bytes in all per step, counted",
                row->precision, row->side, row->depth, here.messages,
                here.bytes);
    if (!fd) add_dg(row, &test, &here, text);
    ht_text_add(text, "\n");
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

enum ht_err ht_scaling_show(const struct ht_scaling *table) {
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
