/* Values of the medium at points: all of a fill's planes at once, line by line. They are 1/K and
 * rho until they have been compared with their neighbours, behind the seam and on the plane below,
 * too; then they become K and b.
 */
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "fit_private.h"

/* Points of a chunk at least. */
enum { LEAST_POINTS = 4096 };

struct points {
    const struct ht_fit_job *job; /* first and last of the planes */
    double *values;               /* of these planes */
    const double *below;          /* values of the plane below; NULL: none */
    double *x1;
    int64_t n1, n2, lines, chunks;
    double (*range)[2];           /* of each chunk's values */
    struct ht_fit_counts *counts; /* of each chunk */
    _Atomic int64_t done;         /* lines */
    struct ht_progress progress;
};

/* The job of line i, which is line *i2 of plane job.at3. */
static struct ht_fit_job job_of(const struct points *p, int64_t i, int64_t *i2) {
    struct ht_fit_job job = *p->job;
    *i2 = i % p->n2;
    job.at3 = job.first[2] + i / p->n2;
    return job;
}

/* ---- values ---- */

/* Along axes on which nothing depends one value. */
static enum ht_err evaluate_line(const struct points *p, int64_t i) {
    const struct ht_fit_axis *axis = p->job->fit->axis;
    const bool *depends = p->job->fit->medium->source->depends;
    int64_t i2;
    double *line = p->values + i * p->n1;
    const struct ht_fit_job job = job_of(p, i, &i2);
    const double x[3] = {0, ht_fit_fold(&axis[1], ht_fit_position(&job, 1, i2)),
                         ht_fit_fold(&axis[2], ht_fit_position(&job, 2, 0))};
    TRY(ht_fit_source_points(p->job->fit, job.quantity, depends[0] ? p->n1 : 1, p->x1, x, line));
    for (int64_t i1 = 1; i1 < p->n1 && !depends[0]; i1++) line[i1] = line[0];
    return HT_OK;
}

static enum ht_err evaluate_chunk(void *data, int64_t chunk, int worker) {
    struct points *p = data;
    const int64_t end = ht_threads_first(p->lines, p->chunks, chunk + 1);
    for (int64_t i = ht_threads_first(p->lines, p->chunks, chunk); i < end; i++) {
        const bool repeated = !p->job->fit->medium->source->depends[1] && i % p->n2 > 0;
        if (!repeated) TRY(evaluate_line(p, i));
        if (!repeated) ht_fit_extend(p->n1, p->values + i * p->n1, p->range[chunk]);
        const int64_t done = atomic_fetch_add(&p->done, 1) + 1;
        if (worker == 0) ht_progress_update(&p->progress, (double)done);
    }
    return HT_OK;
}

/* Where nothing depends on x2 the first line of a plane is all of them. */
static void repeat_lines(const struct points *p) {
    if (p->job->fit->medium->source->depends[1]) return;
    for (int64_t i = 0; i < p->lines; i++)
        if (i % p->n2 > 0)
            memcpy(p->values + i * p->n1, p->values + i / p->n2 * p->n2 * p->n1,
                   (size_t)p->n1 * sizeof *p->values);
}

static enum ht_err evaluate(struct points *p) {
    const struct ht_fit_axis *axis = &p->job->fit->axis[0];
    for (int64_t c = 0; c < p->chunks; c++) {
        p->range[c][0] = INFINITY;
        p->range[c][1] = 0;
    }
    for (int64_t i = 0; i < p->n1; i++) p->x1[i] = ht_fit_fold(axis, ht_fit_position(p->job, 0, i));
    ht_progress_start(&p->progress, "evaluating the medium", (double)p->lines, "points",
                      (double)p->n1);
    enum ht_err err = ht_threads_run(p->chunks, evaluate_chunk, p);
    ht_progress_end(&p->progress);
    if (err == HT_OK) repeat_lines(p);
    return err;
}

/* ---- neighbours ---- */

/* Behind the seams of x1 and x2, too: the first against the last points. */
static enum ht_err check_line(const struct points *p, int64_t line) {
    const struct ht_fit_axis *axis = p->job->fit->axis;
    const double *at = p->values + line * p->n1;
    const int64_t n1 = p->n1, plane = n1 * p->n2;
    int64_t i2;
    const struct ht_fit_job job = job_of(p, line, &i2);
    const double *below = line >= p->n2 ? at - plane : p->below ? p->below + i2 * n1 : NULL;
    TRY(ht_fit_check_beside(&job, 0, 1, i2, n1 - 1, at + 1, at));
    if (i2 > 0) TRY(ht_fit_check_beside(&job, 1, 0, i2, n1, at, at - n1));
    if (below) TRY(ht_fit_check_beside(&job, 2, 0, i2, n1, at, below));
    if (axis[0].periodic) TRY(ht_fit_check_beside(&job, 0, 0, i2, 1, at, at + n1 - 1));
    if (!axis[1].periodic || i2 > 0) return HT_OK;
    return ht_fit_check_beside(&job, 1, 0, 0, n1, at, at + plane - n1);
}

