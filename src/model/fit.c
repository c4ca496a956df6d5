/* The medium of finite differences, plane by plane.
 *
 * Planes of boxes (fit_source.c) are averaged along x1 and x2 and kept in a
 * ring, from which planes of the grid are averaged along x3. b_3 is averaged
 * along x3 before the others. Every plane carries the least value in reach of
 * its values along the axes that were averaged so far, for the cut.
 *
 * All averages are sums over rows of several contiguous nodes; along x1, rows
 * of LANES lines of the plane that are stored side by side.
 */
#include "htwave/fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fit_private.h"

enum { LANES = 8 };
static const double CONTRAST = 1e4;

struct ht_fit {
    const struct ht_medium *medium;
    enum ht_fit_kind kind;
    bool uniform, density_uniform;
    double K, b; /* where uniform */
    struct ht_fit_axis axis[3];
    struct ht_fit_counts counts;
};

/* ---- create ---- */

/* The density everywhere, if it is one number. */
static bool density_constant(const struct ht_medium *medium, double *b) {
    *b = 1;
    if (ht_fit_density(medium) < 0) return true;
    const struct ht_medium_row *row =
        &medium->source->row[ht_fit_density(medium)];
    double rho = row->number ? row->number[0] : 0;
    const double zero[3] = {0};
    for (int i = 1; i < row->count; i++)
        if (row->number[i] != rho) return false;
    for (int k = 0; row->expr && k < 3; k++)
        if (ht_expr_uses(row->expr, k)) return false;
    if (row->expr && ht_expr_value(row->expr, zero, &rho, NULL) != HT_OK)
        return false;
    if (row->samples) {
        const int64_t *shape = row->samples->shape;
        rho = row->samples->value[0];
        for (int64_t i = 1; i < shape[0] * shape[1] * shape[2]; i++)
            if (row->samples->value[i] != rho) return false;
    }
    *b = 1 / rho;
    return true;
}

static enum ht_err make_axis(struct ht_fit *fit, int k) {
    const struct ht_grid *grid = fit->medium->grid;
    struct ht_fit_axis *axis = &fit->axis[k];
    bool exists = k < grid->dims;
    axis->lower = exists ? grid->lower[k] : 0;
    axis->upper = exists ? grid->upper[k] : 1;
    axis->h = exists ? grid->h[k] : 1;
    axis->nodes = ht_grid_nodes(grid, HT_PRIMARY, k);
    axis->periodic = !exists || ht_grid_periodic(grid, k);
    if (fit->kind == HT_FIT_POINT) return HT_OK;
    TRY(ht_fit_boxes(fit->medium, k, axis));
    return ht_fit_axis_weigh(axis, fit->kind);
}

static enum ht_err make(struct ht_fit *fit) {
    const struct ht_medium *medium = fit->medium;
    const struct ht_system *system = medium->eq->system;
    bool smooth =
        medium->source->type == HT_MEDIUM_EXPRESSION && !medium->rough;
    REQUIRE(system == ht_system_find("acoustic") ||
                system == ht_system_find("wave"),
            HT_ERR_INPUT, "the system \"%s\" has no K and rho to fit",
            system->name);
    if (fit->kind == HT_FIT_AUTO)
        fit->kind = smooth ? HT_FIT_POINT : HT_FIT_SINC;
    fit->density_uniform = density_constant(medium, &fit->b);
    fit->uniform = medium->uniform;
    fit->K = medium->constant[0];
    for (int k = 0; k < 3 && !fit->uniform; k++) TRY(make_axis(fit, k));
    return HT_OK;
}

enum ht_err ht_fit_create(const struct ht_medium *medium, enum ht_fit_kind kind,
                          struct ht_fit **out) {
    struct ht_fit *fit = NULL;
    *out = NULL;
    TRY(HT_ALLOC(fit, 1));
    fit->medium = medium;
    fit->kind = kind;
    for (int i = 0; i < 2; i++) {
        fit->counts.least[i] = INFINITY;
        fit->counts.most[i] = -INFINITY;
    }
    enum ht_err err = make(fit);
    if (err != HT_OK) {
        ht_fit_destroy(fit);
        return err;
    }
    *out = fit;
    return HT_OK;
}

