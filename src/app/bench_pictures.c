/* Roofline and bars of measured rows. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

enum { NAME = HT_BENCH_NAME };

/* A name for each measured row, and the number of different ones; rows of one
 * name are a line or a bar. */
struct groups {
    int count;
    char (*name)[NAME];
    int *of; /* [row - first]; -1: not measured */
};

static void free_groups(struct groups *g) {
    free(g->name);
    free(g->of);
}

static enum ht_err
make_groups(const struct ht_bench *bench, int first, int last,
            void (*describe)(const struct ht_bench_row *row, char name[NAME]),
            struct groups *g) {
    *g = (struct groups){0};
    TRY(HT_ALLOC(g->name, last - first + 1));
    enum ht_err err = HT_ALLOC(g->of, last - first + 1);
    for (int i = first; err == HT_OK && i < last; i++) {
        int n = 0;
        g->of[i - first] = -1;
        if (!bench->row[i].done) continue;
        describe(&bench->row[i], g->name[g->count]);
        while (strcmp(g->name[n], g->name[g->count]) != 0) n++;
        g->of[i - first] = n;
        if (n == g->count) g->count++;
    }
    if (err != HT_OK) {
        free_groups(g);
        *g = (struct groups){0};
    }
    return err;
}

static void describe_kernel(const struct ht_bench_row *row, char name[NAME]) {
    int n = snprintf(name, NAME, "%s", ht_bench_kernel(row));
    if (row->tuning.cells > 0 && n < NAME)
        snprintf(name + n, (size_t)(NAME - n), ", %d cells", row->tuning.cells);
}

static void describe_panel(const struct ht_bench_row *row, char name[NAME]) {
    snprintf(name, NAME, "%s, %s, %d-D, %s, %s layout", row->system->name,
             row->scheme->name, row->dims, ht_bench_precision(row),
             ht_bench_layout(row));
}

static void describe_order(const struct ht_bench_row *row, char name[NAME]) {
    snprintf(name, NAME, "N = %d", row->order);
}

static void subtitle_of(const struct ht_bench *bench, char *text, size_t size) {
    snprintf(text, size, "%.80s, %s, driver %.40s, htwave %s",
             bench->info->name, bench->info->backend, bench->info->driver,
             HT_VERSION);
}

/* ---- the roofline ---- */

struct roof {
    double x[3], y[3];
};

/* GFLOP/s over FLOP per byte: the slope of the memory, then flat. */
static struct roof make_roof(const struct ht_limits *limits, double low,
                             double high) {
    double flat = 2e-9 * limits->fma_per_s;
    double slope = 1e-9 * limits->bytes_per_s, corner = flat / slope;
    return (struct roof){
        {fmin(low, corner / 2), corner, fmax(high, 2 * corner)},
        {slope * fmin(low, corner / 2), flat, flat}};
}

struct points {
    double *x, *y;
    char (*label)[NAME];
    const char **labels;
    struct ht_series *series;
    struct roof roof[2];
};

static void free_points(struct points *p) {
    free(p->x);
    free(p->y);
    free(p->label);
    free(p->labels);
    free(p->series);
}

static enum ht_err alloc_points(int rows, int series, struct points *p) {
    TRY(HT_ALLOC(p->x, rows));
    TRY(HT_ALLOC(p->y, rows));
    TRY(HT_ALLOC(p->label, rows));
    TRY(HT_ALLOC(p->labels, rows));
    return HT_ALLOC(p->series, series + 2);
}

struct drawing {
    const struct ht_bench *bench;
    const struct ht_bench_plot *plot;
    int first, last;
    struct groups line, kernel;
    struct points p;
};

static int system_index(const struct ht_system *system) {
    for (int i = 0; i < ht_system_count(); i++)
        if (ht_system_at(i) == system) return i;
    return 0;
}

/* The rows of one name, in their order, as points from *n on. */
static struct ht_series make_series(struct drawing *d, int line, int *n) {
    struct points *p = &d->p;
    struct ht_series s = {.name = d->line.name[line], .line = true};
    s.x = p->x + *n;
    s.y = p->y + *n;
    if (d->plot->label != NULL) s.label = p->labels + *n;
    for (int i = d->first; i < d->last; i++) {
        const struct ht_bench_row *row = &d->bench->row[i];
        if (d->line.of[i - d->first] != line) continue;
        p->x[*n] = d->plot->x_of(d->bench, row);
        p->y[*n] = d->plot->y_of(d->bench, row);
        if (d->plot->label != NULL) d->plot->label(row, p->label[*n]);
        p->labels[*n] = p->label[*n];
        s.colour = d->plot->by_line ? line : d->kernel.of[i - d->first];
        s.marker = (enum ht_marker)(
            HT_MARKER_DISC + (ht_scheme_count() * system_index(row->system) +
                              ht_scheme_index(row->scheme)) %
                                 (HT_MARKER_KINDS - 1));
        s.hollow = s.dashed = row->tuning.fp64;
        s.count++;
        (*n)++;
    }
    return s;
}