static enum ht_err check_chunk(void *data, int64_t chunk, int worker) {
    const struct points *p = data;
    const int64_t end = ht_threads_first(p->lines, p->chunks, chunk + 1);
    (void)worker;
    for (int64_t i = ht_threads_first(p->lines, p->chunks, chunk); i < end; i++)
        TRY(check_line(p, i));
    return HT_OK;
}

static enum ht_err check(struct points *p) {
    double range[2] = {INFINITY, 0};
    for (int64_t c = 0; c < p->chunks; c++) ht_fit_extend(2, p->range[c], range);
    if (p->below != NULL) ht_fit_extend(p->n1 * p->n2, p->below, range);
    return ht_fit_too_wide(range) ? ht_threads_run(p->chunks, check_chunk, p) : HT_OK;
}

/* ---- output ---- */

static enum ht_err emit_chunk(void *data, int64_t chunk, int worker) {
    const struct points *p = data;
    const int64_t end = ht_threads_first(p->lines, p->chunks, chunk + 1);
    struct ht_fit_job job = *p->job;
    (void)worker;
    job.counts = ht_fit_counts_none();
    for (int64_t i = ht_threads_first(p->lines, p->chunks, chunk); i < end; i++) {
        double *line = p->values + i * p->n1;
        job.at3 = job.first[2] + i / p->n2;
        TRY(ht_fit_emit_row(&job, true, i % p->n2, line, line));
    }
    p->counts[chunk] = job.counts;
    return HT_OK;
}

static enum ht_err emit(struct points *p, struct ht_fit_job *job) {
    TRY(ht_threads_run(p->chunks, emit_chunk, p));
    for (int64_t c = 0; c < p->chunks; c++) ht_fit_counts_add(&p->counts[c], &job->counts);
    return HT_OK;
}

/* ---- fill ---- */

/* values is left to the caller. */
static enum ht_err points_make(const struct ht_fit_job *job, struct points *p) {
    const struct ht_fit_axis *axis = job->fit->axis;
    *p = (struct points){.job = job, .n1 = axis[0].nodes, .n2 = axis[1].nodes};
    p->lines = (job->last[2] - job->first[2]) * p->n2;
    p->chunks = ht_threads_chunks(p->lines, LEAST_POINTS / p->n1);
    TRY(HT_ALLOC(p->x1, p->n1));
    TRY(HT_ALLOC(p->range, p->chunks));
    return HT_ALLOC(p->counts, p->chunks);
}

static void points_clear(struct points *p) {
    free(p->x1);
    free(p->range);
    free(p->counts);
}

/* The plane below the first, behind the seam, too, unless it was the last one of the fill before;
 * there is none behind a wall. */
static enum ht_err find_below(const struct ht_fit_job *job, const double **below) {
    struct ht_fit *fit = job->fit;
    const struct ht_fit_axis *axis = fit->axis;
    const int64_t first = job->first[2];
    double **kept = &fit->below[job->what].value;
    *below = NULL;
    if (!fit->medium->source->depends[2] || (first == 0 && !axis[2].periodic)) return HT_OK;
    struct ht_fit_job one = *job;
    one.first[2] = first > 0 ? first - 1 : axis[2].nodes - 1;
    one.last[2] = one.first[2] + 1;
    const bool known = *kept != NULL && fit->below[job->what].plane == one.first[2];
    if (*kept == NULL) TRY(HT_ALLOC(*kept, axis[0].nodes * axis[1].nodes));
    *below = *kept;
    if (known) return HT_OK;
    struct points p;
    fit->below[job->what].plane = -1;
    enum ht_err err = points_make(&one, &p);
    p.values = *kept;
    if (err == HT_OK) err = evaluate(&p);
    points_clear(&p);
    return err;
}

/* Keeps the last plane for the next fill. */
static void keep_last(const struct points *p) {
    struct ht_fit *fit = p->job->fit;
    const int what = p->job->what;
    const int64_t plane = p->n1 * p->n2, last = p->job->last[2] - 1;
    if (fit->below[what].value == NULL) return;
    memcpy(fit->below[what].value, p->values + (last - p->job->first[2]) * plane,
           (size_t)plane * sizeof *p->values);
    fit->below[what].plane = last;
}

enum ht_err ht_fit_points(struct ht_fit_job *job) {
    struct points p;
    const double *below;
    for (int k = 0; k < 3; k++) job->fitted[k] = true;
    TRY(find_below(job, &below));
    enum ht_err err = points_make(job, &p);
    p.values = job->out;
    p.below = below;
    if (err == HT_OK) err = evaluate(&p);
    if (err == HT_OK) err = check(&p);
    if (err == HT_OK) keep_last(&p);
    if (err == HT_OK) err = emit(&p, job);
    points_clear(&p);
    return err;
}
