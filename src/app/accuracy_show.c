/* The results of the case accuracy: a file of all runs, pictures, a table. */
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

static void name_fd(const struct ht_accuracy_curve *c,
                    char name[HT_BENCH_NAME]) {
    snprintf(name, HT_BENCH_NAME, "FD %d, %d in time%s", c->order,
             c->time_order, c->best ? ", 12 B/point" : "");
}

static void name_method(const struct ht_bench_row *row,
                        char name[HT_BENCH_NAME]) {
    snprintf(name, HT_BENCH_NAME, "%s %s", row->system->name,
             row->scheme->name);
}

/* ---- the file ---- */

static void add_curve_csv(const struct ht_accuracy *a,
                          const struct ht_accuracy_curve *c,
                          struct ht_text *text) {
    char name[HT_BENCH_NAME];
    if (c->row == NULL)
        for (int n = 0; n < c->count; n++)
            ht_text_add(text,
                        "finite differences,order %d in time,%d,single,%s,"
                        "worst,%.6g,%.6g,%.6g,%.6g\n",
                        c->time_order, c->order,
                        c->best ? "12 bytes per point" : "plain",
                        c->point[n].points, c->point[n].error,
                        c->point[n].error, c->point[n].seconds);
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
            ht_text_add(text, ",%.6g\n", c->point[n].seconds);
        }
}

static enum ht_err write_csv(const struct ht_accuracy *a) {
    struct ht_text text = {0};
    char *path = NULL;
    ht_text_add(&text, "method,scheme,order,precision,variant,direction,"
                       "cells_per_wavelength,error,expected_error,"
                       "seconds_per_cubic_wavelength_and_period\n");
    for (int i = 0; i < a->count; i++) add_curve_csv(a, &a->curve[i], &text);
    enum ht_err err = ht_text_status(&text);
    if (err == HT_OK) err = ht_bench_path(a->bench, "accuracy.csv", &path);
    if (err == HT_OK) err = ht_file_write(path, text.data, text.length);
    free(path);
    ht_text_free(&text);
    return err;
}

/* ---- pictures ---- */

static bool same_method(const struct ht_accuracy_curve *c,
                        const struct ht_bench_row *row) {
    return c->row != NULL && c->row->system == row->system &&
           c->row->scheme == row->scheme;
}

/* The first curve of a system and a scheme? */
static bool begins_method(const struct ht_accuracy *a, int i) {
    if (a->curve[i].row == NULL) return false;
    for (int k = 0; k < i; k++)
        if (same_method(&a->curve[k], a->curve[i].row)) return false;
    return true;
}

/* Lines of a picture, with room for all that they point to. */
struct sheet {
    const struct ht_accuracy *a;
    int lines, points;
    struct ht_series *series;
    char (*name)[HT_BENCH_NAME];
    double *x, *y;
    const char **label;
    char (*text)[12];
    /* for one line: its points and the curves that they are from */
    int count;
    struct ht_accuracy_point *point;
    int *of, *front;
};

static enum ht_err sheet_create(const struct ht_accuracy *a, struct sheet *s) {
    const int points = a->count * HT_ACCURACY_POINTS + 1;
    *s = (struct sheet){.a = a};
    TRY(HT_ALLOC(s->series, a->count + 1));
    TRY(HT_ALLOC(s->name, a->count + 1));
    TRY(HT_ALLOC(s->x, points));
    TRY(HT_ALLOC(s->y, points));
    TRY(HT_ALLOC(s->label, points));
    TRY(HT_ALLOC(s->text, points));
    TRY(HT_ALLOC(s->point, points));
    TRY(HT_ALLOC(s->of, points));
    return HT_ALLOC(s->front, points);
}

static void sheet_destroy(struct sheet *s) {
    free(s->series);
    free(s->name);
    free(s->x);
    free(s->y);
    free(s->label);
    free(s->text);
    free(s->point);
    free(s->of);
    free(s->front);
}

static void gather(struct sheet *s, int curve) {
    const struct ht_accuracy_curve *c = &s->a->curve[curve];
    for (int n = 0; n < c->count; n++, s->count++) {
        s->point[s->count] = c->point[n];
        s->of[s->count] = curve;
    }
}

/* The front of what was gathered as a line, without points that are hardly
 * better than the one before. label_orders: N beside those where it changes. */
