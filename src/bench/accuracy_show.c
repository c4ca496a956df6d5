/* The results of the case accuracy: a file of all runs and tables in Markdown.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "accuracy.h"

static bool differences(const struct ht_bench_row *row) {
    return row->scheme->method == HT_FINITE_DIFFERENCES;
}

/* ---- the file ---- */

static void add_number(double value, struct ht_text *text) {
    if (isfinite(value)) ht_text_add(text, "%.6g", value);
    ht_text_add(text, ",");
}

static void add_run(const struct ht_accuracy *a,
                    const struct ht_accuracy_method *m,
                    const struct ht_accuracy_grid *grid, int way, int length,
                    struct ht_text *text) {
    const struct ht_bench_row *row = m->row;
    const struct ht_accuracy_cost cost = ht_accuracy_cost(m, grid);
    ht_text_add(text, "%s,%s,%d,%d,%s,%s,%d,\"%s\",", row->system->name,
                row->scheme->name, row->order,
                differences(row) ? row->stages : 0, ht_bench_precision(row),
                row->tuning.variant->name, ht_accuracy_length[length],
                ht_accuracy_way(a->dims, way));
    add_number(grid->cells[way], text);
    add_number(grid->asked.cells, text);
    add_number(grid->asked.cfl, text);
    add_number(grid->error[way][length], text);
    add_number(length == grid->lengths - 1 && grid->expected[way] > 0
                   ? grid->expected[way]
                   : NAN,
               text);
    add_number(cost.seconds, text);
    add_number(cost.joules, text);
    add_number(cost.bytes, text);
    ht_text_add(text, "%d,\"%s\"\n", a->dims, a->bench->info->name);
}

static enum ht_err write_csv(const struct ht_accuracy *a) {
    struct ht_text text = {0};
    char *path = NULL;
    ht_text_add(&text,
                "method,scheme,order,terms,precision,variant,wavelengths,"
                "direction,cells_per_wavelength,grid,cfl,error,expected_error,"
                "seconds_per_cubic_wavelength_and_period,"
                "joules_per_cubic_wavelength_and_period,"
                "bytes_per_cubic_wavelength_and_period,dimensions,device\n");
    for (int i = 0; i < a->count; i++)
        for (int g = 0; g < a->method[i].count; g++) {
            const struct ht_accuracy_grid *grid = &a->method[i].grid[g];
            for (int way = 0; way < grid->ways; way++)
                for (int length = 0; length < grid->lengths; length++)
                    add_run(a, &a->method[i], grid, way, length, &text);
        }
    enum ht_err err = ht_text_status(&text);
    if (err == HT_OK) err = ht_bench_path(a->bench, "accuracy.csv", &path);
    if (err == HT_OK) err = ht_file_write(path, text.data, text.length);
    free(path);
    ht_text_free(&text);
    return err;
}

/* ---- tables ---- */

enum { NAME = 64 };

/* "wave, leapfrog"; finite differences step either system: "fd, 2 terms". */
static void name_scheme(const struct ht_bench_row *row, char name[NAME]) {
    if (differences(row))
        snprintf(name, NAME, "fd, %d term%s", row->stages,
                 row->stages > 1 ? "s" : "");
    else
        snprintf(name, NAME, "%s, %s", row->system->name, row->scheme->name);
}

static void name_order(const struct ht_bench_row *row, char name[NAME]) {
    name_scheme(row, name);
    const size_t used = strlen(name);
    snprintf(name + used, NAME - used,
             differences(row) ? ", order %d" : ", N = %d", row->order);
}

static bool same(const struct ht_bench_row *a, const struct ht_bench_row *b,
                 bool orders) {
    return a->system == b->system && a->scheme == b->scheme &&
           (!differences(a) || a->stages == b->stages) &&
           (!orders || a->order == b->order);
}

struct best {
    const struct ht_accuracy_method *method;
    const struct ht_accuracy_grid *grid; /* NULL: not reached */
    struct ht_accuracy_cost cost;
};

/* Of the methods with the scheme of `like` (NULL: of any), of its order, too,
 * if `orders`, in either precision. */
static struct best find_best(const struct ht_accuracy *a,
                             const struct ht_bench_row *like, bool orders,
                             int length, double error) {
    struct best best = {.cost = {.seconds = INFINITY}};
    for (int i = 0; i < a->count; i++) {
        const struct ht_accuracy_method *m = &a->method[i];
        if (like != NULL && !same(m->row, like, orders)) continue;
        const struct ht_accuracy_grid *grid =
            ht_accuracy_cheapest(m, length, error);
        if (grid == NULL) continue;
        const struct ht_accuracy_cost cost = ht_accuracy_cost(m, grid);
        if (cost.seconds < best.cost.seconds)
            best = (struct best){m, grid, cost};
    }
    return best;
}