static int add_roofs(struct drawing *d, int points) {
    struct points *p = &d->p;
    double low = 1, high = 1;
    int count = 0;
    for (int i = 0; i < points; i++) {
        low = fmin(low, p->x[i] / 2);
        high = fmax(high, 2 * p->x[i]);
    }
    for (int fp64 = 0; fp64 < 2 && d->plot->roofs; fp64++) {
        if (!(d->bench->limits[fp64].fma_per_s > 0)) continue;
        p->roof[fp64] = make_roof(&d->bench->limits[fp64], low, high);
        p->series[count] = (struct ht_series){
            .name = fp64 ? "measured limit, double" : "measured limit, single",
            .count = 3,
            .x = p->roof[fp64].x,
            .y = p->roof[fp64].y,
            .colour = -1,
            .line = true,
            .dashed = fp64};
        count++;
    }
    return count;
}

static enum ht_err draw_lines(struct drawing *d, const char *path) {
    char subtitle[200];
    int n = 0;
    for (int s = 0; s < d->line.count; s++)
        d->p.series[s + 2] = make_series(d, s, &n);
    int roofs = add_roofs(d, n);
    if (roofs == 1) d->p.series[1] = d->p.series[0];
    subtitle_of(d->bench, subtitle, sizeof subtitle);
    const struct ht_chart chart = {.title = d->plot->title,
                                   .subtitle = subtitle,
                                   .x = d->plot->x,
                                   .y = d->plot->y,
                                   .nseries = d->line.count + roofs,
                                   .series = d->p.series + 2 - roofs};
    return ht_chart_write(&chart, path);
}

enum ht_err ht_bench_lines(const struct ht_bench *bench,
                           const struct ht_bench_plot *plot, int first,
                           int last) {
    struct drawing d = {bench, plot, first, last, {0}, {0}, {0}};
    char *path = NULL;
    enum ht_err err = make_groups(bench, first, last, plot->name, &d.line);
    if (err == HT_OK)
        err = make_groups(bench, first, last, describe_kernel, &d.kernel);
    if (err == HT_OK) err = alloc_points(last - first, d.line.count, &d.p);
    if (err == HT_OK) err = ht_bench_path(bench, plot->file, &path);
    if (err == HT_OK && d.line.count > 0) err = draw_lines(&d, path);
    free(path);
    free_points(&d.p);
    free_groups(&d.line);
    free_groups(&d.kernel);
    return err;
}

/* ---- bars ---- */

struct bars {
    struct groups kernel, panel, order;
    double *value;
    const char **bar, **group;
    struct ht_bars_panel *panels;
};

static void free_bars(struct bars *b) {
    free_groups(&b->kernel);
    free_groups(&b->panel);
    free_groups(&b->order);
    free(b->value);
    free(b->bar);
    free(b->group);
    free(b->panels);
}

static enum ht_err make_bars(const struct ht_bench *bench, int first, int last,
                             struct bars *b) {
    TRY(make_groups(bench, first, last, describe_kernel, &b->kernel));
    TRY(make_groups(bench, first, last, describe_panel, &b->panel));
    TRY(make_groups(bench, first, last, describe_order, &b->order));
    int each = b->order.count * b->kernel.count;
    TRY(HT_ALLOC(b->value, each * b->panel.count + 1));
    TRY(HT_ALLOC(b->bar, b->kernel.count + 1));
    TRY(HT_ALLOC(b->group, b->order.count + 1));
    TRY(HT_ALLOC(b->panels, b->panel.count + 1));
    for (int i = 0; i < last - first; i++) {
        if (b->panel.of[i] < 0) continue;
        b->value[b->panel.of[i] * each + b->order.of[i] * b->kernel.count +
                 b->kernel.of[i]] = ht_bench_rate(&bench->row[first + i]);
    }
    for (int k = 0; k < b->kernel.count; k++) b->bar[k] = b->kernel.name[k];
    for (int k = 0; k < b->order.count; k++) b->group[k] = b->order.name[k];
    for (int k = 0; k < b->panel.count; k++)
        b->panels[k] =
            (struct ht_bars_panel){b->panel.name[k], b->order.count, b->group,
                                   b->value + (size_t)k * (size_t)each};
    return HT_OK;
}

enum ht_err ht_bench_bars(const struct ht_bench *bench, const char *file,
                          int first, int last) {
    struct bars b = {0};
    char *path = NULL, subtitle[200];
    enum ht_err err = make_bars(bench, first, last, &b);
    if (err == HT_OK) err = ht_bench_path(bench, file, &path);
    subtitle_of(bench, subtitle, sizeof subtitle);
    const struct ht_bars bars = {.title = "Cell half-steps per second",
                                 .subtitle = subtitle,
                                 .label = "cell half-steps/s",
                                 .log = true,
                                 .nbars = b.kernel.count,
                                 .bar = b.bar,
                                 .npanels = b.panel.count,
                                 .panel = b.panels};
    if (err == HT_OK && b.panel.count > 0) err = ht_bars_write(&bars, path);
    free(path);
    free_bars(&b);
    return err;
}
