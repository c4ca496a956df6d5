/* The results of the case accuracy: a file of all runs and a table. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "accuracy.h"

/* ---- the front ---- */

static bool beaten(int count, const struct ht_accuracy_point *point, int n) {
    for (int i = 0; i < count; i++)
        if (point[i].seconds <= point[n].seconds &&
            point[i].error <= point[n].error &&
            (point[i].seconds < point[n].seconds ||
             point[i].error < point[n].error || i < n))
            return true;
    return false;
}

int ht_accuracy_front(int count, const struct ht_accuracy_point *point,
                      int front[]) {
    int n = 0;
    for (int i = 0; i < count; i++) {
        if (beaten(count, point, i)) continue;
        int at = n++;
        for (; at > 0 && point[front[at - 1]].seconds > point[i].seconds; at--)
            front[at] = front[at - 1];
        front[at] = i;
    }
    return n;
}

double ht_accuracy_seconds(const struct ht_accuracy_curve *curve,
                           double error) {
    const double near = 1 + 1e-9; /* errors that are powers of ten */
    int front[HT_ACCURACY_POINTS];
    int count = ht_accuracy_front(curve->count, curve->point, front);
    for (int n = 0; n < count; n++) {
        const struct ht_accuracy_point *b = &curve->point[front[n]];
        if (b->error > near * error) continue;
        if (n == 0) return b->seconds;
        const struct ht_accuracy_point *a = &curve->point[front[n - 1]];
        double part = log(a->error / error) / log(a->error / b->error);
        return a->seconds * pow(b->seconds / a->seconds, fmin(part, 1));
    }
    return NAN;
}

/* ---- names ---- */

enum { NAME = 64 };

static void name_fd(const struct ht_accuracy_curve *c, char name[NAME]) {
    snprintf(name, NAME, "FD %d, %d in time%s", c->order, c->time_order,
             c->best ? ", 12 B/point" : "");
}

static void name_method(const struct ht_bench_row *row, char name[NAME]) {
    snprintf(name, NAME, "%s %s", row->system->name, row->scheme->name);
}

/* ---- the file ---- */

static void add_curve_csv(const struct ht_accuracy *a,
                          const struct ht_accuracy_curve *c,
                          struct ht_text *text) {
    char name[NAME];
    if (c->row == NULL)
        for (int n = 0; n < c->count; n++)
            ht_text_add(text,
                        "finite differences,order %d in time,%d,single,%s,"
                        "worst,%.6g,%.6g,%.6g,%.6g,%d,\"%s\"\n",
                        c->time_order, c->order,
                        c->best ? "12 bytes per point" : "plain",
                        c->point[n].points, c->point[n].error,
                        c->point[n].error, c->point[n].seconds, a->dims,
                        a->bench->info->name);
    if (c->row == NULL) return;
    snprintf(name, sizeof name, "%s,%s", c->row->system->name,
             c->row->scheme->name);
    for (int n = 0; n < c->count; n++)
        for (int d = 0; d < c->point[n].directions; d++) {
            ht_text_add(text, "%s,%d,%s,%s,\"%s\",%.6g,%.6g,", name, c->order,
                        ht_bench_precision(c->row),
                        c->row->tuning.variant->name, a->direction[d],
                        c->point[n].along[d].points,
                        c->point[n].along[d].error);
            if (c->point[n].along[d].expected > 0)
                ht_text_add(text, "%.6g", c->point[n].along[d].expected);
            ht_text_add(text, ",%.6g,%d,\"%s\"\n", c->point[n].seconds, a->dims,
                        a->bench->info->name);
        }
}

static enum ht_err write_csv(const struct ht_accuracy *a) {
    struct ht_text text = {0};
    char *path = NULL;
    ht_text_add(&text, "method,scheme,order,precision,variant,direction,"
                       "cells_per_wavelength,error,expected_error,"
                       "seconds_per_cubic_wavelength_and_period,"
                       "dimensions,device\n");
    for (int i = 0; i < a->count; i++) add_curve_csv(a, &a->curve[i], &text);
    enum ht_err err = ht_text_status(&text);
    if (err == HT_OK) err = ht_bench_path(a->bench, "accuracy.csv", &path);
    if (err == HT_OK) err = ht_file_write(path, text.data, text.length);
    free(path);
    ht_text_free(&text);
    return err;
}

/* ---- the table ---- */

static bool same_method(const struct ht_accuracy_curve *c,
                        const struct ht_bench_row *row) {
    return c->row != NULL && c->row->system == row->system &&
           c->row->scheme == row->scheme;
}

enum { FIRST = 2, LAST = 8 }; /* errors 1e-2 .. 1e-8 */

static void print_head(const struct ht_accuracy *a, struct ht_text *text) {
    ht_text_add(text,
                "%s: device seconds per cubic wavelength and period for a "
                "relative error after 100 wavelengths of\n%-30s",
                a->bench->info->name, "");
    for (int decade = FIRST; decade <= LAST; decade++)
        ht_text_add(text, "      1e-%d", decade);
    ht_text_add(text, "\n");
}

/* Prints a row: of one curve or, if the second is not NULL, of the cheaper one
 * of two curves of the same N. */
static void print_row(const char *name, const struct ht_accuracy_curve *c,
                      const struct ht_accuracy_curve *other,
                      struct ht_text *text) {
    ht_text_add(text, "%-30s", name);
    for (int decade = FIRST; decade <= LAST; decade++) {
        double error = pow(10, -decade), best = ht_accuracy_seconds(c, error);
        bool single = c->row != NULL && !c->row->tuning.fp64;
        double also = other != NULL ? ht_accuracy_seconds(other, error) : NAN;
        if (isfinite(also) && !(best <= also)) {
            best = also;
            single = !other->row->tuning.fp64;
        }
        if (isfinite(best))
            ht_text_add(text, " %8.2g%s", best, single ? "*" : " ");
        else
            ht_text_add(text, " %8s ", "-");
    }
    ht_text_add(text, "\n");
}

/* The curve of the same method and N in the other precision, or NULL. */
static const struct ht_accuracy_curve *
other_precision(const struct ht_accuracy *a, int i) {
    for (int k = 0; k < a->count; k++)
        if (k != i && a->curve[i].row != NULL &&
            same_method(&a->curve[k], a->curve[i].row) &&
            a->curve[k].order == a->curve[i].order)
            return &a->curve[k];
    return NULL;
}

static enum ht_err print_table(const struct ht_accuracy *a) {
    struct ht_text text = {0};
    char name[NAME];
    print_head(a, &text);
    for (int i = 0; i < a->count; i++) {
        const struct ht_accuracy_curve *c = &a->curve[i];
        const struct ht_accuracy_curve *other = other_precision(a, i);
        if (other != NULL && other < c) continue;
        name_fd(c, name);
        if (c->row != NULL) {
            name_method(c->row, name);
            size_t used = strlen(name);
            snprintf(name + used, sizeof name - used, " N = %d", c->order);
        }
        print_row(name, c, other, &text);
    }
    ht_text_add(&text,
                "* in single precision; - not reached. FD ORDER, TIME ORDER: "
                "finite differences, errors by\nanalysis and without rounding; "
                "plain kernels in single precision, and what 12 bytes per "
                "point\nand step at the copy bandwidth would take.\n");
    enum ht_err err = ht_args_print(&text);
    ht_text_free(&text);
    return err;
}

enum ht_err ht_accuracy_show(const struct ht_accuracy *accuracy) {
    const struct ht_bench *bench = accuracy->bench;
    TRY(write_csv(accuracy));
    return bench->csv || bench->json ? HT_OK : print_table(accuracy);
}