void ht_fit_destroy(struct ht_fit *fit) {
    if (!fit) return;
    for (int k = 0; k < 3; k++) ht_fit_axis_clear(&fit->axis[k]);
    free(fit);
}

enum ht_fit_kind ht_fit_chosen(const struct ht_fit *fit) {
    return fit->kind;
}

bool ht_fit_uniform(const struct ht_fit *fit, double *K, double *b) {
    *K = fit->K;
    *b = fit->b;
    return fit->uniform;
}

bool ht_fit_density_uniform(const struct ht_fit *fit, double *b) {
    *b = fit->b;
    return fit->density_uniform;
}

struct ht_fit_counts ht_fit_counts(const struct ht_fit *fit) {
    return fit->counts;
}

/* ---- planes ---- */

/* Rows are padded to a multiple of LANES. least NULL: the values are their own
 * least ones. */
struct sheet {
    int64_t n[2], row;
    double *value, *least, *block;
};

static int64_t padded(int64_t n) {
    return (n + LANES - 1) / LANES * LANES;
}

/* track: least values of its own may be wanted. */
static enum ht_err sheet_make(int64_t n1, int64_t n2, bool track,
                              struct sheet *sheet) {
    *sheet = (struct sheet){.n = {n1, n2}, .row = padded(n1)};
    TRY(HT_ALLOC(sheet->block, (track ? 2 : 1) * sheet->row * n2));
    sheet->value = sheet->block;
    return HT_OK;
}

/* Gives it values of its own for least, or none. */
static void sheet_track(struct sheet *sheet, bool track) {
    sheet->least = track ? sheet->block + sheet->row * sheet->n[1] : NULL;
}

/* What the nodes or boxes of a sheet or of the ring are averaged to, on rows
 * of `length` values: value[t] with weight[t], and the least of least[t]. */
struct rows {
    int count;
    const double *weight, **value, **least;
    int64_t length;
};

static void rows_add(const struct rows *rows, double *value, double *least) {
    for (int64_t i = 0; i < rows->length; i += LANES) {
        double sum[LANES] = {0}, low[LANES];
        for (int l = 0; l < LANES; l++) low[l] = INFINITY;
        for (int t = 0; t < rows->count; t++) {
            const double *in = rows->value[t] + i;
            for (int l = 0; l < LANES; l++) sum[l] += rows->weight[t] * in[l];
        }
        memcpy(value + i, sum, sizeof sum);
        if (!least) continue;
        for (int t = 0; t < rows->count; t++) {
            const double *in = rows->least[t] + i;
            for (int l = 0; l < LANES; l++)
                low[l] = in[l] < low[l] ? in[l] : low[l];
        }
        memcpy(least + i, low, sizeof low);
    }
}

/* ---- one fill ---- */

struct job {
    struct ht_fit *fit;
    int what,
        own;    /* axis that is averaged first, half a spacing on; -1: none */
    bool track; /* keep the least values */
    int64_t first, last; /* planes */
    bool fitted[3];      /* axes that have been averaged */
    double at3;          /* position along x3 of what is done now */
    bool count;          /* whether what is cut now counts for these planes */
    struct sheet boxes, middle, *ring; /* middle: one axis averaged */
    struct sheet above;                /* grid plane before x1 and x2: b_3 */
    struct sheet done;
    int slots;
    double *tile[4]; /* LANES lines side by side: in, out; values, least */
    const double **value, **least;
    struct sheet before; /* boxes of the plane below, for the contrast */
    int64_t loaded;
    double *out;
};

static const struct ht_fit_taps *taps_of(const struct job *job, int k) {
    return job->fit->axis[k].taps[k == job->own];
}

/* Position of entry i along axis k of a sheet. */
static double position(const struct job *job, int k, int64_t i) {
    const struct ht_fit_axis *axis = &job->fit->axis[k];
    if (job->fitted[k])
        return axis->lower + ((double)i + (k == job->own ? 0.5 : 0)) * axis->h;
    return (axis->edge[i] + axis->edge[i + 1]) / 2;
}

