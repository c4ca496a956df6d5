/* The results of the case media: a file of all runs and tables in Markdown. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "media.h"

void ht_media_name(const struct ht_media_method *m, char *buffer, size_t size) {
    if (m->terms > 0)
        snprintf(buffer, size, "fd, order %d, %d term%s%s%s", m->order,
                 m->terms, m->terms > 1 ? "s" : "", m->fit ? ", " : "",
                 m->fit ? m->fit : "");
    else
        snprintf(buffer, size, "%s, N = %d", m->scheme->name, m->order);
}

/* ---- the front ---- */

static bool beaten(int count, const struct ht_media_point *point, int n) {
    for (int i = 0; i < count; i++)
        if (point[i].seconds <= point[n].seconds &&
            point[i].error <= point[n].error &&
            (point[i].seconds < point[n].seconds ||
             point[i].error < point[n].error || i < n))
            return true;
    return false;
}

/* The points for which no other one has both lower cost and lower error, from
 * the cheapest on. Returns their number. */
static int find_front(int count, const struct ht_media_point *point,
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

/* Least seconds for an error: interpolated between the points of the front;
 * those of the cheapest point if it reaches the error; NaN: not reached. */
static double seconds_for(const struct ht_media_curve *curve, double error) {
    const double near = 1 + 1e-9; /* errors that are powers of ten */
    int front[HT_MEDIA_POINTS];
    int count = find_front(curve->count, curve->point, front);
    for (int n = 0; n < count; n++) {
        const struct ht_media_point *b = &curve->point[front[n]];
        if (b->error > near * error) continue;
        if (n == 0) return b->seconds;
        const struct ht_media_point *a = &curve->point[front[n - 1]];
        double part = log(a->error / error) / log(a->error / b->error);
        return a->seconds * pow(b->seconds / a->seconds, fmin(part, 1));
    }
    return NAN;
}

/* ---- the file ---- */

static void add_known(double value, struct ht_text *text) {
    if (isfinite(value)) ht_text_add(text, "%.6g", value);
    ht_text_add(text, ",");
}

static void add_point(const struct ht_media *all,
                      const struct ht_media_medium *medium,
                      const struct ht_media_method *m,
                      const struct ht_media_point *point,
                      struct ht_text *text) {
    ht_text_add(text, "%s,%s,%d,%d,%s,%s,%.6g,%.6g,", medium->name,
                m->scheme->name, m->order, m->terms,
                m->fit     ? m->fit
                : m->terms ? "auto"
                           : "",
                all->fp64 ? "double" : "single", point->points, point->error);
    add_known(point->seconds, text);
    add_known(point->joules, text);
    add_known(point->bytes, text);
    ht_text_add(text, "%d,\"%s\"\n", medium->dims, all->bench->info->name);
}

static void add_points(const struct ht_media *all,
                       const struct ht_media_medium *medium,
                       struct ht_text *text) {
    for (int i = 0; i < medium->count; i++)
        for (int n = 0; n < medium->method[i].curve.count; n++)
            add_point(all, medium, &medium->method[i],
                      &medium->method[i].curve.point[n], text);
}

static enum ht_err write_csv(const struct ht_media *all) {
    struct ht_text text = {0};
    char *path = NULL;
    ht_text_add(
        &text,
        "medium,method,order,terms,fit,precision,"
        "points_per_unit,error,seconds,joules,bytes,dimensions,device\n");
    for (int i = 0; i < all->count; i++)
        add_points(all, &all->medium[i], &text);
    enum ht_err err = ht_text_status(&text);
    if (err == HT_OK) err = ht_bench_path(all->bench, "media.csv", &path);
    if (err == HT_OK) err = ht_file_write(path, text.data, text.length);
    free(path);
    ht_text_free(&text);
    return err;
}

/* ---- tables ---- */

static const double errors[] = {1e-1, 3e-2, 1e-2, 3e-3, 1e-3, 1e-4, 1e-5};
enum { ERRORS = sizeof errors / sizeof errors[0] };

/* Errors near the reference's own say nothing. */
static bool known(const struct ht_media_reference *r, double error) {
    return error >= 2 * r->error;
}

/* "[1600, 400]" of a file. */
static void add_cells(const struct ht_media_medium *medium,
                      struct ht_text *text) {
    for (int k = 0; k < medium->dims; k++)
        ht_text_add(text, "%s%lld", k > 0 ? ", " : "[",
                    2 * (long long)medium->unit[k]);
    ht_text_add(text, "]");
}

static void add_head(const struct ht_media *all,
                     const struct ht_media_medium *medium,
                     struct ht_text *text) {
    const struct ht_media_reference *r = &medium->reference;
    ht_text_add(text,
                "**%s medium**, %d-D, %s: seconds for a relative error of %s "
                "of (reference: order %d, %g ",
                medium->name, medium->dims, all->bench->info->name,
                medium->field, r->order, r->points);
    if (medium->file) {
        ht_text_add(text, "times the file's cells, ");
        add_cells(medium, text);
    } else {
        ht_text_add(text, "points per unit");
    }
    ht_text_add(text, ", %s, own error about %.1e)\n\n| method |",
                r->fp64 ? "double" : "single", r->error);
    for (int e = 0; e < ERRORS; e++)
        if (known(r, errors[e])) ht_text_add(text, " %.0e |", errors[e]);
    ht_text_add(text, " least error, at %s |\n|---|",
                medium->file ? "times the file's cells" : "points per unit");
    for (int e = 0; e < ERRORS; e++)
        if (known(r, errors[e])) ht_text_add(text, "---|");
    ht_text_add(text, "---|\n");
}

/* What a reader should know beside the numbers. */
static void add_end(const struct ht_media_method *m,
                    const struct ht_media_reference *r, struct ht_text *text) {
    const struct ht_media_point *best = NULL;
    for (int n = 0; n < m->curve.count; n++)
        if (best == NULL || m->curve.point[n].error < best->error)
            best = &m->curve.point[n];
    if (best == NULL && m->refused > 0 && m->grew == 0)
        ht_text_add(text, " refused");
    else if (best == NULL)
        ht_text_add(text, " -");
    else if (known(r, best->error))
        ht_text_add(text, " %.1e, %.3g", best->error, best->points);
    else
        ht_text_add(text, " below %.0e, %.3g", 2 * r->error, best->points);
    if (m->refused > 0 && (best != NULL || m->grew > 0))
        ht_text_add(text, "; %d grid%s refused", m->refused,
                    m->refused > 1 ? "s" : "");
    if (m->warned) ht_text_add(text, "; energy rose");
    if (m->grew)
        ht_text_add(text, "; %d run%s ended by growth", m->grew,
                    m->grew > 1 ? "s" : "");
    ht_text_add(text, " |\n");
}

static void add_method(const struct ht_media_method *m,
                       const struct ht_media_reference *r,
                       struct ht_text *text) {
    char name[64];
    ht_media_name(m, name, sizeof name);
    ht_text_add(text, "| %s |", name);
    for (int e = 0; e < ERRORS; e++) {
        const double seconds = seconds_for(&m->curve, errors[e]);
        if (!known(r, errors[e])) continue;
        if (isfinite(seconds))
            ht_text_add(text, " %.2g |", seconds);
        else
            ht_text_add(text, " - |");
    }
    add_end(m, r, text);
}

/* Methods for which no time was left are not shown. */
static void add_table(const struct ht_media *all,
                      const struct ht_media_medium *medium,
                      struct ht_text *text) {
    if (!medium->reference.known) return;
    if (text->length > 0) ht_text_add(text, "\n");
    add_head(all, medium, text);
    for (int n = 0; n < medium->count; n++)
        if (medium->method[n].finest > 0 || medium->method[n].refused > 0)
            add_method(&medium->method[n], &medium->reference, text);
}

static enum ht_err write_tables(const struct ht_media *all,
                                struct ht_text *text) {
    char *path = NULL;
    for (int i = 0; i < all->count; i++) add_table(all, &all->medium[i], text);
    TRY(ht_text_status(text));
    TRY(ht_bench_path(all->bench, "media.md", &path));
    enum ht_err err = ht_file_write(path, text->data, text->length);
    free(path);
    return err;
}

enum ht_err ht_media_show(const struct ht_media *media) {
    struct ht_text text = {0};
    enum ht_err err = write_csv(media);
    if (err == HT_OK) err = write_tables(media, &text);
    if (err == HT_OK && !media->bench->csv && !media->bench->json)
        err = ht_args_print(&text);
    ht_text_free(&text);
    return err;
}