static void add_cell(const struct best *best, bool orders,
                     struct ht_text *text) {
    if (best->grid == NULL) {
        ht_text_add(text, " - |");
        return;
    }
    const struct ht_bench_row *row = best->method->row;
    ht_text_add(text, " %.2g%s", best->cost.seconds,
                row->tuning.fp64 ? "" : "\\*");
    if (orders)
        ht_text_add(text, ", %.3g", best->grid->asked.cells);
    else
        ht_text_add(text, ", %s%d, %.3g",
                    differences(row) ? "order " : "N = ", row->order,
                    best->grid->asked.cells);
    ht_text_add(text, " |");
}

static void add_row(const struct ht_accuracy *a, const struct ht_bench_row *row,
                    bool orders, int length, struct ht_text *text) {
    char name[NAME];
    if (orders)
        name_order(row, name);
    else
        name_scheme(row, name);
    ht_text_add(text, "| %s |", name);
    for (int t = 0; t < HT_ACCURACY_TARGETS; t++) {
        const struct best best =
            find_best(a, row, orders, length, ht_accuracy_target(t));
        add_cell(&best, orders, text);
    }
    ht_text_add(text, "\n");
}

/* What the cheapest of all is, and its energy and traffic. */
static void add_cheapest(const struct ht_accuracy *a, int length,
                         struct ht_text *text) {
    ht_text_add(text, "| cheapest |");
    for (int t = 0; t < HT_ACCURACY_TARGETS; t++) {
        const struct best best =
            find_best(a, NULL, false, length, ht_accuracy_target(t));
        char name[NAME] = "-";
        if (best.grid != NULL) name_order(best.method->row, name);
        ht_text_add(text, " %s", name);
        if (best.grid != NULL && isfinite(best.cost.joules))
            ht_text_add(text, "; %.2g J", best.cost.joules);
        if (best.grid != NULL) ht_text_add(text, "; %.2g B", best.cost.bytes);
        ht_text_add(text, " |");
    }
    ht_text_add(text, "\n");
}

static void add_head(const char *title, struct ht_text *text) {
    ht_text_add(text, "| %s |", title);
    for (int t = 0; t < HT_ACCURACY_TARGETS; t++)
        ht_text_add(text, " 1e-%d |", 2 + t);
    ht_text_add(text, "\n|---|");
    for (int t = 0; t < HT_ACCURACY_TARGETS; t++) ht_text_add(text, "---|");
    ht_text_add(text, "\n");
}

/* A row for the first method of each kind. */
static void add_table(const struct ht_accuracy *a, bool orders, int length,
                      struct ht_text *text) {
    add_head(orders ? "each order" : "scheme", text);
    for (int i = 0; i < a->count; i++) {
        bool first = true;
        for (int k = 0; k < i; k++)
            first &= !same(a->method[k].row, a->method[i].row, orders);
        if (first) add_row(a, a->method[i].row, orders, length, text);
    }
    if (!orders) add_cheapest(a, length, text);
    ht_text_add(text, "\n");
}

static void add_tables(const struct ht_accuracy *a, struct ht_text *text) {
    ht_text_add(text,
                "%s: device seconds per cubic wavelength and period, order and "
                "cells per wavelength for a relative error. Runs of plane "
                "waves in %d-D along %s, %s and %s, the worst of them; the "
                "rates are those of large boxes in 3-D. \\* in single "
                "precision; - not reached, or by runs that would take too "
                "long.\n\n",
                a->bench->info->name, a->dims, ht_accuracy_way(a->dims, 0),
                ht_accuracy_way(a->dims, 1), ht_accuracy_way(a->dims, 2));
    for (int orders = 0; orders < 2; orders++)
        for (int length = HT_ACCURACY_LENGTHS - 1; length >= 0; length--) {
            ht_text_add(text, "After %d wavelengths:\n\n",
                        ht_accuracy_length[length]);
            add_table(a, orders, length, text);
        }
}

static enum ht_err write_tables(const struct ht_accuracy *a,
                                struct ht_text *text) {
    char *path = NULL;
    add_tables(a, text);
    TRY(ht_text_status(text));
    TRY(ht_bench_path(a->bench, "accuracy.md", &path));
    enum ht_err err = ht_file_write(path, text->data, text->length);
    free(path);
    return err;
}

enum ht_err ht_accuracy_show(const struct ht_accuracy *accuracy) {
    const struct ht_bench *bench = accuracy->bench;
    struct ht_text text = {0};
    enum ht_err err = write_csv(accuracy);
    if (err == HT_OK) err = write_tables(accuracy, &text);
    if (err == HT_OK && !bench->csv && !bench->json) err = ht_args_print(&text);
    ht_text_free(&text);
    return err;
}