/* The tile of LANES lines from line i2 on; beyond the last that is repeated. */
static void tile_read(const struct sheet *sheet, const double *from, int64_t i2,
                      double *tile) {
    for (int l = 0; l < LANES; l++) {
        int64_t line = i2 + l < sheet->n[1] ? i2 + l : sheet->n[1] - 1;
        const double *in = from + line * sheet->row;
        for (int64_t i = 0; i < sheet->n[0]; i++) tile[i * LANES + l] = in[i];
    }
}

static void tile_write(const struct sheet *sheet, const double *tile,
                       int64_t i2, double *to) {
    for (int l = 0; l < LANES && i2 + l < sheet->n[1]; l++) {
        double *out = to + (i2 + l) * sheet->row;
        for (int64_t i = 0; i < sheet->n[0]; i++) out[i] = tile[i * LANES + l];
    }
}

/* Points job->value and least to the rows of one output. */
static struct rows rows_of(const struct job *job,
                           const struct ht_fit_taps *taps, const double *value,
                           const double *least, const int64_t *box,
                           int64_t stride) {
    for (int t = 0; t < taps->count; t++) {
        int64_t at = box[taps->first + t] * stride;
        job->value[t] = value + at;
        job->least[t] = least + at;
    }
    return (struct rows){taps->count, taps->weight, job->value, job->least,
                         stride};
}

static void average_x1(const struct job *job, const struct sheet *in,
                       struct sheet *out) {
    const struct ht_fit_axis *axis = &job->fit->axis[0];
    const double *least = in->least ? in->least : in->value;
    double *const *tile = job->tile;
    for (int64_t i2 = 0; i2 < in->n[1]; i2 += LANES) {
        tile_read(in, in->value, i2, tile[0]);
        if (job->track) tile_read(in, least, i2, tile[1]);
        for (int64_t m = 0; m < out->n[0]; m++) {
            struct rows rows = rows_of(job, &taps_of(job, 0)[m], tile[0],
                                       tile[1], axis->box, LANES);
            rows_add(&rows, tile[2] + m * LANES,
                     job->track ? tile[3] + m * LANES : NULL);
        }
        tile_write(out, tile[2], i2, out->value);
        if (job->track) tile_write(out, tile[3], i2, out->least);
    }
}

static void average_x2(const struct job *job, const struct sheet *in,
                       struct sheet *out) {
    const double *least = in->least ? in->least : in->value;
    for (int64_t m = 0; m < out->n[1]; m++) {
        struct rows rows = rows_of(job, &taps_of(job, 1)[m], in->value, least,
                                   job->fit->axis[1].box, in->row);
        rows_add(&rows, out->value + m * out->row,
                 job->track ? out->least + m * out->row : NULL);
    }
}

/* Averages along one axis of the plane. */
static void average(struct job *job, int k, const struct sheet *in,
                    struct sheet *out) {
    sheet_track(out, job->track);
    if (k == 0)
        average_x1(job, in, out);
    else
        average_x2(job, in, out);
    job->fitted[k] = true;
}

static void note_cut(const struct job *job, int64_t i1, int64_t i2) {
    struct ht_fit_counts *counts = &job->fit->counts;
    if (!job->count) return;
    if (counts->cut == 0) {
        counts->place[0] = position(job, 0, i1);
        counts->place[1] = position(job, 1, i2);
        counts->place[2] = job->at3;
    }
    counts->cut++;
}

static void cut(const struct job *job, struct sheet *sheet) {
    if (!job->track) return;
    for (int64_t i2 = 0; i2 < sheet->n[1]; i2++)
        for (int64_t i1 = 0; i1 < sheet->n[0]; i1++) {
            int64_t i = i2 * sheet->row + i1;
            if (sheet->value[i] >= sheet->least[i] / 2) continue;
            sheet->value[i] = sheet->least[i] / 2;
            note_cut(job, i1, i2);
        }
}