static void add_line(struct sheet *s, const char *name,
                     const struct ht_series *like, bool label_orders) {
    const double better = 0.8;
    struct ht_series *line = &s->series[s->lines];
    int order = 0;
    *line = *like;
    snprintf(s->name[s->lines], HT_BENCH_NAME, "%s", name);
    line->name = s->name[s->lines++];
    line->line = true;
    line->x = s->x + s->points;
    line->y = s->y + s->points;
    line->label = s->label + s->points;
    int found = ht_accuracy_front(s->count, s->point, s->front);
    s->count = 0;
    for (int n = 0; n < found; n++) {
        const struct ht_accuracy_point *p = &s->point[s->front[n]];
        const int of = s->a->curve[s->of[s->front[n]]].order;
        if (line->count > 0 && p->error > better * s->x[s->points - 1])
            continue;
        s->x[s->points] = p->error;
        s->y[s->points] = p->seconds;
        s->label[s->points] = NULL;
        if (label_orders && of != order) {
            snprintf(s->text[s->points], sizeof s->text[0], "N=%d", of);
            s->label[s->points] = s->text[s->points];
            order = of;
        }
        line->count++;
        s->points++;
    }
}

/* Finite differences: the plainest and the best, measured and by the memory's
 * limit. */
static void add_fd_lines(struct sheet *s) {
    const int grey = -1, dark = 9;
    for (int i = 0; i < s->a->count; i++) {
        const struct ht_accuracy_curve *c = &s->a->curve[i];
        bool plainest = c->order == 8 && c->time_order == 2;
        bool best = c->order == 16 && c->time_order == 4;
        const struct ht_series like = {.colour = best ? dark : grey,
                                       .dashed = c->best};
        char name[HT_BENCH_NAME];
        if (c->row != NULL || (!plainest && !best)) continue;
        name_fd(c, name);
        gather(s, i);
        add_line(s, name, &like, false);
    }
}

static enum ht_err write_sheet(const struct sheet *s, const char *title,
                               const char *file) {
    char subtitle[200], *path = NULL;
    snprintf(subtitle, sizeof subtitle,
             "%.60s, single or double precision; errors of %d-D runs; dashed: "
             "12 bytes per point and step",
             s->a->bench->info->name, s->a->dims);
    const struct ht_chart chart = {
        .title = title,
        .subtitle = subtitle,
        .x = {.label = "relative error after 100 wavelengths",
              .log = true,
              .low = 1e-9,
              .high = 1},
        .y = {.label = "device seconds per cubic wavelength and period",
              .log = true},
        .nseries = s->lines,
        .series = s->series};
    TRY(ht_bench_path(s->a->bench, file, &path));
    enum ht_err err = ht_chart_write(&chart, path);
    free(path);
    return err;
}

/* A line per N of a system and a scheme. */
static enum ht_err draw_method(struct sheet *s,
                               const struct ht_bench_row *row) {
    char method[HT_BENCH_NAME], name[HT_BENCH_NAME], title[2 * HT_BENCH_NAME];
    char file[2 * HT_BENCH_NAME];
    s->lines = s->points = 0;
    for (int order = 1; order <= HT_MAX_ORDER; order++) {
        const struct ht_series like = {.colour = order - 1,
                                       .marker = HT_MARKER_DISC};
        for (int i = 0; i < s->a->count; i++)
            if (same_method(&s->a->curve[i], row) &&
                s->a->curve[i].order == order)
                gather(s, i);
        snprintf(name, sizeof name, "N = %d", order);
        if (s->count > 0) add_line(s, name, &like, false);
    }
    add_fd_lines(s);
    name_method(row, method);
    snprintf(title, sizeof title, "What a wavelength costs: %s", method);
    snprintf(file, sizeof file, "accuracy_%s_%s.png", row->system->name,
             row->scheme->name);
    return write_sheet(s, title, file);
}

/* A line per system and scheme, the best N for each error. */
static enum ht_err draw_all(struct sheet *s) {
    char name[HT_BENCH_NAME];
    s->lines = s->points = 0;
    for (int i = 0; i < s->a->count; i++) {
        const struct ht_series like = {.colour = s->lines,
                                       .marker = HT_MARKER_DISC};
        if (!begins_method(s->a, i)) continue;
        for (int k = i; k < s->a->count; k++)
            if (same_method(&s->a->curve[k], s->a->curve[i].row)) gather(s, k);
        name_method(s->a->curve[i].row, name);
        add_line(s, name, &like, true);
    }
    add_fd_lines(s);
    return write_sheet(s, "What a wavelength costs, each by its best order",
                       "accuracy.png");
}

static enum ht_err draw(const struct ht_accuracy *a) {
    struct sheet s;
    enum ht_err err = sheet_create(a, &s);
    if (err == HT_OK) err = draw_all(&s);
    for (int i = 0; err == HT_OK && i < a->count; i++)
        if (begins_method(a, i)) err = draw_method(&s, a->curve[i].row);
    sheet_destroy(&s);
    return err;
}

/* ---- the table ---- */

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

/* One or, NULL not being given, the cheaper of two curves of one N. */
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
    char name[HT_BENCH_NAME];
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
    TRY(draw(accuracy));
    return bench->csv || bench->json ? HT_OK : print_table(accuracy);
}
