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

/* ---- the file ---- */

static enum ht_err write_csv(const struct ht_media *all) {
    struct ht_text text = {0};
    char *path = NULL;
    ht_text_add(&text, "medium,method,order,terms,fit,precision,"
                       "points_per_unit,error,seconds,dimensions,device\n");
    for (int i = 0; i < all->count; i++) {
        const struct ht_media_method *m = &all->method[i];
        for (int n = 0; n < m->curve.count; n++)
            ht_text_add(&text, "%s,%s,%d,%d,%s,%s,%.6g,%.6g,%.6g,%d,\"%s\"\n",
                        m->medium, m->scheme->name, m->order, m->terms,
                        m->fit     ? m->fit
                        : m->terms ? "auto"
                                   : "",
                        all->fp64 ? "double" : "single",
                        m->curve.point[n].points, m->curve.point[n].error,
                        m->curve.point[n].seconds, all->dims,
                        all->bench->info->name);
    }
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

static void add_head(const struct ht_media *all,
                     const struct ht_media_reference *r, struct ht_text *text) {
    ht_text_add(text,
                "**%s medium**, %d-D, %s: seconds for a relative error of p of "
                "(reference: order %d, %d points per unit, %s, own error about "
                "%.1e)\n\n| method |",
                r->medium, all->dims, all->bench->info->name, r->order,
                r->points, r->fp64 ? "double" : "single", r->error);
    for (int e = 0; e < ERRORS; e++)
        if (known(r, errors[e])) ht_text_add(text, " %.0e |", errors[e]);
    ht_text_add(text, " least error, at points per unit |\n|---|");
    for (int e = 0; e < ERRORS; e++)
        if (known(r, errors[e])) ht_text_add(text, "---|");
    ht_text_add(text, "---|\n");
}

/* What a reader should know beside the numbers. */
static void add_end(const struct ht_media_method *m,
                    const struct ht_media_reference *r, struct ht_text *text) {
    const struct ht_accuracy_point *best = NULL;
    for (int n = 0; n < m->curve.count; n++)
        if (best == NULL || m->curve.point[n].error < best->error)
            best = &m->curve.point[n];
    if (m->why[0])
        ht_text_add(text, " refused");
    else if (best == NULL)
        ht_text_add(text, " -");
    else if (known(r, best->error))
        ht_text_add(text, " %.1e, %.3g", best->error, best->points);
    else
        ht_text_add(text, " below %.0e, %.3g", 2 * r->error, best->points);
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
        const double seconds = ht_accuracy_seconds(&m->curve, errors[e]);
        if (!known(r, errors[e])) continue;
        if (isfinite(seconds))
            ht_text_add(text, " %.2g |", seconds);
        else
            ht_text_add(text, " - |");
    }
    add_end(m, r, text);
}

static enum ht_err write_tables(const struct ht_media *all,
                                struct ht_text *text) {
    char *path = NULL;
    for (int i = 0; i < all->references; i++) {
        const struct ht_media_reference *r = &all->reference[i];
        if (i > 0) ht_text_add(text, "\n");
        add_head(all, r, text);
        for (int n = 0; n < all->count; n++)
            if (strcmp(all->method[n].medium, r->medium) == 0)
                add_method(&all->method[n], r, text);
    }
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