static void invert(struct sheet *sheet) {
    for (int64_t i2 = 0; i2 < sheet->n[1]; i2++)
        for (int64_t i1 = 0; i1 < sheet->n[0]; i1++)
            sheet->value[i2 * sheet->row + i1] =
                1 / sheet->value[i2 * sheet->row + i1];
    sheet_track(sheet, false);
}

/* Averages along x1 and x2: the own axis first, then 1/rho. */
static void flatten(struct job *job, const struct sheet *in,
                    struct sheet *out) {
    int k = job->own == 1 ? 1 : 0;
    average(job, k, in, &job->middle);
    if (job->own == k) {
        cut(job, &job->middle);
        invert(&job->middle);
    }
    average(job, 1 - k, &job->middle, out);
}

/* ---- checks ---- */

static enum ht_err fail_contrast(const struct job *job, int axis, int64_t i1,
                                 int64_t i2, double a, double b) {
    const struct ht_medium *medium = job->fit->medium;
    enum ht_fit_quantity quantity =
        job->what == HT_FIT_MODULUS ? HT_FIT_COMPLIANCE : HT_FIT_DENSITY;
    bool modulus = quantity == HT_FIT_COMPLIANCE;
    char place[96];
    double x[3] = {position(job, 0, i1), position(job, 1, i2), job->at3};
    return ht_params_error(
        medium->source->params, ht_fit_key(medium, quantity),
        "gives %s = %.6g at %s next to %.6g along x%d: finite differences "
        "take a contrast of at most %g",
        modulus ? medium->eq->system->material[0].name : "rho",
        modulus ? 1 / a : a, ht_medium_place(medium, x, place, sizeof place),
        modulus ? 1 / b : b, axis + 1, CONTRAST);
}

/* Compares a line with its neighbours: n values at a and b. */
static int64_t contrast(const double *a, const double *b, int64_t n) {
    for (int64_t i = 0; i < n; i++)
        if (a[i] > CONTRAST * b[i] || b[i] > CONTRAST * a[i]) return i;
    return -1;
}

/* Neighbours along x1 and x2 in a plane, along x3 in the plane before. */
static enum ht_err check_contrast(const struct job *job,
                                  const struct sheet *sheet,
                                  const double *before) {
    int64_t n1 = sheet->n[0];
    for (int64_t i2 = 0; i2 < sheet->n[1]; i2++) {
        int64_t at = i2 * sheet->row;
        const double *line = sheet->value + at;
        int64_t i = contrast(line + 1, line, n1 - 1);
        if (i >= 0)
            return fail_contrast(job, 0, i + 1, i2, line[i + 1], line[i]);
        i = i2 > 0 ? contrast(line, line - sheet->row, n1) : -1;
        if (i >= 0)
            return fail_contrast(job, 1, i, i2, line[i], line[i - sheet->row]);
        i = before ? contrast(line, before + at, n1) : -1;
        if (i >= 0)
            return fail_contrast(job, 2, i, i2, line[i], before[at + i]);
    }
    return HT_OK;
}

/* ---- out ---- */

static enum ht_err fail_value(const struct job *job, double value, int64_t i1,
                              int64_t i2) {
    const struct ht_medium *medium = job->fit->medium;
    char place[96];
    bool modulus = job->what == HT_FIT_MODULUS;
    double x[3] = {position(job, 0, i1), position(job, 1, i2), job->at3};
    return ht_params_error(
        medium->source->params,
        ht_fit_key(medium, modulus ? HT_FIT_COMPLIANCE : HT_FIT_DENSITY),
        "gives a fitted %s of %.6g at %s: must be positive and finite",
        modulus ? medium->eq->system->material[0].name : "1/rho", value,
        ht_medium_place(medium, x, place, sizeof place));
}

/* A finished plane to its place in the output. */
static enum ht_err emit(struct job *job, const struct sheet *sheet,
                        int64_t plane) {
    struct ht_fit_counts *counts = &job->fit->counts;
    int which = job->what == HT_FIT_MODULUS ? 0 : 1;
    double *out = job->out + (plane - job->first) * sheet->n[0] * sheet->n[1];
    for (int64_t i2 = 0; i2 < sheet->n[1]; i2++) {
        for (int64_t i1 = 0; i1 < sheet->n[0]; i1++) {
            double value = sheet->value[i2 * sheet->row + i1];
            if (which == 0) value = 1 / value;
            if (!(value > 0) || !isfinite(value))
                return fail_value(job, value, i1, i2);
            counts->least[which] = fmin(counts->least[which], value);
            counts->most[which] = fmax(counts->most[which], value);
            *out++ = value;
        }
    }
    return HT_OK;
}

/* Where nothing depends on x3 all planes are the first one. */
static void repeat(struct job *job) {
    int64_t planes = job->last - job->first;
    int64_t size = ht_grid_plane(job->fit->medium->grid, HT_PRIMARY);
    for (int64_t p = 1; p < planes; p++)
        memcpy(job->out + p * size, job->out, (size_t)size * sizeof *job->out);
}

/* ---- averages along x3 ---- */

static double place3(const struct job *job, int64_t plane) {
    const struct ht_fit_axis *axis = &job->fit->axis[2];
    double shift = job->own == 2 ? 0.5 : 0;
    return axis->lower + ((double)plane + shift) * axis->h;
}

/* Whether plane p of boxes belongs to the planes of this fill, so that ranks
 * count what they cut there once. */
static bool own_piece(const struct job *job, int64_t p) {
    const struct ht_fit_axis *axis = &job->fit->axis[2];
    double x = (axis->place[p] + axis->place[p + 1]) / 2;
    double low = place3(job, job->first) - axis->h / 2;
    double high = place3(job, job->last - 1) + axis->h / 2;
    if (!job->fit->medium->source->depends[2]) return job->first == 0;
    return x > low && x <= high &&
           (axis->periodic || (x > axis->lower && x < axis->upper));
}

/* Piece p of the boxes along x3 into its slot of the ring. */
static enum ht_err load(struct job *job, int64_t p) {
    const struct ht_fit *fit = job->fit;
    const struct ht_fit_axis *axis = &fit->axis[2];
    struct sheet *slot = &job->ring[p % job->slots];
    struct sheet *to = job->own == 2 ? slot : &job->boxes;
    enum ht_fit_quantity quantity =
        job->what == HT_FIT_MODULUS ? HT_FIT_COMPLIANCE : HT_FIT_DENSITY;
    memset(job->fitted, 0, sizeof job->fitted);
    job->at3 = (axis->place[p] + axis->place[p + 1]) / 2;
    job->count = own_piece(job, p);
    TRY(ht_fit_source(fit->medium, fit->axis, quantity, axis->box[p], to->row,
                      to->value));
    TRY(check_contrast(job, to, job->loaded > 0 ? job->before.value : NULL));
    memcpy(job->before.value, to->value,
           (size_t)(to->row * to->n[1]) * sizeof *to->value);
    job->loaded++;
    if (job->own != 2) flatten(job, &job->boxes, slot);
    return HT_OK;
}

/* Grid plane m from the ring. */
static enum ht_err finish(struct job *job, int64_t m) {
    const struct ht_fit_taps *taps = &taps_of(job, 2)[m];
    struct sheet *to = job->own == 2 ? &job->above : &job->done;
    for (int t = 0; t < taps->count; t++) {
        const struct sheet *from = &job->ring[(taps->first + t) % job->slots];
        job->value[t] = from->value;
        job->least[t] = from->least ? from->least : from->value;
    }
    struct rows rows = {taps->count, taps->weight, job->value, job->least,
                        to->row * to->n[1]};
    sheet_track(to, job->track);
    rows_add(&rows, to->value, to->least);
    job->at3 = place3(job, m);
    job->count = job->fit->medium->source->depends[2] || job->first == 0;
    if (job->own == 2) {
        memset(job->fitted, 0, sizeof job->fitted);
        cut(job, to);
        invert(to);
        flatten(job, to, &job->done);
    }
    job->fitted[0] = job->fitted[1] = true;
    cut(job, &job->done);
    return emit(job, &job->done, m);
}

static enum ht_err average_planes(struct job *job) {
    const struct ht_fit_axis *axis = job->fit->axis;
    const struct ht_fit_taps *taps = taps_of(job, 2);
    bool depends = job->fit->medium->source->depends[2];
    int64_t last = depends ? job->last : job->first + 1;
    int64_t next = taps[job->first].first;
    struct ht_progress progress;
    ht_progress_start(&progress, "fitting the medium",
                      (double)(last - job->first), "points",
                      (double)(axis[0].nodes * axis[1].nodes));
    for (int64_t m = job->first; m < last; m++) {
        for (; next < taps[m].first + taps[m].count; next++)
            TRY(load(job, next));
        TRY(finish(job, m));
        ht_progress_update(&progress, (double)(m + 1 - job->first));
    }
    ht_progress_end(&progress);
    if (!depends) repeat(job);
    return HT_OK;
}

/* ---- buffers of a fill ---- */

static enum ht_err ring_make(struct job *job, int64_t n1, int64_t n2) {
    job->slots = job->fit->axis[2].most;
    TRY(HT_ALLOC(job->ring, job->slots));
    for (int s = 0; s < job->slots; s++)
        TRY(sheet_make(n1, n2, job->track && job->own != 2, &job->ring[s]));
    return HT_OK;
}

static enum ht_err job_make(struct job *job) {
    const struct ht_fit_axis *axis = job->fit->axis;
    int64_t box1 = axis[0].boxes, box2 = axis[1].boxes, most = 0;
    int64_t n1 = axis[0].nodes, n2 = axis[1].nodes;
    TRY(sheet_make(job->own == 1 ? box1 : n1, job->own == 1 ? n2 : box2,
                   job->track, &job->middle));
    TRY(sheet_make(n1, n2, job->track, &job->done));
    TRY(sheet_make(box1, box2, false, &job->before));
    TRY(sheet_make(box1, box2, job->track,
                   job->own == 2 ? &job->above : &job->boxes));
    if (job->own == 2)
        TRY(ring_make(job, box1, box2));
    else
        TRY(ring_make(job, n1, n2));
    for (int i = 0; i < 4; i++)
        TRY(HT_ALLOC(job->tile[i], LANES * (i < 2 ? box1 : n1)));
    for (int k = 0; k < 3; k++)
        if (axis[k].most > most) most = axis[k].most;
    TRY(HT_ALLOC(job->value, most));
    return HT_ALLOC(job->least, most);
}

static void job_clear(struct job *job) {
    free(job->boxes.block);
    free(job->middle.block);
    free(job->above.block);
    free(job->done.block);
    free(job->before.block);
    for (int s = 0; job->ring && s < job->slots; s++) free(job->ring[s].block);
    free(job->ring);
    for (int i = 0; i < 4; i++) free(job->tile[i]);
    free(job->value);
    free(job->least);
}

static enum ht_err fill_averages(struct job *job) {
    enum ht_err err = job_make(job);
    if (err == HT_OK) err = average_planes(job);
    job_clear(job);
    return err;
}

/* ---- points ---- */

/* A point behind the seam or a wall, back in the box. */
static double fold(const struct ht_fit_axis *axis, double x) {
    if (x <= axis->upper) return x;
    return axis->periodic ? x - (axis->upper - axis->lower)
                          : 2 * axis->upper - x;
}

/* Plane m of the grid; along axes on which nothing depends one value. */
static enum ht_err point_plane(struct job *job, int64_t m,
                               struct sheet *sheet) {
    const struct ht_medium *medium = job->fit->medium;
    const struct ht_fit_axis *axis = job->fit->axis;
    const bool *depends = medium->source->depends;
    int which = job->what == HT_FIT_MODULUS ? 0 : ht_fit_density(medium);
    double x[3], material[HT_MAX_MATERIALS];
    job->at3 = place3(job, m);
    x[2] = fold(&axis[2], job->at3);
    for (int64_t i2 = 0; i2 < sheet->n[1]; i2++) {
        double *line = sheet->value + i2 * sheet->row;
        x[1] = fold(&axis[1], position(job, 1, i2));
        if (i2 > 0 && !depends[1]) {
            memcpy(line, line - sheet->row, (size_t)sheet->row * sizeof *line);
            continue;
        }
        for (int64_t i1 = 0; i1 < sheet->n[0]; i1++) {
            line[i1] = line[0];
            if (i1 > 0 && !depends[0]) continue;
            x[0] = fold(&axis[0], position(job, 0, i1));
            TRY(ht_medium_point(medium, x, material));
            line[i1] = 1 / material[which];
        }
    }
    return HT_OK;
}

static enum ht_err point_planes(struct job *job) {
    bool depends = job->fit->medium->source->depends[2];
    int64_t last = depends ? job->last : job->first + 1;
    struct sheet *now = &job->boxes, *before = &job->before;
    struct ht_progress progress;
    ht_progress_start(&progress, "evaluating the medium",
                      (double)(last - job->first), "points",
                      (double)(now->n[0] * now->n[1]));
    for (int64_t m = job->first; m < last; m++) {
        struct sheet swap = *now;
        *now = *before;
        *before = swap;
        TRY(point_plane(job, m, now));
        TRY(check_contrast(job, now, m > job->first ? before->value : NULL));
        if (job->what != HT_FIT_MODULUS) invert(now);
        TRY(emit(job, now, m));
        if (job->what != HT_FIT_MODULUS) invert(now);
        ht_progress_update(&progress, (double)(m + 1 - job->first));
    }
    ht_progress_end(&progress);
    if (!depends) repeat(job);
    return HT_OK;
}

static enum ht_err fill_points(struct job *job) {
    const struct ht_fit_axis *axis = job->fit->axis;
    for (int k = 0; k < 3; k++) job->fitted[k] = true;
    enum ht_err err =
        sheet_make(axis[0].nodes, axis[1].nodes, false, &job->boxes);
    if (err == HT_OK)
        err = sheet_make(axis[0].nodes, axis[1].nodes, false, &job->before);
    if (err == HT_OK) err = point_planes(job);
    job_clear(job);
    return err;
}

/* ---- fill ---- */

static void fill_constant(struct job *job, int64_t count, double value) {
    struct ht_fit_counts *counts = &job->fit->counts;
    int which = job->what == HT_FIT_MODULUS ? 0 : 1;
    for (int64_t i = 0; i < count; i++) job->out[i] = value;
    counts->least[which] = fmin(counts->least[which], value);
    counts->most[which] = fmax(counts->most[which], value);
}

enum ht_err ht_fit_fill(struct ht_fit *fit, int what, int64_t first,
                        int64_t last, double *out) {
    const struct ht_grid *grid = fit->medium->grid;
    struct job job = {.fit = fit,
                      .what = what,
                      .own = what - 1,
                      .track = fit->kind == HT_FIT_SINC,
                      .first = first,
                      .last = last,
                      .out = out};
    int64_t count = (last - first) * ht_grid_plane(grid, HT_PRIMARY);
    REQUIRE(what >= 0 && what <= grid->dims, HT_ERR_INTERNAL,
            "fit: nothing has the number %d in %d dimensions", what,
            grid->dims);
    REQUIRE(first >= 0 && first <= last &&
                last <= ht_grid_planes(grid, HT_PRIMARY),
            HT_ERR_INTERNAL, "fit: no planes %lld to %lld", (long long)first,
            (long long)last);
    if (first == last) return HT_OK;
    fit->counts.values += count;
    if (what != HT_FIT_MODULUS && fit->density_uniform)
        fill_constant(&job, count, fit->b);
    else if (fit->uniform)
        fill_constant(&job, count, fit->K);
    else
        return fit->kind == HT_FIT_POINT ? fill_points(&job)
                                         : fill_averages(&job);
    return HT_OK;
}
